"""The API for drafts and for publishing them."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.publishing import ChangedError, NotFoundError, PublishingError
from subsetprivacy.collect.storage.surveys import Draft
from subsetprivacy.collect.survey.describing import VariableFacts, survey_facts
from subsetprivacy.collect.survey.problems import SurveyError
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.web.api_access import Id, Owner, refusals, role_note
from subsetprivacy.collect.web.api_models import (
    ChangedDraft,
    DraftItem,
    DraftList,
    DraftText,
    DraftVariable,
    NewDraft,
    Reviewed,
    Revision,
    SurveyItem,
)
from subsetprivacy.collect.web.api_surveys import survey_item
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.studio_context import is_id, studio_of
from subsetprivacy.presenting.words import error_text

router = APIRouter(tags=["drafts"])


@router.get("/drafts", responses=refusals(), openapi_extra=role_note("owner"))
def list_drafts(request: Request, person: Owner) -> DraftList:
    """List all drafts."""
    drafts = publishing.drafts(studio_of(request).engine)
    return DraftList(drafts=[DraftItem.model_validate(draft) for draft in drafts])


@router.post("/drafts", status_code=201, responses=refusals(400, 408, 413), openapi_extra=role_note("owner"))
def make_draft(request: Request, person: Owner, sent: NewDraft) -> DraftText:
    """Create a draft from a survey file. A file with problems is refused, with a list of them."""
    draft = _save(request, sent, None)
    accounts.record(studio_of(request).engine, person, f"began the draft “{draft.title}”")
    return _shown(draft)


@router.get("/drafts/{draft_id}", responses=refusals(404), openapi_extra=role_note("owner"))
def get_draft(request: Request, person: Owner, draft_id: Id) -> DraftText:
    """Return a draft with its text and its problems."""
    return _shown(_find(request, draft_id))


@router.put("/drafts/{draft_id}", responses=refusals(400, 404, 408, 409, 413), openapi_extra=role_note("owner"))
def replace_draft(request: Request, person: Owner, draft_id: Id, sent: ChangedDraft) -> DraftText:
    """Replace the text of a draft if it still has the given revision. Without a revision, replace it in any case."""
    _find(request, draft_id)
    _refuse_conditions(request)
    return _shown(_save(request, sent, draft_id, sent.revision))


@router.delete(
    "/drafts/{draft_id}",
    status_code=204,
    response_class=Response,
    responses={204: {"description": "Deleted."}, **refusals(400, 404, 408, 409, 413)},
    openapi_extra=role_note("owner"),
)
def delete_draft(
    request: Request,
    person: Owner,
    draft_id: Id,
    revision: Annotated[Revision | None, Query(description="The revision that was read, as of `PUT`.")] = None,
) -> Response:
    """Delete a draft if it still has the given revision. Surveys that were published from it stay."""
    draft = _find(request, draft_id)
    _refuse_other_conditions(request)
    try:
        publishing.delete_draft(studio_of(request).engine, draft_id, revision=revision)
    except NotFoundError:
        raise RefusalError(404, "There is no draft with this id.") from None
    except ChangedError as error:
        raise RefusalError(409, error_text(error)) from None
    accounts.record(studio_of(request).engine, person, f"deleted the draft “{draft.title}”")
    return Response(status_code=204)


def _refuse_other_conditions(request: Request) -> None:
    """Refuse a revision that is misspelled, repeated or in a body. It would be ignored and the draft deleted."""
    _refuse_if_match(request)
    names = [name for name, _ in request.query_params.multi_items()]
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    if names not in ([], ["revision"]) or has_body:
        raise RefusalError(400, "Delete a draft by its address alone, or with ?revision=… once, and without a body.")


def _refuse_conditions(request: Request) -> None:
    """Refuse a revision outside the body. It would be ignored, and someone's text overwritten."""
    _refuse_if_match(request)
    if request.query_params:
        raise RefusalError(400, "Send the revision in the document and nowhere else.")


def _refuse_if_match(request: Request) -> None:
    if "if-match" in request.headers or "if-unmodified-since" in request.headers:
        raise RefusalError(400, "The API ignores conditional headers. Send the `revision` of the draft.")


@router.post(
    "/drafts/{draft_id}/publish",
    status_code=201,
    responses=refusals(400, 404, 408, 409, 413),
    openapi_extra=role_note("owner"),
)
def publish_draft(request: Request, person: Owner, draft_id: Id, reviewed: Reviewed) -> SurveyItem:
    """Publish a draft if it still has the given revision. The survey does not change after that."""
    studio = studio_of(request)
    _find(request, draft_id)
    _refuse_conditions(request)
    try:
        manifest = publishing.publish(studio.engine, draft_id, revision=reviewed.revision)
    except NotFoundError:
        raise RefusalError(404, "There is no draft with this id.") from None
    except SurveyError as error:
        raise RefusalError(422, "The draft has problems.", problems=_lines(error)) from None
    except PublishingError as error:
        raise RefusalError(409, error_text(error)) from None
    studio.collector.forget(manifest.id)
    accounts.record(studio.engine, person, f"published “{manifest.title}” as {manifest.id}")
    line = studio.cache.line(manifest.id)
    if line is None:
        raise RefusalError(404, "It was deleted right after it was published.")
    return survey_item(studio, line)


def _find(request: Request, draft_id: str) -> Draft:
    draft = publishing.read_draft(studio_of(request).engine, draft_id) if is_id(draft_id) else None
    if draft is None:
        raise RefusalError(404, "There is no draft with this id.")
    return draft


def _save(request: Request, sent: NewDraft, draft_id: str | None, revision: str | None = None) -> Draft:
    try:
        return publishing.save_draft(studio_of(request).engine, sent.text, sent.format, draft_id, revision=revision)
    except NotFoundError:
        raise RefusalError(404, "There is no draft with this id.") from None
    except ChangedError as error:
        raise RefusalError(409, error_text(error)) from None
    except SurveyError as error:
        raise RefusalError(422, "The survey has problems.", problems=_lines(error)) from None


def _shown(draft: Draft) -> DraftText:
    problems: list[dict[str, object]] = []
    variables: list[DraftVariable] = []
    try:
        facts = survey_facts(read_survey(draft.text, draft.format))
        variables = [_variable(variable) for variable in facts.variables]
    except SurveyError as error:
        problems = _lines(error)
    item = DraftItem.model_validate(draft).model_dump()
    return DraftText.model_validate({**item, "text": draft.text, "problems": problems, "variables": variables})


def _variable(facts: VariableFacts) -> DraftVariable:
    values = {"id": facts.id, "revealing": facts.revealing, "never_alone": facts.never_alone, "price": facts.price}
    return DraftVariable.model_validate(values)


def _lines(error: SurveyError) -> list[dict[str, object]]:
    return [{"line": problem.line, "place": problem.place, "message": problem.text} for problem in error.problems]
