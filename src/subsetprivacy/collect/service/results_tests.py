"""Tests of counts against a stated law, with a law of their own where counts are small."""

from collections.abc import Callable

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Design
from subsetprivacy.honesty.laws import CHI_SQUARE, chi_square_pvalue, resampled_pvalue
from subsetprivacy.mechanism.randomness import SeededSource

ALARM = 0.01  # checks are many: a p-value below this is an alarm
REPLICATIONS = 199
SIMULATED = f"simulated ({REPLICATIONS})"
_PEOPLE = 500  # whose draws make the law of a statistic that has settled by then
_BLOCK = 1 << 16


@frozen
class Test:
    """A test: what was looked at, the statistic, and how likely one at least as large is by chance.

    Attributes
    ----------
    by
        What the people are told apart by: "questions", "options", "pairs of options", "positions", "sides".
    df
        The degrees of freedom; None where the law is not chi-square.
    law
        What the p-value rests on: "chi-square", "simulated (199)", "exact", "normal".
    """

    __test__ = False  # no class of pytest's

    by: str
    statistic: float
    df: int | None
    pvalue: float
    law: str

    @property
    def is_alarm(self) -> bool:
        """Whether chance hardly explains it."""
        return self.pvalue < ALARM


def are_small(expected: FloatArray) -> bool:
    """Tell by Cochran's rule whether expected counts are too small for the chi-square law."""
    return bool(expected.min() < 1 or (expected < 5).mean() > 0.2)


def pearson_test(by: str, observed: IntArray, law: FloatArray, seed: int) -> Test:
    """Test whether counts follow a law, by Pearson's statistic."""
    n = int(observed.sum())
    expected = n * law / law.sum()

    def distance(counts: IntArray) -> float:
        return float(((counts - expected) ** 2 / expected).sum())

    statistic = distance(observed)
    if not are_small(expected):
        return Test(by, statistic, len(law) - 1, chi_square_pvalue(statistic, len(law) - 1), CHI_SQUARE)
    generator = np.random.default_rng(seed)
    return simulated_test(by, statistic, lambda: distance(generator.multinomial(n, law / law.sum())))


def simulated_test(by: str, statistic: float, draw: Callable[[], float]) -> Test:
    """Compare a statistic with others that are drawn under the hypothesis."""
    drawn = np.array([draw() for _ in range(REPLICATIONS)])
    return Test(by, statistic, None, resampled_pvalue(drawn, statistic), SIMULATED)


# Pairs of options: where questions are too many to be counted one by one ------------------------


def pair_counts(groups: IntArray, n: IntArray, p: int) -> FloatArray:
    """Return how often each pair of options stood in the same group.

    Parameters
    ----------
    groups
        A row of codes for each question: its sides or groups.
    n
        How often each question was asked.
    p
        The number of options.
    """
    together = np.zeros((p, p))
    for start in range(0, len(groups), _BLOCK):
        block = groups[start : start + _BLOCK]
        held = (block[:, :, None] >> np.arange(p) & 1).astype(np.float64)
        weighted = held * n[start : start + _BLOCK, None, None]
        together += weighted.reshape(-1, p).T @ held.reshape(-1, p)
    return together


def pairs_test(design: Design, groups: IntArray, n: IntArray, seed: int) -> Test:
    r"""Test whether questions were drawn by a design that treats all options alike, by the pairs in one group.

    Notes
    -----
    :math:`\sum_{i<j} (n_{ij} - nq)^2/n`, whose law is that of people who are drawn by the design; with more than 500
    it hardly changes, and 500 are drawn.
    """
    q, p = _same_group(design), design.p
    people = min(int(n.sum()), _PEOPLE)
    source = SeededSource(np.random.default_rng(seed))
    drawn = np.asarray(design.draw_options(people * REPLICATIONS, source), np.int64)
    samples = iter(drawn.reshape(REPLICATIONS, people, -1))
    above, ones = np.triu_indices(p, 1), np.ones(people, np.int64)

    def distance(asked: IntArray, amounts: IntArray) -> float:
        total = float(amounts.sum())
        return float(((pair_counts(asked, amounts, p)[above] - total * q) ** 2).sum() / total)

    return simulated_test("pairs of options", distance(groups, n), lambda: distance(next(samples), ones))


def _same_group(design: Design) -> float:
    """Return the probability that two options stand in the same group, where it is the same for all pairs."""
    q = design.pair_probability
    assert q is not None  # asked of designs that treat all options alike
    return q
