"""Heat maps: a table of numbers, colored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.layout import COLORS, GRAY, PALE, _axes, _contrast, _plain, _set_title, _tone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue and vermilion differ for people with any color vision. White is the middle, or zero.
_RISING = ("#FFFFFF", "#B9DAEE", "#5AA5D3", "#0072B2", "#003B5C")
_DIVERGING = ("#8A3D00", COLORS[1], "#F7C6A3", "#FFFFFF", "#A9D2EA", COLORS[0], "#003B5C")
_AT_LEAST = 3.0  # standard errors at the end of a diverging scale: what is within chance stays pale
_LONG = 9  # characters from which on column labels are turned
_MOST = 24  # rows or columns with numbers in the cells and a label each
_LEGIBLE = 3.0  # contrast from which white is used: black has more on a middle blue, but is harder to read there


def heatmap(
    rows: Sequence[str],
    columns: Sequence[str],
    values: ArrayLike,
    *,
    row_name: str = "",
    column_name: str = "",
    label: str = "",
    diverging: bool = False,
    largest: float | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a table of numbers as colored cells with the numbers in them, the first row on top.

    With more than 24 rows or columns there are only colors: no numbers, and labels for some of the cells only.

    Parameters
    ----------
    values : array_like, shape (rows, columns)
        Not negative, unless `diverging`. NaN is a gray cell with a dash.
    row_name, column_name, label : str
        What the rows, the columns and the numbers are. The last is the label of the color scale.
    diverging : bool
        Whether 0 is the middle of the scale: two colors with white between them, and numbers with signs.
    largest : float, optional
        The end of the color scale, by default the largest value.
    """
    table = _table(values, len(rows), len(columns))
    ax = _axes(ax, *_size(rows, columns))
    shades, least, most = _scale(table, diverging, largest)
    image = ax.imshow(np.ma.masked_invalid(table), cmap=shades, vmin=least, vmax=most, aspect="auto")
    for (i, j), value in np.ndenumerate(table) if _few(rows, columns) else ():
        face = shades((value - least) / (most - least)) if np.isfinite(value) else PALE
        ax.text(j, i, _number(float(value), diverging), ha="center", va="center", color=_ink(face))
    _edges(ax, rows, columns, row_name, column_name)
    ax.set_facecolor(PALE)  # of cells without a number
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, label=_plain(label, 40))
    bar.outline.set_visible(False)
    _set_title(ax, title)
    return ax


def _table(values: ArrayLike, rows: int, columns: int) -> NDArray[np.float64]:
    if np.shape(values) != (rows, columns):
        raise ValueError(f"`values` must have the shape {(rows, columns)} of the labels; got {np.shape(values)}.")
    return np.asarray(values, dtype=float)


def _few(rows: Sequence[str], columns: Sequence[str]) -> bool:
    return max(len(rows), len(columns)) <= _MOST


def _size(rows: Sequence[str], columns: Sequence[str]) -> tuple[float, float]:
    """Return a figure's width and height: as much as the cells and the labels need."""
    beside = 0.085 * min(max((len(name) for name in rows), default=0), 28)
    longest = max((len(name) for name in columns), default=0)
    below = 0.06 * min(longest, 28) if longest > _LONG else 0.2
    if not _few(rows, columns):
        return 2.6 + beside + _side(len(columns)), 1.6 + below + _side(len(rows))
    return max(2.6 + beside + 0.72 * len(columns), 5.6), 1.6 + below + 0.48 * len(rows)


def _side(cells: int) -> float:
    """Return the inches for cells without numbers."""
    return min(max(0.3 * cells, 3.0), 9.0)


def _some(names: Sequence[str]) -> range:
    """Return the positions of the labels that are written: all, or every second, third, ..."""
    return range(0, len(names), -(-len(names) // _MOST) or 1)


def _scale(table: NDArray[np.float64], diverging: bool, largest: float | None) -> tuple[Any, float, float]:
    from matplotlib.colors import LinearSegmentedColormap

    seen = table[np.isfinite(table)]
    if diverging:
        most = largest or max(float(np.abs(seen).max(initial=0)), _AT_LEAST)
        return LinearSegmentedColormap.from_list("diverging", _DIVERGING), -most, most
    most = largest or float(seen.max(initial=0)) or 1.0
    return LinearSegmentedColormap.from_list("rising", _RISING), min(0.0, float(seen.min(initial=0))), most


def _number(value: float, diverging: bool) -> str:
    if not np.isfinite(value):
        return "–"
    text = f"{value:+.1f}" if diverging else f"{value:.1f}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else "0.0"


def _ink(face: Any) -> str:
    """Return white where it can be read on a color (by the contrast ratio of the WCAG), else black."""
    return "white" if _contrast("white", face) >= _LEGIBLE else "black"


def _edges(ax: Axes, rows: Sequence[str], columns: Sequence[str], row_name: str, column_name: str) -> None:
    turned = max((len(name) for name in columns), default=0) > _LONG
    ax.set_xticks(_some(columns), [_plain(columns[j]) for j in _some(columns)])
    ax.set_yticks(_some(rows), [_plain(rows[i]) for i in _some(rows)])
    if turned:
        ax.tick_params(axis="x", rotation=40)
        for tick in ax.get_xticklabels():
            tick.set(ha="right", rotation_mode="anchor")
    ax.tick_params(length=0, pad=6)
    ax.set_xlabel(_plain(column_name, 60), color=_tone(ax, GRAY))
    ax.set_ylabel(_plain(row_name, 40), color=_tone(ax, GRAY))
    if _few(rows, columns):  # white lines between the cells
        ax.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="white", lw=2)
        ax.tick_params(which="minor", length=0)
    ax.spines[:].set_visible(False)
