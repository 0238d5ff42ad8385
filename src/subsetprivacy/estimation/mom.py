"""Moment estimators: closed forms that are unbiased and may leave the simplex."""

from functools import partial

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Uniform
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.uncertainty import FromMatrix


def mom(counts: SubsetCounts) -> Estimate:
    r"""Estimate w by matching the mean of the subset indicators.

    Notes
    -----
    Solves :math:`Q\hat w = \hat\gamma` (`gen_mom`); then
    :math:`\sqrt n(\hat w - w) \to N(0, Q^{-1} C Q^{-1})`. The full set, which says
    nothing, is left out on both sides. Where all pairs of categories are
    alike, :math:`Q = (1-q)I + q11^\top` is never built, however many categories there are.
    """
    design = counts.design.require_identifiable()
    gamma = mean_indicator(counts)
    if design.pair_probability is not None:
        alike = AlikePairs(design.pair_probability, design.p)
        return Estimate(alike.solve(gamma), counts, "mom", alike, in_simplex=False)
    Q = design.informative_Q
    covariance = partial(_spread_by, np.linalg.inv(Q))
    return Estimate(np.linalg.solve(Q, gamma), counts, "mom", FromMatrix(covariance), in_simplex=False)


def mom_uniform(counts: SubsetCounts) -> Estimate:
    r"""Estimate w by the closed form for the uniform design.

    Notes
    -----
    :math:`\hat w = (r_p\hat\gamma - 1)/(r_p - 1)` (`mom`). The paper calls it equivalent to
    `gen_mom`; from p = 5 on it is another estimator, slightly worse, since
    the size of A varies.
    """
    if not isinstance(counts.design, Uniform):
        raise ArgumentError(
            f"`method` 'mom-uniform' must have data of a uniform design; got a {counts.design.kind} one. "
            "Hint: method='mom' works for any design."
        )
    r = 1 / counts.design.pair_probability
    w = (r * mean_indicator(counts) - 1) / (r - 1)
    scale = r / (r - 1) * np.eye(counts.design.p)
    return Estimate(w, counts, "mom-uniform", FromMatrix(partial(_spread_by, scale)), in_simplex=False)


def mean_indicator(counts: SubsetCounts) -> FloatArray:
    """Return gamma-hat, the share of people whose subset holds each category."""
    return counts.incidence.spread(counts.shares)


def row_weights(counts: SubsetCounts) -> FloatArray:
    """Return the variance that each informative code carries: f_a / n, or its sum of squared sampling weights."""
    if counts.squares is None:
        return counts.shares / counts.n
    return counts.squares[counts.informative] / counts.total**2


def _spread_by(scale: FloatArray, fit: Estimate) -> FloatArray:
    """Return scale C scale', with the empirical covariance C of the mean of the indicators."""
    counts, v = fit.counts, row_weights(fit.counts)
    gamma = mean_indicator(counts)
    cross = np.outer(counts.incidence.spread(v), gamma)
    C = counts.incidence.gram(v) - cross - cross.T + v.sum() * np.outer(gamma, gamma)
    return scale @ C @ scale.T


@frozen
class AlikePairs:
    r"""Moments under :math:`Q = (1-q)I + q11^\top`, in closed form for any number of categories.

    A person's part of the estimate is :math:`z = Q^{-1}1_a = (1_a - \kappa|a|1)/(1-q)` with
    :math:`\kappa = q/(1-q+pq)`; the variance of a share is that of its z_j, and two products give all of them.
    """

    q: float
    p: int

    @property
    def kappa(self) -> float:
        """What the size of a subset takes from every share."""
        return self.q / (1 - self.q + self.p * self.q)

    def solve(self, v: FloatArray) -> FloatArray:
        """Return Q^-1 v."""
        return (v - self.kappa * v.sum()) / (1 - self.q)

    def matrix(self, fit: Estimate) -> FloatArray:
        """Return the covariance matrix, up to a few thousand categories."""
        return FromMatrix(self._covariance).matrix(fit)

    def _covariance(self, fit: Estimate) -> FloatArray:
        return _spread_by((np.eye(self.p) - self.kappa) / (1 - self.q), fit)

    def variances(self, fit: Estimate) -> FloatArray:
        """Return the variance of each share."""
        inc, v = fit.counts.incidence, row_weights(fit.counts)
        sizes = inc.inner(np.ones(self.p))
        once, sized = inc.spread(v), inc.spread(v * sizes)
        squares = (once - 2 * self.kappa * sized + self.kappa**2 * (v @ sizes**2)) / (1 - self.q) ** 2
        means = (once - self.kappa * (v @ sizes)) / (1 - self.q)
        return np.maximum(squares - 2 * fit.w * means + fit.w**2 * v.sum(), 0.0)

    def along(self, fit: Estimate, c: FloatArray) -> float:
        """Return the variance of the weighted sum c'w."""
        each = fit.counts.incidence.inner(self.solve(c))
        return float(row_weights(fit.counts) @ (each - c @ fit.w) ** 2)
