"""Differences with their intervals around zero, and shares by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.intervals import draw_intervals, drop_crowded_numbers, share_texts, write_numbers
from subsetprivacy.draw.layout import DARK, _axes, _finish, _rows, _size, _tone, _vector
from subsetprivacy.draw.overlay import make_room, numbered

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
        Differences and intervals, as proportions. A nan is left out.
    label : str
        What the differences are called in the legend, which is there for several of them.
    several : int
        How many will be drawn on these axes, for the size of a new figure.
    """
    p = len(labels)
    d, low, high = (_vector(x, p, name) for x, name in ((values, "values"), (lower, "lower"), (upper, "upper")))
    ax = _axes(ax, *_size(labels, height=1.2 if several == 1 else 1.9, each=0.26 + 0.17 * (several - 1)))
    before = numbered(ax, labels)
    seen = np.abs(np.concatenate([d, low, high]))
    reach = 1.08 * float(np.max(seen, initial=0.0, where=np.isfinite(seen))) or 0.01
    reach = max(reach, *np.abs(ax.get_xlim())) if before else reach
    rows = np.arange(p, dtype=np.float64) + make_room(ax, before)
    draw_intervals(ax, rows, d, low, high, (-reach, reach), before, label)
    write_numbers(ax, rows, share_texts(d, low, high, ""), before, in_color=before > 0 or several > 1)
    if not before:
        ax.axvline(0.0, color=_tone(ax, DARK), lw=1.0, zorder=1)
    _rows(ax, labels, unit="")
    ax.set(xlim=(-reach, reach), xlabel=f"percentage points, {100 * level:.6g}% interval")
    drop_crowded_numbers(ax, p, before + 1)
    return _finish(ax, title, legend=before > 0, rows=p)
