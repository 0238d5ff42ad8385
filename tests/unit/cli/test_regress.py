"""`regress`: results are those of the library, from memory and in a stream, and messages are those of the shell."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from shell_words import python_in, without_advice

import subsetprivacy as sp

LABELS = ["no", "maybe", "yes", "often"]
DESIGN = sp.independent(LABELS, {("no", "maybe"): 0.5, ("no", "yes"): 0.3, ("no", "often"): 0.2})
NUMBERS = sp.uniform([1, 2, 3, 4])
N = 2500
FORMULA = "use ~ age + sex"

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release with covariates, a bare table with its design, and new covariates."""
    folder = tmp_path_factory.mktemp("regress")
    rng = np.random.default_rng(5)
    age, male = rng.integers(18, 80, N), rng.random(N) < 0.4
    U = np.vstack([np.zeros(N), 0.02 * age - 1, 0.5 * male, 0.2 * male])
    P = np.exp(U) / np.exp(U).sum(axis=0)
    values = (P.cumsum(axis=0) > rng.random(N)).argmax(axis=0)
    table = pd.DataFrame(
        {
            "use": sp.privatize(np.array(LABELS)[values], DESIGN, seed=1).codes,
            "rating": sp.privatize(values + 1, NUMBERS, seed=2).codes,
            "age": age,
            "sex": np.where(male, "m", "f"),
            "weight": rng.choice([0.5, 1.0, 2.0], N),
            "shift": rng.normal(size=N),
            "town": rng.integers(0, 40, N),
        }
    )
    kept = ["age", "sex", "weight", "shift", "town"]
    sp.write_release(table, folder / "private.parquet", {"use": DESIGN, "rating": NUMBERS}, keep=kept)
    texts = [DESIGN.format(code) for code in table.use.tolist()]
    table[["age", "sex"]].assign(use=texts).to_csv(folder / "bare.csv", index=False)
    DESIGN.save(folder / "use.json")
    pd.DataFrame({"sex": ["m", "f"], "age": [20, 60], "other": ["x", "y"]}).to_csv(folder / "new.csv", index=False)
    return folder, table


@pytest.fixture(autouse=True)
def _inside(made, monkeypatch):
    monkeypatch.chdir(made[0])


def library(made, **asked):
    return sp.regress(asked.pop("formula", FORMULA), made[1], designs={"use": DESIGN, "rating": NUMBERS}, **asked)


def printed(fine, *words):
    return json.loads(fine("regress", "private.parquet", *words, "--json"))


def test_results_are_those_of_the_library(fine, made):
    expected = library(made)
    found = printed(fine, FORMULA)
    facts = json.loads(json.dumps(without_advice(expected.to_dict())))
    for name in ("response", "family", "method", "categories", "baseline", "terms", "n", "n_missing", "df"):
        assert found[name] == facts[name]
    assert found["loglik"] == pytest.approx(expected.loglik)
    assert [row["estimate"] for row in found["coefficients"]] == pytest.approx(expected.estimates.tolist())
    assert [(row["category"], row["term"]) for row in found["coefficients"]] == list(expected.labels)
    assert found["interval"] == "auto"
    assert fine("regress", "private.parquet", FORMULA).startswith("Multinomial logit of use (4 categories)")


ASKED = [
    (["--method", "corrected"], {"method": "corrected"}),
    (["--family", "ordinal", "--offset", "shift"], {"family": "ordinal", "offset": "shift"}),
    (["--baseline", "often"], {"baseline": "often"}),
    (["--weights", "weight", "--weights-kind", "sampling"], {"weights": "weight", "weights_kind": "sampling"}),
    (["--clusters", "town"], {"clusters": "town"}),
    (["--shrink"], {"shrink": True}),
    (["--ridge", "2.5"], {"ridge": 2.5}),
    (["--lasso", "1"], {"lasso": 1.0}),
]


@pytest.mark.parametrize(("words", "asked"), ASKED)
def test_options_are_arguments(fine, made, words, asked):
    expected = library(made, formula="use ~ sex", **asked)
    found = printed(fine, "use ~ sex", *words)["coefficients"]
    assert [row["estimate"] for row in found] == pytest.approx(expected.estimates.tolist(), abs=1e-9)
    errors = [np.nan if row["se"] is None else row["se"] for row in found]
    np.testing.assert_allclose(errors, expected._se("auto"), rtol=1e-6)


def test_a_penalty_can_be_chosen(fine, made):
    found = printed(fine, "use ~ sex", "--ridge", "cv")
    assert found["chosen"]["ridge"]["penalty"] == library(made, formula="use ~ sex", ridge="cv").problem.options.ridge


