"""Pictures of checks of the data: how often questions were asked, and how many people skip them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.intervals import draw_intervals, share_texts, write_numbers
from subsetprivacy.draw.layout import BLUE, COLORS, DARK, PALE, _axes, _finish, _rows, _size, _tone, _vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def question_counts(
    observed: ArrayLike,
    expected: ArrayLike,
    n: int,
    *,
    what: str,
    level: float = 0.95,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often each question was asked, in the order given, over the band that chance explains.

    Parameters
    ----------
    observed, expected : array_like, shape (k,)
        Counts.
    n : int
        The sum of the counts.
    what : str
        What is counted and in which order, for the axis.
    """
    k = len(np.asarray(observed))
    counts, mean = _vector(observed, k, "observed"), _vector(expected, k, "expected")
    half = 1.959964 * np.sqrt(mean * (1 - np.minimum(mean / max(n, 1), 1.0)))
    ax = _axes(ax, 6.8, 3.6)
    edges = np.arange(k + 1) - 0.5
    low, high = np.maximum(mean - half, 0.0), mean + half
    label = f"expected range, {100 * level:.6g}% each"
    ax.stairs(high, edges, baseline=low, fill=True, color=_tone(ax, PALE), lw=0, zorder=0, label=label)
    ax.stairs(mean, edges, color=_tone(ax, DARK), lw=1.0, zorder=1, baseline=None, label="expected")
    far = (counts < low) | (counts > high)
    for where, marker, color, name in (
        (~far, "o", _tone(ax, BLUE), "observed"),
        (far, "D", COLORS[1], "observed, outside the band"),
    ):
        if where.any():
            ax.plot(np.flatnonzero(where), counts[where], marker, color=color, ms=4, ls="", zorder=3, label=name)
    least, most = float(min(counts.min(), low.min())), float(max(counts.max(), high.max()))
    ax.set(xlim=(-0.5, k - 0.5), ylim=(0.0 if least < most / 2 else 0.95 * least, 1.05 * most or 1.0))
    ax.set(xlabel=f"each {what}", ylabel="how often")
    if k <= 20:
        ax.set_xticks(range(k), [str(j + 1) for j in range(k)])
    else:
        ax.set_xticks([])
    return _finish(ax, title, legend=True)


def rates(
    labels: Sequence[str],
    first: Sequence[tuple[float, float, float]],
    second: Sequence[tuple[float, float, float]],
    *,
    names: tuple[str, str],
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw two shares with their intervals for each label, a row each.

    Parameters
    ----------
    first, second : sequence of tuple
        The share and the ends of its interval for each label, or nan.
    names : tuple of str
        The names of the two shares in the legend.
    """
    p = len(labels)
    ax = _axes(ax, *_size(labels, height=1.9, each=0.4))
    top = max((row[2] for row in (*first, *second) if row[2] == row[2]), default=1.0)
    view = (-0.03 * top or -0.03, 1.05 * top or 1.0)  # room for the strokes at 0
    for number, (rows, place, name) in enumerate(((first, -0.15, names[0]), (second, 0.15, names[1]))):
        share, low, high = np.array(rows, float).reshape(p, 3).T
        at = np.arange(p, dtype=np.float64) + place
        draw_intervals(ax, at, share, low, high, view, number, name)
        write_numbers(ax, at, share_texts(share, low, high), number, in_color=True)
    _rows(ax, labels, unit="%")
    ax.set(xlim=view, xlabel="share of people who skip, 95% interval")
    return _finish(ax, title, legend=True, rows=p)
