"""The collector, which answers respondents' browsers."""

import asyncio
from typing import Any

from attrs import frozen
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from subsetprivacy.collect.service.writer import WAIT_SECONDS, BusyError, Writer
from subsetprivacy.collect.storage.collecting import LockRequest
from subsetprivacy.collect.storage.opening import reading
from subsetprivacy.collect.storage.released import is_open, read_key, read_manifest_of
from subsetprivacy.collect.storage.tickets import ALREADY, CLOSED, COUNTED, NOT_DRAWN, NOT_OPENED, UNKNOWN, CodeLock
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.manifest import Manifest, is_survey_id
from subsetprivacy.collect.survey.submission import SubmissionError, read_hex, read_object, read_submission


@frozen
class Reply:
    """The reply to a browser: an HTTP status and a document, from a fixed list."""

    status: int
    document: dict[str, Any]


_COUNTED = Reply(201, {"status": "counted"})
_BUSY = Reply(503, {"status": "busy"})
_UNKNOWN_SURVEY = Reply(404, {"status": "unknown survey"})
_REPLIES = {
    COUNTED: _COUNTED,
    ALREADY: Reply(409, {"status": "already counted"}),
    UNKNOWN: Reply(404, {"status": "unknown code"}),
    CLOSED: Reply(410, {"status": "closed"}),
    NOT_OPENED: Reply(422, {"status": "refused", "reason": NOT_OPENED}),
    NOT_DRAWN: Reply(422, {"status": "refused", "reason": NOT_DRAWN}),
}


@frozen
class _Known:
    manifest: Manifest
    key: bytes | None


class Collector:
    """Take locks and submissions for all surveys of a store.

    Parameters
    ----------
    engine
        The store.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, _Known] = {}
        self.writer: Writer = Writer(engine)

    def start(self) -> None:
        """Start writing."""
        self.writer.start()

    def stop(self) -> None:
        """Write all waiting jobs, and stop."""
        self.writer.stop()

    def forget(self, survey_id: str) -> None:
        """Forget a survey that was deleted."""
        self._known.pop(survey_id, None)

    def manifest(self, survey_id: str) -> Manifest | None:
        """Return the manifest of a survey, or None."""
        known = self._find(survey_id)
        return None if known is None else known.manifest

    def is_open(self, survey_id: str) -> bool | None:
        """Tell whether a survey takes answers, so that no one answers a closed one. None if it was deleted.

        Another server on the same database may have deleted it. Then nothing of it is remembered here either.
        """
        with reading(self._engine) as connection:
            state = is_open(connection, survey_id)
        if state is None:
            self.forget(survey_id)
        return state

    def key(self, survey_id: str) -> str | None:
        """Return the key of the study in hexadecimal once it is published."""
        if not is_survey_id(survey_id):
            return None
        with reading(self._engine) as connection:
            manifest = read_manifest_of(connection, survey_id)
            key = None if manifest is None else read_key(connection, manifest.study)
        return key[0].hex() if key is not None and key[1] else None

    async def submit(self, survey_id: str, body: bytes) -> Reply:
        """Count a submission once it is safe on disk."""
        return await self._take(survey_id, body, _read_answers)

    async def lock(self, survey_id: str, body: bytes) -> Reply:
        """Lock a code to its browser's commitment and return the server's share of the draw."""
        return await self._take(survey_id, body, _read_lock)

    async def _take(self, survey_id: str, body: bytes, read: Any) -> Reply:
        try:
            known = self._known.get(survey_id) or await self._look_up(survey_id)
            if known is None:
                return _UNKNOWN_SURVEY
            content, answer = read(body, known)
            outcome = await self.writer.write(known.manifest, content, known.key)
            if outcome == CLOSED and await self._is_gone(survey_id):
                return _UNKNOWN_SURVEY
            return answer(outcome)
        except SubmissionError as error:
            if error.reason == "stale":
                return Reply(409, {"status": "stale"})
            return Reply(422, {"status": "refused", "reason": error.reason})
        except (BusyError, SQLAlchemyError, OSError):
            return _BUSY

    async def _look_up(self, survey_id: str) -> _Known | None:
        async with asyncio.timeout(WAIT_SECONDS):
            return await asyncio.to_thread(self._find, survey_id)

    async def _is_gone(self, survey_id: str) -> bool:
        async with asyncio.timeout(WAIT_SECONDS):
            return await asyncio.to_thread(self.is_open, survey_id) is None

    def _find(self, survey_id: str) -> _Known | None:
        if survey_id in self._known:
            return self._known[survey_id]
        if not is_survey_id(survey_id):
            return None
        with reading(self.writer.engine) as connection:
            manifest = read_manifest_of(connection, survey_id)
            if manifest is None:
                return None
            key = read_key(connection, manifest.study) if manifest.mode == "code" else None
        self._known[survey_id] = _Known(manifest, None if key is None else key[0])
        return self._known[survey_id]


def _read_answers(body: bytes, known: _Known) -> tuple[Any, Any]:
    return read_submission(body, known.manifest), _REPLIES.__getitem__


def _read_lock(body: bytes, known: _Known) -> tuple[Any, Any]:
    sent = read_object(body)
    if known.key is None or sent.keys() != {"fingerprint", "ticket", "commitment", "wrapped"}:
        raise SubmissionError("unreadable")
    if sent["fingerprint"] != known.manifest.fingerprint:
        raise SubmissionError("stale")
    ticket = read_hex(sent["ticket"], coin.TICKET_BYTES, "ticket")
    commitment = read_hex(sent["commitment"], coin.SECRET_BYTES, "opening")
    wrapped = read_hex(sent["wrapped"], coin.SECRET_BYTES, "opening")
    key = known.key

    def answer(outcome: CodeLock | str) -> Reply:
        if isinstance(outcome, str):
            return _REPLIES[outcome]
        kept = bytes(outcome.commitment)
        locked = {"commitment": kept.hex(), "wrapped": bytes(outcome.wrapped).hex()}
        return Reply(200, {**locked, "share": coin.share(key, ticket, kept).hex()})

    return LockRequest(ticket, commitment, wrapped), answer
