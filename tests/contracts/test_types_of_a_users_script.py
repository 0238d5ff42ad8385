"""What a user's type checker says: nothing about a script that is right, and each mistake where it is."""

import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

USERS = Path(__file__).parent / "users"
CACHE = Path(__file__).parents[2] / ".mypy_cache" / "users"
RIGHT, WRONG = USERS / "script.py", USERS / "typos.py"
EXPECTED = re.compile(r"  # ([a-z-]+): (.+)$")
FOUND = re.compile(r"^(?P<file>[^:]+\.py):(?P<line>\d+): error: (?P<text>.+)  \[(?P<code>[a-z-]+)\]$")


@pytest.fixture(scope="module")
def said():
    """Return mypy's errors by file: line, code and message. One run for all; its cache makes the next one quick."""
    if find_spec("mypy") is None:
        pytest.skip("absent: mypy (to get it: pip install mypy)")
    command = [sys.executable, "-m", "mypy", "--config-file=mypy.ini", f"--cache-dir={CACHE}", RIGHT.name, WRONG.name]
    run = subprocess.run(command, cwd=USERS, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr  # 2 is a failure of mypy itself
    errors = {RIGHT.name: [], WRONG.name: []}
    for line in run.stdout.splitlines():
        if match := FOUND.match(line):
            errors[match["file"]].append((int(match["line"]), match["code"], match["text"]))
    return errors


def test_a_right_script_passes(said):
    assert said[RIGHT.name] == []


def test_each_mistake_is_found_for_its_own_reason(said):
    lines = WRONG.read_text(encoding="utf-8").splitlines()
    expected = {number: match for number, line in enumerate(lines, 1) if (match := EXPECTED.search(line))}
    found = {number: [(code, text) for line, code, text in said[WRONG.name] if line == number] for number in expected}
    assert {line for line, _, _ in said[WRONG.name]} == set(expected)  # and no line is refused for another's mistake
    for number, (code, words) in ((number, match.groups()) for number, match in expected.items()):
        assert any(code == kind and words in text for kind, text in found[number]), (number, found[number])


def test_the_right_script_runs(capsys):
    runpy.run_path(str(RIGHT))
    assert "got 1 that is not" in capsys.readouterr().out
