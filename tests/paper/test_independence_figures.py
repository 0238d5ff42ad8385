"""The level of every test of independence: tables without dependence are rejected as often as was said (`sec_2D`)."""

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.independence.testing import METHODS

BOTH = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("rstu"))})
MARGINS = {
    "even": np.full(4, 0.25),
    "skewed": np.array([0.7, 0.2, 0.07, 0.03]),
    "urn": np.array([0.01, 0.1, 0.2, 0.69]),
}


def tables_without_dependence(margin, n, size, seed):
    w = MARGINS[margin]
    return sp.simulate_many(BOTH, np.outer(w, w[::-1]).ravel(), n, size, seed=seed)


def outcomes(tables, method, permutations):
    """Return statistics, p-values and asymptotic p-values of the tables."""
    found = [sp.independence_test(table, method, permutations=permutations, seed=k) for k, table in enumerate(tables)]
    assert {result.permutations for result in found} == {permutations}
    return np.array([(result.statistic, result.pvalue, result.asymptotic_pvalue) for result in found]).T


def share(pvalues):
    return float(np.mean(pvalues <= 0.05))


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1000, 5000])
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("method", METHODS)
def test_level_is_held_at_every_size_and_margin(method, margin, n, record_property):
    tables = tables_without_dependence(margin, n, 2000, seed=np.random.SeedSequence([n, len(margin)]))
    statistics, pvalues, limits = outcomes(tables, method, 199)
    record_property("rate", share(pvalues))
    record_property("asymptotic", share(limits))
    if method == "pearson":
        printed = [sp.independence_test(table, "pearson", df="paper", permutations=0).pvalue for table in tables]
        record_property("as printed", share(np.array(printed)))
    print(f"{method:20} {margin:7} {n:5}: {share(pvalues):.4f}, by the limit law {share(limits):.4f}")
    assert np.isfinite(statistics).all()
    assert np.isfinite(pvalues).all()
    if method != "lrt-mom":  # moments are no maximum
        assert statistics.min() >= -1e-9
        assert np.isfinite(limits).all()
    assert 0.035 <= share(pvalues) <= 0.065


@pytest.mark.parametrize("method", METHODS)
def test_level_of_a_hundred_small_tables(method):
    statistics, pvalues, _ = outcomes(tables_without_dependence("skewed", 300, 100, seed=3), method, 99)
    assert np.isfinite(statistics).all()
    assert share(pvalues) <= 0.12  # 5 or so are expected; 13 or more have probability .001
    assert 0.4 <= pvalues.mean() <= 0.6  # evenly spread over (0, 1]: three standard errors are .09
