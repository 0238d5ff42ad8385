"""Intervals from estimates and standard errors."""

from typing import get_args

import numpy as np
from scipy.special import expit, logit, ndtri

from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import EvaluationInterval
from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy.messages import Note, NoteKind

METHODS: tuple[EvaluationInterval, ...] = get_args(EvaluationInterval)


def bounds(
    estimate: FloatArray, se: FloatArray, level: float, method: EvaluationInterval, shares: BoolArray | bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of intervals.

    Parameters
    ----------
    method
        ``"wald"``: estimate plus and minus standard errors. ``"logit"``: the same for the log odds, so that intervals
        stay between 0 and 1; NaN if the estimate is not.
    shares
        Which estimates must be between 0 and 1. The others have Wald's intervals.
    """
    half = float(ndtri(0.5 + check_level(level) / 2)) * se
    lower, upper = estimate - half, estimate + half
    if check_choice(method, METHODS, "method") == "logit":
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = (estimate > 0) & (estimate < 1)
            center = logit(np.where(inside, estimate, np.nan))
            reach = half / (estimate * (1 - estimate))
        lower = np.where(shares, expit(center - reach), lower)
        upper = np.where(shares, expit(center + reach), upper)
    return lower, upper


def note_of(method: EvaluationInterval) -> Note:
    """Return a note about how the intervals were computed."""
    how = {
        "wald": "Intervals by method 'wald': estimate and standard error.",
        "logit": "Intervals by method 'logit': estimate and standard error of the log odds. Losses use 'wald'.",
    }
    return Note(NoteKind.INTERVAL_METHOD, how[method])
