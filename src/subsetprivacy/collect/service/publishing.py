"""Everything a researcher does with a survey, from the draft to the end of the study."""

import secrets
from base64 import b32encode
from collections.abc import Iterable, MutableMapping

from sqlalchemy import Connection, Engine

from subsetprivacy.collect.service.secure_delete import erase
from subsetprivacy.collect.service.waves import objection_to
from subsetprivacy.collect.storage import surveys as storage
from subsetprivacy.collect.storage.opening import reading, writing
from subsetprivacy.collect.storage.released import read_key, read_manifest_of
from subsetprivacy.collect.storage.secure_delete import request_erasing
from subsetprivacy.collect.storage.surveys import Draft, ManifestFacts, SurveyLine
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import SurveyDefinition
from subsetprivacy.collect.survey.manifest import Manifest, freeze
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_surveys import (
    ASK_ALIKE,
    CLOSE_SURVEYS,
    LOOK_AGAIN,
    LOOK_AT_VERSIONS,
    OTHER_STUDY,
    READ_AGAIN,
)

MOST_CODES = 100_000
_ID_BYTES = 10


class PublishingError(SubsetPrivacyError):
    """A survey cannot be published, or cannot be changed in this way."""


class NotFoundError(PublishingError):
    """There is no draft or no survey with this id."""


class ChangedError(PublishingError):
    """The draft or study has changed since it was read, so nothing was done.

    Attributes
    ----------
    draft
        The draft as it is now, where it is the draft that has changed.
    """

    def __init__(self, message: str, advice: Advice | None = None, draft: Draft | None = None) -> None:
        super().__init__(message, advice)
        self.draft = draft


class AlreadyPublishedError(PublishingError):
    """A version was published before, with the same text: the same form was sent twice.

    Attributes
    ----------
    survey_id
        The survey that it became.
    """

    def __init__(self, survey_id: str) -> None:
        super().__init__("a version must be published only once; this one was, with the same text.")
        self.survey_id = survey_id


# Drafts ----------------------------------------------------------------------------------------


def save_draft(
    engine: Engine, text: str, format: str, draft_id: str | None = None, *, revision: str | None = None
) -> Draft:
    """Save the draft of a survey.

    Parameters
    ----------
    engine
        The store.
    text
        The text of the survey file.
    format
        "toml", "yaml" or "json".
    draft_id
        The draft to replace. By default a new one is created.
    revision
        The `Draft.revision` that was edited. A draft that someone else has saved since is not overwritten. By default
        any draft is overwritten. Saving the same text again is not a change.

    Raises
    ------
    SurveyError
        If the text is not a valid survey. Its `problems` say where.
    NotFoundError
        If there is no draft with this id.
    ChangedError
        If the draft has another revision by now. The error contains it.
    """
    survey = read_survey(text, format)
    written = Draft(draft_id or _new_id(), survey.title, format, text)
    with writing(engine) as connection:
        if draft_id is not None:
            present = _lock_draft(connection, draft_id)
            if revision is not None and present.revision not in {revision, written.revision}:
                raise _changed(present)
        storage.write_draft(connection, written)
    return written


def drafts(engine: Engine) -> list[Draft]:
    """Return all drafts by title."""
    with reading(engine) as connection:
        return storage.read_drafts(connection)


def read_draft(engine: Engine, draft_id: str) -> Draft | None:
    """Return the draft with this id, if there is one."""
    with reading(engine) as connection:
        return storage.read_draft(connection, draft_id)


def delete_draft(engine: Engine, draft_id: str, *, revision: str | None = None) -> None:
    """Delete a draft. Surveys that were published from it stay.

    Parameters
    ----------
    engine, draft_id
        The store, and the draft.
    revision
        The expected `Draft.revision`. By default any revision.

    Raises
    ------
    NotFoundError
        If there is no draft with this id.
    ChangedError
        If the draft has another revision by now.
    """
    with writing(engine) as connection:
        present = _lock_draft(connection, draft_id)
        if revision is not None and present.revision != revision:
            raise _changed(present)
        storage.delete_draft(connection, draft_id)


def _lock_draft(connection: Connection, draft_id: str) -> Draft:
    """Return a draft as it is, and let no one else change it until the transaction ends."""
    present = storage.read_draft(connection, draft_id, hold=True)
    if present is None:
        raise _no_draft()
    return present


def _no_draft() -> NotFoundError:
    return NotFoundError("the draft must be one of those saved; there is none with this id.")


def _changed(present: Draft) -> ChangedError:
    return ChangedError("the draft must be the one that was read; it was changed in the meantime.", READ_AGAIN, present)


# Publishing ------------------------------------------------------------------------------------


