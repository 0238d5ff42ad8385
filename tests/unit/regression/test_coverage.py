"""Intervals and tests of regressions keep their level. The whole tables: docs/measured-levels.md."""

import numpy as np
import pytest
import regression_coverage as simulated

pytestmark = pytest.mark.slow
REPLICATIONS = 1000


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("warner, p = 2", 2000),
        ("pairs, p = 3", 500),
        ("uniform, p = 4", 2000),
        ("hadamard, p = 4", 2000),
        ("uniform, p = 5", 2000),
        ("partition in 3 groups, p = 6", 2000),
        ("partition in 3 groups, p = 8", 2000),
    ],
)
def test_intervals_hold_the_truth(name, n):
    result = simulated.coverage(name, n, REPLICATIONS)
    assert result.separated <= 20
    # The mean over the coefficients; each alone has a standard error of 0.7 points.
    assert 0.93 <= result.wald.mean() <= 0.97
    assert 0.925 <= result.robust.mean() <= 0.975
    assert result.wald.min() >= 0.92
    assert result.robust.min() >= 0.92
    assert 0.92 <= result.shares.mean() <= 0.97
    assert 0.02 <= result.specification <= 0.08


@pytest.mark.parametrize("n", simulated.SIZES)
def test_tests_of_a_term_without_effect(n):
    result = simulated.level("uniform, p = 4", n, REPLICATIONS)
    assert 0.03 <= result.rejected["lr"] <= 0.08
    assert result.rejected["wald"] <= 0.08
    assert result.rejected["robust"] <= 0.08


def test_the_specification_test_finds_a_square():
    result = simulated.power("uniform, p = 4", 2000, 200, bent=0.6)
    assert result.rejected["specification"] > 0.5


@pytest.mark.parametrize("n", simulated.SIZES)
def test_proportional_odds(n):
    result = simulated.ordinal("uniform, p = 4", n, REPLICATIONS)
    assert result["tested"] == result["used"] == REPLICATIONS
    assert np.all((result["wald"] >= 0.925) & (result["wald"] <= 0.975))
    assert 0.03 <= result["proportionality"] <= 0.08
