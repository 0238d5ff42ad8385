r"""Models of an outcome given its linear predictor, with a row per private cell and a column per person.

A family takes predictors U of shape (r, J, m), with r predictors for each private cell and person. Outcomes broadcast
to (J, m): shape (1, m) if observed, shape (J, 1) if private, because the category is then part of the cell. It returns
the log-density, its derivatives in u, and minus its second derivatives as the entries of the upper triangle.
"""

from typing import Protocol

import numpy as np
from attrs import frozen
from scipy.special import expit, gammaln

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.links import pairs

_LARGEST = 700.0  # the largest exponent


@frozen(eq=False, repr=False)
class OutcomeDerivatives:
    """Log-density (J, m), gradient (r, J, m) and curvature (r (r+1) / 2, J, m) of each cell and person."""

    loglik: FloatArray
    gradient: FloatArray
    curvature: FloatArray


class OutcomeDensity(Protocol):
    """A model of an outcome given linear predictors."""

    @property
    def predictors(self) -> int:
        """The number of linear predictors r."""
        ...

    @property
    def quadratic(self) -> bool:
        """Whether the log-density is quadratic in the predictors, so that one Newton step is exact."""
        ...

    def of(self, U: FloatArray, y: FloatArray) -> OutcomeDerivatives:
        """Return the log-density, without terms that do not depend on the predictors, and its derivatives."""
        ...

    def gradient(self, U: FloatArray, y: FloatArray) -> FloatArray:
        """Return only the derivatives."""
        ...

    def outcomes(self, U: FloatArray, y: FloatArray, T: FloatArray) -> FloatArray:
        """Return the information about a change T of the predictors, shape (r, J, m), as the outcomes show it.

        Its mean is that of the curvature times T twice, and its sum near a solution is 0 where the outcomes set no
        bound to the coefficients.
        """
        ...

    def mean(self, U: FloatArray) -> FloatArray:
        """Return the mean of the outcome, in the shape of U, or shares of all categories, shape (r + 1, ...)."""
        ...

    def slopes(self, U: FloatArray) -> FloatArray:
        """Return the derivatives of the means in the predictors, shape (means, r, ...)."""
        ...

    def constant(self, y: FloatArray) -> FloatArray:
        """Return the terms of the log-density that do not depend on the predictors."""
        ...


@frozen(eq=False, repr=False)
class Normal:
    r"""Least squares: :math:`-(y - u)^2/2`, without the scale."""

    predictors: int = 1
    quadratic: bool = True

    def of(self, U: FloatArray, y: FloatArray) -> OutcomeDerivatives:
        """Return minus half the squared residual and its derivatives."""
        E = y - U[0]
        return OutcomeDerivatives(-0.5 * E**2, E[None], np.ones_like(U))

    def gradient(self, U: FloatArray, y: FloatArray) -> FloatArray:
        """Return the residuals."""
        return (y - U[0])[None]

    def outcomes(self, U: FloatArray, y: FloatArray, T: FloatArray) -> FloatArray:
        """Return the squared change, whatever the outcome."""
        return T[0] ** 2

    def mean(self, U: FloatArray) -> FloatArray:
        """Return the predictor itself."""
        return U

    def slopes(self, U: FloatArray) -> FloatArray:
        """Return ones."""
        return np.ones((1, *U.shape))

    def constant(self, y: FloatArray) -> FloatArray:
        """Return zeros."""
        return np.zeros_like(y)


@frozen(eq=False, repr=False)
class Binomial:
    r"""The logit of 0 and 1: :math:`y u - \ln(1 + e^u)`."""

    predictors: int = 1
    quadratic: bool = False

    def of(self, U: FloatArray, y: FloatArray) -> OutcomeDerivatives:
        """Return the log-density and its derivatives."""
        u = U[0]
        small = np.exp(-np.abs(u))
        P = np.where(u > 0, 1.0, small) / (1 + small)
        return OutcomeDerivatives(y * u - np.maximum(u, 0.0) - np.log1p(small), (y - P)[None], (P * (1 - P))[None])

    def gradient(self, U: FloatArray, y: FloatArray) -> FloatArray:
        """Return the derivative."""
        return (y - expit(U[0]))[None]

    def outcomes(self, U: FloatArray, y: FloatArray, T: FloatArray) -> FloatArray:
        """Return the squared score."""
        return np.asarray((self.gradient(U, y)[0] * T[0]) ** 2)

    def mean(self, U: FloatArray) -> FloatArray:
        """Return the probability of 1."""
        return np.asarray(expit(U))

    def slopes(self, U: FloatArray) -> FloatArray:
        """Return p (1 - p)."""
        P = expit(U)
        return (P * (1 - P))[None]

    def constant(self, y: FloatArray) -> FloatArray:
        """Return zeros."""
        return np.zeros_like(y)