def publish(engine: Engine, draft_id: str, *, revision: str | None = None, version: int | None = None) -> Manifest:
    """Freeze a draft as it is now and open it to respondents. Publishing again makes the next version.

    Parameters
    ----------
    engine, draft_id
        The store, and the draft.
    revision
        The `Draft.revision` to publish. By default the current one.
    version
        The expected version number, so that publishing twice by mistake makes one survey.

    Raises
    ------
    NotFoundError
        If there is no draft with this id.
    ChangedError
        If the draft has another revision or other versions by now.
    AlreadyPublishedError
        If this version was published already, with this text.
    PublishingError
        If another survey of the study has other options or another design for one of the variables, or the study's key
        is already published.
    """
    written = read_draft(engine, draft_id)
    if written is None:
        raise _no_draft()
    if revision is not None and written.revision != revision:
        raise _changed(written)
    survey = read_survey(written.text, written.format)  # before anyone has to wait for it
    with writing(engine) as connection:
        if _lock_draft(connection, draft_id) == written:
            _check_version(connection, written, version)
            return _publish(connection, survey, written)
    return publish(engine, draft_id, revision=revision, version=version)  # the draft has changed in between


def _check_version(connection: Connection, present: Draft, version: int | None) -> None:
    """Raise unless the next version of a draft is the announced one."""
    newest = storage.newest_of_draft(connection, present.id)
    if version is None or version == (1 if newest is None else newest[1] + 1):
        return
    if newest is not None and newest[1:] == (version, present.text):
        raise AlreadyPublishedError(newest[0])
    raise ChangedError(
        "the draft must have as many versions as the page showed; it was published, or a version deleted, in the "
        "meantime.",
        LOOK_AT_VERSIONS,
    )


def objection(engine: Engine, survey: SurveyDefinition) -> PublishingError | None:
    """Return the error that `publish` would raise for a survey now, or None."""
    with reading(engine) as connection:
        try:
            _freeze(connection, survey, read_key(connection, survey.study) or (bytes(storage.KEY_BYTES), False))
        except PublishingError as error:
            return error
    return None


def _publish(connection: Connection, survey: SurveyDefinition, written: Draft) -> Manifest:
    manifest = _freeze(connection, survey, storage.lock_study(connection, survey.study))
    storage.add_survey(connection, manifest, written)
    return manifest


def _freeze(connection: Connection, survey: SurveyDefinition, study_key: tuple[bytes, bool]) -> Manifest:
    """Freeze a survey if it matches the others of its study, given the key and whether it is published."""
    key, revealed = study_key
    if survey.mode == "code" and revealed:
        raise PublishingError(
            f"a survey with codes must belong to a study whose key is secret; that of {survey.study!r} was published "
            "when its last survey closed.",
            OTHER_STUDY,
        )
    manifest = freeze(survey, key if survey.mode == "code" else None)
    if objection := objection_to(manifest, storage.manifests_of_study(connection, survey.study)):
        raise PublishingError(objection, ASK_ALIKE)
    return manifest


def surveys(
    engine: Engine, known: MutableMapping[str, ManifestFacts] | None = None, *, only: str | None = None
) -> list[SurveyLine]:
    """Return all published surveys, or `only` the one with an id. `known` caches manifest facts between calls."""
    with reading(engine) as connection:
        return storage.read_lines(connection, known, only=only)


def state_of_study(engine: Engine, name: str) -> str:
    """Return a hash of a study's surveys, of which are open, and of whether its key is published.

    Closing, deleting and publishing the key depend on these and cannot be undone. They do nothing if the given state is
    no longer the current one.
    """
    with reading(engine) as connection:
        return storage.study_state(connection, name)


def close(engine: Engine, survey_id: str, *, last_wave: bool = True, state: str | None = None) -> None:
    """Close a survey: release what is pending, and take no more answers.

    Parameters
    ----------
    engine, survey_id
        The store, and the survey.
    last_wave
        Whether no further survey of the study will come. Then the study's key is published, unless another of its
        surveys is open, so that everyone can check that no question was chosen. Closing again with it does so later.
    state
        The expected `state_of_study`. By default any state.

    Raises
    ------
    NotFoundError
        If there is no survey with this id.
    ChangedError
        If the study has another state by now.
    """
    with writing(engine) as connection:
        manifest = _lock_study(connection, survey_id, state)
        storage.close_survey(connection, manifest)
        if last_wave:
            storage.reveal_key(connection, manifest.study)
        request_erasing(connection)
    erase(engine)


