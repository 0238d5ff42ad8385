"""Intervals without standard errors: profile likelihood, adjusted profile likelihood, and bootstrap."""

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
from subsetprivacy.data import CountsBatch
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
_FEW = 12  # up to so many categories, all have profile intervals
_NEAR = 4.0  # Wald intervals are unreliable within so many standard errors of 0 or 1
_MAX_COST = 2e7  # multiplications: about a second
_CHORD = 8  # a search beyond 64 categories, in units of the square of their number
_LEAST_COST = 1.5e5  # the least cost of a comparison
_COMPARISON = 8  # searches that a comparison takes, in units of a profile interval
_EVALUATIONS = 100
_MOST_TOGETHER = 256  # the most intervals whose joint distribution is integrated: less than a second
_FINE, _COARSE = 1e-6, 1e-4  # the precision of a search, in standard errors; the second for more than 64 categories


@frozen(eq=False)
class Intervals:
    """Confidence intervals of some categories, and how each was made.

    Attributes
    ----------
    at
        The positions of the categories.
    bounds
        The ends, a row per category.
    kinds
        For each category ``"wald"``, ``"profile"``, ``"adjusted"`` or ``"bootstrap"``.
    unreliable
        Whether some are Wald intervals although the normal approximation is unreliable.
    advice
        How to get better intervals, if there are any.
    together
        The method by which the level holds for all intervals jointly, ``"normal"`` or ``"bonferroni"``; empty if the
        level is that of each interval.
    """

    at: IntArray
    bounds: FloatArray
    kinds: tuple[str, ...]
    unreliable: bool = False
    advice: Advice | None = None
    together: str = ""


@frozen
class Request:
    """The arguments that `interval`, `summary` and the other methods share."""

    level: float
    method: str
    categories: Any = None
    replications: int = 999
    seed: Any = None
    simultaneous: bool = False
    progress: Progress | None = None


def intervals_of(fit: Estimate, request: Request) -> Intervals:
    """Return the intervals of an estimate, which remembers those that are not drawn: its outputs ask for the same."""
    check_level(request.level)
    check_choice(request.method, METHODS, "method")
    at = _positions(fit, request.categories)
    if request.method == "bootstrap":
        return _intervals_at(fit, request, at)
    asked = (request.level, request.method, request.simultaneous, *at.tolist())
    if asked not in fit._known_intervals:
        fit._known_intervals[asked] = _intervals_at(fit, request, at)
    return fit._known_intervals[asked]


def _intervals_at(fit: Estimate, request: Request, at: IntArray) -> Intervals:
    if not request.simultaneous:
        return _each(fit, request, at)
    together = together_by([fit], fit._shown_se[at])
    level = level_of_each(fit._cov[np.ix_(at, at)] if together == "normal" else None, len(at), request.level)
    return evolve(_each(fit, evolve(request, level=level), at), together=together)


def _each(fit: Estimate, request: Request, at: IntArray) -> Intervals:
    """Return intervals that each have the level."""
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
    """Return the method by which a level holds for several intervals jointly.

    Parameters
    ----------
    bases
        The full estimates that they come from.
    se
        Their standard errors.
    """
    few = len(se) <= _MOST_TOGETHER and all(base.categories.p <= MAX_MATRIX for base in bases)
    certain = few and np.isfinite(se).all() and not any(base._caveats for base in bases)
    return "normal" if certain else "bonferroni"


def level_of_each(cov: FloatArray | None, number: int, level: float) -> float:
    """Return the level of each interval so that all intervals hold jointly at `level`.

    Parameters
    ----------
    cov
        The covariance matrix of the estimates, for the distribution of their largest error; None for Bonferroni's
        inequality.
    number
        The number of intervals.
    level
        The joint level.
    """
    if cov is None or number == 1:
        return 1 - (1 - level) / number
    from subsetprivacy.estimation.limit_quantiles import largest_error_quantile

    return float(2 * ndtr(largest_error_quantile(cov, level)) - 1)


