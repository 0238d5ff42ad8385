"""A store is looked through for what must agree, and copied without what is not released."""

import os
import re
import sqlite3
import stat
from hashlib import sha256

import pytest
from sqlalchemy import delete, func, insert, select, text, update

from subsetprivacy.collect.service.respondents import Respondent, answer_all
from subsetprivacy.collect.storage.backups import backup, check, sqlite_address
from subsetprivacy.collect.storage.migrating import VERSION_TABLE
from subsetprivacy.collect.storage.opening import StoreError, open_store, reading, writing
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.storage.schema import metadata
from subsetprivacy.collect.storage.surveys import add_codes, close_survey
from subsetprivacy.collect.survey import coin

TABLES = metadata.tables


@pytest.fixture
def answered(store, publish_kinds, let_answer):
    """A store with a survey of 34 answers in code mode: three batches and a bit, two of them released."""
    manifest = publish_kinds(store)
    let_answer(store, manifest, 31)
    let_answer(store, manifest, 3)
    with writing(store) as connection:
        add_codes(connection, manifest.id, [b"unused" + bytes(26)])
    return store, manifest


_BUILT = {}


@pytest.fixture
def whole(sqlite_url, tmp_path, publish_kinds, let_answer):
    """The same on SQLite, built once and copied."""
    path = tmp_path / "store.db"
    if "file" not in _BUILT:
        engine = open_store(sqlite_url)
        _BUILT["manifest"] = publish_kinds(engine)
        let_answer(engine, _BUILT["manifest"], 31)
        let_answer(engine, _BUILT["manifest"], 3)
        engine.dispose()
        _BUILT["file"] = path.read_bytes()
    path.write_bytes(_BUILT["file"])
    engine = open_store(sqlite_url)
    yield engine, _BUILT["manifest"]
    engine.dispose()


def everything(engine):
    with reading(engine) as connection:
        return {name: sorted(tuple(row) for row in connection.execute(select(t))) for name, t in TABLES.items()}


# Checking -----------------------------------------------------------------------------------------


def test_a_whole_store_has_nothing_wrong(answered, publish_kinds, let_answer):
    engine, manifest = answered
    assert check(engine) == []
    other = publish_kinds(engine, mode="open", study="other")
    let_answer(engine, other, 9)
    assert check(engine) == []
    with writing(engine) as connection:
        close_survey(connection, manifest)
        close_survey(connection, other)
    assert check(engine) == []


def damage(name, change, message):
    return pytest.param(change, message, id=name)


def a_row(table):
    keys = list(TABLES[table].primary_key.columns)
    return lambda row: [column == row._mapping[column.name] for column in keys]


def change_one(table, **values):
    """Change one row of a table: the first."""

    def change(connection):
        row = connection.execute(select(TABLES[table]).limit(1)).one()
        made = {name: value(row._mapping[name]) for name, value in values.items()}
        assert connection.execute(update(TABLES[table]).where(*a_row(table)(row)).values(**made)).rowcount == 1

    return change


def remove_one(table):
    def change(connection):
        row = connection.execute(select(TABLES[table]).limit(1)).one()
        assert connection.execute(delete(TABLES[table]).where(*a_row(table)(row))).rowcount == 1

    return change


def copy_mark(source, target):
    def change(connection):
        row = connection.execute(select(TABLES[source].c.survey, TABLES[source].c.mark).limit(1)).one()
        connection.execute(insert(TABLES[target]).values(survey=row.survey, mark=row.mark))

    return change


def forge(connection):
    """Change a counter of a release and its own hash, as somebody would who does not know of the chain."""
    change_one("tally", n=lambda n: n + 1)(connection)
    change_one("release", tally_sha256=lambda _: sha256(b"other").hexdigest())(connection)


