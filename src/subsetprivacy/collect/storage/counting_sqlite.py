"""Count a group of submissions on SQLite, where one process writes at a time and no statement waits for a network.

The statement that checks tickets returns only those with a problem, usually none. SQLite releases the interpreter lock
for every row, and under load waits each time to get it back.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Table, bindparam, select, text, update

from subsetprivacy.collect.storage.schema import pending, pending_framing, survey
from subsetprivacy.collect.storage.tickets import (
    ALREADY,
    COUNTED,
    EACH,
    NOT_OPENED,
    GroupVerdict,
    judging,
    looked_up,
    parameters,
    part_of,
)
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import Submission

_AT_ONCE = 128  # rows to a statement, which in older versions of SQLite takes 999 values
_SURVEY = survey.c.id == bindparam("in_survey")
_FILLED = select(survey.c.filling, survey.c.filled).where(_SURVEY)
_FILL = update(survey).where(_SURVEY)
_STATE = "UNION ALL SELECT 0, released FROM survey WHERE id = :survey AND open"
_JUDGE = {
    "code": text(
        judging(
            f"WHEN {looked_up('commitment', 'code')} = {part_of('commitments')} THEN '{COUNTED}' "
            f"WHEN {looked_up('mark', 'code')} IS NOT NULL THEN '{NOT_OPENED}'",
            COUNTED,
        ).format("k, outcome")
        + f" {_STATE}"
    ),
    "open": text(
        f"{EACH} SELECT k, '{ALREADY}' FROM each "
        f"WHERE {looked_up('mark', 'arrived')} IS NOT NULL OR {looked_up('mark', 'spent')} IS NOT NULL {_STATE}"
    ),
}
_INSERT = text(f"INSERT INTO arrived (survey, mark) {EACH} SELECT :survey, mark FROM each")
_DELETE = text(f"DELETE FROM code WHERE survey = :survey AND mark IN ({EACH} SELECT mark FROM each)")


def judge(connection: Connection, manifest: Manifest, group: Sequence[Submission]) -> GroupVerdict | None:
    """Return the outcomes of submissions whose tickets cannot be counted. None if the survey is closed."""
    sent = parameters(manifest.id, [submission.mark for submission in group])
    if manifest.mode == "code":
        sent["commitments"] = b"".join(
            submission.opened.commitment for submission in group if submission.opened is not None
        )
    refused = {k - 1: outcome for k, outcome in connection.execute(_JUDGE[manifest.mode], sent)}
    released = refused.pop(-1, None)
    return None if released is None else GroupVerdict(refused, int(released))


def count(connection: Connection, manifest: Manifest, counted: Sequence[Submission], released: int) -> None:
    """Spend the tickets of submissions and add them to the counters. Nothing was released since they were checked."""
    filling, filled = connection.execute(_FILLED, {"in_survey": manifest.id}).one()
    rows: Counter[tuple[Any, ...]] = Counter()
    framings: Counter[tuple[Any, ...]] = Counter()
    for submission in counted:
        rows.update((filling, grp, row) for grp, row in enumerate(submission.rows))
        framings.update((filling, f.variable, f.partition, f.shown, f.answer) for f in submission.framings)
        filled += 1
        if filled == manifest.batch:
            filling, filled = filling + 1, 0
    marks = parameters(manifest.id, sorted(submission.mark for submission in counted))
    connection.execute(_INSERT, marks)
    if manifest.mode == "code":
        connection.execute(_DELETE, marks)
    _add(connection, pending, manifest.id, rows)
    _add(connection, pending_framing, manifest.id, framings)
    connection.execute(_FILL, {"in_survey": manifest.id, "filling": filling, "filled": filled})


def _add(connection: Connection, table: Table, survey_id: str, counted: Mapping[tuple[Any, ...], int]) -> None:
    """Add to the counters of a survey, which start at 0.

    Parameters
    ----------
    connection, survey_id
        The store, and the survey.
    table
        A table of counters. Its first column is the survey, its last the number.
    counted
        How much to add, by the columns in between. It is written in the order of these columns, not of arrival.
    """
    rows = [(survey_id, *key, n) for key, n in sorted(counted.items())]
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        connection.exec_driver_sql(_adding(table, len(some)), tuple(chain.from_iterable(some)))


@cache
def _adding(table: Table, number: int) -> str:
    row = f"({', '.join('?' * len(table.columns))})"
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key.columns)
    added = f"ON CONFLICT ({keys}) DO UPDATE SET n = {table.name}.n + excluded.n"
    return f"INSERT INTO {table.name} VALUES {', '.join([row] * number)} {added}"
