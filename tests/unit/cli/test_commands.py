"""The command line: help, output for people and machines, errors in one line."""

import json
import re
import shlex
import sys

import click
import pytest
from shell_words import without_advice

import subsetprivacy as sp
from subsetprivacy.cli.main import main
from subsetprivacy.cli.show import echo_json

KINDS = ("uniform", "partition", "hadamard", "fixed-size", "warner", "small", "join", "covered", "product")
COMMANDS = [
    [],
    ["demo"],
    ["design"],
    *(["design", kind] for kind in (*KINDS, "show", "check", "compare", "schema")),
    ["example"],
    *(["example", which] for which in ("adult", "urn")),
    ["plan"],
    ["power"],
    *(["power", what] for what in ("response", "predictor", "means")),
    ["key"],
    ["privatize"],
    ["count"],
    ["estimate"],
    ["compare"],
    ["test"],
    ["fit-test"],
    ["loglinear"],
    ["means"],
    ["rake"],
    ["regress"],
    ["evaluate"],
    ["audit"],
    ["check"],
    ["report"],
    ["survey"],
    *(["survey", which] for which in ("check", "example", "convert", "schema")),
    ["serve"],
    ["db"],
    *(["db", which] for which in ("check", "backup", "upgrade")),
    ["reproduce"],
    ["completion"],
]


@pytest.fixture
def urn(tmp_path):
    return sp.uniform(["black", "red", "green", "blue"]).save(tmp_path / "urn.design.json")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command, fine):
    text = fine(*command, "--help")
    assert text == fine(*command, "-h")
    assert text.startswith("Usage: ")
    if command:
        assert f"subsetprivacy {' '.join(command)}" in re.split("Examples?[^:\n]*:", text)[1]  # an example of itself


