"""Clean values: strip spaces, and read marks such as "?" as missing answers."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import shown
from subsetprivacy._types import BoolArray, IntArray
from subsetprivacy.engines.buffers import to_numpy
from subsetprivacy.errors import ArgumentError

# Common marks of a missing answer; they are only counted, to advise the use of `na`.
USUAL_MARKS = frozenset({"?", "-", "--", ".", "*", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing"})


def read_marks(na: Any) -> tuple[str | int | float, ...]:
    """Return the marks of a missing answer in `na`, one or several.

    Raises
    ------
    ArgumentError
        If one is neither text nor a number.
    """
    if na is None:
        return ()
    marks = tuple(na) if isinstance(na, Iterable) and not isinstance(na, (str, bytes)) else (na,)
    strange = next((mark for mark in marks if not isinstance(mark, (str, int, float))), None)
    if strange is not None:
        raise ArgumentError(f"`na` must be text or numbers that mark a missing answer; got {shown(strange)}.")
    return marks


@frozen
class Cleaning:
    """How to clean values before they are looked up.

    Attributes
    ----------
    strip
        Whether to strip spaces around values and categories.
    na
        Marks of a missing answer. Numeric text also matches the number.
    """

    strip: bool = False
    na: tuple[str | int | float, ...] = field(default=(), converter=read_marks)

    def __bool__(self) -> bool:
        return self.strip or bool(self.na)

    def label(self, value: Any) -> Any:
        """Return a value, stripped if `strip` is set."""
        return value.strip() if self.strip and isinstance(value, str) else value

    def column(self, column: Any) -> tuple[Any, BoolArray | None]:
        """Return an Arrow column with marks replaced by nulls, and the rows with a mark (None if there are none)."""
        import pyarrow as pa

        encoded = _encoded(column)
        values = [self.label(value) for value in encoded.dictionary.to_pylist()]
        is_mark = np.array([self.is_mark(value) for value in values] + [False], np.bool_)
        tidy = pa.array(
            [None if mark else value for value, mark in zip(values, is_mark[:-1], strict=True)],
            encoded.dictionary.type,
        )
        indices = encoded.indices.cast("int64")
        rows = is_mark[to_numpy(indices.fill_null(-1))]
        return pa.DictionaryArray.from_arrays(indices, tidy), rows if rows.any() else None

    def is_mark(self, value: Any) -> bool:
        """Return whether a stripped value marks a missing answer."""
        if isinstance(value, str):
            return any(isinstance(mark, str) and self.label(mark) == value for mark in self.na)
        return any(_number(mark) == value for mark in self.na) if _is_number(value) else False


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(mark: str | int | float) -> float | None:
    try:
        return float(mark)
    except ValueError:
        return None


@frozen
class Values:
    """Values of a column as positions among the categories.

    Attributes
    ----------
    x
        The position of each value among the categories, -1 if it is not a category.
    absent
        Which values are missing; None if none are.
    marked
        Which of them contain a mark from `Cleaning.na`.
    """

    x: IntArray
    absent: BoolArray | None
    marked: BoolArray | None = None

    def unknown(self) -> BoolArray:
        """Return which values are neither a category nor missing."""
        return self.x < 0 if self.absent is None else (self.x < 0) & ~self.absent

    def to_check(self) -> tuple[IntArray, BoolArray | None]:
        """Return the values to check; named marks are allowed even if missing values are an error."""
        if self.marked is None or self.absent is None:
            return self.x, self.absent
        return np.where(self.marked, 0, self.x), self.absent & ~self.marked


def cleaned_columns(columns: dict[str, Any], cleaning: Cleaning) -> tuple[dict[str, Any], BoolArray | None]:
    """Return cleaned columns, and the rows that have a mark but no null."""
    cleaned = {name: cleaning.column(column) for name, column in columns.items()}
    masks = [rows for _, rows in cleaned.values() if rows is not None]
    if not masks:
        return {name: column for name, (column, _) in cleaned.items()}, None
    marked = np.logical_or.reduce(masks)
    for column in columns.values():
        if column.null_count:
            marked &= to_numpy(_encoded(column).indices.is_valid().cast("uint8")) > 0
    return {name: column for name, (column, _) in cleaned.items()}, marked


def usual_marks(column: Any) -> BoolArray:
    """Return which cells contain a common mark of a missing answer."""
    encoded = _encoded(column)
    usual = np.array([*map(_is_usual, encoded.dictionary.to_pylist()), False], np.bool_)
    return usual[to_numpy(encoded.indices.cast("int64").fill_null(-1))]


def _is_usual(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in USUAL_MARKS


def _encoded(column: Any) -> Any:
    """Return an Arrow column as one array of indices and distinct values."""
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    return whole if hasattr(whole, "dictionary") else whole.dictionary_encode()
