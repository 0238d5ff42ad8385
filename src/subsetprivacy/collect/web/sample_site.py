"""The sample site: a link that signs in, a link that answers, and a note on every page of the studio."""

import secrets
from hmac import compare_digest

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.demonstration import SPARE_CODES, Demonstration
from subsetprivacy.collect.service.publishing import NotFoundError, PublishingError, make_codes
from subsetprivacy.collect.web.studio_context import SIGN_IN, redirect_to, studio_of
from subsetprivacy.collect.web.studio_pages import SAMPLE
from subsetprivacy.collect.web.studio_signin import welcome

_RESPOND = "/studio/sample/respond"


def add_sample(app: FastAPI, person: StudioUser, made: Demonstration) -> tuple[str, str]:
    """Add the routes of a sample, and return the two paths to start with.

    The first signs its user in and opens the results. The second opens the respondents' page, each time with a new
    link. Nothing in a sample is secret, so both work as long as it runs.
    """
    token = secrets.token_urlsafe(24)
    codes = list(made.codes)

    async def look(request: Request, given: str) -> Response:
        if not compare_digest(token.encode(), given.encode()):
            return redirect_to(SIGN_IN)
        answer = await welcome(request, person)
        answer.headers["location"] = f"/studio/surveys/{made.work.id}"
        return answer

    async def respond(request: Request) -> Response:
        try:
            if not codes:
                codes.extend(await run_in_threadpool(make_codes, studio_of(request).engine, made.work.id, SPARE_CODES))
        except (PublishingError, NotFoundError):  # someone has closed or deleted it
            return redirect_to(f"/s/{made.work.id}")
        return redirect_to(f"/s/{made.work.id}#{codes.pop()}")

    app.add_api_route(_RESPOND, respond, methods=["GET"], include_in_schema=False)
    app.add_api_route("/studio/sample/results/{given}", look, methods=["GET"], include_in_schema=False)
    app.add_middleware(_SampleMarker)
    return f"/studio/sample/results/{token}", _RESPOND


class _SampleMarker:
    """Mark every rendered page as part of a sample."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reset_token = SAMPLE.set(_RESPOND)
        try:
            await self._app(scope, receive, send)
        finally:
            SAMPLE.reset(reset_token)
