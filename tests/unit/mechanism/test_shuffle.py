"""Even shuffles: exactly even, ties included."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from every_case import every_case

from subsetprivacy.errors import TooLargeError
from subsetprivacy.mechanism import shuffle
from subsetprivacy.mechanism.randomness import SecureSource, SeededSource
from subsetprivacy.mechanism.shuffle import bucket_counts, shuffled, shuffled_values


class Script:
    """Words written down beforehand, one list per call; a call for another number of them is an error."""

    def __init__(self, *calls):
        self._calls = list(calls)

    def bits(self, n, width):
        words = self._calls.pop(0)
        assert (len(words), width) == (n, 32)
        return np.array(words, np.uint32)

    def done(self):
        return not self._calls


def tied_rows(keys):
    """The number of rows that share their key with another one."""
    return sum(times for times in Counter(keys).values() if times > 1)


@every_case("values", [1, 2, 3])
def test_every_order_is_exactly_as_likely_whatever_ties(values):
    # All keys of four rows out of very few values, then all orders of fresh keys for the rows that tie.
    law = defaultdict(Fraction)
    for keys in product(range(values), repeat=4):
        tied = tied_rows(keys)
        for fresh in permutations(range(tied)):
            source = Script(list(keys), *([list(fresh)] if tied else []))
            order = tuple(shuffled(4, source).tolist())
            assert source.done()
            law[order] += Fraction(1, values**4 * factorial(tied))
    assert law == dict.fromkeys(permutations(range(4)), Fraction(1, 24))


def test_rows_that_tie_again_are_drawn_again():
    # Rows 0 and 1 tie, and rows 2, 3, 4; then 2 and 4 once more.
    source = Script([5, 5, 1, 1, 1], [0, 9, 0, 8, 3], [7, 2])
    assert shuffled(5, source).tolist() == [4, 2, 3, 1, 0]
    assert source.done()


def test_a_tie_does_not_move_rows_of_other_keys():
    # Fresh keys are compared within a tie only: 1 and 0 stay behind 3 and 2 though theirs are smaller.
    assert shuffled(4, Script([6, 6, 2, 2], [9, 8, 1, 0])).tolist() == [3, 2, 1, 0]


def test_keys_are_compared_as_unsigned_numbers():
    assert shuffled(3, Script([1 << 31, (1 << 32) - 1, 0])).tolist() == [2, 0, 1]


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_shuffle(n):
    order = shuffled(n, SecureSource())
    assert order.dtype == np.int64
    assert order.tolist() == list(range(n))


def test_many_rows_are_all_there_and_spread():
    # 300,000 rows: some ten ties of 32-bit keys are expected.
    order = shuffled(300_000, SeededSource(np.random.default_rng(1)))
    assert np.array_equal(np.sort(order), np.arange(300_000))
    share = (order[:100_000] < 100_000).mean()
    assert share == pytest.approx(1 / 3, abs=0.007)  # six standard errors
    assert (order == np.arange(300_000)).sum() < 12  # one in expectation


@every_case("kind", ["u1", "u2", "u4"])
def test_values_are_shuffled_as_their_rows_would_be(kind):
    # The largest value of the type, and one that comes twice: neither runs into the key above it.
    values = np.array([np.iinfo(kind).max, 7, 0, 7, 1], kind)
    keys, fresh = [3, 9, 9, 0, (1 << 32) - 1], [5, 4]
    mixed = shuffled_values(values, Script(keys, fresh))
    assert mixed.dtype == values.dtype
    assert mixed.tolist() == [7, np.iinfo(kind).max, 7, 0, 1]  # rows 3, 0, then 1 and 2 that tie, 4


def test_values_that_tie_are_in_no_order_of_their_own():
    # Sorting word by word puts the smaller value first: over all fresh keys it must be first half of the times.
    first = [int(shuffled_values(np.array([8, 2], "u2"), Script([1, 1], fresh))[0]) for fresh in ([0, 1], [1, 0])]
    assert sorted(first) == [2, 8]


def test_more_rows_than_there_are_numbers_are_refused():
    with pytest.raises(TooLargeError, match=r"at most 2\^32 rows can be shuffled at once; got 4294967297"):
        shuffled((1 << 32) + 1, SecureSource())


class Words:
    """Words of 64 bits written down beforehand, for one call or for several."""

    def __init__(self, words):
        self._words = list(words)

    def bits(self, n, width):
        assert width == 64
        taken, self._words = self._words[:n], self._words[n:]
        assert len(taken) == n
        return np.array(taken, np.uint64)


COUNTS = np.array([0, 1, 7, 0, 0, 1000, 123_456, 0])


def test_every_row_falls_on_either_heap_by_its_own_bit():
    # Two rows of one kind and one of another: all eight patterns of three bits, each as likely as the others.
    law = Counter(tuple(list(bucket_counts(np.array([2, 0, 1]), 2, Words([word])))[1].tolist()) for word in range(8))
    assert law == {(0, 0, 0): 1, (1, 0, 0): 2, (2, 0, 0): 1, (0, 0, 1): 1, (1, 0, 1): 2, (2, 0, 1): 1}


@every_case("held", [64, 128, 1 << 26])
@every_case("counts", [[64], [63, 1, 64], [0, 5, 0, 128, 300, 0, 1, 1], [1] * 130, [0, 0], []])
def test_bits_are_counted_kind_after_kind(counts, held, monkeypatch):
    monkeypatch.setattr(shuffle, "_BITS", held)
    words = np.random.default_rng(3).integers(0, 1 << 63, -(-sum(counts) // 64), dtype=np.uint64) * np.uint64(2)
    line = np.unpackbits(words.view(np.uint8), bitorder="little")
    expected, at = [], 0
    for count in counts:
        expected.append(int(line[at : at + count].sum()))
        at += count
    first, second = bucket_counts(np.array(counts, dtype=np.int64), 2, Words(words))
    assert second.tolist() == expected
    assert (first + second).tolist() == counts


@every_case("buckets", [1, 2, 8, 64])
def test_counts_are_dealt_to_all_heaps_and_none_is_lost(buckets):
    parts = list(bucket_counts(COUNTS, buckets, SecureSource()))
    assert len(parts) == buckets
    assert np.array_equal(np.sum(parts, axis=0), COUNTS)
    assert min(part.min() for part in parts) >= 0
    # Every part is within eight standard deviations of its share; few rows, which may all fall on one heap, may do so.
    spread = np.sqrt(COUNTS / buckets * (1 - 1 / buckets))
    assert all((np.abs(part - COUNTS / buckets) <= 8 * spread + 7).all() for part in parts)


def test_every_row_falls_evenly_and_by_itself_on_four_heaps():
    # Three rows of one kind and one of another: 20 x 4 outcomes, each row on each heap with 1/4.
    source = SeededSource(np.random.default_rng(2))
    rows = np.array([3, 1])
    seen = Counter(tuple(tuple(part.tolist()) for part in bucket_counts(rows, 4, source)) for _ in range(5000))
    law = Counter()
    for three in product(range(4), repeat=3):
        for one in range(4):
            law[tuple((three.count(k), int(one == k)) for k in range(4))] += 1 / 256
    assert set(seen) == set(law)
    chi2 = sum((seen[each] - 5000 * share) ** 2 / (5000 * share) for each, share in law.items())
    assert chi2 < 125  # 79 degrees: the upper 0.07 % of the law
