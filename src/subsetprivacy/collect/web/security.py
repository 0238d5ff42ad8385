"""The outermost layer of every route: fixed headers, origin checks, limits on size, and errors without details.

The server reads a body larger than a form only once the sender is known. It writes replies in pieces, so that a client
that reads slowly occupies the memory of one piece. The headers depend only on the kind of route, and are written out in
full. There are no tokens against forged requests, because browsers report where a request comes from. Requests are
never logged.
"""

import asyncio
import logging
import re
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from subsetprivacy.collect.survey.submission import MOST_BYTES
from subsetprivacy.collect.web.connections import ANSWER_BYTES
from subsetprivacy.collect.web.refusals import refusal
from subsetprivacy.collect.web.security_headers import headers_of, kind_of

READ_SECONDS = 10.0
SURVEY_BYTES = 256 * 1024  # of the text of a survey
_SMALL_BYTES = MOST_BYTES  # what anyone may send: answers to a survey, or a form with the longest passwords
_LARGE_BYTES = 4 * SURVEY_BYTES  # a text in a form, where every byte may become three
MOST_LARGE = 8  # bodies larger than small in memory at once
PIECE_BYTES = 32 * 1024  # of a reply
MOST_QUERY = 2048  # bytes after the "?" of an address
_SAFE = {"GET", "HEAD", "OPTIONS"}
# Our cookies as we set them. No others are passed on, because the framework parses all cookies for every request, and
# older versions of Python take half a second for 16 KB of quotes and backslashes.
_OWN_COOKIE = re.compile(rb"(?:__Secure-)?studio_[a-z]+(?:_[0-9]{1,5})?=[A-Za-z0-9_-]{1,100}")
_PORTS = {"http": ":80", "https": ":443"}
_PACKAGE = str(Path(__file__).parents[2])
_log = logging.getLogger("subsetprivacy.collect")


class AccessControl(Protocol):
    """The checks that distinguish strangers from known senders."""

    async def turns_away(self, scope: Scope) -> bool:
        """Tell whether a request is refused unread because too many strangers are waiting."""

    async def refuse_stranger(self, kind: str, scope: Scope) -> Response | None:
        """Return the reply to a sender who may not send a large body, or None for an owner, who may."""


