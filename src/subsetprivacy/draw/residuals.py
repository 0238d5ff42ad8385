"""Pictures of how well answers fit: standardized residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.layout import BLUE, COLORS, DARK, GRAY, PALE, _axes, _finish, _rows, _tone, _vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def residuals(
    answers: Sequence[str],
    values: ArrayLike,
    *,
    remarks: Sequence[str],
    limits: tuple[float, float],
    level: float = 0.95,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw standardized residuals, a row per answer in the order given, with a remark at its end.

    Parameters
    ----------
    values : array_like, shape (k,)
        Differences between observed and expected counts, divided by their standard errors. If none is
        negative, the picture begins at zero.
    remarks : sequence of str
        The text at the end of each row: observed and expected counts.
    limits : tuple of float
        The limits that a single residual, and the largest of all, stay within with probability `level` if
        people are honest: a band and a dashed line. A residual beyond the line is an orange diamond.
    """
    k = len(answers)
    z = _vector(values, k, "values")
    single, largest = limits
    ax = _axes(ax, 6.8, 1.6 + 0.28 * k)
    range_of = f"{100 * level:.6g}% range of"
    ends = [-0.5, k - 0.5]  # of the rows: the legend is below them
    band: Any = {"color": _tone(ax, PALE), "alpha": 0.6, "lw": 0, "zorder": 0}
    ax.fill_betweenx(ends, -single, single, label=f"{range_of} one answer", **band)
    for end, name in ((largest, f"{range_of} the largest"), (-largest, None)):
        ax.plot([end] * 2, ends, color=_tone(ax, DARK), lw=1.2, ls=(0, (4, 3)), zorder=1, label=name)
    ax.plot([0, 0], ends, color=_tone(ax, GRAY), lw=0.8, zorder=1)
    far = np.abs(z) > largest
    for rows, marker, color, name in ((~far, "o", _tone(ax, BLUE), None), (far, "D", COLORS[1], "beyond")):
        at = np.flatnonzero(rows)
        if len(at):
            ax.hlines(at, 0, z[at], color=color, lw=2, zorder=2)
            ax.plot(z[at], at, marker, color=color, ms=6, zorder=3, label=name, clip_on=False)
    for row, remark in enumerate(remarks):
        ax.text(1.02, row, remark, transform=ax.get_yaxis_transform(), va="center_baseline", color=_tone(ax, GRAY))
    _rows(ax, answers)
    reach = 1.12 * max(float(np.abs(z).max(initial=0)), largest)
    ax.set(xlim=(-reach if z.min(initial=0) < 0 else 0, reach), xlabel="observed minus expected, in standard errors")
    ax.spines["left"].set_visible(False)
    return _finish(ax, title, legend=True, rows=k)
