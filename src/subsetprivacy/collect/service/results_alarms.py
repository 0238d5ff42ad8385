"""When a p-value is an alarm: the tests of a survey are many, and all of them share one small chance to err."""

from collections.abc import Iterable

import numpy as np
from attrs import frozen

from subsetprivacy.report.wording import count_of

CHANCE = 0.01  # that honest people raise any alarm at a release
SECONDS = 1.5  # of a plain machine, which tests that draw further samples share; the same samples on every machine
SPARES = (4, 2, 1)


@frozen
class Alarm:
    """Below which p-value each test of a survey raises an alarm (Bonferroni).

    Attributes
    ----------
    tests
        How many tests of the data are made in the whole survey.
    seconds
        How long a test may draw further samples.
    spare
        How many times the samples are drawn without which no p-value is below the level: with 4 of them a test is an
        alarm although up to three samples are as extreme, with 1 only if none is.
    """

    tests: int
    seconds: float = SECONDS
    spare: int = SPARES[0]

    @property
    def level(self) -> float:
        """The p-value below which a test is an alarm: an equal part of the chance for each."""
        return CHANCE / max(self.tests, 1)

    @property
    def note(self) -> str:
        """What it means for the whole survey; empty where nothing is tested."""
        if not self.tests:
            return ""
        return (
            f"The data are put to {count_of(self.tests, 'test', 'tests')}. Each is an alarm below "
            f"p = {level_text(self.level)}, so that honest people raise any at a release in at most "
            f"{round(100 * CHANCE)} of 100 surveys."
        )


def level_text(level: float) -> str:
    """Return the level of a test for people: two figures, no power of ten."""
    return np.format_float_positional(level, precision=2, fractional=False, trim="-")


def even_share(needs: Iterable[float]) -> float:
    """Return the seconds that each may take at most, where those who need fewer leave the rest to the others."""
    ordered = sorted(needs)
    left = SECONDS
    for k, need in enumerate(ordered):
        even = left / (len(ordered) - k)
        if need > even:
            return even
        left -= need
    return SECONDS
