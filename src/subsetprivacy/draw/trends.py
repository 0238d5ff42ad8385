"""Pictures of trends: a mean for each of several ordered groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.layout import BLUE, DARK, GRAY, PALE, _axes, _finish, _plain, _tone, _vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERED = 12  # groups with their number next to the point
_MOST_LABELED = 24
_MOST_MARKED = 40  # groups with large markers and strokes at the ends of intervals
_LONG = 8  # characters from which on labels are turned where there are many


def means(
    labels: Sequence[str],
    positions: ArrayLike,
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    ylabel: str,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a mean with its interval for each group, the groups from left to right by their positions.

    Parameters
    ----------
    positions : array_like, shape (groups,)
        Where each group is. Groups that would hide each other are drawn next to each other, in their order.
    values, lower, upper : array_like, shape (groups,)
        Means and intervals. NaN is left out.
    """
    k = len(labels)
    at, y, low, high = (
        _vector(x, k, name)
        for x, name in ((positions, "positions"), (values, "values"), (lower, "lower"), (upper, "upper"))
    )
    if len(np.unique(at)) < k or np.diff(np.sort(at)).min(initial=np.inf) < np.ptp(at) / 60:
        at = np.argsort(np.argsort(at, kind="stable")).astype(np.float64)
    ax = _axes(ax, float(np.clip(2.4 + 0.8 * k, 6.4, 12)), 4.0)
    order = np.argsort(at)
    ax.plot(at[order], y[order], "-", color=_tone(ax, PALE), lw=1.5, zorder=1)
    reach = np.nan_to_num(np.abs(np.vstack([y - low, high - y])))
    color = _tone(ax, BLUE)
    look: Any = {"ms": 6, "elinewidth": 2, "capsize": 6, "capthick": 1.6}
    if k > _MOST_MARKED:
        look = {"ms": 3, "elinewidth": 0.8}
    ax.errorbar(at, y, yerr=reach, fmt="o", color=color, zorder=3, **look)
    for x, value in zip(at, y, strict=True) if k <= _MOST_NUMBERED else ():
        if np.isfinite(value):
            place: Any = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
            ax.annotate(f"{value:.2f}", (x, value), (9, 0), color=_tone(ax, DARK), **place)
    _label_groups(ax, at, labels)
    ax.grid(axis="y", color=_tone(ax, PALE), lw=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(colors=_tone(ax, GRAY), which="both")
    margin = 0.5 * (np.ptp(at) / max(k - 1, 1) or 1.0)
    ax.set(xlim=(float(at.min() - margin), float(at.max() + margin)), ylabel=_plain(ylabel, 48))
    return _finish(ax, title)


def _label_groups(ax: Axes, at: NDArray[np.float64], labels: Sequence[str]) -> None:
    order = np.argsort(at)
    shown = order[:: -(-len(labels) // _MOST_LABELED)]
    turned = len(shown) * max(len(labels[j]) for j in shown) > 70 or len(shown) > _LONG
    look: Any = {"rotation": 30, "ha": "right"} if turned else {}
    ax.set_xticks(at[shown].tolist(), [_plain(labels[j], 24) for j in shown], **look)
