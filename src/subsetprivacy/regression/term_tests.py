"""Tests of a regression: terms, nested models, specification, proportional odds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import TermTest
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.regression.blocks import Block
from subsetprivacy.regression.constrained import information_at, maximize_with
from subsetprivacy.regression.maxima import SMALL
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.regression.models import LikelihoodKernel, SeparateSlopes, SharedSlopes
from subsetprivacy.regression.objective import Maximand
from subsetprivacy.regression.specification import Support, expected_curvature, is_affordable, specification_statistic

if TYPE_CHECKING:
    from subsetprivacy.regression.result import Regression

METHODS: tuple[TermTest, ...] = get_args(TermTest)
NO_LIMIT = "the data do not bound their coefficients"
_PEOPLE_PER_DEGREE = 5  # with fewer, the variance of a statistic cannot be estimated


def terms_tests_of(fit: Regression, terms: str | Sequence[str] | None, method: TermTest) -> ModelTests:
    """Return a test for each term."""
    check_choice(method, METHODS, "method")
    wanted = wanted_terms(terms, fit.columns.terms, fit.columns.intercept)
    chosen = method if method != "auto" else "robust" if fit.is_robust else "lr"
    if chosen == "lr":
        fit.require_likelihood("likelihood ratio tests")
        objective = fit.problem.objective()
        J = information_at(objective, fit.fit.theta)
        bent = fit.family == "ordinal"
        statistics = {
            term: likelihood_ratio(objective, fit.fit.theta, fit.fit.observed, J, _positions(fit, term), bent=bent)
            for term in wanted
        }
    else:
        cov = fit.robust if chosen == "robust" else fit._cov("wald")
        statistics = {term: wald(fit.estimates, cov, _positions(fit, term)) for term in wanted}
    return tests_of_terms(fit.name, statistics, chosen, fit.degrees_of_freedom, NO_LIMIT)


def wanted_terms(
    terms: str | Sequence[str] | None, known: Mapping[str, tuple[int, ...]], intercept: int | None
) -> list[str]:
    """Return the terms to test: those named, or all except the intercept."""
    others = [name for name in known if known[name] != (intercept,)]
    wanted = others if terms is None else [terms] if isinstance(terms, str) else list(terms)
    for term in wanted:
        if term not in others:
            raise ArgumentError(f"`terms` must be terms of the model ({', '.join(others) or 'none'}); got another one.")
    if not wanted:
        raise ArgumentError("`terms` must name at least one term; the model has none besides the intercept.")
    return wanted


def tests_of_terms(
    name: str,
    statistics: Mapping[str, tuple[float, int]],
    method: str,
    degrees_of_freedom: float,
    why_not: str,
) -> ModelTests:
    """Return the tests of a model's terms, with a note about those without an answer."""
    few = [term for term, (_, k) in statistics.items() if k > degrees_of_freedom]
    lost = [term for term, (statistic, _) in statistics.items() if np.isnan(statistic) and term not in few]
    texts = [f"No test of {', '.join(lost)}: {why_not}."] if lost else []
    if few:
        texts.append(f"No test of {', '.join(few)}: more coefficients than degrees of freedom.")
    notes = tuple(Note(NoteKind.NOT_TESTED, text) for text in texts)
    tests = {term: (np.nan if term in few else statistic, k) for term, (statistic, k) in statistics.items()}
    return ModelTests.of_forms(f"Terms of the model of {name}", tests, method, notes, degrees_of_freedom)


def _positions(fit: Regression, term: str) -> IntArray:
    """Return the positions of a term's coefficients among all parameters."""
    at = np.array(fit.columns.terms[term])
    d = fit.problem.blocks.d
    if fit.family == "ordinal":
        return fit.categories.p - 1 + at
    return (np.arange(fit.categories.p - 1)[:, None] * d + at).ravel()


