r"""The corrected fit, with unbiased indicators instead of labels.

It maximizes :math:`\sum_i (D_i^\top \ln p(x_i))`, whose mean is the log-likelihood of the labels, whatever the true
shares are. It therefore estimates exactly what the fit on labels would, even if the model is wrong. For the logit it
is concave. The price is a larger variance.
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.estimation.indicator import IndicatorTable, floored, most_blocks
from subsetprivacy.estimation.quantizing import nearest, quantize
from subsetprivacy.regression.blocks import Block, Blocks
from subsetprivacy.regression.models import Model
from subsetprivacy.regression.specification import Support

BLOCKS = 64  # working distributions; rounding to them loses at most 1% of the precision
_SAMPLE = 20_000  # people whose fitted shares determine the working distributions
_EXACT = 1e9  # products up to which everyone has a working distribution of their own


@frozen(eq=False, repr=False)
class WorkingIndicators:
    """Indicators of people, with a fitted model's shares as working distributions.

    Attributes
    ----------
    model, theta
        The fitted model.
    support
        The informative subsets of the design, if they are few enough for exact shares.
    table
        Otherwise the indicators for a few distributions, to which shares are rounded.
    """

    model: Model
    theta: FloatArray
    support: Support | None
    table: IndicatorTable | None

    def __call__(self, block: Block) -> FloatArray:
        """Return the indicators of a block of people, shape (p, m)."""
        if self.table is not None and (self.table.blocks == 1 or self.table.ignores_w):
            return self.table.of(block.R, np.zeros(block.R.shape[1], np.int64))
        shares = self.model.link.shares(self.model.predictors(self.theta, block.X, block.offset))
        if self.table is not None:
            return self.table.of(block.R, nearest(np.ascontiguousarray(shares.T), self.table.w))
        assert self.support is not None
        w = floored(shares.T).T
        right = (block.R / np.einsum("jm,jm->m", block.R, w)).T[:, :, None]
        return np.ascontiguousarray(np.linalg.solve(self.support.weighted_rows(w), right)[:, :, 0].T)


def working_indicators(blocks: Blocks, model: Model, theta: FloatArray, rows: float) -> WorkingIndicators:
    """Return indicators that use the shares of a fitted model, of people in so many rows, as working distributions."""
    design = blocks.design
    if design.enumerable and (design.report_count or 0) * design.p**2 * rows <= _EXACT:
        return WorkingIndicators(model, theta, Support.of(design), None)
    some = blocks.some(_SAMPLE)
    shares = model.link.shares(model.predictors(theta, some.X, some.offset))
    centers = quantize(np.ascontiguousarray(shares.T), min(BLOCKS, most_blocks(model.link.p)))[0]
    return WorkingIndicators(model, theta, None, IndicatorTable(design, centers))
