"""Removing what the database's files still hold of rows that are gone, and with it their order.

SQLite overwrites what is deleted; what remains of it is in the log, which is emptied. PostgreSQL leaves the bytes of
a deleted row in the free space of its pages and in the indexes, with the number of its transaction: by these a ticket
could be joined to an answer, or to its release. So the tables are written anew. (Samples of columns, which it would
keep for its plans, are never taken: see the first revision.) Its write-ahead log holds what was ever written until the
server recycles it, and so do copies of that log: no program that is not the database's own can change that.
"""

import secrets
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, insert, select, text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from subsetprivacy.collect.storage.opening import writing
from subsetprivacy.collect.storage.schema import OF_SURVEY, draft, owed, study, survey

_NO_WAIT = 20  # milliseconds
_PAUSE_SECONDS = 0.02
_REWRITE_SECONDS = 3600
_LOCK_MILLISECONDS = 200  # for so long everybody waits behind whoever waits for a lock
# Whoever looks at an older state of the database, or has not ended what was begun before, keeps what was removed since:
# everybody's answer, a code's use. So do prepared transactions, and copies that follow.
_IN_THE_WAY = text(
    "SELECT (SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
    "AND (datname = current_database() OR datname IS NULL) "
    "AND (age(backend_xmin) > age(CAST(:now AS xid)) OR age(backend_xid) > age(CAST(:now AS xid)))) "
    "+ (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()) "
    "+ (SELECT count(*) FROM pg_replication_slots WHERE age(xmin) > age(CAST(:now AS xid)))"
)


def wipe(engine: Engine, *, seconds: float = 5.0, also: Sequence[Table] = ()) -> bool:
    """Remove what the files still hold of rows that are gone from the tables of surveys.

    On PostgreSQL each table is locked while it is written anew.

    Parameters
    ----------
    engine
        The store.
    seconds
        How long to wait for others that are in the way: on SQLite all who read or write, on PostgreSQL those who look
        at a state from before.
    also
        Further tables.

    Returns
    -------
    Whether all of it is removed.
    """
    until = time.monotonic() + seconds
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()  # closed afterwards: its limits are others
        driver: Any = connection.connection.dbapi_connection
        if engine.dialect.name == "sqlite":  # outside of any transaction, so not through SQLAlchemy
            return _empty_log(driver, until)
        driver.patience = _REWRITE_SECONDS
        return _write_anew(connection, (*also, survey, *OF_SURVEY), until)


def _write_anew(connection: Connection, tables: Sequence[Table], until: float) -> bool:
    if not _waited_for_others(connection, until):
        return False
    for name, limit in (("statement_timeout", f"{_REWRITE_SECONDS}s"), ("lock_timeout", f"{_LOCK_MILLISECONDS}ms")):
        connection.execute(text(f"SET {name} = '{limit}'"))
    try:
        for table in tables:
            connection.execute(text(f"VACUUM (FULL) {table.name}"))
    except OperationalError:  # somebody reads a table
        return False
    return True


def _waited_for_others(connection: Connection, until: float) -> bool:
    """Wait for those who keep what was removed up to now; tell whether all of them have ended in time."""
    now = connection.scalar(text("SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)"))
    while connection.scalar(_IN_THE_WAY, {"now": now}):
        if time.monotonic() > until:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


def _empty_log(driver: Any, until: float) -> bool:
    """Bring SQLite's log into the file and empty it; while it waits for readers it holds up writers, so it does not."""
    driver.execute(f"PRAGMA busy_timeout = {_NO_WAIT}")
    while True:
        blocked, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not blocked or time.monotonic() > until:
            return not blocked
        time.sleep(_PAUSE_SECONDS)


# What a deletion asks for --------------------------------------------------------------------------


def owe_erasing(connection: Connection) -> None:
    """Note, with what the transaction deletes, that the files are to be rid of it: for `erase`, even after a crash."""
    if connection.dialect.name == "postgresql":
        connection.execute(insert(owed).values(mark=secrets.token_bytes(8)))


def owes_erasing(connection: Connection) -> bool:
    """Tell whether the files may hold something of what was deleted; on SQLite a server sees to that as it starts."""
    return bool(_debts(connection))


def erase(engine: Engine, *, seconds: float = 5.0) -> bool:
    """Remove what the database's files still hold of rows that are gone, but for PostgreSQL's write-ahead log.

    Parameters
    ----------
    engine
        The store.
    seconds
        How long to wait for others that look at a state from before.

    Returns
    -------
    Whether all of it is removed. If not, somebody is in the way, and it is to be tried again.
    """
    try:
        with writing(engine) as connection:
            debts = _debts(connection)
        if not wipe(engine, seconds=seconds, also=(draft, study)):
            return False
        with writing(engine) as connection:
            connection.execute(delete(owed).where(owed.c.mark.in_(debts)))  # not those that were added meanwhile
    except (SQLAlchemyError, sqlite3.Error):  # the database is away
        return False
    return True


def _debts(connection: Connection) -> list[bytes]:
    return list(connection.scalars(select(owed.c.mark)))
