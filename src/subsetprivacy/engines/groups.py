"""What comes back from an engine: the distinct rows of some columns, and how many people share each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label

OUTSIDE = -1  # stands for every whole number that is no code


@frozen(eq=False)
class Key:
    """The value that each group has in one column.

    Parameters
    ----------
    kind
        What the column holds: "integer", "float", "text", "boolean",
        "nothing" (Arrow's null type, or only gaps) or "other".
    values
        int64, float64 or Python objects, by the kind. An integer that is
        outside what was asked for is `OUTSIDE`.
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
            # Beyond int64 nothing is a code.
            whole = (0 if value is None else int(value) for value in values)
            numbers = [value if abs(value) < 1 << 62 else OUTSIDE for value in whole]
            return cls(kind, np.array(numbers, np.int64), absent)
        if kind == "float":
            return cls(kind, np.array([np.nan if value is None else value for value in values], np.float64), absent)
        held = np.empty(len(values), object)
        held[:] = values
        return cls(kind, held, absent)

    def labels(self) -> list[Label]:
        """Return the values as Python objects, None where there is none."""
        return [None if gone else value for value, gone in zip(self.values.tolist(), self.absent.tolist(), strict=True)]


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
