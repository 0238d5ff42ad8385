"""How long somebody waits for an answer: until a limit, whatever becomes of the database."""

import asyncio
import contextlib
import json
import threading

from faults import publish

from subsetprivacy.collect.service import collecting, writer
from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.service.writer import WAIT_SECONDS
from subsetprivacy.collect.storage.postgres import HURRIED_SECONDS


def test_nobody_waits_longer_than_the_limit(engine, monkeypatch):
    """A writer that never comes to it, as behind a database that does not answer."""
    monkeypatch.setattr(writer, "WAIT_SECONDS", 0.05)
    manifest, _ = publish(engine, mode="open")
    body = json.dumps(Respondent({held["id"]: 0 for held in manifest.variables}).submission(manifest)).encode()
    collector = Collector(engine)  # never started
    reply = asyncio.run(collector.submit(manifest.id, body))
    assert (reply.status, reply.document) == (503, {"status": "busy"})


def test_nobody_waits_where_too_many_wait_already(engine, monkeypatch):
    monkeypatch.setattr(writer, "MOST_WAITING", 0)
    monkeypatch.setattr(writer, "WAIT_SECONDS", 3600)  # so that they are refused at once, or not at all
    manifest, _ = publish(engine, mode="open")
    body = json.dumps(Respondent({held["id"]: 0 for held in manifest.variables}).submission(manifest)).encode()
    assert asyncio.run(asyncio.wait_for(Collector(engine).submit(manifest.id, body), 20)).status == 503


def test_a_wipe_that_does_not_come_back_holds_up_no_end(engine, monkeypatch):
    """The connection of a wipe has an hour's patience, and a network that swallows what is sent uses it up."""
    wiping, comes_back = threading.Event(), threading.Event()

    def hang(*_, **__):
        wiping.set()
        comes_back.wait()
        return True

    monkeypatch.setattr(writer, "wipe", hang)
    monkeypatch.setattr(writer, "WAIT_SECONDS", 0.05)
    thread = writer.Writer(engine)
    thread._turn = contextlib.nullcontext()  # as on PostgreSQL; a file has no network, and there the two take turns
    thread.start()
    wiping.wait()
    held = thread._threads
    thread.stop()
    assert [thread.is_alive() for thread in held] == [False, True]
    comes_back.set()
    held[1].join()


def test_the_database_is_given_up_before_people_are():
    """Otherwise everybody would be told to come again by the clock, and nobody would learn why."""
    assert collecting.WAIT_SECONDS is WAIT_SECONDS
    assert HURRIED_SECONDS < WAIT_SECONDS < 10
