"""A collector in memory for tests of the respondent's page, honest or not, and an application around it."""

import json
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen
from fastapi import FastAPI
from starlette.responses import Response

import subsetprivacy as sp
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.manifest import Manifest, freeze
from subsetprivacy.collect.survey.submission import Submission, SubmissionError, read_submission, was_drawn
from subsetprivacy.collect.web.respond import page_bytes, respond_router
from subsetprivacy.collect.web.security import Guard
from subsetprivacy.collect.web.submissions import SubmissionMiddleware

KEY = bytes(range(32))


def lock_to(secret: bytes, half: bytes) -> dict[str, str]:
    """Return what the server keeps of a code that somebody locked to a number."""
    commitment = coin.commit(secret)
    return {"commitment": commitment.hex(), "wrapped": coin.wrap(secret, half, commitment).hex()}


@frozen
class FakeReply:
    status: int
    document: dict[str, Any]


@define
class FakeCollector:
    """Does what the protocol says, from dictionaries.

    Attributes
    ----------
    twist
        By "lock" or "submit" a function of the honest reply that gives another one, for servers that cheat or fail.
    """

    surveys: dict[str, Manifest] = field(factory=dict)
    closed: set[str] = field(factory=set)
    published: bool = False
    key_served: bytes = KEY
    codes: set[bytes] = field(factory=set)
    locks: dict[bytes, dict[str, str]] = field(factory=dict)
    counted: list[Submission] = field(factory=list)
    twist: dict[str, Callable[[FakeReply], FakeReply]] = field(factory=dict)

    def add(self, survey: SurveyDefinition) -> Manifest:
        manifest = freeze(survey, KEY if survey.mode == "code" else None)
        self.surveys[manifest.id] = manifest
        return manifest

    def code(self, number: int = 1) -> str:
        """Make a code that the server knows."""
        ticket, half = number.to_bytes(10, "big"), (number + 77).to_bytes(10, "big")
        self.codes.add(ticket)
        return coin.code_text(ticket, half)

    def manifest(self, survey_id: str) -> Manifest | None:
        return self.surveys.get(survey_id)

    def is_open(self, survey_id: str) -> bool:
        return survey_id not in self.closed

    def key(self, survey_id: str) -> str | None:
        return self.key_served.hex() if self.published else None

    async def lock(self, survey_id: str, body: bytes) -> FakeReply:
        return self._twisted("lock", self._lock(survey_id, body))

    def _lock(self, survey_id: str, body: bytes) -> FakeReply:
        sent = json.loads(body)
        ticket = bytes.fromhex(sent["ticket"])
        mark = coin.ticket_mark(survey_id, ticket)
        if survey_id in self.closed:
            return FakeReply(410, {"status": "closed"})
        if mark in {one.mark for one in self.counted}:
            return FakeReply(409, {"status": "already counted"})
        if ticket not in self.codes:
            return FakeReply(404, {"status": "unknown code"})
        held = self.locks.setdefault(mark, {name: sent[name] for name in ("commitment", "wrapped")})
        share = coin.share(KEY, ticket, bytes.fromhex(held["commitment"]))
        return FakeReply(200, {**held, "share": share.hex()})

    async def submit(self, survey_id: str, body: bytes) -> FakeReply:
        return self._twisted("submit", self._submit(survey_id, body))

    def _submit(self, survey_id: str, body: bytes) -> FakeReply:
        manifest = self.surveys.get(survey_id)
        if manifest is None:
            return FakeReply(404, {"status": "unknown survey"})
        if survey_id in self.closed:
            return FakeReply(410, {"status": "closed"})
        try:
            accepted = read_submission(body, manifest)
        except SubmissionError as error:
            return FakeReply(422, {"status": "refused", "reason": error.reason})
        if accepted.mark in {one.mark for one in self.counted}:
            return FakeReply(409, {"status": "already counted"})
        if (opened := accepted.opened) is not None:
            if self.locks[accepted.mark]["commitment"] != opened.commitment.hex():
                return FakeReply(422, {"status": "refused", "reason": "opening"})
            if not was_drawn(opened, manifest, KEY):
                return FakeReply(422, {"status": "refused", "reason": "not drawn"})
        self.counted.append(accepted)
        return FakeReply(201, {"status": "counted"})

    def _twisted(self, deed: str, reply: FakeReply) -> FakeReply:
        return self.twist.get(deed, lambda honest: honest)(reply)


class _Watching:
    """Notes every request."""

    def __init__(self, app: Any, seen: list[Any]) -> None:
        self.app = app
        self.seen = seen

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.seen.append((scope["method"], scope["path"], headers, scope["client"][0]))
        return await self.app(scope, receive, send)


def respondents_app(collector: FakeCollector) -> FastAPI:
    """Return an application with the public routes, behind what stands before them in earnest."""
    app = FastAPI()
    app.include_router(respond_router(collector))
    app.state.seen = []

    @app.get("/studio/drafts/{draft}/preview")
    def preview(draft: str) -> Response:
        return Response(page_bytes(), media_type="text/html")

    @app.get("/studio/drafts/{draft}/preview/manifest")
    def preview_manifest(draft: str) -> dict[str, Any]:
        return {**collector.surveys[draft].document, "preview": True}

    app.add_middleware(SubmissionMiddleware, collector=collector)
    app.add_middleware(_Watching, seen=app.state.seen)
    app.add_middleware(Guard)
    return app


_INCOMES = ("below 1000", "1000 to 2000", "2000 to 3000", "3000 to 4000", "4000 to 5000", "above 5000")
_OFTEN = ("never", "once a year", "once a month", "once a week", "twice a week", "daily", "twice daily")
_STATES = ("good", "fair", "poor")
INCOME = VariableDefinition(
    "income",
    "Monthly income",
    "What do you earn in a month?",
    _INCOMES,
    sp.uniform(_INCOMES),
    guess=(0.2, 0.3, 0.2, 0.15, 0.1, 0.05),
    help="After taxes, in euros.",
)
SPORT = VariableDefinition("sport", "Sport", "How often do you do sport?", _OFTEN, sp.partition(_OFTEN, 3))
DRUGS = VariableDefinition(
    "drugs", "Drugs", "Have you ever taken drugs?", ("no", "yes"), sp.warner(("no", "yes")), guess=(0.7, 0.3)
)
HEALTH = VariableDefinition("health", "Health", "How is your health?", _STATES, sp.fixed_size(_STATES, 2))
ALL_KINDS = (INCOME, SPORT, DRUGS, HEALTH)


def make_survey(
    mode: str = "open", variables: tuple[VariableDefinition, ...] = ALL_KINDS, **changes: Any
) -> SurveyDefinition:
    """Return a survey with one question of each kind."""
    texts = {
        "title": "Work and health",
        "introduction": "We want to know how work and health go together.\n\nIt takes two minutes.",
        "contact": "The Institute of Counting, counting@example.org",
        "study": "work",
    }
    return SurveyDefinition(variables=variables, mode=mode, **{**texts, **changes})