def likelihood_ratio(
    objective: Maximand, theta: FloatArray, cov: FloatArray | None, J: FloatArray, at: IntArray, *, bent: bool = False
) -> tuple[float, int]:
    """Return twice the loss of log-likelihood without some coefficients, and their number.

    Parameters
    ----------
    objective, theta, cov
        The likelihood, its maximum, and the inverse information there, if any.
    J
        The information in plain coordinates.
    at
        The positions of the coefficients.
    bent
        Whether the parameters differ from the plain coordinates, so that the first step cannot be predicted.
    """
    start = theta.copy()
    start[at] = 0.0
    none = np.zeros(len(at))
    smaller = maximize_with(objective, start, at, none, J)
    restricted = maximize_with(objective, _null_start(theta, cov, at, bent=bent), at, none, J)
    return max(2 * (objective(theta)[0] - max(smaller.value, restricted.value)), 0.0), len(at)


def _null_start(theta: FloatArray, cov: FloatArray | None, at: IntArray, *, bent: bool) -> FloatArray:
    """Return a start for the fit without some coefficients: the maximum of the quadratic approximation."""
    if cov is None or not np.isfinite(cov).all():
        return theta
    block = cov[np.ix_(at, at)]
    if np.linalg.matrix_rank(block, hermitian=True) < len(at) or bent:
        return np.where(np.isin(np.arange(len(cov)), at), 0.0, theta)
    return np.asarray(theta - cov[:, at] @ np.linalg.solve(block, theta[at]))


def wald(estimates: FloatArray, cov: FloatArray, at: IntArray) -> tuple[float, int]:
    """Return the chi-square statistic for some coefficients being 0, and their number."""
    b, V = estimates[at], cov[np.ix_(at, at)]
    if not (np.isfinite(b).all() and np.isfinite(V).all()):
        return float("nan"), len(at)
    try:
        return float(b @ np.linalg.solve(V, b)), len(at)
    except np.linalg.LinAlgError:  # fewer clusters than coefficients
        return float("nan"), len(at)


def compare_nested(fit: Regression, smaller: Regression) -> ModelTests:
    """Return the likelihood ratio test of a smaller model against a larger one."""
    for regression in (fit, smaller):
        regression.require_likelihood("likelihood ratio tests")
    if fit.categories != smaller.categories or fit.family != smaller.family or fit.n != smaller.n:
        raise MismatchError("`smaller` must be a fit of the same response to the same people; it is not.")
    if fit.problem.options.shrink != smaller.problem.options.shrink or not _same_people(fit, smaller):
        raise MismatchError("`smaller` must be a fit of the same response to the same people; it is not.")
    df = fit.df - smaller.df
    if df <= 0 or not set(smaller.columns.names) <= set(fit.columns.names):
        raise MismatchError("`smaller` must have some of the terms of this model and no others; it does not.")
    left = [term for term in fit.columns.terms if term not in smaller.columns.terms]
    statistic = max(2 * (fit.loglik - smaller.loglik), 0.0)
    return ModelTests.of_forms(f"Nested models of {fit.name}", {" + ".join(left) or "rest": (statistic, df)}, "lr")


def _same_people(first: Regression, second: Regression) -> bool:
    """Tell whether two fits use the same subsets, if these are in memory."""
    if first.fitted_people is None or second.fitted_people is None:
        return True
    return np.array_equal(first.fitted_people.codes, second.fitted_people.codes)


# Assumptions ------------------------------------------------------------------------------------


def specification_test_of(fit: Regression) -> ModelTests:
    """Return the specification test, which compares the likelihood with the corrected scores."""
    title = f"Specification of the model of {fit.name}"
    statistic, reason = (float("nan"), 0), _why_not(fit)
    if not reason and fit.fit.likelihood is not None:
        try:
            statistic = specification_statistic(
                fit.problem.blocks, fit.model, fit.fit.likelihood.theta, frequency=fit.weighted != "sampling"
            )
        except np.linalg.LinAlgError:
            reason = "some coefficients are barely determined"
    if reason:
        note = Note(NoteKind.NOT_TESTED, f"Specification not tested: {reason}.")
        return ModelTests.of_forms(title, {"specification": (float("nan"), 0)}, "score", (note,))
    return ModelTests.of_forms(title, {"specification": statistic}, "score")


