"""The editor: one file, written by a form or as text, beside a preview of what respondents see."""

import hmac
import json
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.service.accounts import Person
from subsetprivacy.collect.service.publishing import NotFoundError
from subsetprivacy.collect.storage.surveys import Draft
from subsetprivacy.collect.survey.checking import study_of
from subsetprivacy.collect.survey.definition import Survey
from subsetprivacy.collect.survey.documents import survey_document, survey_from_document
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.problems import Problem, SurveyError
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.survey.writing import write_survey
from subsetprivacy.collect.web.refusals import Refused
from subsetprivacy.collect.web.respond import page_bytes
from subsetprivacy.collect.web.security import SURVEY_BYTES
from subsetprivacy.collect.web.studio_context import go, owner, studio_of
from subsetprivacy.collect.web.studio_drafts import FORMATS, find_draft
from subsetprivacy.collect.web.studio_examples import placeholders
from subsetprivacy.collect.web.studio_forms import Form, read_form
from subsetprivacy.collect.web.studio_pages import render
from subsetprivacy.collect.web.studio_places import in_words_of_the_form

router = APIRouter(prefix="/studio/drafts", include_in_schema=False)
_KEY = secrets.token_bytes(32)
Owner = Annotated[Person, Depends(owner)]
Sent = Annotated[Form, Depends(read_form)]


@router.get("/{draft_id}")
def form_page(request: Request, draft_id: str, person: Owner) -> Response:
    """Show the draft as a form."""
    draft = find_draft(request, draft_id)
    try:
        survey = read_survey(draft.text, draft.format)
    except SurveyError:
        return go(f"/studio/drafts/{draft_id}/file")
    held = {"document": survey_document(survey), "placeholders": placeholders()}
    values: dict[str, Any] = {name: json.dumps(value, ensure_ascii=False) for name, value in held.items()}
    return render("form.html", person=person, draft=draft, follows=_study_follows(request, draft, survey), **values)


def _study_follows(request: Request, draft: Draft, survey: Survey) -> bool:
    """Tell whether the study may change with the title: not once people were asked, who must be asked the same."""
    asked = any(line.draft == draft.id for line in publishing.surveys(studio_of(request).engine))
    return not asked and survey.study == study_of(survey.title)


@router.post("/{draft_id}")
async def save_form(request: Request, draft_id: str, person: Owner) -> Response:
    """Write the form's document into the file."""
    body = await request.body()
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415)
    return await run_in_threadpool(_save_document, request, draft_id, body)


def _save_document(request: Request, draft_id: str, body: bytes) -> Response:
    draft = find_draft(request, draft_id)
    try:
        text = write_survey(survey_from_document(json.loads(body)), draft.format)
        publishing.save_draft(studio_of(request).engine, text, draft.format, draft_id)
    except SurveyError as error:
        return JSONResponse({"saved": False, "problems": [in_words_of_the_form(one) for one in error.problems]}, 422)
    except NotFoundError:
        raise Refused(404) from None
    except (ValueError, RecursionError):
        raise Refused(400) from None
    return JSONResponse({"saved": True, "problems": []})


@router.get("/{draft_id}/file")
def file_page(request: Request, draft_id: str, person: Owner, saved: bool = False) -> Response:
    """Show the draft as text; `saved` says that it was just kept."""
    draft = find_draft(request, draft_id)
    problems: tuple[Problem, ...] = ()
    try:
        read_survey(draft.text, draft.format)
    except SurveyError as error:
        problems = error.problems
    return _file(person, draft, draft.text, draft.format, problems, saved=saved)


@router.post("/{draft_id}/file")
def save_file(request: Request, draft_id: str, person: Owner, form: Sent) -> Response:
    """Keep the text, or say what is wrong with it; or write the same survey in another format."""
    draft = find_draft(request, draft_id)
    text, format = form.text("text"), form.text("format")
    if format not in FORMATS or len(text.encode()) > SURVEY_BYTES:
        raise Refused(413 if format in FORMATS else 400)
    try:
        if (other := form.text("convert")) in FORMATS:
            text, format = write_survey(read_survey(text, format), other), other
        publishing.save_draft(studio_of(request).engine, text, format, draft_id)
    except SurveyError as error:
        return _file(person, draft, text, format, error.problems, status=422)
    except NotFoundError:
        raise Refused(404) from None
    return go(f"/studio/drafts/{draft_id}/file?saved=true")


@router.get("/{draft_id}/export/{name}")
def download(request: Request, draft_id: str, name: str, person: Owner) -> Response:
    """Give the file to save."""
    draft = find_draft(request, draft_id)
    if name != f"survey.{draft.format}":
        raise Refused(404)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(draft.text.encode(), headers=headers, media_type="text/plain")


# The preview ------------------------------------------------------------------------------------
# The respondents' page never sends a cookie, here neither: what lets it in is a pass in its address.


@router.get("/{draft_id}/preview")
def preview(request: Request, draft_id: str, person: Owner) -> Response:
    """Open the preview."""
    return go(f"/studio/drafts/{find_draft(request, draft_id).id}/preview/{_pass(draft_id)}")


@router.get("/{draft_id}/preview/{given}")
def preview_page(draft_id: str, given: str) -> Response:
    """Show the respondents' page."""
    _check_pass(draft_id, given)
    return Response(page_bytes(), media_type="text/html")


@router.get("/{draft_id}/preview/{given}/manifest")
def preview_manifest(request: Request, draft_id: str, given: str) -> Response:
    """Give the page the draft as it would be published, marked as a preview."""
    _check_pass(draft_id, given)
    draft = find_draft(request, draft_id)
    try:
        survey = read_survey(draft.text, draft.format)
        frozen = freeze(survey, bytes(32) if survey.mode == "code" else None, nonce="preview")
    except SurveyError:
        raise Refused(404) from None
    return JSONResponse({**frozen.document, "preview": True})


def _pass(draft_id: str) -> str:
    return hmac.digest(_KEY, draft_id.encode(), "sha256").hex()[:32]


def _check_pass(draft_id: str, given: str) -> None:
    if not hmac.compare_digest(_pass(draft_id).encode(), given.encode()):
        raise Refused(404)


def _file(
    person: Person,
    draft: Draft,
    text: str,
    format: str,
    problems: tuple[Problem, ...],
    *,
    status: int = 200,
    saved: bool = False,
) -> Response:
    values: dict[str, Any] = {"draft": draft, "text": text, "format": format, "formats": FORMATS}
    return render("file.html", status=status, person=person, problems=problems, saved=saved, **values)
