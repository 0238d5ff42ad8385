"""`check_draws`: whether the questions were drawn as the design specifies."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen
from scipy.special import betainc

from subsetprivacy._choices import FitMethod
from subsetprivacy._types import FloatArray, IntArray, Label, Seed
from subsetprivacy.data import QuestionCounts, SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import NoDataError, NotIdentifiableError, SubsetPrivacyError, TooLargeError
from subsetprivacy.honesty.alarms import CHANCE, DataTest
from subsetprivacy.honesty.data_check import first_test, not_tested, problem_of
from subsetprivacy.honesty.draws_result import AskedCell, DrawsCheck
from subsetprivacy.honesty.fits import GoodnessOfFit
from subsetprivacy.honesty.pvalue_method import CHI_SQUARE, PValueMethod, chi_square_pvalue
from subsetprivacy.honesty.reading import check_chance, data_seed, one_at_a_time, read_counts, require_people
from subsetprivacy.honesty.resampling import FIRST
from subsetprivacy.honesty.stated_distribution import (
    StatedDistribution,
    has_alike_pairs,
    pair_counts,
    pairs_test,
    pearson_test,
)
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_tests import DRAWS_BY_PAIRS, DRAWS_OF_ONE_VARIABLE, RECORD_THE_QUESTION

MOST_LISTED = 4096  # up to so many reports of a design, questions are counted one by one
_WORST = 20  # the most cells listed
Tester: TypeAlias = Callable[[IntArray, FloatArray], DataTest]

_SAME = "Everyone is asked the same question, and the secret number never leaves the device: its draw cannot be tested."
_LOCAL = "The set is drawn around the answer, so its draw cannot be tested without the answer."
_NOT_KEPT = "The groups that were shown are not stored with the answers, so their draw cannot be tested."
_ONE = "There is only one question, so there is nothing to compare."


def check_draws(
    data: Any,
    column: str | None = None,
    *,
    design: Design | None = None,
    method: FitMethod = "auto",
    replications: int = 499,
    seed: Seed | None = None,
    chance: float = CHANCE,
) -> DrawsCheck:
    r"""Test whether the questions were drawn with the stated probabilities.

    This detects a broken random generator, an interviewer who prefers some questions, and people who ask for another
    question, whatever the answers are. `QuestionCounts` include the skipped questions and the side of a yes/no question
    that was asked about, which is tested too. Without them, people who skip some questions more than others look like a
    biased draw.

    Parameters
    ----------
    data
        `QuestionCounts`; or `SubsetData`, `SubsetCounts` or a table of any engine, of a design whose subsets determine
        the question (yes/no questions, recorded partitions).
    column, design
        The column of a table, and its design, as in `count`.
    method
        ``"chi-square"``, ``"bootstrap"`` (samples drawn with the stated probabilities), or ``"auto"``:
        chi-square unless expected counts are small.
    replications, seed
        The number of samples, and a number or a NumPy generator for them. By default the same data give the same
        samples.
    chance
        The maximum probability that correct draws raise an alarm, split between the tests. `check_all` splits it over
        all checks.

    Returns
    -------
    DrawsCheck
        `test`, and `sides` if the sides are known; `statistic`, `df`, `pvalue` and `law` belong to the first test.

    Raises
    ------
    NotIdentifiableError
        If the subset does not determine the question, or there is only one question.
    TooLargeError
        If there are too many questions to list, and comparing pairs of options is not possible.

    Warns
    -----
    SmallCountWarning
        If the chi-square approximation is unreliable and a bootstrap would take too long.

    Notes
    -----
    Pearson's statistic compares the number of people asked each question with :math:`n\,(\nu_a + \nu_{a^c})`
    (`ind_design`). It has one degree of freedom less than the number of questions. If a design that treats all options
    alike has more than 4,096 reports, the test compares, for each pair of options, how often both were on the same
    side. Its distribution comes from samples.

    The test of the sides is an exact binomial test for any number of people.

    Examples
    --------
    >>> from subsetprivacy.data import SubsetCounts
    >>> from subsetprivacy.design import uniform
    >>> steered = SubsetCounts([3, 12, 5, 10, 6, 9], [30, 50, 25, 30, 20, 25], uniform(list("abcd")))
    >>> check = check_draws(steered)
    >>> round(check.statistic, 2), check.df, round(check.pvalue, 3)
    (10.83, 2, 0.004)
    """
    check_chance(chance)
    if not isinstance(data, QuestionCounts):
        data = require_people(read_counts(data, DRAWS_OF_ONE_VARIABLE, column, design)).require_data()
    pvalue_method = PValueMethod.of(method, replications, data_seed(data, "draws") if seed is None else seed)
    tester = _PValueTester(pvalue_method)
    how = _DrawsComparison(tester, pvalue_method.generator, replications, _is_by_pairs(data.design, method))
    if isinstance(data, QuestionCounts):
        if not data.asked:
            raise NoDataError("at least one question must have been asked; got none.")
        check = _of_questions(data, how)
        first_test(check)  # raises if nothing is tested
    else:
        check = _of_counts(data, how)
    pvalue_method.warn()
    return evolve(check, remarks=tuple(tester.notes)).judged(chance)


def run_draws_check(counts: SubsetCounts, questions: QuestionCounts | None, seed: int) -> DrawsCheck:
    """Run the check with its first samples, to be settled with all other checks; `problem` says why it cannot run.

    Parameters
    ----------
    counts, questions
        How often each subset was reported, and how the questions were asked, if known.
    seed
        The seed of the samples.
    """

    def tester(observed: IntArray, law: FloatArray) -> DataTest:
        return pearson_test("questions", observed, law, seed)

    design, codes = counts.design, counts.observed_codes
    how = _DrawsComparison(tester, seed, FIRST, _is_by_pairs(design))
    in_codes = questions is not None and questions.kind == "groups" and design.strata(codes) is not None
    try:
        if questions is not None and not in_codes:
            return _of_questions(questions, how)
        return _of_counts(counts.require_data(), how)
    except SubsetPrivacyError as error:
        return DrawsCheck(int(counts.n), problem=problem_of(error))


def draws_part(counts: SubsetCounts, pvalue_method: PValueMethod) -> GoodnessOfFit:
    """Return the test of the draws as part of `check_honesty`.

    Raises
    ------
    NotIdentifiableError, TooLargeError
        If the subsets do not determine the questions, or the questions cannot be listed.
    """
    tester = _PValueTester(pvalue_method)
    check = _of_counts(
        counts, _DrawsComparison(tester, pvalue_method.generator, pvalue_method.replications, by_pairs=False)
    )
    test = first_test(check)
    assert test.df is not None  # by questions
    return GoodnessOfFit(
        "draws", test.statistic, test.df, test.pvalue, test.law, check.least_expected, tuple(tester.notes)
    )


class _PValueTester:
    """A tester with the caller's method and number of replications; it collects the notes."""

    def __init__(self, pvalue_method: PValueMethod) -> None:
        self._pvalue_method = pvalue_method
        self.notes: list[Note] = []

    def __call__(self, observed: IntArray, law: FloatArray) -> DataTest:
        stated = StatedDistribution.of(observed, law)
        sampler = stated.sampler(self._pvalue_method.generator)
        resample, notes = self._pvalue_method.choose(stated.expected, sampler.cost)
        self.notes += notes
        statistic, df = stated.statistic, stated.df
        if not resample:
            return DataTest("questions", statistic, df, chi_square_pvalue(statistic, df), CHI_SQUARE)
        pvalue, number = float(self._pvalue_method.resample(sampler)), self._pvalue_method.replications
        return DataTest("questions", statistic, df, pvalue, self._pvalue_method.bootstrap, samples=number)


