"""Owing and paying what a deletion asks for: that the database's files hold nothing of it either."""

import secrets
import sqlite3

from sqlalchemy import Connection, Engine, delete, insert, select
from sqlalchemy.exc import SQLAlchemyError

from subsetprivacy.collect.storage.opening import writing
from subsetprivacy.collect.storage.schema import draft, owed, study
from subsetprivacy.collect.storage.wiping import wipe


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
