"""What weights that were calibrated to known totals leave of a score: its residual on what was calibrated."""

from functools import cached_property

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray


@frozen(slots=False, eq=False)
class Calibration:
    r"""The columns that weights were calibrated to.

    Attributes
    ----------
    columns
        A row per person, (n, k).
    weights
        The weights of the regression of scores on the columns.

    Notes
    -----
    With calibrated weights the sum of a score varies as the sum of its residual
    :math:`s_i - x_i^\top\hat B` does (Deville and Särndal 1992).
    """

    columns: FloatArray
    weights: FloatArray

    @cached_property
    def _basis(self) -> FloatArray:
        """An orthonormal basis of the weighted columns; those that depend on others are left out."""
        scaled = self.columns * np.sqrt(self.weights)[:, None]
        left, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
        return np.asarray(left[:, sizes > 1e-10 * sizes.max(initial=0.0)])

    def residuals(self, scores: FloatArray) -> FloatArray:
        """Return scores, (n, k), without what the columns explain; of people without weight as they are."""
        root = np.sqrt(self.weights)
        scaled = scores * root[:, None]
        apart = scaled - self._basis @ (self._basis.T @ scaled)
        counted = root > 0
        made = np.array(scores, np.float64)
        made[counted] = apart[counted] / root[counted, None]
        return made
