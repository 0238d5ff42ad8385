"""Erase deleted rows, and with them their order, from the database files.

SQLite overwrites deleted rows. Only its log still contains them, so the log is emptied. PostgreSQL leaves the bytes of
a deleted row in the free space of its pages and in the indexes, with the number of its transaction. These could link a
ticket to an answer, or to its release, so the tables are rewritten. (PostgreSQL would also keep samples of columns for
its plans. They are never taken: see the first revision.) Its write-ahead log keeps everything that was written until
the server recycles it, and so do copies of that log. Only the database itself can change that.
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
_LOCK_MILLISECONDS = 200  # everyone waits this long behind a process that waits for a lock
# A transaction that reads an older state of the database, or that began before and has not ended, keeps the rows that
# were removed since: answers, and the use of codes. So do prepared transactions and replicas.
_IN_THE_WAY = text(
    "SELECT (SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
    "AND (datname = current_database() OR datname IS NULL) "
    "AND (age(backend_xmin) > age(CAST(:now AS xid)) OR age(backend_xid) > age(CAST(:now AS xid)))) "
    "+ (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()) "
    "+ (SELECT count(*) FROM pg_replication_slots WHERE age(xmin) > age(CAST(:now AS xid)))"
)


def wipe(engine: Engine, *, seconds: float = 5.0, also: Sequence[Table] = ()) -> bool:
    """Erase deleted rows of the survey tables from the database files.

    On PostgreSQL each table is locked while it is rewritten.

    Parameters
    ----------
    engine
        The store.
    seconds
        How long to wait for blocking transactions: on SQLite all readers and writers, on PostgreSQL those that read an
        older state.
    also
        Further tables.

    Returns
    -------
    Whether everything is erased.
    """
    until = time.monotonic() + seconds
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()  # closed afterwards, because its limits differ
        driver: Any = connection.connection.dbapi_connection
        if engine.dialect.name == "sqlite":  # outside of any transaction, so not through SQLAlchemy
            return _empty_log(driver, until)
        driver.patience = _REWRITE_SECONDS
        return _rewrite(connection, (*also, survey, *OF_SURVEY), until)


def _rewrite(connection: Connection, tables: Sequence[Table], until: float) -> bool:
    if not _waited_for_others(connection, until):
        return False
    for name, limit in (("statement_timeout", f"{_REWRITE_SECONDS}s"), ("lock_timeout", f"{_LOCK_MILLISECONDS}ms")):
        connection.execute(text(f"SET {name} = '{limit}'"))
    try:
        for table in tables:
            connection.execute(text(f"VACUUM (FULL) {table.name}"))
    except OperationalError:  # a table is being read
        return False
    return True


def _waited_for_others(connection: Connection, until: float) -> bool:
    """Wait for transactions that keep rows removed until now. Return whether all of them ended in time."""
    now = connection.scalar(text("SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)"))
    while connection.scalar(_IN_THE_WAY, {"now": now}):
        if time.monotonic() > until:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


def _empty_log(driver: Any, until: float) -> bool:
    """Move SQLite's log into the file and empty it. It does not wait for readers, which would block writers."""
    driver.execute(f"PRAGMA busy_timeout = {_NO_WAIT}")
    while True:
        blocked, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not blocked or time.monotonic() > until:
            return not blocked
        time.sleep(_PAUSE_SECONDS)


# What a deletion asks for --------------------------------------------------------------------------


def request_erasing(connection: Connection) -> None:
    """Note in the transaction that deletes rows that `erase` must remove them from the files, even after a crash."""
    if connection.dialect.name == "postgresql":
        connection.execute(insert(owed).values(mark=secrets.token_bytes(8)))


def is_erasing_requested(connection: Connection) -> bool:
    """Tell whether the files may still contain deleted data. On SQLite a server erases it when it starts."""
    return bool(_requests(connection))


def erase(engine: Engine, *, seconds: float = 5.0) -> bool:
    """Erase deleted rows from the database files, except from PostgreSQL's write-ahead log.

    Parameters
    ----------
    engine
        The store.
    seconds
        How long to wait for transactions that read an older state.

    Returns
    -------
    Whether everything is erased. If not, another transaction blocks it, and the caller should try again.
    """
    try:
        with writing(engine) as connection:
            debts = _requests(connection)
        if not wipe(engine, seconds=seconds, also=(draft, study)):
            return False
        with writing(engine) as connection:
            connection.execute(delete(owed).where(owed.c.mark.in_(debts)))  # not those added in the meantime
    except (SQLAlchemyError, sqlite3.Error):  # the database is unavailable
        return False
    return True


def _requests(connection: Connection) -> list[bytes]:
    return list(connection.scalars(select(owed.c.mark)))
