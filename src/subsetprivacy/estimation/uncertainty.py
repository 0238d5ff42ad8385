"""How the error of an estimate is asked for: all of it, each share's, or along one direction.

Up to a few thousand categories everything comes from the covariance matrix.
Beyond that there is none, and a method says which of the rest it can do.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import TooLargeError
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages.for_estimates import SINGLE_ERRORS

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate


class Uncertainty(Protocol):
    """What an estimate asks of its error."""

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
    """The covariance matrix by a function, and what follows from it."""

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
        """Return the quadratic form; categories that are not used may have no finite variance."""
        used = np.flatnonzero(c)
        return float(c[used] @ fit._cov[np.ix_(used, used)] @ c[used])


@frozen
class Unknown:
    """The error of an estimate from a sample in which nothing varies: it says nothing about its own precision."""

    def matrix(self, fit: Any) -> FloatArray:
        """Return infinite variances, and covariances that are not a number."""
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
    """The uncertainty of an estimate before it was moved to the simplex."""

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
