"""Counts of cells: of all cells in arrays while they are few, otherwise of those that occur."""

from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import AnyArray, FloatArray, IntArray

MOST_CELLS = 5 << 20  # codes of 22 bits, or fewer and some groups: 40 MB for each sum
_DENSE_ROWS = 1 << 22  # rows that are counted at once at most: with them a cell's cost is shared by about a row
_SPARSE_ROWS = 1 << 20


@frozen(eq=False)
class CellCounts:
    """The cells that occur, as flat arrays: codes, labels, rows, first row, sums of weights and of their squares."""

    cell: IntArray
    label: IntArray
    rows: IntArray
    first: IntArray
    sums: FloatArray | None = None
    squares: FloatArray | None = None


class CellCounter:
    """Rows that wait until there are enough of them to be counted at once."""

    def __init__(self, cells: int, weighted: bool) -> None:
        self.cells: int = cells
        self.weighted: bool = weighted
        self._waiting: list[tuple[Any, Any, Any]] = []
        self._waiting_rows = self._counted_rows = 0

    def add(self, cell: Any, label: Any, amounts: Any, length: int) -> None:
        """Count the next rows; None instead of codes or labels means 0."""
        self._waiting.append((cell, label, amounts))
        self._waiting_rows += length
        if self._waiting_rows >= self._enough():
            self.flush()

    def flush(self) -> None:
        """Count the rows that wait."""
        if self._waiting_rows:
            cell, label, amounts = (_joined(parts) for parts in zip(*self._waiting, strict=True))
            self._count(cell, label, amounts, self._counted_rows)
            self._counted_rows += self._waiting_rows
            self._waiting, self._waiting_rows = [], 0

    def _enough(self) -> int:
        raise NotImplementedError

    def _count(self, cell: Any, label: Any, amounts: Any, start: int) -> None:
        raise NotImplementedError

    def result(self) -> CellCounts:
        """Return the counts, with labels and codes in ascending order."""
        raise NotImplementedError


def _joined(parts: tuple[Any, ...]) -> Any:
    return parts[0] if parts[0] is None or len(parts) == 1 else np.concatenate(parts)


class DenseCounter(CellCounter):
    """Counts in arrays with an entry for each combination of label and code."""

    def __init__(self, cells: int, weighted: bool) -> None:
        super().__init__(cells, weighted)
        self._rows, self._first = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
        self._sums = np.zeros(cells if weighted else 0)
        self._squares = np.zeros(cells if weighted else 0)

    def _enough(self) -> int:
        return min(len(self._rows), _DENSE_ROWS)

    def _count(self, cell: Any, label: Any, amounts: Any, start: int) -> None:
        if label is not None:
            self._grow(int(label.max()) + 1)
        at = cell if label is None else label if cell is None else label * self.cells + cell
        places = len(self._rows)
        rows = np.bincount(at, minlength=places)
        self._note_first(at, (rows > 0) & (self._rows == 0), start)
        self._rows += rows
        if amounts is not None:
            self._sums += np.bincount(at, amounts, minlength=places)
            self._squares += np.bincount(at, amounts**2, minlength=places)

    def _note_first(self, at: IntArray, fresh: AnyArray, start: int) -> None:
        """Store the first row of every new cell; after a few batches there are none."""
        if fresh.any():
            rows = np.flatnonzero(fresh[at])[::-1]
            self._first[at[rows]] = rows + start  # of several rows of a cell, the last assignment wins: the first row

    def _grow(self, labels: int) -> None:
        if labels * self.cells > len(self._rows):
            spare = min(2 * len(self._rows), MOST_CELLS) // self.cells
            for name in ("_rows", "_first", "_sums", "_squares"):
                array = getattr(self, name)
                if len(array):
                    grown = np.zeros(self.cells * max(labels, spare), array.dtype)
                    grown[: len(array)] = array
                    setattr(self, name, grown)

    def result(self) -> CellCounts:
        """Return the cells with rows."""
        self.flush()
        at = np.flatnonzero(self._rows)
        sums, squares = (self._sums[at], self._squares[at]) if self.weighted else (None, None)
        return CellCounts(at % self.cells, at // self.cells, self._rows[at], self._first[at], sums, squares)


class SparseCounter(CellCounter):
    """Counts as partial results of some million rows each, merged when they have doubled."""

    def __init__(self, cells: int, weighted: bool) -> None:
        super().__init__(cells, weighted)
        none = np.empty(0, np.int64)
        amounts = np.empty(0) if weighted else None
        self._parts = [CellCounts(none, none, none, none, amounts, amounts)]
        self._merged_rows = 0

    @classmethod
    def following(cls, dense: DenseCounter) -> "SparseCounter":
        """Continue from arrays that would become too large."""
        made = cls(dense.cells, dense.weighted)
        made._parts.append(dense.result())
        made._counted_rows = dense._counted_rows
        return made

    def _enough(self) -> int:
        return _SPARSE_ROWS

    def _count(self, cell: Any, label: Any, amounts: Any, start: int) -> None:
        length = len(label if cell is None else cell)
        zeros = np.zeros(length, np.int64)
        squares = None if amounts is None else amounts**2
        raw = CellCounts(
            zeros if cell is None else cell,
            zeros if label is None else label,
            np.ones(length, np.int64),
            np.arange(start, start + length),
            amounts,
            squares,
        )
        self._parts.append(_grouped(raw, self.cells))
        if sum(len(part.cell) for part in self._parts) > 2 * max(self._merged_rows, _SPARSE_ROWS):
            self._merge()

    def _merge(self) -> None:
        names = ("cell", "label", "rows", "first", *(("sums", "squares") if self.weighted else ()))
        together = {name: np.concatenate([getattr(part, name) for part in self._parts]) for name in names}
        self._parts = [_grouped(CellCounts(**together), self.cells)]
        self._merged_rows = len(self._parts[0].cell)

    def result(self) -> CellCounts:
        """Return the observed cells."""
        self.flush()
        self._merge()
        return self._parts[0]


def _grouped(counts: CellCounts, cells: int) -> CellCounts:
    """Merge repeated cells of a result, sorted by label and code."""
    if not len(counts.cell):
        return counts
    order, bounds = _runs(counts.label, counts.cell, cells)
    heads = order[bounds]
    sums, squares = (
        None if part is None else np.add.reduceat(part[order], bounds) for part in (counts.sums, counts.squares)
    )
    rows = np.add.reduceat(counts.rows[order], bounds)
    return CellCounts(counts.cell[heads], counts.label[heads], rows, counts.first[heads], sums, squares)


def _runs(label: IntArray, cell: IntArray, cells: int) -> tuple[IntArray, IntArray]:
    """Return the stable order by label and code, and the start of each run of equal ones."""
    length = len(cell)
    shift = (length - 1).bit_length()
    if (int(label.max()) + 1) * cells << shift < 1 << 63:
        # Code and row number in one word, because sorting words is eight times faster than an index.
        words = np.sort((label * cells + cell) << shift | np.arange(length))
        codes, order = words >> shift, words & ((1 << shift) - 1)
        new = codes[1:] != codes[:-1]
    else:
        order = np.lexsort((cell, label))
        new = (np.diff(cell[order]) != 0) | (np.diff(label[order]) != 0)
    return order, np.concatenate([[0], np.flatnonzero(new) + 1])
