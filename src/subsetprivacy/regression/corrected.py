r"""The corrected fit, with unbiased indicators instead of labels.

It maximizes :math:`\sum_i (D_i^\top \ln p(x_i))`, whose mean is the log-likelihood of the labels, whatever the true
shares are. It therefore estimates exactly what the fit on labels would, even if the model is wrong. For the logit it
is concave. The price is a larger variance.
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.estimation.indicator import IndicatorTable, most_blocks
from subsetprivacy.estimation.quantizing import nearest, quantize
from subsetprivacy.regression.blocks import Block, Blocks
from subsetprivacy.regression.models import Model

BLOCKS = 64  # working distributions; rounding to them loses at most 1% of the precision
_SAMPLE = 20_000  # people whose fitted shares determine the working distributions


@frozen(eq=False, repr=False)
class WorkingIndicators:
    """Indicators of people, with a fitted model's shares, rounded to a few, as working distributions.

    Attributes
    ----------
    model, theta
        The fitted model.
    table
        The indicators for the few working distributions.
    """

    model: Model
    theta: FloatArray
    table: IndicatorTable

    def __call__(self, block: Block) -> FloatArray:
        """Return the indicators of a block of people, shape (p, m)."""
        if self.table.blocks == 1 or self.table.ignores_w:
            return self.table.of(block.R, np.zeros(block.R.shape[1], np.int64))
        return self.table.of(block.R, self._numbers(block))

    def _numbers(self, block: Block) -> IntArray:
        shares = self.model.link.shares(self.model.predictors(self.theta, block.X, block.offset))
        return nearest(np.ascontiguousarray(shares.T), self.table.w)


def working_indicators(blocks: Blocks, model: Model, theta: FloatArray) -> WorkingIndicators:
    """Return indicators that use the shares of a fitted model as working distributions."""
    some = blocks.some(_SAMPLE)
    shares = model.link.shares(model.predictors(theta, some.X, some.offset))
    centers = quantize(np.ascontiguousarray(shares.T), min(BLOCKS, most_blocks(model.link.p)))[0]
    return WorkingIndicators(model, theta, IndicatorTable(blocks.design, centers))