def lock_by_half(connection):
    survey_id = connection.scalar(select(TABLES["survey"].c.id).limit(1))
    connection.execute(insert(TABLES["code"]).values(survey=survey_id, mark=b"H" * 32, commitment=bytes(32)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        damage("a released counter", change_one("tally", n=lambda n: n + 1), "the last release does not match"),
        damage("a released framing", change_one("framing", n=lambda n: n + 1), "the last release does not match"),
        damage("a release forged", forge, "the seal of release 1 does not match"),
        damage("a release renumbered", change_one("release", n=lambda n: n + 1), "seal of release 1 does not match"),
        damage("a release gone", remove_one("release"), "different number of people than the releases|seal of release"),
        damage("a pending counter", change_one("pending", n=lambda n: n + 1), "pending counters of its groups"),
        damage("a pending framing", remove_one("pending_framing"), "pending counters of how questions"),
        damage("a negative counter", change_one("pending", n=lambda n: -n), "do not match the survey's variables"),
        damage("a row of another length", change_one("tally", row=lambda row: row[:-1]), "do not match the survey's"),
        damage("the filling batch", change_one("survey", filled=lambda n: n + 1), "its batches do not contain"),
        damage("a ticket gone", remove_one("spent"), "more people are counted than tickets were used"),
        damage("a code of the counted", copy_mark("spent", "code"), "in code and in spent"),
        damage("a code of the new", copy_mark("arrived", "code"), "in code and in arrived"),
        damage("a ticket twice", copy_mark("spent", "arrived"), "in arrived and in spent"),
        damage("half a lock", lock_by_half, "some codes are locked by half"),
        damage("a text changed", change_one("survey", manifest=lambda m: m.replace(b"colour?", b"flavour")), "changed"),
        damage("no manifest", change_one("survey", manifest=lambda m: b"{"), "its manifest cannot be read"),
        damage("closed too early", change_one("survey", open=lambda _: False), "closed, and answers are still pending"),
    ],
)
def test_damage_is_found(whole, change, message):
    engine, manifest = whole
    with writing(engine) as connection:
        change(connection)
    found = [one for one in check(engine) if re.search(message, one.message)]
    assert found
    assert {(one.place, one.is_error) for one in found} == {(f"survey {manifest.id}", True)}


def test_damage_is_found_on_both(answered):
    engine, _ = answered
    with writing(engine) as connection:
        forge(connection)
        copy_mark("spent", "arrived")(connection)
        change_one("pending", n=lambda n: n + 1)(connection)
    found = " / ".join(one.message for one in check(engine))
    for message in ("the seal of release 1", "in arrived and in spent", "pending counters of its groups"):
        assert message in found


def test_a_schema_of_another_revision_is_found(store):
    with writing(store) as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '0000'"))
    assert [one.message for one in check(store)] == ["its schema is 0000, not 0001"]


def test_a_damaged_file_is_found(tmp_path, whole):
    engine, _ = whole
    with reading(engine) as connection:
        mark = bytes(connection.scalar(select(TABLES["spent"].c.mark)))
    engine.dispose()
    path = tmp_path / "store.db"
    held = bytearray(path.read_bytes())
    page = held.index(mark) // 4096 * 4096
    held[page + 3 : page + 40] = b"\xff" * 37  # the head of the page, where its cells are listed
    path.write_bytes(held)
    assert any(one.place == "database" and one.is_error for one in check(engine))
    engine.dispose()


def test_orphans_are_found(whole):
    engine, _ = whole
    with writing(engine) as connection:
        connection.execute(insert(TABLES["spent"]).values(survey="nothing", mark=bytes(32)))
    assert [(one.place, one.message) for one in check(engine)] == [("database", "1 rows of spent belong to no survey")]


# Backups ------------------------------------------------------------------------------------------


@pytest.fixture
def copied(answered, tmp_path):
    """Return a function that backs up the store and opens the copy."""
    opened = []

    def copy(**options):
        target = tmp_path / f"copy-{len(opened)} ä?#%.db"
        backup(answered[0], target, **options)
        opened.append(open_store(sqlite_address(target)))
        return opened[-1], target

    yield copy
    for engine in opened:
        engine.dispose()


def test_a_backup_gives_the_same_released_results(answered, copied):
    engine, manifest = answered
    copy, _ = copied()
    with reading(engine) as connection, reading(copy) as other:
        before, after = read_released(connection, manifest.id), read_released(other, manifest.id)
    assert after.manifest.text == before.manifest.text
    assert (after.releases, after.rows, after.framings, after.n) == (before.releases, before.rows, before.framings, 20)
    assert [one for one in check(copy) if one.is_error] == []


def test_a_backup_has_nothing_that_is_not_released(answered, copied):
    engine, manifest = answered
    with writing(engine) as connection:
        connection.execute(insert(TABLES["account"]).values(name="somebody", password="hash", role="owner"))
        connection.execute(insert(TABLES["session"]).values(mark=b"s" * 32, account="somebody", last_day="2026-01-01"))
        wish = {"commitment": b"C" * 32, "wrapped": b"W" * 32}
        connection.execute(insert(TABLES["code"]).values(survey=manifest.id, mark=b"L" * 32, **wish))
        # What is pending, in a form of its own that a search finds.
        told = connection.execute(select(TABLES["pending"]).where(TABLES["pending"].c.grp == 1)).first()
        row = {**told._mapping, "row": b"PENDING", "n": 1}
        connection.execute(insert(TABLES["pending"]).values(**row))
    held = everything(engine)
    copy, path = copied()
    kept = everything(copy)
    assert {name for name in held if held[name] and not kept[name]} == {
        "pending", "pending_framing", "arrived", "session",
    }  # fmt: skip
    content = path.read_bytes()
    assert b"PENDING" not in content
    for secret in (b"s" * 32, b"C" * 32, b"W" * 32):
        assert secret not in content
    assert kept["account"] == held["account"]


