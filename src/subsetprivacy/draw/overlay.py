"""Several estimates on the same axes: those already drawn, and a place, a color and a marker for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subsetprivacy.draw.layout import COLORS, _ink, _tone
from subsetprivacy.errors import MismatchError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME, _ORDER = "subsetprivacy-estimate-", "subsetprivacy-order-"
_ROOM, _APART = 0.8, 0.26  # of a row: what all may take, and the most between two


def numbered(ax: Axes, labels: Sequence[str]) -> int:
    """Return how many estimates are drawn on the axes already.

    Raises
    ------
    MismatchError
        If they have another number of categories.
    """
    numbers = {_number(line) for line in ax.lines} - {None}
    if numbers and len(ax.get_yticks()) != len(labels):
        raise MismatchError(
            f"`ax` must contain an estimate of the same categories, or none; got one of {len(ax.get_yticks())} "
            f"categories for {len(labels)}."
        )
    return len(numbers)


def order_of_rows(ax: Axes, values: NDArray[np.float64], before: int, *, sort: bool) -> NDArray[np.intp]:
    """Return which category is in each row: as in the estimates that are there, or the largest value on top.

    The axes remember the order, so that estimates which are drawn on them later follow it.
    """
    spine = ax.spines["right"]  # which is not drawn: a saved picture does not contain its id
    remembered = str(spine.get_gid() or "")
    if before and remembered.startswith(_ORDER):
        return np.array(remembered.removeprefix(_ORDER).split("-"), dtype=np.intp)
    order = np.argsort(-values, kind="stable") if sort else np.arange(len(values))
    spine.set_gid(_ORDER + "-".join(map(str, order)))
    return order


def have_an_order(labels: Sequence[str]) -> bool:
    """Return whether labels are numbers or ranges, such as "20 to 29" and "over 60", and so are not to be sorted."""
    return all(any(letter.isdigit() for letter in label) for label in labels)


def make_room(ax: Axes, before: int) -> float:
    """Move the estimates that are there within their rows, and return the place of the next one."""
    from matplotlib.text import Annotation

    for line in ax.lines:
        number = _number(line)
        if number is not None:
            step = _place(number, before + 1) - _place(number, before)
            line.set_ydata(np.asarray(line.get_ydata(), dtype=float) + step)
    for text in ax.texts:
        number = _number(text)
        if number is not None and isinstance(text, Annotation):
            text.xy = text.xy[0], text.xy[1] + _place(number, before + 1) - _place(number, before)
            text.set_color(_ink(ax, color_of(ax, number)))
    return _place(before, before + 1)


def mark(artists: Sequence[Any], number: int) -> None:
    """Note on lines and texts which estimate they belong to."""
    for artist in artists:
        artist.set_gid(f"{_NAME}{number}")


def color_of(ax: Axes, number: int) -> str:
    """Return the color of an estimate."""
    return _tone(ax, COLORS[number % len(COLORS)])


def _place(number: int, of: int) -> float:
    return (number - (of - 1) / 2) * apart(of)


def apart(of: int) -> float:
    """Return how far apart so many estimates are within their row, as a share of the row."""
    return min(_ROOM / max(of, 1), _APART)


def _number(artist: Any) -> int | None:
    name = str(artist.get_gid() or "")
    return int(name.removeprefix(_NAME)) if name.startswith(_NAME) else None