class Guard:
    """The outermost layer of the application.

    Parameters
    ----------
    app
        The application behind it.
    secure
        Whether people reach the server by https.
    base_url
        The address at which people reach it, if known. Requests from there also count as its own.
    access
        The check of senders. Without it, no one is a stranger.
    """

    def __init__(
        self, app: ASGIApp, *, secure: bool = False, base_url: str | None = None, access: AccessControl | None = None
    ) -> None:
        self._app = app
        self._secure = secure
        self._access = access
        self._large = 0
        self._origins = set() if base_url is None else {_origin(base_url)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        kind = kind_of(scope["path"])
        scope["headers"] = _with_own_cookies(scope["headers"])
        guarded = _Sender(send, headers_of(kind, secure=self._secure), scope, is_head=scope["method"] == "HEAD")
        if scope["method"] == "HEAD":  # answered like GET, without the body
            scope = {**scope, "method": "GET"}
        try:
            await self._answer(kind, scope, receive, guarded)
        except Exception as error:  # any error
            status = note_failure(error)
            if not guarded.has_begun:
                await _refused(kind, status)(scope, receive, guarded)

    async def _answer(self, kind: str, scope: Scope, receive: Receive, send: Send) -> None:
        if "\0" in scope["path"]:  # not in any of our addresses, and PostgreSQL refuses such text
            await _refused(kind, 404)(scope, receive, send)
            return
        if len(scope["query_string"]) > MOST_QUERY:
            await _refused(kind, 414)(scope, receive, send)
            return
        if scope["method"] in _SAFE:
            await self._app(scope, receive, send)
            return
        status = self._objection(kind, scope)
        if status is None and self._access is not None and await self._access.turns_away(scope):
            status = 503
        if status is not None:
            await _refused(kind, status)(scope, receive, send)
            return
        size = _declared_bytes(scope["headers"])
        if _may_be_large(kind, scope["path"]) and (size is None or size > _SMALL_BYTES):
            await self._answer_large(kind, scope, receive, send)
        else:
            await self._pass_on(kind, scope, receive, send, _SMALL_BYTES)

    async def _answer_large(self, kind: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a large body if the sender may send one."""
        stranger = None if self._access is None else await self._access.refuse_stranger(kind, scope)
        if stranger is not None:
            await stranger(scope, receive, send)
            return
        if self._large >= MOST_LARGE:
            await _refused(kind, 503)(scope, receive, send)
            return
        self._large += 1
        try:
            await self._pass_on(kind, scope, receive, send, _LARGE_BYTES)
        finally:
            self._large -= 1

    async def _pass_on(self, kind: str, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        """Read a body and let the application answer."""
        size = _declared_bytes(scope["headers"])
        body = 413 if size is not None and size > most else await read_in_time(receive, most)
        if body is None:
            return  # the browser has gone
        if isinstance(body, int):
            await _refused(kind, body)(scope, receive, send)
            return
        await self._app(scope, _Replay(body, receive), send)

    def _objection(self, kind: str, scope: Scope) -> int | None:
        """Return the status that refuses a changing request before it is read, or None."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if kind in {"page", "data"}:
            return None if is_json(headers) else 415
        if kind == "api":
            return None  # by token only: cookies are ignored
        return None if self._is_own(headers, scope["scheme"]) else 403

    def _is_own(self, headers: Sequence[tuple[bytes, bytes]], scheme: str) -> bool:
        """Tell whether a page of this server sends the request.

        Browsers report this in Sec-Fetch-Site, except over plain http on a local network. There the Origin must be
        ours.
        """
        site = _values(headers, b"sec-fetch-site")
        if site:
            return site in (["same-origin"], ["none"])
        host, origin = _values(headers, b"host"), _values(headers, b"origin")
        if len(host) != 1 or len(origin) != 1:
            return False
        try:
            own = _origin(f"{'https' if self._secure else scheme}://{host[0]}")
        except ValueError:
            return False  # no host has this name
        return origin[0].lower() in self._origins | {own}


_ALONG = {408: {"Connection": "close"}, 503: {"Retry-After": "1"}}


def _refused(kind: str, status: int) -> Response:
    """Return the reply that refuses a request.

    The connection discards the rest of a body. A browser that is still sending would not see the reply if the
    connection were closed.
    """
    return refusal(kind, status, headers=_ALONG.get(status))


class _Sender:
    """Send the application's reply with the headers of its kind, in pieces. For HEAD, send only the headers."""

    def __init__(
        self, send: Send, headers: Sequence[tuple[bytes, bytes]], scope: Scope, *, is_head: bool = False
    ) -> None:
        self._send = send
        self._scope = scope
        self._is_head = is_head
        self._headers = headers
        self._names = {name for name, _ in headers} | {b"server"}
        self.has_begun = False

    def _of(self, status: int) -> Sequence[tuple[bytes, bytes]]:
        if status < 400:
            return self._headers
        # A refusal is never cached, whatever the route's good replies are.
        return [(name, b"no-store" if name == b"cache-control" else value) for name, value in self._headers]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            own = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in self._names]
            message = {**message, "headers": [*own, *self._of(message["status"])]}
        elif self._is_head:
            message = {**message, "body": b""}
        elif len(message.get("body", b"")) > PIECE_BYTES:
            self._scope[ANSWER_BYTES] = len(message["body"])  # the whole reply is kept until the last piece is read
            body = memoryview(message["body"])
            last = (len(body) - 1) // PIECE_BYTES * PIECE_BYTES
            for at in range(0, last, PIECE_BYTES):  # each waits until the last is read
                piece = body[at : at + PIECE_BYTES]
                await self._send({"type": message["type"], "body": piece, "more_body": True})
            message = {**message, "body": body[last:]}
        await self._send(message)


class _Replay:
    """Pass the body that was read to the application."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def read_in_time(receive: Receive, most: int) -> bytes | int | None:
    """Return the body, the status to refuse it with, or None if the browser has gone."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await _read_body(receive, most)
    except TimeoutError:
        return 408


async def _read_body(receive: Receive, most: int) -> bytes | int | None:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        size += len(message.get("body", b""))
        if size > most:
            return 413
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _may_be_large(kind: str, path: str) -> bool:
    """Tell whether a route takes survey texts or lists of codes."""
    return kind not in {"page", "data"} and (path.endswith("codes") or "/drafts" in path)


def _declared_bytes(headers: Sequence[tuple[bytes, bytes]]) -> int | None:
    """Return the declared length of a body, or None."""
    lengths = _values(headers, b"content-length")
    if not lengths:
        return None if _values(headers, b"transfer-encoding") else 0
    return int(lengths[0]) if len(lengths) == 1 and lengths[0].isascii() and lengths[0].isdigit() else None


def _with_own_cookies(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers without foreign cookies."""
    kept = []
    for name, value in headers:
        if name.lower() == b"cookie":
            own = [cookie for part in value.split(b";") if _OWN_COOKIE.fullmatch(cookie := part.strip())]
            if own:
                kept.append((name, b"; ".join(own)))
        else:
            kept.append((name, value))
    return kept


def _values(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for key, value in headers if key.lower() == name]


def is_json(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Tell whether a request says that it is JSON."""
    return [text.partition(";")[0].strip().lower() for text in _values(headers, b"content-type")] == [
        "application/json"
    ]


def _origin(address: str) -> str:
    """Return the origin of an address as a browser writes it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}".lower().removesuffix(_PORTS.get(parts.scheme, ""))


def note_failure(error: Exception) -> int:
    """Log only where a request failed, and return its status. The client may retry if the database is unavailable."""
    _log.error("%s in %s", type(error).__name__, _place(error))
    return 503 if isinstance(error, (OperationalError, PoolTimeout)) else 500


def _place(error: BaseException) -> str:
    """Return the file and line of this package where an error occurred."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(_PACKAGE)]
    return f"{frames[-1].filename.removeprefix(_PACKAGE)}:{frames[-1].lineno}" if frames else "the server"
