"""Counting a stream of batches: cells, partial results, groups, weights, first rows."""

from collections import Counter

import numpy as np
import pytest

from subsetprivacy.engines import cells, tally, tally_batches
from subsetprivacy.errors import ArgumentError

pa = pytest.importorskip("pyarrow")


def in_batches(columns, size=7):
    return pa.table(columns).to_batches(max_chunksize=size)


def listed(groups, values):
    """A dict from the tuple of a group's labels to some value of it."""
    return dict(zip(zip(*(key.labels() for key in groups.keys)), values.tolist()))


@pytest.fixture(params=["cells", "partial results", "from cells to partial results"])
def store(request, monkeypatch):
    """All ways to keep counts, and buffers so small that every one of them is passed many times."""
    monkeypatch.setattr(cells, "_DENSE_ROWS", 16)
    monkeypatch.setattr(cells, "_SPARSE_ROWS", 16)
    if request.param == "partial results":
        monkeypatch.setattr("subsetprivacy.engines.arrow.MOST_CELLS", 0)
    if request.param == "from cells to partial results":
        monkeypatch.setattr("subsetprivacy.engines.arrow.MOST_CELLS", 600)  # of five groups and two columns
    return request.param


def people(n=200):
    rng = np.random.default_rng(5)
    return {
        "race": rng.choice([3, 5, 6, 9, 15], n, p=[0.4, 0.3, 0.15, 0.1, 0.05]).tolist(),
        "income": rng.choice([1, 2, 3], n, p=[0.6, 0.3, 0.1]).tolist(),
        "region": rng.choice(["north", "south", "east", "west"], n, p=[0.7, 0.15, 0.1, 0.05]).tolist(),
        "year": rng.choice([2024, -1], n).tolist(),
        "w": (rng.integers(1, 80, n) / 8).tolist(),
    }


PEOPLE = people()


def test_one_column(store):
    groups = tally_batches(in_batches({"race": PEOPLE["race"]}), ["race"], bits=[4])
    assert listed(groups, groups.rows) == {(code,): n for code, n in Counter(PEOPLE["race"]).items()}
    assert listed(groups, groups.first) == {(code,): PEOPLE["race"].index(code) for code in set(PEOPLE["race"])}
    assert groups.keys[0].values.tolist() == sorted(set(PEOPLE["race"]))


def test_codes_and_groups_in_any_order_with_weights(store):
    keys = ["region", "race", "year", "income"]
    groups = tally_batches(in_batches(PEOPLE), keys, "w", bits=[None, 4, None, 2])
    rows = list(zip(*(PEOPLE[key] for key in keys)))
    assert listed(groups, groups.rows) == Counter(rows)
    assert listed(groups, groups.first) == {row: rows.index(row) for row in set(rows)}
    sums, squares = Counter(), Counter()
    for row, w in zip(rows, PEOPLE["w"]):
        sums[row] += w
        squares[row] += w * w
    assert listed(groups, groups.sums) == pytest.approx(sums)
    assert listed(groups, groups.squares) == pytest.approx(squares)
    assert (groups.unfit, groups.first_unfit) == (0, None)


def test_groups_without_codes(store):
    groups = tally_batches(in_batches(PEOPLE), ["region", "year"])
    assert listed(groups, groups.rows) == Counter(zip(PEOPLE["region"], PEOPLE["year"]))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint16", "int64", "uint64"])
def test_integers_of_every_width(kind, store):
    codes = [3, 5, 3, None, 6]
    groups = tally_batches([pa.record_batch({"x": pa.array(codes, getattr(pa, kind)())})], ["x"], bits=[3])
    assert listed(groups, groups.rows) == {(3,): 2, (5,): 1, (6,): 1, (None,): 1}


def test_numbers_that_are_no_codes_are_one_group(store):
    column = pa.array([3, 9, 2**64 - 1, 2**40, 0, 3], pa.uint64())
    groups = tally_batches([pa.record_batch({"x": column})], ["x"], bits=[3])
    assert listed(groups, groups.rows) == {(3,): 2, (-1,): 3, (0,): 1}
    assert listed(groups, groups.first) == {(3,): 0, (-1,): 1, (0,): 4}
    negative = tally_batches([pa.record_batch({"x": [3, -4, -(2**62)]})], ["x"], bits=[3])
    assert listed(negative, negative.rows) == {(3,): 1, (-1,): 2}


def test_outside_in_one_column_does_not_spill_into_another(store):
    batch = pa.record_batch({"x": [3, 8, None, 3], "y": [1, 1, 1, 99]})
    groups = tally_batches([batch], ["x", "y"], bits=[3, 2])
    assert listed(groups, groups.rows) == {(3, 1): 1, (-1, 1): 1, (None, 1): 1, (3, -1): 1}


def test_codes_of_many_bits():
    codes = [2**47 + 1, 5, 2**47 + 1, 2**46]
    for bits in ([48], [60]):
        groups = tally_batches(in_batches({"x": codes}, 3), ["x"], bits=bits)
        assert listed(groups, groups.rows) == {(2**47 + 1,): 2, (5,): 1, (2**46,): 1}
        assert groups.first.tolist() == [1, 3, 0]


