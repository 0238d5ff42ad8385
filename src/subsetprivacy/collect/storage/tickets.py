"""The marks of a whole group of tickets, judged and locked in one statement whatever their number.

The marks travel as one string of bytes that the database takes apart: the words of a statement are always the same, so
it is prepared once. Each mark is then looked up by itself in the key of a table. A plan for all of them together rests
on statistics, and these are behind: tables here fill and empty within seconds.
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
NOT_DRAWN = "not drawn"  # locked to this number, which draws another question
_FREE = "free"
_LOCKED = "locked"


@frozen
class GroupVerdict:
    """What becomes of a group before anything is counted.

    Attributes
    ----------
    refused
        By their positions, those whose tickets cannot be counted.
    released
        How many batches were released at that moment. A release moves marks to another table, so what was judged
        before one may not be counted after it.
    """

    refused: dict[int, str]
    released: int


# Parts of statements ---------------------------------------------------------------------------

EACH = (
    "WITH RECURSIVE each(k, mark) AS (SELECT 1, substr(:marks, 1, 32) "
    "UNION ALL SELECT k + 1, substr(:marks, 32 * k + 1, 32) FROM each WHERE k < :many)"
)


def part(name: str) -> str:
    """Return what belongs to each mark of a string of 32 bytes each."""
    return f"substr(:{name}, 32 * k - 31, 32)"


def held(column: str, table: str) -> str:
    """Return what a table holds of each mark."""
    return f"(SELECT held.{column} FROM {table} AS held WHERE held.survey = :survey AND held.mark = each.mark)"


def judging(cases: str, expected: str) -> str:
    """Return the statement that judges each mark by the first case that holds, and returns the unexpected ones."""
    is_counted = f"{held('mark', 'arrived')} IS NOT NULL OR {held('mark', 'spent')} IS NOT NULL"
    otherwise = f"WHEN {is_counted} THEN '{ALREADY}' ELSE '{UNKNOWN}'"
    judged = f"judged AS (SELECT k, mark, CASE {cases} {otherwise} END AS outcome FROM each)"
    return f"{EACH}, {judged} SELECT {{}} FROM judged AS each WHERE outcome <> '{expected}'"


def named(survey_id: str, marks: Sequence[bytes]) -> dict[str, Any]:
    """Return marks as these statements take them."""
    return {"survey": survey_id, "marks": b"".join(marks), "many": len(marks)}


# Locks -----------------------------------------------------------------------------------------

_JUDGE_LOCKS = text(
    judging(
        f"WHEN {held('commitment', 'code')} IS NOT NULL THEN '{_LOCKED}' "
        f"WHEN {held('mark', 'code')} IS NOT NULL THEN '{_FREE}'",
        _FREE,
    ).format(f"mark, outcome, {held('commitment', 'code')}, {held('wrapped', 'code')}")
)
_LOCK = text(
    f"INSERT INTO code (survey, mark, commitment, wrapped) {EACH} "
    f"SELECT :survey, mark, {part('commitments')}, {part('wrapped')} FROM each WHERE k > 0 "
    "ON CONFLICT (survey, mark) DO UPDATE SET commitment = excluded.commitment, wrapped = excluded.wrapped"
)


@frozen
class CodeLock:
    """What a code is locked to: the first wish."""

    commitment: bytes
    wrapped: bytes


def judge_locks(connection: Connection, survey_id: str, marks: Sequence[bytes]) -> dict[bytes, CodeLock | str]:
    """Return what codes are locked to already, or why they cannot be; nothing of those that are free."""
    rows = connection.execute(_JUDGE_LOCKS, named(survey_id, marks))
    return {
        bytes(mark): CodeLock(bytes(commitment), bytes(wrapped)) if outcome == _LOCKED else outcome
        for mark, outcome, commitment, wrapped in rows
    }


def insert_locks(connection: Connection, survey_id: str, locks: Mapping[bytes, CodeLock]) -> None:
    """Write what codes are locked to, by their marks."""
    ordered = sorted(locks)
    columns = {
        "commitments": [locks[mark].commitment for mark in ordered],
        "wrapped": [locks[m].wrapped for m in ordered],
    }
    connection.execute(_LOCK, named(survey_id, ordered) | {name: b"".join(parts) for name, parts in columns.items()})
