"""`regress` with private terms: results are those of the library, and messages are those of the shell."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from shell_words import python_in

import subsetprivacy as sp

RACE = sp.uniform(["Asian", "Black", "Other", "White"])
RATING = sp.uniform([1, 2, 3, 4])
DESIGNS = {"race": RACE, "rating": RATING}
KEPT = ["income", "employed", "visits", "age", "weight", "shift", "town"]
N = 1500
FORMULA = "income ~ age + race"

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release with private terms, a bare table with a design, and new rows."""
    folder = tmp_path_factory.mktemp("predictors")
    rng = np.random.default_rng(8)
    race, rating, age = rng.choice(4, N, p=[0.2, 0.25, 0.1, 0.45]), rng.integers(1, 5, N), rng.integers(18, 80, N)
    mean = 1 + age / 50 + np.array([0.5, -0.5, 0.0, 0.0])[race]
    table = pd.DataFrame(
        {
            "income": mean + rng.normal(size=N),
            "employed": np.where(rng.random(N) < 1 / (1 + np.exp(-mean)), "yes", "no"),
            "visits": rng.poisson(mean),
            "age": age,
            "weight": rng.choice([0.5, 1.0, 2.0], N),
            "shift": rng.normal(size=N) / 10,
            "town": rng.integers(0, 40, N),
            "race": sp.privatize(np.array(RACE.categories.labels)[race], RACE, seed=1).codes,
            "rating": sp.privatize(rating, RATING, seed=2).codes,
        }
    )
    sp.write_release(table, folder / "private.parquet", DESIGNS, keep=KEPT)
    texts = [RACE.format(code) for code in table.race.tolist()]
    table[["income", "age"]].assign(race=texts).to_csv(folder / "bare.csv", index=False)
    RACE.save(folder / "race.json")
    pd.DataFrame({"race": ["Black", "White"], "rating": [4, 1], "age": [20, 60]}).to_csv(
        folder / "new.csv", index=False
    )
    pd.DataFrame({"race": ["Black|White", "White"], "age": [20, 60]}).to_csv(folder / "subsets.csv", index=False)
    return folder, table


@pytest.fixture(autouse=True)
def _inside(made, monkeypatch):
    monkeypatch.chdir(made[0])


def library(made, formula=FORMULA, **asked):
    return sp.regress(formula, made[1], designs=DESIGNS, **asked)


def printed(fine, *words):
    return json.loads(fine("regress", "private.parquet", *words, "--json"))


ASKED = [
    ("income ~ race", ["--method", "ml"], {"method": "ml"}),
    (FORMULA, ["--baseline", "race=Black", "--clusters", "town"], {"baseline": {"race": "Black"}, "clusters": "town"}),
    ("employed ~ race", ["--baseline", "employed=yes"], {"baseline": {"employed": "yes"}}),
    ("employed ~ race", ["--family", "linear"], {"family": "linear"}),
    ("visits ~ age + race", ["--family", "poisson", "--offset", "shift"], {"family": "poisson", "offset": "shift"}),
    (FORMULA, ["--weights", "weight", "--weights-kind", "sampling"], {"weights": "weight", "weights_kind": "sampling"}),
    ("log(visits + 1) ~ race:age", [], {}),
    ("income ~ rating", ["--baseline", "4"], {"baseline": 4}),
    (
        "rating ~ race",
        ["--baseline", "rating=4", "--baseline", "race=White"],
        {"baseline": {"rating": 4, "race": "White"}},
    ),
    (FORMULA, ["--merge", "rest=Asian,Other"], {"merge": {"race": {"rest": ["Asian", "Other"]}}}),
    (
        "income ~ race + rating",
        ["--merge", "rating:low=1,2", "--baseline", "rating=low"],
        {"merge": {"rating": {"low": [1, 2]}}, "baseline": {"rating": "low"}},
    ),
]


@pytest.mark.parametrize(("formula", "words", "asked"), ASKED)
def test_options_are_arguments(fine, made, formula, words, asked):
    expected = library(made, formula, **asked)
    found = printed(fine, formula, *words)
    assert [row["term"] for row in found["coefficients"]] == [
        label if expected.categories is None else label[1] for label in expected.labels
    ]
    np.testing.assert_allclose([row["estimate"] for row in found["coefficients"]], expected.estimates, rtol=1e-6)
    np.testing.assert_allclose([row["se"] for row in found["coefficients"]], expected.se.ravel(), rtol=1e-5)
    assert found["family"] == expected.family
    assert found["interval"] == "auto"


