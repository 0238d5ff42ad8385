"""The smallest sets that can be sent, in the words of the options, and the cost of forbidding one."""

import math
from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy._types import FloatArray
from subsetprivacy.collect.survey.definition import VariableDefinition
from subsetprivacy.collect.survey.forbidden_sets import codes_of, without
from subsetprivacy.design import Design
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.planning.variance import precision

MOST_SETS = 50  # that are listed; their number is always reported
MARGIN = 0.05
_LEVEL = 0.95
_MOST_AT_GUESS = 14  # options up to which the price is computed at the guess; more have too many subsets


@frozen
class RevealingSet:
    """A set that can be sent.

    Attributes
    ----------
    options
        The options that stay possible, in order.
    chance
        The probability that a person whose answer is one of them sends it. It does not depend on the shares.
    """

    options: tuple[str, ...]
    chance: float


@frozen
class RevealingSets:
    """The smallest sets that can be sent. Sets of neighboring options come first, because these are the most alike.

    Attributes
    ----------
    size
        How many options each has.
    number
        How many such sets there are.
    sets
        The first of them, at most `MOST_SETS`.
    runs
        Larger sets of neighboring options that can be sent, at most `MOST_SETS`. They may admit something too.
    """

    size: int
    number: int
    sets: tuple[RevealingSet, ...]
    runs: tuple[RevealingSet, ...]


@frozen
class Price:
    """The cost of forbidding sets, in people.

    Attributes
    ----------
    people, people_before
        How many people must answer so that every share has a margin of 5 points (95%), with and without the forbidden
        sets.
    ratio
        The ratio of the two before rounding, from the largest variances.
    average_ratio
        The same for the mean squared error of all shares.
    at_guess
        Whether the shares are those of the guess. Otherwise they are even.
    """

    people: int
    people_before: int
    ratio: float
    average_ratio: float
    at_guess: bool

    @property
    def more_percent(self) -> int:
        """The percentage of additional people, rounded up."""
        return max(0, math.ceil(round(100 * (self.ratio - 1), 3)))


def revealing_sets(variable: VariableDefinition) -> RevealingSets | None:
    """Return the smallest sets that can be sent, or None if no answer rules an option out."""
    design = variable.design
    if not design.rules_out:
        return None
    size = design.smallest_set
    if design.by_size is not None:  # all sets of the size, which may be too many to list
        number = math.comb(design.p, size)
        places = list(islice(_by_nearness(design.p, size), MOST_SETS))
        chances = design.mu(np.array([sum(1 << j for j in members) for members in places], np.int64)).tolist()
        return RevealingSets(size, number, _named(variable, places, chances), _runs(variable, size))
    codes, mu = design.support()
    smallest = np.flatnonzero(design.sizes(codes) == size)
    sets = [(tuple(j for j in range(design.p) if codes[k] >> j & 1), float(mu[k])) for k in smallest]
    sets.sort(key=lambda pair: (pair[0][-1] - pair[0][0], pair[0]))
    first = sets[:MOST_SETS]
    named = _named(variable, [members for members, _ in first], [chance for _, chance in first])
    return RevealingSets(size, len(sets), named, _runs(variable, size))


def _runs(variable: VariableDefinition, size: int) -> tuple[RevealingSet, ...]:
    """Return the sets of neighboring options that are larger than the smallest sets and can be sent."""
    p = variable.design.p
    places = [tuple(range(low, low + k)) for k in range(size + 1, p) for low in range(p - k + 1)]
    codes = np.array([sum(1 << j for j in members) for members in places], np.int64)
    chances = variable.design.mu(codes)
    sent = np.flatnonzero(chances > 0)[:MOST_SETS]
    return _named(variable, [places[k] for k in sent], [float(chances[k]) for k in sent])


def _by_nearness(p: int, size: int) -> Iterator[tuple[int, ...]]:
    """Yield all sets of a size, the closest neighbors first."""
    for spread in range(size - 1, p):
        for low in range(p - spread):
            for inner in combinations(range(low + 1, low + spread), size - 2):
                yield (low, *inner, low + spread)


def _named(
    variable: VariableDefinition, places: list[tuple[int, ...]], chances: list[float]
) -> tuple[RevealingSet, ...]:
    return tuple(
        RevealingSet(tuple(variable.options[j] for j in members), chance)
        for members, chance in zip(places, chances, strict=True)
    )


def set_words(options: tuple[str, ...]) -> str:
    """Return a set in words.

    Examples
    --------
    >>> set_words(("never", "once", "often"))
    '“never”, “once” or “often”'
    """
    quoted = [f"“{option}”" for option in options]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"


# Price --------------------------------------------------------------------------------------------


def price(variable: VariableDefinition) -> Price | None:
    """Return the cost of the forbidden sets of a variable, or None if there are none."""
    return None if variable.original is None else _price(variable.original, variable.design, variable)


def price_of(variable: VariableDefinition, options: tuple[str, ...]) -> Price | None:
    """Return the cost of all forbidden sets and another one, like `price`. None if it is not possible."""
    design = variable.original or variable.design
    forbidden = codes_of(variable.options, (*variable.never_alone, options))
    try:
        return _price(design, without(design, forbidden), variable)
    except SubsetPrivacyError:
        return None


def price_words(price: Price) -> str:
    """Return a price as part of a sentence.

    Examples
    --------
    >>> price_words(Price(1230, 1093, 1.125, 1.013, False))
    '13% more people: 1,230 instead of 1,093 for a margin of 5 points, at even shares'
    """
    margin = f"for a margin of 5 points, {'if the guess is right' if price.at_guess else 'at even shares'}"
    if not price.more_percent:
        return f"no more people: {price.people:,} {margin}"
    return f"{price.more_percent}% more people: {price.people:,} instead of {price.people_before:,} {margin}"


def _price(before: Design, after: Design, variable: VariableDefinition) -> Price:
    w, at_guess = _shares(variable)
    old, new = precision(before, w).variances, precision(after, w).variances
    return Price(
        people=_people(float(new.max())),
        people_before=_people(float(old.max())),
        ratio=float(new.max() / old.max()),
        average_ratio=float(new.sum() / old.sum()),
        at_guess=at_guess,
    )


def _shares(variable: VariableDefinition) -> tuple[FloatArray, bool]:
    p = len(variable.options)
    if variable.guess is None or p > _MOST_AT_GUESS:
        return np.full(p, 1 / p), False
    return np.array(variable.guess) / math.fsum(variable.guess), True


def _people(variance: float) -> int:
    return math.ceil(variance * (float(ndtri((1 + _LEVEL) / 2)) / MARGIN) ** 2)
