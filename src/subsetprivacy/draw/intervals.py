"""What all rows with intervals share: lines with strokes at their ends, markers, and the numbers in print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subsetprivacy.draw.layout import _AROUND, DARK, MARKERS, _grow, _ink, _is_ours, _plain, _tone
from subsetprivacy.draw.overlay import apart, color_of, mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKER, _SMALL_MARKER = 6.0, 3.5  # in points
_NARROW = 1.6  # intervals narrower than so many markers get the small one, which does not hide them
_TIGHT = 0.14  # inches that a printed number needs
_MOST_NUMBERED = 4  # estimates for whose numbers a figure grows
_NONE = "not given"  # instead of a number
_WIDE = 1e-4  # of a percentage: an interval that is narrower has no width, and says nothing about decimals
_MINUS = "\N{MINUS SIGN}"


def draw_intervals(
    ax: Axes,
    rows: NDArray[np.float64],
    values: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    view: tuple[float, float],
    number: int,
    label: str | None = None,
) -> None:
    """Draw values with their intervals, in the color and marker of the estimate with this number.

    An interval is a line with a stroke at each end. It is visible at any sample size, because the strokes are taller
    than the marker, and the marker shrinks where it would cover the line.
    """
    for ends, arrow in ((lower, "<"), (upper, ">")):
        _whiskers(ax, rows, values, ends, view, arrow, number)
    name: dict[str, Any] = {} if label is None else {"label": _plain(label, 40)}
    size = _marker_size(ax, lower, upper, view)
    mark(ax.plot(values, rows, MARKERS[number % 8], color=color_of(ax, number), ms=size, zorder=3, **name), number)


def _marker_size(ax: Axes, lower: NDArray[np.float64], upper: NDArray[np.float64], view: tuple[float, float]) -> float:
    widths = upper - lower
    widths = widths[np.isfinite(widths) & (widths > 0)]
    figure: Any = ax.figure
    points = 72 * ax.get_position().width * figure.get_figwidth() / (view[1] - view[0])
    return _SMALL_MARKER if len(widths) and np.median(widths) * points < _NARROW * _MARKER else _MARKER


def _whiskers(
    ax: Axes, rows: NDArray[np.float64], w: Any, ends: Any, view: tuple[float, float], arrow: str, number: int
) -> None:
    """Draw one side of the intervals: a line, and a stroke or an arrow at its end."""
    there = np.flatnonzero(np.isfinite(w) & ~np.isnan(ends))
    stops, color = np.clip(ends[there], *view), color_of(ax, number)
    gaps = np.full(len(there), np.nan)
    x, y = (np.column_stack(part).ravel() for part in ((w[there], stops, gaps), (rows[there], rows[there], gaps)))
    mark(ax.plot(x, y, "-", color=color, lw=2, zorder=2), number)
    cut = stops != ends[there]
    for sign, at, size, shown in (("|", ~cut, 13, True), (arrow, cut, 6, False)):
        if at.any():
            look = {"ms": size, "mew": 1.6, "zorder": 4} if shown else {"ms": size, "zorder": 3, "clip_on": False}
            mark(ax.plot(stops[at], rows[there][at], sign, color=color, **look), number)


def view_of(points: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[float, float]:
    """Return the limits of an axis of shares: all points are in view, a very long interval may leave it."""
    seen = points[np.isfinite(points)]
    left = max(np.min(low, initial=seen.min(), where=np.isfinite(low)), seen.min() - 0.5)
    right = min(np.max(high, initial=seen.max(), where=np.isfinite(high)), max(seen.max(), 1) + 0.5)
    margin = 0.03 * (right - left) or 0.03
    return float(left - margin), float(right + margin)


# Numbers in print -------------------------------------------------------------------------------


def share_texts(
    values: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64], unit: str = "%"
) -> list[str]:
    """Return shares in hundredths, with the decimals that their intervals justify.

    Parameters
    ----------
    values, lower, upper
        Proportions. NaN is replaced by a word.
    unit
        ``"%"``, or ``""`` for differences in percentage points, which have a sign.
    """
    widths = 50 * (upper - lower)
    known = widths[np.isfinite(widths) & (widths > _WIDE)]
    digits = _decimals(float(np.median(known))) if len(known) else 1
    sign = "" if unit else "+"
    texts = []
    for x, width in zip(values, widths, strict=True):
        # A small number with a far narrower interval than the others has more decimals, or it would be printed as 0.
        small = abs(100 * x) < 0.5 * 10.0**-digits and _WIDE < width < 10.0**-digits
        own = _decimals(float(width)) if small else digits
        texts.append(f"{100 * x:{sign}.{own}f}{unit}".replace("-", _MINUS) if np.isfinite(x) else _NONE)
    return [text.replace(_MINUS, "") if not text.strip(f"{_MINUS}+0.%") else text for text in texts]


def _decimals(half: float) -> int:
    """Return the decimals of a number with an interval of this half width: two digits of the half width count."""
    return int(np.clip(np.ceil(-np.log10(half) - 1e-6) + 1, 1, 4))


def number_texts(values: Sequence[NDArray[np.float64]]) -> list[list[str]]:
    """Return numbers of any unit as text, with as many decimals as tell them apart."""
    known = np.concatenate([x[np.isfinite(x)] for x in values])
    spread = float(np.abs(known).max(initial=0.0))
    digits = int(np.clip(2 - np.floor(np.log10(spread)), 0, 4)) if spread > 0 else 2
    return [[_NONE if x != x else f"{x:,.{digits}f}".replace("-", _MINUS) for x in series] for series in values]


def write_numbers(
    ax: Axes,
    rows: NDArray[np.float64],
    texts: Sequence[str],
    number: int = 0,
    *,
    in_color: bool = False,
    narrowest: float = 4.0,
) -> None:
    """Write a text at the right end of each row. It moves with its estimate when another one is added to the picture.

    Nothing is written if there is no space: in small axes, and in figures without automatic layout.
    """
    figure: Any = ax.figure
    spec = ax.get_subplotspec()
    columns = 1 if spec is None else spec.get_gridspec().ncols
    if figure.get_layout_engine() is None or figure.get_figwidth() / columns < narrowest:
        return
    color = _ink(ax, color_of(ax, number)) if in_color else _tone(ax, DARK)
    for row, text in zip(rows, texts, strict=True):
        if text:
            note = ax.annotate(
                text,
                (1.0, float(row)),
                xycoords=("axes fraction", "data"),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color=color,
            )
            mark([note], number)


def drop_crowded_numbers(ax: Axes, rows: int, series: int) -> None:
    """Remove the numbers of all estimates where they would run into each other.

    First a figure of our own grows, so that there is space for the numbers of a few estimates.
    """
    figure: Any = ax.figure
    around = _AROUND + 0.1 + 0.22 * series  # a title, an axis and a legend
    if 1 < series <= _MOST_NUMBERED:
        _grow(ax, around + (_TIGHT / apart(series) + 0.03) * rows)
    high = figure.get_figheight() - around if _is_ours(ax) else ax.get_position().height * figure.get_figheight()
    if high / max(rows, 1) * apart(series) < _TIGHT and series > 1:
        for note in [text for text in ax.texts if text.get_gid()]:
            note.remove()
