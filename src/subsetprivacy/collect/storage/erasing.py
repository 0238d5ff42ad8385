"""Removing what the database's files still hold of rows that are gone.

SQLite overwrites what is deleted; what remains of it is in the log, which is emptied. PostgreSQL leaves the bytes of
a deleted row in the free space of its pages and in the indexes: these are written anew without them. (Samples of
columns, which it would keep for its plans, are never taken: see the first revision.) Its write-ahead log holds what
was ever written until the server recycles it, and so do copies of that log: no program that is not the database's own
can change that.
"""

import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select, text
from sqlalchemy.exc import SQLAlchemyError

from subsetprivacy.collect.storage.releasing import waited_for_others, wipe
from subsetprivacy.collect.storage.schema import OF_SURVEY, draft, owed, study, survey

_LOCK_SECONDS = 1  # others wait behind whoever waits for a lock
_REWRITE_SECONDS = 3600


def owe_erasing(connection: Connection) -> None:
    """Note, with what the transaction deletes, that the files are to be rid of it: for `erase`, even after a crash."""
    if connection.dialect.name == "postgresql":
        connection.execute(insert(owed).values(mark=secrets.token_bytes(8)))


def owes_erasing(connection: Connection) -> bool:
    """Tell whether the files may hold something of what was deleted; on SQLite a server sees to that as it starts."""
    return bool(_debts(connection))


def erase(engine: Engine, *, seconds: float = 5.0) -> bool:
    """Remove what the database's files still hold of rows that are gone, but for PostgreSQL's write-ahead log.

    On PostgreSQL each table is locked while it is written anew.

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
        if engine.dialect.name == "sqlite":
            return wipe(engine, seconds=seconds)
        with _unhurried(engine) as connection:
            return _rewrite(connection, time.monotonic() + seconds)
    except (SQLAlchemyError, sqlite3.Error):  # a lock that others hold, or the database is away
        return False


@contextmanager
def _unhurried(engine: Engine) -> Iterator[Connection]:
    """Give a connection outside of transactions, whose statements may take long but wait for locks only shortly."""
    with engine.connect() as held:
        connection = held.execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()  # closed afterwards: its limits are others
        driver: Any = connection.connection.dbapi_connection
        driver.patience = _REWRITE_SECONDS
        for name, seconds in (("statement_timeout", _REWRITE_SECONDS), ("lock_timeout", _LOCK_SECONDS)):
            connection.execute(text(f"SET {name} = '{seconds}s'"))
        yield connection


def _rewrite(connection: Connection, until: float) -> bool:
    debts = _debts(connection)
    if not waited_for_others(connection, until):
        return False
    for table in (draft, study, survey, *OF_SURVEY):
        connection.execute(text(f"VACUUM (FULL) {table.name}"))
    connection.execute(delete(owed).where(owed.c.mark.in_(debts)))  # not those that were added meanwhile
    return True


def _debts(connection: Connection) -> list[bytes]:
    return list(connection.scalars(select(owed.c.mark)))
