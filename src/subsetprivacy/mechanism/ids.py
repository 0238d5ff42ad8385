"""The ids of people, as bytes: text or whole numbers from any column. No message shows an id."""

from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_data import IDS_AS_TEXT, ONE_ROW_PER_PERSON
from subsetprivacy.subsets import is_frame, is_missing, library_of


@frozen
class IdProblems:
    """Problems with a batch of ids. Row numbers count from 0 within the batch.

    Attributes
    ----------
    problem
        ``"missing"``, ``"type"`` (neither text nor a whole number) or ``"repeated"``.
    count, first
        The number of such rows, and the first of them. For a repeated id, the
        first row does not count.
    kind
        The type of the id if the type is wrong, else empty.
    """

    problem: str
    count: int
    first: int
    kind: str = ""

    def error(self) -> ArgumentError:
        """Return the error to raise."""
        where = f"first in row {self.first} (counted from 0)"
        if self.problem == "missing":
            return ArgumentError(f"`ids` must be known; got {self.count} missing, {where}.")
        if self.problem == "repeated":
            return ArgumentError(
                f"`ids` must be distinct; got {counted(self.count, 'row that repeats', 'rows that repeat')} an "
                f"earlier id, {where}.",
                ONE_ROW_PER_PERSON,
            )
        others = counted(self.count, "other")
        return ArgumentError(
            f"`ids` must be text or whole numbers; got {others}, {where}, of type {self.kind}.",
            IDS_AS_TEXT if self.kind == "float" else None,
        )


@frozen(slots=False, eq=False, repr=False)
class Ids:
    """One id per row, as the bytes of its text. `read_ids` returns one."""

    texts: list[bytes]

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"<{len(self)} ids>"

    @cached_property
    def repeated(self) -> IdProblems | None:
        """The rows whose id occurred before, or None if all ids are distinct."""
        if len(set(self.texts)) == len(self.texts):
            return None
        seen: set[bytes] = set()
        repeats = []
        for row, text in enumerate(self.texts):
            if text in seen:
                repeats.append(row)
            seen.add(text)
        return IdProblems("repeated", len(repeats), repeats[0])

    def require_distinct(self) -> "Ids":
        """Return self if no two rows have the same id.

        Raises
        ------
        ArgumentError
            If an id is repeated. The message has the number of such rows and the first one.
        """
        if self.repeated is not None:
            raise self.repeated.error()
        return self


def read_ids(ids: Any) -> Ids:
    """Return the ids of a list, NumPy array, pandas or Polars series or Arrow array.

    Parameters
    ----------
    ids
        Text or whole numbers, of one type or mixed. A number is the same id as
        its decimal text.

    Raises
    ------
    ArgumentError
        If an id is missing, or is neither text nor a whole number. The message
        has the number of such rows and the first one, never an id.
    """
    result = scan_ids(ids)
    if isinstance(result, IdProblems):
        raise result.error()
    return result


def scan_ids(ids: Any) -> Ids | IdProblems:
    """Return the ids or their problems, for callers with other row numbers."""
    column = _plain(ids)
    is_time = isinstance(column, np.ndarray) and column.dtype.kind in "mM"
    # Times are not converted: tolist() would turn nanoseconds, but no other unit, into integers.
    values = column.tolist() if isinstance(column, np.ndarray) and not is_time else list(column)
    kinds = set(map(type, values))
    if kinds <= {str}:
        return Ids([text.encode("utf-8", "surrogatepass") for text in values])
    if kinds <= {int}:
        return Ids([b"%d" % number for number in values])
    return _unfit(values) or Ids([_text(value) for value in values])


def _text(value: str | int) -> bytes:
    # str() of an enumeration would be its name.
    return str.__str__(value).encode("utf-8", "surrogatepass") if isinstance(value, str) else b"%d" % int(value)


def _unfit(values: list[Any]) -> IdProblems | None:
    missing = [row for row, value in enumerate(values) if is_missing(value)]
    if missing:
        return IdProblems("missing", len(missing), missing[0])
    others = [row for row, value in enumerate(values) if not _is_id(value)]
    if others:
        return IdProblems("type", len(others), others[0], type(values[others[0]]).__name__)
    return None


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int, np.integer)) and not isinstance(value, bool)


def _plain(ids: Any) -> Any:
    """Return a one-dimensional NumPy array or a list for any column of ids."""
    if isinstance(ids, (str, bytes, Set, Mapping)) or not isinstance(ids, Iterable) or is_frame(ids):
        raise ArgumentError(f"`ids` must be a list or column with one id per row; got {type(ids).__name__}.")
    column = _by_library(ids)
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise ArgumentError(f"`ids` must be one-dimensional; got shape {column.shape}.")
    return column


def _by_library(ids: Any) -> Any:
    if isinstance(ids, np.ma.MaskedArray):
        return ids.tolist()  # None where masked
    if library_of(ids) == "pyarrow":
        # With nulls NumPy would get floats, which cannot represent all whole numbers.
        return ids.to_pylist() if ids.null_count else ids.to_numpy(zero_copy_only=False)
    if library_of(ids) == "polars":
        return ids.to_list()
    if hasattr(ids, "to_numpy"):
        return ids.to_numpy()
    return ids if isinstance(ids, np.ndarray) else list(ids)
