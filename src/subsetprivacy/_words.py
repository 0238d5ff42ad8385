"""Numbers with the word for what is counted, singular or plural: the one place where that is decided."""

from typing import Any


def counted(amount: float, singular: str, many: str | None = None, *, comma: bool = False) -> str:
    """Return a whole number and the word for what it counts.

    Parameters
    ----------
    amount
        How many. Sums of weights are rounded.
    singular, many
        The word for one and for any other number; by default the plural adds an s.
    comma
        Whether thousands are set apart, for text that is read and not compared.

    Examples
    --------
    >>> counted(1, "person", "people"), counted(2000, "person", "people", comma=True), counted(0, "row")
    ('1 person', '2,000 people', '0 rows')
    >>> counted(1, "that is not", "that are not")
    '1 that is not'
    """
    return f"{amount:{',' if comma else ''}.0f} {plural(amount, singular, many)}"


def plural(amount: float, singular: str, many: str | None = None) -> str:
    """Return the word for what is counted, without the number.

    Examples
    --------
    >>> plural(1, "column"), plural(3, "row is", "rows are")
    ('column', 'rows are')
    """
    return singular if f"{amount:.0f}" == "1" else f"{singular}s" if many is None else many


def people(amount: float) -> str:
    """Return a number of people.

    Examples
    --------
    >>> people(1), people(2)
    ('1 person', '2 people')
    """
    return counted(amount, "person", "people")


def group_text(group: Any) -> str:
    """Return the name of a group for people."""
    if isinstance(group, tuple):
        return " / ".join(map(group_text, group))
    return "(missing)" if group is None else str(group)
