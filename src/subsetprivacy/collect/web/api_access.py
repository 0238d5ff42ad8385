"""Access to the API, and the errors that every endpoint can return."""

from typing import Annotated, Any

from fastapi import Depends, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from subsetprivacy.collect.service import accounts
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.storage.surveys import SurveyLine
from subsetprivacy.collect.web.access import ASK_FOR_TOKEN, NO_TOKEN
from subsetprivacy.collect.web.api_models import Error
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.studio_context import is_id, studio_of

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="A token of the studio: sp_…")
_REASONS = {
    400: "The request could not be read.",
    401: "There is no token, or it is not known.",
    403: "The token may not do this.",
    404: "There is no such survey, draft or file.",
    408: "The request arrived too slowly.",
    409: "This is not possible in the current state.",
    413: "Too large.",
    422: "The request has errors, which `problems` lists.",
    500: "The server failed.",
    503: "The database is unavailable or busy. Try again.",
}
_ANYWHERE = (401, 403, 422, 500, 503)


def user_of_token(
    request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
) -> StudioUser:
    """Return the user of a request's token. Cookies are ignored."""
    person = None
    if given is not None:
        person = accounts.person_of_token(studio_of(request).engine, given.credentials)
    if person is None:
        raise RefusalError(401, NO_TOKEN, ASK_FOR_TOKEN)
    return person


def owner_by_token(person: Annotated[StudioUser, Depends(user_of_token)]) -> StudioUser:
    """Return the owner who acts with a token."""
    if not person.is_owner:
        raise RefusalError(403, "This needs an owner's token.")
    return person


Reader = Annotated[StudioUser, Depends(user_of_token)]
Owner = Annotated[StudioUser, Depends(owner_by_token)]
Id = Annotated[str, Path(description="Letters and digits: 26 of a survey, 16 of a draft.")]


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the declaration of these errors and of those that any request can get."""
    return {status: {"model": Error, "description": _REASONS[status]} for status in sorted({*statuses, *_ANYWHERE})}


def role_note(role: str) -> dict[str, Any]:
    """Return the note in the OpenAPI document about who may use an endpoint."""
    return {"x-role": role}


def known_survey(request: Request, survey_id: Id) -> SurveyLine:
    """Return the survey of a path."""
    line = studio_of(request).cache.line(survey_id) if is_id(survey_id) else None
    if line is None:
        raise RefusalError(404, "There is no survey with this id.")
    return line
