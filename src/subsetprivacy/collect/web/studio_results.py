"""Results of a survey: the dashboard, the number of releases for open pages, and downloads."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, Response

from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.exporting import export_csv, export_parquet, export_zip, saved_name
from subsetprivacy.collect.service.results import Results, results, results_document
from subsetprivacy.collect.storage.surveys import SurveyLine
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.studio_context import Studio, signed_in_user, studio_of
from subsetprivacy.collect.web.studio_dashboard import dashboard
from subsetprivacy.collect.web.studio_pages import render
from subsetprivacy.collect.web.studio_surveys import find_survey
from subsetprivacy.finding.document import document_text
from subsetprivacy.presenting.words import LANGUAGES

router = APIRouter(prefix="/studio/surveys", include_in_schema=False)
SignedIn = Annotated[StudioUser, Depends(signed_in_user)]
TYPES = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "zip": "application/zip",
    "json": "application/json",
}


@router.get("/{survey_id}")
def results_page(request: Request, survey_id: str, person: SignedIn, language: str = "en") -> Response:
    """Show the dashboard, with findings in one of the languages of the service."""
    if language not in LANGUAGES:
        raise RefusalError(404)
    studio, line = studio_of(request), find_survey(request, survey_id)
    key = studio.collector.key(survey_id) if line.mode == "code" else None
    if not line.releases:
        return render("empty.html", person=person, survey=line, key=key, base=studio.base_url or "")
    board = studio.cache.computed(
        line, f"dashboard {language}", lambda released: dashboard(released, results_of(studio, line), language)
    )
    return render("dashboard.html", person=person, survey=line, board=board, key=key)


@router.get("/{survey_id}/release")
def latest_release(request: Request, survey_id: str, person: SignedIn) -> Response:
    """Return the number of releases."""
    return JSONResponse({"releases": find_survey(request, survey_id).releases})


@router.get("/{survey_id}/export/{name}")
def save(request: Request, survey_id: str, name: str, person: SignedIn) -> Response:
    """Return a download: the survey, its results, everything, or the rows of a group."""
    return saved(studio_of(request), find_survey(request, survey_id), name)


def saved(studio: Studio, line: SurveyLine, name: str) -> Response:
    """Return a download named after the survey and its content."""
    content = export(studio, line, name)
    called = saved_name(studio.cache.released(line).manifest, line.version, name)
    headers = {"Content-Disposition": f'attachment; filename="{called}"'}
    return Response(content, headers=headers, media_type=TYPES[name.rpartition(".")[2]])


def export(studio: Studio, line: SurveyLine, name: str) -> bytes:
    """Return the content of a download.

    Parameters
    ----------
    name
        "manifest.json", "results.json", "everything.zip", or the number of a group with "csv" or "parquet".
    """
    if name == "manifest.json":
        return studio.cache.released(line).manifest.text
    if name == "results.json":
        return studio.cache.file(line, name, lambda released: _text(results_of(studio, line)))
    if name == "everything.zip":
        return studio.cache.file(line, name, lambda released: export_zip(released, results_of(studio, line)))
    stem, _, ending = name.rpartition(".")
    groups = len(studio.cache.released(line).manifest.groups)
    if ending not in {"csv", "parquet"} or stem not in map(str, range(groups)):
        raise RefusalError(404)
    write = export_csv if ending == "csv" else export_parquet
    return studio.cache.file(line, name, lambda released: write(released, int(stem)))


def results_of(studio: Studio, line: SurveyLine) -> Results:
    """Return the results of a survey, computed once per release."""
    return studio.cache.computed(line, "results", results)


def _text(results: Results) -> bytes:
    return document_text(results_document(results)).encode()
