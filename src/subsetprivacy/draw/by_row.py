"""Numbers of any unit with their intervals, a row per group, printed next to the intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.charts import _whiskers
from subsetprivacy.draw.layout import DARK, MARKERS, PALE, _axes, _finish, _plain, _rows, _size, _tone, _vector
from subsetprivacy.draw.overlay import color_of

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
        their row, each in its color; of very many the first seven.
    xlabel
        What the numbers are.
    zero
        Whether to draw a line at zero, for differences.
    """
    shown = dict(list(series.items())[:_MOST_SERIES])
    ax = _axes(ax, *_size(labels, height=1.3 if len(shown) == 1 else 1.7, each=0.3 + 0.2 * (len(shown) - 1)))
    numbers = [[_vector(x, len(labels), "series") for x in one] for one in shown.values()]
    seen = np.concatenate([x[np.isfinite(x)] for one in numbers for x in one] + [[0.0] if zero else []])
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.5
    view = low - margin, high + margin
    texts = _texts([one[0] for one in numbers])
    for k, (name, (values, lower, upper)) in enumerate(zip(shown, numbers, strict=True)):
        rows = np.arange(len(labels), dtype=np.float64) + (k - (len(shown) - 1) / 2) * min(0.8 / len(shown), 0.26)
        color = color_of(ax, k)
        for ends, arrow in ((lower, "<"), (upper, ">")):
            _whiskers(ax, rows, values, ends, view, arrow, k)
        ax.plot(values, rows, MARKERS[k % 8], color=color, ms=6, zorder=3, label=_plain(name, 40))
        for row, text in zip(rows, texts[k], strict=True):
            ax.annotate(
                text,
                (1.0, row),
                xycoords=("axes fraction", "data"),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color=color if len(shown) > 1 else _tone(ax, DARK),
            )
    _rows(ax, labels)
    ax.grid(axis="y", color=_tone(ax, PALE), lw=0.8)
    ax.set_axisbelow(True)
    ax.spines["left"].set_visible(False)
    if zero:
        ax.axvline(0.0, color=_tone(ax, DARK), lw=1.0, zorder=1)
    ax.set(xlim=view, xlabel=xlabel)
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.6g}".replace("-", "\N{MINUS SIGN}"))
    return _finish(ax, title, legend=len(shown) > 1, rows=len(labels))


def _texts(values: Sequence[np.ndarray]) -> list[list[str]]:
    """Return the numbers as text: as many decimals as tell them apart."""
    known = np.concatenate([x[np.isfinite(x)] for x in values])
    spread = float(np.abs(known).max(initial=0.0))
    digits = int(np.clip(2 - np.floor(np.log10(spread)), 0, 4)) if spread > 0 else 2
    minus = "\N{MINUS SIGN}"
    return [["not given" if x != x else f"{x:,.{digits}f}".replace("-", minus) for x in one] for one in values]
