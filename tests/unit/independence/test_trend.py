"""The test of trend: against statsmodels, all permutations by hand, the derivative of the likelihood, and its level."""

from datetime import date
from decimal import Decimal
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, GIVEN3, WARNER
from problems import rising
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import (
    ArgumentError,
    BudgetWarning,
    MismatchError,
    NoDataError,
    NotIdentifiableError,
)
from subsetprivacy.independence import linear_statistic
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_tests import (
    COMPARE_DISTRIBUTIONS,
    COUNT_BY_GROUP,
    COUNT_ONE_VARIABLE,
    GROUPS_OR_TABLE,
    ORDER_GROUPS,
    PICK_TWO,
    SCORE_EACH,
    WALD_MEANS,
)

U4 = sp.uniform(list("abcd"))
VALUES = sp.nonprivate(list("abcd"))
EVEN = np.full(4, 0.25)
NEAR = np.array([0.9, 0.06, 0.03, 0.01])
TABLE = np.array([[20, 14, 9, 7], [15, 16, 12, 10], [8, 13, 17, 19]])


def groups_of_values(table=TABLE):
    """Groups of people who tell their values, in order."""
    groups = {name: sp.SubsetCounts([1, 2, 4, 8], row, VALUES) for name, row in zip("xyz", table)}
    return sp.GroupedCounts(groups, ordered=True)


def waves(ws, n=200, design=U4, seed=1):
    rng = np.random.default_rng(seed)
    return {k + 1: sp.simulate(design, w, n, seed=rng) for k, w in enumerate(ws)}


def tilted(w, beta, groups=3):
    """Distributions with w_j(g) proportional to w_j exp(beta c_j g)."""
    weights = [w * np.exp(beta * np.arange(len(w)) * g) for g in range(groups)]
    return [one / one.sum() for one in weights]


def people_of(counts, w, scores):
    """The mean score of each person's subset, under w."""
    return np.repeat(counts.incidence.inner(w * scores) / counts.incidence.inner(w), counts.n_a.astype(int))


def kinds(found):
    return [note.kind for note in found.notes]


# Against other computations -------------------------------------------------------------------------------------------


def test_of_values_it_is_the_test_of_statsmodels():
    # statsmodels 0.15.0:
    #   >>> table = sm.stats.Table(np.array([[20, 14, 9, 7], [15, 16, 12, 10], [8, 13, 17, 19]]), shift_zeros=False)
    #   >>> found = table.test_ordinal_association()
    #   >>> found.zscore, found.pvalue
    #   (3.572477114257581, 0.00035362039503691173)
    #   >>> found = table.test_ordinal_association(row_scores=np.array([1, 2, 4]), col_scores=np.array([0, 1, 3, 9]))
    #   >>> found.zscore, found.pvalue
    #   (3.199133638308801, 0.0013784125722378707)
    result = sp.trend_test(groups_of_values(), permutations=0)
    assert (result.zscore, result.pvalue) == pytest.approx((3.572477114257581, 0.00035362039503691173), rel=1e-10)
    scored = sp.trend_test(
        groups_of_values(), scores=[0, 1, 3, 9], group_scores={"x": 1, "z": 4, "y": 2}, permutations=0
    )
    assert (scored.zscore, scored.pvalue) == pytest.approx((3.199133638308801, 0.0013784125722378707), rel=1e-10)
    both = sp.product({"group": sp.nonprivate(list("xyz")), "value": VALUES})
    table = sp.trend_test(sp.JointCounts.of_table(TABLE, both), permutations=0)
    assert (table.zscore, table.pvalue) == pytest.approx((result.zscore, result.pvalue), rel=1e-10)


def by_em(members, counts, steps=20_000):
    """Return the maximum likelihood estimate from rows of 0 and 1 and their counts, by the EM algorithm."""
    w = np.full(members.shape[1], 1 / members.shape[1])
    for _ in range(steps):
        w = w * ((counts / (members @ w)) @ members) / counts.sum()
    return w