def _why_not(fit: Regression) -> str:
    """Return why the specification cannot be tested, or an empty string."""
    options = fit.problem.options
    if not fit.problem.design.is_known:
        return "the design is not known"
    if options.ridge > 0 or options.lasso > 0 or options.shrink:
        return "the fit is penalized"
    likelihood = fit.fit.likelihood
    if likelihood is None or not (likelihood.converged and fit.converged):
        return "the fit did not converge"
    if likelihood.flat.shape[1]:
        return "the data do not bound some coefficients"
    if fit.fit.robust is None:
        return "there are too many parameters"
    if fit.method == "corrected" and fit.n_effective < SMALL * fit.problem.blocks.d:
        return "there are too few people to be sure of the likelihood's maximum from one start"
    if fit.clusters is not None or (fit.sampling is not None and fit.sampling.clusters is not None):
        return "people are in clusters"
    if fit.n < _PEOPLE_PER_DEGREE * fit.df:
        return "there are too few people"
    if fit.problem.kept > 1 - 1e-9:
        return "every value is known, so both fits are the same"
    if not is_affordable(fit.problem.design, fit.n):
        return "the design has too many subsets to list"
    return ""


@frozen(eq=False, repr=False)
class ScoreMoments:
    """The kernel of a score test against separate slopes: the sum of all scores and its variance.

    The variance is the expected information, which is accurate in small samples. If the design has too many subsets to
    list, it is estimated from squared scores.
    """

    likelihood: LikelihoodKernel
    apart: SeparateSlopes
    support: Support | None

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the sums of the block. The first column of the covariates is ones, for the cut points."""
        gradient = self.likelihood.linked(block).gradient
        X = np.column_stack([np.ones(len(block.X)), -block.X])
        score = self.apart.gradient(block.weighted(gradient), X)
        if self.support is None:
            S = self.apart.scores(gradient, X)
            return score, block.weighted(S) @ S.T
        model = self.likelihood.model
        U = model.predictors(self.likelihood.theta, block.X, block.offset)
        return score, self.apart.information(block.weighted(expected_curvature(model.link, U, self.support)), X)


def proportionality_test_of(fit: Regression) -> ModelTests:
    """Return the score test that all categories share their slopes."""
    title = f"Proportional odds of {fit.name}"
    model = fit.model
    if not isinstance(model, SharedSlopes):
        raise ArgumentError("proportionality is tested for family='ordinal'; got another family.")
    d, k = model.d, fit.categories.p - 1
    likelihood = fit.fit.likelihood
    if k < 2 or d == 0 or likelihood is None or likelihood.flat.shape[1] or not likelihood.converged:
        note = Note(NoteKind.NOT_TESTED, "Proportional odds not tested: nothing to compare, or no finite fit.")
        return ModelTests.of_forms(title, {"proportional odds": (float("nan"), 0)}, "score", (note,))
    apart = SeparateSlopes(model.link, d + 1)
    design = fit.problem.design
    support = Support.of(design) if is_affordable(design, fit.n) else None
    score, J = fit.problem.blocks.total(ScoreMoments(LikelihoodKernel(model, likelihood.theta), apart, support))
    if not _is_positive(J):
        note = Note(NoteKind.NOT_TESTED, "Proportional odds not tested: too few people to let the slopes differ.")
        return ModelTests.of_forms(title, {"proportional odds": (float("nan"), 0)}, "score", (note,))
    statistic = float(score @ np.linalg.solve(J, score))
    return ModelTests.of_forms(title, {"proportional odds": (statistic, (k - 1) * d)}, "score")


def _is_positive(J: FloatArray) -> bool:
    """Tell whether a matrix is positive definite beyond rounding, in any units of the covariates."""
    scale = np.sqrt(np.maximum(J.diagonal(), 0.0))
    return bool((scale > 0).all() and np.linalg.eigvalsh(J / np.outer(scale, scale))[0] > 1e-10)
