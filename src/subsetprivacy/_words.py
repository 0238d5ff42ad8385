"""Numbers with a noun in the singular or plural."""

from typing import Any


def counted(amount: float, singular: str, many: str | None = None) -> str:
    """Return a whole number and the noun for what it counts.

    Parameters
    ----------
    amount
        The number. Sums of weights are rounded.
    singular, many
        The noun for one and for any other number. By default the plural adds an s.

    Examples
    --------
    >>> counted(1, "person", "people"), counted(2000, "person", "people"), counted(0, "row")
    ('1 person', '2,000 people', '0 rows')
    >>> counted(1, "that is not", "that are not")
    '1 that is not'
    """
    return f"{whole(amount)} {plural(amount, singular, many)}"


def whole(amount: float) -> str:
    """Return a whole number as text, with commas between thousands.

    Examples
    --------
    >>> whole(200), whole(32561.2)
    ('200', '32,561')
    """
    return f"{amount:,.0f}"


def plural(amount: float, singular: str, many: str | None = None) -> str:
    """Return the noun for what is counted, without the number.

    Examples
    --------
    >>> plural(1, "column"), plural(3, "row is", "rows are")
    ('column', 'rows are')
    """
    return singular if f"{amount:.0f}" == "1" else f"{singular}s" if many is None else many


def people(amount: float) -> str:
    """Return a number of people as text.

    Examples
    --------
    >>> people(1), people(2)
    ('1 person', '2 people')
    """
    return counted(amount, "person", "people")


def group_text(group: Any) -> str:
    """Return the name of a group as text."""
    if isinstance(group, tuple):
        return " / ".join(map(group_text, group))
    return "(missing)" if group is None else str(group)