def test_all_permutations_of_a_few_people_by_hand():
    # Seven people report two of x, y, z each, in groups of 3, 2 and 2.
    reports, groups = [0b011, 0b011, 0b101, 0b110, 0b011, 0b110, 0b110], [1, 1, 1, 2, 2, 4, 4]
    samples = {
        g: sp.SubsetData([r for r, other in zip(reports, groups) if other == g], sp.fixed_size(list("xyz"), 2))
        for g in (1, 2, 4)
    }
    scores = np.array([0.0, 1.0, 5.0])
    members = np.array([[report >> j & 1 for j in range(3)] for report in reports], float)
    w = by_em(members, np.ones(7))
    means = members @ (w * scores) / (members @ w)
    every = np.array([np.dot(groups, order) for order in permutations(means)]) - np.sum(groups) * means.mean()
    statistic = np.dot(groups, means) - np.sum(groups) * means.mean()
    for alternative, beyond in (
        ("two-sided", np.abs(every) >= abs(statistic) - 1e-9),
        ("greater", every >= statistic - 1e-9),
        ("less", every <= statistic + 1e-9),
    ):
        result = sp.trend_test(samples, scores=scores, alternative=alternative)
        assert result.null == "exact"
        assert result.zscore == pytest.approx(statistic / every.std(), rel=1e-5)
        assert result.pvalue == pytest.approx(beyond.mean(), rel=1e-9)
        assert result.pvalue_se == 0


def test_it_is_the_slope_of_the_likelihood():
    groups = waves([EVEN, EVEN, [0.1, 0.2, 0.3, 0.4]], n=300, design=ASKED)
    pooled = sp.estimate(sum(list(groups.values())[1:], start=groups[1])).w
    c, g = np.array([0.0, 1.0, 2.0, 5.0]), np.array([1.0, 2.0, 4.0])
    mean = sum(x * counts.n for x, counts in zip(g, groups.values())) / 900

    def loglik(beta):
        total = 0.0
        for x, counts in zip(g, groups.values()):
            w = pooled * np.exp(beta * c * (x - mean))
            total += counts.n_a @ np.log(counts.incidence.inner(w / w.sum()))
        return total

    slope = (loglik(1e-5) - loglik(-1e-5)) / 2e-5
    people = np.concatenate([people_of(counts, pooled, c) for counts in groups.values()])
    spread = np.sqrt(sum(300 * (g - mean) ** 2) * 900 * people.var() / 899)
    result = sp.trend_test(groups, scores=c, group_scores=g, permutations=0)
    assert result.zscore == pytest.approx(slope / spread, rel=1e-6)
    # The same by the correlation of the two scores.
    r = np.corrcoef(np.repeat(g, 300), people)[0, 1]
    assert result.zscore**2 == pytest.approx(899 * r**2, rel=1e-6)


def test_random_tables_agree_with_shuffled_people():
    groups = waves(tilted(EVEN, 0.1), n=100)
    result = sp.trend_test(groups, permutations=4999, seed=1)
    assert result.null == "permutation"
    pooled = sum(list(groups.values())[1:], start=groups[1])
    w = sp.estimate(pooled).w
    people = np.concatenate([people_of(one, w, np.arange(1, 5)) for one in groups.values()])
    rng = np.random.default_rng(2)
    g = np.repeat([-1, 0, 1], 100)
    drawn = np.array([g @ rng.permutation(people) for _ in range(5000)])
    share = np.mean(np.abs(drawn) >= abs(g @ people) - 1e-9)
    assert result.pvalue == pytest.approx(share, abs=5 * np.sqrt(share / 2500))
    assert result.pvalue == pytest.approx(result.asymptotic_pvalue, abs=0.03)


# What does and does not matter ----------------------------------------------------------------------------------------


def test_units_do_not_matter_and_directions_do():
    groups = waves(tilted(EVEN, 0.1))
    result = sp.trend_test(groups, permutations=0).zscore
    assert sp.trend_test(groups, scores=[10, 30, 50, 70], permutations=0).zscore == pytest.approx(result)
    assert sp.trend_test(groups, group_scores=[-5, 0, 5], permutations=0).zscore == pytest.approx(result)
    assert sp.trend_test(groups, scores=[4, 3, 2, 1], permutations=0).zscore == pytest.approx(-result)
    assert sp.trend_test(dict(reversed(groups.items())), permutations=0).zscore == pytest.approx(result)  # by number
    named = {f"wave {name}": counts for name, counts in reversed(groups.items())}
    assert sp.trend_test(named, group_scores=[1, 2, 3], permutations=0).zscore == pytest.approx(-result)