@frozen(eq=False)
class _DrawsComparison:
    """How questions are compared: the test, the seed and number of samples, and whether by pairs."""

    tester: Tester
    seed: Seed
    samples: int
    by_pairs: bool


def _is_by_pairs(design: Design, method: FitMethod = "auto") -> bool:
    """Return whether there are too many questions to count one by one, so that pairs of options are compared."""
    if method == "chi-square" or not has_alike_pairs(design):
        return False
    if method == "bootstrap":
        return not design.enumerable
    return design.report_count is None or design.report_count > MOST_LISTED


# From questions, and from subsets -----------------------------------------------------------------


def _of_questions(questions: QuestionCounts, how: _DrawsComparison) -> DrawsCheck:
    check, design = DrawsCheck(questions.asked, questions.kind), questions.design
    problem = _problem(questions)
    if problem:
        return evolve(check, problem=not_tested(problem))
    if questions.kind == "groups":
        rows = np.sort(questions.shown, axis=1)
        return _compared(check, design, rows, questions.n, evolve(how, by_pairs=has_alike_pairs(design)))
    asked, at = np.unique(questions.questions, return_inverse=True)
    n = np.bincount(at, weights=questions.n).astype(np.int64)
    check = _compared(check, design, np.column_stack([asked, design.complement(asked)]), n, how)
    return evolve(check, tests=(*check.tests, _sides(questions)))


def _problem(questions: QuestionCounts) -> str:
    """Return why the draws cannot be tested; empty if they can."""
    if questions.kind in {"bit", "local"}:
        return _SAME if questions.kind == "bit" else _LOCAL
    if not questions.asked:
        return "No one was asked."
    return "" if questions.is_known.all() or questions.kind == "yes_no" else _NOT_KEPT


