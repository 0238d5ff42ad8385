"""Any local table as a stream of Arrow batches."""

import warnings

import pytest
from engines import CONSTRUCTORS, LIBRARY
from refusals import refused

from subsetprivacy.engines import arrow_batches
from subsetprivacy.errors import ArgumentError

pa = pytest.importorskip("pyarrow")
ROWS = 23
COLUMNS = {"number": list(range(ROWS)), 'two.words "here"': ["x", None, "yy"] * 7 + ["z"] * 2, "unused": [1.5] * ROWS}


@pytest.mark.parametrize("kind", [name for name in CONSTRUCTORS if name != "dask"])
def test_every_local_table_in_order_and_in_batches(kind, tmp_path):
    pytest.importorskip(LIBRARY.get(kind, kind.split()[0]))
    table = CONSTRUCTORS[kind][0](COLUMNS, tmp_path)
    batches = list(arrow_batches(table, ['two.words "here"', "number"], size=4))
    assert all(isinstance(batch, pa.RecordBatch) for batch in batches)
    assert all(0 < batch.num_rows <= 4 for batch in batches)
    whole = pa.Table.from_batches(batches)  # one schema
    assert whole.column_names == ['two.words "here"', "number"]
    assert whole["number"].to_pylist() == COLUMNS["number"]
    assert whole['two.words "here"'].to_pylist() == COLUMNS['two.words "here"']


def test_a_relation_that_is_left_early_sets_its_connection_free():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql("SELECT range AS n FROM range(100000)")
    batches = arrow_batches(relation, ["n"], size=10)
    assert next(batches).num_rows == 10
    batches.close()
    assert connection.execute("SELECT 42").fetchone() == (42,)


def test_an_ibis_table_of_a_database_is_streamed(tmp_path):
    duckdb, ibis = pytest.importorskip("duckdb"), pytest.importorskip("ibis")
    connection = duckdb.connect()
    connection.sql(f"COPY (SELECT range AS n FROM range(1000)) TO '{tmp_path}/n.parquet'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis calls what DuckDB calls old
        table = ibis.duckdb.connect().read_parquet(tmp_path / "n.parquet")
    batches = list(arrow_batches(table.mutate(double=table.n * 2), ["double"], size=100))
    assert max(batch.num_rows for batch in batches) <= 100
    assert [row for batch in batches for row in batch.column(0).to_pylist()] == list(range(0, 2000, 2))


def test_a_lazy_polars_frame_is_run_once():
    pl = pytest.importorskip("polars")
    runs = []

    def seen(frame):
        runs.append(frame.height)
        return frame

    lazy = pl.DataFrame({"x": range(10)}).lazy().map_batches(seen, schema={"x": pl.Int64}, streamable=False)
    assert sum(batch.num_rows for batch in arrow_batches(lazy, ["x"], size=3)) == 10
    assert sum(runs) == 10


def test_objects_have_one_type_in_all_batches():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": pd.Series([None] * 5 + ["b"], dtype=object), "c": pd.Categorical(list("uvuvuv"))})
    batches = list(arrow_batches(frame, ["x", "c"], size=2))
    assert {str(batch.schema.field("x").type) for batch in batches} <= {"string", "large_string"}
    assert [value for batch in batches for value in batch.column("c").to_pylist()] == list("uvuvuv")


def test_mixed_objects_are_refused_and_not_shown():
    pd = pytest.importorskip("pandas")
    for cells in (["secret", 5], [5, "secret"], [{"secret"}, "x"], [2**80, "secret"]):
        frame = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
        with pytest.raises(ArgumentError, match="column x must hold values of one type that Arrow knows") as caught:
            list(arrow_batches(frame, ["x"]))
        assert "secret" not in repr(caught.value)
        assert caught.value.__context__ is None


def test_columns_of_pandas_that_are_numbers():
    pd = pytest.importorskip("pandas")
    (batch,) = arrow_batches(pd.DataFrame({0: [5, 6], 1: [7, 8]}, index=[9, 9]), ["1", "0"])
    assert batch.to_pydict() == {"1": [7, 8], "0": [5, 6]}


def test_nobody_gives_no_batch():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for empty in (pd.DataFrame({"x": []}), pl.DataFrame({"x": []}), pl.DataFrame({"x": []}).lazy()):
        assert list(arrow_batches(empty, ["x"])) == []
    assert sum(batch.num_rows for batch in arrow_batches(pa.table({"x": []}), ["x"])) == 0


@pytest.mark.parametrize("kind", ["Int128", "Object"])
def test_columns_of_polars_that_arrow_does_not_know(kind):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"id": pl.Series([1, 2**100], dtype=getattr(pl, kind)), "x": [3, 5]})
    for table in (frame, frame.lazy()):
        with pytest.raises(ArgumentError, match=f"column id must be of a type that Arrow knows; got {kind}") as caught:
            list(arrow_batches(table, ["x", "id"]))
        assert caught.value.__context__ is None
        assert [batch.to_pydict() for batch in arrow_batches(table, ["x"])] == [{"x": [3, 5]}]


def test_what_is_not_streamed(tmp_path):
    pytest.importorskip("dask")
    pd = pytest.importorskip("pandas")
    with pytest.raises(ArgumentError, match=r"must be on this machine to be streamed; got one of dask\. Hint: write"):
        arrow_batches(CONSTRUCTORS["dask"][0](COLUMNS, tmp_path), ["number"])
    with pytest.raises(ArgumentError, match=r"no column Number among its 3 columns\..*'number'"):
        arrow_batches(pd.DataFrame(COLUMNS), ["Number"])
    with refused(ArgumentError, "table"):
        arrow_batches([1, 2], ["x"])
