"""The API for published surveys and their results."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from subsetprivacy.collect.service.results import results_schema
from subsetprivacy.collect.storage.surveys import SurveyLine
from subsetprivacy.collect.web import survey_actions
from subsetprivacy.collect.web.api_access import Owner, Reader, known_survey, refusals, role_note
from subsetprivacy.collect.web.api_models import (
    Closing,
    Codes,
    NewCodes,
    ReleaseItem,
    ReleaseList,
    ResponseModel,
    SurveyItem,
    SurveyList,
)
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.studio_context import Studio, studio_of
from subsetprivacy.collect.web.studio_results import TYPES, export, saved

router = APIRouter(tags=["surveys"])
Known = Annotated[SurveyLine, Depends(known_survey)]
_LOG = "PostgreSQL's write-ahead log keeps what was written until the database server recycles it."
_LEFT = (
    "The survey is deleted. Another program is reading an older state of the database, so the files still contain "
    "traces of it. The server erases them as soon as that ends."
)
_BYTES = {"schema": {"type": "string", "format": "binary"}}


class StudyKey(ResponseModel):
    """The key of a study, published."""

    key: str = Field(description="The key of the coin flip, in hexadecimal.")


class Left(ResponseModel):
    """What is left of a deleted survey."""

    message: str = Field(description="What is left, and when it is erased.")


def _file(ending: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": "The file.", "content": {TYPES[ending]: _BYTES}}}


@router.get("/surveys", responses=refusals(), openapi_extra=role_note("analyst"))
def list_surveys(request: Request, person: Reader) -> SurveyList:
    """List all published surveys."""
    studio = studio_of(request)
    return SurveyList(surveys=[survey_item(studio, line) for line in studio.cache.lines()])


@router.get("/surveys/{survey_id}", responses=refusals(404), openapi_extra=role_note("analyst"))
def get_survey(request: Request, person: Reader, line: Known) -> SurveyItem:
    """Return one survey."""
    return survey_item(studio_of(request), line)


@router.get(
    "/surveys/{survey_id}/manifest",
    responses={
        200: {
            "description": "The frozen survey, byte for byte.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
        **refusals(404),
    },
    response_class=Response,
    openapi_extra=role_note("analyst"),
)
def get_manifest(request: Request, person: Reader, line: Known) -> Response:
    """Return the frozen survey. The SHA-256 of its bytes is the fingerprint."""
    return _document(request, line, "manifest.json")


@router.get(
    "/surveys/{survey_id}/results",
    responses={
        200: {
            "description": "The results. They change only at a release.",
            "content": {"application/json": {"schema": results_schema(inline=True)}},
        },
        **refusals(404),
    },
    response_class=Response,
    openapi_extra=role_note("analyst"),
)
def get_results(request: Request, person: Reader, line: Known) -> Response:
    """Return everything the dashboard shows."""
    return _document(request, line, "results.json")


@router.get("/surveys/{survey_id}/releases", responses=refusals(404), openapi_extra=role_note("analyst"))
def get_releases(request: Request, person: Reader, line: Known) -> ReleaseList:
    """Return all releases with their seals."""
    released = studio_of(request).cache.released(line)
    key = None if released.key is None else released.key.hex()
    return ReleaseList(releases=[ReleaseItem.model_validate(record) for record in released.releases], key=key)


@router.get(
    "/surveys/{survey_id}/export.zip",
    responses={**_file("zip"), **refusals(404)},
    response_class=Response,
    openapi_extra=role_note("analyst"),
)
def get_everything(request: Request, person: Reader, line: Known) -> Response:
    """Return all released data in one archive."""
    return saved(studio_of(request), line, "everything.zip")


@router.get(
    "/surveys/{survey_id}/groups/{group}/export.csv",
    responses={**_file("csv"), **refusals(404)},
    response_class=Response,
    openapi_extra=role_note("analyst"),
)
def get_csv(request: Request, person: Reader, line: Known, group: int) -> Response:
    """Return the counters of a group as CSV."""
    return saved(studio_of(request), line, f"{group}.csv")


@router.get(
    "/surveys/{survey_id}/groups/{group}/export.parquet",
    responses={**_file("parquet"), **refusals(404)},
    response_class=Response,
    openapi_extra=role_note("analyst"),
)
def get_parquet(request: Request, person: Reader, line: Known, group: int) -> Response:
    """Return the counters of a group as Parquet, with the designs inside."""
    return saved(studio_of(request), line, f"{group}.parquet")


@router.post(
    "/surveys/{survey_id}/codes",
    status_code=201,
    responses=refusals(400, 404, 408, 409, 413),
    openapi_extra=role_note("owner"),
)
def make_codes(request: Request, person: Owner, line: Known, wanted: NewCodes) -> Codes:
    """Create one-time codes. They are returned only once."""
    studio = studio_of(request)
    codes = survey_actions.make_codes(studio, person, line, wanted.n)
    return Codes(codes=codes, links=[f"{_link(studio, line)}#{code}" for code in codes])


@router.post(
    "/surveys/{survey_id}/close", responses=refusals(400, 404, 408, 409, 413), openapi_extra=role_note("owner")
)
def close_survey(request: Request, person: Owner, line: Known, how: Closing) -> SurveyItem:
    """Close a survey and make the last release."""
    studio = studio_of(request)
    survey_actions.close(studio, person, line, last_wave=how.last_wave)
    closed = studio.cache.line(line.id)
    if closed is None:
        raise RefusalError(404, survey_actions.NO_SURVEY)
    return survey_item(studio, closed)


@router.post("/surveys/{survey_id}/key", responses=refusals(400, 404, 408, 409, 413), openapi_extra=role_note("owner"))
def publish_key(request: Request, person: Owner, line: Known) -> StudyKey:
    """Publish the key of the survey's study. All its surveys must be closed. You cannot undo this."""
    return StudyKey(key=survey_actions.publish_key(studio_of(request), person, line))


@router.delete(
    "/surveys/{survey_id}",
    status_code=204,
    response_class=Response,
    responses={
        202: {
            "model": Left,
            "description": "The survey is deleted. Its traces in the database files are erased later.",
        },
        204: {"description": f"The survey is deleted, also from all files of the database. {_LOG}"},
        **refusals(400, 404, 408, 409, 413),
    },
    openapi_extra=role_note("owner"),
)
def delete_survey(request: Request, person: Owner, line: Known) -> Response:
    """Delete a survey with all its data."""
    if survey_actions.delete(studio_of(request), person, line):
        return Response(status_code=204)
    return JSONResponse(Left(message=_LEFT).model_dump(), 202)


def survey_item(studio: Studio, line: SurveyLine) -> SurveyItem:
    """Return a survey as the API shows it."""
    names = set(SurveyItem.model_fields) - {"link"}
    return SurveyItem(**{name: getattr(line, name) for name in names}, link=_link(studio, line))


def _link(studio: Studio, line: SurveyLine) -> str:
    return f"{studio.base_url or ''}/s/{line.id}"


def _document(request: Request, line: SurveyLine, name: str) -> Response:
    return Response(export(studio_of(request), line, name), media_type=TYPES["json"])
