"""The network that the tests of faults make: each mode is what its name says, so that those tests test something."""

import socket
import socketserver
import threading

import pytest
from faults import PATIENCE, Proxy

QUIET_SECONDS = 0.2  # after which nothing has come


class Echo(socketserver.BaseRequestHandler):
    """Sends back what it is sent."""

    def handle(self):
        while piece := self.request.recv(100):
            self.request.sendall(piece)


class Echoes(socketserver.ThreadingTCPServer):
    """A server of echoes, whose threads nobody waits for."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, address):
        """Say nothing: connections are reset here on purpose."""


@pytest.fixture
def proxy():
    with Echoes(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        made = Proxy(*server.server_address)
        yield made
        made.close()
        server.shutdown()


@pytest.fixture
def connect(proxy):
    """Make connections through the proxy."""
    made = []

    def connect():
        made.append(socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE))
        return made[-1]

    yield connect
    for one in made:
        one.close()


def answers(connection):
    """Send something and tell whether it comes back."""
    connection.sendall(b"?")
    return connection.recv(1) == b"?"


def is_silent(connection):
    """Send something and tell whether nothing comes back for a while."""
    connection.sendall(b"?")
    connection.settimeout(QUIET_SECONDS)
    try:
        connection.recv(1)
    except TimeoutError:
        return True
    else:
        return False  # an answer, or the end
    finally:
        connection.settimeout(PATIENCE)


def is_ended(connection):
    """Tell whether the other side has ended a connection."""
    try:
        return not connection.recv(1)
    except ConnectionError:
        return True


def is_refused(connect):
    """Tell whether a new connection ends at once."""
    try:
        return is_ended(connect())
    except ConnectionError:
        return True


def test_pass_carries_to_and_fro(proxy, connect):
    connection = connect()
    assert answers(connection)
    assert proxy.delayed == 0
    proxy.do("pass", 0.05)
    assert answers(connection)
    assert proxy.delayed == 2  # the question and the answer


def test_hold_keeps_everything_until_it_passes_again(proxy, connect):
    before = connect()
    assert answers(before)
    proxy.do("hold")
    after = connect()
    assert is_silent(before)
    assert is_silent(after)
    proxy.do("pass")
    assert before.recv(1) == b"?"
    assert after.recv(1) == b"?"


def test_lose_leaves_what_was_connected_dead(proxy, connect):
    before = connect()
    assert answers(before)
    proxy.do("lose")
    assert is_silent(before)
    proxy.do("pass")
    assert is_silent(before)
    assert answers(connect())


def test_drop_ends_every_connection(proxy, connect):
    before = connect()
    assert answers(before)
    proxy.do("drop")
    assert is_ended(before)
    assert is_refused(connect)
    proxy.do("pass")
    assert answers(connect())
