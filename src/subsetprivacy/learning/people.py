"""People in memory, for a ridge fit."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.learning.inputs import Target
from subsetprivacy.regression.blocks import Block, Kernel, Sums, largest, summed
from subsetprivacy.regression.links import MultinomialLogit
from subsetprivacy.regression.models import SeparateSlopes

_NUMBERS = 1 << 18  # numbers of X at a time, which stay in the cache between two products
_FEWEST, _MOST = 1024, 8192  # people at a time


class People:
    """People in memory: their covariates, as given, and their subsets or labels.

    Parameters
    ----------
    X : array, shape (n, d)
        Covariates without an intercept. They are not copied.
    target
        Their classes or subsets.
    weight : array, shape (n,), or None
        How many people each row represents.
    """

    def __init__(self, X: FloatArray, target: Target, weight: FloatArray | None = None) -> None:
        self.X, self.target, self.weight = X, target, weight
        self._step = min(max(_NUMBERS // max(self.d, 1), _FEWEST), _MOST)
        self._only = self._block(slice(None)) if len(X) <= self._step else None  # a fit uses it many times

    @property
    def d(self) -> int:
        """The number of covariates."""
        return self.X.shape[1]

    @property
    def design(self) -> Any:
        """The design; None for labels."""
        return self.target.design

    def __len__(self) -> int:
        return len(self.X)

    def _block(self, part: slice) -> Block:
        X = np.asarray(self.X[part], np.float64)
        return Block(X, self.target.rows(part), None if self.weight is None else self.weight[part])

    def _blocks(self) -> Iterator[Block]:
        if self._only is not None:
            yield self._only
            return
        for start in range(0, len(self.X), self._step):
            yield self._block(slice(start, start + self._step))

    def total(self, kernel: Kernel) -> Sums:
        """Return the sums over all people."""
        return summed(kernel(block) for block in self._blocks())

    def most(self, kernel: Kernel) -> Sums:
        """Return the largest over all blocks."""
        return largest(kernel(block) for block in self._blocks())

    def some(self, n: int) -> Block:
        """Return about `n` people, evenly spaced."""
        return self._block(slice(None, None, max(len(self.X) // n, 1)))


@frozen(eq=False, repr=False)
class SlopesAndIntercept:
    """Coefficients of each category except the baseline. The last is an intercept, for which X has no column."""

    link: MultinomialLogit
    d: int  # including the intercept

    @property
    def size(self) -> int:
        """The number of parameters."""
        return (self.link.p - 1) * self.d

    def predictors(self, theta: FloatArray, X: FloatArray, offset: FloatArray | None = None) -> FloatArray:
        """Return the linear predictors."""
        B = theta.reshape(-1, self.d)
        U = B[:, :-1] @ X.T
        U += B[:, -1:]
        return U if offset is None else U + offset

    moved = predictors

    def gradient(self, G: FloatArray, X: FloatArray) -> FloatArray:
        """Return the sum of gradients."""
        out = np.empty((len(G), self.d))
        out[:, :-1] = G @ X
        out[:, -1] = G.sum(axis=1)
        return out.ravel()

    def information(self, C: FloatArray, X: FloatArray) -> FloatArray:
        """Return the sum of curvatures."""
        return SeparateSlopes(self.link, self.d).information(C, with_ones(X))

    def scores(self, G: FloatArray, X: FloatArray) -> FloatArray:
        """Return each person's gradient."""
        return SeparateSlopes(self.link, self.d).scores(G, with_ones(X))


def with_ones(X: FloatArray) -> FloatArray:
    """Return X with a last column of ones."""
    return np.column_stack([X, np.ones(len(X))])
