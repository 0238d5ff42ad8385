"""Opening the store: an engine for SQLite or PostgreSQL, set up so that what is acknowledged stays."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError as BadUrl
from sqlalchemy.exc import DatabaseError, NoSuchModuleError

from subsetprivacy.collect.storage.schema import metadata
from subsetprivacy.errors import SubsetPrivacyError

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
    """Open a database, make or upgrade its tables, and return its engine.

    Parameters
    ----------
    url
        ``sqlite:///file.db`` or ``postgresql://user@host/name``.

    Raises
    ------
    StoreError
        If it cannot be reached, is no database of this package, or was written by a newer version.
    """
    engine = make_engine(url)
    try:
        metadata.create_all(engine)
    except DatabaseError as error:
        engine.dispose()
        raise StoreError(f"the database must be one that can be opened; got {type(error.orig).__name__}.") from None
    return engine


def make_engine(url: str) -> Engine:
    """Return an engine without touching the tables."""
    place = _read_url(url)
    if place.get_backend_name() == "sqlite":
        return _sqlite(place)
    return create_engine(
        place.set(drivername="postgresql+psycopg"),
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        pool_size=8,
        # A server that has gone silent is noticed within seconds: submissions wait for it.
        connect_args={
            "connect_timeout": 3,
            "tcp_user_timeout": 4000,
            "options": "-c lock_timeout=5s -c statement_timeout=60s -c synchronous_commit=on",
        },
    )


def _read_url(url: str) -> URL:
    try:
        place = make_url(url)
        backend = place.get_backend_name()
    except (BadUrl, NoSuchModuleError):
        backend = ""
    if backend not in {"sqlite", "postgresql"}:
        raise StoreError(
            "the database must be a file or a postgresql:// address. Hint: --db survey.db, or --db "
            "postgresql://user@host/name."
        )
    return place


def _sqlite(place: URL) -> Engine:
    if not place.database or place.database == ":memory:":
        raise StoreError("the database must be a file. Hint: --db survey.db.")
    if not Path(place.database).absolute().parent.is_dir():
        raise StoreError("the folder of the database must exist. Hint: make it first.")
    engine = create_engine(place.set(drivername="sqlite+pysqlite"), connect_args={"check_same_thread": False})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so, below
        for name, value in _PRAGMAS.items():
            connection.execute(f"PRAGMA {name} = {value}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes its lock at once: two that read first and write later would stop each other.
        reads = connection.get_execution_options().get(_READS)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Give a connection that sees one state of the database and does not keep writers waiting."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection = connection.execution_options(**{_READS: True})
        else:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Give a connection with one transaction, kept if the block ends well."""
    with engine.begin() as connection:
        yield connection
