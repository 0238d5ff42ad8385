"""`homogeneity_test`: one distribution in all groups, or not."""

import itertools
import warnings

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, GIVEN, GIVEN3, RECORDED, WARNER
from problems import exact_counts, rising
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import (
    ArgumentError,
    BudgetWarning,
    MismatchError,
    NoDataError,
    NotIdentifiableError,
    NotUniqueWarning,
)
from subsetprivacy.independence import group_permutations, homogeneity
from subsetprivacy.independence.testing import METHODS
from subsetprivacy.mechanism.simulate import simulate_informative
from subsetprivacy.messages import NoteKind

W = np.array([0.1, 0.2, 0.3, 0.4])
U4 = sp.uniform(ABCD)


def samples(design=ASKED, sizes=(300, 120), shift=0.0):
    w = [np.roll(W, k) * shift + W * (1 - shift) for k in range(len(sizes))]
    return [sp.simulate(design, part, n, seed=k) for k, (part, n) in enumerate(zip(w, sizes))]


def by_hand(parts):
    """Twice the sum of the log-likelihoods of fits of their own, less that of one fit for all."""
    own = sum(sp.estimate(part, tol=1e-12).loglik for part in parts)
    rows = np.concatenate([part.incidence.inner(np.eye(part.design.p)).T for part in parts])
    n = np.concatenate([part.n_a for part in parts])
    w = np.full(rows.shape[1], 1 / rows.shape[1])
    for _ in range(20_000):  # EM of the pooled sample
        w = w * ((n / (rows @ w)) @ rows) / n.sum()
    return 2 * (own - n @ np.log(rows @ w)), w


@every_case("method", METHODS)
def test_under_one_design_it_is_independence_of_the_group(method):
    one, two = samples(shift=0.4)
    result = sp.homogeneity_test(one, two, method=method, permutations=99, seed=1)
    both = sp.product({"group": sp.nonprivate(["1", "2"]), "x": ASKED})
    counts = np.array([[part.counts[part.codes == a].sum() for a in ASKED.support()[0]] for part in (one, two)])
    independence = sp.independence_test(sp.JointCounts.of_table(counts, both), method, permutations=99, seed=1)
    assert result.statistic == pytest.approx(independence.statistic, rel=1e-9)
    assert result.df == independence.df
    assert result.pvalue == independence.pvalue
    assert result.null == independence.null
    assert result.hypothesis == "the same distribution in 2 groups"


def test_the_likelihood_ratio_of_one_design_by_hand():
    parts = samples(sizes=(300, 120, 77), shift=0.3)
    result = sp.homogeneity_test(*parts, permutations=9, seed=1)
    statistic, pooled = by_hand(parts)
    assert result.statistic == pytest.approx(statistic, abs=1e-4)
    assert result.df == 6
    assert result.null_estimates["pooled"].w == pytest.approx(pooled, abs=1e-5)
    assert list(result.alternative_estimates) == ["group 1", "group 2", "group 3"]
    assert result.n == 497


def test_the_likelihood_ratio_of_different_designs_by_hand():
    parts = [sp.simulate(d, w, n, seed=n) for d, w, n in ((ASKED, W, 200), (GIVEN, W[::-1], 90), (U4, W, 60))]
    result = sp.homogeneity_test(*parts, permutations=19, seed=1)
    statistic, pooled = by_hand(parts)
    assert result.statistic == pytest.approx(statistic, abs=1e-4)
    assert result.df == 6
    assert result.null_estimates["pooled"].w == pytest.approx(pooled, abs=1e-5)
    assert result.null_estimates["pooled"].categories.labels == ABCD
    assert (result.null, result.permutations) == ("bootstrap", 19)
    assert result.pvalue == pytest.approx(0.05)
    assert any("the designs differ" in note.text for note in result.notes)


def test_expected_counts_of_one_distribution_give_a_statistic_of_zero():
    parts = [exact_counts(ASKED, W, 1000), exact_counts(sp.fixed_size(ABCD, 2), W, 3000), exact_counts(GIVEN, W, 700)]
    result = sp.homogeneity_test(*parts, permutations=0)
    assert result.statistic == pytest.approx(0, abs=1e-6)
    assert result.pvalue == pytest.approx(1)
    assert result.null_estimates["pooled"].w == pytest.approx(W, abs=1e-6)
    moved = sp.homogeneity_test(parts[0], exact_counts(GIVEN, W[::-1], 700), permutations=0)
    assert moved.statistic > 50
    assert moved.pvalue < 1e-6


