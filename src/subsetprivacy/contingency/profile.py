"""Profile intervals of the parameters of a log-linear model, and of log odds ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy._choices import ParameterInterval
from subsetprivacy._types import FloatArray
from subsetprivacy.contingency.known_margins import Parameters, reduced
from subsetprivacy.contingency.likelihood import TableLikelihood
from subsetprivacy.regression.constrained import profile_interval
from subsetprivacy.regression.coordinates import Linear

if TYPE_CHECKING:
    from subsetprivacy.contingency.result import LogLinear

INTERVALS: tuple[ParameterInterval, ...] = get_args(ParameterInterval)
_MOST_WORK = 2e8  # multiplications for all parameters: about a second
_LONGEST = 2.0  # the first step of a search; the next ones are longer
_FITS = 100  # evaluations of the likelihood for both ends of an interval


@frozen(eq=False, repr=False)
class TableMaximand:
    """A table's likelihood for the solver of regressions, which finds maxima with a parameter fixed.

    Attributes
    ----------
    likelihood, parameters
        The likelihood, and its free parameters.
    T
        The free parameters as linear functions of those of the solver, shape (free, free).
    """

    likelihood: TableLikelihood
    parameters: Parameters
    T: FloatArray

    @property
    def n(self) -> float:
        """The number of people."""
        return self.likelihood.n

    @property
    def d(self) -> int:
        """The number of parameters."""
        return len(self.T)

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood and its gradient."""
        value, gradient, _ = self.full(theta)
        return value, gradient

    def full(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the log-likelihood, its gradient, and minus its second derivatives."""
        here = reduced(self.likelihood, self.parameters, self.T @ theta, None)
        return here.value, here.gradient @ self.T, self.T.T @ here.information @ self.T

    def largest_move(self, change: FloatArray) -> float:
        """Return the largest change of a log share relative to another, apart from known margins."""
        eta = self.parameters.structure.rows[self.parameters.free].T @ (self.T @ change)
        return float(np.ptp(eta)) / 2

    def plain(self) -> Linear:
        """Return the parameters themselves."""
        return Linear(np.zeros(self.d), np.eye(self.d))


def is_quick(fit: LogLinear, intervals: int) -> bool:
    """Return whether so many profile intervals take about a second, for people without weights."""
    if fit.is_robust or fit.fit.cov is None:
        return False
    size, rows = fit.structure.size, fit.counts.incidence.rows
    return float(intervals) * _FITS * size * (size + 1) * (fit.structure.cells + rows) <= _MOST_WORK


def interval_of(
    fit: LogLinear, contrasts: FloatArray, estimates: FloatArray, se: FloatArray, level: float, method: str
) -> FloatArray:
    """Return intervals of weighted sums of parameters, shape (sums, 2), by Wald's method or the profile.

    Parameters
    ----------
    fit
        The fit.
    contrasts
        The weights of the parameters in each sum, shape (sums, parameters).
    estimates, se
        The sums, which may be infinite, and their standard errors.
    level, method
        The confidence level, and ``"wald"`` or ``"profile"``.
    """
    half = float(ndtri((1 + level) / 2)) * se
    with np.errstate(invalid="ignore"):
        wald = np.column_stack([estimates - half, estimates + half])
    if method == "wald":
        return wald
    key = (level, contrasts.tobytes())
    if key not in fit._profiles:
        fit._profiles[key] = _profiled(fit, contrasts, estimates, wald, level)
    return fit._profiles[key].copy()


def _profiled(
    fit: LogLinear, contrasts: FloatArray, estimates: FloatArray, wald: FloatArray, level: float
) -> FloatArray:
    """Return profile intervals; where known margins determine a parameter, Wald's."""
    likelihood = TableLikelihood(fit.structure, fit.counts.incidence, fit.counts.n_a)
    parameters = Parameters.of(fit.structure, fit.margins)
    out = wald.copy()
    for k, whole in enumerate(contrasts):
        c = whole[parameters.free]
        if whole[parameters.fixed].any() or not c.any():
            continue
        at = int(np.abs(c).argmax())
        T = np.eye(len(c))
        T[at] = -c / c[at]
        T[at, at] = 1 / c[at]
        psi = fit.fit.theta[parameters.free]
        start = psi.copy()
        start[at] = c @ psi
        objective = TableMaximand(likelihood, parameters, T)
        half = float(wald[k, 1] - estimates[k])
        step = min(half, _LONGEST) if half > 0 else _LONGEST
        lower, upper = profile_interval(objective, start, fit.loglik, at, step, level)
        out[k] = (-np.inf if estimates[k] == -np.inf else lower, np.inf if estimates[k] == np.inf else upper)
    return out
