"""Tests of a regression on private predictors: terms, nested models, and the comparison of the two methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import TermTest
from subsetprivacy._types import IntArray
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_regression import TEST_A_TERM, TEST_TERMS
from subsetprivacy.predictors.comparison import comparison_statistic
from subsetprivacy.predictors.fitting import likelihood_fit, mixture_objective
from subsetprivacy.regression.constrained import information_at
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.regression.specification import is_affordable
from subsetprivacy.regression.term_tests import NO_LIMIT, likelihood_ratio, tests_of_terms, wald, wanted_terms

if TYPE_CHECKING:
    from subsetprivacy.predictors.result import OutcomeRegression

COMPARED = 50_000  # both methods are compared on at most this many people
_TITLE = "Do the two methods agree?"
_NAME = "corrected scores and likelihood"
_NO_SOLUTION = "the corrected equations have no solution"
_NO_LIKELIHOOD = "the likelihood leaves some of its parameters undetermined"
_PEOPLE_PER_DEGREE = 5  # with fewer, the variance of the statistic cannot be estimated


def terms_tests(fit: OutcomeRegression, terms: str | Sequence[str] | None, method: TermTest) -> ModelTests:
    """Return a test for each term."""
    check_choice(method, get_args(TermTest), "method")
    wanted = wanted_terms(terms, fit.layout.terms, fit.layout.intercept)
    chosen = method if method != "auto" else "robust" if fit.problem.is_robust else "lr"
    places = {term: _positions(fit, term) for term in wanted}
    if chosen == "lr":
        fit.require_likelihood("likelihood ratio tests")
        objective = mixture_objective(fit.problem)
        J = information_at(objective, fit.fit.parameters)
        statistics = {
            term: likelihood_ratio(objective, fit.fit.parameters, fit.fit.bread, J, at) for term, at in places.items()
        }
    else:
        cov = fit.robust if chosen == "robust" else fit._cov("wald")
        statistics = {term: wald(fit.estimates, cov, at) for term, at in places.items()}
    if not fit.fit.solved:
        return tests_of_terms(fit.name, statistics, chosen, np.inf, _NO_SOLUTION)
    why_not = "too few people determine their coefficients" if fit.rare else NO_LIMIT
    return tests_of_terms(fit.name, statistics, chosen, fit.degrees_of_freedom, why_not)


def _positions(fit: OutcomeRegression, term: str) -> IntArray:
    """Return the positions of a term's coefficients among all."""
    at = np.array(fit.layout.terms[term])
    return (np.arange(fit.problem.model.predictors)[:, None] * len(fit.layout.names) + at).ravel()


def compare_nested(fit: OutcomeRegression, smaller: OutcomeRegression) -> ModelTests:
    """Return the likelihood ratio test of a smaller model against a larger one."""
    for regression in (fit, smaller):
        if regression.method == "corrected":
            raise ArgumentError(
                "likelihood ratio tests need maximum-likelihood fits; got corrected scores.", TEST_A_TERM
            )
        regression.require_likelihood("likelihood ratio tests")
    if fit.family != smaller.family or not _same_people(fit, smaller):
        raise MismatchError("`smaller` must be a fit of the same outcome to the same people; it is not.")
    df = fit.df - smaller.df
    if len(fit.fit.parameters) - fit.df != len(smaller.fit.parameters) - smaller.df:
        raise MismatchError(
            "`smaller` must have the same observed columns, which also predict the private value; it has others.",
            TEST_TERMS,
        )
    if df <= 0 or not set(smaller.layout.names) <= set(fit.layout.names):
        raise MismatchError("`smaller` must have some of the terms of this model and no others; it does not.")
    assert fit.loglik is not None
    assert smaller.loglik is not None
    left_out = [term for term in fit.layout.terms if term not in smaller.layout.terms]
    statistic = max(2 * (fit.loglik - smaller.loglik), 0.0)
    return ModelTests.of_forms(
        f"Two models of {fit.name}", {", ".join(left_out) or "terms left out": (statistic, df)}, "lr"
    )


def _same_people(fit: OutcomeRegression, smaller: OutcomeRegression) -> bool:
    first, second = fit.problem.people, smaller.problem.people
    same_rows = np.array_equal(first.y, second.y) and np.array_equal(first.codes, second.codes)
    return bool(same_rows and first.design == second.design and first.n == second.n)


def comparison_of(fit: OutcomeRegression) -> ModelTests:
    """Return the test that both methods agree, as they do if both models are right."""
    problem = fit.problem
    reason = _why_not(fit)
    if reason:
        return _untested(reason)
    if problem.method == "ml" and len(problem.people) <= COMPARED:
        objective, likelihood = mixture_objective(problem), fit.fit
    else:
        objective, likelihood = likelihood_fit(problem, COMPARED)
    if not likelihood.converged or not likelihood.is_maximum or likelihood.bread is None:
        return _untested("no maximum of the likelihood was found")
    frequency = problem.weighted != "sampling"
    if likelihood.infinite.any() or likelihood.rare.any():
        return _untested(_NO_LIKELIHOOD)
    try:
        statistic, df = comparison_statistic(objective, likelihood.parameters, frequency=frequency)
    except np.linalg.LinAlgError:  # a category that no one has, by the likelihood
        return _untested(_NO_LIKELIHOOD)
    notes: tuple[Note, ...] = ()
    if len(objective.people) < len(problem.people):
        text = f"The methods are compared on {len(objective.people):,} of the people, evenly spaced."
        notes = (Note(NoteKind.BUDGET, text),)
    if not df:
        return _untested("the two methods hardly differ in these data")
    return ModelTests.of_forms(_TITLE, {_NAME: (statistic, df)}, "score", notes)


def _why_not(fit: OutcomeRegression) -> str:
    problem = fit.problem
    if not fit.fit.solved:
        return _NO_SOLUTION
    if fit.fit.rare.any():
        return "too few people determine some of the coefficients"
    if not problem.design.is_known:
        return "the design is not known"
    if problem.clusters is not None or problem.sampling is not None:
        return "people are in clusters or strata"
    if not is_affordable(problem.design, min(len(problem.people), COMPARED)):
        return "the design has too many subsets"
    if len(problem.people) < _PEOPLE_PER_DEGREE * fit.df:
        return "too few people"
    return ""


def _untested(reason: str) -> ModelTests:
    note = Note(NoteKind.NOT_TESTED, f"The two methods are not compared: {reason}.")
    return ModelTests.of_forms(_TITLE, {_NAME: (float("nan"), 0)}, "score", (note,))