@pytest.mark.parametrize("method", ["lrt", "pearson"])
def test_expected_counts_of_one_design_too(method):
    parts = [exact_counts(ASKED, W, 1000), exact_counts(ASKED, W, 300)]
    result = sp.homogeneity_test(*parts, method=method, permutations=0)
    assert result.statistic == pytest.approx(0, abs=1e-6)


def test_groups_by_name():
    x = sp.privatize(list("abcd") * 30, ASKED, seed=1)
    counts = sp.count(x, by=["north", "south", "west"] * 40)
    result = sp.homogeneity_test(counts, permutations=9, seed=1)
    assert result.df == 6
    assert list(result.tables) == ["north", "south", "west"]
    assert list(result.alternative_estimates) == ["north", "south", "west"]
    assert result.statistic == pytest.approx(sp.homogeneity_test(*counts.values(), permutations=9, seed=1).statistic)


def test_data_of_people_and_numbered_groups():
    x = [sp.privatize(list("aabcd") * 10, ASKED, seed=k) for k in range(2)]
    result = sp.homogeneity_test({1: x[0], "1": x[1]}, permutations=9, seed=1)
    assert result.df == 3
    assert result.statistic == pytest.approx(sp.homogeneity_test(*x, permutations=9, seed=1).statistic)


@pytest.mark.slow
def test_the_level_of_simulated_people():
    # Under one distribution p-values are spread evenly over 1/20, 2/20, … 1.
    rng = np.random.default_rng(5)
    result = [
        sp.homogeneity_test(
            sp.simulate(WARNER, [0.3, 0.7], 60, seed=rng),
            sp.simulate(sp.warner(["no", "yes"], 0.8), [0.3, 0.7], 90, seed=rng),
            permutations=19,
            seed=rng,
        ).pvalue
        for _ in range(400)
    ]
    assert abs(np.mean(result) - 0.525) < 4 * np.sqrt(1 / 12 / 400)


def test_weights_of_one():
    codes = [np.array([3, 12, 5, 10, 3, 9] * 12), np.array([3, 6, 5, 10, 12, 9] * 9)]
    parts = [sp.count(c, design=ASKED) for c in codes]
    weighted = [sp.count(c, design=ASKED, weights=np.full(len(c), 2.5), weights_kind="sampling") for c in codes]
    plain = sp.homogeneity_test(*parts, permutations=9, seed=1)
    result = sp.homogeneity_test(*weighted, permutations=9, seed=1)
    assert result.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert (plain.null, result.null) == ("permutation", "bootstrap")
    with pytest.raises(MismatchError):
        sp.homogeneity_test(parts[0], weighted[1])


def test_weighted_groups_under_different_designs():
    codes = [np.array([3, 12, 5, 10, 9] * 16), np.array([3, 12, 5, 6] * 10)]
    plain = [sp.count(c, design=design) for c, design in zip(codes, (ASKED, U4))]
    one, two = (
        sp.count(c, design=part.design, weights=np.full(len(c), weight), weights_kind="sampling")
        for c, part, weight in zip(codes, plain, (2.0, 0.5))
    )
    result = sp.homogeneity_test(one, two, permutations=9, seed=1)
    assert result.statistic == pytest.approx(by_hand(plain)[0], abs=1e-4)
    assert result.n == pytest.approx(120)
    assert NoteKind.WEIGHTED in {note.kind for note in result.notes}


def test_several_variables_at_once():
    both = sp.product({"x": ASKED, "y": WARNER})
    w = np.outer(W, [0.3, 0.7]).ravel()
    parts = [sp.simulate(both, w, n, seed=n) for n in (400, 150)]
    result = sp.homogeneity_test(*parts, permutations=9, seed=1)
    assert result.df == 7
    assert (result.null, result.permutations) == ("permutation", 9)
    assert result.statistic == pytest.approx(by_hand(parts)[0], abs=1e-3)
    simulated = sp.homogeneity_test(*parts, permutations=9, null="bootstrap", seed=1)
    assert (simulated.null, simulated.statistic) == ("bootstrap", result.statistic)
    assert simulated.notes[-1].text == "People are simulated from the pooled estimate: as asked for."
    with refused(ArgumentError, "method"):
        sp.homogeneity_test(*parts, method="pearson")


