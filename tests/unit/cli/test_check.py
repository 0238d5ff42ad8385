"""`check` and `report`: what a table shows and whether its data are sound, for people and for programs."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from asking import Manners, ask, options
from click.testing import CliRunner

import subsetprivacy as sp
from subsetprivacy import finding
from subsetprivacy.cli.main import main
from subsetprivacy.errors import NotPrivateWarning
from subsetprivacy.presenting.words import LANGUAGES, words_of

TREES = ["ash", "birch", "cedar", "elm"]
FIVE = sp.uniform(options(5))


def _write(folder, name, shares, seed):
    rng = np.random.default_rng(seed)
    people = pa.table(
        {
            "tree": rng.choice(TREES, 500, p=shares),
            "pay": rng.choice(["low", "middle", "high", "none"], 500),
            "area": rng.choice(["north", "south"], 500),
            "year": rng.choice([1, 2], 500),
        }
    )
    designs = {"tree": sp.uniform(TREES), "pay": sp.uniform(["low", "middle", "high", "none"])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        sp.privatize_table(people, designs, folder / name, keep=["area", "year"], seed=seed)


def _export(folder, manners, name):
    """Write counts and questions as the export of a survey does."""
    questions, counts = ask(FIVE, [5, 4, 3, 2, 1], 2000, 1, manners)
    codes = np.repeat(counts.codes, counts.counts.astype(int))
    sp.write_release(pa.table({"mood": codes}), folder / f"{name}.csv", {"mood": FIVE})
    lines = ["variable,partition,shown,answer,n"]
    for shown, answer, n in zip(questions.shown[:, 0], questions.answers, questions.n, strict=True):
        lines.append(f"mood,{int(shown)},0,{int(answer)},{int(n)}")
    (folder / f"{name}.framings.csv").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    _write(folder, "private.parquet", [0.4, 0.3, 0.2, 0.1], 1)
    _write(folder, "earlier.parquet", [0.1, 0.2, 0.3, 0.4], 2)
    _export(folder, Manners(skips=lambda shown, truth: 0.1), "honest")
    _export(folder, Manners(always_yes=0.4), "leaning")
    return folder


@pytest.fixture
def tables(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


# For people ---------------------------------------------------------------------------------------


def test_what_a_table_shows_and_whether_its_data_are_sound(fine, tables):
    text = " ".join(fine("check", "private.parquet", "--permutations", 0).split())
    found = sp.findings(sp.read_release("private.parquet"), permutations=0)
    top = found["tree"].shares.estimate.max()
    assert "ash has the largest estimated share" in text
    assert f"{100 * top:.1f}%" in text
    assert "500 people reported a subset that says something." in text
    assert "Questions as designed: The questions were drawn as the design says" in text
    assert "No check of the data raises an alarm" in text
    assert f"{found.alarm.tests} tests were run." in text
    assert "No dependence of “tree” and “pay” was found" in text


def test_every_share_has_its_line(fine, tables):
    text = fine("check", "private.parquet", "--no-tests", "--column", "tree", "--level", 0.8)
    fit = sp.estimate(sp.read_release("private.parquet").count("tree")).to_dict(0.8)
    for label, w, low, high in zip(fit["categories"], fit["estimate"], fit["lower"], fit["upper"], strict=True):
        line = next(line for line in text.splitlines() if re.match(rf" {{4}}{label} +\d", line))
        shown = [float(part) for part in re.findall(r"\d+(?:\.\d+)?", line)]
        assert shown == pytest.approx([100 * w, 100 * low, 100 * high], abs=0.051)
    assert "pay" not in text


def test_lines_fit_the_screen(tables, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = CliRunner().invoke(main, ["check", "private.parquet", "--permutations", "0"]).stdout
    assert max(map(len, text.splitlines())) <= 120
    assert text.endswith("\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_in_every_language(fine, tables, language):
    text = fine("check", "private.parquet", "--no-tests", "--language", language)
    assert words_of(language)("report.no_alarm")[:20] in text


# For programs -------------------------------------------------------------------------------------


def test_json_is_the_librarys_to_the_byte(tables):
    words = ["check", "private.parquet", "--permutations", "49", "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    wanted = sp.findings(sp.read_release("private.parquet"), permutations=49).to_json()
    assert result.stdout_bytes == wanted.encode()
    assert CliRunner().invoke(main, words).stdout_bytes == wanted.encode()


def test_options_are_arguments_of_the_library(fine, tables):
    release, earlier = sp.read_release("private.parquet"), sp.read_release("earlier.parquet")
    line = "check private.parquet --column pay --level 0.9 --no-tests --seed 7 --by area --by year"
    printed = fine(*line.split(), "--earlier", "earlier.parquet", "--json")
    wanted = sp.findings(release, columns=["pay"], level=0.9, tests=False, seed=7, by=["area", "year"], earlier=earlier)
    assert printed == wanted.to_json()
    document = json.loads(printed)["variables"][0]
    assert document["difference"]["earlier"] == "earlier.parquet"
    assert len(document["groups"]["groups"]) == 4


def test_questions_of_an_export_bring_checks_of_skips_and_leaning(fine, tables):
    words = ["check", "honest.csv", "--questions", "honest.framings.csv"]
    document = json.loads(fine(*words, "--json"))
    checks = document["variables"][0]["checks"]
    asked = sp.read_questions("honest.framings.csv", {"mood": FIVE})
    assert checks["skips"]["asked"] == asked["mood"].asked == 2000
    assert checks["skips"]["skipped"] == asked["mood"].skipped
    assert "Leaning to yes" in fine(*words)
    assert "skipped" not in fine("check", "honest.csv")


def test_strict_ends_with_1_on_an_alarm_and_prints_all_the_same(run, tables):
    words = ["check", "leaning.csv", "--questions", "leaning.framings.csv"]
    for further in ([], ["--json"]):
        relaxed, strict = run(*words, *further), run(*words, *further, "--strict")
        assert relaxed.exit_code == 0
        assert strict.exit_code == 1
        assert strict.stdout == relaxed.stdout != ""
        assert strict.stderr == ""
    assert "seem to say yes whatever they are asked" in " ".join(run(*words).stdout.split())
    assert run("check", "honest.csv", "--questions", "honest.framings.csv", "--strict").exit_code == 0


# Wrong words and files ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "report -o new.html"])
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("private.parquet --level 95", 1, "--level must be between 0 and 1"),
        ("private.parquet --by tree", 2, "--by must name columns other"),
        ("private.parquet --by area --by area", 2, "each once"),
        ("private.parquet --earlier absent.parquet", 2, "'absent.parquet' does not exist"),
        ("private.parquet --earlier honest.framings.csv", 1, "must come with the designs of its columns"),
        ("private.parquet --questions absent.csv", 2, "'absent.csv' does not exist"),
        ("honest.csv --questions honest.csv", 1, "must have the columns variable, partition, shown, answer, n"),
        ("private.parquet --permutations -1", 2, "'--permutations'"),
        ("private.parquet --seed -1", 2, "'--seed'"),
        ("private.parquet --language tlh", 2, "'tlh' is not one of"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_shell(command, words, code, said, run, tables):
    name, *further = command.split()
    result = run(name, *words.split(), *further)
    assert result.exit_code == code, result.output
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert not Path("new.html").exists()


def test_groups_that_are_not_there(refused, tables):
    assert "--by" in refused("check", "private.parquet", "--by", "nowhere")


# Report -------------------------------------------------------------------------------------------


def test_report_has_the_same_numbers(fine, tables, tmp_path):
    words = ["private.parquet", "--permutations", 19, "--by", "area", "--earlier", "earlier.parquet"]
    fine("report", *words, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Shares by area" in page
    assert "Change since earlier.parquet" in page
    shown = page.replace("&#x27;", "'").replace("&quot;", '"')
    assert "subsetprivacy check private.parquet --by area --permutations 19 --earlier earlier.parquet" in shown
    assert "by=['area'], permutations=19, earlier=sp.read_release('earlier.parquet')" in shown
    release, earlier = sp.read_release("private.parquet"), sp.read_release("earlier.parquet")
    options = {"permutations": 19, "by": ["area"], "earlier": earlier}
    sp.write_report(release, tmp_path / "same.html", **options)
    assert (tmp_path / "same.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("language", LANGUAGES)
def test_report_in_every_language(fine, tables, language):
    page = fine("report", "private.parquet", "-o", "-", "--no-tests", "--language", language)
    assert f'<html lang="{language}" dir="{words_of(language).direction}">' in page


def test_a_file_that_exists_is_refused_before_any_work(refused, run, tables, monkeypatch, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    worked = []
    monkeypatch.setattr(finding, "findings", lambda *arguments, **_: worked.append(arguments))
    said = refused("report", "private.parquet", "-o", path)
    assert "--output must be a new file" in said
    assert "--force" in said
    assert path.read_text() == "mine"
    assert worked == []
    run("report", "private.parquet", "-o", path, "--force")
    assert len(worked) == 1  # else the test is none


def test_report_of_questions(fine, tables, tmp_path):
    words = ["report", "leaning.csv", "--questions", "leaning.framings.csv", "-o", tmp_path / "page.html"]
    fine(*words)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "of the people seem to say yes whatever they are asked" in page
    assert "raise" in page


# Help ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "report"])
def test_help_names_every_option(fine, command):
    text = " ".join(fine(command, "--help").split())
    for option in ("--column", "--level", "--by", "--earlier", "--questions", "--no-tests", "--permutations", "--seed"):
        assert option in text
    assert "--language" in text
    assert ("--strict" in text) == ("--json" in text) == (command == "check")
    assert ("--title" in text) == ("--force" in text) == (command == "report")


def test_standard_input(tables):
    data = Path("honest.csv").read_bytes()
    document = Path("mood.json")
    FIVE.save(document)
    words = ["check", "-", "--column", f"mood={document}", "--form", "labels", "--json"]
    result = CliRunner().invoke(main, words, input=data)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["variables"][0]["people"] == 2000
    words = ["check", "honest.csv", "--questions", "-", "--json"]
    result = CliRunner().invoke(main, words, input=Path("honest.framings.csv").read_bytes())
    assert json.loads(result.stdout)["variables"][0]["checks"]["skips"]["asked"] == 2000


def test_groups_and_waves_are_in_the_text(fine, tables):
    text = fine("check", "private.parquet", "--by", "area", "--earlier", "earlier.parquet")
    assert "Shares by area" in text
    assert "Change since earlier.parquet" in text
    assert "Test that no share changed: p" in text


def test_a_file_of_questions_about_other_columns_is_refused(run, tables):
    Path("other.csv").write_text("variable,partition,shown,answer,n\nnope,1,0,0,5\n")
    result = run("check", "private.parquet", "--questions", "other.csv", "--strict")
    assert result.exit_code == 2
    assert "--questions must hold questions of" in result.output
