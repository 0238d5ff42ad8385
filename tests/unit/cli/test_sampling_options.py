"""Strata, clusters and known margins on the command line: results are those of the library."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from survey_samples import LABELS, small_sample

import subsetprivacy as sp

SAMPLE = small_sample(3, strata=20, clusters=4, people=(8, 16))
DESIGN = sp.uniform(LABELS)
N = len(SAMPLE.values)
REPLICATES = SAMPLE.weights[:, None] * np.random.default_rng(1).uniform(0.5, 1.5, (N, 4))
DRAWN = ("--weights", "w", "--weights-kind", "sampling", "--strata", "h", "--clusters", "c")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    data = sp.privatize(SAMPLE.values, DESIGN, seed=2)
    table = pd.DataFrame(
        {
            "value": data.codes,
            "w": SAMPLE.weights,
            "h": SAMPLE.strata,
            "c": SAMPLE.clusters,
            "group": SAMPLE.group,
            "x": SAMPLE.number,
            **{f"rep{r}": column for r, column in enumerate(REPLICATES.T)},
        }
    )
    kept = [name for name in table if name != "value"]
    sp.write_release(table, folder / "private.parquet", {"value": DESIGN}, keep=kept)
    sp.write_release(table, folder / "private.csv", {"value": DESIGN}, keep=kept)
    (folder / "margins.json").write_text(
        json.dumps({"group": {"x": 300, "y": 300, "z": 400}, "value": dict.fromkeys(LABELS, 0.25), "x": 0.05})
    )
    return folder, data


@pytest.fixture(autouse=True)
def _in_folder(made, monkeypatch):
    monkeypatch.chdir(made[0])


def sampling():
    return sp.Sampling(SAMPLE.weights, strata=SAMPLE.strata, clusters=SAMPLE.clusters)


@pytest.mark.parametrize("table", ["private.parquet", "private.csv"])
def test_estimate(made, fine, table):
    found = json.loads(fine("estimate", table, *DRAWN, "--json"))
    fit = sp.estimate(made[1], sampling=sampling())
    assert found["estimate"] == pytest.approx(fit.w)
    assert found["se"] == pytest.approx(fit.se)
    assert found["degrees_of_freedom"] == 60
    assert "design effect" in fine("estimate", table, *DRAWN)


def test_estimate_of_groups(made, fine):
    found = json.loads(fine("estimate", "private.parquet", *DRAWN, "--by", "group", "--json"))
    assert [one["group"] for one in found] == ["x", "y", "z"]
    part = sp.estimate(made[1], sampling=sampling().within(SAMPLE.group == "y"))
    assert found[1]["se"] == pytest.approx(part.se)


def test_a_table_of_groups_explains_its_columns_only(fine):
    text = fine("estimate", "private.parquet", "--by", "group", *DRAWN)
    assert "with 60 degrees of freedom" in text
    assert "design effect" not in text.lower()
    assert "design effect" in fine("estimate", "private.parquet", *DRAWN)


@pytest.mark.parametrize("fpc", ["1", "0.5", "100000"])
def test_a_finite_population(made, fine, fpc):
    """A number needs no columns; `estimate` and `compare` need no rows for it."""
    given = sp.Sampling(fpc=float(fpc))
    fit = sp.estimate(made[1].counts(), sampling=given)
    for table in ("private.parquet", "private.csv"):
        assert json.loads(fine("estimate", table, "--fpc", fpc, "--json"))["se"] == pytest.approx(fit.se)
    groups = json.loads(fine("estimate", "private.parquet", "--fpc", fpc, "--by", "group", "--json"))
    part = sp.SubsetData(made[1].codes[SAMPLE.group == "y"], DESIGN)
    assert groups[1]["se"] == pytest.approx(sp.estimate(part.counts(), sampling=given).se)
    compared = json.loads(fine("compare", "private.parquet", "--fpc", fpc, "--by", "group", "--json"))
    groups = {g: sp.SubsetData(made[1].codes[g == SAMPLE.group], DESIGN).counts() for g in "xyz"}
    wanted = sp.compare(sp.estimate_many(groups, sampling=given))
    assert compared["differences"]["se"] == pytest.approx(wanted._columns()["se"])
    means = json.loads(fine("means", "private.parquet", "--of", "x", "--fpc", fpc, "--json"))
    assert means["se"] == pytest.approx(sp.group_means(SAMPLE.number, made[1], sampling=given).se.tolist())
    table = {"value": made[1].codes, "x": SAMPLE.number}
    for formula, own in (("value ~ x", {"baseline": "a"}), ("x ~ value", {"baseline": {"value": "a"}})):
        found = json.loads(fine("regress", "private.parquet", formula, "--baseline", "value=a", "--fpc", fpc, "--json"))
        fit = sp.regress(formula, table, designs={"value": DESIGN}, sampling=given, **own)
        wanted = fit.to_dict()["coefficients"]
        assert [row["se"] for row in found["coefficients"]] == pytest.approx([row["se"] for row in wanted], rel=1e-6)


def test_replicates(made, fine):
    words = ("--weights", "w", "--weights-kind", "sampling", "--replicates", "rep*", "--replicate-method", "brr")
    found = json.loads(fine("estimate", "private.parquet", *words, "--json"))
    given = sp.Sampling(SAMPLE.weights, replicates=REPLICATES, replicate_method="brr")
    assert found["se"] == pytest.approx(sp.estimate(made[1], sampling=given).se)
    assert found["variance"] == "brr"


def test_compare(made, fine):
    found = json.loads(fine("compare", "private.parquet", *DRAWN, "--by", "group", "--json"))
    whole = sampling()
    fits = {g: sp.estimate(made[1], sampling=whole.within(g == SAMPLE.group)) for g in "xyz"}
    wanted = sp.compare(fits)
    assert found["differences"]["se"] == pytest.approx(wanted.to_dict()["differences"]["se"])
    assert found["test"]["pvalue"] == pytest.approx(wanted.test.pvalue)


def test_regress(made, fine):
    found = json.loads(fine("regress", "private.parquet", "value ~ x", *DRAWN, "--baseline", "d", "--json"))
    fit = sp.regress(made[1], {"x": SAMPLE.number}, sampling=sampling(), baseline="d")
    assert [row["se"] for row in found["coefficients"]] == pytest.approx(fit.se.ravel())
    assert found["degrees_of_freedom"] == 60


@pytest.mark.parametrize("table", ["private.parquet", "private.csv"])
def test_rake(made, fine, table):
    found = json.loads(fine("rake", table, "margins.json", *DRAWN, "--json"))
    margins = {"group": {"x": 300, "y": 300, "z": 400}, "value": dict.fromkeys(LABELS, 0.25), "x": 0.05}
    columns = {"group": SAMPLE.group, "value": made[1], "x": SAMPLE.number}
    wanted = sp.rake(columns, margins, sampling=sampling())
    assert found["after"] == pytest.approx(wanted.to_dict()["target"])
    assert found["private"] == ["value"]
    rows = list(csv.DictReader(io.StringIO(fine("rake", table, "margins.json", *DRAWN, "-o", "-"))))
    assert [float(row["weight"]) for row in rows] == pytest.approx(wanted.weights)
    assert "known" in fine("rake", table, "margins.json")


def test_shares_that_do_not_sum_to_1_are_refused(refused, tmp_path):
    (tmp_path / "low.json").write_text(json.dumps({"group": {"x": 0.3, "y": 0.3, "z": 0.3}}))
    assert "must sum to 1; got 0.9" in refused("rake", "private.parquet", str(tmp_path / "low.json"))


def test_large_files_are_refused(refused, monkeypatch):
    monkeypatch.setattr("subsetprivacy.frames.people.MOST_ROWS", 10)
    for words in (("estimate", "private.parquet", "--strata", "h"), ("rake", "private.parquet", "margins.json")):
        assert f"held in memory; got {N:,}" in refused(*words)


def test_wrong_words(run):
    def failed(*words):
        result = run(*words)
        assert result.exit_code != 0
        return result.output

    assert "--lonely center" in failed("estimate", "private.parquet", "--strata", "w")
    assert "--weights-kind sampling" in failed(
        "estimate", "private.parquet", "--strata", "h", "--weights", "w", "--weights-kind", "frequency"
    )
    assert "no column matches" in failed("estimate", "private.parquet", "--replicates", "no*")
    assert "two numbers" in failed("rake", "private.parquet", "margins.json", "--bounds", "3")
    assert "nobody" in failed("estimate", "private.parquet", "--strata", "nobody")
