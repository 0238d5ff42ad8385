"""Create, delete and publish drafts."""

from typing import Annotated, Any

from attrs import frozen
from fastapi import APIRouter, Depends, Request
from sqlalchemy import Engine
from starlette.responses import Response

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.publishing import (
    AlreadyPublishedError,
    ChangedError,
    NotFoundError,
    PublishingError,
)
from subsetprivacy.collect.storage.opening import reading
from subsetprivacy.collect.storage.surveys import Draft, read_source
from subsetprivacy.collect.survey.problems import SurveyError
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.web.form_wording import error_in_words
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.security import SURVEY_BYTES
from subsetprivacy.collect.web.studio_conflicts import gone_page, unpublished_page
from subsetprivacy.collect.web.studio_context import is_id, owner, redirect_to, studio_of
from subsetprivacy.collect.web.studio_examples import EXAMPLES, placeholders_in
from subsetprivacy.collect.web.studio_forms import Form, read_form
from subsetprivacy.collect.web.studio_pages import render
from subsetprivacy.collect.web.studio_promises import promises
from subsetprivacy.collect.web.studio_revealing import revealing_panels

router = APIRouter(prefix="/studio/drafts", include_in_schema=False)
FORMATS = ("toml", "yaml", "json")
_MOST_VERSIONS = 10**9
_ENDINGS = {"toml": "toml", "yaml": "yaml", "yml": "yaml", "json": "json"}
Owner = Annotated[StudioUser, Depends(owner)]
Sent = Annotated[Form, Depends(read_form)]


@router.get("/new")
def new_page(person: Owner) -> Response:
    """Show the ways to start a survey."""
    return _new(person)


@router.post("/new")
def begin(request: Request, person: Owner, form: Sent) -> Response:
    """Create a draft from an example, a file, or the corrected text of a file."""
    example = next((offered for offered in EXAMPLES if offered.id == form.text("example")), None)
    if example is not None:
        text, format = example.text, "toml"
    elif form.text("format") in FORMATS:
        text, format = _read_text(form.text("text").encode()), form.text("format")
    else:
        name, content = form.files.get("file", ("", b""))
        ending = name.rpartition(".")[2].lower()
        if ending not in _ENDINGS:
            return _new(person, problem="Choose a file whose name ends in .toml, .yaml or .json.")
        text, format = _read_text(content), _ENDINGS[ending]
    try:
        draft = publishing.save_draft(studio_of(request).engine, text, format)
    except SurveyError as error:
        values: dict[str, Any] = {"text": text, "format": format, "formats": FORMATS, "problems": error.problems}
        return render("file.html", status=422, person=person, draft=None, saved=False, is_gone=False, **values)
    accounts.record(studio_of(request).engine, person, f"began the draft “{draft.title}”")
    return redirect_to(f"/studio/drafts/{draft.id}")


@router.get("/{draft_id}/delete")
def delete_page(request: Request, draft_id: str, person: Owner) -> Response:
    """Ask before a draft is deleted."""
    return render("delete_draft.html", person=person, draft=find_draft(request, draft_id), is_changed=False)


@router.post("/{draft_id}/delete")
def delete(request: Request, draft_id: str, person: Owner, form: Sent) -> Response:
    """Delete a draft if it has not changed since the page was opened."""
    draft = find_draft(request, draft_id)
    try:
        publishing.delete_draft(studio_of(request).engine, draft_id, revision=form.text("revision"))
    except NotFoundError:
        raise RefusalError(404) from None
    except ChangedError as error:
        return render("delete_draft.html", status=409, person=person, draft=error.draft, is_changed=True)
    accounts.record(studio_of(request).engine, person, f"deleted the draft “{draft.title}”")
    return redirect_to("/studio")


@router.get("/{draft_id}/publish")
def publish_page(request: Request, draft_id: str, person: Owner) -> Response:
    """Show what publishing means and ask for confirmation."""
    return _publish_page(request, person, find_draft(request, draft_id))


