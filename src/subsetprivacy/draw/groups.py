"""Numbers with their intervals, a panel per category: shares by group, and coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.intervals import draw_intervals, number_texts, share_texts, view_of, write_numbers
from subsetprivacy.draw.layout import (
    _LETTER,
    _LINE,
    _WIDEST,
    DARK,
    PALE,
    _few_ticks,
    _panels,
    _plain,
    _rows,
    _size,
    _suptitle,
    _tone,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 3
_PANEL = 2.7  # inches
_MOST_ROWS, _MOST_PANELS = 40, 12


def by_group(
    groups: Sequence[str],
    labels: Sequence[str],
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    level: float,
    what: str = "share",
    points: bool = False,
    title: str,
) -> Figure:
    """Draw estimated shares with their intervals: a panel per category, a row per group, one scale for all.

    Parameters
    ----------
    groups, labels
        The names of the groups and of the categories. If there are very many, the first are drawn, and the title says
        so.
    values, lower, upper : array_like, shape (groups, categories)
        Estimates and intervals, as proportions. NaN is left out.
    what
        What they are, for the label of the axis.
    points
        Whether they are differences of shares: percentage points, with a sign.
    """
    w, low, high = (np.asarray(x, float) for x in (values, lower, upper))
    view = view_of(np.concatenate([[0.0], w[:_MOST_ROWS, :_MOST_PANELS].ravel()]), low.ravel(), high.ravel())
    unit = "" if points else "%"
    axis = f"{what}, {'percentage points, ' if points else ''}{100 * level:.6g}% interval"
    texts = share_texts(w.T.ravel(), low.T.ravel(), high.T.ravel(), unit)  # as many decimals in all panels
    printed = [texts[k * len(w) : (k + 1) * len(w)] for k in range(w.shape[1])]
    return _panels_of_rows((groups, "groups"), labels, (w.T, low.T, high.T), view, axis, title, printed, unit=unit)


def forest(
    rows: Sequence[str],
    panels: Sequence[str],
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    level: float,
    what: str,
    title: str,
    ratios: bool = False,
) -> Figure:
    """Draw coefficients with their intervals and a line at zero, a panel per category and a row per term.

    Parameters
    ----------
    values, lower, upper : array_like, shape (panels, rows)
        Coefficients and intervals. A coefficient that is not finite is left out, and an infinite end becomes an arrow.
    what
        The label of the axis.
    ratios
        Whether the numbers are logarithms of ratios, so that the axis is labeled with ratios.
    """
    b, low, high = (np.asarray(x, float) for x in (values, lower, upper))
    ends = np.abs(np.concatenate([b, low, high]))
    middle = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    reach = min(1.08 * float(np.max(ends, initial=0.0, where=np.isfinite(ends))), 6 * middle + 1) or 1.0
    axis = f"{what}, {100 * level:.6g}% interval"
    shown = np.where(np.isfinite(b), b, np.nan)
    printed = number_texts(list(np.exp(shown) if ratios else shown))
    figure = _panels_of_rows((rows, "terms"), panels, (shown, low, high), (-reach, reach), axis, title, printed)
    if ratios:
        at = _ratio_marks(reach)
        for ax in figure.axes:
            ax.set_xticks(np.log(at), [f"{ratio:,.6g}" for ratio in at])
    return figure


_MARKS = (  # up to which ratio, and the marks above 1 and below
    (1.3, (0.8, 0.9, 0.95, 1.05, 1.1, 1.2)),
    (2.2, (0.5, 0.6, 0.8, 1.25, 1.6, 2)),
    (8, (0.2, 0.3, 0.5, 0.7, 1.5, 2, 3, 5)),
    (400, (0.01, 0.03, 0.1, 0.3, 3, 10, 30, 100)),
)


def _ratio_marks(reach: float) -> NDArray[np.float64]:
    """Return ratios to mark between exp(-reach) and exp(reach): 1, and round ones on both sides."""
    marks_here = next((marks for top, marks in _MARKS if reach <= np.log(top)), None)
    step = 10.0 ** ceil(reach / (3.5 * np.log(10)))
    powers = step ** np.arange(-3, 4) if marks_here is None else np.array(sorted((*marks_here, 1.0)))
    return powers[np.abs(np.log(powers)) <= reach]


def _panels_of_rows(
    named: tuple[Sequence[str], str],
    panels: Sequence[str],
    numbers: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    view: tuple[float, float],
    axis: str,
    title: str,
    printed: Sequence[Sequence[str]],
    unit: str | None = None,
) -> Figure:
    """Draw numbers with their intervals and in print, arrays of shape (panels, rows). Of very many, draw the first."""
    rows, kind = named
    w, low, high = (x[:_MOST_PANELS, :_MOST_ROWS] for x in numbers)
    names, titles = list(rows[:_MOST_ROWS]), list(panels[:_MOST_PANELS])
    columns = 2 if len(titles) == 4 else min(_COLUMNS, len(titles))
    lines = ceil(len(titles) / columns)
    tall = _size(names)[1]
    wide = 0.3 + _LETTER * max((len(line) for name in names for line in wrap(name, _WIDEST)), default=0)
    heads = [_plain(text) for text in titles]
    tall += _LINE * max(head.count("\n") for head in heads)
    axes = list(_panels(max(wide + _PANEL * columns, 6.4), tall * lines + 0.3, lines, columns))
    figure: Figure = axes[0].figure
    places = np.arange(len(names), dtype=np.float64)
    for k, ax in enumerate(axes):
        if k >= len(titles):
            ax.set_visible(False)
            continue
        draw_intervals(ax, places, w[k], low[k], high[k], view, 0)
        write_numbers(ax, places, printed[k][:_MOST_ROWS], narrowest=0.0)
        _rows(ax, names, unit=unit)
        if unit is None:
            ax.axvline(0.0, color=_tone(ax, DARK), lw=1.0, zorder=1)
            ax.grid(axis="y", color=_tone(ax, PALE), lw=0.8)
            ax.set_axisbelow(True)
        ax.set(xlim=view)
        _few_ticks(ax, 3)
        ax.set_title(heads[k], fontsize="medium", loc="left")
        ax.spines[["top", "right", "left"]].set_visible(False)
        if k % columns:
            ax.tick_params(axis="y", labelleft=False)
    if len(titles) == 1:
        axes[0].set_xlabel(axis)
    else:  # once for all panels, which are narrower than these words
        figure.supxlabel(axis, fontsize="medium")
    parts = [(len(names), len(rows), kind), (len(titles), len(panels), "categories")]
    cut = [f"the first {shown} of {every} {what}" for shown, every, what in parts if shown < every]
    _suptitle(figure, f"{title}{', ' if cut else ''}{' and '.join(cut)}")
    return figure
