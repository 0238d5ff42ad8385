"""Whoever looks for a number that draws the question they want learns nothing from what the server refuses.

The draw follows from the server's key, the ticket and the respondent's number. If a reply depended on the draw before
the number is locked, a respondent could try numbers until one leads to a comfortable question: the server would be an
oracle. So the same requests are sent to servers that differ in their key alone, and every refusal must be the same.
"""

import asyncio
import json
import random
import shutil
from collections import defaultdict
from importlib.util import find_spec
from itertools import product
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from scipy.stats import binomtest
from sqlalchemy import event, func, select, update

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.storage.opening import open_store, reading, writing
from subsetprivacy.collect.storage.schema import arrived, code, pending, spent, study
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.drawing import Stream, draw_question
from subsetprivacy.collect.web.submissions import SubmissionMiddleware

# Three questions of two options each, and either list may come first.
QUESTIONS = [[low, 15 - low] for low in (3, 5, 6, 9, 10, 12)]
WANTED = QUESTIONS[0]
CHANCE = 1 / len(QUESTIONS)
SECRETS = [bytes([k]) * 32 for k in (1, 2)]
VALUES = {"v": 0, "w": 0}
SURVEY = {
    "title": "Oracle",
    "study": "oracle",
    "mode": "code",
    "batch": 10,
    "variables": [
        {"id": "v", "question": "Which?", "options": ["none", "some", "many", "all"], "design": "uniform"},
        {"id": "w", "question": "Ever?", "options": ["yes", "no"]},
    ],
}


def codes_of(number, seed=1):
    chance = random.Random(seed)
    return [coin.code_text(chance.randbytes(10), chance.randbytes(10)) for _ in range(number)]


def ticket_of(text):
    return coin.read_code(text)[0]


def publish(engine, codes):
    """Publish one more survey of the study and let codes in."""
    draft = publishing.save_draft(engine, json.dumps(SURVEY), "json")
    manifest = publishing.publish(engine, draft.id)
    publishing.accept_earlier_codes(engine, manifest.id, codes)
    return manifest


def set_key(engine, key):
    """Give the study another key, as no server would: everything that anyone can see stays as it is."""
    with writing(engine) as connection:
        connection.execute(update(study).values(key=key))


def drawn(key, ticket, secret):
    share = coin.share(key, ticket, coin.commit(secret))
    rule = {"rule": "uniform", "p": 4}
    return draw_question(rule, Stream(coin.seed(share, secret), "oracle", "v"))


def submission(manifest, ticket, secret, asked):
    answers = {"v": {"asked": asked, "answer": 0}, "w": {"answer": 1}}
    opened = {"ticket": ticket.hex(), "opening": secret.hex()}
    return {"fingerprint": manifest.fingerprint, **opened, "answers": answers}


def lock_wish(manifest, ticket, secret):
    wish = {"ticket": ticket.hex(), "commitment": coin.commit(secret).hex(), "wrapped": bytes(32).hex()}
    return {"fingerprint": manifest.fingerprint, **wish}


