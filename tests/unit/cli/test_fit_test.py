"""`fit-test`: the known distribution as words, as numbers and in files; results are those of the library."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from shell_words import without_advice

import subsetprivacy as sp
from subsetprivacy.cli.main import main

RATINGS = [1, 2, 3, 4]
DESIGN = sp.uniform(RATINGS)
BOTH = sp.join({"sex": ["f", "m"], "pay": ["low", "high"]})
KNOWN = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}
WORDS = "1=0.1,2=0.2,3=0.3,4=0.4"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of ratings, which are numbers, and of two variables that were joined."""
    folder = tmp_path_factory.mktemp("ratings")
    drawn = np.random.default_rng(3)
    codes = sp.privatize(drawn.choice(RATINGS, 400, p=list(KNOWN.values())), DESIGN, seed=1).codes
    pairs = list(zip(drawn.choice(["f", "m"], 400), drawn.choice(["low", "high"], 400), strict=True))
    joined = sp.privatize([(str(a), str(b)) for a, b in pairs], BOTH, seed=2).codes
    table = pa.table({"rating": codes, "both": joined, "weight": np.tile([1, 2], 200)})
    sp.write_release(table, folder / "out.parquet", {"rating": DESIGN, "both": BOTH}, keep=["weight"])
    return folder, codes


@pytest.fixture(autouse=True)
def folder(made, monkeypatch):
    monkeypatch.chdir(made[0])
    return made[0]


TEST = ["fit-test", "out.parquet", "--column", "rating", "--seed", 1, "--replications", 99]


def test_results_are_those_of_the_library(fine, made):
    expected = sp.fit_test(sp.SubsetData(made[1], DESIGN), KNOWN, replications=99, seed=1)
    found = json.loads(fine(*TEST, "--reference", WORDS, "--json"))
    assert found.keys() == expected.to_dict().keys()
    assert found["categories"] == RATINGS
    assert found["reference"] == pytest.approx(list(KNOWN.values()))
    assert found["statistic"] == pytest.approx(expected.statistic)
    assert (found["pvalue"], found["null"], found["replications"]) == (expected.pvalue, "bootstrap", 99)
    printed = fine(*TEST, "--reference", WORDS)
    assert printed.startswith("Fit to a known distribution: n = 400, p-value ")
    limit = json.loads(fine(*TEST, "--reference", WORDS, "--null", "chi-square", "--json"))
    assert limit["pvalue"] == pytest.approx(expected.chi_square_pvalue)


