"""Populations to plan for: a covariate, and shares of a private category that depend on it."""

from typing import Any

import numpy as np
from attrs import frozen
from scipy.optimize import brentq
from scipy.special import expit, logit

from subsetprivacy._checks import shown
from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.design.require import require_enumerable
from subsetprivacy.errors import ArgumentError, TooLargeError
from subsetprivacy.messages.for_plans import GROUP_FOR_POWER, UNCOVERED_PLAN

_NODES = 31  # of Gauss–Hermite quadrature
MOST_SUBSETS = 1 << 14


@frozen(eq=False)
class Nodes:
    """The values of a covariate, and the probability of each.

    Attributes
    ----------
    values, weights
        The values and their probabilities.
    words
        A description of the covariate.
    """

    values: FloatArray
    weights: FloatArray
    words: str

    @classmethod
    def normal(cls, spread: Any) -> "Nodes":
        """Return a normal covariate with mean 0 and this standard deviation."""
        if isinstance(spread, bool) or not isinstance(spread, (int, float, np.number)) or not 0 < spread < np.inf:
            raise ArgumentError(f"`spread` must be a standard deviation above 0; got {_got(spread)}.")
        x, weights = gauss()
        return cls(x * float(spread), weights, f"a normal covariate with standard deviation {float(spread):g}")

    @classmethod
    def binary(cls, share: Any) -> "Nodes":
        """Return a covariate that is 1 with this probability, else 0."""
        if isinstance(share, bool) or not isinstance(share, (int, float, np.number)) or not 0 < share < 1:
            raise ArgumentError(f"`share` must be a share above 0 and below 1; got {_got(share)}.")
        p = float(share)
        return cls(np.array([0.0, 1.0]), np.array([1 - p, p]), f"a covariate that is 1 for {p:g} of the people, else 0")

    @property
    def X(self) -> FloatArray:
        """A column of ones, and the values."""
        return np.column_stack([np.ones(len(self.values)), self.values])


def gauss() -> tuple[FloatArray, FloatArray]:
    """Return the quadrature nodes of the standard normal distribution, and their weights."""
    x, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return x, weights / weights.sum()


def _got(value: Any) -> str:
    return shown(value) if isinstance(value, (int, float)) else type(value).__name__


def logit_intercepts(w: FloatArray, slopes: FloatArray, x: Nodes) -> FloatArray:
    """Return the intercepts of all categories for which the mean shares are w, up to a constant."""
    a = np.log(w)
    for _ in range(1000):
        U = a[:, None] + slopes[:, None] * x.values
        P = np.exp(U - U.max(axis=0))
        P /= P.sum(axis=0)
        step = np.log(w) - np.log(P @ x.weights)
        a = a + step
        if np.abs(step).max() < 1e-12:
            break
    return a


def cut_points(w: FloatArray, slope: float, x: Nodes) -> FloatArray:
    """Return the cut points for which the mean shares of ordered categories are w."""
    reach = np.abs(slope * x.values).max() + 1

    def excess(cut: float, below: float) -> float:
        return float(expit(cut - slope * x.values) @ x.weights) - below

    sums = np.cumsum(w)[:-1]
    return np.array([brentq(excess, logit(s) - reach, logit(s) + reach, (s,), xtol=1e-13) for s in sums.tolist()])


def require_listed(design: Design) -> Design:
    """Return the design if it has few enough subsets to list.

    Raises
    ------
    TooLargeError
        If it has too many.
    ArgumentError
        If it adds dummy rows, which have no covariates.
    """
    if design.covered is not None:
        raise ArgumentError("`design` must have no dummy rows; got a covered design.", UNCOVERED_PLAN)
    require_enumerable(design.require_identifiable(), "the power of regressions")
    if len(design.support()[0]) > MOST_SUBSETS:
        raise TooLargeError(
            f"`design` must have at most {MOST_SUBSETS} subsets for this plan; got more.", GROUP_FOR_POWER
        )
    return design


def support_of(design: Design | None, p: int) -> tuple[FloatArray, FloatArray]:
    """Return the rows of all reports, shape (reports, p), and their weights, or those of the values for None."""
    if design is None:
        return np.eye(p), np.ones(p)
    _, mu = design.support()
    rows = np.stack([design.support_incidence.inner(each) for each in np.eye(p)], axis=1)
    return rows, mu
