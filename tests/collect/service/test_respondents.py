"""Simulated respondents do what the page does, and what they send is what the server's checks take."""

import json
import random
from collections import Counter

import pytest

from subsetprivacy.collect.service.respondents import Habits, Respondent
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.submission import read_submission, was_drawn
from subsetprivacy.collect.survey.tallies import row_codes
from subsetprivacy.design.secret_bit import EQUAL

KEY = bytes(range(32))
CODE = coin.code_text(b"ticket-123", b"half-abcde")
TRUTH = {"colour": 3, "day": 5, "smokes": 1, "size": 0}


class Server:
    """Keeps the first lock of a code, and everything that was sent."""

    def __init__(self, manifest):
        self.manifest, self.locks, self.bodies = manifest, {}, []

    def post(self, path, document):
        assert path in {f"/s/{self.manifest.id}/lock", f"/s/{self.manifest.id}/submit"}
        assert document["fingerprint"] == self.manifest.fingerprint
        if path.endswith("submit"):
            self.bodies.append(document)
            return 201, {"status": "counted"}
        held = self.locks.setdefault(document["ticket"], document)
        commitment = bytes.fromhex(held["commitment"])
        share = coin.share(KEY, bytes.fromhex(document["ticket"]), commitment)
        return 200, {"commitment": held["commitment"], "wrapped": held["wrapped"], "share": share.hex()}

    def accepted(self):
        accepted = [read_submission(json.dumps(body).encode(), self.manifest) for body in self.bodies]
        assert all(one.opened is None or was_drawn(one.opened, self.manifest, KEY) for one in accepted)
        return accepted


@pytest.fixture(params=["code", "open"])
def server(request, every_kind):
    return Server(freeze(every_kind(mode=request.param), KEY if request.param == "code" else None, nonce="0"))


def answers(server, number, values=TRUTH, **options):
    rng = random.Random(7)
    for _ in range(number):
        code = coin.code_text(rng.randbytes(10), rng.randbytes(10)) if server.manifest.mode == "code" else None
        assert Respondent(values, code=code, rng=rng, **options).take_part(server.manifest, server.post)[0] == 201
    return server.accepted()


def test_what_is_sent_passes_the_checks_and_holds_the_truth(server):
    for one in answers(server, 200):
        (colour, day), (smokes,), (size,) = map(row_codes, one.rows)
        assert colour >> TRUTH["colour"] & 1
        assert 2 <= colour.bit_count() <= 3
        assert day >> TRUTH["day"] & 1
        assert day.bit_count() == 2
        assert smokes in {EQUAL, 0b1111 - EQUAL}
        assert size >> TRUTH["size"] & 1
        assert size.bit_count() == 2


@pytest.mark.parametrize(("value", "chance"), [(0, 0.75), (1, 0.25)])
def test_the_answer_to_warners_question_has_its_law(server, value, chance):
    """The secret number is 1 with probability 1/4, and the answer is whether it equals the value's."""
    assert server.manifest.designs["smokes"].q == pytest.approx(0.25)
    same = sum(row_codes(one.rows[1])[0] == EQUAL for one in answers(server, 600, {**TRUTH, "smokes": value}))
    assert abs(same / 600 - chance) < 5 * (chance * (1 - chance) / 600) ** 0.5


def test_marks_are_one_for_each_person(server):
    assert len({one.mark for one in answers(server, 50)}) == 50


def test_a_second_try_sends_the_same(server):
    person = Respondent(TRUTH, code=CODE)
    for _ in range(3):
        person.take_part(server.manifest, server.post)
    first, *others = server.bodies
    assert others == [first, first]


def test_what_is_sent_is_as_long_for_everyone(server):
    lengths = set()
    for skips in (0, 0.5, 1):
        for _ in range(20):
            person = Respondent(TRUTH, code=CODE, habits=Habits(skips=skips))
            person.take_part(server.manifest, server.post)
            lengths.add(len(person.body(server.manifest)))
    assert len(lengths) == 1
    assert len({len(json.dumps(body)) for body in server.bodies}) > 1


def test_another_wave_asks_the_same(server, every_kind):
    person = Respondent(TRUTH, code=CODE)
    person.take_part(server.manifest, server.post)
    mode = server.manifest.mode
    wave = Server(freeze(every_kind(mode=mode, title="Wave 2"), KEY if mode == "code" else None, nonce="1"))
    person.take_part(wave.manifest, wave.post)
    assert wave.bodies[0]["answers"] == server.bodies[0]["answers"]
    assert wave.accepted()[0].mark != server.accepted()[0].mark


def test_a_second_device_is_asked_the_same_by_the_code(every_kind):
    server = Server(freeze(every_kind(), KEY, nonce="0"))
    for _ in range(2):  # each with secrets of its own
        Respondent(TRUTH, code=CODE).take_part(server.manifest, server.post)
    first, second = (body["answers"] for body in server.bodies)
    for name in ("colour", "day"):
        assert first[name] == second[name]


def test_a_false_wrapping_is_noticed(every_kind):
    server = Server(freeze(every_kind(), KEY, nonce="0"))
    Respondent(TRUTH, code=CODE).take_part(server.manifest, server.post)
    (lock,) = server.locks.values()
    lock["wrapped"] = "00" * 32
    with pytest.raises(ValueError, match="must fit its commitment"):
        Respondent(TRUTH, code=CODE).take_part(server.manifest, server.post)


def test_without_a_code_there_is_no_lock(every_kind):
    with pytest.raises(ValueError, match="must have a code"):
        Respondent(TRUTH).lock(freeze(every_kind(), KEY))


def test_a_lock_that_is_refused_ends_it(every_kind):
    manifest = freeze(every_kind(), KEY)
    reply = (404, {"status": "unknown code"})
    assert Respondent(TRUTH, code=CODE).take_part(manifest, lambda path, document: reply) == reply


def test_habits(server):
    skipped = [framing.answer for one in answers(server, 20, habits=Habits(skips=1)) for framing in one.framings]
    assert set(skipped) == {-1}
    server.bodies.clear()
    said = Counter(one.framings[0].answer for one in answers(server, 40, habits=Habits(yes=1)))
    assert said == {0: 40}
    server.bodies.clear()
    careless = answers(server, 400, habits=Habits(careless=1))
    held = sum(row_codes(one.rows[0])[0] >> TRUTH["colour"] & 1 for one in careless)
    assert abs(held - 200) < 50  # half of the answers are wrong; 5 standard errors
