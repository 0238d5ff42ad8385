"""Rows of bit masks: an explicit matrix, a grid of all cells, or byte tables."""

from functools import cached_property

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.subsets import bits

MAX_DENSE_BITS = 22
_MAX_SQUARES = 1 << 20


class DenseRows:
    """An explicit matrix, for few distinct subsets or for rows that are not 0/1."""

    def __init__(self, matrix: FloatArray) -> None:
        self._M = np.asfortranarray(matrix)  # rows are short, so products along the columns are faster
        self._T = self._M.T

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._M.shape[0]

    @property
    def p(self) -> int:
        """The length of w."""
        return self._M.shape[1]

    def inner(self, w: FloatArray) -> FloatArray:
        """Return 1_a'w."""
        # In the smallest problems calls dominate, and `dot` takes half the time of @.
        return w.dot(self._T) if w.ndim <= 2 else _flattened(w, self._T)

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a 1_a."""
        return r.dot(self._M) if r.ndim <= 2 else _flattened(r, self._M)

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a 1_a 1_a'."""
        if y.ndim == 1:
            return (self._T * y).dot(self._M)
        if self.rows * self.p**2 > _MAX_SQUARES:
            return (self._T * y[..., None, :]) @ self._M
        return (y @ self._squares).reshape(*y.shape[:-1], self.p, self.p)

    @cached_property
    def _squares(self) -> FloatArray:
        """The outer square of every row, with which a whole batch is one product."""
        return (self._M[:, :, None] * self._M[:, None, :]).reshape(self.rows, -1)

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the largest w_j with j in a."""
        return np.where(self._M > 0, w[..., None, :], -np.inf).max(axis=-1)


def _flattened(x: FloatArray, M: FloatArray) -> FloatArray:
    """Return x M along the last axis; with more than two axes `dot` is slow."""
    return x.reshape(-1, x.shape[-1]).dot(M).reshape(*x.shape[:-1], M.shape[1])


class Halves:
    """Masks of up to 22 bits, split into a high and a low half of all 2^p cells.

    On the grid of all cells, 1_a'w is an outer sum, the score is two sums over
    an axis, and the Gram matrix is three small matrix products. The cost is
    O(2^p), regardless of the number of people. The codes must be distinct.
    """

    def __init__(self, codes: IntArray, p: int) -> None:
        self._codes = codes
        self._p = p
        self._low = p // 2
        self._high_bits = bits(np.arange(1 << (p - self._low)), p - self._low)
        self._low_bits = bits(np.arange(1 << self._low), self._low)
        # A product with ones takes half the time of a sum along an axis.
        self._one_high, self._one_low = np.ones(len(self._high_bits)), np.ones(len(self._low_bits))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._codes)

    @property
    def p(self) -> int:
        """The length of w."""
        return self._p

    def inner(self, w: FloatArray) -> FloatArray:
        """Return 1_a'w."""
        low = w[..., : self._low] @ self._low_bits.T
        high = w[..., self._low :] @ self._high_bits.T
        return self._gather(high[..., :, None] + low[..., None, :])

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a 1_a."""
        grid = self._scatter(r)
        return np.concatenate([self._one_high @ grid @ self._low_bits, grid @ self._one_low @ self._high_bits], axis=-1)

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a 1_a 1_a'."""
        grid = self._scatter(y)
        H, L, k = self._high_bits, self._low_bits, self._low
        cross = H.T @ grid @ L
        out = np.empty((*y.shape[:-1], self._p, self._p))
        out[..., :k, :k] = (L.T * (self._one_high @ grid)[..., None, :]) @ L
        out[..., k:, k:] = (H.T * (grid @ self._one_low)[..., None, :]) @ H
        out[..., k:, :k] = cross
        out[..., :k, k:] = np.swapaxes(cross, -1, -2)
        return out

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the largest w_j with j in a."""
        low = DenseRows(self._low_bits).peak(w[..., : self._low])
        high = DenseRows(self._high_bits).peak(w[..., self._low :])
        return self._gather(np.maximum(high[..., :, None], low[..., None, :]))

    def _gather(self, grid: FloatArray) -> FloatArray:
        return np.take(grid.reshape(*grid.shape[:-2], 1 << self._p), self._codes, axis=-1)

    def _scatter(self, values: FloatArray) -> FloatArray:
        cells = np.zeros((*values.shape[:-1], 1 << self._p))
        if values.ndim == 1:
            cells[self._codes] = values  # three times as fast as with an ellipsis
        else:
            cells[..., self._codes] = values
        return cells.reshape(*values.shape[:-1], len(self._high_bits), len(self._low_bits))


class ByteTables:
    """Sparse masks of up to 48 bits, read a byte at a time through tables of 256 entries."""

    def __init__(self, codes: IntArray, p: int) -> None:
        self._rows, self._p = len(codes), p
        starts = range(0, p, 8)
        self._planes = [((codes >> start) & 255).astype(np.uint8) for start in starts]
        self._parts = [slice(start, min(start + 8, p)) for start in starts]
        self._tables = [bits(np.arange(256), part.stop - part.start) for part in self._parts]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._rows

    @property
    def p(self) -> int:
        """The length of w."""
        return self._p

    def inner(self, w: FloatArray) -> FloatArray:
        """Return 1_a'w."""
        out = np.zeros((*w.shape[:-1], self._rows))
        for plane, part, table in zip(self._planes, self._parts, self._tables, strict=True):
            out += np.take(w[..., part] @ table.T, plane, axis=-1)
        return out

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a 1_a."""
        if r.ndim > 1:
            each = [self.spread(row) for row in r.reshape(-1, self._rows)]
            return np.reshape(each, (*r.shape[:-1], self._p))
        sums = [np.bincount(plane, weights=r, minlength=256) for plane in self._planes]
        return np.concatenate([table.T @ total for table, total in zip(self._tables, sums, strict=True)])

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a 1_a 1_a'."""
        if y.ndim > 1:
            each = [self.gram(row) for row in y.reshape(-1, self._rows)]
            return np.reshape(each, (*y.shape[:-1], self._p, self._p))
        out = np.empty((self._p, self._p))
        for i, (high, rows, left) in enumerate(zip(self._planes, self._parts, self._tables, strict=True)):
            for low, columns, right in zip(self._planes[: i + 1], self._parts, self._tables, strict=False):
                # People with the same two bytes are added up first, which leaves 65,536 cells to multiply.
                pair = (high.astype(np.uint16) << 8) | low
                cells = np.bincount(pair, weights=y, minlength=1 << 16).reshape(256, 256)
                out[rows, columns] = left.T @ cells @ right
                out[columns, rows] = out[rows, columns].T
        return out

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the largest w_j with j in a."""
        out = np.full((*w.shape[:-1], self._rows), -np.inf)
        for plane, part, table in zip(self._planes, self._parts, self._tables, strict=True):
            np.maximum(out, np.take(DenseRows(table).peak(w[..., part]), plane, axis=-1), out=out)
        return out
