r"""Corrected scores: :math:`\sum_i\sum_j D_{ij}\,\psi(y_i, x_{ij};\theta) = 0`.

The mean of the indicators D is the true cell. The mean of the equations is therefore that of the equations on the true
cells, for any distribution of the private value, of the observed columns and of the errors. The equations are the
derivative of :math:`\sum_{ij} D_{ij}\, l(y_i, x_{ij}^\top\theta)`, which is maximized. Indicators may be negative, so
it need not be concave, and for logit and Poisson models it may have no maximum.
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy.estimation.indicator import too_rare
from subsetprivacy.predictors.atoms import Atoms
from subsetprivacy.predictors.families import OutcomeDensity
from subsetprivacy.predictors.indicators import Indicators
from subsetprivacy.predictors.people import CellPeople, PeopleBlock
from subsetprivacy.predictors.problem import OutcomeProblem
from subsetprivacy.regression.coordinates import Linear
from subsetprivacy.regression.links import pairs
from subsetprivacy.tables import label_text

_OUTCOMES = 1.0  # standard errors between the information that outcomes show and 0
_PLENTY = 10.0  # standard errors above 0 at which the first people decide for all


@frozen(eq=False, repr=False)
class CorrectedObjective:
    """The corrected log-likelihood of all people.

    Attributes
    ----------
    people, atoms, family
        The people, the columns of the model and the model of the outcome.
    indicators
        The indicators that replace each person's cell.
    """

    people: CellPeople
    atoms: Atoms
    family: OutcomeDensity
    indicators: Indicators

    @property
    def n(self) -> float:
        """The number of people, or the sum of their weights."""
        return self.people.n

    @property
    def d(self) -> int:
        """The number of columns of the model."""
        return self.atoms.C

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.family.predictors * self.atoms.C

    def _predictors(self, theta: FloatArray, block: PeopleBlock) -> FloatArray:
        return self.atoms.predictors(theta.reshape(self.family.predictors, -1), block.V, block.offset)

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient."""
        value, gradient, _ = self._sums(theta, curvature=False)
        return value, gradient

    def full(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the value, its gradient, and minus its second derivatives."""
        return self._sums(theta, curvature=True)

    def _sums(self, theta: FloatArray, *, curvature: bool) -> tuple[float, FloatArray, FloatArray]:
        r, C = self.family.predictors, self.atoms.C
        first, second = pairs(r)
        value, gradient, J = 0.0, np.zeros((r, C)), np.zeros((r, C, r, C))
        for block in self.people.blocks():
            D = block.weighted(self.indicators(block.part))
            made = self.family.of(self._predictors(theta, block), block.y)
            value += float(np.vdot(D, made.loglik))
            gradient += self.atoms.gradient(self.atoms.collected(made.gradient * D), block.V)
            if not curvature:
                continue
            for a, b, K in zip(first, second, made.curvature, strict=True):
                part = self.atoms.information(K * D, block.V)
                J[a, :, b] += part
                if a != b:
                    J[b, :, a] += part
        return value, gradient.ravel(), J.reshape(self.size, self.size)

    def scores(self, theta: FloatArray, block: PeopleBlock, cells: FloatArray | None = None) -> FloatArray:
        """Return each person's score, without their weight, shape (m, size).

        Parameters
        ----------
        cells
            The indicators of the cells, shape (cells, m), by default those of the people.
        """
        G = self.family.gradient(self._predictors(theta, block), block.y)
        return self.atoms.scores(self.atoms.collected(G * self._cells(block, cells)), block.V)

    def _cells(self, block: PeopleBlock, cells: FloatArray | None) -> FloatArray:
        return self.indicators(block.part) if cells is None else cells

    def over_draws(self, theta: FloatArray, block: PeopleBlock) -> tuple[FloatArray, FloatArray]:
        """Return the mean over the draws of the indicators, by cell, shape (cells, cells, m), and the indicators."""
        D = self.indicators(block.part)
        return np.broadcast_to(np.eye(len(D))[:, :, None], (len(D), *D.shape)), D

    def largest_move(self, change: FloatArray) -> float:
        """Return the largest change of any person's linear predictor."""
        return largest_move(self.people, self.atoms, change.reshape(self.family.predictors, -1))

    def plain(self) -> Linear:
        """Return plain coordinates: the parameters."""
        return Linear(np.zeros(self.size), np.eye(self.size))


def largest_move(people: CellPeople, atoms: Atoms, change: FloatArray) -> float:
    """Return the largest change of any linear predictor, over people and cells, for a change of shape (r, C)."""
    return max(float(np.abs(atoms.predictors(change, block.V)).max(initial=0.0)) for block in people.blocks())


def too_few(objective: CorrectedObjective, theta: FloatArray, directions: FloatArray, *, frequency: bool) -> BoolArray:
    r"""Tell for which combinations of coefficients the estimated information is too close to 0.

    A combination with the direction :math:`a = J^{-1} e`, where e has its weights, has the information
    :math:`a^\top J a = \sum_{ij} D_{ij} K_{ij} (x_{ij}^\top a)^2`. For the mean of a category this is the estimated
    number of its people up to a factor. It must be more than two standard errors above 0, as in `group_means`. For a
    logarithm or a logit of a mean, the outcomes must exceed one: the events of a category, for instance.

    The standard error has only the noise of the draws: :math:`(\sum_j D_{ij} g_{ij})^2 - \sum_j D_{ij} g_{ij}^2` is an
    unbiased estimate of the variance that the draw of person i's subset adds to :math:`\sum_j D_{ij} g_{ij}`.

    Parameters
    ----------
    objective, theta
        The objective with the indicators, and the coefficients, of any method.
    directions
        The directions, one in each column.
    frequency
        Whether weights count people.
    """
    r, family = objective.family.predictors, objective.family
    first, second = pairs(r)
    scale = np.abs(directions).max(axis=0)
    changes = (directions / np.where(scale > 0, scale, 1.0)).T.reshape(-1, r, objective.atoms.C)
    total, noise = np.zeros((2, 2, len(changes)))
    for block in objective.people.blocks():
        D = objective.indicators(block.part)
        U = objective._predictors(theta, block)
        curvature = family.of(U, block.y).curvature
        for k, change in enumerate(changes):
            T = objective.atoms.predictors(change, block.V)
            pieces = zip(first, second, curvature, strict=True)
            fixed = sum((1 if a == b else 2) * K * T[a] * T[b] for a, b, K in pieces)
            for kind, g in enumerate((fixed, family.outcomes(U, block.y, T))):
                each = block.weighted((D * g).sum(axis=0))
                added = (D * g).sum(axis=0) ** 2 - (D * g**2).sum(axis=0)
                total[kind, k] += each.sum()
                noise[kind, k] += (block.weighted(added) if frequency else block.weighted(block.weighted(added))).sum()
        if (total > _PLENTY * np.sqrt(np.maximum(noise, 0.0))).all():  # the other people only add information
            return np.zeros(len(changes), np.bool_)
    people, outcomes = np.sqrt(np.maximum(noise, 0.0))
    return (scale > 0) & (too_rare(total[0], people) | too_rare(total[1], outcomes, _OUTCOMES))


def estimated_counts(objective: CorrectedObjective) -> FloatArray:
    """Return the indicators' estimates for every cell, shape (kinds, cells).

    The rows are the number of people, of people with outcome 1 (or of events), and of people with outcome 0.
    """
    people = objective.people
    out = np.zeros((3, people.design.p))
    for block in people.blocks():
        D = block.weighted(objective.indicators(block.part))
        y = np.broadcast_to(block.y, D.shape)
        out += np.stack([D.sum(axis=1), (D * y).sum(axis=1), (D * (1 - y)).sum(axis=1)])
    return out


def negative_counts(problem: OutcomeProblem, objective: CorrectedObjective) -> tuple[str, ...]:
    """Return the names of private categories with a negative count of all people or of one outcome.

    If no count is negative, return the category with the smallest, which may be negative at some observed columns.
    """
    layout, counts = problem.layout, estimated_counts(objective)
    kinds = {"linear": (0,), "poisson": (0, 1), "logit": (0, 1, 2)}[problem.family]
    least = []
    for name, categories in layout.private.items():
        where = np.repeat(layout.coordinate(name), problem.people.outcomes)
        for j, label in enumerate(categories.labels):
            if problem.people.private_outcome:
                of = _by_outcome(counts[0], where == j, problem.people.outcomes)
            else:
                of = [float(counts[kind, where == j].sum()) for kind in kinds]
            least.append((min(of), f"{name}[{label_text(label)}]"))
    named = [name for count, name in least if count <= 0]
    return tuple(named or [min(least)[1]])


def _by_outcome(counts: FloatArray, inside: FloatArray, outcomes: int) -> list[float]:
    """Return the counts of each category of a private outcome among the cells inside."""
    return list((counts * inside).reshape(-1, outcomes).sum(axis=0).astype(float))
