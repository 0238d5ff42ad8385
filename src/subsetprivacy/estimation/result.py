"""The one result of every estimator."""

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

OUTSIDE = Note(NoteKind.MOMENTS, "A moment estimate, unbiased and outside the simplex.", PROJECT)
MAX_PROFILED = 512  # each category is a search of its own
_ZERO = 1e-9
RAKED = "raked"  # the method of estimates whose margins are fixed


@frozen(slots=False, eq=False, repr=False)
class Estimate(Shares):
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
    survey
        How the people were drawn, if `sampling` said so.

    Notes
    -----
    Standard errors are computed when they are first asked for.
    """

    why_not_restored: ClassVar[str] = "keep `fit.counts.to_dict()`, and estimate from it again, or pickle the estimate"

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
        """The number of informative people (Kish's effective number if weighted)."""
        return self.counts.n

    @property
    def n_text(self) -> str:
        """How many people, in words that tell how they were drawn."""
        return self.counts.n_text if self.survey is None else self.survey.text

    @property
    def sampling(self) -> Sampling | None:
        """How the people were drawn; None where that was not said."""
        return None if self.survey is None else self.survey.sampling

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of t in intervals: those of the sampling, infinite without one."""
        return np.inf if self.survey is None else self.survey.sampling.degrees_of_freedom

    @cached_property
    def design_effects(self) -> FloatArray | None:
        """The variance of each share over that of a simple random sample of as many people; None without a sampling."""
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

    @property
    def _base(self) -> "Estimate":
        return self

    def _lift(self, c: FloatArray) -> FloatArray:
        return c

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
        if design.by_size is not None or design.enumerable:
            return design.least_size(np.maximum(self.w, 0.0))  # moments can leave the simplex
        return float(self.counts.incidence.inner(np.maximum(self.w, 0.0)).min())

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: what is doubtful about the standard errors, and how the estimate came about."""
        outside = () if np.isfinite(self.gap) else (OUTSIDE,)
        return (*outside, *self._caveats, *self.remarks)

    @property
    def _caveats(self) -> tuple[Note, ...]:
        return caveats(self)

    def _warn_of_caveats(self, advice: Advice | Hint | None = AUTO_INTERVAL, *, stacklevel: int = 3) -> None:
        """Warn of each doubt; `advice` replaces the one to take a better interval."""
        for note in with_interval_advice(self._caveats, advice):
            warn_of(note, stacklevel=stacklevel)

    @property
    def has_profile(self) -> bool:
        """Whether a profile likelihood interval belongs to this estimate: a likelihood method, people unweighted."""
        return not self._by_moments and self.counts.squares is None and self.has_ratio

    @property
    def has_ratio(self) -> bool:
        """Whether shares have profile likelihood intervals: a likelihood method, weighted or not."""
        return not self._by_moments and not self.is_constrained and self.categories.p <= MAX_PROFILED

    @property
    def is_constrained(self) -> bool:
        """Whether margins were fixed: then there are no profile intervals, which know nothing of them."""
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
        """The estimated covariance matrix of `w`; warns where normal theory is doubtful."""
        self._warn_of_caveats()
        return self._cov

    @cached_property
    def _se(self) -> FloatArray:
        return np.sqrt(self.uncertainty.variances(self))

    @property
    def _shown_se(self) -> FloatArray:
        """The standard errors for output: not a number where there are too many categories to have them."""
        try:
            return self._se
        except TooLargeError:
            return np.full(self.categories.p, np.nan)

    @property
    def se(self) -> FloatArray:
        """The standard errors of `w`; warns where normal theory is doubtful."""
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
            The confidence level of each interval alone, or of all together (see `simultaneous`).
        method
            ``"auto"``: ``"adjusted"`` for up to 12 categories, and for those of
            more whose share is near 0 or 1 if that takes about a second;
            ``"wald"`` for the others, and for moments.
            ``"wald"``: estimate and standard error, cut to [0, 1] where the
            method stays in the simplex. ``"profile"``: all values that the
            likelihood ratio does not reject. ``"adjusted"``: the same with a
            critical value that allows for the end of [0, 1], and a second test
            where few people make the first reject too often; best near 0 and
            in small samples. ``"bootstrap"``: percentiles over resampled
            people; too short near 0.
        categories
            The label of one category, or a list of labels; by default all.
        replications, seed
            For the bootstrap.
        progress
            Called with the categories done and their number, where a search is made for each.
        simultaneous
            True for intervals that hold all together with probability `level`: each is made at the level that the
            joint normal distribution of the estimates asks for, and at Bonferroni's where that is doubtful.
        """
        intervals = self._intervals(level, method, categories, replications, seed, simultaneous, progress)
        if intervals.doubtful:
            self._warn_of_caveats(intervals.advice)
        return intervals.bounds

    def _intervals(self, *request: Any) -> "Intervals":
        """Return intervals and their kinds without a warning, for output that prints the doubts itself."""
        from subsetprivacy.estimation.intervals import Request, intervals_of

        return intervals_of(self, Request(*request))

    def _wald(self, level: float) -> FloatArray:
        half = critical_value(level, self.degrees_of_freedom) * self._shown_se
        bounds = np.column_stack([self.w - half, self.w + half])
        return np.clip(bounds, 0.0, 1.0) if self.in_simplex else bounds

    def loss_quantile(self, level: float = 0.95) -> float:
        r"""Return the bound that the squared error :math:`\|\hat w - w\|_2^2` stays below with this probability.

        Notes
        -----
        The limit law of n times the loss is :math:`\sum_i \lambda_i \chi^2_1` with the
        eigenvalues of the limit covariance (`tab:consistency`).
        """
        from subsetprivacy.estimation.quadratic_form import quantile

        check_level(level)
        self._warn_of_caveats()
        return quantile(np.linalg.eigvalsh(self._cov), level) if np.isfinite(self._cov).all() else float("inf")

    def projected(self) -> "Estimate":
        """Return the estimate moved to the nearest distribution (in Euclidean distance).

        A moment estimate is unbiased and may leave the simplex; this one is
        a distribution and no longer unbiased. Standard errors are those of
        the unprojected estimate.
        """
        if self.in_simplex:
            return self
        remark = Note(NoteKind.MOMENTS, "Projected to the simplex; standard errors are those before the projection.")
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
        """Return the shares of one of several variables, or of some of them together.

        Parameters
        ----------
        *names
            Variables of a product or of a joined design.
        """
        return margin_of(self, names)

    def table(self) -> FloatArray:
        """Return the joint shares of several variables as an array with an axis for each."""
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
        """Return the numbers as plain lists, for JSON; the arguments are those of `interval`."""
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
        """Return a data frame: a row per category with `category, estimate, se, lower, upper, level, interval`.

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
        """Return the table to print or to show in a notebook; the level stands in the column names.

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
        label: str | None = None,
        title: str | None = None,
    ) -> draw.Axes:
        """Draw the estimate with its intervals, its difference to a reference, or its convergence.

        Parameters
        ----------
        level, method, categories, replications, seed, simultaneous
            Those of `interval`, for ``kind="estimate"``.
        reference
            A known distribution to compare with.
        kind
            ``"estimate"``, ``"difference"`` (needs `reference`) or ``"convergence"``.
        ax
            Matplotlib axes to draw on, by default those of a new figure. Several
            estimates of the same categories can be drawn on the same axes. Long
            labels need room: ``plt.subplots(layout="constrained")`` makes it.
        label
            What the estimate is called in the legend; by default its method
            and the number of people.
        title
            The title. By default the picture describes itself, unless the axes
            have a title already.
        """
        request = (level, method, categories, replications, seed, simultaneous)
        return presenting.picture(self, request, reference, kind, ax, label=label, title=title)

    def __repr__(self) -> str:
        return f"<Estimate by {self.method}, {self.n_text}: {self._rounded()}>"
