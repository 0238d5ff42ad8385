"""Columns of covariates of any table, as numbers or labels, read in parts without copying."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_same_index
from subsetprivacy._types import AnyArray, BoolArray, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.engines import (
    arrow_batches,
    check_columns,
    column_names,
    computing,
    declared_orders,
    engine_of,
    is_ordered,
    is_table,
    native_column,
    plain_table,
)
from subsetprivacy.engines.arrow import kind_of
from subsetprivacy.engines.headers import no_such_column
from subsetprivacy.engines.kinds import quoted, raw_names
from subsetprivacy.errors import ArgumentError, MismatchError, NoDataError, TooLargeError
from subsetprivacy.messages.for_files import WRITE_IT_AS_PARQUET
from subsetprivacy.messages.for_regression import COVARIATES_AS_A_TABLE, LEVELS_OR_NUMBERS
from subsetprivacy.subsets import is_missing

MOST_LEVELS = 10_000  # of a column, each a column of the matrix
MOST_FROM_SPARK = 1_000_000  # rows to load from a cluster
_NUMBERS = {"integer", "float", "boolean", "nothing"}


@frozen(eq=False)
class NumberColumn:
    """A column of numbers, or of True and False.

    Attributes
    ----------
    part
        Returns a range of rows as an array, NaN where a value is missing.
    boolean
        Whether it contains True and False.
    """

    part: Callable[[int, int], AnyArray]
    boolean: bool = False


@frozen(eq=False)
class LabelColumn:
    """A column of text or categories.

    Attributes
    ----------
    codes
        The position of each row's label, -1 if missing.
    labels
        The labels.
    declared
        Whether their order was declared, as in an ordered categorical column.
    """

    codes: IntArray
    labels: list[Any]
    declared: bool = False

    def part(self, start: int, stop: int) -> IntArray:
        """Return the codes of some rows."""
        return self.codes[start:stop]

    def used(self) -> list[Any]:
        """Return the observed labels."""
        used = np.flatnonzero(np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels)))
        return [self.labels[k] for k in used.tolist()]

    def levels(self) -> list[Any]:
        """Return the observed labels, in declared order or sorted."""
        return self.used() if self.declared else in_order(self.used())


CovariateColumn: TypeAlias = NumberColumn | LabelColumn


def in_order(labels: Sequence[Any]) -> list[Any]:
    """Return sorted labels; labels that cannot be compared are sorted by their text."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=str)


def number_levels(numbers: set[Any], name: str, boolean: bool = False) -> tuple[Label, ...]:
    """Return numbers as sorted levels, whole numbers as integers, without missing ones."""
    finite = sorted(number for number in numbers if np.isfinite(number))
    check_level_count(len(finite), name)
    if boolean:
        return tuple(bool(number) for number in finite)
    whole = all(float(number).is_integer() for number in finite)
    return tuple(int(number) if whole else float(number) for number in finite)


@frozen(eq=False)
class Covariates:
    """Columns of one table, in memory.

    Attributes
    ----------
    columns
        By name.
    rows
        The number of rows.
    ordered
        Whether rows have numbers that an error can give.
    first
        The number of the first row in the whole table.
    array
        The array of all columns, if the table is an array.
    """

    columns: Mapping[str, CovariateColumn]
    rows: int
    ordered: bool = True
    first: int = 0
    array: AnyArray | None = None

    def parts(self, size: int) -> Iterator["Covariates"]:
        """Yield the rows in batches of at most `size`."""
        for start in range(0, self.rows, size):
            yield self.between(start, min(start + size, self.rows))

    def between(self, start: int, stop: int) -> "Covariates":
        """Return a range of rows."""
        if self.array is None:
            columns = {name: _sliced(column, start, stop) for name, column in self.columns.items()}
        else:  # column by column: row by row takes ten times as long
            rows = np.asfortranarray(self.array[start:stop]).T
            columns = {name: numbers_of(column) for name, column in zip(self.columns, rows, strict=True)}
        return Covariates(columns, stop - start, self.ordered, self.first + start)

    def taken(self, at: IntArray) -> "Covariates":
        """Return the rows at some positions."""
        if self.array is not None:
            rows = np.asfortranarray(self.array[at])
            columns: dict[str, CovariateColumn] = {
                name: numbers_of(column) for name, column in zip(self.columns, rows.T, strict=True)
            }
            return Covariates(columns, len(at), self.ordered, array=rows)
        columns = {name: _taken(column, at, self.rows) for name, column in self.columns.items()}
        return Covariates(columns, len(at), self.ordered)

    def within(self, used: BoolArray | None) -> "Covariates":
        """Return the same number of rows, in which a complete row that is used replaces all that are not.

        Cells of rows that are not used may be missing or invalid. None uses all rows.
        """
        if used is None or len(used) != self.rows or used.all() or not used.any():
            return self
        whole = used.copy()
        for column in self.columns.values():
            cells = column.part(0, self.rows)
            whole &= cells >= 0 if isinstance(column, LabelColumn) else np.isfinite(np.asarray(cells, np.float64))
        row = int((whole if whole.any() else used).argmax())
        return self.taken(np.where(used, np.arange(self.rows), row))


