"""`Groups`: the distinct rows of some columns, and their counts."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label

OUTSIDE = -1  # replaces every integer that is not a code
_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1


@frozen(eq=False)
class Key:
    """The value that each group has in one column.

    Parameters
    ----------
    kind
        The kind of the column: "integer", "float", "text", "boolean", "nothing" (Arrow's null type, or only missing
        values) or "other".
    values
        int64, float64 or Python objects, depending on the kind. If some integers exceed int64, or floats cannot
        represent some decimals, all are Python objects.
    absent
        Whether the value is missing.
    """

    kind: str
    values: AnyArray
    absent: BoolArray

    @classmethod
    def of(cls, kind: str, values: Sequence[Any]) -> "Key":
        """Make a key from Python values, None where missing."""
        absent = np.fromiter((value is None for value in values), np.bool_, len(values))
        if kind == "integer":
            values = [0 if value is None else int(value) for value in values]
            small = all(_SMALLEST <= value <= _LARGEST for value in values)
            return cls(kind, np.array(values, np.int64 if small else object), absent)
        if kind == "float":
            values = [np.nan if value is None else _as_float(value) for value in values]
            all_floats = all(isinstance(value, float) for value in values)
            return cls(kind, np.array(values, np.float64 if all_floats else object), absent)
        objects = np.empty(len(values), object)
        objects[:] = values
        return cls(kind, objects, absent)

    def codes(self) -> IntArray:
        """Return integers as int64, with `OUTSIDE` for larger ones and any number for missing values."""
        if self.values.dtype != object:
            return self.values
        fit = (value if _SMALLEST <= value <= _LARGEST else OUTSIDE for value in self.values)
        return np.fromiter(fit, np.int64, len(self.values))

    def labels(self) -> list[Label]:
        """Return the values as Python objects, None where missing."""
        return [None if gone else value for value, gone in zip(self.values.tolist(), self.absent.tolist(), strict=True)]


def _as_float(value: Any) -> Any:
    """Return a number as float; a decimal only if the float represents it exactly as written."""
    number = float(value)
    return number if not isinstance(value, Decimal) or Decimal(repr(number)) == value else value


@frozen(eq=False)
class Groups:
    """The distinct rows of some columns.

    Parameters
    ----------
    keys
        The columns, in the requested order.
    rows
        The number of rows in each group.
    first
        The number of each group's first row, if the table is ordered.
    sums, squares
        The sums of weights and of squared weights, if there are weights.
    unfit, first_unfit
        The number of rows with an invalid weight, and the first of them.
    """

    keys: tuple[Key, ...]
    rows: IntArray
    first: IntArray | None = None
    sums: FloatArray | None = None
    squares: FloatArray | None = None
    unfit: int = 0
    first_unfit: int | None = None

    def __len__(self) -> int:
        return len(self.rows)
