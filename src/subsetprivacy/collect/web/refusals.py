"""Answers that refuse: the same page for people, the same document for programs, and no more detail than the status."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from subsetprivacy.collect.web.security_headers import kind_of

# Title and sentence for people, word for a respondent's page.
_SAID: Mapping[int, tuple[str, str, str]] = {
    400: (
        "This could not be read",
        "Something about the request was not as expected. Go back and try again.",
        "refused",
    ),
    401: ("Please sign in", "This needs a signed-in account.", "refused"),
    403: ("Not allowed", "Your account may not do this, or the request came from another site.", "refused"),
    404: ("Nothing here", "There is no such page. It may have been removed.", "unknown"),
    405: ("Not possible here", "This page cannot be used in this way.", "refused"),
    408: ("Too slow", "The request took too long to arrive. Try again.", "busy"),
    409: ("Not possible now", "Something has changed in between. Load the page again.", "refused"),
    413: ("Too large", "What was sent is larger than allowed.", "too large"),
    414: ("Too long", "The address is longer than allowed.", "too large"),
    415: ("Unknown kind of content", "What was sent is not of the kind that is read here.", "refused"),
    422: (
        "This could not be read",
        "Something about the request was not as expected. Go back and try again.",
        "refused",
    ),
    429: ("Too many tries", "There were too many tries. Wait half a minute and try again.", "busy"),
    500: ("Something went wrong", "The fault is on our side. Nothing you entered was recorded.", "busy"),
    503: ("Busy", "The server is busy. Try again in a moment.", "busy"),
}
_FOR_PEOPLE = {"studio", "preview", "page"}


def refusal(
    kind: str,
    status: int,
    message: str | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    problems: Sequence[Mapping[str, Any]] = (),
) -> Response:
    """Return the answer that refuses a request.

    Parameters
    ----------
    kind
        The kind of the route.
    status
        The status of HTTP.
    message
        A sentence in the place of the usual one.
    problems
        For programs: each thing that is wrong with what was sent.
    """
    title, usual, word = _SAID.get(status, _SAID[400])
    if kind in {"data", "static"}:
        return JSONResponse({"status": word}, status, headers)
    if kind == "api":
        document = {"status": status, "message": message or usual, "problems": list(problems)}
        return JSONResponse(document, status, headers)
    from subsetprivacy.collect.web.studio_pages import render

    return render("error.html", status=status, title=title, message=message or usual, headers=headers)


def install_refusals(app: FastAPI) -> None:
    """Let the application refuse in these words."""

    @app.exception_handler(HTTPException)
    async def refuse(request: Request, error: HTTPException) -> Response:
        own = error.message if isinstance(error, RefusalError) else None
        problems = error.problems if isinstance(error, RefusalError) else ()
        return refusal(kind_of(request.url.path), error.status_code, own, headers=error.headers, problems=problems)

    @app.exception_handler(RequestValidationError)
    async def refuse_unread(request: Request, error: RequestValidationError) -> Response:
        problems = [
            {"line": None, "place": ".".join(map(str, problem["loc"])), "message": str(problem["msg"])}
            for problem in error.errors()
        ]
        return refusal(kind_of(request.url.path), 422, problems=problems)


class RefusalError(HTTPException):
    """A refusal in words of our own, for whoever is signed in."""

    def __init__(
        self,
        status: int,
        message: str | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        problems: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(status, headers=headers)
        self.message = message
        self.problems = problems
