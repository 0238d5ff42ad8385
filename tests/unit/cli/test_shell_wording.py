"""Messages in the words of the command that was called: its options for arguments, its advice, its notes."""

import json
import warnings

import click
import pytest
from click.testing import CliRunner

import subsetprivacy as sp
from subsetprivacy.cli.main import main
from subsetprivacy.cli.shell_wording import in_its_words, names_of, options_of, sets, wants_json
from subsetprivacy.cli.show import echo_json, echo_table
from subsetprivacy.errors import ArgumentError, BudgetWarning, MissingDependencyError, NotPrivateWarning
from subsetprivacy.messages import Advice, Note, NoteKind
from subsetprivacy.messages.advice import ADVICE
from subsetprivacy.messages.for_general import INSTALL
from subsetprivacy.tables import Table

PLAN = main.commands["plan"]
LEVEL = Advice("a_level", "sp.plan(level={level})", ("--level {level}",), None, ())
OTHER = Advice("another_option", "sp.plan(solver='x')", ("--solver x",), None, ())
EITHER = Advice("either_option", "sp.plan(designs=[])", ("--solver x", "--people 9"), None, ())
ELSEWHERE = Advice("elsewhere", "sp.uniform(x)", ("subsetprivacy design small has --route",), None, ())


@pytest.fixture
def failing(monkeypatch):
    """Let the library's plan do something else, and call the command."""

    def run_command(do, *words):
        monkeypatch.setattr("subsetprivacy.planning.plan", do)
        return CliRunner().invoke(main, ["plan", "--n-categories", "5", *words])

    return run_command


def raising(error):
    def do(*arguments, **settings):
        raise error

    return do


# Names --------------------------------------------------------------------------------------------


def test_arguments_are_called_by_the_options_that_set_them():
    names = names_of(PLAN)
    assert names["level"] == "--level"
    assert names["maximal_leakage"] == "--maximal-leakage"
    assert names["n"] == names["people"] == "--people"
    assert names["labels"] == "LABELS"
    assert "--n-categories" in options_of(PLAN)
    assert "LABELS" not in options_of(PLAN)


def test_declared_names_are_put_together_and_come_before_others():
    @click.command()
    @sets(n="--people")
    @sets(path="--output")
    @click.option("-n", "--number", "n")
    @click.argument("path", metavar="FILE")
    def command(n, path): ...

    names = names_of(command)
    assert (names["n"], names["path"], names["number"]) == ("--people", "--output", "--number")


@pytest.mark.parametrize(
    ("path", "argument", "name"),
    [
        ("count", "path", "--output"),
        ("count", "designs", "--column"),
        ("count", "overwrite", "--force"),
        ("test", "designs", "NAME=DESIGN"),
        ("test", "table", "TABLE"),
        ("privatize", "key", "--key-file"),
        ("privatize", "id", "--id"),
        ("privatize", "if_exists", "--if-exists"),
        ("design fixed-size", "k", "--size"),
        ("design hadamard", "p", "the number of categories"),
        ("design uniform", "path", "--output"),
        ("design product", "designs", "NAME=PATH"),
    ],
)
def test_names_of_some_commands(path, argument, name):
    command = main
    for word in path.split():
        command = command.commands[word]
    assert names_of(command)[argument] == name


def test_only_the_command_that_was_called_gives_names(failing):
    result = failing(raising(ArgumentError("`n` and `route` must differ.")))
    assert result.stderr == "Error: --people and `route` must differ.\n"


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("advice", "said"),
    [
        (LEVEL(level=0.9), " Hint: --level 0.9."),
        (OTHER, ""),
        (EITHER, " Hint: --people 9."),
        (ELSEWHERE, " Hint: subsetprivacy design small has --route."),
        (None, ""),
    ],
    ids=["own", "not its own", "the second", "of another command", "none"],
)
def test_advice_is_that_of_the_command(advice, said, failing):
    result = failing(raising(ArgumentError("`n` must be\n  above 3; got 2.", advice)))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == f"Error: --people must be above 3; got 2.{said}\n"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PermissionError(13, "Permission denied", "x.csv"), "Error: x.csv: Permission denied\n"),
        (
            MissingDependencyError("plans need cvxpy.", INSTALL(extra="optimize")),
            'Error: plans need cvxpy. Hint: in the clone, pip install ".[optimize]".\n',
        ),
    ],
)
def test_other_errors(error, line, failing):
    result = failing(raising(error))
    assert (result.exit_code, result.stderr) == (1, line)


def test_an_error_that_nobody_foresaw_keeps_its_traceback(failing):
    assert isinstance(failing(raising(ZeroDivisionError("x"))).exception, ZeroDivisionError)
    assert isinstance(failing(raising(ValueError("x")), "--json").exception, ValueError)


# Warnings -----------------------------------------------------------------------------------------


def warning(*said):
    def do(*arguments, **settings):
        for one in said:
            warnings.warn(one, stacklevel=1)
        raise ArgumentError("no plan.")

    return do


BUDGET = BudgetWarning("`n` was too large.", LEVEL(level=0.5))


def test_a_warning_is_a_line_with_the_advice_of_the_command_and_said_once(failing):
    result = failing(warning(BUDGET, BUDGET, BudgetWarning("no `w`.", OTHER)))
    assert result.stderr.splitlines() == [
        "Warning: --people was too large. Hint: --level 0.5.",
        "Warning: no --w.",
        "Error: no plan.",
    ]


