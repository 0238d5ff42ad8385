"""`check_honesty`: whether the answers fit the design, and how many are given by chance."""

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
LARGE = 50_000_000  # cells times the square of options, beyond which even one fit takes a second
_SUSPECT = 0.05
# In a check of everything the tests say themselves what p-values rest on, and the draws have a check of their own.
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
    r"""Test whether the answers fit the design, and estimate how many are given by chance.

    A design that asks more questions than the distribution has weights can be checked: wrong answers, random
    answers, a randomizer that looks at the value, the wrong design all leave a pattern that no distribution
    explains. Lies that are the same whatever the question (naming another value consistently) cannot be seen.

    Parameters
    ----------
    data
        `SubsetData` or `SubsetCounts`, of people and not of sampling weights. Of a `SubsetTable` of several variables
        it is tested whether a joint distribution explains the answers; random answers are found one variable
        at a time, ``check_honesty(table["race"])``. Or a table of any engine.
    column, design
        The column of a table, and its design, as in `count`.
    level
        The confidence level of the interval of the share of random answers.
    method
        ``"chi-square"``, ``"bootstrap"`` (samples drawn from the fit, given the questions), or ``"auto"``:
        chi-square unless expected counts are small; the notes say which. Cells are never pooled.
    replications, seed
        The number of bootstrap samples; a number or a NumPy generator for them. By default the same counts give the
        same samples.
    chance
        The probability that honest answers raise an alarm, shared by the tests of *answers* and *random*. `check_all`
        shares it over all checks.

    Returns
    -------
    HonestyCheck
        Up to four tests. *answers*: some distribution explains them. *draws*: the questions came with the
        stated probabilities. *random*: no one answers by chance. *rest*: with random answers allowed for, some
        distribution explains the others. What a design cannot tell is None, and `notes` has the reason.

    Raises
    ------
    NotIdentifiableError
        If the answers have no degree of freedom to spare, as with four categories or a Hadamard design on
        2^k categories. `check_draws` tests the randomizer all the same.
    NoDataError, UnknownDesignError, TooLargeError
        If there is nobody, no design, or too much to list.

    Warns
    -----
    SmallCountWarning
        If the chi-square law is doubtful and a bootstrap would take too long.

    Notes
    -----
    Which question is asked says nothing about the value, so the questions are taken as they came: the answers
    to a question follow :math:`1_a^\top w`. Degrees of freedom: all answers of the questions asked but one
    each, less p - 1. Where the subset does not tell the question, all subsets together follow
    :math:`\mu_a 1_a^\top w/(1-\mu_{[p]})`.

    With m answers to a question, a share :math:`\rho` of random ones makes it :math:`(1-\rho)1_a^\top w + \rho/m`. The
    share can be told where questions have different sizes. Those who always say "yes" cannot be told apart,
    because a subset does not say which side was asked about; where both sides are asked equally often, as in
    `uniform`, they count as random answers, and so do those who always say "no".

    With `uniform` and an even distribution 2000 people show a share of 0.30 with power 0.86 for five
    categories, 0.15 with power 0.70 and 0.20 with power 0.89 for eight (tests at 5%).

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


def look_at_honesty(counts: SubsetCounts, seed: int) -> HonestyCheck:
    """Make the check with chi-square, to be settled with all others; what cannot be checked is a problem of it.

    Where counts are small and a p-value is near an alarm, it is replaced by one of samples drawn from the fit.

    Parameters
    ----------
    counts
        The answers of one variable.
    seed
        Of the samples.
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
    """Return the tests with a way to draw samples for those whose formula is near an alarm."""
    if not any(test.pvalue < _SUSPECT for test in check.tests):
        return check.tests
    samplers = answer_samplers(check.counts, (seed, seed ^ 1))
    return tuple(
        evolve(test, sampler=sampler) if test.pvalue < _SUSPECT else test
        for test, sampler in zip(check.tests, samplers, strict=False)
    )


def _draws(counts: SubsetCounts, pvalue_method: PValueMethod) -> tuple[GoodnessOfFit | None, Note | None]:
    """Return the test of the draws, or the reason why there is none."""
    if counts.design.strata(counts.observed_codes) is None:
        text = "The subsets do not tell the questions: draws and answers are tested together, as answers."
        return None, Note(NoteKind.TESTED_TOGETHER, text)
    try:
        return draws_part(counts, pvalue_method), None
    except (NotIdentifiableError, TooLargeError) as error:
        return None, Note(NoteKind.NOT_TESTED, f"The draws are not tested: {error.message}", error.advice)


def _fixed_sizes(counts: SubsetCounts) -> Note | None:
    """Say that a pooled sample varies less than its mixture."""
    if not counts.design.has_fixed_parts:
        return None
    text = (
        "The parts of a pooled sample have known sizes, which are not drawn: p-values are too large rather than small."
    )
    return Note(NoteKind.NULL_LAW, text)


def _notes_of(*parts: GoodnessOfFit | None) -> list[Note]:
    """Return the notes of the tests, each with the name of its test."""
    return [
        Note(note.kind, f"{part.name.capitalize()}: {note.text}", note.advice)
        for part in parts
        if part
        for note in part.notes
    ]
