"""Published surveys: list them, make links and codes, close and delete them."""

import csv
import io
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.exporting import survey_slug
from subsetprivacy.collect.service.publishing import MOST_CODES, ChangedError, NotFoundError, PublishingError
from subsetprivacy.collect.storage.surveys import SurveyLine
from subsetprivacy.collect.web import survey_actions
from subsetprivacy.collect.web.form_wording import error_in_words
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.studio_context import Studio, owner, redirect_to, signed_in_user, studio_of
from subsetprivacy.collect.web.studio_drafts import draft_lines
from subsetprivacy.collect.web.studio_forms import Form, read_form
from subsetprivacy.collect.web.studio_pages import render

router = APIRouter(prefix="/studio", include_in_schema=False)
Owner = Annotated[StudioUser, Depends(owner)]
SignedIn = Annotated[StudioUser, Depends(signed_in_user)]
Sent = Annotated[Form, Depends(read_form)]
_CHANGED = (
    "After you opened this page, someone published, closed or deleted a survey of its study, or published the key of "
    "the study. Read the page again, and decide again."
)
_MOST_SHOWN = 500  # links on a page; more are better in a file


@router.get("")
def list_page(request: Request, person: SignedIn) -> Response:
    """Show all surveys, and to owners all drafts."""
    studio = studio_of(request)
    drafts = draft_lines(studio.engine) if person.is_owner else []
    lines = sorted(studio.cache.lines(), key=lambda line: (not line.is_open, line.title, line.id))
    return render("surveys.html", person=person, surveys=lines, drafts=drafts, base=studio.base_url or "")


@router.get("/surveys/{survey_id}/manage")
def manage_page(request: Request, survey_id: str, person: Owner) -> Response:
    """Show what an owner can do with a survey."""
    return _manage(request, person, find_survey(request, survey_id))