@pytest.mark.filterwarnings("always::RuntimeWarning")  # which end a test otherwise
def test_warnings_for_programs_are_json_those_of_others_too(failing):
    result = failing(warning(BUDGET, BUDGET, RuntimeWarning("divide by zero")), "--json")
    assert [json.loads(line) for line in result.stderr.splitlines()] == [
        {"kind": "BudgetWarning", "message": "--people was too large.", "advice": "--level 0.5"},
        {"kind": "RuntimeWarning", "message": "divide by zero", "advice": None},
        {"kind": "ArgumentError", "message": "no plan.", "advice": None},
    ]


# Notes --------------------------------------------------------------------------------------------


class Made:
    """A result with notes, as commands print it."""

    notes = (
        Note(NoteKind.PRICE, "It costs something.", LEVEL(level=0.5)),
        Note(NoteKind.BUDGET, "It was cut short.", OTHER),
        Note(NoteKind.LEGEND, "Columns have names."),
    )

    def summary(self):
        return Table("Plan", ("design", "n"), (("a", "1"),), (*self.notes, "A plain sentence."))

    def to_dict(self):
        notes = [note.to_dict() for note in self.notes]
        return {"n": 1, "notes": notes, "inner": [{"notes": notes[:1]}]}


NOTES = [
    {"kind": "price", "text": "It costs something.", "advice": "--level 0.5"},
    {"kind": "budget", "text": "It was cut short.", "advice": None},
    {"kind": "legend", "text": "Columns have names.", "advice": None},
]


def test_notes_below_a_table(failing):
    lines = failing(lambda *_, **__: Made()).stdout.splitlines()
    assert lines[-4:] == [
        "It costs something. Hint: --level 0.5.",
        "It was cut short.",
        "Columns have names.",
        "A plain sentence.",
    ]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_warning_that_is_also_a_note_is_printed_once_on_a_terminal(terminal, failing, monkeypatch):
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: terminal, raising=False)
    noted = BudgetWarning("It costs\n something.", LEVEL(level=0.5))
    other = BudgetWarning("It costs a lot.")
    private = NotPrivateWarning("It was cut short.")  # which never waits

    def do(*arguments, **settings):
        for each in (noted, other, private):
            warnings.warn(each, stacklevel=1)
        return Made()

    result = failing(do)
    assert result.stdout.splitlines()[-4] == "It costs something. Hint: --level 0.5."
    lines = ["Warning: It costs something. Hint: --level 0.5.", "Warning: It costs a lot."]
    if terminal:
        assert result.stderr.splitlines() == ["Warning: It was cut short.", lines[1]]
    else:
        assert result.stderr.splitlines() == [*lines, "Warning: It was cut short."]


def test_warnings_that_wait_come_before_an_error(failing, monkeypatch):
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True, raising=False)
    lines = failing(warning(BUDGET)).stderr.splitlines()
    assert lines == ["Warning: --people was too large. Hint: --level 0.5.", "Error: no plan."]


def test_notes_in_json_have_the_advice_of_the_command(failing, monkeypatch):
    for advice in (LEVEL, OTHER):
        monkeypatch.setitem(ADVICE, advice.name, advice)
    facts = json.loads(failing(lambda *_, **__: Made(), "--json").stdout)
    assert facts == {"n": 1, "notes": NOTES, "inner": [{"notes": NOTES[:1]}]}


def test_a_variable_may_be_called_notes(capsys):
    echo_json({"reveals": {"notes": 0.5}, "variables": {"notes": {"kind": 1}}, "notes": ["as it was"]})
    assert json.loads(capsys.readouterr().out) == {
        "reveals": {"notes": 0.5},
        "variables": {"notes": {"kind": 1}},
        "notes": ["as it was"],
    }


def test_outside_of_a_command_there_are_no_options(capsys):
    assert in_its_words("`n` must be\n 3.", LEVEL(level=1)) == ("`n` must be 3.", None)
    assert not wants_json()
    echo_table(Made().summary())
    assert "Hint" not in capsys.readouterr().out


# Files --------------------------------------------------------------------------------------------


def test_a_temporary_file_is_called_by_the_sign_that_its_user_wrote(tmp_path, monkeypatch):
    from subsetprivacy.errors import DataFileError

    release = tmp_path / "private.parquet"
    design = sp.uniform(list("abcd"))
    sp.write_release(sp.privatize(list("abcd") * 5, design, seed=1), release, {"x": design})

    def write(counts, path, **settings):
        raise DataFileError(f"{path}: there is no space left.", None)

    monkeypatch.setattr("subsetprivacy.frames.writing.write_counts", write)
    result = CliRunner().invoke(main, ["count", str(release), "-o", "-", "--format", "parquet"])
    assert (result.exit_code, result.stderr) == (1, "Error: -: there is no space left.\n")
    given = release.read_bytes()
    words = ["count", "-", "--input-format", "parquet", "--column", "nowhere", "--json"]
    result = CliRunner().invoke(main, words, input=given)
    assert "- must have a column of subsets named 'nowhere'; it has x." in json.loads(result.stderr)["message"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["estimate", "s3://bucket/x.parquet"], "TABLE must be a path on this machine"),
        (["design", "uniform", *"abcd", "-o", "s3://bucket/x.json"], "--output must be a path on this machine"),
        (["plan", "--file", "s3://bucket/x.txt"], "--file must be a path on this machine"),
    ],
)
def test_addresses_of_other_machines(words, message, misused):
    said = " ".join(misused(*words).split())
    assert message in said
    assert "`" not in said
