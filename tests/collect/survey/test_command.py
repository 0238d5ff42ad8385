"""The command `survey`: check, example, convert, schema."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from subsetprivacy.cli import survey as command
from subsetprivacy.cli.main import main
from subsetprivacy.collect.survey.bundled_files import example_text, schema_text
from subsetprivacy.collect.survey.reading import FORMATS, load_survey, read_survey


def run(*arguments):
    return CliRunner().invoke(main, ["survey", *map(str, arguments)])


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(example_text("toml"), encoding="utf-8")
    return path


@pytest.fixture
def bad(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(
        "title: Bad\nvariables:\n  - id: a\n    question: Well?\n    options: [yes, no]\n", encoding="utf-8"
    )
    return path


def test_formats_are_those_of_the_library():
    assert command.FORMATS == FORMATS


def test_a_good_file_is_described(good):
    result = run("check", good)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == f"{good} is a valid survey: Work and health, study work-2026, code mode, batches of 25"
    rows = [line.split() for line in lines]
    assert ["smokes", "secret", "number", "randomized", "response", "1", "2", "of", "2", "0.8", "bits"] in rows
    assert ["sport", "drawn", "on", "the", "device", "fixed", "size", "3", "2", "of", "3", "1.0", "bits"] in rows
    assert ["health", "yes", "or", "no", "uniform", "10", "2", "of", "5", "3.3", "bits"] in rows
    assert ["commute", "which", "group", "partition", "280", "3", "of", "9", "8.1", "bits"] in rows
    said = " ".join(result.stdout.split())
    assert "Linked: health, income (6.1 bits)." in said
    assert "16.1 bits in total" in said
    assert "Notice: sport: the answer is marked on the respondent's device" in said
    assert "The pair reveals which one it is not." in said


def test_large_numbers_of_questions_are_short(tmp_path):
    path = tmp_path / "large.json"
    options = [f"o{k}" for k in range(48)]
    variable = {"id": "v", "question": "?", "options": options, "design": "uniform"}
    path.write_text(json.dumps({"title": "T", "variables": [variable]}), encoding="utf-8")
    assert ["v", "yes", "or", "no", "uniform", "1.4e+14", "2", "of", "48", "47.0", "bits"] in [
        line.split() for line in run("check", path).stdout.splitlines()
    ]


def test_the_smallest_sets_and_the_price_of_forbidding_one_are_told(good):
    text = good.read_text(encoding="utf-8")
    options = '["very good", "good", "fair", "poor", "very poor"]'
    assert options in text
    good.write_text(text.replace(options, f'{options}\nnever_alone = [["poor", "very poor"]]'), encoding="utf-8")
    said = " ".join(run("check", good).stdout.split())
    assert "health: an answer may become: “very good” or “good” (11.1%); “good” or “fair” (11.1%); " in said
    assert "and 6 more." in said
    assert "health: never sent: “poor” or “very poor”. It takes " in said
    held = json.loads(run("check", good, "--json").stdout)[str(good)]["variables"]
    health = next(one for one in held if one["id"] == "health")
    assert health["never_alone"] == [["poor", "very poor"]]
    assert health["revealing"]["number"] == len(health["revealing"]["sets"]) == 9
    assert health["price"]["people"] > health["price"]["people_before"]


def test_problems_are_lines_with_their_place(bad):
    result = run("check", bad)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        f"{bad}:5: variable 1 (a), option {k}: must be text; got {word}, which may be read as a truth value. "
        "Hint: put it in quotes."
        for k, word in ((1, "yes"), (2, "no"))
    ]


def test_several_files(good, bad, tmp_path):
    empty = tmp_path / "empty.json"
    empty.write_bytes(b"")
    result = run("check", bad, good, empty)
    assert result.exit_code == 1
    assert f"{good} is a valid survey" in result.stdout
    assert len(result.stderr.splitlines()) == 3
    assert f"{empty}:1: the file: must have a value here" in result.stderr


def test_a_problem_without_a_line(tmp_path):
    path = tmp_path / "large.toml"
    path.write_text("#" * 300_000, encoding="utf-8")
    assert run("check", path).stderr == f"{path}: the file: must have at most 256 kB; it has more.\n"


def test_json_for_machines(good, bad):
    result = run("check", good, bad, "--json")
    assert result.exit_code == 1
    held = json.loads(result.stdout)
    assert held[str(good)]["ok"] is True
    assert held[str(good)]["variables"][0]["kind"] == "bit"
    assert held[str(good)]["groups"][0][0] == ["health", "income"]
    assert held[str(bad)]["ok"] is False
    problem = held[str(bad)]["problems"][0]
    assert list(problem) == ["line", "place", "message", "advice"]
    assert (problem["line"], problem["place"]) == (5, "variable 1 (a), option 1")
    assert problem["message"].startswith("must be text; got yes, which may be read as a truth value.")
    first = json.loads(result.stderr.splitlines()[0])
    assert first["kind"] == "SurveyError"
    assert first["message"] == f"{bad}:5: {problem['place']}: {problem['message']}"
    assert first["advice"] == problem["advice"]


def test_another_kind_of_file_is_an_error_in_one_line(tmp_path):
    path = tmp_path / "survey.txt"
    path.write_text("")
    result = run("check", path)
    assert result.exit_code == 1
    assert result.stderr == f"Error: the file '{path}' must end in one of .toml, .yaml, .yml, .json to be a survey.\n"


@pytest.mark.parametrize("form", FORMATS)
def test_examples(form, tmp_path):
    assert run("example", "--format", form).stdout == example_text(form)
    path = tmp_path / f"survey.{form}"
    result = run("example", "-o", path)
    assert result.stdout == f"Wrote {path}.\n"
    assert path.read_text(encoding="utf-8") == example_text(form)
    assert run("check", path).exit_code == 0


def test_an_example_does_not_replace_a_file(good):
    good.write_text("mine")
    result = run("example", "-o", good)
    assert result.exit_code == 1
    assert "must not exist yet; it does. Hint: --force replaces it." in result.stderr
    assert good.read_text() == "mine"
    assert run("example", "-o", good, "--force").exit_code == 0
    assert load_survey(good).study == "work-2026"


def test_the_example_is_toml_unless_said_otherwise(tmp_path):
    assert run("example").stdout == example_text("toml")
    assert run("example", "-o", "-").stdout == example_text("toml")
    assert run("example", "-o", tmp_path / "survey.doc").exit_code == 2


@pytest.mark.parametrize("suffix", ["yaml", "yml", "json", "toml"])
def test_conversions(good, suffix, tmp_path):
    path = tmp_path / f"other.{suffix}"
    result = run("convert", good, "-o", path)
    assert result.stdout == f"Wrote {path}.\n"
    assert load_survey(path) == load_survey(good)


def test_a_folder_that_is_absent_is_named(good, tmp_path):
    for arguments in (["convert", good], ["example"], ["schema"]):
        result = run(*arguments, "-o", tmp_path / "nowhere" / "other.json")
        assert result.exit_code == 1
        assert f"{str(tmp_path / 'nowhere')!r} does not." in result.stderr


def test_a_bad_file_is_not_converted(bad, tmp_path):
    result = run("convert", bad, "-o", tmp_path / "other.json")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 2
    assert not (tmp_path / "other.json").exists()


def test_the_schema_is_printed(tmp_path):
    assert run("schema").stdout == schema_text()
    assert run("schema", "-o", tmp_path / "s.json").exit_code == 0
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == schema_text()


def test_help_waits_for_nothing():
    script = "import sys; import subsetprivacy.cli.main; print(sorted({'numpy', 'yaml', 'attrs'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout
    assert "yaml" not in done.stdout


def test_yaml_is_asked_for_when_it_is_absent(monkeypatch, good, tmp_path):
    monkeypatch.setitem(sys.modules, "yaml", None)
    for name in ("yaml_reader", "yaml_writer"):
        monkeypatch.delitem(sys.modules, f"subsetprivacy.collect.survey.{name}", raising=False)
    path = tmp_path / "s.yaml"
    path.write_text("title: T")
    assert run("check", path).stderr == 'Error: YAML needs PyYAML. Hint: in the clone, pip install ".[serve]".\n'
    assert "YAML needs PyYAML" in run("convert", good, "-o", tmp_path / "t.yaml").stderr
    assert read_survey(example_text("toml"), "toml").title == "Work and health"
