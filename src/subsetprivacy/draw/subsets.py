"""A picture of reported subsets: a bar for the share of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.layout import BLUE, _axes, _finish, _rows, _size, _tone, _vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def subset_shares(
    labels: Sequence[str], shares: ArrayLike, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a bar with its number for the share of each subset, the first on top.

    Parameters
    ----------
    labels
        The subsets, as text.
    shares : array_like, shape (p,)
        Their shares, as proportions.
    title
        The title.
    ax
        Axes to draw on, by default those of a new figure.
    """
    p, values = len(labels), _vector(shares, len(labels), "shares")
    ax = _axes(ax, *_size(labels))
    ax.barh(np.arange(p), values, height=0.62, color=_tone(ax, BLUE), zorder=2)
    _rows(ax, labels, "%")
    for row, value in enumerate(values):
        ax.annotate(
            f"{100 * value:.1f}%", (value, row), (4, 0), textcoords="offset points", va="center", fontsize="small"
        )
    ax.set_xlim(0, 1.15 * max(values.max(initial=0.0), 1e-3))  # room for the numbers
    ax.set_xlabel("share of all people")
    return _finish(ax, title)
