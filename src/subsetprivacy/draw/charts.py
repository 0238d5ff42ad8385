"""Pictures of plain arrays; nothing here knows a design or an estimate, so every result can call it.

A picture goes into `ax`, or else into a new figure; marker, outline and place repeat what its colours say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, CYAN, DARK, GRAY, PALE = "#0072B2", "#66CCEE", "#1F1F1F", "#6B6B6B", "#E3E3E3"
COLOURS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
MARKERS, STYLES = "os^DvPX*", ("-", "--", "-.", ":")


def estimate(
    labels: Sequence[str],
    values: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    level: float,
    reference: ArrayLike | None = None,
    reference_name: str = "reference",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw an estimated distribution with its intervals at `level`, a row per category, the first on top.

    Parameters
    ----------
    values, lower, upper : array_like, shape (p,)
        Estimates and intervals, as proportions. What leaves the picture ends in an arrow; a nan is left out.
    reference : array_like, shape (p,), optional
        Values to compare with: open diamonds, called `reference_name`.
    """
    p = len(labels)
    w, low, high = (_vector(x, p, name) for x, name in ((values, "values"), (lower, "lower"), (upper, "upper")))
    known = np.full(p, np.nan) if reference is None else _vector(reference, p, "reference")
    ax = ax or _panels(6.4, 1.2 + 0.3 * p)[0]
    view = _view(np.concatenate([[0.0], w, known]), low, high)
    for end, marker in ((low, "<"), (high, ">")):
        _whiskers(ax, w, end, view, marker)
    ax.plot(w, np.arange(p), "o", color=BLUE, ms=6, zorder=3, label="estimate")
    if reference is not None:
        ax.plot(known, np.arange(p), "D", mfc="none", mec=DARK, ms=8, zorder=4, label=_plain(reference_name))
    _rows(ax, labels, unit=" %")
    ax.set(xlim=view, xlabel=f"share of the population, {100 * level:.6g} % interval")
    return _finish(ax, title, legend=reference is not None)


