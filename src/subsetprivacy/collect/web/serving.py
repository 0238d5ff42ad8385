"""Running the application: the socket, the server, and a log that holds nothing of anybody."""

import errno
import gc
import logging
import signal
import socket
from asyncio import TimerHandle, Transport
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from subsetprivacy.errors import ArgumentError

REQUEST_SECONDS = 30.0
HEAD_BYTES = 32 * 1024
_MOST_CONNECTIONS = 8000
_SPARE_FILES = 64  # for the database and whatever else is open
_OURS = "subsetprivacy"


def bind(host: str, port: int) -> socket.socket:
    """Take a port, 0 for any that is free.

    Raises
    ------
    ArgumentError
        If it is taken or may not be, or the host is none of this machine.
    """
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(family, kind)
        try:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(place)
        except OSError:
            taken.close()
            raise
    except socket.gaierror:
        raise ArgumentError(f"`host` must be an address of this machine; got {host!r}. Hint: 127.0.0.1.") from None
    except OSError as error:
        raise _refused(error, host, port) from None
    return taken


def _refused(error: OSError, host: str, port: int) -> ArgumentError:
    if error.errno == errno.EADDRINUSE:
        return ArgumentError(
            f"`port` must be free; something else listens on {port}. Hint: --port {port + 1}, or --port 0 for any."
        )
    if error.errno == errno.EACCES:
        return ArgumentError(f"`port` must be one you may take; got {port}. Hint: --port 8000, behind a proxy.")
    return ArgumentError(f"`host` must be an address of this machine; got {host!r}. Hint: 127.0.0.1.")


def run(app: FastAPI, taken: socket.socket, started: Callable[[], None] = lambda: None) -> None:
    """Serve until a signal comes, then answer who is waiting, write everything, and return or raise KeyboardInterrupt.

    Parameters
    ----------
    app
        The application.
    taken
        A socket by `bind`.
    started
        Called when requests are answered.
    """
    config = uvicorn.Config(
        app,
        loop="auto",
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=log_settings(),
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nobody's address is wanted, not even through a proxy
        limit_concurrency=_most_connections(),
        timeout_keep_alive=15,
        timeout_graceful_shutdown=10,
    )
    before = signal.signal(signal.SIGTERM, _end)
    try:
        _Server(config, started).run(sockets=[taken])
    finally:
        signal.signal(signal.SIGTERM, before)
        taken.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, tell: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell so."""
        gc.collect()
        gc.freeze()  # what is loaded by now stays: to look through it again and again would stop everything for 100 ms
        await super().startup(sockets=sockets)
        if self.started:
            self._tell()


def _end(number: int, frame: FrameType | None) -> None:
    """End the program in the ordinary way: the server sends itself the signal again once it has shut down."""
    raise SystemExit(0)


def _most_connections() -> int:
    """Return how many connections to take at once; the system's limit of open files is raised as far as it goes."""
    try:
        import resource
    except ImportError:  # Windows
        return _MOST_CONNECTIONS
    wanted = _MOST_CONNECTIONS + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _MOST_CONNECTIONS
    allowed = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(allowed - _SPARE_FILES, 1)


class Connection(HttpToolsProtocol):
    """A connection that is closed when a request does not come to its end, or its head is far too long."""

    _limit: TimerHandle | None = None
    _head: int | None = 0  # bytes of the head so far, None once it is complete

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self._head is not None:
            self._head += len(data)
        super().data_received(data)
        if self._head is not None and self._head > HEAD_BYTES:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Wait for a further request."""
        super().on_message_begin()
        self._head = 0
        self._wait()

    def on_headers_complete(self) -> None:
        """Take the head of a request."""
        self._head = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        self._limit = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None


# The log ---------------------------------------------------------------------------------------


class Terse(logging.Formatter):
    """Writes our own lines; of those of libraries what kind of error and where: their words could hold anything."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, without a traceback."""
        if record.name.split(".")[0] == _OURS:
            return f"{record.levelname}: {record.getMessage()}"
        kind = record.exc_info[0] if record.exc_info else None
        named = "a message" if kind is None else kind.__name__
        return f"{record.levelname}: {record.name}: {named} ({record.filename}:{record.lineno})"


def log_settings() -> dict[str, Any]:
    """Return the settings of the log: errors only, and terse."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"terse": {"()": Terse}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "terse", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["stderr"], "level": "ERROR"},
        # Whatever was set before, all of it goes through the one handler.
        "loggers": {
            "uvicorn": {"level": "ERROR", "propagate": True},
            "uvicorn.error": {"level": "ERROR", "propagate": True},
            "uvicorn.access": {"level": "CRITICAL", "propagate": True},
            _OURS: {"level": "WARNING", "propagate": True},
        },
    }
