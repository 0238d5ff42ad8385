"""Back up a store to a file."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Column, Connection, Engine, Table, insert, literal, select, update
from sqlalchemy.exc import DBAPIError

from subsetprivacy.collect.storage.integrity import StoreProblem, check
from subsetprivacy.collect.storage.migrating import migrate
from subsetprivacy.collect.storage.opening import StoreError, make_engine, reading, writing
from subsetprivacy.collect.storage.schema import (
    arrived,
    browser,
    code,
    metadata,
    owed,
    pending,
    pending_framing,
    session,
    survey,
)
from subsetprivacy.collect.survey.manifest import read_manifest
from subsetprivacy.messages.for_surveys import MAKE_FOLDER, NAME_ANOTHER

__all__ = ["StoreProblem", "backup", "check", "sqlite_address"]

_NEVER = {session, browser, owed}
_UNRELEASED = {pending, pending_framing, arrived}
_LOCKS = {code.c.commitment, code.c.wrapped}
_AT_ONCE = 2000


def sqlite_address(path: Path) -> str:
    """Return the address of a file for `open_store`, whatever characters its name has."""
    return URL.create("sqlite", database=str(path)).render_as_string()


def backup(engine: Engine, target: Path, *, everything: bool = False) -> None:
    """Copy a store, from SQLite or PostgreSQL, to a new SQLite file that can be served.

    Parameters
    ----------
    engine
        The store. It may be in use.
    target
        The file to write. It appears when it is complete.
    everything
        Whether to copy unreleased data too, with the tickets of these people and the locks of open codes. By default a
        copy contains released data only. Unused codes work in it, and codes used since the last release work again.
        The answers that were waiting at the last release, one to two batches, are in no such copy, and their codes
        stay used. The copy loses these people.

    Raises
    ------
    StoreError
        If the file exists or cannot be written.
    """
    if target.exists():
        raise StoreError(f"a backup must be a new file; {target} exists.", NAME_ANOTHER)
    if not target.absolute().parent.is_dir():
        raise StoreError(f"the folder of a backup must exist; that of {target} does not.", MAKE_FOLDER)
    with _written_whole(target) as part:
        made = make_engine(sqlite_address(part))
        try:
            migrate(made)
            with reading(engine) as source, writing(made) as copy:
                _copy(source, copy, everything)
            _join_files(made)
        except DBAPIError as error:
            raise StoreError(f"the backup must be written whole; got {type(error.orig).__name__}.") from None
        finally:
            made.dispose()


def _copy(source: Connection, copy: Connection, everything: bool) -> None:
    for table in metadata.sorted_tables:
        if table not in _NEVER and (everything or table not in _UNRELEASED):
            _copy_rows(source, copy, table, table, but=() if everything else _LOCKS)
    if everything:
        return
    for row in copy.execute(select(survey.c.id, survey.c.manifest, survey.c.released).where(survey.c.open)).all():
        if read_manifest(bytes(row.manifest)).mode == "code":
            _copy_rows(source, copy, arrived, code, row.id)
        empty = {"filling": row.released + 1, "filled": 0}
        copy.execute(update(survey).where(survey.c.id == row.id).values(**empty))


def _copy_rows(
    source: Connection,
    copy: Connection,
    table: Table,
    into: Table,
    survey_id: str | None = None,
    *,
    but: Collection[Column[Any]] = (),
) -> None:
    """Copy a table without some columns, in the order of its key, some rows at a time."""
    chosen = [column for column in table.columns if column not in but]
    wanted = select(*chosen).order_by(*table.primary_key.columns)
    if survey_id is not None:
        wanted = wanted.where(table.c.survey == literal(survey_id))
    result = source.execute(wanted.execution_options(yield_per=_AT_ONCE))
    for rows in result.mappings().partitions():
        copy.execute(insert(into), [dict(row) for row in rows])


@contextmanager
def _written_whole(target: Path) -> Iterator[Path]:
    """Yield a file to write. It gets the target's name once it is safe on disk."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        # It contains the keys of the studies, so no one else may read it.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield part
        for path in (part, target.absolute().parent):
            _sync(path)
        os.link(part, target)  # never over a file that was created in the meantime
        _sync(target.absolute().parent)
    finally:
        for leftover in target.absolute().parent.glob(f"{part.name}*"):
            leftover.unlink()


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _join_files(engine: Engine) -> None:
    """Move the write-ahead log into the file, which is then complete."""
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        driver.execute("PRAGMA journal_mode = DELETE")
