"""Covariances of a regression whose people were drawn with weights, strata and clusters."""

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy.regression.blocks import InMemoryBlocks
from subsetprivacy.regression.coordinates import Coordinates
from subsetprivacy.regression.objective import Objective
from subsetprivacy.regression.solver import maximize
from subsetprivacy.sampling import Sampling


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
        if self.sampling.replication is None:
            return self.sampling.covariance(influence), plain
        return self.sampling.replicated(self._refits(objective, theta, coordinates), theta), plain

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
