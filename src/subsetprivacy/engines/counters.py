"""Tables of counts: a row for each distinct subset, and a column with the number of people who reported it.

If the rows of such a table are taken for people, every number of people is wrong. A file of counts says what it is in
its document. PyArrow keeps the document in the metadata of a table, pandas in `attrs`, and a CSV file that is shared
alone in a column. Where it is lost, only the name of the column of numbers is left.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from subsetprivacy.engines.grouping import column_kinds
from subsetprivacy.engines.imputed import document_of
from subsetprivacy.engines.kinds import column_names, is_table
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_data import WEIGH_A_TABLE_OF_COUNTS, WEIGH_OR_DROP_A_COUNT

TABLE_FORMAT = "subset privacy table"  # of documents; also the name of the column of a CSV file that contains one
_COUNT = "count"


def count_column(names: Iterable[str]) -> str:
    """Return the name of the column of numbers in a table of counts: one that no column of subsets has.

    Examples
    --------
    >>> count_column(["race"]), count_column(["race", "count"])
    ('count', 'count_')
    """
    name, taken = _COUNT, set(names)
    while name in taken:
        name += "_"
    return name


def refuse_counts(data: Any, subsets: Iterable[str] = (), used: Iterable[str | None] = ()) -> None:
    """Raise if the rows of data without weights are, or may be, counts instead of people.

    Parameters
    ----------
    data
        A table, a dict of columns, or a column.
    subsets
        The columns of subsets.
    used
        The other columns that are used. A column called count that is not among them may count people.

    Raises
    ------
    ArgumentError
        If the document of the data says that they are counts, or if they have no document and an unused column count.
    """
    names = column_names(data) if is_table(data) else [str(name) for name in data] if isinstance(data, Mapping) else []
    says = _says_counts(data, names)
    name = count_column(subsets)
    if says:
        raise counts_without_weights(name)
    if says is None and name in names and name not in set(used) and _holds_numbers(data, name):
        raise unused_count(name)


def counts_without_weights(name: str) -> ArgumentError:
    """Return the error for data that are counts."""
    return ArgumentError(
        "`weights` must be given for a table of counts, whose rows are not people; got none.",
        WEIGH_A_TABLE_OF_COUNTS(name=name),
    )


def unused_count(name: str) -> ArgumentError:
    """Return the error for a column that may count people."""
    return ArgumentError(
        f"`weights` must be given where a column counts the people of each row; got none, and an unused column {name}.",
        WEIGH_OR_DROP_A_COUNT(name=name),
    )


def _says_counts(data: Any, names: list[str]) -> bool | None:
    """Return whether the document of data says that they are counts, None without a document."""
    if TABLE_FORMAT in names:  # the column of a CSV file that is shared alone, which is always a file of counts
        return True
    document = document_of(data)
    is_ours = isinstance(document, Mapping) and document.get("format") == TABLE_FORMAT
    return document.get("weights") is not None if is_ours else None


def _holds_numbers(data: Any, name: str) -> bool:
    if is_table(data):
        return column_kinds(data, [name])[0] in ("integer", "float")
    return np.asarray(data[name]).dtype.kind in "iuf"
