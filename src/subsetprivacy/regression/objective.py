r"""What a fit maximizes: the log-likelihood of the subsets minus a penalty."""

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.blocks import Block, Blocks
from subsetprivacy.regression.coordinates import Increasing, Linear
from subsetprivacy.regression.links import CumulativeLogit, MultinomialLogit
from subsetprivacy.regression.models import LargestMove, LikelihoodKernel, Model


class Maximand(Protocol):
    """What the solver maximizes: any smooth function of parameters that is a sum over people."""

    @property
    def n(self) -> float:
        """The number of people, or the sum of their weights."""
        ...

    @property
    def d(self) -> int:
        """The number of columns of a linear predictor."""
        ...

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient."""
        ...

    def full(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the value, its gradient, and minus its second derivatives."""
        ...

    def largest_move(self, change: FloatArray) -> float:
        """Return the largest change of any person's linear predictor for a change of the parameters."""
        ...

    def plain(self) -> "Increasing | Linear":
        """Return plain coordinates: the parameters, with cut points given by their gaps."""
        ...


@frozen(eq=False, repr=False)
class Ridge:
    r"""The penalty :math:`\frac{\lambda}{2}\,\mathrm{tr}\,B^\top C B` with :math:`C = I - 11^\top/p`.

    It penalizes all p categories equally. It is the smallest sum of squares over all constants added to the
    coefficients of all categories, so it does not depend on the baseline. `free` marks the penalized columns.
    """

    amount: float
    p: int
    free: FloatArray  # 1 where a column is penalized, else 0
    shared: bool = False  # one vector of slopes, penalized directly

    def _slopes(self, theta: FloatArray) -> tuple[FloatArray, slice]:
        start = self.p - 1 if self.shared else 0
        return theta[start:].reshape(-1, len(self.free)), slice(start, None)

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the penalty and its gradient."""
        B, part = self._slopes(theta)
        pull = self.amount * self.free * (B if self.shared else B - B.sum(axis=0) / self.p)
        gradient = np.zeros_like(theta)
        gradient[part] = pull.ravel()
        return 0.5 * float((B * pull).sum()), gradient

    def curvature(self, size: int) -> FloatArray:
        """Return the second derivatives."""
        out = np.zeros((size, size))
        k = 1 if self.shared else self.p - 1
        C = np.eye(k) if self.shared else np.eye(k) - 1 / self.p
        start = self.p - 1 if self.shared else 0
        out[start:, start:] = self.amount * np.kron(C, np.diag(self.free))
        return out


@frozen(eq=False, repr=False)
class PseudoPeople:
    r"""The indicators of `shrink`: :math:`\frac{c}{n}\sum_i\sum_j \hat w_j \ln p_j(x_i)`.

    It adds c people, spread over the observed covariates, whose values have the overall shares. The sum is concave,
    does not depend on how X is coded, and keeps every estimate finite.
    """

    shares: FloatArray
    per_person: float

    def __call__(self, block: Block) -> FloatArray:
        """Return the same indicators for everyone."""
        return np.broadcast_to(self.per_person * self.shares[:, None], (len(self.shares), block.X.shape[0]))


class OfBaseline:
    """The indicators of people who all belong to the baseline, whose linear predictor is 0."""

    def __init__(self, baseline: int, p: int) -> None:
        self._one = np.eye(p)[:, [baseline]]

    def __call__(self, block: Block) -> FloatArray:
        """Return the same indicators for everyone."""
        return np.broadcast_to(self._one, (len(self._one), block.X.shape[0]))


@frozen(eq=False, repr=False)
class IndicatorSums:
    """The kernel of what a logit needs of indicators: the sum of D x', and of D times the offset."""

    model: Model
    indicators: Callable[[Block], FloatArray]

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the sums of the block."""
        link = self.model.link
        assert isinstance(link, MultinomialLogit)
        D = block.weighted(self.indicators(block)[link.free])
        shift = 0.0 if block.offset is None else float((D * block.offset).sum())
        return np.asarray(shift), self.model.gradient(D, block.X)


@frozen(slots=False, eq=False, repr=False)
class Objective:
    """The log-likelihood minus its penalties, summed over all people.

    Attributes
    ----------
    blocks, model
        The people and the model.
    n
        The number of people, or the sum of their weights.
    ridge
        The penalty, if any.
    pseudo
        The pseudo-people, if any.
    indicators
        Indicators of the values instead of the subsets, for a corrected fit.
    """

    blocks: Blocks
    model: Model
    n: float
    ridge: Ridge | None = None
    pseudo: PseudoPeople | None = None
    indicators: Callable[[Block], FloatArray] | None = None

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient."""
        value, gradient = self._sums(theta, curvature=False)[:2]
        return float(value), gradient

    def full(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the value, its gradient, and minus its second derivatives."""
        value, gradient, J = self._sums(theta, curvature=True)
        return float(value), gradient, J

    def _sums(self, theta: FloatArray, *, curvature: bool) -> tuple[FloatArray, ...]:
        sums = self._of_people(theta, curvature=curvature)
        if self.pseudo is not None:
            more = self.blocks.total(LikelihoodKernel(self.model, theta, curvature, self.pseudo))
            sums = [a + b for a, b in zip(sums, more, strict=True)]
        if self.ridge is not None:
            value, gradient = self.ridge(theta)
            sums[0], sums[1] = sums[0] - value, sums[1] - gradient
            if curvature:
                sums[2] = sums[2] + self.ridge.curvature(self.model.size)
        return tuple(sums)

    def _of_people(self, theta: FloatArray, *, curvature: bool) -> list[FloatArray]:
        """Return the sums without penalties. Those of a corrected logit read the subsets once only."""
        if self._linear is None:
            return list(self.blocks.total(self.kernel(theta, curvature=curvature)))
        constant, linear = self._linear
        link = self.model.link
        assert isinstance(link, MultinomialLogit)
        everyone = OfBaseline(link.baseline, link.p)
        value, gradient, *more = self.blocks.total(LikelihoodKernel(self.model, theta, curvature, everyone))
        return [value + constant + linear @ theta, gradient + linear, *more]

    @cached_property
    def _linear(self) -> tuple[FloatArray, FloatArray] | None:
        """The part of a corrected logit that is linear in the parameters: its constant and its slopes."""
        if self.indicators is None or not isinstance(self.model.link, MultinomialLogit):
            return None
        constant, slopes = self.blocks.total(IndicatorSums(self.model, self.indicators))
        return constant, slopes

    @property
    def ceiling(self) -> float:
        """A bound of any maximum: a solution of a corrected logit has the value of minus its entropy."""
        return 0.0 if self.indicators is not None and isinstance(self.model.link, MultinomialLogit) else np.inf

    @property
    def d(self) -> int:
        """The number of covariates."""
        return self.model.d

    def largest_move(self, change: FloatArray) -> float:
        """Return the largest change of any person's linear predictor for a change of the parameters."""
        return float(self.blocks.most(LargestMove(self.model, change))[0])

    def plain(self) -> Increasing | Linear:
        """Return plain coordinates: the parameters, with cut points given by their gaps."""
        size, link = self.model.size, self.model.link
        plain = Linear(np.zeros(size), np.eye(size))
        return Increasing(link.p - 1, plain) if isinstance(link, CumulativeLogit) else plain

    def kernel(self, theta: FloatArray, *, curvature: bool = False) -> LikelihoodKernel:
        """Return the kernel of the people, without penalties."""
        return LikelihoodKernel(self.model, theta, curvature, self.indicators)

    @property
    def is_likelihood(self) -> bool:
        """Whether this is the plain log-likelihood of the subsets."""
        return self.ridge is None and self.pseudo is None and self.indicators is None

    def loglik(self, theta: FloatArray) -> float:
        """Return the log-likelihood of the subsets, without penalties."""
        return float(self.blocks.total(LikelihoodKernel(self.model, theta))[0])
