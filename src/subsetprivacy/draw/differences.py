"""Differences with their intervals around zero, and shares by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.charts import _whiskers
from subsetprivacy.draw.layout import DARK, MARKERS, _axes, _finish, _plain, _rows, _size, _tone, _vector
from subsetprivacy.draw.overlay import color_of, make_room, mark, numbered

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def differences(
    labels: Sequence[str],
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    level: float,
    label: str = "difference",
    several: int = 1,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw differences of shares with their intervals at `level` and a line at zero, a row per category.

    Drawn on axes that hold such a picture of the same labels, it joins in, as `estimate` does.

    Parameters
    ----------
    values, lower, upper : array_like, shape (p,)
        Differences and intervals, as proportions; a nan is left out.
    label : str
        What the differences are called in the legend, which is there for several of them.
    several : int
        How many will be drawn on these axes: a new figure makes room for them.
    """
    p = len(labels)
    d, low, high = (_vector(x, p, name) for x, name in ((values, "values"), (lower, "lower"), (upper, "upper")))
    ax = _axes(ax, *_size(labels, height=1.2 if several == 1 else 1.9, each=0.26 + 0.13 * (several - 1)))
    before = numbered(ax, labels)
    seen = np.abs(np.concatenate([d, low, high]))
    reach = 1.08 * float(np.max(seen, initial=0.0, where=np.isfinite(seen))) or 0.01
    reach = max(reach, *np.abs(ax.get_xlim())) if before else reach
    rows, color = np.arange(p, dtype=np.float64) + make_room(ax, before), color_of(ax, before)
    for ends, arrow in ((low, "<"), (high, ">")):
        _whiskers(ax, rows, d, ends, (-reach, reach), arrow, before)
    mark(ax.plot(d, rows, MARKERS[before % 8], color=color, ms=6, zorder=3, label=_plain(label, 40)), before)
    if not before:
        ax.axvline(0.0, color=_tone(ax, DARK), lw=1.0, zorder=1)
    _rows(ax, labels, unit="")
    ax.set(xlim=(-reach, reach), xlabel=f"percentage points, {100 * level:.6g}% interval")
    return _finish(ax, title, legend=before > 0, rows=p)
