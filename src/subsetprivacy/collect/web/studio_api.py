"""The page that explains the API to signed-in users."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.web.api import PREFIX, endpoints
from subsetprivacy.collect.web.studio_context import signed_in_user, studio_of
from subsetprivacy.collect.web.studio_pages import render

router = APIRouter(prefix="/studio", include_in_schema=False)
SignedIn = Annotated[StudioUser, Depends(signed_in_user)]


@router.get("/api")
def api_page(request: Request, person: SignedIn) -> Response:
    """List the endpoints, with an example."""
    base = studio_of(request).base_url or ""
    return render("api.html", person=person, endpoints=endpoints(), prefix=PREFIX, base=base)
