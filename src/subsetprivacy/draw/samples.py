"""Pictures of many samples: compared with the distribution they should follow, with each other, and as they grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.layout import (
    BLUE,
    COLORS,
    DARK,
    GRAY,
    MARKERS,
    PALE,
    _axes,
    _finish,
    _panels,
    _plain,
    _vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def normality(
    sample: ArrayLike,
    *,
    xlabel: str,
    density: Callable[[Any], Any],
    quantile: Callable[[Any], Any],
    law: str = "standard normal",
    title: str | None = None,
) -> Figure:
    """Draw a sample and a distribution: a histogram with the density, and the quantiles of both (`fig:dist`).

    Parameters
    ----------
    density, quantile
        Of the distribution, for arrays.
    """
    values = np.sort(np.asarray(sample, dtype=float))
    left, right = _panels(9.6, 3.8, 1, 2)
    left.hist(values, bins=min(60, max(10, int(np.sqrt(len(values))))), density=True, color=PALE, ec=GRAY, lw=0.6)
    expected = quantile((np.arange(len(values)) + 0.5) / len(values))
    ends = min(values[0], expected[0]), max(values[-1], expected[-1])
    grid = np.linspace(*ends, 300)
    left.plot(grid, density(grid), color=BLUE, lw=2, label=law)
    left.set(xlabel=xlabel, ylabel="density")
    _against(right, expected, values)
    right.set(xlabel=f"quantile of the {law} distribution", ylabel="quantile of the sample")
    for ax in (left, right):
        _finish(ax, None)
    left.legend(frameon=False)
    figure: Figure = left.figure
    if title is not None:
        figure.suptitle(_plain(title, 99), x=0.01, ha="left")
    return figure


def quantiles(samples: Mapping[str, tuple[ArrayLike, ArrayLike]], *, xlabel: str, ylabel: str) -> Figure:
    """Draw a panel per sample. On the dashed diagonal it agrees with its distribution.

    Parameters
    ----------
    samples : mapping of str to (sample, expected)
        By the heading of the panel. `expected` are as many quantiles of the distribution, ascending.
    """
    axes = list(_panels(0.6 + 3.0 * len(samples), 3.5, 1, len(samples)))
    for ax, (name, (sample, expected)) in zip(axes, samples.items(), strict=True):
        _against(ax, np.asarray(expected, dtype=float), np.sort(np.asarray(sample, dtype=float)))
        ax.set_xlabel(xlabel)
        _finish(ax, None).set_title(_plain(name, 34), fontsize="medium")
    axes[0].set_ylabel(ylabel)
    figure: Figure = axes[0].figure
    return figure


def histograms(
    samples: Mapping[str, ArrayLike], *, density: Callable[[Any], Any], xlabel: str, law: str = "standard normal"
) -> Figure:
    """Draw samples as histograms in a row, each with the density of one distribution (`fig:high_2`).

    Parameters
    ----------
    samples : mapping of str to array_like
        The sample of each panel, by its name, all on one scale.
    """
    axes = list(_panels(0.6 + 3.3 * len(samples), 3.6, 1, len(samples)))
    values = {name: np.asarray(sample, dtype=float) for name, sample in samples.items()}
    ends = min(-3.0, *(v.min() for v in values.values())), max(3.0, *(v.max() for v in values.values()))
    grid = np.linspace(*ends, 300)
    for ax, (name, sample) in zip(axes, values.items(), strict=True):
        bins = np.linspace(*ends, min(60, max(20, int(2 * np.sqrt(len(sample)))))).tolist()
        ax.hist(sample, bins=bins, density=True, color=PALE, ec=GRAY, lw=0.6)
        ax.plot(grid, density(grid), color=BLUE, lw=2, label=law)
        ax.set_xlabel(_plain(xlabel, 44))
        _finish(ax, None).set_title(_plain(name, 34), fontsize="medium")
    axes[0].set_ylabel("density")
    figure: Figure = axes[0].figure
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
    """Draw a quantity along many samples as thin lines, and its median as a bold line, on log scales.

    Parameters
    ----------
    x : array_like, shape (k,)
        Sizes of the growing samples.
    groups : mapping of str to array_like, shape (paths, k)
        A color per group.
    guide : (name, array_like of shape (k,))
        A line to compare slopes with, dashed.
    """
    at = np.asarray(x, dtype=float)
    ax = _axes(ax, 6.8, 4.4)
    for i, (name, lines) in enumerate(groups.items()):
        runs, color = np.asarray(lines, dtype=float), COLORS[i % 7]
        ax.plot(at, runs.T, color=color, lw=0.6, alpha=0.25, zorder=1)
        middle = np.median(runs, axis=0)
        ax.plot(at, middle, MARKERS[i % 8] + "-", color=color, lw=2, ms=4.5, zorder=3, label=_plain(f"{name}, median"))
    ax.plot(at, _vector(guide[1], len(at), "guide"), color=DARK, lw=1.4, ls=(0, (4, 3)), zorder=4, label=guide[0])
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    ax.grid(color=PALE, lw=0.8)
    return _finish(ax, None, legend=True)


def _against(ax: Axes, expected: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    """Draw ordered values against expected ones, with the diagonal. Of thousands of values, only some are drawn."""
    ends = min(values[0], expected[0]), max(values[-1], expected[-1])
    ax.plot(ends, ends, color=GRAY, lw=1, ls=(0, (4, 3)))
    last = len(values) - 1
    kept = np.unique(np.concatenate([np.linspace(0, last, 400), np.arange(30), last - np.arange(30)]).astype(int))
    kept = kept[(kept >= 0) & (kept <= last)]
    ax.plot(expected[kept], values[kept], "o", ms=3, color=BLUE, mec="none")
