"""The editor of a survey file, as a form or as text, next to a preview of what respondents see."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.exporting import survey_slug
from subsetprivacy.collect.service.publishing import ChangedError, NotFoundError
from subsetprivacy.collect.storage.surveys import Draft
from subsetprivacy.collect.survey.checking import study_of
from subsetprivacy.collect.survey.comments import count_comments
from subsetprivacy.collect.survey.definition import SurveyDefinition
from subsetprivacy.collect.survey.documents import survey_document, survey_from_document
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.problems import SurveyError, SurveyProblem
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.survey.writing import write_survey
from subsetprivacy.collect.web.form_wording import in_words_of_the_form
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.respond import page_bytes
from subsetprivacy.collect.web.security import SURVEY_BYTES
from subsetprivacy.collect.web.studio_conflicts import conflict_page, gone_page
from subsetprivacy.collect.web.studio_context import cookie_value, is_id, owner, redirect_to, studio_of
from subsetprivacy.collect.web.studio_drafts import FORMATS, find_draft
from subsetprivacy.collect.web.studio_examples import placeholders
from subsetprivacy.collect.web.studio_forms import Form, read_form
from subsetprivacy.collect.web.studio_pages import render

router = APIRouter(prefix="/studio/drafts", include_in_schema=False)
Owner = Annotated[StudioUser, Depends(owner)]
Sent = Annotated[Form, Depends(read_form)]


@router.get("/{draft_id}")
def form_page(request: Request, draft_id: str, person: Owner) -> Response:
    """Show the draft as a form."""
    draft = find_draft(request, draft_id)
    try:
        survey = read_survey(draft.text, draft.format)
    except SurveyError:
        return redirect_to(f"/studio/drafts/{draft_id}/file")
    initial = {"document": survey_document(survey), "placeholders": placeholders()}
    values: dict[str, Any] = {name: json.dumps(value, ensure_ascii=False) for name, value in initial.items()}
    values |= {"follows": _study_follows(request, draft, survey), "comments": count_comments(draft.text, draft.format)}
    return render("form.html", person=person, draft=draft, **values)


def _study_follows(request: Request, draft: Draft, survey: SurveyDefinition) -> bool:
    """Tell whether the study may change with the title. Once people were asked, it must stay the same."""
    asked = any(line.draft == draft.id for line in publishing.surveys(studio_of(request).engine))
    return not asked and survey.study == study_of(survey.title)


@router.post("/{draft_id}")
async def save_form(request: Request, draft_id: str, person: Owner) -> Response:
    """Write the form's document into the file, unless someone else has changed the file since."""
    body = await request.body()
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusalError(415)
    return await run_in_threadpool(_save_document, request, draft_id, body)


def _save_document(request: Request, draft_id: str, body: bytes) -> Response:
    engine, text = studio_of(request).engine, ""
    try:
        sent = _read_sent(body)
        text = write_survey(survey_from_document(sent["document"]), sent["format"])
        if not is_id(draft_id):
            raise RefusalError(404)
        saved = publishing.save_draft(engine, text, sent["format"], draft_id, revision=sent["revision"])
    except SurveyError as error:
        return JSONResponse(
            {"saved": False, "problems": [in_words_of_the_form(problem) for problem in error.problems]}, 422
        )
    except (ChangedError, NotFoundError) as error:  # the page sends the text to another page, which shows what to do
        status = 409 if isinstance(error, ChangedError) else 404
        return JSONResponse({"saved": False, "problems": [], "text": text}, status)
    except (ValueError, RecursionError):
        find_draft(request, draft_id)
        raise RefusalError(400) from None
    return JSONResponse({"saved": True, "problems": [], "revision": saved.revision})


def _read_sent(body: bytes) -> dict[str, Any]:
    """Return the form's document, the format of the file, and the revision that was opened.

    Raises
    ------
    ValueError
        If it is something else.
    """
    sent = json.loads(body)
    if not isinstance(sent, dict) or sent.keys() != {"document", "format", "revision"}:
        raise ValueError
    if sent["format"] not in FORMATS or not isinstance(sent["revision"], str):
        raise ValueError
    return sent