def test_one_sided_pvalues():
    groups = waves(tilted(EVEN, 0.1))
    two, up, down = (
        sp.trend_test(groups, permutations=999, seed=1, alternative=side) for side in ("two-sided", "greater", "less")
    )
    assert two.zscore == up.zscore == down.zscore
    assert up.pvalue < two.pvalue < down.pvalue
    assert up.asymptotic_pvalue + down.asymptotic_pvalue == pytest.approx(1)
    assert two.asymptotic_pvalue == pytest.approx(2 * up.asymptotic_pvalue)


def test_groups_that_are_numbers_score_themselves():
    samples = list(waves(tilted(EVEN, 0.1)).values())
    years = sp.trend_test(dict(zip((2000, 2010, 2011), samples)), permutations=0)
    assert years.group_scores.tolist() == [2000, 2010, 2011]
    assert years.scores.tolist() == [1, 2, 3, 4]
    texts = sp.trend_test(dict(zip(("2000", "2010", "2011"), samples)), permutations=0)  # as in a CSV file
    assert texts.zscore == years.zscore
    decimals = sp.trend_test(dict(zip(map(Decimal, (2000, 2010, 2011)), samples)), permutations=0)
    assert decimals.zscore == years.zscore
    alone = sp.trend_test(dict(zip(((2000,), (2010,), (2011,)), samples)), permutations=0)  # by=["year"]
    assert alone.zscore == years.zscore


def test_words_in_three_groups_have_no_order():
    words = ("low", "medium", "high")
    samples = list(waves(tilted(EVEN, 0.6)).values())
    ordered = sp.trend_test(sp.GroupedCounts(zip(words, samples), ordered=True), permutations=0)
    assert ordered.zscore > 3
    assert ordered.group_scores.tolist() == [1, 2, 3]
    for shuffled in permutations(zip(words, samples)):  # whichever way they are sorted
        groups = sp.GroupedCounts(shuffled)
        scored = sp.trend_test(groups, group_scores={"low": 1, "medium": 2, "high": 3}, permutations=0)
        assert scored.zscore == pytest.approx(ordered.zscore)
        for unordered in (groups, dict(groups), {(name,): counts for name, counts in shuffled}):
            with refused(ArgumentError, "group_scores") as caught:
                sp.trend_test(unordered, permutations=0)
            assert caught.value.advice.advice is ORDER_GROUPS
    with refused(ArgumentError, "group_scores"):
        sp.trend_test(dict(zip((False, True, 2), samples)))


def test_two_groups_need_an_order_only_for_a_one_sided_test():
    samples = list(waves(tilted(EVEN, 0.2)).values())[:2]
    one = sp.trend_test(dict(zip(("before", "after"), samples)), permutations=0)
    two = sp.trend_test(dict(reversed(list(zip(("before", "after"), samples)))), permutations=0)
    assert one.pvalue == pytest.approx(two.pvalue)
    with refused(ArgumentError, "group_scores"):
        sp.trend_test(dict(zip(("before", "after"), samples)), alternative="greater")
    first = sp.trend_test({1: samples[0], 2: samples[1]}, alternative="greater", permutations=0)
    assert first.zscore == pytest.approx(one.zscore)


def test_dates_are_in_order():
    samples = list(waves(tilted(EVEN, 0.2)).values())
    days = [date(2024, 1, 5), date(2024, 2, 1), date(2025, 1, 1)]
    expected = sp.trend_test(dict(zip((1, 2, 3), samples)), permutations=0).zscore
    for kind in (lambda day: day, pd.Timestamp, lambda day: pd.Period(day, "D")):
        for order in ([0, 1, 2], [2, 0, 1]):
            groups = {kind(days[k]): samples[k] for k in order}
            assert sp.trend_test(groups, permutations=0).zscore == pytest.approx(expected)


