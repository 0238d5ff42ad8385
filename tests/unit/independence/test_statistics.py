"""The five statistics against sums written out, SciPy and the conic solver."""

from importlib.util import find_spec

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN, GIVEN3, RECORDED, WARNER
from problems import quietly, with_full_question
from scipy.stats import chi2, chi2_contingency

import subsetprivacy as sp
from subsetprivacy.independence import crossing
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.statistics import STATISTICS
from subsetprivacy.mechanism.simulate import simulate

U4, V4 = sp.uniform(list("abcd")), sp.uniform(list("rstu"))
MIXED = {
    "yes/no twice": (ASKED, V4),
    "yes/no and unreadable": (ASKED, GIVEN3),
    "unreadable twice": (GIVEN, sp.fixed_size(list("xyz"), 2)),
    "recorded groups and Warner": (RECORDED, WARNER),
    "Warner twice": (WARNER, sp.warner(["low", "high"], 0.8)),
    "recorded and unreadable": (RECORDED, GIVEN3),
    "hadamard and told": (sp.hadamard(range(6), 15), sp.nonprivate(["u", "v", "w"])),
    "asked in vain at times": (with_full_question(), V4),
}


def dependent(p, q, seed=5):
    W = np.random.default_rng(seed).random((p, q)) ** 2
    return W / W.sum()


def table_of(one, two, n=700, seed=1):
    both = sp.product({"x": one, "y": two})
    return simulate(both, dependent(one.p, two.p).ravel(), n, seed=seed)


def statistic(table, method):
    part = cross(table)
    return float(STATISTICS[method](part.layout, part.counts[None, :])[0])


def cells(table):
    """People by pair of codes, in a dict: {(a, b): n}."""
    split = table.design.split(table.observed_codes)
    return dict(zip(zip(*(part.tolist() for part in split)), table.n_a.tolist()))


def margins(table):
    return [sp.estimate(table.margin(name, complete=True), tol=1e-13).w for name in table.names]


def informative(design):
    codes = design.support()[0]
    return codes[codes != design.missing_code].tolist()


def size(design, code, w):
    return float(design.incidence(np.array([code])).inner(w)[0])


def probabilities(design, w):
    """The probability of every subset that says something, given that one does."""
    mass = {a: float(design.mu(np.array([a]))[0]) * size(design, a, w) for a in informative(design)}
    total = sum(mass.values())
    return {a: m / total for a, m in mass.items()}


# Nonprivate tables are ordinary ones --------------------------------------------------------------------------------

PLAIN = {
    "2 x 2": [[10, 25], [31, 7]],
    "3 x 4": [[10, 20, 5, 7], [3, 9, 12, 4], [30, 8, 2, 2]],
    "empty cells": [[10, 0, 5], [0, 9, 12]],
}


def plain(n):
    rows, columns = [f"a{k}" for k in range(len(n))], [f"b{k}" for k in range(len(n[0]))]
    return sp.JointCounts.of_table(n, sp.product({"x": sp.nonprivate(rows), "y": sp.nonprivate(columns)}))


@every_case("n", PLAIN.values(), ids=PLAIN)
@every_case(
    ("method", "power"),
    [("pearson", "pearson"), ("pearson-conditional", "pearson"), ("lrt", "log-likelihood"), ("lrt-mom", None)],
)
def test_told_values_give_the_ordinary_tests(n, method, power):
    result = sp.independence_test(plain(n), method, null="permutation", permutations=9, seed=1)
    expected = chi2_contingency(n, correction=False, lambda_=power or "log-likelihood")
    if power is None:  # mixed with 1/n of independence on purpose: near, and below
        assert 0.9 * expected.statistic < result.statistic < expected.statistic
        return
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert result.df == expected.dof
    assert result.asymptotic_pvalue == pytest.approx(expected.pvalue, rel=1e-9)


def test_told_pairs_in_bonferronis_test_are_ordinary_2_x_2_tables():
    n = np.array(PLAIN["3 x 4"])
    result = sp.independence_test(plain(n), "bonferroni", permutations=0)
    for i in range(3):
        for j in range(4):
            row, column = n[i].sum(), n[:, j].sum()
            two = [[n[i, j], row - n[i, j]], [column - n[i, j], n.sum() - row - column + n[i, j]]]
            assert result.pairs.statistics[i, j] == pytest.approx(chi2_contingency(two, correction=False).statistic)
    assert result.statistic == result.pairs.statistics.max()
    assert result.asymptotic_pvalue == pytest.approx(min(1, 12 * chi2.sf(result.statistic, 1)))
    assert result.pairs.pvalues == pytest.approx(np.minimum(1, 12 * chi2.sf(result.pairs.statistics, 1)))
    assert result.df == 1


