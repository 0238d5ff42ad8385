"""Privatise tables of every library: in memory at once, lazy ones into a file that is read back."""

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.engines import engine_of
from subsetprivacy.errors import ArgumentError, CategoryError, DataFileError, NotPrivateWarning
from subsetprivacy.frames.privatizing import privatize_table

RACE = sp.uniform(["white", "black", "asian", "other", "native"])
JOINED = sp.join({"sex": ["f", "m"], "income": ["low", "high"]})
KEY = bytes(range(32))
N = 3000
# Ibis 12 reads DuckDB 2 by a name that goes away.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def people():
    rng = np.random.default_rng(5)
    return {
        "row": np.arange(N).tolist(),
        "race": rng.choice(list(RACE.categories), N, p=[0.5, 0.2, 0.15, 0.1, 0.05]).tolist(),
        "sex": rng.choice(["f", "m"], N).tolist(),
        "income": rng.choice(["low", "high"], N, p=[0.7, 0.3]).tolist(),
    }


EAGER = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "record batch": pa.RecordBatch.from_pydict,
}


def dataset(columns, folder):
    pq.write_table(pa.table(columns), folder / "values.parquet", row_group_size=700)
    return ds.dataset(folder / "values.parquet")


LAZY = {
    "polars-lazy": lambda columns, _: pl.LazyFrame(columns),
    "pyarrow-dataset": dataset,
    "duckdb": lambda columns, _: duckdb.from_arrow(pa.table(columns)),
    "ibis": lambda columns, _: ibis.memtable(pa.table(columns)),
}


def as_columns(table):
    if hasattr(table, "collect"):
        table = table.collect()
    if hasattr(table, "to_arrow_table"):
        table = table.to_arrow_table()
    if hasattr(table, "to_pyarrow"):
        table = table.to_pyarrow()
    if hasattr(table, "to_table"):
        table = table.to_table()
    if isinstance(table, pl.DataFrame):
        return table.to_dict(as_series=False)
    return table.to_dict("list") if isinstance(table, pd.DataFrame) else table.to_pydict()


@pytest.mark.parametrize("library", EAGER)
def test_a_table_in_memory_gives_one_of_the_same_library(library):
    columns = people()
    made = privatize_table(EAGER[library](columns), {"race": RACE, "si": JOINED}, keep_order=True)
    assert type(made) is type(EAGER[library](columns))
    codes = as_columns(made)
    assert list(codes) == ["race", "si"]
    assert all(value in RACE.members(code) for value, code in zip(columns["race"], codes["race"]))
    both = zip(columns["sex"], columns["income"])
    assert all(pair in JOINED.members(code) for pair, code in zip(both, codes["si"]))


@pytest.mark.parametrize("library", EAGER)
def test_rows_in_memory_are_shuffled_and_stay_together(library):
    columns = people()
    with pytest.warns(NotPrivateWarning, match="published unchanged: row"):
        made = as_columns(privatize_table(EAGER[library](columns), {"race": RACE}, keep="row"))
    assert made["row"] != columns["row"]
    assert sorted(made["row"]) == columns["row"]
    assert all(columns["race"][row] in RACE.members(code) for row, code in zip(made["row"], made["race"]))


@pytest.mark.parametrize("library", LAZY)
def test_a_lazy_table_is_written_and_read_back(library, tmp_path):
    columns = people()
    table = LAZY[library](columns, tmp_path)
    with pytest.warns(NotPrivateWarning, match="published unchanged: row"):
        made = privatize_table(table, {"race": RACE}, tmp_path / "private.parquet", keep="row")
    assert engine_of(made) == library
    one, two = as_columns(made), as_columns(made)
    assert one == two  # the one draw that was written
    assert sorted(one["row"]) == columns["row"]
    assert all(columns["race"][row] in RACE.members(code) for row, code in zip(one["row"], one["race"]))
    assert sp.read_release(tmp_path / "private.parquet").designs == {"race": RACE}


@pytest.mark.parametrize("library", LAZY)
def test_a_lazy_table_needs_an_output(library, tmp_path):
    with refused(ArgumentError, "output"):
        privatize_table(LAZY[library](people(), tmp_path), {"race": RACE})


def test_a_lazy_table_is_read_back_from_parquet_only(tmp_path):
    with refused(ArgumentError, "output"):
        privatize_table(pl.LazyFrame(people()), {"race": RACE}, tmp_path / "private.csv")