def test_a_wrong_distribution_is_found_out(fine):
    found = json.loads(fine(*TEST, "--reference", "1=0.4,2=0.3,3=0.2,4=0.1", "--json"))
    assert found["pvalue"] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("known.csv", "category,share\n4,0.4\n1,0.1\n2,0.2\n3,0.3\n"),
        ("known.csv", "\ufeffsource,category,share\ncensus,1,0.1\ncensus,2,0.2\ncensus,3,0.3\ncensus,4,0.4\n"),
        ("known.json", json.dumps({str(label): share for label, share in KNOWN.items()})),
        ("known.JSON", json.dumps([{"category": label, "share": share} for label, share in KNOWN.items()])),
    ],
)
def test_references_in_files(name, text, fine, folder, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    wanted = json.loads(fine(*TEST, "--reference", WORDS, "--json"))
    assert json.loads(fine(*TEST, "--reference", tmp_path / name, "--json")) == wanted


def test_other_ways_to_say_the_reference(fine):
    wanted = json.loads(fine(*TEST, "--reference", WORDS, "--json"))
    assert json.loads(fine(*TEST, "--reference", "0.1,0.2,0.3,0.4", "--json")) == wanted
    piped = CliRunner().invoke(
        main, [*map(str, TEST), "--reference", "-", "--json"], input="category,share\n1,.1\n2,.2\n3,.3\n4,.4\n"
    )
    assert json.loads(piped.stdout) == wanted


def test_joined_variables_are_named_as_they_are_printed(fine, tmp_path):
    words = ["fit-test", "out.parquet", "--column", "both", "--null", "chi-square", "--json", "--reference"]
    shares = ["f & low=0.25", "f & high=0.25", "m & low=0.25", "m & high=0.25"]
    found = json.loads(fine(*words, ",".join(shares)))
    assert found["categories"][0] == ["f", "low"]
    rows = [{"category": label, "share": 0.25} for label in found["categories"]]
    (tmp_path / "known.json").write_text(json.dumps(rows))
    assert json.loads(fine(*words, tmp_path / "known.json")) == found


def test_frequencies_are_people(fine, made):
    words = [*TEST, "--null", "chi-square", "--reference", WORDS, "--weights", "weight"]
    found = json.loads(fine(*words, "--weights-kind", "frequency", "--json"))
    people = sp.SubsetData(np.repeat(made[1], np.tile([1, 2], 200)), DESIGN)
    expected = sp.fit_test(people, KNOWN, null="chi-square").to_dict()
    assert found["n"] == 600
    assert without_advice(found)["statistic"] == pytest.approx(expected["statistic"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing option '--reference'"),
        (["--reference", "1=a,2=b"], "must be LABEL=NUMBER,LABEL=NUMBER; got '1=a'"),
        (["--reference", "1=0.5,0.5"], "got '0.5'"),
        (["--reference", "1=0.5,1=0.5"], "got '1' twice"),
        (["--reference", "one,two"], "must be numbers joined by commas"),
        (["--reference", "nowhere.csv"], "the file nowhere.csv does not exist"),
        (["--reference", WORDS, "--replications", "5"], "'--replications'"),
        (["--reference", WORDS, "--null", "exact"], "'exact' is not one of"),
        (["--reference", WORDS, "--weights", "weight"], "go together"),
    ],
)
def test_words_that_make_no_test(words, message, misused):
    assert message in " ".join(misused(*TEST, *words).split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["1=0.5,2=0.5"], "--reference must give one number per category; got no entry for 3, 4."),
        (["1=0.1,2=0.2,3=0.3,9=0.4"], "--reference must give one number per category; got unknown '9'."),
        (["10,20,30,40"], "--reference must sum to 1; got 100. Hint: these look like percentages; divide by 100."),
        (["0.5,0.5"], "--reference must have one entry for each of the 4 categories"),
        ([WORDS, "--weights", "weight", "--weights-kind", "sampling"], "Hint: leave --weights out."),
    ],
)
def test_references_that_do_not_fit(words, message, refused):
    assert message in refused(*TEST, "--reference", *words)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "label,share\n1,1\n", "must have a category and its share in each row"),
        ("x.csv", "category,share\n1,secret\n", "must have a category and its share in each row"),
        ("x.csv", "category,share\n1,0.5\n1,0.5\n", "must name every category once"),
        ("x.json", "{", "must have a category and its share in each row"),
        ("x.json", "3", "must have a category and its share in each row"),
        ("x.json", '{"1": 0.5, "1": 0.5}', "must name every category once"),
        ("x.json", '[{"category": "1"}]', "must have a category and its share in each row"),
        ("x.json", '{"1": null}', "must have a category and its share in each row"),
    ],
)
def test_files_that_are_no_reference(name, text, message, refused, tmp_path):
    (tmp_path / name).write_text(text)
    line = refused(*TEST, "--reference", tmp_path / name)
    assert f"the file {str(tmp_path / name)!r} {message}" in line
    assert "secret" not in line


def test_errors_for_programs(told, tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n")
    code, (facts,) = told(*TEST, "--reference", tmp_path / "x.csv")
    assert (code, facts["kind"]) == (1, "DataFileError")
    assert "the columns category and share" in facts["advice"]


def test_bytes_that_are_no_text(refused, folder, tmp_path):
    Path(tmp_path / "x.csv").write_bytes(b"category,share\n\xff,1\n")
    assert "must be text in UTF-8" in refused(*TEST, "--reference", tmp_path / "x.csv")


def test_progress_is_told(fine, monkeypatch):
    from subsetprivacy.cli import fit_test

    seen = []

    class Listening(fit_test.ProgressLine):
        def __call__(self, done, total):
            seen.append((self._what, done, total))

    monkeypatch.setattr(fit_test, "ProgressLine", Listening)
    fine(*TEST, "--reference", WORDS)
    assert seen[-1] == ("samples", 99, 99)