def test_an_ordered_column_gives_the_order():
    rng = np.random.default_rng(1)
    words = ["low", "medium", "high"]
    group = rng.choice(words, 900)
    weights = {"low": [7, 3, 2, 1], "medium": [3, 3, 3, 3], "high": [1, 2, 3, 7]}
    values = [rng.choice(list("abcd"), p=np.array(weights[name]) / sum(weights[name])) for name in group]
    data = sp.privatize(values, U4, seed=1)
    expected = sp.trend_test(sp.count(data, by=group), group_scores={"low": 1, "medium": 2, "high": 3}, permutations=0)
    assert expected.zscore > 5
    for frame in (
        pd.DataFrame({"code": data.codes, "pay": pd.Categorical(group, words, ordered=True)}),
        pl.DataFrame({"code": data.codes, "pay": pl.Series(group, dtype=pl.Enum(words))}),
    ):
        for counts in (sp.count(data, by=frame["pay"]), sp.count(frame, "code", design=U4, by=["pay"])):
            assert sp.trend_test(counts, permutations=0).zscore == pytest.approx(expected.zscore)
    unordered = pd.Series(group, dtype="category")
    with refused(ArgumentError, "group_scores"):
        sp.trend_test(sp.count(data, by=unordered))


def test_groups_are_those_of_count():
    rng = np.random.default_rng(1)
    ages = rng.integers(1, 4, 600)
    data = sp.privatize(rng.choice(list("abcd"), 600), U4, seed=rng)
    column = [None if k < 10 else age for k, age in enumerate(ages.tolist())]
    result = sp.trend_test(sp.count(data, by=column), permutations=9, seed=1)
    assert result.groups == (1, 2, 3)
    assert result.n == 590
    (note,) = (note for note in result.notes if note.kind is NoteKind.LEFT_OUT)
    assert note.text == "Left out, because their group is missing: 10 rows."


def test_a_known_variable_of_a_table_is_a_group():
    rng = np.random.default_rng(1)
    values, group = rng.choice(list("abcd"), 500), rng.choice(list("xyz"), 500)
    private = sp.privatize(values, ASKED, seed=rng)
    known = sp.nonprivate(list("xyz"))
    table = sp.crosstab(sp.SubsetData([known.categories.code([g]) for g in group], known), private, names=["g", "v"])
    one = sp.trend_test(table, permutations=0)
    two = sp.trend_test(sp.count(private, by=list(group)), group_scores=[1, 2, 3], permutations=0)
    assert one.zscore == pytest.approx(two.zscore, rel=1e-6)
    frames = [result.to_frame(method="wald") for result in (one, two)]
    assert frames[0][["estimate", "se"]].to_numpy() == pytest.approx(frames[1][["estimate", "se"]].to_numpy(), rel=1e-4)


def test_two_private_variables_by_hand():
    both = sp.product({"x": ASKED, "y": GIVEN3})
    table = sp.simulate(both, np.outer(rising(4), rising(3)).ravel(), 800, seed=1)
    result = sp.trend_test(table, permutations=199, seed=1)
    assert result.variables == ("x", "y")
    assert result.groups == ABCD
    assert 0.001 < result.pvalue <= 1
    one, two = (sp.estimate(table.margin(name, complete=True)).w for name in "xy")
    codes = [both.split(table.observed_codes)[k] for k in range(2)]
    means = [
        design.incidence(code).inner(w * np.arange(1, len(w) + 1)) / design.incidence(code).inner(w)
        for design, code, w in ((ASKED, codes[0], one), (GIVEN3, codes[1], two))
    ]
    r = np.corrcoef(*(np.repeat(mean, table.n_a.astype(int)) for mean in means))[0, 1]
    assert result.zscore == pytest.approx(np.sqrt(table.n - 1) * r, rel=1e-5)


def test_people_of_many_subsets_are_shuffled(monkeypatch):

    groups = waves(tilted(EVEN, 0.1))
    drawn = sp.trend_test(groups, permutations=2999, seed=1)
    monkeypatch.setattr(linear_statistic, "_GRID", 1)
    shuffled = sp.trend_test(groups, permutations=2999, seed=1)
    assert shuffled.law.statistics.mean() == pytest.approx(drawn.law.statistics.mean(), abs=0.06)
    assert shuffled.pvalue == pytest.approx(drawn.pvalue, abs=0.03)


# Designs and weights --------------------------------------------------------------------------------------------------


