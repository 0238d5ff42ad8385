"""The declared order of ordered categorical columns: of pandas, Dask, Polars' Enum, Arrow and DuckDB's ENUM."""

from collections.abc import Sequence
from typing import Any

from subsetprivacy.engines.kinds import computing, engine_of, native_column, plain_table


def declared_order(column: Any) -> list[Any] | None:
    """Return the values of a column in the order declared by its type, or None.

    Parameters
    ----------
    column
        A pandas or Polars series, a pandas Categorical or an Arrow array. Anything else has no declared order.

    Examples
    --------
    >>> import pandas as pd
    >>> declared_order(pd.Categorical(["mid", "low"], ["low", "mid", "high"], ordered=True))
    ['low', 'mid', 'high']
    """
    column = column.to_native() if hasattr(column, "to_native") else column
    return _of_arrow(column) if hasattr(column, "type") else _of_dtype(getattr(column, "dtype", None))


def declared_orders(table: Any, names: Sequence[str]) -> list[list[Any] | None]:
    """Return the declared order of some columns of a table, or None for each."""
    table = plain_table(table)
    engine = engine_of(table)
    with computing(table):
        if engine == "polars-lazy":
            schema = table.collect_schema()
            return [_of_dtype(schema[name]) for name in names]
        if engine == "pyarrow-dataset":
            ordered = [getattr(table.schema.field(name).type, "ordered", False) for name in names]
            return [
                _of_arrow(table.head(1).column(name)) if is_so else None
                for name, is_so in zip(names, ordered, strict=True)
            ]
        if engine == "duckdb":
            kinds = dict(zip(table.columns, table.types, strict=True))
            return [_of_enum(kinds[name]) for name in names]
        if engine == "dask":
            return [_of_dask(table, name) for name in names]
        if engine in {"pandas", "polars", "pyarrow"}:
            return [declared_order(native_column(table, name)) for name in names]
    return [None] * len(names)  # Spark and Ibis have no such type


def _of_dtype(dtype: Any) -> list[Any] | None:
    if type(dtype).__name__ == "Enum":  # Polars
        return list(dtype.categories)
    return list(dtype.categories) if getattr(dtype, "ordered", False) else None


def _of_arrow(column: Any) -> list[Any] | None:
    if not getattr(column.type, "ordered", False):
        return None
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    orders = sorted((chunk.dictionary.to_pylist() for chunk in chunks), key=len)
    agree = orders and all(order == orders[-1][: len(order)] for order in orders)
    return orders[-1] if agree else None  # chunks that disagree have no declared order


def _of_enum(kind: Any) -> list[Any] | None:
    return list(dict(kind.children)["values"]) if kind.id == "enum" else None


def _of_dask(table: Any, name: str) -> list[Any] | None:
    column = next(table[native] for native in table.columns if str(native) == name)
    return _of_dtype(column.dtype) if hasattr(column, "cat") and column.cat.known else None
