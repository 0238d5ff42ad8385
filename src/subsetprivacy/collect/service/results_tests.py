"""Tests of counts against a stated law, with a law of their own where counts are small."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.collect.service.results_alarms import CHANCE, SECONDS, SPARES, Alarm, even_share
from subsetprivacy.collect.service.results_resampling import Sampler
from subsetprivacy.design import Design
from subsetprivacy.honesty.laws import CHI_SQUARE, chi_square_pvalue
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.pvalues import positive

SUSPECT = 0.02  # the p-value of the first samples up to which it may end below a level
UNSHOWN = {"shown": False}  # of fields that are no result
_PEOPLE = 500  # whose draws make the law of a statistic that has settled by then
_BLOCK = 1 << 16
_CELL, _MEMBERSHIP = 5e-8, 1e-8  # seconds for one of a sample


@frozen(eq=False)
class Test:
    """A test: what was looked at, the statistic, and how likely one at least as large is by chance.

    Attributes
    ----------
    by
        What the people are told apart by: "questions", "options", "pairs of options", "positions", "sides", "answers".
    df
        The degrees of freedom; None where the law is not chi-square.
    law
        What the p-value rests on: "chi-square", "half chi-square", "simulated (199)", "exact", "normal".
    level
        The p-value below which it is an alarm.
    samples
        How many samples the p-value is from, where it is.
    sampler
        Draws them, and further ones; None where there is a law that holds, and when the test is settled.
    """

    __test__ = False  # no class of pytest's

    by: str
    statistic: float
    df: int | None
    pvalue: float = field(converter=positive)
    law: str
    level: float = field(default=CHANCE, metadata=UNSHOWN)
    samples: int = field(default=0, metadata=UNSHOWN)
    sampler: Sampler | None = field(default=None, metadata=UNSHOWN, repr=False)

    @property
    def is_alarm(self) -> bool:
        """Whether chance hardly explains it."""
        return self.pvalue < self.level

    @property
    def goes_on(self) -> bool:
        """Whether an alarm may hang on further samples."""
        return self.sampler is not None and (not self.samples or self.pvalue <= SUSPECT)

    @property
    def remark(self) -> str:
        """What is to be said where too few samples could be drawn for an alarm, although none was as extreme."""
        if not self.samples or (1 + self.samples) * max(self.pvalue, self.level) > 1 + 1e-9:
            return ""
        return (
            f"None of {self.samples:,} samples drawn for comparison is as far off as the data. An alarm needs more "
            f"than {round(1 / self.level):,} of them, which take too long here: look at the numbers with care."
        )


class Checked:
    """Something that was put to tests, any of which may raise an alarm."""

    __slots__ = ()

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests that are made."""
        raise NotImplementedError

    @property
    def is_alarm(self) -> bool:
        """Whether any test finds what chance hardly explains."""
        return any(test.is_alarm for test in self.tests)


class CheckedOnce(Checked):
    """Something that was put to one test, or to none."""

    __slots__ = ()
    test: Test | None

    @property
    def tests(self) -> tuple[Test, ...]:
        """The test, if it is made."""
        return () if self.test is None else (self.test,)


def simulated(by: str, sampler: Sampler) -> Test:
    """Compare a statistic with others that are drawn under the hypothesis, the first of them."""
    pvalue, drawn = sampler.pvalue()
    return Test(by, sampler.statistic, None, pvalue, f"simulated ({drawn})", samples=drawn, sampler=sampler)


def alarm_for(tests: Sequence[Test]) -> Alarm:
    """Return when each of these tests, all of a survey, is an alarm."""
    level = Alarm(len(tests)).level
    costs = [test.sampler.cost for test in tests if test.sampler is not None and test.goes_on]
    spare = next((some for some in SPARES if some * sum(costs) <= level * SECONDS), SPARES[-1])
    return Alarm(len(tests), even_share([spare * cost / level for cost in costs]), spare)


def settle(test: Test | None, alarm: Alarm) -> Test | None:
    """Return the test at the level of the survey, with as many samples as that takes.

    A law that is rough, of a test that has one, stays where there is no time for so many.
    """
    if test is None:
        return None
    level, sampler = alarm.level, test.sampler
    settled = evolve(test, level=level, sampler=None)
    if sampler is None or not test.goes_on:
        return settled
    most = sampler.most(ceil(alarm.spare / level), alarm.seconds)
    if not test.samples and level * (1 + most) <= 1:
        return settled
    pvalue, drawn = sampler.pvalue(level, most)
    law = f"simulated ({drawn})"
    return evolve(settled, statistic=sampler.statistic, df=None, pvalue=pvalue, law=law, samples=drawn)


def are_small(expected: FloatArray) -> bool:
    """Tell by Cochran's rule whether expected counts are too small for the chi-square law."""
    return bool(expected.min() < 1 or (expected < 5).mean() > 0.2)


def pearson_test(by: str, observed: IntArray, law: FloatArray, seed: int) -> Test:
    """Test whether counts follow a law, by Pearson's statistic."""
    n, law = int(observed.sum()), law / law.sum()
    expected = n * law

    def distance(counts: IntArray) -> FloatArray:
        return np.asarray(((counts - expected) ** 2 / expected).sum(axis=-1))

    statistic = float(distance(observed))
    if not are_small(expected):
        return Test(by, statistic, len(law) - 1, chi_square_pvalue(statistic, len(law) - 1), CHI_SQUARE)
    return simulated(
        by,
        Sampler(
            statistic,
            lambda generator, number: distance(generator.multinomial(n, law, number)),
            _CELL * (10 + len(law)),
            seed,
        ),
    )


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
    people, m = min(int(n.sum()), _PEOPLE), groups.shape[1]
    above = np.triu_indices(p, 1)

    def distance(together: FloatArray, total: int) -> FloatArray:
        return np.asarray(((together[..., *above] - total * q) ** 2).sum(axis=-1) / total)

    def draw(generator: np.random.Generator, number: int) -> FloatArray:
        asked = np.asarray(design.draw_options(people * number, SeededSource(generator)), np.int64)
        together = np.zeros((number, p, p), np.float32)  # counts below 2^24 are whole in it, and it is faster
        for group in asked.reshape(number, people, m).transpose(2, 0, 1):
            held = (group[..., None] >> np.arange(p) & 1).astype(np.float32)
            together += held.transpose(0, 2, 1) @ held
        return distance(together.astype(np.float64), people)

    statistic = float(distance(pair_counts(groups, n, p), int(n.sum())))
    cost = _MEMBERSHIP * people * m * p
    return simulated("pairs of options", Sampler(statistic, draw, cost, seed, block=50))


def _same_group(design: Design) -> float:
    """Return the probability that two options stand in the same group, where it is the same for all pairs."""
    q = design.pair_probability
    assert q is not None  # asked of designs that treat all options alike
    return q
