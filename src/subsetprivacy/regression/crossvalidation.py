"""Choose the strength of a penalty by the likelihood of subsets left out of the fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_regression import IN_MEMORY
from subsetprivacy.regression.blocks import InMemoryBlocks
from subsetprivacy.regression.lasso import fit_lasso, largest_penalty
from subsetprivacy.regression.links import MultinomialLogit
from subsetprivacy.regression.models import LikelihoodKernel
from subsetprivacy.regression.objective import Objective
from subsetprivacy.regression.problem import ResponseProblem
from subsetprivacy.regression.solver import maximize

FOLDS = 5
_RIDGES = 13
_LASSOS = 20


@frozen(eq=False, repr=False)
class ChosenPenalty:
    """A penalty chosen by cross-validation.

    Attributes
    ----------
    penalty
        The best penalty.
    grid
        All penalties tried, strongest first.
    score
        The mean log-likelihood of the subsets left out, for each penalty.
    """

    penalty: float
    grid: FloatArray
    score: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return {"penalty": self.penalty, "grid": self.grid, "held_out_loglik": self.score, "folds": FOLDS}


Path = Callable[[Objective], list[FloatArray]]  # the parameters along the grid


def choose_ridge(problem: ResponseProblem) -> ChosenPenalty:
    """Choose the ridge penalty."""
    free = _require_penalized(problem)
    variance = problem.gram.diagonal()[free > 0].mean()
    grid = problem.n * variance * np.geomspace(1.0, 1e-6, _RIDGES)

    def path(objective: Objective) -> list[FloatArray]:
        theta, fits = problem.start(), []
        for amount in grid:
            ridge = evolve(problem.objective(amount), blocks=objective.blocks, n=objective.n)
            theta = maximize(ridge, problem.coordinates(ridge), theta, polish=False).theta
            fits.append(theta)
        return fits

    return _best(problem, grid, path)


def choose_lasso(problem: ResponseProblem) -> ChosenPenalty:
    """Choose the lasso penalty."""
    link = problem.model.link
    assert isinstance(link, MultinomialLogit)
    free, scale = _require_penalized(problem), np.sqrt(problem.gram.diagonal())
    start = np.insert(problem.start().reshape(link.p - 1, -1), link.baseline, 0.0, axis=0)
    objective = problem.objective(0.0)
    grid = largest_penalty(objective, link.baseline, start, free) * np.geomspace(1.0, 1e-3, _LASSOS)

    def path(objective: Objective) -> list[FloatArray]:
        B, fits = start, []
        share = objective.n / problem.n  # a fold has fewer people than all
        for amount in grid:
            B = fit_lasso(objective, link.baseline, amount * share, B, free, scale).B
            fits.append(np.delete(B - B[link.baseline], link.baseline, axis=0).ravel())
        return fits

    return _best(problem, grid, path)


def _require_penalized(problem: ResponseProblem) -> FloatArray:
    free = penalized_columns(problem)
    if not free.any():
        raise ArgumentError("a penalty must have coefficients to apply to; got a model without covariates.")
    return free


def penalized_columns(problem: ResponseProblem) -> FloatArray:
    """Return 1 for every penalized column, 0 for the intercept."""
    free = np.ones(problem.blocks.d)
    if problem.columns.intercept is not None:
        free[problem.columns.intercept] = 0.0
    return free


def _best(problem: ResponseProblem, grid: FloatArray, path: Path) -> ChosenPenalty:
    sample = problem.blocks
    if not isinstance(sample, InMemoryBlocks):
        raise ArgumentError("a penalty can only be chosen for people in memory; got a stream.", IN_MEMORY)
    fold = np.random.default_rng(0).permutation(len(sample)) % FOLDS
    score = np.zeros(len(grid))
    model = problem.model
    for k in range(FOLDS):
        train, rest = sample.rows(fold != k), sample.rows(fold == k)
        amount = float(len(train) if train.weight is None else train.weight.sum())
        objective = Objective(train, model, amount)
        score += [float(rest.total(LikelihoodKernel(model, theta))[0]) for theta in path(objective)]
    score /= problem.n
    return ChosenPenalty(float(grid[int(score.argmax())]), grid, score)
