"""Search for several maxima: more starts if the sample is small."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.coordinates import Coordinates
from subsetprivacy.regression.objective import Maximand
from subsetprivacy.regression.solver import SolverResult, maximize

SMALL = 50.0  # effective people per covariate below which one start is not enough
RANDOM_STARTS = 8
SAME = 1e-4  # values of the log-likelihood within this distance are one maximum
_AWAY = 2.0  # distance of a random start from the center, in standard deviations of a linear predictor
NEAR = 2.0  # of log-likelihood: a second maximum this close is an equally good answer


@frozen(eq=False, repr=False)
class BestMaximum:
    """The best of several maxima.

    Attributes
    ----------
    best
        The fit with the largest value.
    values
        The values of all distinct maxima found, largest first.
    starts
        The number of starts.
    """

    best: SolverResult
    values: tuple[float, ...]
    starts: int


def search(
    objective: Maximand, coordinates: Coordinates, first: SolverResult, more: list[FloatArray], *, random: int
) -> BestMaximum:
    """Start from given parameters and from random ones, and keep the best maximum.

    The seed of random starts is fixed, so that the same data give the same fit.
    """
    results = [first]
    rng = np.random.default_rng(0)
    # The total change of a linear predictor is about the same for any number of covariates.
    size = min(1.0, _AWAY / np.sqrt(max(objective.d, 1)))
    spread = size * rng.standard_normal((random, coordinates.size))
    center = coordinates.inverse(more[0] if more else first.theta)
    starts = [*more, *(coordinates.natural(center + step) for step in spread)]
    results += [maximize(objective, coordinates, start) for start in starts]
    arrived = [optimum for optimum in results if optimum.converged and optimum.is_maximum] or results[:1]
    best = max(arrived, key=lambda optimum: optimum.value)
    if best.value <= first.value + SAME and first.converged:
        best = first
    return BestMaximum(best, different(sorted((optimum.value for optimum in arrived), reverse=True)), len(results))


def different(values: list[float]) -> tuple[float, ...]:
    """Return the distinct values, largest first, without repetitions of one maximum."""
    kept: list[float] = []
    for value in values:
        if not kept or kept[-1] - value > SAME:
            kept.append(value)
    return tuple(kept)
