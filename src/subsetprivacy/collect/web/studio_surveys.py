"""Published surveys: the list, their links and codes, closing and deleting them."""

import csv
import io
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.accounts import Person
from subsetprivacy.collect.service.publishing import MOST_CODES, NotFoundError, PublishingError
from subsetprivacy.collect.storage.surveys import SurveyLine
from subsetprivacy.collect.web.refusals import Refused
from subsetprivacy.collect.web.studio_context import go, owner, somebody, studio_of
from subsetprivacy.collect.web.studio_forms import Form, read_form
from subsetprivacy.collect.web.studio_pages import render

router = APIRouter(prefix="/studio", include_in_schema=False)
Owner = Annotated[Person, Depends(owner)]
SignedIn = Annotated[Person, Depends(somebody)]
Sent = Annotated[Form, Depends(read_form)]
_MOST_SHOWN = 500  # links on a page; more are better kept in a file


@router.get("")
def list_page(request: Request, person: SignedIn) -> Response:
    """Show all surveys, and to owners all drafts."""
    studio = studio_of(request)
    drafts = publishing.drafts(studio.engine) if person.is_owner else []
    lines = sorted(studio.desk.lines(), key=lambda line: (not line.is_open, line.title, line.id))
    return render("surveys.html", person=person, surveys=lines, drafts=drafts, base=studio.base_url or "")


@router.get("/surveys/{survey_id}/manage")
def manage_page(request: Request, survey_id: str, person: Owner) -> Response:
    """Show what an owner can do with a survey."""
    return _manage(request, person, find_survey(request, survey_id))


@router.post("/surveys/{survey_id}/codes")
def make_codes(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Make one-time links and hand them out this once: on a page, or as a file."""
    studio, line = studio_of(request), find_survey(request, survey_id)
    n, base = form.number("n", 1, MOST_CODES), studio.base_url or form.text("address").strip().rstrip("/")
    if n is None:
        return _manage(request, person, line, problem=f"Say how many links: from 1 to {MOST_CODES}.")
    if not base.startswith(("http://", "https://")) or len(base) > 200 or not base.isprintable():
        return _manage(request, person, line, problem="Give the address people reach this server by, with http.")
    codes = _publishing(lambda: publishing.make_codes(studio.engine, survey_id, n))
    accounts.record(studio.engine, person, f"made {n} one-time links for “{line.title}” ({line.id})")
    links = [f"{base}/s/{survey_id}#{code}" for code in codes]
    if form.text("as") == "page" and n <= _MOST_SHOWN:
        return render("codes.html", person=person, survey=line, links=links)
    return _links_file(links, line, form.text("as"))


@router.post("/surveys/{survey_id}/earlier-codes")
def keep_codes(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Let in links of an earlier wave, so that people keep their questions."""
    studio, line = studio_of(request), find_survey(request, survey_id)
    codes = [text.rpartition("#")[2].strip() for text in form.text("links").split("\n") if text.strip()]
    try:
        publishing.keep_codes(studio.engine, survey_id, codes)
    except NotFoundError:
        raise Refused(404) from None
    except PublishingError as error:
        return _manage(request, person, line, problem=str(error))
    accounts.record(studio.engine, person, f"let {len(codes)} earlier links into “{line.title}” ({line.id})")
    return _manage(request, person, line, told=f"{len(codes)} links of the earlier wave now open this survey, too.")


@router.get("/surveys/{survey_id}/close")
def close_page(request: Request, survey_id: str, person: Owner) -> Response:
    """Ask before a survey is closed."""
    return render("close.html", person=person, survey=find_survey(request, survey_id))


@router.post("/surveys/{survey_id}/close")
def close(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Close a survey: the last release."""
    studio, line = studio_of(request), find_survey(request, survey_id)
    more = form.is_on("more_waves")
    _publishing(lambda: publishing.close(studio.engine, survey_id, last_wave=not more))
    _forget(request, survey_id)
    accounts.record(studio.engine, person, f"closed “{line.title}” ({line.id}){', more waves to come' if more else ''}")
    return go(f"/studio/surveys/{survey_id}")


@router.get("/surveys/{survey_id}/delete")
def delete_page(request: Request, survey_id: str, person: Owner) -> Response:
    """Ask before a survey is deleted."""
    return render("delete.html", person=person, survey=find_survey(request, survey_id), problem=None)


@router.post("/surveys/{survey_id}/delete")
def delete(request: Request, survey_id: str, person: Owner, form: Sent) -> Response:
    """Delete a survey and all that was kept of it, if its title was typed."""
    studio, line = studio_of(request), find_survey(request, survey_id)
    if " ".join(form.text("title").split()) != " ".join(line.title.split()):
        problem = "This is not the title of the survey."
        return render("delete.html", status=422, person=person, survey=line, problem=problem)
    _publishing(lambda: publishing.delete(studio.engine, survey_id))
    _forget(request, survey_id)
    accounts.record(studio.engine, person, f"deleted “{line.title}” ({line.id}) and everything in it")
    return go("/studio")


def find_survey(request: Request, survey_id: str) -> SurveyLine:
    """Return a survey; a page that says so where there is none."""
    line = studio_of(request).desk.line(survey_id)
    if line is None:
        raise Refused(404)
    return line


def _manage(request: Request, person: Person, line: SurveyLine, **shown: Any) -> Response:
    studio = studio_of(request)
    manifest = studio.desk.released(line).manifest
    values: dict[str, Any] = {"problem": None, "told": None} | shown
    return render(
        "manage.html",
        status=422 if values["problem"] else 200,
        person=person,
        survey=line,
        manifest=manifest,
        base=studio.base_url or "",
        most=MOST_CODES,
        most_shown=_MOST_SHOWN,
        **values,
    )


def _publishing(act: Any) -> Any:
    """Do something to a survey; what is not possible becomes a page that says why."""
    try:
        return act()
    except NotFoundError:
        raise Refused(404) from None
    except PublishingError as error:
        raise Refused(409, str(error)) from None


def _forget(request: Request, survey_id: str) -> None:
    studio = studio_of(request)
    studio.collector.forget(survey_id)
    studio.desk.forget(survey_id)


def _links_file(links: list[str], line: SurveyLine, kind: str) -> Response:
    if kind == "csv":
        made = io.StringIO(newline="")
        csv.writer(made).writerows([["link"], *([link] for link in links)])
        text, media = made.getvalue(), "text/csv"
    else:
        kind, text, media = "txt", "".join(f"{link}\n" for link in links), "text/plain"
    headers = {"Content-Disposition": f'attachment; filename="links-{line.id}.{kind}"'}
    return Response(text, headers=headers, media_type=media)
