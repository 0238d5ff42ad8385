"""Intervals that do not rest on a standard error: profile likelihood, the same adjusted, and bootstrap."""

import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import exp, pi, sqrt
from typing import Any, Protocol, get_args

import numpy as np
from attrs import evolve, frozen
from scipy.special import ndtr, ndtri

from subsetprivacy._checks import check_choice, check_count, check_level
from subsetprivacy._choices import IntervalMethod
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import BoolArray, FloatArray, IntArray
from subsetprivacy.data import CountsBatch, SubsetCounts
from subsetprivacy.errors import ArgumentError, SubsetPrivacyError, SubsetPrivacyWarning, TooLargeError
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.linear_profile import LinearProfile
from subsetprivacy.estimation.profile import Profile, ProfilePoint
from subsetprivacy.estimation.result import MAX_PROFILED, Estimate
from subsetprivacy.estimation.survey_sample import critical_value
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_estimates import (
    ADJUSTED_FOR_SOME,
    AUTO_INTERVAL,
    ESTIMATE_BY_LIKELIHOOD,
    PROFILE_INTERVAL,
    WALD_INTERVAL,
)

METHODS = get_args(IntervalMethod)
Progress = Callable[[int, int], None]
_NO_TAIL = 37.0  # standard errors beyond which a normal tail is 0
_FEW = 12  # categories up to which profile intervals are taken for all
_NEAR = 4.0  # standard errors from 0 or 1 within which Wald intervals are doubtful
_MAX_COST = 2e7  # multiplications: about a second
_CHORD = 8  # a search beyond 64 categories, in units of the square of their number
_LEAST_COST = 1.5e5  # of a comparison, however few categories there are
_COMPARISON = 8  # searches that a comparison takes, in units of a profile interval
_EVALUATIONS = 100
_MOST_TOGETHER = 256  # intervals whose joint distribution is integrated: less than a second
_FINE, _COARSE = 1e-6, 1e-4  # of a standard error: how near to the end a search comes; the latter beyond 64 categories


@frozen(eq=False)
class Intervals:
    """Confidence intervals of some categories, and how each came about.

    Attributes
    ----------
    at
        The positions of the categories.
    bounds
        The ends, a row per category.
    kinds
        For each category ``"wald"``, ``"profile"``, ``"adjusted"`` or ``"bootstrap"``.
    doubtful
        Whether some are Wald intervals where normal theory is doubtful.
    advice
        What to do about that, where something better can be had.
    together
        What makes the level hold for all intervals together, ``"normal"`` or ``"bonferroni"``; empty where it is the
        level of each alone.
    """

    at: IntArray
    bounds: FloatArray
    kinds: tuple[str, ...]
    doubtful: bool = False
    advice: Advice | None = None
    together: str = ""


@frozen
class Request:
    """What is asked of intervals: the arguments that `interval`, `summary` and the others share."""

    level: float
    method: str
    categories: Any = None
    replications: int = 999
    seed: Any = None
    simultaneous: bool = False
    progress: Progress | None = None


def intervals_of(fit: Estimate, request: Request) -> Intervals:
    """Return the intervals of an estimate."""
    check_level(request.level)
    check_choice(request.method, METHODS, "method")
    at = _positions(fit, request.categories)
    if not request.simultaneous:
        return _each(fit, request, at)
    together = together_by([fit], fit._shown_se[at])
    level = level_of_each(fit._cov[np.ix_(at, at)] if together == "normal" else None, len(at), request.level)
    return evolve(_each(fit, evolve(request, level=level), at), together=together)


def _each(fit: Estimate, request: Request, at: IntArray) -> Intervals:
    """Return intervals whose level is that of each alone."""
    method = request.method
    if method == "auto":
        return _auto(fit, request, at)
    if method == "wald":
        bounds = fit._wald(request.level)[at]
    elif method == "bootstrap":
        bounds = bootstrap(fit, request.level, request.replications, request.seed)[at]
    else:
        require_likelihood(fit)
        bounds = profile(fit, request.level, at, adjust=method == "adjusted", progress=request.progress)
    return Intervals(at, bounds, (method,) * len(at), method == "wald" and bool(fit._caveats), AUTO_INTERVAL)