def _positions(fit: Estimate, categories: Any) -> IntArray:
    """Return the positions of the requested labels: all, one, or several."""
    if categories is None:
        return np.arange(fit.categories.p)
    if isinstance(categories, Hashable) and categories in fit.categories.labels:
        return np.array([fit.categories.index(categories)])
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        return np.array([fit.categories.index(categories)])  # raises, and lists the labels
    return np.array([fit.categories.index(label) for label in categories], np.int64)


def require_likelihood(fit: Estimate) -> None:
    """Raise unless the estimate has profile likelihood intervals."""
    if fit.is_constrained:
        raise ArgumentError(
            "a profile interval must come from an estimate without known margins; got one with known margins.",
            WALD_INTERVAL,
        )
    if fit._by_moments:
        raise ArgumentError(
            f"a profile interval must come from a likelihood estimate; got an estimate by {fit.method}.",
            ESTIMATE_BY_LIKELIHOOD,
        )
    if fit.categories.p > MAX_PROFILED:
        raise TooLargeError(
            f"profile intervals must have at most {MAX_PROFILED} categories; got {fit.categories.p}.", WALD_INTERVAL
        )


# Which kind, if none is asked for -----------------------------------------------------------------


def _auto(fit: Estimate, request: Request, at: IntArray) -> Intervals:
    """Return adjusted profile intervals for few categories or where Wald intervals are unreliable, else Wald's."""
    wanted = _wanted(fit)  # a category has the same interval whichever categories are requested
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
    """Return which categories need profile intervals."""
    if fit.categories.p <= _FEW or not fit.has_ratio or fit._caveats:
        return np.ones(fit.categories.p, bool)
    far = np.minimum(fit.w, 1 - fit.w) > _NEAR * fit._shown_se
    return ~far  # also if there is no standard error


def is_affordable(fit: Estimate, comparisons: int = 1) -> bool:
    """Return whether so many comparisons by likelihood take only seconds."""
    cost = comparisons * max(_cost(fit, _COMPARISON), _LEAST_COST)
    return fit.has_ratio and fit.categories.p <= MANY and cost <= _MAX_COST * (5 if comparisons > 1 else 1)


def _cost(fit: Estimate, categories: int) -> float:
    """Return the approximate number of multiplications for profile intervals of so many categories."""
    p, rows = fit.categories.p, len(fit.counts.observed_codes)
    return categories * float(p * p) * (rows + p if p <= MANY else _CHORD)


def profile(
    fit: Estimate, level: float, at: IntArray, *, adjust: bool = False, progress: Progress | None = None
) -> FloatArray:
    r"""Return the values that the likelihood ratio test does not reject, for the categories at these positions.

    Notes
    -----
    Without `adjust`, the interval contains v if :math:`r(v) = \sqrt{2n\{l(\hat w) - l(v)\}}` is at most the normal
    quantile z. For a weighted sample, :math:`n` is divided by the design effect of the share, the variance of its score
    relative to that without weights (Rao and Scott 1984). If `sampling` is given, the variance accounts for strata and
    clusters, and z is the quantile of t with the degrees of freedom of the sample.

    With `adjust`, two things change where the normal approximation fails (see `estimators`). Near 0, the quantile is
    that of a normal estimate cut at 0, between the one-sided and the two-sided quantile (Feldman and Cousins 1998).
    Away from the nearer end of [0, 1], where the likelihood ratio test rejects too often in small samples, a value is
    rejected only if the score test rejects it as well.
    """
    peak, z = fit._peak(), critical_value(level, fit.degrees_of_freedom)
    return profiled([Profile(peak, int(j)) for j in at], z, fit.categories.p, adjust=adjust, progress=progress)


def of_sums(fit: Estimate, members: Sequence[FloatArray], level: float, *, adjust: bool) -> FloatArray:
    """Return the intervals of sums of shares, each given by an indicator of its categories; see `profile`."""
    peak, z = fit._peak(), critical_value(level, fit.degrees_of_freedom)
    return profiled([LinearProfile(peak, c) for c in members], z, fit.categories.p, adjust=adjust)