def publish_key(engine: Engine, survey_id: str, *, state: str | None = None) -> None:
    """Publish the key of a survey's study when all its surveys are closed. Does nothing if it is published.

    Parameters
    ----------
    engine, survey_id
        The store, and the survey.
    state
        The expected `state_of_study`. By default any state.

    Raises
    ------
    NotFoundError
        If there is no survey with this id.
    ChangedError
        If the study has another state by now.
    PublishingError
        If the survey has no codes, so that there is nothing to check, or a survey of the study is open.
    """
    with writing(engine) as connection:
        manifest = _lock_study(connection, survey_id, state)
        if manifest.mode != "code":
            raise PublishingError("the survey must be one with codes; in this one no draw depends on the key.")
        if not storage.reveal_key(connection, manifest.study):
            raise PublishingError(
                f"all surveys of the study {manifest.study!r} must be closed before its key is published: with it a "
                "respondent could choose the question.",
                CLOSE_SURVEYS,
            )


def delete(engine: Engine, survey_id: str, *, state: str | None = None) -> bool:
    """Delete a survey with all its data.

    The key of its study stays while the study has another survey, and can be published from there.

    Parameters
    ----------
    engine, survey_id
        The store, and the survey.
    state
        The expected `state_of_study`. By default any state.

    Returns
    -------
    Whether the database files contain no traces of it either, except in PostgreSQL's write-ahead log. If not, another
    program reads an older state, and the server keeps trying in the background.

    Raises
    ------
    NotFoundError
        If there is no survey with this id.
    ChangedError
        If the study has another state by now.
    """
    with writing(engine) as connection:
        manifest = _lock_study(connection, survey_id, state)
        storage.lock_survey(connection, survey_id)
        storage.delete_survey(connection, manifest)
        request_erasing(connection)
    return erase(engine)


# Codes -----------------------------------------------------------------------------------------


def make_codes(engine: Engine, survey_id: str, n: int) -> list[str]:
    """Make one-time codes. They are returned only once, because only hashes of their first halves are stored.

    Raises
    ------
    NotFoundError
        If there is no survey with this id.
    PublishingError
        If it takes no codes, is closed, or `n` is out of range.
    """
    if not 1 <= n <= MOST_CODES:
        raise PublishingError(f"`n` must be a number of codes from 1 to {MOST_CODES}; got {n}.")
    made = [(secrets.token_bytes(coin.TICKET_BYTES), secrets.token_bytes(coin.HALF_BYTES)) for _ in range(n)]
    _add_tickets(engine, survey_id, (ticket for ticket, _ in made))
    return [coin.code_text(ticket, half) for ticket, half in made]


def accept_earlier_codes(engine: Engine, survey_id: str, codes: Iterable[str]) -> None:
    """Accept codes that were made for an earlier survey of the study, so that people keep their links and questions.

    Raises
    ------
    NotFoundError
        If there is no survey with this id.
    PublishingError
        If it takes no codes, is closed, or one of the texts is no code.
    """
    tickets = set()
    for position, text in enumerate(codes, start=1):
        try:
            tickets.add(coin.read_code(text.strip())[0])
        except ValueError:
            raise PublishingError(f"`codes` must be 32 letters and digits each; line {position} is not.") from None
    if len(tickets) > MOST_CODES:
        raise PublishingError(f"`codes` must be at most {MOST_CODES} at once; got {len(tickets)}.")
    _add_tickets(engine, survey_id, tickets)


def count_codes(engine: Engine, survey_id: str) -> int:
    """Return how many codes were ever added, used or not, until the survey closes."""
    with reading(engine) as connection:
        return storage.count_codes(connection, survey_id)


def _add_tickets(engine: Engine, survey_id: str, tickets: Iterable[bytes]) -> None:
    with writing(engine) as connection:
        manifest = _manifest(connection, survey_id)
        if manifest.mode != "code":
            raise PublishingError("the survey must be one with codes; everyone has the same link to this one.")
        if not storage.lock_survey(connection, survey_id):
            raise PublishingError("the survey must be open to take codes; it is closed.")
        storage.add_codes(connection, survey_id, (coin.ticket_mark(survey_id, ticket) for ticket in tickets))


def _lock_study(connection: Connection, survey_id: str, state: str | None) -> Manifest:
    """Return the manifest of a survey whose study no one else changes until the transaction ends."""
    manifest = _manifest(connection, survey_id)
    storage.lock_study(connection, manifest.study)
    _manifest(connection, survey_id)  # it may have been deleted in the meantime
    if state is not None and state != storage.study_state(connection, manifest.study):
        raise ChangedError(
            f"the study {manifest.study!r} must be as it was read; in the meantime one of its surveys was "
            "published, closed or deleted, or its key was published.",
            LOOK_AGAIN,
        )
    return manifest


def _manifest(connection: Connection, survey_id: str) -> Manifest:
    manifest = read_manifest_of(connection, survey_id)
    if manifest is None:
        raise NotFoundError("the survey must be one of those published; there is none with this id.")
    return manifest


def _new_id() -> str:
    return b32encode(secrets.token_bytes(_ID_BYTES)).decode().lower()
