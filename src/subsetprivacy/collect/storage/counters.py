"""Adding to counters that are keyed by their content, many in one statement."""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Dialect, Table, TextClause, text

_AT_ONCE = 128  # rows to a statement of SQLite, which in older versions takes 999 values


def add(connection: Connection, table: Table, survey_id: str, counted: Mapping[tuple[Any, ...], int]) -> None:
    """Add to the counters of a survey, which begin at 0.

    Parameters
    ----------
    connection, survey_id
        The store, and the survey.
    table
        A table of counters, of which the first column is the survey and the last the number.
    counted
        How much to add, by the columns in between. It is written in the order of these: that of arrival is nobody's
        business.
    """
    rows = [(survey_id, *key, n) for key, n in sorted(counted.items())]
    if connection.dialect.name == "sqlite":
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            connection.exec_driver_sql(_by_rows(table, len(some)), tuple(chain.from_iterable(some)))
    else:
        columns = zip(table.columns, zip(*rows, strict=True), strict=True)
        connection.execute(
            _by_columns(table, connection.dialect), {column.name: list(values) for column, values in columns}
        )


@cache
def _by_rows(table: Table, number: int) -> str:
    row = f"({', '.join('?' * len(table.columns))})"
    return f"INSERT INTO {table.name} VALUES {', '.join([row] * number)} {_or_add(table)}"


@cache
def _by_columns(table: Table, dialect: Dialect) -> TextClause:
    """Return the statement that takes each column as an array: its words do not depend on the number of rows."""
    arrays = ", ".join(f"CAST(:{column.name} AS {column.type.compile(dialect)}[])" for column in table.columns)
    return text(f"INSERT INTO {table.name} SELECT * FROM unnest({arrays}) {_or_add(table)}")


def _or_add(table: Table) -> str:
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key.columns)
    return f"ON CONFLICT ({keys}) DO UPDATE SET n = {table.name}.n + excluded.n"
