r"""The distribution of :math:`\sum_i \lambda_i \chi^2_1`, the limit of the scaled squared error (`tab:consistency`)."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtr, chdtri, gammainccinv

from subsetprivacy._types import FloatArray

_NEGLIGIBLE = 1e-2  # the term of an eigenvalue this small relative to the largest is replaced by its mean


def distribution(x: float, eigenvalues: FloatArray) -> float:
    r"""Return :math:`P(\sum_i \lambda_i \chi^2_1 \le x)`."""
    lam, shift = _split(eigenvalues)
    if lam.size == 0:
        return float(x >= 0)
    return _mixture(x - shift, lam, _mixture_weights(lam))


def quantile(eigenvalues: FloatArray, level: float) -> float:
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
