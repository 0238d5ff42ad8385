r"""Does the model fit? The two estimators have the same target only if it does.

At the maximum of the subset likelihood the corrected score :math:`\sum_i s^c_i` has mean zero if the model holds, and
in general not if it does not. Its variance is that of :math:`\psi_i = s^c_i - A J^{-1} s_i`, with the score
:math:`s_i` of the subset likelihood, its information J, and the derivative A of the corrected score. This is the test
between the two fits to first order, without the second fit and without a difference of covariances.
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.blocks import Block, Blocks
from subsetprivacy.regression.corrected import working_indicators
from subsetprivacy.regression.models import Likelihood, Model


@frozen(eq=False, repr=False)
class Contrasts:
    """The kernel of the test's variance: the sum of the outer squares of psi."""

    corrected: Likelihood
    likelihood: Likelihood
    M: FloatArray
    frequency: bool

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the sum of the block."""
        psi = self.corrected.scores(block) - self.M @ self.likelihood.scores(block)
        if self.frequency and block.weight is not None:
            return ((psi / np.maximum(block.weight, 1e-300)) @ psi.T,)
        return (psi @ psi.T,)


def specification_statistic(
    blocks: Blocks, model: Model, theta: FloatArray, cov: FloatArray, *, frequency: bool
) -> tuple[float, int]:
    """Return the statistic of the specification test and its degrees of freedom.

    Parameters
    ----------
    blocks, model, theta
        The people, and the maximum of their subset likelihood.
    cov
        The inverse information there; 0 for coefficients without an end, which are left out.
    frequency
        Whether weights count people.
    """
    indicators = working_indicators(blocks, model, theta)
    corrected = Likelihood(model, theta, curvature=True, indicators=indicators)
    _, score, A = blocks.total(corrected)
    likelihood = Likelihood(model, theta)
    V = blocks.total(Contrasts(corrected, likelihood, A @ cov, frequency))[0]
    values, vectors = np.linalg.eigh(V)
    kept = values > 1e-9 * values.max(initial=0.0)
    return float(((score @ vectors)[kept] ** 2 / values[kept]).sum()), int(kept.sum())