def _taken(column: CovariateColumn, at: IntArray, rows: int) -> CovariateColumn:
    if isinstance(column, LabelColumn):
        return LabelColumn(column.codes[at], column.labels, column.declared)
    return numbers_of(np.asarray(column.part(0, rows))[at], column.boolean)


def _sliced(column: CovariateColumn, start: int, stop: int) -> CovariateColumn:
    if isinstance(column, LabelColumn):
        return LabelColumn(column.part(start, stop), column.labels, column.declared)
    return numbers_of(column.part(start, stop), column.boolean)


@frozen(eq=False)
class _ArrayReader:
    """Returns slices of an array; unlike a lambda, it can be pickled."""

    values: AnyArray

    def __call__(self, start: int, stop: int) -> AnyArray:
        return self.values[start:stop]


def numbers_of(values: AnyArray, boolean: bool = False) -> NumberColumn:
    """Return an array as a column."""
    return NumberColumn(_ArrayReader(values), boolean)


# Tables -------------------------------------------------------------------------------------------------------------


def names_of(table: Any) -> list[str]:
    """Return the column names of a table or a dict of columns; for an array, x1, x2, and so on.

    Raises
    ------
    ArgumentError
        If it is another type.
    """
    if isinstance(table, Covariates):
        return list(table.columns)
    if is_table(table):
        return column_names(table)
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    return list(_array_columns(table))


def snapshot(table: Any, names: Sequence[str]) -> Any:
    """Load some columns of a table into memory in one pass.

    Parameters
    ----------
    table
        A table of any library, a dict of columns, or an array. Data in memory are returned as they are. At most a
        million rows of a Spark table are loaded.
    names
        The columns.

    Raises
    ------
    ArgumentError
        If a column does not exist.
    TooLargeError
        If a Spark table has too many rows.
    DataFileError
        If its engine fails. The engine's message may show cells and is not passed on.

    Notes
    -----
    A query is run once. Engines such as DuckDB and Spark may return rows in another order the next time, so that
    columns of two runs would not match.
    """
    check_names(table, names)
    if not is_table(table):
        return table
    table = plain_table(table)
    engine = engine_of(table)
    if engine in {"pandas", "polars"}:
        return table
    with computing(table):
        if engine == "dask":
            native_names = {str(name): name for name in raw_names(table)}
            return table[[native_names[name] for name in names]].compute()
        if engine == "pyspark":
            return _from_spark(table, names)
    import pyarrow as pa

    if engine == "pyarrow":
        return pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    orders = declared_orders(table, names)
    batches = list(arrow_batches(table, names))
    made = pa.Table.from_batches(batches) if batches else pa.table({name: pa.nulls(0) for name in names})
    return _with_orders(made, names, orders)


def check_names(table: Any, names: Sequence[str]) -> None:
    """Raise if a table, a dict of columns or an array lacks a column; no row is read."""
    if is_table(table):
        check_columns(plain_table(table), list(names))
    else:
        _check_existing(names_of(table), names)


def _check_existing(existing: Sequence[str], wanted: Sequence[str]) -> None:
    for name in wanted:
        if name not in existing:
            raise ArgumentError(*no_such_column(name, existing, "the table", "names"))


def _from_spark(table: Any, names: Sequence[str]) -> Any:
    rows = table.select(*(quoted(name, "`") for name in names)).limit(MOST_FROM_SPARK + 1).toArrow()
    if rows.num_rows > MOST_FROM_SPARK:
        raise TooLargeError(
            f"a Spark table must have at most {MOST_FROM_SPARK:,} rows to be loaded on this machine; got more.",
            WRITE_IT_AS_PARQUET,
        )
    return rows


def _with_orders(made: Any, names: Sequence[str], orders: Sequence[list[Any] | None]) -> Any:
    """Return a table with ordered categories where the engine declared an order, as DuckDB's ENUM does."""
    import pyarrow as pa

    for at, (name, order) in enumerate(zip(names, orders, strict=True)):
        if order is not None and made.num_rows:
            encoded = made.column(name).cast(pa.string()).combine_chunks().dictionary_encode()
            position = {label: k for k, label in enumerate(order)}
            table = pa.array([position[label] for label in encoded.dictionary.to_pylist()], pa.int32())
            column = pa.DictionaryArray.from_arrays(table.take(encoded.indices), pa.array(order), ordered=True)
            made = made.set_column(at, name, column)
    return made


