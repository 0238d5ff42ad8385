"""Release whole batches, one batch late. Pending data become visible in no other way."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, func, insert, select, union_all, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import SQLAlchemyError

from subsetprivacy.collect.storage.schema import (
    arrived,
    code,
    framing,
    pending,
    pending_framing,
    release,
    spent,
    survey,
    tally,
)
from subsetprivacy.collect.storage.secure_delete import wipe

_KEPT_BACK = 2  # batches: the one that fills, and a full one


def today() -> str:
    """Return the day. No time of day is ever stored."""
    return datetime.now(UTC).date().isoformat()


def release_due(engine: Engine) -> list[str]:
    """Release all full batches of every survey except the newest, wipe, and return the ids of the changed surveys."""
    with engine.connect() as connection:
        changed = release_full(connection)
    if changed:
        wipe(engine)
    return changed


def release_full(connection: Connection) -> list[str]:
    """Do the same without the wipe, each survey in a separate transaction.

    A survey that cannot be released does not block the others. Its error is raised at the end.
    """
    due = survey.c.filling - survey.c.released > _KEPT_BACK
    with connection.begin():
        ids = list(connection.scalars(select(survey.c.id).where(survey.c.open, due).order_by(survey.c.id)))
    changed, failures = [], []
    for survey_id in ids:
        try:
            if _release_due(connection, survey_id):
                changed.append(survey_id)
        except SQLAlchemyError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return changed


def _release_due(connection: Connection, survey_id: str) -> bool:
    with connection.begin():
        state = _hold(connection, survey_id)
        if state is None or not state.open or state.filling - state.released <= _KEPT_BACK:
            return False
        _release(connection, survey_id, state.released, state.filling - _KEPT_BACK)
    return True


def release_last(connection: Connection, survey_id: str, batch: int) -> None:
    """Release all pending data when a survey closes, or delete them if fewer than a batch are waiting.

    Parameters
    ----------
    connection
        A connection with a transaction, which the caller ends. Call `wipe` afterwards.
    survey_id, batch
        The survey, and how many people a release must contain.
    """
    state = _hold(connection, survey_id)
    waiting = _people(connection, survey_id, state.filling)
    if waiting >= batch:
        _release(connection, survey_id, state.released, state.filling)
        return
    for table in (pending, pending_framing):
        connection.execute(delete(table).where(table.c.survey == survey_id))
    _move_marks(connection, survey_id)


def _hold(connection: Connection, survey_id: str) -> Any:
    wanted = select(survey.c.open, survey.c.filling, survey.c.released).where(survey.c.id == survey_id)
    return connection.execute(wanted.with_for_update()).one_or_none()


def _people(connection: Connection, survey_id: str, last: int) -> int:
    """Return how many people the batches up to this one contain. Every group counts each person once."""
    total = select(func.coalesce(func.sum(pending.c.n), 0)).where(
        pending.c.survey == survey_id, pending.c.grp == 0, pending.c.batch <= last
    )
    return int(connection.scalar(total) or 0)


def _release(connection: Connection, survey_id: str, before: int, last: int) -> None:
    people = _people(connection, survey_id, last)
    _move(connection, pending, tally, survey_id, last)
    _move(connection, pending_framing, framing, survey_id, last)
    _move_marks(connection, survey_id)
    _seal(connection, survey_id, people)
    connection.execute(update(survey).where(survey.c.id == survey_id).values(released=last))


def _move(connection: Connection, source: Table, target: Table, survey_id: str, last: int) -> None:
    """Add the counters of some batches to those that are released."""
    chosen = (source.c.survey == survey_id, source.c.batch <= last)
    names = [column.name for column in target.primary_key.columns]
    if connection.dialect.name == "sqlite":
        keys = [source.c[name] for name in names]
        sums = select(*keys, func.sum(source.c.n)).where(*chosen).group_by(*keys).order_by(*keys)
        moved = sqlite.insert(target).from_select([*names, "n"], sums)
        total = target.c.n + moved.excluded.n
        connection.execute(moved.on_conflict_do_update(index_elements=names, set_={"n": total}))
        connection.execute(delete(source).where(*chosen))
    else:
        _rewrite(connection, target, names, [(source, chosen), (target, (target.c.survey == survey_id,))])
        # Also what stays pending, because the transaction that wrote it also deleted a code.
        rest = [column.name for column in source.primary_key.columns]
        _rewrite(connection, source, rest, [(source, (source.c.survey == survey_id,))])


def _move_marks(connection: Connection, survey_id: str) -> None:
    """Move the marks of counted tickets to the table of spent tickets."""
    mine, names = arrived.c.survey == survey_id, ["survey", "mark"]
    if connection.dialect.name == "sqlite":
        marks = select(arrived.c.survey, arrived.c.mark).where(mine).order_by(arrived.c.mark)
        connection.execute(insert(spent).from_select(names, marks))
        connection.execute(delete(arrived).where(mine))
    else:
        _rewrite(connection, spent, names, [(arrived, (mine,)), (spent, (spent.c.survey == survey_id,))])


def _rewrite(connection: Connection, target: Table, names: list[str], parts: list[tuple[Table, Any]]) -> None:
    """Move rows from some tables into one, added up, and rewrite all of them in the order of their content.

    PostgreSQL stores rows in the order of writing, with the number of their transaction. If the old rows stayed in
    place, this would tell the releases apart, and link a mark to the counters of its release.
    """
    taken = []
    for table, chosen in parts:
        columns = [table.c[name] for name in [*names, *(["n"] if "n" in target.c else [])]]
        taken.append(select(delete(table).where(*chosen).returning(*columns).cte(f"from_{table.name}")))
    rows = union_all(*taken).subquery()
    keys = [rows.c[name] for name in names]
    if "n" in target.c:
        sums = select(*keys, func.sum(rows.c.n)).group_by(*keys).order_by(*keys)
        connection.execute(insert(target).from_select([*names, "n"], sums))
    else:
        # Each mark once: a duplicate would stop this release and all later ones.
        connection.execute(insert(target).from_select(names, select(*keys).distinct().order_by(*keys)))


def _seal(connection: Connection, survey_id: str, people: int) -> None:
    """Write the row of a release, with the hash of all counters chained to the one before."""
    newest = select(release.c.no, release.c.chain_sha256).where(release.c.survey == survey_id)
    before = connection.execute(newest.order_by(release.c.no.desc()).limit(1)).one_or_none()
    number, chain = (before.no + 1, before.chain_sha256) if before else (1, "")
    opened = select(func.count(code.c.commitment)).where(code.c.survey == survey_id)
    locked = connection.scalar(opened) or 0
    counters, day = tally_sha256(connection, survey_id), today()
    row = {"no": number, "n": people, "locked": locked, "day": day, "tally_sha256": counters}
    sealed = {**row, "chain_sha256": chain_sha256(chain, row), "survey": survey_id}
    connection.execute(insert(release), [sealed])


def tally_sha256(connection: Connection, survey_id: str) -> str:
    """Return the hash of all released counters of a survey, in the order of their content."""
    digest = sha256()
    for table in (tally, framing):
        keys = [column for column in table.primary_key.columns if column.name != "survey"]
        rows = connection.execute(select(*keys, table.c.n).where(table.c.survey == survey_id))
        for line in sorted("|".join(_written(value) for value in row) for row in rows):
            digest.update(f"{table.name}|{line}\n".encode())
    return digest.hexdigest()


def _written(value: Any) -> str:
    return bytes(value).hex() if isinstance(value, (bytes, memoryview)) else str(value)


def chain_sha256(before: str, row: dict[str, Any]) -> str:
    """Return the seal of a release: the hash of the seal before it and of its own row."""
    named = "|".join(f"{name}={row[name]}" for name in ("no", "n", "locked", "day", "tally_sha256"))
    return sha256(f"{before}|{named}".encode()).hexdigest()
