"""Tables with given margins: random tables, all tables, or tables of permuted rows.

Permuting one column of codes against the other gives each table with these margins the probability
prod(row sums!) prod(column sums!) / (n! prod(cells!)), so tables can be drawn without permuting rows.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.independence.crossing import CellLayout, Crossing

_PER_DRAW, _PER_CALL, _PER_ROW = 1.2e-7, 1e-5, 5e-8  # measured seconds per cell of a table, per call, and per row
LARGEST = 10**9  # NumPy's generator cannot draw from so many people
_BLOCK = 1 << 16  # cells of a batch, so that its arrays stay in the cache
_DRAWN = 1 << 23  # cells of the tables drawn in one batch: 64 MB
_LISTED = 1 << 28


def random_tables(rows: IntArray, columns: IntArray, size: int, generator: np.random.Generator) -> IntArray:
    """Draw tables with these row and column sums, shape (size, rows, columns), in the same time for any n < 10^9.

    A cell given the cells before it is hypergeometric: the number of people left in its column who fall into its row.
    """
    tables = np.empty((len(rows), len(columns), size), np.int64)
    left = np.repeat(columns[:, None], size, axis=1)
    for i, people in enumerate(rows[:-1]):
        need = np.full(size, people)
        others = left.sum(axis=0)
        for j in range(len(columns) - 1):
            others -= left[j]
            tables[i, j] = generator.hypergeometric(left[j], others, need)
            need -= tables[i, j]
        tables[i, -1] = need
        left -= tables[i]
    tables[-1] = left
    return np.moveaxis(tables, -1, 0)


def all_tables(rows: IntArray, columns: IntArray, most: int) -> tuple[IntArray, FloatArray] | None:
    """Return every table with these sums, and its probability; None if there are more than `most`, or too many."""
    s, r = len(rows), len(columns)
    most = min(most, _LISTED // (s * r) ** 2)  # every cell copies all tables listed so far
    cells = np.zeros((1, 0), np.int64)
    left = columns[None, :]  # what is left in each column
    for i in range(s):
        need = np.full(len(cells), rows[i])
        for j in range(r):
            after = left[:, j + 1 :].sum(axis=1)  # the capacity of the rest of the row
            low = np.maximum(need - after, 0)
            high = np.minimum(need, left[:, j])
            if i == s - 1:
                low = high = left[:, j]
            choices = high - low + 1
            # Every partial table can be completed, so there are at least as many tables as partial ones.
            if choices.sum() > most:
                return None
            at = np.repeat(np.arange(len(cells)), choices)
            value = np.arange(len(at)) - np.repeat(np.cumsum(choices) - choices, choices) + low[at]
            cells = np.column_stack([cells[at], value])
            left = left[at].copy()
            left[:, j] -= value
            need = need[at] - value
    fixed = gammaln(rows + 1).sum() + gammaln(columns + 1).sum() - gammaln(rows.sum() + 1)
    probabilities = np.exp(fixed - gammaln(cells + 1).sum(axis=1))
    return cells.reshape(-1, s, r), probabilities / probabilities.sum()


def one_table(rows: IntArray, columns: IntArray, generator: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
    """Draw one table with these sums: the row, the column and the count of every cell that occurs."""
    s, r = len(rows), len(columns)
    if _PER_ROW * rows.sum() > (_PER_DRAW + _PER_CALL) * s * r:
        table = random_tables(rows, columns, 1, generator)[0]
        at_a, at_b = np.nonzero(table)
        return at_a, at_b, table[at_a, at_b]
    base, codes = np.repeat(np.arange(s) * r, rows), np.repeat(np.arange(r), columns)
    pairs, n = np.unique(base + generator.permutation(codes), return_counts=True)
    return pairs // r, pairs % r, n


def shuffled(crossing: Crossing, size: int, generator: np.random.Generator) -> Iterator[tuple[CellLayout, FloatArray]]:
    """Draw tables with the margins of this one, in batches: a layout and counts (tables, cells)."""
    rows, columns = (np.rint(side.n_a).astype(np.int64) for side in (crossing.first, crossing.second))
    if not crossing.on_grid:
        yield from _one_by_one(crossing, rows, columns, size, generator)
        return
    for block in blocks(rows, columns, size, generator):
        yield crossing.layout, block


def blocks(rows: IntArray, columns: IntArray, size: int, generator: np.random.Generator) -> Iterator[FloatArray]:
    """Draw tables with these sums by the faster method, in batches of shape (tables, cells)."""
    cells = len(rows) * len(columns)
    step = max(_BLOCK // cells, 1)
    together = _tables_per_call(cells, size)
    if _PER_ROW * rows.sum() < (_PER_DRAW + _PER_CALL / together) * cells:
        for start in range(0, size, step):
            yield _by_shuffling(rows, columns, min(step, size - start), generator)
        return
    for outer in range(0, size, together):  # a call takes the same time for one table as for many
        drawn = random_tables(rows, columns, min(together, size - outer), generator).reshape(-1, cells)
        for start in range(0, len(drawn), step):
            yield drawn[start : start + step].astype(np.float64)


def _tables_per_call(cells: int, size: int) -> int:
    """Return the number of tables per call."""
    return min(max(size, 1), max(_DRAWN // cells, 1))


def drawing(crossing: Crossing, size: int) -> float:
    """Return the approximate seconds to draw one table, for this number of tables."""
    if not crossing.on_grid:
        return 3 * _PER_ROW * crossing.n  # permuted, and sorted to find its cells
    return drawing_time(crossing.n, crossing.shape[0] * crossing.shape[1], size)


def drawing_time(people: float, cells: int, size: int) -> float:
    """Return the time to draw one table whose cells are all listed."""
    return min(_PER_ROW * people, (_PER_DRAW + _PER_CALL / _tables_per_call(cells, size)) * cells)


def _by_shuffling(rows: IntArray, columns: IntArray, size: int, generator: np.random.Generator) -> FloatArray:
    """Return the tables of a column of codes against permuted codes."""
    s, r = len(rows), len(columns)
    base, codes = np.repeat(np.arange(s) * r, rows), np.repeat(np.arange(r), columns)
    drawn = [np.bincount(base + generator.permutation(codes), minlength=s * r) for _ in range(size)]
    return np.array(drawn, np.float64)


def _one_by_one(
    crossing: Crossing, rows: IntArray, columns: IntArray, size: int, generator: np.random.Generator
) -> Iterator[tuple[CellLayout, FloatArray]]:
    """Permute rows if there are too many pairs of subsets for one layout; each table has its own cells."""
    for _ in range(size):
        at_a, at_b, n = one_table(rows, columns, generator)
        yield CellLayout(crossing.first, crossing.second, at_a, at_b, False), n[None, :].astype(np.float64)
