"""`DataTest`, and the p-value below which a test is an alarm, so that all tests share one small error probability."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._words import counted
from subsetprivacy.honesty.resampling import FIRST, NullSampler
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import CHECK_WITH_BUDGET
from subsetprivacy.pvalues import positive
from subsetprivacy.tables import percent

CHANCE = 0.01  # the maximum probability that honest people raise any alarm
SECONDS = 1.5  # on a typical machine, for further samples of all tests; the same samples on every machine
SPARES = (4, 2, 1)
_WRITTEN = ("by", "statistic", "df", "pvalue", "law", "alpha", "samples")
SUSPECT = 0.02  # up to this p-value of the first samples, the final one may still be an alarm


@frozen(eq=False)
class DataTest:
    """A test of the data.

    Attributes
    ----------
    by
        What the test compares: ``"questions"``, ``"options"``, ``"pairs of options"``, ``"positions"``,
        ``"sides"`` or ``"answers"``.
    statistic, df, pvalue
        The statistic, its degrees of freedom (None if the distribution is not chi-square), and the p-value, which is
        never 0.
    law
        The distribution behind the p-value: ``"chi-square"``, ``"half chi-square"``, ``"exact"``, ``"normal"``,
        ``"simulated (199)"`` or ``"bootstrap (499)"``.
    alpha
        The p-value below which the test is an alarm.
    samples
        The number of samples behind the p-value; 0 for a formula.
    is_rough
        Whether the formula is approximate and the samples to replace it would take too long.
    sampler
        Draws the samples; None if none are needed, or once the test is settled.
    """

    DOCUMENT: ClassVar[tuple[str, ...]] = (*_WRITTEN, "is_rough", "is_alarm")

    by: str
    statistic: float
    df: int | None
    pvalue: float = field(converter=positive)
    law: str
    alpha: float = CHANCE
    samples: int = 0
    is_rough: bool = False
    sampler: NullSampler | None = field(default=None, repr=False)

    @property
    def is_alarm(self) -> bool:
        """Whether the p-value is below alpha."""
        return self.pvalue < self.alpha

    @property
    def needs_samples(self) -> bool:
        """Whether an alarm may depend on further samples."""
        return self.sampler is not None and (not self.samples or self.pvalue <= SUSPECT)

    @property
    def lacks_samples(self) -> bool:
        """Whether no sample is as extreme as the data, but there are too few samples for an alarm."""
        return bool(self.samples) and (1 + self.samples) * max(self.pvalue, self.alpha) <= 1 + 1e-9

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note if there are too few samples for an alarm."""
        if not self.lacks_samples:
            return ()
        text = (
            f"None of {self.samples:,} samples is as extreme as the data. An alarm needs more than "
            f"{round(1 / self.alpha):,}, which take too long."
        )
        return (Note(NoteKind.BUDGET, text, CHECK_WITH_BUDGET),)

    def facts(self) -> dict[str, Any]:
        """Return the numbers, for a row of a data frame."""
        return {**{name: getattr(self, name) for name in _WRITTEN}, "alarm": self.is_alarm}


@frozen
class Alarm:
    """The p-value below which each test of a data set is an alarm (Bonferroni).

    Attributes
    ----------
    tests
        The number of tests of the whole data set.
    chance
        The maximum probability that honest people raise any alarm.
    seconds
        The time for further samples of each test.
    spare
        A multiple of the number of samples without which no p-value is below alpha. With 4, a test can be an alarm
        with up to three samples as extreme; with 1, only if no sample is.
    """

    DOCUMENT: ClassVar[tuple[str, ...]] = ("chance", "tests", "alpha")

    tests: int
    chance: float = CHANCE
    seconds: float = SECONDS
    spare: int = SPARES[0]

    @property
    def alpha(self) -> float:
        """The p-value below which a test is an alarm: an equal part of `chance` for each test."""
        return self.chance / max(self.tests, 1)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The meaning of alpha for the whole data set; empty if nothing is tested."""
        if not self.tests:
            return ()
        each = "It" if self.tests == 1 else "Each"
        below = np.format_float_positional(self.alpha, precision=2, fractional=False, trim="-")  # not scientific
        text = (
            f"{counted(self.tests, 'test was', 'tests were')} run. {each} raises an alarm if its p-value is below "
            f"{below}. With honest answers, the probability of any alarm is at most {percent(self.chance)}."
        )
        return (Note(NoteKind.ADJUSTED, text),)


def alarm_for(tests: Sequence[DataTest], chance: float = CHANCE, budget: float = SECONDS) -> Alarm:
    """Return the alarm level for all tests of a data set.

    Parameters
    ----------
    tests
        The tests, with their first samples.
    chance
        The maximum probability that honest people raise any alarm.
    budget
        The seconds, on a typical machine, for all further samples in total.
    """
    alpha = Alarm(len(tests), chance).alpha
    costs = [test.sampler.cost for test in tests if test.sampler is not None and test.needs_samples]
    spare = next((some for some in SPARES if some * sum(costs) <= alpha * budget), SPARES[-1])
    return Alarm(len(tests), chance, even_share([spare * cost / alpha for cost in costs], budget), spare)


def even_share(needs: Iterable[float], budget: float = SECONDS) -> float:
    """Return the time limit of each test, where tests that need less time leave the rest to the others."""
    ordered = sorted(needs)
    left = budget
    for k, need in enumerate(ordered):
        even = left / (len(ordered) - k)
        if need > even:
            return even
        left -= need
    return budget


def simulated(by: str, sampler: NullSampler, samples: int = FIRST) -> DataTest:
    """Compare a statistic with a first set of samples drawn under the hypothesis."""
    pvalue, drawn = sampler.pvalue(most=samples)
    statistic = float(sampler.statistic)
    return DataTest(by, statistic, None, pvalue, f"simulated ({drawn})", samples=drawn, sampler=sampler)


def settled(test: DataTest, alarm: Alarm) -> DataTest:
    """Return the test at the level of the data set, with as many samples as it needs.

    An approximate formula stays if there is no time for the samples.
    """
    alpha, sampler = alarm.alpha, test.sampler
    final = evolve(test, alpha=alpha, sampler=None)
    if sampler is None or not test.needs_samples:
        return final
    most = sampler.most(ceil(alarm.spare / alpha), alarm.seconds)
    if not test.samples and alpha * (1 + most) <= 1:
        return evolve(final, is_rough=True)
    pvalue, drawn = sampler.pvalue(alpha, most)
    statistic = float(sampler.statistic)
    return evolve(final, statistic=statistic, df=None, pvalue=pvalue, law=f"simulated ({drawn})", samples=drawn)


def judged(test: DataTest, alpha: float) -> DataTest:
    """Return the test at a given level, without further samples."""
    return evolve(test, alpha=alpha, sampler=None)
