"""Membership of categories in subsets, for the 2 x 2 tables of pairs of categories (`tab:bonferroni_table`)."""

import numpy as np

from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.design import Design


def memberships(design: Design, codes: IntArray) -> FloatArray:
    """Return 1 if a subset contains a category, else 0. With a secret bit, categories are pairs of value and bit."""
    asked = design.enlarged
    return asked.holds(codes[:, None], np.arange(asked.p)).astype(np.float64)


def two_by_two(both: FloatArray, first: FloatArray, second: FloatArray, total: FloatArray) -> FloatArray:
    """Return the 2 x 2 tables of all pairs, (..., p, q, 2, 2), from the numbers with both, with each, and in total."""
    in_first, in_second, all_of_them = first[..., :, None], second[..., None, :], total[..., None, None]
    neither = all_of_them - in_first - in_second + both
    cells = np.stack([both, in_first - both, in_second - both, neither], axis=-1)
    return cells.reshape(*both.shape, 2, 2)


def position(design: Design, label: Label) -> int:
    """Return the column of a category among the memberships."""
    asked = design.enlarged
    return asked.categories.index(label)
