r"""Test whether the two methods agree: they have the same target only if the model is right.

At the maximum of the likelihood the corrected score has mean zero if the models of the outcome and of the private cell
hold, and in general not otherwise. To first order this is the difference of the two estimates.

Its variance is known under the model, given observed columns and outcome. With the posterior w of the cell given
both, the scores T that a person would have in each cell, the rows r_a and :math:`L_a = r_a^\top w`, the likelihood's
score is :math:`T^\top D_w r_a/L_a` and the corrected one :math:`T_\theta^\top D`, with indicators D of a working
distribution :math:`\tilde w`. Their second moments over the draw of the subset are
:math:`T^\top D_w G(w) D_w T`, :math:`T_\theta^\top E[DD^\top] T_\theta` and, between the two,
:math:`T_\theta^\top D_w T`.
If the variance were estimated from squared scores, whose tails are heavy, it would be too large and the test would
hardly ever reject (see `regression.specification`).
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.estimation.indicator import FLOOR
from subsetprivacy.predictors.mixture import MixtureObjective
from subsetprivacy.predictors.people import PeopleBlock
from subsetprivacy.regression.specification import Support, degenerate_statistic

_BLOCK = 1024  # number of people whose matrices are inverted at once
_ENTRIES = 1 << 21


@frozen(eq=False, repr=False)
class ScoreProducts:
    """The summed corrected score of some people, and the summed second moments of both scores under the model.

    Attributes
    ----------
    score
        The corrected score.
    corrected, across, likelihood
        Second moments of the corrected score, between the two scores, and of the likelihood's score.
    """

    score: FloatArray
    corrected: FloatArray
    across: FloatArray
    likelihood: FloatArray

    def __add__(self, other: "ScoreProducts") -> "ScoreProducts":
        return ScoreProducts(
            self.score + other.score,
            self.corrected + other.corrected,
            self.across + other.across,
            self.likelihood + other.likelihood,
        )


def block_moments(
    objective: MixtureObjective, theta: FloatArray, support: Support, block: PeopleBlock, *, squared: bool
) -> ScoreProducts:
    """Return the moments of a block of people, with squared weights in the second moments if `squared`."""
    parts = objective.before(theta, block)
    T, w = objective.coefficients(parts), parts.posterior
    working = np.maximum(w, min(FLOOR, 0.1 / len(w)))
    working = working / working.sum(axis=0)
    R = objective.people.rows(block.part)
    inverse = np.linalg.inv(support.weighted_rows(working))
    D = np.einsum("mij,jm->im", inverse, R / (R * working).sum(axis=0))
    spread = inverse @ support.weighted_rows(working, np.maximum(w, 1e-12)) @ inverse
    TW = np.moveaxis(T * w, -1, 0)  # (m, coefficients, cells)
    likelihood = TW @ support.weighted_rows(np.maximum(w, 1e-12)) @ np.swapaxes(TW, 1, 2)
    across = TW @ np.moveaxis(T, -1, 0).swapaxes(1, 2)
    k = objective.leading
    lead = len(objective.atoms.z) * objective.family.predictors
    H = np.moveaxis(T[:lead], -1, 0)
    corrected = np.zeros_like(likelihood)
    corrected[:, :lead, :lead] = H @ spread @ np.swapaxes(H, 1, 2)
    row, column = objective.places
    coefficients = np.zeros((len(T), len(block.V)))
    coefficients[:lead] = np.einsum("mac,cm->am", H, D)
    score = (block.weighted(coefficients) @ block.V)[row, column][:k]

    def summed(moment: FloatArray) -> FloatArray:
        W = block.weighted(np.moveaxis(moment, 0, -1))
        return objective.products(block.weighted(W) if squared else W, block.V)

    return ScoreProducts(score, summed(corrected)[:k, :k], summed(across)[:k], summed(likelihood))


def comparison_statistic(objective: MixtureObjective, theta: FloatArray, *, frequency: bool) -> tuple[float, int]:
    """Return the statistic of the comparison and its degrees of freedom.

    Parameters
    ----------
    objective, theta
        The likelihood and its maximizer.
    frequency
        Whether weights count people.
    """
    support = Support.of(objective.people.design)
    total = _summed(objective, theta, support, squared=False)
    M = total.across @ np.linalg.inv(total.likelihood)
    if frequency:
        left = total.corrected - M @ total.across.T
        return degenerate_statistic(total.score, total.corrected, left)
    squares = _summed(objective, theta, support, squared=True)
    left = squares.corrected - M @ squares.across.T - squares.across @ M.T + M @ squares.likelihood @ M.T
    return degenerate_statistic(total.score, squares.corrected, left)


def _summed(objective: MixtureObjective, theta: FloatArray, support: Support, *, squared: bool) -> ScoreProducts:
    cells, subsets = support.R.shape
    size = max(min(_BLOCK, _ENTRIES // max(subsets, cells**2)), 16)
    total: ScoreProducts | None = None
    for block in objective.people.blocks(size):
        part = block_moments(objective, theta, support, block, squared=squared)
        total = part if total is None else total + part
    assert total is not None
    return total
