"""Tests of log-linear models keep their level, and intervals of conditional log odds ratios their coverage."""

import loglinear_levels as simulated
import pytest

REPLICATIONS = 1000
# Wanted: 4 to 6.5% of rejections, 93 to 97% of coverage; and two standard errors of so many samples.
LEVEL, COVERAGE = (0.026, 0.081), (0.916, 0.982)


@pytest.mark.slow
@pytest.mark.parametrize("population", ["3 x 2 x 2, pairs, warner, seen", "4 x 2 x 2, uniform, seen, warner"])
def test_levels_and_coverage(population):
    nested, saturated, coverage, infinite = simulated.measured(population, 2000, REPLICATIONS, first=10_000)
    assert LEVEL[0] < nested < LEVEL[1]
    assert LEVEL[0] < saturated < LEVEL[1]
    assert COVERAGE[0] < coverage < COVERAGE[1]
    assert infinite < 0.01
