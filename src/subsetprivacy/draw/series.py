"""Lines against a parameter: means of simulations with their errors, in one panel or several; calibration curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.layout import (
    COLORS,
    GRAY,
    MARKERS,
    PALE,
    STYLES,
    _axes,
    _finish,
    _panels,
    _plain,
    _tone,
    _vector,
)
from subsetprivacy.draw.tradeoff import _log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ENTRY = 2.1  # inches of width for a name in the legend
_DASHES = (0, (4, 3))
_WIDEST = 1.0  # how far beyond 0 and 1 the picture reaches at most


def series(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    errors: Mapping[str, ArrayLike] | None = None,
    limits: Mapping[str, float] | None = None,
    levels: Sequence[tuple[float, str]] = (),
    within: tuple[float, float] = (-np.inf, np.inf),
    apart: float = 0.0,
    xlabel: str,
    ylabel: str,
    log: str = "",
    title: str | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a line per method against a parameter.

    Parameters
    ----------
    x : array_like, shape (k,)
        The parameter, ascending.
    lines : mapping of str to array_like, shape (k,)
        The values of each method. NaN is left out.
    errors : mapping of str to array_like, shape (k,), optional
        Standard errors, drawn as whiskers of two. A line without them has no whiskers.
    limits : mapping of str to float, optional
        The limit of each method's line: thin dashes in its color.
    levels : sequence of (height, words)
        Heights to compare with: thin dashes, named on the right.
    within : (float, float)
        The range of possible values, where whiskers end.
    apart
        How far lines are moved sideways from one another, as a share of the width, so that whiskers can be told apart.
    log
        ``"x"``, ``"y"`` or ``"xy"``: the axes on a log scale.
    """
    at = np.asarray(x, dtype=float)
    ax = _axes(ax, 6.8, 4.2)
    places = _places(at, len(lines), apart, "x" in log)
    for i, (name, values) in enumerate(lines.items()):
        _line(ax, places[i], _vector(values, len(at), name), (errors or {}).get(name), i, within, name)
        if limits is not None and name in limits:
            ax.axhline(limits[name], color=COLORS[i % 7], lw=1, ls=_DASHES, zorder=1)
    for height, words in levels:
        ax.axhline(height, color=GRAY, lw=1, ls=_DASHES, zorder=1)
        ax.text(1.01, height, words, transform=ax.get_yaxis_transform(), va="center", color=GRAY)
    _scales(ax, at, log)
    ax.grid(color=PALE, lw=0.8)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return _finish(ax, title, legend=legend)


def line_panels(
    x: ArrayLike,
    panels: Mapping[str, Mapping[str, ArrayLike]],
    *,
    errors: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    levels: Sequence[tuple[float, str]] = (),
    ylabel: str,
    width: float = 4.2,
    **options: Any,
) -> Figure:
    """Draw lines against the same parameter in a panel each, on one scale, the legend above all of them.

    Parameters
    ----------
    panels : mapping of str to mapping of str to array_like, shape (k,)
        The lines of each panel, by its heading, with the same names in all panels.
    errors
        For each panel, as in `series`. The other `options` are also as in `series`.
    width
        The width of a panel, in inches.
    """
    if not panels:
        raise ValueError("`panels` must contain at least one panel; got none.")
    axes = list(_panels(width * len(panels), 4.4, 1, len(panels)))
    for ax, (name, lines) in zip(axes, panels.items(), strict=True):
        if ax is not axes[0]:  # before anything is drawn, so that all of it counts
            ax.sharey(axes[0])
        own = None if errors is None else errors[name]
        named = levels if ax is axes[-1] else [(height, "") for height, _ in levels]
        words = ylabel if ax is axes[0] else ""
        series(x, lines, errors=own, levels=named, ylabel=words, title=name or None, legend=False, ax=ax, **options)
    figure: Figure = axes[0].figure
    handles, names = axes[0].get_legend_handles_labels()
    columns = max(1, min(int(width * len(panels) / _ENTRY), len(names)))
    figure.legend(handles, names, loc="outside upper left", ncols=columns, frameon=False)
    return figure


def predicted(
    x: ArrayLike,
    panels: Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike]]],
    *,
    xlabel: str,
    log: str = "",
    width: float = 5.2,
) -> Figure:
    """Draw simulated values as markers on the lines that theory predicts, each panel on its own scale.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (simulated, predicted)
        The values of each panel, by the name of its vertical axis.
    """
    axes = list(_panels(width * len(panels), 4.2, 1, len(panels)))
    for ax, (name, pairs) in zip(axes, panels.items(), strict=True):
        seen = {line: values for line, (values, _) in pairs.items()}
        series(x, seen, xlabel=xlabel, ylabel=name, log=log, legend=False, ax=ax)
        for i, (line, (_, law)) in enumerate(zip(list(ax.get_lines()), pairs.values(), strict=True)):
            line.set_linestyle("none")
            ax.plot(x, law, color=COLORS[i % 7], lw=1.2, zorder=2)
    figure: Figure = axes[0].figure
    handles, names = axes[0].get_legend_handles_labels()
    where = {"loc": "outside upper left", "ncols": len(names), "frameon": False}
    figure.legend(handles, names, title="markers simulated, lines predicted", alignment="left", **where)
    return figure


def _places(at: NDArray[np.float64], lines: int, apart: float, log: bool) -> list[NDArray[np.float64]]:
    """Return the positions of each line's points: next to each other, around the value."""
    if apart == 0:
        return [at] * lines
    scale = np.log(at) if log else at
    step = apart * float(np.ptp(scale))
    moved = [scale + (i - (lines - 1) / 2) * step for i in range(lines)]
    return [np.exp(place) for place in moved] if log else moved


def _line(ax: Axes, at: Any, values: Any, error: Any, i: int, within: tuple[float, float], name: str) -> None:
    reach = None
    if error is not None:
        two = 2 * _vector(error, len(at), name)
        ends = np.clip([values - two, values + two], *within)
        reach = np.maximum([values - ends[0], ends[1] - values], 0)
    look: dict[str, Any] = {"color": COLORS[i % 7], "ms": 6, "lw": 1.6, "label": _plain(name, 48), "zorder": 3}
    ax.errorbar(at, values, reach, fmt=MARKERS[i % 8] + STYLES[i % 4], elinewidth=1.4, **look)


def _scales(ax: Axes, at: Any, log: str) -> None:
    if "x" in log:
        ax.set_xscale("log")
    if "y" in log:
        ax.set_yscale("log")
        _log_ticks(ax.yaxis)
    if len(at) <= 12:  # the values themselves, rather than round numbers between them
        ax.set_xticks(at, [f"{value:,.10g}" for value in at])
        ax.set_xticks([], minor=True)


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
        For each category, arrays of the same length. NaN is left out.
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
