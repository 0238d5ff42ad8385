"""Draws of numbers, subsets and weighted rows, exactly as likely as they should be."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from every_case import every_case
from problems import Odometer

from subsetprivacy.design import draws
from subsetprivacy.design.draws import pick, thresholds
from subsetprivacy.mechanism.randomness import SecureSource, SeededSource

TOP = 2**64 - 1


class EveryWord:
    """All words of a width once, in turn, then the middle ones again for what was rejected."""

    def __init__(self):
        self.calls = []

    def bits(self, n, width):
        self.calls.append((n, width))
        return (np.arange(n) % (1 << width)).astype(f"u{width // 8}")

    def among(self, rows):
        return self


@every_case("bound", [2, 3, 5, 6, 7, 8, 12, 100, 255, 256])
def test_all_words_of_a_byte_give_every_number_as_often(bound):
    # The first round only: of 256 words those that are accepted are evenly spread, and the rest is drawn again.
    source = EveryWord()
    drawn = draws.below(256, bound, source)
    need = (bound - 1).bit_length()
    accepted = bound << (8 - need)
    first = np.arange(256) >> (8 - need)
    kept = first < bound
    assert kept.sum() == accepted
    assert Counter(drawn[kept].tolist()) == dict.fromkeys(range(bound), 256 >> need)
    assert source.calls[0] == (256, 8)
    assert [n for n, _ in source.calls[1:2]] == ([256 - accepted] if accepted < 256 else [])
    assert drawn.max() == bound - 1
    assert drawn.dtype == np.int64


def test_one_number_needs_no_bits():
    source = EveryWord()
    assert draws.below(4, 1, source).tolist() == [0, 0, 0, 0]
    assert source.calls == []


@every_case(("bound", "width"), [(256, 8), (257, 16), (1 << 16, 16), (70_000, 32), (1 << 40, 64)])
def test_words_are_as_wide_as_needed(bound, width):
    source = SeededSource(np.random.default_rng(1))
    widths = []

    class Spy:
        def bits(self, n, width):
            widths.append(width)
            return source.bits(n, width)

        def among(self, rows):
            return self

    drawn = draws.below(20_000, bound, Spy())
    assert set(widths) == {width}
    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert drawn.mean() == pytest.approx((bound - 1) / 2, rel=0.03)  # six standard errors are 2.4 %


def test_words_that_cannot_be_written_to_are_no_obstacle():
    # The operating system's words come in a buffer that is locked.
    assert set(draws.below(5000, 3, SecureSource()).tolist()) == {0, 1, 2}


@every_case(("items", "k"), [(1, 1), (4, 1), (4, 2), (5, 3), (5, 5), (6, 2), (4, 0)])
def test_subsets_are_exactly_even(items, k):
    # All combinations of the k numbers that are drawn: every subset comes as often as every other.
    bounds = list(range(items - k + 1, items + 1))
    n = int(np.prod(bounds)) if k else 3
    steps, stride = [], n
    for bound in bounds:
        stride //= bound
        if bound > 1:
            steps.append(("below", bound, stride))
    drawn = draws.subsets(n, items, k, Odometer(*steps))
    every = [sum(1 << j for j in chosen) for chosen in combinations(range(items), k)]
    assert Counter(drawn.tolist()) == dict.fromkeys(every, n // comb(items, k))


@pytest.mark.parametrize("p", [2, 3, 5, 6])
def test_the_member_is_put_between_the_others(p):
    others = np.arange(1 << (p - 1))
    for x in range(p):
        made = draws.with_member(others, np.full(len(others), x))
        assert sorted(made.tolist()) == [a for a in range(1 << p) if a >> x & 1]
        # The others keep their order: without bit x the mask over p-1 comes back.
        back = [sum((a >> j & 1) << (j - (j > x)) for j in range(p) if j != x) for a in made.tolist()]
        assert back == others.tolist()


def test_the_member_can_be_the_48th():
    assert draws.with_member(np.array([0, (1 << 47) - 1]), np.array([47, 47])).tolist() == [1 << 47, (1 << 48) - 1]


def test_ranks_pick_members_of_a_mask():
    for mask in range(64):
        members = [j for j in range(6) if mask >> j & 1]
        for chosen in range(1 << len(members)):
            expected = sum(1 << members[r] for r in range(len(members)) if chosen >> r & 1)
            assert draws.within(np.array([mask]), np.array([chosen]), 6).tolist() == [expected]


def test_nobody():
    source = SeededSource(np.random.default_rng(1))
    assert draws.below(0, 5, source).tolist() == []
    assert draws.subsets(0, 5, 2, source).tolist() == []


def test_thresholds_are_cumulative_weights_in_64_bits():
    assert thresholds(np.array([0.5, 0.25, 0.25])).tolist() == [2**63, 3 * 2**62]
    assert thresholds(np.array([1.0])).tolist() == []


def test_weights_need_not_be_normalized():
    assert thresholds(np.array([6.0, 3.0, 3.0])).tolist() == thresholds(np.array([0.5, 0.25, 0.25])).tolist()


def test_pick_cuts_exactly_at_the_threshold():
    table = thresholds(np.array([0.5, 0.25, 0.25]))
    words = np.array([0, 2**63 - 1, 2**63, 3 * 2**62 - 1, 3 * 2**62, TOP], np.uint64)
    assert pick(table, words).tolist() == [0, 0, 1, 1, 2, 2]


def test_a_single_subset_takes_every_word():
    assert pick(thresholds(np.array([1.0])), np.array([0, TOP], np.uint64)).tolist() == [0, 0]


def test_a_cumulative_weight_that_rounds_to_one_fits_in_a_word():
    table = thresholds(np.array([1.0, 1e-30, 1e-30]))
    assert table.tolist() == [TOP, TOP]
    assert pick(table, np.array([TOP - 1], np.uint64)).tolist() == [0]


@pytest.mark.parametrize("tiny", [2.0**-60, 2.0**-64])
def test_tiny_first_weights_keep_their_share(tiny):
    # Drawn through float uniforms these would never or too often be picked.
    first = thresholds(np.array([tiny, 1 - tiny]))[0]
    assert int(first) == int(tiny * 2**64)
