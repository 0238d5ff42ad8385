"""The quantile of the largest of several normal errors, for simultaneous intervals."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from subsetprivacy._types import FloatArray

_POWER = 15  # the power of two that is the number of points; the quantile is exact to about 0.001
_SEED = 20210706  # fixed, so that a quantile is always the same number
_FEW_POINTS = 60
_LEAST = 1e-10  # relative to the largest eigenvalue


def quantile(cov: FloatArray, level: float) -> float:
    """Return the quantile of the largest |error/standard error|.

    Parameters
    ----------
    cov
        The covariance matrix of the errors. It may be singular, since shares sum to one.
    level
        The probability.

    Notes
    -----
    Computed by quasi-Monte Carlo integration over a scrambled Sobol sequence with a fixed seed. It never exceeds
    Bonferroni's value.
    """
    scale = np.sqrt(np.diag(cov))
    used = scale > 0
    if used.sum() < 2:
        return float(ndtri(0.5 + level / 2))
    correlation = cov[np.ix_(used, used)] / np.outer(scale[used], scale[used])
    values, vectors = np.linalg.eigh(correlation)
    kept = values > _LEAST * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    if root.shape[1] == 1:  # two shares that sum to a constant have one error
        return float(ndtri(0.5 + level / 2))
    points = qmc.Sobol(root.shape[1], seed=_SEED).random_base2(_POWER)
    errors = ndtri(np.clip(points, 1e-12, 1 - 1e-12)) @ root.T
    largest = float(np.quantile(np.abs(errors).max(axis=1), level))
    single, bonferroni = float(ndtri(0.5 + level / 2)), float(ndtri(1 - (1 - level) / (2 * int(used.sum()))))
    if (1 - level) * 2**_POWER < _FEW_POINTS:  # too few points lie beyond it to estimate the quantile
        return bonferroni
    return min(max(largest, single), bonferroni)
