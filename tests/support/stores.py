"""A published survey in a store, and submissions to it, made without the service: for tests of the storage floor."""

import json
import os

from sqlalchemy import insert

from subsetprivacy.collect.storage.collecting import LockRequest, lock_codes
from subsetprivacy.collect.storage.opening import writing
from subsetprivacy.collect.storage.schema import code, study, survey
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.drawing import Stream, draw_around, draw_bit, draw_question
from subsetprivacy.collect.survey.manifest import Manifest, freeze
from subsetprivacy.collect.survey.rules import recommended
from subsetprivacy.collect.survey.submission import Submission, read_submission


def variable(name, options, design=None):
    labels = tuple(f"{name} {k}" for k in range(options))
    return VariableDefinition(name, name.title(), f"{name}?", labels, design or recommended(labels))


# A variable of each kind, and two that are linked.
SURVEY = SurveyDefinition(
    title="Work",
    variables=(variable("smokes", 2), variable("party", 3), variable("income", 5), variable("health", 4)),
    study="work",
    batch=10,
    links=(("income", "health"),),
)


class Published:
    """A survey that is open, with its key."""

    def __init__(self, engine, held=SURVEY):
        self.engine = engine
        self.key = os.urandom(32)
        self.manifest: Manifest = freeze(held, self.key if held.mode == "code" else None)
        row = {"draft": "d", "version": 1, "study": held.study, "manifest": self.manifest.text, "source": ""}
        counters = {"open": True, "opened_day": "2026-01-01", "filling": 1, "filled": 0, "released": 0}
        with writing(engine) as connection:
            connection.execute(insert(study), [{"name": held.study, "key": self.key, "revealed": False}])
            connection.execute(insert(survey), [{"id": self.manifest.id, **row, **counters}])

    def codes(self, number):
        """Make codes and return their tickets."""
        tickets = [os.urandom(coin.TICKET_BYTES) for _ in range(number)]
        marks = [{"survey": self.manifest.id, "mark": coin.ticket_mark(self.manifest.id, t)} for t in tickets]
        with writing(self.engine) as connection:
            connection.execute(insert(code), sorted(marks, key=lambda row: row["mark"]))
        return tickets

    def locked(self, number, secret=b"\1" * 32):
        """Make codes that somebody has locked to a number, and return their tickets."""
        tickets = self.codes(number)
        wishes = [LockRequest(ticket, coin.commit(secret), bytes(32)) for ticket in tickets]
        with writing(self.engine) as connection:
            lock_codes(connection, self.manifest, wishes)
        return tickets

    def body(self, ticket=None, values=(0, 1, 2, 3), *, secret=b"\1" * 32, skip=()):
        """Return what the page would send for a person with these values."""
        open_mode = self.manifest.mode == "open"
        ticket = ticket or os.urandom(32 if open_mode else coin.TICKET_BYTES)
        share = coin.share(self.key, ticket, coin.commit(secret))
        seed = secret if open_mode else coin.seed(share, secret)
        sent = {"fingerprint": self.manifest.fingerprint, "ticket": ticket.hex(), "answers": {}}
        if not open_mode:
            sent["opening"] = secret.hex()
        for held, value in zip(self.manifest.variables, values, strict=True):
            stream = Stream(seed, self.manifest.study, held["id"])
            sent["answers"][held["id"]] = _answer(held, value, stream, held["id"] in skip)
        return json.dumps(sent).encode()

    def accepted(self, ticket=None, values=(0, 1, 2, 3), **options) -> Submission:
        """Return the same as the service reads it."""
        return read_submission(self.body(ticket, values, **options), self.manifest)


def _answer(held, value, stream, skipped):
    if held["kind"] == "local":
        return {"kept": None if skipped else draw_around(held["draw"], value, stream)}
    if held["kind"] == "bit":
        return {"answer": None if skipped else int(draw_bit(held["draw"], Stream(b"\7" * 32, "d", "v")) != value)}
    asked = draw_question(held["draw"], stream)
    holding = next(k for k, mask in enumerate(asked) if mask >> value & 1)
    return {"asked": asked, "answer": None if skipped else holding}
