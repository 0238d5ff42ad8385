"""`check_leaning`: whether people lean to yes, or to a position on the screen, whatever the question."""

import warnings
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_count, check_distribution
from subsetprivacy._types import ArrayLike, Distribution, FloatArray, Seed
from subsetprivacy._words import counted
from subsetprivacy.data import QuestionCounts, SubsetCounts
from subsetprivacy.errors import NotIdentifiableError, SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.honesty.alarms import CHANCE, DataTest
from subsetprivacy.honesty.data_check import DataCheck, not_tested, require_questions
from subsetprivacy.honesty.pvalue_method import LEAST_REPLICATIONS
from subsetprivacy.honesty.reading import check_chance, data_seed
from subsetprivacy.honesty.resampling import FIRST
from subsetprivacy.honesty.stated_distribution import pearson_test
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import pvalue_text
from subsetprivacy.tables import Table, number, percent

LEVEL = 0.95
SOME = 0.05  # the share of people who always say yes for which the power is reported
POWER = 0.8
_FEW = 25  # the smallest number of answers for which the normal approximation was measured

_NO_QUESTION = {
    "bit": "Everyone answers the same question, so people who always give one answer look like honest ones.",
    "local": "People mark their answer on their own device, so there is no answer to lean to.",
}


@frozen(slots=False, eq=False, repr=False)
class LeaningCheck(DataCheck):
    r"""Whether people always say yes or no, or prefer a position on the screen; made by `check_leaning`.

    Attributes
    ----------
    n
        The number of answers checked.
    kind
        How the question was asked.
    tests
        The test that no one leans to an answer.
    share, se
        For yes/no questions, the estimated share of people who always say yes minus the share who always say no, and
        its standard error; None for other questions.
    lower, upper
        The 95% interval of `share`.
    detectable
        The share that raises an alarm in 80 of 100 such samples.
    power
        The probability that a share of 5% raises an alarm.
    positions
        For questions with groups, how often each position was chosen, from the first.
    problem
        Why there is no test; None if there is one.
    spread_of_leaning
        The mean square that people who lean add to the variance; the power depends on it.
    """

    title: ClassVar[str] = "Leaning: whether people answer yes, or take a position, whatever is asked"
    DOCUMENT: ClassVar[tuple[str, ...]] = (
        "n",
        "kind",
        "share",
        "se",
        "lower",
        "upper",
        "detectable",
        "power",
        "positions",
        "test",
        "is_alarm",
        "problem",
        "notes",
    )

    n: int
    kind: str
    tests: tuple[DataTest, ...] = ()
    share: float | None = None
    se: float | None = None
    positions: tuple[int, ...] = ()
    problem: Note | None = None
    spread_of_leaning: float | None = None

    @property
    def test(self) -> DataTest | None:
        """The test, or None."""
        return self.tests[0] if self.tests else None

    @property
    def _half(self) -> float:
        return float(ndtri(0.5 + LEVEL / 2)) * (self.se or 0.0)

    @property
    def lower(self) -> float | None:
        """The lower end of the interval, at least -1."""
        return None if self.share is None else max(self.share - self._half, -1.0)

    @property
    def upper(self) -> float | None:
        """The upper end of the interval, at most 1."""
        return None if self.share is None else min(self.share + self._half, 1.0)

    @property
    def detectable(self) -> float | None:
        """The share that raises an alarm in 80 of 100 such samples."""
        if self.alpha is None or self._power(0.0) is None:
            return None
        if (self._power(1.0) or 0.0) < POWER:
            return 1.0
        return float(brentq(lambda share: (self._power(share) or 0.0) - POWER, 0.0, 1.0))

    @property
    def power(self) -> float | None:
        """The probability that a share of 5% raises an alarm."""
        return self._power(SOME)

    def _power(self, share: float) -> float | None:
        if self.se is None or self.spread_of_leaning is None or self.alpha is None:
            return None
        return power_for(share, self.se, self.spread_of_leaning, self.n, self.alpha)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Why there is no test, how its p-value was computed, and which share would be detected."""
        notes: list[Note] = []
        if self.share is not None and self.n < _FEW:
            text = f"The normal approximation is rough for {counted(self.n, 'answer')}."
            notes.append(Note(NoteKind.SMALL_COUNTS, text))
        if self.test is not None and self.test.samples:
            text = f"Few answers, so the p-value is from {self.test.samples:,} samples with equally likely positions."
            notes.append(Note(NoteKind.NULL_LAW, text))
        return (*notes, *self._caveats())

    def __repr__(self) -> str:
        result = "not tested" if self.test is None else f"p-value {pvalue_text(self.test.pvalue)}"
        share = "" if self.share is None else f"share {self.share:.4f}, std. error {self.se:.4f}, "
        return f"<LeaningCheck of {counted(self.n, 'answer')}: {share}{result}>"

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: the test, and the share or the positions."""
        return self._table(*self._share_or_positions())

    def _share_or_positions(self) -> tuple[Note, ...]:
        if self.positions:
            text = f"Positions chosen, from the first: {', '.join(f'{n:,}' for n in self.positions)}."
            return (Note(NoteKind.LEGEND, text),)
        if self.share is None or self.lower is None or self.upper is None:
            return ()
        interval = f"{percent(LEVEL)} interval {number(self.lower)} to {number(self.upper)}"
        text = (
            f"Share of people who always say yes, minus those who always say no: {number(self.share)}, std. error "
            f"{number(self.se or 0.0)}, {interval}."
        )
        return (Note(NoteKind.LEGEND, text), *self._detectable_note())

    def _detectable_note(self) -> tuple[Note, ...]:
        least = self.detectable
        if least is None:
            return ()
        text = (
            f"A share of {number(least, 2)} would raise an alarm in 80 of 100 such samples, a smaller one less often."
        )
        if least >= 1:
            text = "Too few people: even if everyone leaned, fewer than 80 of 100 such samples would raise an alarm."
        return (Note(NoteKind.LEGEND, text),)

    def _numbers(self) -> dict[str, Any]:
        names = ("n", "kind", "share", "se", "lower", "upper", "detectable", "power", "positions")
        return {name: getattr(self, name) for name in names}

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot the share with its interval around 0, or how often each position was chosen, with a band.

        Parameters
        ----------
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.

        Raises
        ------
        NotIdentifiableError
            If nothing is tested, with the reason.
        """
        if self.positions:
            counts = np.array(self.positions, np.float64)
            even = np.full(len(counts), counts.mean())
            heading = draw.Heading(f"How often each position was chosen, {self.n:,} answers")
            shown = heading if title is None else title
            return draw.question_counts(counts, even, self.n, what="position, from the first", title=shown, ax=ax)
        if self.share is None or self.lower is None or self.upper is None:
            reason = "nothing was tested." if self.problem is None else self.problem.text
            raise NotIdentifiableError(f"there must be a share to plot; {reason[:1].lower()}{reason[1:]}")
        heading = draw.Heading(f"Tendency to say yes, {percent(LEVEL)} interval, n = {self.n:,}")
        return draw.differences(
            ["people who always say yes minus people who always say no"],
            [self.share],
            [self.lower],
            [self.upper],
            level=LEVEL,
            title=heading if title is None else title,
            ax=ax,
        )


def check_leaning(
    questions: QuestionCounts,
    w: Distribution | ArrayLike | None = None,
    *,
    replications: int = 499,
    seed: Seed | None = None,
    chance: float = CHANCE,
) -> LeaningCheck:
    r"""Test whether people favor "yes", or a position on the screen, regardless of the question.

    Parameters
    ----------
    questions
        How the questions were asked and answered, from `count_questions` or `read_questions`.
    w
        The shares of the options, as an array or by label. By default they are estimated from the answers, with about
        one person added to each option. They affect only the power of the test, not its level.
    replications, seed
        The number of samples for the p-value if positions are rarely chosen, and a number or a NumPy generator for
        them. By default the same data give the same samples.
    chance
        The maximum probability of an alarm if no one leans to an answer.

    Returns
    -------
    LeaningCheck
        If leaning is not possible, it has no test, and `problem` has the reason.

    Notes
    -----
    A fair draw decides whether a set or its complement is asked about, so a stored set A comes from a yes about A as
    often as from a no about its complement. Let :math:`f = 1 - L(A)`, which gives the smallest variance. For honest
    people, the sum R of f over yes answers minus the sum over no answers has mean 0 and variance :math:`\sum f^2`,
    whatever the estimate of L. Every person who always says yes adds 1/2 on average, because :math:`L(a) + L(a^c) = 1`.
    The share is 2R/n.

    Groups are shown in random order, so honest people choose every position equally often, which Pearson's test checks.

    Examples
    --------
    >>> from subsetprivacy.data import QuestionCounts
    >>> from subsetprivacy.design import uniform
    >>> shown, answers = [3, 3, 12, 12], [0, 1, 0, 1]
    >>> asked = QuestionCounts(uniform(list("abcd")), shown, answers=answers, n=[600, 400, 610, 390])
    >>> check = check_leaning(asked)
    >>> round(check.share, 2), round(check.se, 3), check.is_alarm
    (0.21, 0.022, True)
    """
    check_chance(chance)
    number_of = check_count(replications, "replications", least=LEAST_REPLICATIONS)
    asked = require_questions(questions)
    chosen = data_seed(asked, "leaning") if seed is None else seed
    if w is not None:
        shares = check_distribution(w, asked.design.categories.labels)
    else:
        shares = shares_for(asked.counts()) if asked.kind == "yes_no" else _even(asked.design.p)
    return run_leaning_check(asked, shares, chosen, number_of).judged(chance)


def shares_for(counts: SubsetCounts) -> FloatArray:
    """Return the estimated shares, moved off zero, or uniform shares if there is no estimate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        try:
            fit = estimate(counts)
        except SubsetPrivacyError:
            return _even(counts.design.p)
    return lifted(fit.w, float(fit.n))


