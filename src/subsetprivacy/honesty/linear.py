r"""The unconstrained fit of a linear model to the answers.

Pearson's statistic at the maximum likelihood estimate has a chi-square distribution only if no weight is near zero. On
the boundary the fit is too constrained to follow the noise, and honest answers are rejected too often (8% instead of
5% for Adult race with 500 people). So the weights of the statistic come from an estimate in the simplex, but the fit is
unconstrained:

.. math:: X^2 = \min_d \sum_a \frac{(n_a - t_a r_a^\top(w + d))^2}{t_a r_a^\top w}
          = \sum_a \frac{(n_a - E_a)^2}{E_a} - g^\top H^{-1} g,

with :math:`g = \sum_a (n_a - E_a) r_a / L_a`, :math:`H = \sum_a (t_a / L_a)\, r_a r_a^\top`. At an estimate without
zeros, the score g vanishes and this is Pearson's statistic. Elsewhere it also has a chi-square distribution (Neyman's
C(α)). Because :math:`Hw = n1`, the step sums to zero, and the covariance of the free estimate on the plane :math:`\sum
w = 1` is :math:`H^{-1} - ww^\top/n`.
"""

from functools import cached_property

import numpy as np
from attrs import frozen
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.simplex import project
from subsetprivacy.honesty.table import AnswerTable
from subsetprivacy.incidence import Incidence

MOST_EXACT = 400  # with more categories, maximum likelihood with many zeros takes seconds
_MOST_LIFTED = 0.05
_REGULAR = 1e-9
_DEPENDENT = 1e-12  # rows are small numbers, so dependence is clear up to rounding


class RandomAnswerRows:
    """Rows [r_a, 1/m]: people who pick one of the m answers at random form an additional category."""

    def __init__(self, base: Incidence, chance: float) -> None:
        self._base, self._chance = base, chance

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._base.rows

    @property
    def p(self) -> int:
        """The number of categories plus one."""
        return self._base.p + 1

    def inner(self, w: FloatArray) -> FloatArray:
        """Return r_a'w + rho/m."""
        return self._base.inner(w[..., :-1]) + self._chance * w[..., -1:]

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of y_a [r_a, 1/m]."""
        return np.concatenate([self._base.spread(r), self._chance * r.sum(axis=-1, keepdims=True)], axis=-1)

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a times the outer square of the row."""
        p = self._base.p
        out = np.empty((*y.shape[:-1], p + 1, p + 1))
        out[..., :p, :p] = self._base.gram(y)
        out[..., p, :p] = out[..., :p, p] = self._chance * self._base.spread(y)
        out[..., p, p] = self._chance**2 * y.sum(axis=-1)
        return out


@frozen(slots=False, eq=False)
class LinearModel:
    """The model of a table of answers; with `chance`, a share of people answer at random."""

    table: AnswerTable
    chance: float | None = None

    def _rows_of(self, codes: IntArray) -> Incidence:
        base = self.table.design.incidence(codes)
        return base if self.chance is None else RandomAnswerRows(base, self.chance)

    @cached_property
    def rows(self) -> Incidence:
        """The rows of all cells."""
        return self._rows_of(self.table.codes)

    @cached_property
    def rank(self) -> int:
        """The number of identifiable directions of the weights."""
        gram = self.rows.gram(np.ones(self.rows.rows))
        return len(gram) if _is_regular(gram) else int((np.linalg.eigvalsh(gram) > _DEPENDENT * np.trace(gram)).sum())

    @property
    def df(self) -> int:
        """The remaining degrees of freedom. The constraint that weights sum to one uses one direction."""
        return self.table.free_cells - (self.rank - 1)

    def estimate(self, observed: FloatArray) -> FloatArray:
        """Return an estimate in the simplex for the weights of the statistic, moved slightly off the boundary.

        Any root-n consistent estimate works: maximum likelihood, or the projection of a free fit if that is too slow.
        About one person is added per category.
        """
        p = self.rows.p
        if p <= MOST_EXACT:
            seen = observed > 0
            w = newton(self._rows_of(self.table.codes[seen]), observed[seen] / self.table.n).w
        else:
            w = project(self.step(observed, np.full(p, 1 / p)).free)
        lift = min(p / self.table.n, _MOST_LIFTED)
        return (1 - lift) * w + lift / p

    def step(self, observed: FloatArray, w: FloatArray) -> "UnconstrainedFit":
        """Fit freely from w: one step of scoring."""
        L = self.rows.inner(w)
        E = self.table.exposure * L
        g = self.rows.spread((observed - E) / L)
        H = self.rows.gram(self.table.exposure / L)
        solver = Solver(H, self.rank)
        change = solver.solve(g)
        statistic = float(((observed - E) ** 2 / E).sum() - g @ change)
        return UnconstrainedFit(w, change, max(statistic, 0.0), E, solver)


@frozen(slots=False, eq=False)
class UnconstrainedFit:
    """An unconstrained fit: its start, the change, and the unexplained part."""

    start: FloatArray
    change: FloatArray
    statistic: float
    expected: FloatArray
    solver: "Solver"

    @property
    def free(self) -> FloatArray:
        """The unconstrained estimate; entries can be negative."""
        return self.start + self.change

    def covariance(self, n: float) -> FloatArray:
        """Return the covariance of the unconstrained estimate."""
        return self.solver.solve(np.eye(len(self.start))) - np.outer(self.start, self.start) / n

    def last(self) -> tuple[float, float]:
        """Return the last entry of the change and its standard error, for an entry that is 0 at the start."""
        unit = np.zeros(len(self.start))
        unit[-1] = 1.0
        return float(self.change[-1]), float(np.sqrt(self.solver.solve(unit)[-1]))


class Solver:
    """Solutions of Hx = b, the shortest solution if H is singular."""

    def __init__(self, H: FloatArray, rank: int) -> None:
        # A unit diagonal, since cells may differ by many orders of magnitude.
        self._d = 1 / np.sqrt(np.maximum(H.diagonal(), 1e-300))
        scaled = H * self._d * self._d[:, None]
        self._factor: FloatArray | None = None
        if rank == len(H):
            factor, info = dpotrf(scaled)
            self._factor = factor if info == 0 else None
        if self._factor is None:
            values, vectors = np.linalg.eigh(scaled)
            kept = slice(len(H) - rank, None)
            self._V = vectors[:, kept] / np.sqrt(values[kept])

    def solve(self, b: FloatArray) -> FloatArray:
        """Return x with Hx = b for a vector, or for each column of a matrix."""
        d = self._d if b.ndim == 1 else self._d[:, None]
        if self._factor is None:
            return d * (self._V @ (self._V.T @ (d * b)))
        return d * dpotrs(self._factor, d * b)[0]


def _is_regular(gram: FloatArray) -> bool:
    """Return whether a matrix clearly has full rank, without computing eigenvalues."""
    factor, info = dpotrf(gram)
    return info == 0 and dpocon(factor, np.abs(gram).sum(axis=0).max())[0] > _REGULAR