def covariates_of(table: Any, names: Sequence[str] | None = None) -> Covariates:
    """Read columns of covariates.

    Parameters
    ----------
    table
        A table of any library, a dict of columns, or an array of numbers. `Covariates` are returned as they are.
    names
        The columns; by default all.

    Raises
    ------
    ArgumentError
        If a column does not exist, or contains neither numbers nor labels.
    MismatchError
        If columns have different lengths.
    NoDataError
        If there are no rows.

    Examples
    --------
    >>> covariates = covariates_of({"age": [39, 50], "sex": ["Male", "Female"]})
    >>> covariates.rows, covariates.columns["sex"].levels()
    (2, ['Female', 'Male'])
    """
    if isinstance(table, Covariates):
        _check_existing(list(table.columns), list(names or table.columns))
        return table
    wanted = list(names_of(table) if names is None else names)
    ordered = not is_table(table) or is_ordered(table)
    loaded = snapshot(table, wanted)
    native = _native_columns(loaded, wanted)
    rows = _rows(loaded, native)
    if not rows:
        raise NoDataError("a table of covariates must have rows; got none.")
    columns = {name: covariate_column(column, name) for name, column in native.items()}
    array = loaded if type(loaded) is np.ndarray and loaded.ndim == 2 and len(wanted) == loaded.shape[1] else None
    return Covariates(columns, rows, ordered, array=array)


def _native_columns(table: Any, names: Sequence[str]) -> dict[str, Any]:
    if is_table(table):
        return {name: native_column(table, name) for name in names}
    if isinstance(table, Mapping):
        by_name = {str(name): column for name, column in table.items()}
        check_same_index(by_name)
        return {name: by_name[name] for name in names}
    columns = _array_columns(table)
    return {name: columns[name] for name in names}


def _rows(table: Any, columns: Mapping[str, Any]) -> int:
    if is_table(table):
        return int(table.num_rows if hasattr(table, "num_rows") else len(table))
    lengths = {name: len(column) for name, column in columns.items()}
    different = [name for name, length in lengths.items() if length != next(iter(lengths.values()))]
    if different:
        first = next(iter(lengths))
        raise MismatchError(
            f"columns must have the same length; got {lengths[first]} in {first} and {lengths[different[0]]} in "
            f"{different[0]}."
        )
    if isinstance(table, Mapping):
        return next((len(column) for column in table.values()), 0)
    return len(np.asarray(table))


def _array_columns(table: Any) -> dict[str, Any]:
    """Return the columns of an array, or a single column, without copying them."""
    if getattr(table, "name", None) and not isinstance(table, np.ndarray):  # a series
        return {str(table.name): table}
    array: Any = None
    if not isinstance(table, (str, bytes, set, frozenset)) and not hasattr(table, "tocsr"):
        try:
            array = _as_array(table)
        except ValueError:  # lists of different lengths
            array = None
    if array is None or array.ndim not in (1, 2) or (array.ndim == 2 and array.dtype.kind not in "biuf"):
        got = type(table).__name__ if array is None or array.ndim in (1, 2) else f"shape {array.shape}"
        raise ArgumentError(
            f"covariates must be a table, a dict of columns or an array of numbers with a row for each person; got "
            f"{got}.",
            COVARIATES_AS_A_TABLE,
        )
    return {f"x{k}": column for k, column in enumerate([array] if array.ndim == 1 else array.T, 1)}


# Columns ------------------------------------------------------------------------------------------------------------


def covariate_column(column: Any, name: str) -> CovariateColumn:
    """Return a column of any library as numbers or as labels.

    Raises
    ------
    ArgumentError
        If it contains other types, or too many labels.
    """
    home = type(column).__module__.partition(".")[0]
    if home == "polars":
        made = _of_polars(column, name)
    elif home == "pyarrow":
        made = _of_arrow(column, name)
    elif home == "pandas":
        made = _of_pandas(column, name)
    else:
        made = _of_array(_as_array(column), name)
    if isinstance(made, LabelColumn):
        check_level_count(len(made.used()), name)
    return made


def check_level_count(levels: int, name: str) -> None:
    """Raise if a column has too many levels to be categorical."""
    if levels > MOST_LEVELS:
        raise ArgumentError(
            f"column {name} must have at most {MOST_LEVELS} different labels, each of which is a column of the matrix; "
            f"got {counted(levels, 'label')}."
        )


