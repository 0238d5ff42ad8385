"""The lines of docs/errata.md about contingency tables and tests, proved."""

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.design.secret_bit import uniform_with_bit
from subsetprivacy.examples import URN, adult

LABELS = list("abcd")
BOTH = sp.product({"x": sp.uniform(LABELS), "y": sp.uniform(LABELS)})
URN_W = np.array(list(URN.values()))
EVEN = np.full(4, 0.25)


def null_tables(w, n, size, seed):
    return sp.simulate_many(BOTH, np.outer(w, w).ravel(), n, size, seed=seed)


def quick(table, method, df="corrected"):
    return sp.independence_test(table, method, permutations=0, df=df)


def test_pearson_loses_a_degree_of_freedom_for_every_parameter():
    # 36 pairs of subsets; 1 for their sum, 3 + 3 for the margins.
    tests = [quick(table, "pearson") for table in null_tables(EVEN, 5000, 400, seed=1)]
    statistics = np.array([test.statistic for test in tests])
    error = statistics.std() / 20
    assert {test.df for test in tests} == {29}
    assert abs(statistics.mean() - 29) < 4 * error
    assert statistics.mean() < 36 - 8 * error
    small = list(null_tables(EVEN, 1000, 400, seed=2))
    printed = [quick(table, "pearson", df="paper") for table in small]
    assert {test.df for test in printed} == {36}
    assert np.mean([test.asymptotic_pvalue <= 0.05 for test in printed]) < 0.02
    right = [quick(table, "pearson").asymptotic_pvalue <= 0.05 for table in small]
    assert 0.025 < np.mean(right) < 0.085


def test_the_limit_law_of_the_likelihood_ratio_fails_near_the_boundary():
    pvalues = [quick(table, "lrt").asymptotic_pvalue for table in null_tables(URN_W, 1000, 400, seed=3)]
    assert np.mean(np.array(pvalues) <= 0.05) < 0.025


def test_moments_leave_the_likelihood_ratio_undefined_in_half_of_the_runs():
    undefined = negative = 0
    tables = null_tables(URN_W, 1000, 300, seed=4)
    for table in tables:
        raw = sp.estimate(table, "mom").w
        undefined += table.incidence.inner(raw).min() <= 0
    for table in list(tables)[:50]:  # projected, mixed and permuted it always has a p-value
        result = sp.independence_test(table, "lrt-mom", permutations=39, seed=1)
        assert np.isfinite(result.statistic)
        assert 0 < result.pvalue <= 1
        assert np.isnan(result.asymptotic_pvalue)
        negative += result.statistic < 0
    assert 0.35 < undefined / 300 < 0.65
    assert negative > 5  # it is no maximum


def test_given_the_questions_pearson_is_more_powerful():
    W = np.full((4, 4), 1 / 16) + 0.05 * np.eye(4)
    W /= W.sum()
    tables = sp.simulate_many(BOTH, W.ravel(), 2000, 400, seed=5)
    result = {
        method: np.mean([quick(table, method).asymptotic_pvalue <= 0.05 for table in tables])
        for method in ("pearson", "pearson-conditional", "lrt")
    }
    assert result["pearson"] + 0.02 < result["pearson-conditional"] < result["lrt"]


def test_subsets_of_two_fair_bits_take_nine_times_the_sample():
    # The value beside a fair bit as one variable of four categories, as in the paper: nine degrees of freedom.
    sex_income = adult.sex_income / adult.sex_income.sum()
    pairs = np.kron(sex_income, np.full((2, 2), 0.25))
    as_printed = sp.independence_power((sp.uniform(range(4)), sp.uniform(range(4))), pairs, target=0.8)
    seen = sp.independence_power((sp.nonprivate(range(4)), sp.nonprivate(range(4))), pairs, target=0.8)
    plain = sp.independence_power((sp.nonprivate(range(2)), sp.nonprivate(range(2))), sex_income, target=0.8)
    assert (plain.n, seen.n, as_printed.n) == (153, 304, 2734)
    assert as_printed.n / seen.n == pytest.approx(9, abs=0.02)
    # The bits' law is known: held, one degree of freedom is left, and half of the people are enough.
    bit = uniform_with_bit(["Female", "Male"], 0.5), uniform_with_bit(["low", "high"], 0.5)
    held = sp.independence_power(bit, sex_income, target=0.8)
    assert (held.n, held.df) == (1371, 1)


@pytest.mark.parametrize("method", ["pearson", "pearson-conditional"])
def test_pearson_without_privacy_is_the_textbooks(method):
    from scipy.stats import chi2_contingency

    n = np.array([[9592, 1179], [15128, 6662]])
    plain = sp.product({"sex": sp.nonprivate(["f", "m"]), "income": sp.nonprivate(["low", "high"])})
    result = quick(sp.JointCounts.of_table(n, plain), method)
    right = chi2_contingency(n, correction=False)
    assert result.statistic == pytest.approx(right.statistic, rel=1e-10)
    assert result.df == right.dof
