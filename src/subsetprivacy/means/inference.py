r"""Intervals of means, and tests that means are equal.

Fieller's interval contains all m for which :math:`S_1 - m S_0` is not too far from 0, relative to its standard error.
This test of a mean does not divide by a noisy number of people, and for labels it is nearly Student's. The interval is
bounded if the number of people is more than z standard errors from 0.

The score test: if all cells have the mean m, the sums :math:`U_k(m) = S_{1k} - m S_{0k}` have mean 0 and the covariance
V(m), which is known without dividing by any number of people. The statistic is the minimum of
:math:`U(m)^\top V(m)^{-1} U(m)` over m, with one degree of freedom less than the number of cells. Rare cells add noise
but no bias, so all cells are used. Wald's test compares the estimated means.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit, ndtri, stdtrit

from subsetprivacy._types import FloatArray

_GRID = 33


def critical(level: float, df: float) -> float:
    """Return the quantile of the normal distribution, or of Student's if the degrees of freedom are finite."""
    upper = 0.5 + level / 2
    return float(ndtri(upper)) if np.isinf(df) else float(stdtrit(max(df, 1.0), upper))


def wald(estimate: FloatArray, se: FloatArray, times: float) -> FloatArray:
    """Return estimate plus and minus standard errors, shape (..., 2)."""
    return np.asarray(estimate[..., None] + times * se[..., None] * np.array([-1.0, 1.0]))


def logistic(estimate: FloatArray, se: FloatArray, times: float) -> FloatArray:
    """Return the same for the log odds of rates; NaN if a rate is not between 0 and 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.where((estimate > 0) & (estimate < 1), estimate, np.nan)
        return np.asarray(expit(wald(logit(inside), se / (inside * (1 - inside)), times)))


def fieller(number: FloatArray, total: FloatArray, cov: FloatArray, times: float) -> FloatArray:
    """Return the intervals of the ratios total/number, shape (cells, 2); NaN if they are not bounded.

    Parameters
    ----------
    number, total
        The sums of powers 0 and 1.
    cov
        Their covariance, shape (2 cells, 2 cells).
    """
    at = np.arange(len(number))
    v00, v01, v11 = (cov[a * len(at) + at, b * len(at) + at] for a, b in ((0, 0), (0, 1), (1, 1)))
    k = times**2
    a, b, c = number**2 - k * v00, number * total - k * v01, total**2 - k * v11
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.sqrt(np.maximum(b * b - a * c, 0.0))
        ends = np.stack([b - half, b + half], axis=-1) / a[:, None]
    bounded = (number > 0) & (a > 0)
    return np.where(bounded[:, None], ends, np.nan)


def score_statistic(number: FloatArray, total: FloatArray, cov: FloatArray) -> float:
    """Return the smallest quadratic form over all common means.

    Parameters
    ----------
    number, total
        The sums of powers 0 and 1 of the cells.
    cov
        Their covariance, shape (2 cells, 2 cells).
    """
    K = len(number)
    V00, V01, V11 = cov[:K, :K], cov[:K, K:], cov[K:, K:]

    def form(m: float) -> float:
        U = total - m * number
        V = V11 - m * (V01 + V01.T) + m * m * V00
        return float(U @ np.linalg.pinv(V, rcond=1e-12, hermitian=True) @ U)

    start = total.sum() / number.sum()
    reach = 3 * np.sqrt(max(form(start), 1.0) + 9.0) * _spread(number, V11, start, V00, V01)
    grid = start + reach * np.linspace(-1, 1, _GRID)
    values = [form(m) for m in grid]
    best = int(np.argmin(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
    return min(float(minimize_scalar(form, bounds=(low, high), method="bounded").fun), values[best])


def _spread(number: FloatArray, V11: FloatArray, m: float, V00: FloatArray, V01: FloatArray) -> float:
    """Return the standard error of the overall mean."""
    V = V11 - m * (V01 + V01.T) + m * m * V00
    return float(np.sqrt(max(V.sum(), 0.0)) / max(abs(number.sum()), 1e-300)) or 1.0


def wald_statistic(mean: FloatArray, cov: FloatArray) -> tuple[float, int]:
    """Return the statistic for equal means, and its degrees of freedom."""
    L = np.diff(np.eye(len(mean)), axis=0)
    d, V = L @ mean, L @ cov @ L.T
    return float(d @ np.linalg.pinv(V, hermitian=True) @ d), len(mean) - 1