@pytest.mark.parametrize("interval", ["wald", "robust", "profile"])
def test_intervals(fine, made, interval):
    expected = library(made, formula="use ~ sex", method="ml").interval(0.9, method=interval)
    found = printed(fine, "use ~ sex", "--method", "ml", "--interval", interval, "--level", "0.9")
    assert (found["interval"], found["level"]) == (interval, 0.9)
    ends = [[row["lower"], row["upper"]] for row in found["coefficients"]]
    np.testing.assert_allclose(ends, expected, rtol=1e-5)


def test_a_stream_prints_the_same(fine):
    streamed, held = (fine("regress", "private.parquet", FORMULA, word) for word in ("--stream", "--no-stream"))
    assert streamed.splitlines()[:14] == held.splitlines()[:14]
    for shown in (["--test"], ["--predict", "new.csv"]):
        assert fine("regress", "private.parquet", FORMULA, "--stream", *shown) == fine(
            "regress", "private.parquet", FORMULA, *shown
        )


def test_what_is_shown_instead_of_coefficients(fine, made):
    fit = library(made)
    tests = printed(fine, FORMULA, "--test")
    assert tests["names"] == ["age", "sex"]
    assert tests["statistic"] == pytest.approx(fit.test().statistic.tolist())
    effects = printed(fine, FORMULA, "--effects", "--level", "0.9")
    assert effects["rows"] == list(fit.effects().rows)
    np.testing.assert_allclose(effects["upper"], fit.effects().interval(0.9)[..., 1], rtol=1e-6)
    shares = printed(fine, FORMULA, "--predict", "new.csv")
    expected = fit.predict({"age": [20, 60], "sex": ["m", "f"]})
    np.testing.assert_allclose(shares["estimate"], expected.estimate, rtol=1e-7)
    np.testing.assert_allclose(shares["lower"], expected.interval()[..., 0], rtol=1e-6)
    assert np.shape(printed(fine, "use ~ 1", "--predict", "new.csv")["estimate"]) == (2, 4)


def test_numbers_as_labels(fine, made):
    found = printed(fine, "rating ~ age", "--baseline", "4")
    assert found["baseline"] == 4
    assert {row["category"] for row in found["coefficients"]} == {1, 2, 3}


def test_files_are_written(fine, made, tmp_path):
    pytest.importorskip("matplotlib")
    words = ["regress", "private.parquet", FORMULA]
    heads = {
        "": ["category", "term", "estimate", "se", "lower", "upper", "pvalue", "level", "price"],
        "--test": ["test", "statistic", "df", "denominator_df", "pvalue", "method"],
        "--effects": ["change", "category", "estimate", "se", "lower", "upper", "level"],
        "--predict new.csv": ["at", "category", "estimate", "se", "lower", "upper", "level"],
    }
    for shown, head in heads.items():
        rows = list(csv.reader(io.StringIO(fine(*words, *shown.split(), "-o", "-", "--format", "csv"))))
        assert rows[0] == head
    fine(*words, "-o", tmp_path / "coef.json")
    assert len(json.loads((tmp_path / "coef.json").read_text())["coefficients"]) == 9
    for shown in ("", "--predict new.csv"):
        fine(*words, *shown.split(), "-o", tmp_path / "it.png", "--force")
        assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")


def test_a_design_of_several_variables(fine, tmp_path):
    both = sp.join({"sex": ["f", "m"], "pay": ["low", "high"]})
    values = [("f", "low"), ("m", "high"), ("f", "high"), ("m", "low")] * 100
    table = {"both": sp.privatize(values, both, seed=1).codes, "x": np.random.default_rng(1).normal(size=400)}
    sp.write_release(pd.DataFrame(table), tmp_path / "out.parquet", {"both": both}, keep=["x"])
    words = ["regress", tmp_path / "out.parquet", "both ~ x", "--shrink", "-o", "-"]
    rows = list(csv.reader(io.StringIO(fine(*words, "--baseline", "f & low"))))
    assert rows[0][:3] == ["sex", "pay", "term"]
    assert [row[:2] for row in rows[1::2]] == [["f", "high"], ["m", "low"], ["m", "high"]]
    rows = list(csv.reader(io.StringIO(fine(*words, "--family", "ordinal"))))
    assert rows[-1][:3] == ["all", "", "x"]


def test_a_table_that_does_not_bring_its_design(fine, made):
    found = json.loads(fine("regress", "bare.csv", "use ~ age", "--design", "use.json", "--form", "labels", "--json"))
    expected = library(made, formula="use ~ age").estimates.tolist()
    assert [row["estimate"] for row in found["coefficients"]] == pytest.approx(expected)


