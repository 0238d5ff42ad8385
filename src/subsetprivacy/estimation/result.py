"""`Estimate`, the result of every estimator."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
from attrs import evolve, frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_level
from subsetprivacy._choices import Engine, EstimatePicture, IntervalMethod
from subsetprivacy._types import Distribution, FloatArray, Label, Seed
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import TooLargeError, warn_of
from subsetprivacy.estimation import likelihood, presenting
from subsetprivacy.estimation.caveats import caveats, with_interval_advice
from subsetprivacy.estimation.margins import Margin, margin_of
from subsetprivacy.estimation.shares import Shares
from subsetprivacy.estimation.simplex import project
from subsetprivacy.estimation.survey_sample import SurveySample, critical_value, influence_of
from subsetprivacy.estimation.uncertainty import Uncertainty, Unprojected
from subsetprivacy.messages import Advice, Hint, Note, NoteKind
from subsetprivacy.messages.for_estimates import AUTO_INTERVAL, PROJECT
from subsetprivacy.sampling import Sampling
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame

if TYPE_CHECKING:
    from subsetprivacy.estimation.intervals import Intervals
    from subsetprivacy.estimation.profile import Peak

OUTSIDE = Note(NoteKind.MOMENTS, "A moment estimate: unbiased, and outside the simplex.", PROJECT)
MAX_PROFILED = 512  # each category is a separate search
_ZERO = 1e-9
RAKED = "raked"  # the method of estimates whose margins are fixed


@frozen(slots=False, eq=False, repr=False)
class Estimate(Shares):
    r"""An estimated distribution, with standard errors, intervals, tests, tables and plots.

    Attributes
    ----------
    w
        The estimate, in category order.
    counts
        The counts that it was estimated from.
    method
        The estimator's name.
    iterations, converged
        The number of iterations, and whether they converged. Closed forms have 0 and True.
    trace
        The certified gap after each iteration, if the method records it.
    in_simplex
        Whether the method always returns a distribution.
    survey
        How the people were sampled, if `sampling` was passed.

    Notes
    -----
    Standard errors are computed on first use.
    """

    why_not_restored: ClassVar[str] = "save `fit.counts.to_dict()` and estimate from it again, or pickle the estimate"

    w: FloatArray
    counts: SubsetCounts
    method: str
    uncertainty: Uncertainty
    iterations: int = 0
    converged: bool = True
    trace: tuple[float, ...] = ()
    in_simplex: bool = True
    remarks: tuple[Note, ...] = ()
    survey: SurveySample | None = None

    def __attrs_post_init__(self) -> None:
        self.w.setflags(write=False)

    @property
    def categories(self) -> Categories:
        """The categories, in the order of `w`."""
        return self.counts.categories

    @property
    def n(self) -> float:
        """The number of people with an informative subset (Kish's effective number if weighted)."""
        return self.counts.n

    @property
    def n_text(self) -> str:
        """The number of people in words, with the kind of sample."""
        return self.counts.n_text if self.survey is None else self.survey.text

    @property
    def sampling(self) -> Sampling | None:
        """How the people were sampled; None if `sampling` was not passed."""
        return None if self.survey is None else self.survey.sampling

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of t in intervals: those of `sampling`, or infinity without it."""
        return np.inf if self.survey is None else self.survey.degrees_of_freedom

    @cached_property
    def design_effects(self) -> FloatArray | None:
        """Each share's variance relative to a simple random sample of the same size; None without `sampling`."""
        if self.survey is None:
            return None
        plain = self.survey.simple_random(self.counts.n_a, influence_of(self)).diagonal()
        return np.divide(np.diag(self._cov), plain, out=np.full(len(plain), np.nan), where=plain > 0)

    @cached_property
    def _refits(self) -> FloatArray:
        """The estimate of each replicate."""
        assert self.survey is not None
        return self.survey.refits(self.counts, self.w)

    def _peak(self) -> "Peak":
        """Return the maximum of the likelihood, for profiles."""
        from subsetprivacy.estimation.profile import Peak

        return Peak(self.counts, np.maximum(self.w, 0.0), self.survey)

    @property
    def n_missing(self) -> float:
        """The number of full sets, which the estimate leaves out."""
        return self.counts.n_missing

    @cached_property
    def loglik(self) -> float:
        """The log-likelihood l_n(w) in nats (`loglikelihood`); NaN outside the simplex."""
        if not self.in_simplex and (self.w.min() < 0 or abs(self.w.sum() - 1) > 1e-8):
            return np.nan
        return self.counts.total * likelihood.mean_loglik(self.counts.incidence, self.counts.shares, self.w)

    @cached_property
    def gap(self) -> float:
        """The most by which the log-likelihood per person could still rise; NaN outside the simplex."""
        return likelihood.certified_gap(self.counts.incidence, self.counts.shares, self.w)

    @property
    def _base(self) -> "Estimate":
        return self

    def _lift(self, c: FloatArray) -> FloatArray:
        return c

    # Caveats ----------------------------------------------------------------------------------

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
        if design.by_size is not None or design.enumerable:
            return design.least_size(np.maximum(self.w, 0.0))  # moment estimates can leave the simplex
        return float(self.counts.incidence.inner(np.maximum(self.w, 0.0)).min())

    @property
    def notes(self) -> tuple[Note, ...]:
        """Caveats about the standard errors and about how the estimate was made."""
        outside = () if np.isfinite(self.gap) else (OUTSIDE,)
        return (*outside, *self._caveats, *self.remarks)

    @property
    def _caveats(self) -> tuple[Note, ...]:
        return caveats(self)

    def _warn_of_caveats(self, advice: Advice | Hint | None = AUTO_INTERVAL, *, stacklevel: int = 3) -> None:
        """Warn of each caveat; `advice` replaces the advice to use a better interval."""
        for note in with_interval_advice(self._caveats, advice):
            warn_of(note, stacklevel=stacklevel)

    @property
    def has_profile(self) -> bool:
        """Whether the estimate has profile likelihood intervals: a likelihood method, without weights or sampling."""
        return not self._by_moments and self.counts.squares is None and self.survey is None and self.has_ratio

    @property
    def has_ratio(self) -> bool:
        """Whether shares have profile likelihood intervals, with or without weights."""
        return not self._by_moments and not self.is_constrained and self.categories.p <= MAX_PROFILED

    @property
    def is_constrained(self) -> bool:
        """Whether margins were fixed. Profile intervals ignore fixed margins, so there are none."""
        return self.method == RAKED

    @property
    def _by_moments(self) -> bool:
        return self.method.startswith("mom")

    # Standard errors --------------------------------------------------------------------------

    @cached_property
    def _cov(self) -> FloatArray:
        return self.uncertainty.matrix(self)

    @property
    def cov(self) -> FloatArray:
        """The estimated covariance matrix of `w`; warns where the normal approximation is unreliable."""
        self._warn_of_caveats()
        return self._cov

    @cached_property
    def _se(self) -> FloatArray:
        return np.sqrt(self.uncertainty.variances(self))

    @property
    def _shown_se(self) -> FloatArray:
        """The standard errors for output; NaN where there are too many categories to compute them."""
        try:
            return self._se
        except TooLargeError:
            return np.full(self.categories.p, np.nan)

    @property
    def se(self) -> FloatArray:
        """The standard errors of `w`; warns where the normal approximation is unreliable."""
        self._warn_of_caveats()
        return self._se

    def interval(
        self,
        level: float = 0.95,
        *,
        method: IntervalMethod = "auto",
        categories: Label | Iterable[Label] | None = None,
        replications: int = 999,
        seed: Seed | None = None,
        progress: Callable[[int, int], None] | None = None,
        simultaneous: bool = False,
    ) -> FloatArray:
        """Return a confidence interval for each category, shape (p, 2).

        Parameters
        ----------
        level
            The confidence level of each interval, or of all intervals jointly (see `simultaneous`).
        method
            ``"auto"``: ``"adjusted"`` for up to 12 categories. With more categories,
            ``"adjusted"`` for shares near 0 or 1 if that takes about a second, and
            ``"wald"`` for the others. Always ``"wald"`` for moment estimates.
            ``"wald"``: estimate plus or minus a multiple of the standard error, cut to
            [0, 1] if the method always returns a distribution. ``"profile"``: all
            values that the likelihood ratio test does not reject. ``"adjusted"``: the
            same with a critical value that allows for the ends of [0, 1], and with a
            second test where the first rejects too often in small samples; the best
            choice near 0 and in small samples. ``"bootstrap"``: percentiles over
            resampled people; too short near 0.
        categories
            One label, or a list of labels; all categories by default.
        replications, seed
            The number of samples and the seed of the bootstrap.
        progress
            Called with the number of categories done and their total, for methods that search category by category.
        simultaneous
            True for intervals that all cover with joint probability `level`. The level of each interval follows from
            the joint normal distribution of the estimates, or from Bonferroni's inequality where that is unreliable.
        """
        intervals = self._intervals(level, method, categories, replications, seed, simultaneous, progress)
        if intervals.unreliable:
            self._warn_of_caveats(intervals.advice)
        return intervals.bounds.copy()

    @cached_property
    def _known_intervals(self) -> "dict[tuple[Any, ...], Intervals]":
        return {}

    def _intervals(self, *request: Any) -> "Intervals":
        """Return intervals and their kinds without a warning, for output that prints the caveats."""
        from subsetprivacy.estimation.intervals import Request, intervals_of

        return intervals_of(self, Request(*request))

    def _wald(self, level: float) -> FloatArray:
        half = critical_value(level, self.degrees_of_freedom) * self._shown_se
        bounds = np.column_stack([self.w - half, self.w + half])
        return np.clip(bounds, 0.0, 1.0) if self.in_simplex else bounds

    def loss_quantile(self, level: float = 0.95) -> float:
        r"""Return a bound on the squared error :math:`\|\hat w - w\|_2^2` that holds with probability `level`.

        Notes
        -----
        In the limit, n times the loss is distributed as :math:`\sum_i \lambda_i \chi^2_1`, with the
        eigenvalues of the limit covariance (`tab:consistency`).
        """
        from subsetprivacy.estimation.limit_quantiles import quadratic_form_quantile

        check_level(level)
        self._warn_of_caveats()
        return (
            quadratic_form_quantile(np.linalg.eigvalsh(self._cov), level)
            if np.isfinite(self._cov).all()
            else float("inf")
        )

    def projected(self) -> "Estimate":
        """Return the estimate projected to the nearest distribution in Euclidean distance.

        A moment estimate is unbiased but may leave the simplex. The projected
        estimate is a distribution but no longer unbiased. It keeps the standard
        errors of the unprojected estimate.
        """
        if self.in_simplex:
            return self
        remark = Note(NoteKind.MOMENTS, "Projected to the simplex. Standard errors are those before the projection.")
        return evolve(
            self,
            w=project(self.w),
            method=f"{self.method}, projected",
            uncertainty=Unprojected(self),
            in_simplex=True,
            remarks=(*self.remarks, remark),
        )

    # Several variables ------------------------------------------------------------------------

    def margin(self, *names: str) -> Margin:
        """Return the shares of one variable, or of several variables jointly.

        Parameters
        ----------
        *names
            Names of variables of a product or joined design.
        """
        return margin_of(self, names)

    def table(self) -> FloatArray:
        """Return the joint shares as an array with an axis for each variable."""
        shape = getattr(self.categories, "shape", (self.categories.p,))
        return self.w.reshape(shape)

    # Output -----------------------------------------------------------------------------------

    def _columns(self) -> dict[str, Any]:
        return presenting.columns(self, self._intervals(0.95, "auto"), 0.95)

    def to_dict(
        self,
        level: float = 0.95,
        *,
        method: IntervalMethod = "auto",
        categories: Label | Iterable[Label] | None = None,
        replications: int = 999,
        seed: Seed | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Any]:
        """Return the numbers as plain lists, for JSON. The arguments are as in `interval`."""
        return presenting.plain(
            self, self._intervals(level, method, categories, replications, seed, simultaneous), level
        )

    @overload
    def to_frame(
        self,
        level: float = ...,
        *,
        method: IntervalMethod = ...,
        categories: Label | Iterable[Label] | None = ...,
        replications: int = ...,
        seed: Seed | None = ...,
        simultaneous: bool = ...,
        engine: Literal["pandas"] = ...,
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self,
        level: float = ...,
        *,
        method: IntervalMethod = ...,
        categories: Label | Iterable[Label] | None = ...,
        replications: int = ...,
        seed: Seed | None = ...,
        simultaneous: bool = ...,
        engine: Literal["polars"],
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self,
        level: float = ...,
        *,
        method: IntervalMethod = ...,
        categories: Label | Iterable[Label] | None = ...,
        replications: int = ...,
        seed: Seed | None = ...,
        simultaneous: bool = ...,
        engine: Literal["pyarrow"],
    ) -> ArrowTable: ...
    def to_frame(
        self,
        level: float = 0.95,
        *,
        method: IntervalMethod = "auto",
        categories: Label | Iterable[Label] | None = None,
        replications: int = 999,
        seed: Seed | None = None,
        simultaneous: bool = False,
        engine: Engine = "pandas",
    ) -> Frame:
        """Return a data frame with a row per category: `category, estimate, se, lower, upper, level, interval`.

        Parameters
        ----------
        level, method, categories, replications, seed, simultaneous
            As in `interval`.
        engine
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        return frame(
            presenting.columns(
                self, self._intervals(level, method, categories, replications, seed, simultaneous), level
            ),
            engine,
        )

    def summary(
        self,
        level: float = 0.95,
        *,
        method: IntervalMethod = "auto",
        categories: Label | Iterable[Label] | None = None,
        replications: int = 999,
        seed: Seed | None = None,
        simultaneous: bool = False,
    ) -> Table:
        """Return the table to print or to show in a notebook.

        Parameters
        ----------
        level, method, categories, replications, seed, simultaneous
            As in `interval`.
        """
        return presenting.summary(
            self, self._intervals(level, method, categories, replications, seed, simultaneous), level
        )

    def plot(
        self,
        *,
        level: float = 0.95,
        reference: Distribution | None = None,
        kind: EstimatePicture = "estimate",
        ax: draw.AxesOrNone = None,
        method: IntervalMethod = "auto",
        categories: Label | Iterable[Label] | None = None,
        replications: int = 999,
        seed: Seed | None = None,
        simultaneous: bool = False,
        sort: bool | None = None,
        label: str | None = None,
        title: str | None = None,
    ) -> draw.Axes:
        """Plot the estimate with its intervals, its difference from a reference, or its convergence.

        Parameters
        ----------
        level, method, categories, replications, seed, simultaneous
            As in `interval`, for ``kind="estimate"``.
        reference
            A known distribution to compare the estimate with.
        kind
            ``"estimate"``, ``"difference"`` (needs `reference`) or ``"convergence"``.
        ax
            Matplotlib axes to draw on; by default a new figure. Several estimates of
            the same categories can share axes. If long labels are cut off, create the
            axes with ``plt.subplots(layout="constrained")``.
        sort
            Whether the largest share is on top. By default it is, unless all labels contain a number, as in
            "20 to 29". Then they stay in their order.
        label
            The estimate's name in the legend; by default its method and the number of people.
        title
            The title. The default describes the plot, unless the axes already have a title.
        """
        request = (level, method, categories, replications, seed, simultaneous)
        return presenting.picture(self, request, reference, kind, ax, sort=sort, label=label, title=title)

    def __repr__(self) -> str:
        return f"<Estimate by {self.method}, {self.n_text}: {self._rounded()}>"
