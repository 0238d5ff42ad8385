"""Loss against leakage: curves of the best possible loss, and named points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.layout import COLORS, DARK, GRAY, PALE, STYLES, _axes, _finish, _plain, _tone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Points: TypeAlias = NDArray[np.float64]

_WIDE = 4  # a ratio of losses from which on a straight scale hides the small ones
_SMALL = 8.5  # the labels' size in points
_AROUND = ((1, 0), (0, 1), (-1, 0), (0, -1), (0.8, 0.8), (0.8, -0.8), (-0.8, 0.8), (-0.8, -0.8))
_FAR = (1.0, 1.5, 2.2, 3.2, 4.5, 6.0, 8.0)
_LEADER = 2.0  # from this distance on a line leads from the label to its point


def tradeoff(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    marks: Sequence[tuple[str, float, float, bool]] = (),
    *,
    bound: tuple[ArrayLike, ArrayLike] | None = None,
    unit: float | None = None,
    xlabel: str = "leakage",
    ylabel: str = "loss",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw loss against leakage, as curves and as named points.

    Parameters
    ----------
    curves : mapping of str to (leakage, loss)
        The best possible loss at each leakage, leakages ascending.
    marks : sequence of (name, leakage, loss, filled)
        Names are next to their points and do not overlap. Points in one place share a label.
    bound : (leakage, loss), optional
        A lower bound, dashed.
    unit : float, optional
        The loss that counts as 1 on a second axis on the right.
    """
    lines = [np.array([x, y], dtype=float) for x, y in curves.values()]
    limit = None if bound is None else np.array(bound, dtype=float)
    ax = _axes(ax, 7.2, 4.8)
    _limits(ax, lines, np.array([mark[1:3] for mark in marks], dtype=float).reshape(-1, 2), limit)
    for i, (name, line) in enumerate(zip(curves, lines, strict=True)):
        color, style = _tone(ax, COLORS[i % 7]), STYLES[i // 7 % 4]
        ax.plot(*line, style, color=color, lw=2, zorder=2, label=_plain(name, 40))
    if limit is not None:
        ax.plot(*limit, color=_tone(ax, DARK), lw=1.2, ls=(0, (4, 3)), zorder=3, label="bound (p−1)/(S−1)")
    for filled, name in ((True, "named design"), (False, "named design of another kind")):
        x, y = [[mark[k] for mark in marks if mark[3] is filled and np.isfinite(mark[2])] for k in (1, 2)]
        if x:
            ax.plot(
                x,
                y,
                "o",
                color=_tone(ax, DARK),
                mfc=_tone(ax, DARK) if filled else ax.get_facecolor(),
                ms=6,
                mew=1.2,
                zorder=4,
                label=name,
            )
    ax.set(xlabel=_plain(xlabel, 60), ylabel=_plain(ylabel, 60))
    ax.grid(color=_tone(ax, PALE), lw=0.8)
    ax.set_axisbelow(True)
    if unit:
        _second_axis(ax, unit)
    ax.legend(loc="best", frameon=True, framealpha=1, edgecolor="none", fontsize="small")
    _finish(ax, title)
    _name(ax, marks, lines)
    return ax


def _limits(ax: Axes, lines: Sequence[Points], points: Points, bound: Points | None) -> None:
    """Show all points and as much of the curves as fits. Use a log scale if losses differ much."""
    points = points[np.isfinite(points).all(axis=1)]
    across = np.concatenate([points[:, 0], *(line[0] for line in lines)])
    ends = np.concatenate([points[:, 1], *(line[1, -1:] for line in lines), [] if bound is None else bound[1, -1:]])
    high = max(float(ends.max()), 3 * float(max(line[1, -1] for line in lines)))
    high = min(high, max(float(ends.max()), *(float(line[1].max()) for line in lines)))
    low, margin = float(ends.min()), 0.06 * float(np.ptp(across)) or 0.05
    ax.set_xlim(across.min() - margin, across.max() + 1.5 * margin)
    if high > _WIDE * low:
        ax.set(yscale="log", ylim=(low / 1.5, high * 1.3))
        _log_ticks(ax.yaxis)
    else:
        room = 0.1 * (high - low) or 0.1 * high
        ax.set_ylim(max(low - 2 * room, 0), high + room)


def _log_ticks(axis: Any) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")


def _second_axis(ax: Axes, unit: float) -> None:
    def people(loss: Any) -> Any:
        return loss / unit

    def loss(people: Any) -> Any:
        return people * unit

    other = ax.secondary_yaxis("right", functions=(people, loss))
    other.set_ylabel("people needed per person asked directly", color=_tone(ax, GRAY))
    other.tick_params(axis="y", colors=_tone(ax, GRAY), length=0)
    other.spines["right"].set_visible(False)
    if ax.get_yscale() == "log":
        other.set_yscale("log")
        _log_ticks(other.yaxis)


def _name(ax: Axes, marks: Sequence[tuple[str, float, float, bool]], lines: Sequence[Points]) -> None:
    """Write each name at the first place around its point where it covers nothing."""
    figure: Any = ax.figure
    figure.draw_without_rendering()  # positions are known only after the layout is computed
    to_points = 72 / figure.dpi
    shown = [(name, (x, y)) for name, x, y, _ in marks if np.isfinite(y)]
    there = [ax.transData.transform(place) * to_points for _, place in shown]
    curves = [ax.transData.transform(_fine(line, ax)) * to_points for line in lines]
    frame, legend = (np.array(part.get_window_extent().extents) * to_points for part in (ax, _legend(ax)))
    frame += np.array([3, 3, -3, -3])
    taken = [legend, *(np.concatenate([point - 4, point + 4]) for point in there)]
    for names, k in _together([name for name, _ in shown], there):
        whole = [name.replace(" ", "\N{NO-BREAK SPACE}") for name in names]  # lines break between names only
        text = _plain(", ".join(whole), 24)
        size = np.array([max(map(len, text.split("\n"))) * 0.58 * _SMALL, (text.count("\n") + 1) * 1.25 * _SMALL])
        places = [(far, _box(there[k], size, way, far)) for far in _FAR for way in _AROUND]
        far, box = min(places, key=lambda place: _hidden(place[1], taken, curves, frame))
        taken.append(box)
        _write(ax, text, shown[k][1], (box[:2] + box[2:]) / 2 - there[k], leader=far >= _LEADER)


def _legend(ax: Axes) -> Any:
    return ax.get_legend()


def _write(ax: Axes, text: str, point: tuple[float, float], offset: Points, leader: bool) -> None:
    ax.annotate(
        text,
        point,
        xytext=(float(offset[0]), float(offset[1])),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=_SMALL,
        color=_tone(ax, DARK),
        zorder=5,
        bbox={"fc": ax.get_facecolor(), "ec": "none", "alpha": 0.7, "pad": 0.4},
        arrowprops={"arrowstyle": "-", "color": _tone(ax, GRAY), "lw": 0.7, "shrinkA": 0, "shrinkB": 4}
        if leader
        else None,
    )


def _together(names: Sequence[str], there: Sequence[Points]) -> list[tuple[list[str], int]]:
    """Return the names in each place, and the first point that is there."""
    groups: list[tuple[list[str], int]] = []
    for k, name in enumerate(names):
        near = next((group for group, i in groups if np.abs(there[i] - there[k]).max() < 3), None)
        if near is None:
            groups.append(([name], k))
        else:
            near.append(name)
    return groups


def _fine(line: Points, ax: Axes) -> Points:
    """Return many places along the visible part of a curve."""
    steps = np.linspace(0, line.shape[1] - 1, 600)
    x, y = (np.interp(steps, np.arange(line.shape[1]), part) for part in line)
    return np.column_stack([x, np.minimum(y, ax.get_ylim()[1])])


def _box(point: Points, size: Points, way: tuple[float, float], far: float) -> Points:
    center = point + np.array(way) * (size / 2 + 6 * far**1.5)
    return np.concatenate([center - size / 2, center + size / 2])


def _hidden(box: Points, taken: Sequence[Points], curves: Sequence[Points], frame: Points) -> float:
    """Return how much a label in this place would hide: labels and points, curves, and what leaves the picture."""
    covered = sum(bool((box[:2] < other[2:]).all() and (other[:2] < box[2:]).all()) for other in taken)
    crossed = sum(bool(((curve > box[:2] - 1) & (curve < box[2:] + 1)).all(axis=1).any()) for curve in curves)
    outside = bool((box[:2] < frame[:2]).any() or (box[2:] > frame[2:]).any())
    return covered + 0.4 * crossed + outside
