"""The pages about the collection service: the tests they name exist, the commands they show run."""

import json
import re
import shlex
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from pages import DOCS, ROOT, SITE, blocks, text
from test_documentation import parse

from subsetprivacy.cli.main import main

OPERATING = DOCS / "how-to" / "operate-a-server.md"
PROMISES = DOCS / "explanation" / "what-the-service-promises.md"
PROTOCOL = DOCS / "reference" / "collection-protocol.md"
NEEDS_A_MACHINE = {"systemctl", "journalctl", "sudo", "export", "python3", "/opt/subsetprivacy/bin/pip", "ln", "grep"}


# Tests that pages name ----------------------------------------------------------------------------


def named_files(page):
    """Return the files of tests that a page names: "tests/…/test_x.py", or "web/test_x" of those of the service."""
    written = re.findall(r"`(tests/[\w/.-]+)`", text(page))
    short = re.findall(r"`((?:\w+/)?test_\w+)`", text(page)) if page == PROMISES else []
    return [ROOT / name for name in written] + [ROOT / "tests" / "collect" / f"{name}.py" for name in short]


@pytest.mark.parametrize(
    ("page", "least"), [(PROMISES, 40), (DOCS / "reliability.md", 10)], ids=["promises", "reliability"]
)
def test_the_tests_behind_the_service_exist(page, least):
    assert len(named_files(page)) >= least
    assert [path for path in named_files(page) if not path.exists()] == []


def test_files_of_tests_that_any_page_names_exist():
    assert [path for page in SITE for path in named_files(page) if not path.exists()] == []


def test_every_threat_names_tests_or_says_that_there_are_none():
    rows = [line.strip("| ").split(" | ") for line in text(PROMISES).splitlines() if re.match(r"\| T\d+ \|", line)]
    assert [row[0] for row in rows] == [f"T{k}" for k in range(1, len(rows) + 1)]
    assert len(rows) == 26
    assert [row[0] for row in rows if "`" not in row[3]] == ["T14"]


# Commands -----------------------------------------------------------------------------------------


@pytest.fixture
def machine(tmp_path):
    """Two folders in the place of a machine's, with a database."""
    from subsetprivacy.collect.service import publishing
    from subsetprivacy.collect.storage.backups import sqlite_address
    from subsetprivacy.collect.storage.opening import open_store
    from subsetprivacy.collect.survey.bundled_files import example_text

    for name in ("state", "safe"):
        (tmp_path / name).mkdir()
    store = open_store(sqlite_address(tmp_path / "state" / "surveys.db"))
    publishing.publish(store, publishing.save_draft(store, example_text("toml"), "toml").id)
    store.dispose()

    def run(line):
        """Run a line of a shell and return its exit code and what it said, our own command in this process."""
        moved = line.replace("/var/lib/subsetprivacy", str(tmp_path / "state")).replace("/safe", str(tmp_path / "safe"))
        if not moved.startswith("subsetprivacy "):
            done = subprocess.run(moved, shell=True, capture_output=True, text=True)
            return done.returncode, done.stderr
        result = CliRunner().invoke(main, shlex.split(moved)[1:])
        return result.exit_code, result.output

    return run


def test_the_commands_of_an_operator_run(machine):
    lines = [line for block in blocks(OPERATING, "sh") for line in block.splitlines()]
    ran = []
    for line in lines:
        words = shlex.split(line)
        if words[:2] == ["subsetprivacy", "serve"]:
            parse(words)
        elif words[0] not in NEEDS_A_MACHINE:
            code, told = machine(line)
            assert code == 0, f"{line}\n{told}"
            ran.append(line)
    assert sum(line.startswith("subsetprivacy db") for line in ran) >= 5
    assert any(line.startswith("mv ") for line in ran)  # the steps back to a backup


def test_the_unit_starts_the_service():
    (unit,) = blocks(OPERATING, "ini")
    command = shlex.split(re.search(r"^ExecStart=(.+)$", unit, re.MULTILINE)[1])
    parse(["subsetprivacy", *command[1:]])
    (start,) = [line for block in blocks(OPERATING, "console") for line in block.splitlines() if " serve " in line]
    assert set(command[1:]) <= set(shlex.split(start))


