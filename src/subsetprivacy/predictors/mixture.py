r"""The likelihood of an outcome and a subset: :math:`\sum_i \ln \sum_j r_i(j)\,\pi_j(v_i)\,f(y_i \mid x_{ij};\theta)`.

:math:`\pi` is a multinomial logit of the private cell on the seen columns, f the normal, binomial, Poisson or
multinomial density. With the posterior :math:`q_j \propto r_j \pi_j f_j` and the scores :math:`t_j` that person i would
have in cell j, the score is :math:`s = \sum_j q_j t_j` and minus the second derivative is
:math:`\sum_j q_j (K_j - t_j t_j^\top) + s s^\top` with the curvatures :math:`K_j`: what the cells would say less what the
subset hides.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from attrs import field, frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.predictors.atoms import Atoms, weighted_product
from subsetprivacy.predictors.corrected import largest_move
from subsetprivacy.predictors.families import OutcomeModel
from subsetprivacy.predictors.people import OutcomePeople, PeopleBlock
from subsetprivacy.regression.blocks import BLOCK
from subsetprivacy.regression.coordinates import Linear
from subsetprivacy.regression.links import MultinomialLogit, pairs

_ENTRIES = 1 << 20  # numbers of the coefficients of a block
_HALF_LN_2PI = 0.5 * float(np.log(2 * np.pi))


@frozen(eq=False, repr=False)
class Parts:
    """What the likelihood says of some people.

    Attributes
    ----------
    loglik
        Log-likelihood, shape (m,).
    posterior
        The posterior of the cell, shape (cells, m).
    shares
        The distribution of the private predictors given the seen columns, shape (J, m).
    A
        The coefficients of the scores in each cell: of the predictors (r, cells, m), then, of a normal outcome, of the
        logarithm of its standard deviation (1, cells, m).
    K
        The curvatures of the same, as upper triangles, shape (.., cells, m).
    """

    loglik: FloatArray
    posterior: FloatArray
    shares: FloatArray
    A: FloatArray
    K: FloatArray


@frozen(slots=False, eq=False, repr=False)
class MixtureObjective:
    """The log-likelihood of all people, in theta (r C), the logarithm of the scale if there is one, and the logits of pi.

    Attributes
    ----------
    people, atoms, family
        The people, the columns of the model and the model of the outcome.
    cells
        The columns of V that pi depends on, the constant among them, none a combination of others.
    """

    people: OutcomePeople
    atoms: Atoms
    family: OutcomeModel
    cells: IntArray
    link: MultinomialLogit = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "link", MultinomialLogit(self.people.layout.cells, 0))

    # Parameters -------------------------------------------------------------------------------

    @property
    def n(self) -> float:
        """The number of people, or the sum of their weights."""
        return self.people.n

    @property
    def d(self) -> int:
        """The number of columns of the model."""
        return self.atoms.C

    @property
    def scaled(self) -> bool:
        """Whether the outcome has a scale: a normal one."""
        return self.family.quadratic

    @property
    def leading(self) -> int:
        """The number of coefficients of the outcome."""
        return self.family.predictors * self.atoms.C

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.leading + self.scaled + (self.link.p - 1) * len(self.cells)

    def split(self, theta: FloatArray) -> tuple[FloatArray, float, FloatArray]:
        """Return the coefficients (r, C), the standard deviation and the logits of pi (J - 1, columns)."""
        k = self.leading
        sigma = float(np.exp(np.clip(theta[k], -300, 300))) if self.scaled else 1.0
        B = theta[k + self.scaled :].reshape(self.link.p - 1, -1)
        return theta[:k].reshape(self.family.predictors, -1), sigma, B

    # Sums -------------------------------------------------------------------------------------

    def parts(self, theta: FloatArray, block: PeopleBlock) -> Parts:
        """Return what the likelihood says of some people."""
        return self._of(theta, block, self.people.rows(block.part))

    def _of(self, theta: FloatArray, block: PeopleBlock, R: FloatArray) -> Parts:
        coefficients, sigma, B = self.split(theta)
        made = self.family.of(self.atoms.predictors(coefficients, block.V, block.offset), block.y)
        shares = self.link.shares(B @ block.V[:, self.cells].T)
        logs = made.loglik / sigma**2 + np.repeat(np.log(np.maximum(shares, 1e-300)), self.people.outcomes, axis=0)
        constant = self.family.constant(block.y)
        if self.scaled:
            constant = constant - np.log(sigma) - _HALF_LN_2PI
        with np.errstate(divide="ignore"):
            logs = logs + constant + np.log(R)
        top = logs.max(axis=0)
        q = np.exp(logs - top)
        total = q.sum(axis=0)
        q /= total
        A, K = made.gradient / sigma**2, made.curvature / sigma**2
        if self.scaled:
            square = -2 * made.loglik / sigma**2
            A = np.concatenate([A, (square - 1)[None]])
            K = np.stack([K[0], 2 * A[0], 2 * square])
        return Parts(top + np.log(total), q, shares, A, K)

    @cached_property
    def places(self) -> tuple[IntArray, IntArray]:
        """The coefficient, by number, and the column of V of each parameter."""
        r, atoms = self.family.predictors, len(self.atoms.z)
        rows = [k * atoms + self.atoms.atom for k in range(r)]
        columns = [self.atoms.seen] * r
        if self.scaled:
            rows.append(np.array([r * atoms]))
            columns.append(np.array([self.people.layout.constant]))
        for k in range(self.link.p - 1):
            rows.append(np.full(len(self.cells), r * atoms + self.scaled + k))
            columns.append(self.cells)
        return np.concatenate(rows), np.concatenate(columns)

    def coefficients(self, parts: Parts) -> FloatArray:
        """Return the coefficients of the scores that people would have in each cell, shape (coefficients, cells, m)."""
        r, cells, m = self.family.predictors, *parts.posterior.shape
        theta = (parts.A[:r, None] * self.atoms.z[None, :, :, None]).reshape(-1, cells, m)
        at = np.repeat(np.arange(self.link.p), self.people.outcomes)
        pi = (at == self.link.free[:, None])[:, :, None] - parts.shares[self.link.free][:, None, :]
        return np.concatenate([theta, parts.A[r:], pi])

    def curvatures(self, parts: Parts) -> FloatArray:
        """Return the mean curvatures of the coefficients over the posterior, shape (coefficients, coefficients, m)."""
        r, atoms, q = self.family.predictors, len(self.atoms.z), parts.posterior
        count = r * atoms + self.scaled + self.link.p - 1
        out = np.zeros((count, count, q.shape[1]))
        for a, b, K in zip(*pairs(r), parts.K[: r * (r + 1) // 2], strict=True):
            block = np.einsum("gc,hc,cm->ghm", self.atoms.z, self.atoms.z, K * q, optimize=True)
            first, second = (slice(k * atoms, (k + 1) * atoms) for k in (a, b))
            out[first, second] = block
            out[second, first] = block
        at = r * atoms
        if self.scaled:
            out[at, :at] = out[:at, at] = self.atoms.z @ (parts.K[1] * q)
            out[at, at] = (parts.K[2] * q).sum(axis=0)
        P = parts.shares[self.link.free]
        out[at + self.scaled :, at + self.scaled :] = -P[:, None] * P
        k = np.arange(at + self.scaled, count)
        out[k, k] += P
        return out

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient."""
        value, gradient = 0.0, np.zeros(self.size)
        row, column = self.places
        for block in self._blocks():
            parts = self.parts(theta, block)
            value += float(block.weighted(parts.loglik).sum())
            mean = np.einsum("acm,cm->am", self.coefficients(parts), parts.posterior)
            gradient += (block.weighted(mean) @ block.V)[row, column]
        return value, gradient

    def full(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the value, its gradient, and minus its second derivatives."""
        value, gradient, J = 0.0, np.zeros(self.size), np.zeros((self.size, self.size))
        row, column = self.places
        for block in self._blocks():
            parts = self.parts(theta, block)
            T, q = self.coefficients(parts), parts.posterior
            mean = np.einsum("acm,cm->am", T, q)
            W = self.curvatures(parts) - np.einsum("acm,bcm->abm", T * q, T) + mean[:, None] * mean
            value += float(block.weighted(parts.loglik).sum())
            gradient += (block.weighted(mean) @ block.V)[row, column]
            J += self.products(block.weighted(W), block.V)
        return value, gradient, J

    def products(self, W: FloatArray, V: FloatArray) -> FloatArray:
        """Return the sums of numbers of each pair of coefficients, times their columns, shape (size, size)."""
        row, column = self.places
        at = [np.flatnonzero(row == a) for a in range(len(W))]
        out = np.empty((self.size, self.size))
        for a, first in enumerate(at):
            for b in range(a, len(at)):
                second = at[b]
                block = weighted_product(W[a, b], V, column[first], column[second])
                out[np.ix_(first, second)] = block
                out[np.ix_(second, first)] = block.T
        return out

    def scores(self, theta: FloatArray, block: PeopleBlock) -> FloatArray:
        """Return each person's score, without their weight, shape (m, size)."""
        row, column = self.places
        parts = self.parts(theta, block)
        mean = np.einsum("acm,cm->am", self.coefficients(parts), parts.posterior)
        return np.ascontiguousarray((mean[row] * block.V.T[column]).T)

    def _blocks(self) -> Iterator[PeopleBlock]:
        """Yield people, fewer at a time where the coefficients are many."""
        count = int(self.places[0].max()) + 1
        return self.people.blocks(max(min(BLOCK, _ENTRIES // (count * max(count, self.people.design.p))), 64))

    def largest_move(self, change: FloatArray) -> float:
        """Return the largest change of a linear predictor of anyone, those of pi among them."""
        coefficients, _, B = self.split(change)
        moves = [float(np.abs(B @ block.V[:, self.cells].T).max(initial=0.0)) for block in self.people.blocks()]
        return max(largest_move(self.people, self.atoms, coefficients), *moves)

    def plain(self) -> Linear:
        """Return plain coordinates: the parameters."""
        return Linear(np.zeros(self.size), np.eye(self.size))