def together_by(bases: Sequence[Estimate], se: FloatArray) -> str:
    """Return what makes a level hold for several intervals together.

    Parameters
    ----------
    bases
        The estimates that they are read off.
    se
        Their standard errors.
    """
    few = len(se) <= _MOST_TOGETHER and all(base.categories.p <= MAX_MATRIX for base in bases)
    certain = few and np.isfinite(se).all() and not any(base._caveats for base in bases)
    return "normal" if certain else "bonferroni"


def level_of_each(cov: FloatArray | None, number: int, level: float) -> float:
    """Return the level of single intervals that hold all together at `level`.

    Parameters
    ----------
    cov
        The covariance matrix of the estimates, for the distribution of the largest of their errors; None for
        Bonferroni's inequality.
    number
        How many intervals there are.
    level
        The level of all together.
    """
    if cov is None or number == 1:
        return 1 - (1 - level) / number
    from subsetprivacy.estimation.largest_error import quantile

    return float(2 * ndtr(quantile(cov, level)) - 1)


def _positions(fit: Estimate, categories: Any) -> IntArray:
    """Return the positions of the labels that are asked for: all, one, or several."""
    if categories is None:
        return np.arange(fit.categories.p)
    if isinstance(categories, Hashable) and categories in fit.categories.labels:
        return np.array([fit.categories.index(categories)])
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        return np.array([fit.categories.index(categories)])  # which raises, with the labels there are
    return np.array([fit.categories.index(label) for label in categories], np.int64)


def require_likelihood(fit: Estimate) -> None:
    """Raise unless profile likelihood intervals belong to the estimate."""
    if fit.is_constrained:
        raise ArgumentError("a profile interval must be of an estimate without known margins; got one.", WALD_INTERVAL)
    if fit._by_moments:
        raise ArgumentError(
            f"a profile interval belongs to the likelihood; got an estimate by {fit.method}.", ESTIMATE_BY_LIKELIHOOD
        )
    if fit.categories.p > MAX_PROFILED:
        raise TooLargeError(
            f"profile intervals must be of at most {MAX_PROFILED} categories; got {fit.categories.p}.", WALD_INTERVAL
        )


# Which kind, if none is asked for -----------------------------------------------------------------


def _auto(fit: Estimate, request: Request, at: IntArray) -> Intervals:
    """Return adjusted profile intervals where categories are few or Wald intervals doubtful, and Wald's elsewhere."""
    wanted = _wanted(fit)  # whichever categories are asked for: one category has one interval
    affordable = fit.has_ratio and _cost(fit, int(wanted.sum())) <= _MAX_COST
    if not affordable:
        return Intervals(at, fit._wald(request.level)[at], ("wald",) * len(at), bool(fit._caveats), ADJUSTED_FOR_SOME)
    wanted = wanted[at]
    bounds = np.empty((len(at), 2))
    if not wanted.all():
        bounds[~wanted] = fit._wald(request.level)[at[~wanted]]
    if wanted.any():
        bounds[wanted] = profile(fit, request.level, at[wanted], adjust=True, progress=request.progress)
    return Intervals(at, bounds, tuple("adjusted" if is_adjusted else "wald" for is_adjusted in wanted))


def _wanted(fit: Estimate) -> BoolArray:
    """Tell for which categories profile intervals are wanted."""
    if fit.categories.p <= _FEW or not fit.has_ratio or fit._caveats:
        return np.ones(fit.categories.p, bool)
    far = np.minimum(fit.w, 1 - fit.w) > _NEAR * fit._shown_se
    return ~far  # also where there is no standard error


def is_affordable(fit: Estimate, comparisons: int = 1) -> bool:
    """Tell whether so many comparisons by likelihood are to be had in seconds."""
    cost = comparisons * max(_cost(fit, _COMPARISON), _LEAST_COST)
    return fit.has_ratio and fit.categories.p <= MANY and cost <= _MAX_COST * (5 if comparisons > 1 else 1)


def _cost(fit: Estimate, categories: int) -> float:
    """Return about how many multiplications profile intervals of so many categories take."""
    p, rows = fit.categories.p, len(fit.counts.observed_codes)
    return categories * float(p * p) * (rows + p if p <= MANY else _CHORD)