# Pearson, written out -----------------------------------------------------------------------------------------------


@every_case("pair", MIXED.values(), ids=MIXED)
def test_pearson_sums_over_the_whole_support(pair):
    table = table_of(*pair, n=150)
    n_ab, (wx, wy) = cells(table), margins(table)
    one, two = (probabilities(design, w) for design, w in zip(pair, (wx, wy)))
    expected = {(a, b): table.n * one[a] * two[b] for a in one for b in two}
    assert sum(expected.values()) == pytest.approx(table.n)
    summed = sum((n_ab.get(cell, 0) - e) ** 2 / e for cell, e in expected.items())
    assert statistic(table, "pearson") == pytest.approx(summed, rel=1e-6)


def stratum(design, code):
    """The question that a code answers, worked out from what the codes mean."""
    if design is RECORDED:
        return code // 3
    if design.is_independent:
        return min(code, int(design.complement(code)))
    return None


@every_case("pair", MIXED.values(), ids=MIXED)
def test_pearson_given_the_questions_is_a_sum_over_pairs_of_questions(pair):
    table = table_of(*pair, n=900)
    n_ab, (wx, wy) = cells(table), margins(table)
    asked = {}
    for (a, b), n in n_ab.items():
        question = stratum(pair[0], a), stratum(pair[1], b)
        asked[question] = asked.get(question, 0) + n
    total = freedom = 0
    for (k, l), n in asked.items():
        answers = [
            {a: size(design, a, w) for a in informative(design) if stratum(design, a) == question}
            if question is not None
            else probabilities(design, w)
            for design, w, question in zip(pair, (wx, wy), (k, l))
        ]
        assert [sum(answer.values()) for answer in answers] == pytest.approx([1, 1])
        freedom += len(answers[0]) * len(answers[1]) - 1
        total += sum(
            (n_ab.get((a, b), 0) - n * p * q) ** 2 / (n * p * q)
            for a, p in answers[0].items()
            for b, q in answers[1].items()
        )
    result = sp.independence_test(table, "pearson-conditional", null="asymptotic")
    assert result.statistic == pytest.approx(total, rel=1e-6)
    assert result.df == freedom - (pair[0].p - 1) - (pair[1].p - 1)


# Likelihood ratio ---------------------------------------------------------------------------------------------------


@every_case("pair", MIXED.values(), ids=MIXED)
@every_case("n", [40, 2000])
def test_likelihood_ratio_is_that_of_three_estimates(pair, n):
    table = table_of(*pair, n=n, seed=2)
    with quietly():
        joint = sp.estimate(table, tol=1e-12)
        alone = [sp.estimate(table.margin(name, complete=True), tol=1e-13) for name in table.names]
    result = 2 * (joint.loglik - sum(fit.loglik for fit in alone))
    assert statistic(table, "lrt") == pytest.approx(result, abs=2e-5)


@pytest.mark.parametrize("name", ["yes/no and unreadable", "recorded groups and Warner", "unreadable twice"])
def test_likelihood_ratio_is_that_of_the_conic_solver(name, need):
    need("cvxpy", find_spec("cvxpy") is not None, 'pip install ".[conic]"')
    table = table_of(*MIXED[name], n=300, seed=3)
    with quietly():
        alone = [table.margin(k, complete=True) for k in table.names]
        fits = [sp.estimate(part, method="conic") for part in (table, *alone)]
    result = 2 * (fits[0].loglik - fits[1].loglik - fits[2].loglik)
    assert statistic(table, "lrt") == pytest.approx(result, abs=1e-3)


def test_likelihood_ratio_with_more_categories_than_newtons_method_takes(monkeypatch):
    table = table_of(sp.uniform(range(5)), sp.uniform(range(4)), n=3000)
    by_newton = statistic(table, "lrt")
    monkeypatch.setattr("subsetprivacy.independence.statistics.MANY", 3)
    monkeypatch.setattr("subsetprivacy.estimation.mle.MANY", 3)
    assert statistic(table, "lrt") == pytest.approx(by_newton, abs=1e-3)