class World:
    """The public routes over a store, in this process; it notes which statements a request makes the database do."""

    def __init__(self, engine, statements=None):
        self.engine = engine
        self.statements = [] if statements is None else statements
        self.collector = Collector(engine)
        self.routes = SubmissionMiddleware(None, collector=self.collector)
        self.collector.writer._release = lambda: False  # it comes by the clock, in between
        event.listen(self.collector.writer.engine, "before_cursor_execute", self._note)
        self.collector.start()

    def _note(self, connection, cursor, statement, *rest):
        self.statements.append(statement)

    async def post(self, manifest, act, body, headers=((b"content-type", b"application/json"),)):
        """Send a body, bytes or a document, and return the status, the headers and the body of the reply."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        waiting, sent = [{"type": "http.request", "body": content, "more_body": False}], []

        async def receive():
            return waiting.pop()

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": f"/s/{manifest.id}/{act}", "headers": list(headers)}
        await self.routes(scope, receive, send)
        return sent[0]["status"], sent[0]["headers"], sent[1]["body"]

    def answer(self, manifest, person):
        """Let someone take part as the page does."""

        def post(path, document):
            status, _, content = asyncio.run(self.post(manifest, path.rpartition("/")[2], document))
            return status, json.loads(content)

        return person.take_part(manifest, post)[0]

    def stop(self):
        self.collector.stop()


# Two keys, the same refusals ---------------------------------------------------------------------

JUNK = (None, True, 0, -1, 2**70, 1.5, "", "00", "Z" * 64, "0" * 20, "0" * 64, [], [3, 12], [[]], {}, {"answer": 0})
PLACES = (
    *(("fingerprint",), ("ticket",), ("opening",), ("answers",), ("answers", "v"), ("answers", "w")),
    *(("answers", "v", "asked"), ("answers", "v", "answer"), ("answers", "w", "answer"), ("extra",)),
    *(("commitment",), ("wrapped",)),
)


def changed(body, place, value):
    body = json.loads(json.dumps(body))
    inner = body
    for name in place[:-1]:
        inner = inner[name]
    if value is ...:
        inner.pop(place[-1], None)
    else:
        inner[place[-1]] = value
    return body


def malformed(body):
    """Return a body with every field left out, and with junk in its place; and bytes that are no body."""
    for place, value in product(PLACES, (..., *JUNK)):
        if place[:-1] in {(), *PLACES} and place[0] in {*body, "extra"} and (value is not ... or place[-1] != "extra"):
            yield changed(body, place, value)
    whole = json.dumps(body).encode()
    yield from (b"", b"{", b"[]", b"\xff", whole[:-1], whole + b"}", whole + b" " * 40_000, b"[" * 20_000)


class Script:
    """Surveys of one study, codes in every state, and requests that are refused."""

    def __init__(self, engine):
        self.codes = codes_of(9)
        unlocked, by_other, by_self, used, used_before, beside, elsewhere, unknown, late = self.codes
        let_in = [unlocked, by_other, by_self, used, used_before, beside]
        self.before = publish(engine, [used_before])
        self.survey = publish(engine, let_in)
        self.other = publish(engine, [beside, elsewhere, unlocked])
        self.closed = publish(engine, [late])
        world = World(engine)
        assert world.answer(self.before, Respondent(VALUES, code=used_before)) == 201
        assert world.answer(self.survey, Respondent(VALUES, code=used)) == 201
        self.own = bytes([7]) * 32
        for manifest, text in ((self.survey, by_other), (self.survey, by_self), (self.other, elsewhere)):
            wish = lock_wish(manifest, ticket_of(text), self.own)
            assert asyncio.run(world.post(manifest, "lock", wish))[0] == 200
        asyncio.run(world.post(self.closed, "lock", lock_wish(self.closed, ticket_of(late), self.own)))
        world.stop()
        publishing.close(engine, self.closed.id, last_wave=False)
        # Where each code is tried, and which numbers are tried that it is not locked to.
        self.states = {
            "unlocked": (self.survey, unlocked, SECRETS),
            "locked by another": (self.survey, by_other, SECRETS),
            "locked by oneself to another number": (self.survey, by_self, SECRETS),
            "used": (self.survey, used, SECRETS),
            "used in the wave before": (self.survey, used_before, SECRETS),
            "of another survey": (self.survey, elsewhere, [*SECRETS, self.own]),
            "locked in another survey, tried there": (self.other, elsewhere, SECRETS),
            "let in elsewhere too": (self.other, unlocked, SECRETS),
            "unknown": (self.survey, unknown, SECRETS),
            "closed": (self.closed, late, [*SECRETS, self.own]),
        }
        self.unlocked = ticket_of(unlocked)

    def guesses(self):
        for name, (manifest, text, secrets) in self.states.items():
            for secret, asked in product(secrets, QUESTIONS):
                yield name, manifest, "submit", submission(manifest, ticket_of(text), secret, asked)

    def other_refusals(self):
        for name in ("used", "unknown", "closed"):
            manifest, text, _ = self.states[name]
            yield name, manifest, "lock", lock_wish(manifest, ticket_of(text), SECRETS[0])
        yield "stale", self.survey, "lock", lock_wish(self.other, self.unlocked, SECRETS[0])
        for secret, asked in product(SECRETS, QUESTIONS):
            yield "stale", self.survey, "submit", submission(self.other, self.unlocked, secret, asked)
        for body in malformed(submission(self.survey, self.unlocked, SECRETS[0], WANTED)):
            yield "malformed", self.survey, "submit", body
        wish = lock_wish(self.survey, self.unlocked, SECRETS[0])
        for body in malformed(wish):
            if not (isinstance(body, dict) and is_lock(body, wish)):
                yield "malformed", self.survey, "lock", body

    def keys(self):
        """Return two keys under which no code and number that the script tries draw the same question."""
        chance = random.Random(3)
        pairs = [(ticket_of(text), one) for _, text, secrets in self.states.values() for one in secrets]
        first = chance.randbytes(32)
        while True:
            second = chance.randbytes(32)
            if all(drawn(first, *pair) != drawn(second, *pair) for pair in pairs):
                return first, second


def is_lock(body, honest):
    """Tell whether junk is a lock after all: any 32 bytes are a commitment, or a wrapped number."""
    return body.keys() == honest.keys() and all(len(str(body[name])) == len(honest[name]) for name in body)


def replay(engine, key, requests, shares, statements):
    """Send the requests to a server with this key; return the replies, and what was done for each."""
    set_key(engine, key)
    world, replies = World(engine, statements), []
    for _, manifest, act, body in requests:
        world.collector.manifest(manifest.id)  # so that it is known: the first request of each would look it up
        statements.clear()
        shares.clear()
        reply = asyncio.run(world.post(manifest, act, body))
        replies.append((reply, [*statements], len(shares)))
    world.stop()
    return replies


@pytest.fixture
def noted(monkeypatch):
    """Note every share that is computed, and every statement that goes straight to PostgreSQL's driver."""
    shares, share, statements = [], coin.share, []
    monkeypatch.setattr(coin, "share", lambda *given: shares.append(given) or share(*given))
    if find_spec("psycopg"):
        from subsetprivacy.collect.storage.postgres import PatientConnection

        execute = PatientConnection.execute

        def note(self, query, *given, **options):
            statements.append(query)
            return execute(self, query, *given, **options)

        monkeypatch.setattr(PatientConnection, "execute", note)
    return shares, statements


