"""Erasing: what was deleted is in no file of the database afterwards, and whoever is in the way is waited for."""

import contextlib
import secrets
import sqlite3
import threading
import time
from hashlib import sha256

import psycopg
import pytest
from effort import statements
from sqlalchemy import select

from subsetprivacy.collect.storage import secure_delete
from subsetprivacy.collect.storage.opening import open_store, reading, writing
from subsetprivacy.collect.storage.postgres import HURRIED_SECONDS
from subsetprivacy.collect.storage.released import read_key, read_released
from subsetprivacy.collect.storage.schema import metadata
from subsetprivacy.collect.storage.secure_delete import erase, is_erasing_requested, request_erasing, wipe
from subsetprivacy.collect.storage.surveys import add_codes, delete_survey


@pytest.fixture
def pg(postgres, postgres_url):
    engine = open_store(postgres_url)
    yield engine
    engine.dispose()


def delete(engine, manifest):
    with writing(engine) as connection:
        delete_survey(connection, manifest)
        request_erasing(connection)


def marks_of(engine, manifest):
    """Return the marks of those who have answered."""
    tables = [metadata.tables[name] for name in ("spent", "arrived")]
    with reading(engine) as connection:
        wanted = [select(table.c.mark).where(table.c.survey == manifest.id) for table in tables]
        return [bytes(mark) for one in wanted for mark in connection.scalars(one)]


def is_owed(engine):
    with reading(engine) as connection:
        return is_erasing_requested(connection)


def connected(postgres, engine):
    return contextlib.closing(psycopg.connect(postgres.conninfo(engine.url.database), autocommit=True))


def table_files(postgres, engine):
    """Return what the database's files hold, by the names of its tables and indexes; the server's log is elsewhere."""
    with connected(postgres, engine) as direct:
        direct.execute("CHECKPOINT")
        (oid,) = direct.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
        names = dict(direct.execute("SELECT relfilenode::text, relname FROM pg_class WHERE relfilenode > 0").fetchall())
    held = {}
    for path in (postgres.data / "base" / str(oid)).iterdir():
        with contextlib.suppress(FileNotFoundError):  # removed at this moment
            number = path.name.partition(".")[0].partition("_")[0]
            name = names.get(number, path.name)
            held[name] = held.get(name, b"") + path.read_bytes()
    return held


def places(postgres, engine, clues):
    return {name for name, held in table_files(postgres, engine).items() if any(clue in held for clue in clues)}


@pytest.mark.parametrize(
    ("alone", "sampled"), [(False, False), (True, True)], ids=["beside another", "alone, with statistics"]
)
def test_what_is_deleted_is_in_no_file_of_postgresql(postgres, pg, publish_kinds, let_answer, alone, sampled):
    manifest = publish_kinds(pg, title="A title like no other")
    let_answer(pg, manifest, 95)
    other = None if alone else publish_kinds(pg, title="Another", study="other", mode="open")
    if other is not None:
        let_answer(pg, other, 35)
    codes = [sha256(bytes([k])).digest() for k in range(100)]
    with writing(pg) as connection:
        add_codes(connection, manifest.id, codes)
    with reading(pg) as connection:
        key = read_key(connection, "kinds")[0]
        before = None if other is None else read_released(connection, other.id).rows
    if sampled:
        with connected(postgres, pg) as direct:
            direct.execute("ANALYZE")
    marks = marks_of(pg, manifest)[::8] + codes[::8]
    clues = [manifest.id.encode(), b"A title like no other", manifest.text[:200], key, *marks]
    found = places(postgres, pg, clues)
    assert {"survey", "study", "spent", "spent_pkey", "tally", "tally_pkey", "code"} <= found
    assert "pg_statistic" not in found
    delete(pg, manifest)
    assert places(postgres, pg, clues)  # deleted rows are still in the files
    assert erase(pg)
    assert places(postgres, pg, clues) == set()
    if other is not None:
        with reading(pg) as connection:
            assert read_released(connection, other.id).rows == before
        let_answer(pg, other, 5)


def test_a_release_leaves_a_ticket_in_one_place_of_postgresql(postgres, pg, publish_kinds, let_answer):
    """Beside the bytes of a deleted row stands the number of its transaction, which has counted an answer, too."""
    manifest = publish_kinds(pg)
    let_answer(pg, manifest, 95)
    with reading(pg) as connection:
        spent = metadata.tables["spent"]
        marks = [bytes(mark) for mark in connection.scalars(select(spent.c.mark).where(spent.c.survey == manifest.id))]
    assert len(marks) > 50
    assert wipe(pg)
    assert places(postgres, pg, marks) == {"spent", "spent_pkey"}
    let_answer(pg, manifest, 50)  # and a further release: no older copy tells the two apart
    assert wipe(pg)
    assert {table_files(postgres, pg)["spent"].count(mark) for mark in marks} == {1}


