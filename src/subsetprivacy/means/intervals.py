r"""Intervals of means.

Fieller's interval contains all m for which :math:`S_1 - m S_0` is not too far from 0, relative to its standard error.
This test of a mean does not divide by a noisy number of people, and for labels it is nearly Student's. The interval is
bounded if the number of people is more than z standard errors from 0.
"""

import numpy as np
from scipy.special import expit, logit, ndtri, stdtrit

from subsetprivacy._types import FloatArray


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
