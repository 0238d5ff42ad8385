"""Limits on the time and memory of each connection, and of all connections together.

A client that sends too slowly gets an error, and its connection is closed. A client that does not read is disconnected.
If too many connections are open or use memory, the one that has kept the server waiting the longest is closed first. In
a flood of idle connections, that is usually one of the flood, and seldom a person.
"""

import json
from asyncio import TimerHandle, Transport
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast

from attrs import define, field
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from subsetprivacy.collect.web.security_headers import headers_of

HEAD_SECONDS = 10.0  # from the first byte of a request to the end of its head
REQUEST_SECONDS = 30.0  # to its end, if the application does not stop it earlier
WRITE_SECONDS = 30.0  # within which the client must read something
HEAD_BYTES = 16 * 1024  # also between two parts of a body, where nothing useful can be
MOST_LINES = 100  # of a request head; browsers and proxies send fewer than 50
_LINE_BYTES = 200  # memory of a line of a head, in addition to its text
MOST_UNWANTED = 4 * 1024 * 1024  # bytes of a body that arrive after it was refused, and are discarded
# A body may arrive in this many parts, and one more for each so many bytes. Each part costs a call, however short it
# is. The parts that a network makes of a body are longer.
MOST_PARTS, _PART_BYTES = 256, 256
MOST_PIPELINED = 2  # requests sent before an earlier one was answered
# The connection buffers output up to the first number. Then the application waits until only the second is left.
_HIGH_WATER, _LOW_WATER = 32 * 1024, 8 * 1024
ANSWER_BYTES = "subsetprivacy.answer_bytes"  # the key in a request's scope with the length of a long reply
# The buffer in the operating system, which uses twice that. By default it may use megabytes.
SOCKET_BYTES = 64 * 1024


@define(eq=False)
class ConnectionLimits:
    """All connections of a server, and their limits together.

    Parameters
    ----------
    most
        The most open connections.
    most_stalled
        The most connections with more unread output than fits into their buffers, 64 KB each.
    most_unread
        The most bytes of replies that these connections do not read.
    most_bytes
        The most bytes of unanswered and incomplete requests.
    """

    most: int = 8000
    most_stalled: int = 512
    most_unread: int = 64 * 1024 * 1024
    most_bytes: int = 64 * 1024 * 1024
    open: "set[LimitedConnection]" = field(init=False, factory=set)
    # Each in the order of how long the server has waited for them to send or to read.
    _sending: "dict[LimitedConnection, None]" = field(init=False, factory=dict)
    _stalled: "dict[LimitedConnection, int]" = field(init=False, factory=dict)
    _unread: int = field(init=False, default=0)
    # The unanswered bytes of each connection, and the connections with incomplete requests.
    _unanswered: "dict[LimitedConnection, int]" = field(init=False, factory=dict)
    _coming: "dict[LimitedConnection, None]" = field(init=False, factory=dict)
    _bytes: int = field(init=False, default=0)

    def enter(self, connection: "LimitedConnection") -> None:
        """Add a connection, closing another one if necessary."""
        self.open.add(connection)
        self.wait_for(connection)
        if len(self.open) > self.most:
            self._shed_first(self._sending or self._stalled)

    def leave(self, connection: "LimitedConnection") -> None:
        """Forget a connection."""
        self.open.discard(connection)
        self.has_sent(connection)
        self.has_read(connection)
        self.is_answered(connection)

    def wait_for(self, connection: "LimitedConnection") -> None:
        """Begin to wait for a request."""
        self._sending.pop(connection, None)
        self._sending[connection] = None

    def take(self, connection: "LimitedConnection", size: int) -> None:
        """Count a part of a request. If necessary, close another connection, first one with an incomplete request."""
        self._unanswered[connection] = self._unanswered.get(connection, 0) + size
        self._bytes += size
        if connection in self._sending:
            self._coming[connection] = None
        while self._bytes > self.most_bytes:
            others = (
                other for waiting in (self._coming, self._unanswered) for other in waiting if other is not connection
            )
            self._shed(next(others, connection))

    def has_sent(self, connection: "LimitedConnection") -> None:
        """Stop waiting for a request that is complete."""
        self._sending.pop(connection, None)
        self._coming.pop(connection, None)

    def is_answered(self, connection: "LimitedConnection") -> None:
        """Note that all requests of a connection are answered."""
        self._coming.pop(connection, None)
        self._bytes -= self._unanswered.pop(connection, 0)

    def stall(self, connection: "LimitedConnection", size: int) -> None:
        """Note that a connection does not read. A reply of this size is kept until it does."""
        self._stalled[connection] = size
        self._unread += size
        while len(self._stalled) > self.most_stalled or (self._unread > self.most_unread and len(self._stalled) > 1):
            self._shed_first(self._stalled)

    def has_read(self, connection: "LimitedConnection") -> None:
        """Note that a connection reads again."""
        self._unread -= self._stalled.pop(connection, 0)

    def _shed_first(self, waiting: "Mapping[LimitedConnection, object]") -> None:
        """Close the connection that has kept the server waiting the longest."""
        if waiting:
            self._shed(next(iter(waiting)))

    def _shed(self, connection: "LimitedConnection") -> None:
        self.leave(connection)
        connection.transport.abort()


