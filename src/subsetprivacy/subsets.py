"""Categories, and the integer codes of their subsets (`sec_form`).

A subset of at most 48 categories is stored as a bit mask: bit j is set when
category j is a member. Codes stay below 2**48, so they are exact in int64,
in float64, in JavaScript and in a spreadsheet. They cannot reveal the order
in which the members of a set were drawn.
"""

import math
from collections.abc import Iterable, Iterator, KeysView, Mapping, Set
from decimal import Decimal
from functools import cached_property, lru_cache
from numbers import Real
from typing import Any

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import shown
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label
from subsetprivacy.engines.buffers import WHOLE_NUMBERS, to_numpy
from subsetprivacy.errors import CategoryError, DesignDocumentError
from subsetprivacy.messages.for_designs import (
    COLLECT_THE_LABELS,
    LIST_THE_LABELS,
    ORDER_THE_LABELS,
    PASS_A_COLUMN,
    TEXT_LABELS,
)
from subsetprivacy.tables import label_text

MAX_CATEGORIES = 48


def _check_labels(labels: Any) -> tuple[Label, ...]:
    if isinstance(labels, (str, bytes)):
        raise CategoryError("`categories` must be a list of labels; got a single string.", LIST_THE_LABELS)
    if isinstance(labels, (Set, Mapping)) and not isinstance(labels, KeysView):  # the keys of a dict have an order
        raise CategoryError(f"`categories` must have an order; got a {type(labels).__name__}.", ORDER_THE_LABELS)
    if not isinstance(labels, Iterable) or is_frame(labels):
        raise CategoryError(f"`categories` must be a list of labels; got {type(labels).__name__}.")
    listed = labels.to_pylist() if hasattr(labels, "to_pylist") else labels  # Arrow wraps each value in an object
    plain = tuple(label.item() if isinstance(label, np.generic) else label for label in listed)
    for position, label in enumerate(plain):
        if is_missing(label):
            raise CategoryError(f"`categories` must not contain a missing value; got one in position {position}.")
        try:
            hash(label)
        except TypeError:
            raise CategoryError(
                f"`categories` must be hashable labels; got {type(label).__name__} in position {position}."
            ) from None
    where: dict[Label, int] = {}
    for position, label in enumerate(plain):
        if where.setdefault(label, position) != position:  # not by name: it may be a column of values
            raise CategoryError(
                f"`categories` must be distinct; got the same label at positions {where[label]} and {position}."
            )
    if not plain:
        raise CategoryError("`categories` must contain at least one label; got none.")
    return plain


