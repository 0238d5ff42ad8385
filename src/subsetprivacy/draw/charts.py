"""Pictures of plain arrays; nothing here knows a design or an estimate, so every result can call it.

A picture goes into `ax`, or else into a new figure; marker, outline and place repeat what its colors say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.layout import (
    BLUE,
    COLORS,
    DARK,
    GRAY,
    MARKERS,
    STYLES,
    Heading,
    _axes,
    _finish,
    _panels,
    _plain,
    _rows,
    _size,
    _tone,
    _vector,
)
from subsetprivacy.draw.overlay import color_of, make_room, mark, numbered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def estimate(
    labels: Sequence[str],
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    level: float,
    label: str = "estimate",
    reference: ArrayLike | None = None,
    reference_name: str = "reference",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw an estimated distribution with its intervals at `level`, a row per category, the first on top.

    Drawn on axes that hold such a picture of the same labels, it joins in: each estimate has its own place in the
    row, its own color and marker, and its name in the legend.

    Parameters
    ----------
    values, lower, upper : array_like, shape (p,)
        Estimates and intervals, as proportions. What leaves the picture ends in an arrow; a nan is left out. The ends
        of an interval are strokes that reach beyond the marker, so that they are seen however near they are.
    label : str
        What the estimate is called in the legend, which is there for several estimates or a reference.
    reference : array_like, shape (p,), optional
        Values to compare with: open diamonds, called `reference_name`.
    """
    p = len(labels)
    w, low, high = (_vector(x, p, name) for x, name in ((values, "values"), (lower, "lower"), (upper, "upper")))
    known = np.full(p, np.nan) if reference is None else _vector(reference, p, "reference")
    ax = _axes(ax, *_size(labels, height=1.2 if reference is None else 1.5))
    before = numbered(ax, labels)
    if before and isinstance(title, Heading):
        title = Heading(title.shared)
    view = _view(np.concatenate([[0.0], w, known]), low, high)
    if before:
        view = min(view[0], ax.get_xlim()[0]), max(view[1], ax.get_xlim()[1])
    rows, color = np.arange(p, dtype=np.float64) + make_room(ax, before), color_of(ax, before)
    for ends, arrow in ((low, "<"), (high, ">")):
        _whiskers(ax, rows, w, ends, view, arrow, before)
    mark(ax.plot(w, rows, MARKERS[before % 8], color=color, ms=6, zorder=3, label=_plain(label, 40)), before)
    if reference is not None:
        dark = _tone(ax, DARK)
        ax.plot(known, np.arange(p), "D", mfc="none", mec=dark, ms=8, zorder=5, label=_plain(reference_name))
    _rows(ax, labels, unit="%")
    ax.set(xlim=view, xlabel=f"share of the population, {100 * level:.6g}% interval")
    return _finish(ax, title, legend=reference is not None or before > 0 or ax.get_legend() is not None, rows=p)


