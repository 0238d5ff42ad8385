"""Rows of several variables."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.incidence.base import Listable


class Kronecker:
    """Rows 1_a ⊗ 1_b of two variables. Cells and w are flattened tables in which the second variable changes fastest.

    The matrix of all rows is never built. Each product is applied to one
    variable after the other. Factors may be Kronecker products themselves.
    """

    def __init__(self, first: Listable, second: Listable) -> None:
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

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the largest w_ij with i in a and j in b."""
        table = w.reshape(*w.shape[:-1], self._A.p, self._B.p)
        half = np.swapaxes(self._B.peak(table), -1, -2)
        return np.swapaxes(self._A.peak(half), -1, -2).reshape(*w.shape[:-1], self.rows)

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_ab times the outer square of 1_a ⊗ 1_b."""
        lead = y.shape[:-1]
        p, q = self._A.p, self._B.p
        inner = self._B.gram(y.reshape(*lead, self._A.rows, self._B.rows))  # (..., s, q, q)
        by_pair = np.moveaxis(inner.reshape(*lead, self._A.rows, q * q), -1, -2)  # (..., q*q, s)
        outer = self._A.gram(by_pair).reshape(*lead, q, q, p, p)  # (..., k, l, i, j)
        k, l, i, j = (len(lead) + axis for axis in range(4))
        return np.transpose(outer, (*range(len(lead)), i, k, j, l)).reshape(*lead, p * q, p * q)


class Cells:
    """A selection of rows by position. A row may occur more than once."""

    def __init__(self, whole: Listable, positions: IntArray) -> None:
        self._whole, self._at = whole, positions

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._at)

    @property
    def p(self) -> int:
        """The length of w."""
        return self._whole.p

    def inner(self, w: FloatArray) -> FloatArray:
        """Return r_a'w."""
        return np.take(self._whole.inner(w), self._at, axis=-1)

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a times the row of a."""
        return self._whole.spread(self._scatter(r))

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a times the outer square of the row of a."""
        return self._whole.gram(self._scatter(y))

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the weight of the best guess of every row."""
        return np.take(self._whole.peak(w), self._at, axis=-1)

    def _scatter(self, values: FloatArray) -> FloatArray:
        if values.ndim == 1:
            return np.bincount(self._at, values, minlength=self._whole.rows).astype(np.float64, copy=False)
        rows = values.reshape(-1, self.rows)
        at = np.arange(len(rows))[:, None] * self._whole.rows + self._at
        sums = np.bincount(at.ravel(), rows.ravel(), minlength=len(rows) * self._whole.rows)
        return sums.astype(np.float64, copy=False).reshape(*values.shape[:-1], self._whole.rows)


class BlockwiseRows:
    """Products that write out the rows, a block at a time."""

    if TYPE_CHECKING:

        @property
        def p(self) -> int:
            """The length of w."""

    @abstractmethod
    def _blocks(self) -> list[slice]:
        """Return the rows of each block."""

    @abstractmethod
    def _rows(self, part: slice) -> FloatArray:
        """Return some rows."""

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_i times the outer square of row i."""
        out = np.zeros((*y.shape[:-1], self.p, self.p))
        for part in self._blocks():
            rows = self._rows(part)
            out += np.swapaxes(rows * y[..., part, None], -1, -2) @ rows
        return out

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the largest entry of row times w."""
        return np.concatenate([(self._rows(part) * w[..., None, :]).max(axis=-1) for part in self._blocks()], axis=-1)


class RowByRow(BlockwiseRows):
    """Rows u_i ⊗ v_i that pair row i of two variables, for data in which few of all pairs occur.

    Neither the grid of all pairs nor the matrix of the rows is built. Each
    product takes one variable after the other, a block of rows at a time.
    """

    _BLOCK = 1 << 12

    def __init__(self, first: FloatArray, second: FloatArray) -> None:
        self._U, self._V = first, second

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._U)

    @property
    def p(self) -> int:
        """The length of w."""
        return self._U.shape[1] * self._V.shape[1]

    def inner(self, w: FloatArray) -> FloatArray:
        """Return (u ⊗ v)'w."""
        table = w.reshape(*w.shape[:-1], self._U.shape[1], self._V.shape[1])
        return np.einsum("...nq,nq->...n", self._U @ table, self._V)

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_i u_i ⊗ v_i."""
        table = np.swapaxes(self._U * r[..., None], -1, -2) @ self._V
        return table.reshape(*r.shape[:-1], self.p)

    def _blocks(self) -> list[slice]:
        return [slice(start, start + self._BLOCK) for start in range(0, self.rows, self._BLOCK)]

    def _rows(self, part: slice) -> FloatArray:
        return (self._U[part, :, None] * self._V[part, None, :]).reshape(-1, self.p)


class Branches(BlockwiseRows):
    """Rows of many variables of which few combinations occur. Sums that several rows share are computed once.

    Level k has the distinct combinations of the last k variables. Each is a branch of a combination of the previous
    level and adds a row of one variable. A table w is summed over one variable after the other, from the last to the
    first, so neither the rows nor a grid of all combinations is built.
    """

    _BLOCK = 1 << 22  # entries of rows that are written out at a time

    def __init__(self, parts: Sequence[tuple[FloatArray, IntArray]]) -> None:
        from scipy.sparse import csr_matrix  # needed for few tables only

        self._parts = parts
        self._shape = [rows.shape[1] for rows, _ in parts]
        self._levels: list[list[Any]] = []  # for each level, a sparse matrix per category
        branch = np.zeros(len(parts[0][1]), np.int64)
        width = 1
        for rows, at in reversed(parts):
            keys, branch = np.unique(branch * len(rows) + at, return_inverse=True)
            parent, row = np.divmod(keys, len(rows))
            place = (np.arange(len(keys)), parent)
            steps = [csr_matrix((rows[row, j], place), shape=(len(keys), width)) for j in range(rows.shape[1])]
            for step in steps:
                step.eliminate_zeros()
            self._levels.append(steps)
            width = len(keys)
        self._last = branch

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._last)

    @property
    def p(self) -> int:
        """The length of w."""
        return prod(self._shape)

    def inner(self, w: FloatArray) -> FloatArray:
        """Return the sum of each row times w."""
        if w.ndim > 1:
            return np.array([self.inner(row) for row in w]).reshape(*w.shape[:-1], self.rows)
        table = w.reshape(1, -1)
        for steps in self._levels:
            parts = table.reshape(len(table), -1, len(steps))
            table = sum(step @ np.ascontiguousarray(parts[:, :, j]) for j, step in enumerate(steps))
        return np.asarray(table[self._last, 0])

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_i times row i."""
        if r.ndim > 1:
            return np.array([self.spread(row) for row in r]).reshape(*r.shape[:-1], self.p)
        table = np.bincount(self._last, r, minlength=self._levels[-1][0].shape[0])[:, None]
        for steps in reversed(self._levels):
            parts = [step.T @ table for step in steps]
            table = np.stack(parts, axis=-1).reshape(steps[0].shape[1], -1)
        return np.asarray(table[0], np.float64)

    def _blocks(self) -> list[slice]:
        step = max(self._BLOCK // self.p, 1)
        return [slice(start, start + step) for start in range(0, self.rows, step)]

    def _rows(self, part: slice) -> FloatArray:
        explicit = [rows[at[part]] for rows, at in self._parts]
        return reduce(lambda u, v: (u[:, :, None] * v[:, None, :]).reshape(len(u), -1), explicit)


# A grid of all pairs is cheaper unless it is much larger than the number of observed pairs (measured).
_WORTH, _GRID = 16, 1 << 22
_EXPLICIT = 1 << 20  # entries of the rows of all variables but one: with more, branches take less time and memory


def joint_incidence(parts: Sequence[tuple[Listable, IntArray]]) -> Listable:
    """Return the rows of several variables, given the distinct rows of each and the index of each row in them."""
    shape = [rows.rows for rows, _ in parts]
    number = len(parts[0][1])
    if prod(shape) <= min(max(_WORTH * number, 1 << 12), _GRID):
        whole = reduce(Kronecker, [rows for rows, _ in parts])
        return Cells(whole, np.ravel_multi_index([at for _, at in parts], shape))
    distinct = [(rows.inner(np.eye(rows.p)).T, at) for rows, at in parts]
    if len(parts) > 2 and number * prod(rows.p for rows, _ in parts[:-1]) > _EXPLICIT:
        return Branches(distinct)
    explicit = [rows[at] for rows, at in distinct]
    first = reduce(lambda u, v: (u[:, :, None] * v[:, None, :]).reshape(number, -1), explicit[:-1])
    return RowByRow(first, explicit[-1])
