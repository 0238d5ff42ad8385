"""Pictures of many samples at once: histograms side by side, errors along growing samples, times of methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.charts import BLUE, COLOURS, DARK, GRAY, MARKERS, PALE, _finish, _panels, _plain, _vector
from subsetprivacy.draw.tradeoff import _log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def panels(width: float, height: float, columns: int) -> list[Axes]:
    """Return empty axes side by side, for pictures that take `ax`."""
    return list(_panels(width, height, 1, columns))


def plain_ticks(ax: Axes) -> None:
    """Write 1, 2, 5 and their tenths as numbers on an upright log scale."""
    _log_ticks(ax.yaxis)


def histograms(
    samples: Mapping[str, ArrayLike], *, density: Callable[[Any], Any], xlabel: str, law: str = "standard normal"
) -> Figure:
    """Draw samples as histograms side by side, each with the density of one law (`fig:high_2`).

    Parameters
    ----------
    samples : mapping of str to array_like
        Per panel, its name and its sample; all on one scale.
    """
    axes = panels(0.6 + 3.3 * len(samples), 3.6, len(samples))
    values = {name: np.asarray(sample, dtype=float) for name, sample in samples.items()}
    ends = min(-3.0, *(v.min() for v in values.values())), max(3.0, *(v.max() for v in values.values()))
    grid = np.linspace(*ends, 300)
    for ax, (name, sample) in zip(axes, values.items(), strict=True):
        bins = np.linspace(*ends, min(60, max(20, int(2 * np.sqrt(len(sample)))))).tolist()
        ax.hist(sample, bins=bins, density=True, color=PALE, ec=GRAY, lw=0.6)
        ax.plot(grid, density(grid), color=BLUE, lw=2, label=law)
        ax.set_xlabel(_plain(xlabel, 44))
        _finish(ax, None).set_title(_plain(name, 34), loc="left", fontsize="medium")
    axes[0].set_ylabel("density")
    figure: Figure = axes[0].figure  # type: ignore[assignment]
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", frameon=False, fontsize="small")
    return figure


def paths(
    x: ArrayLike,
    groups: Mapping[str, ArrayLike],
    *,
    guide: tuple[str, ArrayLike],
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw how a quantity runs along many samples, thin, and its median, bold, on log scales.

    Parameters
    ----------
    x : array_like, shape (k,)
        Sizes of the growing samples.
    groups : mapping of str to array_like, shape (paths, k)
        A colour per group.
    guide : (name, array_like of shape (k,))
        A line to compare slopes with, dashed.
    """
    at = np.asarray(x, dtype=float)
    ax = ax or panels(6.8, 4.4, 1)[0]
    for i, (name, lines) in enumerate(groups.items()):
        runs, colour = np.asarray(lines, dtype=float), COLOURS[i % 7]
        ax.plot(at, runs.T, color=colour, lw=0.6, alpha=0.25, zorder=1)
        middle = np.median(runs, axis=0)
        ax.plot(at, middle, MARKERS[i % 8] + "-", color=colour, lw=2, ms=4.5, zorder=3, label=_plain(f"{name}, median"))
    ax.plot(at, _vector(guide[1], len(at), "guide"), color=DARK, lw=1.4, ls=(0, (4, 3)), zorder=4, label=guide[0])
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    ax.grid(color=PALE, lw=0.8)
    return _finish(ax, None, legend=True)


def durations(
    labels: Sequence[str], seconds: ArrayLike, kinds: Sequence[str], *, xlabel: str, ax: Axes | None = None
) -> Axes:
    """Draw times on a log scale, a row each with its number, a colour and marker per kind (`fig:time1`)."""
    p, times = len(labels), _vector(seconds, len(labels), "seconds")
    ax = ax or panels(6.8, 1.3 + 0.34 * p, 1)[0]
    for i, kind in enumerate(dict.fromkeys(kinds)):
        at = np.array([k for k in range(p) if kinds[k] == kind])
        ax.plot(times[at], at, MARKERS[i], color=COLOURS[i % 7], ms=7, zorder=3, label=_plain(kind))
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
