"""Quantiles of limit distributions: of the largest of several normal errors, and of sums of squared normal errors.

The second is the limit of the scaled squared error (`tab:consistency`).
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtr, chdtri, gammainccinv, ndtri

from subsetprivacy._types import FloatArray

_POWER = 15  # the power of two that is the number of points; at 95% the quantile of 8 errors is exact to 0.001
_SEED = 20210706  # fixed, so that a quantile is always the same number
_LEAST = 1e-10  # relative to the largest eigenvalue
_NEGLIGIBLE = 1e-2  # the term of an eigenvalue this small relative to the largest is replaced by its mean


def largest_error_quantile(cov: FloatArray, level: float) -> float:
    """Return the quantile of the largest |error/standard error|.

    Parameters
    ----------
    cov
        The covariance matrix of the errors. It may be singular, since shares sum to one.
    level
        The probability.

    Notes
    -----
    Normal errors are a direction times a length, and given the direction the length has a chi distribution. Only the
    directions are drawn, by quasi-Monte Carlo from a scrambled Sobol sequence with a fixed seed. They are multiplied by
    the symmetric square root, which does not depend on the choice of eigenvectors: where eigenvalues are equal, that
    choice differs between processors. The quantile is at least that of one error and at most Bonferroni's.
    """
    scale = np.sqrt(np.diag(cov))
    used = scale > 0
    single, bonferroni = float(ndtri(0.5 + level / 2)), float(ndtri(1 - (1 - level) / (2 * max(int(used.sum()), 1))))
    if used.sum() < 2:
        return single
    correlation = cov[np.ix_(used, used)] / np.outer(scale[used], scale[used])
    values, vectors = np.linalg.eigh(correlation)
    kept = values > _LEAST * values[-1]
    if kept.sum() == 1:  # two shares that sum to a constant have one error
        return single
    root = vectors[:, kept] * np.sqrt(values[kept]) @ vectors[:, kept].T
    from scipy.stats import qmc  # slow to import

    points = qmc.Sobol(len(root), seed=_SEED).random_base2(_POWER)
    normal = ndtri(np.clip(points, 1e-12, 1 - 1e-12))
    largest = np.square(normal @ root).max(axis=1) / np.square(normal).sum(axis=1)  # of errors with length 1

    def short(q: float) -> float:
        return level - float(np.mean(chdtr(len(root), q**2 / largest)))

    if short(single) <= 0 or short(bonferroni) >= 0:
        return single if short(single) <= 0 else bonferroni
    return float(brentq(short, single, bonferroni, xtol=1e-7))


def quadratic_form_cdf(x: float, eigenvalues: FloatArray) -> float:
    r"""Return :math:`P(\sum_i \lambda_i \chi^2_1 \le x)`."""
    lam, shift = _split(eigenvalues)
    if lam.size == 0:
        return float(x >= 0)
    return _mixture(x - shift, lam, _mixture_weights(lam))


def quadratic_form_quantile(eigenvalues: FloatArray, level: float) -> float:
    r"""Return the quantile of :math:`\sum_i \lambda_i \chi^2_1`."""
    if not np.isfinite(eigenvalues).all():
        return float("inf")
    lam, shift = _split(eigenvalues)
    if lam.size == 0:
        return 0.0
    weights = _mixture_weights(lam)
    # The sum is at most the largest eigenvalue times a chi-square, with equality if all are equal.
    high = float(lam.max() * chdtri(len(lam), 1 - level))
    if _mixture(high, lam, weights) <= level:
        return shift + high
    return shift + float(brentq(lambda x: _mixture(x, lam, weights) - level, 0.0, high, xtol=1e-10 * high))


def _split(eigenvalues: FloatArray) -> tuple[FloatArray, float]:
    lam = np.maximum(np.asarray(eigenvalues, np.float64), 0.0)
    kept = lam > _NEGLIGIBLE * lam.max(initial=0.0)
    return lam[kept], float(lam[~kept].sum())


def _mixture_weights(lam: FloatArray) -> FloatArray:
    r"""Return the weights c_k that write the sum as a mixture of :math:`\lambda_{\min}\chi^2_{m+2k}` (Ruben 1962)."""
    ratio = 1 - lam.min() / lam
    # The weights are those of a sum of negative binomials, bounded by len(lam)/2 times the slowest of them.
    slowest = ratio.max()
    most = 1 if slowest <= 0 else int(np.ceil(gammainccinv(len(lam) / 2, 1e-12) / -np.log(slowest))) + 10
    g = 0.5 * (ratio[:, None] ** np.arange(1, most)).sum(axis=0)
    c = np.zeros(most)
    c[0] = np.sqrt(np.prod(lam.min() / lam))
    for k in range(1, most):
        c[k] = g[:k] @ c[k - 1 :: -1] / k
    return c


def _mixture(x: float, lam: FloatArray, weights: FloatArray) -> float:
    if x <= 0:
        return 0.0
    degrees = len(lam) + 2 * np.arange(len(weights))
    return float(weights @ chdtr(degrees, x / lam.min()))
