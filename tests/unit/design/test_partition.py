"""Which of these m groups?"""

from collections import Counter

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCDE, GROUPS, LISTED, RECORDED, SEVEN, TWO_GROUPS
from problems import rising
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import EvenPartition, ListedPartition
from subsetprivacy.errors import ArgumentError, CodeError, InvalidDesignError, NotIndependentError


@every_case(("p", "m"), [(4, 2), (5, 2), (7, 3), (8, 3), (9, 4), (48, 24), (48, 5)])
def test_drawn_groups_cover_everything_exactly_once(p, m):
    design = sp.partition(range(p), m)
    groups = sp.draw_questions(design, 300, seed=1) if m > 2 else design.draw_partitions(300, _source())
    assert groups.shape == (300, m)
    assert (np.bitwise_or.reduce(groups, axis=1) == (1 << p) - 1).all()
    sizes = np.bitwise_count(groups)
    assert (sizes.sum(axis=1) == p).all()  # with the line above: disjoint
    assert sizes.min() >= 2
    assert sizes.max() - sizes.min() <= 1
    assert sorted(design.group_sizes) == sorted(sizes[0].tolist())


def _source():
    from subsetprivacy.mechanism.randomness import SeededSource

    return SeededSource(np.random.default_rng(1))


def test_two_groups_are_a_yes_no_question():
    design = sp.partition(range(6), 2)
    assert design.is_independent
    assert design.options == 2
    question = sp.ask(design, seed=1)
    assert question.is_yes_no
    assert str(question).startswith("Is your answer one of these")
    assert set(question.groups[0]) | set(question.groups[1]) == set(range(6))
    assert sp.partition(range(6), 3).options == 3
    assert not sp.partition(range(6), 3).is_independent
    with pytest.raises(NotIndependentError):
        sp.partition(range(6), 3).as_independent()


def test_every_partition_of_six_into_three_pairs_is_as_likely():
    groups = sp.draw_questions(sp.partition(range(6), 3), 150_000, seed=2)
    seen = Counter(tuple(sorted(row)) for row in groups.tolist())
    assert len(seen) == 15
    assert max(abs(times - 10_000) for times in seen.values()) < 5 * 97  # five standard errors


# Listed partitions ------------------------------------------------------------------------------------------------


def test_the_two_kinds():
    assert isinstance(sp.partition(SEVEN, 3), EvenPartition)
    assert isinstance(GROUPS, ListedPartition)
    assert not GROUPS.recorded
    assert RECORDED.recorded
    assert not TWO_GROUPS.recorded
    # Of two groups either tells the other: nothing is to be recorded.
    again = sp.partition(ABCDE, partitions=[[("a", "b"), ("c", "d", "e")]], record=True)
    assert not again.recorded
    assert again.code_space == "mask"


def test_codes_of_recorded_groups():
    # m (number + 1) + group: 3 … 17 for five partitions of three groups; 1 is the full set.
    codes, mu = RECORDED.support()
    assert codes.tolist() == list(range(3, 18))
    assert mu.tolist() == [0.2] * 15
    assert RECORDED.missing_code == 1
    assert RECORDED.code_bits == 5
    for number, groups in enumerate(LISTED):
        for k, group in enumerate(groups):
            assert RECORDED.members(3 * (number + 1) + k) == group
            assert RECORDED.format(3 * (number + 1) + k) == "|".join(group)
    assert RECORDED.members(1) == SEVEN
    assert RECORDED.allows(np.array([0, 1, 2, 3, 17, 18])).tolist() == [False, True, False, True, True, False]
    assert RECORDED.strata(codes).tolist() == [k for k in range(5) for _ in range(3)]
    assert GROUPS.strata(GROUPS.support()[0]) is None
    assert RECORDED.sizes(codes).tolist() == [len(group) for groups in LISTED for group in groups]


def test_a_group_of_several_partitions_has_their_weight():
    mu = {GROUPS.categories.format(a): m for a, m in zip(*GROUPS.support())}
    assert mu["a|b|c"] == pytest.approx(0.4)  # in two partitions of five
    assert mu["a|b"] == pytest.approx(0.2)
    assert GROUPS.S == RECORDED.S == 3


def test_the_record_changes_no_maximum():
    w = np.arange(1, 8) / 28
    counts = sp.simulate(RECORDED, w, 4000, seed=1)
    masks = RECORDED.masks(counts.codes)
    unrecorded = sp.count(np.repeat(masks, counts.counts), design=GROUPS)
    assert sp.estimate(unrecorded).w == pytest.approx(sp.estimate(counts).w, abs=1e-7)


def test_moments_given_the_partitions_do_not_need_their_law():
    # However often each partition was asked: expected answers return w.
    w = np.array([1, 1, 2, 2, 3, 3, 8]) / 20
    times = np.array([3, 1, 4, 2, 7])
    rows = np.array([[a >> j & 1 for j in range(7)] for a in RECORDED.groups.ravel().tolist()])
    people = np.repeat(20 * times, 3) * (rows @ w)
    counts = sp.SubsetCounts(RECORDED.support()[0], np.rint(people).astype(int), RECORDED)
    assert sp.estimate(counts, "mom-conditional").w == pytest.approx(w, abs=1e-11)
    assert sp.estimate(counts, "mom").w != pytest.approx(w, abs=1e-3)


