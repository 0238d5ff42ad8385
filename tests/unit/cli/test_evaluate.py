"""`evaluate`: predictions in files and columns; results are those of the library."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import subsetprivacy as sp

RATINGS = [10, 20, 30, 40]  # numbers, which files write as text
DESIGN = sp.uniform(RATINGS)
N = 400


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release with a column of guesses and of weights, and the predictions of two classifiers."""
    folder = tmp_path_factory.mktemp("ratings")
    rng = np.random.default_rng(3)
    proba = rng.dirichlet(np.ones(4), size=N).round(6)
    proba[:, 0] = 1 - proba[:, 1:].sum(axis=1)
    values = (rng.random((N, 1)) < proba.cumsum(axis=1)).argmax(axis=1)
    data = sp.privatize([RATINGS[x] for x in values], DESIGN, seed=1)
    other = 0.5 * proba + 0.5 * rng.dirichlet(np.ones(4), size=N)
    guess = [RATINGS[x] for x in other.argmax(axis=1)]
    table = pa.table({"rating": data.codes, "said": guess, "weight": np.tile([1, 2], N // 2)})
    sp.write_release(table, folder / "out.parquet", {"rating": DESIGN}, keep=["said", "weight"])
    columns = {str(label): proba[:, j] for j, label in enumerate(RATINGS)}
    pq.write_table(pa.table({"id": range(N), **columns, "best": list(map(str, guess))}), folder / "new.parquet")
    lines = ["40,30,20,10", *(",".join(map(repr, row[::-1].tolist())) for row in other)]
    (folder / "old.csv").write_text("\n".join(lines) + "\n")
    return folder, data, proba, other, guess


@pytest.fixture(autouse=True)
def _folder(made, monkeypatch):
    monkeypatch.chdir(made[0])


def measures(facts):
    return [row["estimate"] for row in facts["measures"]]


def test_results_are_those_of_the_library(fine, made):
    _, data, proba, _, _ = made
    expected = sp.evaluate(data, proba=proba)
    found = json.loads(fine("evaluate", "out.parquet", "--column", "rating", "--proba", "new.parquet", "--json"))
    assert measures(found) == pytest.approx(expected.estimates)
    assert found["measures"][-1]["measure"] == "auc"
    assert found["measures"][-1]["category"] == 40
    printed = fine("evaluate", "out.parquet", "--proba", "new.parquet", "--level", 0.9, "--interval", "logit")
    assert "Classifier, evaluated on subsets: n = 400" in printed
    assert "lower 90%" in printed
    assert "by method 'logit'" in printed


def test_guesses_of_the_table_and_of_the_file(fine, made):
    _, data, proba, _, guess = made
    ask = ["--metric", "accuracy", "--metric", "f1", "--json"]
    alone = json.loads(fine("evaluate", "out.parquet", "--guess", "said", *ask))
    assert measures(alone) == pytest.approx(sp.evaluate(data, guess=guess, metrics=["accuracy", "f1"]).estimates)
    both = json.loads(fine("evaluate", "out.parquet", "--proba", "new.parquet", "--guess", "best", *ask))
    expected = sp.evaluate(data, proba=proba, guess=guess, metrics=["accuracy", "f1"])
    assert measures(both) == pytest.approx(expected.estimates)


def test_two_classifiers(fine, made, tmp_path):
    _, data, proba, other, _ = made
    expected = sp.evaluate(data, proba=proba, compare=other)
    words = ["evaluate", "out.parquet", "--proba", "new.parquet", "--compare", "old.csv"]
    found = json.loads(fine(*words, "--json"))
    assert found["names"] == ["new", "old"]
    assert [row["estimate"] for row in found["differences"]] == pytest.approx(expected.differences, abs=1e-12)
    assert [row["se"] for row in found["differences"]] == pytest.approx(expected.errors, abs=1e-12)
    fine(*words, "-o", tmp_path / "change.csv")
    head, first, *rest = (tmp_path / "change.csv").read_text().splitlines()
    assert head == "measure,category,first,second,estimate,se,lower,upper,level,pvalue"
    assert first.startswith("accuracy,,")
    assert len(rest) == 20


def test_weights(fine, made):
    _, data, proba, _, _ = made
    ask = ["evaluate", "out.parquet", "--proba", "new.parquet", "--metric", "accuracy", "--json"]
    found = json.loads(fine(*ask, "--weights", "weight", "--weights-kind", "sampling"))
    weights = {"weights": np.tile([1, 2], N // 2), "weights_kind": "sampling"}
    assert measures(found) == pytest.approx(sp.evaluate(data, proba=proba, metrics="accuracy", **weights).estimates)


@pytest.mark.parametrize("picture", ["measures", "calibration", "confusion"])
def test_pictures(fine, tmp_path, picture):
    pytest.importorskip("matplotlib")
    fine("evaluate", "out.parquet", "--proba", "new.parquet", "--picture", picture, "-o", tmp_path / "it.png")
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")


def test_empty_cells_are_missing_answers(fine, made, tmp_path):
    _, data, proba, _, _ = made
    texts = [DESIGN.format(code) for code in data.codes.tolist()]
    texts[0] = ""
    (tmp_path / "labels.csv").write_text("rating\n" + "\n".join(f'"{text}"' for text in texts) + "\n")
    DESIGN.save(tmp_path / "rating.json")
    words = ["evaluate", tmp_path / "labels.csv", "--column", f"rating={tmp_path / 'rating.json'}", "--form", "labels"]
    found = json.loads(fine(*words, "--missing", "full", "--proba", "new.parquet", "--metric", "brier", "--json"))
    assert (found["n"], found["n_missing"]) == (N - 1, 1)
    rest = sp.evaluate(data.codes[1:], design=DESIGN, proba=proba[1:], metrics="brier")
    assert measures(found) == pytest.approx(rest.estimates, rel=1e-3)  # blocks of all rows, not of the rest


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --proba FILE, --guess COLUMN, or both"),
        (["--compare", "old.csv", "--guess", "said"], "--compare compares probabilities"),
        (["--proba", "new.parquet", "--compare", "old.csv", "--interval", "logit"], "--interval is for one classifier"),
        (["--proba", "nowhere.csv"], "'nowhere.csv' does not exist"),
        (["--proba", "new.parquet", "--metric", "kappa"], "'kappa' is not one of"),
        (["--proba", "new.parquet", "--weights", "weight"], "--weights and --weights-kind go together"),
        (["--proba", "new.parquet", "-o", "new.parquet", "--force"], "--output must not be TABLE"),
    ],
)
def test_wrong_usage(words, message, misused):
    assert message in misused("evaluate", "out.parquet", *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--guess", "weight"], "column weight must hold one of the categories 10, 20, 30, 40 in each row; got 400"),
        (["--guess", "absent"], "got no column absent"),
        (["--proba", "short.csv"], "--proba must have one row per person; got 1 row for 400 people."),
        (["--proba", "half.csv"], "the rows of --proba must be probabilities that sum to 1; got 400 rows that are not"),
        (["--guess", "said", "--metric", "auc"], "--metric must be measures of guesses"),
    ],
)
def test_wrong_predictions(words, message, run):
    Path("short.csv").write_text("10,20,30,40\n0.25,0.25,0.25,0.25\n")
    Path("half.csv").write_text("10,20,30,40\n" + "0.25,0.25,0,0\n" * N)
    result = run("evaluate", "out.parquet", *words)
    assert result.exit_code == 1
    assert message in result.stderr
