"""Pearson's test of counts against a stated distribution, and a test of questions by pairs of options."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray, Seed
from subsetprivacy.design import Design
from subsetprivacy.honesty.alarms import DataTest, simulated
from subsetprivacy.honesty.pvalue_method import CHI_SQUARE, are_small, chi_square_pvalue
from subsetprivacy.honesty.resampling import FIRST, NullSampler
from subsetprivacy.mechanism.randomness import SeededSource

MANY_CELLS = 4096  # with more cells, small samples are drawn person by person
_PEOPLE = 500  # people per sample; the distribution of the statistic hardly changes with more
_BLOCK, _MOST_CELLS = 1 << 16, 1 << 21
_CELL, _MEMBERSHIP = 5e-8, 1e-8  # seconds per cell and per membership of a sample


@frozen(eq=False)
class StatedDistribution:
    """Counts and the probabilities to test them against.

    Attributes
    ----------
    observed
        The counts.
    law
        The probabilities, which sum to 1.
    """

    observed: IntArray
    law: FloatArray

    @classmethod
    def of(cls, observed: IntArray, law: FloatArray) -> "StatedDistribution":
        """Return the counts with probabilities that sum to 1 up to rounding."""
        return cls(observed, law / law.sum())

    @property
    def n(self) -> int:
        """The total count."""
        return int(self.observed.sum())

    @property
    def expected(self) -> FloatArray:
        """The expected counts."""
        return self.n * self.law

    @property
    def df(self) -> int:
        """The number of cells minus one."""
        return len(self.law) - 1

    @property
    def statistic(self) -> float:
        """Pearson's statistic."""
        return float(self._distance(self.observed))

    def _distance(self, counts: IntArray) -> FloatArray:
        # By differences, since squares of counts in the billions do not fit in 64 bits.
        expected = self.expected
        return np.asarray(((counts - expected) ** 2 / expected).sum(axis=-1))

    def sampler(self, seed: Seed) -> NullSampler:
        """Return a sampler of the statistic under the stated probabilities."""
        block = max(1, min(200, _MOST_CELLS // len(self.law)))
        return NullSampler(self.statistic, self._draw, _CELL * (10 + len(self.law)), seed, block)

    def _draw(self, generator: np.random.Generator, number: int) -> FloatArray:
        if len(self.law) <= max(MANY_CELLS, 4 * self.n):
            return self._distance(generator.multinomial(self.n, self.law, number))
        ends = np.cumsum(self.law)[:-1]
        people = [np.searchsorted(ends, generator.random(self.n), side="right") for _ in range(number)]
        return np.array([self._distance(np.bincount(sample, minlength=len(self.law))) for sample in people])


def pearson_test(by: str, observed: IntArray, law: FloatArray, seed: Seed, samples: int = FIRST) -> DataTest:
    """Test whether counts follow a stated distribution; small counts are compared with samples drawn from it.

    Parameters
    ----------
    by
        What the cells are.
    observed, law
        Counts and probabilities.
    seed, samples
        The seed of the samples, and how many to draw at first.
    """
    stated = StatedDistribution.of(observed, law)
    if are_small(stated.expected):
        return simulated(by, stated.sampler(seed), samples)
    statistic = stated.statistic
    return DataTest(by, statistic, stated.df, chi_square_pvalue(statistic, stated.df), CHI_SQUARE)


# Pairs of options: where questions are too many to be counted one by one ------------------------


def pair_counts(groups: IntArray, n: IntArray, p: int) -> FloatArray:
    """Return how often each pair of options was in the same group.

    Parameters
    ----------
    groups
        A row of masks for each question: its sides or groups.
    n
        How often each question was asked.
    p
        The number of options.
    """
    together = np.zeros((p, p))
    for start in range(0, len(groups), _BLOCK):
        block = groups[start : start + _BLOCK]
        inside = (block[:, :, None] >> np.arange(p) & 1).astype(np.float64)
        weighted = inside * n[start : start + _BLOCK, None, None]
        together += weighted.reshape(-1, p).T @ inside.reshape(-1, p)
    return together


def has_alike_pairs(design: Design) -> bool:
    """Return whether questions can be compared by pairs: all pairs are alike, and codes are masks."""
    return design.pair_probability is not None and design.code_space == "mask"


def pairs_test(design: Design, groups: IntArray, n: IntArray, seed: Seed, samples: int = FIRST) -> DataTest:
    r"""Test whether questions were drawn by a design that treats all options alike, by pairs of options.

    Parameters
    ----------
    design
        A design for which `has_alike_pairs` is true.
    groups, n
        A row of masks for each question, and how often it was asked.
    seed, samples
        The seed of the samples, and how many to draw at first.

    Notes
    -----
    The statistic is :math:`\sum_{i<j} (n_{ij} - nq)^2/n`. Samples consist of people with questions drawn by the design.
    With more than 500 people its distribution hardly changes, so at most 500 people are drawn.
    """
    q, p = design.pair_probability, design.p
    assert q is not None
    people, m = min(int(n.sum()), _PEOPLE), groups.shape[1]
    above = np.triu_indices(p, 1)

    def distance(together: FloatArray, total: int) -> FloatArray:
        return np.asarray(((together[..., *above] - total * q) ** 2).sum(axis=-1) / total)

    def draw(generator: np.random.Generator, number: int) -> FloatArray:
        asked = np.asarray(design.draw_options(people * number, SeededSource(generator)), np.int64)
        together = np.zeros((number, p, p), np.float32)  # counts below 2^24 are exact in it, and it is faster
        for group in asked.reshape(number, people, m).transpose(2, 0, 1):
            inside = (group[..., None] >> np.arange(p) & 1).astype(np.float32)
            together += inside.transpose(0, 2, 1) @ inside
        return distance(together.astype(np.float64), people)

    statistic = float(distance(pair_counts(groups, n, p), int(n.sum())))
    cost = _MEMBERSHIP * people * m * p
    return simulated("pairs of options", NullSampler(statistic, draw, cost, seed, block=50), samples)
