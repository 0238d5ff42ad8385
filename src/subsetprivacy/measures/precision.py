"""How precise what is read off a joint estimate is, and how much of that is worth computing."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import BoundaryWarning, TooLargeError
from subsetprivacy.estimation import doubt
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.measures.measure import Measure
from subsetprivacy.measures.shares import Share

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate

MAX_SHOWN = 1024  # joint categories up to which output has standard errors: half a second; 4096 take ten
PROFILE = " Hint: method='profile'."
NEAR_ZERO = "Close to zero:"
_TOO_NEAR = 2.0  # standard errors: nearer to 0 than this, a logarithm or a quotient is not nearly normal


def standard_error(fit: "Estimate", gradient: FloatArray) -> float:
    """Return the standard error of a function of the joint shares by its gradient; infinite where there is none."""
    variance = fit.uncertainty.along(fit, gradient)
    return float(np.sqrt(max(variance, 0.0))) if variance == variance else float("inf")


def require_matrix(fit: "Estimate") -> None:
    """Raise where the joint estimate has no covariance matrix: each error of a table would be an iteration."""
    if fit.categories.p > MAX_MATRIX:
        raise TooLargeError(
            f"the standard errors of a table must be of at most {MAX_MATRIX} joint categories; got "
            f"{fit.categories.p}. Hint: difference() and odds_ratio() need only a few of them."
        )


def if_possible(errors: Callable[[], FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Return errors, or what is not a number where there are too many categories to have them."""
    try:
        return errors()
    except TooLargeError:
        return np.full(shape, np.nan)


def if_quick(fit: "Estimate", errors: Callable[[], FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Return errors for output that did not ask for them: not a number beyond `MAX_SHOWN` joint categories."""
    return errors() if fit.categories.p <= MAX_SHOWN else np.full(shape, np.nan)


def not_computed(fit: "Estimate", what: str, hint: str) -> tuple[str, ...]:
    """Return a note where output is without what takes all standard errors."""
    if fit.categories.p > MAX_MATRIX:
        return (f"More than {MAX_MATRIX} joint categories: no {what}.",)
    if fit.categories.p > MAX_SHOWN:
        return (f"More than {MAX_SHOWN} joint categories: no {what}, unless asked for. Hint: {hint}.",)
    return ()


def near_zero(fit: "Estimate", shares: tuple[Share, Share], rests_on: tuple[str, ...]) -> tuple[str, ...]:
    """Return a note where a share that a comparison rests on may as well be 0; of several the nearest one.

    Parameters
    ----------
    rests_on
        What of each share must be clearly above 0: its ``"part"``, its ``"rest"`` or its ``"whole"``.
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
        f"{NEAR_ZERO} this rests on an estimated share of {value:.2g} with a standard error of {se:.2g}; less "
        f"than {_TOO_NEAR:g} standard errors from 0 a delta interval is not to be trusted."
    )
    return (text + (PROFILE if fit.has_profile else ""),)


def warned(fit: "Estimate", measure: Measure) -> Measure:
    """Warn the caller of a public method of a doubtful delta interval: of the estimate, or else of what it rests on."""
    if measure.method == "delta":
        near = [(BoundaryWarning, note) for note in measure.notes if note.startswith(NEAR_ZERO)]
        for kind, text in fit._doubts or near:
            warnings.warn(text.replace(doubt.BETTER, PROFILE if fit.has_profile else ""), kind, stacklevel=3)
    return measure