@pytest.mark.slow
def test_moments_given_the_partitions_know_their_error():
    w = np.array([1, 1, 2, 2, 3, 3, 8]) / 20
    batch = sp.estimate_many(sp.simulate_many(RECORDED, w, 2000, 1500, seed=3), "mom-conditional")
    spread = batch.w.std(axis=0)
    assert spread == pytest.approx(batch.se.mean(axis=0), rel=0.08)  # the error of a spread of 1500 is 2 %
    assert np.abs(batch.w.mean(axis=0) - w).max() < 4.5 * spread.max() / np.sqrt(1500)


@pytest.mark.parametrize("several", [False, True])
def test_weighted_errors_of_moments_given_the_questions(several):
    # Equal weights give the errors of plain people, but for the residuals that stand for variances.
    codes = sp.simulate(RECORDED, rising(7), 4000, seed=1)
    rows = np.random.default_rng(1).permutation(np.repeat(codes.codes, codes.counts))
    fits = []
    for weights in (None, np.full(len(rows), 3.0)):
        kind = None if weights is None else "sampling"
        if several:
            pairs = sp.crosstab(rows, rows[::-1], designs=[RECORDED] * 2, weights=weights, weights_kind=kind)
            fits.append(sp.estimate(pairs, "mom-conditional"))
        else:
            counts = sp.count(rows, design=RECORDED, weights=weights, weights_kind=kind)
            fits.append(sp.estimate(counts, "mom-conditional"))
    assert fits[1].w == pytest.approx(fits[0].w, abs=1e-10)
    assert fits[1].n == pytest.approx(4000)
    assert fits[1]._se == pytest.approx(fits[0]._se, rel=0.1)


@every_case(
    ("design", "values"),
    [(RECORDED, ["a", None, "g", "b"] * 50), (sp.hadamard(60), [*range(60), *[None] * 20] * 15)],
    ids=["groups", "rows of a matrix"],
)
def test_missing_answers_of_numbered_reports_are_left_out(design, values):
    counts = sp.privatize(values, design, missing="full", seed=1).counts()
    assert (counts.n, counts.n_missing) == (0.75 * len(values), len(values) / 4)
    without = sp.SubsetCounts(counts.codes[1:], counts.counts[1:], design)
    for method in ("mle", "mom", "mom-conditional"):
        assert sp.estimate(counts, method).w == pytest.approx(sp.estimate(without, method).w, abs=1e-9)


# Counts of different lists ----------------------------------------------------------------------------------------


def test_masks_of_different_designs_can_be_added():
    w = np.arange(1, 8) / 28
    designs = (GROUPS, sp.partition(SEVEN, 3), sp.uniform(SEVEN), sp.fixed_size(SEVEN, 3))
    designs += (sp.hadamard(SEVEN), sp.hadamard(SEVEN, 15))
    together = sum(sp.simulate(design, w, 40_000, seed=k) for k, design in enumerate(designs))
    assert together.n == 240_000
    for method in ("mle", "mom"):
        fit = sp.estimate(together, method)
        assert np.abs((fit.w - w) / fit.se).max() < 4.5


# Refusals ---------------------------------------------------------------------------------------------------------


@every_case(("p", "m"), [(4, 3), (5, 3), (9, 5), (16, 9)])
def test_too_many_groups_are_refused_with_the_nearest(p, m):
    with refused(InvalidDesignError, "groups") as caught:
        sp.partition(range(p), m)
    assert str(caught.value.advice) == f"the nearest is {p // 2}"
    assert sp.partition(range(p), p // 2).smallest_set == 2


@every_case(
    ("groups", "argument"),
    [
        ([[("a", "b"), ("c", "d")]], None),
        ([[("a", "b", "c"), ("c", "d", "e")]], None),
        ([[ABCDE]], None),
        ([[("a", "b", "c", "d"), ("e",)]], None),
        ([[("a", "b", "c", "d", "e"), ()]], None),
        ([], "partitions"),
        ([[("a", "b"), ("c", "d", "x")]], "label"),
        # The sums agree and the groups do not: 3 + 3 + 25 = 31.
        ([[3, 28], [3, 3, 25]], None),
    ],
)
def test_what_is_no_partition_is_refused(groups, argument):
    with refused(InvalidDesignError, argument):
        sp.partition(ABCDE, partitions=groups)


def test_partitions_must_have_as_many_groups_each():
    with pytest.raises(InvalidDesignError):
        sp.partition(range(6), partitions=[[(0, 1), (2, 3), (4, 5)], [(0, 1, 2), (3, 4, 5)]])


def test_a_record_needs_a_list():
    with refused(InvalidDesignError, "record"):
        sp.partition(range(6), 3, record=True)


def test_the_number_of_groups_is_checked():
    with refused(ArgumentError, "groups"):
        sp.partition(range(6), 1)
    with pytest.raises(InvalidDesignError):
        sp.partition(range(3))


def test_labels_of_recorded_groups_are_no_codes():
    with pytest.raises(CodeError):
        sp.count([("a", "b")], design=RECORDED)
    assert sp.count([("a", "b"), ("a", "b", "c")], design=GROUPS).n == 2
