"""A process that ends without a word between any two statements of a release or of closing: the next one goes on."""

import asyncio
import json
import os
import time
from unittest import mock

import pytest
from faults import FEWEST, PATIENCE, assert_counted_once, books, publish, sent
from sqlalchemy import select

from subsetprivacy.collect.service import respondents, writer
from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.storage.backups import check
from subsetprivacy.collect.storage.opening import open_store, reading
from subsetprivacy.collect.storage.schema import survey

# Ends itself before the statement or commit of this number, counted from the beginning of the act.
DIES = """
import os, sys
from sqlalchemy import event
from subsetprivacy.collect.service.publishing import close
from subsetprivacy.collect.storage.opening import open_store
from subsetprivacy.collect.storage.releasing import release_due

_, url, act, last, survey_id = sys.argv
engine, passed = open_store(url), []

def pass_by(*_):
    passed.append(1)
    if len(passed) == int(last):
        os._exit(9)

for name in ("before_cursor_execute", "commit"):
    event.listen(engine, name, pass_by)
release_due(engine) if act == "release" else close(engine, survey_id)
print("done", len(passed), flush=True)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "dies.py"
    path.write_text(DIES)
    return str(path)


def run_until_it_dies(servers, script, url, act, last, survey_id=""):
    """Return whether it came to its end."""
    pid, output = servers.fork("run", script, url, act, str(last), survey_id)
    deadline = time.monotonic() + PATIENCE
    while (ended := is_gone(pid)) is False:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert ended
    return output.read_text().startswith("done")


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def fill(engine, people):
    """Let people answer in one group, and return the manifest and what they sent."""
    manifest, codes = publish(engine, codes=people)
    bodies = []

    class Noting(respondents.Respondent):
        def submission(self, manifest):
            bodies.append(super().submission(manifest))
            return bodies[-1]

    crowd = [Noting({held["id"]: k % 2 for held in manifest.variables}, code=code) for k, code in enumerate(codes)]
    with mock.patch.object(respondents, "release_due"):
        assert respondents.answer_all(engine, manifest, crowd) == {"counted": people}
    return manifest, bodies


def is_open(engine, manifest):
    with reading(engine) as connection:
        return connection.scalar(select(survey.c.open).where(survey.c.id == manifest.id))


# Between how many statements it dies: in the fast tests at some points, in the slow ones at every one.
steps = pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)])


@steps
def test_a_release_that_is_cut_short_anywhere_is_made_later(servers, script, store_url, step):
    engine = open_store(store_url)
    manifest, bodies = fill(engine, 5 * FEWEST + 3)
    points, point = [], 1
    while not run_until_it_dies(servers, script, store_url, "release", point):
        found = books(engine, manifest)
        assert found.fit(manifest, bodies)
        points.append((found.releases, found.pending))
        point += step
    found = assert_counted_once(engine, manifest, bodies)
    before, after = ((), 5 * FEWEST + 3), ((4 * FEWEST,), FEWEST + 3)
    assert set(points) <= {before, after}  # all of it or nothing
    assert points.count(before) >= 9 / step  # of the statements of a release
    assert (found.releases, found.pending) == after
    engine.dispose()


@steps
@pytest.mark.parametrize("people", [2 * FEWEST + 3, FEWEST - 1])
def test_closing_that_is_cut_short_anywhere_is_done_later(servers, script, store_url, people, step):
    """With too few in all everything is deleted at closing, or nothing yet."""
    engine = open_store(store_url)
    manifest, bodies = fill(engine, people)
    point, open_after = 1, []
    while not run_until_it_dies(servers, script, store_url, "close", point, manifest.id):
        open_after.append(is_open(engine, manifest))
        if open_after[-1]:
            found = books(engine, manifest)
            assert found.fit(manifest, bodies)
            assert found.releases == ()
        point += step
    assert open_after == sorted(open_after, reverse=True)  # once closed, it stays so
    assert open_after.count(True) >= 9 / step
    assert not is_open(engine, manifest)
    found = books(engine, manifest)
    assert (found.releases, found.pending) == (((people,), 0) if people >= FEWEST else ((), 0))
    assert (found.rows, found.answers) == sent(manifest, bodies if found.releases else [])
    assert check(engine) == []
    engine.dispose()


def test_what_was_due_when_a_server_died_is_released_by_the_next(store_url):
    engine = open_store(store_url)
    manifest, _ = fill(engine, 3 * FEWEST)
    collector = Collector(engine)
    collector.start()
    deadline = time.monotonic() + PATIENCE
    while not books(engine, manifest).releases:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    collector.stop()
    assert books(engine, manifest).releases == (2 * FEWEST,)
    engine.dispose()


def test_the_writer_goes_on_after_any_error(store_url, monkeypatch):
    """An error that nobody thought of costs its group an answer of "busy", and nobody else anything."""
    engine = open_store(store_url)
    manifest, codes = publish(engine, mode="code", codes=2)
    collector = Collector(engine)
    collector.start()
    people = [respondents.Respondent({held["id"]: 0 for held in manifest.variables}, code=code) for code in codes]

    def take_part(person):
        def post(path, document):
            act = collector.lock if path.endswith("lock") else collector.submit
            reply = asyncio.run(act(manifest.id, json.dumps(document).encode()))
            return reply.status, reply.document

        return person.take_part(manifest, post)

    def fail(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(writer, "lock_codes", fail)
        assert take_part(people[0]) == (503, {"status": "busy"})
    assert take_part(people[0]) == (201, {"status": "counted"})
    with monkeypatch.context() as broken:
        broken.setattr(writer, "release_full", fail)
        broken.setattr(writer, "wipe", fail)
        assert take_part(people[1]) == (201, {"status": "counted"})
    assert take_part(people[1])[0] == 409
    collector.stop()
    assert books(engine, manifest).pending == 2
    engine.dispose()
