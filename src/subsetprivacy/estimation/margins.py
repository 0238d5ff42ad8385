"""The distribution of one of several variables, read off the estimate of all of them."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_distribution, check_level
from subsetprivacy._choices import Engine
from subsetprivacy._types import Distribution, FloatArray, IntArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation import presenting
from subsetprivacy.estimation.contrast import Contrast, contrast_of
from subsetprivacy.estimation.doubt import with_better
from subsetprivacy.messages import Note
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number
from subsetprivacy.variables import JointCategories

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate


@frozen(slots=False, eq=False, repr=False)
class Margin:
    """The shares of one variable, or of several together, in a joint estimate.

    Attributes
    ----------
    names
        The variables.
    fit
        The joint estimate.
    where
        The position among `categories` of every joint category.
    """

    names: tuple[str, ...]
    categories: Categories
    fit: "Estimate"
    where: IntArray

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats of the joint estimate."""
        return with_better(self.fit.notes, None)

    @cached_property
    def w(self) -> FloatArray:
        """The shares, in category order."""
        w = np.bincount(self.where, self.fit.w, minlength=self.categories.p).astype(np.float64)
        w.setflags(write=False)
        return w

    @property
    def in_simplex(self) -> bool:
        """Whether the joint estimate stays in the simplex by construction."""
        return self.fit.in_simplex

    def _member(self, k: int) -> FloatArray:
        """Return the direction that adds up the k-th share."""
        return (self.where == k).astype(np.float64)

    @cached_property
    def _cov(self) -> FloatArray:
        fold = np.array([self._member(k) for k in range(self.categories.p)])
        return fold @ self.fit._cov @ fold.T

    @property
    def cov(self) -> FloatArray:
        """The estimated covariance matrix of `w`; warns where normal theory is doubtful."""
        self.fit._warn_of_doubts(None)
        return self._cov

    @cached_property
    def _se(self) -> FloatArray:
        # One direction at a time: a joint share without a finite variance spoils only its own margin.
        variances = [self.fit.uncertainty.along(self.fit, self._member(k)) for k in range(self.categories.p)]
        return np.sqrt(np.maximum([np.inf if v != v else v for v in variances], 0.0))

    @property
    def _shown_se(self) -> FloatArray:
        return self._se

    @property
    def se(self) -> FloatArray:
        """The standard errors of `w`; warns where normal theory is doubtful."""
        self.fit._warn_of_doubts(None)
        return self._se

    @property
    def uncertainty(self) -> "Margin":
        """How the error is asked for."""
        return self

    def along(self, _: Any, c: FloatArray) -> float:
        """Return the variance of the weighted sum c'w."""
        return self.fit.uncertainty.along(self.fit, c[self.where])

    def interval(self, level: float = 0.95) -> FloatArray:
        """Return a Wald interval for each share, shape (p, 2), cut to [0, 1] where the method stays in the simplex."""
        self.fit._warn_of_doubts(None)
        return self._bounds(check_level(level))

    def _bounds(self, level: float) -> FloatArray:
        half = ndtri(0.5 + level / 2) * self._se
        bounds = np.column_stack([self.w - half, self.w + half])
        return np.clip(bounds, 0.0, 1.0) if self.in_simplex else bounds

    def contrast(self, weights: Distribution, *, level: float = 0.95) -> Contrast:
        """Return a weighted sum of the shares with its standard error, interval and test of zero."""
        self.fit._warn_of_doubts(None)
        return contrast_of(self, weights, check_level(level))

    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, engine: Engine = "pandas") -> Frame:
        """Return a data frame: a row per category, the level in the column names."""
        bounds = self._bounds(check_level(level))
        return frame(presenting.shares(list(self.categories), self.w, self._se, bounds, level), engine)

    def summary(self, level: float = 0.95) -> Table:
        """Return the table to print or to show in a notebook."""
        head, rows = presenting.cells(self, np.arange(self.categories.p), self._bounds(check_level(level)), level)
        title = f"Margin of {' x '.join(self.names)}: {self.fit.method}, {self.fit.counts.n_text}"
        return Table(title, head, rows, self.notes)

    def plot(
        self,
        *,
        level: float = 0.95,
        reference: Distribution | None = None,
        ax: draw.AxesOrNone = None,
        label: str | None = None,
        title: str | None = None,
    ) -> draw.Axes:
        """Draw the shares with their intervals, and a known distribution to compare with; as `Estimate.plot`."""
        bounds = self._bounds(check_level(level))
        known = None if reference is None else check_distribution(reference, self.categories.labels, "reference")
        labels = [label_text(label) for label in self.categories]
        return draw.estimate(
            labels,
            self.w,
            bounds[:, 0],
            bounds[:, 1],
            level=level,
            label=label or f"{self.fit.method}, {presenting.n_words(self.fit)}",
            reference=known,
            title=title or presenting.heading_of(f"Estimated shares of {' x '.join(self.names)}", self.fit, level),
            ax=ax,
        )

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{label} {number(w)} (se {number(se)})"
            for label, w, se in list(zip(self.categories, self.w, self._se, strict=True))[:8]
        )
        return f"<Margin of {' x '.join(self.names)}: {shares}{', …' if self.categories.p > 8 else ''}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def margin_of(fit: "Estimate", names: tuple[str, ...]) -> Margin:
    """Return the margin of the named variables of a joint estimate."""
    joint = fit.categories
    if not isinstance(joint, JointCategories):
        raise ArgumentError(
            "`margin` must be of an estimate of several variables; got one of a single variable, which is `w` itself."
        )
    if not names:
        raise ArgumentError(f"`margin` must name a variable: {', '.join(joint.names)}.")
    if len(set(names)) < len(names):
        raise ArgumentError(f"`margin` must name each variable once; got {', '.join(names)}.")
    axes = [joint.axis(name) for name in names]
    at = joint.coordinates(np.arange(joint.p))
    kept = joint.parts[axes[0]] if len(axes) == 1 else JointCategories({joint.names[k]: joint.parts[k] for k in axes})
    where = np.ravel_multi_index([at[k] for k in axes], [joint.parts[k].p for k in axes])
    return Margin(tuple(names), kept, fit, where)
