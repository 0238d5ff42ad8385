"""Numbers for the values of columns that hold no codes: groups, and subsets as text."""

from typing import Any

import numpy as np

from subsetprivacy._types import IntArray
from subsetprivacy.errors import ArgumentError

_TABLE = 1 << 20  # combinations of values in a batch that are looked up in a table


class Labels:
    """The combinations of values in some columns, numbered in the order in which they appear."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._known: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return max(len(self._known), 1)

    def numbers(self, columns: list[Any]) -> IntArray | None:
        """Return the number of each row's combination in a batch; None where there are no such columns."""
        if not columns:
            return None
        parts = [_encoded(column, name) for column, name in zip(columns, self.names, strict=True)]
        combined, total = parts[0][0], len(parts[0][1])
        for at, values in parts[1:]:
            combined, total = combined * len(values) + at, total * len(values)
        if total <= _TABLE:
            distinct = np.flatnonzero(np.bincount(combined, minlength=total))
            table = np.zeros(total, np.int64)
            table[distinct] = self._enter(distinct, parts)
            return table[combined]
        distinct, inverse = np.unique(combined, return_inverse=True)
        return self._enter(distinct, parts)[inverse]

    def _enter(self, distinct: IntArray, parts: list[tuple[IntArray, list[Any]]]) -> IntArray:
        columns: list[list[Any]] = []
        rest = distinct
        for _, values in reversed(parts):
            rest, at = np.divmod(rest, len(values))
            columns.append([values[k] for k in at.tolist()])
        known = self._known
        rows = zip(*reversed(columns), strict=True)
        return np.fromiter((known.setdefault(row, len(known)) for row in rows), np.int64, len(distinct))

    def columns(self, numbers: IntArray) -> list[list[Any]]:
        """Return the values behind numbers, a list for each column."""
        listed = list(self._known)
        return [[listed[k][j] for k in numbers.tolist()] for j in range(len(self.names))]


def _encoded(column: Any, name: str) -> tuple[IntArray, list[Any]]:
    """Return for each row the position of its value among the batch's distinct values, None the last of them."""
    import pyarrow as pa

    try:
        encoded = column.dictionary_encode()
        values = encoded.dictionary.to_pylist()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        encoded = None
    if encoded is None:  # raised out here: the inner message may show a cell
        raise ArgumentError(f"column {name} must hold single values to be grouped; got {column.type}.")
    values = [None if value != value else value for value in values]  # no two NaN are equal
    at = encoded.indices.cast("int64").fill_null(len(values)).to_numpy(zero_copy_only=False)
    return at, [*values, None]