def test_more_groups_than_a_code_holds_change_places_too():
    design = sp.uniform(range(46))
    assert design.code_bits == 46
    parts = [sp.simulate(design, rising(46), 60, seed=k) for k in range(3)]
    result = sp.homogeneity_test(*parts, permutations=2, seed=1)
    assert (result.null, result.df) == ("permutation", 90)
    assert np.isfinite(result.statistic)
    assert NoteKind.NULL_LAW not in {note.kind for note in result.notes}


@pytest.mark.parametrize("design", [U4, sp.hadamard(range(70))], ids=["few categories", "many"])
def test_the_statistics_of_groups_are_those_of_group_by_subset(design, monkeypatch):
    # The same seed draws the same tables, whichever way their likelihood ratios are worked out.
    w = np.full(design.p, 1 / design.p)
    parts = [sp.simulate(design, w, n, seed=n) for n in (40, 25)]
    crossed = sp.homogeneity_test(*parts, permutations=19, seed=1)
    monkeypatch.setattr(homogeneity, "MAX_CATEGORIES", 2)
    compared = sp.homogeneity_test(*parts, permutations=19, seed=1)
    assert (compared.null, crossed.null) == ("permutation", "permutation")
    assert compared.statistic == pytest.approx(crossed.statistic, abs=2e-3)
    assert compared.law.statistics == pytest.approx(crossed.law.statistics, abs=2e-3)


def test_few_tables_of_several_variables_are_all_looked_at():
    both = sp.product({"x": WARNER, "y": WARNER})
    parts = [sp.simulate(both, np.full(4, 0.25), n, seed=n) for n in (5, 4)]
    result = sp.homogeneity_test(*parts)
    assert (result.null, result.pvalue_se) == ("exact", 0.0)
    # Every way to choose the people of the first group, one by one.
    codes = np.concatenate([np.repeat(part.observed_codes, part.n_a.astype(int)) for part in parts])
    larger = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotUniqueWarning)
        observed = sum(sp.estimate(part).loglik for part in parts)
        for first in itertools.combinations(range(9), 5):
            inside = np.isin(np.arange(9), first)
            groups = [sp.count(codes[inside], design=both), sp.count(codes[~inside], design=both)]
            larger.append(sum(sp.estimate(group).loglik for group in groups) >= observed - 1e-6)
    assert result.pvalue == pytest.approx(np.mean(larger))
    seen = []
    again = sp.homogeneity_test(*parts, progress=lambda *done: seen.append(done))
    assert seen == [(again.permutations, again.permutations)]


def test_progress_and_budget_of_people_who_change_groups():
    both = sp.product({"x": U4, "y": WARNER})
    parts = [sp.simulate(both, np.full(8, 1 / 8), 40, seed=k) for k in range(2)]
    seen = []
    sp.homogeneity_test(*parts, permutations=7, seed=3, progress=lambda *done: seen.append(done))
    assert seen[-1] == (7, 7)
    with pytest.warns(BudgetWarning, match="none were drawn") as caught:
        result = sp.homogeneity_test(*parts, budget=1e-6)
    assert caught[0].filename == __file__
    assert (result.null, result.pvalue) == ("asymptotic", result.asymptotic_pvalue)


def test_weighted_people_do_not_change_groups():
    both = sp.product({"x": U4, "y": WARNER})
    codes = [
        np.repeat(part.codes, part.counts)
        for k in (1, 2)
        for part in [sp.simulate(both, np.full(8, 1 / 8), 60, seed=k)]
    ]
    weighted = [sp.count(c, design=both, weights=np.full(len(c), 2.0), weights_kind="sampling") for c in codes]
    result = sp.homogeneity_test(*weighted, permutations=9, seed=1)
    assert result.null == "bootstrap"
    assert result.notes[-1].text == "People are simulated from the pooled estimate: weighted rows cannot be permuted."
    with refused(ArgumentError, "null"):
        sp.homogeneity_test(*weighted, null="permutation")


def test_more_people_than_can_be_drawn_are_simulated(monkeypatch):
    both = sp.product({"x": U4, "y": WARNER})
    parts = [sp.simulate(both, np.full(8, 1 / 8), 60, seed=k) for k in (1, 2)]
    monkeypatch.setattr(group_permutations, "LARGEST", 100)
    result = sp.homogeneity_test(*parts, permutations=9, seed=1)
    assert result.null == "bootstrap"
    assert "or more cannot be drawn at random" in result.notes[-1].text


# Level ------------------------------------------------------------------------------------------------------------