def test_under_different_designs_people_change_places_within_them():
    first, second = (waves(tilted(EVEN, 0.2), n=150, design=design, seed=3) for design in (U4, ASKED))
    groups = {"1a": first[1], "1b": second[1], "3a": first[3], "3b": second[3]}
    result = sp.trend_test(groups, group_scores=[1, 1, 3, 3], permutations=999, seed=1)
    assert NoteKind.NULL_LAW in kinds(result)
    assert NoteKind.LEFT_OUT not in kinds(result)
    # By hand: one estimate for all, a sum and a variance for each design.
    c = np.arange(1, 5)
    pairs = [(first[1], first[3]), (second[1], second[3])]
    rows = np.vstack([one.incidence.inner(np.eye(4)).T for pair in pairs for one in pair])
    w = by_em(rows, np.concatenate([one.n_a for pair in pairs for one in pair]), steps=3000)
    total = variance = 0.0
    for pair in pairs:
        g, e = np.repeat([-1.0, 1.0], 150), np.concatenate([people_of(one, w, c) for one in pair])
        total += g @ e
        variance += 300 * 300 * e.var() / 299
    assert result.zscore == pytest.approx(total / np.sqrt(variance), rel=1e-4)
    assert result.pvalue == pytest.approx(result.asymptotic_pvalue, abs=0.03)


def test_a_group_alone_under_its_design_is_left_out_of_the_test():
    groups = waves(tilted(EVEN, 0.2))
    alone = sp.simulate(ASKED, EVEN, 70, seed=1)
    result = sp.trend_test(groups | {4: alone}, permutations=0)
    (note,) = (note for note in result.notes if note.kind is NoteKind.LEFT_OUT)
    assert "1 group with 70 people" in note.text
    assert len(result.to_frame()) == 4  # its mean score is estimated all the same
    with refused(ArgumentError, "data") as caught:
        sp.trend_test({1: groups[1], 2: alone})
    assert caught.value.advice.advice is COMPARE_DISTRIBUTIONS


def test_weighted_groups_have_an_asymptotic_pvalue():
    rng = np.random.default_rng(1)
    data, ages = sp.privatize(rng.choice(list("abcd"), 600), U4, seed=rng), rng.integers(1, 4, 600)
    plain = sp.trend_test(sp.count(data, by=ages), permutations=0)
    equal = sp.trend_test(sp.count(data, by=ages, weights=[2.0] * 600, weights_kind="sampling"), seed=1)
    assert equal.zscore == pytest.approx(plain.zscore, rel=1e-6)
    assert (equal.null, equal.permutations) == ("asymptotic", 0)
    assert kinds(equal)[1] is NoteKind.WEIGHTED
    uneven = sp.count(data, by=ages, weights=rng.uniform(0.5, 4, 600), weights_kind="sampling")
    result = sp.trend_test(uneven)
    assert result.n < 600
    assert "weighted, effective n" in result.summary().title
    both = sp.crosstab(data, sp.privatize(list("abcd") * 150, U4, seed=2), weights=[2.0] * 600, weights_kind="sampling")
    assert sp.trend_test(both).null == "asymptotic"


# Mean scores ----------------------------------------------------------------------------------------------------------


def test_mean_scores_of_values():
    frame = sp.trend_test(groups_of_values(), permutations=0).to_frame(method="wald")
    assert list(frame.columns) == ["group", "estimate", "se", "lower", "upper", "level"]
    for (_, row), people in zip(frame.iterrows(), TABLE):
        values = np.repeat([1, 2, 3, 4], people)
        assert row["estimate"] == pytest.approx(values.mean())
        assert row["se"] == pytest.approx(values.std() / np.sqrt(len(values)), rel=1e-6)
    both = sp.product({"group": sp.nonprivate(list("xyz")), "value": VALUES})
    table = sp.trend_test(sp.JointCounts.of_table(TABLE, both), permutations=0).to_frame()
    assert table[["estimate", "se"]].to_numpy() == pytest.approx(frame[["estimate", "se"]].to_numpy(), rel=1e-6)


def test_mean_scores_of_subsets_are_contrasts():
    groups = waves(tilted(EVEN, 0.2))
    result = sp.trend_test(groups, permutations=0)
    for method in ("wald", "score", "profile"):
        frame = result.to_frame(0.9, method=method)
        for name, (_, row) in zip(groups, frame.iterrows(), strict=True):
            c = sp.estimate(groups[name]).contrast([1, 2, 3, 4], null=2, level=0.9, method=method)
            numbers = row[["estimate", "se", "lower", "upper"]].tolist()
            assert numbers == pytest.approx([c.value, c.se, c.lower, c.upper], abs=1e-6)
    assert result.to_dict(0.9)["level"] == 0.9


