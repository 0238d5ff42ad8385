"""Rows of several variables at once."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.incidence.base import Incidence


class Kronecker:
    """Rows 1_a ⊗ 1_b of two variables; cells and w are flattened tables, the second variable fastest.

    The matrix of all rows is never built: each product is applied to one
    variable after the other. Factors may be Kronecker products themselves.
    """

    def __init__(self, first: Incidence, second: Incidence) -> None:
        self._A, self._B = first, second

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._A.rows * self._B.rows

    @property
    def p(self) -> int:
        """The length of w."""
        return self._A.p * self._B.p

    def inner(self, w: FloatArray) -> FloatArray:
        """Return (1_a ⊗ 1_b)'w."""
        table = w.reshape(*w.shape[:-1], self._A.p, self._B.p)
        half = np.swapaxes(self._B.inner(table), -1, -2)
        return np.swapaxes(self._A.inner(half), -1, -2).reshape(*w.shape[:-1], self.rows)

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_ab 1_a ⊗ 1_b."""
        table = r.reshape(*r.shape[:-1], self._A.rows, self._B.rows)
        half = np.swapaxes(self._B.spread(table), -1, -2)
        return np.swapaxes(self._A.spread(half), -1, -2).reshape(*r.shape[:-1], self.p)

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_ab times the outer square of 1_a ⊗ 1_b."""
        lead = y.shape[:-1]
        p, q = self._A.p, self._B.p
        inner = self._B.gram(y.reshape(*lead, self._A.rows, self._B.rows))  # (..., s, q, q)
        by_pair = np.moveaxis(inner.reshape(*lead, self._A.rows, q * q), -1, -2)  # (..., q*q, s)
        outer = self._A.gram(by_pair).reshape(*lead, q, q, p, p)  # (..., k, l, i, j)
        k, l, i, j = (len(lead) + axis for axis in range(4))
        return np.transpose(outer, (*range(len(lead)), i, k, j, l)).reshape(*lead, p * q, p * q)
