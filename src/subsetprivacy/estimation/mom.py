"""Moment estimators: closed forms that are unbiased and may leave the simplex."""

from functools import partial

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Uniform
from subsetprivacy.errors import ArgumentError, NotIdentifiableError, NotIndependentError
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.incidence import Incidence


def mom(counts: SubsetCounts) -> Estimate:
    r"""Estimate w by matching the mean of the subset indicators.

    Notes
    -----
    Solves :math:`Q\hat w = \hat\gamma` (`gen_mom`); then
    :math:`\sqrt n(\hat w - w) \to N(0, Q^{-1} C Q^{-1})`. The full set, which says
    nothing, is left out on both sides.
    """
    Q = informative_Q(counts)
    w = np.linalg.solve(Q, mean_indicator(counts))
    return Estimate(w, counts, "mom", partial(_spread_by, np.linalg.inv(Q)), in_simplex=False)


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
    return Estimate(w, counts, "mom-uniform", partial(_spread_by, scale), in_simplex=False)


def mom_conditional(counts: SubsetCounts) -> Estimate:
    r"""Estimate w by moments given the questions that were asked: the moment estimator to recommend.

    Notes
    -----
    With :math:`\hat Q = \sum_a \frac{n_a + n_{a^c}}{n} 1_a 1_a^\top` solve :math:`\hat Q\hat w = \hat\gamma`. Given
    which sets were asked about this is exactly unbiased, does not need nu, and holds
    even if the draws were biased, as long as they ignored the value. Its
    variance given the questions comes from the yes/no answers alone. For p = 4
    it is the maximum likelihood estimate wherever it lies in the simplex.
    """
    if not counts.design.is_independent:
        raise NotIndependentError(
            f"`method` 'mom-conditional' must have data of yes/no questions; got a {counts.design.kind} design. "
            "Hint: method='mom' works for any design."
        )
    gamma = mean_indicator(counts)
    Q = asked_Q(counts.incidence, counts.shares, gamma)
    if np.linalg.cond(Q) > 1e12:
        raise NotIdentifiableError(
            f"the questions asked must identify the distribution; the {counts.incidence.rows} subsets in this sample "
            "do not. Hint: collect more people, or use method='mom'."
        )
    w = np.linalg.solve(Q, gamma)
    return Estimate(w, counts, "mom-conditional", partial(_given_questions, Q), in_simplex=False)


def mean_indicator(counts: SubsetCounts) -> FloatArray:
    """Return gamma-hat, the share of people whose subset holds each category."""
    return counts.incidence.spread(counts.shares)


def informative_Q(counts: SubsetCounts) -> FloatArray:
    """Return the matrix Q of the design given that the subset is not the full one."""
    design = counts.design.require_identifiable()
    return (design.Q - design.mu_full) / (1 - design.mu_full)


def _spread_by(scale: FloatArray, fit: Estimate) -> FloatArray:
    """Return scale C scale' / n, with the empirical covariance C of the indicators."""
    counts = fit.counts
    gamma = mean_indicator(counts)
    if counts.squares is None:
        C = (counts.incidence.gram(counts.shares) - np.outer(gamma, gamma)) / counts.n
    else:
        v = counts.squares[counts.informative] / counts.total**2
        cross = np.outer(counts.incidence.spread(v), gamma)
        C = counts.incidence.gram(v) - cross - cross.T + v.sum() * np.outer(gamma, gamma)
    return scale @ C @ scale.T


def asked_Q(inc: Incidence, f: FloatArray, gamma: FloatArray) -> FloatArray:
    """Return Q-hat, the sum of f_a times the outer squares of 1_a and of its complement 1 - 1_a."""
    centred = gamma - 0.5  # two halves make the one that the shares sum to
    Q = inc.gram(f + f)
    Q -= centred
    Q -= centred[:, None]
    return Q


def _given_questions(Q: FloatArray, fit: Estimate) -> FloatArray:
    """Return the variance of the answers, given the questions, seen through the inverse of Q-hat."""
    counts = fit.counts
    inverse = np.linalg.inv(Q)
    L = np.clip(counts.incidence.inner(fit.w), 0.0, 1.0)
    if counts.squares is None:
        # 1_A moves by e = 2·1_a - 1 between no and yes, with variance L(1-L) for each person asked.
        y = counts.shares * L * (1 - L) / counts.n
    else:
        # The residual of an answer a is (1-L)e; its square, with the squared weights, stands for the variance.
        y = counts.squares[counts.informative] * (1 - L) ** 2 / counts.total**2
    cross = 2 * counts.incidence.spread(y)
    M = 4 * counts.incidence.gram(y) - cross[:, None] - cross[None, :] + y.sum()
    return inverse @ M @ inverse
