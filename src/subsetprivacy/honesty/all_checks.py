"""`check_all`: all checks of all variables, at one alarm level."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

from attrs import field, frozen

from subsetprivacy._types import FloatArray, Seed
from subsetprivacy._words import counted
from subsetprivacy.counting import count
from subsetprivacy.data import JointCounts, QuestionCounts, SubsetCounts, SubsetData, SubsetTable, as_counts
from subsetprivacy.design import Design
from subsetprivacy.engines import is_table
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.honesty.alarms import CHANCE, SECONDS, Alarm, DataTest, alarm_for
from subsetprivacy.honesty.check import run_honesty_check
from subsetprivacy.honesty.data_check import FACTS, DataCheck, row_of
from subsetprivacy.honesty.draws import run_draws_check
from subsetprivacy.honesty.draws_result import DrawsCheck
from subsetprivacy.honesty.leaning import LeaningCheck, run_leaning_check, shares_for
from subsetprivacy.honesty.reading import check_budget, check_chance, require_people, seeds_for
from subsetprivacy.honesty.result import HonestyCheck
from subsetprivacy.honesty.skips import SkipsCheck, run_skips_check
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import CHECK_MAPPING, CHECK_WITH_DESIGNS, COUNT_THE_QUESTIONS
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import name_of
from subsetprivacy.tables import Table

CHECKS = ("draws", "leaning", "skips", "honesty")
ONE = "data"  # the name of a variable without a name
SeedOf: TypeAlias = Callable[[str, str], int]
_COLUMNS = ("variable", "check", "test of", "statistic", "p-value", "distribution", "alarm")


@frozen(eq=False)
class VariableChecks:
    """The checks of one variable.

    Attributes
    ----------
    draws
        Whether the questions were drawn as the design specifies.
    leaning, skips
        Whether people lean to an answer, and whether skipping depends on the question; None if it is not known how the
        questions were asked.
    honesty
        Whether the answers fit the design, and how many people answer at random.
    """

    draws: DrawsCheck
    leaning: LeaningCheck | None
    skips: SkipsCheck | None
    honesty: HonestyCheck

    def items(self) -> Iterator[tuple[str, DataCheck]]:
        """Yield each check that was made with its name."""
        for name in CHECKS:
            check = getattr(self, name)
            if check is not None:
                yield name, check

    @property
    def tests(self) -> tuple[DataTest, ...]:
        """The tests of all checks."""
        return tuple(test for _, check in self.items() for test in check.tests)

    @property
    def is_alarm(self) -> bool:
        """Whether any test is an alarm."""
        return any(test.is_alarm for test in self.tests)

    def settled(self, alarm: Alarm) -> "VariableChecks":
        """Return the checks at the level of the whole data set."""
        return VariableChecks(
            self.draws.settled(alarm),
            None if self.leaning is None else self.leaning.settled(alarm),
            None if self.skips is None else self.skips.settled(alarm),
            self.honesty.settled(alarm),
        )


@frozen(slots=False, eq=False, repr=False)
class Checks(Result, Mapping[str, VariableChecks]):
    """All checks of a data set, by variable, at one alarm level; made by `check_all`.

    Attributes
    ----------
    variables
        The checks of each variable. Indexing also works: ``checks["race"].draws``.
    alarm
        The number of tests of all variables, and the p-value below which each is an alarm.
    """

    why_not_restored: ClassVar[str] = "save the counts and check them again, or pickle the checks"

    variables: dict[str, VariableChecks]
    alarm: Alarm = field(factory=lambda: Alarm(0))

    def __getitem__(self, name: str) -> VariableChecks:
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    @property
    def tests(self) -> tuple[DataTest, ...]:
        """The tests of all variables."""
        return tuple(test for checks in self.variables.values() for test in checks.tests)

    @property
    def alarms(self) -> tuple[tuple[str, str, DataTest], ...]:
        """The tests that raised an alarm: variable, check and test."""
        return tuple((name, what, test) for name, what, _, test in self._rows() if test.is_alarm)

    @property
    def is_alarm(self) -> bool:
        """Whether any test is an alarm."""
        return any(test.is_alarm for test in self.tests)

    def settled(self, chance: float = CHANCE, budget: float = SECONDS) -> "Checks":
        """Return the checks at their common level, with as many samples as it needs."""
        alarm = alarm_for(self.tests, check_chance(chance), budget)
        return Checks({name: checks.settled(alarm) for name, checks in self.variables.items()}, alarm)

    def _rows(self) -> Iterator[tuple[str, str, str, DataTest]]:
        for name, checks in self.variables.items():
            for what, check in checks.items():
                yield from ((name, what, of, test) for of, test in check.named_tests())

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The meaning of the alarm level, and what could not be checked, with reasons."""
        notes = list(self.alarm.notes)
        for name, checks in self.variables.items():
            for what, check in checks.items():
                notes += [
                    Note(note.kind, f"{name}, {what}: {note.text[:1].lower()}{note.text[1:]}", note.advice)
                    for note in check.notes
                ]
            if checks.leaning is None:
                text = (
                    f"{name}: leaning and skips are not tested, because it is not known how the questions were asked."
                )
                notes.append(Note(NoteKind.NOT_TESTED, text, COUNT_THE_QUESTIONS))
        return tuple(notes)

    def __repr__(self) -> str:
        what = counted(len(self.variables), "variable")
        return f"<Checks of {what}: {counted(self.alarm.tests, 'test')}, {counted(len(self.alarms), 'alarm')}>"

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: a row for each test."""
        rows = []
        for name, what, of, test in self._rows():
            _, statistic, _, pvalue, law, _, is_alarm = row_of(test)
            rows.append((name, what, of, statistic, pvalue, law, is_alarm))
        title = f"Checks of the data: {counted(len(self.alarms), 'alarm')} in {counted(self.alarm.tests, 'test')}"
        return Table(title, _COLUMNS, tuple(rows), self.notes)

    def _columns(self) -> dict[str, Any]:
        rows = [{"variable": name, "check": what, "test": of, **test.facts()} for name, what, of, test in self._rows()]
        return {name: [row[name] for row in rows] for name in ("variable", "check", *FACTS)}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON."""
        variables = {
            name: {what: check.to_dict() for what, check in checks.items()} for name, checks in self.variables.items()
        }
        alarm = {"tests": self.alarm.tests, "chance": self.alarm.chance, "alpha": self.alarm.alpha}
        return plain({"variables": variables, "alarm": alarm, "alarms": len(self.alarms), "notes": self.notes})


