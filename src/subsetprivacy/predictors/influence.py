"""Covariances of sums over people: independent people, clusters, or a survey sample."""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from attrs import frozen
from scipy.sparse import csr_array

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.predictors.corrected import CorrectedObjective
from subsetprivacy.predictors.mixture import MixtureObjective
from subsetprivacy.predictors.people import PeopleBlock
from subsetprivacy.predictors.problem import OutcomeProblem


class Each(Protocol):
    """Numbers of people, which depend on their subsets through indicators or posteriors of the cells."""

    def __call__(self, block: PeopleBlock) -> FloatArray:
        """Return the numbers of some people, shape (m, k), without their weights."""
        ...

    def over_draws(self, block: PeopleBlock) -> tuple[Iterator[FloatArray], FloatArray]:
        """Return the mean of the numbers over the draws in each cell, and unbiased indicators, shape (cells, m)."""
        ...


@frozen(eq=False, repr=False)
class Scores:
    """The scores of people.

    Attributes
    ----------
    objective, theta
        The objective, and its parameters.
    """

    objective: CorrectedObjective | MixtureObjective
    theta: FloatArray

    def __call__(self, block: PeopleBlock) -> FloatArray:
        """Return the scores of some people."""
        return self.objective.scores(self.theta, block)

    def over_draws(self, block: PeopleBlock) -> tuple[Iterator[FloatArray], FloatArray]:
        """Return the mean scores over the draws in each cell, and unbiased indicators."""
        means, D = self.objective.over_draws(self.theta, block)
        return (self.objective.scores(self.theta, block, cells) for cells in means), D


def covariance_of(problem: OutcomeProblem, each: Each, k: int) -> FloatArray:
    """Return the covariance of the weighted sum of k numbers of each person with mean 0.

    Frequency weights count people. Sampling weights are squared.
    """
    if problem.sampling is not None:
        everyone = of_everyone(problem, each, k)

        def draws(factors: FloatArray) -> FloatArray:
            return _of_draws(problem, each, k, factors)

        return problem.sampling.covariance(everyone, draws) * rescaled(problem) ** 2
    if problem.clusters is not None:
        return _by_cluster(problem, each, k)
    total = np.zeros((k, k))
    for block in problem.people.blocks():
        S = each(block)
        weighted = S if block.weight is None else S * block.weight[:, None]
        total += weighted.T @ (S if problem.weighted == "frequency" else weighted)
    return total


def _of_draws(problem: OutcomeProblem, each: Each, k: int, factors: FloatArray) -> FloatArray:
    """Return the sum of factors times the variances of people's numbers over the draws of the subsets."""
    used = factors if problem.answered is None else factors[problem.answered]
    share = used.sum() / factors.sum()
    total = np.zeros((k, k))
    for block in problem.people.blocks():
        S, here = each(block), used[block.part]
        total += (S.T * here) @ S
        means, D = each.over_draws(block)
        for d, mean in zip(D, means, strict=True):
            total -= share * (mean.T * (here * d)) @ mean
    return total


def _by_cluster(problem: OutcomeProblem, each: Each, k: int) -> FloatArray:
    assert problem.clusters is not None
    number = int(problem.clusters.max()) + 1
    sums = np.zeros((number, k))
    for block in problem.people.blocks():
        S, at = each(block), problem.clusters[block.part]
        amounts = np.ones(len(S)) if block.weight is None else block.weight
        sums += csr_array((amounts, (at, np.arange(len(S)))), shape=(number, len(S))) @ S
    return np.asarray(sums.T @ sums * (number / (number - 1)))


def of_everyone(problem: OutcomeProblem, each: Callable[[PeopleBlock], FloatArray], k: int) -> FloatArray:
    """Return everyone's numbers, shape (n, k), with 0 for people left out."""
    n = len(problem.people) if problem.answered is None else len(problem.answered)
    rows: IntArray = np.arange(n) if problem.answered is None else np.flatnonzero(problem.answered)
    S = np.zeros((n, k))
    for block in problem.people.blocks():
        S[rows[block.part]] = each(block)
    return S


def rescaled(problem: OutcomeProblem) -> float:
    """Return the factor between the weights of a fit, whose mean is 1, and those of the sampling."""
    assert problem.sampling is not None
    assert problem.people.weight is not None
    used = problem.sampling.weights if problem.answered is None else problem.sampling.weights[problem.answered]
    return float(problem.people.weight.sum() / used.sum())
