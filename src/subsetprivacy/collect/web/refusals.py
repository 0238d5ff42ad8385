"""Error replies: one page for people, one document for programs, and no more detail than the status."""

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
        "The request could not be read",
        "The server could not read the request. Go back and try again.",
        "refused",
    ),
    401: ("Please sign in", "This needs a signed-in account.", "refused"),
    403: ("Not allowed", "Your account may not do this, or the request came from another site.", "refused"),
    404: ("Page not found", "There is no such page. It may have been removed.", "unknown"),
    405: ("Not possible here", "This page cannot be used in this way.", "refused"),
    408: ("Too slow", "The request took too long to arrive. Try again.", "busy"),
    409: ("Not possible now", "Something has changed in the meantime. Load the page again.", "refused"),
    413: ("Too large", "The request is larger than allowed.", "too large"),
    414: ("Too long", "The address is longer than allowed.", "too large"),
    415: ("Unknown kind of content", "The server does not read this kind of content.", "refused"),
    422: (
        "The request could not be read",
        "The server could not read the request. Go back and try again.",
        "refused",
    ),
    429: ("Too many attempts", "There were too many attempts. Wait half a minute and try again.", "busy"),
    500: ("Something went wrong", "The server failed. Nothing you entered was recorded.", "busy"),
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
    """Return the reply that refuses a request.

    Parameters
    ----------
    kind
        The kind of the route.
    status
        The HTTP status.
    message
        A sentence to use instead of the usual one.
    problems
        For programs, each error in the request.
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
    """Make the application refuse with these replies."""

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
    """A refusal with its own message, for signed-in users."""

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