class LimitedConnection(HttpToolsProtocol):
    """A connection that closes when its client does not send, does not read, or sends too much at once."""

    _head: bool | None = False  # whether a part of a head has arrived; None once it is complete
    _lines = 0  # of the head
    _between = 0  # bytes since the request began, its head ended, or a part of its body arrived
    _sending: TimerHandle | None = None
    _reading: TimerHandle | None = None
    _parts = _body = 0  # the number of parts of a body, and its bytes
    _unwanted = 0  # bytes of the body that arrived after the reply
    _asked: tuple[RequestResponseCycle, ...] = ()  # requests that were unanswered when the last one arrived
    _left = 0  # unread bytes at the last check

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits = limits

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(_HIGH_WATER, _LOW_WATER)
        self._wait()
        self._limits.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        for cycle in self._asked:  # uvicorn tells only the last one; the others would continue to write
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        self._stop_waiting()
        self._stop_watching()
        self._limits.leave(self)
        super().connection_lost(exc)

    # What is sent to us -----------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        for at in range(0, len(data), HEAD_BYTES):
            piece = data[at : at + HEAD_BYTES]
            lines = 0 if self._head is None else piece.count(b"\n")
            self._limits.take(self, len(piece) + lines * _LINE_BYTES)
            self._between += len(piece)
            if self.transport.is_closing():
                return  # ignore the rest
            super().data_received(piece)
            if self._between > HEAD_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "refused")
            self._forget_answered()

    def _forget_answered(self) -> None:
        """Free the memory of answered requests, and discard the rest of a body."""
        if self._head is not True and self.cycle is not None and self.cycle.response_complete:
            self._limits.is_answered(self)

    def on_message_begin(self) -> None:
        """Wait for another request."""
        if len(self.pipeline) >= MOST_PIPELINED or self.flow.write_paused:  # sends more requests without reading
            self.transport.abort()
            raise ConnectionAbortedError  # ignore the rest of the input
        super().on_message_begin()
        self._unwanted = self._lines = self._between = self._parts = self._body = 0
        self._head = True
        self._wait()
        self._limits.wait_for(self)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of a head. Lines after a body are counted, but are not part of the head."""
        self._lines += 1
        if self._lines > MOST_LINES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "refused")
            raise ConnectionAbortedError
        if self._head is not None:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Take the head of a request."""
        self._head = None
        self._between = 0
        super().on_headers_complete()
        self._asked = (*(cycle for cycle in self._asked if not cycle.response_complete), self.cycle)

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, or discard it."""
        self._between = 0
        self._parts += 1
        self._body += len(body)
        if self._parts > MOST_PARTS + self._body // _PART_BYTES:
            self.transport.abort()
            raise ConnectionAbortedError
        if self.cycle.response_complete:
            self._unwanted += len(body)
            if self._unwanted > MOST_UNWANTED:
                self.transport.abort()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop waiting."""
        self._head = False
        self._between = 0
        self._stop_waiting()
        self._limits.has_sent(self)
        super().on_message_complete()

    def _wait(self) -> None:
        self._stop_waiting()
        self._sending = self.loop.call_later(HEAD_SECONDS, self._check_head)

    def _check_head(self) -> None:
        if self._head is None and self._sending is not None:  # the application says when a body is too slow
            last = self._sending.when() + REQUEST_SECONDS - HEAD_SECONDS
            self._sending = self.loop.call_at(last, self.transport.abort)
        elif not self._head:
            self.transport.abort()  # there was no request
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "busy")

    def _stop_waiting(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def send_400_response(self, msg: str) -> None:
        """Refuse input that is not HTTP, with our own text."""
        self._refuse(HTTPStatus.BAD_REQUEST, "refused")

    def _refuse(self, status: HTTPStatus, word: str) -> None:
        """Refuse a request that the application has not seen, and close."""
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()  # a reply is being sent, and this one would end up inside it
            return
        body = json.dumps({"status": word}, separators=(",", ":")).encode()
        own = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        lines = [b"HTTP/1.1 %d %s" % (status.value, status.phrase.encode())]
        lines += [name + b": " + value for name, value in (*own, *headers_of("data"))]
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self.transport.close()
        self._watch()

    # What is to be read by others -------------------------------------------------------------

    def pause_writing(self) -> None:
        """Pause the application, and check whether the client reads."""
        super().pause_writing()
        self._watch()
        scopes = [cast("dict[str, Any]", cycle.scope) for cycle in self._asked if not cycle.response_complete]
        self._limits.stall(self, sum(scope.get(ANSWER_BYTES, 0) for scope in scopes))

    def resume_writing(self) -> None:
        """Let the application continue."""
        self._stop_watching()
        self._limits.has_read(self)
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Wait for the next request, or until the reply was read if the connection will be closed."""
        super().on_response_complete()
        self._forget_answered()
        if self.transport.is_closing():
            self._watch()
        elif not self.pipeline and self._sending is None:
            self._limits.wait_for(self)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection once it has read the last reply."""
        super().timeout_keep_alive_handler()
        self._watch()

    def _watch(self) -> None:
        self._stop_watching()
        self._left = self.transport.get_write_buffer_size()
        if self._left:
            self._reading = self.loop.call_later(WRITE_SECONDS, self._check_read)

    def _check_read(self) -> None:
        if self.transport.get_write_buffer_size() < self._left:
            self._watch()
        else:
            self.transport.abort()

    def _stop_watching(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
