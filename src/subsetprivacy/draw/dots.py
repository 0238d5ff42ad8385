"""Pictures of numbers in rows: published numbers compared with those obtained, and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.layout import (
    BLUE,
    COLORS,
    DARK,
    MARKERS,
    PALE,
    _axes,
    _finish,
    _plain,
    _vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def printed_and_obtained(
    labels: Sequence[str],
    printed: ArrayLike,
    obtained: ArrayLike,
    *,
    printed_errors: ArrayLike | None = None,
    errors: ArrayLike | None = None,
    xlabel: str,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw published numbers and those obtained, a row each, with whiskers of two standard errors."""
    p = len(labels)
    ax = _axes(ax, 6.8, 1.2 + 0.24 * p)
    rows = np.arange(p)
    looks: tuple[tuple[Any, Any, float, dict[str, Any]], ...] = (
        (printed, printed_errors, -0.14, {"fmt": "D", "mfc": "white", "color": DARK, "label": "printed"}),
        (obtained, errors, 0.14, {"fmt": "o", "color": BLUE, "label": "obtained"}),
    )
    for values, error, place, look in looks:
        reach = None if error is None else 2 * _vector(error, p, "errors")
        ax.errorbar(_vector(values, p, "values"), rows + place, xerr=reach, ms=5, elinewidth=1.4, zorder=3, **look)
    ax.set_yticks(rows, [_plain(label, 60) for label in labels])
    ax.set_ylim(p - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=PALE, lw=0.8)
    ax.set_xlabel(xlabel)
    return _finish(ax, title, legend=True)


def durations(
    labels: Sequence[str], seconds: ArrayLike, kinds: Sequence[str], *, xlabel: str, ax: Axes | None = None
) -> Axes:
    """Draw times on a log scale, a row each with its number, a color and marker per kind (`fig:time1`)."""
    p, times = len(labels), _vector(seconds, len(labels), "seconds")
    ax = _axes(ax, 6.8, 1.3 + 0.34 * p)
    for i, kind in enumerate(dict.fromkeys(kinds)):
        at = np.array([k for k in range(p) if kinds[k] == kind])
        ax.plot(times[at], at, MARKERS[i], color=COLORS[i % 7], ms=7, zorder=3, label=_plain(kind))
    for k, value in enumerate(times):
        ax.annotate(f"{value:.3g} s", (value, k), (9, 0), textcoords="offset points", va="center", fontsize="small")
    ax.set_yticks(range(p), [_plain(label, 60) for label in labels])
    ax.set_ylim(p - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="both", color=PALE, lw=0.8)
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.set_xlim(low, high * (high / low) ** 0.12)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel(xlabel)
    return _finish(ax, None, legend=True)
