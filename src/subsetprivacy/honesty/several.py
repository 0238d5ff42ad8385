"""Several variables at once: what can be checked of them together, and the advice to take them one by one."""

from typing import Any

from subsetprivacy.data import SubsetCounts, SubsetTable, as_counts
from subsetprivacy.design import Design
from subsetprivacy.errors import TooLargeError
from subsetprivacy.messages import Advice, Hint
from subsetprivacy.messages.for_tests import CHECK_ONE_VARIABLE


def read_counts(data: Any, advice: Advice = CHECK_ONE_VARIABLE) -> SubsetCounts:
    """Return the counts of what is checked.

    Parameters
    ----------
    data
        What was given.
    advice
        To take one variable at a time, by the function that was called.

    Raises
    ------
    ArgumentError
        If it is neither data nor counts.
    TooLargeError
        If the variables of a table are too many for one code.
    """
    try:
        return as_counts(data)
    except TooLargeError:
        if not isinstance(data, SubsetTable):
            raise
        raise TooLargeError(
            f"`data` must have variables that fit in one code together; got {len(data.names)} that do not.",
            one_at_a_time(data.design, advice),
        ) from None


def one_at_a_time(design: Design, advice: Advice = CHECK_ONE_VARIABLE) -> Hint | None:
    """Return the advice for a product design, with the name of its first variable; None for all others."""
    return None if design.product is None else advice(name=repr(design.product.categories.names[0]))
