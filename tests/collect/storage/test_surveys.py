"""Drafts, publications, codes, closing and deleting: what rows they leave."""

import threading

from sqlalchemy import func, select

from subsetprivacy.collect.storage import surveys
from subsetprivacy.collect.storage.opening import open_store, reading, writing
from subsetprivacy.collect.storage.released import read_key, read_released
from subsetprivacy.collect.storage.schema import metadata
from subsetprivacy.collect.storage.secure_delete import erase
from subsetprivacy.collect.storage.surveys import (
    Draft,
    add_codes,
    close_survey,
    delete_draft,
    delete_survey,
    lock_study,
    lock_survey,
    read_draft,
    read_drafts,
    read_lines,
    read_source,
    reveal_key,
    write_draft,
)


def rows(engine):
    """How many rows each table has that has any."""
    with reading(engine) as connection:
        counted = {name: connection.scalar(select(func.count()).select_from(t)) for name, t in metadata.tables.items()}
    return {name: number for name, number in counted.items() if number}


def close(engine, manifest, *, last=True):
    with writing(engine) as connection:
        lock_study(connection, manifest.study)
        close_survey(connection, manifest)
        return reveal_key(connection, manifest.study) if last else None


def test_drafts_are_written_replaced_and_deleted(store):
    first, second = Draft("id1", "B", "toml", "x = 1"), Draft("id2", "A", "json", "{}")
    with writing(store) as connection:
        write_draft(connection, first)
        write_draft(connection, second)
        changed = Draft("id1", "C", "yaml", "x: 2")
        assert read_drafts(connection) == [second, first]
        write_draft(connection, changed)
        assert read_draft(connection, "id1") == changed
        assert delete_draft(connection, "id2")
        assert not delete_draft(connection, "id2")
        assert read_drafts(connection) == [changed]
        assert read_draft(connection, "id2", hold=True) is None


def test_the_key_of_a_study_is_made_once(store):
    with writing(store) as connection:
        key, revealed = lock_study(connection, "s")
        assert len(key) == 32
        assert not revealed
        assert lock_study(connection, "s") == (key, False)
        assert lock_study(connection, "t")[0] != key


def test_versions_go_on_where_one_was_deleted(store, publish_kinds):
    first, second = (publish_kinds(store, title=f"Edition {k}") for k in (1, 2))
    with writing(store) as connection:
        delete_survey(connection, first)
    third = publish_kinds(store, title="Edition 3")
    with reading(store) as connection:
        lines = read_lines(connection)
        assert read_source(connection, third.id) == "the file"
    assert [(line.id, line.version) for line in lines] == [(third.id, 3), (second.id, 2)]


def test_a_line_tells_what_is_released_and_nothing_in_between(store, publish_kinds, let_answer):
    manifest = publish_kinds(store)

    def line():
        with reading(store) as connection:
            (found,) = read_lines(connection)
        return found

    empty = line()
    assert (empty.title, empty.study, empty.mode, empty.batch) == ("All kinds", "kinds", "code", 10)
    assert (empty.is_open, empty.closed_day, empty.n, empty.releases) == (True, None, 0, 0)
    let_answer(store, manifest, 19)
    assert line() == empty
    let_answer(store, manifest, 1)
    assert (line().n, line().releases) == (10, 1)
    let_answer(store, manifest, 30)
    assert (line().n, line().releases) == (40, 2)


def test_closing_releases_all_and_forgets_the_codes(store, publish_kinds, let_answer, monkeypatch):
    monkeypatch.setattr(surveys, "today", lambda: "2026-01-30")
    manifest = publish_kinds(store)
    let_answer(store, manifest, 27)
    with writing(store) as connection:
        add_codes(connection, manifest.id, [bytes([k]) * 32 for k in range(5)])
    monkeypatch.setattr(surveys, "today", lambda: "2026-01-31")
    assert close(store, manifest)
    with reading(store) as connection:
        released = read_released(connection, manifest.id)
        (line,) = read_lines(connection)
    assert released.n == 27
    assert [sum(counter.values()) for counter in released.rows] == [27, 27, 27]
    assert not line.is_open
    assert (line.opened_day, line.closed_day) == ("2026-01-30", "2026-01-31")
    assert released.key is not None
    left = rows(store)
    assert left.keys() == {"study", "survey", "spent", "tally", "framing", "release"}
    assert left["spent"] == 27


