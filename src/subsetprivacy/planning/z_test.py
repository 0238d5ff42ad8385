"""The power of a two-sided z test, and the required number of people."""

from math import ceil
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from subsetprivacy._checks import check_alpha, check_share
from subsetprivacy.errors import ArgumentError


def critical(alpha: float) -> float:
    """Return the critical value of a two-sided z test at this level."""
    return float(ndtri(1 - check_alpha(alpha) / 2))


def chance(effect: float, se: float, z: float) -> float:
    """Return the probability that an estimate with this standard error is more than z standard errors from 0."""
    t = abs(effect) / se if se > 0 else np.inf if effect else 0.0
    return float(ndtr(t - z) + ndtr(-t - z))


def people_for(effect: float, variance: float, alpha: float, target: Any) -> int:
    """Return the smallest number of people for which the test reaches the target, given the variance of one person.

    Raises
    ------
    ArgumentError
        If there is no effect to find, or the target is not above `alpha`.
    """
    z, wanted = critical(alpha), check_share(target, "target")
    if abs(effect) < 1e-12 or wanted <= alpha:
        raise ArgumentError(
            f"the difference must not be 0 and `target` must be above `alpha`, {alpha:g}; got a difference of "
            f"{effect:.3g} and a target of {wanted:g}."
        )
    # The power increases with the ratio of effect and standard error, starting at alpha.
    ratio = brentq(lambda t: chance(t, 1.0, z) - wanted, 0.0, z + ndtri(wanted) + 10)
    return max(ceil(variance * (ratio / effect) ** 2 * (1 - 1e-12)), 1)
