"""Pictures of plans: what designs cost, and what they reveal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.layout import BLUE, DARK, GRAY, PALE, _axes, _finish, _rows, _tone, _vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def costs(
    designs: Sequence[str],
    planned: ArrayLike,
    even: ArrayLike,
    *,
    remarks: Sequence[str],
    direct: float,
    recommended: int,
    what: str,
    names: tuple[str, str] = ("planned", "even"),
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what every design costs, on a log scale, a row per design with a remark at its end.

    Parameters
    ----------
    planned, even : array_like, shape (k,)
        The people needed, or the margin reached, at the distribution planned for and at the even one: a ball and
        a bar, called `names` in the legend. `what` describes the numbers.
    remarks : sequence of str
        The text at the end of each row.
    direct : float
        What asking directly costs, a dashed line.
    recommended : int
        The row of the recommended design: its ball is filled, its name bold.
    """
    k = len(designs)
    cost, flat = _vector(planned, k, "planned"), _vector(even, k, "even")
    ax = _axes(ax, 7.6, 1.6 + 0.3 * k)
    from matplotlib.ticker import LogLocator  # after _panels, which says what is missing

    ax.hlines(np.arange(k), np.minimum(cost, direct), np.maximum(cost, direct), color=_tone(ax, PALE), lw=3, zorder=1)
    ax.axvline(direct, color=_tone(ax, DARK), lw=1.2, ls=(0, (4, 3)), zorder=1, label="asking directly")
    ax.plot(flat, np.arange(k), "|", color=_tone(ax, DARK), ms=14, mew=1.6, zorder=2, label=names[1])
    ax.plot(
        cost, np.arange(k), "o", mfc=ax.get_facecolor(), mec=_tone(ax, BLUE), mew=1.4, ms=8, zorder=3, label=names[0]
    )
    ax.plot(cost[recommended], recommended, "o", mfc=_tone(ax, BLUE), mec=_tone(ax, BLUE), mew=1.4, ms=8, zorder=4)
    for row, remark in enumerate(remarks):
        ax.text(1.02, row, remark, transform=ax.get_yaxis_transform(), va="center_baseline", color=_tone(ax, GRAY))
    _rows(ax, designs)
    ax.get_yticklabels()[recommended].set_fontweight("bold")
    ends = np.concatenate([cost, flat, [direct]])
    ax.set(xscale="log", xlabel=what, xlim=(ends.min() / 1.25, ends.max() * 1.25))
    decades = np.log10(ends.max() / ends.min())
    steps = (1, 2, 3, 5, 7) if decades < 0.9 else (1, 2, 5) if decades < 2 else (1,)  # more labels would meet
    ax.xaxis.set_major_locator(LogLocator(subs=steps))
    ax.xaxis.set_major_formatter("{x:,.10g}")
    ax.xaxis.set_minor_formatter("")
    ax.spines["left"].set_visible(False)
    return _finish(ax, title, legend=True, rows=k)
