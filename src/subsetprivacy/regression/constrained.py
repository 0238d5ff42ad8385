"""Fits with some coefficients fixed, for likelihood ratio tests and profile intervals."""

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.regression.coordinates import Coordinates, Increasing, Linear
from subsetprivacy.regression.objective import Maximand
from subsetprivacy.regression.solver import SolverResult, newton


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