def check_all(
    data: Any,
    questions: QuestionCounts | Mapping[str, QuestionCounts] | None = None,
    *,
    designs: Mapping[str, Design] | None = None,
    chance: float = CHANCE,
    seed: Seed | None = None,
    budget: float = SECONDS,
) -> Checks:
    """Run all checks of a data set at one joint alarm level.

    Parameters
    ----------
    data
        `SubsetCounts`, `SubsetData` or `QuestionCounts` of one variable; a mapping from names to counts; a
        `SubsetTable`, `JointCounts` or release of several; or a table of any engine, with `designs`.
    questions
        How the questions were asked and answered, for one variable or by name, from `count_questions` or
        `read_questions`. Without it, leaning and question-dependent skips cannot be detected.
    designs
        The design of each column of a table.
    chance
        The maximum probability that honest data raise any alarm.
    seed
        A number or a NumPy generator for the samples. By default the same counts give the same samples.
    budget
        The time in seconds, on a typical machine, for additional bootstrap samples. It is converted to a number of
        samples in advance, so every machine draws the same samples.

    Returns
    -------
    Checks
        By variable: `draws`, `leaning`, `skips`, `honesty`. If something cannot be checked, `problem` has the reason.

    Raises
    ------
    ArgumentError
        If the data are sums of sampling weights, or of another type.

    Notes
    -----
    Each of the m tests raises an alarm if its p-value is below ``chance / m`` (Bonferroni), so the probability of any
    false alarm is at most `chance`, however the tests depend on each other. If counts are small, a p-value comes from
    samples, 199 at first. If an alarm is still possible, more samples are drawn, as many as the level requires.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> counts = simulate(uniform(list("abcde")), [0.4, 0.3, 0.15, 0.1, 0.05], 5000, seed=1)
    >>> check_all({"color": counts})
    <Checks of 1 variable: 3 tests, 0 alarms>
    """
    check_chance(chance)
    check_budget(budget)
    counts, asked = _variables(data, questions, designs)
    seed_of = seeds_for(seed, lambda name: (counts[name], asked.get(name)))
    return run_checks(counts, asked, seed_of).settled(chance, budget)