@pytest.mark.parametrize(
    ("level", "begun"),
    [("REPEATABLE READ", "SELECT count(*) FROM draft"), ("READ COMMITTED", "SELECT pg_current_xact_id()")],
    ids=["reads", "writes"],
)
def test_whoever_began_before_is_waited_for(postgres, pg, publish_kinds, level, begun):
    manifest = publish_kinds(pg)
    with connected(postgres, pg) as reader:
        reader.execute(f"BEGIN ISOLATION LEVEL {level}")
        reader.execute(begun)
        delete(pg, manifest)
        assert is_owed(pg)
        assert not erase(pg, seconds=0.1)
        assert is_owed(pg)
        threading.Timer(0.3, reader.execute, ("COMMIT",)).start()
        assert erase(pg, seconds=100)
        assert not is_owed(pg)
    assert places(postgres, pg, [manifest.id.encode()]) == set()


def test_locks_of_others_end_the_try_and_not_more(postgres, pg, publish_kinds, let_answer):
    manifest, other = publish_kinds(pg), publish_kinds(pg, title="Other", study="other", mode="open")
    with connected(postgres, pg) as copying:
        delete(pg, manifest)
        copying.execute("BEGIN")  # as a copy of the whole database does, for however long it takes
        copying.execute("LOCK TABLE tally IN ACCESS SHARE MODE")
        with statements(pg) as sent:
            assert not erase(pg)
        # It waits for one lock, for less time than others have patience, and gives up: others wait behind it.
        assert f"SET lock_timeout = '{secure_delete._LOCK_MILLISECONDS}ms'" in sent
        assert secure_delete._LOCK_MILLISECONDS < 1000 * HURRIED_SECONDS / 10
        assert sent[-1] == "VACUUM (FULL) tally"
        assert is_owed(pg)
        let_answer(pg, other, 35)
        copying.execute("COMMIT")
    assert erase(pg)
    assert not is_owed(pg)


def test_limits_of_a_connection_are_as_before(pg):
    names = ("lock_timeout", "statement_timeout")

    def limits():
        with reading(pg) as connection:
            return [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names]

    before = limits()
    assert erase(pg)
    assert limits() == before


def test_erasing_beside_the_wiper_and_answers_fails_for_nobody(pg, publish_kinds, let_answer):
    manifests = [publish_kinds(pg, title=f"Wave {k}", study=f"study {k}") for k in range(3)]
    other = publish_kinds(pg, title="Other", study="other", mode="open")
    over, failed = threading.Event(), []

    def repeat(act):
        while not over.is_set():
            try:
                act()
            except Exception as error:  # every one of them is told below
                failed.append(error)

    acts = [lambda: wipe(pg, seconds=0.0), lambda: let_answer(pg, other, 10)]
    threads = [threading.Thread(target=repeat, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    try:
        for manifest in manifests:
            delete(pg, manifest)
            until = time.monotonic() + 100
            while not erase(pg) and time.monotonic() < until:
                pass
    finally:
        over.set()
        for thread in threads:
            thread.join(100)
    assert failed == []
    assert not is_owed(pg)


def test_a_debt_that_grows_meanwhile_stays(pg, publish_kinds, monkeypatch):
    first, second = publish_kinds(pg), publish_kinds(pg, title="Second", study="second")
    delete(pg, first)
    usual, done = secure_delete.text, []

    def deleting(statement):
        if "VACUUM" in statement and not done:
            done.append(delete(pg, second))
        return usual(statement)

    monkeypatch.setattr(secure_delete, "text", deleting)
    erase(pg)
    assert done
    assert is_owed(pg)
    assert erase(pg)
    assert not is_owed(pg)


def test_on_sqlite_a_reader_is_waited_for_and_then_tried_again(tmp_path, sqlite_url, publish_kinds):
    """A reader keeps an older state in the log."""
    engine = open_store(sqlite_url)
    manifest = publish_kinds(engine)
    reader = sqlite3.connect(tmp_path / "store.db", check_same_thread=False, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM survey").fetchone()
    delete(engine, manifest)
    assert not erase(engine, seconds=0.1)
    assert not is_owed(engine)
    threading.Timer(0.3, reader.execute, ("COMMIT",)).start()
    assert erase(engine, seconds=100)
    assert manifest.id.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    reader.close()
    engine.dispose()


def test_a_role_that_owns_the_tables_alone_can_erase(postgres, publish_kinds, let_answer):
    role = f"r_{secrets.token_hex(6)}"
    database = postgres.fresh()
    postgres.execute(f"CREATE ROLE {role} LOGIN")
    postgres.execute(f"GRANT ALL ON SCHEMA public TO {role}", database)
    engine = open_store(postgres.url(database).replace("//postgres@", f"//{role}@"))
    try:
        manifest = publish_kinds(engine)
        let_answer(engine, manifest, 35)
        clues = [manifest.id.encode(), *marks_of(engine, manifest)[::8]]
        delete(engine, manifest)
        assert erase(engine)
        assert not is_owed(engine)
        assert places(postgres, engine, clues) == set()
    finally:
        engine.dispose()
        postgres.drop(database)
        postgres.execute(f"DROP ROLE {role}")