def projected(y):
    """The nearest distribution, by bisection."""
    low, high = y.min() - 1, y.max()
    for _ in range(200):
        level = (low + high) / 2
        low, high = (level, high) if np.maximum(y - level, 0).sum() > 1 else (low, level)
    return np.maximum(y - level, 0)


@every_case("pair", MIXED.values(), ids=MIXED)
def test_moments_in_the_likelihood_ratio(pair):
    table = table_of(*pair, n=250, seed=4)
    n = table.n
    Q = np.kron(*(design.informative_Q for design in pair))
    rows = np.array([
        np.kron(*(d.incidence(np.array([c])).inner(np.eye(d.p))[:, 0] for d, c in zip(pair, cell)))
        for cell in cells(table)
    ])  # fmt: skip
    n_ab = np.array(list(cells(table).values()))
    W = projected(np.linalg.solve(Q, n_ab @ rows / n))
    alone = []
    for k, design in enumerate(pair):
        margin = table.margin(table.names[k], complete=True)
        gamma = margin.incidence.spread(margin.shares)
        w = projected(np.linalg.solve(design.informative_Q, gamma))
        alone.append((1 - 1 / n) * w + 1 / n / design.p)
    W = (1 - 1 / n) * W + np.kron(*alone) / n
    expected = 2 * n_ab @ np.log(rows @ W / (rows @ np.kron(*alone)))
    assert statistic(table, "lrt-mom") == pytest.approx(expected, rel=1e-6)


# Bonferroni ---------------------------------------------------------------------------------------------------------


@every_case("pair", [(ASKED, GIVEN3), (RECORDED, V4), (WARNER, ASKED)])
def test_bonferronis_tables_are_the_aggregated_ones(pair):
    table = table_of(*pair)
    result = sp.independence_test(table, "bonferroni", permutations=19, seed=1).pairs
    for i, x in enumerate(result.rows):
        for j, y in enumerate(result.columns):
            two = table.aggregated(x, y)
            assert result.statistics[i, j] == pytest.approx(chi2_contingency(two, correction=False).statistic)
    assert result.pvalues.shape == result.statistics.shape


def test_a_category_that_every_subset_holds_cannot_be_compared():
    # Only subsets with "a" were reported: "is a in it?" is yes for everybody.
    table = sp.crosstab([3, 5, 9, 3, 5], [3, 12, 5, 10, 12], designs=[ASKED, V4])
    result = sp.independence_test(table, "bonferroni", permutations=0)
    assert result.pairs.statistics[0].tolist() == [0, 0, 0, 0]
    assert result.statistic > 0


# Many tables at once, and tables without a grid ----------------------------------------------------------------------


@every_case("method", STATISTICS)
@every_case("pair", [(ASKED, GIVEN3), (RECORDED, WARNER)])
def test_a_batch_is_its_tables_one_by_one(method, pair):
    part = cross(table_of(*pair, n=60))
    rng = np.random.default_rng(1)
    rows, columns = (side.n_a.astype(int) for side in (part.first, part.second))
    first, second = np.repeat(range(len(rows)), rows), np.repeat(range(len(columns)), columns)
    batch = np.zeros((7, *part.shape))
    for table in batch:
        np.add.at(table, (first, rng.permutation(second)), 1)
    flat = batch.reshape(7, -1)
    together = STATISTICS[method](part.layout, flat)
    alone = []
    for table in batch:
        a, b = np.nonzero(table)
        codes = part.table.design.join([part.first.codes[a], part.second.codes[b]])
        alone.append(statistic(sp.JointCounts(codes, table[a, b].astype(int), part.table.design), method))
    assert together == pytest.approx(alone, rel=1e-6, abs=1e-5)
    assert len(set(np.round(alone, 3))) > 1


@every_case("method", STATISTICS)
@every_case("pair", MIXED.values(), ids=MIXED)
def test_without_a_grid_the_statistic_is_the_same(method, pair, monkeypatch):
    table = table_of(*pair, n=120)
    assert cross(table).layout.is_grid
    on_grid = statistic(table, method)
    monkeypatch.setattr(crossing, "_GRID", 0)
    assert not cross(table).layout.is_grid
    assert statistic(table, method) == pytest.approx(on_grid, rel=1e-6, abs=1e-6)


