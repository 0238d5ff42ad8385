"""`check_honesty`: whether the answers fit the design, and how many people answer at random."""

from functools import partial
from typing import Any

from attrs import evolve

from subsetprivacy._checks import check_level
from subsetprivacy._choices import FitMethod
from subsetprivacy._types import Seed
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import NotIdentifiableError, SubsetPrivacyError, TooLargeError
from subsetprivacy.honesty.alarms import CHANCE, DataTest
from subsetprivacy.honesty.answer_samples import answer_samplers
from subsetprivacy.honesty.answers import answers_part, require_spare
from subsetprivacy.honesty.data_check import problem_of
from subsetprivacy.honesty.draws import draws_part
from subsetprivacy.honesty.fits import GoodnessOfFit
from subsetprivacy.honesty.linear import LinearModel
from subsetprivacy.honesty.pvalue_method import LEAST_REPLICATIONS, PValueMethod
from subsetprivacy.honesty.random_answers import chance_model, random_answers, random_part, score_statistic
from subsetprivacy.honesty.reading import check_chance, data_seed, read_counts
from subsetprivacy.honesty.residuals import residuals
from subsetprivacy.honesty.result import HonestyCheck
from subsetprivacy.honesty.table import tabulate
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.messages.for_tests import CHECK_HONESTY_ALONE

LEVEL = 0.95
LARGE = 50_000_000  # cells times the square of options; beyond this, one fit takes a second
_SUSPECT = 0.05
# In `check_all`, the tests describe their p-values themselves, and the draws have a separate check.
_TECHNICAL = (NoteKind.NULL_LAW, NoteKind.SMALL_COUNTS, NoteKind.BUDGET, NoteKind.NOT_TESTED)


def check_honesty(
    data: Any,
    column: str | None = None,
    *,
    design: Design | None = None,
    level: float = 0.95,
    method: FitMethod = "auto",
    replications: int = 499,
    seed: Seed | None = None,
    chance: float = CHANCE,
) -> HonestyCheck:
    r"""Test whether the answers fit the design, and estimate how many people answer at random.

    A design with more questions than the distribution has parameters can be checked. Wrong answers, random answers, a
    randomizer that depends on the value and a wrong design all leave a pattern that no distribution explains.
    Consistent lies, where a person answers every question as if they had another value, cannot be detected.

    Parameters
    ----------
    data
        `SubsetData` or `SubsetCounts` of people, without sampling weights, or a table of any engine. For a
        `SubsetTable` of several variables, the test is whether a joint distribution explains the answers. To find
        random answers, check one variable at a time: ``check_honesty(table["race"])``.
    column, design
        The column of a table, and its design, as in `count`.
    level
        The confidence level of the interval for the share of random answers.
    method
        ``"chi-square"``, ``"bootstrap"`` (samples drawn from the fit, given the questions), or ``"auto"``: chi-square
        unless expected counts are small. The notes state which was used. Cells are never pooled.
    replications, seed
        The number of bootstrap samples, and a number or a NumPy generator for them. By default the same counts give the
        same samples.
    chance
        The maximum probability that honest answers raise an alarm, split between the tests of *answers* and *random*.
        `check_all` splits it over all checks.

    Returns
    -------
    HonestyCheck
        Up to four tests. *answers*: some distribution explains them. *draws*: the questions were drawn with the stated
        probabilities. *random*: no one answers at random. *rest*: some distribution explains the answers that are not
        random. A test that the design does not allow is None, and `notes` has the reason.

    Raises
    ------
    NotIdentifiableError
        If the answers leave no degree of freedom, as with four categories or a Hadamard design on 2^k categories.
        `check_draws` still tests the randomizer.
    NoDataError, UnknownDesignError, TooLargeError
        If there are no people, there is no design, or there are too many cells to list.

    Warns
    -----
    SmallCountWarning
        If the chi-square approximation is unreliable and a bootstrap would take too long.

    Notes
    -----
    The question does not depend on the value, so the test conditions on the questions: the answers to a question
    follow :math:`1_a^\top w`. The degrees of freedom are the number of possible answers minus the number of questions
    asked, minus p - 1. If the subset does not determine the question, all subsets follow
    :math:`\mu_a 1_a^\top w/(1-\mu_{[p]})`.

    With m answers to a question and a share :math:`\rho` of random answers, the probability of an answer is
    :math:`(1-\rho)1_a^\top w + \rho/m`. The share is identifiable if questions have different sizes. People who always
    say "yes" cannot be identified, because a subset does not show whether it or its complement was asked about. If both
    are asked about equally often, as in `uniform`, people who always say "yes" and people who always say "no" count as
    random answers.

    With the design `uniform` and an even distribution, 2,000 people detect a share of 0.30 with power 0.86 for five
    categories. For eight categories, they detect 0.15 with power 0.70 and 0.20 with power 0.89 (tests at 5%).

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> counts = simulate(uniform(list("abcde")), [0.4, 0.3, 0.15, 0.1, 0.05], 5000, seed=1)
    >>> check = check_honesty(counts)
    >>> check.answers.df, check.answers.pvalue > 0.05, check.random.test.pvalue > 0.05
    (6, True, True)
    """
    check_level(level)
    check_chance(chance)
    counts = read_counts(data, column=column, design=design)
    pvalue_method = PValueMethod.of(method, replications, data_seed(counts, "honesty") if seed is None else seed)
    check = _checked(counts, level, pvalue_method)
    pvalue_method.warn()
    return check.judged(chance)


