"""The databases a store is tested on: SQLite in a file, and a real PostgreSQL in a temporary directory.

Fixtures (loaded by `tests/collect/conftest.py`):

`sqlite_url`, `postgres_url`
    The address of a fresh store of this test's own, with its tables made.
`store_url`, `store`
    The contract: a test that takes one of these runs on both; `store` is the opened engine.
`engine`
    An opened store on SQLite alone, for tests of what no database makes a difference to.
`postgres`
    The running server, for tests that stop, kill or restart it.
"""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT_USER = "postgres"  # who runs the server where we are root, which PostgreSQL refuses
HOW_TO_GET = "apt-get install postgresql"
MEMORY, MEMORY_NEEDED = "/dev/shm", 2**30  # bytes; a server takes about 200 MB
_TRIES = 20


def postgres_programs() -> Path | None:
    """Return the directory of the newest PostgreSQL of the machine, or None."""
    held = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not held and (found := shutil.which("initdb")):
        held = [Path(found).parent]
    if not held or (os.geteuid() == 0 and not _can_step_down()):
        return None
    return max(held, key=lambda path: [int(part) for part in path.parent.name.split(".") if part.isdigit()])


def _can_step_down() -> bool:
    try:
        pwd.getpwnam(ROOT_USER)
    except KeyError:
        return False
    return shutil.which("setpriv") is not None


