"""Tests from tables of subsets: independence, the same distribution in groups, independence given a third variable."""

from subsetprivacy.independence.homogeneity import homogeneity_test
from subsetprivacy.independence.pairs import PairTests
from subsetprivacy.independence.result import IndependenceResult
from subsetprivacy.independence.strata import conditional_independence_test
from subsetprivacy.independence.testing import independence_test

__all__ = [
    "IndependenceResult",
    "PairTests",
    "conditional_independence_test",
    "homogeneity_test",
    "independence_test",
]
