r"""The likelihood of an outcome and a subset: :math:`\sum_i \ln \sum_j r_i(j)\,\pi_j(v_i)\,f(y_i \mid x_{ij};\theta)`.

:math:`\pi` is a multinomial logit of the private cell on the observed columns, f the normal, binomial, Poisson or
multinomial density. With the posterior :math:`q_j \propto r_j \pi_j f_j` and the scores :math:`t_j` that person i would
have in cell j, the score is :math:`s = \sum_j q_j t_j` and minus the second derivative is
:math:`\sum_j q_j (K_j - t_j t_j^\top) + s s^\top` with the curvatures :math:`K_j`: the information of the cells minus
what the subset hides.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.predictors.atoms import Atoms
from subsetprivacy.predictors.corrected import largest_move
from subsetprivacy.predictors.families import OutcomeDensity
from subsetprivacy.predictors.people import CellPeople, PeopleBlock
from subsetprivacy.regression.blocks import BLOCK
from subsetprivacy.regression.coordinates import Linear
from subsetprivacy.regression.links import MultinomialLogit, pairs
from subsetprivacy.regression.specification import Support, support_of_draws

_ENTRIES = 1 << 20  # largest number of coefficients in a block
_HALF_LN_2PI = 0.5 * float(np.log(2 * np.pi))


@frozen(eq=False, repr=False)
class MixtureTerms:
    """The likelihood of some people and the terms of its derivatives.

    Attributes
    ----------
    loglik
        Log-likelihood, shape (m,).
    posterior
        The posterior of the cell, shape (cells, m).
    shares
        The distribution of the private predictors given the observed columns, shape (J, m).
    A
        The coefficients of the scores in each cell: for the predictors (r, cells, m), then, for a normal outcome, for
        the logarithm of its standard deviation (1, cells, m).
    K
        The curvatures of these, as upper triangles, shape (.., cells, m).
    """

    loglik: FloatArray
    posterior: FloatArray
    shares: FloatArray
    A: FloatArray
    K: FloatArray


@frozen(slots=False, eq=False, repr=False)
class MixtureObjective:
    """The log-likelihood of all people.

    Its parameters are theta, shape (r C,), the logarithm of the scale if any, and the logits of pi.

    Attributes
    ----------
    people, atoms, family
        The people, the columns of the model and the model of the outcome.
    cells
        The columns of V that pi depends on, including the constant, without linear combinations of others.
    """

    people: CellPeople
    atoms: Atoms
    family: OutcomeDensity
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
        """Whether the outcome has a scale, as a normal one does."""
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

    def parts(self, theta: FloatArray, block: PeopleBlock) -> MixtureTerms:
        """Return the terms of the likelihood of some people."""
        return self._of(theta, block, self.people.rows(block.part))

    def before(self, theta: FloatArray, block: PeopleBlock) -> MixtureTerms:
        """Return the same without using the subsets: the posterior is given columns and outcome only."""
        return self._of(theta, block, np.ones((self.people.design.p, len(block.V))))

    def _of(self, theta: FloatArray, block: PeopleBlock, R: FloatArray) -> MixtureTerms:
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
        return MixtureTerms(top + np.log(total), q, shares, A, K)

    @cached_property
    def places(self) -> tuple[IntArray, IntArray]:
        """The number of the coefficient and the column of V of each parameter."""
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

    def coefficients(self, parts: MixtureTerms) -> FloatArray:
        """Return the coefficients of people's scores in each cell, shape (coefficients, cells, m)."""
        r, cells, m = self.family.predictors, *parts.posterior.shape
        theta = (parts.A[:r, None] * self.atoms.z[None, :, :, None]).reshape(-1, cells, m)
        at = np.repeat(np.arange(self.link.p), self.people.outcomes)
        pi = (at == self.link.free[:, None])[:, :, None] - parts.shares[self.link.free][:, None, :]
        return np.concatenate([theta, parts.A[r:], pi])

    @cached_property
    def _cell_of(self) -> FloatArray:
        """Whether a cell, with its outcome, belongs to a private cell, shape (J, cells)."""
        return np.repeat(np.eye(self.link.p), self.people.outcomes, axis=1)

    @cached_property
    def _squares(self) -> FloatArray:
        """The products of the numbers of two atoms, shape (atoms * atoms, cells)."""
        z = self.atoms.z
        return np.ascontiguousarray((z[:, None] * z[None]).reshape(-1, z.shape[1]))

    def means(self, parts: MixtureTerms) -> FloatArray:
        """Return the coefficients of the scores, shape (coefficients, m)."""
        F = parts.A * parts.posterior
        r = self.family.predictors
        theta = self.atoms.collected(F[:r]).reshape(-1, F.shape[-1])
        pi = (self._cell_of @ parts.posterior - parts.shares)[self.link.free]
        return np.concatenate([theta, F[r:].sum(axis=1), pi])

    def information(self, parts: MixtureTerms) -> FloatArray:
        """Return the observed information of the coefficients, shape (coefficients, coefficients, m).

        It is the posterior mean of the curvature minus the squared score in each cell, plus the square of the mean
        score. The scores of pi are indicators up to a constant.
        """
        r, atoms, q, free = self.family.predictors, len(self.atoms.z), parts.posterior, self.link.free
        m, at = q.shape[1], self.family.predictors * atoms
        F, first = parts.A * q, at + self.scaled
        out = np.zeros((first + self.link.p - 1, first + self.link.p - 1, m))
        for a, b, K in zip(*pairs(r), parts.K[: r * (r + 1) // 2], strict=True):
            block = (self._squares @ (q * K - F[a] * parts.A[b])).reshape(atoms, atoms, m)
            rows, columns = (slice(k * atoms, (k + 1) * atoms) for k in (a, b))
            out[rows, columns] = out[columns, rows] = block
        by_cell = (self.atoms.z[:, None] * self._cell_of) @ F[:r, None]  # (r, atoms, J, m)
        out[:at, first:] = -by_cell.reshape(at, self.link.p, m)[:, free]
        if self.scaled:
            out[:at, at] = out[at, :at] = self.atoms.z @ (q * parts.K[1] - F[0] * parts.A[1])
            out[at, at] = (q * parts.K[2] - F[1] * parts.A[1]).sum(axis=0)
            out[at, first:] = -(self._cell_of @ F[1])[free]
        out[first:, :first] = np.swapaxes(out[:first, first:], 0, 1)
        P, posterior = parts.shares[free], (self._cell_of @ q)[free]
        out[first:, first:] = -P[:, None] * P
        k = np.arange(first, len(out))
        out[k, k] += P - posterior
        mean = np.concatenate([self.means(parts)[:first], posterior])
        return np.asarray(out + mean[:, None] * mean)

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient."""
        value, gradient = 0.0, np.zeros(self.size)
        row, column = self.places
        for block in self._blocks():
            parts = self.parts(theta, block)
            value += float(block.weighted(parts.loglik).sum())
            gradient += (block.weighted(self.means(parts)) @ block.V)[row, column]
        return value, gradient

    def full(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the value, its gradient, and minus its second derivatives."""
        value, gradient, J = 0.0, np.zeros(self.size), np.zeros((self.size, self.size))
        row, column = self.places
        for block in self._blocks():
            parts = self.parts(theta, block)
            value += float(block.weighted(parts.loglik).sum())
            gradient += (block.weighted(self.means(parts)) @ block.V)[row, column]
            J += self.products(block.weighted(self.information(parts)), block.V)
        return value, gradient, J

    def of_values(self, theta: FloatArray) -> FloatArray:
        """Return the expected information of the cells about the coefficients, given the data."""
        r, C = self.family.predictors, self.atoms.C
        J = np.zeros((r, C, r, C))
        for block in self._blocks():
            parts = self.parts(theta, block)
            for a, b, K in zip(*pairs(r), parts.K[: r * (r + 1) // 2], strict=True):
                part = self.atoms.information(block.weighted(parts.posterior * K), block.V)
                J[a, :, b] += part
                if a != b:
                    J[b, :, a] += part
        return J.reshape(r * C, r * C)

    def products(self, W: FloatArray, V: FloatArray) -> FloatArray:
        """Return the sums of a number for each pair of coefficients, times their columns, shape (size, size)."""
        row, column = self.places
        count, d = len(W), V.shape[1]
        left, right = pairs(count)
        first, second = pairs(d)
        sums = np.zeros((len(left), len(first)))
        step = max(_ENTRIES // len(first), 64)
        for start in range(0, len(V), step):
            part = slice(start, start + step)
            sums += W[left, right, part] @ (V[part][:, first] * V[part][:, second])
        full = np.empty((count, count, d, d))
        full[left[:, None], right[:, None], first, second] = sums
        full[left[:, None], right[:, None], second, first] = sums
        full[right[:, None], left[:, None], first, second] = sums
        full[right[:, None], left[:, None], second, first] = sums
        return full[row[:, None], row[None, :], column[:, None], column[None, :]]

    def scores(self, theta: FloatArray, block: PeopleBlock, cells: FloatArray | None = None) -> FloatArray:
        """Return each person's score, without their weight, shape (m, size).

        Parameters
        ----------
        cells
            The posterior of the cells, shape (cells, m), by default that of the people.
        """
        row, column = self.places
        parts = self.parts(theta, block) if cells is None else evolve(self.before(theta, block), posterior=cells)
        mean = self.means(parts)
        return np.ascontiguousarray((mean[row] * block.V.T[column]).T)

    @cached_property
    def _support(self) -> Support:
        return support_of_draws(self.people.design, len(self.people))

    def over_draws(self, theta: FloatArray, block: PeopleBlock) -> tuple[FloatArray, FloatArray]:
        """Return the mean posterior over the draws, by cell, shape (cells, cells, m), and unbiased indicators."""
        return self._support.over_draws(self.before(theta, block).posterior, self.people.rows(block.part))

    def _blocks(self) -> Iterator[PeopleBlock]:
        """Yield people in blocks, which are smaller if there are many coefficients."""
        count = int(self.places[0].max()) + 1
        return self.people.blocks(max(min(BLOCK, _ENTRIES // count**2), 64))

    def largest_move(self, change: FloatArray) -> float:
        """Return the largest change of any person's linear predictor, including those of pi."""
        coefficients, _, B = self.split(change)
        moves = [float(np.abs(B @ block.V[:, self.cells].T).max(initial=0.0)) for block in self.people.blocks()]
        return max(largest_move(self.people, self.atoms, coefficients), *moves)

    def plain(self) -> Linear:
        """Return plain coordinates: the parameters."""
        return Linear(np.zeros(self.size), np.eye(self.size))
