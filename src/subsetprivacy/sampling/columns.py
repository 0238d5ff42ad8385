"""Columns of weights, strata and clusters from any table, checked and converted to numbers."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from subsetprivacy._checks import check_same_index
from subsetprivacy._types import AnyArray, FloatArray, IntArray
from subsetprivacy._words import counted, people
from subsetprivacy.engines import arrow_batches, check_columns, engine_of, is_table, native_column, no_such_column
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages.for_data import UNITS_OF_A_STRATUM, WEIGHTS_OF_ALL
from subsetprivacy.subsets import is_missing

_IN_MEMORY = {"pandas", "polars", "pyarrow"}


def columns_of(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return columns of a local table of any library, or of a dict of columns, in one pass over its rows.

    Raises
    ------
    ArgumentError
        If it is not a table, a column is missing, or the table is on other machines.
    """
    if isinstance(table, Mapping):
        for name in names:
            if name not in table:
                raise ArgumentError(*no_such_column(name, [str(column) for column in table], "the table", "names"))
        check_same_index({name: table[name] for name in names})
        return {name: table[name] for name in names}
    if not is_table(table):
        raise ArgumentError(f"`table` must be a table or a dict of columns; got {type(table).__name__}.")
    check_columns(table, list(names))
    if engine_of(table) in _IN_MEMORY:
        return {name: native_column(table, name) for name in names}
    distinct = list(dict.fromkeys(names))
    batches = list(arrow_batches(table, distinct))
    return {
        name: np.concatenate([np.asarray(batch.column(k)) for batch in batches]) if batches else np.empty(0)
        for k, name in enumerate(distinct)
    }


def numbers(values: Any, name: str, length: int | None = None) -> FloatArray:
    """Return one finite, nonnegative number per person.

    Raises
    ------
    ArgumentError, MismatchError
        With the number of invalid entries and the first row, never a value.
    """
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None:  # raised here, since the inner message shows an entry
        raise ArgumentError(f"`{name}` must be numbers, one per person; got {type(values).__name__} of something else.")
    if array.ndim != 1 or (length is not None and len(array) != length):
        of = "" if length is None else f" for {people(length)}"
        raise MismatchError(f"`{name}` must be one number per person; got shape {array.shape}{of}.")
    refuse_numbers(array, name)
    return array


def refuse_numbers(array: AnyArray, name: str) -> None:
    """Raise unless all numbers are finite and not negative."""
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(bad.reshape(len(bad), -1).any(axis=1).argmax())
        raise ArgumentError(
            f"`{name}` must be finite and not negative; got "
            f"{counted(bad.sum(), 'number that is not', 'numbers that are not')}, first in row {row}.",
            UNITS_OF_A_STRATUM if name == "fpc" else WEIGHTS_OF_ALL,
        )


def labels(values: Any, name: str, length: int | None = None) -> IntArray:
    """Return the index of each person's label, in sorted order.

    Raises
    ------
    ArgumentError, MismatchError
        If a label is missing or invalid, or there is not one per person.
    """
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise ArgumentError(f"`{name}` must be one label per person; got {type(values).__name__}.")
    array = _as_labels(values)
    if array.ndim != 1 or (length is not None and len(array) != length):
        of = "" if length is None else f" for {people(length)}"
        raise MismatchError(f"`{name}` must be one label per person; got shape {array.shape}{of}.")
    if array.dtype.kind in "biuUS":
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    gaps = np.isnan(array) if array.dtype.kind == "f" else np.array([is_missing(value) for value in array], np.bool_)
    if gaps.any():
        raise ArgumentError(
            f"`{name}` must contain a label for every person; got {int(gaps.sum())} without one, first in row "
            f"{int(gaps.argmax())}."
        )
    if array.dtype.kind == "f":
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    return _of_objects(array, name)


def _as_labels(values: Any) -> AnyArray:
    """Return an array that keeps the types of labels; NumPy would convert a mix of numbers and text to text."""
    if isinstance(values, (list, tuple)):
        made = np.empty(len(values), object)
        made[:] = values
        return made
    return np.asarray(values)


def _of_objects(array: AnyArray, name: str) -> IntArray:
    strange = next((row for row, value in enumerate(array) if not isinstance(value, Hashable)), None)
    if strange is not None:
        raise ArgumentError(f"`{name}` must contain labels; got {type(array[strange]).__name__} in row {strange}.")
    known: dict[Any, int] = {}
    return np.fromiter((known.setdefault(value, len(known)) for value in array), np.int64, len(array))


def nested(inner: IntArray, outer: IntArray | None) -> IntArray:
    """Return the index of each pair that occurs: clusters within strata, whose ids may repeat between strata."""
    if outer is None:
        return inner
    return np.unique(outer * (inner.max(initial=0) + 1) + inner, return_inverse=True)[1].astype(np.int64)
