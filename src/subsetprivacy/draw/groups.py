"""Shares by group: a panel per category."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.charts import _view, _whiskers
from subsetprivacy.draw.layout import _panels, _plain, _rows, _size
from subsetprivacy.draw.overlay import colour_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 3
_MOST_GROUPS, _MOST_PANELS = 40, 12


def by_group(
    groups: Sequence[str],
    labels: Sequence[str],
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    level: float,
    what: str = "share",
    title: str,
) -> Figure:
    """Draw estimated shares with their intervals: a panel per category, a row per group, one scale for all.

    Parameters
    ----------
    groups, labels
        The names of the groups and of the categories. Of very many the first are drawn, and the title says so.
    values, lower, upper : array_like, shape (groups, categories)
        Estimates and intervals, as proportions; a nan is left out.
    what
        What they are, for the label of the axis.
    """
    w, low, high = (np.asarray(x, float)[:_MOST_GROUPS, :_MOST_PANELS] for x in (values, lower, upper))
    names, panels = list(groups[:_MOST_GROUPS]), list(labels[:_MOST_PANELS])
    columns = 2 if len(panels) == 4 else min(_COLUMNS, len(panels))
    rows = ceil(len(panels) / columns)
    wide, tall = _size(names, width=2.2)
    axes = list(_panels(max(wide, 2.6) + 2.4 * (columns - 1), tall * rows + 0.3, rows, columns))
    figure: Figure = axes[0].figure
    view = _view(np.concatenate([[0.0], w.ravel()]), low.ravel(), high.ravel())
    places = np.arange(len(names), dtype=np.float64)
    for k, ax in enumerate(axes):
        if k >= len(panels):
            ax.set_visible(False)
            continue
        for ends, arrow in ((low[:, k], "<"), (high[:, k], ">")):
            _whiskers(ax, places, w[:, k], ends, view, arrow, 0)
        ax.plot(w[:, k], places, "o", color=colour_of(ax, 0), ms=5, zorder=3)
        _rows(ax, names, unit="%")
        ax.set(xlim=view)
        ax.set_title(_plain(panels[k]), fontsize="medium", loc="left")
        ax.spines[["top", "right", "left"]].set_visible(False)
        if k % columns:
            ax.tick_params(axis="y", labelleft=False)
        if k + columns >= len(panels):
            ax.set_xlabel(f"{what}, {100 * level:.6g}% interval")
    parts = [(len(names), len(groups), "groups"), (len(panels), len(labels), "categories")]
    cut = [f"the first {shown} of {every} {what}" for shown, every, what in parts if shown < every]
    figure.suptitle(f"{title}{', ' if cut else ''}{' and '.join(cut)}", fontsize="large")
    return figure
