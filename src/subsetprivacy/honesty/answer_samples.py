r"""Samples for the honesty tests with small counts, in batches.

A sample has the same questions, with answers drawn from the fitted shares. Each sample is fitted by one step of scoring
from those shares, projected on the simplex. This agrees with maximum likelihood to first order, and is thirty times as
fast for many samples. The data are fitted in the same way, from their own shares. The two statistics are those of
`check_honesty`: Pearson's statistic of a free fit, and the squared score for random answers.
"""

from contextlib import suppress

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.estimation.simplex import project_many
from subsetprivacy.honesty.linear import LinearModel, UnconstrainedFit
from subsetprivacy.honesty.random_answers import chance_model
from subsetprivacy.honesty.resampling import NullSampler
from subsetprivacy.honesty.table import tabulate

_SAMPLE, _CELL, _SQUARE = 1.2e-5, 1e-7, 2e-10  # seconds per sample, per cell, and per squared row
_BLOCK, _MOST_CELLS = 200, 1 << 21
_LIFTED = 0.05
_DEPENDENT = 1e-12


@frozen(eq=False)
class _FittedAnswers:
    """A model of the answers, fitted to the data."""

    model: LinearModel
    fit: UnconstrainedFit

    def redraw(self, generator: np.random.Generator, number: int) -> FloatArray:
        """Draw new answers to the same questions from the fit, a row for each sample."""
        table = self.model.table
        slot = np.arange(len(table.codes)) - np.searchsorted(table.question, table.question)
        probabilities = np.zeros((len(table.asked), int(slot.max()) + 1))
        probabilities[table.question, slot] = self.fit.expected
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        drawn = generator.multinomial(table.asked, probabilities, (number, len(table.asked)))
        return drawn[:, table.question, slot].astype(np.float64)

    def refit(self, observed: FloatArray) -> FloatArray:
        """Return the shares fitted to each row: one step from those of the data, moved slightly off the boundary."""
        table, rows = self.model.table, self.model.rows
        size = self.fit.expected / table.exposure
        score = rows.spread((observed - self.fit.expected) / size)
        free = self.fit.start + self.fit.solver.solve(score.T).T
        lift = min(rows.p / table.n, _LIFTED)
        return np.asarray((1 - lift) * project_many(free) + lift / rows.p)

    def unexplained(self, observed: FloatArray) -> FloatArray:
        """Return Pearson's statistic of the free fit to each row."""
        table, rows = self.model.table, self.model.rows
        L = rows.inner(self.refit(observed))
        E = table.exposure * L
        g, H = rows.spread((observed - E) / L), rows.gram(table.exposure / L)
        return np.asarray(((observed - E) ** 2 / E).sum(axis=-1) - (g * _solve(H, g, self.model.rank)).sum(axis=-1))

    def by_chance(self, observed: FloatArray, chance: LinearModel) -> FloatArray:
        """Return the squared score for random answers of each row; 0 if it points to a negative share."""
        table, rows = self.model.table, chance.rows
        L = self.model.rows.inner(self.refit(observed))
        g, H = rows.spread((observed - table.exposure * L) / L), rows.gram(table.exposure / L)
        unit = np.zeros_like(g)
        unit[..., -1] = 1.0
        share, variance = (_solve(H, b, chance.rank)[..., -1] for b in (g, unit))
        return np.asarray(np.maximum(share / np.sqrt(variance), 0.0) ** 2)


def _solve(H: FloatArray, b: FloatArray, rank: int) -> FloatArray:
    """Return x with Hx = b for each matrix, the shortest solution if H is singular."""
    d = 1 / np.sqrt(np.maximum(np.diagonal(H, axis1=-2, axis2=-1), 1e-300))
    scaled, right = H * d[..., None] * d[..., None, :], (d * b)[..., None]
    if rank == H.shape[-1]:
        with suppress(np.linalg.LinAlgError):  # nearly singular after all
            return np.asarray(d * np.linalg.solve(scaled, right)[..., 0])
    values, vectors = np.linalg.eigh(scaled)
    V = vectors[..., -rank:] / np.sqrt(np.maximum(values[..., None, -rank:], _DEPENDENT))
    return np.asarray(d * (V @ (np.swapaxes(V, -1, -2) @ right))[..., 0])


def answer_samplers(counts: SubsetCounts, seeds: tuple[int, int]) -> tuple[NullSampler, NullSampler | None]:
    """Return the samplers of two tests: that some shares explain the answers, and that no one answers at random.

    Parameters
    ----------
    counts
        The answers, of a design that leaves a degree of freedom.
    seeds
        A seed for each test.
    """
    model = LinearModel(tabulate(counts))
    chance, _ = chance_model(model)
    observed = model.table.observed
    fitted = _FittedAnswers(model, model.step(observed, model.estimate(observed)))
    cells, p = len(observed), model.rows.p
    cost, block = _SAMPLE + cells * (_CELL + _SQUARE * p**2), max(1, min(_BLOCK, _MOST_CELLS // (cells * p)))
    answers = NullSampler(
        float(fitted.unexplained(observed[None])[0]),
        lambda generator, number: fitted.unexplained(fitted.redraw(generator, number)),
        cost,
        seeds[0],
        block,
    )
    if chance is None:
        return answers, None
    random = NullSampler(
        float(fitted.by_chance(observed[None], chance)[0]),
        lambda generator, number: fitted.by_chance(fitted.redraw(generator, number), chance),
        cost,
        seeds[1],
        block,
    )
    return answers, random
