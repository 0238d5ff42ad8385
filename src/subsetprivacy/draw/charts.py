"""Pictures of plain arrays. Nothing here depends on designs or estimates, so every result can call it.

A picture is drawn in `ax`, or in a new figure. Markers, outlines and positions repeat the meaning of its colors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.intervals import (
    draw_intervals,
    drop_crowded_numbers,
    number_texts,
    share_texts,
    view_of,
    write_numbers,
)
from subsetprivacy.draw.layout import (
    BLUE,
    COLORS,
    DARK,
    GRAY,
    MARKERS,
    PALE,
    STYLES,
    Heading,
    _axes,
    _finish,
    _panels,
    _plain,
    _rows,
    _size,
    _suptitle,
    _tone,
    _vector,
)
from subsetprivacy.draw.overlay import make_room, numbered, order_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_REFERENCE = 0.36  # of a row: how far a reference is below the middle
_FEW = 13  # steps up to which each has its number on the axis


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
    sort: bool = False,
    percentages: bool = True,
    xlabel: str = "share of the population",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw an estimated distribution with its intervals at `level`, a row per category, and its numbers.

    On axes that already contain such a picture of the same labels, it is added to it. Each estimate has a separate
    place in the row, a separate color and marker, and its name in the legend. The order of the rows stays.

    Parameters
    ----------
    values, lower, upper : array_like, shape (p,)
        Estimates and intervals, as proportions. An interval that leaves the picture ends in an arrow. NaN is left out.
    label : str
        The name of the estimate in the legend. There is a legend for several estimates or a reference.
    reference : array_like, shape (p,), optional
        Values to compare with: open diamonds, called `reference_name`.
    sort : bool
        Whether the largest value is on top. By default the first label is.
    percentages : bool
        Whether the numbers are shown as percentages.
    xlabel : str
        What the numbers are.
    """
    p = len(labels)
    w, low, high = (_vector(x, p, name) for x, name in ((values, "values"), (lower, "lower"), (upper, "upper")))
    known = np.full(p, np.nan) if reference is None else _vector(reference, p, "reference")
    ax = _axes(ax, *(_size(labels) if reference is None else _size(labels, height=1.5, each=0.42)))
    before = numbered(ax, labels)
    if before and isinstance(title, Heading):
        title = Heading(title.shared)
    order = order_of_rows(ax, w, before, sort=sort)
    w, low, high, known = (x[order] for x in (w, low, high, known))
    view = view_of(np.concatenate([[0.0], w, known]), low, high)
    if before:
        view = min(view[0], ax.get_xlim()[0]), max(view[1], ax.get_xlim()[1])
    rows = np.arange(p, dtype=np.float64) + make_room(ax, before)
    draw_intervals(ax, rows, w, low, high, view, before, label)
    write_numbers(
        ax, rows, share_texts(w, low, high) if percentages else number_texts([w])[0], before, in_color=before > 0
    )
    if reference is not None:
        # Below the estimate, so that neither covers the other when they agree.
        look: Any = {"mfc": "none", "mec": _tone(ax, DARK), "ms": 6, "zorder": 5}
        ax.plot(known, np.arange(p) + _REFERENCE, "D", label=_plain(reference_name), **look)
    _rows(ax, [labels[j] for j in order], unit="%" if percentages else None)
    if not percentages:
        ax.grid(axis="y", color=_tone(ax, PALE), lw=0.8)
        ax.set_axisbelow(True)
        ax.spines["left"].set_visible(False)
        ax.xaxis.set_major_formatter("{x:g}")
    ax.set(xlim=view, xlabel=f"{xlabel}, {100 * level:.6g}% interval")
    drop_crowded_numbers(ax, p, before + 1)
    return _finish(ax, title, legend=reference is not None or before > 0 or ax.get_legend() is not None, rows=p)


