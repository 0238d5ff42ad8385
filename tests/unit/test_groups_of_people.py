"""`by=`: one order of groups whatever holds them; columns of another index are refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from engines import CONSTRUCTORS
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import MismatchError

U4 = sp.uniform(list("abcd"))
CODES = [3, 12, 5, 10, 6, 9]
SIZES = ["mid", "small", "large", "mid", "small", "small"]
DECLARED = ["small", "mid", "large", "huge"]


def groups(*data, **named):
    return {group: int(counts.n) for group, counts in sp.count(*data, design=U4, **named).items()}


# Ascending ------------------------------------------------------------------------------------------------------

COLUMNS = {
    "list": list,
    "numpy": np.array,
    "pandas": pd.Series,
    "unordered categories": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "polars categories": lambda values: pl.Series(values, dtype=pl.Categorical),
    "arrow": pa.array,
    "arrow dictionary": lambda values: pa.array(values).dictionary_encode(),
}


@every_case("kind", COLUMNS)
def test_groups_of_a_column_ascend(kind):
    assert list(groups(CODES, by=COLUMNS[kind](SIZES)).items()) == [("large", 1), ("mid", 2), ("small", 3)]
    assert not sp.count(CODES, design=U4, by=COLUMNS[kind](SIZES)).ordered


@pytest.mark.parametrize("engine", CONSTRUCTORS)
def test_groups_of_a_table_ascend(engine, tmp_path):
    made = CONSTRUCTORS[engine][0]({"x": CODES, "size": SIZES}, tmp_path)
    assert list(groups(made, "x", by="size").items()) == [("large", 1), ("mid", 2), ("small", 3)]


def test_numbers_come_before_words_and_nothing_last():
    result = groups(CODES, by=["b", 10, None, 9, "a", float("nan")])
    assert list(result.items()) == [(9, 1), (10, 1), ("a", 1), ("b", 1), (None, 2)]
    assert list(groups(CODES[:3], by=[True, False, True])) == [False, True]
    assert list(groups(CODES[:3], by=[np.int64(10), 9, 2.5])) == [2.5, 9, 10]


def test_groups_that_cannot_be_compared_stay_as_they_appear():
    assert list(groups(CODES[:3], by=[2j, 1j, 2j])) == [2j, 1j]


def test_groups_of_several_columns_ascend_one_column_after_the_other():
    frame = pd.DataFrame({"x": CODES, "year": [2, 1, 2, 1, 2, 1], "size": SIZES})
    named = list(groups(frame, "x", by=["year", "size"]))
    assert named == [(1, "mid"), (1, "small"), (2, "large"), (2, "mid"), (2, "small")]
    pairs = list(zip(frame["year"], frame["size"], strict=True))
    assert list(groups(CODES, by=pairs)) == named


# Declared -------------------------------------------------------------------------------------------------------

IN_ORDER = [("small", 3), ("mid", 2), ("large", 1)]
ORDERED = pd.Categorical(SIZES, DECLARED, ordered=True)
ARROW = pa.DictionaryArray.from_arrays([DECLARED.index(size) for size in SIZES], DECLARED, ordered=True)
ENUM = pl.Series(SIZES, dtype=pl.Enum(DECLARED))


@every_case(
    "column",
    [ORDERED, pd.Series(ORDERED), pd.CategoricalIndex(ORDERED), ENUM, ARROW, pa.chunked_array([ARROW[:2], ARROW[2:]])],
    ids=["Categorical", "pandas", "CategoricalIndex", "polars", "arrow", "arrow chunks"],
)
def test_an_ordered_column_keeps_the_order_it_declares(column):
    assert list(groups(CODES, by=column).items()) == IN_ORDER
    assert sp.count(CODES, design=U4, by=column).ordered


def _duckdb(folder):
    import duckdb

    con = duckdb.connect()
    con.execute("create type size as enum('small', 'mid', 'large', 'huge')")
    frame = pd.DataFrame({"x": CODES, "size": SIZES})  # noqa: F841 which DuckDB finds by its name
    return con.sql("select x, size::size as size from frame")


def _dask(folder):
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(pd.DataFrame({"x": CODES, "size": ORDERED}), npartitions=2)


def _dataset(folder):
    pq.write_table(pa.table({"x": CODES, "size": ARROW}), folder / "people.parquet")
    return ds.dataset(folder / "people.parquet")


TABLES = {
    "pandas": lambda folder: pd.DataFrame({"x": CODES, "size": ORDERED}),
    "polars": lambda folder: pl.DataFrame({"x": CODES, "size": ENUM}),
    "polars lazy": lambda folder: pl.DataFrame({"x": CODES, "size": ENUM}).lazy(),
    "pyarrow": lambda folder: pa.table({"x": CODES, "size": ARROW}),
    "dataset": _dataset,
    "duckdb": _duckdb,
    "dask": _dask,
}


@pytest.mark.parametrize("engine", TABLES)
def test_an_ordered_column_of_a_table_keeps_the_order_it_declares(engine, tmp_path):
    table = TABLES[engine](tmp_path)
    assert list(groups(table, "x", by="size").items()) == IN_ORDER
    assert sp.count(table, "x", design=U4, by="size").ordered


def test_an_ordered_column_of_a_file_keeps_the_order_it_declares(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"x": CODES, "size": ARROW}), path)
    counted = sp.read_release(path, {"x": U4}).count("x", by="size")
    assert list(counted) == ["small", "mid", "large"]
    assert counted.ordered


def test_declared_orders_hold_for_each_of_several_columns_and_for_collections_and_tables_of_pairs():
    frame = pd.DataFrame({"x": CODES, "size": ORDERED, "year": [1, 1, 1, 2, 2, 2]})
    expected = [(1, "small"), (1, "mid"), (1, "large"), (2, "small"), (2, "mid")]
    assert list(groups(frame, "x", by=["year", "size"])) == expected
    assert not sp.count(frame, "x", design=U4, by=["year", "size"]).ordered
    frame["sets"] = [set(U4.categories.members(code)) for code in CODES]  # which are read row by row
    assert list(groups(frame, "sets", by=["year", "size"])) == expected
    assert list(groups(frame, "sets", by="size")) == ["small", "mid", "large"]
    tables = sp.crosstab(CODES, CODES[::-1], designs=[U4, U4], by=ORDERED)
    assert list(tables) == ["small", "mid", "large"]
    assert tables.ordered
    assert list(sp.crosstab(frame.assign(y=CODES[::-1]), "x", "y", designs=[U4, U4], by="size")) == list(tables)


def test_missing_groups_of_an_ordered_column_come_last():
    column = pd.Categorical([*SIZES[:5], None], DECLARED, ordered=True)
    assert list(groups(CODES, by=column)) == ["small", "mid", "large", None]
    assert list(groups(pd.DataFrame({"x": CODES, "g": column}), "x", by="g")) == ["small", "mid", "large", None]


def test_chunks_that_declare_different_orders_declare_none():
    other = pa.DictionaryArray.from_arrays([0], ["large"], ordered=True)
    assert list(groups(CODES[:3], by=pa.chunked_array([ARROW[:2], other]))) == ["large", "mid", "small"]


# Index ----------------------------------------------------------------------------------------------------------

DATA = pd.Series(CODES)
SHIFTED = DATA.set_axis(range(1, 7))
TOLD = r"must have the same index as `{}`; got another one. Hint: frame.reset_index\(drop=True\) on both"


@every_case(
    ("call", "other"),
    [
        (lambda: sp.count(DATA, design=U4, by=pd.Series(SIZES, index=range(1, 7))), "data"),
        (lambda: sp.count(DATA, design=U4, by=pd.Series(SIZES)[::-1]), "data"),
        (lambda: sp.count(DATA, design=U4, weights=SHIFTED, weights_kind="frequency"), "data"),
        (lambda: sp.count(CODES, design=U4, by=pd.Series(SIZES), weights=SHIFTED, weights_kind="sampling"), "by"),
        (lambda: sp.count(pd.DataFrame({"x": CODES}), "x", design=U4, by=SHIFTED), "data"),
        (lambda: sp.crosstab(DATA, SHIFTED, designs=[U4, U4]), "x"),
        (lambda: sp.crosstab(DATA, CODES, designs=[U4, U4], by=SHIFTED), "x"),
        (lambda: sp.crosstab(DATA, CODES, designs=[U4, U4], weights=SHIFTED, weights_kind="sampling"), "x"),
        (lambda: sp.crosstab(pd.DataFrame({"x": DATA, "y": DATA}), "x", "y", designs=[U4, U4], by=SHIFTED), "x"),
        (lambda: sp.privatize(pd.Series(list("abc")), U4, key=b"k" * 16, ids=pd.Series([1, 2, 3], index=[7, 8, 9])),
         "values"),
        (lambda: sp.privatize({"u": pd.Series(["a", "b"]), "v": pd.Series(["a", "b"], index=[1, 0])},
                              sp.product({"u": U4, "v": U4})), "u"),
        (lambda: sp.resolve(DATA, pd.Series([True] * 6, index=range(1, 7)), U4), "questions"),
    ],
)  # fmt: skip
def test_a_series_of_another_index_is_refused(call, other):
    with pytest.raises(MismatchError, match=TOLD.format(other)):
        call()


def test_the_same_index_and_columns_without_one_are_matched_by_position():
    kept = DATA[DATA > 5]
    sizes = pd.Series(SIZES)[DATA > 5]
    assert groups(kept, by=sizes) == groups(kept.tolist(), by=sizes) == groups(kept, by=sizes.tolist())
    assert groups(DATA, by=pd.Series(SIZES, index=pd.Index(range(6)))) == groups(CODES, by=SIZES)
    with refused(MismatchError, "by"):
        groups(DATA, by=pd.Series(SIZES[:5]))