def _even(p: int) -> FloatArray:
    return np.full(p, 1 / p)


def lifted(w: FloatArray, n: float) -> FloatArray:
    """Return shares with about one person added per option, so that an estimate of 0 does not count as certain."""
    return (n * w + 1) / (n + len(w))


def run_leaning_check(questions: QuestionCounts, w: FloatArray, seed: Seed, samples: int = FIRST) -> LeaningCheck:
    """Run the check with its first samples, to be settled with all other checks; w are the shares of the options."""
    kind, answered = questions.kind, questions.answered
    if kind in _NO_QUESTION:
        return LeaningCheck(answered, kind, problem=not_tested(_NO_QUESTION[kind]))
    if not answered:
        return LeaningCheck(0, kind, problem=not_tested("No one has answered."))
    return _to_yes(questions, w) if kind == "yes_no" else _to_a_position(questions, seed, samples)


def _to_yes(questions: QuestionCounts, w: FloatArray) -> LeaningCheck:
    answers, amounts = questions.answers, questions.n
    yes, no = answers == 0, answers == 1
    n = float(amounts[yes | no].sum())
    size = questions.design.incidence(questions.sides).inner(w)
    total = float(amounts[yes] @ (1 - size[yes]) - amounts[no] @ size[no])
    variance = float(amounts[yes] @ (1 - size[yes]) ** 2 + amounts[no] @ size[no] ** 2)
    if not variance > 0:
        text = "Given the shares, every answer is certain, so no answer shows whether someone leans."
        return LeaningCheck(round(n), questions.kind, problem=not_tested(text))
    share, se = 2 * total / n, 2 * float(np.sqrt(variance)) / n
    z = share / se
    test = DataTest("sides", z, None, 2 * float(ndtr(-abs(z))), "normal")
    answered = yes | no
    # Both sides are asked about equally often, so someone who always says yes adds the mean over both.
    spread = float(amounts[answered] @ ((1 - size[answered]) ** 2 + size[answered] ** 2)) / (2 * n)
    return LeaningCheck(round(n), questions.kind, (test,), share, se, spread_of_leaning=spread)


