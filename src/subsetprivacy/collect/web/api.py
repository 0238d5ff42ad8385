"""The API for programs: the functions of the studio as JSON, with a token."""

from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import JSONResponse, Response

from subsetprivacy.collect.web import api_drafts, api_surveys

PREFIX = "/api/v1"
_ABOUT = (
    "Surveys, drafts and released results. Send a token as `Authorization: Bearer sp_…`; an owner makes one in the "
    "studio. Nothing that the API returns changes between releases."
)


def api_router() -> APIRouter:
    """Return all routes of the API, and the document that describes them."""
    router = APIRouter(prefix=PREFIX)
    router.include_router(api_surveys.router)
    router.include_router(api_drafts.router)

    @router.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response:
        return JSONResponse(api_document())

    return router


def api_document() -> dict[str, Any]:
    """Return the OpenAPI document of the API."""
    if not _DOCUMENT:
        app = FastAPI(openapi_url=None)
        for part in (api_surveys, api_drafts):
            app.include_router(part.router, prefix=PREFIX)
        _DOCUMENT.update(get_openapi(title="Survey API", version="1", description=_ABOUT, routes=app.routes))
        _without_own_validation(_DOCUMENT)
    return _DOCUMENT


_DOCUMENT: dict[str, Any] = {}


def _without_own_validation(document: dict[str, Any]) -> None:
    """Remove the framework's schema of validation errors. Ours is `Error`."""
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)


def endpoints() -> list[dict[str, str]]:
    """Return the endpoints with a description each, for the studio's page."""
    return [
        {"method": method.upper(), "path": path, "description": operation["description"], "role": operation["x-role"]}
        for path, methods in api_document()["paths"].items()
        for method, operation in methods.items()
    ]
