"""Count the codes of people."""

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.joint import as_joint
from subsetprivacy.data.validation import check_allowed
from subsetprivacy.design import Design
from subsetprivacy.errors import CodeError
from subsetprivacy.incidence import MAX_DENSE_BITS

_COUNT_BLOCK = 1 << 18


def count_codes(
    codes: IntArray, design: Design, weights: FloatArray | None = None, *, frequency: bool = True
) -> SubsetCounts:
    """Count codes. With weights, sum the weights (and their squares if they are sampling weights)."""
    width = design.code_bits
    dense = width <= MAX_DENSE_BITS and 1 << width <= max(8 * len(codes), 1 << 10)
    if weights is None:
        cells, tally = _tally(codes, design) if dense else np.unique(codes, return_counts=True)
        _check_counted(cells, codes, design)
        return as_joint(SubsetCounts.trusted(cells, tally, design))
    check_allowed(codes, design)
    cells, inverse = (np.arange(1 << width), codes) if dense else np.unique(codes, return_inverse=True)
    sums = np.bincount(inverse, weights, minlength=len(cells))
    kept = np.flatnonzero(sums)
    if frequency:
        return as_joint(SubsetCounts.trusted(cells[kept], np.rint(sums[kept]).astype(np.int64), design))
    squares = np.bincount(inverse, weights**2, minlength=len(cells)).astype(np.float64)
    return as_joint(SubsetCounts.trusted(cells[kept], sums[kept], design, squares[kept]))


def _tally(codes: IntArray, design: Design) -> tuple[IntArray, IntArray]:
    """Return the distinct codes and their counts, from an array with a cell per code, filled in cache-sized blocks."""
    cells = 1 << design.code_bits
    block = max(_COUNT_BLOCK, 4 * cells)
    tally = np.zeros(cells, np.int64)
    for start in range(0, len(codes), block):
        try:
            tally += np.bincount(codes[start : start + block], minlength=cells)
        except (ValueError, MemoryError):  # negative, or beyond the last cell: checking first would take a fifth longer
            break
    else:
        distinct = np.flatnonzero(tally)
        return distinct, tally[distinct]
    check_allowed(codes, design)  # raised outside of the loop: the inner message shows the size of a code
    raise CodeError("`codes` must be subset codes; got other values.")


def _check_counted(distinct: IntArray, codes: IntArray, design: Design) -> None:
    """Check the distinct codes, and all codes only if an error must name the row."""
    try:
        check_allowed(distinct, design)
        return
    except CodeError:
        pass
    check_allowed(codes, design)
