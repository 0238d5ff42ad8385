"""The kind and engine of a table, found by type names, without importing a library."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from subsetprivacy.errors import ArgumentError, DataFileError, MissingDependencyError, SubsetPrivacyError
from subsetprivacy.messages.for_files import COMPUTE_IT_ALONE

# Library and class of every supported table, and the name of its engine.
_ENGINES = {
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "polars-lazy",
    ("pyarrow", "Table"): "pyarrow",
    ("pyarrow", "RecordBatch"): "pyarrow",
    ("pyarrow", "Dataset"): "pyarrow-dataset",
    ("duckdb", "DuckDBPyRelation"): "duckdb",
    ("_duckdb", "DuckDBPyRelation"): "duckdb",
    ("pyspark", "DataFrame"): "pyspark",
    ("dask", "DataFrame"): "dask",
    ("dask_expr", "DataFrame"): "dask",
    ("ibis", "Table"): "ibis",
}
_LAZY = {"polars-lazy", "pyarrow-dataset", "duckdb", "pyspark", "dask", "ibis"}
_ORDERED = {"pandas", "polars", "pyarrow", "pyarrow-dataset"}  # whose rows are numbered


def plain_table(table: Any) -> Any:
    """Return the table inside a narwhals frame; return anything else unchanged."""
    is_narwhals = any(
        kind.__module__.partition(".")[0] == "narwhals" and kind.__name__ in {"DataFrame", "LazyFrame"}
        for kind in type(table).__mro__
    )
    return table.to_native() if is_narwhals else table


def _engine(table: Any) -> str | None:
    for kind in type(plain_table(table)).__mro__:
        if kind.__module__.startswith("pyspark.pandas"):  # the pandas API on Spark is not supported
            return None
        engine = _ENGINES.get((kind.__module__.partition(".")[0], kind.__name__))
        if engine is not None:
            return engine
    return None


def is_table(table: Any) -> bool:
    """Return whether something is a supported table.

    Parameters
    ----------
    table
        Anything. Tables are those of pandas, Polars (eager and lazy),
        PyArrow (tables, record batches, datasets), DuckDB (relations),
        PySpark (classic and Connect), Dask and Ibis, and narwhals frames.
    """
    return _engine(table) is not None


def engine_of(table: Any) -> str:
    """Return the name of a table's engine.

    Raises
    ------
    ArgumentError
        If it is not a table.
    """
    engine = _engine(table)
    if engine is None:
        raise ArgumentError(
            "`table` must be a table of pandas, Polars, PyArrow, DuckDB, PySpark, Dask or Ibis; got "
            f"{type(table).__name__}."
        )
    return engine


def is_lazy(table: Any) -> bool:
    """Return whether a table is computed or read on demand."""
    return engine_of(table) in _LAZY


def is_ordered(table: Any) -> bool:
    """Return whether the rows of a table are ordered, so that an error can give a row number."""
    return engine_of(table) in _ORDERED


@contextmanager
def computing(table: Any) -> Iterator[None]:
    """Replace errors of a table's library, which may show cells, by a `DataFileError`.

    Raises
    ------
    DataFileError
        Names the engine and the class of its error, which is not chained. Errors of this package and MemoryError pass.

    Examples
    --------
    >>> import pandas as pd
    >>> with computing(pd.DataFrame()):
    ...     int("five")
    Traceback (most recent call last):
    subsetprivacy.errors.DataFileError: the pandas table could not be computed (ValueError). Hint: run it separately ...
    """
    try:
        yield
    except (SubsetPrivacyError, MissingDependencyError, MemoryError):
        raise
    except Exception as error:
        kind = type(error).__name__
    else:
        return
    failure = DataFileError(f"the {engine_of(table)} table could not be computed ({kind}).", COMPUTE_IT_ALONE)
    try:
        raise failure
    finally:
        failure.__context__ = None  # set by Python if the engine's error is still being handled


def raw_names(table: Any) -> list[Any]:
    """Return the original column names of a table, which may be numbers in pandas."""
    table = plain_table(table)
    engine = engine_of(table)
    if engine == "polars-lazy":
        with computing(table):
            return list(table.collect_schema().names())
    if engine in {"pyarrow", "pyarrow-dataset"}:
        return list(table.schema.names)
    return list(table.columns)


def native_column(table: Any, name: str) -> Any:
    """Return a column of a table in memory, in the type of its library."""
    table = plain_table(table)
    if engine_of(table) == "pyarrow":
        return table.column(name)
    return table[next(native for native in raw_names(table) if str(native) == name)]


def column_names(table: Any) -> list[str]:
    """Return the names of a table's columns, in order.

    Examples
    --------
    >>> import pandas as pd
    >>> column_names(pd.DataFrame({"race": [3, 5], "income": [6, 9]}))
    ['race', 'income']
    """
    return [str(name) for name in raw_names(table)]


def quoted(name: str, mark: str = '"') -> str:
    """Return the name of a column, quoted for SQL."""
    return mark + name.replace(mark, 2 * mark) + mark
