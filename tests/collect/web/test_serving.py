"""The server's own limits and its log: a request that does not end is ended, and no line holds anything of anybody."""

import logging
import logging.config
import socket
import threading
import time

import pytest
import uvicorn

from subsetprivacy.collect.web import serving
from subsetprivacy.errors import ArgumentError

REQUEST = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"


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


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.4)
    taken = serving.bind("127.0.0.1", 0)
    config = uvicorn.Config(echo, http=serving.Connection, ws="none", lifespan="off", log_config=None, access_log=False)
    held = uvicorn.Server(config)
    thread = threading.Thread(target=held.run, kwargs={"sockets": [taken]})
    thread.start()
    while not held.started:
        time.sleep(0.01)
    yield taken.getsockname()
    held.should_exit = True
    thread.join(10)


@pytest.fixture
def connect(server):
    opened = []

    def make():
        opened.append(socket.create_connection(server, timeout=5))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def is_ended(connection):
    """Wait until the server closes the connection; True if it does without an answer."""
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


def test_requests_are_answered_one_after_the_other(connect):
    connection = connect()
    for _ in range(3):
        connection.sendall(REQUEST + b"abc")
        assert connection.recv(1000).endswith(b"\r\n\r\n3")
        time.sleep(0.3)  # together longer than one may take


@pytest.mark.parametrize(
    "sent", [b"", b"POST /x HT", REQUEST[:-2], REQUEST + b"a"], ids=["nothing", "line", "head", "body"]
)
def test_a_request_that_does_not_end_is_ended(connect, sent):
    connection = connect()
    connection.sendall(sent)
    began = time.monotonic()
    assert is_ended(connection)
    assert 0.3 < time.monotonic() - began < 3


def keep_sending(connection, parts, pause=0.0):
    for part in parts:
        connection.sendall(part)
        time.sleep(pause)


def test_dripping_does_not_help(connect):
    began = time.monotonic()
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        keep_sending(connect(), [bytes([letter]) for letter in REQUEST * 100], 0.05)
    assert time.monotonic() - began < 3


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