# Limits ---------------------------------------------------------------------------------------------


def test_limits_that_pages_state_are_those_of_the_server():
    from subsetprivacy.collect.survey.submission import MOST_BYTES
    from subsetprivacy.collect.web import connections, logs, password_hashing, security, serving, studio_context

    crowd, kb, mb = connections.ConnectionLimits(), 1024, 1024 * 1024
    stated = {
        OPERATING: [
            f"| connections | {serving._MOST_CONNECTIONS:,}, or",
            f"| unread replies | {connections.SOCKET_BYTES // kb} KB per connection, "
            f"on {crowd.most_stalled} connections | the server closes a connection on which nothing is read for "
            f"{connections.WRITE_SECONDS:.0f} seconds",
            f"| incomplete requests | {connections.HEAD_SECONDS:.0f} seconds | status 408 |",
            f"| unanswered requests | {crowd.most_bytes // mb} MB in total, "
            f"where each header line counts {connections._LINE_BYTES} bytes more than its length",
            f"| request headers | {connections.HEAD_BYTES // kb} KB and {connections.MOST_LINES} lines | status 431 |",
            f"| requests sent ahead of a reply | {connections.MOST_PIPELINED} per connection |",
            f"| request bodies | {security._SMALL_BYTES // kb} KB from anyone, {security._LARGE_BYTES // mb} MB from "
            f"people who are signed in and from programs with a token | status 413 |",
            f"| large request bodies | {security.MOST_LARGE} at a time | status 503 |",
            f"| parts of a request body | {connections.MOST_PARTS}, and one more for every {connections._PART_BYTES} "
            f"bytes |",
            f"| work in the {{term}}`studio` | {studio_context.MOST_AT_ONCE} requests about drafts and surveys "
            f"at a time",
            f"{password_hashing.MOST_STRANGERS} strangers wait, up to {password_hashing.LONGEST_WAIT:.0f} seconds",
            f"It writes at most {logs.LINES_A_MINUTE} lines a minute of one kind",
        ],
        PROTOCOL: [
            f"at most {MOST_BYTES:,} bytes (413) and arrive within {security.READ_SECONDS:.0f} seconds (408)",
            f"must also arrive within {connections.HEAD_SECONDS:.0f} seconds. It has at most "
            f"{connections.HEAD_BYTES:,} bytes and {connections.MOST_LINES} lines (431)",
            f"reads nothing for {connections.WRITE_SECONDS:.0f} seconds",
            f"sends more than {connections.MOST_PIPELINED} requests ahead of a reply",
        ],
    }
    for page, sentences in stated.items():
        written = " ".join(text(page).split())
        assert [sentence for sentence in sentences if sentence not in written] == [], page.name


# What the reference says of the exit codes and the JSON of the commands ------------------------------


def test_exit_codes_and_keys_of_the_checks(machine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.toml").write_text('title = "T"\n', encoding="utf-8")
    reference = text(DOCS / "reference" / "command-line.md")
    rows = dict(re.findall(r"^\| `(survey check|db check)` \| (.+) \|$", reference, re.MULTILINE))
    named = {command: set(re.findall(r"`(\w+)`", cell)) for command, cell in rows.items()}
    assert machine("subsetprivacy survey example -o good.toml")[0] == 0
    assert machine("subsetprivacy survey check good.toml")[0] == 0
    assert machine("subsetprivacy survey convert bad.toml -o bad.yaml")[0] == 1
    result = CliRunner().invoke(main, ["survey", "check", "good.toml", "bad.toml", "--json"])
    assert result.exit_code == 1
    held = json.loads(result.stdout)
    assert set().union(*held.values(), held["bad.toml"]["problems"][0]) == named["survey check"]

    database = Path("state", "surveys.db")
    assert machine(f"subsetprivacy db check --db {database}")[0] == 0
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE survey SET filled = 7")
        connection.commit()
    result = CliRunner().invoke(main, ["db", "check", "--db", str(database), "--json"])
    assert result.exit_code == 1
    assert set().union(*json.loads(result.stdout)) == named["db check"]
