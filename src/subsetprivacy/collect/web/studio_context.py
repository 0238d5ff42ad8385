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
from subsetprivacy.collect.service.erasing import resume_erasing
from subsetprivacy.collect.service.slowing import Slowing
from subsetprivacy.collect.web.refusals import Refused
from subsetprivacy.collect.web.studio_desk import Desk

T = TypeVar("T")
SIGN_IN = "/studio/sign-in"
_ID = re.compile(r"[a-z2-7]{16}(?:[a-z2-7]{10})?")  # a draft has 16 letters, a survey 26
_PORT = re.compile(r":([0-9]{1,5})$")
# Hashes of passwords at once, each of which takes 64 MB, and how many may wait. Whoever is known has a place apart.
_STRANGERS, _MOST_STRANGERS = 2, 64
_KNOWN, _MOST_KNOWN = 1, 16


@define
class _Queue:
    """Work that is done by few at once while a limited number waits."""

    limiter: CapacityLimiter
    most: int
    waiting: int = 0

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        if self.waiting >= self.most:
            raise Refused(503, headers={"Retry-After": "1"})
        self.waiting += 1
        try:
            return await anyio.to_thread.run_sync(work, *arguments, limiter=self.limiter)
        finally:
            self.waiting -= 1


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
    _strangers: _Queue = field(init=False, factory=lambda: _Queue(CapacityLimiter(_STRANGERS), _MOST_STRANGERS))
    _known: _Queue = field(init=False, factory=lambda: _Queue(CapacityLimiter(_KNOWN), _MOST_KNOWN))

    def __attrs_post_init__(self) -> None:
        resume_erasing(self.engine)

    @desk.default
    def _open_desk(self) -> Desk:
        return Desk(self.engine)

    def cookie(self, host: str, kind: str = "session") -> str:
        """Return the name of a cookie, for whoever reaches the server by this host and port.

        A browser sends the cookies of a host to all its ports: without the port in the name, of two servers on one
        machine each would sign people out of the other. By https the name is one never sent over plain http.
        """
        port = _PORT.search(host)
        name = f"studio_{kind}_{port[1]}" if port else f"studio_{kind}"
        return f"__Secure-{name}" if self.secure else name

    async def hashing(self, work: Callable[..., T], *arguments: Any, known: bool = False) -> T:
        """Run a function that hashes a password, two at a time; for whoever is `known` there is a third place."""
        return await (self._known if known else self._strangers).run(work, *arguments)

    async def slowed(self, name: str) -> None:
        """Let a try at a password wait for its turn."""
        wait = self.slowing.take_turn(name)
        if wait is None:
            raise Refused(429, headers={"Retry-After": "30"})
        await anyio.sleep(wait)


def studio_of(request: Request) -> Studio:
    """Return the studio that a request is for."""
    held: Studio = request.app.state.studio
    return held


def held_cookie(request: Request, kind: str = "session") -> str:
    """Return the value of a cookie of the studio, "" where there is none."""
    return request.cookies.get(studio_of(request).cookie(request.headers.get("host", ""), kind), "")


class NotSignedIn(Exception):
    """Nobody is signed in."""


def somebody(request: Request) -> Person:
    """Return who is signed in."""
    studio = studio_of(request)
    secret = held_cookie(request)
    person = accounts.person_of_session(studio.engine, secret) if secret else None
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