def difference(
    labels: Sequence[str],
    estimates: Mapping[str, ArrayLike],
    reference: ArrayLike,
    *,
    intervals: Mapping[str, ArrayLike] | None = None,
    level: float = 0.95,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw each method's estimate minus a reference, a row per category, with intervals (`fig:race_diff`).

    On axes that already contain such a picture of the same labels, it is added to it, as in `estimate`.

    Parameters
    ----------
    estimates : mapping of str to array_like, shape (p,)
        The estimates of each method, as proportions. `reference`, the population if known, is subtracted.
    intervals : mapping of str to array_like, shape (p, 2), optional
        The intervals of the estimates at `level`, per method.
    """
    p, m = len(labels), len(estimates)
    known = _vector(reference, p, "reference")
    ends = {name: np.asarray(pair, dtype=float) for name, pair in (intervals or {}).items()}
    none = np.full((p, 2), np.nan)
    gaps = {name: _vector(w, p, "estimates") - known for name, w in estimates.items()}
    bounds = {name: ends.get(name, none) - known[:, None] for name in gaps}
    ax = _axes(ax, *_size(labels, height=1.5, each=0.22 + 0.12 * m))
    before = numbered(ax, labels)
    if before and isinstance(title, Heading):
        title = Heading(title.shared)
    seen = np.concatenate([[0.0], *gaps.values(), *(pair.ravel() for pair in bounds.values())])
    reach = 1.1 * float(np.abs(seen[np.isfinite(seen)]).max()) or 0.01
    reach = max(reach, *np.abs(ax.get_xlim())) if before else reach
    for i, (name, gap) in enumerate(gaps.items(), before):
        rows = np.arange(p, dtype=np.float64) + make_room(ax, i)
        low, high = bounds[name].T
        draw_intervals(ax, rows, gap, low, high, (-reach, reach), i, name)
        write_numbers(ax, rows, share_texts(gap, low, high, ""), i, in_color=before + m > 1)
    _rows(ax, labels, unit="")
    words = f", {100 * level:.6g}% interval" if ends else ""
    ax.set(xlim=(-reach, reach), xlabel=f"estimate minus reference, percentage points{words}")
    drop_crowded_numbers(ax, p, before + m)
    return _finish(ax, title, legend=before + m > 1, rows=p)


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
        The leakages of each metric. Each metric has a separate scale, because bits and probabilities differ.
    baselines, units : mapping of str to float and to str, optional
        For each metric, the leakage without data (a dashed line) and the unit.
    """
    if not metrics:
        raise ValueError("`metrics` must contain at least one metric; got none.")
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
        _suptitle(figure, title)
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
        The most by which the log-likelihood per person could still rise. A log scale has no zero, so a gap of zero or
        less is a hollow marker at the bottom. The methods stop at `tolerance`, a dashed line.
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
    ax.set(yscale="log", xscale="linear", xlabel="step (1 is the start)", ylabel="log-likelihood to gain, per person")
    ax.set_xlim(0.5 if max(sizes) < _FEW else 0, max(sizes) + (0.5 if max(sizes) < _FEW else 0.03 * max(sizes)))
    if max(sizes) < _FEW:
        ax.set_xticks(range(1, max(sizes) + 1))
    else:
        ax.locator_params(axis="x", integer=True)
    if max(sizes) >= 20 * min(sizes):
        ax.set_xscale("log")
        ax.set_xlim(0.9, 1.2 * max(sizes))
    ax.xaxis.set_major_formatter("{x:,g}")
    if lines:
        ax.legend(frameon=False, loc="best")
    return _finish(ax, title)


def _bars(ax: Axes, values: NDArray[np.float64], baseline: float | None) -> None:
    ends = np.where(np.isfinite(values), values, 0)
    top = 1.3 * max(ends.max(initial=0), baseline or 0) or 1
    ax.barh(np.arange(len(values)), ends, height=0.6, color=_tone(ax, BLUE))
    from matplotlib.transforms import offset_copy  # after _panels, which says what is missing

    figure: Any = ax.figure
    beside = offset_copy(ax.transData, figure, x=4, units="points")  # a space would be lost in SVG
    for row, (value, end) in enumerate(zip(values, ends, strict=True)):
        text = f"{value:#.3g}".replace("inf", "∞") if value else "0"
        ax.text(end, row, text, va="center_baseline", transform=beside)
    if baseline is not None:
        ax.axvline(baseline, color=_tone(ax, DARK), lw=1.2, ls=(0, (4, 3)))
        text = f"without data {baseline:#.3g}" if baseline else "without data 0"
        side = "right" if baseline > top / 2 else "left"
        ax.text(baseline, -0.6, text, ha=side, va="bottom", color=_tone(ax, GRAY), fontsize="small")
    ax.set(xlim=(min(0, 1.3 * ends.min(initial=0)), top), xticks=[])
    ax.spines[["top", "right", "bottom"]].set_visible(False)


def subset_shares(
    labels: Sequence[str], shares: ArrayLike, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a bar with its number for the share of each subset, the first on top.

    Parameters
    ----------
    labels
        The subsets, as text.
    shares : array_like, shape (p,)
        Their shares, as proportions.
    title
        The title.
    ax
        Axes to draw on, by default those of a new figure.
    """
    p, values = len(labels), _vector(shares, len(labels), "shares")
    ax = _axes(ax, *_size(labels))
    ax.barh(np.arange(p), values, height=0.62, color=_tone(ax, BLUE), zorder=2)
    _rows(ax, labels, "%")
    least = 100 * float(values[values > 0].min(initial=1.0))  # in percent: small shares are not printed as 0.0%
    digits = int(np.clip(1 - np.floor(np.log10(least)), 1, 4))
    for row, value in enumerate(values):
        ax.annotate(
            f"{100 * value:.{digits}f}%",
            (value, row),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    ax.set_xlim(0, 1.15 * max(values.max(initial=0.0), 1e-3))  # room for the numbers
    ax.set_xlabel("share of all people")
    return _finish(ax, title)
