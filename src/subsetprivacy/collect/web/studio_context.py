"""What the studio's pages share: the store, who is signed in, and what each may do."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter
from attrs import define, field
from fastapi import Request
from sqlalchemy import Engine
from starlette.responses import RedirectResponse, Response

from subsetprivacy.collect.service import accounts
from subsetprivacy.collect.service.accounts import Person
from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.service.slowing import Slowing
from subsetprivacy.collect.web.refusals import Refused
from subsetprivacy.collect.web.studio_desk import Desk

T = TypeVar("T")
SIGN_IN = "/studio/sign-in"
_ID = re.compile(r"[a-z2-7]{16}(?:[a-z2-7]{10})?")  # a draft has 16 letters, a survey 26
_AT_ONCE = 2  # hashes of passwords: each takes 64 MB
_MOST_WAITING = 64


@define
class Studio:
    """The studio of one server.

    Attributes
    ----------
    base_url
        The address people reach the server by, where it is known; links are relative otherwise.
    """

    engine: Engine
    collector: Collector
    setup_token: str | None = None
    secure: bool = False
    base_url: str | None = None
    slowing: Slowing = field(factory=Slowing)
    desk: Desk = field(init=False)
    _hashing: int = field(init=False, default=0)
    _limiter: CapacityLimiter = field(init=False, factory=lambda: CapacityLimiter(_AT_ONCE))

    @desk.default
    def _open_desk(self) -> Desk:
        return Desk(self.engine)

    @property
    def cookie(self) -> str:
        """The name of the cookie; by https one that browsers never send over plain http."""
        return "__Secure-studio_session" if self.secure else "studio_session"

    async def hashing(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run a function that hashes a password, two at a time."""
        if self._hashing >= _MOST_WAITING:
            raise Refused(503, headers={"Retry-After": "1"})
        self._hashing += 1
        try:
            return await anyio.to_thread.run_sync(work, *arguments, limiter=self._limiter)
        finally:
            self._hashing -= 1

    async def slowed(self, name: str) -> None:
        """Let a try at a secret wait for its turn."""
        wait = self.slowing.take_turn(name)
        if wait is None:
            raise Refused(429, headers={"Retry-After": "30"})
        await anyio.sleep(wait)


def studio_of(request: Request) -> Studio:
    """Return the studio that a request is for."""
    held: Studio = request.app.state.studio
    return held


class NotSignedIn(Exception):
    """Nobody is signed in."""


def somebody(request: Request) -> Person:
    """Return who is signed in."""
    studio = studio_of(request)
    secret = request.cookies.get(studio.cookie)
    person = None if secret is None else accounts.person_of_session(studio.engine, secret)
    if person is None:
        raise NotSignedIn
    return person


def owner(request: Request) -> Person:
    """Return the owner who is signed in."""
    person = somebody(request)
    if not person.is_owner:
        raise Refused(403, "Only an owner may do this.")
    return person


def is_id(text: str) -> bool:
    """Tell whether a text can be the id of a survey or a draft at all."""
    return _ID.fullmatch(text) is not None


def go(place: str) -> Response:
    """Send the browser to another page of the studio."""
    return RedirectResponse(place, 303)
