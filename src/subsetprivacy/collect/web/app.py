"""The application: the respondents' page, the studio and the API over one store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import Depends, FastAPI, Request
from fastapi.telemetry import TelemetryConfig
from sqlalchemy import Engine
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.web.access import Access
from subsetprivacy.collect.web.api import api_router
from subsetprivacy.collect.web.refusals import install_refusals
from subsetprivacy.collect.web.respond import respond_router
from subsetprivacy.collect.web.security import Guard
from subsetprivacy.collect.web.studio import studio_router
from subsetprivacy.collect.web.studio_context import SIGN_IN, NotSignedInError, Studio, in_turn, redirect_to
from subsetprivacy.collect.web.submissions import SubmissionMiddleware

# The framework can report every request, with address and content, to tools that watch the process.
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
    "exclude": lambda scope: True,
}


class _Application(FastAPI):
    """The framework's application behind the outer layers."""

    before: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.before(scope, receive, send)


def create_app(
    engine: Engine,
    *,
    collector: Collector | None = None,
    setup_token: str | None = None,
    secure: bool = False,
    base_url: str | None = None,
) -> FastAPI:
    """Return the application over a store.

    Parameters
    ----------
    engine
        The store, opened.
    collector
        The collector of answers. By default a new one. It starts and stops with the application.
    setup_token
        The token that creates the first account, once.
    secure
        Whether people reach the server by https, which changes cookies and headers.
    base_url
        The address at which people reach the server, for links to copy. Without it, links are relative.
    """
    collector = Collector(engine) if collector is None else collector

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        collector.start()
        try:
            yield
        finally:
            studio.hashing.stop()
            collector.stop()

    app = _Application(
        lifespan=lifespan,
        openapi_url=None,  # the API has its own route for it
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
    )
    studio = app.state.studio = Studio(engine, collector, setup_token, secure, base_url)
    app.include_router(respond_router(collector))
    turn = Depends(in_turn, scope="function")  # ends before the reply is sent, which may be read slowly
    app.include_router(studio_router(), dependencies=[turn])
    app.include_router(api_router(), dependencies=[turn])
    install_refusals(app)
    app.add_middleware(Guard, secure=secure, base_url=base_url, access=Access(studio))
    app.before = SubmissionMiddleware(partial(FastAPI.__call__, app), collector=collector, secure=secure)

    @app.exception_handler(NotSignedInError)
    async def to_sign_in(request: Request, error: NotSignedInError) -> Response:
        return redirect_to(SIGN_IN)

    return app
