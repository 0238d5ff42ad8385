"""What the studio's pages share: the store, the signed-in user, and permissions."""

import re
from asyncio import Semaphore
from collections.abc import AsyncIterator

from attrs import define, field
from fastapi import Request
from sqlalchemy import Engine
from starlette.responses import RedirectResponse, Response

from subsetprivacy.collect.service import accounts
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.service.secure_delete import resume_erasing
from subsetprivacy.collect.service.throttling import Throttle
from subsetprivacy.collect.web.password_hashing import Hashing
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.result_cache import ResultCache

SIGN_IN = "/studio/sign-in"
MOST_AT_ONCE = 3  # requests about drafts and surveys; each one makes respondents wait longer for the processor
_ID = re.compile(r"[a-z2-7]{16}(?:[a-z2-7]{10})?")  # a draft has 16 letters, a survey 26
_PORT = re.compile(r":([0-9]{1,5})$")


@define
class Studio:
    """The studio of one server.

    Attributes
    ----------
    base_url
        The address at which people reach the server, if known. Otherwise links are relative.
    """

    engine: Engine
    collector: Collector
    setup_token: str | None = None
    secure: bool = False
    base_url: str | None = None
    throttle: Throttle = field(factory=Throttle)
    cache: ResultCache = field(init=False)
    hashing: Hashing = field(init=False, factory=Hashing)
    turns: Semaphore = field(init=False, factory=lambda: Semaphore(MOST_AT_ONCE))

    def __attrs_post_init__(self) -> None:
        resume_erasing(self.engine)

    @cache.default
    def _open_cache(self) -> ResultCache:
        return ResultCache(self.engine)

    def cookie(self, host: str, kind: str = "session") -> str:
        """Return the name of a cookie for this host and port.

        A browser sends the cookies of a host to all its ports. Without the port in the name, two servers on one machine
        would sign people out of each other. With https, the name is one that browsers never send over plain http.
        """
        port = _PORT.search(host)
        name = f"studio_{kind}_{port[1]}" if port else f"studio_{kind}"
        return f"__Secure-{name}" if self.secure else name

    async def wait_for_turn(self, name: str, *, known: bool) -> None:
        """Delay an attempt at a password until its turn."""
        wait = self.throttle.take_turn(name)
        if wait is None:
            raise RefusalError(429, headers={"Retry-After": "30"})
        await self.hashing.delay_attempt(wait, known=known)


def studio_of(request: Request) -> Studio:
    """Return the studio that a request is for."""
    studio: Studio = request.app.state.studio
    return studio


async def in_turn(request: Request) -> AsyncIterator[None]:
    """Delay slow requests, which check drafts or estimate, until few others run.

    They run in the same threads as respondents' pages, and must not occupy all of them.
    """
    if "/drafts" in request.url.path or "/surveys" in request.url.path:
        async with studio_of(request).turns:
            yield
    else:
        yield  # a sign-in may wait long, and must not occupy a turn


def cookie_value(request: Request, kind: str = "session") -> str:
    """Return the value of a cookie of the studio, or ""."""
    return request.cookies.get(studio_of(request).cookie(request.headers.get("host", ""), kind), "")


class NotSignedInError(Exception):
    """No one is signed in."""


def signed_in_user(request: Request) -> StudioUser:
    """Return the signed-in user."""
    studio = studio_of(request)
    secret = cookie_value(request)
    person = accounts.person_of_session(studio.engine, secret) if secret else None
    if person is None:
        raise NotSignedInError
    return person


def owner(request: Request) -> StudioUser:
    """Return the signed-in owner."""
    person = signed_in_user(request)
    if not person.is_owner:
        raise RefusalError(403, "Only an owner may do this.")
    return person


def is_id(text: str) -> bool:
    """Tell whether a text has the form of an id of a survey or a draft."""
    return _ID.fullmatch(text) is not None


def redirect_to(place: str) -> Response:
    """Send the browser to another page of the studio."""
    return RedirectResponse(place, 303)
