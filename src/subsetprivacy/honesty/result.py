"""`HonestyCheck`: the result of `check_honesty`."""

from typing import Any, ClassVar, TypeVar

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.honesty.alarms import DataTest
from subsetprivacy.honesty.data_check import DataCheck
from subsetprivacy.honesty.fits import COLUMNS, FACTS, GoodnessOfFit, RandomAnswers
from subsetprivacy.honesty.residuals import Residuals
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import CHECK_WITH_BUDGET
from subsetprivacy.pvalues import pvalue_text
from subsetprivacy.results import plain
from subsetprivacy.tables import Table, number, percent

_SMALL = "Many answers are expected fewer than five times"
_POWER = 0.8
Part = TypeVar("Part")


@frozen(slots=False, eq=False, repr=False)
class HonestyCheck(DataCheck):
    """Whether the answers fit the design; made by `check_honesty`.

    Attributes
    ----------
    counts
        The counts that were checked.
    answers
        The test that some distribution explains the answers.
    draws
        The test that the questions were drawn as stated; None if it is not possible.
    random
        The share of people who answer at random; None if it is not identifiable.
    rest
        The test of the answers with random answers allowed for; None if no degree of freedom is left.
    residuals
        Observed and expected counts; `residuals.summary()` lists the answers that fit worst.
    level
        The level of the interval.
    tests
        The tests that can raise an alarm: that some distribution explains the answers, and that no one answers at
        random. `check_draws` tests the draws.
    share, se, lower, upper
        The share of random answers, its standard error and interval; None if it is not identifiable.
    detectable
        The share of random answers that raises an alarm in 80 of 100 such samples.
    problem
        Why there is no check, as part of `check_all`; accessing `answers` or `residuals` raises it.
    """

    title: ClassVar[str] = "Honesty check"
    DOCUMENT: ClassVar[tuple[str, ...]] = (
        "answers_test",
        "random_test",
        "share",
        "se",
        "lower",
        "upper",
        "detectable",
        "is_small",
        "is_alarm",
        "problem",
        "notes",
    )

    counts: SubsetCounts
    _answers: GoodnessOfFit | None = None
    draws: GoodnessOfFit | None = None
    random: RandomAnswers | None = None
    rest: GoodnessOfFit | None = None
    _residuals: Residuals | None = None
    level: float = 0.95
    remarks: tuple[Note, ...] = ()
    tests: tuple[DataTest, ...] = ()
    problem: Note | None = None
    is_small: bool = False

    @property
    def answers(self) -> GoodnessOfFit:
        """The test that some distribution explains the answers."""
        return self._made(self._answers)

    @property
    def residuals(self) -> Residuals:
        """Observed and expected counts."""
        return self._made(self._residuals)

    def _made(self, part: Part | None) -> Part:
        if part is None:
            reason = "" if self.problem is None else f"; {self.problem.text[:1].lower()}{self.problem.text[1:]}"
            raise NotIdentifiableError(f"the answers must have been checked{reason or '; they were not.'}")
        return part

    @property
    def notes(self) -> tuple[Note, ...]:
        """What could not be tested, with reasons, and which p-values rest on small counts."""
        return (*self.remarks, *self._small_note(), *self._caveats())

    def _small_note(self) -> tuple[Note, ...]:
        """Return how p-values were computed, if counts are small and all checks were run together."""
        if not self.is_small:
            return ()
        drawn = " and ".join(f"{test.samples:,}" for test in self.tests if test.samples)
        text = f"{_SMALL}: the p-value of the test that some distribution explains them is approximate."
        if drawn:
            text = f"{_SMALL}: a p-value close to an alarm is from samples drawn from the fit ({drawn})."
        if any(test.is_rough for test in self.tests):
            text = f"{_SMALL}: p-values are approximate, and the samples to confirm an alarm would take too long."
            return (Note(NoteKind.BUDGET, text, CHECK_WITH_BUDGET),)
        return (Note(NoteKind.NULL_LAW, text),)

    def named_tests(self) -> tuple[tuple[str, DataTest], ...]:
        """Return the tests, each with a short name."""
        return tuple(zip(("answers", "random answers"), self.tests, strict=False))

    @property
    def answers_test(self) -> DataTest | None:
        """The test that some distribution explains the answers, or None."""
        return self.tests[0] if self.tests else None

    @property
    def random_test(self) -> DataTest | None:
        """The test that no one answers at random; None if it is not possible."""
        return self.tests[1] if len(self.tests) > 1 else None

    @property
    def share(self) -> float | None:
        """The estimated share of random answers, which can be below 0 if there are few or none."""
        return self.random.share if self.random else None

    @property
    def se(self) -> float | None:
        """The standard error of `share`."""
        return self.random.se if self.random else None

    @property
    def lower(self) -> float | None:
        """The lower end of the interval of `share`."""
        return self.random_share_interval[0] if self.random else None

    @property
    def upper(self) -> float | None:
        """The upper end of the interval of `share`."""
        return self.random_share_interval[1] if self.random else None

    @property
    def detectable(self) -> float | None:
        """The share of random answers that raises an alarm in 80 of 100 such samples. The test is one-sided."""
        if self.random is None or self.alpha is None:
            return None
        return float(ndtri(_POWER) - ndtri(self.alpha)) * self.random.se

    @property
    def random_share(self) -> float:
        """The unbiased estimate of the share of random answers; NaN if it is not identifiable."""
        return self.random.share if self.random else np.nan

    @property
    def random_share_se(self) -> float:
        """The standard error of `random_share`."""
        return self.random.se if self.random else np.nan

    @property
    def random_share_interval(self) -> tuple[float, float]:
        """The confidence interval of `random_share`, within 0 and 1."""
        if self.random is None:
            return np.nan, np.nan
        low, high = self.random.interval(self.level)
        return float(low), float(high)

    @property
    def parts(self) -> tuple[GoodnessOfFit, ...]:
        """The tests that could be run."""
        chance = self.random.test if self.random else None
        return tuple(part for part in (self._answers, self.draws, chance, self.rest) if part)

    def __repr__(self) -> str:
        pvalues = ", ".join(f"{part.name} {pvalue_text(part.pvalue)}" for part in self.parts)
        p = f"p-values: {pvalues}" if pvalues else "not tested"
        return f"<HonestyCheck of a {self.counts.design.maker} design, {p}>"

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: the tests, then the share of random answers."""
        title = (
            f"Honesty check: {self.counts.design.maker} design, {self.counts.design.p} categories, {self.counts.n_text}"
        )
        share_notes = () if self.random is None else (self._share_note(), self.random.notes[0])
        return Table(title, COLUMNS, tuple(part.row() for part in self.parts), (*share_notes, *self.notes))

    def _columns(self) -> dict[str, Any]:
        rows = [part.facts() for part in self.parts]
        return {name: [row[name] for row in rows] for name in FACTS}

    def _share_note(self) -> Note:
        low, high = self.random_share_interval
        below = " (below 0: no sign of any)" if self.random_share < 0 else ""
        text = (
            f"Share of random answers {number(self.random_share)}{below}, std. error {number(self.random_share_se)}, "
            f"{percent(self.level)} interval {number(low)} to {number(high)}."
        )
        return Note(NoteKind.RANDOM_ANSWERS, text)

    def plot(self, most: int = 20, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot the standardized residuals of the answers that fit worst, one for each question, the worst on top.

        With honest people, the largest residual stays within the dashed lines in 95 of 100 samples (Bonferroni). For a
        yes/no question, the plot shows the answer that was given too often.

        Parameters
        ----------
        most
            The number of answers to show.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.

        Raises
        ------
        NotIdentifiableError
            If no answer has a degree of freedom left, or the table is too large for residuals.
        MissingDependencyError
            If matplotlib is not installed.
        """
        return self.residuals.plot(most, title=title, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON; tests that could not be run are None."""
        chance = self.random
        low, high = self.random_share_interval
        is_known = chance is not None and bool(np.isfinite(chance.w).all())
        facts = {
            "design": self.counts.design.maker,
            "categories": list(self.counts.categories),
            "n": self.counts.n,
            "level": self.level,
            "answers": self._answers.to_dict() if self._answers else None,
            "draws": self.draws.to_dict() if self.draws else None,
            "random": chance.test.to_dict() if chance else None,
            "rest": self.rest.to_dict() if self.rest else None,
            "random_share": chance.share if chance else None,
            "random_share_se": chance.se if chance else None,
            "random_share_detectable": chance.detectable if chance else None,
            "random_share_lower": low if chance else None,
            "random_share_upper": high if chance else None,
            "honest_w": chance.w if chance and is_known else None,
            "honest_w_se": chance.w_se if chance and is_known else None,
            "tests": [test.facts() for test in self.tests],
            "alarm": self.is_alarm,
            "problem": None if self.problem is None else self.problem.to_dict(),
            "notes": self.notes,
        }
        return plain(facts)
