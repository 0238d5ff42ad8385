"""Actions on a survey, by people and programs: the change, the caches to clear, and the log entry."""

from collections.abc import Callable
from typing import TypeVar

from subsetprivacy.collect.service import accounts, publishing
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.publishing import ChangedError, NotFoundError, PublishingError
from subsetprivacy.collect.storage.surveys import SurveyLine
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.studio_context import Studio
from subsetprivacy.presenting.words import error_text

T = TypeVar("T")
NO_SURVEY = "There is no survey with this id."


def make_codes(studio: Studio, person: StudioUser, line: SurveyLine, n: int) -> list[str]:
    """Make one-time codes."""
    codes = _or_refuse(lambda: publishing.make_codes(studio.engine, line.id, n))
    _record(studio, person, f"made {n} one-time links for {_named(line)}")
    return codes


# An action that cannot be undone takes the `state` of the study that the person saw, and raises `ChangedError` if it
# changed.


def close(studio: Studio, person: StudioUser, line: SurveyLine, *, last_wave: bool, state: str | None = None) -> None:
    """Close a survey and make the last release."""
    _or_refuse(lambda: publishing.close(studio.engine, line.id, last_wave=last_wave, state=state))
    _forget(studio, line)
    _record(studio, person, f"closed {_named(line)}{'' if last_wave else ', more waves to come'}")


def publish_key(studio: Studio, person: StudioUser, line: SurveyLine, *, state: str | None = None) -> str:
    """Publish the key of a study whose surveys are closed, and return it in hexadecimal."""
    _or_refuse(lambda: publishing.publish_key(studio.engine, line.id, state=state))
    _forget(studio, line)
    _record(studio, person, f"published the key of the study “{line.study}”")
    key = studio.collector.key(line.id)
    if key is None:  # deleted right away
        raise RefusalError(404, NO_SURVEY)
    return key


def delete(studio: Studio, person: StudioUser, line: SurveyLine, *, state: str | None = None) -> bool:
    """Delete a survey with all its data. Return whether its traces in the files are erased too."""
    try:
        is_erased = _or_refuse(lambda: publishing.delete(studio.engine, line.id, state=state))
    finally:
        _forget(studio, line)
    _record(studio, person, f"deleted {_named(line)} and everything in it")
    return is_erased


def _or_refuse(act: Callable[[], T]) -> T:
    try:
        return act()
    except NotFoundError:
        raise RefusalError(404, NO_SURVEY) from None
    except ChangedError:
        raise
    except PublishingError as error:
        raise RefusalError(409, error_text(error)) from None


def _forget(studio: Studio, line: SurveyLine) -> None:
    studio.collector.forget(line.id)
    studio.cache.forget(line.id)


def _record(studio: Studio, person: StudioUser, act: str) -> None:
    accounts.record(studio.engine, person, act)


def _named(line: SurveyLine) -> str:
    return f"“{line.title}” ({line.id})"
