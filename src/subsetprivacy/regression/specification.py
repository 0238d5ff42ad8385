r"""Test whether the model is right: only then do the two estimators have the same target.

At the maximum of the subset likelihood the corrected score :math:`\sum_i s^c_i` has mean zero if the model holds, and
in general not otherwise. To first order this compares the two fits, without computing the second one.

Its variance is known under the model, given the covariates. With the slopes :math:`S = \partial p/\partial u`,
:math:`H = D_p^{-1} S` and :math:`G(x) = \sum_a \mu_a r_a r_a^\top / L_a(x)`, the scores in the predictors are
:math:`H^\top D` (corrected) and :math:`S^\top r_a/L_a` (likelihood). Their covariances are :math:`H^\top G^{-1} H` and
:math:`S^\top G S`, and :math:`H^\top S` between the two. The variance of the corrected score at the maximum is the
variance of the first that remains given the second. If the variance were estimated from the scores themselves, as
squares of a few heavy-tailed numbers, it would be too large in samples of thousands, and the test would never reject.
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.errors import TooLargeError
from subsetprivacy.estimation.indicator import FLOOR
from subsetprivacy.estimation.survey_sample import require_indicators_of_draws
from subsetprivacy.messages.for_regression import CORRECTED_FOR_FPC
from subsetprivacy.regression.blocks import Block, Blocks
from subsetprivacy.regression.links import pairs
from subsetprivacy.regression.models import AnyLink, Model

MAX_WORK = 1e11  # largest number of products of a test; a design with more subsets is not tested
_ENTRIES = 1 << 21  # numbers of one matrix in memory
_DEGENERATE = 1e-4  # of the corrected score's variance: in such directions the two fits are the same


@frozen(eq=False, repr=False)
class Support:
    """The informative subsets of a design.

    Attributes
    ----------
    R, mu
        Their rows, shape (p, subsets), and their probabilities, given that a subset is informative.
    """

    R: FloatArray
    mu: FloatArray

    @classmethod
    def of(cls, design: Design) -> "Support":
        """List the informative subsets."""
        codes, mu = design.support()
        informative = ~design.is_missing(codes)
        return cls(design.incidence(codes[informative]).inner(np.eye(design.p)), mu[informative] / (1 - design.mu_full))

    def weighted_rows(self, P: FloatArray, true: FloatArray | None = None) -> FloatArray:
        """Return G(x) of each person, shape (m, p, p), from their shares, shape (p, m).

        With `true` shares as well: the sum of mu_a L_a(true) / L_a(P)^2 r_a r_a', the second moment of r_a / L_a(P).
        """
        p = len(self.R)
        squares = (self.R[:, None, :] * self.R[None, :, :]).reshape(p * p, -1)
        L = self.R.T @ P
        weight = self.mu[:, None] / L if true is None else self.mu[:, None] * (self.R.T @ true) / L**2
        return np.asarray((squares @ weight).T.reshape(-1, p, p))

    def over_draws(self, P: FloatArray, R: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return each person's mean posterior over the draws, by category, and unbiased indicators.

        Parameters
        ----------
        P
            The shares of each person's categories, given everything but the subset, shape (p, m).
        R
            The rows of their subsets, shape (p, m).

        Returns
        -------
        The mean :math:`E[q_k \mid X = j] = P_k \sum_a \mu_a r_{aj} r_{ak} / L_a` of the posterior of category k if the
        value is j, shape (j, k, m), and indicators, shape (p, m).
        """
        p, m = P.shape
        means, D = np.empty((p, p, m)), np.empty((p, m))
        working = np.maximum(P, min(FLOOR, 0.1 / p))
        working = working / working.sum(axis=0)
        size = max(_ENTRIES // max(len(self.mu), p * p), 1)
        for start in range(0, m, size):
            part = slice(start, start + size)
            likely = np.maximum(P[:, part], 1e-300)
            means[:, :, part] = np.moveaxis(self.weighted_rows(likely), 0, -1) * likely
            G = self.weighted_rows(working[:, part])
            of_rows = (R[:, part] / (R[:, part] * working[:, part]).sum(axis=0)).T[:, :, None]
            D[:, part] = np.linalg.solve(G, of_rows)[:, :, 0].T
        return means, D


def support_of_draws(design: Design, n: float) -> Support:
    """Return the subsets of a design, for the variance of the draws that `fpc` leaves.

    Raises
    ------
    UnknownDesignError, NotIdentifiableError
        If the design is not known or not identifiable.
    TooLargeError
        If it has too many subsets to list for every person.
    """
    require_indicators_of_draws(design)
    if not is_affordable(design, n):
        raise TooLargeError(
            f"`fpc` must come with a design whose subsets can be listed for every person; got {design.name} with "
            f"{design.p} categories and {n:,.0f} people.",
            CORRECTED_FOR_FPC,
        )
    return Support.of(design)


def expected_curvature(link: AnyLink, U: FloatArray, support: Support, *, corrected: bool = False) -> FloatArray:
    """Return the variance of the scores in the predictors, in the format of the curvatures of `links`.

    It is S'GS for the likelihood, which is also its expected information, and H'G^-1 H for corrected scores.
    """
    S = np.moveaxis(link.slopes(U), -1, 0)
    P = np.maximum(link.shares(U), 1e-12)
    G = support.weighted_rows(P)
    if corrected:
        S, G = S / P.T[:, :, None], np.linalg.inv(G)
    first, second = pairs(S.shape[2])
    return np.ascontiguousarray((np.swapaxes(S, 1, 2) @ G @ S)[:, first, second].T)


@frozen(eq=False, repr=False)
class CorrectedScores:
    """The kernel of the test: the corrected score and the covariances of both scores under the model.

    Attributes
    ----------
    support
        The informative subsets of the design.
    squared
        Whether to sum squared weights, for sampling weights.
    """

    model: Model
    theta: FloatArray
    support: Support
    squared: bool = False

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the score, its variance, its covariance with the likelihood's score, and the latter's variance."""
        U = self.model.predictors(self.theta, block.X, block.offset)
        P = np.maximum(self.model.link.shares(U), 1e-12)
        S = np.moveaxis(self.model.link.slopes(U), -1, 0)  # (m, p, k)
        H = S / P.T[:, :, None]
        G = self.support.weighted_rows(P)
        inverse = np.linalg.inv(G)
        D = np.einsum("mij,jm->im", inverse, block.R / (block.R * P).sum(axis=0))
        score = self.model.gradient(block.weighted(np.einsum("mjk,jm->km", H, D)), block.X)
        across = np.swapaxes(H, 1, 2)
        parts = (across @ inverse @ H, across @ S, np.swapaxes(S, 1, 2) @ G @ S)
        return score, *(self._summed(part, block) for part in parts)

    def _summed(self, part: FloatArray, block: Block) -> FloatArray:
        first, second = pairs(part.shape[1])
        C = block.weighted(np.ascontiguousarray(part[:, first, second].T))
        return self.model.information(block.weighted(C) if self.squared else C, block.X)


def is_affordable(design: Design, n: float) -> bool:
    """Tell whether a design has few enough subsets for the test."""
    if not design.is_known or not design.enumerable:
        return False
    return (design.report_count or 0) * design.p**2 * n <= MAX_WORK


def specification_statistic(blocks: Blocks, model: Model, theta: FloatArray, *, frequency: bool) -> tuple[float, int]:
    """Return the statistic of the specification test and its degrees of freedom.

    Parameters
    ----------
    blocks, model, theta
        The people, and the maximum of their subset likelihood.
    frequency
        Whether weights count people.
    """
    kernel = CorrectedScores(model, theta, Support.of(blocks.design))
    score, V, A, J = blocks.total(kernel)
    if frequency:
        left = V - A @ np.linalg.solve(J, A)
    else:
        _, V, across, K = blocks.total(CorrectedScores(model, theta, kernel.support, squared=True))
        M = A @ np.linalg.inv(J)
        left = V - M @ across - across @ M.T + M @ K @ M.T
    return degenerate_statistic(score, V, left)


def degenerate_statistic(score: FloatArray, V: FloatArray, left: FloatArray) -> tuple[float, int]:
    """Return a score's chi-square statistic and degrees of freedom, ignoring directions that hardly vary.

    Parameters
    ----------
    score, V
        The score, and its variance if nothing were estimated.
    left
        The variance that remains at the estimates.
    """
    half = np.linalg.inv(np.linalg.cholesky(V))
    values, vectors = np.linalg.eigh(half @ left @ half.T)
    kept = values > _DEGENERATE
    return float(((half @ score) @ vectors)[kept] ** 2 @ (1 / values[kept])), int(kept.sum())
