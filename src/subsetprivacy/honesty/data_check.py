"""`DataCheck`, the base class of all checks of the data."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from attrs import evolve

from subsetprivacy.data import QuestionCounts
from subsetprivacy.errors import ArgumentError, NotIdentifiableError, SubsetPrivacyError
from subsetprivacy.honesty.alarms import Alarm, DataTest, judged, settled
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import COUNT_THE_QUESTIONS
from subsetprivacy.pvalues import pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number

FACTS = ("test", "by", "statistic", "df", "pvalue", "law", "alpha", "samples", "alarm")
_COLUMNS = ("compared by", "statistic", "df", "p-value", "distribution", "alarm below", "alarm")


class DataCheck(Result):
    """A check of the data: tests that honest people pass. Each may raise an alarm.

    Attributes
    ----------
    tests
        The tests.
    problem
        Why there is no test; None if there is one.
    """

    __slots__ = ()

    why_not_restored: ClassVar[str] = "save the counts and check them again, or pickle the check"
    title: ClassVar[str]

    tests: tuple[DataTest, ...]
    problem: Note | None

    @property
    def is_alarm(self) -> bool:
        """Whether any test is an alarm."""
        return any(test.is_alarm for test in self.tests)

    def named_tests(self) -> tuple[tuple[str, DataTest], ...]:
        """Return the tests, each with a short name."""
        return tuple((test.by, test) for test in self.tests)

    @property
    def alpha(self) -> float | None:
        """The p-value below which a test is an alarm; None if nothing is tested."""
        return self.tests[0].alpha if self.tests else None

    def settled(self, alarm: Alarm) -> Self:
        """Return the check at the level of the whole data set, with as many samples as it needs."""
        return self._with(tuple(settled(test, alarm) for test in self.tests))

    def judged(self, chance: float) -> Self:
        """Return the check at a separate level, with the samples that it has."""
        return self._with(tuple(judged(test, chance / len(self.tests)) for test in self.tests))

    def _with(self, tests: tuple[DataTest, ...]) -> Self:
        changed: Self = evolve(self, tests=tests)  # type: ignore[misc]  # every check is an attrs class
        return changed

    def _caveats(self) -> tuple[Note, ...]:
        """Return the notes that every check has: why there is no test, or that there are too few samples."""
        problem = () if self.problem is None else (self.problem,)
        return (*problem, *(note for test in self.tests for note in test.notes))

    # Output -----------------------------------------------------------------------------------

    def _numbers(self) -> Mapping[str, Any]:
        """Return what `to_dict` contains in addition to the tests."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON."""
        tests = [test.facts() for test in self.tests]
        problem = None if self.problem is None else self.problem.to_dict()
        facts = {**self._numbers(), "tests": tests, "alarm": self.is_alarm, "problem": problem, "notes": self.notes}
        return plain(facts)

    def _columns(self) -> dict[str, Any]:
        rows = [{"test": what, **test.facts()} for what, test in self.named_tests()]
        return {name: [row[name] for row in rows] for name in FACTS}

    def _table(self, *more: Note) -> Table:
        return Table(self.title, _COLUMNS, tuple(row_of(test) for test in self.tests), (*more, *self.notes))


def row_of(test: DataTest) -> tuple[str, ...]:
    """Return a test as a row of a table."""
    return (
        test.by,
        number(test.statistic, 2),
        "-" if test.df is None else str(test.df),
        pvalue_text(test.pvalue),
        test.law,
        f"{test.alpha:.2g}",
        "yes" if test.is_alarm else "no",
    )


def not_tested(text: str) -> Note:
    """Return the reason why something is not tested."""
    return Note(NoteKind.NOT_TESTED, text)


def problem_of(error: SubsetPrivacyError, kind: NoteKind = NoteKind.NOT_TESTED) -> Note:
    """Return the message of an error as a reason."""
    return Note(kind, error.message[:1].upper() + error.message[1:], error.advice)


def require_questions(questions: Any) -> QuestionCounts:
    """Return the argument if it is `QuestionCounts`.

    Raises
    ------
    ArgumentError
        If it is something else.
    """
    if isinstance(questions, QuestionCounts):
        return questions
    raise ArgumentError(f"`questions` must be QuestionCounts; got {type(questions).__name__}.", COUNT_THE_QUESTIONS)


def first_test(check: DataCheck) -> DataTest:
    """Return the first test of a check.

    Raises
    ------
    NotIdentifiableError
        If there is none, with the reason.
    """
    if check.tests:
        return check.tests[0]
    text = "there is nothing to test." if check.problem is None else check.problem.text
    raise NotIdentifiableError(text[:1].lower() + text[1:])