# Many more cells than people, where no limit law holds.
SPARSE = {
    "254 subsets, 2 x 30 people": (sp.uniform(range(8)), (30, 30)),
    "4094 subsets, 2 x 25 people": (sp.uniform(range(12)), (25, 25)),
    "two variables, 2 x 30 people": (sp.product({"x": U4, "y": sp.uniform(list("rstu"))}), (30, 30)),
}


def share_rejected(design, sizes, size, permutations, seed):
    """How often the test at 5 % rejects samples of one distribution."""
    rng, w = np.random.default_rng(seed), rising(design.categories.p)
    result = [
        sp.homogeneity_test(*[sp.simulate(design, w, n, seed=rng) for n in sizes], permutations=permutations, seed=rng)
        for _ in range(size)
    ]
    assert {test.null for test in result} == {"permutation"}
    return np.mean([test.pvalue <= 0.05 for test in result])


@pytest.mark.slow
@pytest.mark.parametrize("name", SPARSE)
def test_the_level_of_few_people_in_many_cells_in_2000_tables(name):
    assert 0.035 <= share_rejected(*SPARSE[name], size=2000, permutations=99, seed=16) <= 0.065


def test_recorded_groups():
    parts = [sp.simulate(RECORDED, rising(7), n, seed=n) for n in (500, 200)]
    for method in METHODS:
        assert 0 < sp.homogeneity_test(*parts, method=method, permutations=19, seed=1).pvalue <= 1


def test_progress_seeds_and_budget_of_simulated_people():
    parts = [sp.simulate(ASKED, W, 50, seed=1), sp.simulate(U4, W, 50, seed=2)]
    seen = []
    one = sp.homogeneity_test(*parts, permutations=7, seed=3, progress=lambda *done: seen.append(done))
    two = sp.homogeneity_test(*parts, permutations=7, seed=3)
    assert seen == [(k, 7) for k in range(1, 8)]
    assert one.law.statistics.tolist() == two.law.statistics.tolist()
    with pytest.warns(BudgetWarning, match="none were drawn"):
        result = sp.homogeneity_test(*parts, budget=1e-6)
    assert result.null == "asymptotic"
    assert result.pvalue == result.asymptotic_pvalue


def test_refusals():
    one, two = samples()
    with refused(ArgumentError, "groups"):
        sp.homogeneity_test(one)
    with refused(ArgumentError, "groups"):
        sp.homogeneity_test()
    with pytest.raises(MismatchError):
        sp.homogeneity_test(one, sp.simulate(sp.uniform(list("rstu")), W, 50, seed=1))
    with pytest.raises(NoDataError):
        sp.homogeneity_test(one, sp.count([15, 15], design=ASKED))
    blind = sp.independent(ABCD, {("a", "b"): 1.0})
    with pytest.raises(NotIdentifiableError):
        sp.homogeneity_test(one, sp.count([3, 12], design=blind))
    with refused(ArgumentError, "groups"):
        sp.homogeneity_test(*[sp.privatize(list("abcd") * 10, sp.covered(ASKED, 0.1), seed=k) for k in range(2)])
    other = sp.simulate(U4, W, 50, seed=1)
    with refused(ArgumentError, "method"):
        sp.homogeneity_test(one, other, method="pearson")
    with refused(ArgumentError, "null"):
        sp.homogeneity_test(one, other, null="permutation")
    with refused(ArgumentError, "method"):
        sp.homogeneity_test(one, two, method="chi")
    with refused(ArgumentError, "permutations"):
        sp.homogeneity_test(one, two, permutations=-3)


def weighted_groups(scale):
    rng = np.random.default_rng(3)
    groups = {}
    for name, factor in (("one", 1.0), ("two", scale)):
        people = sp.simulate(U4, W, 500, seed=rng)
        codes = np.repeat(people.codes, people.counts)
        weights = factor * rng.uniform(0.5, 2, 500)
        groups[name] = sp.count(codes, design=U4, weights=weights, weights_kind="sampling")
    return groups


def test_the_scale_of_one_groups_weights_does_not_matter():
    # Weights say whom a person stands for within the group, not how large the group is.
    once, many = (sp.homogeneity_test(weighted_groups(scale), permutations=19, seed=1) for scale in (1.0, 100.0))
    assert many.statistic == pytest.approx(once.statistic)
    assert many.n == pytest.approx(once.n)
    assert once.margins["pooled"].n == pytest.approx(once.n)


