"""Completed data frames: a table of observed columns with the imputed values of each set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from subsetprivacy._choices import Engine
from subsetprivacy._types import IntArray, Label
from subsetprivacy._words import people
from subsetprivacy.engines import column_names, engine_of, is_lazy, is_table, plain_table
from subsetprivacy.engines.imputed import marked
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages.for_analyses import DISTINCT_NAMES
from subsetprivacy.tables import frame

if TYPE_CHECKING:
    from subsetprivacy.imputation.result import Imputations


def completed_frames(imputations: Imputations, table: Any, engine: Engine | None) -> Iterator[Any]:
    """Return the completed frames, one at a time. Errors in the table are raised at once."""
    return completed_sets(imputations, read_observed(imputations, table, engine))


def completed_sets(imputations: Imputations, seen: Any) -> Iterator[Any]:
    """Return a table with the values of each set, one set at a time."""
    return (_completed(imputations, seen, k) for k in range(imputations.m))


def read_observed(imputations: Imputations, table: Any, engine: Engine | None = None) -> Any:
    """Return the table of observed columns in the given library. The table is not changed.

    Raises
    ------
    ArgumentError
        If it is not a table in memory, or has a column with the name of an imputed one.
    MismatchError
        If it does not have a row for each person.
    """
    if table is None:
        return frame({}, engine or "pandas")
    if isinstance(table, Mapping):
        table = frame(dict(table), engine or "pandas")
    if not is_table(table) or is_lazy(table):
        raise ArgumentError(f"`table` must be a table in memory, or a dict of columns; got {type(table).__name__}.")
    table = plain_table(table)
    taken = sorted(set(column_names(table)) & set(imputations.columns))
    if taken:
        raise ArgumentError(
            f"`table` must not have the columns of imputed values; got {', '.join(taken)}.", DISTINCT_NAMES
        )
    rows = table.num_rows if engine_of(table) == "pyarrow" else len(table)
    if rows != imputations.n:
        raise MismatchError(f"`table` must have a row for each of the {people(imputations.n)}; got {rows} rows.")
    return table if engine in (None, engine_of(table)) else _converted(table, engine)


def _converted(table: Any, engine: Engine) -> Any:
    """Return a table in another library, by way of Arrow."""
    import pyarrow as pa

    kind = engine_of(table)
    arrow = pa.Table.from_pandas(table, preserve_index=False) if kind == "pandas" else table
    if kind == "polars":
        arrow = table.to_arrow()
    elif isinstance(arrow, pa.RecordBatch):
        arrow = pa.Table.from_batches([arrow])
    if engine == "pyarrow":
        return arrow
    if engine == "pandas":
        return arrow.to_pandas()
    import polars as pl

    return pl.from_arrow(arrow)


def _completed(imputations: Imputations, table: Any, k: int) -> Any:
    coded = imputations._coded(imputations.values[k])
    add = {"pandas": _in_pandas, "polars": _in_polars, "pyarrow": _in_arrow}[engine_of(table)]
    return marked(add(table, coded), imputations.document)


def _in_pandas(table: Any, coded: Mapping[str, tuple[tuple[Label, ...], IntArray]]) -> Any:
    import pandas as pd

    index = table.index if len(table.columns) else None
    columns = {
        # A category that no one has in this set is left out, because a column of zeros would silently break a model.
        name: pd.Series(pd.Categorical.from_codes(at, pd.Index(list(labels))).remove_unused_categories(), index=index)
        for name, (labels, at) in coded.items()
    }
    if index is None:
        return pd.DataFrame(columns)
    return table.assign(**columns)


def _in_polars(table: Any, coded: Mapping[str, tuple[tuple[Label, ...], IntArray]]) -> Any:
    import polars as pl

    columns = [pl.Series(list(labels)).gather(at).alias(name) for name, (labels, at) in coded.items()]
    return table.with_columns(columns) if table.width else pl.DataFrame(columns)


def _in_arrow(table: Any, coded: Mapping[str, tuple[tuple[Label, ...], IntArray]]) -> Any:
    import pyarrow as pa

    result = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    columns = {name: pa.array(list(labels)).take(pa.array(at)) for name, (labels, at) in coded.items()}
    if not result.num_columns:
        return pa.table(columns)
    for name, column in columns.items():
        result = result.append_column(name, column)
    return result
