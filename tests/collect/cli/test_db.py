"""`db check`, `db backup` and `db upgrade`: what they print, and what they leave alone."""

import json
import sqlite3
import sys

import pytest
from click.testing import CliRunner

from subsetprivacy.cli.db import describe_database, sqlite_file
from subsetprivacy.cli.main import main
from subsetprivacy.collect.storage.migrating import VERSION_TABLE
from subsetprivacy.collect.storage.opening import open_store, reading
from subsetprivacy.collect.storage.released import read_released


def run(*arguments, **options):
    return CliRunner().invoke(main, ["db", *map(str, arguments)], **options)


def error_of(result):
    assert result.exit_code == 1, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line


@pytest.fixture
def answered(store_url, publish_kinds, let_answer):
    """The address of a store with a survey and answers to it, and the id."""
    engine = open_store(store_url)
    manifest = publish_kinds(engine)
    let_answer(engine, manifest, 33)
    engine.dispose()
    return store_url, manifest.id


@pytest.fixture
def path(sqlite_url, tmp_path):
    return tmp_path / "store.db"


def test_check_of_a_whole_database(answered):
    url, _ = answered
    result = run("check", "--db", url)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{describe_database(url)} is intact.\n"
    assert json.loads(run("check", "--db", url, "--json").stdout) == []


def test_check_takes_a_file_or_its_address_or_the_environment(path, tmp_path):
    for arguments, options in [
        (["--db", path], {}),
        (["--db", f"sqlite:///{path}"], {}),
        ([], {"env": {"SUBSETPRIVACY_DB": str(path)}}),
    ]:
        result = run("check", *arguments, **options)
        assert (result.exit_code, result.stdout) == (0, f"{path} is intact.\n")


def test_check_finds_what_is_wrong(path):
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0000'")
    connection.close()
    result = run("check", "--db", path)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "Error: database: its schema is 0000, not 0001.\n"
    (found,) = json.loads(run("check", "--db", path, "--json").stdout)
    assert found == {"place": "database", "message": "its schema is 0000, not 0001", "error": True}


def test_backup_is_served_like_the_original(answered, tmp_path):
    url, survey_id = answered
    target = tmp_path / "copy of it.db"
    result = run("backup", target, "--db", url)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"Wrote {target} (released data only).\n"
    first, second = open_store(url), open_store(f"sqlite:///{target}")
    with reading(first) as connection, reading(second) as other:
        assert read_released(other, survey_id).rows == read_released(connection, survey_id).rows
    first.dispose()
    second.dispose()
    noted = run("check", "--db", target)
    assert noted.exit_code == 0
    assert noted.stdout.startswith(f"Note: survey {survey_id}: some tickets were used but their answers are missing")


def test_backup_of_everything(path, tmp_path):
    assert "(everything)" in run("backup", tmp_path / "all.db", "--all", "--db", path).stdout
    assert run("check", "--db", tmp_path / "all.db").stdout.endswith("is intact.\n")


def test_upgrade_says_what_it_did(path):
    assert run("upgrade", "--db", path).stdout == f"{path} is already at schema 0001.\n"


@pytest.mark.parametrize("command", [["check"], ["backup", "x.db"], ["upgrade"]], ids=lambda words: words[0])
def test_nothing_is_made_where_nothing_is(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = error_of(run(*command, "--db", "no.db"))
    assert "--db must be a database of surveys; no.db does not exist. Hint: subsetprivacy serve creates one." in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["check"], ["backup", "x.db"], ["upgrade"]], ids=lambda words: words[0])
def test_what_is_not_ours_is_left_alone(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letter.db").write_text("Dear reader, " * 100)
    assert "file is not a database" in error_of(run(*command, "--db", "letter.db"))
    assert [one.name for one in tmp_path.iterdir()] == ["letter.db"]


def test_a_server_that_does_not_answer_is_named_without_secrets():
    line = error_of(run("check", "--db", "postgresql://me:topsecret@127.0.0.1:1/x?password=topsecret"))
    assert "Hint: check that the server runs" in line
    assert "topsecret" not in line


@pytest.mark.parametrize(
    "db",
    [
        "postgresql://me:top@topsecret@127.0.0.1:1/x",
        "postgresql://me:top:secret@topsecret/x",
        "postgresql://me@host:topsecret/x",
        "sqlite://me:topsecret@host/x.db",
        "postgresql://me:topsecret@[::1/x",
        "topsecret://me:topsecret@host/x",
    ],
)
@pytest.mark.parametrize("command", [["check"], ["backup", "x.db"], ["upgrade"]], ids=lambda words: words[0])
def test_an_address_that_cannot_be_read_is_not_quoted(command, db, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*command, "--db", db)
    assert result.exception is None or isinstance(result.exception, SystemExit), "a traceback would quote it"
    assert "topsecret" not in error_of(result)
    assert list(tmp_path.iterdir()) == []


def test_words_with_a_password_are_no_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("check", "--db", "host=localhost password=topsecret")
    assert result.exit_code == 2
    assert "must be a file or a postgresql:// address" in result.stderr
    assert "topsecret" not in result.stderr


def test_an_address_of_another_kind():
    assert "must be a file or a postgresql:// address" in error_of(run("check", "--db", "mysql://x/y"))


def test_without_the_extra(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "alembic", None)
    line = error_of(run("check", "--db", path))
    assert line == 'Error: the survey server needs alembic. Hint: in the clone, pip install ".[serve]".'


@pytest.mark.parametrize(
    ("db", "file", "words"),
    [
        ("a.db", "a.db", "a.db"),
        ("sqlite:///b/c.db", "b/c.db", "b/c.db"),
        ("sqlite:////b%20c.db?timeout=3", "/b c.db", "/b c.db"),
        ("postgresql://me:secret@host:5433/name?password=secret", None, "postgresql://host/name"),
        ("postgresql:///name?host=/run", None, "postgresql:///name"),
        ("postgresql://me:se@cret@host/name", None, "postgresql://host/name"),
        ("postgresql://me:sec?ret@host/name", None, "postgresql://…"),
        ("postgresql://host/name?password=sec@ret", None, "postgresql://…"),
        ("postgresql://me:sécret℀@host:/name", None, "postgresql://host/name"),
    ],
)
def test_how_a_database_is_named(db, file, words):
    assert sqlite_file(db) is None if file is None else str(sqlite_file(db)) == file
    assert describe_database(db) == words
