"""Weighted sums of an estimated distribution, with their uncertainty."""

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen
from scipy.special import ndtr, ndtri

from subsetprivacy._types import Distribution, FloatArray
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.messages.for_estimates import WEIGHTS_BY_LABEL
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.subsets import Categories

if TYPE_CHECKING:
    from subsetprivacy.estimation.margins import Margin
    from subsetprivacy.estimation.result import Estimate


@frozen
class Contrast:
    """A weighted sum of shares.

    Attributes
    ----------
    value, se
        The estimate and its standard error.
    lower, upper, level
        The confidence interval and its level.
    zscore, pvalue
        The two-sided test that the sum is zero; NaN where the sum is known.
    """

    value: float
    se: float
    lower: float
    upper: float
    level: float
    zscore: float
    pvalue: float = field(converter=positive)

    def __str__(self) -> str:
        pvalue = "no test" if self.pvalue != self.pvalue else f"p-value against zero {pvalue_text(self.pvalue)}"
        return (
            f"{self.value:.4f} (std. error {self.se:.4f}, {100 * self.level:g} % interval "
            f"{self.lower:.4f} to {self.upper:.4f}, {pvalue})"
        )


def contrast_of(fit: "Estimate | Margin", weights: Distribution, level: float) -> Contrast:
    """Return c'w with its standard error, interval and test of zero."""
    c = _read(weights, fit.categories)
    value = float(c @ fit.w)
    if fit.in_simplex and np.ptp(c) == 0:  # a multiple of the sum of all shares, which is known: nothing to test
        return Contrast(value, 0.0, value, value, level, np.nan, np.nan)
    variance = fit.uncertainty.along(fit, c)
    se = float(np.sqrt(max(variance, 0.0))) if variance == variance else float("inf")
    half = float(ndtri(0.5 + level / 2)) * se
    # A distribution cannot leave the range of the weights; a moment estimate can.
    least, most = (c.min(), c.max()) if fit.in_simplex else (-np.inf, np.inf)
    lower, upper = max(value - half, float(least)), min(value + half, float(most))
    z = value / se if se > 0 else (0.0 if value == 0 else float("inf"))
    return Contrast(value, se, lower, upper, level, z, float(2 * ndtr(-abs(z))))


def _read(weights: Distribution, categories: Categories) -> FloatArray:
    if isinstance(weights, str):
        raise CategoryError("`weights` must map labels to numbers; got a string.", WEIGHTS_BY_LABEL)
    try:
        if isinstance(weights, Mapping):
            c = np.zeros(categories.p)
            if not all(isinstance(weight, Real) for weight in weights.values()):
                raise TypeError
            c[[categories.index(label) for label in weights]] = list(weights.values())
        else:
            c = np.asarray(weights, np.float64)
    except CategoryError:
        raise
    except (TypeError, ValueError):
        raise ArgumentError("`weights` must be numbers; got something else.") from None
    if not c.any():
        empty = not c.size or (isinstance(weights, Mapping) and not weights)
        raise ArgumentError(
            f"`weights` must have an entry other than 0; got {'no entries' if empty else 'only zeros'}."
        )
    if c.shape != (categories.p,) or not np.isfinite(c).all():
        raise ArgumentError(f"`weights` must be {categories.p} finite numbers, one per category; got shape {c.shape}.")
    return c
