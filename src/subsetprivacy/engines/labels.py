"""Number the values of columns without codes: groups, and subsets as text."""

from math import prod
from typing import Any

import numpy as np

from subsetprivacy._types import IntArray
from subsetprivacy.errors import ArgumentError

_TABLE = 1 << 20  # combinations in a batch to look up in a table
_WORD = 1 << 62  # combinations that fit in a word
_Part = tuple[IntArray, list[Any]]  # a column of a batch: the positions of its values, and the values


class Labels:
    """The combinations of values in some columns, numbered in order of appearance."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._known: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return max(len(self._known), 1)

    def numbers(self, columns: list[Any]) -> IntArray | None:
        """Return the number of each row's combination in a batch, or None without columns."""
        if not columns:
            return None
        parts = [_encoded(column, name) for column, name in zip(columns, self.names, strict=True)]
        total = prod(len(values) for _, values in parts)
        if total > _WORD:
            rows, inverse = np.unique(np.stack([at for at, _ in parts]), axis=1, return_inverse=True)
            return self._enter(list(rows), parts)[inverse.ravel()]
        combined = parts[0][0]
        for at, values in parts[1:]:
            combined = combined * len(values) + at
        if total <= _TABLE:
            distinct = np.flatnonzero(np.bincount(combined, minlength=total))
            table = np.zeros(total, np.int64)
            table[distinct] = self._enter(_split(distinct, parts), parts)
            return table[combined]
        distinct, inverse = np.unique(combined, return_inverse=True)
        return self._enter(_split(distinct, parts), parts)[inverse]

    def _enter(self, rows: list[IntArray], parts: list[_Part]) -> IntArray:
        """Return the numbers of combinations, given by positions in each column."""
        columns = [[values[k] for k in at.tolist()] for at, (_, values) in zip(rows, parts, strict=True)]
        known = self._known
        listed = zip(*columns, strict=True)
        return np.fromiter((known.setdefault(row, len(known)) for row in listed), np.int64, len(rows[0]))

    def columns(self, numbers: IntArray) -> list[list[Any]]:
        """Return the values of numbered combinations, one list per column."""
        listed = list(self._known)
        return [[listed[k][j] for k in numbers.tolist()] for j in range(len(self.names))]


def _split(combined: IntArray, parts: list[_Part]) -> list[IntArray]:
    """Split combined numbers into positions in each column."""
    rows: list[IntArray] = []
    for _, values in reversed(parts):
        combined, at = np.divmod(combined, len(values))
        rows.append(at)
    return rows[::-1]


def _encoded(column: Any, name: str) -> _Part:
    """Return the position of each row's value among the distinct values of the batch, the last of which is None."""
    import pyarrow as pa

    try:
        encoded = column.dictionary_encode()
        values = encoded.dictionary.to_pylist()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        encoded = None
    if encoded is None:  # raised outside the handler: the inner message may show a cell
        raise ArgumentError(f"column {name} must hold single values to be grouped; got {column.type}.")
    values = [None if value != value else value for value in values]  # no two NaN are equal
    at = encoded.indices.cast("int64").fill_null(len(values)).to_numpy(zero_copy_only=False)
    return at, [*values, None]
