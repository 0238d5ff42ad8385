"""Which distributions a design, or a sample, can tell apart (`pd`, `unique`, `thm_identi`).

Whether rows 1_a span the space is a question about integers, so it is
answered in integers: no tuned cut-off decides it.
"""

from fractions import Fraction
from math import lcm

import numpy as np

from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.incidence import incidence
from subsetprivacy.subsets import Categories

_SAFE_CONDITION = 1e8


def null_direction(codes: IntArray, p: int) -> IntArray | None:
    """Return integers u, not all zero, with 1_a'u = 0 for every code, or None if there are none.

    Moving along u changes the distribution and leaves the probability of
    every subset as it was.
    """
    gram = incidence(codes, p).gram(np.ones(len(codes)))
    if len(codes) >= p and np.linalg.cond(gram) < _SAFE_CONDITION:
        return None
    return _integer_kernel([[round(float(entry)) for entry in row] for row in gram])


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


def describe_direction(direction: IntArray | FloatArray, categories: Categories) -> str:
    """Say in category names what moves where along a null direction."""

    def side(sign: int) -> str:
        parts = []
        for amount, label in zip(direction, categories, strict=True):
            if amount * sign > 0:
                parts.append(str(label) if abs(amount) == 1 else f"{abs(amount)}·{label}")
        return "{" + ", ".join(parts) + "}"

    return f"moving weight from {side(-1)} to {side(+1)} changes no subset's probability"


def as_named(direction: IntArray, categories: Categories) -> dict[Label, int]:
    """Return the direction with its category names, zeros left out."""
    return {label: int(u) for label, u in zip(categories, direction, strict=True) if u}
