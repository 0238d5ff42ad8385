"""The groups of `by=`, in one order whatever holds them.

Groups are ascending: numbers before words, missing ones last. An ordered
categorical column keeps the order it declares.
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
    """A group for each person, made of one column or, as tuples, of several.

    Parameters
    ----------
    labels
        The groups, None where one is missing.
    orders
        The order that each column declares, None where it declares none.
    tuples
        Whether a label is a tuple of the columns' values.
    names
        The names of the columns.
    """

    labels: list[Any]
    orders: Sequence[_Order]
    tuples: bool
    names: tuple[str, ...] = ("group",)


def rows_of_groups(labels: Iterable[Label], orders: Sequence[_Order], tuples: bool) -> dict[Label, IntArray]:
    """Return the positions of each group, the groups in order."""
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
    """Return what to sort by: declared ones, numbers, words, None last; nothing is compared across types."""
    if label is None:
        return (3, "", 0)
    if place is not None and label in place:
        return (0, "", place[label])
    if isinstance(label, tuple):
        return (2, "tuple", tuple(_rank(part, None) for part in label))
    if isinstance(label, (int, float, Decimal, np.number)):
        return (1, "", label)
    return (2, type(label).__name__, label)
