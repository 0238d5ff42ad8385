"""Pictures of simulations: means against a parameter, samples beside a law, numbers beside those in print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.charts import (
    BLUE,
    COLOURS,
    DARK,
    GRAY,
    MARKERS,
    PALE,
    STYLES,
    _finish,
    _panels,
    _plain,
    _vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def series(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    errors: Mapping[str, ArrayLike] | None = None,
    limits: Mapping[str, float] | None = None,
    xlabel: str,
    ylabel: str,
    log: str = "",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a line per method against a parameter.

    Parameters
    ----------
    x : array_like, shape (k,)
        The parameter, ascending.
    lines : mapping of str to array_like, shape (k,)
        Per method; a nan is left out.
    errors : mapping of str to array_like, shape (k,), optional
        Standard errors, drawn as whiskers of two.
    limits : mapping of str to float, optional
        Where a method's line should tend to: thin dashes in its colour.
    log
        ``"x"``, ``"y"`` or ``"xy"``: the axes on a log scale.
    """
    at = np.asarray(x, dtype=float)
    ax = ax or _panels(6.8, 4.2)[0]
    for i, (name, values) in enumerate(lines.items()):
        height, colour = _vector(values, len(at), name), COLOURS[i % 7]
        reach = None if errors is None or name not in errors else 2 * _vector(errors[name], len(at), name)
        look: dict[str, Any] = {"color": colour, "ms": 6, "lw": 1.6, "label": _plain(name), "zorder": 3}
        ax.errorbar(at, height, reach, fmt=MARKERS[i % 8] + STYLES[i % 4], elinewidth=1.4, **look)
        if limits is not None and name in limits:
            ax.axhline(limits[name], color=colour, lw=1, ls=(0, (4, 3)), zorder=1)
    _scales(ax, at, log)
    ax.grid(color=PALE, lw=0.8)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return _finish(ax, title, legend=True)


def normality(
    sample: ArrayLike,
    *,
    xlabel: str,
    density: Callable[[Any], Any],
    quantile: Callable[[Any], Any],
    law: str = "standard normal",
    title: str | None = None,
) -> Figure:
    """Draw a sample beside a law: a histogram with the density, and the quantiles of both (`fig:dist`).

    Parameters
    ----------
    density, quantile
        Of the law, for arrays.
    """
    values = np.sort(np.asarray(sample, dtype=float))
    left, right = _panels(9.6, 3.8, 1, 2)
    left.hist(values, bins=min(60, max(10, int(np.sqrt(len(values))))), density=True, color=PALE, ec=GRAY, lw=0.6)
    expected = quantile((np.arange(len(values)) + 0.5) / len(values))
    ends = min(values[0], expected[0]), max(values[-1], expected[-1])
    grid = np.linspace(*ends, 300)
    left.plot(grid, density(grid), color=BLUE, lw=2, label=law)
    left.set(xlabel=xlabel, ylabel="density")
    right.plot(ends, ends, color=GRAY, lw=1, ls=(0, (4, 3)))
    right.plot(expected, values, "o", ms=3, color=BLUE, mec="none")
    right.set(xlabel=f"quantile of the {law} law", ylabel="quantile of the sample")
    for ax in (left, right):
        _finish(ax, None)
    left.legend(frameon=False)
    figure: Figure = left.figure
    if title is not None:
        figure.suptitle(_plain(title, 99), x=0.01, ha="left")
    return figure


def beside(
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
    ax = ax or _panels(6.8, 1.2 + 0.24 * p)[0]
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


def _scales(ax: Axes, at: Any, log: str) -> None:
    if "x" in log:
        ax.set_xscale("log")
    if "y" in log:
        ax.set_yscale("log")
    if len(at) <= 12:  # the values themselves, rather than round numbers between them
        ax.set_xticks(at, [f"{value:g}" for value in at])
        ax.set_xticks([], minor=True)
