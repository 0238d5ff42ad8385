"""From a problem to a fit: maxima, covariances and their caveats."""

from collections.abc import Callable
from functools import partial

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._choices import RegressionMethod
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.regression.blocks import InMemoryBlocks
from subsetprivacy.regression.corrected import working_indicators
from subsetprivacy.regression.covariance import SamplingCovariance, meat, sandwich
from subsetprivacy.regression.crossvalidation import penalized_columns
from subsetprivacy.regression.lasso import fit_lasso
from subsetprivacy.regression.links import MultinomialLogit
from subsetprivacy.regression.maxima import SMALL, BestMaximum, random_starts, search
from subsetprivacy.regression.objective import Objective
from subsetprivacy.regression.problem import ResponseProblem
from subsetprivacy.regression.solver import ARRIVED, SolverResult, maximize, newton

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
    method
        The method that gave them.
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
        Categories, by position, for which the corrected equations have no solution. Parameters are then those of the
        likelihood, or NaN if corrected scores were asked for.
    likelihood
        The likelihood's maximum, from one start if the parameters are those of corrected scores. None if there is none.
    plain
        The variances of a simple random sample of the same size; None unless the sampling was given.
    """

    theta: FloatArray = field(converter=read_only)
    method: RegressionMethod
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
    likelihood: SolverResult | None = None


def fit_likelihood(
    problem: ResponseProblem, first: SolverResult, *, on_step: OnStep | None = None
) -> BestMaximum[SolverResult]:
    """Maximize the likelihood of the subsets, from more starts than the first if the sample is small."""
    if problem.model.size > MAX_COVARIANCE or not (problem.options.starts or _has_few_people(problem)):
        return BestMaximum(first, (first.value,), 1)
    # Around a start that is never infinite, because the first maximum may be.
    objective, coordinates = problem.objective(), problem.coordinates(problem.objective())
    center = maximize(evolve(objective, pseudo=problem.pseudo_people), coordinates, problem.start()).theta
    starts = random_starts(coordinates, center, objective.d)
    return search(partial(_climb, problem, on_step=on_step), first, starts, asked=problem.options.starts)


def _climb(problem: ResponseProblem, start: FloatArray, on_step: OnStep | None) -> SolverResult:
    objective = problem.objective()
    polish = objective.model.size <= MAX_COVARIANCE
    return maximize(objective, problem.coordinates(objective), start, polish=polish, on_step=on_step)


def _has_few_people(problem: ResponseProblem) -> bool:
    """Tell whether there are so few people that there may be several maxima, and a start takes no second."""
    blocks = problem.blocks
    if not isinstance(blocks, InMemoryBlocks) or len(blocks) * blocks.d * problem.design.p**2 > _MAX_SEARCH:
        return False
    return problem.n_effective < SMALL * blocks.d


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
    asked = problem.options.method
    objective, found, corrected = problem.objective(), None, False
    first = _climb(problem, problem.start(), on_step)
    unsolved: tuple[int, ...] = ()
    if asked == "corrected" or (asked is None and can_be_corrected(problem)):
        objective, best = _correct(problem, first)
        if best.converged and best.gap <= ARRIVED and best.value <= 0:  # a solution has the entropy of its shares
            found, corrected = BestMaximum(best, (best.value,), 1), True
        elif asked is None:
            objective, unsolved = problem.objective(), _unsolved(problem, best)
        else:
            return _without_solution(problem, best)
    found = fit_likelihood(problem, first, on_step=on_step) if found is None else found
    best = found.best
    known = objective.model.size <= MAX_COVARIANCE and problem.options.ridge == 0
    observed = best.covariance() if known and best.gap <= ARRIVED else None
    robust, plain = None, None
    if observed is not None and drawn is not None:
        robust, plain = drawn.covariance(objective, best.theta, observed, problem.coordinates(problem.objective()))
    elif observed is not None:
        robust = sandwich(observed, meat(objective, best.theta, frequency=frequency, clusters=clusters))
    return Fit(
        theta=best.theta,
        method="corrected" if corrected else "ml",
        loglik=best.value if objective.is_likelihood else objective.loglik(best.theta),
        observed=None if corrected else observed,
        robust=robust,
        gap=best.gap,
        converged=best.converged,
        is_maximum=best.is_maximum if known else best.converged,
        steps=best.steps,
        maxima=found.values,
        starts=found.starts,
        infinite=_infinite(best, problem),
        unsolved=unsolved,
        plain=plain,
        likelihood=first if corrected else best,
    )


def can_be_corrected(problem: ResponseProblem) -> bool:
    """Tell whether corrected scores are the default: they need the design, and know no penalty.

    If every value is known, both methods are the fit to the values.
    """
    options, hidden = problem.options, problem.kept < 1 - 1e-9
    penalized = options.ridge > 0 or options.lasso > 0 or options.shrink
    return problem.design.is_known and hidden and not penalized and problem.model.size <= MAX_COVARIANCE


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
        method="ml",
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


def _correct(problem: ResponseProblem, working: SolverResult) -> tuple[Objective, SolverResult]:
    """Solve the corrected score equations, with working distributions from a likelihood fit."""
    objective = problem.objective()
    blocks = problem.blocks
    rows = len(blocks) if isinstance(blocks, InMemoryBlocks) else problem.n
    indicators = working_indicators(blocks, objective.model, working.theta, rows)
    corrected: Objective = evolve(objective, indicators=indicators)
    coordinates = problem.coordinates(objective)
    if objective.model.size > MAX_COVARIANCE or np.isinf(corrected.ceiling):
        polish = objective.model.size <= MAX_COVARIANCE
        return corrected, maximize(corrected, coordinates, working.theta, polish=polish)
    # It is concave and its maximum is near, unless the likelihood's is infinite.
    start = problem.start() if working.flat.shape[1] else working.theta
    return corrected, newton(corrected, coordinates, coordinates.inverse(start), ceiling=corrected.ceiling)


def _without_solution(problem: ResponseProblem, best: SolverResult) -> Fit:
    """Return the result of equations without a solution."""
    size = len(best.theta)
    none = np.full(size, np.nan)
    return Fit(
        theta=none,
        method="corrected",
        loglik=float("nan"),
        observed=None,
        robust=None,
        gap=float("inf"),
        converged=False,
        is_maximum=False,
        steps=best.steps,
        maxima=(),
        starts=1,
        infinite=np.zeros(size),
        unsolved=_unsolved(problem, best),
    )


def _unsolved(problem: ResponseProblem, best: SolverResult) -> tuple[int, ...]:
    """Return the categories, by position, whose coefficients diverged.

    Indicators may be negative. If the estimated number of people in a category is negative at some covariates, its
    share would have to be below 0 there.
    """
    if not isinstance(problem.model.link, MultinomialLogit):
        return ()
    B = best.theta.reshape(problem.design.p - 1, -1) * np.sqrt(problem.gram.diagonal())
    far = np.abs(np.insert(B, problem.baseline, 0.0, axis=0)).max(axis=1)
    runs = far > far.max() / 2
    if 2 * runs.sum() > len(runs):  # all others diverge from the baseline
        runs = ~runs
    return tuple(np.flatnonzero(runs).tolist())


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
