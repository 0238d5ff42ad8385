"""Connections that send too slowly, do not read, or are too many: each is ended, and together they hold little."""

import asyncio
import json
import select
import socket
import struct
import threading
import time
from contextlib import closing, contextmanager
from functools import partial

import pytest
import uvicorn
from uvicorn.server import ServerState

from subsetprivacy.collect.web import connections
from subsetprivacy.collect.web.connections import (
    HEAD_SECONDS,
    MOST_LINES,
    MOST_PARTS,
    MOST_PIPELINED,
    REQUEST_SECONDS,
    WRITE_SECONDS,
    ConnectionLimits,
    LimitedConnection,
)
from subsetprivacy.collect.web.security import Guard
from subsetprivacy.collect.web.serving import bind

REQUEST = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"
LARGE = b"GET /large HTTP/1.1\r\nHost: h\r\n\r\n"
LARGE_BYTES = 2_000_000
PATIENCE = 60  # seconds, for a busy machine; nothing takes that long


CHUNKED = b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
left = []  # who heard that the other side has gone


async def answer(scope, receive, send):
    """Answer with the length of the body, or with something large; or wait until the other side goes."""
    assert scope["type"] == "http"
    if scope["path"] == "/wait":
        while (await receive())["type"] != "http.disconnect":
            pass
        left.append(scope["path"])
    body, more = b"", scope["method"] == "POST" and scope["path"] != "/refused"
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    names = b" ".join(name for name, _ in scope["headers"])
    others = {"/large": bytes(LARGE_BYTES), "/refused": b"no", "/heads": names + b" end"}
    text = others.get(scope["path"], b"%d" % len(body))
    headers = [(b"content-length", b"%d" % len(text))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text})


async def application(scope, receive, send):
    """The same, what is large under the guard, which writes it in pieces."""
    await (Guard(answer) if scope["path"] == "/large" else answer)(scope, receive, send)


class Counting(LimitedConnection):
    """A connection that knows how many bytes have come."""

    came = 0

    def data_received(self, data):
        super().data_received(data)
        self.came += len(data)


class Clock(asyncio.SelectorEventLoop):
    """A loop whose clock stands until it is put forward: on a busy machine, too, nothing is late by itself."""

    ahead = 0.0
    since = None  # when it was let run

    def time(self):
        return self.ahead if self.since is None else self.ahead + super().time() - self.since

    def let_run(self):
        self.since = super().time()


