"""Identify the sender of a request before reading a large body."""

import asyncio
from time import monotonic

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

from subsetprivacy.collect.service import accounts, browsers
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.browsers import KnownMarks
from subsetprivacy.collect.web.refusals import refusal
from subsetprivacy.collect.web.studio_context import SIGN_IN, Studio, redirect_to

_PASSWORD_PATHS = {SIGN_IN, "/studio/setup", "/studio/invitation"}  # where strangers send passwords
_KEEP_MARKS = 5.0  # seconds before the known browsers are read again
NO_TOKEN = "This needs a token: Authorization: Bearer sp_…"
ASK_FOR_TOKEN = {"WWW-Authenticate": "Bearer"}


class Access:
    """Distinguish strangers from people and programs that the studio knows.

    Parameters
    ----------
    studio
        The studio.
    """

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._reading = asyncio.Lock()
        self._marks: KnownMarks | None = None
        self._read_again = 0.0

    async def turns_away(self, scope: Scope) -> bool:
        """Tell, after a delay, whether a sign-in request is refused unread because too many strangers are waiting.

        A request with the secret of a known browser is read, because its sender may be known.
        """
        if scope["path"] not in _PASSWORD_PATHS or not self._studio.hashing.is_overloaded:
            return False
        secret = self._cookie(HTTPConnection(scope), "browser")
        if secret and (await self._known_marks()).has(secret):
            return False
        await self._studio.hashing.delay_refusal()
        return True

    async def _known_marks(self) -> KnownMarks:
        """Return the hashes of known browsers, read at most every few seconds."""
        async with self._reading:
            if self._marks is None or monotonic() > self._read_again:
                self._marks = await run_in_threadpool(browsers.known_marks, self._studio.engine)
                self._read_again = monotonic() + _KEEP_MARKS
            return self._marks

    async def refuse_stranger(self, kind: str, scope: Scope) -> Response | None:
        """Return the reply to a sender who may not send a large body, or None for an owner, who may.

        Analysts send nothing large to any route, and would occupy the few places for it.
        """
        engine, asking = self._studio.engine, HTTPConnection(scope)
        person: StudioUser | None = None
        if kind == "api":
            scheme, _, token = asking.headers.get("authorization", "").partition(" ")
            if scheme.lower() == "bearer":
                person = await run_in_threadpool(accounts.person_of_token, engine, token.strip())
            if person is None:
                return refusal(kind, 401, NO_TOKEN, headers=ASK_FOR_TOKEN)
            return None if person.is_owner else refusal(kind, 403)
        if secret := self._cookie(asking, "session"):
            person = await run_in_threadpool(accounts.person_of_session, engine, secret)
        if person is None:
            return redirect_to(SIGN_IN)
        return None if person.is_owner else refusal(kind, 403)

    def _cookie(self, asking: HTTPConnection, kind: str) -> str:
        return asking.cookies.get(self._studio.cookie(asking.headers.get("host", ""), kind), "")
