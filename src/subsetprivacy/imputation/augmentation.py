r"""Draws of the shares from their posterior, by data augmentation.

With the prior :math:`w \sim \mathrm{Dirichlet}(c, \dots, c)` each chain alternates two exact draws. The first is the
number of people with each value within every distinct subset, multinomial with probabilities
:math:`r_a(j) w_j / r_a^\top w`. The second is :math:`w \sim \mathrm{Dirichlet}(n_1 + c, \dots, n_p + c)`. The
stationary distribution is the posterior of w given the subsets, even if shares are near 0 and a normal approximation
fails (Tanner and Wong 1987).
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.estimation.likelihood import tangent_inverse

LEAST_STEPS, MOST_STEPS = 20, 500
_LENGTHS = 2.5  # length of a chain, in multiples of the slowest direction's relaxation time
_CELLS = 1 << 22  # numbers drawn at a time


@frozen(eq=False, repr=False)
class Augmentation:
    """The distinct subsets of some people, prepared for data augmentation.

    Attributes
    ----------
    rows
        The rows of the distinct subsets, shape (subsets, p).
    people
        How many people reported each.
    prior
        The number of people that the prior adds to each category.
    """

    rows: FloatArray
    people: FloatArray
    prior: float

    @classmethod
    def of(cls, counts: SubsetCounts, prior: float) -> "Augmentation":
        """Return the augmentation of counts of people."""
        return cls(rows_of(counts.observed_codes, counts.design).T, counts.n_a, prior)

    def step(self, W: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the next shares of several chains, shape (chains, p)."""
        out = np.empty_like(W)
        at_once = max(_CELLS // self.rows.size, 1)
        people = self.people.astype(np.int64)
        for start in range(0, len(W), at_once):
            part = slice(start, start + at_once)
            q = W[part, None, :] * self.rows
            q /= q.sum(axis=2, keepdims=True)
            values = rng.multinomial(people, q).sum(axis=1)
            out[part] = _dirichlet(values + self.prior, rng)
        return out

    def information_kept(self, w: FloatArray) -> float:
        """Return the smallest share of the information about w that subsets keep, over all directions."""
        f = self.people / self.people.sum()
        information = (self.rows.T * (f / (self.rows @ w) ** 2)) @ self.rows
        root = np.sqrt(w)
        return float(np.linalg.eigvalsh(root[:, None] * information * root)[0])


def _dirichlet(alpha: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a Dirichlet draw for each row. No share is exactly 0, because a chain could not leave it."""
    draws = np.maximum(rng.standard_gamma(alpha), 1e-300)
    return np.asarray(draws / draws.sum(axis=1, keepdims=True))


def posterior_shares(counts: SubsetCounts, m: int, prior: float, rng: np.random.Generator) -> FloatArray:
    """Return m independent draws of the shares from their posterior, shape (m, p).

    Notes
    -----
    Each draw is the end of a separate chain, which starts at a draw from the normal approximation. A chain has 20 to
    500 steps, depending on the information that subsets keep.
    """
    w = estimate(counts).w
    chain = Augmentation.of(counts, prior)
    f = chain.people / chain.people.sum()
    inside = (np.maximum(w, 0) * counts.n + prior) / (counts.n + prior * len(w))
    information = (chain.rows.T * (f / (chain.rows @ inside) ** 2)) @ chain.rows
    cov = tangent_inverse(information) / counts.n
    cov = np.where(np.isfinite(cov), cov, 0.0)
    spread = np.sqrt(cov.diagonal())
    W = np.abs(inside + rng.standard_normal((m, len(w))) @ _root(cov).T)
    W = np.maximum(W, 1e-12)
    W /= W.sum(axis=1, keepdims=True)
    typical = np.maximum(inside, spread)
    kept = chain.information_kept(typical / typical.sum())
    for _ in range(int(np.clip(np.ceil(_LENGTHS / max(kept, 1e-9)), LEAST_STEPS, MOST_STEPS))):
        W = chain.step(W, rng)
    return W


def _root(cov: FloatArray) -> FloatArray:
    """Return a square root of a covariance matrix, which may be singular."""
    values, vectors = np.linalg.eigh(cov)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def normal_draws(mean: FloatArray, cov: FloatArray, m: int, rng: np.random.Generator) -> FloatArray:
    """Return m draws from a normal distribution whose covariance may be singular, shape (m, k)."""
    return np.asarray(mean + rng.standard_normal((m, len(mean))) @ _root(cov).T)
