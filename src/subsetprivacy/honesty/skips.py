"""`check_skips`: whether skipping depends on the question, and so perhaps on the answer, which biases estimates."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_count
from subsetprivacy._types import FloatArray, IntArray, Label, Seed
from subsetprivacy._words import people
from subsetprivacy.data import QuestionCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.honesty.alarms import CHANCE, DataTest, simulated
from subsetprivacy.honesty.data_check import DataCheck, not_tested, require_questions
from subsetprivacy.honesty.draws import placed
from subsetprivacy.honesty.hypergeometric import skips_at_random
from subsetprivacy.honesty.pvalue_method import CHI_SQUARE, LEAST_REPLICATIONS, are_small, chi_square_pvalue
from subsetprivacy.honesty.reading import check_chance, data_seed
from subsetprivacy.honesty.resampling import FIRST, NullSampler
from subsetprivacy.honesty.stated_distribution import has_alike_pairs, pairs_test, pearson_test
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import pvalue_text
from subsetprivacy.tables import Table, label_text, number, percent

LEVEL = 0.95
_DENSE = 5  # from so many skips per question on average, questions are compared one by one
_FEW = 10
_MOST_OPTIONS = 1000  # with more options a matrix of all pairs is slow, and questions are compared one by one
_RANK = 1e-9
_SET = 5e-8  # seconds per set in a sample
_BLOCK, _MOST_CELLS = 200, 1 << 20

_SAME = {
    "bit": "Everyone is asked the same question, so there are no questions to compare.",
    "local": "The set is drawn after the answer is marked, so there are no questions to compare.",
}


@frozen
class OptionSkips:
    """How often people skip if an option is among those asked about, and if it is not."""

    option: Label
    asked_with: int
    skipped_with: int
    asked_without: int
    skipped_without: int


@frozen(slots=False, eq=False, repr=False)
class SkipsCheck(DataCheck):
    """How many people skip, and whether skipping depends on the question; made by `check_skips`.

    Attributes
    ----------
    asked, skipped
        The number of people asked, and of those who skipped.
    kind
        How the question was asked.
    tests
        The test that skipping does not depend on the question.
    options
        For yes/no questions, the numbers by option.
    rate, lower, upper
        The share of people who skip, and its 95% interval (Wilson's); None if no one was asked.
    problem
        Why there is no test; None if there is one.
    """

    title: ClassVar[str] = "Skips: whether skipping depends on the question"
    DOCUMENT: ClassVar[tuple[str, ...]] = (
        "asked",
        "skipped",
        "kind",
        "rate",
        "lower",
        "upper",
        "test",
        "options",
        "is_alarm",
        "problem",
        "notes",
    )

    asked: int
    skipped: int
    kind: str
    tests: tuple[DataTest, ...] = ()
    options: tuple[OptionSkips, ...] = ()
    problem: Note | None = None

    @property
    def test(self) -> DataTest | None:
        """The test, or None."""
        return self.tests[0] if self.tests else None

    @property
    def rate(self) -> float | None:
        """The share of people who skip."""
        return self.skipped / self.asked if self.asked else None

    @property
    def lower(self) -> float | None:
        """The lower end of its interval."""
        return wilson(self.skipped, self.asked)[0] if self.asked else None

    @property
    def upper(self) -> float | None:
        """The upper end of its interval."""
        return wilson(self.skipped, self.asked)[1] if self.asked else None

    @property
    def notes(self) -> tuple[Note, ...]:
        """Why there is no test, or how its p-value was computed."""
        drawn: tuple[Note, ...] = ()
        if self.test is not None and self.test.samples:
            text = f"Few people skip, so the p-value is from {self.test.samples:,} samples in which anyone may skip."
            drawn = (Note(NoteKind.NULL_LAW, text),)
        return (*drawn, *self._caveats())

    def __repr__(self) -> str:
        result = "not tested" if self.test is None else f"p-value {pvalue_text(self.test.pvalue)}"
        return f"<SkipsCheck: {self.skipped} of {people(self.asked)} skipped, {result}>"

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: the test and the share of people who skip."""
        if self.rate is None or self.lower is None or self.upper is None:
            return self._table()
        interval = f"{percent(LEVEL)} interval {number(self.lower)} to {number(self.upper)}"
        text = f"{self.skipped} of {people(self.asked)} skipped: {number(self.rate)}, {interval}."
        return self._table(Note(NoteKind.MISSING, text))

    def _numbers(self) -> dict[str, Any]:
        names = ("asked", "skipped", "kind", "rate", "lower", "upper")
        options = [
            {"option": option.option, **{name: getattr(option, name) for name in _OF_OPTION}} for option in self.options
        ]
        return {**{name: getattr(self, name) for name in names}, "options": options}

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot the share of people who skip if an option is asked about and if it is not, with 95% intervals.

        Parameters
        ----------
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.

        Raises
        ------
        NotIdentifiableError
            If there are no rates by option, because the questions are not yes/no questions.
        """
        if not self.options:
            raise NotIdentifiableError(
                "skip rates must be known by option to be plotted; only yes/no questions have them."
            )
        heading = draw.Heading(
            f"Share of people who skip, by option, {percent(LEVEL)} intervals, {self.asked:,} people asked"
        )
        return draw.rates(
            [label_text(option.option) for option in self.options],
            [_rates(option.skipped_with, option.asked_with) for option in self.options],
            [_rates(option.skipped_without, option.asked_without) for option in self.options],
            names=("asked about", "not asked about"),
            title=heading if title is None else title,
            ax=ax,
        )


_OF_OPTION = ("asked_with", "skipped_with", "asked_without", "skipped_without")


def _rates(skipped: int, asked: int) -> tuple[float, float, float]:
    return (skipped / asked, *wilson(skipped, asked)) if asked else (np.nan, np.nan, np.nan)


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share k / n."""
    z = float(ndtri(0.5 + LEVEL / 2))
    middle = (k + z**2 / 2) / (n + z**2)
    half = z * float(np.sqrt(k * (n - k) / n + z**2 / 4)) / (n + z**2)
    return max(0.0, middle - half), min(1.0, middle + half)


def check_skips(
    questions: QuestionCounts, *, replications: int = 499, seed: Seed | None = None, chance: float = CHANCE
) -> SkipsCheck:
    r"""Test whether skipping depends on the question.

    If skipping depends only on the answer, the estimate is valid for the people who answer. If it also depends on the
    question, all estimates are biased and cannot be corrected.

    Parameters
    ----------
    questions
        How the questions were asked and answered, from `count_questions` or `read_questions`.
    replications, seed
        The number of samples for the p-value if few people skip, and a number or a NumPy generator for them. By default
        the same data give the same samples.
    chance
        The maximum probability of an alarm if skipping is random.

    Returns
    -------
    SkipsCheck
        If there is nothing to compare, it has no test, and `problem` has the reason.

    Notes
    -----
    For yes/no questions with at least five skips per set, the test is Pearson's, of sets by skipped or answered. With
    fewer skips, the people who skip are compared with a random sample of all people, by options. With a row of
    memberships :math:`\phi` per set, :math:`U = \sum_{skipped}(\phi - \bar\phi)` has mean 0 and a known covariance V
    given the number of skips; the statistic is :math:`U^\top V^{+} U`. For questions with groups, the test is whether
    the skipped questions follow the distribution of the design.

    Examples
    --------
    >>> from subsetprivacy.data import QuestionCounts
    >>> from subsetprivacy.design import uniform
    >>> shown, answers = [3, 3, 12, 12, 5, 5], [0, -1, 1, -1, 0, -1]
    >>> asked = QuestionCounts(uniform(list("abcd")), shown, answers=answers, n=[900, 30, 900, 31, 900, 90])
    >>> check = check_skips(asked)
    >>> check.skipped, check.test.df, check.is_alarm
    (151, 2, True)
    """
    check_chance(chance)
    number_of = check_count(replications, "replications", least=LEAST_REPLICATIONS)
    asked = require_questions(questions)
    check = run_skips_check(asked, data_seed(asked, "skips") if seed is None else seed, number_of)
    return check.judged(chance)


def run_skips_check(questions: QuestionCounts, seed: Seed, samples: int = FIRST) -> SkipsCheck:
    """Run the check with its first samples, to be settled with all other checks."""
    asked, skipped, kind, design = questions.asked, questions.skipped, questions.kind, questions.design
    options = _by_option(questions) if kind == "yes_no" and asked else ()
    problem = _problem(questions)
    if problem:
        return SkipsCheck(asked, skipped, kind, (), options, not_tested(problem))
    test = _questions_test if kind == "yes_no" else _groups_test
    return SkipsCheck(asked, skipped, kind, (test(questions, design, seed, samples),), options)


def _problem(questions: QuestionCounts) -> str:
    """Return why there is nothing to test; empty if there is a test."""
    if not questions.asked:
        return "No one was asked."
    if questions.kind in _SAME:
        return _SAME[questions.kind]
    if questions.skipped in (0, questions.asked):
        return "No one skipped." if not questions.skipped else "Everyone skipped."
    if not questions.is_known[questions.is_skipped].all() and questions.kind == "groups":
        return "The groups that were shown are not stored for people who skipped."
    return ""


def _by_option(questions: QuestionCounts) -> tuple[OptionSkips, ...]:
    left, n, out = questions.is_skipped, questions.n, []
    for j, label in enumerate(questions.design.categories):
        inside = questions.design.contains(questions.sides, j)
        amounts = [int(n[where].sum()) for where in (inside, inside & left, ~inside, ~inside & left)]
        out.append(OptionSkips(label, *amounts))
    return tuple(out)


# Yes/no questions -----------------------------------------------------------------------------


def _questions_test(questions: QuestionCounts, design: Design, seed: Seed, samples: int) -> DataTest:
    sets, at = np.unique(questions.sides, return_inverse=True)
    asked, skipped = np.zeros(len(sets)), np.zeros(len(sets))
    np.add.at(asked, at, questions.n)
    np.add.at(skipped, at, questions.n * questions.is_skipped)
    if skipped.sum() >= _DENSE * len(sets) or design.p > _MOST_OPTIONS:
        return _table_test(asked, skipped, seed, samples)
    inside = np.column_stack([design.contains(sets, j) for j in range(design.p)]).astype(np.float64)
    return _options_test(inside, asked, skipped, seed, samples)


def _table_test(asked: FloatArray, skipped: FloatArray, seed: Seed, samples: int) -> DataTest:
    """Test whether all sets are skipped equally often, by Pearson's test of the two-row table."""
    rate = skipped.sum() / asked.sum()
    spread = asked * rate * (1 - rate)

    def distance(gone: FloatArray) -> FloatArray:
        return np.asarray(((gone - asked * rate) ** 2 / spread).sum(axis=-1))

    statistic, df = float(distance(skipped)), len(asked) - 1
    if not are_small(asked * rate) and not are_small(asked * (1 - rate)):
        return DataTest("questions", statistic, df, chi_square_pvalue(statistic, df), CHI_SQUARE)
    return _redrawn("questions", asked, skipped, distance, seed, samples)


def _options_test(inside: FloatArray, asked: FloatArray, skipped: FloatArray, seed: Seed, samples: int) -> DataTest:
    """Test whether skipping depends on any of the options asked about; the statistic is in `check_skips`."""
    n, k = asked.sum(), skipped.sum()
    mean = asked @ inside / n
    V = k * (n - k) / max(n - 1, 1) * ((inside.T * asked) @ inside / n - np.outer(mean, mean))
    values, vectors = np.linalg.eigh(V)
    kept = values > _RANK * max(float(values.max()), 1e-300)
    scaled, df = vectors[:, kept] / np.sqrt(values[kept]), int(kept.sum())

    def distance(gone: FloatArray) -> FloatArray:
        return np.asarray(((((gone @ inside) - k * mean) @ scaled) ** 2).sum(axis=-1))

    if not df:
        return DataTest("options", 0.0, 0, 1.0, CHI_SQUARE)
    if min(k, n - k) >= _DENSE * max(df, _FEW):
        statistic = float(distance(skipped))
        return DataTest("options", statistic, df, chi_square_pvalue(statistic, df), CHI_SQUARE)
    return _redrawn("options", asked, skipped, distance, seed, samples)


def _redrawn(
    by: str,
    asked: FloatArray,
    skipped: FloatArray,
    distance: Callable[[FloatArray], FloatArray],
    seed: Seed,
    samples: int,
) -> DataTest:
    """Compare with samples in which the same number of people skip at random."""
    everyone, k = asked.astype(np.int64), int(skipped.sum())

    def sample(generator: np.random.Generator, size: int) -> FloatArray:
        return distance(skips_at_random(generator, everyone, k, size).astype(np.float64))

    block = max(1, min(_BLOCK, _MOST_CELLS // len(asked)))
    return simulated(by, NullSampler(float(distance(skipped)), sample, _SET * (100 + len(asked)), seed, block), samples)


# Questions with groups ------------------------------------------------------------------------


def _groups_test(questions: QuestionCounts, design: Design, seed: Seed, samples: int) -> DataTest:
    """Test whether the skipped questions follow the distribution of the design."""
    skipped = questions.is_skipped
    n: IntArray = questions.n[skipped]
    groups: IntArray = questions.shown[skipped]
    if has_alike_pairs(design):
        return pairs_test(design, groups, n, seed, samples)
    distribution = design.question_distribution()
    assert distribution is not None  # the questions are listed
    listed, nu = distribution
    if len(listed) < 2:
        return DataTest("questions", 0.0, 0, 1.0, CHI_SQUARE)
    return pearson_test("questions", placed(design, listed, groups, n), nu, seed, samples)
