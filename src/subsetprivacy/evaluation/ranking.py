"""The area under the ROC curve: how well scores rank people with a category above all others."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.evaluation.sample import PersonWeights


@frozen(eq=False)
class Ranking:
    r"""The area under the ROC curve from unbiased indicators.

    Attributes
    ----------
    wins, pairs
        The estimated number of pairs in which the person with the category has the higher score (a tie counts one
        half), and of all pairs. Both are weighted and unbiased.
    value
        Their ratio, the area under the curve, corrected for the variance of the indicators given the values.
    influence
        The influence of each person.

    Notes
    -----
    With :math:`a_i = D_{ij}` and :math:`b_k = 1 - D_{kj}`, pairs are sums over i ≠ k of :math:`a_i b_k`. The
    indicators of one person are dependent, so pairing a person with themselves would be biased. Sorting takes
    O(n log n).
    """

    wins: float
    pairs: float
    value: float
    influence: FloatArray


def rank(scores: FloatArray, D: FloatArray, weights: PersonWeights) -> Ranking:
    """Return how well scores rank one category.

    Parameters
    ----------
    scores
        The score of each person, shape (n,).
    D
        The unbiased indicator of the category, shape (n,).
    weights
        The weight of each person.
    """
    distinct, at = np.unique(scores, return_inverse=True)
    inside, outside = weights.each * D, weights.each * (1 - D)
    sums_inside, sums_outside = (np.bincount(at, part, minlength=len(distinct)) for part in (inside, outside))
    # People with a lower score, and half of those with the same score.
    below = (np.cumsum(sums_outside) - sums_outside / 2)[at]
    above = (inside.sum() - np.cumsum(sums_inside) + sums_inside / 2)[at]
    own = weights.squares * D * (1 - D)
    wins = float(inside @ below - own.sum() / 2)
    pairs = float(inside.sum() * outside.sum() - own.sum())
    ratio = wins / pairs
    # The projection on one person: wins and pairs with everyone else. The pair with oneself is negligible.
    won, lost = below - ratio * outside.sum(), above - ratio * inside.sum()
    influence = (D * won + (1 - D) * lost) * weights.total / pairs
    # As in `measures`: the covariance of wins and pairs with D, given the values.
    variance = weights.squares * (D**2 - D)
    excess = -float(variance @ (won - lost)) * float(outside.sum() - inside.sum()) / pairs**2
    return Ranking(wins, pairs, ratio - excess, influence - float(weights.each @ influence) / weights.total)