def rows(engine):
    with reading(engine) as connection:
        tables = (code, arrived, spent, pending)
        return [connection.scalar(select(func.count()).select_from(table)) for table in tables]


def test_refusals_do_not_depend_on_the_key(store, noted):
    script = Script(store)
    first, second = script.keys()
    requests = [*script.guesses(), *script.other_refusals()]
    before = rows(store)
    ones, others = replay(store, first, requests, *noted), replay(store, second, requests, *noted)
    assert all(reply[0] >= 400 for reply, _, _ in ones)
    for request, one, other in zip(requests, ones, others, strict=True):
        assert one == other, request  # the status, every header and byte, the statements, and the shares computed: none
        assert one[2] == 0
    looked = [statements for request, (_, statements, _) in zip(requests, ones, strict=True) if request[0] == "used"]
    assert all(looked)  # what the database does was noted
    assert rows(store) == before


def test_what_is_answered_to_a_guess_depends_on_the_state_of_the_ticket_alone(store):
    """Within a state, all numbers and all questions of the design are answered alike."""
    script = Script(store)
    requests = [*script.guesses()]
    replies = replay(store, script.keys()[0], requests, [], [])
    told = defaultdict(set)
    for (name, *_), (reply, _, _) in zip(requests, replies, strict=True):
        told[name].add((reply[0], reply[2]))
    opening = (422, b'{"status":"refused","reason":"opening"}')
    unknown = (404, b'{"status":"unknown code"}')
    assert told == {
        "unlocked": {opening},
        "locked by another": {opening},
        "locked by oneself to another number": {opening},
        "used": {(409, b'{"status":"already counted"}')},
        "used in the wave before": {opening},
        "of another survey": {unknown},
        "locked in another survey, tried there": {opening},
        "let in elsewhere too": {opening},
        "unknown": {unknown},
        "closed": {(410, b'{"status":"closed"}')},
    }


