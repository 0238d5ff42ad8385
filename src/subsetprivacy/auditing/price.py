"""The cost of a design in people, compared with asking directly."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.likelihood import limit_covariance

MAX_CATEGORIES = 512


def bound(design: Design) -> float:
    """Return (p-1)/(S-1), the least cost of any design with this S at a uniform distribution."""
    return (design.p - 1) / (design.S - 1) if design.S > 1 else float("inf")


def cost(design: Design, w: FloatArray) -> float:
    """Return how many times as many people as asking directly maximum likelihood needs for the same squared error.

    For a covered design this counts people, not dummy rows, and it is an upper
    bound, because the number of dummy rows is treated as random. It is NaN if
    there are too many categories or subsets, if the design is not
    identifiable, or if a category has no weight.
    """
    direct = float(1 - w @ w)
    if not design.enumerable or design.p > MAX_CATEGORIES or not design.is_identifiable or w.min() <= 0 or direct <= 0:
        return np.nan
    return float(np.trace(limit_covariance(design, w))) / direct
