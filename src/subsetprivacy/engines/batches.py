"""Stream any table on this machine as Arrow batches, in order, loading as little as possible."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from subsetprivacy.engines.headers import check_columns
from subsetprivacy.engines.kinds import (
    computing,
    engine_of,
    plain_table,
    quoted,
    raw_names,
)
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_files import WRITE_IT_AS_PARQUET

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 17  # 1 MB of codes fits in a cache
_SCANNED = 1 << 23  # cells of a file to scan at once
# A second core decodes while this one counts, and memory stays small.
_AHEAD: dict[str, Any] = {"batch_readahead": 2, "fragment_readahead": 1, "use_threads": True}
_NOT_AHEAD: dict[str, Any] = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}


def arrow_batches(table: Any, columns: Sequence[str], size: int = BATCH_ROWS) -> "Iterator[pa.RecordBatch]":
    """Stream some columns of a table as record batches of at most `size` rows, in the order of its rows.

    Parameters
    ----------
    table
        A table of pandas, Polars (eager or lazy), PyArrow (table, record
        batch, dataset), DuckDB or Ibis.
    columns
        The names of the columns, in the wanted order.
    size
        The largest number of rows of a batch.

    Raises
    ------
    ArgumentError
        If a column does not exist, the table is on other machines (Spark, Dask), or a column has no Arrow type.
    DataFileError
        If its engine fails. The engine's message may show cells and is not passed on.

    Notes
    -----
    Polars lazy frames, datasets, DuckDB relations and Ibis tables are run once and never loaded completely. (Polars
    before 1.34 cannot stream and loads the named columns.) While a DuckDB relation is read, its connection is busy.
    Ending the iteration early releases it.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"race": [3, 5, 6], "income": [6, 9, 3]})
    >>> [batch.num_rows for batch in arrow_batches(frame, ["income"], size=2)]
    [2, 1]
    """
    table = plain_table(table)
    engine = engine_of(table)
    if engine not in _STREAMS:
        raise ArgumentError(
            f"`table` must be on this machine to be streamed; got one of {engine}.", WRITE_IT_AS_PARQUET
        )
    check_columns(table, list(columns))
    native_names = {str(name): name for name in raw_names(table)}
    return _computed(table, _STREAMS[engine], [native_names[name] for name in columns], size)


def _computed(table: Any, stream: "_Stream", columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    with computing(table):
        yield from stream(table, columns, size)


def _of_pandas(frame: Any, columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    names = [str(name) for name in columns]
    types = [_pandas_type(frame[column], name) for column, name in zip(columns, names, strict=True)]
    for start in range(0, len(frame), size):
        part = frame.iloc[start : start + size]
        made = [_pandas_column(part[column], *known) for column, *known in zip(columns, types, names, strict=True)]
        yield pa.RecordBatch.from_arrays(made, names)


def _pandas_type(series: Any, name: str) -> Any:
    """Return the Arrow type of a column of Python objects, from all rows; None for other columns."""
    import pyarrow as pa

    if series.dtype != object:
        return None
    try:
        return pa.infer_type(series.to_numpy(), from_pandas=True)  # old versions look a Series up by its labels
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        pass
    raise _mixed(name)  # outside the handler: the inner message shows a cell


def _pandas_column(series: Any, kind: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        made = pa.array(series, type=kind, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        made = None
    if made is None:
        raise _mixed(name)
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def _mixed(name: str) -> ArgumentError:
    return ArgumentError(f"column {name} must hold values of one type that Arrow knows; got mixed or other objects.")


def _of_polars(frame: Any, columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    for name in columns:
        # Arrow has no integers of 128 bits, and would store the memory addresses of objects.
        if str(frame.schema[name]) in {"Int128", "UInt128", "Object"}:
            raise ArgumentError(f"column {name} must be of a type that Arrow knows; got {frame.schema[name]}.")
    for part in frame.select(columns).iter_slices(size):
        yield from _one_batch(part.to_arrow())


def _of_polars_lazy(frame: Any, columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    wanted = frame.select(columns)
    if not hasattr(wanted, "collect_batches"):
        yield from _of_polars(wanted.collect(), columns, size)
        return
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the method may still change
        parts = wanted.collect_batches(chunk_size=size, maintain_order=True)
    for part in parts:
        yield from _of_polars(part, columns, size)


def _one_batch(table: "pa.Table") -> "Iterator[pa.RecordBatch]":
    if table.num_rows:
        yield from table.combine_chunks().to_batches()


def _of_pyarrow(table: Any, columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    yield from whole.select(columns).to_batches(max_chunksize=size)


def _of_dataset(dataset: Any, columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    yield from dataset.to_batches(columns=columns, batch_size=size, **_AHEAD)


def fragment_batches(fragment: Any, schema: Any, columns: list[str]) -> "Iterator[pa.RecordBatch]":
    """Stream columns of one file of a dataset like `arrow_batches`; errors pass to the caller, who knows the file.

    A scan reads ahead as far as it can while its reader is busy, up to the end of the file. So a large Parquet file is
    scanned a few row groups at a time, and an Arrow file, which needs no decoding, by this thread.
    """
    ahead = _AHEAD if hasattr(fragment, "row_groups") else _NOT_AHEAD
    for part in _scanned_together(fragment, len(columns)):
        yield from part.to_batches(schema=schema, columns=columns, batch_size=BATCH_ROWS, **ahead)


def _scanned_together(fragment: Any, columns: int) -> Iterator[Any]:
    """Yield parts of a file whose columns take little memory, or one row group each."""
    groups = getattr(fragment, "row_groups", None)
    most = _SCANNED // max(columns, 1)
    if groups is None or sum(group.num_rows for group in groups) <= most:
        yield fragment
        return
    ids: list[int] = []
    rows = 0
    for group in groups:
        if ids and rows + group.num_rows > most:
            yield fragment.subset(row_group_ids=ids)
            ids, rows = [], 0
        ids.append(group.id)
        rows += group.num_rows
    yield fragment.subset(row_group_ids=ids)


def _of_duckdb(relation: Any, columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    wanted = relation.project(", ".join(quoted(name) for name in columns))
    # Its name has changed three times since DuckDB 1.1.
    name = next(name for name in ("to_arrow_reader", "fetch_record_batch", "record_batch") if hasattr(wanted, name))
    reader = getattr(wanted, name)(size)
    try:
        yield from reader
    finally:
        reader.close()  # an open one blocks the connection


def _of_ibis(table: Any, columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    wanted = table.select(*columns)
    backend = wanted._find_backend(use_default=True)
    if backend.name == "duckdb" and not hasattr(backend.con, "fetch_record_batch"):
        # Ibis 12 streams by a method that DuckDB 2 no longer has.
        yield from _of_ibis_on_duckdb(wanted, backend, columns, size)
        return
    reader = wanted.to_pyarrow_batches(chunk_size=size)
    try:
        for batch in reader:  # cut again, because some engines ignore the size
            yield from (batch.slice(start, size) for start in range(0, batch.num_rows, size))
    finally:
        reader.close()


def _of_ibis_on_duckdb(wanted: Any, backend: Any, columns: list[Any], size: int) -> "Iterator[pa.RecordBatch]":
    import duckdb

    try:
        relation = backend.con.sql(backend.compile(wanted))
    except duckdb.CatalogException:  # made of tables in memory, which only Ibis can name
        relation = None
    if relation is None:
        yield from _of_pyarrow(wanted.to_pyarrow(), columns, size)
    else:
        yield from _of_duckdb(relation, columns, size)


_Stream: TypeAlias = "Callable[[Any, list[Any], int], Iterator[pa.RecordBatch]]"
_STREAMS: "dict[str, _Stream]" = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "polars-lazy": _of_polars_lazy,
    "pyarrow": _of_pyarrow,
    "pyarrow-dataset": _of_dataset,
    "duckdb": _of_duckdb,
    "ibis": _of_ibis,
}
