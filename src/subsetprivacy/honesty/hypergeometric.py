"""Hypergeometric samples for any number of people."""

import numpy as np

from subsetprivacy._types import FloatArray, IntArray

_EXACT = 10**7  # up to so many people, NumPy's exact draw is used, which stores a number per person
_NORMAL = 1e6  # from this variance on, the normal approximation is exact to rounding


def skips_at_random(generator: np.random.Generator, people: IntArray, k: int, size: int) -> IntArray:
    """Draw k people without replacement, `size` times, and return how many are in each group.

    Parameters
    ----------
    generator
        The random generator.
    people
        The number of people in each group.
    k
        The number of people drawn.
    size
        The number of samples, a row each.
    """
    if people.sum() <= _EXACT:
        return generator.multivariate_hypergeometric(people, k, size, method="count")
    out = np.empty((size, len(people)), np.int64)
    left, wanted = int(people.sum()), np.full(size, k, np.int64)
    for group, number in enumerate(people.tolist()):
        left -= number
        out[:, group] = _hypergeometric(generator, number, left, wanted) if left else wanted
        wanted = wanted - out[:, group]
    return out


def _hypergeometric(generator: np.random.Generator, good: int, bad: int, draws: IntArray) -> IntArray:
    """Draw how many of `draws` people are good, if there are too many people for NumPy.

    NumPy's limit is a billion. If the variance is large, the number is normal. Otherwise the good people, the draws or
    the remaining people are few, and drawing with replacement makes no visible difference.
    """
    total = good + bad
    share = draws / total
    variance = good * share * (1 - share) * (bad / max(total - 1, 1))
    lower, upper = np.maximum(draws - bad, 0), np.minimum(draws, good)
    normal = np.rint(good * share + np.sqrt(variance) * generator.standard_normal(len(draws)))
    drawn = np.where(variance > _NORMAL, normal, _with_replacement(generator, good, total, draws))
    return np.clip(drawn, lower, upper).astype(np.int64)


def _with_replacement(generator: np.random.Generator, good: int, total: int, draws: IntArray) -> FloatArray:
    """Draw from the binomial distribution with the fewest trials among the four that describe the same draw."""
    bad, rest = total - good, total - draws
    ways = np.stack([np.full(len(draws), good), np.full(len(draws), bad), draws, rest])
    chances = np.stack(
        [draws / total, draws / total, np.full(len(draws), good / total), np.full(len(draws), good / total)]
    )
    way = ways.argmin(axis=0)
    at = np.arange(len(draws))
    number = generator.binomial(ways[way, at], chances[way, at]).astype(np.float64)
    # Convert bad people drawn, or good people left, to good people drawn.
    return np.asarray(np.choose(way, [number, draws - number, number, good - number]))
