r"""Calibration: the closest weights :math:`d_i F(x_i^\top\lambda)` with known column sums.

By Deville and Särndal (1992): :math:`F(u) = 1 + u` gives the chi-square distance and a linear solution,
:math:`F(u) = e^u` gives Kullback's distance and raking, and a logit between two bounds keeps the ratio of new to old
weights between them.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from attrs import frozen

from subsetprivacy._choices import CalibrationMethod
from subsetprivacy._types import FloatArray

MAX_ITERATIONS = 200
TOLERANCE = 1e-10  # the tolerance of sums, relative to the totals

_Ratio: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # F and its derivative


@frozen(eq=False, repr=False)
class CalibratedWeights:
    """New weights, and how the search ended.

    Attributes
    ----------
    ratio
        The factor of each person's weight.
    iterations, converged
        The number of iterations, and whether they converged.
    error
        The largest difference between a sum and its total, relative to the population.
    """

    ratio: FloatArray
    iterations: int
    converged: bool
    error: float


def calibrate(
    X: FloatArray,
    weights: FloatArray,
    totals: FloatArray,
    method: CalibrationMethod,
    bounds: tuple[float, float] | None,
) -> CalibratedWeights:
    """Return weights for which the columns of X, (n, k), have these totals.

    Notes
    -----
    Newton's method for the multipliers, with steps halved until the sums come closer. Columns may be linearly
    dependent, as those of several margins always are.
    """
    ratio_of = _ratios(method, bounds)
    scale = max(float(np.abs(totals).max()), float(weights.sum()), np.finfo(float).tiny)
    multiplier = np.zeros(X.shape[1])
    ratio, slope = ratio_of(X @ multiplier)
    gap = totals - X.T @ (weights * ratio)
    for iteration in range(MAX_ITERATIONS):
        error = float(np.abs(gap).max()) / scale
        if error <= TOLERANCE:
            return CalibratedWeights(ratio, iteration, True, error)
        step = _solved((X.T * (weights * slope)) @ X, gap)
        size = 1.0
        while size > 1e-10:
            with np.errstate(over="ignore", invalid="ignore"):
                tried, tried_slope = ratio_of(X @ (multiplier + size * step))
                left = totals - X.T @ (weights * tried)
            if np.isfinite(left).all() and np.linalg.norm(left) < (1 - 1e-4 * size) * np.linalg.norm(gap):
                break
            size /= 2
        else:
            break
        multiplier, ratio, slope, gap = multiplier + size * step, tried, tried_slope, left
    return CalibratedWeights(ratio, iteration + 1, False, float(np.abs(gap).max()) / scale)


def _solved(gram: FloatArray, gap: FloatArray) -> FloatArray:
    """Solve for a step, with columns scaled to the same size to detect linear dependence."""
    size = np.sqrt(np.maximum(gram.diagonal(), np.finfo(float).tiny))
    inverse = np.linalg.pinv(gram / np.outer(size, size), rcond=1e-11, hermitian=True)
    return np.asarray(inverse @ (gap / size) / size)


def _ratios(method: CalibrationMethod, bounds: tuple[float, float] | None) -> _Ratio:
    """Return F, the ratio of new to old weights, with its derivative."""
    if method == "logit":
        assert bounds is not None
        return _logit(*bounds)

    def linear(u: FloatArray) -> tuple[FloatArray, FloatArray]:
        return 1 + u, np.ones_like(u)

    def raking(u: FloatArray) -> tuple[FloatArray, FloatArray]:
        e = np.exp(u)
        return e, e

    free = linear if method == "linear" else raking
    if bounds is None:
        return free
    low, high = bounds

    def cut(u: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio, slope = free(u)
        return np.clip(ratio, low, high), np.where((ratio >= low) & (ratio <= high), slope, 0.0)

    return cut


def _logit(low: float, high: float) -> _Ratio:
    a = (high - low) / ((1 - low) * (high - 1))

    def logit(u: FloatArray) -> tuple[FloatArray, FloatArray]:
        e = np.exp(np.clip(a * u, -700, 700))
        below = high - 1 + (1 - low) * e
        ratio = (low * (high - 1) + high * (1 - low) * e) / below
        return ratio, (ratio - low) * (high - ratio) * a / (high - low)

    return logit