def _of_counts(counts: SubsetCounts, how: _DrawsComparison) -> DrawsCheck:
    """Run the check on subsets that determine the question.

    Raises
    ------
    NotIdentifiableError, TooLargeError
        If they do not determine it, or there are too many questions to list.
    """
    design, codes = counts.design, counts.observed_codes
    if design.strata(codes) is None:
        raise NotIdentifiableError(
            f"a subset must show which question it answers for the draws to be tested; those of a {design.name} design "
            "do not.",
            one_at_a_time(design, DRAWS_OF_ONE_VARIABLE) or RECORD_THE_QUESTION,
        )
    if not how.by_pairs and not design.enumerable:
        raise TooLargeError(
            f"the questions must be few enough to list for the draws to be tested; a {design.maker} design on "
            f"{design.p} categories has too many.",
            DRAWS_BY_PAIRS if has_alike_pairs(design) else None,
        )
    rows = np.column_stack([codes, design.complement(codes)]) if how.by_pairs else codes[:, None]
    check = _compared(DrawsCheck(int(counts.n)), design, rows, counts.n_a.astype(np.int64), how, from_counts=True)
    if check.problem is not None:
        raise NotIdentifiableError("there must be two questions or more for draws to be tested; got one.")
    return check


def _compared(
    check: DrawsCheck, design: Design, rows: IntArray, n: IntArray, how: _DrawsComparison, *, from_counts: bool = False
) -> DrawsCheck:
    """Compare questions, each a row of codes, with the design, one by one or by pairs of options.

    With `from_counts`, leave out the question about all options, which a subset does not determine.
    """
    if how.by_pairs:
        return _by_pairs(check, design, rows, n, how)
    distribution = design.question_distribution()
    assert distribution is not None  # the questions are listed
    listed, nu = distribution
    if from_counts:
        kept = ~design.is_missing(listed).any(axis=1)
        listed, nu = listed[kept], nu[kept]
    observed = placed(design, listed, rows, n)
    expected = n.sum() * nu / nu.sum()
    order = np.lexsort((-observed, -expected.round(6)))  # equal probabilities may differ by rounding
    return evolve(
        check,
        tests=(how.tester(observed, nu),) if len(listed) > 1 else (),
        observed=observed[order].astype(np.float64),
        expected=expected[order],
        cells=_worst(lambda k: _question_groups(design, listed[k]), observed, expected),
        problem=None if len(listed) > 1 else not_tested(_ONE),
    )


def placed(design: Design, listed: IntArray, rows: IntArray, n: IntArray) -> IntArray:
    """Return how often each listed question was asked, from rows identified by their first code or by all codes."""
    names = design.strata(listed[:, 0])
    observed = np.zeros(len(listed), np.int64)
    if names is not None:
        np.add.at(observed, np.searchsorted(names, np.asarray(design.strata(rows[:, 0]))), n)
        return observed
    place = {tuple(row): k for k, row in enumerate(listed.tolist())}
    np.add.at(observed, [place[tuple(sorted(row))] for row in rows.tolist()], n)
    return observed


def _by_pairs(check: DrawsCheck, design: Design, rows: IntArray, n: IntArray, how: _DrawsComparison) -> DrawsCheck:
    above = np.triu_indices(design.p, 1)
    observed = pair_counts(rows, n, design.p)[above]
    expected = np.full(len(observed), n.sum() * (design.pair_probability or 0.0))
    labels = tuple(design.categories)
    return evolve(
        check,
        tests=(pairs_test(design, rows, n, how.seed, how.samples),),
        observed=np.sort(observed)[::-1],
        expected=expected,
        cells=_worst(lambda k: ((labels[above[0][k]], labels[above[1][k]]),), observed, expected),
    )


def _question_groups(design: Design, row: IntArray) -> tuple[tuple[Label, ...], ...]:
    """Return the smaller side of a yes/no question, or all groups."""
    codes: Iterable[int] = row.tolist()
    if len(row) == 2:
        codes = [min(row.tolist(), key=lambda code: (int(design.sizes(np.array([code]))[0]), code))]
    return tuple(design.members(code) for code in codes)


def _worst(
    groups: Callable[[int], tuple[tuple[Label, ...], ...]], observed: FloatArray | IntArray, expected: FloatArray
) -> tuple[AskedCell, ...]:
    distance = np.abs(observed - expected) / np.sqrt(expected)
    order = np.argsort(-distance, kind="stable")[:_WORST].tolist()
    return tuple(AskedCell(groups(k), int(observed[k]), float(expected[k])) for k in order)


def _sides(questions: QuestionCounts) -> DataTest:
    """Test exactly whether both sides of the questions were asked about equally often."""
    n = questions.asked
    smaller = int(questions.n[questions.sides == questions.questions].sum())
    fewer = min(smaller, n - smaller)
    # The binomial tail as an incomplete beta function, which has no largest n.
    pvalue = min(1.0, 2 * float(betainc(n - fewer, fewer + 1, 0.5)))
    return DataTest("sides", smaller / n, None, pvalue, "exact")