@frozen(eq=False, repr=False)
class Poisson:
    r"""The log-linear model of counts: :math:`y u - e^u`."""

    predictors: int = 1
    quadratic: bool = False

    def of(self, U: FloatArray, y: FloatArray) -> OutcomeDerivatives:
        """Return the log-density and its derivatives."""
        M = self.mean(U)
        return OutcomeDerivatives(y * U[0] - M[0], y - M, M)

    def gradient(self, U: FloatArray, y: FloatArray) -> FloatArray:
        """Return the derivative."""
        return y - self.mean(U)

    def outcomes(self, U: FloatArray, y: FloatArray, T: FloatArray) -> FloatArray:
        """Return the squared change times the count."""
        return np.asarray(y * T[0] ** 2)

    def mean(self, U: FloatArray) -> FloatArray:
        """Return the mean count."""
        return np.exp(np.minimum(U, _LARGEST))

    def slopes(self, U: FloatArray) -> FloatArray:
        """Return the mean count."""
        return self.mean(U)[None]

    def constant(self, y: FloatArray) -> FloatArray:
        """Return minus the logarithm of y!."""
        return np.asarray(-gammaln(y + 1))


@frozen(eq=False, repr=False)
class Multinomial:
    r"""The logit of K categories against a baseline: :math:`u_y - \ln\sum_k e^{u_k}`, with u = 0 for the baseline.

    Outcomes are positions of categories with the baseline first: 0 for it, then 1 to r.
    """

    predictors: int
    quadratic: bool = False

    def _all(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-shares of all categories, the baseline first, and the shares."""
        E = np.concatenate([np.zeros((1, *U.shape[1:])), U])
        E -= E.max(axis=0)
        total = np.log(np.exp(E).sum(axis=0))
        E -= total
        return E, np.exp(E)

    def _chosen(self, y: FloatArray) -> FloatArray:
        """Return the indicators of all categories except the baseline."""
        k = np.arange(1, self.predictors + 1).reshape(-1, *([1] * y.ndim))
        return (k == y).astype(np.float64)

    def of(self, U: FloatArray, y: FloatArray) -> OutcomeDerivatives:
        """Return the log-density and its derivatives."""
        logs, P = self._all(U)
        chosen = self._chosen(y)
        loglik = (chosen * logs[1:]).sum(axis=0) + (1 - chosen.sum(axis=0)) * logs[0]
        first, second = pairs(self.predictors)
        C = -P[1:][first] * P[1:][second]
        C[first == second] += P[1:]
        return OutcomeDerivatives(loglik, chosen - P[1:], C)

    def gradient(self, U: FloatArray, y: FloatArray) -> FloatArray:
        """Return the derivatives."""
        return self._chosen(y) - self._all(U)[1][1:]

    def outcomes(self, U: FloatArray, y: FloatArray, T: FloatArray) -> FloatArray:
        """Return the squared score."""
        return np.asarray((self.gradient(U, y) * T).sum(axis=0) ** 2)

    def mean(self, U: FloatArray) -> FloatArray:
        """Return the shares of all categories, the baseline first."""
        return self._all(U)[1]

    def slopes(self, U: FloatArray) -> FloatArray:
        """Return the derivatives of the shares: p_k (1{k = l} - p_l)."""
        P = self.mean(U)
        out = -P[:, None] * P[None, 1:]
        k = np.arange(self.predictors)
        out[k + 1, k] += P[1:]
        return out

    def constant(self, y: FloatArray) -> FloatArray:
        """Return zeros."""
        return np.zeros_like(y)