def examples_in(text):
    """Return the command lines in a help text, those over several lines joined."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip().startswith("subsetprivacy ")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_examples_in_help_are_command_lines(command, fine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = examples_in(fine(*command, "--help"))
    assert examples
    for line in examples:
        node, words, context = main, shlex.split(line.partition(" > ")[0])[1:], None
        while True:
            try:
                context = node.make_context(node.name, list(words), parent=context)
            except click.BadParameter as error:
                if "does not exist" in str(error):  # a file of the reader's
                    break
                raise
            if not isinstance(node, click.Group):
                break
            _, node, words = node.resolve_command(context, [*context._protected_args, *context.args])


def test_every_command_is_in_the_list_above():
    groups = {(): main, **{(name,): c for name, c in main.commands.items() if hasattr(c, "commands")}}
    found = {(*path, name) for path, group in groups.items() for name in group.commands}
    assert {(), *found} == {tuple(command) for command in COMMANDS}


def test_choices_are_those_of_the_library():
    """Help does not wait for the library, so the words stand twice."""
    from subsetprivacy.cli import compare, estimate, fit_test, options, privatize, test
    from subsetprivacy.counting.columns import MISSING
    from subsetprivacy.design.small import ROUTES
    from subsetprivacy.estimation.contrast import ALTERNATIVES
    from subsetprivacy.estimation.contrast import METHODS as CONTRASTS
    from subsetprivacy.estimation.dispatch import METHODS
    from subsetprivacy.estimation.fit_test import NULLS
    from subsetprivacy.estimation.intervals import METHODS as INTERVALS
    from subsetprivacy.frames.metadata import FORMS, WEIGHT_KINDS
    from subsetprivacy.independence.testing import METHODS as TESTS
    from subsetprivacy.subsets import MAX_CATEGORIES

    assert tuple(METHODS) == estimate.METHODS
    assert INTERVALS == estimate.INTERVALS
    assert set(TESTS) == set(test.METHODS)
    assert set(ALTERNATIVES) == set(test.ALTERNATIVES)
    assert set(CONTRASTS) == set(compare.METHODS)
    assert set(NULLS) == set(fit_test.NULLS)
    assert set(MISSING) == set(options.MISSING)
    assert set(FORMS) == set(options.FORMS)
    assert MAX_CATEGORIES == privatize.MOST_MASKED
    for command, name, allowed in ((main.commands["design"].commands["small"], "route", ROUTES),
                                   (main.commands["count"], "weights_kind", WEIGHT_KINDS)):  # fmt: skip
        (option,) = [one for one in command.params if one.name == name]
        assert set(option.type.choices) == set(allowed)


def test_an_unknown_command_is_a_usage_error(misused):
    assert "No such command 'estmate'" in misused("estmate")


# design -------------------------------------------------------------------------------------------


def test_design_uniform_writes_a_document(run, tmp_path):
    path = tmp_path / "colours.design.json"
    result = run("design", "uniform", "black", "red", "green", "blue", "-o", path)
    assert result.exit_code == 0
    design = sp.uniform(["black", "red", "green", "blue"])
    assert sp.load_design(path) == design
    assert result.output.splitlines() == [
        f"Wrote {path} (fingerprint {design.fingerprint[:16]}…).",
        "Categories: black, red, green, blue",
    ]


def test_design_show_for_people_and_machines(fine, urn):
    assert "black, red, green, blue" in fine("design", "show", urn)
    facts = json.loads(fine("design", "show", urn, "--json"))
    assert facts == {
        "kind": "uniform",
        "categories": ["black", "red", "green", "blue"],
        "fingerprint": sp.load_design(urn).fingerprint,
        "subset_private": True,
        "identifiable": True,
        "yes_no_questions": True,
        "smallest_set": 2,
        "S": 2.0,
    }


@pytest.mark.parametrize(
    "design",
    [
        sp.nonprivate(["a", "b"]),
        sp.fully_private(["a", "b"]),
        sp.conditional(range(3), {(0, 1): 0.5, (1, 2): 0.5, (0, 2): 0.5}),
        sp.uniform(range(40)),
    ],
    ids=lambda design: design.kind,
)
def test_design_show_of_every_kind(design, fine, tmp_path):
    path = design.save(tmp_path / "d.json")
    facts = json.loads(fine("design", "show", path, "--json"))
    assert facts["kind"] == design.kind
    assert facts["identifiable"] == design.is_identifiable
    assert facts["subset_private"] == design.is_subset_private


def test_design_schema_prints_and_writes_what_the_package_holds(fine, tmp_path):
    printed = fine("design", "schema")
    assert json.loads(printed)["title"] == "A subsetprivacy design document, version 1"
    path = tmp_path / "design.schema.json"
    assert fine("design", "schema", "-o", path) == f"Wrote {path}.\n"
    assert path.read_text(encoding="utf-8") == printed


def test_documents_that_are_none(refused, misused, tmp_path):
    path = tmp_path / "d.json"
    for text, message in [
        ("{", "must be JSON text"),
        ("[]", "must be an object"),
        ('{"format": "x"}', "must be an object"),
    ]:
        path.write_text(text)
        line = refused("design", "show", path)
        assert message in line
        assert line.startswith(f"Error: {path}: ")
    path.write_bytes(b"\xff\xfe\x00")
    refused("design", "show", path)
    document = json.loads(sp.uniform(list("abcd")).to_json())
    document["categories"][0] = "z"
    path.write_text(json.dumps(document))
    assert "was altered after it was written" in refused("audit", path, "--w", "0.1,0.2,0.3,0.4")
    assert "absent.json" in misused("design", "show", tmp_path / "absent.json")


# audit --------------------------------------------------------------------------------------------


W = ["--w", "0.01,0.1,0.2,0.69"]


def test_audit_prints_the_table(run, urn):
    result = run("audit", urn, *W)
    assert result.exit_code == 0
    design, w = sp.load_design(urn), [0.01, 0.1, 0.2, 0.69]
    assert result.output.split() == str(sp.audit(design, w).summary()).split()  # notes are as wide as the terminal
    assert "0.7076" in result.output


def test_notes_are_as_wide_as_the_terminal(fine, urn, monkeypatch):
    for columns in (70, 130):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = fine("audit", urn, *W).splitlines()
        notes = lines[max(k for k, line in enumerate(lines) if set(line) == {"-"}) + 1 :]
        widest = max(map(len, notes))
        assert columns - 25 < widest <= columns


def test_audit_prints_json_with_the_keys_of_the_library(fine, urn):
    facts = json.loads(fine("audit", urn, *W, "--json"))
    assert facts["size_coverage"] == pytest.approx(0.684133, abs=1e-6)
    believed = json.loads(fine("audit", urn, *W, "--prior", "0.4,0.3,0.2,0.1", "--json"))
    for found, prior in ((facts, None), (believed, [0.4, 0.3, 0.2, 0.1])):
        expected = sp.audit(sp.load_design(urn), [0.01, 0.1, 0.2, 0.69], prior=prior).to_dict()
        assert without_advice(found) == without_advice(expected)


def test_audit_of_no_distribution(refused, misused, urn):
    assert "--w must sum to 1; got 0.9" in refused("audit", urn, "--w", "0.1,0.2,0.3,0.3")
    assert "one entry for each of the 4 categories" in refused("audit", urn, "--w", "0.5,0.5")
    even = ["--w", "0.25,0.25,0.25,0.25"]
    assert "--prior must be positive" in refused("audit", urn, *even, "--prior", "0,0.5,0.25,0.25")
    for wrong in ("a,b", "0.5,,0.5"):
        assert "--w" in misused("audit", urn, "--w", wrong)


def test_json_has_no_word_for_infinity(capsys):
    echo_json({"x": float("inf"), "y": [float("nan"), 1.5], "z": ("ä", None, True)})
    assert json.loads(capsys.readouterr().out) == {"x": None, "y": [None, 1.5], "z": ["ä", None, True]}


# demo ---------------------------------------------------------------------------------------------


def test_the_demo_writes_its_files(run, tmp_path):
    result = run("demo", "-o", tmp_path / "out", "--seed", 1)
    assert result.exit_code == 0, result.output
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == [
        "cases.png",
        "difference.png",
        "estimate.png",
        "independence.png",
        "leakage.png",
        "race.design.json",
        "residuals.png",
    ]
    for name in files:
        assert name in result.output
        if name.endswith(".png"):
            assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
    assert sp.load_design(tmp_path / "out" / "race.design.json").kind == "uniform"
    assert "Privacy audit: uniform design, 5 categories, n = 32,561" in result.output


def test_the_demo_without_matplotlib_shows_the_rest_and_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("demo", "-o", tmp_path / "out", "--seed", 1)
    assert result.exit_code == 0
    assert "5. Saved the design:" in result.stdout
    assert result.stderr == 'Warning: pictures need matplotlib. Hint: in the clone, pip install ".[plot]".\n'
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["race.design.json"]
    again = run("demo", "-o", tmp_path / "again", "--seed", 1)  # the seed gives all numbers again
    assert again.stdout.replace("again", "out") == result.stdout


def test_a_seed_that_is_none(misused):
    assert "Invalid value for '--seed': -1 is not in the range x>=0" in misused("demo", "--seed", "-1")
    assert "--seed" in misused("demo", "--seed", "x")
