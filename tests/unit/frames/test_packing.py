"""Rows on their way: packed and unpacked, dealt to buckets, shuffled; as words and as columns."""

from collections import Counter
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import subsetprivacy as sp
from subsetprivacy.frames.packing import Packing
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.mechanism.shuffle import bucket_counts

SMALL = {"x": sp.uniform(list("abcde")), "y": sp.uniform(list("rstu")), "z": sp.uniform(list("klmnop"))}
LARGE = {"x": sp.uniform([f"{k}" for k in range(30)]), "y": sp.uniform(list("rstu"))}


def codes_of(designs, rows=1000):
    rng = np.random.default_rng(3)
    return [rng.integers(1, 1 << design.code_bits, rows) for design in designs.values()]


@pytest.mark.parametrize(
    ("designs", "keep", "is_word"), [(SMALL, [], True), (LARGE, [], False), (SMALL, ["town"], False)]
)
def test_rows_come_back_as_they_were(designs, keep, is_word):
    packing = Packing.of(designs, keep)
    assert packing.is_word == is_word
    codes = codes_of(designs)
    kept = [pa.array([f"town {k}" for k in range(1000)]) for _ in keep]
    back = packing.unpack(pa.Table.from_batches([packing.pack(codes, kept, keep)]))
    assert back.column_names == [*designs, *keep]
    for name, part in zip(designs, codes):
        assert np.array_equal(back.column(name).to_numpy(), part)
    if keep:
        assert back.column("town").to_pylist() == kept[0].to_pylist()


@pytest.mark.parametrize("designs", [SMALL, LARGE, {"x": sp.uniform(list("abcd"))}])
@pytest.mark.parametrize("buckets", [1, 2, 16])
def test_every_row_is_dealt_to_one_bucket_and_all_buckets_alike(designs, buckets):
    packing = Packing.of(designs, [])
    batch = packing.pack(codes_of(designs, 8000), [], [])
    parts = list(packing.into_buckets(batch, buckets, random_source(seed=1)))
    assert len(parts) == buckets
    expected = 8000 / buckets
    assert max(abs(part.num_rows - expected) for part in parts) < 5 * np.sqrt(expected)
    whole = pa.Table.from_batches(parts).to_pylist()
    assert Counter(map(str, whole)) == Counter(map(str, batch.to_pylist()))


@pytest.mark.parametrize("keep", [[], ["town"]])
def test_all_orders_of_dealing_and_shuffling_are_equally_likely(keep):
    """Four different rows through two buckets and a shuffle of each: 24 orders, a chi-square of 23 degrees."""
    design = {"x": sp.uniform(list("abcd"))}
    packing = Packing.of(design, keep)
    rows = np.array([3, 5, 6, 9])
    batch = packing.pack([rows], [pa.array([1, 2, 3, 4]) for _ in keep], keep)
    source = random_source(seed=5)
    seen = Counter()
    for _ in range(1200):
        buckets = packing.into_buckets(batch, 2, source)
        mixed = [packing.shuffled(pa.Table.from_batches([bucket]), source) for bucket in buckets]
        seen[tuple(pa.concat_tables(mixed).column(0).to_pylist())] += 1
    assert set(seen) == set(permutations(rows.tolist()))
    chi2 = sum((count - 50) ** 2 / 50 for count in seen.values())
    assert chi2 < 52  # the upper 0.05 % of the law


@pytest.mark.parametrize(
    ("designs", "keep", "countable"),
    [(SMALL, [], True), (LARGE, [], False), (SMALL, ["town"], False), ({"x": sp.uniform(list(range(18)))}, [], True),
     ({"x": sp.uniform(list(range(19)))}, [], False)],
)  # fmt: skip
def test_rows_of_few_kinds_are_countable(designs, keep, countable):
    assert Packing.of(designs, keep).is_countable == countable


def test_counted_rows_are_laid_out_as_they_were():
    packing = Packing.of(SMALL, [])
    codes = codes_of(SMALL, 50_000)
    counts = packing.no_counts()
    for part in (slice(0, 1), slice(1, 50), slice(50, None)):  # few rows and many are counted in different ways
        packing.tally(packing.pack([each[part] for each in codes], [], []), counts)
    back = packing.unpack(packing.laid_out(counts, random_source(seed=2)))
    assert back.column_names == list(SMALL)
    result = Counter(zip(*(back.column(name).to_pylist() for name in SMALL)))
    assert result == Counter(zip(*(part.tolist() for part in codes)))


def test_all_orders_of_counted_rows_are_equally_likely():
    """Rows a, a, b, c counted, dealt to two buckets and shuffled in each: 12 orders, a chi-square of 11 degrees."""
    packing = Packing.of({"x": sp.uniform(list("abcd"))}, [])
    packing.tally(packing.pack([np.array([3, 9, 3, 5])], [], []), counts := packing.no_counts())
    source = random_source(seed=8)
    seen = Counter()
    for _ in range(1200):
        buckets = bucket_counts(counts, 2, source)
        seen[tuple(pa.concat_tables(packing.laid_out(bucket, source) for bucket in buckets).column(0).to_pylist())] += 1
    assert set(seen) == set(permutations([3, 3, 5, 9]))
    assert sum((count - 100) ** 2 / 100 for count in seen.values()) < 33  # the upper 0.05 % of the law
