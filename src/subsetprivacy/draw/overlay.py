"""Several estimates on one axes: what is there already, and a place, a color and a marker for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy.draw.layout import COLORS, _tone
from subsetprivacy.errors import MismatchError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = "subsetprivacy-estimate-"
_ROOM, _APART = 0.8, 0.26  # of a row: what all may take, and the most between two


def numbered(ax: Axes, labels: Sequence[str]) -> int:
    """Return how many estimates are drawn on the axes already.

    Raises
    ------
    MismatchError
        If they are of another number of categories.
    """
    numbers = {_number(line) for line in ax.lines} - {None}
    if numbers and len(ax.get_yticks()) != len(labels):
        raise MismatchError(
            f"`ax` must hold an estimate of the same categories, or none; got one of {len(ax.get_yticks())} categories "
            f"for {len(labels)}."
        )
    return len(numbers)


def make_room(ax: Axes, before: int) -> float:
    """Move the estimates that are there within their rows, and return the place of the next one."""
    for line in ax.lines:
        number = _number(line)
        if number is not None:
            step = _place(number, before + 1) - _place(number, before)
            line.set_ydata(np.asarray(line.get_ydata(), dtype=float) + step)
    return _place(before, before + 1)


def mark(lines: Sequence[Any], number: int) -> None:
    """Note on lines which estimate they belong to."""
    for line in lines:
        line.set_gid(f"{_NAME}{number}")


def color_of(ax: Axes, number: int) -> str:
    """Return the color of an estimate."""
    return _tone(ax, COLORS[number % len(COLORS)])


def _place(number: int, of: int) -> float:
    return (number - (of - 1) / 2) * min(_ROOM / of, _APART)


def _number(line: Any) -> int | None:
    name = str(line.get_gid() or "")
    return int(name.removeprefix(_NAME)) if name.startswith(_NAME) else None
