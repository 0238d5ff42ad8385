"""The end of a study: its key, what deleting forgets, and what is in the way of erasing."""

import asyncio
import json
import time

import psycopg
import pytest
from refusals import refused

from subsetprivacy.collect.service import secure_delete
from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.service.publishing import (
    NotFoundError,
    PublishingError,
    close,
    delete,
    publish,
    publish_key,
    save_draft,
)
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.service.secure_delete import is_erasing, resume_erasing
from subsetprivacy.collect.storage.opening import open_store, reading, writing
from subsetprivacy.collect.storage.released import read_key
from subsetprivacy.collect.storage.secure_delete import request_erasing
from subsetprivacy.collect.survey import coin

TEA = """
title = "Tea"
study = "drinks"
batch = 10

[[variables]]
id = "tea"
question = "Which tea?"
options = ["black", "green", "white", "none"]
"""
CODE = coin.code_text(bytes(10), bytes(10))
OTHERWISE = TEA.replace('"none"]', '"none"]\ndesign = "hadamard"')
COFFEE = TEA.replace("tea", "coffee").replace("Tea", "Coffee")


def published(engine, text=TEA):
    return publish(engine, save_draft(engine, text, "toml").id)


def is_public(engine, study="drinks"):
    with reading(engine) as connection:
        held = read_key(connection, study)
    return None if held is None else held[1]


# What another server deletes ----------------------------------------------------------------------


def test_a_survey_that_another_server_has_deleted_is_forgotten(store):
    """Two servers on one database: the one that did not delete it has the manifest and the key in its memory."""
    manifest, closed = published(store), published(store, COFFEE)
    collector = Collector(store)
    collector.start()
    try:
        assert collector.manifest(manifest.id).text == manifest.text
        assert collector.is_open(manifest.id) is True
        close(store, closed.id, last_wave=False)
        assert lock(collector, closed) == (410, {"status": "closed"})
        delete(store, manifest.id)
        assert lock(collector, manifest) == (404, {"status": "unknown survey"})
        assert manifest.id not in collector._known
        assert collector.manifest(manifest.id) is None
        collector.manifest(closed.id)
        delete(store, closed.id)
        assert collector.is_open(closed.id) is None
        assert collector._known == {}
    finally:
        collector.stop()


def lock(collector, manifest):
    body = json.dumps(Respondent({manifest.variables[0]["id"]: 0}, code=CODE).lock(manifest)).encode()
    reply = asyncio.run(collector.lock(manifest.id, body))
    return reply.status, reply.document


# The key ----------------------------------------------------------------------------------------


def test_key_that_was_kept_for_more_waves_is_published_later(store):
    manifest = published(store)
    close(store, manifest.id, last_wave=False)
    assert not is_public(store)
    wave = published(store)
    with pytest.raises(PublishingError):
        publish_key(store, manifest.id)
    with pytest.raises(PublishingError):
        publish_key(store, wave.id)
    assert not is_public(store)
    close(store, wave.id, last_wave=False)
    for _ in range(2):
        publish_key(store, manifest.id)
        assert is_public(store)
    with reading(store) as connection:
        key, _ = read_key(connection, "drinks")
    assert coin.commit_key(key).hex() == wave.document["key_commitment"]


def test_after_the_last_open_survey_is_deleted_the_key_can_be_published(store):
    manifest, wave = published(store), published(store)
    close(store, manifest.id)
    assert not is_public(store)
    delete(store, wave.id)
    assert not is_public(store)  # nobody asked for it: another wave may come
    publish_key(store, manifest.id)
    assert is_public(store)


def test_key_is_of_no_use_without_codes(store):
    manifest = published(store, TEA.replace("batch", 'mode = "open"\nbatch'))
    close(store, manifest.id, last_wave=False)
    with pytest.raises(PublishingError):
        publish_key(store, manifest.id)
    assert not is_public(store)
    with pytest.raises(NotFoundError):
        publish_key(store, "a" * 26)


# What is forgotten ------------------------------------------------------------------------------


def test_a_study_forgets_how_a_deleted_survey_asked(store):
    """Nothing is left of it, so nothing is compared with it; while it is there, closed or not, it is."""
    first, other = published(store), published(store, COFFEE)
    close(store, first.id, last_wave=False)
    with refused(PublishingError, "design"):
        published(store, OTHERWISE)
    delete(store, first.id)
    assert published(store, OTHERWISE).study == other.study
    with refused(PublishingError, "design"):
        published(store, TEA)


# Erasing ----------------------------------------------------------------------------------------


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(secure_delete, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(secure_delete, "_SHORTEST_PAUSE", 0.05)


def wait_until(held, seconds=100):
    until = time.monotonic() + seconds
    while not held():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_who_is_in_the_way_of_erasing_is_waited_for_in_the_background(hurried, postgres, postgres_url, monkeypatch):
    engine = open_store(postgres_url)
    manifest, other = published(engine), published(engine, COFFEE)
    with psycopg.connect(postgres.conninfo(engine.url.database), autocommit=True) as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1 FROM draft")
        assert delete(engine, manifest.id) is False
        assert is_erasing(engine)
        at_work = secure_delete._at_work[engine]
        assert delete(engine, other.id) is False
        assert secure_delete._at_work[engine] is at_work  # which sees to both
        assert at_work.is_alive()
        monkeypatch.setattr(secure_delete, "PATIENCE_SECONDS", 100)  # a busy machine would try again and again
        reader.execute("COMMIT")
    wait_until(lambda: not is_erasing(engine))
    assert delete(engine, published(engine).id) is True
    engine.dispose()


def test_what_a_server_left_undone_is_done_by_the_next(hurried, postgres_url):
    engine = open_store(postgres_url)
    resume_erasing(engine)
    wait_until(lambda: not is_erasing(engine))
    with writing(engine) as connection:
        request_erasing(connection)  # and then it was killed
    assert is_erasing(engine)
    resume_erasing(engine)
    wait_until(lambda: not is_erasing(engine))
    engine.dispose()


def test_on_sqlite_a_reader_is_waited_for_in_the_background(hurried, sqlite_url, tmp_path):
    import sqlite3

    engine = open_store(sqlite_url)
    manifest = published(engine)
    reader = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM survey").fetchone()
    assert delete(engine, manifest.id) is False
    reader.execute("COMMIT")
    reader.close()
    wait_until(lambda: not is_erasing(engine))
    assert manifest.id.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    engine.dispose()
