"""Set-up, sign-in and sign-out, invitations, and the user's own account."""

from hmac import compare_digest
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from subsetprivacy.collect.service import accounts, browsers, passwords
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.passwords import LEAST_PASSWORD, AccountError, plain_name
from subsetprivacy.collect.service.throttling import own_tries
from subsetprivacy.collect.web.form_wording import error_in_words
from subsetprivacy.collect.web.studio_context import SIGN_IN, cookie_value, redirect_to, signed_in_user, studio_of
from subsetprivacy.collect.web.studio_forms import Form, read_form
from subsetprivacy.collect.web.studio_pages import render

router = APIRouter(prefix="/studio", include_in_schema=False)
_WRONG = "The name or the password is wrong."
Sent = Annotated[Form, Depends(read_form)]
SignedIn = Annotated[StudioUser, Depends(signed_in_user)]


@router.get("/sign-in")
def sign_in_page(request: Request) -> Response:
    """Show the form."""
    if accounts.needs_setup(studio_of(request).engine):
        return redirect_to("/studio/setup")
    return render("sign_in.html", problem=None, name="")


@router.post("/sign-in")
async def sign_in(request: Request, form: Sent) -> Response:
    """Sign a user in."""
    studio = studio_of(request)
    name = plain_name(form.text("name"))
    browser = cookie_value(request, "browser")
    known = await run_in_threadpool(browsers.is_known, studio.engine, name, browser)
    tries = own_tries(name, browser) if known else name
    await studio.wait_for_turn(tries, known=known)
    password = form.fields.get("password", "")
    claim = await run_in_threadpool(accounts.read_claim, studio.engine, name)
    is_right = await studio.hashing.run(passwords.is_password, claim.kept, password, known=name if known else "")
    if not is_right or claim.person is None:
        return render("sign_in.html", status=401, problem=_WRONG, name=form.text("name")[:64])
    studio.throttle.reset(tries)
    await studio.hashing.run(accounts.renew_hash, studio.engine, claim, password, known=name)
    return await welcome(request, claim.person)


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the session."""
    studio = studio_of(request)
    if secret := cookie_value(request):
        accounts.end_session(studio.engine, secret)
    answer = redirect_to(SIGN_IN)
    name = studio.cookie(request.headers.get("host", ""))
    answer.delete_cookie(name, "/studio", secure=studio.secure, httponly=True, samesite="strict")
    return answer


@router.get("/setup")
def setup_page(request: Request) -> Response:
    """Show the form for the first account."""
    studio = studio_of(request)
    if not accounts.needs_setup(studio.engine):
        return redirect_to(SIGN_IN)
    return render("setup.html", problem=None, name="", least=LEAST_PASSWORD, ready=studio.setup_token is not None)


@router.post("/setup")
async def set_up(request: Request, form: Sent) -> Response:
    """Create the first account, once."""
    studio = studio_of(request)
    expected, given = studio.setup_token or "", form.text("token").strip()
    try:
        if not expected or not compare_digest(expected.encode(), given.encode()):
            raise AccountError("This is not the token from the set-up link that the server printed.")
        _check_repeated(form)
        name, password = form.text("name"), form.fields.get("password", "")
        person = await studio.hashing.run(accounts.set_up, studio.engine, name, password, known=name or "set-up")
    except AccountError as error:
        values: dict[str, Any] = {"name": form.text("name")[:64], "least": LEAST_PASSWORD, "ready": bool(expected)}
        values["token"] = given[:64]  # it was in the fragment, which is gone
        return render("setup.html", status=422, problem=error_in_words(error), **values)
    studio.setup_token = None
    return await welcome(request, person)


@router.get("/invitation")
def invitation_page() -> Response:
    """Show the form that accepts an invitation. Only the fragment of the address contains the name."""
    return render("invitation.html", problem=None, name="", least=LEAST_PASSWORD)


@router.post("/invitation")
async def accept_invitation(request: Request, form: Sent) -> Response:
    """Set the password of an invited person."""
    studio = studio_of(request)
    name = plain_name(form.text("name"))
    token, password = form.text("token").strip(), form.fields.get("password", "")
    try:
        _check_repeated(form)
        known = await run_in_threadpool(accounts.is_invited, studio.engine, name, token)
        shown = name if known else ""
        person = await studio.hashing.run(accounts.accept, studio.engine, name, token, password, known=shown)
    except AccountError as error:
        problem = error_in_words(error)
        return render("invitation.html", status=422, problem=problem, name=name, token=token, least=LEAST_PASSWORD)
    return await welcome(request, person)


@router.get("/account")
def account_page(person: SignedIn) -> Response:
    """Show the user's own account."""
    return render("account.html", person=person, problem=None, least=LEAST_PASSWORD)


@router.post("/account/password")
async def change_password(request: Request, person: SignedIn, form: Sent) -> Response:
    """Change the user's own password and sign out every other browser."""
    studio = studio_of(request)
    tries = own_tries(person.name, "signed in")
    await studio.wait_for_turn(tries, known=True)
    try:
        _check_repeated(form)
        old, new = form.fields.get("old", ""), form.fields.get("password", "")
        await studio.hashing.run(accounts.change_password, studio.engine, person, old, new, known=person.name)
    except AccountError as error:
        return render("account.html", status=422, person=person, problem=error_in_words(error), least=LEAST_PASSWORD)
    studio.throttle.reset(tries)
    return await welcome(request, person)


def _check_repeated(form: Form) -> None:
    if form.fields.get("password") != form.fields.get("repeated"):
        raise AccountError("The two passwords are not the same.")


async def welcome(request: Request, person: StudioUser) -> Response:
    """Begin a session, remember the browser, and open the studio."""
    studio = studio_of(request)
    session = await run_in_threadpool(accounts.begin_session, studio.engine, person)
    browser = await run_in_threadpool(browsers.remember, studio.engine, person, cookie_value(request, "browser"))
    answer = redirect_to("/studio")
    for kind, secret, days, path in (
        ("session", session, accounts.SESSION_DAYS, "/studio"),
        ("browser", browser, browsers.BROWSER_DAYS, SIGN_IN),
    ):
        answer.set_cookie(
            studio.cookie(request.headers.get("host", ""), kind),
            secret,
            max_age=days * 24 * 3600,
            path=path,
            secure=studio.secure,
            httponly=True,
            samesite="strict",
        )
    return answer
