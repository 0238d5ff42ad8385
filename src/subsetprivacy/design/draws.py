"""Exact draws of whole numbers, subsets and weighted rows from uniform words."""

from fractions import Fraction

import numpy as np

from subsetprivacy._types import AnyArray, FloatArray, IntArray, RandomSource, WordArray


def below(n: int, bound: int, source: RandomSource) -> IntArray:
    """Draw n whole numbers uniformly from 0 … bound-1, and redraw the bits that give a larger number."""
    if bound == 1:
        return np.zeros(n, np.int64)
    need = (bound - 1).bit_length()
    width = next(w for w in (8, 16, 32, 64) if w >= need)
    shift = np.dtype(f"u{width // 8}").type(width - need)
    drawn = source.bits(n, width) >> shift
    rejected = np.flatnonzero(drawn >= bound)
    while rejected.size:
        fresh = source.among(rejected).bits(rejected.size, width) >> shift
        drawn[rejected] = fresh
        rejected = rejected[fresh >= bound]
    return drawn.astype(np.int64)


def subsets(n: int, items: int, k: int, source: RandomSource) -> IntArray:
    """Draw n masks uniformly among all k-subsets of the items (Floyd's method: k draws each)."""
    masks = np.zeros(n, np.int64)
    bit = np.int64(1)
    for top in range(items - k, items):
        pick = below(n, top + 1, source)
        taken = masks >> pick & 1 == 1
        masks |= bit << np.where(taken, top, pick)
    return masks


def with_member(others: IntArray, x: AnyArray) -> IntArray:
    """Return masks over p categories from masks over the p-1 others: insert bit x and shift the higher bits up."""
    low = (np.int64(1) << x) - 1
    return (others & low) | (low + 1) | ((others & ~low) << 1)


def within(masks: IntArray, chosen: IntArray, p: int) -> IntArray:
    """Return the subset of each mask that `chosen`, a mask over the ranks of its members, selects."""
    out, rank = np.zeros_like(masks), np.zeros_like(masks)
    for j in range(p):
        inside = masks >> j & 1
        out |= (inside & (chosen >> rank)) << j
        rank += inside
    return out


def thresholds(weights: FloatArray) -> WordArray:
    """Return the interior cumulative weights as 64-bit integers, computed exactly."""
    exact = [Fraction(float(weight)) for weight in weights]
    total, running = sum(exact, Fraction(0)), Fraction(0)
    table = []
    for weight in exact[:-1]:
        running += weight
        # 2**64 does not fit in 64 bits. A cumulative weight that rounds to it leaves nothing for later entries.
        table.append(min(round(running * 2**64 / total), 2**64 - 1))
    return np.array(table, dtype=np.uint64)


def pick(table: WordArray, words: AnyArray) -> IntArray:
    """Return for each uniform 64-bit word the index it selects."""
    return np.searchsorted(table, words, side="right")
