"""What a design costs: people, against asking directly."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.likelihood import limit_covariance

MAX_CATEGORIES = 512


def bound(design: Design) -> float:
    """Return (p-1)/(S-1), the least that any design with this S costs at an even distribution."""
    return (design.p - 1) / (design.S - 1) if design.S > 1 else float("inf")


def cost(design: Design, w: FloatArray) -> float:
    """Return how many times the people of asking directly maximum likelihood needs for the same squared error.

    Of a covered design the people are counted, not the dummy rows, and it is
    an upper bound: the number of dummies is taken for random. Not a
    number where that is not computed: too many categories or subsets, a design
    that is not identifiable, or a category without weight.
    """
    direct = float(1 - w @ w)
    if not design.enumerable or design.p > MAX_CATEGORIES or not design.is_identifiable or w.min() <= 0 or direct <= 0:
        return np.nan
    return float(np.trace(limit_covariance(design, w))) / direct
