"""What a user's type checker says: nothing about a script that is right, and each mistake where it is."""

import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

USERS = Path(__file__).parent / "users"
CACHE = Path(__file__).parents[2] / ".mypy_cache" / "users"
RIGHT, WRONG = USERS / "script.py", USERS / "typos.py"
EXPECTED = re.compile(r"  # ([a-z-]+): (.+)$")
FOUND = re.compile(r"^(?P<file>[^:]+\.py):(?P<line>\d+): error: (?P<text>.+)  \[(?P<code>[a-z-]+)\]$")


def errors_of_mypy():
    """Return mypy's errors as (file, line, code, message), of one run; its cache makes the next quick."""
    command = [sys.executable, "-m", "mypy", "--config-file=mypy.ini", f"--cache-dir={CACHE}", RIGHT.name, WRONG.name]
    run = subprocess.run(command, cwd=USERS, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr  # 2 is a failure of mypy itself
    matches = [match for line in run.stdout.splitlines() if (match := FOUND.match(line))]
    return [(match["file"], int(match["line"]), match["code"], match["text"]) for match in matches]


def test_a_right_script_passes_and_each_mistake_is_found_for_its_own_reason(need):
    need("mypy", find_spec("mypy") is not None, "pip install mypy")
    lines = WRONG.read_text(encoding="utf-8").splitlines()
    expected = {number: match.groups() for number, line in enumerate(lines, 1) if (match := EXPECTED.search(line))}
    assert len(expected) >= 10

    errors = errors_of_mypy()
    assert [error for error in errors if error[0] == RIGHT.name] == []
    assert {line for _, line, _, _ in errors} == set(expected)  # and no line is refused for the mistake of another
    for number, (code, words) in expected.items():
        said = [(kind, text) for _, line, kind, text in errors if line == number]
        assert any(kind == code and words in text for kind, text in said), (number, said)


def test_the_right_script_runs(capsys):
    runpy.run_path(str(RIGHT))
    assert "must be one of the design's categories" in capsys.readouterr().out
