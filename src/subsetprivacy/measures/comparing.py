"""Difference, ratio and odds ratio of two shares, by the delta method and by profile likelihood."""

import numpy as np
from attrs import evolve
from scipy.special import ndtr, ndtri

from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import MeasureMethod
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.likelihood import MANY, mean_loglik
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.result import MAX_PROFILED, Estimate
from subsetprivacy.measures.measure import METHODS, Measure
from subsetprivacy.measures.precision import near_zero, standard_error
from subsetprivacy.measures.profile import TwoShareProfile
from subsetprivacy.measures.scales import MeasureScale
from subsetprivacy.measures.shares import Share, TwoShares
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import (
    DELTA_OR_FEWER_VARIABLES,
    LIKELIHOOD_OR_DELTA,
    METHOD_DELTA,
    ONE_SIDED_PROFILE,
)

_NAN, _INF = float("nan"), float("inf")
_AT_ZERO = Note(NoteKind.NO_STANDARD_ERRORS, "An estimate is zero, so there is no standard error on the log scale.")
_UNKNOWN = Note(NoteKind.NO_ESTIMATE, "No estimate: a compared group, or both shares, are estimated as empty.")
_NEGATIVE = Note(
    NoteKind.NO_ESTIMATE,
    "No estimate: a moment estimate left the simplex, and a ratio of negative shares is meaningless.",
)
_OF_DELTA = (NoteKind.NO_STANDARD_ERRORS, NoteKind.NEAR_ZERO)  # caveats that do not apply to profile intervals


def compare(
    fit: Estimate, kind: type[MeasureScale], shares: tuple[Share, Share], name: str, level: float, method: MeasureMethod
) -> Measure:
    """Return the comparison of two shares of a joint estimate, with its interval."""
    check_level(level)
    check_choice(method, METHODS, "method")
    scale = kind(*(share.of(fit.w) for share in shares))
    measure = _by_delta(fit, scale, shares, name, level)
    is_quick = fit.has_profile and fit.categories.p <= MANY
    by_delta = method == "delta" or (method == "auto" and not is_quick)
    return measure if by_delta else _by_profile(fit, kind, shares, measure)


def _by_delta(fit: Estimate, scale: MeasureScale, shares: tuple[Share, Share], name: str, level: float) -> Measure:
    v, (low, high) = scale.estimate, scale.limits
    if np.isnan(v):
        note = _UNKNOWN if fit.in_simplex else _NEGATIVE
        ends = scale.back(low), scale.back(high)
        return Measure(name, _NAN, _NAN, *ends, level, "delta", scale.null, _NAN, (note,))
    if np.isinf(v):
        note = _AT_ZERO.with_advice(ONE_SIDED_PROFILE if fit.has_profile else None)
        ends = scale.back(low), scale.back(high)
        return Measure(name, scale.back(v), _INF, *ends, level, "delta", scale.null, _NAN, (note,))
    gradient = sum(slope * share.gradient(fit.w) for slope, share in zip(scale.slopes, shares, strict=True))
    se = standard_error(fit, np.asarray(gradient))
    half = float(ndtri(0.5 + level / 2)) * se
    lower, upper = v - half, v + half
    if fit.in_simplex:  # a distribution stays in the range of the measure; a moment estimate may not
        lower, upper = max(lower, low), min(upper, high)
    value = scale.back(v)
    pvalue = float(2 * ndtr(-abs(v) / se)) if 0 < se < _INF else _NAN
    # On a log scale, the standard error of the value is the value times that of its logarithm.
    factor = value if scale.null else 1.0
    ends = scale.back(lower), scale.back(upper)
    notes = near_zero(fit, shares, scale.rests_on)
    return Measure(name, value, factor * se, *ends, level, "delta", scale.null, pvalue, notes)


def _by_profile(fit: Estimate, kind: type[MeasureScale], shares: tuple[Share, Share], measure: Measure) -> Measure:
    """Replace interval and test by those of the profile likelihood."""
    _require_profile(fit)
    counts = fit.counts
    best = newton(counts.incidence, counts.shares).w
    scale = kind(*(share.of(best) for share in shares))
    notes = tuple(note for note in measure.notes if note.kind not in _OF_DELTA)
    if np.isnan(scale.estimate):
        return evolve(measure, method="profile", notes=notes)
    top = mean_loglik(counts.incidence, counts.shares, best)
    profile = TwoShareProfile(TwoShares(counts, *shares), scale, top, counts.total)
    lower, upper = profile.interval(measure.level)
    return evolve(
        measure,
        lower=scale.back(lower),
        upper=scale.back(upper),
        method="profile",
        pvalue=profile.pvalue(),
        notes=notes,
    )


def _require_profile(fit: Estimate) -> None:
    """Raise unless the estimate has profile likelihood intervals."""
    if fit.counts.squares is not None:
        raise ArgumentError("a profile interval must come from unweighted people; got sampling weights.", METHOD_DELTA)
    if fit.method.startswith("mom"):
        raise ArgumentError(
            f"a profile interval must come from a likelihood estimate; got an estimate by {fit.method}.",
            LIKELIHOOD_OR_DELTA,
        )
    if not fit.has_profile:
        raise ArgumentError(
            f"a profile interval must have at most {MAX_PROFILED} joint categories; got {fit.categories.p}.",
            DELTA_OR_FEWER_VARIABLES,
        )
