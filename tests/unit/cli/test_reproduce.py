"""`subsetprivacy reproduce`: the list, a run, going on, failing, bad input."""

import os
import signal
import subprocess
import sys
import time

import pytest
from attrs import evolve
from click.testing import CliRunner

from subsetprivacy.cli.main import main
from subsetprivacy.cli.reproduce import Bar
from subsetprivacy.processes import ONE_THREAD
from subsetprivacy.reproduce import LABELS, toy_example
from subsetprivacy.reproduce.checks import number
from subsetprivacy.reproduce.experiment import ExperimentResult


def run(*arguments):
    return CliRunner().invoke(main, ["reproduce", *map(str, arguments)])


def test_without_a_label_all_are_listed(tmp_path):
    result = run("-o", tmp_path)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[: len(LABELS)]] == list(LABELS)
    assert "holds" not in result.stdout
    assert not list(tmp_path.iterdir())  # listing writes nothing


def test_the_list_says_what_is_done(tmp_path):
    run("toy_example", "-o", tmp_path, "--jobs", 1)
    first = run("-o", tmp_path).stdout.splitlines()[0]
    assert first.endswith("[4 holds, 2 stated]")


def test_a_run_and_its_continuation(tmp_path):
    result = run("toy_example", "-o", tmp_path, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("✓ toy_example")
    assert f"Open {tmp_path / 'index.html'}" in result.stdout
    assert "finished before" in run("toy_example", "-o", tmp_path).stdout
    assert "finished before" not in run("toy_example", "-o", tmp_path, "--again", "--jobs", 1).stdout


def test_times_are_taken_with_one_thread(tmp_path, monkeypatch):
    for name in ONE_THREAD:
        monkeypatch.delenv(name)
    run("unknown", "-o", tmp_path)
    assert {name: os.environ[name] for name in ONE_THREAD} == ONE_THREAD
    # NumPy reads them when it is imported, so the command may not have imported it before.
    program = "import sys, subsetprivacy.cli.reproduce, subsetprivacy.processes; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_claim_that_differs_fails_the_command(tmp_path, monkeypatch):
    def perform(run):
        outcome = toy_example.perform(run)
        return ExperimentResult([*outcome.checks, number("a wrong number", "0.5", 0.61)], outcome.table, outcome.figure)

    monkeypatch.setattr(toy_example, "EXPERIMENT", evolve(toy_example.EXPERIMENT, perform=perform))
    for _ in range(2):  # also when it is not run again
        result = run("toy_example", "-o", tmp_path, "--jobs", 1)
        assert result.exit_code == 1
        assert "toy_example: a wrong number: printed 0.5, obtained 0.6100, tolerance rounding, ± 0.05" in result.stderr
        assert result.stderr.splitlines()[-1] == "Error: 1 failed: toy_example"


def test_an_error_fails_the_command(tmp_path, monkeypatch):
    def perform(run):
        raise RuntimeError("no urn")

    monkeypatch.setattr(toy_example, "EXPERIMENT", evolve(toy_example.EXPERIMENT, perform=perform))
    result = run("toy_example", "-o", tmp_path, "--jobs", 1)
    assert result.exit_code == 1
    assert "ended in an error: RuntimeError: no urn" in result.stdout
    assert "Traceback" in result.stderr  # what was not foreseen has to be found


def test_a_console_without_unicode(tmp_path):
    result = CliRunner(charset="cp1252").invoke(main, ["reproduce", "toy_example", "--jobs", "1", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.stdout_bytes.startswith(b"? toy_example")


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "results").write_text("a file")
    assert run("toy_example", "-o", tmp_path / "results").exit_code == 2  # a usage error
    result = run("toy_example", "-o", tmp_path / "results" / "inside")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")


def test_an_unknown_label(tmp_path):
    result = run("toy_exampel", "-o", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: LABEL must be one of the experiments")
    assert "did you mean toy_example?" in result.stderr


@pytest.mark.parametrize("wrong", [("--jobs", "0"), ("--seed", "-1"), ("--adult", "nowhere.data")])
def test_bad_options_are_usage_errors(wrong, tmp_path):
    assert run("toy_example", "-o", tmp_path, *wrong).exit_code == 2


def test_a_wrong_data_file_is_refused_before_anything_runs(tmp_path):
    wrong = tmp_path / "adult.data"
    wrong.write_text("39, State-gov, 77516\n")
    result = run("toy_example", "-o", tmp_path / "results", "--adult", wrong)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "State-gov" not in result.output
    assert not (tmp_path / "results").exists()


def test_a_stopped_run_goes_on(tmp_path):
    command = [sys.executable, "-m", "subsetprivacy", "reproduce", "toy_example", "tab:consistency", "--jobs", "2"]
    command += ["-o", str(tmp_path)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell lets its background jobs ignore it
    ) as process:
        assert process.stdout.readline().startswith("✓ toy_example")
        time.sleep(0.3)  # well inside the second, which takes a minute
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert errors.strip() == "Stopped. Finished experiments are kept, and the same command continues from there."
    assert (tmp_path / "toy_example.json").exists()
    assert not (tmp_path / "tab_consistency.json").exists()
    assert "finished before" in run("toy_example", "-o", tmp_path).stdout


def test_the_bar_is_for_terminals_only(monkeypatch, capsys):
    bar = Bar("toy_example")
    bar.start(10)
    bar.advance(5)
    bar.close()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar.start(10)
    bar.advance(10)
    bar.close()
    assert "toy_example" in capsys.readouterr().err
