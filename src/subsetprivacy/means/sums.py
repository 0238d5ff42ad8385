r"""The sums behind means, and their covariance.

For each known group and private category: :math:`S_0 = \sum_i w_i D_i`, :math:`S_1 = \sum_i w_i D_i (y_i - c)` and
:math:`S_2 = \sum_i w_i D_i (y_i - c)^2`, around a center c. The number of people is :math:`S_0`, their mean
:math:`c + S_1/S_0`, their variance :math:`S_2/S_0 - (S_1/S_0)^2`. Their covariance follows from that of the sums by the
delta method. For people drawn independently it is :math:`\sum_i w_i^2 s_i s_i^\top`, which for labels is White's (HC0).
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.means.sample import MeansSample

_ROUNDED = 1e-13  # relative rounding error of a long sum


@frozen(eq=False, repr=False)
class Sums:
    """The sums of all cells. A cell is a private category in a known group; categories change fastest.

    Attributes
    ----------
    center, scale
        The center and unit of y: sums are of (y - center)/scale.
    S
        The sums of powers 0, 1 and 2, shape (3, cells).
    cov
        The covariance of the sums of powers 0 and 1, shape (2 cells, 2 cells).
    spread
        The covariance of the three sums of each cell, shape (cells, 3, 3).
    excess
        The sums of :math:`w^2 (D^2 - D)` times powers 0, 1 and 2 of y, shape (3, cells): the variance that the draws of
        the subsets add. 0 for labels.
    simple
        The covariance of the sums of powers 0 and 1 if the people were a simple random sample, or None.
    cells
        The numbers of known groups and of categories.
    """

    center: float
    scale: float
    S: FloatArray
    cov: FloatArray
    spread: FloatArray
    excess: FloatArray
    cells: tuple[int, int]
    simple: FloatArray | None = None


def sums_of(sample: MeansSample) -> Sums:
    """Compute the sums of all cells in one pass over the people."""
    known, p = sample.cells
    K = known * p
    center, scale = _standard(sample)
    S, excess = np.zeros((3, known, p)), np.zeros((3, known, p))
    cov = np.zeros((known, 3 * p, 3 * p))
    weights, squares = sample.weights.each, sample.weights.squares
    for g, people, D in sample.chunks():
        powers = np.stack([np.ones(len(people)), z := (sample.y[people] - center) / scale, z * z])
        w, w2 = weights[people], squares[people]
        S[:, g] += (powers * w) @ D.T
        excess[:, g] += (powers * w2) @ (D * D - D).T
        scores = (powers[:, None, :] * D).reshape(3 * p, -1)
        cov[g] += (scores * w2) @ scores.T
    joint, simple = _joint(cov, known, p), None
    if not sample.weights.independent:
        scores = _scores(sample, center, scale)
        simple = sample.weights.simple_random(scores[:, : 2 * K])
        joint = sample.weights.covariance(scores, lambda factors: _of_draws(sample, scores, center, scale, factors))
    at = np.arange(K)
    spread = np.stack([np.stack([joint[a * K + at, b * K + at] for b in range(3)], -1) for a in range(3)], -2)
    return Sums(
        center,
        scale,
        S.reshape(3, K),
        joint[: 2 * K, : 2 * K].copy(),
        spread,
        excess.reshape(3, K),
        (known, p),
        simple,
    )


def _standard(sample: MeansSample) -> tuple[float, float]:
    """Return the mean and standard deviation of y. Numbers around them do not cancel."""
    if not len(sample.y) or sample.y.min() == sample.y.max():  # the mean of equal numbers would be rounded
        return float(sample.y[0]) if len(sample.y) else 0.0, 1.0
    w = sample.weights.each
    total = float(w.sum())
    center = float(w @ sample.y) / total
    scale = float(np.sqrt(w @ (sample.y - center) ** 2 / total))
    return center, scale if scale > 1e-12 * max(abs(center), 1e-300) else 1.0


def _joint(cov: FloatArray, known: int, p: int) -> FloatArray:
    """Return the covariance of all sums, powers first. Known groups are uncorrelated."""
    out = np.zeros((3, known, p, 3, known, p))
    for g in range(known):
        out[:, g, :, :, g, :] = cov[g].reshape(3, p, 3, p)
    return out.reshape(3 * known * p, 3 * known * p)


def _scores(sample: MeansSample, center: float, scale: float) -> FloatArray:
    """Return each person's contribution to all sums, shape (n, 3 cells)."""
    known, p = sample.cells
    scores = np.zeros((len(sample.y), 3, known, p))
    for g, people, D in sample.chunks():
        z = (sample.y[people] - center) / scale
        for power in range(3):
            scores[people, power, g] = (D * z**power).T
    return scores.reshape(len(sample.y), -1)


