"""Standard errors of an estimate: the full matrix, the variance of each share, or along one direction.

Up to a few thousand categories, everything comes from the covariance matrix.
With more there is no matrix, and each method defines what else it can compute.
A covered release has a fixed number of dummy rows, which reduces its variance (`sec:dummy`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Covered
from subsetprivacy.errors import TooLargeError
from subsetprivacy.incidence import MAX_MATRIX, Incidence
from subsetprivacy.messages.for_estimates import SINGLE_ERRORS

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate


class Uncertainty(Protocol):
    """The variances and covariances of an estimate."""

    def matrix(self, fit: Any) -> FloatArray:
        """Return the covariance matrix."""
        ...

    def variances(self, fit: Any) -> FloatArray:
        """Return the variance of each share."""
        ...

    def along(self, fit: Any, c: FloatArray) -> float:
        """Return the variance of the weighted sum c'w."""
        ...


@frozen
class FromMatrix:
    """Variances and covariances from a function that returns the matrix."""

    covariance: "Callable[[Estimate], FloatArray]"

    def matrix(self, fit: Any) -> FloatArray:
        """Return the covariance matrix."""
        if fit.categories.p > MAX_MATRIX:
            raise TooLargeError(
                f"a covariance matrix must have at most {MAX_MATRIX} rows; got {fit.categories.p} categories.",
                SINGLE_ERRORS,
            )
        return self.covariance(fit)

    def variances(self, fit: Any) -> FloatArray:
        """Return the diagonal."""
        return np.maximum(np.diag(fit._cov), 0.0)

    def along(self, fit: Any, c: FloatArray) -> float:
        """Return the quadratic form; categories with weight 0 may have no finite variance."""
        used = np.flatnonzero(c)
        return float(c[used] @ fit._cov[np.ix_(used, used)] @ c[used])


@frozen
class UnknownUncertainty:
    """The error of an estimate from a sample without variation, which has no information on its precision."""

    def matrix(self, fit: Any) -> FloatArray:
        """Return infinite variances, and covariances that are NaN."""
        p = fit.categories.p
        if p > MAX_MATRIX:
            raise TooLargeError(f"a covariance matrix must have at most {MAX_MATRIX} rows; got {p} categories.")
        covariance: FloatArray = np.full((p, p), np.nan)
        np.fill_diagonal(covariance, np.inf)
        return covariance

    def variances(self, fit: Any) -> FloatArray:
        """Return infinity for each share."""
        return np.full(fit.categories.p, np.inf)

    def along(self, fit: Any, c: FloatArray) -> float:
        """Return infinity."""
        return np.inf


@frozen
class Unprojected:
    """The uncertainty of an estimate before its projection to the simplex."""

    raw: "Estimate"

    def matrix(self, fit: Any) -> FloatArray:
        """Return the covariance matrix of the raw estimate."""
        return self.raw._cov

    def variances(self, fit: Any) -> FloatArray:
        """Return the variances of the raw estimate."""
        return self.raw.uncertainty.variances(self.raw)

    def along(self, fit: Any, c: FloatArray) -> float:
        """Return the variance of the weighted sum of the raw estimate."""
        return self.raw.uncertainty.along(self.raw, c)


def known_part(
    design: Covered, rows: Incidence, f: FloatArray, w: FloatArray, y: FloatArray
) -> tuple[float, FloatArray]:
    r"""Return s(1-s) and the difference d of two means: the variance between dummies and people is s(1-s) dd'.

    Parameters
    ----------
    design
        The covered design.
    rows, f
        Rows r_a and the share of each.
    w
        A distribution.
    y
        A factor for each row: the means are of y_a r_a.

    Notes
    -----
    A row is a dummy row with probability :math:`\pi_a = \alpha/L_a`. Estimated from the
    same rows as the total variance, the part between the two groups never exceeds
    it. Computed from the design, it could exceed it in small samples.
    """
    dummy = f * design.share / rows.inner(w)
    s = float(dummy.sum())
    if not 0 < s < 1:
        return 0.0, np.zeros(rows.p)
    return s * (1 - s), rows.spread(dummy * y) / s - rows.spread((f - dummy) * y) / (1 - s)
