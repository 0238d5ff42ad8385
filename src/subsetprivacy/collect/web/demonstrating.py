"""A way into the studio of a demonstration: a link that works once."""

import secrets
from hmac import compare_digest

from fastapi import FastAPI, Request
from starlette.responses import Response

from subsetprivacy.collect.service.accounts import Person
from subsetprivacy.collect.web.studio_context import SIGN_IN, go, studio_of
from subsetprivacy.collect.web.studio_signin import welcome


def add_welcome(app: FastAPI, person: Person) -> str:
    """Add a path that signs its first visitor in, and return it."""
    token: list[str] = [secrets.token_urlsafe(24)]

    async def visit(request: Request, given: str) -> Response:
        if not token or not compare_digest(token[0].encode(), given.encode()):
            return go(SIGN_IN)
        token.clear()
        return await welcome(studio_of(request), person)

    app.add_api_route("/studio/demonstration/{given}", visit, methods=["GET"], include_in_schema=False)
    return f"/studio/demonstration/{token[0]}"
