"""The one result of every estimator."""

import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from attrs import evolve, frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_distribution, check_level
from subsetprivacy._types import ArrayLike, FloatArray, Label
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Uniform
from subsetprivacy.errors import ArgumentError, BoundaryWarning, SmallCountWarning
from subsetprivacy.estimation import likelihood
from subsetprivacy.estimation.contrast import Contrast, contrast_of
from subsetprivacy.estimation.simplex import project
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import Table, frame, number, percent

INTERVALS = ("wald", "profile", "bootstrap")
_ZERO = 1e-9


@frozen(slots=False, eq=False, repr=False)
class Estimate:
    r"""An estimated distribution, with everything that can be asked about it.

    Attributes
    ----------
    w
        The estimate, in category order.
    counts
        What it was estimated from.
    method
        The estimator's name.
    iterations, converged
        How the iteration ended; 0 and True for closed forms.
    trace
        The certified gap after each iteration, where the method keeps it.
    in_simplex
        Whether the method stays in the simplex by construction.

    Notes
    -----
    Standard errors are computed when they are first asked for.
    """

    w: FloatArray
    counts: SubsetCounts
    method: str
    covariance: "Callable[[Estimate], FloatArray]"
    iterations: int = 0
    converged: bool = True
    trace: tuple[float, ...] = ()
    in_simplex: bool = True
    remarks: tuple[str, ...] = ()

    @property
    def categories(self) -> Categories:
        """The categories, in the order of `w`."""
        return self.counts.categories

    @property
    def n(self) -> float:
        """The number of informative people (Kish's effective number if weighted)."""
        return self.counts.n

    @property
    def n_missing(self) -> float:
        """The number of full sets, which were left out."""
        return self.counts.n_missing

    @cached_property
    def loglik(self) -> float:
        """The log-likelihood l_n(w) in nats (`loglikelihood`); NaN outside the simplex, where it is none."""
        if not self.in_simplex and (self.w.min() < 0 or abs(self.w.sum() - 1) > 1e-8):
            return np.nan
        return self.counts.total * likelihood.mean_loglik(self.counts.incidence, self.counts.shares, self.w)

    @cached_property
    def gap(self) -> float:
        """At most this much log-likelihood per person is still to be gained; NaN off the simplex."""
        return likelihood.certified_gap(self.counts.incidence, self.counts.shares, self.w)

    # Doubt ------------------------------------------------------------------------------------

    @cached_property
    def on_boundary(self) -> tuple[Label, ...]:
        """The categories whose estimate is zero."""
        if not self.in_simplex:
            return ()
        return tuple(label for label, value in zip(self.categories, self.w, strict=True) if value < _ZERO)

    @cached_property
    def smallest_size(self) -> float:
        """The smallest fitted L(a) among the subsets that can be reported (`boundeddensity`)."""
        design = self.counts.design
        if isinstance(design, Uniform):
            return float(np.sort(self.w)[:2].sum())
        if design.enumerable:
            return float(design.support_incidence.inner(self.w).min())
        return float(self.counts.incidence.inner(self.w).min())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences of doubt that stand below the summary."""
        return tuple(text for _, text in self._doubts) + self.remarks

    @property
    def _doubts(self) -> list[tuple[type[Warning], str]]:
        doubts: list[tuple[type[Warning], str]] = []
        if self.on_boundary:
            which = ", ".join(str(label) for label in self.on_boundary)
            doubts.append(
                (
                    BoundaryWarning,
                    f"On the boundary: the estimate for {which} is 0; its standard error is that of the curvature "
                    "there, an approximation. Hint: interval(method='profile').",
                )
            )
        if not self.on_boundary and self.smallest_size < 5 / self.n:
            doubts.append(
                (
                    SmallCountWarning,
                    f"Small counts: some subset has a fitted probability of {self.smallest_size:.2g}, below 5/n = "
                    f"{5 / self.n:.2g}; normal theory is doubtful. Hint: interval(method='profile').",
                )
            )
        return doubts

    def _warn_of_doubts(self) -> None:
        for kind, text in self._doubts:
            warnings.warn(text, kind, stacklevel=3)

    # Standard errors --------------------------------------------------------------------------

    @cached_property
    def _cov(self) -> FloatArray:
        return self.covariance(self)

    @property
    def cov(self) -> FloatArray:
        """The estimated covariance matrix of `w`; warns where normal theory is doubtful."""
        self._warn_of_doubts()
        return self._cov

    @property
    def _se(self) -> FloatArray:
        return np.sqrt(np.maximum(np.diag(self._cov), 0.0))

    @property
    def se(self) -> FloatArray:
        """The standard errors of `w`; warns where normal theory is doubtful."""
        self._warn_of_doubts()
        return self._se

    def interval(
        self, level: float = 0.95, *, method: str = "wald", replications: int = 999, seed: Any = None
    ) -> FloatArray:
        """Return a confidence interval for each category, shape (p, 2).

        Parameters
        ----------
        level
            The confidence level of each interval by itself.
        method
            ``"wald"``: estimate and standard error, cut to [0, 1] where the
            method stays in the simplex. ``"profile"``: all values that the
            likelihood ratio does not reject; best near 0 and in small
            samples. ``"bootstrap"``: percentiles over resampled people.
        replications, seed
            For the bootstrap.
        """
        check_level(level)
        check_choice(method, INTERVALS, "method")
        if method == "wald":
            self._warn_of_doubts()
            return self._wald(level)
        from subsetprivacy.estimation import intervals

        if method == "profile":
            return intervals.profile(self.counts, level)
        return intervals.bootstrap(self, level, replications, seed)

    def _wald(self, level: float) -> FloatArray:
        half = ndtri(0.5 + level / 2) * self._se
        bounds = np.column_stack([self.w - half, self.w + half])
        return np.clip(bounds, 0.0, 1.0) if self.in_simplex else bounds

    def contrast(self, weights: Mapping[Label, float] | ArrayLike, *, level: float = 0.95) -> Contrast:
        """Return a weighted sum of the shares with its standard error, interval and test of zero.

        Parameters
        ----------
        weights
            ``{"red": 1, "blue": -1}`` for a difference, ``{"red": 1, "blue": 1}``
            for a total; or one number per category.
        level
            The confidence level.
        """
        self._warn_of_doubts()
        return contrast_of(self.w, self._cov, weights, self.categories, check_level(level))

    def loss_quantile(self, level: float = 0.95) -> float:
        r"""Return the bound that the squared error :math:`\|\hat w - w\|_2^2` stays below with this probability.

        Notes
        -----
        The limit law of n times the loss is :math:`\sum_i \lambda_i \chi^2_1` with the
        eigenvalues of the limit covariance (`tab:consistency`).
        """
        from subsetprivacy.estimation.quadratic_form import quantile

        check_level(level)
        self._warn_of_doubts()
        return quantile(np.linalg.eigvalsh(self._cov), level) if np.isfinite(self._cov).all() else float("inf")

    def projected(self) -> "Estimate":
        """Return the estimate moved to the nearest distribution (in Euclidean distance).

        A moment estimate is unbiased and may leave the simplex; this one is
        a distribution and no longer unbiased. Standard errors are those of
        the unprojected estimate.
        """
        if self.in_simplex:
            return self
        w = project(self.w)
        covariance = self._cov
        remark = "Projected to the simplex; standard errors are those before the projection."
        return evolve(
            self,
            w=w,
            method=f"{self.method}, projected",
            covariance=lambda _: covariance,
            in_simplex=True,
            remarks=(*self.remarks, remark),
        )

    # Output -----------------------------------------------------------------------------------

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return the numbers as plain lists, for JSON."""
        bounds = self._wald(check_level(level))
        return {
            "categories": list(self.categories),
            "estimate": self.w.tolist(),
            "std_error": self._se.tolist(),
            "lower": bounds[:, 0].tolist(),
            "upper": bounds[:, 1].tolist(),
            "level": level,
            "n": self.n,
            "n_missing": self.n_missing,
            "method": self.method,
            "loglik": self.loglik,
            "gap": self.gap,
            "iterations": self.iterations,
            "converged": self.converged,
            "notes": list(self.notes),
        }

    def to_frame(self, level: float = 0.95, *, engine: str = "pandas") -> Any:
        """Return a data frame with a row per category, the level in the column names."""
        bounds = self._wald(check_level(level))
        columns = {
            "category": list(self.categories),
            "estimate": self.w,
            "std_error": self._se,
            f"lower {percent(level)}": bounds[:, 0],
            f"upper {percent(level)}": bounds[:, 1],
        }
        return frame(columns, engine)

    def summary(self, level: float = 0.95) -> Table:
        """Return the table to print or to show in a notebook; the level stands in the column names."""
        bounds = self._wald(check_level(level))
        rows = tuple(
            (str(label), number(w), number(se), number(low), number(high))
            for label, w, se, (low, high) in zip(self.categories, self.w, self._se, bounds, strict=True)
        )
        columns = ("category", "estimate", "std. error", f"lower {percent(level)}", f"upper {percent(level)}")
        people = f"n = {self.n:g}" + (" (effective)" if self.counts.squares is not None else "")
        missing = f", {self.n_missing:g} missing left out" if self.n_missing else ""
        title = f"Distribution from subsets: {self.method}, {people}{missing}"
        return Table(title, columns, rows, (self._certificate(), *self.notes))

    def _certificate(self) -> str:
        if not np.isfinite(self.gap):
            return "A moment estimate, unbiased and outside the simplex. Hint: projected() gives a distribution."
        steps = f" after {self.iterations} iteration{'s' * (self.iterations != 1)}" if self.iterations else ""
        return f"log-likelihood {self.loglik:.6g}; at most {self.gap:.1e} per person below the maximum{steps}"

    def plot(
        self,
        *,
        level: float = 0.95,
        reference: Any = None,
        kind: str = "estimate",
        ax: Any = None,
        method: str = "wald",
    ) -> Any:
        """Draw the estimate with its intervals, its difference to a reference, or its convergence.

        Parameters
        ----------
        level, method
            The confidence level and the kind of interval.
        reference
            A known distribution to compare with.
        kind
            ``"estimate"``, ``"difference"`` (needs `reference`) or ``"convergence"``.
        ax
            Matplotlib axes to draw on.
        """
        check_choice(kind, ("estimate", "difference", "convergence"), "kind")
        labels = [str(label) for label in self.categories]
        known = None if reference is None else check_distribution(reference, self.categories.labels, "reference")
        if kind == "convergence":
            if not self.trace:
                raise ArgumentError(f"`kind` must be another for {self.method}, which does not iterate.")
            return draw.convergence({self.method: self.trace}, ax=ax)
        if kind == "difference":
            if known is None:
                raise ArgumentError("`reference` must be given to draw a difference.")
            return draw.difference(labels, {self.method: self.w}, known, ax=ax)
        bounds = self._wald(check_level(level)) if method == "wald" else self.interval(level, method=method)
        title = f"{self.method}, n = {self.n:g}"
        return draw.estimate(
            labels, self.w, bounds[:, 0], bounds[:, 1], level=level, reference=known, title=title, ax=ax
        )

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{label}: {number(w)} ± {number(se)}"
            for label, w, se in list(zip(self.categories, self.w, self._se, strict=True))[:8]
        )
        more = ", …" if self.categories.p > 8 else ""
        return f"<Estimate by {self.method}, n = {self.n:g}: {shares}{more}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
