"""The distribution of the largest of several normal errors, for intervals that hold all together."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from subsetprivacy._types import FloatArray

_POWER = 15  # of two: the number of points; the quantile is exact to about 0.001
_SEED = 20210706  # a quantile is a number, not a draw: the same points each time
_FEW_POINTS = 60
_LEAST = 1e-10  # of the largest eigenvalue


def quantile(cov: FloatArray, level: float) -> float:
    """Return the value that the largest of |error/standard error| stays below with this probability.

    Parameters
    ----------
    cov
        The covariance matrix of the errors, which may be singular: shares sum to one.
    level
        The probability.

    Notes
    -----
    By quasi-Monte Carlo integration over a scrambled Sobol sequence with a fixed seed. Never above Bonferroni's value.
    """
    scale = np.sqrt(np.diag(cov))
    used = scale > 0
    if used.sum() < 2:
        return float(ndtri(0.5 + level / 2))
    correlation = cov[np.ix_(used, used)] / np.outer(scale[used], scale[used])
    values, vectors = np.linalg.eigh(correlation)
    kept = values > _LEAST * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    if root.shape[1] == 1:  # two shares of a sum: one error, seen twice
        return float(ndtri(0.5 + level / 2))
    points = qmc.Sobol(root.shape[1], seed=_SEED).random_base2(_POWER)
    errors = ndtri(np.clip(points, 1e-12, 1 - 1e-12)) @ root.T
    largest = float(np.quantile(np.abs(errors).max(axis=1), level))
    single, bonferroni = float(ndtri(0.5 + level / 2)), float(ndtri(1 - (1 - level) / (2 * int(used.sum()))))
    if (1 - level) * 2**_POWER < _FEW_POINTS:  # too few points are beyond it to tell the quantile
        return bonferroni
    return min(max(largest, single), bonferroni)
