"""`DrawsCheck`: the result of a check of the draws."""

from typing import Any, ClassVar

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy import draw
from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import people
from subsetprivacy.honesty.alarms import DataTest
from subsetprivacy.honesty.data_check import DataCheck, first_test
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import pvalue_text
from subsetprivacy.tables import Table, label_text

_DRAWN = 120  # questions in a plot
_NONE = np.empty(0)
_PAIRS = Note(
    NoteKind.TOO_MANY_CELLS,
    "There are too many questions to count each one. For every pair of options the test counts how often both were on "
    "the same side.",
)


@frozen(eq=False)
class AskedCell:
    """How often a question was asked, and how often it is expected.

    Attributes
    ----------
    groups
        The labels of the smaller side of a yes/no question, or of each group of a question with groups. If there are
        too many questions to list, a pair of options that were on the same side.
    asked, expected
        The observed and the expected number of times.
    """

    groups: tuple[tuple[Label, ...], ...]
    asked: int
    expected: float

    @property
    def text(self) -> str:
        """The labels joined by a bar, and groups by a slash."""
        return " / ".join("|".join(map(label_text, group)) for group in self.groups)


@frozen(slots=False, eq=False, repr=False)
class DrawsCheck(DataCheck):
    """Whether the questions were drawn as the design specifies; made by `check_draws`.

    Attributes
    ----------
    n
        The number of questions checked; for `QuestionCounts`, including skipped ones.
    kind
        How the question was asked; None if only subsets are known.
    tests
        First the test of the questions against the design, `test`. For yes/no questions with known sides, then the
        exact test that both sides were asked about equally often, `sides`.
    observed, expected
        How often each question (or pair of options on one side) was asked, the most expected first.
    cells
        The 20 questions that deviate most from the design, the largest deviation first.
    problem
        Why the questions are not tested; None if they are.
    """

    title: ClassVar[str] = "Draws: whether the questions were drawn as the design states"
    DOCUMENT: ClassVar[tuple[str, ...]] = ("n", "kind", "test", "sides", "cells", "is_alarm", "problem", "notes")

    n: int
    kind: str | None = None
    tests: tuple[DataTest, ...] = ()
    observed: FloatArray = field(default=_NONE)
    expected: FloatArray = field(default=_NONE)
    cells: tuple[AskedCell, ...] = ()
    problem: Note | None = None
    remarks: tuple[Note, ...] = ()

    @property
    def test(self) -> DataTest | None:
        """The test of the questions, or None."""
        return next((test for test in self.tests if test.by != "sides"), None)

    @property
    def sides(self) -> DataTest | None:
        """The test of the sides; None if they are not known."""
        return next((test for test in self.tests if test.by == "sides"), None)

    @property
    def statistic(self) -> float:
        """The statistic of the first test."""
        return first_test(self).statistic

    @property
    def df(self) -> int | None:
        """The degrees of freedom of the first test; None if its distribution was simulated."""
        return first_test(self).df

    @property
    def pvalue(self) -> float:
        """The p-value of the first test."""
        return first_test(self).pvalue

    @property
    def law(self) -> str:
        """The distribution behind the p-value of the first test."""
        return first_test(self).law

    @property
    def least_expected(self) -> float:
        """The smallest expected count; NaN if nothing is tested."""
        return float(self.expected.min()) if len(self.expected) else np.nan

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was compared, how p-values were computed, and why something is not tested."""
        test = self.test
        pairs = (_PAIRS,) if test is not None and test.by == "pairs of options" else ()
        return (*pairs, *(self.remarks or _samples_note(test)), *self._caveats())

    def __repr__(self) -> str:
        pvalues = ", ".join(f"{test.by} {pvalue_text(test.pvalue)}" for test in self.tests)
        return f"<DrawsCheck of {people(self.n)}, {f'p-values: {pvalues}' if pvalues else 'not tested'}>"

    def summary(self) -> Table:
        """Return the table of tests to print or to show in a notebook."""
        return self._table()

    def _numbers(self) -> dict[str, Any]:
        cells = [{"groups": cell.groups, "asked": cell.asked, "expected": cell.expected} for cell in self.cells]
        first = self.tests[0] if self.tests else None
        main = {name: None if first is None else getattr(first, name) for name in ("statistic", "df", "pvalue", "law")}
        return {"n": self.n, "kind": self.kind, **main, "cells": cells}

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot how often each question was asked, with a band that contains 95 of 100 if the draws are correct.

        Parameters
        ----------
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.

        Raises
        ------
        NotIdentifiableError
            If the questions are not tested, with the reason.
        """
        if not len(self.observed):
            first_test(evolve(self, tests=()))
        by_pairs = self.test is not None and self.test.by == "pairs of options"
        what = "pair of options on one side" if by_pairs else "question"
        at = np.unique(np.linspace(0, len(self.observed) - 1, min(len(self.observed), _DRAWN)).round().astype(int))
        heading = draw.Heading(f"How often each {what} was asked, {self.n:,} questions")
        return draw.question_counts(
            self.observed[at],
            self.expected[at],
            self.n,
            what=f"{what}, the most frequent first",
            title=heading if title is None else title,
            ax=ax,
        )


def _samples_note(test: DataTest | None) -> tuple[Note, ...]:
    if test is None or test.by != "questions" or not test.law.startswith("simulated"):
        return ()
    text = (
        f"Many questions are expected fewer than 5 times, so the p-value is from {test.samples:,} samples drawn as the "
        "design states."
    )
    return (Note(NoteKind.NULL_LAW, text),)
