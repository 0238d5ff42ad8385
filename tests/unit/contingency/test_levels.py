"""Tests of log-linear models keep their level, and intervals their coverage."""

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


@pytest.mark.slow
@pytest.mark.parametrize("name", simulated.INDEPENDENT)
@pytest.mark.parametrize("margins", simulated.MARGINS)
def test_parameters_and_the_test_of_fit_with_few_people(name, margins):
    for model, (profile, _, infinite, rejected, *_) in simulated.fit_levels(name, margins, 500, 100).items():
        assert 0.91 < profile < 0.99, model
        assert infinite < 0.35, model
        if model != "saturated":
            assert rejected < 0.13, model  # wanted: up to 8%, and two standard errors of 100 samples