def test_a_table_in_memory_may_be_written_too(tmp_path):
    made = privatize_table(pd.DataFrame(people()), {"race": RACE}, tmp_path / "private.csv")
    release = sp.read_release(tmp_path / "private.csv")
    assert sorted(release.to_frame()["race"]) == sorted(made["race"])


def test_what_is_kept_of_a_table_in_memory_is_written_too(tmp_path):
    with pytest.warns(NotPrivateWarning, match="published unchanged: row"):
        made = privatize_table(pd.DataFrame(people()), {"race": RACE}, tmp_path / "private.parquet", keep="row")
    assert pq.read_table(tmp_path / "private.parquet").to_pydict() == made.to_dict("list")


def test_a_table_of_duckdb_comes_back_on_its_own_connection(tmp_path):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT 'white' AS race FROM range(50)")
    made = privatize_table(connection.sql("FROM people"), {"race": RACE}, tmp_path / "it's private.parquet")
    assert made.query("made", "SELECT count(*) FROM made, (SELECT 1 FROM people LIMIT 1)").fetchall() == [(50,)]


def test_a_covered_design_in_memory_needs_an_output():
    with refused(ArgumentError, "output"):
        privatize_table(pd.DataFrame(people()), {"race": sp.covered(RACE, 0.1)})


def test_values_of_which_none_is_a_category_are_explained():
    with pytest.raises(CategoryError, match="None of the values"):
        privatize_table(pd.DataFrame({"race": ["White", "Black"]}), {"race": RACE})


def test_a_covered_design_adds_its_dummy_rows_in_memory(tmp_path):
    made = privatize_table(pd.DataFrame(people()), {"race": sp.covered(RACE, 0.1)}, tmp_path / "private.parquet")
    release = sp.read_release(tmp_path / "private.parquet")
    realized = release.designs["race"]
    assert realized.people == N
    assert len(made) == release.rows == N + realized.D * realized.dummies


def test_a_key_gives_the_same_subsets_in_memory_and_lazily(tmp_path):
    columns = people()
    one = privatize_table(pd.DataFrame(columns), {"race": RACE}, key=KEY, id="row", keep_order=True)
    two = privatize_table(
        pl.LazyFrame(columns), {"race": RACE}, tmp_path / "private.parquet", key=KEY, id="row", keep_order=True
    )
    assert one["race"].tolist() == two.collect()["race"].to_list()
    assert list(one.columns) == ["race"]


def test_missing_values_of_pandas_are_missing():
    frame = pd.DataFrame({"race": ["white", None, "black", np.nan]})
    with pytest.raises(CategoryError, match="column 'race': every value must be known; got 2 missing, first in row 1"):
        privatize_table(frame, {"race": RACE})
    made = privatize_table(frame, {"race": RACE}, missing="full", keep_order=True)
    assert (made["race"] == RACE.missing_code).tolist() == [False, True, False, True]


def test_a_wrong_value_is_counted_and_not_shown():
    frame = pl.DataFrame({"race": ["white", "secret", "black", "secret"]})
    with pytest.raises(CategoryError, match="got 2 values that are not, first in row 1") as caught:
        privatize_table(frame, {"race": RACE})
    assert "secret" not in str(caught.value)


def test_categories_of_pandas_and_numbers_work():
    ages = sp.uniform([10, 20, 30, 40])
    values = [10, 40, 20, 30, 30]
    made = privatize_table(pd.DataFrame({"age": pd.Categorical(values)}), {"age": ages}, keep_order=True)
    assert all(value in ages.members(code) for value, code in zip(values, made["age"]))


def test_an_empty_table_stays_empty(tmp_path):
    assert len(privatize_table(pd.DataFrame({"race": pd.Series([], dtype=str)}), {"race": RACE})) == 0
    empty = pl.LazyFrame({"race": pl.Series([], dtype=pl.String)})
    assert privatize_table(empty, {"race": RACE}, tmp_path / "none.parquet").collect().height == 0


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([1, 2], {}, "must be a table or the path of a file; got list"),
        (pd.DataFrame(people()), {"keep": [3]}, "`keep` must be names of columns; got 3"),
        (pd.DataFrame(people()), {"missing": "drop"}, "`missing` must be one of error, full"),
        (pd.DataFrame(people()), {"output": 3}, "`output` must be a path; got int"),
    ],
)
def test_wrong_arguments_are_named(table, options, message):
    with pytest.raises(ArgumentError, match=message):
        privatize_table(table, {"race": RACE}, **options)


def test_a_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(DataFileError, match=r"people\.csv"):
        privatize_table(tmp_path / "people.csv", {"race": RACE}, tmp_path / "private.parquet")
