"""Several variables treated as one, whose categories are the combinations of theirs (`subsec_product`)."""

from collections.abc import Iterable, Mapping, Sized
from functools import cached_property
from itertools import product as combinations
from math import prod
from typing import Any

import numpy as np

from subsetprivacy._checks import check_same_index, shown
from subsetprivacy._types import BoolArray, IntArray, Label
from subsetprivacy.errors import CategoryError, MismatchError, TooLargeError
from subsetprivacy.messages.for_designs import FEWER_AT_A_TIME, NAME_THE_VARIABLES, PASS_COLUMNS
from subsetprivacy.subsets import Categories, as_categories, is_frame

MAX_COMBINATIONS = 1 << 20


class JointCategories(Categories):
    """The combinations of the categories of several variables, in which the last variable changes fastest.

    Parameters
    ----------
    variables
        ``{name: labels}``, in order.

    Examples
    --------
    >>> both = JointCategories({"sex": ["f", "m"], "smokes": ["yes", "no"]})
    >>> both.labels
    (('f', 'yes'), ('f', 'no'), ('m', 'yes'), ('m', 'no'))
    >>> both.names, both.p
    (('sex', 'smokes'), 4)
    """

    names: tuple[str, ...]
    parts: tuple[Categories, ...]

    def __init__(self, variables: Mapping[str, Iterable[Label]]) -> None:
        if not isinstance(variables, Mapping) or not variables:
            raise CategoryError(
                f"`variables` must map names to lists of labels; got {type(variables).__name__}.",
                NAME_THE_VARIABLES,
            )
        for name in variables:
            if not isinstance(name, str) or not name:
                raise CategoryError(f"names of variables must be text; got {type(name).__name__}.")
        object.__setattr__(self, "names", tuple(variables))
        object.__setattr__(self, "parts", tuple(as_categories(labels) for labels in variables.values()))

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The combinations, as tuples."""
        if self.p > MAX_COMBINATIONS:
            raise TooLargeError(
                f"at most {MAX_COMBINATIONS:,} combinations of categories can be listed; got {self.p:,}.",
                FEWER_AT_A_TIME,
            )
        return tuple(combinations(*(part.labels for part in self.parts)))

    @property
    def p(self) -> int:
        """The number of combinations."""
        return prod(part.p for part in self.parts)

    def __len__(self) -> int:
        return self.p

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each variable."""
        return tuple(part.p for part in self.parts)

    @property
    def identity(self) -> tuple[Any, ...]:
        """The names, and the identity of each variable."""
        return (self.names, tuple(part.identity for part in self.parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointCategories) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        return f"JointCategories({dict(zip(self.names, (part.labels for part in self.parts), strict=True))!r})"

    def preview(self, most: int = 6) -> str:
        """Return the variables with their numbers of categories."""
        return " x ".join(f"{name} ({part.p})" for name, part in zip(self.names, self.parts, strict=True))

    def content(self) -> dict[str, Any]:
        """Return the variables in the form of a JSON document: a list, because the keys of an object are unordered."""
        pairs = zip(self.names, self.parts, strict=True)
        return {"variables": [{"name": name, **part.content()} for name, part in pairs]}

    def axis(self, name: str) -> int:
        """Return the position of a variable.

        Raises
        ------
        CategoryError
            If no variable has that name.
        """
        if not isinstance(name, str) or name not in self.names:
            raise CategoryError(f"`name` must be one of the variables {', '.join(self.names)}; got {shown(name)}.")
        return self.names.index(name)

    def coordinates(self, x: IntArray) -> tuple[IntArray, ...]:
        """Return the position in each variable for positions among the combinations."""
        return tuple(np.unravel_index(x, self.shape))

    def positions(self, values: Any) -> tuple[IntArray, BoolArray | None]:
        """Return the position of every row of a table, and which rows have a missing value."""
        columns = [part.positions(column) for part, column in zip(self.parts, self.columns(values), strict=True)]
        x = np.zeros(len(columns[0][0]), np.int64)
        unknown, missing = np.zeros(len(x), np.bool_), np.zeros(len(x), np.bool_)
        for part, (positions, absent) in zip(self.parts, columns, strict=True):
            x = x * part.p + positions
            unknown |= positions < 0 if absent is None else (positions < 0) & ~absent
            missing |= False if absent is None else absent
        x[unknown | missing] = -1
        # A row with an unknown value is an error, even if another of its values is missing.
        missing &= ~unknown
        return x, missing if missing.any() else None

    def columns(self, values: Any) -> list[Any]:
        """Return the columns of the variables from a data frame, a dict of columns, or rows of tuples."""
        if is_frame(values) or isinstance(values, Mapping):
            present = (
                list(values) if isinstance(values, Mapping) else list(getattr(values, "column_names", values.columns))
            )
            absent = [name for name in self.names if name not in present]
            if absent:
                raise CategoryError(f"`values` must have a column for each variable; got none for {', '.join(absent)}.")
            columns = [values[name] for name in self.names]
            check_same_index(dict(zip(self.names, columns, strict=True)))
        else:
            columns = _by_column(values, len(self.names))
        if not all(isinstance(column, Sized) for column in columns):
            raise CategoryError("`values` must have columns with a length; got a column that can be read only once.")
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise MismatchError("`values` must have columns of the same length; got different lengths.")
        return columns


def _by_column(values: Any, width: int) -> list[Any]:
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == width:
        return list(values.T)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise CategoryError(f"`values` must be a table of columns; got {type(values).__name__}.")
    rows = [row if isinstance(row, (tuple, list)) else (None,) * width if row is None else () for row in values]
    bad = next((number for number, row in enumerate(rows) if len(row) != width), None)
    if bad is not None:
        raise CategoryError(
            f"`values` must be a table of columns, or rows of {width} values; row {bad} has a different form.",
            PASS_COLUMNS,
        )
    return [[row[k] for row in rows] for k in range(width)]
