"""Setting up, signing in and out, accepting an invitation, and one's own account."""

from hmac import compare_digest
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from subsetprivacy.collect.service import accounts
from subsetprivacy.collect.service.accounts import Person
from subsetprivacy.collect.service.passwords import LEAST_PASSWORD, AccountError, plain_name
from subsetprivacy.collect.web.studio_context import SIGN_IN, Studio, go, somebody, studio_of
from subsetprivacy.collect.web.studio_forms import Form, read_form
from subsetprivacy.collect.web.studio_pages import render

router = APIRouter(prefix="/studio", include_in_schema=False)
_SET_UP = "\0set-up"  # what tries at the set-up link are slowed as; no account can be called so
_WRONG = "This name and password do not belong together."
Sent = Annotated[Form, Depends(read_form)]
SignedIn = Annotated[Person, Depends(somebody)]


@router.get("/sign-in")
def sign_in_page(request: Request) -> Response:
    """Show the form."""
    if accounts.needs_setup(studio_of(request).engine):
        return go("/studio/setup")
    return render("sign_in.html", problem=None, name="")


@router.post("/sign-in")
async def sign_in(request: Request, form: Sent) -> Response:
    """Let somebody in."""
    studio = studio_of(request)
    name = plain_name(form.text("name"))
    await studio.slowed(name)
    person = await studio.hashing(accounts.check_password, studio.engine, name, form.fields.get("password", ""))
    if person is None:
        return render("sign_in.html", status=401, problem=_WRONG, name=form.text("name")[:64])
    studio.slowing.let_in(name)
    return await welcome(studio, person)


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the session."""
    studio = studio_of(request)
    if secret := request.cookies.get(studio.cookie):
        accounts.end_session(studio.engine, secret)
    answer = go(SIGN_IN)
    answer.delete_cookie(studio.cookie, "/studio", secure=studio.secure, httponly=True, samesite="strict")
    return answer


@router.get("/setup")
def setup_page(request: Request) -> Response:
    """Show the form for the first account."""
    studio = studio_of(request)
    if not accounts.needs_setup(studio.engine):
        return go(SIGN_IN)
    return render("setup.html", problem=None, name="", least=LEAST_PASSWORD, ready=studio.setup_token is not None)


@router.post("/setup")
async def set_up(request: Request, form: Sent) -> Response:
    """Make the first account, once."""
    studio = studio_of(request)
    await studio.slowed(_SET_UP)
    expected, given = studio.setup_token or "", form.text("token").strip()
    try:
        if not expected or not compare_digest(expected.encode(), given.encode()):
            raise AccountError("This is not the token of the set-up link that the server printed.")
        _check_repeated(form)
        person = await studio.hashing(
            accounts.set_up, studio.engine, form.text("name"), form.fields.get("password", "")
        )
    except AccountError as error:
        values: dict[str, Any] = {"name": form.text("name")[:64], "least": LEAST_PASSWORD, "ready": bool(expected)}
        return render("setup.html", status=422, problem=str(error), **values)
    studio.setup_token = None
    return await welcome(studio, person)


@router.get("/invitation")
def invitation_page() -> Response:
    """Show the form with which an invitation is accepted; who is invited stands in the fragment alone."""
    return render("invitation.html", problem=None, name="", least=LEAST_PASSWORD)


@router.post("/invitation")
async def accept_invitation(request: Request, form: Sent) -> Response:
    """Set the password of somebody invited."""
    studio = studio_of(request)
    name = plain_name(form.text("name"))
    await studio.slowed(name)
    try:
        _check_repeated(form)
        token, password = form.text("token").strip(), form.fields.get("password", "")
        person = await studio.hashing(accounts.accept, studio.engine, name, token, password)
    except AccountError as error:
        return render("invitation.html", status=422, problem=str(error), name=name, least=LEAST_PASSWORD)
    studio.slowing.let_in(name)
    return await welcome(studio, person)


@router.get("/account")
def account_page(person: SignedIn) -> Response:
    """Show one's own account."""
    return render("account.html", person=person, problem=None, least=LEAST_PASSWORD)


@router.post("/account/password")
async def change_password(request: Request, person: SignedIn, form: Sent) -> Response:
    """Change one's own password; every other browser is signed out."""
    studio = studio_of(request)
    await studio.slowed(person.name)
    try:
        _check_repeated(form)
        old, new = form.fields.get("old", ""), form.fields.get("password", "")
        await studio.hashing(accounts.change_password, studio.engine, person, old, new)
    except AccountError as error:
        return render("account.html", status=422, person=person, problem=str(error), least=LEAST_PASSWORD)
    studio.slowing.let_in(person.name)
    return await welcome(studio, person)


def _check_repeated(form: Form) -> None:
    if form.fields.get("password") != form.fields.get("repeated"):
        raise AccountError("The two passwords are not the same.")


async def welcome(studio: Studio, person: Person) -> Response:
    """Begin a session and open the studio."""
    secret = await run_in_threadpool(accounts.begin_session, studio.engine, person)
    answer = go("/studio")
    days = accounts.SESSION_DAYS
    answer.set_cookie(
        studio.cookie,
        secret,
        max_age=days * 24 * 3600,
        path="/studio",
        secure=studio.secure,
        httponly=True,
        samesite="strict",
    )
    return answer
