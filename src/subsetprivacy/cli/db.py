"""`subsetprivacy db`: check, copy and upgrade the database of the collection service."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import click

from subsetprivacy.cli.files import STANDARD_OUTPUT
from subsetprivacy.cli.files import target as written_to
from subsetprivacy.cli.options import FilePath, as_json
from subsetprivacy.cli.show import echo_json, say

if TYPE_CHECKING:
    from sqlalchemy import Engine

DEFAULT = "subsetprivacy.db"
_PORT = re.compile(r":\d*(?=/|$)")


def _refuse_connection_string(context: click.Context, option: click.Parameter, db: str) -> str:
    """Refuse a libpq connection string: it would become a file name, printed with the password in it."""
    if "password=" in db and "://" not in db:
        raise click.BadParameter("must be a file or a postgresql:// address, such as postgresql://user@host/name")
    return db


database = click.option(
    "--db",
    default=DEFAULT,
    show_default=True,
    callback=_refuse_connection_string,
    metavar="FILE|URL",
    envvar="SUBSETPRIVACY_DB",
    help="A SQLite file, or postgresql://user@host/name (set the password in PGPASSWORD). You can also set "
    "SUBSETPRIVACY_DB.",
)


@click.group(short_help="Check, copy and upgrade the database of surveys.")
def db() -> None:
    """Check, copy and upgrade the database in which `serve` stores surveys.

    \b
    Examples:
      subsetprivacy db check
      subsetprivacy db backup saturday.db
      subsetprivacy db upgrade --db postgresql://surveys@localhost/surveys
    """


@db.command(short_help="Check that the database is intact.")
@database
@as_json
def check(db: str, as_json: bool) -> None:
    """Check that the database is intact, its numbers agree, and no release was changed.

    The database may be in use. The exit code is 1 if something is wrong. No answer is ever printed.

    \b
    Example:
      subsetprivacy db check --db subsetprivacy.db
    """
    with existing(db) as engine:
        from subsetprivacy.collect.storage.backups import check as look

        findings = look(engine)
    if as_json:
        echo_json(
            [{"place": finding.place, "message": finding.message, "error": finding.is_error} for finding in findings]
        )
    else:
        for finding in findings:
            if finding.is_error:
                click.echo(f"Error: {finding.place}: {finding.message}.", err=True)
            else:
                say(f"Note: {finding.place}: {finding.message}.")
    if any(finding.is_error for finding in findings):
        sys.exit(1)
    if not as_json:
        say(f"{describe_database(db)} is intact.")


@db.command(short_help="Copy the database to a new file.")
@click.argument("target", type=FilePath(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--all", "everything", is_flag=True, help="Also copy answers that are not released yet.")
@database
def backup(target: Path, everything: bool, db: str) -> None:
    """Copy the database to TARGET, a new SQLite file that `serve --db TARGET` can serve, or - for standard output.

    You can copy a database that is in use, and a PostgreSQL database. The copy contains no sign-ins.

    By default the copy contains released answers only. If you return to such a copy: (1) answers that came after the
    last release are lost, and their codes work again. (2) Answers that were waiting at that release (one to two
    batches) are lost, and their codes stay used. (3) Unused codes still work.

    With --all the copy contains everything. Keep it as safe as the database itself. If you return to it, answers that
    came after the copy are lost, and their codes work again.

    In a copy made before a survey was closed, the survey is open again and treats the study's key as secret, although
    the key may have been published since. Anyone who knows the key can choose their own question. Close the survey
    again before anyone answers.

    \b
    Example:
      subsetprivacy db backup saturday.db
    """
    with existing(db) as engine:
        from subsetprivacy.collect.storage.backups import backup as copy

        with written_to(target, ".db") as path:
            copy(engine, path, everything=everything)
    if target != STANDARD_OUTPUT:
        say(f"Wrote {target} ({'everything' if everything else 'released data only'}).")


@db.command(short_help="Upgrade the database to this version.")
@database
def upgrade(db: str) -> None:
    """Upgrade the tables to the schema of this version of the package.

    `serve` does this when it starts. A database of a newer version is refused.

    \b
    Example:
      subsetprivacy db upgrade
    """
    with existing(db) as engine:
        from subsetprivacy.collect.storage.migrating import migrate, newest_revision, revision

        before, now = revision(engine), newest_revision()
        migrate(engine)
    say(f"{describe_database(db)} is {'already' if before == now else 'now'} at schema {now}.")


def require_extra(*modules: str) -> None:
    """Raise unless the parts of the extra `serve` are installed.

    Raises
    ------
    MissingDependencyError
        With what to install.
    """
    from subsetprivacy.errors import MissingDependencyError
    from subsetprivacy.messages.for_general import INSTALL

    for name in modules:
        try:
            import_module(name)
        except ImportError:
            raise MissingDependencyError(f"the survey server needs {name}.", INSTALL(extra="serve")) from None


@contextmanager
def existing(db: str) -> "Iterator[Engine]":
    """Yield an engine on a database that must exist; its tables are not changed."""
    path = sqlite_file(db)
    require_extra("sqlalchemy", "alembic", *(["psycopg"] if path is None else []))
    from subsetprivacy.collect.storage.migrating import revision
    from subsetprivacy.collect.storage.opening import StoreError, make_engine
    from subsetprivacy.messages.for_surveys import START_SERVICE

    engine = make_engine(address(db))
    try:
        absent = path is not None and not path.exists()
        if absent or revision(engine) is None:
            problem = "does not exist" if absent else "is not one"
            raise StoreError(f"`db` must be a database of surveys; {describe_database(db)} {problem}.", START_SERVICE)
        yield engine
    finally:
        engine.dispose()


def address(db: str) -> str:
    """Return the URL of a database; a file name becomes a SQLite URL."""
    if "://" in db:
        return db
    from subsetprivacy.collect.storage.backups import sqlite_address

    return sqlite_address(Path(db))


def sqlite_file(db: str) -> Path | None:
    """Return the file of a database, or None if it is on a server."""
    if "://" not in db:
        return Path(db)
    scheme, _, rest = db.partition(":///")
    return Path(unquote(rest.partition("?")[0])) if scheme.partition("+")[0] == "sqlite" else None


def describe_database(db: str) -> str:
    """Describe a database by its file, or by host and name without user and password."""
    path = sqlite_file(db)
    if path is not None:
        return str(path)
    # By hand: a library that cannot read an address quotes it, and a password may contain any character.
    scheme, _, rest = db.partition("://")
    if "@" in rest.partition("?")[2]:
        return f"{scheme}://…"
    place = rest.rpartition("@")[2].partition("?")[0]
    return f"{scheme}://{_PORT.sub('', place)}"
