"""Several variables at once: what can be checked of them together, and the hint to take them one by one."""

from typing import Any

from subsetprivacy.data import SubsetCounts, SubsetTable, as_counts
from subsetprivacy.design import Design, Product
from subsetprivacy.errors import TooLargeError


def read_counts(data: Any, call: str) -> SubsetCounts:
    """Return the counts of what is checked.

    Parameters
    ----------
    data
        What was given.
    call
        The function that was called, for the hint.

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
            f"`data` must have variables that fit in one code together; got {len(data.names)} that do not. "
            f"Hint: {one_at_a_time(data.design, call)}."
        ) from None


def one_at_a_time(design: Design, call: str = "check_honesty") -> str:
    """Return the hint for a product design, with the name of its first variable; empty for all others."""
    if not isinstance(design, Product):
        return ""
    return f"one variable at a time: {call}(table[{design.categories.names[0]!r}])"
