"""What whoever kept the list of codes can do: the documents say so, and it is no more than they say."""

import asyncio
import json
import random
import secrets

import pytest

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.storage.opening import reading
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.survey import tallies

PEOPLE = 100


@pytest.fixture
def chance(monkeypatch):
    """Let keys and codes come from a seed, and people's numbers too: how often questions differ is then no accident."""
    drawn = random.Random(8)
    monkeypatch.setattr(secrets, "token_bytes", drawn.randbytes)
    return drawn


@pytest.fixture
def post(engine):
    """Send a document to the service's public routes, as anybody can."""
    collector = Collector(engine)
    with asyncio.Runner() as runner:
        runner.run(_call(collector.start))

        def post(path, document):
            survey, deed = path.removeprefix("/s/").split("/")
            reply = runner.run(getattr(collector, deed)(survey, json.dumps(document).encode()))
            return reply.status, reply.document

        yield post
        runner.run(_call(collector.stop))


async def _call(function):
    function()


def publish(engine, options, design):
    listed = [f"option {chr(97 + k)}" for k in range(options)]
    variable = {"id": "v", "question": "Which?", "options": listed, "design": design}
    document = {"title": "T", "mode": "code", "batch": 25, "variables": [variable]}
    draft = publishing.save_draft(engine, json.dumps(document), "json")
    return draft, publishing.publish(engine, draft.id)


def question_of(code, manifest, post, chance):
    """Return what the owner of a code is asked, as a second device learns it; or why it is not told."""
    second = Respondent({"v": 0}, code=code, rng=chance)
    status, reply = post(f"/s/{manifest.id}/lock", second.lock(manifest))
    if status != 200:
        return reply["status"]
    second.take_share(manifest, reply)
    return second.submission(manifest)["answers"]["v"]["asked"]


@pytest.mark.parametrize(("design", "least", "most"), [("uniform", 35, PEOPLE), ("recommended", 0, 20)])
def test_the_list_of_codes_and_the_results_give_answers_away(engine, post, chance, design, least, most):
    """Without the database: asked while its owner answers, a code tells the question, and a rare one its answer.

    Of eight options the recommended design has few questions, so that most answers have company.
    """
    _, manifest = publish(engine, 8, design)
    asked, sent = {}, {}
    for code in publishing.make_codes(engine, manifest.id, PEOPLE):
        person = Respondent({"v": chance.randrange(8)}, code=code, rng=chance)
        status, reply = post(f"/s/{manifest.id}/lock", person.lock(manifest))
        assert status == 200
        person.take_share(manifest, reply)
        asked[code] = question_of(code, manifest, post, chance)
        body = person.submission(manifest)
        answer = body["answers"]["v"]
        assert asked[code] == answer["asked"]
        sent[code] = answer["asked"][answer["answer"]]
        assert post(f"/s/{manifest.id}/submit", body)[0] == 201
        assert question_of(code, manifest, post, chance) == "already counted"  # it was used, and tells no more
    publishing.close(engine, manifest.id)
    with reading(engine) as connection:
        released = read_released(connection, manifest.id)
    told = {tallies.row_codes(row)[0] for row in released.rows[0]}
    found = {code: left[0] for code in asked if len(left := [group for group in asked[code] if group in told]) == 1}
    assert all(sent[code] == group for code, group in found.items())
    assert least <= len(found) <= most


def test_an_owner_who_kept_the_codes_can_pick_a_question_and_the_page_can_tell(engine, post):
    """Further versions of the survey let the same code in, and each tells where one more number would lead.

    Open versions share a lock, so each has to be closed before the next.
    """
    draft, manifest = publish(engine, 4, "recommended")
    (code,) = publishing.make_codes(engine, manifest.id, 1)
    wanted = [0b0011, 0b1100]
    for _ in range(200):
        version = publishing.publish(engine, draft.id)
        publishing.accept_earlier_codes(engine, version.id, [code])
        stranger = Respondent({"v": 0}, code=code)
        _, reply = post(f"/s/{version.id}/lock", stranger.lock(version))
        stranger.take_share(version, reply)
        if stranger.submission(version)["answers"]["v"]["asked"] == wanted:
            break
        publishing.close(engine, version.id, last_wave=False)
    publishing.close(engine, version.id, last_wave=False)
    assert post(f"/s/{manifest.id}/lock", stranger.lock(manifest))[0] == 200
    person = Respondent({"v": 0}, code=code)
    own = person.lock(manifest)
    _, reply = post(f"/s/{manifest.id}/lock", own)
    person.take_share(manifest, reply)
    assert person.submission(manifest)["answers"]["v"]["asked"] == wanted
    # What the page warns of: the code is locked to a number that is not this device's.
    assert reply["commitment"] != own["commitment"]


@pytest.mark.parametrize("end", ["answered", "closed", "deleted"])
def test_a_later_wave_is_one_more_draw_for_whoever_clears_their_browser(engine, post, chance, end):
    """After the first wave its lock is gone: for the second wave a person may take the old number or draw a new one.

    So it is for someone who has looked at the question, and has not answered when the first wave is closed or deleted.
    That is two draws to choose from, and no more: a second number is not taken once the code is locked again.
    """
    draft, first = publish(engine, 4, "recommended")
    second = publishing.publish(engine, draft.id)
    codes = publishing.make_codes(engine, first.id, 20)
    publishing.accept_earlier_codes(engine, second.id, codes)
    old = {}
    for code in codes:
        person = Respondent({"v": 0}, code=code, rng=chance)
        status, reply = post(f"/s/{first.id}/lock", person.lock(first))
        assert status == 200
        person.take_share(first, reply)
        body = person.submission(first)
        old[code] = body["answers"]["v"]["asked"]
        if end == "answered":
            assert post(f"/s/{first.id}/submit", body)[0] == 201
    if end == "closed":
        publishing.close(engine, first.id, last_wave=False)
    elif end == "deleted":
        publishing.delete(engine, first.id)
    differ = 0
    for code in codes:
        new = question_of(code, second, post, chance)  # a browser that has forgotten
        assert question_of(code, second, post, chance) == new
        differ += old[code] != new
    assert 0 < differ < len(codes)
