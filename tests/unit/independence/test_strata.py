"""`conditional_independence_test` where the third variable is known: a table for each group."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN3, RECORDED, WARNER
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, NoDataError, NotIdentifiableError
from subsetprivacy.independence.testing import METHODS
from subsetprivacy.messages import NoteKind

V4 = sp.uniform(list("rstu"))
BOTH = sp.product({"x": ASKED, "y": V4})
SMALL = sp.product({"x": WARNER, "y": sp.warner(["low", "high"], 0.8)})


def groups(sizes=(300, 80, 150)):
    W = [np.random.default_rng(k).random(16) for k in range(len(sizes))]
    return {f"g{k}": sp.simulate(BOTH, w / w.sum(), n, seed=k) for k, (w, n) in enumerate(zip(W, sizes))}


@every_case("method", METHODS)
def test_the_statistic_is_the_sum_over_the_groups(method):
    tables = groups()
    found = sp.conditional_independence_test(tables, method, permutations=19, seed=1)
    each = [sp.independence_test(table, method, permutations=19, seed=1) for table in tables.values()]
    statistics = [result.statistic for result in each]
    assert found.statistic == pytest.approx(max(statistics) if method == "bonferroni" else sum(statistics))
    assert found.df == (1 if method == "bonferroni" else sum(result.df for result in each))
    assert found.n == 530
    assert found.hypothesis == "x and y are independent in each of 3 groups"
    assert (found.null, found.permutations) == ("permutation", 19)
    assert found.pairs is None


def test_bonferronis_limit_counts_the_pairs_of_all_groups():
    tables = {"one": groups()["g0"], "two": groups()["g1"]}
    found = sp.conditional_independence_test(tables, "bonferroni", permutations=0)
    alone = [sp.independence_test(t, "bonferroni", permutations=0) for t in tables.values()]
    smallest = min(result.asymptotic_pvalue for result in alone)
    assert 2 * smallest < 1
    assert found.asymptotic_pvalue == pytest.approx(2 * smallest)


def test_one_group_is_the_test_of_its_table():
    table = groups()["g1"]
    result = sp.conditional_independence_test({"only": table}, permutations=99, seed=1)
    plain = sp.independence_test(table, permutations=99, seed=1)
    assert result.statistic == plain.statistic
    assert result.pvalue == plain.pvalue


def simpson(n):
    """Within each group independent, and the groups have opposite margins."""
    one, two = np.array([0.9, 0.1]), np.array([0.15, 0.85])
    plain = sp.product({"x": sp.nonprivate(["a", "b"]), "y": sp.nonprivate(["r", "s"])})
    return {"north": sp.simulate(plain, np.outer(one, one).ravel(), n, seed=1),
            "south": sp.simulate(plain, np.outer(two, two).ravel(), 2 * n, seed=2)}  # fmt: skip


def test_simpsons_paradox():
    tables = simpson(400)
    together = sp.independence_test(tables["north"] + tables["south"], permutations=199, seed=1)
    within = sp.conditional_independence_test(tables, permutations=199, seed=1)
    assert together.pvalue < 1e-6  # exact
    assert within.pvalue > 0.05


def test_simpsons_paradox_from_subsets_and_the_other_way_round():
    design = sp.product({"x": WARNER, "y": V4})
    steep, flat = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])
    # In each group x goes with y, in opposite ways: together they cancel out.
    W = [np.array([0.5 * steep, 0.5 * flat]), np.array([0.5 * flat, 0.5 * steep])]
    tables = {k: sp.simulate(design, w.ravel(), 4000, seed=k) for k, w in enumerate(W)}
    within = sp.conditional_independence_test(tables, permutations=99, seed=1)
    together = sp.independence_test(tables[0] + tables[1], permutations=99, seed=1)
    assert within.pvalue == pytest.approx(0.01)
    assert together.pvalue > 0.05


def test_groups_of_people_come_from_crosstab():
    rng = np.random.default_rng(1)
    x = sp.privatize(rng.choice(list("abcd"), 200).tolist(), ASKED, seed=1)
    y = sp.privatize(rng.choice(list("rstu"), 200).tolist(), V4, seed=2)
    by = np.where(np.arange(200) < 60, "first", "second").tolist()
    result = sp.conditional_independence_test(sp.crosstab(x, y, by=by), "pearson", permutations=9, seed=1)
    first = sp.independence_test(
        sp.crosstab(x.codes[:60], y.codes[:60], designs=[ASKED, V4]), "pearson", permutations=0
    )
    second = sp.independence_test(
        sp.crosstab(x.codes[60:], y.codes[60:], designs=[ASKED, V4]), "pearson", permutations=0
    )
    assert result.statistic == pytest.approx(first.statistic + second.statistic)
    assert list(result.tables) == ["first", "second"]
    assert list(result.margins) == ["first: x", "first: y", "second: x", "second: y"]
    assert list(result.alternative_estimates) == ["first", "second"]
    with pytest.raises(ArgumentError):
        _ = result.joint


def test_designs_may_differ_between_groups():
    other = sp.product({"x": ASKED, "y": GIVEN3})
    W = np.outer([0.1, 0.2, 0.3, 0.4], [0.5, 0.3, 0.2]).ravel()
    tables = {"one": groups()["g0"], "two": sp.simulate(other, W, 200, seed=1)}
    result = sp.conditional_independence_test(tables, permutations=9, seed=1)
    assert result.df == 9 + 6


def test_within_groups_columns_are_shuffled():
    # Each group has its own margins; a table of a group never gets people of another.
    tables = {k: sp.JointCounts.of_table(n, SMALL) for k, n in enumerate([[[5, 1], [2, 4]], [[0, 3], [4, 1]]])}
    result = sp.conditional_independence_test(tables, "pearson", permutations=4000, seed=1)
    exact = [sp.independence_test(table, "pearson", seed=1).law for table in tables.values()]
    sums = np.add.outer(exact[0].statistics, exact[1].statistics)
    pvalue = np.outer(exact[0].weights, exact[1].weights)[sums >= result.statistic - 1e-6].sum()
    assert abs(result.pvalue - pvalue) < 4 * result.pvalue_se + 1 / 4001


def test_progress_goes_over_all_groups():
    seen = []
    sp.conditional_independence_test(
        groups(), "pearson", permutations=10, seed=1, progress=lambda *done: seen.append(done)
    )
    assert seen[-1] == (30, 30)


def test_a_group_without_variation_is_left_out_and_told():
    tables = groups((200, 90))
    flat = sp.crosstab([3, 3, 3, 3], [3, 12, 5, 3], designs=[ASKED, V4])
    silent = sp.crosstab([15, 15], [3, 12], designs=[ASKED, V4])
    result = sp.conditional_independence_test({**tables, "flat": flat, "silent": silent}, permutations=9, seed=1)
    assert result.statistic == sp.conditional_independence_test(tables, permutations=9, seed=1).statistic
    assert result.notes[-1].text == (
        "Left out, because a variable does not vary there: 2 groups, with 4 complete rows and 2 that lack an answer."
    )
    assert list(result.tables) == ["g0", "g1"]
    with pytest.raises(NoDataError):
        sp.conditional_independence_test({"flat": flat, "silent": silent})


def test_a_share_of_zero_in_any_group_is_told():
    W = [np.outer(w, [0.4, 0.1, 0.2, 0.3]).ravel() for w in ([0.3, 0.3, 0.4, 0], [0.25, 0.25, 0.25, 0.25])]
    edge, inside = sp.simulate(BOTH, W[0], 2000, seed=1), sp.simulate(BOTH, W[1], 2000, seed=1)
    assert sp.estimate(edge.margin("x")).on_boundary == ("d",)
    for tables in ({"edge": edge, "inside": inside}, {"inside": inside, "edge": edge}):
        result = sp.conditional_independence_test(tables, "pearson", permutations=0)
        assert any(note.kind is NoteKind.BOUNDARY for note in result.notes), list(tables)


def test_weighted_groups():
    x, y = np.array([3, 12, 5, 10, 3, 12] * 10), np.array([3, 12, 12, 5, 5, 3] * 10)
    by = ["a", "b"] * 30
    plain = sp.crosstab(x, y, designs=[ASKED, V4], by=by)
    weighted = sp.crosstab(x, y, designs=[ASKED, V4], by=by, weights=np.full(60, 2.0), weights_kind="sampling")
    result = sp.conditional_independence_test(weighted, "pearson", permutations=9, seed=1)
    unweighted = sp.conditional_independence_test(plain, "pearson", permutations=9, seed=1)
    assert result.statistic == pytest.approx(unweighted.statistic)
    assert (result.null, unweighted.null) == ("bootstrap", "permutation")


def test_refusals():
    table = groups()["g0"]
    with refused(ArgumentError, "tables"):
        sp.conditional_independence_test(table)
    with refused(ArgumentError, "tables"):
        sp.conditional_independence_test({})
    with refused(ArgumentError, "given"):
        sp.conditional_independence_test({"a": table}, given="x")
    renamed = sp.crosstab([3, 12], [3, 12], designs=[ASKED, V4], names=["x", "z"])
    with refused(ArgumentError, "tables"):
        sp.conditional_independence_test({"a": table, "b": renamed})
    blind = sp.independent(list("abcd"), {("a", "b"): 1.0})
    with pytest.raises(NotIdentifiableError):
        sp.conditional_independence_test({"a": sp.crosstab([3, 12], [3, 12], designs=[blind, V4])})
    with refused(ArgumentError, "table"):
        sp.conditional_independence_test({"a": sp.simulate(RECORDED, np.full(7, 1 / 7), 50, seed=1)})


def test_groups_that_are_left_out_are_counted_and_not_named():
    flat = sp.crosstab([3], [3], designs=[ASKED, V4])
    many = {f"person-{k}": flat for k in range(50)}
    result = sp.conditional_independence_test({**groups((200, 90)), **many}, permutations=9, seed=1)
    assert "50 groups, with 50 complete rows and 0 that lack an answer" in result.notes[-1].text
    assert "person" not in " ".join(note.text for note in result.notes)


def test_people_without_a_group_are_left_out_and_told():
    tables = groups((200, 90))
    result = sp.conditional_independence_test({**tables, None: tables["g0"]}, permutations=9, seed=1)
    assert list(result.tables) == ["g0", "g1"]
    assert result.notes[-1].text == "Left out, because their group is missing: 200 rows."


def test_a_known_column_is_no_name_of_a_variable():
    three = sp.simulate(sp.product({"x": ASKED, "y": V4, "z": ASKED}), np.full(64, 1 / 64), 300, seed=1)
    secret = ["secret-place"] * 300
    for column in (secret, np.array(secret)):
        with refused(ArgumentError, "given") as caught:
            sp.conditional_independence_test(three, given=column)
        assert "secret" not in str(caught.value)
    with refused(ArgumentError, "tables"):
        sp.conditional_independence_test(three)


def test_options_that_are_no_words_are_refused():
    three = sp.simulate(sp.product({"x": ASKED, "y": V4, "z": ASKED}), np.full(64, 1 / 64), 300, seed=1)
    for null in (np.arange(3), ["secret"]):
        with refused(ArgumentError, "null"):
            sp.conditional_independence_test(three, given="z", null=null)