def test_what_is_shown_instead_of_coefficients(fine, made):
    fit = library(made)
    assert fine("regress", "private.parquet", FORMULA).startswith("Linear model of income with private race")
    tests = printed(fine, FORMULA, "--test")
    assert tests["statistic"] == pytest.approx(fit.test().statistic.tolist())
    effects = printed(fine, FORMULA, "--effects", "--level", "0.9")
    np.testing.assert_allclose(effects["upper"], fit.effects().interval(0.9)[..., 1], rtol=1e-6)
    adjusted = printed(fine, FORMULA, "--adjusted", "race")
    assert adjusted["rows"] == list(RACE.categories.labels)
    np.testing.assert_allclose(adjusted["estimate"], fit.adjusted("race").estimate, rtol=1e-7)
    both = library(made, "income ~ age + race + rating")
    predicted = printed(fine, "income ~ age + race + rating", "--predict", "new.csv")
    expected = both.predict({"age": [20, 60], "race": ["Black", "White"], "rating": [4, 1]})
    np.testing.assert_allclose(predicted["estimate"], expected.estimate, rtol=1e-7)


def test_adjusted_shares_of_a_private_response(fine, made):
    found = printed(fine, "race ~ age", "--adjusted", "age")
    np.testing.assert_allclose(found["estimate"], library(made, "race ~ age").adjusted("age").estimate, rtol=1e-6)


def test_files_are_written(fine, tmp_path):
    pytest.importorskip("matplotlib")
    words = ["regress", "private.parquet", FORMULA]
    heads = {
        "": ["term", "estimate", "se", "lower", "upper", "pvalue", "level", "price"],
        "--test": ["test", "statistic", "df", "denominator_df", "pvalue", "method"],
        "--adjusted race": ["at", "category", "estimate", "se", "lower", "upper", "level"],
    }
    for shown, head in heads.items():
        rows = list(csv.reader(io.StringIO(fine(*words, *shown.split(), "-o", "-", "--format", "csv"))))
        assert rows[0] == head
    for shown in ("", "--adjusted race"):
        fine(*words, *shown.split(), "-o", tmp_path / "it.png", "--force")
        assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")


def test_a_table_that_does_not_bring_its_design(fine, made):
    found = json.loads(fine("regress", "bare.csv", FORMULA, "--design", "race=race.json", "--json"))
    expected = library(made).estimates.tolist()
    assert [row["estimate"] for row in found["coefficients"]] == pytest.approx(expected)


USAGE = [
    ([FORMULA, "--adjusted", "race", "--effects"], "--effects and --adjusted each replace"),
    ([FORMULA, "--baseline", "race=Blue"], "must be one of 'Asian', 'Black', 'Other', 'White' for race"),
    ([FORMULA, "--baseline", "age=3"], "must be of the response or a private column; age is neither"),
    (["income ~ race + rating", "--baseline", "Black"], "must be COLUMN=LABEL; the private columns are race, rating"),
    ([FORMULA, "--baseline", "race=Black", "--baseline", "White"], "must be given once for race"),
    ([FORMULA, "--design", "race=nowhere.json"], "'nowhere.json' does not exist"),
    ([FORMULA, "--design", "race=race.json", "--design", "race=race.json"], "must be given once for each column"),
    ([FORMULA, "--merge", "rest=Blue"], "must be one of 'Asian', 'Black', 'Other', 'White' for race"),
    (["income ~ race + rating", "--merge", "low=1,2"], "the private terms are race, rating"),
]


@pytest.mark.parametrize(("words", "message"), USAGE)
def test_wrong_usage(words, message, misused):
    assert message in misused("regress", "private.parquet", *words)


WRONG = [
    (["income ~ C(race)"], "inside the term C(race). Hint: write race without a function"),
    (["income ~ age"], "FORMULA must have a column of subsets, as its response or as a term; got none of race, rating"),
    (["income ~ nothing + race"], "got no column nothing"),
    ([FORMULA, "--shrink"], "--shrink must be left out with a private predictor"),
    ([FORMULA, "--stream"], "--stream must be left out with a private predictor"),
    ([FORMULA, "--family", "ordinal"], "'ordinal'"),
    ([FORMULA, "--family", "logit"], "Hint: --family linear takes any numbers"),
    (["race ~ age", "--family", "linear"], "--family must be 'logit' or 'ordinal' for the private response race"),
    ([FORMULA, "--predict", "subsets.csv"], "column race must hold a category of its design in every row; got 1 row"),
    ([FORMULA, "--predict", "bare.csv"], "column race must hold a category of its design in every row; got 1,500 rows"),
    ([FORMULA, "--interval", "profile"], "profile intervals need a maximum-likelihood fit"),
    ([FORMULA, "--adjusted", "height"], "--adjusted must be a variable of the model (race, age); got another one"),
    ([FORMULA, "--clusters", "rating"], "a private column must be a response or a predictor; got rating"),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_wrong_input(words, message, run):
    result = run("regress", "private.parquet", *words)
    assert result.exit_code == 1, result.output
    assert message in result.stderr
    assert python_in(result.stderr) == []
    assert len(result.stderr.splitlines()) == 1
    assert "Black|White" not in result.stderr


def test_a_design_alone_is_that_of_the_response(run):
    result = run("regress", "bare.csv", FORMULA, "--design", "race.json")
    assert result.exit_code == 1
    assert "Hint: --design COLUMN=FILE names the column of a design" in result.stderr
