"""Fits with some coefficients fixed, for likelihood ratio tests and profile intervals."""

import numpy as np
from scipy.special import ndtri

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.regression.coordinates import Coordinates, Increasing, Linear
from subsetprivacy.regression.objective import Maximand
from subsetprivacy.regression.solver import SolverResult, newton

_FINE = 1e-6  # tolerance of the deviance
_DOUBLINGS, _LONGER = 30, 1.5
_STARTED = 1e-3  # of the fall at an end; a smaller one may still be near the maximum


def maximize_with(
    objective: Maximand, start: FloatArray, fixed: IntArray, values: FloatArray, J: FloatArray | None = None
) -> SolverResult:
    """Maximize with some slopes fixed at given values.

    Parameters
    ----------
    start
        Parameters to start from; the fixed ones are set to their values.
    fixed, values
        Positions of the fixed parameters, and their values.
    J
        The information in plain coordinates, which scales the free ones. Computed if not given.
    """
    plain = objective.plain()
    zeta = plain.inverse(start)
    if J is None:
        J = information_at(objective, start)
    zeta[fixed] = values
    free = np.delete(np.arange(len(zeta)), fixed)
    linear = Linear(zeta, _spread_out(J, free))
    coordinates: Coordinates = Increasing(plain.cuts, linear) if isinstance(plain, Increasing) else linear
    return newton(objective, coordinates, np.zeros(len(free)))


def information_at(objective: Maximand, theta: FloatArray) -> FloatArray:
    """Return the information in plain coordinates."""
    plain = objective.plain()
    z = plain.inverse(theta)
    _, g, J = objective.full(theta)
    return plain.information(z, g, J)


def _spread_out(J: FloatArray, free: IntArray) -> FloatArray:
    """Return directions of the free coordinates in which the information is the identity."""
    block = J[np.ix_(free, free)]
    scale = 1 / np.sqrt(np.maximum(np.abs(block.diagonal()), 1e-12))
    values, vectors = np.linalg.eigh(block * np.outer(scale, scale))
    T = np.zeros((len(J), len(free)))
    T[free] = scale[:, None] * vectors / np.sqrt(np.maximum(np.abs(values), 1e-8))
    return T


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
    """Find one end: lengthen the step until the likelihood has fallen, then interpolate the square root of the fall."""
    here, plain = np.array([at]), objective.plain()

    def fall(b: float, start: FloatArray) -> tuple[float, FloatArray]:
        """Return the fall at b and the maximum there, in plain coordinates; `start` is in the same."""
        optimum = maximize_with(objective, plain.natural(start), here, np.array([b]), J)
        return max(2 * (value - optimum.value), 0.0), plain.inverse(optimum.theta)

    inner, inner_fall, inside = float(theta[at]), 0.0, plain.inverse(theta)
    start = inside
    for _ in range(_DOUBLINGS):
        outer = inner + step
        outer_fall, outside = fall(outer, start)
        if outer_fall >= cut:
            break
        if outer_fall > _STARTED * cut and outer_fall - inner_fall < _FINE * cut:  # it has a limit below the cut
            return float(np.copysign(np.inf, step))
        start = outside + _LONGER * (outside - inside)  # the other parameters continue in the same direction
        inner, inner_fall, inside, step = outer, outer_fall, outside, _LONGER * step
    else:
        return float(np.copysign(np.inf, step))
    for _ in range(60):
        a, b = np.sqrt(inner_fall), np.sqrt(outer_fall)
        share = float(np.clip((np.sqrt(cut) - a) / (b - a), 0.02, 0.98))
        middle = inner + share * (outer - inner)
        there, between = fall(middle, inside + share * (outside - inside))
        if abs(there - cut) < _FINE * cut:
            return middle
        if there < cut:
            inner, inner_fall, inside = middle, there, between
        else:
            outer, outer_fall, outside = middle, there, between
    return (inner + outer) / 2
