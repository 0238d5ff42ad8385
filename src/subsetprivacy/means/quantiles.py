r"""Quantiles of y in each cell, and their intervals.

The estimated distribution function :math:`\hat F(t) = \sum_i w_i D_i 1\{y_i \le t\} / \sum_i w_i D_i` is not monotone,
because some indicators are negative. Isotonic regression makes it monotone, and changes nothing for labels. The
interval of a quantile contains all t at which the test of F(t) = q does not reject, as Woodruff's does. No density is
estimated.
"""

import numpy as np
from attrs import frozen
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from subsetprivacy._types import FloatArray
from subsetprivacy.means.sample import MeansSample

_MOST = 1 << 16  # largest number of outcomes at which the distribution function is computed, evenly spaced if more
_ENTRIES = 1 << 22  # largest number of entries of all distribution functions together
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999)  # stored levels of intervals; ends are interpolated between them


@frozen(eq=False, repr=False)
class Quantiles:
    """The quantiles of all cells.

    Attributes
    ----------
    estimate
        Shape (cells, quantiles).
    ends
        The ends of their intervals at `LEVELS`, shape (cells, quantiles, levels, 2), or NaN.
    """

    estimate: FloatArray
    ends: FloatArray


def quantiles_of(sample: MeansSample, wanted: FloatArray) -> Quantiles:
    """Return quantiles of y in all cells.

    Parameters
    ----------
    wanted
        The probabilities, between 0 and 1.
    """
    known, p = sample.cells
    estimate = np.full((known * p, len(wanted)), np.nan)
    ends = np.full((known * p, len(wanted), len(LEVELS), 2), np.nan)
    if not len(sample.y):
        return Quantiles(estimate, ends)
    points = _points(sample, known * p)
    below, squares = _counts(sample, points)
    z = ndtri(0.5 + np.array(LEVELS) / 2)
    amounts = sample.weights.each if sample.weights.are_frequencies else None
    mass = np.bincount(np.searchsorted(points, sample.y, side="left"), amounts, len(points)).astype(np.float64)
    for cell in range(known * p):
        total = below[cell, -1]
        if not total > 0:
            continue
        F = np.clip(isotonic_regression(below[cell] / total, weights=mass).x, 0.0, 1.0)
        F[-1] = 1.0
        for k, q in enumerate(wanted):
            estimate[cell, k] = points[_first(q - 1e-12 <= F)]
            inflation = _design_effect(sample, cell, float(estimate[cell, k]), q, squares[cell])
            variance = q * q * squares[cell, -1] + (1 - 2 * q) * squares[cell]
            sd = np.sqrt(np.maximum(variance, 0.0) * inflation) / total
            ends[cell, k] = _inverted(points, F, sd, q, z)
    return Quantiles(estimate, ends)


def interval_at(estimate: FloatArray, ends: FloatArray, level: float) -> FloatArray:
    """Return the intervals of quantiles at a level, shape (..., 2), interpolated between stored levels."""
    z, at = ndtri(0.5 + np.array(LEVELS) / 2), float(ndtri(0.5 + level / 2))
    k = int(np.clip(np.searchsorted(z, at), 0, len(z) - 1))
    upper = ends[..., k, :]
    lower = estimate[..., None] if k == 0 else ends[..., k - 1, :]
    before = 0.0 if k == 0 else z[k - 1]
    return np.asarray(lower + (upper - lower) * (at - before) / (z[k] - before))


def errors_of(ends: FloatArray) -> FloatArray:
    """Return standard errors: the width of the 95% interval divided by that of a standard normal interval."""
    both = ends[..., LEVELS.index(0.95), :]
    return np.asarray((both[..., 1] - both[..., 0]) / (2 * float(ndtri(0.975))))


def _points(sample: MeansSample, cells: int) -> FloatArray:
    """Return the outcomes at which distribution functions are computed: all, or evenly spaced ones if very many."""
    points = np.unique(sample.y)
    most = max(min(_MOST, _ENTRIES // cells), 1024)
    if len(points) <= most:
        return points
    order = np.sort(sample.y)
    at = np.linspace(0, len(order) - 1, most).round().astype(np.int64)
    return np.unique(order[at])


def _counts(sample: MeansSample, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of w D and of w² D² over the people up to each point, shape (cells, points)."""
    known, p = sample.cells
    sums, squares = np.zeros((2, known * p, len(points)))
    at = np.searchsorted(points, sample.y, side="left")
    for g, people, D in sample.chunks():
        where, w, w2 = at[people], sample.weights.each[people], sample.weights.squares[people]
        for j in range(p):
            sums[g * p + j] += np.bincount(where, w * D[j], minlength=len(points))
            squares[g * p + j] += np.bincount(where, w2 * D[j] ** 2, minlength=len(points))
    return np.cumsum(sums, axis=1, out=sums), np.cumsum(squares, axis=1, out=squares)


def _first(there: FloatArray) -> int:
    return int(np.argmax(there))


def _inverted(points: FloatArray, F: FloatArray, sd: FloatArray, q: float, z: FloatArray) -> FloatArray:
    """Return the smallest and the largest t that the test of F(t) = q does not reject, shape (levels, 2)."""
    out = np.full((len(z), 2), np.nan)
    for k, times in enumerate(z):
        reach = F + times * sd >= q - 1e-12
        beyond = F - times * sd >= q - 1e-12
        if not reach[0]:  # otherwise nothing bounds it from below
            out[k, 0] = points[_first(reach)]
        elif times * sd[0] < q:
            out[k, 0] = points[0]
        if beyond.any():
            out[k, 1] = points[_first(beyond)]
    return out


def _design_effect(sample: MeansSample, cell: int, t: float, q: float, squares: FloatArray) -> float:
    """Return the factor by which clusters and strata change the variance of the distribution function at a point."""
    if sample.weights.independent:
        return 1.0
    _, p = sample.cells
    scores, squares_of = np.zeros((2, len(sample.y), 1))
    total = 0.0
    for g, people, D in sample.chunks():
        if g == cell // p:
            beyond = (sample.y[people] <= t) - q
            scores[people, 0] = score = D[cell % p] * beyond
            squares_of[people, 0] = D[cell % p] * beyond**2  # estimates the squared mean of the score over the draws
            total += float(sample.weights.squares[people] @ score**2)

    def draws(factors: FloatArray) -> FloatArray:
        return np.atleast_2d(factors @ (scores**2 - sample.weights.answered * squares_of))

    variance = float(sample.weights.covariance(scores, draws)[0, 0])
    return max(variance, 0.0) / total if total > 0 else 1.0