@frozen(slots=False)
class Categories:
    """The ordered labels of one variable.

    Parameters
    ----------
    labels
        Distinct hashable labels. Their order is the order of every vector.

    Examples
    --------
    >>> colors = Categories(["black", "red", "green", "blue"])
    >>> colors.code(["red", "blue"])
    10
    >>> colors.members(10)
    ('red', 'blue')
    """

    labels: tuple[Label, ...] = field(converter=_check_labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    @property
    def p(self) -> int:
        """The number of categories."""
        return len(self.labels)

    @cached_property
    def _position(self) -> dict[Label, int]:
        return {label: j for j, label in enumerate(self.labels)}

    @property
    def identity(self) -> tuple[Any, ...]:
        """A key that distinguishes these categories from others: 1, 1.0 and True are equal but not the same."""
        return (self.labels, tuple(type(label).__name__ for label in self.labels))

    def content(self) -> dict[str, Any]:
        """Return the categories in the form of a JSON document.

        Raises
        ------
        DesignDocumentError
            If a label cannot be written as JSON and read back as it was.
        """
        for label in self.labels:
            # Exact types: an enumeration would come back as plain text, and JSON has no infinity.
            if type(label) not in (str, int, float, bool) or label in (math.inf, -math.inf):
                raise DesignDocumentError(
                    "labels must be text, finite numbers or booleans to be written as JSON; "
                    f"got {type(label).__name__}.",
                    TEXT_LABELS,
                )
        return {"categories": list(self.labels)}

    @property
    def full(self) -> int:
        """The code of the full set, which also represents a missing answer."""
        return (1 << self.p) - 1

    def index(self, label: Label) -> int:
        """Return the position of one label."""
        try:
            return self._position[label]
        except (KeyError, TypeError):
            raise CategoryError(
                f"`label` must be one of the {self.p} categories {self.preview()}; got {shown(label)}."
            ) from None

    def preview(self, most: int = 6) -> str:
        """Return the first few labels, for messages and headings."""
        first = ", ".join(repr(label) for label in self.labels[:most])
        return first if self.p <= most else f"{first}, …"

    def code(self, members: Iterable[Label]) -> int:
        """Return the code of a set of labels.

        Raises
        ------
        CategoryError
            If `members` is a single string, or contains an unknown or
            repeated label.
        """
        if isinstance(members, (str, bytes)) or not isinstance(members, Iterable):
            raise CategoryError(f"a subset must be a collection of labels; got {members!r}.", COLLECT_THE_LABELS)
        code = 0
        for label in members:
            bit = 1 << self.index(label)
            if code & bit:
                raise CategoryError(f"a subset must name each label once; got {label!r} twice.")
            code |= bit
        return code

    def members(self, code: int) -> tuple[Label, ...]:
        """Return the labels in the subset `code`, in category order."""
        return tuple(label for j, label in enumerate(self.labels) if int(code) >> j & 1)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        names = tuple(label_text(label) for label in self.labels)
        # 1 and "1" look alike, and "a|b" like two labels: quotes tell them apart.
        clear = len(set(names)) == self.p and not any("|" in name for name in names)
        return names if clear else tuple(repr(label) for label in self.labels)

    def format(self, code: int) -> str:
        """Return a subset as text, its labels joined by a bar. Different subsets give different texts."""
        return "|".join(name for j, name in enumerate(self._names) if int(code) >> j & 1)

    def positions(self, values: Any) -> tuple[IntArray, BoolArray | None]:
        """Return the position of every value (-1 if it is not a category), and which are missing (None if none is).

        Accepts lists, NumPy arrays, pandas and Polars series and Arrow
        arrays. Errors never show a single value.
        """
        if isinstance(values, (str, bytes)):
            raise CategoryError("`values` must be a list or column of labels; got a single string.")
        if isinstance(values, (Set, Mapping)):
            raise CategoryError(
                f"`values` must be a list or column with one value per person; got a {type(values).__name__}."
            )
        column = _plain_column(values)
        if isinstance(column, _Encoded):
            # One more label at the end, a missing one: the code -1 of a null points to it.
            x, missing = self._look_up([*column.labels, None])
            return x[column.codes], _if_any(missing[column.codes]) if missing is not None else None
        if isinstance(column, np.ndarray) and column.ndim != 1:
            raise CategoryError(f"`values` must be one-dimensional; got shape {column.shape}.")
        if isinstance(column, np.ma.MaskedArray):
            column = column.tolist()  # None where masked: the number under a mask is not a value
        whole = isinstance(column, np.ndarray) and column.dtype.kind in "iu" and column.dtype != np.uint64
        if whole and self._numbers is not None:
            return self._look_up_numbers(column, *self._numbers), None
        return self._look_up(column.tolist() if isinstance(column, np.ndarray) else list(column))

    @cached_property
    def _numbers(self) -> tuple[IntArray, IntArray] | None:
        """The labels in ascending order and their positions, if all are whole numbers of 64 bits."""
        if not all(type(label) is int and -(1 << 63) <= label < 1 << 63 for label in self.labels):
            return None
        numbers = np.array(self.labels, np.int64)
        order = np.argsort(numbers)
        return numbers[order], order

    def _look_up_numbers(self, column: AnyArray, ordered: IntArray, order: IntArray) -> IntArray:
        x = column.astype(np.int64, copy=False)
        if np.array_equal(ordered, np.arange(self.p)) and np.array_equal(order, ordered):  # a label is its position
            return np.where((x >= 0) & (x < self.p), x, -1) if _is_outside(column, self.p) else x
        at = np.minimum(np.searchsorted(ordered, x), self.p - 1)
        return np.where(ordered[at] == x, order[at], -1)

    def _look_up(self, values: list[Any]) -> tuple[IntArray, BoolArray | None]:
        get = self._position.get
        try:
            positions = np.fromiter((get(value, -1) for value in values), np.int64, len(values))
        except TypeError:  # an unhashable value is no label
            positions = np.fromiter((_get_or_absent(self._position, v) for v in values), np.int64, len(values))
        missing = np.zeros(len(values), np.bool_)
        for row in np.flatnonzero(positions < 0):
            missing[row] = is_missing(values[row])
        return positions, _if_any(missing)


def as_categories(categories: Any) -> Categories:
    """Return categories as they are, or make them from a list of labels."""
    return categories if isinstance(categories, Categories) else Categories(categories)


def _if_any(mask: BoolArray) -> BoolArray | None:
    return mask if mask.any() else None


def _is_outside(column: AnyArray, p: int) -> bool:
    return bool(column.size and (column.min() < 0 or column.max() >= p))


def _get_or_absent(table: dict[Label, int], value: Any) -> int:
    try:
        return table.get(value, -1)
    except TypeError:
        return -1


def is_missing(value: Any) -> bool:
    """Tell whether a value is missing: None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def name_of(column: Any) -> str | None:
    """Return the name of a column: of a pandas or Polars series, an index, or `SubsetData`; None if it has none."""
    name = getattr(column, "name", None)
    named = isinstance(name, (str, int, np.integer)) and not isinstance(name, bool)  # numbers, as in pandas
    return str(name) if named and name != "" else None


def number_of(label: Any) -> float | None:
    """Return the finite number that a label is, also as text, as in a CSV file; None if it is none.

    Examples
    --------
    >>> number_of("10"), number_of(2.5), number_of("ten"), number_of(True)
    (10.0, 2.5, None, None)
    """
    if isinstance(label, bool) or not isinstance(label, (Real, Decimal, str)):
        return None
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@frozen
class _Encoded:
    """A column that its library has already converted to codes and distinct labels."""

    codes: IntArray
    labels: list[Any]


def is_frame(data: Any) -> bool:
    """Tell whether `data` is a data frame or table, which has columns instead of one value per person."""
    return library_of(data) in {"pandas", "polars", "pyarrow"} and hasattr(type(data), "columns")


def library_of(data: Any) -> str:
    """Return the name of the library that an object's type comes from."""
    return type(data).__module__.partition(".")[0]


def _plain_column(values: Any) -> Any:
    """Return a NumPy array, a list or an encoded column, for any supported type of column."""
    module = library_of(values)
    if is_frame(values):
        raise CategoryError("`values` must be one column; got a data frame.", PASS_A_COLUMN)
    if module == "pyarrow":
        return _arrow_column(values)
    if module == "pandas" and hasattr(values, "cat"):
        return _Encoded(values.cat.codes.to_numpy().astype(np.int64), values.cat.categories.tolist())
    if module == "polars":
        return values.to_list()
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    if not isinstance(values, Iterable):
        raise CategoryError(f"`values` must be a list or column of labels; got {type(values).__name__}.")
    return list(values)


def _arrow_column(values: Any) -> _Encoded | AnyArray:
    column = values.combine_chunks() if hasattr(values, "combine_chunks") else values
    if str(column.type) in WHOLE_NUMBERS and not column.null_count:
        return to_numpy(column)
    try:
        encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    except (AttributeError, NotImplementedError):
        raise CategoryError(
            f"`values` must be a column of labels; got an Arrow {type(values).__name__} of {values.type}."
        ) from None
    indices = encoded.indices
    if indices.null_count:  # Polars and others index dictionaries by unsigned integers, which have no -1
        indices = indices.cast("int64").fill_null(-1)
    return _Encoded(to_numpy(indices), encoded.dictionary.to_pylist())


@lru_cache
def _byte_table(width: int) -> FloatArray:
    """Return the lowest `width` bits of every byte, one column of zeros and ones per byte."""
    return ((np.arange(256) >> np.arange(width)[:, None]) & 1).astype(np.float64)


def bits(codes: IntArray, p: int) -> FloatArray:
    """Return the rows 1_a as a dense matrix of zeros and ones, shape (len(codes), p), stored by columns."""
    if p <= 8:  # one table lookup: in small problems the calls take most of the time
        return _byte_table(p).take(codes, axis=1).T
    octets = np.ascontiguousarray(codes, "<i8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, count=p, bitorder="little").astype(np.float64, order="F")


def sizes(codes: IntArray) -> IntArray:
    """Return |a| for every code."""
    return np.bitwise_count(codes).astype(np.int64)
