"""The smallest and largest value of a function over all distributions that the likelihood ratio does not reject."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.estimation.likelihood import observed_information

Function = Callable[[FloatArray], float]
Gradient = Callable[[FloatArray], FloatArray]

# The distance of each start from the peak, in standard errors, and the random part added to it.
_STARTS = ((1.96, 0.0), (1.0, 0.0), (1.5, 0.3), (1.5, 0.3))
_FEASIBLE = 1e-4  # in units of log-likelihood, of which about 1.9 is allowed
_LEAST = 1e-12  # a lower bound for cell probabilities, so that the search may touch the boundary
_OPTIONS = {"maxiter": 80, "ftol": 1e-8}  # measured: more of either changes no printed digit


class LikelihoodRegion:
    """The distributions whose log-likelihood is at most `drop` below the maximum.

    Parameters
    ----------
    counts
        The observed counts.
    peak
        The maximum likelihood estimate.
    drop
        The allowed total loss of log-likelihood.
    """

    def __init__(self, counts: SubsetCounts, peak: FloatArray, drop: float) -> None:
        self._inc, self._f, self._n = counts.incidence, counts.shares, counts.total
        self._peak = peak
        self._bar = float(self._f @ np.log(self._inc.inner(peak))) - drop / self._n
        # Prior information equal to one person, so that errors are always finite.
        information = self._n * observed_information(self._inc, self._f, peak) + np.eye(len(peak))
        inverse = np.linalg.inv(information)
        sums = inverse.sum(axis=0)
        self._cov = inverse - np.outer(sums, sums) / sums.sum()
        # In units of standard errors, all shares are equally easy to move.
        self._unit = np.sqrt(np.maximum(np.diag(self._cov), 1e-300))

    def slack(self, z: FloatArray) -> float:
        """Return the log-likelihood minus its lower bound, for shares in units of standard errors."""
        return self._n * float(self._f @ np.log(self._cells(z)) - self._bar)

    def _slack_gradient(self, z: FloatArray) -> FloatArray:
        return self._n * self._inc.spread(self._f / self._cells(z)) * self._unit

    def _cells(self, z: FloatArray) -> FloatArray:
        return np.maximum(self._inc.inner(z * self._unit), _LEAST)

    def least(self, function: Function, gradient: Gradient) -> float:
        """Return the smallest value of a smooth function, the best of several searches; NaN if all fail."""
        slope = gradient(self._peak)
        scale = 1 / max(float(np.sqrt(slope @ self._cov @ slope)), 1e-9)
        constraints: list[dict[str, Any]] = [
            {"type": "ineq", "fun": self.slack, "jac": self._slack_gradient},
            {"type": "eq", "fun": lambda z: z @ self._unit - 1, "jac": lambda z: self._unit},
        ]
        values = []
        for start in self._starts(slope * scale):
            end = minimize(
                lambda z: scale * function(z * self._unit),
                start / self._unit,
                jac=lambda z: scale * gradient(z * self._unit) * self._unit,
                method="SLSQP",
                bounds=[(0.0, None)] * len(start),
                constraints=constraints,
                options=_OPTIONS,
            )
            if self.slack(end.x) > -_FEASIBLE:
                values.append(function(end.x * self._unit))
        return min(values, default=float("nan"))

    def _starts(self, slope: FloatArray) -> list[FloatArray]:
        """Return points on the way down from the peak, strictly inside the simplex."""
        chance = np.random.default_rng(0)  # the same data always have the same starts
        spread = np.linalg.eigh(self._cov)
        root = spread.eigenvectors * np.sqrt(np.maximum(spread.eigenvalues, 0.0))
        starts = []
        for steps, noise in _STARTS:
            moved = self._peak - steps * (self._cov @ slope) + noise * (root @ chance.standard_normal(len(root)))
            inside = np.maximum(moved, 1e-3 * self._unit)
            starts.append(inside / inside.sum())
        return starts
