"""Counting what arrives: a group of submissions in one transaction, each ticket once."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import BindParameter, Connection, Table, bindparam, delete, insert, select, union_all, update
from sqlalchemy.dialects import postgresql, sqlite

from subsetprivacy.collect.storage.schema import arrived, code, lock, pending, pending_framing, spent, survey
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import Accepted

COUNTED = "counted"
ALREADY = "already counted"
UNKNOWN = "unknown code"
CLOSED = "closed"
NOT_OPENED = "opening"  # not the number that the code was locked to

_MARKS: BindParameter[Any] = bindparam("marks", expanding=True)
_SURVEY: BindParameter[Any] = bindparam("in_survey")


@frozen
class Asked:
    """A browser's wish to lock a code to a commitment."""

    mark: bytes
    commitment: bytes
    wrapped: bytes


@frozen
class Locked:
    """What a code is locked to: the first wish."""

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
    seen = _counted(connection, manifest.id, (one.mark for one in group))
    locks = _locks(connection, manifest.id, (one.mark for one in group)) if manifest.mode == "code" else None
    outcomes, counted = [], []
    for one in group:
        outcome = _outcome(one, seen, locks)
        outcomes.append(outcome)
        if outcome == COUNTED:
            seen.add(one.mark)
            counted.append(one)
    if counted:
        _count(connection, manifest, counted, state.filling, state.filled)
    return outcomes


def lock_codes(connection: Connection, manifest: Manifest, group: Sequence[Asked]) -> list[Locked | str]:
    """Lock codes to commitments, first come first kept, and return what each is locked to, or why it is not."""
    state = _hold(connection, manifest.id)
    if state is None or not state.open:
        return [CLOSED] * len(group)
    marks = {one.mark for one in group}
    seen = _counted(connection, manifest.id, marks)
    known = set(connection.scalars(_marks_of(code), {"in_survey": manifest.id, "marks": sorted(marks)}))
    before = _locks(connection, manifest.id, known)
    fresh = {one.mark: one for one in reversed(group) if one.mark in known and one.mark not in before}
    if fresh:
        rows = [
            {"survey": manifest.id, "mark": mark, "commitment": one.commitment, "wrapped": one.wrapped}
            for mark, one in sorted(fresh.items())
        ]
        connection.execute(insert(lock), rows)
    held = before | {mark: Locked(one.commitment, one.wrapped) for mark, one in fresh.items()}
    return [held.get(one.mark, ALREADY if one.mark in seen else UNKNOWN) for one in group]


def _hold(connection: Connection, survey_id: str) -> Any:
    """Lock the row of a survey until the end of the transaction, and return it."""
    wanted = select(survey.c.open, survey.c.filling, survey.c.filled).where(survey.c.id == _SURVEY)
    return connection.execute(wanted.with_for_update(), {"in_survey": survey_id}).one_or_none()


def _marks_of(table: Table) -> Any:
    return select(table.c.mark).where(table.c.survey == _SURVEY, table.c.mark.in_(_MARKS))


_SEEN = union_all(_marks_of(arrived), _marks_of(spent))
_LOCKS = select(lock.c.mark, lock.c.commitment, lock.c.wrapped).where(lock.c.survey == _SURVEY, lock.c.mark.in_(_MARKS))


def _counted(connection: Connection, survey_id: str, marks: Iterable[bytes]) -> set[bytes]:
    return set(connection.scalars(_SEEN, {"in_survey": survey_id, "marks": sorted(set(marks))}))


def _locks(connection: Connection, survey_id: str, marks: Iterable[bytes]) -> dict[bytes, Locked]:
    found = connection.execute(_LOCKS, {"in_survey": survey_id, "marks": sorted(set(marks))})
    return {mark: Locked(commitment, wrapped) for mark, commitment, wrapped in found}


def _outcome(one: Accepted, seen: set[bytes], locks: dict[bytes, Locked] | None) -> str:
    if one.mark in seen:
        return ALREADY
    if locks is None:
        return COUNTED
    if one.mark not in locks:
        return UNKNOWN
    return COUNTED if locks[one.mark].commitment == one.commitment else NOT_OPENED


def _count(connection: Connection, manifest: Manifest, counted: list[Accepted], filling: int, filled: int) -> None:
    rows: Counter[tuple[Any, ...]] = Counter()
    framings: Counter[tuple[Any, ...]] = Counter()
    for one in counted:
        rows.update((filling, grp, row) for grp, row in enumerate(one.rows))
        framings.update((filling, f.variable, f.partition, f.shown, f.answer) for f in one.framings)
        filled += 1
        if filled == manifest.batch:
            filling, filled = filling + 1, 0
    marks = sorted(one.mark for one in counted)
    connection.execute(insert(arrived), [{"survey": manifest.id, "mark": mark} for mark in marks])
    if manifest.mode == "code":
        for table in (lock, code):
            used = delete(table).where(table.c.survey == _SURVEY, table.c.mark.in_(_MARKS))
            connection.execute(used, {"in_survey": manifest.id, "marks": marks})
    # In the order of their content: the order of a group is nobody's business.
    add(connection, pending, _numbered(manifest.id, ("batch", "grp", "row"), rows))
    add(connection, pending_framing, _numbered(manifest.id, ("batch", *_FRAMING), framings))
    connection.execute(update(survey).where(survey.c.id == manifest.id), {"filling": filling, "filled": filled})


_FRAMING = ("variable", "partition", "shown", "answer")


def _numbered(survey_id: str, names: tuple[str, ...], counter: Counter[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(names, key, strict=True), survey=survey_id, n=n) for key, n in sorted(counter.items())]


def add(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Add to counters, which begin at 0."""
    connection.execute(adding(connection, table), rows)


def adding(connection: Connection, table: Table) -> Any:
    """Return the statement that adds rows of a table of counters to those it has."""
    make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = make(table)
    return statement.on_conflict_do_update(
        index_elements=list(table.primary_key.columns), set_={"n": table.c.n + statement.excluded.n}
    )
