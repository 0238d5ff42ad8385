"""With --json everything on standard error is JSON too, a line each: a script needs no regular expression."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

import subsetprivacy as sp
from subsetprivacy.cli.main import main

DESIGN = sp.uniform(["ash", "birch", "cedar", "elm"])


def commands(group=main, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = [name for name, command in commands() if any("--json" in param.opts for param in command.params)]
OTHERS = [name for name, _ in commands() if name not in COMMANDS]
EVERY = pytest.mark.parametrize("name", COMMANDS)

# For each command, words that it cannot do anything with: (words, class of the error, a part of the message).
WRONG = {
    "plan": ("ash birch cedar elm --margin 2", "ArgumentError", "--margin must be above 0 and at most 0.5"),
    "power response": (
        "tree.json --w .4,.3,.2,.1 --category ash --odds-ratio 0 --target .8",
        "ArgumentError",
        "--odds-ratio must be a ratio above 0",
    ),
    "power predictor": (
        "tree.json --w .4,.3,.2,.1 --category ash --family logit --difference 1 --target .8",
        "ArgumentError",
        "the effect must be given as --odds-ratio",
    ),
    "power means": (
        "tree.json --w .4,.3,.2,.1 --group ash --difference 1 --target .8",
        "ArgumentError",
        "--group must be the two groups",
    ),
    "privatize": (
        "people.csv --column tree=other.json -o new.csv",
        "CategoryError",
        "every value must be one of the design's categories",
    ),
    "count": (
        "private.parquet --column shrub",
        "ArgumentError",
        "private.parquet must have a column of subsets named 'shrub'; it has tree.",
    ),
    "estimate": ("private.parquet --level 95", "ArgumentError", "--level must be between 0 and 1"),
    "compare": (
        "private.parquet other.csv",
        "MismatchError",
        "the samples must have the same categories; private has elm, other does not.",
    ),
    "fit-test": (
        "private.parquet --reference 0.5,0.2,0.1,0.1",
        "DistributionError",
        "--reference must sum to 1; got 0.9.",
    ),
    "loglinear": ("private.parquet saturated", "ArgumentError", "TABLE must have two or more variables; got one."),
    "rake": ("private.parquet margins.json", "DataFileError", "no column shrub"),
    "means": ("private.parquet --of tree", "ArgumentError", "a private column must be --column only; got 'tree'"),
    "regress": (
        "private.parquet tree~shrub",
        "DataFileError",
        "got no column shrub",
    ),
    "evaluate": (
        "private.parquet --proba people.csv",
        "DataFileError",
        "a named column must be in the file 'people.csv'; got no column ash among its 1 column.",
    ),
    "test": (
        "private.parquet tree shrub",
        "ArgumentError",
        "private.parquet must have a column of subsets named 'shrub'; it has tree.",
    ),
    "audit": ("tree.json --w 0.5,0.2,0.1,0.1", "DistributionError", "--w must sum to 1"),
    "check": ("private.parquet --level 95", "ArgumentError", "--level must be between 0 and 1"),
    "design show": ("bad.json", "DesignDocumentError", "bad.json: a design document must be JSON text"),
    "design check": ("bad.json", "DesignDocumentError", "bad.json: a design document must be JSON text"),
    "design compare": ("tree.json bad.json", "DesignDocumentError", "bad.json: a design document must be JSON text"),
    "survey check": ("bad.toml", "SurveyError", "bad.toml:1: "),
    "db check": ("--db absent.db", "StoreError", "--db must be a database of surveys; absent.db does not exist."),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with people, designs, a release, and documents that are none."""
    monkeypatch.chdir(tmp_path)
    trees = ["ash", "elm", "birch", "cedar", "elm"] * 40
    Path("people.csv").write_text("tree\n" + "\n".join(trees) + "\n")
    DESIGN.save("tree.json")
    sp.uniform(["ash", "birch", "cedar", "oak"]).save("other.json")
    Path("margins.json").write_text('{"shrub": {"ash": 0.5, "elm": 0.5}}')
    sp.write_release(sp.privatize(trees, DESIGN, seed=1), "private.parquet", {"tree": DESIGN})
    oaks = sp.uniform(["ash", "birch", "cedar", "oak"])
    sp.write_release(sp.privatize(["ash", "oak"] * 40, oaks, seed=1), "other.csv", {"tree": oaks})
    Path("bad.json").write_text("{")
    Path("bad.toml").write_text("title = 3\n")
    return tmp_path


def test_every_command_with_json_is_tried():
    assert set(WRONG) == set(COMMANDS)


@pytest.mark.usefixtures("folder")
@EVERY
def test_an_error_of_the_library(name, told):
    words, kind, message = WRONG[name]
    code, said = told(*name.split(), *words.split())
    assert code == 1
    assert {facts["kind"] for facts in said} == {kind}
    assert message in said[0]["message"]
    assert "Hint:" not in said[0]["message"]
    assert name == "survey check" or "`" not in said[0]["message"]  # which quotes the keys of a file


@pytest.mark.usefixtures("folder")
@EVERY
def test_the_same_error_for_people_says_the_same(name, run, told):
    words, _, _ = WRONG[name]
    _, said = told(*name.split(), *words.split())
    lines = run(*name.split(), *words.split()).stderr.splitlines()
    assert len(lines) == len(said)
    for line, facts in zip(lines, said, strict=True):
        assert line.removeprefix("Error: ").startswith(facts["message"])
        assert line.rstrip(".").endswith((facts["advice"] or facts["message"]).rstrip("."))