@pytest.mark.slow
def test_the_level_of_weighted_groups():
    rng = np.random.default_rng(11)
    rejected = 0
    for _ in range(300):
        groups = {}
        for name, n, spread in (("one", 4000, 0.0), ("two", 1000, 1.3)):
            people = sp.simulate(U4, W, n, seed=rng)
            codes = np.repeat(people.codes, people.counts)
            weights = rng.lognormal(0, spread, n)
            groups[name] = sp.count(codes, design=U4, weights=weights, weights_kind="sampling")
        rejected += sp.homogeneity_test(groups, permutations=99, seed=rng).pvalue <= 0.05
    assert 3 <= rejected <= 29  # 15 expected, four standard errors


def test_degrees_of_freedom_are_checked_on_every_route():
    one, two = sp.simulate(U4, W, 100, seed=1), sp.simulate(ASKED, W, 100, seed=2)
    with refused(ArgumentError, "df"):
        sp.homogeneity_test(one, two, df="nonsense")
    with refused(ArgumentError, "df"):
        sp.homogeneity_test(one, two, df="paper")


def test_doubts_about_groups_under_different_designs():
    one, two = sp.simulate(U4, [0.9, 0.1, 0.0, 0.0], 40, seed=1), sp.simulate(ASKED, [0.9, 0.1, 0.0, 0.0], 40, seed=2)
    kinds = {note.kind for note in sp.homogeneity_test(one, two, permutations=19, seed=1).notes}
    assert {NoteKind.SMALL_COUNTS, NoteKind.BOUNDARY} <= kinds


def test_a_group_of_one_person_and_many_subsets_ends_soon():
    many = sp.hadamard(range(600))
    w = np.full(600, 1 / 600)
    groups = {"one": sp.simulate(many, w, 1, seed=1), "many": sp.simulate(many, w, 2000, seed=2)}
    result = sp.homogeneity_test(groups, method="pearson", permutations=19, seed=1)
    assert result.null == "permutation"  # to list all tables would take minutes


def test_people_without_a_group_are_in_no_group():
    one, two, lost = (sp.simulate(U4, W, n, seed=n) for n in (100, 120, 7))
    result = sp.homogeneity_test({"one": one, None: lost, "two": two}, permutations=9, seed=1)
    assert list(result.tables) == ["one", "two"]
    assert result.notes[-1].kind is NoteKind.LEFT_OUT
    assert result.notes[-1].text == "Left out, because their group is missing: 7 rows."
    asked = sp.simulate(ASKED, W, 90, seed=1)
    other = sp.homogeneity_test({"one": one, None: lost, "two": asked}, permutations=9, seed=1)
    assert other.notes[-1].text == "Left out, because their group is missing: 7 rows."


@every_case(
    ("second", "hint"),
    [
        ([1, 2], r"homogeneity_test\(\*groups\)"),
        ("lrt", "options have names"),
        (np.arange(3), "count\\(data, by=group"),
    ],
)
def test_what_is_no_group(second, hint):
    with pytest.raises(ArgumentError, match=f"a group must be SubsetData or SubsetCounts; got .*{hint}"):
        sp.homogeneity_test(sp.simulate(U4, W, 100, seed=1), second)


def test_which_groups_differ_can_be_seen():
    groups = {"one": sp.simulate(U4, W, 400, seed=1), "two": sp.simulate(U4, W[::-1], 400, seed=2)}
    result = sp.homogeneity_test(groups, permutations=19, seed=1)
    assert result.joint.table().shape == (2, 4)
    assert [label.get_text() for label in result.plot("residuals").get_yticklabels()] == ["one", "two"]


@pytest.mark.slow
def test_people_are_simulated_whose_subset_says_something():
    # Too many pairs of subsets to be listed, two fifths of them with a full set, which says nothing.
    design = sp.product({"x": sp.uniform(range(20)), "y": GIVEN3})
    w = np.full(60, 1 / 60)
    drawn = simulate_informative(design, w, 300, np.random.default_rng(1))
    assert (drawn.n, drawn.n_missing) == (300, 0)
    waves = [sp.simulate(design, w, 500, seed=seed) for seed in (1, 2)]
    result = sp.homogeneity_test(*waves, permutations=3, null="bootstrap", seed=1)
    assert 20 < result.law.statistics.mean() < 36  # 28.6; scaled to more people than were drawn it would be 48


def test_of_many_groups_a_bad_one_is_told_by_its_number():
    groups = {f"person-{k}": sp.simulate(U4, W, 20, seed=k) for k in range(30)}
    groups["person-7"] = sp.count([15, 15], design=U4)
    with pytest.raises(NoDataError):
        sp.homogeneity_test(groups)
