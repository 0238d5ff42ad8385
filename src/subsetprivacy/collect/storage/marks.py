"""Judging, writing and deleting the marks of a whole group of tickets, in one statement whatever their number.

The marks travel as one string of bytes that the database takes apart: the words of a statement are always the same, so
it is prepared once. Each mark is then looked up by itself in the key of a table. A plan for all of them together rests
on statistics, and these are behind: tables here fill and empty within seconds.

A statement that judges returns those alone that are not as they should be, mostly none: SQLite lets go of the
interpreter for every row, and under load each time waits to have it back.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, text

COUNTED = "counted"
ALREADY = "already counted"
UNKNOWN = "unknown code"
CLOSED = "closed"
NOT_OPENED = "opening"  # not the number that the code was locked to, or it was never locked
_FREE = "free"
_LOCKED = "locked"


def _part(name: str) -> str:
    return f"substr(:{name}, 32 * k - 31, 32)"


def _held(column: str, table: str) -> str:
    return f"(SELECT held.{column} FROM {table} AS held WHERE held.survey = :survey AND held.mark = each.mark)"


_EACH = (
    "WITH RECURSIVE each(k, mark) AS (SELECT 1, substr(:marks, 1, 32) "
    "UNION ALL SELECT k + 1, substr(:marks, 32 * k + 1, 32) FROM each WHERE k < :many)"
)
_IS_COUNTED = f"{_held('mark', 'arrived')} IS NOT NULL OR {_held('mark', 'spent')} IS NOT NULL"
_IS_CODE = f"{_held('mark', 'code')} IS NOT NULL"


def _judging(cases: str, expected: str) -> str:
    """Return the statement that judges each mark by the first case that holds, and returns the unexpected ones."""
    otherwise = f"WHEN {_IS_COUNTED} THEN '{ALREADY}' ELSE '{UNKNOWN}'"
    judged = f"judged AS (SELECT k, mark, CASE {cases} {otherwise} END AS outcome FROM each)"
    return f"{_EACH}, {judged} SELECT {{}} FROM judged AS each WHERE outcome <> '{expected}'"


_JUDGE = {
    "code": text(
        _judging(
            f"WHEN {_held('commitment', 'code')} = {_part('commitments')} THEN '{COUNTED}' "
            f"WHEN {_IS_CODE} THEN '{NOT_OPENED}'",
            COUNTED,
        ).format("k, outcome")
    ),
    "open": text(f"{_EACH} SELECT k, '{ALREADY}' FROM each WHERE {_IS_COUNTED}"),
}
_JUDGE_LOCKS = text(
    _judging(
        f"WHEN {_held('commitment', 'code')} IS NOT NULL THEN '{_LOCKED}' WHEN {_IS_CODE} THEN '{_FREE}'", _FREE
    ).format(f"mark, outcome, {_held('commitment', 'code')}, {_held('wrapped', 'code')}")
)
_LOCK = text(
    f"INSERT INTO code (survey, mark, commitment, wrapped) {_EACH} "
    f"SELECT :survey, mark, {_part('commitments')}, {_part('wrapped')} FROM each WHERE k > 0 "
    "ON CONFLICT (survey, mark) DO UPDATE SET commitment = excluded.commitment, wrapped = excluded.wrapped"
)
_INSERT = text(f"INSERT INTO arrived (survey, mark) {_EACH} SELECT :survey, mark FROM each")
_DELETE = {
    "sqlite": text(f"DELETE FROM code WHERE survey = :survey AND mark IN ({_EACH} SELECT mark FROM each)"),
    # By their places in the table, each of them looked up as above.
    "postgresql": text(f"DELETE FROM code WHERE ctid = ANY(ARRAY({_EACH} SELECT {_held('ctid', 'code')} FROM each))"),
}


@frozen
class Locked:
    """What a code is locked to: the first wish."""

    commitment: bytes
    wrapped: bytes


def judge(
    connection: Connection, survey_id: str, mode: str, marks: Sequence[bytes], commitments: Sequence[bytes | None]
) -> dict[int, str]:
    """Return, by their positions, what becomes of submissions that cannot be counted."""
    sent = _named(survey_id, marks)
    if mode == "code":
        sent["commitments"] = b"".join(one for one in commitments if one is not None)
    return {k - 1: outcome for k, outcome in connection.execute(_JUDGE[mode], sent)}


def judge_locks(connection: Connection, survey_id: str, marks: Sequence[bytes]) -> dict[bytes, Locked | str]:
    """Return what codes are locked to already, or why they cannot be; nothing of those that are free."""
    found = connection.execute(_JUDGE_LOCKS, _named(survey_id, marks))
    return {
        bytes(mark): Locked(bytes(commitment), bytes(wrapped)) if outcome == _LOCKED else outcome
        for mark, outcome, commitment, wrapped in found
    }


def insert_locks(connection: Connection, survey_id: str, locks: Mapping[bytes, Locked]) -> None:
    """Write what codes are locked to, by their marks."""
    ordered = sorted(locks)
    told = {"commitments": [locks[mark].commitment for mark in ordered], "wrapped": [locks[m].wrapped for m in ordered]}
    connection.execute(_LOCK, _named(survey_id, ordered) | {name: b"".join(parts) for name, parts in told.items()})


def insert_arrived(connection: Connection, survey_id: str, marks: Sequence[bytes]) -> None:
    """Write the marks of those who are counted now."""
    connection.execute(_INSERT, _named(survey_id, sorted(marks)))


def delete_codes(connection: Connection, survey_id: str, marks: Sequence[bytes]) -> None:
    """Delete the codes that have these marks, with what they were locked to."""
    connection.execute(_DELETE[connection.dialect.name], _named(survey_id, sorted(marks)))


def _named(survey_id: str, marks: Sequence[bytes]) -> dict[str, Any]:
    return {"survey": survey_id, "marks": b"".join(marks), "many": len(marks)}
