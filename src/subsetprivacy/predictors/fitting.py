"""From a problem to a fit: corrected scores, or the likelihood, with covariances."""

from functools import partial

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy.predictors.corrected import CorrectedObjective, negative_counts, too_few
from subsetprivacy.predictors.families import Poisson
from subsetprivacy.predictors.indicators import features_of, fit_cells
from subsetprivacy.predictors.influence import Scores, covariance_of, of_everyone, rescaled
from subsetprivacy.predictors.mixture import MixtureObjective
from subsetprivacy.predictors.problem import OutcomeProblem
from subsetprivacy.regression.coordinates import Linear
from subsetprivacy.regression.covariance import sandwich
from subsetprivacy.regression.fitting import infinite_parameters
from subsetprivacy.regression.maxima import SMALL, BestMaximum, random_starts, search
from subsetprivacy.regression.solver import ARRIVED, OnStep, SolverResult, maximize, newton

_MAX_SEARCH = 2e6  # people times columns times cells; beyond it every start takes seconds
_SOME = 50_000  # number of people whose likelihood fit is a start
_FARTHEST = 30.0  # a linear predictor that moves further diverges: there is no solution
_LEAST = 1e-3  # the smallest share to start from
_APART = 0.05  # the same distance between two points that may be different maxima
_COARSE = 1e-4  # tolerance per person of a search by gradients


@frozen(eq=False, repr=False)
class OutcomeFit:
    """The numbers of a fit.

    Attributes
    ----------
    theta
        The coefficients, r rows in sequence; NaN if the equations have no solution.
    parameters
        All parameters of a likelihood: coefficients, the logarithm of the scale, logits of the private cell.
    scale
        The standard deviation of a normal outcome, otherwise None.
    loglik
        The log-likelihood of outcomes and subsets; None for corrected scores.
    observed, robust
        Covariances of the coefficients, from the inverse observed information and the sandwich, or None.
    bread
        The inverse of the derivative of the equations, shape (parameters, parameters), for influence functions.
    gap, converged, is_maximum, maxima, starts
        The certificate, as in `regression.fitting.Fit`.
    infinite
        For each coefficient: 0 if it is finite, the sign if it is infinite, NaN if it is undetermined.
    unsolved
        Names of private categories for which the corrected equations have no solution.
    solved
        Whether there is a solution.
    rare
        Whether too few people determine a coefficient, which is therefore not given.
    """

    theta: FloatArray = field(converter=read_only)
    parameters: FloatArray = field(converter=read_only)
    scale: float | None
    loglik: float | None
    observed: FloatArray | None
    robust: FloatArray | None
    bread: FloatArray | None
    gap: float
    converged: bool
    is_maximum: bool
    maxima: tuple[float, ...]
    starts: int
    infinite: FloatArray = field(converter=read_only)
    unsolved: tuple[str, ...] = ()
    solved: bool = True
    rare: BoolArray = field(factory=lambda: np.zeros(0, np.bool_), converter=read_only)


def fit(problem: OutcomeProblem, *, on_step: OnStep | None = None) -> OutcomeFit:
    """Fit a problem by its method."""
    solution = fit_corrected if problem.method == "corrected" else fit_mixture
    made = solution(problem, on_step=on_step)
    return evolve(made, rare=rare_combinations(problem, made, np.eye(len(made.theta))))


def rare_combinations(problem: OutcomeProblem, made: OutcomeFit, weights: FloatArray) -> BoolArray:
    """Tell which combinations of coefficients, one in each row, too few people determine."""
    if made.bread is None or not problem.design.is_known:
        return np.zeros(len(weights), np.bool_)
    k = weights.shape[1]
    directions = np.where(made.infinite[:, None] == 0, made.bread[:k, :k] @ weights.T, 0.0)
    return too_few(corrected_objective(problem), made.theta, directions, frequency=problem.weighted != "sampling")


# Corrected scores ---------------------------------------------------------------------------------------------------


def corrected_objective(problem: OutcomeProblem) -> CorrectedObjective:
    """Return the corrected log-likelihood."""
    return CorrectedObjective(problem.people, problem.atoms, problem.model, problem.indicators)


def fit_corrected(problem: OutcomeProblem, *, on_step: OnStep | None = None) -> OutcomeFit:
    """Solve the corrected equations."""
    objective = corrected_objective(problem)
    solution = solve(objective, on_step)
    if solution is None and not objective.family.quadratic:  # the objective is not concave: try another start
        solution = solve(objective, on_step, likelihood_fit(problem, _SOME)[1].theta)
    if solution is None:
        return _without_solution(problem, objective)
    bread = np.linalg.inv(solution.J)
    robust = sandwich(bread, meat(objective, solution.theta, problem))
    scale = float(np.sqrt(max(-2 * solution.value / objective.n, 0.0))) if problem.model.quadratic else None
    none = np.zeros(len(solution.theta))
    return OutcomeFit(
        solution.theta, solution.theta, scale, None, None, robust, bread, solution.gap, True, True, (), 1, none
    )


