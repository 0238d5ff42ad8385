"""The start of a fit, and the coordinates it uses."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.mle import maximize as maximize_shares
from subsetprivacy.regression.blocks import Block, Blocks
from subsetprivacy.regression.coordinates import Increasing, Linear, Whitened
from subsetprivacy.regression.links import CumulativeLogit, MultinomialLogit
from subsetprivacy.regression.objective import Objective

_LEAST = 1e-3  # the smallest share to start from


@frozen(eq=False, repr=False)
class CovariateSums:
    """The kernel of sums needed before a fit: of weights, of x and of xx'."""

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the sums of the block."""
        X = block.X if block.weight is None else block.X * block.weight[:, None]
        return np.asarray(block.amount), X.sum(axis=0), X.T @ block.X


def shares_of_all(codes: IntArray, amounts: FloatArray, design: Design) -> FloatArray:
    """Return the overall maximum-likelihood shares of the categories."""
    f = amounts / amounts.sum()
    return maximize_shares(design.incidence(codes), f, 1e-9).w


def null_information(codes: IntArray, amounts: FloatArray, design: Design, w: FloatArray) -> FloatArray:
    """Return the observed information per person of the linear predictors of all p categories, without slopes."""
    R = design.incidence(codes).inner(np.eye(design.p))
    Q = R * w[:, None]
    Q /= Q.sum(axis=0)
    f = amounts / amounts.sum()
    return _spread(w) - np.diag(Q @ f) + (Q * f) @ Q.T


def information_kept(codes: IntArray, amounts: FloatArray, design: Design, w: FloatArray) -> float:
    r"""Return the share of a label's information that a subset keeps.

    On average over p - 1 directions it is :math:`(\sum_a \mu_a r_a^\top D_w r_a / L_a - 1)/(p - 1)` at every w, or
    :math:`(S - 1)/(p - 1)` if rows are 0 and 1. Otherwise the observed frequencies replace the probabilities.
    """
    if design.is_known and design.noise is None:
        return (design.S - 1) / (design.p - 1)
    R = design.incidence(codes).inner(np.eye(design.p))
    f = amounts / amounts.sum()
    return float(((R**2 * w[:, None]).sum(axis=0) / (w @ R) ** 2) @ f - 1) / (design.p - 1)


def slope_information_kept(null: FloatArray, w: FloatArray) -> float:
    """Return the share of a label's information about a slope of ordered categories that a subset keeps.

    Without slopes, the score of a shift of the logits is F_j + F_(j-1) - 1 in category j, with cumulative shares F.
    """
    t = 2 * np.cumsum(w) - w
    return float(t @ null @ t) / max(float(t @ _spread(w) @ t), 1e-300)


def _spread(w: FloatArray) -> FloatArray:
    """Return the covariance of a category indicator: the information of a label."""
    return np.diag(w) - np.outer(w, w)


def whitened(objective_gram: FloatArray, null: FloatArray, w: FloatArray, baseline: int) -> Whitened:
    """Return coordinates in which the information per person at the start is about the identity."""
    floored = np.maximum(w, _LEAST)
    classes = 0.9 * null + 0.1 * _spread(floored / floored.sum())
    free = np.delete(np.arange(len(w)), baseline)
    block = classes[np.ix_(free, free)]
    values, vectors = np.linalg.eigh(block)
    safe = (vectors * np.maximum(values, 1e-3 * values.max())) @ vectors.T
    return Whitened.of(safe, objective_gram)


def multinomial_start(w: FloatArray, link: MultinomialLogit, d: int, intercept: int | None) -> FloatArray:
    """Return coefficients with intercepts from the overall shares, and no slopes."""
    B = np.zeros((link.p - 1, d))
    if intercept is not None:
        floored = np.maximum(w, _LEAST)
        B[:, intercept] = np.log(floored[link.free] / floored[link.baseline])
    return B.ravel()


def cumulative_start(w: FloatArray, d: int) -> FloatArray:
    """Return the cut points of the overall shares, and no slopes."""
    floored = np.maximum(w, _LEAST)
    below = np.cumsum(floored / floored.sum())[:-1]
    return np.concatenate([np.log(below / (1 - below)), np.zeros(d)])


def cumulative_coordinates(objective: Objective, start: FloatArray) -> Increasing:
    """Return coordinates in which the information per person at the start is about the identity."""
    link = objective.model.link
    assert isinstance(link, CumulativeLogit)
    cuts, size = link.p - 1, objective.model.size
    plain = Increasing(cuts, Linear(np.zeros(size), np.eye(size)))
    zeta = plain.inverse(start)
    _, g, J = objective.full(start)
    K = plain.information(zeta, g, J) / objective.n
    scale = 1 / np.sqrt(np.maximum(np.abs(K.diagonal()), 1e-8))
    values, vectors = np.linalg.eigh(K * np.outer(scale, scale))
    T = scale[:, None] * vectors / np.sqrt(np.maximum(np.abs(values), 1e-4))
    return Increasing(cuts, Linear(zeta, T))


def moments(blocks: Blocks) -> tuple[float, FloatArray, FloatArray]:
    """Return the number of people, the mean of x and the mean of xx'."""
    n, x, xx = blocks.total(CovariateSums())
    return float(n), x / n, xx / n