def profile(
    fit: Estimate, level: float, at: IntArray, *, adjust: bool = False, progress: Progress | None = None
) -> FloatArray:
    r"""Return, for the categories at these positions, the values that the likelihood ratio test does not reject.

    Notes
    -----
    Without `adjust` v is kept where :math:`r(v) = \sqrt{2n\{l(\hat w) - l(v)\}}` is at most the normal quantile z. A
    weighted sample has :math:`n` divided by the design effect of the share, the variance of its score over
    that without weights (Rao and Scott 1984). Where `sampling` says how people were drawn, the variance is that of
    strata and clusters, and z the quantile of t with the degrees of freedom of the sample.

    With `adjust` two things change where normal theory fails (see `estimators`). Near 0 the quantile is that of a
    normal estimate cut at 0, between the one-sided and the two-sided one (Feldman and Cousins 1998). And away
    from the nearer end of [0, 1], where few people make the likelihood ratio reject too often, a value must be rejected
    by the score test as well.
    """
    peak, z = fit._peak(), critical_value(level, fit.degrees_of_freedom)
    return profiled([Profile(peak, int(j)) for j in at], z, fit.categories.p, adjust=adjust, progress=progress)


def of_sums(fit: Estimate, members: Sequence[FloatArray], level: float, *, adjust: bool) -> FloatArray:
    """Return the intervals of sums of shares, each given by ones at its categories; see `profile`."""
    peak, z = fit._peak(), critical_value(level, fit.degrees_of_freedom)
    return profiled([LinearProfile(peak, c) for c in members], z, fit.categories.p, adjust=adjust)


class OneShare(Protocol):
    """The profile likelihood of one number."""

    @property
    def top(self) -> float:
        """Its value at the peak."""
        ...

    def error(self) -> float:
        """Return roughly its standard error."""
        ...

    def at(self, v: float) -> ProfilePoint | None:
        """Return the highest point at which it is v."""
        ...


def profiled(
    ones: Sequence[OneShare], z: float, p: int, *, adjust: bool, progress: Progress | None = None
) -> FloatArray:
    """Return the intervals of shares by their profiles, among p categories, z standard errors wide; see `profile`."""
    fine = _FINE if p <= MANY else _COARSE
    bounds = np.empty((len(ones), 2))
    for done, share in enumerate(ones):
        if progress is not None:
            progress(done, len(ones))
        tests = _adjusted(share.top, z) if adjust else (_Ratio(z), _Ratio(z))
        bounds[done] = [search_end(share, end, test, z, fine) for end, test in zip((0.0, 1.0), tests, strict=True)]
    if progress is not None:
        progress(len(ones), len(ones))
    return bounds


# Tests: how far beyond rejection a value is, in standard errors; negative if it is kept --------------


class _Ratio:
    """The likelihood ratio test."""

    def __init__(self, z: float) -> None:
        self._z = z

    def __call__(self, point: ProfilePoint) -> float:
        return point.root - self._z


class _Cut:
    """The likelihood ratio test with the quantile of an estimate that is cut at the nearer end of [0, 1]."""

    def __init__(self, z: float) -> None:
        self._z = z

    def __call__(self, point: ProfilePoint) -> float:
        return point.root - cut_quantile(point.distance, self._z)


class _Both:
    """The same and the score test: a value is rejected if both reject it."""

    def __init__(self, ratio: _Cut, z: float) -> None:
        self._ratio, self._z = ratio, z

    def __call__(self, point: ProfilePoint) -> float:
        return min(self._ratio(point), point.score - self._z)


class SignedScore:
    """The score test, or the likelihood ratio test.

    The score is measured from what it is at the peak, `start`, as the likelihood is: where the peak is cut off at an
    end of the range, a sample that asks for a value beyond it would otherwise reject all values.
    """

    def __init__(self, z: float, *, score: bool, start: float = 0.0) -> None:
        self._z, self._score, self._start = z, score, start

    def __call__(self, point: ProfilePoint) -> float:
        """Return how far beyond rejection the value is."""
        size = sqrt(max(point.score**2 - self._start**2, 0.0)) if self._score else point.root
        return size - self._z


def _adjusted(top: float, z: float) -> tuple[Any, Any]:
    """Return the tests for the lower and for the upper end."""
    near = _Cut(z)
    far = _Both(near, z)
    return (near, far) if top < 0.5 else (far, near)