def _checked(counts: SubsetCounts, level: float, pvalue_method: PValueMethod) -> HonestyCheck:
    plain = require_spare(LinearModel(tabulate(counts)))
    model, no_share = chance_model(plain)
    draws, no_draws = _draws(counts, pvalue_method)
    if model is None:
        answers = answers_part("answers", plain, pvalue_method)
        chance, rest = None, None
    else:
        answers = answers_part("answers", plain, pvalue_method, second=partial(score_statistic, model))
        others = answers_part("rest", model, pvalue_method)
        chance = random_answers(model, others.fit, random_part(answers, pvalue_method))
        rest = others.part if model.df > 0 else None
    general = (no_share, no_draws, _fixed_sizes(counts))
    notes = (*(note for note in general if note), *_notes_of(answers.part, draws, rest))
    tests = tuple(_as_test(part, pvalue_method) for part in (answers.part, chance and chance.test) if part)
    return HonestyCheck(counts, answers.part, draws, chance, rest, residuals(plain, answers.fit), level, notes, tests)


def _as_test(part: GoodnessOfFit, pvalue_method: PValueMethod) -> DataTest:
    samples = pvalue_method.replications if part.law == pvalue_method.bootstrap else 0
    return DataTest("answers", part.statistic, part.df, part.pvalue, part.law, samples=samples)


def run_honesty_check(counts: SubsetCounts, seed: int) -> HonestyCheck:
    """Run the check with chi-square p-values, to be settled with all other checks; `problem` says why it cannot run.

    If counts are small and a p-value is close to an alarm, samples drawn from the fit replace it.

    Parameters
    ----------
    counts
        The answers of one variable.
    seed
        The seed of the samples.
    """
    if len(counts.observed_codes) * counts.categories.p**2 > LARGE:
        text = "There are too many different answers to be checked together with all others."
        return HonestyCheck(counts, problem=Note(NoteKind.TOO_MANY_CELLS, text, CHECK_HONESTY_ALONE))
    try:
        check = _checked(counts, LEVEL, PValueMethod.of("chi-square", LEAST_REPLICATIONS, seed))
    except NotIdentifiableError as error:
        return HonestyCheck(counts, problem=problem_of(error, NoteKind.NOT_IDENTIFIABLE))
    except SubsetPrivacyError as error:
        return HonestyCheck(counts, problem=problem_of(error))
    is_small = bool(check.answers.notes)
    tests = _with_samplers(check, seed) if is_small else check.tests
    remarks = unique(note for note in check.remarks if note.kind not in _TECHNICAL)
    return evolve(check, tests=tests, remarks=remarks, is_small=is_small)


def _with_samplers(check: HonestyCheck, seed: int) -> tuple[DataTest, ...]:
    """Return the tests, with samplers for those whose formula is close to an alarm."""
    if not any(test.pvalue < _SUSPECT for test in check.tests):
        return check.tests
    samplers = answer_samplers(check.counts, (seed, seed ^ 1))
    return tuple(
        evolve(test, sampler=sampler) if test.pvalue < _SUSPECT else test
        for test, sampler in zip(check.tests, samplers, strict=False)
    )


def _draws(counts: SubsetCounts, pvalue_method: PValueMethod) -> tuple[GoodnessOfFit | None, Note | None]:
    """Return the test of the draws, or the reason why it is missing."""
    if counts.design.strata(counts.observed_codes) is None:
        text = "The subsets do not determine the questions, so draws and answers are tested together, as answers."
        return None, Note(NoteKind.TESTED_TOGETHER, text)
    try:
        return draws_part(counts, pvalue_method), None
    except (NotIdentifiableError, TooLargeError) as error:
        return None, Note(NoteKind.NOT_TESTED, f"The draws are not tested: {error.message}", error.advice)


def _fixed_sizes(counts: SubsetCounts) -> Note | None:
    """Return a note that a pooled sample varies less than its mixture."""
    if not counts.design.has_fixed_parts:
        return None
    text = (
        "The parts of a pooled sample have fixed sizes, so p-values are conservative: too large rather than too small."
    )
    return Note(NoteKind.NULL_LAW, text)


def _notes_of(*parts: GoodnessOfFit | None) -> list[Note]:
    """Return the notes of the tests, each with the name of the test."""
    return [
        Note(note.kind, f"{part.name.capitalize()}: {note.text}", note.advice)
        for part in parts
        if part
        for note in part.notes
    ]