@router.post("/{draft_id}/publish")
def publish(request: Request, draft_id: str, person: Owner, form: Sent) -> Response:
    """Publish a draft if it is the one that was shown. The same form sent twice publishes once."""
    studio = studio_of(request)
    shown, format = _read_text(form.text("text").encode()), form.text("format")
    draft = publishing.read_draft(studio.engine, draft_id) if is_id(draft_id) else None
    if draft is not None and draft.revision == form.text("revision") and _has_placeholders(draft):
        return _publish_page(request, person, draft, status=409)
    try:
        revision, version = form.text("revision"), form.number("version", 1, _MOST_VERSIONS) or 0
        manifest = publishing.publish(studio.engine, draft_id, revision=revision, version=version)
    except NotFoundError:
        if shown and format in FORMATS:
            return gone_page(person, shown, format)
        raise RefusalError(404) from None
    except AlreadyPublishedError as error:
        return redirect_to(f"/studio/surveys/{error.survey_id}/manage")
    except ChangedError as error:
        if error.draft is not None:
            return unpublished_page(person, error.draft, shown, format)
        return _publish_page(request, person, find_draft(request, draft_id), status=409, is_published=True)
    except SurveyError:
        return redirect_to(f"/studio/drafts/{draft_id}/file")
    except PublishingError as error:
        return _publish_page(request, person, find_draft(request, draft_id), status=409, problem=error)
    studio.collector.forget(manifest.id)
    accounts.record(studio.engine, person, f"published “{manifest.title}” as {manifest.id}")
    return redirect_to(f"/studio/surveys/{manifest.id}/manage")


def find_draft(request: Request, draft_id: str) -> Draft:
    """Return a draft, or refuse if there is none."""
    draft = publishing.read_draft(studio_of(request).engine, draft_id) if is_id(draft_id) else None
    if draft is None:
        raise RefusalError(404)
    return draft


@frozen
class DraftLine:
    """A draft in a list: its last published version, and whether the draft has changed since."""

    id: str
    title: str
    version: int | None
    is_changed: bool


def draft_lines(engine: Engine) -> list[DraftLine]:
    """Return all drafts with their last published versions."""
    newest = {line.draft: line for line in reversed(publishing.surveys(engine))}  # the newest of a draft comes first
    lines = []
    with reading(engine) as connection:
        for draft in publishing.drafts(engine):
            line = newest.get(draft.id)
            is_changed = line is not None and read_source(connection, line.id) != draft.text
            lines.append(DraftLine(draft.id, draft.title, None if line is None else line.version, is_changed))
    return lines


def _new(person: StudioUser, **shown: Any) -> Response:
    values: dict[str, Any] = {"problem": None} | shown
    return render("new.html", status=422 if shown else 200, person=person, examples=EXAMPLES, **values)


def _publish_page(
    request: Request,
    person: StudioUser,
    draft: Draft,
    *,
    status: int = 200,
    problem: PublishingError | None = None,
    is_published: bool = False,
) -> Response:
    """Show what publishing means. `is_published` says that someone else has published since the page was opened."""
    try:
        survey = read_survey(draft.text, draft.format)
    except SurveyError:
        return redirect_to(f"/studio/drafts/{draft.id}/file")
    studio, promised = studio_of(request), promises(survey)
    line = next((line for line in draft_lines(studio.engine) if line.id == draft.id), None)
    if line is None:  # deleted in between
        raise RefusalError(404)
    problem = problem or publishing.objection(studio.engine, survey)
    values: dict[str, Any] = {
        "draft": draft,
        "survey": survey,
        "promises": promised,
        "line": line,
        "is_published": is_published,
        "left": placeholders_in(survey),
        "problem": None if problem is None else error_in_words(problem),
        "base": studio.base_url or "",
        "panels": revealing_panels(survey),
    }
    return render("publish.html", status=status, person=person, **values)


def _has_placeholders(draft: Draft) -> bool:
    try:
        return bool(placeholders_in(read_survey(draft.text, draft.format)))
    except SurveyError:
        return False  # publishing reports its problems


def _read_text(content: bytes) -> str:
    if len(content) > SURVEY_BYTES:
        raise RefusalError(413, "The text of a survey may have at most 256 kB.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusalError(422, "The file must be text in UTF-8.") from None
