"""Calibration curves: observed shares against predicted probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.layout import COLORS, GRAY, MARKERS, PALE, STYLES, _axes, _finish, _plain, _tone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDEST = 1.0  # how far beyond 0 and 1 the picture reaches at most


def calibration(
    lines: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]],
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw observed shares with their intervals against predicted probabilities, and the line where both agree.

    Parameters
    ----------
    lines : mapping of str to (predicted, observed, lower, upper)
        Per category, arrays of the same length. A nan is left out.
    """
    ax = _axes(ax, 6.0, 5.2)
    ax.axline((0, 0), slope=1, color=_tone(ax, GRAY), lw=1.2, ls=(0, (4, 3)), zorder=1, label="observed as predicted")
    tops = [1.0]
    for i, (name, values) in enumerate(lines.items()):
        x, y, low, high = (np.asarray(part, dtype=float) for part in values)
        reach = np.nan_to_num(np.abs(np.vstack([y - low, high - y])))
        look: Any = {"color": _tone(ax, COLORS[i % 7]), "label": _plain(name, 40), "zorder": 3}
        ax.errorbar(x, y, reach, fmt=MARKERS[i % 8] + STYLES[i % 4], ms=5, lw=1.2, elinewidth=1.6, capsize=4, **look)
        tops += [float(np.nanmax(y, initial=1.0)), -float(np.nanmin(y, initial=0.0)) + 1]
    beyond = min(max(tops) - 1, _WIDEST) + 0.04
    ax.set(xlim=(-0.02, 1.02), ylim=(-beyond, 1 + beyond), xlabel="predicted probability", ylabel="estimated share")
    ax.grid(color=_tone(ax, PALE), lw=0.8)
    ax.set_axisbelow(True)
    return _finish(ax, title, legend=True)
