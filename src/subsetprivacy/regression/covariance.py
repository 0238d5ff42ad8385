r"""Sandwich covariances, :math:`J^{-1}\,(\sum_i s_i s_i^\top)\,J^{-1}`, by cluster if people are in clusters.

If people were drawn with weights, strata and clusters, the covariance follows from their sampling.
"""

import numpy as np
from attrs import evolve, frozen
from scipy.sparse import csr_array

from subsetprivacy._types import BoolArray, FloatArray, IntArray
from subsetprivacy.regression.blocks import Block, InMemoryBlocks
from subsetprivacy.regression.coordinates import Coordinates
from subsetprivacy.regression.links import outer_squares
from subsetprivacy.regression.models import LikelihoodKernel
from subsetprivacy.regression.objective import Objective
from subsetprivacy.regression.solver import maximize
from subsetprivacy.regression.specification import support_of_draws
from subsetprivacy.sampling import Sampling


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


@frozen(eq=False, repr=False)
class SamplingCovariance:
    """How the people of a fit were drawn, and the covariance that follows from it.

    Attributes
    ----------
    sampling
        The sampling of everyone, including people without an answer.
    answered
        Who gave an informative subset. The fit contains only these people.
    scale
        The factor of their weights in the fit, chosen so that they sum to the number of people.
    """

    sampling: Sampling
    answered: BoolArray
    scale: float

    def scores(self, objective: Objective, theta: FloatArray) -> FloatArray:
        """Return the unweighted score of everyone, 0 for people without an answer, shape (n, parameters)."""
        sample = objective.blocks
        assert isinstance(sample, InMemoryBlocks)  # a stream has no sampling
        likelihood = objective.kernel(theta)
        out = np.zeros((len(self.answered), objective.model.size))
        out[self.answered] = np.concatenate(
            [likelihood.scores(evolve(block, weight=None)).T for block in sample.blocks()], axis=0
        )
        return out

    def covariance(
        self, objective: Objective, theta: FloatArray, bread: FloatArray, coordinates: Coordinates
    ) -> tuple[FloatArray, FloatArray]:
        """Return the parameters' covariance, and their variances in a simple random sample of the same size."""
        influence = self.scale * self.scores(objective, theta) @ bread
        plain = self.sampling.simple_random(influence, self.answered).diagonal().copy()

        def draws(factors: FloatArray) -> FloatArray:
            return self.scale**2 * sandwich(bread, self.of_draws(objective, theta, factors))

        if self.sampling.replication is None:
            return self.sampling.covariance(influence, draws), plain
        chosen = self.sampling.replicated(self._refits(objective, theta, coordinates), theta)
        return chosen + self.sampling.of_draws(draws), plain

    def of_draws(self, objective: Objective, theta: FloatArray, factors: FloatArray) -> FloatArray:
        r"""Return the sum of factors times the variances of the scores over the draws of the subsets.

        Notes
        -----
        A score is :math:`\sum_j q_j t_j`, with the scores :math:`t_j` of the categories and the posterior, or the
        indicators, q. Its mean over the draws in a category replaces q by its mean.
        """
        sample, model = objective.blocks, objective.model
        assert isinstance(sample, InMemoryBlocks)
        corrected = objective.indicators
        support = None if corrected is not None else support_of_draws(sample.design, len(sample))
        used = factors[self.answered]
        share = used.sum() / factors.sum()
        out, start = np.zeros((model.size, model.size)), 0
        for block in sample.blocks():
            U = model.predictors(theta, block.X, block.offset)
            P = np.maximum(model.link.shares(U), 1e-300)
            H = model.link.slopes(U) / P[:, None]  # the scores in each category, (p, predictors, m)
            here = used[start : start + len(block.X)]
            start += len(block.X)
            squares = here * outer_squares(objective.kernel(theta).linked(block).gradient)
            if support is None:
                assert corrected is not None
                D, means = corrected(block), H
            else:
                posterior, D = support.over_draws(P, block.R)
                means = np.einsum("ksm,jkm->jsm", H, posterior)
            for d, mean in zip(D, means, strict=True):
                squares -= share * here * d * outer_squares(mean)
            out += model.information(squares, block.X)
        return out

    def _refits(self, objective: Objective, theta: FloatArray, coordinates: Coordinates) -> FloatArray:
        """Return the parameters of each replicate, shape (replicates, parameters)."""
        sample, replication = objective.blocks, self.sampling.replication
        assert isinstance(sample, InMemoryBlocks)
        assert replication is not None
        estimates = []
        for weights in replication.each_weights(self.sampling.whole.weights):
            kept = InMemoryBlocks(
                sample.X, sample.codes, sample.design, weights[self.answered] * self.scale, sample.offset
            )
            estimates.append(maximize(evolve(objective, blocks=kept), coordinates, theta).theta)
        return np.array(estimates)
