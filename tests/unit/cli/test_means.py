"""`means`: results are those of the library."""

import json

import numpy as np
import pyarrow as pa
import pytest

import subsetprivacy as sp

TREES = ["ash", "birch", "cedar", "elm"]
DESIGN = sp.uniform(TREES)
N = 900


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release with an outcome, a rate, a known group, weights and clusters."""
    folder = tmp_path_factory.mktemp("trees")
    rng = np.random.default_rng(3)
    values = rng.choice(4, size=N)
    height = 10.0 + 3 * values + rng.normal(size=N)
    data = sp.privatize([TREES[x] for x in values], DESIGN, seed=1)
    columns = {"height": height, "tall": height > 15, "side": rng.choice(["n", "s"], N), "plot": np.arange(N) // 30}
    table = pa.table({"tree": data.codes, **columns, "weight": np.tile([1, 2], N // 2)})
    sp.write_release(table, folder / "out.parquet", {"tree": DESIGN}, keep=[*columns, "weight"])
    return folder, data, columns


@pytest.fixture(autouse=True)
def _folder(made, monkeypatch):
    monkeypatch.chdir(made[0])


def test_results_are_those_of_the_library(fine, made):
    _, data, columns = made
    expected = sp.group_means(columns["height"], data)
    found = json.loads(fine("means", "out.parquet", "--column", "tree", "--of", "height", "--json"))
    assert found["mean"] == pytest.approx(expected.mean)
    assert found["interval"] == pytest.approx(expected.interval())
    assert found["outcome"] == "height"
    printed = fine("means", "out.parquet", "--of", "height", "--level", 0.9, "--interval", "wald")
    assert "Mean of height by tree: n = 900" in printed
    assert "lower 90%" in printed
    assert "by method 'wald'" in printed


def test_known_groups_weights_and_clusters(fine, made):
    _, data, columns = made
    words = [
        "--by",
        "side",
        "--weights",
        "weight",
        "--weights-kind",
        "sampling",
        "--clusters",
        "plot",
        "--strata",
        "side",
    ]
    found = json.loads(fine("means", "out.parquet", "--of", "height", *words, "--json"))
    expected = sp.group_means(
        columns["height"],
        data,
        by={"side": columns["side"]},
        sampling=sp.Sampling(np.tile([1, 2], N // 2), strata=columns["side"], clusters=columns["plot"]),
    )
    assert found["groups"] == ["n", "s"]
    assert found["mean"] == [pytest.approx(row) for row in expected.mean]
    assert found["cov"] == [pytest.approx(row, abs=1e-12) for row in expected.cov]


def test_tests_and_differences(fine, made):
    _, data, columns = made
    expected = sp.group_means(columns["tall"], data)
    test = json.loads(fine("means", "out.parquet", "--of", "tall", "--test", "--json"))
    assert test["statistic"] == pytest.approx(expected.test().statistic)
    words = ["means", "out.parquet", "--of", "tall", "--differences", "categories", "--simultaneous"]
    apart = json.loads(fine(*words, "--json"))
    wide = expected.differences().interval(method="simultaneous")
    assert [apart["lower"], apart["upper"]] == [pytest.approx(ends) for ends in wide.T]
    assert "ash - birch" in fine(*words)


def test_a_model_and_covariates(fine, made):
    _, data, columns = made
    found = json.loads(fine("means", "out.parquet", "--of", "height", "--model", "normal", "--json"))
    expected = sp.group_means(columns["height"], data, model="normal")
    assert found["mean"] == pytest.approx(expected.mean)
    assert found["comparison"]["pvalue"] == pytest.approx(expected.comparison.pvalue)
    helped = json.loads(fine("means", "out.parquet", "--of", "height", "--given", "side", "--given", "plot", "--json"))
    given = {"side": columns["side"], "plot": columns["plot"]}
    assert helped["mean"] == pytest.approx(sp.group_means(columns["height"], data, given=given).mean)


def test_files(fine, tmp_path):
    fine("means", "out.parquet", "--of", "height", "--by", "side", "--quantile", 0.5, "-o", tmp_path / "out.csv")
    head, first, *rest = (tmp_path / "out.csv").read_text().splitlines()
    assert head == "side,tree,number,share,share_se,mean,se,lower,upper,level,sd,sd_se,q50,q50_se"
    assert first.startswith("n,ash,")
    assert len(rest) == 7
    fine("means", "out.parquet", "--of", "height", "-o", tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ("--test --differences categories", "each replace the means"),
        ("--simultaneous", "--simultaneous is for differences"),
        ("--test --interval wald", "--interval is for means"),
        ("--test -o test.png", "--test has no picture"),
        ("--by tree", "--by must name columns other"),
    ],
)
def test_words_that_do_not_go_together(misused, words, match):
    assert match in misused("means", "out.parquet", "--of", "height", *words.split())
