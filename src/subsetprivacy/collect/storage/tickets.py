"""Check and lock the tickets of a whole group in one statement, whatever their number.

A mark is the hash of a ticket. The marks are sent as one byte string that the database splits. The text of a statement
is then always the same, so it is prepared once. Each mark is looked up separately in the key of a table, because a plan
for all of them together would rely on statistics, which are outdated: these tables fill and empty within seconds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, text

COUNTED = "counted"
ALREADY = "already counted"
UNKNOWN = "unknown code"
CLOSED = "closed"
NOT_OPENED = "opening"  # not the number that the code is locked to, or the code was never locked
NOT_DRAWN = "not drawn"  # locked to this number, which draws another question
_FREE = "free"
_LOCKED = "locked"


@frozen
class GroupVerdict:
    """The result of checking a group before anything is counted.

    Attributes
    ----------
    refused
        The outcomes of those whose tickets cannot be counted, by position.
    released
        How many batches were released at that moment. A release moves marks to another table, so a group that was
        checked before a release must not be counted after it.
    """

    refused: dict[int, str]
    released: int


# Parts of statements ---------------------------------------------------------------------------

EACH = (
    "WITH RECURSIVE each(k, mark) AS (SELECT 1, substr(:marks, 1, 32) "
    "UNION ALL SELECT k + 1, substr(:marks, 32 * k + 1, 32) FROM each WHERE k < :many)"
)


def part_of(name: str) -> str:
    """Return the SQL for the part that belongs to each mark, in a string of 32 bytes per mark."""
    return f"substr(:{name}, 32 * k - 31, 32)"


def looked_up(column: str, table: str) -> str:
    """Return the SQL that looks up each mark in a table."""
    return f"(SELECT held.{column} FROM {table} AS held WHERE held.survey = :survey AND held.mark = each.mark)"


def judging(cases: str, expected: str) -> str:
    """Return the statement that gives each mark the first case that applies, and selects the unexpected ones."""
    is_counted = f"{looked_up('mark', 'arrived')} IS NOT NULL OR {looked_up('mark', 'spent')} IS NOT NULL"
    otherwise = f"WHEN {is_counted} THEN '{ALREADY}' ELSE '{UNKNOWN}'"
    judged = f"judged AS (SELECT k, mark, CASE {cases} {otherwise} END AS outcome FROM each)"
    return f"{EACH}, {judged} SELECT {{}} FROM judged AS each WHERE outcome <> '{expected}'"


def parameters(survey_id: str, marks: Sequence[bytes]) -> dict[str, Any]:
    """Return marks as parameters of these statements."""
    return {"survey": survey_id, "marks": b"".join(marks), "many": len(marks)}


# Locks -----------------------------------------------------------------------------------------

_JUDGE_LOCKS = text(
    judging(
        f"WHEN {looked_up('commitment', 'code')} IS NOT NULL THEN '{_LOCKED}' "
        f"WHEN {looked_up('mark', 'code')} IS NOT NULL THEN '{_FREE}'",
        _FREE,
    ).format(f"mark, outcome, {looked_up('commitment', 'code')}, {looked_up('wrapped', 'code')}")
)
_LOCK = text(
    f"INSERT INTO code (survey, mark, commitment, wrapped) {EACH} "
    f"SELECT :survey, mark, {part_of('commitments')}, {part_of('wrapped')} FROM each WHERE k > 0 "
    "ON CONFLICT (survey, mark) DO UPDATE SET commitment = excluded.commitment, wrapped = excluded.wrapped"
)


@frozen
class CodeLock:
    """What a code is locked to: the first request."""

    commitment: bytes
    wrapped: bytes


def judge_locks(connection: Connection, survey_id: str, marks: Sequence[bytes]) -> dict[bytes, CodeLock | str]:
    """Return what codes are already locked to, or why they cannot be locked. Free codes are left out."""
    rows = connection.execute(_JUDGE_LOCKS, parameters(survey_id, marks))
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
    connection.execute(
        _LOCK, parameters(survey_id, ordered) | {name: b"".join(parts) for name, parts in columns.items()}
    )