@router.post("/surveys/{survey_id}/codes")
def make_codes(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Make one-time links and show them once, on a page or as a file."""
    studio, line = studio_of(request), find_survey(request, survey_id)
    n, base = form.number("n", 1, MOST_CODES), studio.base_url or form.text("address").strip().rstrip("/")
    if n is None:
        return _manage(request, person, line, problem=f"Enter how many links to make, from 1 to {MOST_CODES}.")
    if not base.startswith(("http://", "https://")) or len(base) > 200 or not base.isprintable():
        return _manage(
            request, person, line, problem="Enter the address at which people reach this server, starting with http."
        )
    codes = survey_actions.make_codes(studio, person, line, n)
    links = [f"{base}/s/{survey_id}#{code}" for code in codes]
    if form.text("as") == "page" and n <= _MOST_SHOWN:
        in_all = publishing.count_codes(studio.engine, survey_id)
        return render("codes.html", person=person, survey=line, links=links, in_all=in_all)
    return _links_file(links, line, form.text("as"))


@router.post("/surveys/{survey_id}/earlier-codes")
def accept_earlier_codes(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Accept links from an earlier wave, so that people keep their questions."""
    studio, line = studio_of(request), find_survey(request, survey_id)
    codes = [text.rpartition("#")[2].strip() for text in form.text("links").split("\n") if text.strip()]
    try:
        publishing.accept_earlier_codes(studio.engine, survey_id, codes)
    except NotFoundError:
        raise RefusalError(404) from None
    except PublishingError as error:
        return _manage(request, person, line, problem=error_in_words(error))
    accounts.record(studio.engine, person, f"accepted {len(codes)} earlier links for “{line.title}” ({line.id})")
    return _manage(request, person, line, message=f"{len(codes)} links from the earlier wave now open this survey too.")


@router.get("/surveys/{survey_id}/close")
def close_page(request: Request, survey_id: str, person: Owner) -> Response:
    """Ask before a survey is closed."""
    return _closing(request, person, find_survey(request, survey_id))


@router.post("/surveys/{survey_id}/close")
def close(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Close a survey and make the last release. The same form sent twice does so once."""
    studio, line, last_wave = studio_of(request), find_survey(request, survey_id), not form.is_on("more_waves")
    try:
        survey_actions.close(studio, person, line, last_wave=last_wave, state=form.text("state"))
    except ChangedError:
        line = find_survey(request, survey_id)
        if line.is_open:
            return _closing(request, person, line, problem=f"Nothing was closed. {_CHANGED}")
        has_open = any(other.is_open for other in _of_study(studio, line))
        is_public = studio.collector.key(line.id) is not None
        if is_public == last_wave or (last_wave and has_open):
            return redirect_to(f"/studio/surveys/{survey_id}")  # as this form would have left it
        key = "was published" if is_public else "was kept secret"
        message = f"The survey was closed in the meantime, and the key of the study {key}. Nothing changed now."
        return _manage(request, person, line, problem=message, status=409)
    return redirect_to(f"/studio/surveys/{survey_id}")


@router.post("/surveys/{survey_id}/key")
def publish_key(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Publish the key of the study, permanently."""
    line = find_survey(request, survey_id)
    if not form.is_on("sure"):
        return _manage(request, person, line, problem="Tick the box first. You cannot take back a published key.")
    try:
        survey_actions.publish_key(studio_of(request), person, line, state=form.text("state"))
    except ChangedError:
        if studio_of(request).collector.key(line.id) is None:
            return _manage(request, person, line, problem=f"The key was not published. {_CHANGED}", status=409)
    return redirect_to(f"/studio/surveys/{survey_id}/manage")


@router.get("/surveys/{survey_id}/delete")
def delete_page(request: Request, survey_id: str, person: Owner) -> Response:
    """Ask before a survey is deleted."""
    return _deleting(request, person, find_survey(request, survey_id))


@router.post("/surveys/{survey_id}/delete")
def delete(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Delete a survey and all its data if its title was typed."""
    studio, line = studio_of(request), find_survey(request, survey_id)
    if " ".join(form.text("title").split()) != " ".join(line.title.split()):
        return _deleting(request, person, line, problem="This is not the title of the survey.")
    try:
        is_erased = survey_actions.delete(studio, person, line, state=form.text("state"))
    except ChangedError:
        line = find_survey(request, survey_id)
        return _deleting(request, person, line, problem=f"Nothing was deleted. {_CHANGED}", status=409)
    return redirect_to("/studio") if is_erased else _deleting(request, person, line, is_left=True)


def find_survey(request: Request, survey_id: str) -> SurveyLine:
    """Return a survey, or refuse if there is none."""
    line = studio_of(request).cache.line(survey_id)
    if line is None:
        raise RefusalError(404)
    return line


def _closing(request: Request, person: StudioUser, line: SurveyLine, *, problem: str | None = None) -> Response:
    """Show the page that asks before a survey is closed."""
    state = publishing.state_of_study(studio_of(request).engine, line.study)
    return render(
        "close.html", status=409 if problem else 200, person=person, survey=line, state=state, problem=problem
    )


def _manage(
    request: Request, person: StudioUser, line: SurveyLine, *, status: int | None = None, **shown: Any
) -> Response:
    studio = studio_of(request)
    state = publishing.state_of_study(studio.engine, line.study)  # before the rest: that may be newer, never older
    manifest = studio.cache.released(line).manifest
    values: dict[str, Any] = {"problem": None, "message": None} | shown
    return render(
        "manage.html",
        status=status or (422 if values["problem"] else 200),
        person=person,
        survey=line,
        state=state,
        manifest=manifest,
        key=studio.collector.key(line.id),
        opened=[other for other in _of_study(studio, line) if other.is_open],
        base=studio.base_url or "",
        most=MOST_CODES,
        most_shown=_MOST_SHOWN,
        **values,
    )


def _deleting(
    request: Request,
    person: StudioUser,
    line: SurveyLine,
    *,
    problem: str | None = None,
    status: int = 422,
    is_left: bool = False,
) -> Response:
    """Show the page that asks before a survey is deleted, or that reports traces in the files."""
    studio = studio_of(request)
    state = publishing.state_of_study(studio.engine, line.study)  # before the rest: that may be newer, never older
    return render(
        "delete.html",
        status=status if problem else 202 if is_left else 200,
        person=person,
        survey=line,
        state=state,
        problem=problem,
        is_left=is_left,
        others=[other for other in _of_study(studio, line) if other.id != line.id],
        key=studio.collector.key(line.id),
        has_log=studio.engine.dialect.name == "postgresql",
    )


def _of_study(studio: Studio, line: SurveyLine) -> list[SurveyLine]:
    return [other for other in studio.cache.lines() if other.study == line.study]


def _links_file(links: list[str], line: SurveyLine, kind: str) -> Response:
    if kind == "csv":
        made = io.StringIO(newline="")
        csv.writer(made).writerows([["link"], *([link] for link in links)])
        text, media = made.getvalue(), "text/csv"
    else:
        kind, text, media = "txt", "".join(f"{link}\n" for link in links), "text/plain"
    headers = {"Content-Disposition": f'attachment; filename="{survey_slug(line.title) or line.id}-links.{kind}"'}
    return Response(text, headers=headers, media_type=media)
