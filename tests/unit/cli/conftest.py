"""Shared by the tests of the command line."""

import pytest
from click.testing import CliRunner

from subsetprivacy.cli.main import main


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
