"""Counting what arrives: a group of submissions in one transaction, each ticket once."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import BindParameter, Connection, bindparam, select, update

from subsetprivacy.collect.storage.counters import add
from subsetprivacy.collect.storage.marks import (
    ALREADY,
    CLOSED,
    COUNTED,
    Locked,
    delete_codes,
    insert_arrived,
    insert_locks,
    judge,
    judge_locks,
)
from subsetprivacy.collect.storage.opening import sent_together
from subsetprivacy.collect.storage.schema import pending, pending_framing, survey
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import Accepted

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
    marks, commitments = [one.mark for one in group], [one.commitment for one in group]
    refused = judge(connection, manifest.id, manifest.mode, marks, commitments)
    outcomes, counted = [], {}
    for k, one in enumerate(group):
        outcome = ALREADY if one.mark in counted else refused.get(k, COUNTED)
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
    found = judge_locks(connection, manifest.id, [one.mark for one in group])
    fresh = {
        one.mark: Locked(one.commitment, one.wrapped)
        for one in reversed(group)  # so that the first of them is kept
        if one.mark not in found
    }
    if fresh:
        insert_locks(connection, manifest.id, fresh)
    return [found[one.mark] if one.mark in found else fresh[one.mark] for one in group]


def _hold(connection: Connection, survey_id: str) -> Any:
    """Lock the row of a survey until the end of the transaction, and return it."""
    return connection.execute(_HOLD, {"in_survey": survey_id}).one_or_none()


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
    with sent_together(connection):
        insert_arrived(connection, manifest.id, marks)
        if manifest.mode == "code":
            delete_codes(connection, manifest.id, marks)
        add(connection, pending, manifest.id, rows)
        add(connection, pending_framing, manifest.id, framings)
        connection.execute(_FILL, {"in_survey": manifest.id, "filling": filling, "filled": filled})