class Served:
    """A server whose time passes when a test says so."""

    def __init__(self, limits=None):
        self.limits = ConnectionLimits() if limits is None else limits
        self.taken = bind("127.0.0.1", 0)
        self._loop = Clock()
        config = uvicorn.Config(
            application,
            http=partial(Counting, limits=self.limits),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=10_000,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._opened = []

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
        self._loop.call_soon_threadsafe(self._loop.let_run)  # the server looks now and then whether it is to end
        self._thread.join(PATIENCE)

    def do(self, act):
        """Do something in the loop, then all that is due; a connection that is aborted is closed a step later."""
        done, results = threading.Event(), []

        def begin():
            results.append(act())
            self._loop.call_later(0, lambda: self._loop.call_soon(self._loop.call_soon, done.set))

        self._loop.call_soon_threadsafe(begin)
        assert done.wait(PATIENCE)
        return results[0]

    def pass_time(self, seconds):
        """Put the clock forward."""

        def put():
            self._loop.ahead += seconds

        self.do(put)

    def wait_until(self, holds):
        """Wait until something holds of the connections."""
        until = time.monotonic() + PATIENCE
        while not self.do(lambda: holds(self._server.server_state.connections)):
            assert time.monotonic() < until

    def pass_time_until(self, seconds, holds):
        """Put the clock forward until something holds; the system may still take some of what waits at first."""
        for _ in range(100):
            self.pass_time(seconds)
            if self.do(lambda: holds(self._server.server_state.connections)):
                return
        pytest.fail("it never does")

    def connect(self, sent=b"", *, window=None):
        """Open a connection, send something by it, and wait until that has come."""
        opened = socket.socket()
        if window is not None:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        opened.settimeout(PATIENCE)
        opened.connect(self.taken.getsockname())
        self._opened.append(opened)
        opened.sendall(sent)
        port = opened.getsockname()[1]
        self.wait_until(lambda held: any(one.client[1] == port and one.came >= len(sent) for one in held))
        return opened

    def send(self, sent):
        """Open a connection and send something by it, whatever becomes of that."""
        opened = socket.create_connection(self.taken.getsockname(), timeout=PATIENCE)
        self._opened.append(opened)
        opened.sendall(sent)
        return opened

    def leave(self):
        """Close what was opened."""
        for one in self._opened:
            one.close()
        self._opened.clear()
        self.wait_until(lambda held: not held)
        limits = self.limits
        assert not limits.open
        assert (limits._sending, limits._stalled, limits._coming, limits._unanswered) == ({}, {}, {}, {})
        assert (limits._bytes, limits._unread) == (0, 0)


@pytest.fixture(scope="module")
def held():
    with Served() as server:
        yield server


@pytest.fixture
def running(held):
    yield held
    held.leave()


@contextmanager
def served(**limits):
    with Served(ConnectionLimits(**limits)) as server:
        yield server
        server.leave()


def is_open(connection):
    """Tell whether the server has neither answered nor closed the connection by now."""
    return not select.select([connection], [], [], 0)[0]


def read_all(connection):
    """Return what the server sends until it closes the connection."""
    content = b""
    try:
        while part := connection.recv(100_000):
            content += part
    except ConnectionResetError:
        pass
    return content


def read_answer(connection, ending):
    content = b""
    while not content.endswith(ending):
        part = connection.recv(1000)
        assert part, "the server has closed the connection"
        content += part
    return content


# Those who send ---------------------------------------------------------------------------------


def test_requests_are_answered_one_after_the_other(running):
    connection = running.connect()
    for _ in range(3):
        connection.sendall(REQUEST + b"abc")
        read_answer(connection, b"\r\n\r\n3")
        running.pass_time(0.7 * REQUEST_SECONDS)  # together longer than one may take


def test_whoever_asks_for_nothing_is_closed_in_silence(running):
    connection = running.connect()
    running.pass_time(0.9 * HEAD_SECONDS)
    assert is_open(connection)
    running.pass_time(0.2 * HEAD_SECONDS)
    assert read_all(connection) == b""


@pytest.mark.parametrize("sent", [b"P", b"POST /x HT", REQUEST[:-2]], ids=["letter", "line", "head"])
def test_a_slow_head_is_told_so_and_closed(running, sent):
    connection = running.connect(sent)
    running.pass_time(0.9 * HEAD_SECONDS)
    assert is_open(connection)
    running.pass_time(0.2 * HEAD_SECONDS)
    head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"\r\nconnection: close\r\n" in head
    assert b"\r\ncache-control: no-store" in head
    assert json.loads(body) == {"status": "busy"}


def test_a_body_that_does_not_end_is_ended_where_nobody_else_does(running):
    connection = running.connect(REQUEST + b"a")
    running.pass_time(0.9 * REQUEST_SECONDS)
    assert is_open(connection)
    running.pass_time(0.2 * REQUEST_SECONDS)
    assert read_all(connection) == b""


def keep_sending(connection, parts, between=lambda: None):
    for part in parts:
        connection.sendall(part)
        between()


def test_dripping_does_not_help(running):
    connection = running.connect()
    letters = [bytes([letter]) for letter in REQUEST * 2]
    assert len(letters) > 2 * REQUEST_SECONDS
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        keep_sending(connection, letters, lambda: running.pass_time(1))


def test_a_head_that_is_far_too_long_is_refused(running):
    line = b"X-Long: " + b"x" * 8000 + b"\r\n"
    connection = running.connect(REQUEST[:-2])
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        keep_sending(connection, [line] * 10_000)


def head_of(lines):
    """Return a head with a number of short lines, without its end."""
    return b"GET /x HTTP/1.1\r\n" + b"a:b\r\n" * lines


def test_a_head_has_a_hundred_lines_at_most(running):
    """Each takes two hundred bytes, however short it is."""
    connection = running.connect(head_of(MOST_LINES) + b"\r\n")
    read_answer(connection, b"\r\n\r\n0")
    for more in (b"a:b\r\n", b"\r\n"):  # a line is known to be complete when the next begins
        answered = read_all(running.send(head_of(MOST_LINES + 1) + more))
        assert answered.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
        assert answered.endswith(b'\r\n\r\n{"status":"refused"}')


@pytest.mark.parametrize("kind", ["line", "lines"])
def test_what_stands_after_a_body_is_limited_like_a_head(running, kind):
    chunked = CHUNKED + b"3\r\nabc\r\n0\r\n"
    connection = running.connect(chunked + b"X-Good: y\r\n\r\n")
    read_answer(connection, b"\r\n\r\n3")
    greedy = running.connect(chunked + b"x:")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        keep_sending(greedy, [b"x" * 8000 if kind == "line" else b"x\r\nx:" * 30] * 10_000)


def test_what_stands_after_a_body_is_no_part_of_the_head(running):
    """Else a token, or who sends a request, could be told after it was looked at."""
    rest = b"3\r\nabc\r\n0\r\nX-After: b\r\nAuthorization: c\r\n\r\n"
    connection = running.connect(
        CHUNKED.replace(b"/x", b"/heads").replace(b"Host: h", b"X-Before: a\r\nHost: h") + rest
    )
    assert read_answer(connection, b"end").endswith(b"\r\n\r\nx-before host transfer-encoding end")


@pytest.mark.parametrize("path", [b"/x", b"/refused"], ids=["read", "thrown away"])
def test_a_body_in_crumbs_is_ended(running, monkeypatch, path):
    """Each part is a call, however short it is: a megabyte in single bytes would be a million."""
    calls, take = [], LimitedConnection.on_body
    monkeypatch.setattr(LimitedConnection, "on_body", lambda self, body: calls.append(len(body)) or take(self, body))
    head = CHUNKED.replace(b"/x", path)
    fine = running.connect(head + b"1\r\na\r\n" * MOST_PARTS + b"0\r\n\r\n")
    read_answer(fine, b"no" if path == b"/refused" else b"\r\n\r\n%d" % MOST_PARTS)
    calls.clear()
    greedy = running.connect(head)
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        keep_sending(greedy, [b"1\r\na\r\n" * 1000] * 10_000)
    assert len(calls) <= MOST_PARTS + 3


def test_a_body_may_come_in_as_many_parts_as_a_network_makes_of_it(running):
    parts = 4 * MOST_PARTS
    connection = running.connect(CHUNKED + b"200\r\n%s\r\n" % bytes(512) * parts + b"0\r\n\r\n")
    read_answer(connection, b"\r\n\r\n%d" % (512 * parts))


def test_all_who_asked_in_a_row_hear_that_the_other_side_has_gone(running):
    """Who does not hear it writes to nobody, and each time that is a line in the log."""
    left.clear()
    connection = running.connect(b"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n" * 3)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    running.wait_until(lambda held: left)
    assert left == ["/wait"]  # the others were not begun


def test_what_is_not_http_is_refused_in_our_words(running):
    connection = running.connect()
    connection.sendall(b"\x16\x03\x01 CANARY\r\n\r\n")
    answered = read_all(connection)
    assert answered.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert answered.endswith(b'\r\n\r\n{"status":"refused"}')
    assert b"CANARY" not in answered


def test_requests_in_a_row_are_answered_up_to_a_number(running):
    many = 1 + MOST_PIPELINED
    connection = running.connect((REQUEST + b"abc") * many)
    answers = b""
    while answers.count(b"HTTP/1.1 200 OK") < many:
        answers += connection.recv(1000)
    greedy = running.connect()
    greedy.sendall(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n" * 1000)
    running.wait_until(lambda held: len(held) == 1)
    assert read_all(greedy).count(b"HTTP/1.1") <= many


def test_whoever_does_not_read_may_not_ask_for_more(running):
    connection = running.connect(LARGE, window=2048)
    running.wait_until(stalled)
    connection.sendall(LARGE)
    running.wait_until(lambda held: not held)


def test_the_rest_of_a_refused_body_is_thrown_away_up_to_a_size(running):
    """Closed at once, the connection would take the answer with it."""
    head = b"POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"
    connection = running.connect(head % 3_000_000)
    read_answer(connection, b"no")
    connection.sendall(bytes(3_000_000) + REQUEST + b"abc")
    read_answer(connection, b"\r\n\r\n3")
    greedy = running.connect(head % 300_000_000)
    read_answer(greedy, b"no")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        keep_sending(greedy, [bytes(100_000)] * 3000)


# Those who read ---------------------------------------------------------------------------------


def stalled(held):
    return [one for one in held if one.flow.write_paused]


def test_whoever_never_reads_holds_little_and_is_ended(running):
    connection = running.connect(LARGE, window=2048)
    running.wait_until(stalled)
    (size,) = running.do(lambda: [one.transport.get_write_buffer_size() for one in running.limits.open])
    assert 0 < size <= connections._HIGH_WATER + 32 * 1024
    running.pass_time(0.9 * WRITE_SECONDS)
    running.wait_until(stalled)
    running.pass_time_until(1.1 * WRITE_SECONDS, lambda held: not held)
    assert len(read_all(connection)) < LARGE_BYTES


def test_whoever_reads_slowly_gets_all_of_it(running):
    connection = running.connect(LARGE, window=32_768)
    running.wait_until(stalled)
    got = pauses = 0
    while got < LARGE_BYTES:
        part = connection.recv(20_000)
        assert part, "the server has closed the connection"
        got += len(part)
        if got // 200_000 > pauses:  # more than the system holds on both sides: the server has written by now
            pauses += 1
            running.pass_time(0.5 * WRITE_SECONDS)
    assert pauses >= 10  # several times as long as somebody who reads nothing may take


@pytest.mark.parametrize("sent", [LARGE * 3, LARGE[:-2] + b"Connection: close\r\n\r\n"], ids=["many", "one"])
def test_no_way_of_asking_keeps_what_is_not_read(running, sent):
    running.connect(sent, window=2048)
    running.wait_until(stalled)
    running.pass_time_until(1.1 * WRITE_SECONDS, lambda held: not held)


class Unread:
    """The connection to somebody who takes few bytes or none of what is left."""

    left, is_closed, aborted = 20_000, False, False

    def get_extra_info(self, name):
        return None

    def set_write_buffer_limits(self, high, low):
        assert high > self.left > low  # nobody was made to wait

    def get_write_buffer_size(self):
        return self.left

    def is_closing(self):
        return self.is_closed

    def close(self):
        self.is_closed = True

    def abort(self):
        self.aborted = True


@pytest.mark.parametrize("closed", ["after the answer", "when nothing more is asked"])
def test_the_end_of_an_answer_that_is_not_read_is_not_kept_either(closed):
    transport = Unread()
    with closing(Clock()) as loop:

        def pass_time():
            loop.ahead += 1.1 * WRITE_SECONDS
            loop.run_until_complete(asyncio.sleep(0))

        config = uvicorn.Config(application, ws="none", lifespan="off", log_config=None)
        connection = LimitedConnection(config, ServerState(), {}, loop, limits=ConnectionLimits())
        connection.connection_made(transport)
        connection._stop_waiting()  # as when a request has come
        if closed == "after the answer":
            transport.close()
            connection.on_response_complete()
        else:
            connection.timeout_keep_alive_handler()
        for _ in range(3):
            transport.left -= 1  # that is read
            pass_time()
            assert not transport.aborted
        pass_time()
        assert transport.aborted


# All together -----------------------------------------------------------------------------------


def test_of_too_many_connections_the_one_that_waited_longest_goes():
    with served(most=3) as server:
        idle = [server.connect() for _ in range(3)]
        idle[0].sendall(REQUEST + b"abc")
        read_answer(idle[0], b"\r\n\r\n3")  # so the second has been silent for longest
        newest = server.connect(REQUEST)
        assert read_all(idle[1]) == b""
        newest.sendall(b"abc")
        read_answer(newest, b"\r\n\r\n3")
        assert is_open(idle[0])
        assert is_open(idle[2])
        server.wait_until(lambda held: len(held) == 3)


def test_of_too_many_that_do_not_read_the_slowest_goes():
    with served(most_stalled=2) as server:
        for number in (1, 2, 2, 2):
            server.connect(LARGE, window=2048)
            server.wait_until(lambda held, number=number: len(stalled(held)) == len(held) == number)
        assert len(server.do(lambda: list(server.limits._stalled))) == 2


def test_of_too_many_bytes_that_are_not_read_the_oldest_go():
    """An answer is kept as long as it is not read, though it is written in pieces."""
    with served(most_unread=2 * LARGE_BYTES) as server:
        for number in (1, 2, 2, 2):
            server.connect(LARGE, window=2048)
            server.wait_until(lambda held, number=number: len(stalled(held)) == len(held) == number)
        assert server.do(lambda: server.limits._unread) == 2 * LARGE_BYTES
    with served(most_unread=LARGE_BYTES // 2) as server:  # the last one may be larger
        only = server.connect(LARGE, window=2048)
        server.wait_until(lambda held: len(stalled(held)) == 1)
        assert len(read_answer(only, bytes(1000))) > 0


def test_of_too_many_bytes_of_bodies_the_oldest_go():
    post = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 50000\r\n\r\n" + bytes(40_000)
    with served(most_bytes=100_000) as server:
        first, second = server.connect(post), server.connect(post)
        third = server.send(post)
        assert read_all(first) == b""
        for one in (second, third):
            one.sendall(bytes(10_000))
            read_answer(one, b"\r\n\r\n50000")


def test_of_too_many_heads_that_do_not_end_the_oldest_go():
    """What counts is the memory that they take, not their bytes."""
    size = len(head_of(50)) + 51 * connections._LINE_BYTES
    with served(most_bytes=3 * size + 1000) as server:
        heads = [server.connect(head_of(50)) for _ in range(3)]
        assert server.do(lambda: server.limits._bytes) == 3 * size
        heads.append(server.connect(head_of(50)))
        assert read_all(heads[0]) == b""
        for one in heads[1:]:
            one.sendall(b"\r\n")
            read_answer(one, b"\r\n\r\n0")
        server.wait_until(lambda _: server.limits._bytes == 0)


def test_requests_are_counted_until_they_are_answered():
    rest = head_of(50) + b"\r\n"
    with served(most_bytes=100_000) as server:
        for number in (1, 2):
            server.connect(LARGE + rest * MOST_PIPELINED, window=2048)
            server.wait_until(lambda held, number=number: len(stalled(held)) == number)
        each = server.do(lambda: list(server.limits._unanswered.values()))
        assert each == [len(LARGE + rest * MOST_PIPELINED) + (3 + 52 * MOST_PIPELINED) * connections._LINE_BYTES] * 2
        half = server.connect(head_of(50))
        full = server.connect(REQUEST)
        post = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n"
        newest = server.connect(post)
        newest.sendall(bytes(60_000))
        read_answer(newest, b"\r\n\r\n60000")
        assert read_all(half) == b""  # what is not complete goes first
        assert read_all(full) == b""
        assert len(server.do(lambda: list(server.limits._stalled))) == 1  # and then the one that waited longest
