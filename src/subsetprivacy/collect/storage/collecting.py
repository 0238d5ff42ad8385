"""Counting what arrives: a group of submissions in one transaction, each ticket once."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import BindParameter, Connection, bindparam, select, update

from subsetprivacy.collect.storage.counters import add
from subsetprivacy.collect.storage.marks import Found, Locked, delete_marks, find_marks, insert_arrived, insert_locks
from subsetprivacy.collect.storage.schema import code, lock, pending, pending_framing, survey
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import Accepted

COUNTED = "counted"
ALREADY = "already counted"
UNKNOWN = "unknown code"
CLOSED = "closed"
NOT_OPENED = "opening"  # not the number that the code was locked to

_SURVEY: BindParameter[str] = bindparam("in_survey")
_HOLD = select(survey.c.open, survey.c.filling, survey.c.filled).where(survey.c.id == _SURVEY).with_for_update()
_FILL = update(survey).where(survey.c.id == _SURVEY)


@frozen
class Asked:
    """A browser's wish to lock a code to a commitment."""

    mark: bytes
    commitment: bytes
    wrapped: bytes


def record(connection: Connection, manifest: Manifest, group: Sequence[Accepted]) -> list[str]:
    """Count submissions to one survey and return what became of each.

    All of them are kept or none: the caller commits. The row of the survey is locked first, so that several
    processes fill one batch after the other.
    """
    state = _hold(connection, manifest.id)
    if state is None or not state.open:
        return [CLOSED] * len(group)
    found = find_marks(connection, manifest.id, {one.mark for one in group})
    outcomes, counted = [], {}
    for one in group:
        outcome = ALREADY if one.mark in counted else _outcome(one, found[one.mark], manifest.mode)
        outcomes.append(outcome)
        if outcome == COUNTED:
            counted[one.mark] = one
    if counted:
        _count(connection, manifest, list(counted.values()), state.filling, state.filled)
    return outcomes


def lock_codes(connection: Connection, manifest: Manifest, group: Sequence[Asked]) -> list[Locked | str]:
    """Lock codes to commitments, first come first kept, and return what each is locked to, or why it is not."""
    state = _hold(connection, manifest.id)
    if state is None or not state.open:
        return [CLOSED] * len(group)
    found = find_marks(connection, manifest.id, {one.mark for one in group})
    held = {mark: one.locked for mark, one in found.items() if one.locked is not None}
    fresh = {
        one.mark: Locked(one.commitment, one.wrapped)
        for one in reversed(group)  # so that the first of them is kept
        if found[one.mark].is_code and one.mark not in held
    }
    if fresh:
        insert_locks(connection, manifest.id, fresh)
    held |= fresh
    return [held.get(one.mark, ALREADY if found[one.mark].is_counted else UNKNOWN) for one in group]


def _hold(connection: Connection, survey_id: str) -> Any:
    """Lock the row of a survey until the end of the transaction, and return it."""
    return connection.execute(_HOLD, {"in_survey": survey_id}).one_or_none()


def _outcome(one: Accepted, found: Found, mode: str) -> str:
    if found.is_counted:
        return ALREADY
    if mode == "open":
        return COUNTED
    if found.locked is None:
        return UNKNOWN
    return COUNTED if found.locked.commitment == one.commitment else NOT_OPENED


def _count(connection: Connection, manifest: Manifest, counted: list[Accepted], filling: int, filled: int) -> None:
    rows: Counter[tuple[Any, ...]] = Counter()
    framings: Counter[tuple[Any, ...]] = Counter()
    for one in counted:
        rows.update((filling, grp, row) for grp, row in enumerate(one.rows))
        framings.update((filling, f.variable, f.partition, f.shown, f.answer) for f in one.framings)
        filled += 1
        if filled == manifest.batch:
            filling, filled = filling + 1, 0
    marks = [one.mark for one in counted]
    insert_arrived(connection, manifest.id, marks)
    if manifest.mode == "code":
        for table in (lock, code):
            delete_marks(connection, table, manifest.id, marks)
    add(connection, pending, manifest.id, rows)
    add(connection, pending_framing, manifest.id, framings)
    connection.execute(_FILL, {"in_survey": manifest.id, "filling": filling, "filled": filled})