def _of_draws(sample: MeansSample, scores: FloatArray, center: float, scale: float, factors: FloatArray) -> FloatArray:
    r"""Return the sum of factors times the variances of contributions over the draws of the subsets.

    A contribution is :math:`D_j z^a`, with the mean :math:`z^a` over the draws in category j and 0 in others.
    """
    known, p = sample.cells
    out = (scores.T * factors) @ scores
    for g, people, D in sample.chunks():
        z = (sample.y[people] - center) / scale
        at = g * p + np.arange(p)
        for a in range(3):
            for b in range(3):
                means = D @ (factors[people] * z ** (a + b)) * sample.weights.answered
                out[a * known * p + at, b * known * p + at] -= means
    return out


@frozen(eq=False, repr=False)
class CellMoments:
    """Numbers, means and variances of all cells with their errors, in the units of y.

    Attributes
    ----------
    number, share, share_se
        The estimated number of people, and their share of the known group.
    mean, cov
        The means and their covariance matrix.
    variance, variance_se
        The variance of y within each cell.
    design_effect
        The variance of the means relative to a simple random sample; None if people were drawn independently.
    """

    number: FloatArray
    share: FloatArray
    share_se: FloatArray
    mean: FloatArray
    cov: FloatArray
    variance: FloatArray
    variance_se: FloatArray
    design_effect: FloatArray | None = None


def moments_of(sums: Sums, *, frequencies: bool) -> CellMoments:
    r"""Return the moments of all cells.

    Notes
    -----
    A ratio of unbiased sums is biased by order 1/n. Most of the bias comes from the draws and is removed: the mean of
    :math:`S_1/S_0` exceeds the ratio m by :math:`-\sum w^2 (D^2 - D)(y - m)/S_0^2`. The variance is corrected for the
    estimated mean, so that for labels it has the denominator n - 1.
    """
    S0, S1, S2 = sums.S
    e0, e1, e2 = sums.excess
    with np.errstate(divide="ignore", invalid="ignore"):
        m = S1 / S0
        v = S2 / S0 - m**2
        L = np.concatenate([np.diag(-m / S0), np.diag(1 / S0)], axis=1)
        cov = L @ sums.cov @ L.T
        effect = None if sums.simple is None else cov.diagonal() / np.einsum("ka,ab,kb->k", L, sums.simple, L)
        gradient = np.stack([(m**2 - v) / S0, -2 * m / S0, 1 / S0], axis=-1)
        own = np.einsum("ka,kab,kb->k", gradient, sums.spread, gradient)
        fewer = np.where(S0 > 1, S0 / (S0 - 1), np.nan) if frequencies else 1.0
        apart = cov.diagonal() * fewer + (e2 - 2 * m * e1 + (m**2 - v) * e0) / S0**2
        mean = m + (e1 - m * e0) / S0**2
        variance = _unless_rounding(v + apart, m, sums)
    share, share_se = _shares(sums)
    unit = sums.scale
    return CellMoments(
        number=S0,
        share=share,
        share_se=share_se,
        mean=sums.center + unit * mean,
        cov=unit**2 * cov,
        variance=unit**2 * variance,
        variance_se=unit**2 * np.sqrt(np.maximum(own, 0.0)),
        design_effect=effect,
    )


def _unless_rounding(variance: FloatArray, m: FloatArray, sums: Sums) -> FloatArray:
    """Return variances in units of the scale, with 0 for rounding errors."""
    digits = (_ROUNDED * sums.center / sums.scale) ** 2
    return np.where(np.abs(variance) < _ROUNDED * (1 + m**2) + digits, 0.0, variance)


def _shares(sums: Sums) -> tuple[FloatArray, FloatArray]:
    """Return the shares of the categories in each known group, with standard errors."""
    known, p = sums.cells
    S0 = sums.S[0].reshape(known, p)
    total = S0.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = S0 / total
        errors = np.empty((known, p))
        for g in range(known):
            part = slice(g * p, (g + 1) * p)
            L = (np.eye(p) - np.outer(share[g], np.ones(p))) / total[g]
            own = np.einsum("jk,kl,jl->j", L, sums.cov[part, part], L)
            errors[g] = np.sqrt(np.maximum(own, 0.0))
    return share.ravel(), errors.ravel()
