"""What weights that were calibrated to known totals leave of a score: its residual on what was calibrated."""

from functools import cached_property

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray


@frozen(slots=False, eq=False, repr=False)
class Calibration:
    r"""The columns that weights were calibrated to.

    Attributes
    ----------
    columns
        A row per person, (n, k).
    weights
        The weights of the regression of scores on the columns.
    private
        The private variables whose margins are among the columns.

    Notes
    -----
    With calibrated weights the sum of a score varies as the sum of its residual
    :math:`s_i - x_i^\top\hat B` does (Deville and Särndal 1992).
    """

    columns: FloatArray
    weights: FloatArray
    private: tuple[str, ...] = ()

    @cached_property
    def _inverse(self) -> FloatArray:
        """The inverse of the weighted products of the columns, where they depend on each other a generalized one."""
        gram = (self.columns.T * self.weights) @ self.columns
        size = np.sqrt(np.maximum(gram.diagonal(), np.finfo(float).tiny))  # columns of different units
        return np.asarray(np.linalg.pinv(gram / np.outer(size, size), rcond=1e-11, hermitian=True)) / np.outer(
            size, size
        )

    def slopes_of_groups(self, rows: IntArray, group: IntArray, number: int) -> FloatArray:
        """Return the coefficients of the regressions of indicators of groups on the columns: (k, groups)."""
        X = self.columns * self.weights[:, None]
        crossed = np.stack([np.bincount(group, column[rows], minlength=number) for column in X.T])
        return np.asarray(self._inverse @ crossed)

    def residuals(self, scores: FloatArray) -> FloatArray:
        """Return scores, (n, k), without what the columns explain."""
        weighted = self.columns * self.weights[:, None]
        return np.asarray(scores - self.columns @ (self._inverse @ (weighted.T @ scores)))