@EVERY
@pytest.mark.parametrize("words", [["--nonsense"], ["--quiet=3"], ["--json=maybe"]], ids=" ".join)
def test_words_that_cannot_be_parsed(name, words, told):
    code, (facts,) = told(*name.split(), *words)
    assert code == 2
    assert facts["kind"] == "UsageError"
    assert facts["advice"] is None


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("estimate absent.parquet", "'absent.parquet' does not exist"),
        ("estimate private.parquet --method guess", "'guess' is not one of"),
        ("estimate private.parquet -o e.docx", "--output must end in .csv"),
        ("count private.parquet -o -", "--json and -o - both write to standard output"),
        ("privatize people.csv --column tree -o x.csv", "column tree needs a design"),
        ("test private.parquet", "Missing argument"),
        ("test private.parquet tree", "give a second column"),
        ("design compare tree.json", "two or more design documents"),
        ("plan", "give the categories once: as LABELS"),
        ("db check --db password=x", "must be a file or a postgresql:// address"),
    ],
)
def test_usage_errors_of_all_kinds_have_one_name(words, message, told):
    code, (facts,) = told(*words.split())
    assert code == 2
    assert facts["kind"] == "UsageError"
    assert message in facts["message"]


def test_an_error_of_the_system(told, monkeypatch):
    def full(*arguments, **settings):
        raise FileNotFoundError(2, "No such file or directory", "x.csv")

    monkeypatch.setattr("subsetprivacy.planning.plan", full)
    code, said = told("plan", "--n-categories", "5")
    wanted = {"kind": "FileNotFoundError", "message": "x.csv: No such file or directory", "advice": None}
    assert (code, said) == (1, [wanted])


@pytest.mark.usefixtures("folder")
def test_an_extra_that_is_missing(told, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    code, said = told("db", "check", "--db", "x.db")
    message, advice = "the survey server needs sqlalchemy.", "in the clone, pip install '.[serve]'"
    assert (code, said) == (1, [{"kind": "MissingDependencyError", "message": message, "advice": advice}])


@pytest.mark.usefixtures("folder")
def test_warnings_and_messages_are_json_too(told):
    code, said = told("privatize", "people.csv", "--column", "tree=tree.json", "-o", "new.csv", "--seed", "1")
    assert code == 0
    assert [facts["kind"] for facts in said] == ["NotPrivateWarning"]
    again = ["privatize", "people.csv", "--column", "tree=tree.json", "-o", "new.csv", "--force", "--keep-order"]
    code, said = told(*again)
    assert code == 0
    assert [facts["kind"] for facts in said] == ["NotPrivateWarning"] * 2
    assert said[0]["advice"] == "--key-file gives the same subsets again"
    code, said = told("count", "private.parquet", "-o", "counts.csv")
    assert (code, said) == (0, [{"kind": "Message", "message": "Wrote counts.csv.", "advice": None}])
    assert told("count", "private.parquet", "-o", "quiet.csv", "-q") == (0, [])


def test_a_warning_of_the_library(told, tmp_path):
    document = DESIGN.save(tmp_path / "d.json")
    path = tmp_path / "few.csv"
    path.write_text("tree\nash|birch\nash|birch\ncedar|elm\n")
    code, (facts,) = told("estimate", path, "--column", f"tree={document}", "--form", "labels")
    assert (code, facts["kind"]) == (0, "NotUniqueWarning")
    assert "unique" in facts["message"]
    assert "Hint:" not in facts["message"]


@pytest.mark.usefixtures("folder")
def test_a_design_that_is_unfit(run):
    sp.nonprivate(["a", "b"]).save("bare.json")
    result = run("design", "check", "bare.json", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"] == ["not private: a single value can be reported."]
    assert json.loads(result.stderr) == {
        "kind": "InvalidDesignError",
        "message": "bare.json: not private: a single value can be reported.",
        "advice": None,
    }


def test_a_run_that_is_stopped(told, monkeypatch):
    def stopped(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("subsetprivacy.planning.plan", stopped)
    code, said = told("plan", "--n-categories", "5")
    assert (code, said) == (130, [{"kind": "KeyboardInterrupt", "message": "Stopped.", "advice": None}])


# Where people read --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OTHERS)
def test_commands_without_json_speak_to_people(name, run):
    result = run(*name.split(), "--json")
    assert result.exit_code == 2
    assert re.search("No such option.*--json", result.stderr)
    assert result.stderr.startswith("Usage: ")


@pytest.mark.parametrize("words", [["estmate", "--json"], ["--json"], ["design", "--json"], ["design", "x", "--json"]])
def test_no_command_no_json(words, run):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: ")


def test_json_after_two_dashes_is_a_label(run):
    result = run("plan", "--margin", "2", "--", "a", "b", "c", "--json")
    assert result.stderr.startswith("Error: --margin must be")


@pytest.mark.usefixtures("folder")
def test_a_script_reads_standard_error_of_a_process():
    words = [sys.executable, "-m", "subsetprivacy", "count", "private.parquet", "--column", "shrub", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(done.stderr)["kind"] == "ArgumentError"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="absent: signals of POSIX")
def test_the_reader_of_a_pipe_may_go(folder):
    """Nothing on standard error, which a script would take for a line of JSON."""
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "subsetprivacy", "count", "private.parquet", "--json"]
    done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.stderr == b""