@frozen(eq=False, repr=False)
class CorrectedSolution:
    """A solution of the corrected equations: coefficients, minus the second derivatives, value and gap."""

    theta: FloatArray
    J: FloatArray
    value: float
    gap: float = 0.0


def solve(
    objective: CorrectedObjective, on_step: OnStep | None = None, start: FloatArray | None = None
) -> CorrectedSolution | None:
    """Return the solution of the corrected equations, or None if none is found from the start.

    By default the start is the same outcome for everyone.
    """
    start = _constant_start(objective) if start is None else start
    if not np.isfinite(start).all():
        return None
    value, g, J = objective.full(start)
    if objective.family.quadratic:
        if not _is_positive(J):
            return None
        step = np.linalg.solve(J, g)
        return CorrectedSolution(start + step, J, value + float(g @ step) / 2)
    coordinates = _whitened(start, J / objective.n)
    best = newton(objective, coordinates, np.zeros(objective.size), on_step=on_step)
    fine = best.converged and best.is_maximum and not best.flat.shape[1]
    if not fine or objective.largest_move(best.theta - start) > _FARTHEST:  # the start includes offsets
        return None
    T = np.linalg.inv(coordinates.T)
    return CorrectedSolution(best.theta, T.T @ best.J @ T, best.value, best.gap)


def _constant_start(objective: CorrectedObjective) -> FloatArray:
    """Return coefficients of the same outcome for everyone if there is an intercept, otherwise 0."""
    people, family = objective.people, objective.family
    theta = np.zeros((family.predictors, objective.atoms.C))
    at = people.layout.intercept
    if at is None or people.private_outcome:
        return theta.ravel()
    mean = float(np.average(people.y, weights=people.weight))
    shift = 0.0 if people.offset is None else float(np.average(people.offset, weights=people.weight))
    if family.quadratic:  # far from 0 the squares of outcomes would cancel
        theta[0, at] = mean - shift
        return theta.ravel()
    others = 1.0 if isinstance(family, Poisson) else max(1 - mean, _LEAST)
    theta[0, at] = np.log(max(mean, 1e-8) / others) - shift
    return theta.ravel()


def _is_positive(J: FloatArray) -> bool:
    """Tell whether a matrix is positive definite, in any units of the columns."""
    diagonal = J.diagonal()
    if not (np.isfinite(J).all() and (diagonal > 0).all()):
        return False
    scale = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(J / np.outer(scale, scale))[0] > 1e-10)


def _whitened(origin: FloatArray, J: FloatArray) -> Linear:
    """Return coordinates around a point in which the information there is about the identity."""
    scale = 1 / np.sqrt(np.maximum(np.abs(J.diagonal()), 1e-12))
    values, vectors = np.linalg.eigh(J * np.outer(scale, scale))
    return Linear(origin, scale[:, None] * vectors / np.sqrt(np.maximum(np.abs(values), 1e-4)))


def _without_solution(problem: OutcomeProblem, objective: CorrectedObjective) -> OutcomeFit:
    """Return the result of equations without a solution, with the categories whose estimated counts are negative."""
    none = np.full(objective.size, np.nan)
    unsolved = negative_counts(problem, objective)
    zeros = np.zeros(objective.size)
    return OutcomeFit(
        none, none, None, None, None, None, None, float("inf"), False, False, (), 1, zeros, unsolved, solved=False
    )


# The likelihood -----------------------------------------------------------------------------------------------------


def mixture_objective(problem: OutcomeProblem) -> MixtureObjective:
    """Return the log-likelihood of outcomes and subsets."""
    people = problem.people
    used = features_of(people.V, None, ()).columns
    columns = np.unique(np.append(used, people.layout.constant))
    return MixtureObjective(people, problem.atoms, problem.model, columns)


def fit_mixture(problem: OutcomeProblem, *, on_step: OnStep | None = None) -> OutcomeFit:
    """Maximize the likelihood, from several starts if there are few people."""
    objective = mixture_objective(problem)
    start = _mixture_start(problem, objective)
    coordinates = _whitened(start, objective.full(start)[2] / objective.n)
    first = maximize(objective, coordinates, start, on_step=on_step)
    found = BestMaximum(first, (first.value,), 1)
    if problem.starts or _has_few_people(problem):
        climb = partial(_climb, objective, coordinates, first)
        starts = random_starts(coordinates, start, objective.d)
        found = search(climb, first, starts, asked=problem.starts)
    return _mixture_fit(problem, objective, found)


def _climb(objective: MixtureObjective, coordinates: Linear, first: SolverResult, start: FloatArray) -> SolverResult:
    """Climb from a start, and continue to the end unless that is the first maximum again."""
    there = maximize(objective, coordinates, start, polish=False, tolerance=_COARSE)
    apart = np.abs(there.z - first.z).max() > _APART
    return newton(objective, coordinates, there.z) if apart or there.value > first.value else first


