"""Ordered samples against the quantiles of the laws that they should follow, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from subsetprivacy.draw.charts import BLUE, GRAY, _finish, _panels, _plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def quantiles(samples: Mapping[str, tuple[ArrayLike, ArrayLike]], *, xlabel: str, ylabel: str) -> Figure:
    """Draw a panel per sample: on the dashed diagonal it agrees with its law.

    Parameters
    ----------
    samples : mapping of str to (sample, expected)
        By the panel's heading; `expected` are as many quantiles of the law, ascending.
    """
    axes = list(_panels(0.6 + 3.0 * len(samples), 3.5, 1, len(samples)))
    for ax, (name, (sample, expected)) in zip(axes, samples.items(), strict=True):
        values, law = np.sort(np.asarray(sample, dtype=float)), np.asarray(expected, dtype=float)
        ends = min(values[0], law[0]), max(values[-1], law[-1])
        ax.plot(ends, ends, color=GRAY, lw=1, ls=(0, (4, 3)))
        ax.plot(law, values, "o", ms=3, color=BLUE, mec="none")
        ax.set_xlabel(xlabel)
        _finish(ax, None).set_title(_plain(name, 34), loc="left", fontsize="medium")
    axes[0].set_ylabel(ylabel)
    figure: Figure = axes[0].figure
    return figure
