"""`loglinear`: results are those of the library, over releases and counts, and messages are those of the shell."""

import csv
import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from shell_words import without_advice

import subsetprivacy as sp
from subsetprivacy.errors import SubsetPrivacyWarning

LABELS = ["no", "maybe", "yes", "often"]
DESIGNS = {"use": sp.uniform(LABELS), "vote": sp.warner([0, 1], 0.8)}
N = 4000
MODEL = "[use vote][vote region]"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of two private columns and a seen one, the same as counts, and margins."""
    folder = tmp_path_factory.mktemp("loglinear")
    rng = np.random.default_rng(3)
    region, vote = rng.choice(["north", "south"], N), rng.integers(0, 2, N)
    use = (rng.integers(0, 4, N) + vote * (rng.random(N) < 0.4)).clip(0, 3)
    table = pd.DataFrame(
        {
            "use": sp.privatize(np.array(LABELS)[use], DESIGNS["use"], seed=1).codes,
            "vote": sp.privatize(vote, DESIGNS["vote"], seed=2).codes,
            "region": region,
            "weight": rng.choice([0.5, 1.0, 2.0], N),
        }
    )
    sp.write_release(table, folder / "private.parquet", DESIGNS, keep=["region", "weight"])
    sp.write_counts(sp.crosstab(table, "use", "vote", designs=DESIGNS), folder / "counts.parquet")
    (folder / "margins.json").write_text(json.dumps({"vote": {"0": 0.5, "1": 0.5}}))
    (folder / "joint.json").write_text(
        json.dumps({"vote|region": {f"{v}|{r}": 0.25 for v in (0, 1) for r in ("north", "south")}})
    )
    (folder / "bad.json").write_text("[1]")
    return folder, table


@pytest.fixture(autouse=True)
def _inside(made, monkeypatch):
    monkeypatch.chdir(made[0])


def library(made, model=MODEL, **options):
    counts = sp.crosstab(made[1], "use", "vote", by="region", designs=DESIGNS)
    return sp.loglinear(counts, model, **options)


def printed(fine, *words):
    return json.loads(fine("loglinear", *words, "--json"))


def test_results_are_those_of_the_library(fine, made):
    expected = library(made)
    found = printed(fine, "private.parquet", MODEL)
    facts = json.loads(json.dumps(without_advice(expected.to_dict())))
    for name in ("model", "generators", "variables", "n", "df", "separated"):
        assert found[name] == facts[name]
    assert [row["parameter"] for row in found["parameters"]] == list(expected.labels)
    assert [row["estimate"] for row in found["parameters"]] == pytest.approx(expected.estimates.tolist())
    assert fine("loglinear", "private.parquet", MODEL).startswith(f"Log-linear model {MODEL}")


def test_counts_are_read_as_a_release_is(fine, made):
    fit = sp.loglinear(sp.read_release("counts.parquet"), "independence")
    assert printed(fine, "counts.parquet", "independence")["loglik"] == pytest.approx(fit.loglik)


def test_a_release_takes_its_seen_columns_by_name(made):
    release = sp.read_release("private.parquet")
    assert sp.loglinear(release, MODEL).estimates == pytest.approx(library(made).estimates)
    assert sp.loglinear(release, "[use region]").n == N
    with pytest.raises(sp.errors.ArgumentError, match="at least one column of subsets"):
        sp.loglinear(release, "[region weight]")


def test_tests_shares_and_odds(fine, made):
    fit = library(made, "[use vote][use region][vote region]")
    model = "[use vote][use region][vote region]"
    assert printed(fine, "private.parquet", model, "--test")["statistic"] == pytest.approx(
        fit.test().statistic.tolist()
    )
    smaller = printed(fine, "private.parquet", model, "--compare", MODEL)
    assert smaller["statistic"] == pytest.approx(fit.compare(library(made)).statistic.tolist())
    shares = printed(fine, "private.parquet", model, "--shares", "use", "--given", "region", "--level", "0.9")
    assert shares["estimate"] == pytest.approx(fit.shares("use", given="region").estimate.tolist())
    assert shares["lower"] == pytest.approx(fit.shares("use", given="region").interval(0.9)[:, 0].tolist())
    odds = printed(fine, "private.parquet", model, "--odds", "use,vote")
    assert odds["estimate"] == pytest.approx(fit.odds_ratios("use", "vote").estimate.tolist())
    whole = library(made, "saturated").odds_ratios("use", "vote", given={"region": "north"})
    found = printed(fine, "private.parquet", "[use vote region]", "--odds", "use,vote", "--where", "region=north")
    assert found["estimate"] == pytest.approx(whole.estimate.tolist(), nan_ok=True)
    drawn = printed(fine, "private.parquet", model, "--test", "--bootstrap", "9", "--seed", "1")
    assert all(0.1 <= p <= 1 for p in drawn["pvalue"])


def test_baselines_known_margins_and_weights(fine, made):
    found = printed(fine, "private.parquet", MODEL, "--baseline", "vote=1", "--baseline", "use=no")
    assert {one["name"]: one["baseline"] for one in found["variables"]}.items() >= {"use": "no", "vote": 1}.items()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        known = library(made, known={"vote": [0.5, 0.5]})
    assert printed(fine, "private.parquet", MODEL, "--known", "margins.json")["loglik"] == pytest.approx(known.loglik)
    assert printed(fine, "private.parquet", MODEL, "--known", "joint.json")["known"] == [["vote", "region"]]
    weighted = printed(fine, "private.parquet", "[use vote]", "--weights", "weight", "--weights-kind", "sampling")
    assert weighted["robust"] is True


def test_files_are_written(fine, made, tmp_path):
    fine("loglinear", "private.parquet", MODEL, "-o", tmp_path / "fit.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "fit.csv").read_text())))
    columns = ["parameter", "term", "estimate", "se", "lower", "upper", "pvalue", "level", "interval", "price"]
    assert list(rows[0]) == columns
    pytest.importorskip("matplotlib")
    fine("loglinear", "private.parquet", MODEL, "--shares", "use,vote", "-o", tmp_path / "shares.png")
    assert (tmp_path / "shares.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["[use vote]", "--test", "--odds", "use,vote"], "give only one of them"),
        (["[use vote]", "--given", "use"], "--given is for --shares"),
        (["[use vote]", "--where", "use=no"], "--where is for --odds"),
        (["[use vote]", "--bootstrap", "9"], "--bootstrap is for"),
        (["[use vote]", "--test", "-o", "x.png"], "has no picture"),
        (["[use vote]", "--odds", "use"], "two columns"),
        (["[use vote]", "--baseline", "use"], "NAME=LABEL"),
        (["[use vote]", "--baseline", "size=3"], "must name one of use, vote"),
        (["[use vote]", "--baseline", "use=never"], "must be one of"),
        (["[use vote]", "--known", "bad.json"], "must map columns to the shares"),
        (["use vote"], "in brackets"),
        (["[use pay]"], "variables of the table; got 'pay'"),
        (["[use vote]", "--weights", "weight"], "go together"),
    ],
)
def test_wrong_calls_say_what_is_right(run, words, message):
    result = run("loglinear", "private.parquet", *words)
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.stderr.split())


def test_a_seen_column_of_very_many_values_is_named(run, made, tmp_path):
    table = made[1].drop(columns="weight").assign(age=np.arange(N) % 57)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        sp.write_release(table, tmp_path / "ages.parquet", DESIGNS, keep=["region", "age"])
    result = run("loglinear", str(tmp_path / "ages.parquet"), "all pairs")
    text = " ".join(result.stderr.split())
    assert "column age must have at most 48 values to be a variable of the model; got 57" in text
    assert "leave age out" in text
    assert "hadamard" not in text
