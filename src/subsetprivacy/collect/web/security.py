"""What stands before every route: literal headers, whose request it is, how much may be sent, errors without details.

The headers depend on the kind of route alone, and are written out here word for word. There are no tokens against
forged requests: a browser says itself where a request comes from. Nothing of a request is ever logged.
"""

import asyncio
import logging
import traceback
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from subsetprivacy.collect.survey.submission import MOST_BYTES
from subsetprivacy.collect.web.refusals import refusal
from subsetprivacy.collect.web.security_headers import headers_of, kind_of

READ_SECONDS = 10.0
SURVEY_BYTES = 256 * 1024  # of the text of a survey
_FORM_BYTES = 64 * 1024
_TEXT_FORM_BYTES = 4 * SURVEY_BYTES  # a text in a form: every byte may become three
_RESPONDENT_BYTES = MOST_BYTES
_SAFE = {"GET", "HEAD", "OPTIONS"}
_PORTS = {"http": ":80", "https": ":443"}
_PACKAGE = str(Path(__file__).parents[2])
_log = logging.getLogger("subsetprivacy.collect")


class Guard:
    """The outermost layer of the application.

    Parameters
    ----------
    app
        What it stands before.
    secure
        Whether people reach the server by https.
    base_url
        The address people reach it by, where it is known; requests from there are its own, too.
    """

    def __init__(self, app: ASGIApp, *, secure: bool = False, base_url: str | None = None) -> None:
        self._app = app
        self._secure = secure
        self._origins = set() if base_url is None else {_origin(base_url)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        kind = kind_of(scope["path"])
        guarded = _Sender(send, headers_of(kind, secure=self._secure))
        try:
            await self._answer(kind, scope, receive, guarded)
        except Exception as error:  # whatever it is
            status = note_failure(error)
            if not guarded.has_begun:
                again = {"Retry-After": "1"} if status == 503 else None
                await refusal(kind, status, headers=again)(scope, receive, guarded)

    async def _answer(self, kind: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in _SAFE:
            await self._app(scope, receive, send)
            return
        status = self._objection(kind, scope)
        body: bytes | int | None = status
        if status is None:
            body = await _read_in_time(receive, _most_bytes(kind, scope["path"]))
        if body is None:
            return  # the browser has gone
        if isinstance(body, int):
            close = {"Connection": "close"}  # the rest of the body is not waited for
            await refusal(kind, body, headers=close)(scope, receive, send)
            return
        await self._app(scope, _Replay(body, receive), send)

    def _objection(self, kind: str, scope: Scope) -> int | None:
        """Return the status with which a request that changes something is refused before it is read."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if kind in {"page", "data"}:
            return None if is_json(headers) else 415
        if kind == "api":
            return None  # by token only: cookies are not looked at
        return None if self._is_own(headers, scope["scheme"]) else 403

    def _is_own(self, headers: Sequence[tuple[bytes, bytes]], scheme: str) -> bool:
        """Tell whether a page of this server sends the request.

        Browsers say so in Sec-Fetch-Site, but not to plain http on a local network: there the Origin must be ours.
        """
        site = _values(headers, b"sec-fetch-site")
        if site:
            return site in (["same-origin"], ["none"])
        host, origin = _values(headers, b"host"), _values(headers, b"origin")
        if len(host) != 1 or len(origin) != 1:
            return False
        own = _origin(f"{'https' if self._secure else scheme}://{host[0]}")
        return origin[0].lower() in self._origins | {own}


class _Sender:
    """Sends what the application answers under the headers of its kind."""

    def __init__(self, send: Send, headers: Sequence[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._headers = headers
        self._names = {name for name, _ in headers} | {b"server"}
        self.has_begun = False

    def _of(self, status: int) -> Sequence[tuple[bytes, bytes]]:
        if status < 400:
            return self._headers
        # A refusal is never kept, whatever the route's good answers are.
        return [(name, b"no-store" if name == b"cache-control" else value) for name, value in self._headers]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            own = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in self._names]
            message = {**message, "headers": [*own, *self._of(message["status"])]}
        await self._send(message)


class _Replay:
    """Gives the application the body that was read."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def _read_in_time(receive: Receive, most: int) -> bytes | int | None:
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await read_body(receive, most)
    except TimeoutError:
        return 408


async def read_body(receive: Receive, most: int) -> bytes | int | None:
    """Return the body, the status to refuse it with, or None if the browser has gone."""
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


def _most_bytes(kind: str, path: str) -> int:
    if kind in {"page", "data"}:
        return _RESPONDENT_BYTES
    return _TEXT_FORM_BYTES if path.endswith("codes") or "/drafts" in path else _FORM_BYTES


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
    """Log where a request failed, no more, and return its status: where the database is away, another try may do."""
    _log.error("%s in %s", type(error).__name__, _place(error))
    return 503 if isinstance(error, (OperationalError, PoolTimeout)) else 500


def _place(error: BaseException) -> str:
    """Return the file and line of ours where an error came from."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(_PACKAGE)]
    return f"{frames[-1].filename.removeprefix(_PACKAGE)}:{frames[-1].lineno}" if frames else "the server"
