r"""The corrected fit: unbiased indicators in the place of labels.

It maximises :math:`\sum_i (D_i^\top \ln p(x_i))`, whose mean is the log-likelihood of the labels whatever the true
shares are. So its target is exactly that of the fit on labels, even where the model is wrong, and for the logit it is
concave. It pays with a larger variance.
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.estimation.indicator import IndicatorTable, most_blocks
from subsetprivacy.estimation.quantizing import nearest, quantize
from subsetprivacy.regression.blocks import Block, Blocks
from subsetprivacy.regression.models import Model

BLOCKS = 64  # working distributions: the loss of precision is at most 1%
_SAMPLE = 20_000  # people whose fitted shares decide which


@frozen(eq=False, repr=False)
class Working:
    """Indicators of people whose working distribution is that of a fitted model, rounded to one of a few.

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


def working_indicators(blocks: Blocks, model: Model, theta: FloatArray) -> Working:
    """Return indicators with the shares of a fitted model as working distributions."""
    some = blocks.some(_SAMPLE)
    shares = model.link.shares(model.predictors(theta, some.X, some.offset))
    centers = quantize(np.ascontiguousarray(shares.T), min(BLOCKS, most_blocks(model.link.p)))[0]
    return Working(model, theta, IndicatorTable(blocks.design, centers))
