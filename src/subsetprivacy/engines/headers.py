"""Messages about missing columns, with similar names unless these may be a person's values.

Column names are not values, so messages may show them. But a CSV file without a header, read as if it had one, has the
first person's values as names, and a hint must never repeat those.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from typing import Any, Literal

from subsetprivacy._words import counted
from subsetprivacy.engines.kinds import column_names, engine_of, plain_table, raw_names
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Hint
from subsetprivacy.messages.for_files import LOOK_FOR_A_HEADER, TAKE_A_SIMILAR_COLUMN, TAKE_ONE_OF_ITS_COLUMNS

Verdict = Literal["names", "values", "unknown"]

SAMPLE = 1000  # rows to inspect
_FEWEST = 8  # cells that a column of few distinct values needs to be informative
_RARE = 50  # at most one in this many cells may be unique
_CLOSE = 0.6
_MOST_CLOSE = 3
_MOST_LISTED = 12
_NUMBER = re.compile(r"[-+]?[\d\s.,:/%$€£-]*\d[\d\s.,:/%$€£-]*(e[-+]?\d+)?", re.IGNORECASE)
_REPEATED = re.compile(r"\.\d+$")  # added by pandas to repeated names


def judge_header(
    names: Sequence[str], columns: Sequence[Sequence[Any]] | None = None, labels: Collection[str] = ()
) -> Verdict:
    """Judge whether the first line of a table contains names, or the values of a person.

    Parameters
    ----------
    names
        The entries of that line.
    columns
        Some cells below each, in order; None if not known.
    labels
        Categories in the table, as text.

    Returns
    -------
    verdict
        "values" if an entry is a number or a category, or occurs again in its own column or in the line. "names" if a
        column contains only numbers, or if every column contains few distinct values that all occur again, and no
        entry is among them. Otherwise "unknown": one column of people's names is enough, because a first person's
        rare value occurs in no cell.

    Examples
    --------
    >>> judge_header(["age", "race"], [["39", "50"], ["White", "Black"]])
    'names'
    >>> judge_header(["39", "White"], [["50", "38"], ["Black", "White"]])
    'values'
    """
    entries = [name.strip() for name in names]
    plain = [_REPEATED.sub("", entry) for entry in entries if entry]
    if any(_NUMBER.fullmatch(entry) for entry in entries) or len(set(plain)) < len(plain):
        return "values"
    known = {label.strip() for label in labels}
    if any(entry in known or _REPEATED.sub("", entry) in known for entry in entries):
        return "values"
    filled = [[text for cell in column if (text := _text(cell))] for column in columns or ()]
    if any(entry in column for entry, column in zip(entries, filled, strict=False)):
        return "values"
    are_names = any(map(_is_numeric, filled)) or (bool(filled) and all(map(_repeats, filled)))
    return "names" if are_names else "unknown"


def _text(cell: Any) -> str:
    """Return a cell as text, empty if missing."""
    missing = cell is None or type(cell).__name__ in {"NAType", "NaTType"} or (isinstance(cell, float) and cell != cell)
    return "" if missing else str(cell).strip()


def _is_numeric(cells: Sequence[str]) -> bool:
    """Return whether a column contains only numbers, so that other text is not a cell of it."""
    return len(cells) > 1 and all(_NUMBER.fullmatch(cell) for cell in cells)


def _repeats(cells: Sequence[str]) -> bool:
    """Return whether a column contains few values that nearly all repeat, so that another is hardly one."""
    once = sum(many == 1 for many in Counter(cells).values())
    return len(cells) >= _FEWEST and once * _RARE <= len(cells)


def no_such_column(
    name: str, existing: Sequence[str], where: str, verdict: Verdict, *, csv: bool = False
) -> tuple[str, Hint]:
    """Return the message for a missing column of a table or file, and its advice.

    Parameters
    ----------
    name
        The missing column.
    existing
        The existing columns.
    where
        The table, in words.
    verdict
        The result of `judge_header`. Columns are shown only for "names".
    csv
        Whether it is a CSV file.

    Examples
    --------
    >>> no_such_column("age group", ["Age_Group", "race"], "the table", "names")
    ('a named column must be in the table; got no column age group among its 2 columns.', Hint(...'Age_Group'"}))
    """
    message = f"a named column must be in {where}; got no column {name} among its {counted(len(existing), 'column')}."
    if verdict == "names":
        return message, _suggestion(name, existing)
    return f"{message} {_HIDDEN_LINE if csv else _HIDDEN_NAMES}", LOOK_FOR_A_HEADER()


_HIDDEN_LINE = "Its first line is not shown, because without a header it could be a person's values."
_HIDDEN_NAMES = "The column names are not shown, because without a header they could be a person's values."


def _suggestion(name: str, existing: Sequence[str]) -> Hint:
    close = closest_names(name, existing)
    if close:
        return TAKE_A_SIMILAR_COLUMN(names=" or ".join(map(repr, close)))
    more = f" and {len(existing) - _MOST_LISTED} more" if len(existing) > _MOST_LISTED else ""
    return TAKE_ONE_OF_ITS_COLUMNS(names=", ".join(map(repr, existing[:_MOST_LISTED])) + more)


def closest_names(name: str, existing: Sequence[str]) -> list[str]:
    """Return the most similar names; only those with the same letters and digits, if there are any."""
    spelled: dict[str, str] = {}
    for each in existing:
        if _letters(each):
            spelled.setdefault(_letters(each), each)
    wanted = _letters(name)
    if wanted in spelled:
        return [spelled[wanted]]
    return [spelled[each] for each in get_close_matches(wanted, list(spelled), _MOST_CLOSE, _CLOSE)]


def _letters(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def judge_table(table: Any, labels: Collection[str] = ()) -> Verdict:
    """Judge whether a table's column names are names, because its file may have had no header."""
    table = plain_table(table)
    names = raw_names(table)
    if names and all(type(name) is int for name in names):  # numbered by pandas
        return "names"
    sample = _SAMPLES.get(engine_of(table))
    try:
        columns = None if sample is None else sample(table)
    except Exception:  # only for a hint
        columns = None
    verdict = judge_header([str(name) for name in names], columns, labels)
    # A hint starts no cluster job, and Spark does not read a first line as names by default.
    return "names" if verdict == "unknown" and engine_of(table) == "pyspark" else verdict


def check_columns(
    table: Any, wanted: Sequence[str], existing: Sequence[str] | None = None, labels: Collection[str] = ()
) -> None:
    """Raise unless a table has each wanted column exactly once.

    Parameters
    ----------
    table
        Of any library.
    wanted
        The columns.
    existing
        The existing names, if known already.
    labels
        Categories of the values, which are not column names.

    Raises
    ------
    ArgumentError
        If it does not.
    """
    existing = column_names(table) if existing is None else existing
    for name in wanted:
        if name not in existing:
            raise ArgumentError(*no_such_column(name, existing, "the table", judge_table(table, labels)))
        if existing.count(name) > 1:
            raise ArgumentError(f"the name of a column must occur once; got {name} {existing.count(name)} times.")


_SAMPLES: dict[str, Callable[[Any], list[list[Any]]]] = {
    "pandas": lambda table: [table.iloc[:SAMPLE, k].tolist() for k in range(table.shape[1])],
    "polars": lambda table: [column.to_list() for column in table.head(SAMPLE).get_columns()],
    "polars-lazy": lambda table: [column.to_list() for column in table.head(SAMPLE).collect().get_columns()],
    "pyarrow": lambda table: [column.to_pylist() for column in table.slice(0, SAMPLE).columns],
    "pyarrow-dataset": lambda table: [column.to_pylist() for column in table.head(SAMPLE).columns],
    "dask": lambda table: [column.tolist() for _, column in table.partitions[0].head(SAMPLE).items()],
    "ibis": lambda table: [column.to_pylist() for column in table.limit(SAMPLE).to_pyarrow().columns],
    "duckdb": lambda table: list(map(list, zip(*table.limit(SAMPLE).fetchall(), strict=True))),
}
