"""What comes back from an engine: the distinct rows of some columns, and how many people share each."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label

OUTSIDE = -1  # stands, in a column of codes, for every whole number that is none
_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1


@frozen(eq=False)
class Key:
    """The value that each group has in one column.

    Parameters
    ----------
    kind
        What the column holds: "integer", "float", "text", "boolean",
        "nothing" (Arrow's null type, or only gaps) or "other".
    values
        int64, float64 or Python objects, by the kind. Whole numbers beyond
        int64 are Python's own, all of them, and so are decimals that a float
        cannot tell from others.
    absent
        Where there is no value.
    """

    kind: str
    values: AnyArray
    absent: BoolArray

    @classmethod
    def of(cls, kind: str, values: Sequence[Any]) -> "Key":
        """Make a key from Python values, None where there is none."""
        absent = np.fromiter((value is None for value in values), np.bool_, len(values))
        if kind == "integer":
            values = [0 if value is None else int(value) for value in values]
            small = all(_SMALLEST <= value <= _LARGEST for value in values)
            return cls(kind, np.array(values, np.int64 if small else object), absent)
        if kind == "float":
            values = [np.nan if value is None else _as_float(value) for value in values]
            told = all(isinstance(value, float) for value in values)
            return cls(kind, np.array(values, np.float64 if told else object), absent)
        held = np.empty(len(values), object)
        held[:] = values
        return cls(kind, held, absent)

    def codes(self) -> IntArray:
        """Return whole numbers as int64, `OUTSIDE` for those beyond it, which are no codes; for a gap any number."""
        if self.values.dtype != object:
            return self.values
        fit = (value if _SMALLEST <= value <= _LARGEST else OUTSIDE for value in self.values)
        return np.fromiter(fit, np.int64, len(self.values))

    def labels(self) -> list[Label]:
        """Return the values as Python objects, None where there is none."""
        return [None if gone else value for value, gone in zip(self.values.tolist(), self.absent.tolist(), strict=True)]


def _as_float(value: Any) -> Any:
    """Return a number as float, a decimal only if the float is written as it is: others are too many for it."""
    told = float(value)
    return told if not isinstance(value, Decimal) or Decimal(repr(told)) == value else value


@frozen(eq=False)
class Groups:
    """The distinct rows of some columns.

    Parameters
    ----------
    keys
        The columns, in the order that was asked for.
    rows
        How many rows are in each group.
    first
        The number of each group's first row, where the table has an order.
    sums, squares
        The sums of the weights and of their squares, if there are weights.
    unfit, first_unfit
        How many rows have a weight that is none, and the first of them.
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
