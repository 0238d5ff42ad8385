"""Means against a parameter in one panel or several side by side, on one scale, the legend above all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.charts import COLOURS, GRAY, MARKERS, PALE, STYLES, _finish, _panels, _plain, _vector
from subsetprivacy.draw.series import _scales

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ENTRY = 2.1  # inches of width for a name in the legend


def side_by_side(
    x: ArrayLike,
    panels: Mapping[str, Mapping[str, ArrayLike]],
    *,
    errors: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    levels: Sequence[tuple[float, str]] = (),
    within: tuple[float, float] = (-np.inf, np.inf),
    apart: float = 0.0,
    xlabel: str,
    ylabel: str,
    log: str = "",
    width: float = 4.2,
) -> Figure:
    """Draw lines against the same parameter in a panel each.

    Parameters
    ----------
    x : array_like, shape (k,)
        The parameter, ascending.
    panels : mapping of str to mapping of str to array_like, shape (k,)
        Per panel, by its heading, its lines: the same names in all. A nan is left out.
    errors
        Standard errors under the same names, drawn as whiskers of two; a line without has none.
    levels : sequence of (height, words)
        Heights to compare with: thin dashes, named beside the last panel.
    within : (float, float)
        What the values can be: whiskers end there.
    apart
        How far lines are moved sideways from one another, as a share of the width, so that whiskers can be told apart.
    log
        ``"x"``, ``"y"`` or ``"xy"``: the axes on a log scale.
    width
        Of a panel, in inches.
    """
    if not panels:
        raise ValueError("`panels` must hold at least one panel; got none.")
    at = np.asarray(x, dtype=float)
    axes = list(_panels(width * len(panels), 4.4, 1, len(panels)))
    for ax, (name, lines) in zip(axes, panels.items(), strict=True):
        if ax is not axes[0]:  # before anything is drawn, so that all of it counts
            ax.sharey(axes[0])
        places = _places(at, len(lines), apart, "x" in log)
        own = {} if errors is None else errors[name]
        for i, (line, values) in enumerate(lines.items()):
            _line(ax, places[i], _vector(values, len(at), line), own.get(line), i, within, line)
        _scales(ax, at, log)
        ax.grid(color=PALE, lw=0.8)
        ax.set(xlabel=xlabel, ylabel=ylabel if ax is axes[0] else "")
        for height, _ in levels:
            ax.axhline(height, color=GRAY, lw=1, ls=(0, (4, 3)), zorder=1)
        _finish(ax, name or None)
    for height, words in levels:
        axes[-1].text(1.01, height, words, transform=axes[-1].get_yaxis_transform(), va="center", color=GRAY)
    figure: Figure = axes[0].figure
    handles, names = axes[0].get_legend_handles_labels()
    columns = max(1, min(int(width * len(panels) / _ENTRY), len(names)))
    figure.legend(handles, names, loc="outside upper left", ncols=columns, frameon=False)
    return figure


def _places(at: NDArray[np.float64], lines: int, apart: float, log: bool) -> list[NDArray[np.float64]]:
    """Return where each line's points stand: beside one another, around the value."""
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
    look: dict[str, Any] = {"color": COLOURS[i % 7], "ms": 6, "lw": 1.6, "label": _plain(name, 48), "zorder": 3}
    ax.errorbar(at, values, reach, fmt=MARKERS[i % 8] + STYLES[i % 4], elinewidth=1.4, **look)