def difference(
    labels: Sequence[str],
    estimates: Mapping[str, ArrayLike],
    reference: ArrayLike,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw each method's estimate minus a reference, a row per category (`fig:race_diff`).

    Parameters
    ----------
    estimates : mapping of str to array_like, shape (p,)
        Per method, as proportions; `reference`, the population if known, is subtracted.
    """
    p, m = len(labels), len(estimates)
    gaps = {name: _vector(w, p, "estimates") - _vector(reference, p, "reference") for name, w in estimates.items()}
    ax = ax or _panels(6.4, 1.2 + (0.22 + 0.1 * m) * p)[0]
    for i, (name, gap) in enumerate(gaps.items()):
        rows = np.arange(p) + (i - (m - 1) / 2) * min(0.7 / m, 0.2)
        ax.plot(gap, rows, MARKERS[i % 8], color=COLOURS[i % 7], ms=6, zorder=3, label=_plain(name))
    reach = 1.1 * max((abs(x) for gap in gaps.values() for x in gap if np.isfinite(x)), default=0) or 0.01
    _rows(ax, labels, unit="")
    ax.set(xlim=(-reach, reach), xlabel="estimate minus reference, percentage points")
    return _finish(ax, title, legend=m > 0)


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
        panels[i].set_xlabel(_plain((units or {}).get(metric, "")), loc="left", color=GRAY)
        panels[i].set_title(_plain(metric), loc="left", fontsize="medium", pad=18 if baselines else 4)
    figure: Figure = panels[0].figure
    if title is not None:
        figure.suptitle(_plain(title, 99), x=0.01, ha="left")
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
    ax = ax or _panels(6.4, 4.0)[0]
    for i, (name, gap) in enumerate(lines.items()):
        steps, mark, colour = np.arange(1, len(gap) + 1), MARKERS[i % 8], COLOURS[i % 7]
        (line,) = ax.plot(steps, np.maximum(gap, foot), mark + STYLES[i % 4], color=colour, ms=5, label=_plain(name))
        line.set_markevery(max(1, len(gap) // 12))
        ax.plot(steps[gap <= 0], np.full_like(gap[gap <= 0], foot), mark, color=colour, ms=5, mfc="white", zorder=3)
    if np.any(seen <= 0):
        ax.plot([], [], "o", ms=5, mfc="white", mec=GRAY, label="zero or less")
    if tolerance:
        ax.axhline(tolerance, color=GRAY, lw=1, ls=(0, (4, 3)), zorder=1, label=f"tolerance {tolerance:g}")
    sizes = [len(gap) for gap in lines.values() if len(gap)] or [1]
    ax.set(yscale="log", xscale="linear", xlabel="step (1 is the start)", ylabel="still to be gained per person")
    ax.locator_params(axis="x", integer=True)
    if max(sizes) >= 20 * min(sizes):
        ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    return _finish(ax, title, legend=bool(lines))


def require_matplotlib(who: str) -> None:
    """Raise unless matplotlib is there; `who` says who needs it and begins the message."""
    try:
        import matplotlib.pyplot  # noqa: F401
    except ImportError:
        raise MissingDependencyError(f"{who} matplotlib. Hint: pip install 'subsetprivacy[plot]'.") from None


def _panels(width: float, height: float, rows: int = 1, columns: int = 1) -> Any:
    require_matplotlib("`plot` needs")
    from matplotlib.pyplot import subplots

    return subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)[1].flat


def _vector(values: ArrayLike, size: int, name: str) -> NDArray[np.float64]:
    if np.shape(values) != (size,):
        raise ValueError(f"`{name}` must have one number per label, {size}; got the shape {np.shape(values)}.")
    return np.asarray(values, dtype=float)


def _plain(text: str, width: int = 28) -> str:
    return fill(text, width).replace("$", r"\$")  # "$10k to $20k" is a label, not a formula


def _rows(ax: Axes, labels: Sequence[str], unit: str | None = None) -> None:
    ax.set_yticks(range(len(labels)), [_plain(label) for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0, pad=8)
    if unit is not None:  # shares, in hundredths
        ax.grid(axis="y", color=PALE, lw=0.8)
        ax.axvline(0, color=GRAY, lw=0.8, zorder=1)
        ax.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.6g}{unit}".replace("-", "\N{MINUS SIGN}"))
        ax.spines["left"].set_visible(False)


def _finish(ax: Axes, title: str | None, legend: bool = False, pad: int = 6) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    if legend:  # above the picture, where it hides nothing; so many columns as there is room for
        names = ax.get_legend_handles_labels()[1]
        longest = max((len(line) for name in names for line in name.splitlines()), default=0)
        figure: Any = ax.figure
        columns = int(np.clip(figure.get_figwidth() / (0.7 + 0.08 * longest), 1, 5))
        pad += 18 * -(-len(names) // columns)
        ax.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False, borderaxespad=0.2, columnspacing=1.2
        )
    if title is not None:
        ax.set_title(_plain(title, 72), loc="left", pad=pad)
    return ax


def _view(points: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[float, float]:
    seen = points[np.isfinite(points)]  # all in view; a whisker may leave it
    left = max(np.min(low, initial=seen.min(), where=np.isfinite(low)), seen.min() - 0.5)
    right = min(np.max(high, initial=seen.max(), where=np.isfinite(high)), max(seen.max(), 1) + 0.5)
    margin = 0.03 * (right - left) or 0.03
    return float(left - margin), float(right + margin)


def _whiskers(ax: Axes, w: Any, ends: Any, view: tuple[float, float], arrow: str) -> None:
    rows = np.flatnonzero(np.isfinite(w) & ~np.isnan(ends))
    stops = np.clip(ends[rows], *view)
    ax.hlines(rows, w[rows], stops, color=BLUE, lw=2, zorder=2)
    if np.any(cut := stops != ends[rows]):
        ax.plot(stops[cut], rows[cut], arrow, color=BLUE, ms=6, clip_on=False, zorder=3)


def _bars(ax: Axes, values: NDArray[np.float64], baseline: float | None) -> None:
    ends = np.where(np.isfinite(values), values, 0)
    top = 1.3 * max(ends.max(initial=0), baseline or 0) or 1
    ax.barh(np.arange(len(values)), ends, height=0.6, color=BLUE)
    for row, (value, end) in enumerate(zip(values, ends, strict=True)):
        ax.text(end, row, f" {value:#.3g}".replace("inf", "∞") if value else " 0", va="center_baseline")
    if baseline is not None:
        ax.axvline(baseline, color=DARK, lw=1.2, ls=(0, (4, 3)))
        side, text = "right" if baseline > top / 2 else "left", f"without data {baseline:.3g}"
        ax.text(baseline, -0.6, text, ha=side, va="bottom", color=GRAY, fontsize="small")
    ax.set(xlim=(min(0, 1.3 * ends.min(initial=0)), top), xticks=[])
    ax.spines[["top", "right", "bottom"]].set_visible(False)
