"""Search for several maxima: more starts if the sample is small."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.coordinates import Coordinates

SMALL = 50.0  # effective people per covariate below which one start is not enough
MOST_STARTS = 40
SAME = 1e-4  # values of the log-likelihood within this distance are one maximum
NEAR = 2.0  # of log-likelihood: a second maximum this close is an equally good answer
UNSEEN = 0.05  # the search ends when at most this share of further starts is expected to end at a new maximum
_AWAY = 2.0  # distance of a random start from the center, in standard deviations of a linear predictor


class Optimum(Protocol):
    """Where a climb ended."""

    @property
    def value(self) -> float:
        """The objective."""
        ...

    @property
    def converged(self) -> bool:
        """Whether nothing is left to gain nearby."""
        ...

    @property
    def is_maximum(self) -> bool:
        """Whether it is a maximum, not a saddle point."""
        ...


O = TypeVar("O", bound=Optimum)


@frozen(eq=False, repr=False)
class BestMaximum(Generic[O]):
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

    best: O
    values: tuple[float, ...]
    starts: int


def search(
    climb: Callable[[FloatArray], O],
    first: O,
    starts: Iterable[FloatArray],
    *,
    asked: int | None = None,
) -> BestMaximum[O]:
    """Climb from more and more starts, and keep the best maximum.

    Parameters
    ----------
    climb
        Maximizes from a start.
    first
        The result of the first start.
    starts
        The next starts, as many as there may be.
    asked
        The number of starts, including the first. By default the search ends when few starts, or the largest number,
        are left that could find another maximum (see `unseen`).
    """
    results, values = [first], different([first])
    for start in starts:
        enough = unseen(len(values), len(results)) <= UNSEEN or len(results) >= MOST_STARTS
        if enough if asked is None else len(results) >= asked:
            break
        results.append(climb(start))
        values = different(results)
    arrived = [optimum for optimum in results if is_arrived(optimum)] or results[:1]
    best = max(arrived, key=lambda optimum: optimum.value)
    if best.value <= first.value + SAME and first.converged:
        best = first
    return BestMaximum(best, values or (best.value,), len(results))


def unseen(maxima: int, starts: int) -> float:
    """Return the expected share of starts that would end at a maximum that was not found yet.

    It is W(W + 1) / (N(N - 1)) for W maxima from N starts, if the shares of the maxima were equally likely to be
    anything before (Boender and Rinnooy Kan, 1987): 7 starts are enough for one maximum, and 12 for two.
    """
    return maxima * (maxima + 1) / (starts * (starts - 1)) if starts > 1 else 1.0


def random_starts(coordinates: Coordinates, center: FloatArray, d: int) -> Iterator[FloatArray]:
    """Yield parameters around a center.

    The seed is fixed, so that the same data give the same fit. The total change of a linear predictor is about the same
    for any number d of covariates.
    """
    rng = np.random.default_rng(0)
    z, size = coordinates.inverse(center), min(1.0, _AWAY / np.sqrt(max(d, 1)))
    while True:
        yield coordinates.natural(z + size * rng.standard_normal(coordinates.size))


def is_arrived(optimum: Optimum) -> bool:
    """Tell whether a result is a maximum."""
    return optimum.converged and optimum.is_maximum


def different(results: Iterable[Optimum]) -> tuple[float, ...]:
    """Return the distinct values of the maxima among results, largest first."""
    kept: list[float] = []
    for value in sorted((optimum.value for optimum in results if is_arrived(optimum)), reverse=True):
        if not kept or kept[-1] - value > SAME:
            kept.append(value)
    return tuple(kept)


def told(maxima: Sequence[float], starts: int) -> str:
    """Return what a result says of several maxima; empty if the best is clear."""
    if len(maxima) < 2:
        return ""
    apart, more = maxima[0] - maxima[1], unseen(len(maxima), starts) > UNSEEN
    if apart > NEAR and not more:
        return ""
    text = f"The likelihood has {len(maxima)} maxima from {starts} starts."
    if apart <= NEAR:
        text += f" The next is {apart:.2g} below the best, so the data hardly decide between them."
    return f"{text} There are probably more, and one of them may be better." if more else text
