"""Pictures of tests: where a statistic lies among those of the null hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.draw.layout import BLUE, COLORS, DARK, GRAY, PALE, _axes, _finish, _legend_below_axis, _tone
from subsetprivacy.pvalues import pvalue_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def null_distribution(
    statistics: ArrayLike,
    observed: float,
    *,
    weights: ArrayLike | None = None,
    df: float | None = None,
    pvalue: float | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a histogram of statistics under the null hypothesis, the observed one, and a chi-squared density.

    Parameters
    ----------
    statistics : array_like, shape (k,)
        If empty, only the limiting distribution is drawn.
    weights : array_like, shape (k,), optional
        Their probabilities, if not equal.
    df
        The degrees of freedom of the limiting distribution. Without them it is not drawn.
    pvalue
        Written next to the observed statistic.
    """
    values = np.asarray(statistics, dtype=float)
    ax = _axes(ax, 6.4, 3.6)
    low = min(float(values.min(initial=0)), observed, 0.0)
    typical = _quantile(values, weights, 0.999)
    high = 1.08 * max(typical, observed, (df or 0) + 4 * np.sqrt(2 * (df or 0)), 1e-6)
    if len(values):
        bins = np.linspace(low, max(typical, low + 1e-6), 41)
        inside = np.clip(values, bins[0], bins[-1])
        name = "under the null hypothesis"
        ax.hist(
            inside,
            bins=bins.tolist(),
            weights=weights,
            density=True,
            color=_tone(ax, PALE),
            ec=_tone(ax, GRAY),
            lw=0.5,
            label=name,
        )
    if df:
        from scipy.stats import chi2

        x = np.linspace(max(low, high / 400), high, 400)
        ax.plot(
            x,
            chi2.pdf(x, df),
            "--",
            color=_tone(ax, BLUE),
            lw=1.5,
            label=f"limiting distribution, {df:g} degrees of freedom",
        )
    p_text = "" if pvalue is None else f", p-value {pvalue_text(pvalue)}"
    top = ax.get_ylim()[1]
    ax.plot([observed] * 2, [0, top], color=COLORS[1], lw=2, label=f"observed {observed:,.2f}{p_text}")
    ax.plot([observed], [0], "^", color=_tone(ax, DARK), ms=7, clip_on=False, zorder=4)
    ax.set(xlim=(low, high), ylim=(0, top), xlabel="statistic", ylabel="density")
    _legend_below_axis(ax)
    return _finish(ax, title)


def _quantile(values: NDArray[np.float64], weights: ArrayLike | None, level: float) -> float:
    """Return the quantile at `level`, or 0 if there are no values."""
    if not len(values):
        return 0.0
    if weights is None:
        return float(np.quantile(values, level))
    order = np.argsort(values)
    below = np.cumsum(np.asarray(weights, dtype=float)[order])
    return float(values[order][min(int(np.searchsorted(below, level)), len(values) - 1)])
