r"""How parameters become linear predictors, and sums over people become derivatives in the parameters.

`SeparateSlopes`: every category but the baseline has its own row of coefficients, :math:`u_k = x^\top\beta_k`.
`SharedSlopes`: cut points and one vector of slopes, :math:`u_k = \theta_k - x^\top\beta`.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.blocks import Block
from subsetprivacy.regression.links import CumulativeLogit, LinkDerivatives, MultinomialLogit, pairs

AnyLink: TypeAlias = MultinomialLogit | CumulativeLogit

_CACHED = 1 << 16  # numbers of X multiplied at a time, so that they stay in the cache


class Model(Protocol):
    """A model of the shares of categories given covariates."""

    @property
    def link(self) -> AnyLink:
        """The link from linear predictors to shares."""
        ...

    @property
    def d(self) -> int:
        """The number of covariates."""
        ...

    @property
    def size(self) -> int:
        """The number of parameters."""
        ...

    def predictors(self, theta: FloatArray, X: FloatArray, offset: FloatArray | None = None) -> FloatArray:
        """Return the linear predictors, shape (p - 1, m)."""
        ...

    def gradient(self, G: FloatArray, X: FloatArray) -> FloatArray:
        """Return the sum of gradients in the parameters, from gradients in the predictors, shape (p - 1, m)."""
        ...

    def information(self, C: FloatArray, X: FloatArray) -> FloatArray:
        """Return the sum of curvatures in the parameters, from curvatures in the predictors (see `links`)."""
        ...

    def scores(self, G: FloatArray, X: FloatArray) -> FloatArray:
        """Return each person's gradient in the parameters, shape (size, m)."""
        ...

    def moved(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return the change of each predictor for a change of the parameters."""
        ...


def weighted_gram(C: FloatArray, X: FloatArray) -> FloatArray:
    """Return the sums of c_i x_i x_i' for each row c of C, shape (rows, d, d)."""
    n, d = X.shape
    out = np.zeros((len(C), d, d))
    size = max(_CACHED // max(d, 1), 512)
    for start in range(0, n, size):
        weights = C[:, start : start + size]
        columns = np.ascontiguousarray(X[start : start + size].T)
        for k in range(d):
            out[:, k, k:] += (weights * columns[k]) @ columns[k:].T
    first, second = pairs(d)
    out[:, second, first] = out[:, first, second]
    return out


@frozen(eq=False, repr=False)
class SeparateSlopes:
    """A row of coefficients for every category except the baseline. The parameters are these rows in sequence."""

    link: AnyLink
    d: int

    @property
    def size(self) -> int:
        """The number of parameters."""
        return (self.link.p - 1) * self.d

    def predictors(self, theta: FloatArray, X: FloatArray, offset: FloatArray | None = None) -> FloatArray:
        """Return the linear predictors."""
        U = theta.reshape(-1, self.d) @ X.T
        return U if offset is None else U + offset

    moved = predictors

    def gradient(self, G: FloatArray, X: FloatArray) -> FloatArray:
        """Return the sum of gradients."""
        return (G @ X).ravel()

    def information(self, C: FloatArray, X: FloatArray) -> FloatArray:
        """Return the sum of curvatures."""
        k = self.link.p - 1
        first, second = pairs(k)
        grams = weighted_gram(C, X)
        out = np.empty((k, self.d, k, self.d))
        out[first, :, second] = grams
        out[second, :, first] = grams
        return out.reshape(self.size, self.size)

    def scores(self, G: FloatArray, X: FloatArray) -> FloatArray:
        """Return each person's gradient."""
        return (G[:, None, :] * X.T).reshape(self.size, -1)


@frozen(eq=False, repr=False)
class SharedSlopes:
    """Cut points, then one slope for each covariate. The covariates contain no intercept."""

    link: AnyLink
    d: int

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.link.p - 1 + self.d

    def predictors(self, theta: FloatArray, X: FloatArray, offset: FloatArray | None = None) -> FloatArray:
        """Return the linear predictors."""
        k = self.link.p - 1
        U = theta[:k, None] - X @ theta[k:]
        return U if offset is None else U - offset

    moved = predictors

    def gradient(self, G: FloatArray, X: FloatArray) -> FloatArray:
        """Return the sum of gradients."""
        return np.concatenate([G.sum(axis=1), -G.sum(axis=0) @ X])

    def information(self, C: FloatArray, X: FloatArray) -> FloatArray:
        """Return the sum of curvatures."""
        k = self.link.p - 1
        first, second = pairs(k)
        full = np.empty((k, k, X.shape[0]))
        full[first, second] = C
        full[second, first] = C
        out = np.empty((self.size, self.size))
        out[:k, :k] = full.sum(axis=2)
        out[:k, k:] = -full.sum(axis=1) @ X
        out[k:, :k] = out[:k, k:].T
        out[k:, k:] = (X * full.sum(axis=(0, 1))[:, None]).T @ X
        return out

    def scores(self, G: FloatArray, X: FloatArray) -> FloatArray:
        """Return each person's gradient."""
        return np.concatenate([G, -G.sum(axis=0) * X.T])


@frozen(eq=False, repr=False)
class LikelihoodKernel:
    """The kernel of a fit: the log-likelihood, gradient and, optionally, observed information of a block of people.

    Attributes
    ----------
    indicators
        If given, indicators of the values replace the subsets: the sum of D_j ln p_j.
    """

    model: Model
    theta: FloatArray
    curvature: bool = False
    indicators: Callable[[Block], FloatArray] | None = None

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the sums of the block."""
        linked = self.linked(block)
        loglik = np.asarray(block.weighted(linked.loglik).sum())
        gradient = self.model.gradient(block.weighted(linked.gradient), block.X)
        if not self.curvature or linked.curvature is None:
            return loglik, gradient
        return loglik, gradient, self.model.information(block.weighted(linked.curvature), block.X)

    def linked(self, block: Block) -> LinkDerivatives:
        """Return the log-likelihood and derivatives of each person."""
        U = self.model.predictors(self.theta, block.X, block.offset)
        if self.indicators is not None:
            return self.model.link.complete(U, self.indicators(block))
        return self.model.link.of(U, block.R, curvature=self.curvature)

    def scores(self, block: Block) -> FloatArray:
        """Return the gradient of each person, times the weight, shape (size, m)."""
        return self.model.scores(block.weighted(self.linked(block).gradient), block.X)


@frozen(eq=False, repr=False)
class LargestMove:
    """The kernel of a step's length: the largest change of any person's linear predictor."""

    model: Model
    change: FloatArray

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the largest change in the block."""
        return (np.asarray(np.abs(self.model.moved(self.change, block.X)).max(initial=0.0)),)
