"""`estimate`: merged categories, intervals that hold all together, and groups as one table and as a picture."""

import csv
import json

import numpy as np
import pyarrow as pa
import pytest
from shell_words import without_advice

import subsetprivacy as sp

RATINGS = [1, 2, 3, 4, 5]
DESIGN = sp.uniform(RATINGS)
TREES = sp.uniform(["ash", "birch", "cedar, red", "elm"])
NUMBERS = ("estimate", "se", "lower", "upper")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of ratings, which are numbers, and of trees, in groups of two columns."""
    folder = tmp_path_factory.mktemp("estimates")
    drawn = np.random.default_rng(9)
    table = pa.table(
        {
            "rating": sp.privatize(drawn.choice(RATINGS, 900), DESIGN, seed=1).codes,
            "tree": sp.privatize(drawn.choice(list(TREES.categories), 900), TREES, seed=2).codes,
            "year": np.repeat([2023, 2024, 2025], 300),
            "sex": np.tile(["f", "m"], 450),
        }
    )
    place = folder / "out.parquet"
    sp.write_release(table, place, {"rating": DESIGN, "tree": TREES}, keep=["year", "sex"])
    return folder, sp.read_release(place)


@pytest.fixture(autouse=True)
def folder(made, monkeypatch):
    monkeypatch.chdir(made[0])
    return made[0]


OF_RATINGS = ["estimate", "out.parquet", "--column", "rating"]


def check(found, facts):
    facts = json.loads(json.dumps(without_advice(facts)))
    assert set(found) - {"group"} == set(facts) - {"group"}
    for name, value in facts.items():
        if name in NUMBERS:
            assert found[name] == pytest.approx(value, abs=1e-9)
        elif name not in ("notes", "loglik", "gap", "group"):
            assert found[name] == value, name


# Merged categories, and intervals that hold together ----------------------------------------------


def test_merged_categories(fine, made):
    merged = sp.estimate(made[1].count("rating")).collapse({"low": [1, 2], "high": [4, 5]})
    words = [*OF_RATINGS, "--merge", "low=1,2", "--merge", "high=4, 5"]
    check(json.loads(fine(*words, "--json")), merged.to_dict())
    printed = fine(*words)
    assert printed.startswith("Estimated shares of merged categories, maximum likelihood, n = 900\n")
    assert [line.split()[0] for line in printed.splitlines()[4:7]] == ["low", "3", "high"]
    wald = json.loads(fine(*words, "--interval", "wald", "--level", "0.8", "--json"))
    assert wald["lower"] == pytest.approx(merged.interval(0.8, method="wald")[:, 0])


def test_labels_with_commas_and_of_several_variables(fine):
    found = json.loads(fine("estimate", "out.parquet", "--column", "tree", "--merge", 'b=birch,"cedar, red"', "--json"))
    assert found["categories"] == ["ash", "b", "elm"]
    joint = ["estimate", "out.parquet", "--column", "rating", "--column", "tree", "--merge", "x=1 & ash,1 & elm"]
    found = json.loads(fine(*joint, "--json"))
    assert found["categories"][:2] == ["x", [1, "birch"]]
    cells = [row["category"] for row in csv.DictReader(fine(*joint, "-o", "-").splitlines())]
    assert cells[:2] == ["x", "1 & birch"]


def test_intervals_that_hold_all_together(fine, made):
    fit = sp.estimate(made[1].count("rating"))
    found = json.loads(fine(*OF_RATINGS, "--simultaneous", "--json"))
    check(found, fit.to_dict(simultaneous=True))
    assert found["simultaneous"] == "normal"
    alone = json.loads(fine(*OF_RATINGS, "--json"))
    assert alone["simultaneous"] is None
    assert all(np.array(found["lower"]) < alone["lower"])
    assert "all intervals jointly" in " ".join(fine(*OF_RATINGS, "--simultaneous").split())


@pytest.mark.parametrize("more", [[], ["--merge", "low=1,2"]])
def test_pictures_of_one_estimate(more, fine, tmp_path):
    fine(*OF_RATINGS, *more, "-o", tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--merge", "low"], "must be NAME=LABEL,LABEL"),
        (["--merge", "=1,2"], "must be NAME=LABEL,LABEL"),
        (["--merge", "low=1,,2"], "must have a label before and after every comma"),
        (["--merge", "low=1", "--merge", "low=2"], "the name low twice"),
        (["--merge", "low=1,2", "--interval", "bootstrap"], "--interval bootstrap does not work with --merge"),
        (["--merge", "low=1,2", "--by", "year", "-o", "x.png"], "a picture of groups cannot show"),
        (["--simultaneous", "--by", "year", "-o", "x.svg"], "a picture of groups cannot show"),
    ],
)
def test_options_that_do_not_go_together(words, message, misused, folder):
    assert message in " ".join(misused(*OF_RATINGS, *words).split())
    assert not (folder / words[-1]).exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--merge", "low=1,7"], "--merge must name categories, of 1, 2, 3, 4, 5; got '7'."),
        (["--merge", "3=1,2"], "--merge must have new labels; 3 is a category that is not merged."),
        (["--merge", "low=1,2", "--merge", "other=2,3"], "--merge must name each category once"),
        (["--merge", "all=1,2,3,4,5"], "--merge must leave at least two categories"),
    ],
)
def test_categories_that_cannot_be_merged(words, message, refused):
    line = refused(*OF_RATINGS, *words)
    assert message in line
    assert "`" not in line


def test_errors_for_programs(told):
    code, (facts,) = told(*OF_RATINGS, "--merge", "low=1,7")
    assert (code, facts["kind"]) == (1, "CategoryError")


# Groups -------------------------------------------------------------------------------------------


def test_groups_are_one_table(fine, made):
    batch = sp.estimate_many(made[1].count("rating", by=["year", "sex"]))
    printed = fine(*OF_RATINGS, "--by", "year", "--by", "sex", "--level", "0.9")
    table = batch.summary(0.9)
    assert printed.splitlines()[: 5 + 30] == str(table).splitlines()[: 5 + 30]
    assert printed.count("lower 90%") == 1


def test_groups_in_json_and_csv(fine, made):
    batch = sp.estimate_many(made[1].count("rating", by=["year", "sex"]))
    words = [*OF_RATINGS, "--by", "year", "--by", "sex"]
    found = json.loads(fine(*words, "--json"))
    assert [facts["group"] for facts in found] == [list(name) for name in batch.names]
    for facts, expected in zip(found, batch.to_dict()["groups"], strict=True):
        check(facts, expected)
    rows = list(csv.DictReader(fine(*words, "-o", "-").splitlines()))
    assert list(rows[0]) == ["year", "sex", "category", *NUMBERS, "level"]
    frame = batch.to_frame()
    assert [(int(row["year"]), row["sex"]) for row in rows] == list(zip(frame["year"], frame["sex"], strict=True))
    for name in NUMBERS:
        assert [float(row[name]) for row in rows] == pytest.approx(frame[name].tolist(), abs=1e-9)


def test_groups_with_a_table_each(fine, made):
    more = ["--merge", "low=1,2"]
    printed = fine(*OF_RATINGS, "--by", "sex", *more)
    assert [line for line in printed.splitlines() if line.startswith("sex: ")] == [f"sex: {sex}" for sex in ("f", "m")]
    found = json.loads(fine(*OF_RATINGS, "--by", "sex", *more, "--simultaneous", "--json"))
    fit = sp.estimate(made[1].count("rating", by="sex")["m"])
    expected = fit.collapse({"low": [1, 2]}).to_dict(simultaneous=True)
    assert found[1]["group"] == "m"
    check(found[1], expected)
    rows = list(csv.DictReader(fine(*OF_RATINGS, "--by", "sex", *more, "-o", "-").splitlines()))
    assert len(rows) == 2 * len(expected["categories"])
    assert rows[0]["category"] == str(expected["categories"][0])


def test_a_picture_of_groups_shows_them(fine, tmp_path, monkeypatch):
    asked = []
    whole = sp.EstimateBatch.plot

    def plot(batch, **settings):
        asked.append((batch.names, settings))
        return whole(batch, **settings)

    monkeypatch.setattr(sp.EstimateBatch, "plot", plot)
    fine(*OF_RATINGS, "--by", "year", "--level", "0.8", "--interval", "wald", "-o", tmp_path / "x.png")
    assert asked == [((2023, 2024, 2025), {"level": 0.8, "method": "wald"})]