def difference(
    labels: Sequence[str],
    estimates: Mapping[str, ArrayLike],
    reference: ArrayLike,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw each method's estimate minus a reference, a row per category (`fig:race_diff`).

    Drawn on axes that hold such a picture of the same labels, it joins in, as in `estimate`.

    Parameters
    ----------
    estimates : mapping of str to array_like, shape (p,)
        Per method, as proportions; `reference`, the population if known, is subtracted.
    """
    p, m = len(labels), len(estimates)
    gaps = {name: _vector(w, p, "estimates") - _vector(reference, p, "reference") for name, w in estimates.items()}
    ax = _axes(ax, *_size(labels, height=1.5, each=0.22 + 0.1 * m))
    before = numbered(ax, labels)
    if before and isinstance(title, Heading):
        title = Heading(title.shared)
    reach = 1.1 * max((abs(x) for gap in gaps.values() for x in gap if np.isfinite(x)), default=0) or 0.01
    reach = max(reach, *np.abs(ax.get_xlim())) if before else reach
    for i, (name, gap) in enumerate(gaps.items(), before):
        rows = np.arange(p) + make_room(ax, i)
        mark(ax.plot(gap, rows, MARKERS[i % 8], color=color_of(ax, i), ms=6, zorder=3, label=_plain(name, 40)), i)
    _rows(ax, labels, unit="")
    ax.set(xlim=(-reach, reach), xlabel="estimate minus reference, percentage points")
    return _finish(ax, title, legend=before + m > 0, rows=p)


def leakage(
    designs: Sequence[str],
    metrics: Mapping[str, Sequence[float]],
    *,
    baselines: Mapping[str, float] | None = None,
    units: Mapping[str, str] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw the leakage of designs, a bar each, in a panel per metric (`fig:adult_privacy_leak`).

    Parameters
    ----------
    metrics : mapping of str to sequence of float, one per design
        Each on its own scale: bits and probabilities share none.
    baselines, units : mapping of str to float and to str, optional
        Per metric, what is known without any data (a dashed line) and the unit.
    """
    if not metrics:
        raise ValueError("`metrics` must hold at least one metric; got none.")
    bars = {metric: _vector(values, len(designs), "metrics") for metric, values in metrics.items()}
    columns, rows = min(len(bars), 4), -(-len(bars) // 4)
    panels = _panels(1.2 + 2.2 * columns, 0.4 + (0.8 + 0.3 * len(designs)) * rows, rows, columns)
    for unused in panels[len(bars) :]:
        unused.remove()
    for i, (metric, values) in enumerate(bars.items()):
        _rows(panels[i], designs if i % columns == 0 else [""] * len(designs))
        _bars(panels[i], values, (baselines or {}).get(metric))
        panels[i].set_xlabel(_plain((units or {}).get(metric, "")), color=_tone(panels[i], GRAY))
        panels[i].set_title(_plain(metric), fontsize="medium", pad=18 if baselines else 4)
    figure: Figure = panels[0].figure
    if title is not None:
        figure.suptitle(_plain(title, 99))
    return figure


def convergence(
    gaps: Mapping[str, Sequence[float]],
    *,
    tolerance: float | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the certified gap of each method after 1, 2, ... iterations, on a log scale.

    Parameters
    ----------
    gaps : mapping of str to sequence of float
        What is still to be gained per person. A log scale has no zero: a gap of zero or less is a
        hollow marker at the foot. The methods stop at `tolerance`, a dashed line.
    """
    lines = {name: np.asarray(gap, dtype=float) for name, gap in gaps.items()}
    seen = np.concatenate([*lines.values(), [tolerance or np.nan]])
    foot = float(np.min(seen, initial=1.0, where=np.isfinite(seen) & (seen > 0))) / 10
    ax = _axes(ax, 6.4, 4.0)
    for i, (name, gap) in enumerate(lines.items()):
        steps, sign, color = np.arange(1, len(gap) + 1), MARKERS[i % 8], _tone(ax, COLORS[i % 7])
        (line,) = ax.plot(steps, np.maximum(gap, foot), sign + STYLES[i % 4], color=color, ms=5, label=_plain(name))
        line.set_markevery(max(1, len(gap) // 12))
        ax.plot(
            steps[gap <= 0],
            np.full_like(gap[gap <= 0], foot),
            sign,
            color=color,
            ms=5,
            mfc=ax.get_facecolor(),
            zorder=3,
        )
    if np.any(seen <= 0):
        ax.plot([], [], "o", ms=5, mfc=ax.get_facecolor(), mec=_tone(ax, GRAY), label="zero or less")
    if tolerance:
        ax.axhline(tolerance, color=_tone(ax, GRAY), lw=1, ls=(0, (4, 3)), zorder=1, label=f"tolerance {tolerance:g}")
    sizes = [len(gap) for gap in lines.values() if len(gap)] or [1]
    ax.set(yscale="log", xscale="linear", xlabel="step (1 is the start)", ylabel="still to be gained per person")
    ax.locator_params(axis="x", integer=True)
    if max(sizes) >= 20 * min(sizes):
        ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    if lines:
        ax.legend(frameon=False, loc="best")
    return _finish(ax, title)


def _view(points: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[float, float]:
    seen = points[np.isfinite(points)]  # all in view; a whisker may leave it
    left = max(np.min(low, initial=seen.min(), where=np.isfinite(low)), seen.min() - 0.5)
    right = min(np.max(high, initial=seen.max(), where=np.isfinite(high)), max(seen.max(), 1) + 0.5)
    margin = 0.03 * (right - left) or 0.03
    return float(left - margin), float(right + margin)


def _whiskers(
    ax: Axes, rows: NDArray[np.float64], w: Any, ends: Any, view: tuple[float, float], arrow: str, number: int
) -> None:
    """Draw one side of the intervals over the markers: a line, and a stroke or an arrow at its end."""
    there = np.flatnonzero(np.isfinite(w) & ~np.isnan(ends))
    stops, color = np.clip(ends[there], *view), color_of(ax, number)
    gaps = np.full(len(there), np.nan)
    x, y = (np.column_stack(part).ravel() for part in ((w[there], stops, gaps), (rows[there], rows[there], gaps)))
    mark(ax.plot(x, y, "-", color=color, lw=2, zorder=2), number)
    cut = stops != ends[there]
    for sign, at, size, shown in (("|", ~cut, 13, True), (arrow, cut, 6, False)):
        if at.any():
            look = {"ms": size, "mew": 1.6, "zorder": 4} if shown else {"ms": size, "zorder": 3, "clip_on": False}
            mark(ax.plot(stops[at], rows[there][at], sign, color=color, **look), number)


def _bars(ax: Axes, values: NDArray[np.float64], baseline: float | None) -> None:
    ends = np.where(np.isfinite(values), values, 0)
    top = 1.3 * max(ends.max(initial=0), baseline or 0) or 1
    ax.barh(np.arange(len(values)), ends, height=0.6, color=_tone(ax, BLUE))
    for row, (value, end) in enumerate(zip(values, ends, strict=True)):
        ax.text(end, row, f" {value:#.3g}".replace("inf", "∞") if value else " 0", va="center_baseline")
    if baseline is not None:
        ax.axvline(baseline, color=_tone(ax, DARK), lw=1.2, ls=(0, (4, 3)))
        side, text = "right" if baseline > top / 2 else "left", f"without data {baseline:.3g}"
        ax.text(baseline, -0.6, text, ha=side, va="bottom", color=_tone(ax, GRAY), fontsize="small")
    ax.set(xlim=(min(0, 1.3 * ends.min(initial=0)), top), xticks=[])
    ax.spines[["top", "right", "bottom"]].set_visible(False)