def run_checks(
    counts: Mapping[str, SubsetCounts],
    questions: Mapping[str, QuestionCounts],
    seed_of: SeedOf,
    shares: Mapping[str, FloatArray] | None = None,
) -> Checks:
    """Run all checks with their first samples. `settled` then applies their common level.

    Parameters
    ----------
    counts, questions
        By variable; questions for the variables where they are known.
    seed_of
        Maps a variable and a check, one of `CHECKS`, to the seed of its samples.
    shares
        The shares of the options if they are already estimated, moved off zero; see `shares_for`.
    """
    known = shares or {}
    return Checks(
        {name: _variable(counts[name], questions.get(name), name, seed_of, known.get(name)) for name in counts}
    )


def _variable(
    counts: SubsetCounts, questions: QuestionCounts | None, name: str, seed_of: SeedOf, w: FloatArray | None
) -> VariableChecks:
    leaning, skips = None, None
    if questions is not None:
        shares = shares_for(counts) if w is None else w
        leaning = run_leaning_check(questions, shares, seed_of(name, "leaning"))
        skips = run_skips_check(questions, seed_of(name, "skips"))
    draws = run_draws_check(counts, questions, seed_of(name, "draws"))
    return VariableChecks(draws, leaning, skips, run_honesty_check(counts, seed_of(name, "honesty")))


# What is checked ----------------------------------------------------------------------------------


def _variables(
    data: Any, questions: Any, designs: Mapping[str, Design] | None
) -> tuple[dict[str, SubsetCounts], dict[str, QuestionCounts]]:
    """Return the counts of each variable, and the questions where they are known."""
    counts = _counts_of(data, designs)
    if isinstance(data, QuestionCounts) and questions is None:
        questions = data
    if isinstance(questions, QuestionCounts):
        if len(counts) > 1:
            raise ArgumentError(
                "`questions` must be a mapping by variable if there are several variables; got a single one."
            )
        questions = dict.fromkeys(counts, questions)
    asked = dict(questions or {})
    for name, question_counts in asked.items():
        if not isinstance(question_counts, QuestionCounts):
            raise ArgumentError(
                f"`questions` must contain QuestionCounts; got {type(question_counts).__name__}.", COUNT_THE_QUESTIONS
            )
        if name not in counts:
            raise MismatchError(f"`questions` must be about variables of the data; got {name!r}.")
        if question_counts.design != counts[name].design:
            raise MismatchError(f"`questions` must have the design of the data; those about {name!r} have another one.")
    return {name: require_people(question_counts) for name, question_counts in counts.items()}, asked


def _counts_of(data: Any, designs: Mapping[str, Design] | None) -> dict[str, SubsetCounts]:
    if designs is not None and is_table(data):
        return {name: count(data, name, design=design, missing="full") for name, design in designs.items()}
    if designs is not None:
        raise ArgumentError(f"`designs` must be left out unless `data` is a table; got {type(data).__name__}.")
    if is_table(data):
        raise ArgumentError("`designs` must be given for a table.", CHECK_WITH_DESIGNS)
    if isinstance(data, QuestionCounts):
        return {ONE: data.counts()}
    if isinstance(data, SubsetTable):
        return {name: data[name].counts() for name in data.names}
    if isinstance(data, JointCounts):
        return {name: data.margin(name) for name in data.names}
    if isinstance(data, (SubsetCounts, SubsetData)):
        return {name_of(data) or ONE: as_counts(data)}
    if hasattr(data, "designs") and hasattr(data, "count"):  # a release
        return {name: data.count(name) for name in data.designs}
    if isinstance(data, Mapping):
        return {str(name): as_counts(column) for name, column in data.items()}
    raise ArgumentError(
        f"`data` must be counts, a mapping of them, or a release; got {type(data).__name__}.", CHECK_MAPPING
    )
