"""Pictures of plans: what designs cost, beside what they give away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.charts import BLUE, DARK, GRAY, PALE, _finish, _panels, _rows, _vector

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
        a bar, called `names`. What it is, `what` says.
    remarks : sequence of str
        What stands at the end of each row.
    direct : float
        What asking directly costs, a dashed line.
    recommended : int
        The row of the design to take: its ball is filled, its name bold.
    """
    k = len(designs)
    cost, flat = _vector(planned, k, "planned"), _vector(even, k, "even")
    ax = ax or _panels(7.6, 1.4 + 0.3 * k)[0]
    from matplotlib.ticker import LogLocator  # after _panels, which says what is missing

    ax.hlines(np.arange(k), np.minimum(cost, direct), np.maximum(cost, direct), color=PALE, lw=3, zorder=1)
    ax.axvline(direct, color=DARK, lw=1.2, ls=(0, (4, 3)), zorder=1, label="asking directly")
    ax.plot(flat, np.arange(k), "|", color=DARK, ms=10, mew=1.6, zorder=2, label=names[1])
    ax.plot(cost, np.arange(k), "o", mfc="white", mec=BLUE, mew=1.4, ms=8, zorder=3, label=names[0])
    ax.plot(cost[recommended], recommended, "o", mfc=BLUE, mec=BLUE, mew=1.4, ms=8, zorder=4)
    for row, remark in enumerate(remarks):
        ax.text(1.02, row, remark, transform=ax.get_yaxis_transform(), va="center_baseline", color=GRAY)
    _rows(ax, designs)
    ax.get_yticklabels()[recommended].set_fontweight("bold")
    ends = np.concatenate([cost, flat, [direct]])
    ax.set(xscale="log", xlabel=what, xlim=(ends.min() / 1.25, ends.max() * 1.25))
    decades = np.log10(ends.max() / ends.min())
    steps = (1, 2, 3, 5, 7) if decades < 0.9 else (1, 2, 5) if decades < 2 else (1,)  # more labels would meet
    ax.xaxis.set_major_locator(LogLocator(subs=steps))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    ax.spines["left"].set_visible(False)
    return _finish(ax, title, legend=True)