def cut_quantile(distance: float, z: float) -> float:
    r"""Return the quantile of the root of the likelihood ratio, for a mean this many standard errors from 0.

    Notes
    -----
    For x normal with mean :math:`\mu \ge 0` and variance 1 the estimate is max(x, 0), and the ratio's root is at most
    q where :math:`x \le \mu + q` and, if :math:`\mu < q`, :math:`x \ge (\mu^2 - q^2)/2\mu`. The level is that of z,
    two-sided. It enters by its tail: quantiles of t with few degrees of freedom are so large that it rounds to 1.
    """
    if z > _NO_TAIL:
        return z
    tail = 2 * float(ndtr(-z))
    one_sided = -float(ndtri(tail))
    if distance >= z:
        return z
    if distance < 1e-3:
        return one_sided
    q, least, most = z, max(distance, one_sided), z  # between which the root lies
    for _ in range(60):
        below = (distance + q * q / distance) / 2  # of x below its mean
        excess = tail - ndtr(-q) - ndtr(-below)
        slope = (exp(-q * q / 2) + exp(-below * below / 2) * q / distance) / sqrt(2 * pi)
        if abs(excess) < 1e-12 * tail:
            break
        least, most = (q, most) if excess < 0 else (least, q)
        q -= excess / slope if slope > 0 else np.inf
        q = q if least < q < most else (least + most) / 2
    return float(min(q, z))


# Ends ---------------------------------------------------------------------------------------------


def search_end(
    share: OneShare, bound: float, test: Callable[[ProfilePoint], float], z: float, fine: float = _FINE
) -> float:
    """Return where the test begins to reject between the peak and the bound; the bound if it does not."""

    def excess(v: float) -> float:
        point = share.at(v)
        return np.inf if point is None else test(point)

    top = share.top
    if top == bound:
        return bound
    reach = z * share.error()
    if not 3 * reach < abs(bound - top) and excess(bound) <= 0:
        return bound
    inside, outside = (top, -z), (bound, np.inf)
    v = top + np.sign(bound - top) * min(reach, 0.7 * abs(bound - top))
    last = inside
    for _ in range(_EVALUATIONS):
        here = (v, excess(v))
        if abs(here[1]) <= fine:
            return v
        if here[1] < 0:
            inside = here
        else:
            outside = here
        v, last = _next(inside, outside, last, here), here
        if abs(outside[0] - inside[0]) <= 1e-14 * max(abs(top), abs(inside[0])) or v in (inside[0], outside[0]):
            return inside[0]
    return v


def _next(
    inside: tuple[float, float], outside: tuple[float, float], last: tuple[float, float], here: tuple[float, float]
) -> float:
    """Return where the line through the last two points crosses zero, if that is in the bracket; else its middle."""
    middle = (inside[0] + outside[0]) / 2
    rise = here[1] - last[1]
    if not np.isfinite(rise) or rise == 0:
        return middle
    v = here[0] - here[1] * (here[0] - last[0]) / rise
    low, high = sorted((inside[0], outside[0]))
    return v if low < v < high else middle


def _require_people(counts: SubsetCounts, what: str) -> None:
    if counts.squares is not None:
        raise ArgumentError(f"a {what} interval must come from unweighted people; got sampling weights.", AUTO_INTERVAL)


def bootstrap(fit: Estimate, level: float, replications: int, seed: Any) -> FloatArray:
    """Return percentile intervals over samples of people drawn with replacement, fitted by the same method."""
    from subsetprivacy.estimation.dispatch import METHODS, read_method

    counts = fit.counts
    _require_people(counts, "bootstrap")
    check_count(replications, "replications", least=20)
    generator = numpy_generator(seed)
    drawn = generator.multinomial(int(counts.total), counts.shares, size=replications)
    samples = CountsBatch(counts.observed_codes, drawn, counts.design)
    method = METHODS[read_method(fit.method.partition(",")[0])]
    estimates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        for sample in samples:
            try:
                refit = method(sample)
            except SubsetPrivacyError:
                continue
            estimates.append((refit.projected() if fit.in_simplex else refit).w)
    if len(estimates) < 0.9 * replications:
        raise ArgumentError(
            f"a bootstrap interval must be able to refit its samples; {replications - len(estimates)} of "
            f"{replications} were not identifiable.",
            PROFILE_INTERVAL,
        )
    tail = 50 * (1 - level)
    return np.percentile(np.array(estimates), [tail, 100 - tail], axis=0).T