def test_more_groups_and_bits_than_fit_in_one_word(monkeypatch):
    monkeypatch.setattr(cells, "_SPARSE_ROWS", 1000)
    rng = np.random.default_rng(3)
    names, codes = rng.integers(0, 1 << 15, 4000), rng.choice([1, 2**47, 2**48 - 1], 4000)
    groups = tally_batches(in_batches({"who": names, "x": codes}, 500), ["who", "x"], bits=[None, 48])
    rows = list(zip(names.tolist(), codes.tolist()))
    assert listed(groups, groups.rows) == Counter(rows)
    first = {}
    for number, row in enumerate(rows):
        first.setdefault(row, number)
    assert listed(groups, groups.first) == first
    appeared = {name: number for number, name in reversed(list(enumerate(names.tolist())))}
    result = list(zip(*(key.labels() for key in groups.keys)))
    assert result == sorted(result, key=lambda row: (appeared[row[0]], row[1]))


def test_missing_groups_are_one(store):
    column = pa.array([1.5, None, float("nan"), 1.5, float("nan")])
    groups = tally_batches([pa.record_batch({"x": column}), pa.record_batch({"x": column})], ["x"])
    assert listed(groups, groups.rows) == {(1.5,): 4, (None,): 6}


def test_text_and_categories_are_grouped_and_not_read_as_codes(store):
    texts = ["a|b", "c", None, "c"]
    for column in (pa.array(texts), pa.array(texts).dictionary_encode(), pa.array(texts, pa.large_string())):
        groups = tally_batches([pa.record_batch({"x": column})] * 2, ["x"], bits=[3])
        assert groups.keys[0].kind == "text"
        assert listed(groups, groups.rows) == {("a|b",): 2, ("c",): 4, (None,): 2}


def test_categories_that_are_numbers_are_codes():
    groups = tally_batches([pa.record_batch({"x": pa.array([3, 5, None, 3]).dictionary_encode()})], ["x"], bits=[3])
    assert groups.keys[0].kind == "integer"
    assert listed(groups, groups.rows) == {(3,): 2, (5,): 1, (None,): 1}


@pytest.mark.parametrize("whole", [True, False])
def test_unfit_weights_are_counted_and_located(whole, store):
    weights = [1.0, 2.0, 0.5, None, 3.0, -1.0, float("nan"), float("inf"), 1.0]
    groups = tally_batches(in_batches({"x": [3] * 9, "w": weights}, 2), ["x"], "w", bits=[2], whole=whole)
    assert (groups.unfit, groups.first_unfit) == ((5, 2) if whole else (4, 3))
    assert groups.rows.tolist() == [9]


def test_weights_of_every_kind_of_number():
    for column in (pa.array([1, 2], pa.uint8()), pa.array([1, 2], pa.decimal128(9, 2)), pa.array([1.0, 2.0])):
        assert tally_batches([pa.record_batch({"x": [3, 3], "w": column})], ["x"], "w", bits=[2]).sums.tolist() == [3]
    with pytest.raises(ArgumentError, match="weights must be numbers; got column w of type string"):
        tally_batches([pa.record_batch({"x": [3], "w": ["secret"]})], ["x"], "w", bits=[2])
    with pytest.raises(ArgumentError, match="weights must be numbers; got column w of type bool"):
        tally_batches([pa.record_batch({"x": [3], "w": [True]})], ["x"], "w", bits=[2])


def test_what_cannot_be_grouped():
    with pytest.raises(ArgumentError, match="column x must hold single values to be grouped; got list"):
        tally_batches([pa.record_batch({"x": [[1], [2]]})], ["x"])
    mixed = [pa.record_batch({"x": [3]}), pa.record_batch({"x": ["secret"]})]
    with pytest.raises(ArgumentError, match="column x must be of one type throughout; got a batch of string"):
        tally_batches(mixed, ["x"], bits=[2])


def test_progress_says_how_many_rows():
    seen = []
    tally_batches(in_batches({"x": [1] * 20}, 8), ["x"], progress=seen.append, bits=[1])
    assert seen == [8, 16, 20]


def test_nobody():
    for batches in ([], [pa.record_batch({"x": pa.array([], pa.int64()), "w": pa.array([], pa.float64())})]):
        groups = tally_batches(batches, ["x"], "w", bits=[3])
        assert (len(groups), groups.keys[0].labels(), groups.sums.tolist()) == (0, [], [])


def test_a_stream_is_read_once_and_batch_by_batch():
    alive = []

    def stream():
        for number in range(50):
            alive.append(number)
            yield pa.record_batch({"x": [number % 3 + 1]})

    assert tally_batches(stream(), ["x"], bits=[2]).rows.tolist() == [17, 17, 16]
    assert alive == list(range(50))


def test_reading_in_order_tells_the_first_rows_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [5, 3, 5, 3, 6]}, index=list("edcba"))
    assert tally(frame, ["x"]).first is None
    assert listed(*(lambda groups: (groups, groups.first))(tally(frame, ["x"], in_order=True))) == {
        (3,): 1,
        (5,): 0,
        (6,): 4,
    }
