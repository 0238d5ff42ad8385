"""Looking for, writing and deleting the marks of a whole group of tickets, in one statement whatever their number.

The marks travel as one string of bytes that the database takes apart: the words of a statement are always the same, so
it is prepared once. Each mark is then looked up by itself in the key of a table. A plan for all of them together rests
on statistics, and these are behind: tables here fill and empty within seconds.
"""

from collections.abc import Collection, Mapping
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, Table, text

from subsetprivacy.collect.storage.schema import code, lock

_EACH = (
    "WITH RECURSIVE each(k, mark) AS (SELECT 1, substr(:marks, 1, 32) "
    "UNION ALL SELECT k + 1, substr(:marks, 32 * k + 1, 32) FROM each WHERE k < :many) "
)


def _held(column: str, table: str) -> str:
    return f"(SELECT held.{column} FROM {table} AS held WHERE held.survey = :survey AND held.mark = each.mark)"


_FIND = text(
    f"{_EACH} SELECT mark, {_held('mark', 'arrived')} IS NOT NULL OR {_held('mark', 'spent')} IS NOT NULL, "
    f"{_held('mark', 'code')} IS NOT NULL, {_held('commitment', 'lock')}, {_held('wrapped', 'lock')} FROM each"
)
_INSERT = text(f"INSERT INTO arrived (survey, mark) {_EACH} SELECT :survey, mark FROM each")
_LOCK = text(
    f"INSERT INTO lock (survey, mark, commitment, wrapped) {_EACH} SELECT :survey, mark, "
    "substr(:commitments, 32 * k - 31, 32), substr(:wrapped, 32 * k - 31, 32) FROM each"
)
_DELETE = {
    (dialect, table): text(f"DELETE FROM {table.name} WHERE {which}")
    for table in (code, lock)
    for dialect, which in (
        ("sqlite", f"survey = :survey AND mark IN ({_EACH} SELECT mark FROM each)"),
        # By their places in the table, each of them looked up as above.
        ("postgresql", f"ctid = ANY(ARRAY({_EACH} SELECT {_held('ctid', table.name)} FROM each))"),
    )
}


@frozen
class Locked:
    """What a code is locked to: the first wish."""

    commitment: bytes
    wrapped: bytes


@frozen
class Found:
    """What the store knows of a mark: whether it is counted, whether a code has it, and what that is locked to."""

    is_counted: bool
    is_code: bool
    locked: Locked | None


def find_marks(connection: Connection, survey_id: str, marks: Collection[bytes]) -> dict[bytes, Found]:
    """Return what is known of each of these marks."""
    found = {}
    for mark, is_counted, is_code, commitment, wrapped in connection.execute(_FIND, _named(survey_id, marks)):
        locked = None if commitment is None else Locked(commitment, wrapped)
        found[mark] = Found(bool(is_counted), bool(is_code), locked)
    return found


def insert_arrived(connection: Connection, survey_id: str, marks: Collection[bytes]) -> None:
    """Write the marks of those who are counted now."""
    connection.execute(_INSERT, _named(survey_id, marks))


def insert_locks(connection: Connection, survey_id: str, locks: Mapping[bytes, Locked]) -> None:
    """Write what codes are locked to, by their marks."""
    ordered = [one for _, one in sorted(locks.items())]
    told = {"commitments": [one.commitment for one in ordered], "wrapped": [one.wrapped for one in ordered]}
    joined = {name: b"".join(values) for name, values in told.items()}
    connection.execute(_LOCK, _named(survey_id, locks) | joined)


def delete_marks(connection: Connection, table: Table, survey_id: str, marks: Collection[bytes]) -> None:
    """Delete the rows of codes, or of locks, that have these marks."""
    connection.execute(_DELETE[connection.dialect.name, table], _named(survey_id, marks))


def _named(survey_id: str, marks: Collection[bytes]) -> dict[str, Any]:
    return {"survey": survey_id, "marks": b"".join(sorted(marks)), "many": len(marks)}
