"""Counts of more people than there are: nothing overflows, and statistics grow in proportion."""

import warnings

import numpy as np
import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy.errors import BudgetWarning
from subsetprivacy.independence.testing import METHODS

U4, U5 = sp.uniform(list("abcd")), sp.uniform(list("abcde"))
STEERED = np.array([30, 50, 25, 30, 20, 25])
TIMES = [10**7, 10**8, 10**10]  # 1.8e9, 1.8e10 and 1.8e12 people


def of(people, design=U4):
    return sp.SubsetCounts([3, 12, 5, 10, 6, 9], people, design)


@every_case("times", TIMES)
def test_the_draws(times):
    once, many = sp.check_draws(of(STEERED)), sp.check_draws(of(times * STEERED))
    assert many.statistic == pytest.approx(times * once.statistic, rel=1e-12)
    assert many.df == once.df
    assert 0 < many.pvalue < 1e-300


@every_case("times", TIMES)
def test_draws_that_are_as_stated_but_for_a_few_people(times):
    # The squares of these counts are above 1e24, and their sum less n must leave a few.
    n = 2 * times
    asked = np.array([n + 10**4, n, n, n, n, n - 10**4])
    result = sp.check_draws(sp.SubsetCounts([3, 5, 9, 12, 10, 6], asked, U4))
    assert result.statistic == pytest.approx(2 * (10**8) / (2 * n), rel=1e-6)


@every_case("times", TIMES)
def test_the_answers(times):
    counts = sp.simulate(U5, [0.3, 0.3, 0.2, 0.1, 0.1], 5000, seed=1)
    once = sp.check_honesty(counts, method="chi-square")
    many = sp.check_honesty(sp.SubsetCounts(counts.codes, times * counts.counts, U5), method="chi-square")
    for part, larger in zip(once.parts, many.parts, strict=True):
        # The start of the fit is moved inwards by a part of a person, which matters a little to a sample of 5000.
        assert larger.statistic == pytest.approx(times * part.statistic, rel=1e-3)
    assert many.random_share_se == pytest.approx(once.random_share_se / np.sqrt(times), rel=1e-3)


@every_case("times", TIMES)
@every_case("method", [method for method in METHODS if method != "lrt-mom"])
def test_independence(method, times):
    design = sp.product({"x": U4, "y": sp.uniform(list("rstu"))})
    rng = np.random.default_rng(2)
    table = rng.integers(50, 150, (6, 6))
    once = sp.independence_test(sp.JointCounts.of_table(table, design), method, null="asymptotic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        many = sp.independence_test(sp.JointCounts.of_table(times * table, design), method)
    assert many.null == "asymptotic"
    assert many.statistic == pytest.approx(times * once.statistic, rel=1e-4)


@every_case("times", TIMES)
def test_groups(times):
    once, many = (sp.homogeneity_test(of(k * STEERED), of(k * STEERED[::-1]), null="asymptotic") for k in (1, times))
    assert many.statistic == pytest.approx(times * once.statistic, rel=1e-4)


@every_case("times", TIMES)
@every_case("method", ["mle", "mom", "mom-conditional", "mom-uniform"])
def test_estimates(method, times):
    once, many = (sp.estimate(of(k * STEERED), method) for k in (1, times))
    assert many.w == pytest.approx(once.w, abs=1e-7)
    assert many.se == pytest.approx(once.se / np.sqrt(times), rel=1e-6)
    assert many.n == 180 * times
