"""Count a group of submissions on PostgreSQL in two statements: one checks the tickets, the other does everything else.

Between the two, the draws are checked, which needs the server's key. The second statement locks the row of the survey,
advances the batch, spends the tickets and adds to the counters. It makes no other query, so servers that share a
database wait only for each other's syncs. If a ticket was counted elsewhere after the check, or the survey was released
or closed, the second statement fails as a whole, and the group is checked again.

Marks, commitments and rows are sent as byte strings that the database splits, and numbers as arrays formatted here,
because the driver's own lists cost more than the statement. See `tickets` for why each mark is looked up separately.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import psycopg
from sqlalchemy import Connection

from subsetprivacy.collect.storage.tickets import ALREADY, COUNTED, NOT_OPENED, UNKNOWN, GroupVerdict
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import CODE_BYTES, Submission

RacedError = psycopg.errors.DivisionByZero  # by which the statement that counts ends where anything has changed


def _mark_in(table: str, column: str = "mark") -> str:
    return f"(SELECT held.{column} FROM {table} AS held WHERE held.survey = %(survey)s AND held.mark = each.mark)"


_EACH = "SELECT k, substr(%(marks)b, 32 * k - 31, 32) AS mark FROM {} generate_series(1, %(many)s::int) AS k"
_IS_COUNTED = f"{_mark_in('arrived')} IS NOT NULL OR {_mark_in('spent')} IS NOT NULL"
_STATE = "SELECT 0, CAST(released AS text) FROM survey WHERE id = %(survey)s AND open"
_JUDGE = {
    "code": (
        f"SELECT k, outcome FROM (SELECT k, CASE "
        f"WHEN {_mark_in('code', 'commitment')} = substr(%(commitments)b, 32 * k - 31, 32) THEN '{COUNTED}' "
        f"WHEN {_mark_in('code')} IS NOT NULL THEN '{NOT_OPENED}' "
        f"WHEN {_IS_COUNTED} THEN '{ALREADY}' ELSE '{UNKNOWN}' END AS outcome FROM ({_EACH.format('')}) AS each) "
        f"AS judged WHERE outcome <> '{COUNTED}' UNION ALL {_STATE}"
    ),
    "open": f"SELECT k, '{ALREADY}' FROM ({_EACH.format('')}) AS each WHERE {_IS_COUNTED} UNION ALL {_STATE}",
}

# `filled` comes first, because all the others read it: a writer locks the row of its survey before any other row. The
# row is read once it is locked. Everything else in the statement is as it was when the statement began.
_COUNT = (
    "WITH filled AS (UPDATE survey SET filling = filling + (filled + %(many)s::int) / %(batch)s::int, "
    "filled = (filled + %(many)s::int) %% %(batch)s::int WHERE id = %(survey)s AND open "
    "AND released = %(released)s RETURNING (filling - 1) * %(batch)s::int + filled - %(many)s::int AS before), "
    f"each AS MATERIALIZED ({_EACH.format('filled,')}), "
    "arriving AS (INSERT INTO arrived SELECT %(survey)s, mark FROM each ORDER BY mark "
    "ON CONFLICT DO NOTHING RETURNING 1), "
    "{spending}"
    "counted AS (INSERT INTO pending "
    "SELECT %(survey)s, (before + k - 1) / %(batch)s::int + 1 AS batch, grp, "
    "substr(%(rows)b, (k - 1) * %(width)s::int + first, wide) AS row, count(*) "
    "FROM filled, generate_series(1, %(many)s::int) AS k, "
    "unnest(%(grps)s::smallint[], %(firsts)s::int[], %(wides)s::int[]) AS part (grp, first, wide) "
    "GROUP BY 2, 3, 4 ORDER BY 2, 3, 4 "
    "ON CONFLICT (survey, batch, grp, row) DO UPDATE SET n = pending.n + excluded.n), "
    "framed AS (INSERT INTO pending_framing "
    "SELECT %(survey)s, (before + k - 1) / %(batch)s::int + 1 AS batch, variable, partition, shown, answer, count(*) "
    "FROM filled, unnest(%(ks)s::int[], %(variables)s::smallint[], %(partitions)s::text[], %(shown)s::smallint[], "
    "%(answers)s::smallint[]) AS framing (k, variable, partition, shown, answer) "
    "GROUP BY 2, 3, 4, 5, 6 ORDER BY 2, 3, 4, 5, 6 "
    "ON CONFLICT (survey, batch, variable, partition, shown, answer) DO UPDATE SET n = pending_framing.n + excluded.n) "
    # Only an error makes a statement undo itself and the commit that was sent behind it.
    "SELECT 1 / (CASE WHEN {checks} THEN 1 ELSE 0 END)"
)
_ARRIVED = "(SELECT count(*) FROM arriving) = %(many)s"
_SPENDING = (
    f"spending AS (DELETE FROM code WHERE ctid = ANY(ARRAY(SELECT {_mark_in('code', 'ctid')} FROM each)) RETURNING 1), "
)
_COUNT_BY_MODE = {
    "open": _COUNT.format(spending="", checks=_ARRIVED),
    "code": _COUNT.format(spending=_SPENDING, checks=f"{_ARRIVED} AND (SELECT count(*) FROM spending) = %(many)s"),
}


def judge(connection: Connection, manifest: Manifest, group: Sequence[Submission]) -> GroupVerdict | None:
    """Return the outcomes of submissions whose tickets cannot be counted. None if the survey is closed."""
    sent: dict[str, Any] = _named(manifest.id, group)
    if manifest.mode == "code":
        sent["commitments"] = b"".join(
            submission.opened.commitment for submission in group if submission.opened is not None
        )
    refused = {k - 1: outcome for k, outcome in _driver(connection).execute(_JUDGE[manifest.mode], sent).fetchall()}
    released = refused.pop(-1, None)
    return None if released is None else GroupVerdict(refused, int(released))


def count(connection: Connection, manifest: Manifest, counted: Sequence[Submission], released: int) -> None:
    """Spend the tickets of submissions and add them to the counters.

    Parameters
    ----------
    connection, manifest, counted
        The store, the survey, and what is counted.
    released
        How many batches were released when the tickets were judged.

    Raises
    ------
    RacedError
        If a ticket was counted in the meantime, or the survey was released or closed. In a pipeline it is raised at
        the end of the pipeline.
    """
    wides = [CODE_BYTES * len(group) for group in manifest.groups]
    framings = [(k, framing) for k, submission in enumerate(counted, start=1) for framing in submission.framings]
    sent = _named(manifest.id, counted) | {
        "batch": manifest.batch,
        "released": released,
        "rows": b"".join(row for submission in counted for row in submission.rows),
        "width": sum(wides),
        "grps": _array(range(len(wides))),
        "firsts": _array(1 + end - wide for end, wide in zip(accumulate(wides), wides, strict=True)),
        "wides": _array(wides),
        "ks": _array(k for k, _ in framings),
        "variables": _array(framing.variable for _, framing in framings),
        "partitions": _array(f'"{framing.partition}"' for _, framing in framings),  # digits and commas
        "shown": _array(framing.shown for _, framing in framings),
        "answers": _array(framing.answer for _, framing in framings),
    }
    _driver(connection).execute(_COUNT_BY_MODE[manifest.mode], sent)


def _driver(connection: Connection) -> Any:
    """Return the driver's connection. SQLAlchemy would read results that a pipeline has not received yet."""
    return connection.connection.driver_connection


def _array(items: Iterable[int | str]) -> str:
    return f"{{{','.join(map(str, items))}}}"


def _named(survey_id: str, group: Sequence[Submission]) -> dict[str, Any]:
    return {"survey": survey_id, "marks": b"".join(submission.mark for submission in group), "many": len(group)}
