"""The studio, where researchers write surveys, publish them, and read released results."""

from fastapi import APIRouter
from starlette.responses import Response

from subsetprivacy.collect.web import (
    studio_api,
    studio_drafts,
    studio_editor,
    studio_people,
    studio_results,
    studio_signin,
    studio_surveys,
)
from subsetprivacy.collect.web.studio_context import redirect_to
from subsetprivacy.collect.web.studio_pages import static_router


def studio_router() -> APIRouter:
    """Return all routes of the studio."""
    router = APIRouter()

    @router.get("/", include_in_schema=False)
    async def home() -> Response:
        return redirect_to("/studio")

    parts = (
        studio_signin,
        studio_surveys,
        studio_results,
        studio_drafts,
        studio_editor,
        studio_people,
        studio_api,
    )
    for part in parts:
        router.include_router(part.router)
    router.include_router(static_router())
    return router