def _unsupported_type(name: str, got: Any) -> ArgumentError:
    return ArgumentError(f"column {name} must hold numbers, True and False, or text; got {got}.", LEVELS_OR_NUMBERS)


def _as_array(values: Any) -> AnyArray:
    """Return an array, possibly masked; a list with other items than numbers becomes an object array."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    array = np.asarray(values)
    is_list = isinstance(values, (list, tuple)) and array.ndim == 1
    return np.array(values, object) if is_list and array.dtype.kind not in "biuf" else array


def _of_array(array: AnyArray, name: str) -> CovariateColumn:
    if array.ndim != 1:
        raise _unsupported_type(name, f"an array of shape {array.shape}")
    if np.ma.isMaskedArray(array):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    if array.dtype.kind in "biuf":
        return numbers_of(array, array.dtype.kind == "b")
    if array.dtype.kind in "UT":
        labels, codes = np.unique(array, return_inverse=True)
        return LabelColumn(codes.astype(np.int32), labels.tolist())
    if array.dtype.kind != "O":
        raise _unsupported_type(name, array.dtype)
    return _of_objects(array.tolist(), name)


def _of_objects(values: list[Any], name: str) -> CovariateColumn:
    """Return Python objects, some of which may be missing."""
    kinds = {type(value) for value in values if not is_missing(value)}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        known: dict[Any, int] = {}
        codes = [-1 if is_missing(value) else known.setdefault(value, len(known)) for value in values]
        return LabelColumn(np.array(codes, np.int32), list(known))
    if not all(
        issubclass(kind, (bool, int, float, np.number, np.bool_)) or kind.__name__ == "Decimal" for kind in kinds
    ):
        raise _unsupported_type(name, "mixed or other objects")
    numbers = np.array([np.nan if is_missing(value) else float(value) for value in values])
    return numbers_of(numbers, bool(kinds) and all(issubclass(kind, (bool, np.bool_)) for kind in kinds))


def _of_pandas(series: Any, name: str) -> CovariateColumn:
    import pandas as pd
    from pandas.api import types

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        whole = series.cat if hasattr(series, "cat") else series
        return LabelColumn(np.asarray(whole.codes), list(dtype.categories), declared=True)
    if str(dtype) == "object":
        return _of_objects(list(series), name)
    if types.is_bool_dtype(dtype) or (types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)):
        return NumberColumn(_pandas_reader(series), types.is_bool_dtype(dtype))
    if types.is_string_dtype(dtype):
        codes, labels = pd.factorize(series)
        return LabelColumn(np.asarray(codes), [str(label) for label in labels])
    if hasattr(dtype, "pyarrow_dtype"):
        import pyarrow as pa

        return _of_arrow(pa.chunked_array(pa.array(series)), name)
    raise _unsupported_type(name, dtype)


def _pandas_reader(series: Any) -> Callable[[int, int], AnyArray]:
    if isinstance(series.dtype, np.dtype):
        values = series.to_numpy()
        return lambda start, stop: values[start:stop]
    return lambda start, stop: series.iloc[start:stop].to_numpy(np.float64, na_value=np.nan)


def _of_polars(series: Any, name: str) -> CovariateColumn:
    kind = str(series.dtype)
    if kind in {"Object", "Int128", "UInt128"}:
        raise _unsupported_type(name, kind)
    made = _of_arrow(series.to_arrow(), name)
    if isinstance(made, LabelColumn) and kind.startswith("Enum"):
        return LabelColumn(made.codes, made.labels, declared=True)
    return made


def _of_arrow(column: Any, name: str) -> CovariateColumn:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return _of_dictionary(column, column.type.ordered)
    kind = kind_of(column.type)
    if kind == "text":
        return _of_dictionary(column.cast(pa.large_string()).dictionary_encode(), False)
    if kind not in _NUMBERS:
        raise _unsupported_type(name, column.type)
    return NumberColumn(lambda start, stop: arrow_numbers(column.slice(start, stop - start)), kind == "boolean")


def _of_dictionary(column: Any, ordered: bool) -> LabelColumn:
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # of no rows
        return LabelColumn(np.empty(0, np.int32), [])
    codes = whole.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    labels = whole.dictionary.to_pylist()
    if None in labels:  # the dictionary may contain a missing value
        codes = np.where(codes == labels.index(None), -1, codes)
    return LabelColumn(codes, labels, ordered)


def arrow_numbers(column: Any) -> AnyArray:
    """Return an Arrow column of numbers as an array, NaN where a value is missing."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(False))
