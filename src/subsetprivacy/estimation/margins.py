"""`Margin`: the shares of one of several variables, or of merged categories."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, overload

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_distribution, check_level
from subsetprivacy._choices import Engine, MarginMethod
from subsetprivacy._types import Distribution, FloatArray, IntArray, Label
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.estimation import presenting
from subsetprivacy.estimation.caveats import with_interval_advice
from subsetprivacy.estimation.shares import Shares
from subsetprivacy.estimation.survey_sample import critical_value
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_estimates import COLLAPSE_FORM
from subsetprivacy.results import plain
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text
from subsetprivacy.variables import JointCategories

if TYPE_CHECKING:
    from subsetprivacy.estimation.intervals import Intervals
    from subsetprivacy.estimation.result import Estimate

METHODS: tuple[MarginMethod, ...] = get_args(MarginMethod)
_FEW = 12  # the most shares with profile intervals by default


@frozen(slots=False, eq=False, repr=False)
class Margin(Shares):
    """The shares of one variable, of several variables jointly, or of merged categories.

    Attributes
    ----------
    names
        The variables; empty for merged categories.
    fit
        The full estimate.
    where
        For each category of `fit`, its position in `categories`.
    """

    why_not_restored: ClassVar[str] = "save `margin.fit.counts.to_dict()` and estimate from it again, or pickle it"

    names: tuple[str, ...]
    categories: Categories
    fit: "Estimate"
    where: IntArray

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats of the full estimate."""
        return with_interval_advice(self.fit.notes, None)

    @cached_property
    def w(self) -> FloatArray:
        """The shares, in category order."""
        w = np.bincount(self.where, self.fit.w, minlength=self.categories.p).astype(np.float64)
        w.setflags(write=False)
        return w

    @property
    def in_simplex(self) -> bool:
        """Whether the method of the full estimate always returns a distribution."""
        return self.fit.in_simplex

    @property
    def n(self) -> float:
        """The number of people with an informative subset (Kish's effective number if weighted)."""
        return self.fit.n

    @property
    def _base(self) -> "Estimate":
        return self.fit

    def _lift(self, c: FloatArray) -> FloatArray:
        return c[self.where]

    def _member(self, k: int) -> FloatArray:
        """Return the weights that add up to the k-th share."""
        return (self.where == k).astype(np.float64)

    @cached_property
    def _cov(self) -> FloatArray:
        fold = np.array([self._member(k) for k in range(self.categories.p)])
        return fold @ self.fit._cov @ fold.T

    @property
    def cov(self) -> FloatArray:
        """The estimated covariance matrix of `w`; warns where the normal approximation is unreliable."""
        self.fit._warn_of_caveats(None)
        return self._cov

    @cached_property
    def _se(self) -> FloatArray:
        # One share at a time: a joint share without a finite variance affects only its own margin.
        variances = [self.fit.uncertainty.along(self.fit, self._member(k)) for k in range(self.categories.p)]
        return np.sqrt(np.maximum([np.inf if v != v else v for v in variances], 0.0))

    @property
    def _shown_se(self) -> FloatArray:
        return self._se

    @property
    def se(self) -> FloatArray:
        """The standard errors of `w`; warns where the normal approximation is unreliable."""
        self.fit._warn_of_caveats(None)
        return self._se

    @property
    def uncertainty(self) -> "Margin":
        """The source of variances and covariances."""
        return self

    def along(self, _: Any, c: FloatArray) -> float:
        """Return the variance of the weighted sum c'w."""
        return self.fit.uncertainty.along(self.fit, c[self.where])

    # Intervals ------------------------------------------------------------------------------------

    def interval(self, level: float = 0.95, *, method: MarginMethod = "auto", simultaneous: bool = False) -> FloatArray:
        """Return a confidence interval for each share, shape (p, 2).

        Parameters
        ----------
        level
            The confidence level of each interval, or of all intervals jointly (see `simultaneous`).
        method
            ``"adjusted"``: profile likelihood, corrected near 0 and 1. ``"profile"``: the same without the correction.
            ``"wald"``: estimate and standard error, cut to [0, 1] if the method always returns a distribution.
            ``"auto"``: adjusted for up to 12 shares of up to 64 categories, Wald's otherwise.
        simultaneous
            True for intervals that all cover with joint probability `level`.
        """
        intervals = self._intervals_of(level, method, simultaneous)
        if intervals.unreliable:
            self.fit._warn_of_caveats(None)
        return intervals.bounds

    def _intervals_of(self, level: float, method: MarginMethod, simultaneous: bool = False) -> "Intervals":
        """Return the intervals, how they were made, and whether they are reliable."""
        from subsetprivacy.estimation.intervals import (
            Intervals,
            is_affordable,
            level_of_each,
            of_sums,
            require_likelihood,
            together_by,
        )

        check_level(level)
        check_choice(method, METHODS, "method")
        together = ""
        if simultaneous:
            together = together_by([self.fit], self._se)
            level = level_of_each(self._cov if together == "normal" else None, self.categories.p, level)
        if method == "auto":
            few = self.categories.p <= _FEW and is_affordable(self.fit)
            method = "adjusted" if few else "wald"
        at = np.arange(self.categories.p)
        kinds = (method,) * len(at)
        if method == "wald":
            return Intervals(at, self._wald(level), kinds, bool(self.fit._caveats), together=together)
        require_likelihood(self.fit)
        members = [self._member(k) for k in range(self.categories.p)]
        bounds = of_sums(self.fit, members, level, adjust=method == "adjusted")
        return Intervals(at, bounds, kinds, together=together)

    def _wald(self, level: float) -> FloatArray:
        half = critical_value(level, self.fit.degrees_of_freedom) * self._se
        bounds = np.column_stack([self.w - half, self.w + half])
        return np.clip(bounds, 0.0, 1.0) if self.in_simplex else bounds

    # Output ---------------------------------------------------------------------------------------

    def _columns(
        self, level: float = 0.95, method: MarginMethod = "auto", simultaneous: bool = False
    ) -> dict[str, Any]:
        intervals = self._intervals_of(level, method, simultaneous)
        columns = presenting.shares(list(self.categories), self.w, self._se, intervals.bounds, level)
        return {**columns, "interval": list(intervals.kinds)}

    @overload
    def to_frame(
        self,
        level: float = ...,
        *,
        method: MarginMethod = ...,
        simultaneous: bool = ...,
        engine: Literal["pandas"] = ...,
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: MarginMethod = ..., simultaneous: bool = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: MarginMethod = ..., simultaneous: bool = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(
        self,
        level: float = 0.95,
        *,
        method: MarginMethod = "auto",
        simultaneous: bool = False,
        engine: Engine = "pandas",
    ) -> Frame:
        """Return a data frame with a row per category. The arguments are as in `interval`."""
        return frame(self._columns(level, method, simultaneous), engine)

    def to_dict(
        self, level: float = 0.95, *, method: MarginMethod = "auto", simultaneous: bool = False
    ) -> dict[str, Any]:
        """Return the numbers as plain lists, for JSON. The arguments are as in `interval`."""
        intervals = self._intervals_of(level, method, simultaneous)
        return plain(
            {
                "variables": self.names,
                "categories": list(self.categories),
                "estimate": self.w,
                "se": self._se,
                "lower": intervals.bounds[:, 0],
                "upper": intervals.bounds[:, 1],
                "interval": intervals.kinds,
                "level": level,
                "simultaneous": intervals.together or None,
                "n": self.n,
                "method": self.fit.method,
                "notes": self.notes,
            }
        )

    def summary(self, level: float = 0.95, *, method: MarginMethod = "auto", simultaneous: bool = False) -> Table:
        """Return the table to print or to show in a notebook. The arguments are as in `interval`."""
        intervals = self._intervals_of(level, method, simultaneous)
        head, rows = presenting.cells(self, np.arange(self.categories.p), intervals.bounds, level)
        what = self._called("Estimated shares of", "Estimated shares of merged categories")
        title = f"{what}, {presenting.method_words(self.fit)}, {self.fit.n_text}"
        return Table(title, head, rows, (*presenting.interval_notes(intervals), *self.notes))

    def _called(self, margin: str, merged: str) -> str:
        return f"{margin} {' x '.join(self.names)}" if self.names else merged

    def plot(
        self,
        *,
        level: float = 0.95,
        method: MarginMethod = "auto",
        simultaneous: bool = False,
        reference: Distribution | None = None,
        ax: draw.AxesOrNone = None,
        sort: bool | None = None,
        label: str | None = None,
        title: str | None = None,
    ) -> draw.Axes:
        """Plot the shares with their intervals, and optionally a known distribution, as `Estimate.plot` does."""
        bounds = self._intervals_of(level, method, simultaneous).bounds
        known = None if reference is None else check_distribution(reference, self.categories.labels, "reference")
        what = self._called("Estimated shares of", "Estimated shares of merged categories")
        return draw.estimate(
            [label_text(label) for label in self.categories],
            self.w,
            bounds[:, 0],
            bounds[:, 1],
            level=level,
            label=label or f"{presenting.method_words(self.fit)}, {self.fit.n_text}",
            reference=known,
            sort=presenting.is_sorted(self.categories, sort),
            title=title or presenting.heading_of(what, self.fit, level),
            ax=ax,
        )

    def __repr__(self) -> str:
        what = f"of {' x '.join(self.names)}" if self.names else "with merged categories"
        return f"<Margin {what}: {self._rounded()}>"


def margin_of(fit: "Estimate", names: tuple[str, ...]) -> Margin:
    """Return the margin of the named variables of a joint estimate."""
    joint = fit.categories
    if not isinstance(joint, JointCategories):
        raise ArgumentError(
            "`margin` must be called on an estimate of several variables; got one of a single variable, whose shares "
            "are `w`."
        )
    if not names:
        raise ArgumentError(f"`names` must contain at least one of the variables {', '.join(joint.names)}; got none.")
    if len(set(names)) < len(names):
        raise ArgumentError(f"`names` must contain each variable once; got {', '.join(names)}.")
    axes = [joint.axis(name) for name in names]
    at = joint.coordinates(np.arange(joint.p))
    kept = joint.parts[axes[0]] if len(axes) == 1 else JointCategories({joint.names[k]: joint.parts[k] for k in axes})
    where = np.ravel_multi_index([at[k] for k in axes], [joint.parts[k].p for k in axes])
    return Margin(tuple(names), kept, fit, where)


def collapsed(shares: Shares, groups: Mapping[Label, Iterable[Label]]) -> Margin:
    """Return the shares of merged categories."""
    old = shares.categories
    new_label = _merged_labels(old, groups)
    labels = list(dict.fromkeys(new_label))
    if len(labels) < 2:
        raise CategoryError("`groups` must leave at least two categories; they leave one, whose share is 1.")
    position = {label: k for k, label in enumerate(labels)}
    where = np.array([position[label] for label in new_label])
    return Margin((), Categories(labels), shares._base, shares._lift(where).astype(np.int64))


def _merged_labels(old: Categories, groups: Mapping[Label, Iterable[Label]]) -> list[Label]:
    """Return the new label of every category, or raise if the groups are invalid."""
    if not isinstance(groups, Mapping) or not groups:
        got = "an empty one" if isinstance(groups, Mapping) else type(groups).__name__
        raise ArgumentError(f"`groups` must map new labels to lists of categories; got {got}.", COLLAPSE_FORM)
    new: list[Label] = list(old)
    taken = np.zeros(old.p, bool)
    for label, members in groups.items():
        if isinstance(members, str) or not isinstance(members, Iterable):
            raise ArgumentError(
                f"`groups` must map new labels to lists of categories; got {type(members).__name__} for one.",
                COLLAPSE_FORM,
            )
        at = [old.index(member) for member in members]
        if not at:
            raise CategoryError(f"`groups` must merge some categories; got none for {label!r}.", COLLAPSE_FORM)
        if taken[at].any() or len(set(at)) < len(at):
            raise CategoryError(f"`groups` must name each category once; {label!r} has one that was named before.")
        taken[at] = True
        for k in at:
            new[k] = label
    kept = {label for label, merged in zip(old, taken, strict=True) if not merged}
    clash = [label for label in groups if label in kept]
    if clash:
        raise CategoryError(f"`groups` must have new labels; {clash[0]!r} is a category that is not merged.")
    return new