USAGE = [
    (["--test", "--effects"], "--test and --effects each replace the coefficients"),
    (["--test", "--interval", "robust"], "--interval is for coefficients, which --test does not show"),
    (["--test", "-o", "it.png"], "--test has no picture"),
    (["--effects", "--stream"], "--effects needs all rows in memory; leave --stream out"),
    (["--method", "corrected", "--interval", "profile"], "--interval profile needs --method ml"),
    (["--weights", "weight"], "--weights and --weights-kind go together"),
    (["--ridge", "much"], "must be a number of at least 0, or cv"),
    (["--baseline", "never"], "must be one of 'no', 'maybe', 'yes', 'often'"),
    (["--predict", "nowhere.csv"], "'nowhere.csv' does not exist"),
    (["-o", "private.parquet", "--force"], "must end in"),
    (["--predict", "new.csv", "-o", "new.csv", "--force"], "--output must not be"),
]


@pytest.mark.parametrize(("words", "message"), USAGE)
def test_wrong_usage(words, message, misused):
    assert message in misused("regress", "private.parquet", "use ~ age", *words)


WRONG = [
    ("use ~ nothing", [], "got no column nothing among its 7 columns"),
    ("use ~ age + C(rating)", [], "inside the term C(rating). Hint: write rating without a function"),
    ("use", [], "FORMULA must have one ~"),
    ("age ~ shift", [], "must have a column of subsets"),
    ("age ~ usee", [], "got no column usee among its 7 columns. Hint: did you mean 'use'?"),
    ("use ~ age + I(2 * age)", [], "Hint: leave these columns out of the formula, or use --ridge 1."),
    ("use ~ offset(age)", [], "Hint: --offset COLUMN."),
    ("use ~ age", ["--stream", "--clusters", "town"], "--clusters must be left out in a stream; got some. Hint: --no-"),
    ("use ~ age", ["--stream", "--lasso", "cv"], "--lasso must be a number in a stream; got 'cv'. Hint: --no-stream"),
    ("use ~ center(age)", ["--stream"], "Hint: --no-stream keeps all rows in memory"),
    ("use ~ age", ["--ridge", "-1"], "--ridge must be a number of at least 0"),
    ("use ~ age", ["--ridge", "1", "--shrink"], "only one of --ridge, --lasso and --shrink must be given"),
    ("use ~ age", ["--ridge", "1", "--method", "corrected"], "--method must be 'ml' with a penalty"),
    ("use ~ age", ["--family", "ordinal", "--baseline", "no"], "--baseline must be left out for ordered categories"),
    ("use ~ age", ["--weights", "shift", "--weights-kind", "sampling"], "not negative"),
    (
        "use ~ age",
        ["--weights", "rating", "--weights-kind", "sampling"],
        "private column must be a response or a predictor",
    ),
    ("use ~ age", ["--offset", "sex"], "column sex must hold numbers"),
    ("use ~ age", ["--level", "95"], "--level must be between 0 and 1"),
    ("use ~ age + sex", ["--predict", "bare.csv", "--level", "2"], "--level must be between 0 and 1"),
    ("use ~ shift", ["--predict", "new.csv"], "got no column shift"),
    ("use ~ age", ["--interval", "profile", "--ridge", "1"], "need a fit without a penalty"),
]


@pytest.mark.parametrize(("formula", "words", "message"), WRONG)
def test_wrong_input(formula, words, message, run):
    result = run("regress", "private.parquet", formula, *words)
    assert result.exit_code == 1, result.output
    assert message in result.stderr
    assert python_in(result.stderr) == []
    assert len(result.stderr.splitlines()) == 1


def test_a_level_of_new_covariates_that_is_not_known_is_not_shown(run, tmp_path):
    (tmp_path / "new.csv").write_text("age,sex\n20,SECRET\n")
    result = run("regress", "private.parquet", FORMULA, "--predict", tmp_path / "new.csv")
    assert result.exit_code == 1
    assert "column sex must hold levels that the model was fitted with; got 1 row with another level" in result.stderr
    assert "SECRET" not in result.output


def test_warnings_are_lines_with_options(run, made, tmp_path):
    told = made[1].assign(told=(made[1].use % 2).astype(int))
    told[["use", "told"]].to_parquet(tmp_path / "separated.parquet")
    result = run("regress", tmp_path / "separated.parquet", "use ~ told", "--design", "use.json", "--method", "ml")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: ")
    assert "the data do not bound them" in line
    assert "Hint: --shrink keeps all estimates finite" in line