@router.get("/{draft_id}/file")
def file_page(request: Request, draft_id: str, person: Owner, saved: str = "") -> Response:
    """Show the draft as text. `saved` is the revision that was just saved."""
    draft = find_draft(request, draft_id)
    problems: tuple[SurveyProblem, ...] = ()
    try:
        read_survey(draft.text, draft.format)
    except SurveyError as error:
        problems = error.problems
    values: dict[str, Any] = {"text": draft.text, "format": draft.format, "revision": draft.revision}
    return _file(person, draft, problems, saved=saved == draft.revision, **values)


@router.post("/{draft_id}/file")
def save_file(request: Request, draft_id: str, person: Owner, form: Sent) -> Response:
    """Save the text or show its problems, or convert the survey to another format.

    A draft that someone else has changed since is not overwritten. A page shows both.
    """
    text, format, editor = form.text("text"), form.text("format"), form.text("editor")
    draft = publishing.read_draft(studio_of(request).engine, draft_id) if is_id(draft_id) else None
    if draft is None:
        if text and format in FORMATS:
            return gone_page(person, text, format)
        raise RefusalError(404)
    if format not in FORMATS or len(text.encode()) > SURVEY_BYTES:
        raise RefusalError(413 if format in FORMATS else 400)
    try:
        if (other := form.text("convert")) in FORMATS:
            text, format = write_survey(read_survey(text, format), other), other
        revision = form.text("revision")
        saved = publishing.save_draft(studio_of(request).engine, text, format, draft_id, revision=revision)
    except SurveyError as error:
        values: dict[str, Any] = {"text": text, "format": format, "revision": form.text("revision")}
        return _file(person, draft, error.problems, status=422, **values)
    except NotFoundError:
        return gone_page(person, text, format)
    except ChangedError as error:
        return conflict_page(person, error.draft or draft, text, format, editor=editor)
    if editor == "form":
        return redirect_to(f"/studio/drafts/{draft_id}")
    return redirect_to(f"/studio/drafts/{draft_id}/file?saved={saved.revision}")


@router.get("/{draft_id}/export/{name}")
def download(request: Request, draft_id: str, name: str, person: Owner) -> Response:
    """Return the file as a download."""
    draft = find_draft(request, draft_id)
    if name != f"survey.{draft.format}":
        raise RefusalError(404)
    called = f"{survey_slug(draft.title) or 'survey'}.{draft.format}"
    headers = {"Content-Disposition": f'attachment; filename="{called}"'}
    return Response(draft.text.encode(), headers=headers, media_type="text/plain")


# The preview ------------------------------------------------------------------------------------
# The respondents' page never sends a cookie, not even here. A pass in its address gives access, and ends with the
# session that requested it.


@router.get("/{draft_id}/preview")
def preview(request: Request, draft_id: str, person: Owner) -> Response:
    """Open the preview."""
    given = accounts.preview_pass(cookie_value(request), find_draft(request, draft_id).id)
    return redirect_to(f"/studio/drafts/{draft_id}/preview/{given}")


@router.get("/{draft_id}/preview/{given}")
def preview_page(request: Request, draft_id: str, given: str) -> Response:
    """Show the respondents' page."""
    _check_pass(request, draft_id, given)
    return Response(page_bytes(), media_type="text/html")


@router.get("/{draft_id}/preview/{given}/manifest")
def preview_manifest(request: Request, draft_id: str, given: str) -> Response:
    """Return the draft as it would be published, marked as a preview."""
    _check_pass(request, draft_id, given)
    draft = find_draft(request, draft_id)
    try:
        survey = read_survey(draft.text, draft.format)
        frozen = freeze(survey, bytes(32) if survey.mode == "code" else None, nonce="preview")
    except SurveyError:
        raise RefusalError(404) from None
    return JSONResponse({**frozen.document, "preview": True})


def _check_pass(request: Request, draft_id: str, given: str) -> None:
    if not accounts.is_preview_pass(studio_of(request).engine, given, draft_id):
        raise RefusalError(404)


def _file(
    person: StudioUser,
    draft: Draft,
    problems: tuple[SurveyProblem, ...],
    *,
    status: int = 200,
    saved: bool = False,
    **values: Any,
) -> Response:
    values |= {"draft": draft, "formats": FORMATS, "problems": problems, "is_gone": False}
    return render("file.html", status=status, person=person, saved=saved, **values)
