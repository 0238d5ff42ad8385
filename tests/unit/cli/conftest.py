"""Shared by the tests of the command line."""

import json

import pytest
from click.testing import CliRunner
from shell_words import python_in

from subsetprivacy.cli.main import main


@pytest.fixture(autouse=True)
def no_python(monkeypatch):
    """Check that whatever a test makes a command print is in the words of the shell."""
    spoken = []
    invoke = CliRunner.invoke

    def listening(self, *arguments, **settings):
        result = invoke(self, *arguments, **settings)
        printed = result.stdout_bytes.decode(errors="replace")
        # A report shows how to repeat it in Python, and the document of findings is the library's to the byte.
        if not printed.startswith("<!") and '"format": "subsetprivacy.findings"' not in printed:
            spoken.extend(python_in(printed))
        spoken.extend(python_in(result.stderr))
        return result

    monkeypatch.setattr(CliRunner, "invoke", listening)
    yield
    assert not spoken, "a command that speaks Python"


@pytest.fixture
def run():
    """Run a command in this process."""

    def run_command(*arguments):
        return CliRunner().invoke(main, [str(argument) for argument in arguments])

    return run_command


@pytest.fixture
def fine(run):
    """Run a command that must succeed, and return what it prints."""

    def run_command(*arguments):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    return run_command


@pytest.fixture
def refused(run):
    """Run a command that must fail with the exit code 1 and one line, and return the line."""

    def run_command(*arguments):
        result = run(*arguments)
        assert result.exit_code == 1, result.output
        assert isinstance(result.exception, SystemExit), result.exception
        assert result.stdout == ""
        lines = [line for line in result.stderr.splitlines() if not line.startswith("Warning: ")]
        assert len(lines) == 1, lines
        assert lines[0].startswith("Error: ")
        return lines[0]

    return run_command


@pytest.fixture
def misused(run):
    """Run a command that must fail with the exit code 2, and return what it says."""

    def run_command(*arguments):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        return result.stderr

    return run_command


@pytest.fixture
def told(run):
    """Run a command as a script does, and return its exit code and what standard error has, a JSON object a line."""

    def run_command(*arguments):
        result = run(*arguments, "--json")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        said = [json.loads(line) for line in result.stderr.splitlines()]
        for facts in said:
            assert list(facts) == ["kind", "message", "advice"]
            assert isinstance(facts["kind"], str)
            assert isinstance(facts["message"], str)
            assert facts["message"]
            assert facts["advice"] is None or facts["advice"]
        return result.exit_code, said

    return run_command