def test_a_category_of_nobody_has_no_mean_score():
    table = np.array([[5, 3, 1], [0, 0, 0], [2, 4, 6]])
    both = sp.product({"x": sp.nonprivate(list("abc")), "y": sp.nonprivate(list("rst"))})
    result = sp.trend_test(sp.JointCounts.of_table(table, both))
    assert np.isnan(result.to_frame()["estimate"]).tolist() == [False, True, False]
    assert result.to_dict()["estimate"][1] is None
    assert "-" in result.summary().rows[1]
    assert NoteKind.BOUNDARY in kinds(result)
    result.plot()


def test_summary_and_notes():
    result = sp.trend_test(waves(tilted(EVEN, 0.2)), permutations=99, seed=1)
    table = result.summary(0.9)
    assert table.title == f"Test of trend: z = {result.zscore:.2f}, p = {result.pvalue:.4f}, n = 600"
    assert table.columns == ("group", "group score", "mean score", "std. error", "lower 90%", "upper 90%")
    assert [row[0] for row in table.rows] == ["1", "2", "3"]
    assert result.notes[0].text == "Scores of the categories: a 1, b 2, c 3, d 4."
    assert repr(result).startswith(f"<TrendResult: z {result.zscore:.3f}, p-value {result.pvalue:.4f} (two-sided, perm")


def test_many_groups_are_quick_and_the_table_is_cut():
    counts = sp.simulate(U4, EVEN, 100, seed=1)
    result = sp.trend_test(dict.fromkeys(range(100), counts), permutations=0)
    table = result.summary()
    assert len(table.rows) == 64
    assert table.notes[0].kind is NoteKind.SHORTENED
    assert result.to_frame().equals(result.to_frame(method="wald"))
    assert len(result.plot().get_xticks()) <= 24


def test_pictures_keep_the_order():
    samples = list(waves(tilted(EVEN, 0.2)).values())
    groups = sp.GroupedCounts(zip(("old", "middle", "young"), samples), ordered=True)
    ax = sp.trend_test(groups, permutations=0).plot()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["old", "middle", "young"]
    assert "a 1 to d 4" in ax.get_ylabel().replace("\n", " ")
    numbers = sp.trend_test(dict(zip((2025, 2023, 2024), samples)), permutations=0).plot()
    assert [text.get_text() for text in numbers.get_xticklabels()] == ["2023", "2024", "2025"]
    assert numbers.get_xticks().tolist() == [2023, 2024, 2025]
    same = sp.trend_test(dict(zip("abc", samples)), group_scores=[1, 1, 2], permutations=0).plot()
    assert len(set(same.get_xticks())) == 3


# Seeds, budgets and refusals ------------------------------------------------------------------------------------------


def test_seeds_progress_and_budget():
    groups, seen = waves(tilted(EVEN, 0.1)), []
    one = sp.trend_test(groups, permutations=50, seed=3, progress=lambda *done: seen.append(done))
    two = sp.trend_test(groups, permutations=50, seed=3)
    assert one.law.statistics.tolist() == two.law.statistics.tolist()
    assert seen[-1] == (50, 50)
    with pytest.warns(BudgetWarning, match="none were drawn") as caught:
        result = sp.trend_test(groups, budget=1e-9)
    assert caught[0].filename == __file__
    assert result.pvalue == result.asymptotic_pvalue
    assert NoteKind.BUDGET in kinds(result)


@every_case(
    ("options", "argument", "advice"),
    [
        ({"scores": [1, 2, 3]}, "scores", SCORE_EACH),
        ({"scores": [1, 1, 1, 1]}, "scores", None),
        ({"scores": [1, 2, 3, np.inf]}, "scores", None),
        ({"scores": "abcd"}, "scores", SCORE_EACH),
        ({"scores": {"a": 1}}, "scores", SCORE_EACH),
        ({"scores": 7}, "scores", SCORE_EACH),
        ({"group_scores": [1, 2]}, "group_scores", SCORE_EACH),
        ({"group_scores": [1, None, 2]}, "group_scores", SCORE_EACH),
        ({"alternative": "up"}, "alternative", None),
        ({"permutations": -1}, "permutations", None),
        ({"budget": 0}, "budget", None),
    ],
)
def test_options_that_do_not_fit_are_refused(options, argument, advice):
    with refused(ArgumentError, argument) as caught:
        sp.trend_test(groups_of_values(), **options)
    assert advice is None or caught.value.advice.advice is advice


