"""Which distributions a design, or a sample, can tell apart (`pd`, `unique`, `thm_identi`).

Whether the rows 1_a span the space is decided in exact integer arithmetic,
without a numerical cut-off.
"""

from fractions import Fraction
from math import lcm

import numpy as np

from subsetprivacy._types import AnyArray, IntArray, Label
from subsetprivacy.errors import TooLargeError
from subsetprivacy.incidence import MAX_MATRIX, Incidence
from subsetprivacy.subsets import Categories

_SAFE_CONDITION = 1e8
_SEEN = 1e-9  # below it an entry of a direction is rounding


def null_direction(rows: Incidence, *, keep_sum: bool = False) -> AnyArray | None:
    """Return u, not all zero, with r_a'u = 0 for every row, or None if there is none.

    Moving along u changes the distribution but not the probability of any
    subset. Rows of zeros and ones give integers. With `keep_sum`, only
    directions that keep the sum of w are considered.
    """
    if rows.p > MAX_MATRIX:
        raise TooLargeError(f"uniqueness must be judged with at most {MAX_MATRIX} categories; got {rows.p}.")
    gram = rows.gram(np.ones(rows.rows)) + keep_sum
    if rows.rows + keep_sum >= rows.p and np.linalg.cond(gram) < _SAFE_CONDITION:
        return None
    whole = np.rint(gram)
    if np.array_equal(whole, gram):
        return _integer_kernel([[int(entry) for entry in row] for row in whole])
    values, vectors = np.linalg.eigh(gram)
    # Rows with other entries come from given numbers, not sums: dependent rows are so up to rounding.
    return vectors[:, 0] / np.abs(vectors[:, 0]).max() if values[0] < 1e-12 * values[-1] else None


def _integer_kernel(matrix: list[list[int]]) -> IntArray | None:
    """Return one integer vector of the kernel by exact elimination, or None if the matrix is regular."""
    p = len(matrix)
    rows = [[Fraction(entry) for entry in row] for row in matrix]
    pivots: list[int] = []
    for column in range(p):
        rank = len(pivots)
        swap = next((r for r in range(rank, p) if rows[r][column]), None)
        if swap is None:
            return _back_substitute(rows, pivots, column)
        rows[rank], rows[swap] = rows[swap], rows[rank]
        lead = rows[rank][column]
        rows[rank] = [entry / lead for entry in rows[rank]]
        for r in range(p):
            factor = rows[r][column]
            if r != rank and factor:
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[rank], strict=True)]
        pivots.append(column)
    return None


def _back_substitute(rows: list[list[Fraction]], pivots: list[int], free: int) -> IntArray:
    solution = [Fraction(0)] * len(rows)
    solution[free] = Fraction(1)
    for rank, column in enumerate(pivots):
        solution[column] = -rows[rank][free]
    scale = lcm(*(entry.denominator for entry in solution))
    return np.array([int(entry * scale) for entry in solution], dtype=object)


def describe_direction(direction: AnyArray, categories: Categories) -> str:
    """Return a null direction in words, as weight that moves between categories."""

    def side(sign: int) -> str:
        parts = []
        for amount, label in zip(direction, categories, strict=True):
            if amount * sign > _SEEN:
                parts.append(str(label) if abs(amount) == 1 else f"{abs(amount):.4g}·{label}")
        return "{" + ", ".join(parts) + "}"

    return f"moving weight from {side(-1)} to {side(+1)} changes no subset's probability"


def as_named(direction: AnyArray, categories: Categories) -> dict[Label, float]:
    """Return the direction by category name, without zeros."""
    return {label: u for label, u in zip(categories, direction.tolist(), strict=True) if abs(u) > _SEEN}
