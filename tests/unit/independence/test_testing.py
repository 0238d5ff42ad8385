"""`independence_test`: exact and random p-values, weights, budgets, refusals and doubts."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, WARNER
from refusals import refused
from scipy.special import chdtrc, comb

import subsetprivacy as sp
from subsetprivacy.errors import (
    ArgumentError,
    BudgetWarning,
    NoDataError,
    NotIdentifiableError,
    TooLargeError,
)
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.null_distributions import cost
from subsetprivacy.independence.tables import drawing
from subsetprivacy.independence.testing import METHODS
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.rendering import for_python, for_shell

V4 = sp.uniform(list("rstu"))
BOTH = sp.product({"x": ASKED, "y": V4})
TWO = sp.product({"x": WARNER, "y": sp.warner(["low", "high"], 0.8)})
INDEPENDENT = np.outer([0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.2, 0.3]).ravel()
W = 0.6 * INDEPENDENT + 0.4 * np.eye(4).ravel() / 4


def table(n=400, seed=1, w=W):
    return sp.simulate(BOTH, w, n, seed=seed)


def brute_pvalue(x, y, designs, method):
    """The share of all n! orders of y whose statistic is at least the observed one."""

    def value(column):
        return sp.independence_test(sp.crosstab(x, list(column), designs=designs), method, null="bootstrap",
                                    permutations=1, seed=1).statistic  # fmt: skip

    times = Counter()
    for order in permutations(y):
        times[tuple(sorted(zip(x, order)))] += 1  # people with the same pairs are the same table
    statistics = {pairs: value([b for _, b in sorted_by(x, pairs)]) for pairs in times}
    observed = statistics[tuple(sorted(zip(x, y)))]
    beyond = sum(number for pairs, number in times.items() if statistics[pairs] >= observed - 1e-6 * (1 + observed))
    return beyond / sum(times.values())


def sorted_by(x, pairs):
    """The pairs, in an order that belongs to the column x."""
    left = list(pairs)
    ordered = []
    for a in x:
        pair = next(pair for pair in left if pair[0] == a)
        left.remove(pair)
        ordered.append(pair)
    return ordered


X8, Y8 = [3, 12, 3, 5, 3, 12, 5, 3], [3, 12, 3, 3, 3, 5, 12, 3]


@pytest.mark.parametrize("method", METHODS)
def test_exact_pvalue_is_that_of_all_orders_of_the_rows(method):
    result = sp.independence_test(sp.crosstab(X8, Y8, designs=[ASKED, V4]), method, seed=1)
    assert result.null == "exact"
    assert result.pvalue_se == 0
    assert result.pvalue == pytest.approx(brute_pvalue(X8, Y8, [ASKED, V4], method), rel=1e-9)
    assert 0 < result.pvalue <= 1


@every_case("method", METHODS)
def test_random_tables_come_near_the_exact_pvalue(method, monkeypatch):
    both = sp.crosstab(X8, Y8, designs=[ASKED, V4])
    exact = sp.independence_test(both, method, seed=1).pvalue
    monkeypatch.setattr("subsetprivacy.independence.null_distributions.MAX_EXACT", 1)
    result = sp.independence_test(both, method, permutations=1999, seed=2)
    assert (result.null, result.permutations) == ("permutation", 1999)
    assert result.pvalue_se == pytest.approx(np.sqrt(result.pvalue * (1 - result.pvalue) / 1999))
    assert abs(result.pvalue - exact) < 4 * result.pvalue_se + 1 / 2000
    assert result.pvalue * 2000 == pytest.approx(round(result.pvalue * 2000))


def test_two_warner_questions_are_tested_exactly_by_the_hypergeometric_law():
    n = np.array([[40, 25], [11, 30]])
    both = sp.JointCounts.of_table(n, TWO)
    result = sp.independence_test(both, "pearson", seed=1)
    row, column, total = n[0].sum(), n[:, 0].sum(), n.sum()
    k = np.arange(max(0, row + column - total), min(row, column) + 1)
    law = comb(row, k) * comb(total - row, column - k) / comb(total, column)
    away = np.abs(k - row * column / total)
    assert result.null == "exact"
    assert result.permutations == len(k)
    assert result.pvalue == pytest.approx(law[away >= away[k == n[0, 0]] - 1e-9].sum())


@every_case("method", METHODS)
def test_a_strong_dependence_has_the_smallest_pvalue(method):
    result = sp.independence_test(table(2000), method, permutations=99, seed=1)
    assert result.pvalue == pytest.approx(0.01)
    assert result.hypothesis == "x and y are independent"


def test_no_tables_give_the_limit_law():
    result = sp.independence_test(table(), permutations=0)
    asked = sp.independence_test(table(), null="asymptotic")
    assert result.null == asked.null == "asymptotic"
    assert result.permutations == 0
    assert result.pvalue == result.asymptotic_pvalue == asked.pvalue
    assert np.isnan(result.pvalue_se)


@every_case("method", METHODS)
def test_people_can_be_simulated_instead(method):
    result = sp.independence_test(table(), method, null="bootstrap", permutations=49, seed=1)
    shuffled = sp.independence_test(table(), method, permutations=499, seed=1)
    assert (result.null, result.permutations) == ("bootstrap", 49)
    spread = np.std(shuffled.law.statistics) / np.sqrt(49)
    assert abs(result.law.statistics.mean() - shuffled.law.statistics.mean()) < 5 * spread + 0.1 * abs(spread)
    assert result.statistic == shuffled.statistic


def test_rows_with_a_missing_answer_are_left_out():
    x, y = [3, 12, 5, 15, 3, 10], [3, 12, 15, 5, 3, 5]
    result = sp.independence_test(sp.crosstab(x, y, designs=[ASKED, V4]), "pearson", seed=1)
    assert (result.n, result.n_missing) == (4, 2)
    whole = sp.independence_test(sp.crosstab([3, 12, 3, 10], [3, 12, 3, 5], designs=[ASKED, V4]), "pearson", seed=1)
    assert result.statistic == pytest.approx(whole.statistic)
    assert result.pvalue == pytest.approx(whole.pvalue)


# Weights ------------------------------------------------------------------------------------------------------------


def people(n=150, seed=4):
    rng = np.random.default_rng(seed)
    cells = rng.choice(16, n, p=W)
    x = sp.privatize([list("abcd")[c // 4] for c in cells], ASKED, seed=seed)
    y = sp.privatize([list("rstu")[c % 4] for c in cells], V4, seed=seed + 1)
    return x, y


@every_case("method", METHODS)
@every_case("weight", [1.0, 3.0])
def test_equal_weights_change_nothing_but_the_law(method, weight):
    x, y = people()
    plain = sp.independence_test(sp.crosstab(x, y), method, permutations=1, seed=1)
    weights = np.full(150, weight)
    weighted = sp.crosstab(x, y, weights=weights, weights_kind="sampling")
    result = sp.independence_test(weighted, method, permutations=9, seed=1)
    assert result.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert result.n == pytest.approx(150)
    assert (result.null, result.permutations) == ("bootstrap", 9)
    assert NoteKind.WEIGHTED in {note.kind for note in result.notes}


def test_unequal_weights_count_as_their_effective_number():
    x, y = people()
    weights = np.where(np.arange(150) % 3 == 0, 4.0, 1.0)
    result = sp.independence_test(
        sp.crosstab(x, y, weights=weights, weights_kind="sampling"), "pearson", permutations=9, seed=1
    )
    repeated = np.repeat(np.arange(150), weights.astype(int))
    frequency = sp.independence_test(
        sp.crosstab(x.codes[repeated], y.codes[repeated], designs=[ASKED, V4]), "pearson", permutations=1, seed=1
    )
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert result.n == pytest.approx(effective)
    assert result.statistic == pytest.approx(frequency.statistic * effective / weights.sum(), rel=1e-6)


def test_weighted_rows_cannot_change_places():
    x, y = people()
    weighted = sp.crosstab(x, y, weights=np.ones(150), weights_kind="sampling")
    with refused(ArgumentError, "null"):
        sp.independence_test(weighted, null="permutation")


# Budget and progress ------------------------------------------------------------------------------------------------


@every_case("method", METHODS)
def test_progress_reaches_its_end(method):
    seen = []
    sp.independence_test(table(), method, permutations=30, seed=1, progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (30, 30)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_progress_of_simulated_people_reaches_its_end():
    seen = []
    sp.independence_test(
        table(), "pearson", null="bootstrap", permutations=5, seed=1, progress=lambda *done: seen.append(done)
    )
    assert seen == [(k, 5) for k in range(1, 6)]


def test_a_small_budget_makes_fewer_tables():
    crossing = cross(table())
    room = 250 * (cost(crossing, "pearson") + drawing(crossing, 999))
    with pytest.warns(BudgetWarning, match="999 tables would take about .* 199 were drawn"):
        result = sp.independence_test(table(), "pearson", budget=room, permutations=999, seed=1)
    assert (result.null, result.permutations) == ("permutation", 199)
    assert result.pvalue * 200 == pytest.approx(round(result.pvalue * 200))
    (note,) = (note for note in result.notes if note.kind is NoteKind.BUDGET)
    assert note.text.startswith("Budget: 999 tables")
    assert for_python(note.advice) == "budget=None"


@every_case(
    ("method", "options", "advice"),
    [
        ("lrt", {"--method", "--permutations"}, "--method pearson-conditional, which is faster"),
        ("lrt", {"--permutations"}, "fewer --permutations, or 0 for the asymptotic p-value"),
        ("pearson", {"--method", "--permutations"}, "fewer --permutations, or 0 for the asymptotic p-value"),
        ("lrt-mom", {"--method", "--permutations"}, "fewer --permutations"),
        ("lrt", {"--level"}, None),
    ],
)
def test_a_command_is_told_what_it_can_do_about_its_budget(method, options, advice):
    with pytest.warns(BudgetWarning) as caught:
        result = sp.independence_test(table(), method, budget=1e-6, seed=1)
    (note,) = (note for note in result.notes if note.kind is NoteKind.BUDGET)
    assert for_shell(note.advice, options) == advice
    assert caught[0].message.advice == note.advice


def test_too_small_a_budget_makes_none():
    with pytest.warns(BudgetWarning, match="none were drawn and the p-value is asymptotic"):
        result = sp.independence_test(table(), budget=1e-6, seed=1)
    assert (result.null, result.permutations) == ("asymptotic", 0)
    assert result.pvalue == result.asymptotic_pvalue


def test_moments_have_no_limit_law_so_99_tables_are_made_whatever_the_budget():
    with pytest.warns(BudgetWarning, match="99 were drawn"):
        result = sp.independence_test(table(), "lrt-mom", budget=1e-9, seed=1)
    assert result.permutations == 99
    assert np.isnan(result.asymptotic_pvalue)


def test_no_budget_makes_all():
    result = sp.independence_test(table(), "pearson", budget=None, permutations=1500, seed=1)
    assert result.permutations == 1500


# Refusals -----------------------------------------------------------------------------------------------------------


@every_case(
    ("arguments", "argument"),
    [
        ({"method": "chi"}, "method"),
        ({"df": "printed"}, "df"),
        ({"null": "exact"}, "null"),
        ({"budget": 0}, "budget"),
        ({"budget": -1.5}, "budget"),
        ({"budget": float("nan")}, "budget"),
        ({"budget": "long"}, "budget"),
        ({"permutations": -1}, "permutations"),
        ({"permutations": 2.5}, "permutations"),
        ({"seed": -3}, "seed"),
        ({"method": "lrt-mom", "permutations": 0}, "permutations"),
        ({"method": "lrt-mom", "null": "asymptotic"}, "null"),
        ({"method": "pearson-conditional", "df": "paper"}, "df"),
    ],
)
def test_arguments_that_make_no_sense(arguments, argument):
    with refused(ArgumentError, argument):
        sp.independence_test(table(), **arguments)


def test_tables_of_one_or_three_variables():
    with refused(ArgumentError, "table"):
        sp.independence_test(sp.simulate(V4, [0.1, 0.2, 0.3, 0.4], 50, seed=1))
    three = sp.crosstab([3, 3, 12], [3, 12, 12], [3, 12, 5], designs=[ASKED, V4, V4])
    with refused(ArgumentError, "table"):
        sp.independence_test(three)
    assert sp.independence_test(three.margin("x", "z"), seed=1).hypothesis == "x and z are independent"
    with refused(ArgumentError, "table"):
        sp.independence_test([[1, 2], [3, 4]])


def test_designs_and_samples_that_do_not_tell():
    blind = sp.independent(list("abcd"), {("a", "b"): 1.0})
    with pytest.raises(NotIdentifiableError):
        sp.independence_test(sp.crosstab([3, 3, 12], [3, 12, 12], designs=[blind, V4]))
    with pytest.raises(NotIdentifiableError):
        sp.independence_test(sp.crosstab([3, 12, 12], [5, 5, 5], designs=[ASKED, V4]))
    with pytest.raises(NoDataError):
        sp.independence_test(sp.crosstab([15, 3], [3, 15], designs=[ASKED, V4]))


def test_too_many_combinations():
    both = sp.product({"x": sp.hadamard(3000), "y": sp.hadamard(3000)})
    large = sp.JointCounts(both.join([np.array([3, 4, 3]), np.array([5, 7, 7])]), [1, 2, 1], both)
    with pytest.raises(TooLargeError):
        sp.independence_test(large)


# Doubts -------------------------------------------------------------------------------------------------------------


def notes(data, method="pearson", **arguments):
    return sp.independence_test(data, method, permutations=9, seed=1, **arguments).notes


def test_small_counts_and_unobserved_pairs_are_told():
    seen = sp.JointCounts.of_table([[7, 5], [4, 0]], TWO)
    small, unobserved = notes(seen)[:2]
    assert (small.kind, unobserved.kind) == (NoteKind.SMALL_COUNTS, NoteKind.UNOBSERVED)
    assert small.text.startswith("Small counts: 2 of 4 pairs of subsets were reported by fewer than 5 people")
    assert unobserved.text == "Unobserved: 1 of the 4 possible pairs of subsets."
    many = sp.JointCounts.of_table([[70, 50], [40, 60]], TWO)
    assert notes(many) == ()


def test_more_pairs_than_people_are_told():
    both = sp.product({"x": sp.uniform(range(7)), "y": V4})
    note = notes(sp.simulate(both, np.full(28, 1 / 28), 12, seed=1))[0]
    assert note.kind is NoteKind.TOO_MANY_CELLS
    assert note.text.startswith("There are 672 pairs of subsets for 12 people: Pearson's chi-square approximation")


def test_shares_at_and_near_zero_are_told():
    # Nobody is d: every pair with d comes from the other member.
    none = table(2000, w=np.outer([0.3, 0.3, 0.4, 0], [0.4, 0.1, 0.2, 0.3]).ravel(), seed=1)
    fit = sp.estimate(none.margin("x"))
    told = [note.text for note in notes(none) if note.kind is NoteKind.BOUNDARY]
    assert fit.on_boundary == ("d",)
    assert told == ["On the boundary: a share of 0 is estimated for x: d. The asymptotic p-value is approximate."]
    rare = table(2000, w=np.outer([0.3, 0.28, 0.4, 0.02], [0.4, 0.1, 0.2, 0.3]).ravel(), seed=4)
    assert sp.estimate(rare.margin("x")).on_boundary == ()
    told = [note.text for note in notes(rare) if note.kind is NoteKind.NEAR_ZERO]
    assert told[0].startswith("Near the boundary: the smallest share of x is below two standard errors")


def test_what_moments_and_printed_degrees_are_worth_is_told():
    assert NoteKind.NULL_LAW in {note.kind for note in notes(table(), "lrt-mom")}
    assert NoteKind.DEGREES_OF_FREEDOM in {note.kind for note in notes(table(), df="paper")}


def test_a_negative_statistic_is_told():
    found = next(
        result
        for seed in range(200)
        for result in [sp.independence_test(table(60, seed=seed, w=INDEPENDENT), "lrt-mom", permutations=1, seed=1)]
        if result.statistic < 0
    )
    assert [note.kind for note in found.notes].count(NoteKind.NULL_LAW) == 2


# What comes with the result -----------------------------------------------------------------------------------------


def test_estimates_with_and_without_independence():
    data = table()
    result = sp.independence_test(data, permutations=9, seed=1)
    assert set(result.margins) == {"x", "y"}
    assert result.margins["x"].w == pytest.approx(sp.estimate(data.margin("x")).w, abs=1e-6)
    assert result.joint.w == pytest.approx(sp.estimate(data).w)
    assert list(result.alternative_estimates) == ["x x y"]
    assert result.tables["x x y"] is data


# Variables that share one code: joined, with dummy rows, or pooled under several designs ------------------------------


def by_hand(counts, shape):
    """Twice the log-likelihood that a joint distribution gains over a product of margins, by EM of each in turn."""
    rows = counts.incidence.inner(np.eye(counts.design.p)).T
    tensor, f = rows.reshape(-1, *shape), counts.shares
    x, y = (np.full(size, 1 / size) for size in shape)
    for _ in range(3000):
        seen = tensor @ y
        x = x * ((f / (seen @ x)) @ seen)
        seen = np.einsum("aij,i->aj", tensor, x / x.sum())
        y = y * ((f / (seen @ y)) @ seen)
        x, y = x / x.sum(), y / y.sum()
    return 2 * (sp.estimate(counts).loglik - counts.n * f @ np.log(np.einsum("aij,i,j->a", tensor, x, y)))


def sharing():
    joined = sp.join({"sex": ["f", "m"], "view": ["no", "so", "yes"]})
    pooled = table(300) + sp.simulate(sp.product({"x": sp.uniform(list("abcd")), "y": V4}), W, 200, seed=2)
    values = {"x": list("aabcd") * 80, "y": list("rstuu") * 80}
    return {
        "joined": (sp.simulate(joined, np.array([1, 2, 3, 4, 5, 9]) / 24, 600, seed=1), (2, 3)),
        "pooled": (pooled, (4, 4)),
        "dummies": (sp.privatize(values, sp.covered(BOTH, 0.05), seed=1).counts(), (4, 4)),
    }


@pytest.mark.parametrize("kind", ["joined", "pooled", "dummies"])
def test_variables_that_share_one_code(kind):
    counts, shape = sharing()[kind]
    result = sp.independence_test(counts, permutations=19, seed=1)
    assert result.statistic == pytest.approx(by_hand(counts, shape), abs=2e-3)
    assert result.df == (shape[0] - 1) * (shape[1] - 1)
    assert (result.null, result.permutations) == ("bootstrap", 19)
    assert result.pvalue * 20 == pytest.approx(round(result.pvalue * 20))
    with refused(ArgumentError, "method"):
        sp.independence_test(counts, "pearson")


def test_a_message_about_a_shared_code_names_the_argument_that_was_given():
    with refused(ArgumentError, "permutations"):
        sp.independence_test(sharing()["joined"][0], permutations=-1)


@every_case(
    ("wrong", "hint"),
    [
        ([1, 2], r"sp.crosstab\(a, b\)"),
        ({"a": 1}, "conditional_independence_test for a table per group"),
        (np.eye(2), "JointCounts.of_table"),
    ],
)
def test_what_is_no_table(wrong, hint):
    with pytest.raises(ArgumentError, match=f"`table` must be what sp.crosstab returns; got .*{hint}"):
        sp.independence_test(wrong)


def test_tables_that_are_the_same_count_once_in_the_bound():
    # All four pairs of value and bit give the table of "equal or not".
    two = sp.product({"x": WARNER, "y": WARNER})
    result = sp.independence_test(sp.JointCounts.of_table([[60, 40], [40, 60]], two), "bonferroni", permutations=0)
    assert result.asymptotic_pvalue == pytest.approx(chdtrc(1, result.statistic))
    assert result.pairs.statistics == pytest.approx(np.full((4, 4), result.statistic))
    assert result.pairs.pvalues == pytest.approx(result.pvalue)
    assert result.to_dict()["pairs"]["pvalues"] == result.pairs.pvalues.tolist()
