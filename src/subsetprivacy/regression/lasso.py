r"""The lasso: coefficients of all categories, penalized by their absolute values.

All p categories have coefficients here, and the penalty :math:`\lambda\sum_{jk}|b_{jk}|` applies to all of them. A
constant added to a column's coefficients changes no share, so the penalty itself determines it. The solver takes
accelerated proximal steps and restarts whenever they go downhill.
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.models import Model
from subsetprivacy.regression.objective import Objective

_MAX_STEPS = 5000
_TOLERANCE = 1e-7


@frozen(eq=False, repr=False)
class LassoFit:
    """The result of the lasso.

    Attributes
    ----------
    B
        The coefficients of all categories, shape (p, d).
    value
        The log-likelihood, without the penalty.
    violation
        The largest violation of the conditions of a maximum, relative to the gradient without slopes.
    """

    B: FloatArray
    value: float
    violation: float
    steps: int

    @property
    def converged(self) -> bool:
        """Whether the conditions hold."""
        return self.violation <= 1e-4


class SymmetricLikelihood:
    """The log-likelihood as a function of the coefficients of all categories, and its gradient, per person."""

    def __init__(self, objective: Objective, baseline: int) -> None:
        self._objective, self._baseline = objective, baseline
        self.model: Model = objective.model

    def theta(self, B: FloatArray) -> FloatArray:
        """Return the parameters relative to the baseline."""
        return np.delete(B - B[self._baseline], self._baseline, axis=0).ravel()

    def __call__(self, B: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient."""
        value, gradient = self._objective(self.theta(B))
        free = gradient.reshape(-1, B.shape[1])
        return value, np.insert(free, self._baseline, -free.sum(axis=0), axis=0)


def largest_penalty(objective: Objective, baseline: int, start: FloatArray, free: FloatArray) -> float:
    """Return the smallest penalty at which all slopes are 0."""
    _, gradient = SymmetricLikelihood(objective, baseline)(start)
    return float(np.abs(gradient[:, free > 0]).max(initial=0.0))


def fit_lasso(
    objective: Objective, baseline: int, penalty: float, start: FloatArray, free: FloatArray, scale: FloatArray
) -> LassoFit:
    """Maximize the log-likelihood minus the penalty.

    Parameters
    ----------
    start
        Coefficients to start from, shape (p, d).
    free
        1 for the penalized columns, 0 for the intercept.
    scale
        The root mean square of each column, used as the unit of steps.
    """
    likelihood = SymmetricLikelihood(objective, baseline)
    n = objective.n
    C: FloatArray = start * scale  # in these units all columns have the same scale
    cut = penalty * free / scale

    def downhill(C: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood(C / scale)
        return -value, -gradient / scale

    step = 1.0 / (0.5 * n)
    ahead: FloatArray = C.copy()
    momentum = 1.0
    f, g = downhill(ahead)
    tolerance = _TOLERANCE * n
    steps = 0
    while steps < _MAX_STEPS:
        steps += 1
        while True:
            further = _soft(ahead - step * g, step * cut)
            moved = further - ahead
            f_there, g_there = downhill(further)
            if f_there <= f + float((g * moved).sum()) + float((moved**2).sum()) / (2 * step) + 1e-12 * abs(f):
                break
            step /= 2
        if float(((ahead - further) * (further - C)).sum()) > 0:  # the momentum leads downhill, so restart
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        change = further - C
        C, ahead = further, further + (momentum - 1) / following * change
        momentum = following
        if _violation(C, g_there, cut) <= tolerance:
            break
        f, g = downhill(ahead)
        step *= 1.1
    value, gradient = likelihood(C / scale)
    violation = _violation(C, -gradient / scale, cut) / max(n, 1.0)
    return LassoFit(C / scale, value, violation, steps)


def _soft(C: FloatArray, cut: FloatArray) -> FloatArray:
    return np.asarray(np.sign(C) * np.maximum(np.abs(C) - cut, 0.0))


def _violation(C: FloatArray, g: FloatArray, cut: FloatArray) -> float:
    """Return the largest violation of the conditions of a minimum: -g in the subgradient of the penalty."""
    at_zero = np.maximum(np.abs(g) - cut, 0.0)
    elsewhere = np.abs(g + cut * np.sign(C))
    return float(np.where(C == 0, at_zero, elsewhere).max())
