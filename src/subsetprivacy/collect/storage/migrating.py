"""Migrate the tables of a store to the schema of this version."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from subsetprivacy.collect.storage import migrations
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_surveys import LOOK_AT_FILE, LOOK_AT_SERVER, OWN_DATABASE, UPGRADE

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

VERSION_TABLE = "schema_version"
_ADVISORY_LOCK = 0x5375_6273_6574  # any number that no one else uses: "Subset"


def migrate(engine: Engine) -> None:
    """Create the tables, or upgrade older ones to the newest schema.

    Everything happens in one transaction under a lock. Of two servers that start together, one waits. A server that is
    killed halfway leaves the store as it was.

    Raises
    ------
    StoreError
        If the store belongs to something else, was written by a newer version, or cannot be opened.
    """
    present = revision(engine)
    if present == newest_revision():
        return
    try:
        with engine.begin() as connection:
            _upgrade(connection)
    except DBAPIError as error:
        raise _unusable(error) from None


def revision(engine: Engine) -> str | None:
    """Return the revision of the tables of a store, or None if there are none, without changing anything.

    Raises
    ------
    StoreError
        If it cannot be opened, or there are tables that are not ours.
    """
    try:
        _refuse_foreign_file(engine)
        with engine.connect() as connection:
            return revision_of(connection)
    except (DBAPIError, sqlite3.Error) as error:
        raise _unusable(error) from None


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the tables of a store, or None where there are none.

    Raises
    ------
    StoreError
        If there are tables that are not ours.
    """
    names = inspect(connection).get_table_names()
    _refuse_foreign_tables(names)
    if VERSION_TABLE not in names:
        return None
    version: str | None = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))
    return version


def newest_revision() -> str:
    """Return the revision that this version of the package reads and writes."""
    newest = _scripts().get_current_head()
    assert newest is not None
    return newest


def _scripts() -> "ScriptDirectory":
    from alembic.script import ScriptDirectory  # here, so that it is loaded only where tables may change

    return ScriptDirectory(Path(migrations.__file__).parent)


def _upgrade(connection: Connection) -> None:
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    if connection.dialect.name == "postgresql":  # on SQLite the transaction began with a lock
        for limit in ("lock_timeout", "statement_timeout"):  # limits for submissions; a migration may take long
            connection.execute(text(f"SET LOCAL {limit} = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
    scripts = _scripts()
    present = revision_of(connection)
    if present is not None and present not in {script.revision for script in scripts.walk_revisions()}:
        raise _store_error(
            f"the database must be of schema {newest_revision()} or older; got schema {present}, of a newer version.",
            UPGRADE,
        )

    def steps(current: Any, _: MigrationContext) -> Any:
        return scripts._upgrade_revs("head", current)

    context = MigrationContext.configure(connection, opts={"fn": steps, "version_table": VERSION_TABLE})
    with Operations.context(context):
        context.run_migrations()


def _refuse_foreign_file(engine: Engine) -> None:
    """Read a SQLite file before an engine opens it, because the engine first changes how the file is written."""
    place = engine.url.database
    if engine.dialect.name != "sqlite" or not place or not Path(place).exists():
        return
    connection = sqlite3.connect(f"{Path(place).absolute().as_uri()}?mode=rw", uri=True)
    try:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    finally:
        connection.close()
    _refuse_foreign_tables(name for (name,) in tables)


def _refuse_foreign_tables(names: Iterable[str]) -> None:
    tables = set(names)
    if tables and VERSION_TABLE not in tables:
        raise _store_error(
            f"the database must be empty or one of this package; got one with {len(tables)} other tables.", OWN_DATABASE
        )


def _unusable(error: Exception) -> Exception:
    """Return the error to raise instead of a driver's. The text of SQLite's errors is short and contains no secrets."""
    cause = getattr(error, "orig", error)
    reason = str(cause) if isinstance(cause, sqlite3.Error) else type(cause).__name__
    advice = LOOK_AT_FILE if isinstance(cause, sqlite3.Error) else LOOK_AT_SERVER
    return _store_error(f"the database must be one that can be opened; got {reason!r}.", advice)


def _store_error(message: str, advice: Advice) -> Exception:
    from subsetprivacy.collect.storage.opening import StoreError  # which itself migrates

    return StoreError(message, advice)
