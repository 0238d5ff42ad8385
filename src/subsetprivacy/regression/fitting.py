"""From a problem to a fit: maxima, covariances and their caveats."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.regression.blocks import InMemoryBlocks
from subsetprivacy.regression.corrected import working_indicators
from subsetprivacy.regression.covariance import SamplingCovariance, meat, sandwich
from subsetprivacy.regression.crossvalidation import penalized_columns
from subsetprivacy.regression.lasso import fit_lasso
from subsetprivacy.regression.links import MultinomialLogit
from subsetprivacy.regression.maxima import RANDOM_STARTS, SMALL, search
from subsetprivacy.regression.objective import Objective
from subsetprivacy.regression.problem import ResponseProblem
from subsetprivacy.regression.solver import ARRIVED, SolverResult, maximize

MAX_COVARIANCE = 2000  # parameters up to which standard errors are computed
_MAX_SEARCH = 5e6  # people times covariates times squared categories; beyond it every start takes seconds

OnStep = Callable[[float], None]


@frozen(eq=False, repr=False)
class Fit:
    """The numbers of a fit.

    Attributes
    ----------
    theta
        The parameters, all finite; see `infinite`.
    loglik
        The log-likelihood of the subsets, without penalties.
    observed
        The inverse of the observed information, or None.
    robust
        The sandwich covariance, or None.
    gap, converged, is_maximum, steps
        The certificate: the total left to gain, whether it is below the tolerance, whether the information is
        positive definite, and the number of Newton steps.
    maxima
        The values of the maxima found, largest first.
    starts
        The number of starts.
    infinite
        For each parameter: 0 if it is finite, the sign if it is infinite, NaN if it is undetermined.
    unsolved
        Categories, by position, for which the corrected equations have no solution; parameters are NaN then.
    plain
        The variances of a simple random sample of the same size; None unless the sampling was given.
    """

    theta: FloatArray = field(converter=read_only)
    loglik: float
    observed: FloatArray | None
    robust: FloatArray | None
    gap: float
    converged: bool
    is_maximum: bool
    steps: int
    maxima: tuple[float, ...]
    starts: int
    infinite: FloatArray = field(converter=read_only)
    unsolved: tuple[int, ...] = ()
    plain: FloatArray | None = None


def fit_likelihood(
    problem: ResponseProblem, *, on_step: OnStep | None = None
) -> tuple[Objective, SolverResult, tuple[float, ...], int]:
    """Maximize the likelihood of the subsets, from several starts if the sample is small."""
    objective = problem.objective()
    coordinates = problem.coordinates(objective)
    polish = objective.model.size <= MAX_COVARIANCE
    best = maximize(objective, coordinates, problem.start(), polish=polish, on_step=on_step)
    random = _random_starts(problem)
    if not polish or random == 0:
        return objective, best, (best.value,), 1
    result = search(objective, coordinates, best, _corrected_start(problem), random=random)
    return objective, result.best, result.values, result.starts


def _random_starts(problem: ResponseProblem) -> int:
    """Return the number of additional random starts: none if the sample is large or a start takes long."""
    asked = problem.options.starts
    if asked is not None:
        return asked - 1
    blocks = problem.blocks
    if not isinstance(blocks, InMemoryBlocks) or len(blocks) * blocks.d * problem.design.p**2 > _MAX_SEARCH:
        return 0
    return RANDOM_STARTS if problem.n_effective < SMALL * blocks.d else 0


def _corrected_start(problem: ResponseProblem) -> list[FloatArray]:
    """Return the corrected fit as a start if the design is known."""
    objective = problem.objective()
    if not problem.design.is_known or not isinstance(objective.model.link, MultinomialLogit):
        return []
    indicators = working_indicators(problem.blocks, objective.model, problem.start())
    corrected = maximize(evolve(objective, indicators=indicators), problem.coordinates(objective), problem.start())
    return [corrected.theta] if corrected.converged else []


def fit(
    problem: ResponseProblem,
    *,
    frequency: bool = True,
    clusters: IntArray | None = None,
    drawn: SamplingCovariance | None = None,
    on_step: OnStep | None = None,
) -> Fit:
    """Fit a problem by maximum likelihood or by corrected scores.

    Parameters
    ----------
    frequency
        Whether weights count people.
    clusters
        The number of each row's cluster.
    drawn
        How people were drawn, if known.
    """
    if problem.options.lasso > 0:
        return _fit_lasso(problem)
    objective, best, maxima, starts = fit_likelihood(problem, on_step=on_step)
    if problem.options.method == "corrected":
        objective, best = _correct(problem, objective, best)
        maxima, starts = (best.value,), 1
        if not best.converged or best.gap > ARRIVED or best.value > 0:  # a solution has the entropy of its shares
            return _without_solution(problem, best)
    known = objective.model.size <= MAX_COVARIANCE and problem.options.ridge == 0
    observed = best.covariance() if known and best.gap <= ARRIVED else None
    robust, plain = None, None
    if observed is not None and drawn is not None:
        robust, plain = drawn.covariance(objective, best.theta, observed, problem.coordinates(problem.objective()))
    elif observed is not None:
        robust = sandwich(observed, meat(objective, best.theta, frequency=frequency, clusters=clusters))
    return Fit(
        theta=best.theta,
        loglik=best.value if objective.is_likelihood else objective.loglik(best.theta),
        observed=None if problem.options.method == "corrected" else observed,
        robust=robust,
        gap=best.gap,
        converged=best.converged,
        is_maximum=best.is_maximum if known else best.converged,
        steps=best.steps,
        maxima=maxima,
        starts=starts,
        infinite=_infinite(best, problem),
        plain=plain,
    )


def _fit_lasso(problem: ResponseProblem) -> Fit:
    """Fit with the lasso penalty, without standard errors."""
    link = problem.model.link
    assert isinstance(link, MultinomialLogit)
    objective = problem.objective(0.0)
    start = np.insert(problem.start().reshape(link.p - 1, -1), link.baseline, 0.0, axis=0)
    scale = np.sqrt(problem.gram.diagonal())
    result = fit_lasso(objective, link.baseline, problem.options.lasso, start, penalized_columns(problem), scale)
    theta = np.delete(result.B - result.B[link.baseline], link.baseline, axis=0).ravel()
    return Fit(
        theta=theta,
        loglik=result.value,
        observed=None,
        robust=None,
        gap=result.violation,
        converged=result.converged,
        is_maximum=result.converged,
        steps=result.steps,
        maxima=(result.value,),
        starts=1,
        infinite=np.zeros(len(theta)),
    )


def _correct(problem: ResponseProblem, objective: Objective, start: SolverResult) -> tuple[Objective, SolverResult]:
    """Solve the corrected score equations, with working distributions from the likelihood fit."""
    indicators = working_indicators(problem.blocks, objective.model, start.theta)
    corrected: Any = evolve(objective, indicators=indicators)
    return corrected, maximize(corrected, problem.coordinates(objective), start.theta)


def _without_solution(problem: ResponseProblem, best: SolverResult) -> Fit:
    """Return the result of equations without a solution, with the categories whose coefficients diverged.

    Indicators may be negative. If the estimated number of people in a category is negative at some covariates, its
    share would have to be below 0 there.
    """
    size = len(best.theta)
    none = np.full(size, np.nan)
    unsolved: tuple[int, ...] = ()
    if isinstance(problem.model.link, MultinomialLogit):
        B = best.theta.reshape(problem.design.p - 1, -1) * np.sqrt(problem.gram.diagonal())
        far = np.abs(np.insert(B, problem.baseline, 0.0, axis=0)).max(axis=1)
        runs = far > far.max() / 2
        if 2 * runs.sum() > len(runs):  # all others diverge from the baseline
            runs = ~runs
        unsolved = tuple(np.flatnonzero(runs).tolist())
    return Fit(none, float("nan"), None, None, float("inf"), False, False, best.steps, (), 1, np.zeros(size), unsolved)


def _infinite(best: SolverResult, problem: ResponseProblem) -> FloatArray:
    """Return which parameters are infinite."""
    size, d = len(best.theta), problem.blocks.d
    spread = np.where(problem.spread > 0, problem.spread, 1.0)
    scale = np.ones(size)
    if d:
        first = problem.design.p - 1 if problem.options.family == "ordinal" else 0  # cut points
        scale[first:] = np.tile(spread, (size - first) // d)
    return infinite_parameters(best, scale)


def infinite_parameters(best: SolverResult, scale: FloatArray) -> FloatArray:
    """Return which parameters are infinite: the sign of those that diverge, NaN for those that follow them.

    Parameters
    ----------
    scale
        The spread of each parameter's column.
    """
    if not best.flat.shape[1]:
        return np.zeros(len(best.theta))
    loose = np.sqrt((best.escaping() ** 2).sum(axis=1)) * scale
    loose = loose > 1e-3 * loose.max()
    step = best.step() * scale
    runs = loose & (np.abs(step) > 0.2 * np.abs(step).max())
    out = np.where(loose, np.nan, 0.0)
    out[runs] = np.sign(step[runs])
    return out
