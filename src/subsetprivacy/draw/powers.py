"""Pictures of power: the probability of finding a dependence, against the number of people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.layout import (
    COLORS,
    DARK,
    GRAY,
    MARKERS,
    STYLES,
    _axes,
    _finish,
    _legend_below_axis,
    _plain,
    _tone,
    _vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def power_curves(
    n: ArrayLike,
    curves: Mapping[str, ArrayLike],
    *,
    points: Mapping[str, tuple[float, float, float]],
    alpha: float,
    target: float | None = None,
    xlabel: str = "people",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw power against the number of people, on a log scale, a line per test.

    Parameters
    ----------
    n : array_like, shape (k,)
        Numbers of people, ascending.
    curves : mapping of str to array_like, shape (k,)
        The power of each test. Tests whose name begins with ``"PT:"`` are without privacy and drawn thin.
    points : mapping of str to (people, power, standard error)
        For each test, a point in the color of its line, with a whisker of two standard errors if there is one.
    alpha, target
        The power without dependence, a dotted line, and the required power, a dashed line.
    xlabel
        Who the people are.
    """
    people = np.asarray(n, dtype=float)
    ax = _axes(ax, 7.2, 4.2)
    for i, name in enumerate(dict.fromkeys([*curves, *points])):
        direct = name.startswith("PT:")
        color, label = _tone(ax, COLORS[i % 7]), _plain(_in_words(name, points.get(name)), 60)
        if name in curves:
            height = _vector(curves[name], len(people), name)
            style, width = (":", 1.8) if direct else (STYLES[i % 3], 2.0)
            ax.plot(people, height, style, color=color, lw=width, label=label)
        if name in points:
            _ball(ax, points[name], MARKERS[i % 8], color, "_" if name in curves else label)
    _line(ax, alpha, f"alpha {alpha:g}", _tone(ax, GRAY), (0, (1, 2)))
    if target is not None:
        _line(ax, target, f"wanted {target:g}", _tone(ax, DARK), (0, (4, 3)))
    ax.set(ylim=(0, 1.02), ylabel="power")
    _people_axis(ax, people, xlabel)
    _legend_below_axis(ax)
    return _finish(ax, title)


def _in_words(name: str, point: tuple[float, float, float] | None) -> str:
    """Return the name of a test in the legend, with the number of people and the power of its point."""
    words = f"asked directly ({name})" if name.startswith("PT:") else name
    return words if point is None else f"{words}: power {point[1]:.2f} with {point[0]:,.0f} people"


def _ball(ax: Axes, point: tuple[float, float, float], mark: str, color: str, label: str) -> None:
    x, y, se = point
    reach = 2 * se if np.isfinite(se) else 0.0
    ax.vlines(x, max(y - reach, 0), min(y + reach, 1), color=color, lw=1.5, zorder=3)
    ax.plot([x], [y], mark, color=color, mec=ax.get_facecolor(), mew=0.6, ms=9, zorder=4, label=label)


def _line(ax: Axes, height: float, text: str, color: str, dashes: Any) -> None:
    ax.axhline(height, color=color, lw=1, ls=dashes, zorder=1)
    ax.text(1.01, height, text, transform=ax.get_yaxis_transform(), va="center", color=_tone(ax, GRAY))


def _people_axis(ax: Axes, people: NDArray[np.float64], xlabel: str) -> None:
    from matplotlib.ticker import LogLocator  # after _panels, which says what is missing

    ax.set(xscale="log", xlabel=xlabel, xlim=(people[0], people[-1]))
    decades = np.log10(people[-1] / people[0])
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 3 else (1,)))
    ax.xaxis.set_major_formatter("{x:,.10g}")
    ax.xaxis.set_minor_formatter("")
