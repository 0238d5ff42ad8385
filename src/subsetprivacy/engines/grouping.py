"""Group-by inside the engine of a table, through narwhals: only distinct rows come back."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from subsetprivacy.engines.arrow import kind_of, tally_batches
from subsetprivacy.engines.batches import arrow_batches
from subsetprivacy.engines.groups import Groups, Key
from subsetprivacy.engines.headers import check_columns
from subsetprivacy.engines.kinds import (
    computing,
    engine_of,
    native_column,
    plain_table,
    quoted,
    raw_names,
)
from subsetprivacy.errors import ArgumentError


def tally(
    table: Any,
    keys: Sequence[str],
    weights: str | None = None,
    *,
    bits: Sequence[int | None] | None = None,
    whole: bool = False,
    in_order: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Groups:
    """Count the distinct rows of some columns of a table, inside its engine.

    Parameters
    ----------
    table
        A table supported by `is_table`.
    keys, weights, bits, whole, progress
        As in `tally_batches`. `bits` and `progress` apply to Arrow tables and datasets, which are read here.
    in_order
        Whether to read the rows in order instead of counting in the engine, so that the first row of every group is
        known. Only for tables on this machine.

    Raises
    ------
    ArgumentError
        If a column does not exist, or weights are not numbers.
    DataFileError
        If the engine fails. Its message may show cells and is not passed on.

    Examples
    --------
    >>> import pandas as pd
    >>> groups = tally(pd.DataFrame({"race": [3, 5, 3]}), ["race"])
    >>> dict(zip(groups.keys[0].labels(), groups.rows.tolist()))
    {3: 2, 5: 1}
    """
    table = plain_table(table)
    engine = engine_of(table)
    wanted = list(dict.fromkeys([*keys, *([] if weights is None else [weights])]))
    check_columns(table, wanted)
    if in_order or engine in {"pyarrow", "pyarrow-dataset"}:
        return tally_batches(arrow_batches(table, wanted), keys, weights, progress, bits, whole=whole)
    if engine == "pandas":
        _check_single(table, keys)
    with computing(table):
        return _in_engine(table, list(keys), weights, whole)


def column_kinds(table: Any, names: Sequence[str]) -> list[str]:
    """Return the kind of each column, as in `Key`, or "lists", or "objects" for Python objects."""
    table = plain_table(table)
    if engine_of(table) in {"pyarrow", "pyarrow-dataset"}:
        return [kind_of(table.schema.field(name).type) for name in names]
    with computing(table):
        schema = _lazy(table, list(names)).collect_schema()
    return [_kind(dtype) for dtype in schema.values()]


def _lazy(table: Any, names: list[str]) -> Any:
    """Return the named columns as a lazy narwhals frame, renamed to key_0, key_1, … to avoid clashes."""
    import narwhals.stable.v2 as nw

    numbered = [f"key_{k}" for k in range(len(names))]
    if engine_of(table) in {"pandas", "dask"}:  # whose column names may be numbers, which narwhals does not support
        native_names = {str(name): name for name in raw_names(table)}
        part = table[[native_names[name] for name in names]]
        part.columns = numbered
        return nw.from_native(_typed(part) if engine_of(table) == "pandas" else part).lazy()
    if engine_of(table) in {"pyspark", "duckdb"}:  # which read a dot in a name as field access
        mark, select = ("`", table.selectExpr) if engine_of(table) == "pyspark" else ('"', table.project)
        chosen = [f"{quoted(name, mark)} AS {k}" for name, k in zip(names, numbered, strict=True)]
        return nw.from_native(select(*chosen) if mark == "`" else select(", ".join(chosen))).lazy()
    return nw.from_native(table).lazy().select(*(nw.col(n).alias(k) for n, k in zip(names, numbered, strict=True)))


def _check_single(frame: Any, names: Sequence[str]) -> None:
    """Raise if a column of a pandas frame contains collections, which it cannot group."""
    from pandas.api.types import infer_dtype

    for name in names:
        column = native_column(frame, name)
        mixed = str(column.dtype) == "object" and infer_dtype(column, skipna=True).startswith("mixed")
        if mixed and not all(isinstance(value, Hashable) for value in column):
            raise ArgumentError(f"column {name} must hold single values to be grouped; got collections.")


def _typed(frame: Any) -> Any:
    """Convert columns of Python integers, which pandas would group as floats if some are missing."""
    objects = [name for name, kind in frame.dtypes.items() if str(kind) == "object"]
    return frame.assign(**{name: _whole(frame[name]) for name in objects}) if objects else frame


def _whole(series: Any) -> Any:
    from pandas.api.types import infer_dtype

    if infer_dtype(series, skipna=True) == "integer":
        for wide in ("Int64", "UInt64"):
            with suppress(OverflowError):
                return series.astype(wide)
    return series


def _in_engine(table: Any, keys: list[str], weights: str | None, whole: bool) -> Groups:
    import narwhals.stable.v2 as nw

    frame = _lazy(table, keys if weights is None else [*keys, weights])
    numbered = [f"key_{k}" for k in range(len(keys))]
    sums = [nw.len().alias("rows")]
    if weights is not None:
        last = f"key_{len(keys)}"
        if not frame.collect_schema()[last].is_numeric():
            raise ArgumentError(
                f"weights must be numbers; got column {weights} of type {frame.collect_schema()[last]}."
            )
        frame = frame.with_columns(nw.col(last).cast(nw.Float64).alias("sums"))
        frame = frame.with_columns(*_squares_and_fit(nw, whole))
        sums += [nw.col(name).sum() for name in ("sums", "squares", "fit")]
    result = frame.group_by(*numbered).agg(*sums).collect()
    rows = _numbers(result["rows"], np.int64)
    made = tuple(_key(result[name]) for name in numbered)
    if weights is None:
        return Groups(made, rows)
    amounts, squares, fit = (_numbers(result[name], np.float64) for name in ("sums", "squares", "fit"))
    return Groups(made, rows, None, amounts, squares, unfit=int(rows.sum() - round(np.nansum(fit))))


def _squares_and_fit(nw: Any, whole: bool) -> list[Any]:
    weight = nw.col("sums")
    fit = weight.is_finite() & (weight >= 0)
    if whole:
        fit = fit & (weight % 1 == 0)
    return [(weight * weight).alias("squares"), fit.cast(nw.Int64).alias("fit")]  # sums ignore missing values


def _numbers(series: Any, dtype: Any) -> Any:
    """Return a column of the result in this type; it may be unsigned (Polars) or decimal (DuckDB)."""
    return np.asarray(series.to_numpy()).astype(dtype)


def _kind(dtype: Any) -> str:
    import narwhals.stable.v2 as nw

    if dtype.is_integer() or (dtype.is_decimal() and getattr(dtype, "scale", 0) == 0):
        return "integer"
    if dtype.is_numeric():
        return "float"
    if dtype in {nw.String, nw.Categorical} or isinstance(dtype, nw.Enum):
        return "text"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in {nw.Object, nw.Unknown}:  # decided by the values; narwhals does not know Polars' null type
        return "objects"
    return "lists" if dtype.is_nested() else "other"


def _key(series: Any) -> Key:
    kind = _kind(series.dtype)
    absent = np.asarray(series.is_null().to_numpy()).astype(np.bool_)
    if kind == "integer" and not absent.any() and _is_word(series):
        return Key(kind, np.asarray(series.to_numpy()).astype(np.int64), absent)
    values = [None if gone or value != value else value for value, gone in zip(series.to_list(), absent, strict=True)]
    return Key.of(_kind_of_values(values) if kind == "objects" else kind, values)


def _is_word(series: Any) -> bool:
    """Return whether all integers fit in int64."""
    import narwhals.stable.v2 as nw

    if not series.dtype.is_integer() or series.dtype in {nw.Int128, nw.UInt128}:
        return False
    return series.dtype != nw.UInt64 or not (np.asarray(series.to_numpy()) > np.iinfo(np.int64).max).any()


def _kind_of_values(values: list[Any]) -> str:
    """Return the kind of a column of Python objects, if all have the same type."""
    first = next((value for value in values if value is not None), None)
    kinds = {bool: "boolean", int: "integer", float: "float", str: "text", type(None): "nothing"}
    same = all(value is None or type(value) is type(first) for value in values)
    return kinds.get(type(first), "other") if same else "other"
