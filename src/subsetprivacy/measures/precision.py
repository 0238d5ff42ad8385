"""Standard errors of functions of joint shares, and when to compute them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import TooLargeError, warn_of
from subsetprivacy.estimation.caveats import with_interval_advice
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.measures.measure import Measure
from subsetprivacy.measures.shares import Share
from subsetprivacy.messages import Advice, Note, NoteKind
from subsetprivacy.messages.for_analyses import COMPARE_A_FEW, METHOD_PROFILE

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate

MAX_SHOWN = 1024  # output has standard errors for up to so many joint categories: half a second; 4096 take ten
_TOO_NEAR = 2.0  # in standard errors; closer to 0 than this, a logarithm or a ratio is far from normal


def standard_error(fit: "Estimate", gradient: FloatArray) -> float:
    """Return the standard error of a function of the joint shares from its gradient; infinite if there is none."""
    variance = fit.uncertainty.along(fit, gradient)
    return float(np.sqrt(max(variance, 0.0))) if variance == variance else float("inf")


def require_matrix(fit: "Estimate") -> None:
    """Raise if the joint estimate has no covariance matrix, since each standard error would need an iteration."""
    if fit.categories.p > MAX_MATRIX:
        raise TooLargeError(
            f"a table with standard errors must have at most {MAX_MATRIX} joint categories; got {fit.categories.p}.",
            COMPARE_A_FEW,
        )


def wald_bounds(values: FloatArray, errors: FloatArray, level: float, in_simplex: bool) -> FloatArray:
    """Return a Wald interval for each share, with the ends in the last axis.

    The interval is cut to [0, 1] if the estimator always returns a distribution.
    """
    half = float(ndtri(0.5 + level / 2)) * errors
    bounds = np.stack([values - half, values + half], axis=-1)
    return np.clip(bounds, 0.0, 1.0) if in_simplex else bounds


def if_possible(errors: Callable[[], FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Return standard errors, or NaN if there are too many categories to compute them."""
    try:
        return errors()
    except TooLargeError:
        return np.full(shape, np.nan)


def if_quick(fit: "Estimate", errors: Callable[[], FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Return standard errors for default output, or NaN for more than `MAX_SHOWN` joint categories."""
    return errors() if fit.categories.p <= MAX_SHOWN else np.full(shape, np.nan)


def not_computed(fit: "Estimate", what: str, advice: Advice) -> tuple[Note, ...]:
    """Return a note if output omits what needs all standard errors, with advice on how to get it."""
    if fit.categories.p > MAX_MATRIX:
        return (Note(NoteKind.NO_STANDARD_ERRORS, f"More than {MAX_MATRIX} joint categories: no {what}."),)
    if fit.categories.p > MAX_SHOWN:
        text = f"More than {MAX_SHOWN} joint categories: by default no {what}."
        return (Note(NoteKind.NO_STANDARD_ERRORS, text, advice),)
    return ()


def near_zero(fit: "Estimate", shares: tuple[Share, Share], rests_on: tuple[str, ...]) -> tuple[Note, ...]:
    """Return a note if a share in a comparison is close to 0; the closest one if there are several.

    Parameters
    ----------
    rests_on
        The component of each share that must be clearly above 0: ``"part"``, ``"rest"`` or ``"whole"``.
    """
    worst, of_worst = _TOO_NEAR, None
    for share in shares:
        for which in rests_on:
            member = share.member(which, len(fit.w))
            value, se = float(member @ fit.w), standard_error(fit, member)
            distance = value / se if se > 0 else float("inf")
            if distance < worst:
                worst, of_worst = distance, (value, se)
    if of_worst is None:
        return ()
    value, se = of_worst
    text = (
        f"Close to 0: this depends on an estimated share of {value:.2g} with a standard error of {se:.2g}. Within "
        f"{_TOO_NEAR:g} standard errors of 0, delta intervals are unreliable."
    )
    return (Note(NoteKind.NEAR_ZERO, text, _better(fit)),)


def warned(fit: "Estimate", measure: Measure) -> Measure:
    """Warn the caller of a public method of an unreliable interval from standard errors."""
    if measure.method != "profile":
        near = tuple(note for note in measure.notes if note.kind is NoteKind.NEAR_ZERO)
        better = _better(fit) if measure.method == "delta" else None
        for note in with_interval_advice(fit._caveats, better) or near:
            warn_of(note, stacklevel=3)
    return measure


def _better(fit: "Estimate") -> Advice | None:
    """Return the advice to use a profile interval, if there is one."""
    return METHOD_PROFILE if fit.has_profile else None