def test_closing_with_less_than_a_batch_deletes_the_answers(store, publish_kinds, let_answer):
    manifest = publish_kinds(store)
    let_answer(store, manifest, 9)
    close(store, manifest)
    with reading(store) as connection:
        assert read_released(connection, manifest.id).n == 0
    assert rows(store).keys() == {"study", "survey", "spent"}


def test_closing_twice_is_closing_once(store, publish_kinds, let_answer):
    manifest = publish_kinds(store)
    let_answer(store, manifest, 20)
    assert close(store, manifest, last=False) is None
    with reading(store) as connection:
        before = read_lines(connection)
        assert not read_key(connection, "kinds")[1]
    assert close(store, manifest)
    with reading(store) as connection:
        assert read_lines(connection) == before
        assert read_key(connection, "kinds")[1]


def test_the_key_waits_for_the_last_open_survey_of_the_study(store, publish_kinds):
    first, second = (publish_kinds(store, title=f"Wave {k}") for k in (1, 2))
    assert not close(store, first)
    assert close(store, second)


def test_two_that_close_at_once_reveal_the_key(store, publish_kinds):
    """Were neither to wait for the other, both would see the other open."""
    waves = [publish_kinds(store, title=f"Wave {k}") for k in range(4)]
    started = [threading.Thread(target=close, args=(store, wave)) for wave in waves]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(100)
    with reading(store) as connection:
        assert read_key(connection, "kinds")[1]


def test_deleting_leaves_nothing_and_others_alone(store, publish_kinds, let_answer):
    manifest, other = publish_kinds(store), publish_kinds(store, title="Other", study="other", mode="open")
    let_answer(store, other, 35)
    alone = rows(store)
    let_answer(store, manifest, 35)
    with writing(store) as connection:
        add_codes(connection, manifest.id, [b"c" * 32])
        assert lock_survey(connection, manifest.id)
        delete_survey(connection, manifest)
        assert lock_survey(connection, manifest.id) is None
    erase(store)
    assert rows(store) == {**alone, "study": 1, "survey": 1}


def test_what_is_deleted_is_in_no_file(tmp_path, sqlite_url, publish_kinds, let_answer):
    engine = open_store(sqlite_url)
    manifest = publish_kinds(engine)
    let_answer(engine, manifest, 200)
    with writing(engine) as connection:
        add_codes(connection, manifest.id, [bytes([k]) * 32 for k in range(200)])
    with reading(engine) as connection:
        key = read_key(connection, "kinds")[0]
        marks = connection.scalars(select(metadata.tables["spent"].c.mark)).all()
    clues = [manifest.id.encode(), manifest.text[:200], key, b"All kinds", *map(bytes, marks)]

    def found():
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        return sum(clue in held for clue in clues)

    assert found() == len(clues)
    with writing(engine) as connection:
        delete_survey(connection, manifest)
    erase(engine)
    assert found() == 0
    engine.dispose()
    assert found() == 0


def test_used_codes_are_not_let_in_again(store, publish_kinds, let_answer):
    manifest = publish_kinds(store)
    let_answer(store, manifest, 15)
    marks = metadata.tables["arrived"].c.mark
    with writing(store) as connection:
        used = [bytes(mark) for mark in connection.scalars(select(marks))]
        assert len(used) == 15
        add_codes(connection, manifest.id, [*used, b"n" * 32, b"n" * 32])
        add_codes(connection, manifest.id, [b"n" * 32])
        assert connection.scalars(select(metadata.tables["code"].c.mark)).all() == [b"n" * 32]


def test_codes_lie_in_the_order_of_their_hashes(store, publish_kinds):
    """On PostgreSQL rows lie in the order they came: that must not be the order of the links."""
    manifest = publish_kinds(store)
    with writing(store) as connection:
        add_codes(connection, manifest.id, [bytes([k * 37 % 256]) * 32 for k in range(256)])
        found = [bytes(mark) for mark in connection.scalars(select(metadata.tables["code"].c.mark))]
    assert found == sorted(found)
    assert len(found) == 256
