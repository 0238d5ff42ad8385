"""Take what respondents' pages send, before the framework.

The framework takes half a millisecond of processor time per request, more than checking a submission and writing it to
disk. So these two paths are answered here, by the same rules as all others: fixed headers, limits, errors without
details.
"""

import json
from functools import cache

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from subsetprivacy.collect.service.collecting import Collector, Reply
from subsetprivacy.collect.survey.submission import MOST_BYTES
from subsetprivacy.collect.web.security import is_json, note_failure, read_in_time
from subsetprivacy.collect.web.security_headers import headers_of

RETRY_SECONDS = 1
_encode = json.JSONEncoder(separators=(",", ":")).encode
_NOT_JSON = Reply(415, {"status": "refused"})
_UNREAD = {408: Reply(408, {"status": "busy"}), 413: Reply(413, {"status": "too large"})}


class SubmissionMiddleware:
    """Answer ``POST /s/{id}/lock`` and ``POST /s/{id}/submit``, and pass everything else to the application.

    Parameters
    ----------
    app
        The application behind it.
    collector
        The collector of answers.
    secure
        Whether people reach the server by https.
    """

    def __init__(self, app: ASGIApp, *, collector: Collector, secure: bool = False) -> None:
        self._app = app
        self._take = {"lock": collector.lock, "submit": collector.submit}
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        address = _addressed(scope)
        if address is None:
            await self._app(scope, receive, send)
            return
        try:
            reply = await self._answer(*address, scope, receive)
        except Exception as error:
            reply = Reply(note_failure(error), {"status": "busy"})
        if reply is not None:
            body = _encode(reply.document).encode()
            await send(_head(reply.status, len(body), self._secure))
            await send({"type": "http.response.body", "body": body})

    async def _answer(self, survey_id: str, act: str, scope: Scope, receive: Receive) -> Reply | None:
        if not is_json(scope["headers"]):
            return _NOT_JSON
        body = await read_in_time(receive, MOST_BYTES)
        if body is None:
            return None  # the browser has gone
        return _UNREAD[body] if isinstance(body, int) else await self._take[act](survey_id, body)


def _addressed(scope: Scope) -> tuple[str, str] | None:
    """Return the survey and the action of a request, if it is one of the two."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    parts: list[str] = scope["path"].split("/")
    if len(parts) != 4 or parts[0] or parts[1] != "s" or parts[3] not in {"lock", "submit"}:
        return None
    return parts[2], parts[3]


def _head(status: int, length: int, secure: bool) -> Message:
    headers = [(b"content-length", b"%d" % length), *_fixed(status, secure)]
    return {"type": "http.response.start", "status": status, "headers": headers}


@cache
def _fixed(status: int, secure: bool) -> tuple[tuple[bytes, bytes], ...]:
    own = [(b"content-type", b"application/json")]
    if status == 503:
        own.append((b"retry-after", b"%d" % RETRY_SECONDS))
    if status == 408:
        own.append((b"connection", b"close"))  # do not wait for the rest of the body
    return (*own, *headers_of("data", secure=secure))