def test_codes_since_the_last_release_work_again_in_a_backup(answered, copied, let_answer):
    engine, manifest = answered
    held = everything(engine)
    copy, _ = copied()
    kept = everything(copy)
    assert {mark for _, mark, *_ in kept["code"]} == {mark for _, mark, *_ in held["code"] + held["arrived"]}
    assert len(held["arrived"]) == 3
    assert kept["spent"] == held["spent"]
    (state,) = kept["survey"]
    named = dict(zip(TABLES["survey"].c.keys(), state))
    assert (named["filling"], named["filled"], named["released"]) == (3, 0, 2)
    let_answer(copy, manifest, 20)
    with reading(copy) as connection:
        assert [release.n for release in read_released(connection, manifest.id).releases] == [20, 10]
    notes = check(copy)
    assert [(one.is_error, one.message.split(",")[0]) for one in notes] == [
        (False, "some tickets were used but their answers are missing")
    ]


def test_a_used_code_is_counted_again_in_a_backup_only(store, publish_kinds, tmp_path):
    manifest = publish_kinds(store)
    ticket = os.urandom(10)
    with writing(store) as connection:
        add_codes(connection, manifest.id, [coin.ticket_mark(manifest.id, ticket)])
    person = Respondent(dict.fromkeys(("colour", "day", "smokes", "size"), 0), code=coin.code_text(ticket, bytes(10)))
    assert answer_all(store, manifest, [person]) == {"counted": 1}
    assert answer_all(store, manifest, [person]) == {"already counted": 1}
    backup(store, tmp_path / "copy.db")
    copy = open_store(sqlite_address(tmp_path / "copy.db"))
    assert answer_all(copy, manifest, [person]) == {"counted": 1}
    copy.dispose()


def test_a_backup_of_everything_has_all_but_sessions(answered, copied):
    engine, _ = answered
    with writing(engine) as connection:
        connection.execute(insert(TABLES["account"]).values(name="somebody", password="hash", role="owner"))
        connection.execute(insert(TABLES["session"]).values(mark=b"s" * 32, account="somebody", last_day="2026-01-01"))
    copy, path = copied(everything=True)
    assert everything(copy) == {**everything(engine), "session": []}
    assert check(copy) == []
    assert b"s" * 32 not in path.read_bytes()


def test_a_backup_is_one_file_for_its_owner(answered, copied, tmp_path):
    copy, path = copied()
    copy.dispose()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir() if "copy" in one.name] == [path.name]
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_backup_replaces_nothing(store, tmp_path):
    target = tmp_path / "kept.db"
    target.write_text("precious")
    with pytest.raises(StoreError, match=r"a backup must be a new file; .*kept\.db exists. Hint: name another"):
        backup(store, target)
    assert target.read_text() == "precious"
    with pytest.raises(StoreError):
        backup(store, tmp_path / "nowhere" / "copy.db")


def test_a_backup_that_fails_leaves_nothing(answered, tmp_path, monkeypatch):
    from subsetprivacy.collect.storage import backups

    def full(*arguments, **chosen):
        raise OSError(28, "No space left on device")

    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(backups, "_copy_rows", full)
    with pytest.raises(OSError, match="No space"):
        backup(answered[0], tmp_path / "copy.db")
    assert sorted(tmp_path.iterdir()) == before


def test_a_backup_sees_one_state_while_people_answer(answered, tmp_path, let_answer, monkeypatch):
    """Answers that come while it copies are in none of the tables, or the counts would not agree."""
    from subsetprivacy.collect.storage import backups

    engine, manifest = answered
    copy_rows, people = backups._copy_rows, []

    def interrupted(source, copy, table, *more, **chosen):
        if table.name == "arrived":
            people.extend(let_answer(engine, manifest, 5))
        copy_rows(source, copy, table, *more, **chosen)

    monkeypatch.setattr(backups, "_copy_rows", interrupted)
    backup(engine, tmp_path / "copy.db", everything=True)
    copy = open_store(sqlite_address(tmp_path / "copy.db"))
    assert len(people) == 5
    assert check(copy) == []
    with reading(copy) as connection:
        assert connection.scalar(select(func.count()).select_from(TABLES["arrived"])) == 3
    copy.dispose()
