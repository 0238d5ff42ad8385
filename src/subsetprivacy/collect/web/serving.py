"""Run the application: the socket and the server."""

import errno
import gc
import signal
import socket
from collections.abc import Callable
from functools import partial
from types import FrameType

import uvicorn
from fastapi import FastAPI

from subsetprivacy.collect.web.connections import SOCKET_BYTES, ConnectionLimits, LimitedConnection
from subsetprivacy.collect.web.logs import log_settings
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_surveys import HIGH_PORT, LOCAL_HOST, OTHER_PORT

_MOST_CONNECTIONS = 8000
_BACKLOG = 512  # open connections before the server closes some for new ones
_SPARE_FILES = 64 + _BACKLOG  # for the database and other open files


def bind(host: str, port: int) -> socket.socket:
    """Bind a port. 0 takes any free port.

    Raises
    ------
    ArgumentError
        If the port is taken or not allowed, or the host is not an address of this machine.
    """
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(family, kind)
        try:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):  # of each connection that is taken
                taken.setsockopt(socket.SOL_SOCKET, buffer, SOCKET_BYTES)
            taken.bind(place)
        except OSError:
            taken.close()
            raise
    except socket.gaierror:
        raise ArgumentError(f"`host` must be an address of this machine; got {host!r}.", LOCAL_HOST) from None
    except OSError as error:
        raise _refused(error, host, port) from None
    return taken


def _refused(error: OSError, host: str, port: int) -> ArgumentError:
    if error.errno == errno.EADDRINUSE:
        return ArgumentError(f"`port` must be free; something else listens on {port}.", OTHER_PORT(next=port + 1))
    if error.errno == errno.EACCES:
        return ArgumentError(f"`port` must be one that you may use; got {port}.", HIGH_PORT)
    return ArgumentError(f"`host` must be an address of this machine; got {host!r}.", LOCAL_HOST)


def run(app: FastAPI, taken: socket.socket, started: Callable[[], None] = lambda: None) -> None:
    """Serve until a signal arrives, then finish all requests and writes, and return or raise KeyboardInterrupt.

    Parameters
    ----------
    app
        The application.
    taken
        A socket from `bind`.
    started
        Called when the server answers requests.
    """
    config = uvicorn.Config(
        app,
        loop="auto",
        http=partial(LimitedConnection, limits=ConnectionLimits(_most_connections())),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=log_settings(),
        access_log=False,
        server_header=False,
        proxy_headers=False,  # no client addresses, not even through a proxy
        backlog=_BACKLOG,
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
        """Start, and report it."""
        gc.collect()
        gc.freeze()  # what is loaded now stays; scanning it again and again would pause everything for 100 ms
        await super().startup(sockets=sockets)
        if self.started:
            self._tell()


def _end(number: int, frame: FrameType | None) -> None:
    """End the program as usual. The server sends itself the signal again once it has shut down."""
    raise SystemExit(0)


def _most_connections() -> int:
    """Return how many connections to accept at once, after raising the system's limit of open files."""
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
    return max(allowed - _SPARE_FILES, allowed // 2)
