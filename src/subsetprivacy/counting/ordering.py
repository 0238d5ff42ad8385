"""The order of the groups of `by=`, the same for every type of data.

Groups are in ascending order, with numbers before words and missing groups
last. An ordered categorical column keeps its declared order.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import IntArray, Label

_Order = Sequence[Any] | None


@frozen(eq=False)
class GroupColumn:
    """The group of each person, from one column or, as tuples, from several.

    Parameters
    ----------
    labels
        The groups, None if missing.
    orders
        The declared order of each column, None if it has none.
    tuples
        Whether a label is a tuple of the columns' values.
    names
        The names of the columns.
    """

    labels: list[Any]
    orders: Sequence[_Order]
    tuples: bool
    names: tuple[str, ...] = ("group",)


def in_declared_order(orders: Sequence[_Order]) -> bool:
    """Tell whether groups are in a declared order: those of one column that has one, not of several together."""
    return len(orders) == 1 and orders[0] is not None


def rows_of_groups(labels: Iterable[Label], orders: Sequence[_Order], tuples: bool) -> dict[Label, IntArray]:
    """Return the positions of the members of each group, with the groups in order."""
    rows: dict[Any, list[int]] = {}
    for at, label in enumerate(labels):
        rows.setdefault(label, []).append(at)
    return {label: np.array(rows[label], np.int64) for label in _in_order(list(rows), orders, tuples)}


def _in_order(labels: list[Any], orders: Sequence[_Order], tuples: bool) -> list[Any]:
    places = [None if order is None else {value: k for k, value in enumerate(order)} for order in orders]

    def rank(label: Any) -> Any:
        parts = label if tuples else (label,)
        return tuple(_rank(part, place) for part, place in zip(parts, places, strict=True))

    try:
        return sorted(labels, key=rank)
    except TypeError:  # values that cannot be compared stay in the order in which they appear
        return labels


def _rank(label: Any, place: dict[Any, int] | None) -> tuple[Any, ...]:
    """Return the sort key: declared values, numbers, words, and None last. Values of different types never compare."""
    if label is None:
        return (3, "", 0)
    if place is not None and label in place:
        return (0, "", place[label])
    if isinstance(label, tuple):
        return (2, "tuple", tuple(_rank(part, None) for part in label))
    if isinstance(label, (int, float, Decimal, np.number)):
        return (1, "", label)
    return (2, type(label).__name__, label)
