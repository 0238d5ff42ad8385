"""Tests from tables of subsets: independence, conditional independence, homogeneity of groups, and trend."""

from subsetprivacy.independence.homogeneity import homogeneity_test
from subsetprivacy.independence.pairs import PairTests
from subsetprivacy.independence.result import IndependenceResult
from subsetprivacy.independence.strata import conditional_independence_test
from subsetprivacy.independence.testing import independence_test
from subsetprivacy.independence.trend import trend_test
from subsetprivacy.independence.trend_result import TrendResult

__all__ = [
    "IndependenceResult",
    "PairTests",
    "TrendResult",
    "conditional_independence_test",
    "homogeneity_test",
    "independence_test",
    "trend_test",
]