def _mixture_fit(problem: OutcomeProblem, objective: MixtureObjective, found: BestMaximum[SolverResult]) -> OutcomeFit:
    k, best = objective.leading, found.best
    bread = best.covariance() if best.gap <= ARRIVED else None
    robust = None if bread is None else sandwich(bread, meat(objective, best.theta, problem))[:k, :k]
    spread = problem.spread[objective.places[1]]
    return OutcomeFit(
        theta=best.theta[:k],
        parameters=best.theta,
        scale=objective.split(best.theta)[1] if objective.scaled else None,
        loglik=best.value,
        observed=None if bread is None else bread[:k, :k],
        robust=robust,
        bread=bread,
        gap=best.gap,
        converged=best.converged,
        is_maximum=best.is_maximum,
        maxima=found.values,
        starts=found.starts,
        infinite=infinite_parameters(best, spread)[:k],
    )


def _has_few_people(problem: OutcomeProblem) -> bool:
    """Tell whether there are so few people that there may be several maxima, and a start takes no second."""
    work = len(problem.people) * problem.atoms.C * problem.design.p
    return problem.n * problem.information_kept < SMALL * problem.atoms.C and work <= _MAX_SEARCH


def _mixture_start(problem: OutcomeProblem, objective: MixtureObjective) -> FloatArray:
    """Return the start of the likelihood: the corrected fit, and a logit of the cell on the observed columns."""
    corrected = None
    if problem.design.is_known:
        corrected = solve(corrected_objective(problem))
    theta = np.zeros(objective.leading) if corrected is None else corrected.theta
    scale: list[float] = []
    if objective.scaled:
        scale = [float(np.log(np.std(problem.people.y) or 1.0))]
        if corrected is not None:
            residual = -2 * corrected.value / objective.n
            scale = [0.5 * float(np.log(max(residual, 1e-2 * np.exp(2 * scale[0]))))]
    return np.concatenate([theta, scale, _cell_start(problem, objective).ravel()])


def _cell_start(problem: OutcomeProblem, objective: MixtureObjective) -> FloatArray:
    """Return logits of the private cells, shape (J - 1, columns)."""
    people, columns = problem.people, objective.cells
    B = np.zeros((people.layout.cells, len(columns)))
    at = int(np.flatnonzero(columns == people.layout.constant)[0])
    fitted = None if people.private_outcome else fit_cells(people, ())
    if fitted is None:
        shares = np.maximum(problem.w.reshape(people.layout.cells, -1).sum(axis=1), _LEAST)
        B[:, at] = np.log(shares)
        return B[1:] - B[0]
    features = fitted.features
    standard = fitted.model.predictors(fitted.theta, np.eye(1 + len(features.center)))
    full = np.insert(standard, fitted.model.link.baseline, 0.0, axis=0)  # type: ignore[union-attr]
    slopes = full[:, 1:] / features.scale
    B[:, np.searchsorted(columns, features.columns)] = slopes
    B[:, at] += full[:, 0] - slopes @ features.center
    return B[1:] - B[0]


def meat(objective: CorrectedObjective | MixtureObjective, theta: FloatArray, problem: OutcomeProblem) -> FloatArray:
    """Return the covariance of the sum of scores."""
    return covariance_of(problem, Scores(objective, theta), len(theta))


def design_effects(problem: OutcomeProblem, fit: OutcomeFit) -> FloatArray | None:
    """Return variances relative to a simple random sample with the same weights; None without sampling."""
    if problem.sampling is None or fit.bread is None or fit.robust is None:
        return None
    made: CorrectedObjective | MixtureObjective
    made = corrected_objective(problem) if problem.method == "corrected" else mixture_objective(problem)
    theta, k = fit.parameters, len(fit.theta)
    S = of_everyone(problem, Scores(made, theta), len(theta))
    simple = problem.sampling.simple_random(S, problem.answered) * rescaled(problem) ** 2
    return fit.robust.diagonal() / sandwich(fit.bread, simple).diagonal()[:k]


def prices(problem: OutcomeProblem, made: OutcomeFit) -> FloatArray:
    """Return the variance of each coefficient relative to a fit of the model to the values.

    The information of the values is estimated: by the indicators for corrected scores, and by the fitted posterior of
    each person's cell for the likelihood.
    """
    k = len(made.theta)
    if made.bread is None or made.robust is None:
        return np.full(k, np.nan)
    if problem.method == "ml":
        objective = mixture_objective(problem)
        labels, subsets = np.linalg.inv(objective.of_values(made.parameters)), made.bread[:k, :k]
    else:
        labels, subsets = made.bread * (1.0 if made.scale is None else made.scale**2), made.robust
        if problem.clusters is not None or problem.sampling is not None or problem.weighted == "sampling":
            alike = evolve(problem, clusters=None, sampling=None, weighted="frequency")
            subsets = sandwich(made.bread, meat(corrected_objective(problem), made.theta, alike))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(subsets.diagonal() / labels.diagonal())


def likelihood_fit(problem: OutcomeProblem, most: int) -> tuple[MixtureObjective, OutcomeFit]:
    """Return the likelihood of at most `most` people, and its fit, for the comparison of the two methods."""
    people = problem.people.some(most)
    smaller = evolve(problem, people=people, method="ml", answered=None, clusters=None, sampling=None)
    return mixture_objective(smaller), fit(smaller)
