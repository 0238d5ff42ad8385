"""Connections to PostgreSQL that give up when the server does not respond.

A server that stops closes its connections. A server that hangs, or a network that drops packets, does not. So a
connection gives up after a while, and sooner where respondents wait for it. Then the service recovers without help.
"""

import time
from collections.abc import Generator
from typing import Any

import psycopg
from sqlalchemy import URL, Engine, NullPool, create_engine, event
from sqlalchemy.exc import InvalidatePoolError

STATEMENT_SECONDS = 60
HURRIED_SECONDS = 4
_PING_SECONDS = 3
_OPTIONS = {
    "lock_timeout": f"{HURRIED_SECONDS}s",
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    "synchronous_commit": "on",  # a commit that was acknowledged survives a power cut
    # Tables of answers fill and empty within seconds. A plan made for an empty table must not scan a full one.
    "enable_seqscan": "off",
    # A table that must be scanned all the same counts as so costly that the server would compile the statement first.
    "jit": "off",
    # Planning the statement that counts a group takes longer than running it. Its plan is the same for every group.
    "plan_cache_mode": "force_generic_plan",
}


class PatientConnection(psycopg.Connection[Any]):
    """A connection that closes when a reply takes too long."""

    patience: float = STATEMENT_SECONDS + HURRIED_SECONDS

    def wait(self, gen: Any, *interval: Any, **limits: Any) -> Any:
        """Wait for the running operation of this connection, a generator of psycopg."""
        return super().wait(self._within(gen), *interval, **limits)

    def _within(self, generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        ready, end = None, time.monotonic() + self.patience
        while True:
            try:
                wanted = generator.send(ready)
            except StopIteration as ended:
                return ended.value
            if not (ready := (yield wanted)) and time.monotonic() > end:
                self.close()
                raise psycopg.OperationalError("the server is silent")

    def ping(self) -> None:
        """Raise unless the server responds soon."""
        usual, self.patience = self.patience, _PING_SECONDS
        with self.cursor() as cursor:
            cursor.execute("SELECT 1")
        self.rollback()
        self.patience = usual


def postgres_engine(place: URL, *, hurried: bool) -> Engine:
    """Return an engine. A hurried one opens a new connection each time and gives up after a few seconds."""
    engine = create_engine(
        place.set(drivername="postgresql+psycopg"),
        isolation_level="READ COMMITTED",
        hide_parameters=True,  # an error that quotes them would write them into a log
        connect_args={
            "connect_timeout": _PING_SECONDS,
            "tcp_user_timeout": 1000 * HURRIED_SECONDS,
            "keepalives_idle": HURRIED_SECONDS,
            "keepalives_interval": 1,
            "options": " ".join(f"-c {name}={value}" for name, value in _OPTIONS.items()),
        },
        **({"poolclass": NullPool} if hurried else {"pool_size": 8, "pool_timeout": HURRIED_SECONDS}),
    )

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, arguments: Any, options: Any) -> PatientConnection:
        made = PatientConnection.connect(*arguments, **options)
        if hurried:
            made.patience = HURRIED_SECONDS
        return made

    if not hurried:

        @event.listens_for(engine, "checkout")
        def ping(connection: PatientConnection, record: Any, proxy: Any) -> None:
            try:
                connection.ping()
            except psycopg.Error:
                raise InvalidatePoolError from None  # the pool makes fresh ones

    return engine
