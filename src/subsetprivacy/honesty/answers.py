"""Whether the answers fit the design."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.honesty.fits import GoodnessOfFit
from subsetprivacy.honesty.linear import LinearModel, UnconstrainedFit
from subsetprivacy.honesty.pvalue_method import CHI_SQUARE, PValueMethod, chi_square_pvalue
from subsetprivacy.honesty.reading import one_at_a_time
from subsetprivacy.honesty.resampling import NullSampler
from subsetprivacy.honesty.table import AnswerTable
from subsetprivacy.messages import Advice, Hint
from subsetprivacy.messages.for_tests import (
    ASK_THE_OTHER_QUESTIONS,
    FIVE_CATEGORIES,
    MORE_DIFFERENT_QUESTIONS,
    MORE_HADAMARD_QUESTIONS,
    MORE_QUESTIONS_OR_DRAWS,
)

_OVERHEAD, _CELL = 3e-3, 9e-9  # the least seconds per replication, and the seconds per squared row

Second: TypeAlias = Callable[[FloatArray, FloatArray], float]


@frozen(slots=False, eq=False)
class AnswersTest:
    """A test of the answers, its fit, and optionally a second statistic with its bootstrap p-value."""

    part: GoodnessOfFit
    fit: UnconstrainedFit
    second: float
    second_pvalue: float | None


def answers_part(
    name: str,
    model: LinearModel,
    pvalue_method: PValueMethod,
    second: Second = lambda observed, start: 0.0,
) -> AnswersTest:
    """Test whether a model fits the answers.

    Parameters
    ----------
    name
        The name of the test.
    model
        The model.
    pvalue_method
        How the p-value is computed.
    second
        A second statistic of the answers and the estimate, resampled with the first.
    """
    observed = model.table.observed
    fit = model.step(observed, model.estimate(observed))
    value = second(observed, fit.start)
    least = float(fit.expected.min())
    if model.df == 0:  # nothing to test, but the fit is needed
        return AnswersTest(GoodnessOfFit(name, 0.0, 0, 1.0, CHI_SQUARE, least), fit, value, None)
    cost = _OVERHEAD + _CELL * model.rows.rows * model.rows.p**2
    resample, notes = pvalue_method.choose(fit.expected, cost)
    if not resample:
        pvalue = chi_square_pvalue(fit.statistic, model.df)
        return AnswersTest(
            GoodnessOfFit(name, fit.statistic, model.df, pvalue, CHI_SQUARE, least, notes), fit, value, None
        )

    def draw(generator: np.random.Generator, number: int) -> FloatArray:
        return np.array([_statistics(model, fit, second, generator) for _ in range(number)])

    sampler = NullSampler(np.array([fit.statistic, value]), draw, cost, pvalue_method.generator)
    pvalue, second_pvalue = pvalue_method.resample(sampler).tolist()
    part = GoodnessOfFit(name, fit.statistic, model.df, pvalue, pvalue_method.bootstrap, least, notes)
    return AnswersTest(part, fit, value, second_pvalue)


def _statistics(
    model: LinearModel, fit: UnconstrainedFit, second: Second, generator: np.random.Generator
) -> tuple[float, float]:
    """Return both statistics of a sample drawn from the fit."""
    observed = model.table.redraw(fit.expected, generator)
    start = model.estimate(observed)
    return model.step(observed, start).statistic, second(observed, start)


def require_spare(model: LinearModel) -> LinearModel:
    """Return the model if the answers leave a degree of freedom.

    Raises
    ------
    NotIdentifiableError
        If every set of answers fits, with the numbers and advice.
    """
    if model.df > 0:
        return model
    table = model.table
    cells = _many(len(table.asked), "question") if table.is_stratified else _many(len(table.codes), "subset")
    free, taken = _many(table.free_cells, "independent proportion"), _many(model.rank - 1, "free share")
    raise NotIdentifiableError(
        f"to be checked, the answers must have more independent proportions than free shares; got {cells} with "
        f"{free} and {taken}, so any answers fit.",
        _help(table),
    )


def _many(number: int, what: str) -> str:
    return counted(number, what)


def _help(table: AnswerTable) -> Advice | Hint:
    """Return advice on how to get more degrees of freedom."""
    design = table.design
    if alone := one_at_a_time(design):
        return alone
    if table.is_stratified and design.enumerable:
        support = design.support()[0]
        if (~design.is_missing(support)).sum() > len(table.codes):
            return ASK_THE_OTHER_QUESTIONS
    if design.kind == "hadamard":
        return MORE_HADAMARD_QUESTIONS(more=2 * (len(table.asked) + 1) - 1)
    if design.p == 4 and design.is_independent:
        return FIVE_CATEGORIES
    several = table.is_stratified and len(table.asked) > 1
    return MORE_QUESTIONS_OR_DRAWS if several else MORE_DIFFERENT_QUESTIONS
