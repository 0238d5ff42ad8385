r"""Sandwich covariances, :math:`J^{-1}\,(\sum_i s_i s_i^\top)\,J^{-1}`, by cluster if people are in clusters."""

import numpy as np
from attrs import frozen
from scipy.sparse import csr_array

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.regression.blocks import Block, InMemoryBlocks
from subsetprivacy.regression.links import outer_squares
from subsetprivacy.regression.models import LikelihoodKernel
from subsetprivacy.regression.objective import Objective


@frozen(eq=False, repr=False)
class OuterScores:
    """The kernel of a sandwich: the sum of the outer squares of all scores.

    A row with a frequency weight counts as that many people. A sampling weight is squared.
    """

    likelihood: LikelihoodKernel
    frequency: bool

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the sum of the block."""
        squares = outer_squares(self.likelihood.linked(block).gradient)
        squares = block.weighted(squares)
        if not self.frequency:
            squares = block.weighted(squares)
        return (self.likelihood.model.information(squares, block.X),)


def meat(objective: Objective, theta: FloatArray, *, frequency: bool, clusters: IntArray | None = None) -> FloatArray:
    """Return the sum of the outer squares of the scores, by person or by cluster."""
    likelihood = objective.kernel(theta)
    if clusters is None:
        return objective.blocks.total(OuterScores(likelihood, frequency))[0]
    blocks = objective.blocks
    assert isinstance(blocks, InMemoryBlocks)  # a stream has no clusters
    number = int(clusters.max()) + 1
    sums = np.zeros((number, objective.model.size))
    start = 0
    for block in blocks.blocks():
        S = likelihood.scores(block)
        m = S.shape[1]
        at = clusters[start : start + m]
        sums += csr_array((np.ones(m), (at, np.arange(m))), shape=(number, m)) @ S.T
        start += m
    return sums.T @ sums * (number / (number - 1))


def sandwich(bread: FloatArray, filling: FloatArray) -> FloatArray:
    """Return the robust covariance, from the inverse information and the outer squares of the scores."""
    out = bread @ filling @ bread
    return (out + out.T) / 2
