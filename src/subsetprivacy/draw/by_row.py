"""Numbers with their intervals, a row per group or category, printed next to the intervals; differences around zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.intervals import draw_intervals, drop_crowded_numbers, number_texts, share_texts, write_numbers
from subsetprivacy.draw.layout import DARK, PALE, _axes, _few_ticks, _finish, _rows, _size, _tone, _vector
from subsetprivacy.draw.overlay import make_room, numbered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SERIES = 7  # as many as there are colors


def by_row(
    labels: Sequence[str],
    series: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    *,
    xlabel: str,
    zero: bool = False,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw numbers with their intervals, a row per label, the first on top, and the number at the end of each row.

    Parameters
    ----------
    labels
        The rows.
    series
        By name: values, lower and upper ends, each of shape (rows,). Several are drawn next to each other within
        their row, each in its color. At most seven are drawn, and the title says so.
    xlabel
        What the numbers are.
    zero
        Whether to draw a line at zero, for differences.
    """
    shown = dict(list(series.items())[:_MOST_SERIES])
    if title is not None and len(shown) < len(series):
        title = type(title)(f"{title}, the first {len(shown)} of {len(series)} groups")
    ax = _axes(ax, *_size(labels, height=1.3 if len(shown) == 1 else 1.7, each=0.3 + 0.2 * (len(shown) - 1)))
    numbers = [[_vector(x, len(labels), "series") for x in parts] for parts in shown.values()]
    seen = np.concatenate([x[np.isfinite(x)] for parts in numbers for x in parts] + [[0.0] if zero else []])
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.5
    view = low - margin, high + margin
    texts = number_texts([parts[0] for parts in numbers])
    for k, (name, (values, lower, upper)) in enumerate(zip(shown, numbers, strict=True)):
        rows = np.arange(len(labels), dtype=np.float64) + (k - (len(shown) - 1) / 2) * min(0.8 / len(shown), 0.26)
        draw_intervals(ax, rows, values, lower, upper, view, k, name)
        write_numbers(ax, rows, texts[k], k, in_color=len(shown) > 1)
    _rows(ax, labels)
    ax.grid(axis="y", color=_tone(ax, PALE), lw=0.8)
    ax.set_axisbelow(True)
    ax.spines["left"].set_visible(False)
    if zero:
        ax.axvline(0.0, color=_tone(ax, DARK), lw=1.0, zorder=1)
    ax.set(xlim=view, xlabel=xlabel)
    _few_ticks(ax, max(len(f"{end:,.0f}") for end in view))
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.6g}".replace("-", "\N{MINUS SIGN}"))
    return _finish(ax, title, legend=len(shown) > 1, rows=len(labels))


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

    On axes that already contain such a picture of the same labels, it is added to it, as in `estimate`.

    Parameters
    ----------
    values, lower, upper : array_like, shape (p,)
        Differences and intervals, as proportions. NaN is left out.
    label : str
        The name of the differences in the legend, which is drawn if there are several.
    several : int
        How many series will be drawn on these axes, for the size of a new figure.
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