def memory() -> str | None:
    """Return a directory that is kept in memory, where a database is made in a tenth of the time; None without room."""
    with contextlib.suppress(OSError):
        if os.access(MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(MEMORY).free > MEMORY_NEEDED:
            return MEMORY
    return None


class Postgres:
    """A PostgreSQL server of our own, listening on a socket file and on a loopback port.

    It does not wait for the disk: what a process that is killed has written is there all the same, and only a power
    cut, which no test makes, would lose it.
    """

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        # short: the name of a socket has about 100 letters
        self.home = Path(tempfile.mkdtemp(prefix="sp-pg-", dir=memory()))
        self.data = self.home / "data"
        self.password = secrets.token_hex(8)
        self.port = 0
        self._held: socket.socket | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self._spare: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(self.home, ROOT_USER, ROOT_USER)
        secret = self.home / "password"
        secret.write_text(self.password)
        secret.chmod(0o644)  # the directory itself is closed to others
        login = ["--username=postgres", f"--pwfile={secret}", "--auth-local=trust", "--auth-host=scram-sha-256"]
        self._run(
            "initdb", f"--pgdata={self.data}", "--encoding=UTF8", "--locale=C", "--no-sync", "--wal-segsize=1", *login
        )
        secret.unlink()

    def _command(self, program: str, *arguments: str) -> list[str]:
        step_down = ["setpriv", f"--reuid={ROOT_USER}", f"--regid={ROOT_USER}", "--init-groups"]
        return [*(step_down if os.geteuid() == 0 else ()), str(self.programs / program), *arguments]

    def _run(self, program: str, *arguments: str) -> None:
        made = subprocess.run(self._command(program, *arguments), cwd=self.home, capture_output=True, text=True)
        if made.returncode:
            raise RuntimeError(f"{program} failed: {made.stderr}")

    def start(self) -> None:
        """Start the server and wait until it answers; after the first time on the same port."""
        if self._held is None:
            self._held = held_port()
            self.port = int(self._held.getsockname()[1])
        for _ in range(_TRIES):
            if self._try_to_start(self.port):
                return
            time.sleep(1)  # after SIGKILL the server's children take a while to notice
        raise RuntimeError(f"PostgreSQL does not start: {(self.home / 'log').read_text()[-2000:]}")

    def _try_to_start(self, port: int) -> bool:
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": self.home,
            "fsync": "off",
            "full_page_writes": "off",
            "max_wal_size": "32MB",
            "min_wal_size": "8MB",
            "autovacuum": "off",  # it would come by the clock, and be in the way of what waits for nobody else
            "max_connections": 100,
            "shared_buffers": "32MB",
        }
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.home / "log").open("ab") as log:
            command = self._command("postgres", "-D", str(self.data), "-p", str(port), *words)
            self.process = subprocess.Popen(command, cwd=self.home, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline:
            if self.answers(port):
                return True
            time.sleep(0.03)
        self.stop(signal.SIGQUIT)
        return False

    def answers(self, port: int | None = None) -> bool:
        """Tell whether the server takes connections."""
        import psycopg

        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(self.conninfo("postgres", port)).close()
            return True
        return False

    def conninfo(self, database: str, port: int | None = None) -> str:
        """Return what psycopg takes to connect."""
        return f"host={self.home} port={port or self.port} user=postgres dbname={database}"

    def url(self, database: str, *, tcp: bool = False) -> str:
        """Return the address of a database: over the socket file, or over the loopback port with a password."""
        if tcp:
            return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/{database}"
        return f"postgresql://postgres@/{database}?host={self.home}&port={self.port}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run a statement outside of any transaction."""
        import psycopg

        with psycopg.connect(self.conninfo(database), autocommit=True) as connection:
            connection.execute(statement)

    def fresh(self, template: str = "template1") -> str:
        """Make a database and return its name."""
        name = f"t_{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, database: str) -> None:
        """Remove a database, whoever is still connected."""
        self.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def borrow(self, template: str) -> str:
        """Return a database that is like the template; one that was given back, if there is one."""
        return self._spare.pop() if self._spare else self.fresh(template)

    def give_back(self, database: str) -> None:
        """Empty a copy of the template for the next test, which is much quicker than to make another; or remove it."""
        if self.process is None or self.process.poll() is not None:  # a test has ended the server
            return
        if self._empty(database):
            self._spare.append(database)
        else:
            self.drop(database)

    def _empty(self, database: str) -> bool:
        """Throw everybody out and empty the tables that were written; tell whether it is as good as new then."""
        import psycopg

        from subsetprivacy.collect.storage.migrating import VERSION_TABLE, newest_revision
        from subsetprivacy.collect.storage.schema import metadata

        with psycopg.connect(self.conninfo(database), autocommit=True) as connection:

            def ask(question: str, *values: object) -> list[tuple[object, ...]]:
                return connection.execute(question, values).fetchall()

            others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s AND pid <> %s"
            ended = [done for (done,) in ask(others, database, connection.info.backend_pid)]
            sizes = dict(ask(_SIZES))
            if not all(ended) or sizes.keys() != {VERSION_TABLE, *metadata.tables} or ask(_EXTENSIONS) != [(1,)]:
                return False
            if ask(f"SELECT version_num FROM {VERSION_TABLE}") != [(newest_revision(),)]:
                return False
            if written := [name for name, size in sizes.items() if size and name != VERSION_TABLE]:
                connection.execute(f"TRUNCATE {', '.join(written)} CASCADE")
            return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends its connections, SIGQUIT or SIGKILL leaves it to recover at the next start."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(60)
        self.process = None

    def remove(self) -> None:
        """Stop the server and remove its directory."""
        self.stop()
        if self._held is not None:
            self._held.close()
        shutil.rmtree(self.home, ignore_errors=True)


_EXTENSIONS = "SELECT count(*) FROM pg_extension"
_SIZES = (
    "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
)


def held_port() -> socket.socket:
    """Take a free port for a server that ends and starts again: while this is open, nobody else is given the port.

    It does not listen, so that whoever connects meanwhile is refused, and the server, which says that it uses a port
    again, is let in beside it.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


@pytest.fixture(scope="session")
def _postgres_server() -> Iterator[Postgres | None]:
    """One server for a test session, and with pytest-xdist one for each worker."""
    programs = postgres_programs()
    if programs is None:
        yield None
        return
    server = Postgres(programs)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def _postgres_template(_postgres_server: Postgres) -> str:
    """A database with all tables made once, which the tests' own are copies of."""
    name = _postgres_server.fresh()
    _make_tables(_postgres_server.url(name))
    return name


def _make_tables(url: str) -> None:
    from subsetprivacy.collect.storage.migrating import migrate
    from subsetprivacy.collect.storage.opening import make_engine

    engine = make_engine(url)
    migrate(engine)
    engine.dispose()


@pytest.fixture
def postgres(need, _postgres_server) -> Postgres:
    need("PostgreSQL", _postgres_server is not None, HOW_TO_GET)
    if _postgres_server.process is None or _postgres_server.process.poll() is not None:
        _postgres_server.start()  # a test before may have ended it
    return _postgres_server


@pytest.fixture
def postgres_empty_url(postgres) -> Iterator[str]:
    """The address of a database without any table."""
    name = postgres.fresh()
    yield postgres.url(name)
    _drop(postgres, name)


@pytest.fixture
def postgres_url(postgres, request) -> Iterator[str]:
    name = postgres.borrow(request.getfixturevalue("_postgres_template"))
    yield postgres.url(name)
    postgres.give_back(name)


def _drop(server: Postgres, name: str) -> None:
    if server.process is not None and server.process.poll() is None:
        server.drop(name)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("template") / "template.db"
    _make_tables(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_empty_url(tmp_path) -> str:
    """The address of a file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'empty.db'}"


@pytest.fixture
def sqlite_url(tmp_path, sqlite_template) -> str:
    return f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'store.db')}"


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request) -> str:
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request) -> str:
    return request.getfixturevalue(f"{request.param}_empty_url")


def _opened(url: str) -> Iterator[Any]:
    from subsetprivacy.collect.storage.opening import open_store

    made = open_store(url)
    yield made
    made.dispose()


@pytest.fixture
def store(store_url):
    yield from _opened(store_url)


@pytest.fixture
def engine(sqlite_url):
    yield from _opened(sqlite_url)
