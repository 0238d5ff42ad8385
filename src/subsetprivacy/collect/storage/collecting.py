"""Count a group of submissions in one transaction, each ticket once."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import BindParameter, Connection, bindparam, select

from subsetprivacy.collect.storage import counting_sqlite
from subsetprivacy.collect.storage.schema import study, survey
from subsetprivacy.collect.storage.tickets import (
    ALREADY,
    CLOSED,
    COUNTED,
    NOT_DRAWN,
    CodeLock,
    insert_locks,
    judge_locks,
)
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import Submission, was_drawn

_SURVEY: BindParameter[str] = bindparam("in_survey")
_HOLD = select(survey.c.open).where(survey.c.id == _SURVEY).with_for_update()
_STUDY: BindParameter[str] = bindparam("in_study")
_HOLD_STUDY = select(study.c.name).where(study.c.name == _STUDY).with_for_update()
_OTHERS = (
    select(survey.c.id).where(survey.c.study == _STUDY, survey.c.open, survey.c.id != _SURVEY).order_by(survey.c.id)
)


@frozen
class LockRequest:
    """A browser's request to lock a code, known by its ticket, to a commitment."""

    ticket: bytes
    commitment: bytes
    wrapped: bytes


def record(
    connection: Connection, manifest: Manifest, group: Sequence[Submission], key: bytes | None = None
) -> list[str]:
    """Count submissions to one survey and return the outcome of each.

    The caller commits, so all of them are kept or none. Several counting processes fill one batch after the other.

    The draw is checked only for submissions whose ticket is locked to the number they open, because these senders know
    their share. Any other reply must not depend on the key (decision 19).

    Parameters
    ----------
    connection, manifest, group
        The store, the survey, and what was sent to it.
    key
        The server's key of the study, in code mode.
    """
    store = _counting(connection)
    judged = store.judge(connection, manifest, group)
    if judged is None:
        return [CLOSED] * len(group)
    outcomes, counted = [], {}
    for k, submission in enumerate(group):
        outcome = ALREADY if submission.mark in counted else judged.refused.get(k, COUNTED)
        if outcome == COUNTED and submission.opened is not None:
            assert key is not None
            outcome = COUNTED if was_drawn(submission.opened, manifest, key) else NOT_DRAWN
        outcomes.append(outcome)
        if outcome == COUNTED:
            counted[submission.mark] = submission
    if counted:
        store.count(connection, manifest, list(counted.values()), judged.released)
    return outcomes


def record_alone(
    connection: Connection, manifest: Manifest, group: Sequence[Submission], key: bytes | None = None
) -> list[str]:
    """Do the same in a separate transaction.

    On PostgreSQL the commit is sent right behind the counting statement, without waiting for it. So the row of the
    survey is locked only while the database syncs, and not while this process waits for its turn.
    """
    if connection.dialect.name == "sqlite":
        with connection.begin():
            return record(connection, manifest, group, key)
    from subsetprivacy.collect.storage.counting_postgres import RacedError

    driver: Any = connection.connection.driver_connection
    for is_last in (False, False, True):
        try:
            with driver.pipeline():
                outcomes = record(connection, manifest, group, key)
                driver.execute("COMMIT")  # not its `commit`, which would wait
            return outcomes
        except RacedError:  # another server counted a ticket first, or the survey was released or closed: check again
            driver.rollback()
            if is_last and len(group) == 1:
                raise
    # Someone sends the same tickets to several servers at once. No one else should wait for that.
    return [outcome for submission in group for outcome in record_alone(connection, manifest, [submission], key)]


def lock_codes(connection: Connection, manifest: Manifest, group: Sequence[LockRequest]) -> list[CodeLock | str]:
    """Lock codes to commitments and return what each is locked to, or why it is not. The first request wins.

    A code that is locked in another open survey of the study gets the same lock here. The study has one key, so a
    second number would be a second draw, and the owner of the code could choose between the two.
    """
    # Lock the study before the survey, as everywhere. Of two requests that lock a code in different surveys, the second
    # then sees the lock of the first.
    connection.execute(_HOLD_STUDY, {"in_study": manifest.study})
    if not connection.scalar(_HOLD, {"in_survey": manifest.id}):
        return [CLOSED] * len(group)
    marks = [coin.ticket_mark(manifest.id, request.ticket) for request in group]
    locks = judge_locks(connection, manifest.id, marks)
    wishes: dict[bytes, LockRequest] = {}
    for mark, request in zip(marks, group, strict=True):
        if mark not in locks:
            wishes.setdefault(mark, request)
    if wishes:
        elsewhere = _locked_elsewhere(connection, manifest, [request.ticket for request in wishes.values()])
        fresh = {
            mark: elsewhere.get(request.ticket) or CodeLock(request.commitment, request.wrapped)
            for mark, request in wishes.items()
        }
        insert_locks(connection, manifest.id, fresh)
        locks |= fresh
    return [locks[mark] for mark in marks]


def _locked_elsewhere(connection: Connection, manifest: Manifest, tickets: list[bytes]) -> dict[bytes, CodeLock]:
    """Return what tickets are locked to in the other open surveys of the study."""
    locks: dict[bytes, CodeLock] = {}
    for (survey_id,) in connection.execute(_OTHERS, {"in_survey": manifest.id, "in_study": manifest.study}).all():
        by_mark = {coin.ticket_mark(survey_id, ticket): ticket for ticket in tickets}
        for mark, outcome in judge_locks(connection, survey_id, list(by_mark)).items():
            if isinstance(outcome, CodeLock):
                locks.setdefault(by_mark[mark], outcome)
    return locks


def _counting(connection: Connection) -> Any:
    """Return the module that checks and counts on this kind of database."""
    if connection.dialect.name == "sqlite":
        return counting_sqlite
    from subsetprivacy.collect.storage import counting_postgres  # whose driver is not needed for SQLite

    return counting_postgres
