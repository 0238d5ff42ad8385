"""One ticket many times: counted once, and everybody after the first is told the same."""

import asyncio
import json
import os
from collections import Counter

import pytest
from faults import Line, assert_counted_once, publish, serve, servers  # noqa: F401  fixtures

from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.storage.opening import open_store

TIMES, AT_ONCE = 1000, 50


async def post(port, path, document):
    line = Line(port)
    status, _, content = await line.post(path, json.dumps(document).encode())
    line.close()
    return status, json.loads(content)


async def repeat(port, path, bodies):
    """Send bodies over 50 connections and return the answers."""
    answers, waiting = [], iter(bodies)

    async def work():
        line = Line(port)
        for body in waiting:
            status, _, content = await line.post(path, body)
            answers.append((status, content))
        line.close()

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return answers


def take_part(port, manifest, person):
    """Lock, and return the body to submit."""
    if manifest.mode == "code":
        status, reply = asyncio.run(post(port, f"/s/{manifest.id}/lock", person.lock(manifest)))
        assert status == 200
        person.take_share(manifest, reply)
    return person.submission(manifest)


@pytest.mark.parametrize("mode", ["code", "open"])
def test_one_code_counts_once(serve, store_url, mode):  # noqa: F811
    engine = open_store(store_url)
    manifest, codes = publish(engine, mode=mode, codes=int(mode == "code"))
    server = serve(store_url)
    person = Respondent({held["id"]: 0 for held in manifest.variables}, code=codes[0] if codes else None)
    body = take_part(server.port, manifest, person)
    answers = asyncio.run(repeat(server.port, f"/s/{manifest.id}/submit", [json.dumps(body).encode()] * TIMES))
    assert Counter(answers) == {
        (201, b'{"status":"counted"}'): 1,
        (409, b'{"status":"already counted"}'): TIMES - 1,
    }
    assert_counted_once(engine, manifest, [body])
    engine.dispose()


def test_a_code_is_locked_to_the_first_number(serve, store_url):  # noqa: F811
    """Fifty devices open one code at once, each with a number of its own: all are given that of the first."""
    engine = open_store(store_url)
    manifest, (code,) = publish(engine, codes=1)
    server = serve(store_url)
    values = {held["id"]: 0 for held in manifest.variables}
    devices = [Respondent(values, code=code) for _ in range(AT_ONCE)]
    wishes = [json.dumps(one.lock(manifest)).encode() for one in devices] * 4
    answers = asyncio.run(repeat(server.port, f"/s/{manifest.id}/lock", wishes))
    assert len(set(answers)) == 1
    assert answers[0][0] == 200
    for one in devices:
        one.take_share(manifest, json.loads(answers[0][1]))
    bodies = [json.dumps(one.submission(manifest)).encode() for one in devices]
    assert {json.dumps(json.loads(body)["answers"]["colour"]["asked"]) for body in bodies} == {
        json.dumps(json.loads(bodies[0])["answers"]["colour"]["asked"])
    }
    answers = asyncio.run(repeat(server.port, f"/s/{manifest.id}/submit", bodies))
    assert sorted(Counter(status for status, _ in answers).items()) == [(201, 1), (409, AT_ONCE - 1)]
    late = asyncio.run(post(server.port, f"/s/{manifest.id}/lock", Respondent(values, code=code).lock(manifest)))
    assert late == (409, {"status": "already counted"})
    engine.dispose()


def test_no_other_number_opens_a_locked_code(serve, store_url):  # noqa: F811
    engine = open_store(store_url)
    manifest, (code,) = publish(engine, codes=1)
    server = serve(store_url)
    body = take_part(server.port, manifest, Respondent({held["id"]: 0 for held in manifest.variables}, code=code))
    others = [json.dumps({**body, "opening": os.urandom(32).hex()}).encode() for _ in range(TIMES // 5)]
    answers = asyncio.run(repeat(server.port, f"/s/{manifest.id}/submit", others))
    assert {status for status, _ in answers} == {422}
    answers = asyncio.run(repeat(server.port, f"/s/{manifest.id}/submit", [json.dumps(body).encode()]))
    assert [status for status, _ in answers] == [201]
    assert_counted_once(engine, manifest, [body])
    engine.dispose()
