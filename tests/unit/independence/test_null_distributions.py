"""The law of a statistic under the null hypothesis: p-values, their error, costs and budgets."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN3, WARNER

import subsetprivacy as sp
from subsetprivacy.errors import BudgetWarning
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.null_distributions import (
    NullDistribution,
    PermutationOptions,
    affordable,
    cost,
    null_distribution,
    simulated,
)
from subsetprivacy.independence.tables import drawing
from subsetprivacy.messages import NoteKind

BOTH = sp.product({"x": ASKED, "y": GIVEN3})
W = np.outer([0.1, 0.2, 0.3, 0.4], [0.5, 0.3, 0.2]).ravel()


def crossed(n=200, seed=1):
    return cross(sp.simulate(BOTH, W, n, seed=seed))


def effort(permutations=99, budget=None, seed=1, progress=None):
    return PermutationOptions(permutations, budget, np.random.default_rng(seed), progress)


# p-values -----------------------------------------------------------------------------------------------------------


def test_the_observed_table_counts_among_random_ones():
    law = NullDistribution("permutation", np.array([1.0, 5.0, 2.0, 9.0]))
    assert [law.pvalue(t) for t in (10.0, 9.0, 5.0, 4.9, 0.0)] == [0.2, 0.4, 0.6, 0.6, 1.0]
    assert law.pvalue(np.array([[10.0], [2.0]])).tolist() == [[0.2], [0.8]]
    assert law.error(0.2) == pytest.approx(np.sqrt(0.2 * 0.8 / 4))


def test_of_all_tables_the_probabilities_add_up():
    law = NullDistribution("exact", np.array([1.0, 5.0, 2.0]), np.array([0.5, 0.2, 0.3]))
    assert [law.pvalue(t) for t in (5.0, 2.0, 1.5, 1.0)] == pytest.approx([0.2, 0.5, 0.5, 1.0])
    assert law.error(0.5) == 0
    assert law.pvalue(0.0) <= 1


def test_ties_that_only_rounding_breaks_count():
    law = NullDistribution("permutation", np.full(9, 100.0))
    assert law.pvalue(100.0 + 1e-9) == 1
    assert law.pvalue(100.01) == 0.1
    negative = NullDistribution("permutation", np.full(9, -3.0))
    assert negative.pvalue(-3.0 + 1e-9) == 1


def test_a_limit_law_has_no_error():
    assert np.isnan(NullDistribution("asymptotic", np.empty(0)).error(0.3))


# Kinds --------------------------------------------------------------------------------------------------------------


def test_no_tables_where_none_are_wanted():
    assert null_distribution([crossed()], "pearson", "asymptotic", effort()).kind == "asymptotic"
    assert null_distribution([crossed()], "pearson", "permutation", effort(0)).kind == "asymptotic"


def test_few_tables_are_all_looked_at_only_if_time_allows():
    two = sp.product({"x": WARNER, "y": WARNER})
    small = cross(sp.JointCounts.of_table([[5, 2], [3, 4]], two))
    law = null_distribution([small], "lrt", "permutation", effort())
    assert (law.kind, len(law.statistics)) == ("exact", 7)
    assert law.weights.sum() == pytest.approx(1)
    short = 6.5 * cost(small, "lrt")
    with pytest.warns(BudgetWarning, match="none were drawn"):
        assert null_distribution([small], "lrt", "permutation", effort(budget=short)).kind == "asymptotic"
    enough = 3 * (cost(small, "lrt") + drawing(small, 3))
    assert null_distribution([small], "lrt", "permutation", effort(3, budget=enough)).kind == "permutation"
    assert null_distribution([small, small], "lrt", "permutation", effort(19)).kind == "permutation"


def test_simulated_people_follow_the_fitted_independent_table():
    part = crossed(400)
    tables = list(simulated(part, 200, np.random.default_rng(2)))
    assert len(tables) == 200
    total = {}
    for layout, n in tables:
        assert n.sum() == part.n
        for a, b, people in zip(layout.first.codes[layout.at_a], layout.second.codes[layout.at_b], n[0]):
            total[int(a), int(b)] = total.get((int(a), int(b)), 0) + people
    codes = [side.design.support()[0] for side in (part.first, part.second)]
    laws = []
    for side, every in zip((part.first, part.second), codes):
        mass = side.design.mu(every) * side.design.incidence(every).inner(side.fit.w)
        mass[every == side.design.missing_code] = 0
        laws.append(dict(zip(every.tolist(), (mass / mass.sum()).tolist())))
    for a in codes[0].tolist():
        for b in codes[1].tolist():
            expected = 200 * part.n * laws[0][a] * laws[1][b]
            assert abs(total.get((a, b), 0) - expected) <= 5 * np.sqrt(expected), (a, b)


def test_the_margins_of_simulated_people_vary():
    part = crossed(60)
    margins = {tuple(layout.first.n_a.tolist()) for layout, _ in simulated(part, 10, np.random.default_rng(3))}
    assert len(margins) > 1


def test_simulated_people_who_all_say_the_same_show_no_dependence():
    two = sp.product({"x": WARNER, "y": WARNER})
    small = cross(sp.JointCounts.of_table([[1, 0], [1, 1]], two))
    drawn = list(simulated(small, 30, np.random.default_rng(1)))
    assert len(drawn) == 30
    alike = [layout is None for layout, _ in drawn]
    assert 0 < sum(alike) < 30
    law = null_distribution([small], "pearson", "bootstrap", effort(30, None))
    assert len(law.statistics) == 30
    assert 0 < (law.statistics == 0).sum() < 30


def test_weights_that_leave_hardly_anybody_come_to_an_end():
    table = sp.crosstab(
        [3, 12, 3], [3, 12, 5], designs=[sp.uniform(range(4))] * 2, weights=[1e6, 1, 1], weights_kind="sampling"
    )
    result = sp.independence_test(table, "pearson", permutations=19, seed=1)
    assert result.null == "bootstrap"
    assert 0 < result.pvalue <= 1


def test_simulated_tables_of_many_subsets_hold_only_those_that_occur():
    wide = sp.uniform(range(16))
    codes = sp.simulate(wide, np.full(16, 1 / 16), 400, seed=1)
    rows = np.repeat(codes.codes, codes.counts)
    table = sp.crosstab(rows, rows[::-1], designs=[wide, wide], weights=np.ones(400), weights_kind="sampling")
    result = sp.independence_test(table, "pearson-conditional", permutations=3, seed=1)
    assert result.permutations == 3
    large = sp.uniform(range(24))  # subsets that cannot even be listed
    codes = sp.simulate(large, np.full(24, 1 / 24), 300, seed=1)
    rows = np.repeat(codes.codes, codes.counts)
    table = sp.crosstab(rows, rows[::-1], designs=[large, large], weights=np.ones(300), weights_kind="sampling")
    assert sp.independence_test(table, "pearson-conditional", permutations=3, seed=1).permutations == 3


# Costs --------------------------------------------------------------------------------------------------------------


def test_larger_tables_cost_more():
    large = cross(sp.simulate(sp.product({"x": sp.uniform(range(7)), "y": ASKED}), np.full(28, 1 / 28), 5000, seed=1))
    for method in ("lrt", "lrt-mom", "pearson", "pearson-conditional", "bonferroni"):
        assert 0 < cost(crossed(), method) < cost(large, method)
        assert cost(large, method) <= cost(large, "lrt")


@every_case(
    ("seconds", "wanted", "budget", "method", "done"),
    [
        (1.0, 999, None, "lrt", 999),
        (1.0, 999, 999.0, "lrt", 999),
        (1.0, 999, 998.0, "lrt", 899),
        (1.0, 999, 100.0, "lrt", 99),
        (1.0, 999, 98.9, "lrt", 0),
        (1.0, 999, 98.9, "lrt-mom", 99),
        (1.0, 19, 15.0, "lrt", 0),
        (1.0, 19, 15.0, "lrt-mom", 19),
        (1.0, 150, 120.0, "lrt", 99),
    ],
)
def test_what_a_budget_allows(seconds, wanted, budget, method, done):
    if done == wanted and (budget is None or seconds * wanted <= budget):
        assert affordable(seconds, effort(wanted, budget)) == (done, ())
        return
    with pytest.warns(BudgetWarning, match=f"{wanted} tables would take about"):
        size, notes = affordable(seconds, effort(wanted, budget), always=method == "lrt-mom")
    assert size == done
    assert [note.kind for note in notes] == [NoteKind.BUDGET]
