"""The arguments of checks: counts, and seeds derived from them."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np

from subsetprivacy._checks import check_alpha, shown
from subsetprivacy._seeds import numpy_generator, seed_number
from subsetprivacy._types import Seed
from subsetprivacy.counting import count
from subsetprivacy.data import QuestionCounts, SubsetCounts, SubsetTable, as_counts
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, TooLargeError
from subsetprivacy.messages import Advice, Hint
from subsetprivacy.messages.for_tests import CHECK_ONE_VARIABLE, COUNT_PEOPLE

_VERSION = "subsetprivacy checks v1"


def read_counts(
    data: Any, advice: Advice = CHECK_ONE_VARIABLE, column: str | None = None, design: Design | None = None
) -> SubsetCounts:
    """Return the counts to check.

    Parameters
    ----------
    data
        The argument of the check.
    advice
        Advice to check one variable at a time, for the function that was called.
    column, design
        For a table, its column and the design.

    Raises
    ------
    ArgumentError
        If it is neither data nor counts.
    TooLargeError
        If a table has too many variables for one code.
    """
    if column is not None or design is not None:
        return count(data, column, design=design)
    try:
        return as_counts(data)
    except TooLargeError:
        if not isinstance(data, SubsetTable):
            raise
        raise TooLargeError(
            f"`data` must have variables that fit together in one code; got {len(data.names)} that do not.",
            one_at_a_time(data.design, advice),
        ) from None


def one_at_a_time(design: Design, advice: Advice = CHECK_ONE_VARIABLE) -> Hint | None:
    """Return the advice for a product design, with the name of its first variable; None for other designs."""
    return None if design.product is None else advice(name=repr(design.product.categories.names[0]))


def require_people(counts: SubsetCounts) -> SubsetCounts:
    """Return the counts if they count people.

    Raises
    ------
    ArgumentError
        If they are sums of sampling weights, since the tests need counts.
    """
    if counts.squares is not None:
        raise ArgumentError("`data` must count unweighted people to be checked; got sampling weights.", COUNT_PEOPLE)
    return counts


def check_chance(chance: float) -> float:
    """Return the probability of an alarm if it is valid."""
    return check_alpha(chance, "chance")


def check_budget(budget: float) -> float:
    """Return the number of seconds if it is valid."""
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not 0 <= budget < float("inf"):
        raise ArgumentError(f"`budget` must be a number of seconds; got {shown(budget)}.")
    return float(budget)


# Seeds ------------------------------------------------------------------------------------------


def data_seed(data: SubsetCounts | QuestionCounts, *what: str) -> int:
    """Return a seed derived from the counts, so that the same counts always give the same samples."""
    return _number(_digest(data), *what)


def seeds_for(seed: Seed | None, data: Callable[[str], tuple[SubsetCounts, QuestionCounts | None]]) -> Any:
    """Return a function from a variable and a check to its seed.

    Parameters
    ----------
    seed
        A number or a generator; None for seeds derived from the counts.
    data
        The counts and questions of a variable.
    """
    if seed is not None:
        numpy_generator(seed)  # raises if it is not a seed
        key = str(seed_number(seed))
        return lambda variable, check: _number(key, variable, check)

    def seed_of(variable: str, check: str) -> int:
        counts, questions = data(variable)
        return _number(_digest(counts), "" if questions is None else _digest(questions), variable, check)

    return seed_of


def _number(*parts: str) -> int:
    return int.from_bytes(sha256("\0".join((_VERSION, *parts)).encode()).digest()[:4], "big")


def _digest(data: SubsetCounts | QuestionCounts) -> str:
    """Return a hash of counts that does not depend on their order."""
    if isinstance(data, SubsetCounts):
        lines = np.column_stack([data.codes, data.counts])[data.counts > 0]
    else:
        lines = np.column_stack([data.shown, data.answers, data.n])
        lines = lines[np.lexsort(lines.T[::-1])]
    whole = np.ascontiguousarray(lines, dtype="<i8").tobytes()
    return sha256(f"{data.design.kind} {data.design.p}\0".encode() + whole).hexdigest()
