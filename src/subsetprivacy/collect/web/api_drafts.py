"""Drafts, and publishing them, for programs."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.publishing import NotFoundError, PublishingError
from subsetprivacy.collect.storage.surveys import Draft
from subsetprivacy.collect.survey.problems import SurveyError
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.web.api_access import Id, Owner, refusals, told
from subsetprivacy.collect.web.api_models import DraftItem, DraftList, DraftText, NewDraft, SurveyItem
from subsetprivacy.collect.web.api_surveys import survey_item
from subsetprivacy.collect.web.refusals import Refused
from subsetprivacy.collect.web.studio_context import is_id, studio_of

router = APIRouter(tags=["drafts"])


@router.get("/drafts", responses=refusals(), openapi_extra=told("owner"))
def list_drafts(request: Request, person: Owner) -> DraftList:
    """List all drafts."""
    held = publishing.drafts(studio_of(request).engine)
    return DraftList(drafts=[DraftItem.model_validate(one) for one in held])


@router.post("/drafts", status_code=201, responses=refusals(400, 408, 413), openapi_extra=told("owner"))
def make_draft(request: Request, person: Owner, sent: NewDraft) -> DraftText:
    """Make a draft of a survey's file; one with problems is refused with each of them."""
    draft = _save(request, sent, None)
    accounts.record(studio_of(request).engine, person, f"began the draft “{draft.title}”")
    return _shown(draft)


@router.get("/drafts/{draft_id}", responses=refusals(404), openapi_extra=told("owner"))
def get_draft(request: Request, person: Owner, draft_id: Id) -> DraftText:
    """Give a draft with its text, and what is wrong with it."""
    return _shown(_find(request, draft_id))


@router.put("/drafts/{draft_id}", responses=refusals(400, 404, 408, 413), openapi_extra=told("owner"))
def replace_draft(request: Request, person: Owner, draft_id: Id, sent: NewDraft) -> DraftText:
    """Replace the text of a draft."""
    _find(request, draft_id)
    return _shown(_save(request, sent, draft_id))


@router.delete(
    "/drafts/{draft_id}",
    status_code=204,
    response_class=Response,
    responses={204: {"description": "Deleted."}, **refusals(400, 404, 408, 413)},
    openapi_extra=told("owner"),
)
def delete_draft(request: Request, person: Owner, draft_id: Id) -> Response:
    """Delete a draft; what was published from it stays."""
    draft = _find(request, draft_id)
    try:
        publishing.delete_draft(studio_of(request).engine, draft_id)
    except NotFoundError:
        raise Refused(404, "There is no draft of this id.") from None
    accounts.record(studio_of(request).engine, person, f"deleted the draft “{draft.title}”")
    return Response(status_code=204)


@router.post(
    "/drafts/{draft_id}/publish",
    status_code=201,
    responses=refusals(400, 404, 408, 409, 413),
    openapi_extra=told("owner"),
)
def publish_draft(request: Request, person: Owner, draft_id: Id) -> SurveyItem:
    """Publish a draft: nothing of the survey changes from here on."""
    studio = studio_of(request)
    _find(request, draft_id)
    try:
        manifest = publishing.publish(studio.engine, draft_id)
    except NotFoundError:
        raise Refused(404, "There is no draft of this id.") from None
    except SurveyError as error:
        raise Refused(422, "The draft has problems.", problems=_lines(error)) from None
    except PublishingError as error:
        raise Refused(409, str(error)) from None
    studio.collector.forget(manifest.id)
    accounts.record(studio.engine, person, f"published “{manifest.title}” as {manifest.id}")
    line = studio.desk.line(manifest.id)
    if line is None:
        raise Refused(404, "It was deleted at once.")
    return survey_item(studio, line)


def _find(request: Request, draft_id: str) -> Draft:
    draft = publishing.read_draft(studio_of(request).engine, draft_id) if is_id(draft_id) else None
    if draft is None:
        raise Refused(404, "There is no draft of this id.")
    return draft


def _save(request: Request, sent: NewDraft, draft_id: str | None) -> Draft:
    try:
        return publishing.save_draft(studio_of(request).engine, sent.text, sent.format, draft_id)
    except NotFoundError:
        raise Refused(404, "There is no draft of this id.") from None
    except SurveyError as error:
        raise Refused(422, "The survey has problems.", problems=_lines(error)) from None


def _shown(draft: Draft) -> DraftText:
    problems: list[dict[str, object]] = []
    try:
        read_survey(draft.text, draft.format)
    except SurveyError as error:
        problems = _lines(error)
    held = {"id": draft.id, "title": draft.title, "format": draft.format, "text": draft.text}
    return DraftText.model_validate({**held, "problems": problems})


def _lines(error: SurveyError) -> list[dict[str, object]]:
    return [{"line": one.line, "place": one.place, "message": one.message} for one in error.problems]
