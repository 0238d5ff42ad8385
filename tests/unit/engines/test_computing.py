"""A table that cannot be computed: its library's message shows people's cells, ours does not."""

import traceback
import warnings

import pytest
from lopsided import ASKED

import subsetprivacy as sp
from subsetprivacy.engines import arrow_batches, computing
from subsetprivacy.errors import ArgumentError, DataFileError, MissingDependencyError

pa = pytest.importorskip("pyarrow")
SECRET = "SECRETNAME"


def broken_file(folder):
    path = folder / "people.csv"
    # Far down, so that whoever guesses types by the first rows takes the column for numbers.
    path.write_text("race,town\n" + "3,1\n" * 60_000 + f"{SECRET},{SECRET}\n")
    return path


def duckdb_file(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.read_csv(str(broken_file(folder)), dtype={"race": "BIGINT", "town": "BIGINT"})


def duckdb_cast(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql(f"SELECT CAST(x AS BIGINT) AS race, 1 AS town FROM (VALUES ('3'), ('{SECRET}')) AS t(x)")


def polars_file(folder):
    pl = pytest.importorskip("polars")
    return pl.scan_csv(broken_file(folder), schema={"race": pl.Int64, "town": pl.Int64})


def polars_cast(folder):
    pl = pytest.importorskip("polars")
    return pl.LazyFrame({"race": ["3", SECRET], "town": [1, 1]}).with_columns(pl.col("race").cast(pl.Int64))


def arrow_file(folder):
    import pyarrow.dataset as ds

    schema = pa.schema({"race": pa.int64(), "town": pa.int64()})
    return ds.dataset(broken_file(folder), format="csv", schema=schema)


def ibis_cast(folder):
    ibis = pytest.importorskip("ibis")
    table = ibis.memtable(pa.table({"race": ["3", SECRET], "town": [1, 1]}))
    return table.mutate(race=table.race.cast("int64"))


def dask_cast(folder):
    pd = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame({"race": ["3", SECRET], "town": [1, 1]}), npartitions=1)
    return frame.assign(race=frame["race"].astype("int64"))


BROKEN = {
    "duckdb file": (duckdb_file, "duckdb"),
    "duckdb cast": (duckdb_cast, "duckdb"),
    "polars file": (polars_file, "polars-lazy"),
    "polars cast": (polars_cast, "polars-lazy"),
    "arrow file": (arrow_file, "pyarrow-dataset"),
    "ibis cast": (ibis_cast, "ibis"),
    "dask cast": (dask_cast, "dask"),
}


def check_message(caught, engine):
    message = str(caught.value)
    assert message.startswith(f"the {engine} table could not be computed (")
    assert "Hint: run it separately to see why; its message may show people's values." in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", BROKEN)
def test_no_cell_is_shown(name, tmp_path):
    build, engine = BROKEN[name]
    for options in ({}, {"by": "town"}, {"weights": "town", "weights_kind": "sampling"}):
        with pytest.raises(DataFileError) as caught:
            sp.count(build(tmp_path), "race", design=ASKED, **options)
        check_message(caught, engine)


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "dask cast"])
def test_no_cell_is_shown_while_a_table_is_streamed(name, tmp_path):
    build, engine = BROKEN[name]
    table = build(tmp_path)
    with pytest.raises(DataFileError) as caught:
        list(arrow_batches(table, ["race", "town"]))
    check_message(caught, engine)
    with pytest.raises(DataFileError) as caught:
        sp.privatize_table(table, {"race": ASKED}, tmp_path / "private.parquet")
    check_message(caught, engine)
    assert not (tmp_path / "private.parquet").exists()


def test_a_plan_that_cannot_be_made():
    pl = pytest.importorskip("polars")
    lazy = pl.LazyFrame({SECRET: [3]}).select(pl.col("race"))  # a header was forgotten: names are cells too
    with pytest.raises(DataFileError) as c:
        sp.count(lazy, "race", design=ASKED)
    check_message(c, "polars-lazy")


def test_what_is_ours_passes():
    table = pa.table({"x": [1]})
    for error in (
        ArgumentError("ours"),
        MissingDependencyError("ours"),
        KeyboardInterrupt("ours"),
        MemoryError("ours"),
    ):
        with pytest.raises(type(error), match="ours"), computing(table):
            raise error
    with pytest.raises(DataFileError), computing(table):
        raise KeyError(SECRET)


def test_an_error_that_follows_another_is_not_chained():
    def failing():
        try:
            raise ValueError(SECRET)
        finally:
            raise KeyError(SECRET)

    table = pa.table({"x": [1]})
    with pytest.raises(DataFileError) as caught, computing(table):
        failing()
    check_message(caught, "pyarrow")
