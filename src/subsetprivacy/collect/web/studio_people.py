"""The owners' page for people and tokens."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from subsetprivacy.collect.service import accounts
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.passwords import INVITATION_DAYS, AccountError
from subsetprivacy.collect.web.form_wording import error_in_words
from subsetprivacy.collect.web.studio_context import owner, redirect_to, studio_of
from subsetprivacy.collect.web.studio_forms import Form, read_form
from subsetprivacy.collect.web.studio_pages import render

router = APIRouter(prefix="/studio", include_in_schema=False)
Owner = Annotated[StudioUser, Depends(owner)]
Sent = Annotated[Form, Depends(read_form)]


@router.get("/people")
def people_page(request: Request, person: Owner) -> Response:
    """Show accounts, tokens, and recent activity."""
    return _page(request, person)


@router.post("/people/invite")
def invite(request: Request, person: Owner, form: Sent) -> Response:
    """Create an account, and show its invitation link once."""
    name = form.text("name").strip().lower()
    return _inviting(request, person, name, lambda engine: accounts.invite(engine, person, name, form.text("role")))


@router.post("/people/invite-again")
def invite_again(request: Request, person: Owner, form: Sent) -> Response:
    """Remove a password and show a link to set a new one."""
    name = form.text("name")
    return _inviting(request, person, name, lambda engine: accounts.invite_again(engine, person, name))


@router.post("/people/remove")
def remove(request: Request, person: Owner, form: Sent) -> Response:
    """Remove an account."""
    try:
        accounts.remove(studio_of(request).engine, person, form.text("name"))
    except AccountError as error:
        return _page(request, person, status=422, problem=error_in_words(error))
    return redirect_to("/studio/people")


@router.post("/tokens/make")
def make_token(request: Request, person: Owner, form: Sent) -> Response:
    """Create a token for programs, and show it once."""
    try:
        token = accounts.make_token(studio_of(request).engine, person, form.text("name"), form.text("role"))
    except AccountError as error:
        return _page(request, person, status=422, problem=error_in_words(error))
    return _page(request, person, token=token)


@router.post("/tokens/revoke")
def revoke_token(request: Request, person: Owner, form: Sent) -> Response:
    """Revoke a token."""
    accounts.revoke_token(studio_of(request).engine, person, form.text("mark"))
    return redirect_to("/studio/people")


def _inviting(request: Request, person: StudioUser, name: str, make: Any) -> Response:
    studio = studio_of(request)
    try:
        secret = make(studio.engine)
    except AccountError as error:
        return _page(request, person, status=422, problem=error_in_words(error))
    link = f"{studio.base_url or ''}/studio/invitation#{name}/{secret}"
    return _page(request, person, invited=name, link=link)


def _page(request: Request, person: StudioUser, *, status: int = 200, **shown: Any) -> Response:
    engine = studio_of(request).engine
    values = {"problem": None, "invited": None, "link": None, "token": None} | shown
    return render(
        "people.html",
        status=status,
        person=person,
        people=accounts.accounts(engine),
        tokens=accounts.tokens(engine),
        activity=accounts.activity(engine),
        days=INVITATION_DAYS,
        **values,
    )
