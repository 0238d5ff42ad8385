"""The server's own limits and its log: a request that does not end is ended, and no line holds anything of anybody."""

import asyncio
import logging
import logging.config
import select
import socket
import threading
import time

import pytest
import uvicorn

from subsetprivacy.collect.web import serving
from subsetprivacy.errors import ArgumentError

REQUEST = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"
PATIENCE = 60  # seconds, for a busy machine; nothing takes that long


async def echo(scope, receive, send):
    """Answer with the length of the body."""
    assert scope["type"] == "http"
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    text = str(len(body)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
    await send({"type": "http.response.body", "body": text})


class Counting(serving.Connection):
    """A connection that knows how many bytes have come."""

    came = 0

    def data_received(self, data):
        super().data_received(data)
        self.came += len(data)


class Clock(asyncio.SelectorEventLoop):
    """A loop whose clock can be put forward."""

    ahead = 0.0

    def time(self):
        return super().time() + self.ahead


class Served:
    """A server whose time passes when a test says so."""

    def __init__(self):
        self.taken = serving.bind("127.0.0.1", 0)
        self._loop = Clock()
        config = uvicorn.Config(
            echo,
            http=Counting,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=10_000,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        self._loop.run_until_complete(self._server.serve(sockets=[self.taken]))
        self._loop.close()

    def __enter__(self):
        self._thread.start()
        until = time.monotonic() + PATIENCE
        while not self._server.started:
            assert time.monotonic() < until
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(PATIENCE)

    def _do(self, act):
        """Do something in the loop, then all that is due; a connection that is aborted is closed a step later."""
        done = threading.Event()

        def begin():
            act()
            self._loop.call_later(0, lambda: self._loop.call_soon(self._loop.call_soon, done.set))

        self._loop.call_soon_threadsafe(begin)
        assert done.wait(PATIENCE)

    def pass_time(self, seconds):
        """Put the clock forward."""

        def put():
            self._loop.ahead += seconds

        self._do(put)

    def connections(self):
        """Return how many bytes have come by each connection."""
        found = []
        self._do(lambda: found.extend(one.came for one in self._server.server_state.connections))
        return found

    def wait_for(self, connections):
        """Wait until there are these connections, with so many bytes each."""
        until = time.monotonic() + PATIENCE
        while self.connections() != connections:
            assert time.monotonic() < until


@pytest.fixture(scope="module")
def running():
    with Served() as held:
        yield held


@pytest.fixture
def connect(running):
    opened = []

    def make():
        opened.append(socket.create_connection(running.taken.getsockname(), timeout=PATIENCE))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
    running.wait_for([])


def is_open(connection):
    """Tell whether the server has neither answered nor closed the connection by now."""
    return not select.select([connection], [], [], 0)[0]


def is_ended(connection):
    """Wait until the server closes the connection; True if it does without an answer."""
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


def test_requests_are_answered_one_after_the_other(running, connect):
    connection = connect()
    for _ in range(3):
        connection.sendall(REQUEST + b"abc")
        answer = b""
        while not answer.endswith(b"\r\n\r\n3"):
            part = connection.recv(1000)
            assert part, "the server has closed the connection"
            answer += part
        running.pass_time(0.7 * serving.REQUEST_SECONDS)  # together longer than one may take


@pytest.mark.parametrize(
    "sent", [b"", b"POST /x HT", REQUEST[:-2], REQUEST + b"a"], ids=["nothing", "line", "head", "body"]
)
def test_a_request_that_does_not_end_is_ended(running, connect, sent):
    connection = connect()
    connection.sendall(sent)
    running.wait_for([len(sent)])
    running.pass_time(0.9 * serving.REQUEST_SECONDS)
    assert is_open(connection)
    running.pass_time(0.2 * serving.REQUEST_SECONDS)
    assert is_ended(connection)


def keep_sending(connection, parts, between=lambda: None):
    for part in parts:
        connection.sendall(part)
        between()


def test_dripping_does_not_help(running, connect):
    connection = connect()
    running.wait_for([0])
    letters = [bytes([letter]) for letter in REQUEST * 2]
    assert len(letters) > 2 * serving.REQUEST_SECONDS
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        keep_sending(connection, letters, lambda: running.pass_time(1))


def test_a_head_that_is_far_too_long_is_ended(connect):
    endless = [REQUEST[:-2], *([b"X-Long: " + b"x" * 8000 + b"\r\n"] * 10_000)]
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        keep_sending(connect(), endless)


def test_a_port_is_taken_once():
    with serving.bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(ArgumentError, match=r"`port` must be free; .*Hint: --port"):
            serving.bind("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(ArgumentError, match="`host` must be an address"):
        serving.bind("no such host.invalid", 0)
    with serving.bind("localhost", 0) as taken:
        assert taken.getsockname()[1] > 0


def test_the_log_holds_no_words_of_libraries(capfd):
    before = logging.root.handlers[:], logging.root.level
    try:
        logging.config.dictConfig(serving.log_settings())
        try:
            raise ValueError("192.0.2.7 CANARY")
        except ValueError:
            logging.getLogger("asyncio").exception("in callback(%s)", "CANARY")
            logging.getLogger("uvicorn.error").exception("for 192.0.2.7 CANARY")
        logging.getLogger("sqlalchemy.pool").error("CANARY")
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        logging.getLogger("uvicorn.access").info("192.0.2.7 CANARY")
        logging.getLogger("subsetprivacy.collect").error("%s in %s", "ValueError", "web/app.py:3")
    finally:
        logging.root.handlers[:], logging.root.level = before
    lines = capfd.readouterr().err.splitlines()
    assert "CANARY" not in str(lines)
    assert "192.0.2.7" not in str(lines)
    assert [line.partition(" (")[0] for line in lines] == [
        "ERROR: asyncio: ValueError",
        "ERROR: uvicorn.error: ValueError",
        "ERROR: sqlalchemy.pool: a message",
        "ERROR: ValueError in web/app.py:3",
    ]
