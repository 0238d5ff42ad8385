"""Residuals of scores, for the variance of estimates with calibrated weights."""

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
    With calibrated weights, the sum of a score has the same variance as the sum of its residual
    :math:`s_i - x_i^\top\hat B` (Deville and Särndal 1992).
    """

    columns: FloatArray
    weights: FloatArray
    private: tuple[str, ...] = ()

    @cached_property
    def _inverse(self) -> FloatArray:
        """The inverse of the weighted products of the columns; a generalized inverse if these are dependent."""
        gram = (self.columns.T * self.weights) @ self.columns
        size = np.sqrt(np.maximum(gram.diagonal(), np.finfo(float).tiny))  # columns may have different units
        return np.asarray(np.linalg.pinv(gram / np.outer(size, size), rcond=1e-11, hermitian=True)) / np.outer(
            size, size
        )

    def slopes_of_groups(self, rows: IntArray, group: IntArray, number: int) -> FloatArray:
        """Return the coefficients of the regressions of group indicators on the columns: (k, groups)."""
        X = self.columns * self.weights[:, None]
        crossed = np.stack([np.bincount(group, column[rows], minlength=number) for column in X.T])
        return np.asarray(self._inverse @ crossed)

    def residuals(self, scores: FloatArray) -> FloatArray:
        """Return the residuals of scores, (n, k), on the columns."""
        weighted = self.columns * self.weights[:, None]
        return np.asarray(scores - self.columns @ (self._inverse @ (weighted.T @ scores)))