def test_data_that_do_not_fit_are_refused():
    groups = waves([EVEN] * 3)
    both = sp.product({"x": U4, "y": WARNER})
    three = sp.simulate(sp.product(dict.fromkeys("xyz", WARNER)), np.full(8, 1 / 8), 100, seed=1)
    pair = sp.simulate(both, np.full(8, 1 / 8), 100, seed=1)
    for data, error, message, advice in (
        ([1, 2], ArgumentError, "`data` must be a mapping of groups to counts", GROUPS_OR_TABLE),
        (groups[1], ArgumentError, "`data` must be a mapping of groups to counts", GROUPS_OR_TABLE),
        (three, ArgumentError, "must have two variables; got 3", PICK_TWO),
        ({1: groups[1]}, ArgumentError, "must be two or more; got 1", COUNT_BY_GROUP),
        ({1: pair, 2: pair}, ArgumentError, "`data` must count one ordered variable; got 2", COUNT_ONE_VARIABLE),
    ):
        with pytest.raises(error, match=message) as caught:
            sp.trend_test(data)
        assert caught.value.advice.advice is advice
    with pytest.raises(MismatchError):
        sp.trend_test({1: groups[1], 2: sp.simulate(sp.uniform(list("dcba")), EVEN, 50, seed=1)})
    with pytest.raises(NoDataError):
        sp.trend_test({1: groups[1], 2: sp.SubsetCounts([15], [3], U4)})
    with pytest.raises(NotIdentifiableError):
        sp.trend_test({k: sp.SubsetCounts([3], [5], U4) for k in (1, 2)})
    with refused(ArgumentError, "method") as caught:
        sp.trend_test(pair, permutations=0).summary(method="score")
    assert caught.value.advice.advice is WALD_MEANS


# Level and power ------------------------------------------------------------------------------------------------------


def rejected(ws, size, *, n=200, seed=5, **options):
    """How often the test at 5% rejects, by random tables and by the normal distribution."""
    rng = np.random.default_rng(seed)
    result = [sp.trend_test(waves(ws, n, seed=rng), seed=rng, **options) for _ in range(size)]
    return tuple(np.mean([getattr(one, name) <= 0.05 for one in result]) for name in ("pvalue", "asymptotic_pvalue"))


@pytest.mark.slow
@pytest.mark.parametrize("w", [EVEN, NEAR], ids=["even", "near the boundary"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("n", [50, 200])
def test_the_level_in_2000_samples(w, alternative, n):
    for level in rejected([w] * 3, 2000, n=n, alternative=alternative, permutations=199, seed=6):
        assert pytest.approx(level, abs=3.5 * np.sqrt(0.05 * 0.95 / 2000)) == 0.05


@pytest.mark.slow
def test_the_level_of_two_private_variables_in_1000_samples():
    rng, both = np.random.default_rng(7), sp.product({"x": U4, "y": sp.uniform(list("rstu"))})
    samples = [sp.simulate(both, np.outer(NEAR, NEAR).ravel(), 400, seed=rng) for _ in range(1000)]
    level = np.mean([sp.trend_test(one, permutations=199, seed=rng).pvalue <= 0.05 for one in samples])
    assert pytest.approx(level, abs=3.5 * np.sqrt(0.05 * 0.95 / 1000)) == 0.05


@pytest.mark.slow
def test_power_against_a_trend_and_against_another_shape():
    # 1000 samples of 3 x 200: a trend is found twice as often as by `homogeneity_test`, another shape is not found.
    rng = np.random.default_rng(8)
    for ws, better in ((tilted(EVEN, 0.15), True), ([EVEN, np.array([0.35, 0.15, 0.15, 0.35]), EVEN], False)):
        samples = [waves(ws, seed=rng) for _ in range(1000)]
        trend = np.mean([sp.trend_test(one, permutations=99, seed=rng).pvalue <= 0.05 for one in samples])
        any_ = np.mean([sp.homogeneity_test(one, permutations=99, seed=rng).pvalue <= 0.05 for one in samples])
        assert trend > 1.7 * any_ if better else (trend < 0.08 and any_ > 0.4)