def test_whoever_has_locked_a_code_may_learn_their_own_draw_and_no_other(store):
    """They were told their share, so a refused question tells them nothing new. Nothing is lost by it."""
    (text,) = codes_of(1)
    manifest, world = publish(store, [text]), World(store)
    person = Respondent(VALUES, code=text)
    status, _, content = asyncio.run(world.post(manifest, "lock", person.lock(manifest)))
    assert status == 200
    person.take_share(manifest, json.loads(content))
    body = person.submission(manifest)
    for asked in QUESTIONS:
        if asked != body["answers"]["v"]["asked"]:
            wrong = changed(body, ("answers", "v", "asked"), asked)
            status, _, content = asyncio.run(world.post(manifest, "submit", wrong))
            assert (status, content) == (422, b'{"status":"refused","reason":"not drawn"}')
    assert asyncio.run(world.post(manifest, "submit", body))[0] == 201
    world.stop()


# Any order of requests ----------------------------------------------------------------------------


class Adversary(RuleBasedStateMachine):
    """Someone with a few codes and numbers, who asks two servers that differ in their keys in any order."""

    template: str

    def __init__(self):
        super().__init__()
        self.folder = TemporaryDirectory(prefix="sp-oracle-")
        self.codes = codes_of(3)
        self.secrets = [bytes([k]) * 32 for k in range(3)]
        first = f"{self.folder.name}/first.db"
        shutil.copy(self.template, first)
        engine = open_store(f"sqlite:///{first}")
        self.surveys = [publish(engine, self.codes), publish(engine, self.codes)]
        engine.dispose()
        shutil.copy(first, f"{self.folder.name}/second.db")
        self.worlds, self.keys = [], [b"\1" * 32, b"\2" * 32]
        for name, key in zip(("first", "second"), self.keys):
            engine = open_store(f"sqlite:///{self.folder.name}/{name}.db")
            set_key(engine, key)
            self.worlds.append(World(engine))
        self.locks = {}  # (survey, code): the number it is locked to
        self.used = set()

    def ask(self, k, act, body):
        return [asyncio.run(world.post(self.surveys[k], act, body)) for world in self.worlds]

    @rule(k=st.integers(0, 1), c=st.integers(0, 2), s=st.integers(0, 2))
    def lock(self, k, c, s):
        """The first number of a code is kept, over all open surveys of the study; the share is that number's."""
        ticket = ticket_of(self.codes[c])
        replies = self.ask(k, "lock", lock_wish(self.surveys[k], ticket, self.secrets[s]))
        if (k, c) in self.used:
            assert replies[0] == replies[1]
            assert replies[0][0] == 409
            return
        kept = self.locks.get((k, c), self.locks.get((1 - k, c), s))
        self.locks[k, c] = kept
        commitment = coin.commit(self.secrets[kept])
        for key, (status, _, content) in zip(self.keys, replies):
            told = {"commitment": commitment.hex(), "wrapped": bytes(32).hex()}
            assert status == 200
            assert json.loads(content) == {**told, "share": coin.share(key, ticket, commitment).hex()}

    @rule(k=st.integers(0, 1), c=st.integers(0, 2), s=st.integers(0, 2), q=st.integers(0, len(QUESTIONS) - 1))
    def guess(self, k, c, s, q):
        """A number and a question. If the code is locked to the number, the question is one that neither draws."""
        ticket = ticket_of(self.codes[c])
        if self.locks.get((k, c)) == s:
            q = next(j for j, asked in enumerate(QUESTIONS) if asked not in self.drawn(c, s))
        replies = self.ask(k, "submit", submission(self.surveys[k], ticket, self.secrets[s], QUESTIONS[q]))
        assert replies[0] == replies[1]
        assert replies[0][0] == (409 if (k, c) in self.used else 422)

    @precondition(lambda self: set(self.locks) - self.used)
    @rule(pick=st.integers(0, 100))
    def take_part(self, pick):
        """The question that was drawn is answered, in each world its own."""
        left = sorted(set(self.locks) - self.used)
        k, c = left[pick % len(left)]
        secret, ticket = self.secrets[self.locks[k, c]], ticket_of(self.codes[c])
        for world, asked in zip(self.worlds, self.drawn(c, self.locks[k, c])):
            body = submission(self.surveys[k], ticket, secret, asked)
            assert asyncio.run(world.post(self.surveys[k], "submit", body))[0] == 201
        self.used.add((k, c))
        del self.locks[k, c]

    def drawn(self, c, s):
        return [drawn(key, ticket_of(self.codes[c]), self.secrets[s]) for key in self.keys]

    def teardown(self):
        for world in self.worlds:
            world.stop()
            world.engine.dispose()
        self.folder.cleanup()