class OneShare(Protocol):
    """The profile likelihood of one number."""

    @property
    def top(self) -> float:
        """The value at the peak."""
        ...

    @property
    def error(self) -> float:
        """An approximate standard error."""
        ...

    def at(self, v: float) -> ProfilePoint | None:
        """Return the point of maximum likelihood with the value v."""
        ...


def profiled(
    ones: Sequence[OneShare], z: float, p: int, *, adjust: bool, progress: Progress | None = None
) -> FloatArray:
    """Return the intervals of shares from their profiles, for p categories and the quantile z; see `profile`."""
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
    """The likelihood ratio test with the quantile of an estimate cut at the nearer end of [0, 1]."""

    def __init__(self, z: float) -> None:
        self._z = z

    def __call__(self, point: ProfilePoint) -> float:
        return point.root - cut_quantile(point.distance, self._z)


class _Both:
    """The same test combined with the score test: a value is rejected if both reject it."""

    def __init__(self, ratio: _Cut, z: float) -> None:
        self._ratio, self._z = ratio, z

    def __call__(self, point: ProfilePoint) -> float:
        return min(self._ratio(point), point.score - self._z)


class SignedScore:
    """The score test, or the likelihood ratio test.

    The score is measured relative to `start`, its value at the peak. Otherwise, if the peak is cut off at an end of the
    range, a sample that favors a value beyond it would reject all values.
    """

    def __init__(self, z: float, *, score: bool, start: float = 0.0) -> None:
        self._z, self._score, self._start = z, score, start

    def __call__(self, point: ProfilePoint) -> float:
        """Return the excess of the statistic over the critical value."""
        size = sqrt(max(point.score**2 - self._start**2, 0.0)) if self._score else point.root
        return size - self._z


def _adjusted(top: float, z: float) -> tuple[Any, Any]:
    """Return the tests for the lower and for the upper end."""
    near = _Cut(z)
    far = _Both(near, z)
    return (near, far) if top < 0.5 else (far, near)


def cut_quantile(distance: float, z: float) -> float:
    r"""Return the quantile of the root of the likelihood ratio, for a mean `distance` standard errors above 0.

    Notes
    -----
    For x normal with mean :math:`\mu \ge 0` and variance 1 the estimate is max(x, 0), and the ratio's root is at most
    q where :math:`x \le \mu + q` and, if :math:`\mu < q`, :math:`x \ge (\mu^2 - q^2)/2\mu`. The level is that of z,
    two-sided. The code uses the tail, since quantiles of t with few degrees of freedom are so large that the level
    rounds to 1.
    """
    if z > _NO_TAIL:
        return z
    tail = 2 * float(ndtr(-z))
    one_sided = -float(ndtri(tail))
    if distance >= z:
        return z
    if distance < 1e-3:
        return one_sided
    q, least, most = z, max(distance, one_sided), z  # a bracket of the root
    for _ in range(60):
        below = (distance + q * q / distance) / 2  # the distance of x below its mean
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
    """Return where the test starts to reject between the peak and the bound, or the bound if it never does."""

    def excess(v: float) -> float:
        point = share.at(v)
        return np.inf if point is None else test(point)

    top = share.top
    if top == bound:
        return bound
    reach = z * share.error
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
    """Return the zero of the line through the last two points if it is in the bracket, else the midpoint."""
    middle = (inside[0] + outside[0]) / 2
    rise = here[1] - last[1]
    if not np.isfinite(rise) or rise == 0:
        return middle
    v = here[0] - here[1] * (here[0] - last[0]) / rise
    low, high = sorted((inside[0], outside[0]))
    return v if low < v < high else middle


def _require_people(fit: Estimate, what: str) -> None:
    if fit.counts.squares is not None or fit.survey is not None:
        got = "sampling weights" if fit.survey is None else "a sampling"
        raise ArgumentError(f"a {what} interval must come from unweighted people; got {got}.", AUTO_INTERVAL)


def bootstrap(fit: Estimate, level: float, replications: int, seed: Any) -> FloatArray:
    """Return percentile intervals over samples of people drawn with replacement and fitted by the same method."""
    from subsetprivacy.estimation.dispatch import METHODS, read_method

    counts = fit.counts
    _require_people(fit, "bootstrap")
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
