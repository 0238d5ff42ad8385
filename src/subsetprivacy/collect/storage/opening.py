"""Open the store: an engine for SQLite or PostgreSQL that never loses acknowledged data."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError as BadUrl
from sqlalchemy.exc import NoSuchModuleError

from subsetprivacy.collect.storage.migrating import migrate
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.messages.for_surveys import MAKE_FOLDER, NAME_DATABASE, NAME_FILE

_PRAGMAS = {
    "journal_mode": "WAL",
    "synchronous": "FULL",  # a commit that was acknowledged survives a power cut
    "secure_delete": "ON",  # what is deleted is overwritten
    "foreign_keys": "ON",
    "trusted_schema": "OFF",
    "temp_store": "MEMORY",
    "busy_timeout": "5000",
}
_READS = "reads"


class StoreError(SubsetPrivacyError):
    """The database cannot be opened, or is not one of ours."""


def open_store(url: str) -> Engine:
    """Open a database, create or upgrade its tables, and return its engine.

    Parameters
    ----------
    url
        ``sqlite:///file.db`` or ``postgresql://user@host/name``.

    Raises
    ------
    StoreError
        If it cannot be reached, is not a database of this package, or was written by a newer version.
    """
    engine = make_engine(url)
    try:
        _make_file(engine.url)
        migrate(engine)
    except StoreError:
        engine.dispose()
        raise
    return engine


def _make_file(place: URL) -> None:
    """Create the file of a new SQLite database so that no one else on the machine can read it. It contains keys."""
    if place.get_backend_name() == "sqlite":
        with suppress(OSError):  # it is there, or SQLite will say why it cannot be
            os.close(os.open(str(place.database), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def make_engine(url: str | URL, *, hurried: bool = False) -> Engine:
    """Return an engine without touching the tables.

    Parameters
    ----------
    url
        The address, as for `open_store`.
    hurried
        Whether people wait for the result. Then each connection is new, and gives up after a few seconds if the server
        does not respond.
    """
    place = _read_url(url)
    if place.get_backend_name() == "sqlite":
        return _sqlite(place, hurried=hurried)
    from subsetprivacy.collect.storage.postgres import postgres_engine  # whose driver is not needed for SQLite

    return postgres_engine(place, hurried=hurried)


def hurry(engine: Engine) -> Engine:
    """Return a hurried engine for the same store."""
    return make_engine(engine.url, hurried=True)


def _read_url(url: str | URL) -> URL:
    try:
        place = make_url(url)
        backend = place.get_backend_name()
    except (BadUrl, NoSuchModuleError, ValueError):  # its text may contain part of a password
        backend = ""
    if backend not in {"sqlite", "postgresql"} or (backend == "sqlite" and place.host):
        raise StoreError("the database must be a file or a postgresql:// address.", NAME_DATABASE)
    return place


def _sqlite(place: URL, *, hurried: bool) -> Engine:
    if not place.database or place.database == ":memory:":
        raise StoreError("the database must be a file.", NAME_FILE)
    if not Path(place.database).absolute().parent.is_dir():
        raise StoreError("the folder of the database must exist.", MAKE_FOLDER)
    engine = create_engine(
        place.set(drivername="sqlite+pysqlite"),
        connect_args={"check_same_thread": False},
        hide_parameters=True,  # an error that quotes them would write them into a log
        **({"poolclass": NullPool} if hurried else {}),
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so, below
        for name, value in _PRAGMAS.items():
            connection.execute(f"PRAGMA {name} = {value}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes its lock at once. Two that read first and write later would deadlock.
        reads = connection.get_execution_options().get(_READS)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Yield a connection that sees one state of the database and does not block writers."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection = connection.execution_options(**{_READS: True})
        else:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Yield a connection with one transaction, which is committed if the block succeeds."""
    with engine.begin() as connection:
        yield connection
