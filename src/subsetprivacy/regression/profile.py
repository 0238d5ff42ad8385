"""Profile intervals of coefficients: all values that the likelihood does not reject."""

import numpy as np
from scipy.special import ndtri

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.constrained import information_at, maximize_with
from subsetprivacy.regression.objective import Maximand

_FINE = 1e-6  # tolerance of the deviance
_DOUBLINGS = 30


def profile_interval(
    objective: Maximand, theta: FloatArray, value: float, at: int, step: float, level: float
) -> tuple[float, float]:
    r"""Return the ends of the profile interval of one coefficient.

    Parameters
    ----------
    objective, theta, value
        The objective, its maximizer, and its maximum.
    at
        The position of the coefficient.
    step
        The approximate distance of an end: the half-width of Wald's interval.

    Notes
    -----
    An end b solves :math:`2\{l(\hat\beta) - \max_{\beta_k = b} l(\beta)\} = z^2`. It is infinite if the likelihood
    never falls that far.
    """
    cut = float(ndtri((1 + level) / 2)) ** 2
    J = information_at(objective, theta)
    low, high = (_end(objective, theta, value, at, sign * step, cut, J) for sign in (-1.0, 1.0))
    return low, high


def _end(
    objective: Maximand, theta: FloatArray, value: float, at: int, step: float, cut: float, J: FloatArray
) -> float:
    """Find one end: double the step until the likelihood has fallen, then interpolate the square root of the fall."""
    here = np.array([at])

    def fall(b: float, start: FloatArray) -> tuple[float, FloatArray]:
        optimum = maximize_with(objective, start, here, np.array([b]), J)
        return max(2 * (value - optimum.value), 0.0), optimum.theta

    inner, inner_fall, start = float(theta[at]), 0.0, theta
    outer = inner + step
    outer_fall, beyond = fall(outer, start)
    for _ in range(_DOUBLINGS):
        if outer_fall >= cut:
            break
        inner, inner_fall, start = outer, outer_fall, beyond
        step *= 1.5
        outer = inner + step
        outer_fall, beyond = fall(outer, start)
    else:
        return float(np.copysign(np.inf, step))
    for _ in range(60):
        a, b = np.sqrt(inner_fall), np.sqrt(outer_fall)
        share = float(np.clip((np.sqrt(cut) - a) / (b - a), 0.02, 0.98))
        middle = inner + share * (outer - inner)
        there, start_there = fall(middle, start)
        if abs(there - cut) < _FINE * cut:
            return middle
        if there < cut:
            inner, inner_fall, start = middle, there, start_there
        else:
            outer, outer_fall = middle, there
    return (inner + outer) / 2
