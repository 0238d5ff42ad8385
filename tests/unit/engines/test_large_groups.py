"""Groups whose names are large numbers, such as hashes: each stays itself, whoever holds the table."""

from collections import Counter
from decimal import Decimal

import pytest
from engines import CONSTRUCTORS, LIBRARY
from lopsided import ASKED

import subsetprivacy as sp
from subsetprivacy.engines import Key, tally, tally_batches
from subsetprivacy.errors import CodeError

pa = pytest.importorskip("pyarrow")
HASHES = [2**62 + 1, 2**62 + 2, -(2**62) - 7, -1, 2**62 + 1, -(2**63), 2**63 - 1]
UNSIGNED = [2**63, 2**64 - 1, 5, 2**63, 2**63 - 1, 2**64 - 1, 2**63]
WIDE = [2**64 + 3, 3, -(2**90), 2**64 + 3, 2**90, 2**64 + 4, 3]
RACE = [3, 12, 5, 10, 3, 9, 3]


def made(kind, columns, folder):
    pytest.importorskip(LIBRARY.get(kind, kind.split()[0]))
    if kind.split()[0] not in {"pandas", "polars", "dask", "narwhals"} or kind == "narwhals lazy":
        columns = {name: typed(values) for name, values in columns.items()}
    return CONSTRUCTORS[kind][0](columns, folder)


def typed(values):
    """An array of PyArrow, which does not guess that a number needs all 64 bits."""
    return pa.array(values, pa.uint64() if max(value or 0 for value in values) >= 1 << 63 else None)


def counted(table, by):
    return {group: int(part.counts.sum()) for group, part in sp.count(table, "race", design=ASKED, by=by).items()}


def exact(found, groups):
    """Tell whether groups are as they should be, and whole numbers: 2.0**63 would be equal to some of them."""
    assert found == Counter(groups)
    assert all(group is None or type(group) is int for group in found)


@pytest.mark.parametrize("kind", list(CONSTRUCTORS))
def test_large_numbers_are_groups_of_their_own(kind, tmp_path):
    for groups in (HASHES, UNSIGNED):
        exact(counted(made(kind, {"race": RACE, "g": groups}, tmp_path), "g"), groups)
        years = [2024, 2025, 2024, 2024, 2024, 2025, 2025]
        pairs = counted(made(kind, {"race": RACE, "g": groups, "year": years}, tmp_path), ["g", "year"])
        assert pairs == Counter(zip(groups, years))


# NumPy's own integers have no gaps: pandas makes floats of them, before anybody can count.
@pytest.mark.parametrize("kind", [kind for kind in CONSTRUCTORS if kind not in {"pandas", "pandas nullable", "dask"}])
def test_large_numbers_with_gaps(kind, tmp_path):
    for groups in ([*HASHES[:5], None, None], [*UNSIGNED[:5], None, None]):
        exact(counted(made(kind, {"race": RACE, "g": groups}, tmp_path), "g"), groups)


@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "int64[pyarrow]", "uint64[pyarrow]", object])
def test_nullable_columns_of_pandas(dtype):
    pd = pytest.importorskip("pandas")
    values = UNSIGNED if "u" in str(dtype).lower() else HASHES
    groups = [*values[:5], None, None]
    frame = pd.DataFrame({"race": RACE, "g": pd.Series(groups, dtype=dtype)})
    exact(counted(frame, "g"), groups)


def test_numbers_wider_than_any_word():
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    frame = pl.DataFrame({"race": RACE, "g": pl.Series(WIDE, dtype=pl.Int128)})
    arrow = pa.table({"race": RACE, "g": pa.array(WIDE, pa.decimal128(38, 0))})
    for table in (frame, frame.lazy(), arrow, duckdb.from_arrow(arrow)):
        exact(counted(table, "g"), WIDE)


def test_decimals_that_no_float_can_tell_apart():
    duckdb = pytest.importorskip("duckdb")
    groups = [Decimal("12345678901234567.89"), Decimal("12345678901234567.88"), Decimal("0.10"), Decimal("-2.50")]
    arrow = pa.table({"race": RACE[:4], "g": pa.array(groups, pa.decimal128(22, 2))})
    for table in (arrow, duckdb.from_arrow(arrow)):
        # Those that a float can tell are floats, as ever; and they are in order together.
        assert list(counted(table, "g")) == [-2.5, 0.1, groups[1], groups[0]]


def test_a_number_beyond_every_code_is_none(tmp_path):
    wide = pa.table({"race": pa.array([3, 2**64 + 3, 12], pa.decimal128(38, 0))})
    wider = pa.table({"race": pa.array([3, 2**128 + 3, 12], pa.decimal256(60, 0))})
    for table in (wide, wider, *(made(kind, {"race": [3, 2**63 + 3, 12]}, tmp_path) for kind in CONSTRUCTORS)):
        with pytest.raises(CodeError, match=r"codes in 1…15; got others in 1 row.*\(outside the categories\)"):
            sp.count(table, "race", design=ASKED)


@pytest.mark.parametrize("kind", [pa.decimal128(5, 0), pa.decimal128(38, 0), pa.decimal256(60, 0)])
def test_decimals_are_codes(kind):
    batch = pa.record_batch({"x": pa.array([3, None, 5, 3, -3, 9999], kind)})
    groups = tally_batches([batch], ["x"], bits=[3])
    result = dict(zip(groups.keys[0].labels(), groups.rows.tolist()))
    assert result == {3: 2, 5: 1, None: 1, -1: 2}


def test_a_key_tells_labels_and_codes_apart():
    key = Key.of("integer", [2**70, None, 5, -(2**63)])
    assert key.labels() == [2**70, None, 5, -(2**63)]
    assert key.codes()[[0, 2, 3]].tolist() == [-1, 5, -(2**63)]


def test_many_columns_of_many_groups_do_not_run_over():
    # Four columns of 2^17 values have more combinations than a word can number.
    size = 1 << 17
    columns = {f"g{k}": [(row * (2 * k + 1)) % size for row in range(size)] for k in range(4)}
    groups = tally(pa.table(columns), list(columns))
    assert len(groups) == size
    assert set(zip(*(key.labels() for key in groups.keys))) == set(zip(*columns.values()))