@every_case("method", STATISTICS)
def test_without_a_grid_the_law_is_the_same(method, monkeypatch):
    table = table_of(ASKED, GIVEN3, n=60)
    on_grid = sp.independence_test(table, method, permutations=199, seed=1)
    monkeypatch.setattr(crossing, "_GRID", 0)
    sparse = sp.independence_test(table, method, permutations=199, seed=2)
    assert (on_grid.null, sparse.null) == ("permutation", "permutation")
    spread = np.std(on_grid.law.statistics) * np.sqrt(2 / 199)
    assert abs(on_grid.law.statistics.mean() - sparse.law.statistics.mean()) < 4 * spread


# Degrees of freedom -------------------------------------------------------------------------------------------------

FREEDOM = {
    "uniform": (U4, sp.uniform(range(5))),
    "fixed size": (sp.fixed_size(range(6), 4), sp.fixed_size(list("xyz"), 2)),
    "groups, not recorded": (sp.partition(range(6), 3), V4),
    "groups, recorded": (RECORDED, GIVEN3),
    "hadamard and Warner": (sp.hadamard(range(6), 15), WARNER),
    "conditional": (GIVEN, ASKED),
    "told": (sp.nonprivate(["u", "v", "w"]), V4),
}


def rank_of_model(one, two, joint):
    """The dimension of the laws of (A, B) around independence: the rank of the derivative, by differences."""
    wx, wy = (np.arange(1, d.p + 1) / (d.p * (d.p + 1) / 2) for d in (one, two))
    mass = [np.array([[d.mu(np.array([a]))[0] * v for v in d.incidence(np.array([a])).inner(np.eye(d.p))[:, 0]]
                      for a in informative(d)]) for d in (one, two)]  # fmt: skip

    def moves(p):
        return np.eye(p)[1:] - np.eye(p)[:-1]  # directions in the simplex

    if joint:
        tangent = [np.kron(mass[0], mass[1]) @ move for move in moves(one.p * two.p)]
    else:
        tangent = [np.kron(mass[0] @ move, mass[1] @ wy) for move in moves(one.p)]
        tangent += [np.kron(mass[0] @ wx, mass[1] @ move) for move in moves(two.p)]
    return np.linalg.matrix_rank(np.array(tangent), tol=1e-10)


@every_case("pair", FREEDOM.values(), ids=FREEDOM)
def test_degrees_of_freedom_are_cells_less_the_rank_of_the_null_model(pair):
    table = table_of(*pair, n=300)
    possible = len(informative(pair[0])) * len(informative(pair[1]))
    null, free = rank_of_model(*pair, joint=False), rank_of_model(*pair, joint=True)
    result = {kind: sp.independence_test(table, "pearson", df=kind, permutations=0) for kind in ("corrected", "paper")}
    assert result["corrected"].df == possible - 1 - null
    assert result["paper"].df == possible
    assert result["paper"].pvalue > result["corrected"].pvalue
    assert result["corrected"].pvalue == pytest.approx(chi2.sf(result["corrected"].statistic, possible - 1 - null))
    assert sp.independence_test(table, "lrt", permutations=0).df == free - null


def test_where_all_were_asked_the_same_it_is_an_ordinary_2_x_2_table():
    # One question of each variable: "a or b?" and "r or s?". Nothing else of the shares is estimated.
    n = [[12, 5], [3, 9]]
    table = sp.JointCounts.of_table(n, sp.product({"x": U4, "y": V4}), rows=[3, 12], columns=[3, 12])
    result = sp.independence_test(table, "pearson-conditional", permutations=0)
    expected = chi2_contingency(n, correction=False)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert result.df == 1
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pearson", "pearson-conditional", "lrt"])
@pytest.mark.parametrize("pair", FREEDOM.values(), ids=FREEDOM)
def test_degrees_of_freedom_are_the_mean_of_the_statistic(pair, method):
    both = sp.product(dict(zip("xy", pair)))
    wx, wy = (np.arange(2, d.p + 2) / (d.p * (d.p + 3) / 2) for d in pair)
    samples = sp.simulate_many(both, np.outer(wx, wy).ravel(), 20_000, 400, seed=11)
    found = [sp.independence_test(sample, method, null="asymptotic") for sample in samples]
    statistics = np.array([result.statistic for result in found])
    freedom = {result.df for result in found}
    assert len(freedom) == 1
    assert abs(statistics.mean() - freedom.pop()) < 4 * statistics.std() / np.sqrt(400)
