"""What respondents' pages send, taken before the framework's routing.

Routing, with all it can do for a request, costs half a millisecond of the processor: more than to check a submission
and to write it to disk. These two paths are known beforehand, so they are answered here.
"""

import json
from functools import cache
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from subsetprivacy.collect.service.collecting import Collector, Reply

RETRY_SECONDS = 1


class Receiving:
    """Answers ``POST /s/{id}/lock`` and ``POST /s/{id}/submit``; anything else goes on to the application.

    Parameters
    ----------
    app
        What comes after it.
    collector
        What takes the answers.
    """

    def __init__(self, app: ASGIApp, *, collector: Collector) -> None:
        self._app = app
        self._take = {"lock": collector.lock, "submit": collector.submit}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        found = _addressed(scope)
        if found is None:
            await self._app(scope, receive, send)
            return
        survey_id, act = found
        message = await receive()  # whole: the guard has read it, within limits of size and time
        reply = await self._take[act](survey_id, message.get("body", b""))
        body = json.dumps(reply.document, separators=(",", ":")).encode()
        await send({"type": "http.response.start", "status": reply.status, "headers": _headers(reply, len(body))})
        await send({"type": "http.response.body", "body": body})


def _addressed(scope: Scope) -> tuple[str, str] | None:
    """Return the survey and the act that a request is about, if it is one of the two."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    parts: list[str] = scope["path"].split("/")
    if len(parts) != 4 or parts[0] or parts[1] != "s" or parts[3] not in {"lock", "submit"}:
        return None
    return parts[2], parts[3]


def _headers(reply: Reply, length: int) -> list[tuple[bytes, bytes]]:
    return [*_fixed(reply.status == 503), (b"content-length", b"%d" % length)]


@cache
def _fixed(busy: bool) -> tuple[tuple[bytes, bytes], ...]:
    again: Any = ((b"retry-after", b"%d" % RETRY_SECONDS),) if busy else ()
    return ((b"content-type", b"application/json"), *again)
