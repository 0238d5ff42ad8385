"""Coefficients with their intervals around zero: a panel for each category."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.charts import _whiskers
from subsetprivacy.draw.layout import DARK, _panels, _plain, _rows, _size, _tone
from subsetprivacy.draw.overlay import colour_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 3
_MOST_PANELS, _MOST_ROWS = 12, 40


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
) -> Figure:
    """Draw coefficients with their intervals and a line at zero, a panel per category and a row per term.

    Parameters
    ----------
    values, lower, upper : array_like, shape (panels, rows)
        Coefficients and intervals; what is not finite is left out, and an end that is not becomes an arrow.
    what
        The label of the axis.
    """
    b, low, high = (np.asarray(x, float)[:_MOST_PANELS, :_MOST_ROWS] for x in (values, lower, upper))
    names, titles = list(rows[:_MOST_ROWS]), list(panels[:_MOST_PANELS])
    columns = 2 if len(titles) == 4 else min(_COLUMNS, len(titles))
    lines = ceil(len(titles) / columns)
    wide, tall = _size(names, width=2.6)
    axes = list(_panels(max(wide, 3.2) + 2.6 * (columns - 1), tall * lines + 0.3, lines, columns))
    figure: Figure = axes[0].figure
    ends = np.abs(np.concatenate([b, low, high]))
    middle = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    reach = min(1.08 * float(np.max(ends, initial=0.0, where=np.isfinite(ends))), 6 * middle + 1) or 1.0
    places = np.arange(len(names), dtype=np.float64)
    for k, ax in enumerate(axes):
        if k >= len(titles):
            ax.set_visible(False)
            continue
        shown = np.where(np.isfinite(b[k]), b[k], np.nan)
        for side, arrow in ((low[k], "<"), (high[k], ">")):
            _whiskers(ax, places, shown, side, (-reach, reach), arrow, 0)
        ax.plot(shown, places, "o", color=colour_of(ax, 0), ms=5, zorder=3)
        ax.axvline(0.0, color=_tone(ax, DARK), lw=1.0, zorder=1)
        _rows(ax, names)
        ax.set(xlim=(-reach, reach))
        ax.set_title(_plain(titles[k]), fontsize="medium", loc="left")
        ax.spines[["top", "right", "left"]].set_visible(False)
        if k % columns:
            ax.tick_params(axis="y", labelleft=False)
        if k + columns >= len(titles):
            ax.set_xlabel(f"{what}, {100 * level:.6g}% interval")
    parts = [(len(names), len(rows), "terms"), (len(titles), len(panels), "categories")]
    cut = [f"the first {shown} of {every} {what}" for shown, every, what in parts if shown < every]
    figure.suptitle(f"{title}{', ' if cut else ''}{' and '.join(cut)}", fontsize="large")
    return figure