def _bar(alpha: float) -> float:
    """Return the critical value of a two-sided test at this level, in standard errors."""
    return float(-ndtri(alpha / 2))


def power_for(leaning: float, se: float, spread: float, n: float, alpha: float) -> float:
    r"""Return the power of the test at a level against a given share of people who lean.

    Parameters
    ----------
    leaning
        The share of people who always say yes.
    se
        The standard error of the estimated share if no one does.
    spread
        The mean of :math:`f^2` over people who lean. If one option is frequent, it is far larger than over other
        people, and so is the standard error of a sample with such people.
    n, alpha
        The number of answers, and the level of the test.
    """
    second = (1 - leaning) * n * se**2 / 4 + leaning * spread
    estimated = 2 * np.sqrt(second / n)
    actual = 2 * np.sqrt(max(second - leaning**2 / 4, 1e-300) / n)
    reach = _bar(alpha) * estimated
    return float(ndtr((leaning - reach) / actual) + ndtr((-leaning - reach) / actual))


def _to_a_position(questions: QuestionCounts, seed: Seed, samples: int) -> LeaningCheck:
    m = questions.shown.shape[1]
    chosen = questions.answers >= 0
    counts = np.bincount(questions.answers[chosen], weights=questions.n[chosen], minlength=m).astype(np.int64)
    test = pearson_test("positions", counts, np.full(m, 1 / m), seed, samples)
    return LeaningCheck(int(counts.sum()), questions.kind, (test,), positions=tuple(counts.tolist()))