def play(template, examples):
    machine = type("Played", (Adversary,), {"template": str(template)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        ),
    )


def test_no_order_of_requests_tells_two_keys_apart(sqlite_template):
    play(sqlite_template, 5)


@pytest.mark.slow
def test_no_order_of_requests_tells_two_keys_apart_at_length(sqlite_template):
    play(sqlite_template, 150)


# Choosing the question ----------------------------------------------------------------------------

CODES, TRIES = 200, 12


async def refused_tries(world, manifest, ticket, chance):
    """Try numbers with the wanted question, and return the one whose reply is the rarest."""
    replies = defaultdict(list)
    for _ in range(TRIES):
        secret = chance.randbytes(32)
        status, headers, content = await world.post(manifest, "submit", submission(manifest, ticket, secret, WANTED))
        assert status >= 400
        replies[status, tuple(headers), content].append(secret)
    return chance.choice(min(replies.values(), key=len))


async def locked_question(world, manifest, key, ticket, secret):
    """Lock a number, or whatever comes back in its place, and return what it draws."""
    _, _, content = await world.post(manifest, "lock", lock_wish(manifest, ticket, secret))
    kept = json.loads(content)["commitment"]
    return None if kept != coin.commit(secret).hex() else drawn(key, ticket, secret)


async def by_refusals(world, surveys, key, ticket, chance):
    secret = await refused_tries(world, surveys[0], ticket, chance)
    return await locked_question(world, surveys[0], key, ticket, secret)


async def by_refusals_of_another_survey(world, surveys, key, ticket, chance):
    secret = await refused_tries(world, surveys[1], ticket, chance)
    return await locked_question(world, surveys[0], key, ticket, secret)


async def by_a_used_code(world, surveys, key, ticket, chance):
    """Answer one survey of the study, try numbers on the used code, and lock the best in the other."""
    secret = chance.randbytes(32)
    asked = await locked_question(world, surveys[1], key, ticket, secret)
    assert (await world.post(surveys[1], "submit", submission(surveys[1], ticket, secret, asked)))[0] == 201
    secret = await refused_tries(world, surveys[1], ticket, chance)
    return await locked_question(world, surveys[0], key, ticket, secret)


async def by_a_lock_in_another_survey(world, surveys, key, ticket, chance):
    """Lock a number in the other survey. If its question is not the wanted one, try a second number in this one."""
    first, second = chance.randbytes(32), chance.randbytes(32)
    asked = await locked_question(world, surveys[1], key, ticket, first)
    if asked == WANTED:
        return asked
    again = await locked_question(world, surveys[0], key, ticket, second)
    return asked if again is None else again


@pytest.mark.parametrize(
    "attack", [by_refusals, by_refusals_of_another_survey, by_a_used_code, by_a_lock_in_another_survey]
)
def test_an_adversary_does_no_better_than_chance(sqlite_url, attack):
    engine, key = open_store(sqlite_url), b"\5" * 32
    codes = codes_of(CODES, seed=2)
    surveys = [publish(engine, codes), publish(engine, codes)]
    set_key(engine, key)
    world = World(engine)

    async def all_codes():
        tries = (attack(world, surveys, key, ticket_of(text), random.Random(text)) for text in codes)
        return await asyncio.gather(*tries)

    questions = asyncio.run(all_codes())
    world.stop()
    engine.dispose()
    assert len(questions) == CODES
    assert all(asked in QUESTIONS for asked in questions)
    assert binomtest(questions.count(WANTED), CODES, CHANCE, alternative="greater").pvalue > 0.001
