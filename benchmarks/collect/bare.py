"""What the database does with nothing around it: a counter and a mark to a commit, on one connection."""

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TABLES = (
    "CREATE TABLE bare_mark (mark {blob} PRIMARY KEY)",
    "CREATE TABLE bare_counter (k integer PRIMARY KEY, n integer NOT NULL)",
)
_MARK = "INSERT INTO bare_mark VALUES ({0})"
_COUNT = "INSERT INTO bare_counter VALUES ({0}, 1) ON CONFLICT (k) DO UPDATE SET n = bare_counter.n + 1"


def sqlite_commits(folder: Path, seconds: float, group: int) -> float:
    """Return the pairs written a second to a SQLite file as durable as ours, so many to a commit."""
    connection = sqlite3.connect(folder / f"bare-{group}.db", isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")
    for table in _TABLES:
        connection.execute(table.format(blob="blob") + " WITHOUT ROWID")
    try:
        return _rate(connection.execute, "?", "BEGIN IMMEDIATE", seconds, group)
    finally:
        connection.close()


def postgres_commits(conninfo: str, seconds: float, group: int) -> float:
    """Return the same for a PostgreSQL database, with its own settings."""
    import psycopg

    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS bare_mark, bare_counter")
        for table in _TABLES:
            connection.execute(table.format(blob="bytea"))
        rate = _rate(connection.execute, "%s", "BEGIN", seconds, group)
        connection.execute("DROP TABLE bare_mark, bare_counter")
    return rate


def _rate(execute: Callable[..., Any], place: str, begin: str, seconds: float, group: int) -> float:
    mark, count, written = _MARK.format(place), _COUNT.format(place), 0
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        execute(begin)
        for _ in range(group):
            execute(mark, (os.urandom(32),))
            execute(count, (written % 10,))
            written += 1
        execute("COMMIT")
    return written / (time.perf_counter() - started)
