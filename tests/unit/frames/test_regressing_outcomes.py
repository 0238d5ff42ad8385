"""The entry point of regressions with private predictors: what reaches the fit, whatever the table, or is refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from attrs import frozen
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, DataFileError, MismatchError, TooLargeError
from subsetprivacy.frames import outcome_people, regressing_files

RACE = sp.independent(
    ["Asian", "Black", "Other", "White"],
    {("Asian", "Black"): 0.5, ("Asian", "Other"): 0.3, ("Asian", "White"): 0.2},
)
FAITH = sp.uniform(["none", "some", "much", "all"])
VOTE = sp.uniform(["red", "green", "blue", "none"])
DESIGNS = {"race": RACE, "faith": FAITH, "vote": VOTE}
N = 60
SECRET = 987654


def columns(n=N):
    """Return columns of a table: seen responses, subsets, covariates, weights, clusters."""
    rng = np.random.default_rng(5)
    race = rng.choice(4, n, p=[0.15, 0.1, 0.05, 0.7])
    age = rng.integers(18, 80, n)
    return {
        "income": (age / 10 + race + rng.normal(size=n)).round(3).tolist(),
        "rich": rng.integers(0, 2, n).tolist(),
        "employed": rng.choice(["no", "yes"], n).tolist(),
        "visits": rng.poisson(2, n).tolist(),
        "age": age.tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "race": sp.privatize(np.array(RACE.categories.labels)[race], RACE, seed=1).codes.tolist(),
        "faith": sp.privatize(rng.choice(FAITH.categories.labels, n), FAITH, seed=2).codes.tolist(),
        "vote": sp.privatize(rng.choice(VOTE.categories.labels, n), VOTE, seed=3).codes.tolist(),
        "w": rng.integers(1, 4, n).tolist(),
        "shift": rng.normal(size=n).round(3).tolist(),
        "g": rng.integers(0, 9, n).tolist(),
    }


@pytest.fixture
def fitted(monkeypatch):
    """Return what the fit was given, by `regress` of a formula and a table; nothing is fitted."""
    taken = []

    def take(name, y, V, codes, design, layout, **more):
        taken.append({"name": name, "y": y, "V": V, "codes": codes, "design": design, "layout": layout, **more})
        return _Nothing()

    monkeypatch.setattr(outcome_people, "fit_outcome", take)

    def run(formula, data=None, **asked):
        if isinstance(formula, str):
            asked = {"designs": DESIGNS, **asked}
        sp.regress(formula, columns() if data is None else data, **asked)
        return taken[-1]

    return run


@frozen
class _Nothing:
    """In the place of a result."""

    modeled: object = None
    more: tuple = ()


def same(found, expected):
    assert found["layout"].names == expected["layout"].names
    assert found["layout"].baselines == expected["layout"].baselines
    for name in ("y", "V", "codes"):
        assert np.array_equal(found[name], expected[name])
    assert found["design"] == expected["design"]


def test_a_seen_response_and_a_private_predictor(fitted):
    result = fitted("income ~ age + race")
    assert result["name"] == "income"
    assert result["y"].tolist() == columns()["income"]
    assert result["codes"].tolist() == columns()["race"]
    assert result["design"] == RACE
    assert result["layout"].names == ("Intercept", "age", "race[Asian]", "race[Black]", "race[Other]")
    assert result["layout"].terms == {"Intercept": (0,), "age": (1,), "race": (2, 3, 4)}
    assert result["layout"].baselines == {"race": "White"}  # the most frequent
    assert np.array_equal(result["V"], np.column_stack([np.ones(N), columns()["age"]]))
    assert (result["family"], result["method"], result["response_design"]) == ("linear", "corrected", None)


def test_several_private_predictors_are_one_of_their_cells(fitted):
    result = fitted("income ~ race + faith:age", baseline={"faith": "all"})
    both = sp.product({"race": RACE, "faith": FAITH})
    assert result["design"] == both
    assert np.array_equal(result["codes"], both.join([columns()["race"], columns()["faith"]]))
    assert list(result["layout"].private) == ["race", "faith"]
    assert result["layout"].Z.shape[0] == 16
    assert result["layout"].baselines["faith"] == "all"


def test_merged_categories_have_one_column(fitted):
    result = fitted("income ~ race", merge={"race": {"Asian": ["Asian", "Other"]}})
    assert result["layout"].names == ("Intercept", "race[Asian]", "race[Black]")
    assert result["layout"].Z.tolist() == [[1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 0, 0]]
    result = fitted("income ~ race", merge={"race": {"others": ["Asian", "Other"]}}, baseline="others")
    assert result["layout"].names == ("Intercept", "race[Black]", "race[White]")
    assert result["layout"].baselines == {"race": "Asian"}
    assert fitted("income ~ race", merge={"race": {"x": ["White", "Other"]}})["layout"].baselines == {"race": "Other"}


def test_merged_categories_of_known_values_are_least_squares_of_the_merged():
    rng = np.random.default_rng(2)
    race, age = rng.choice(4, 200), rng.normal(size=200)
    income = age + np.array([0.0, 1.0, 3.0, 3.0])[race] + rng.normal(size=200)
    open_ = sp.nonprivate(RACE.categories.labels)
    people = {"income": income, "age": age, "race": 2**race}
    merge = {"race": {"rest": ["Other", "White"]}}
    fit = sp.regress("income ~ age + race", people, designs={"race": open_}, merge=merge, baseline="Asian")
    X = np.column_stack([np.ones(200), age, race == 1, race >= 2]).astype(float)
    assert fit.layout.names == ("Intercept", "age", "race[Black]", "race[rest]")
    assert np.allclose(fit.coef, np.linalg.lstsq(X, income)[0], atol=1e-9)


def test_a_private_response_with_private_predictors(fitted):
    result = fitted("vote ~ age + race", baseline={"vote": "red", "race": "Black"})
    assert result["y"].tolist() == columns()["vote"]
    assert (result["response_design"], result["baseline"], result["family"]) == (VOTE, "red", "logit")
    assert result["layout"].baselines == {"race": "Black"}
    assert fitted("vote ~ race", baseline="blue")["baseline"] == "blue"
    assert fitted("vote ~ race")["V"].tolist() == [[1.0]] * N


@pytest.mark.parametrize(
    ("response", "asked", "family", "y"),
    [
        ("rich", {}, "logit", columns()["rich"]),
        ("rich", {"family": "linear"}, "linear", columns()["rich"]),
        ("employed", {}, "logit", [float(x == "yes") for x in columns()["employed"]]),
        ("employed", {"baseline": {"employed": "yes"}}, "logit", [float(x == "no") for x in columns()["employed"]]),
        ("visits", {}, "linear", columns()["visits"]),
        ("visits", {"family": "poisson"}, "poisson", columns()["visits"]),
    ],
)
def test_families(fitted, response, asked, family, y):
    result = fitted(f"{response} ~ race", **asked)
    assert (result["family"], result["y"].tolist()) == (family, y)


def test_a_response_can_be_computed(fitted, tmp_path):
    held = {**columns(), "income": np.exp(columns()["income"]).tolist()}
    result = fitted("np.log(income) ~ . + race - rich - employed - visits - shift - w - g", held)
    assert result["name"] == "np.log(income)"
    assert np.allclose(result["y"], columns()["income"])
    assert set(result["layout"].terms) == {"Intercept", "age", "sex", "race"}
    frame = pd.DataFrame(held)[["income", "age", "race"]]
    release = sp.write_release(frame, tmp_path / "x.parquet", {"race": RACE}, keep=["income", "age"])
    from_file = fitted("np.log(income) ~ . + race", release, designs=None)
    assert np.allclose(from_file["y"], columns()["income"])
    assert set(from_file["layout"].terms) == {"Intercept", "age", "race"}
    old = fitted("{age > 40} ~ race", held)
    assert (old["family"], old["y"].tolist()) == ("logit", [float(age > 40) for age in held["age"]])
    quoted = fitted("`np.log(income)` ~ race", {**held, "np.log(income)": columns()["age"]})
    assert quoted["y"].tolist() == columns()["age"]


def test_options_reach_the_fit(fitted):
    asked = {"weights": "w", "weights_kind": "sampling", "clusters": "g", "offset": "shift"}
    result = fitted("income ~ age + race", method="ml", starts=3, baseline="Asian", **asked)
    assert (result["method"], result["starts"], result["weights_kind"]) == ("ml", 3, "sampling")
    assert list(result["weights"]) == columns()["w"]
    assert list(result["clusters"]) == columns()["g"]
    assert list(result["offset"]) == columns()["shift"]
    assert result["layout"].baselines == {"race": "Asian"}
    result = fitted("income ~ race", clusters=columns()["g"], offset=columns()["shift"])
    assert result["clusters"] == columns()["g"]
    assert result["offset"] == columns()["shift"]


@pytest.mark.parametrize("suffix", [None, "csv", "parquet"])
def test_a_sampling_names_columns(suffix, fitted, tmp_path):
    data = columns()
    if suffix is not None:
        kept = ["income", "age", "sex", "w", "g"]
        table = pa.table({name: data[name] for name in (*kept, "race")})
        data = sp.write_release(table, tmp_path / f"x.{suffix}", {"race": RACE}, keep=kept)
    asked = {"designs": DESIGNS if suffix is None else None, "sampling": sp.Sampling("w", strata="sex", clusters="g")}
    right = ". + race" if suffix is not None else ". + race - rich - employed - visits - shift"
    result = fitted(f"income ~ {right}", data, **asked)
    drawn, expected = result["sampling"], sp.Sampling(columns()["w"], strata=columns()["sex"], clusters=columns()["g"])
    assert set(result["layout"].terms) == {"Intercept", "age", "race"}
    scores = np.random.default_rng(0).normal(size=(N, 2))
    assert np.allclose(drawn.covariance(scores), expected.covariance(scores))
    held = {"age": columns()["age"], "race": sp.SubsetData(np.array(columns()["race"]), RACE)}
    assert fitted(columns()["income"], held, sampling=expected)["sampling"] is expected


def test_a_dot_stands_for_what_is_seen_and_not_used_otherwise(fitted):
    asked = {"weights": "w", "weights_kind": "frequency", "clusters": "g", "offset": "shift"}
    result = fitted("income ~ . - rich - employed - visits + race", **asked)
    assert set(result["layout"].terms) == {"Intercept", "age", "sex", "race"}


@pytest.mark.parametrize(
    ("suffix", "response"),
    [("csv", "income"), ("csv.gz", "employed"), ("csv", "rich"), ("parquet", "vote"), ("arrow", "employed")],
)
def test_every_file(suffix, response, fitted, tmp_path):
    kept = ["income", "rich", "employed", "age", "sex", "w", "shift", "g"]
    held = {name: columns()[name] for name in (*kept, *DESIGNS)}
    asked = {"weights": "w", "weights_kind": "sampling", "clusters": "g", "offset": "shift"}
    release = sp.write_release(pa.table(held), tmp_path / f"people.{suffix}", DESIGNS, keep=kept)
    formula = f"{response} ~ bs(age, df=3)*race + C(sex) + faith"
    expected = fitted(formula, **asked)
    for data in (release, str(release.path), release.path):
        result = fitted(formula, data, designs=None, **asked)
        same(result, expected)
        for name in ("weights", "offset"):
            assert list(result[name]) == list(expected[name])
        assert list(map(str, result["clusters"])) == list(map(str, expected["clusters"]))  # names, of a CSV file text
        assert result["family"] == expected["family"]


def test_several_files_follow_each_other(fitted, tmp_path):
    frame = pd.DataFrame(columns())[["income", "age", "race"]]
    parts = [
        sp.write_release(part, tmp_path / f"{k}.parquet", {"race": RACE}, keep=["income", "age"])
        for k, part in enumerate((frame[:25], frame[25:]))
    ]
    same(fitted("income ~ age + race", parts, designs=None), fitted("income ~ age + race"))
    other = sp.write_release(
        frame, tmp_path / "x.parquet", {"race": sp.uniform(RACE.categories)}, keep=["income", "age"]
    )
    with pytest.raises(MismatchError):
        fitted("income ~ age + race", [parts[0], other], designs=None)


def test_files_that_are_too_large_are_refused(fitted, tmp_path, monkeypatch):
    frame = pd.DataFrame(columns())[["income", "age", "race"]]
    release = sp.write_release(frame, tmp_path / "x.parquet", {"race": RACE}, keep=["income", "age"])
    monkeypatch.setattr(regressing_files, "MOST_HELD", 1000)
    with pytest.raises(TooLargeError, match=r"one GiB.*got 60 rows of 3 columns"):
        fitted("income ~ age + race", release, designs=None)
    same(fitted("income ~ age + race", release, designs=None, stream=False), fitted("income ~ age + race"))


def test_a_file_without_a_design_needs_one(fitted, tmp_path):
    pd.DataFrame(columns()).to_parquet(tmp_path / "bare.parquet")
    same(fitted("income ~ age + race", tmp_path / "bare.parquet"), fitted("income ~ age + race"))


def test_columns_without_a_formula(fitted):
    held = columns()
    race = sp.SubsetData(np.array(held["race"]), RACE)
    expected = fitted("income ~ age + sex + race")
    same(fitted(held["income"], {"age": held["age"], "sex": held["sex"], "race": race}), expected)
    frame = pd.DataFrame({name: held[name] for name in ("age", "sex", "race")})
    result = fitted(pd.Series(held["income"], name="income"), frame, designs={"race": RACE})
    same(result, expected)
    assert result["name"] == "income"
    vote = sp.SubsetData(np.array(held["vote"]), VOTE)
    same(fitted(vote, {"race": race}), fitted("vote ~ race"))
    same(fitted(np.array(held["vote"]), {"race": race}, design=VOTE), fitted("vote ~ race"))
    with pytest.raises(MismatchError, match="covariates must have a row for each person; got 60 rows for 2 people"):
        fitted([1.0, 2.0], {"race": race})
    with pytest.raises(ArgumentError, match="got faith, which is none"):
        fitted(held["income"], frame, designs={"faith": FAITH})


def test_a_dict_with_subsets_knows_its_designs(fitted):
    held = {**columns(), "race": sp.SubsetData(np.array(columns()["race"]), RACE)}
    same(fitted("income ~ age + race", held, designs=None), fitted("income ~ age + race"))


def test_a_table_of_subsets_knows_its_designs(fitted):
    codes = [columns()["race"], columns()["vote"]]
    table = sp.SubsetTable(codes, sp.product({"race": RACE, "vote": VOTE}))
    same(fitted("vote ~ race", table, designs=None), fitted("vote ~ race"))


def test_missing_answers(fitted):
    held = columns()
    held["race"] = [None, *held["race"][1:]]
    with pytest.raises(CodeError):
        fitted("income ~ race", held)
    assert fitted("income ~ race", held, missing="full")["codes"][0] == RACE.missing_code


def bad(name, row, value):
    held = columns()
    held[name] = [*held[name][:row], value, *held[name][row + 1 :]]
    return held


WRONG = [
    ("income ~ np.log(race)", {}, ArgumentError, "got race, which is private, inside the term np.log"),
    ("income + age ~ race", {}, ArgumentError, "must have one column on its left-hand side"),
    ("np.log(income) ~ race + income", {}, ArgumentError, "must not explain np.log.income. by itself"),
    ("np.log(shift) ~ race", {}, ArgumentError, "term np.log.shift. must be finite in every row; got"),
    ("center(income) ~ race", {}, ArgumentError, "must have one column on its left-hand side"),
    ("poly(age, 2, raw=True) ~ race", {}, ArgumentError, "must be one number for each row; got 2"),
    ("np.log(income) ~ age", {}, ArgumentError, "must have a column of subsets"),
    ("race ~ race", {}, ArgumentError, "must not explain race by itself"),
    ("income ~ race", {"offset": "faith"}, ArgumentError, "got faith as a weight, cluster or offset"),
    ("income ~ race", {"clusters": "race"}, ArgumentError, "got race as a weight, cluster or offset"),
    ("income ~ race", {"sampling": 3}, ArgumentError, "`sampling` must be a Sampling; got int"),
    ("income ~ race", {"sampling": sp.Sampling("faith")}, ArgumentError, "got faith as a weight, cluster or offset"),
    ("income ~ race", {"sampling": sp.Sampling("w"), "clusters": "g"}, ArgumentError, "`clusters` must be left out"),
    ("income ~ race", {"merge": {"age": {"x": ["Black"]}}}, ArgumentError, "private terms, race; got another"),
    ("income ~ race", {"merge": {"race": ["Black"]}}, ArgumentError, "private terms, race; got another"),
    ("income ~ race", {"merge": 3}, ArgumentError, "`merge` must be a dict by column; got int"),
    ("income ~ race", {"merge": {"race": {"x": ["SECRET"]}}}, CategoryError, "`merge` must name categories of race"),
    ("income ~ race", {"merge": {"race": {"x": ["Black"], "z": ["Black"]}}}, CategoryError, "race once; got one twice"),
    ("income ~ race", {"merge": {"race": {"Asian": ["Black"]}}}, CategoryError, "must have new names for race"),
    (
        "income ~ race",
        {"merge": {"race": {"x": list(RACE.categories.labels)}}},
        ArgumentError,
        "two or more categories",
    ),
    ("vote ~ age", {"merge": {"vote": {"x": ["red"]}}}, ArgumentError, "`merge` must be of private terms"),
    ("income ~ race", {"shrink": True}, ArgumentError, "`shrink` must be left out with a private predictor"),
    ("income ~ race", {"family": "ordinal"}, ArgumentError, "for the observed response income; got 'ordinal'"),
    ("income ~ race", {"family": "logit"}, ArgumentError, "must have two levels for a logit"),
    ("vote ~ race", {"family": "linear"}, ArgumentError, "'logit' for a private response with private predictors"),
    ("vote ~ age", {"family": "linear"}, ArgumentError, "must be 'logit' or 'ordinal' for the private response vote"),
    ("income ~ race", {"family": "probit"}, ArgumentError, "`family` must be one of"),
    ("income ~ race + faith", {"baseline": "White"}, ArgumentError, "must name the columns of its labels"),
    ("income ~ race", {"baseline": {"age": 3}}, ArgumentError, "have categories, race; got age"),
    ("income ~ race", {"baseline": {"race": "SECRET"}}, CategoryError, "`baseline` of race must be one of its categ"),
    ("income ~ age", {}, ArgumentError, "must have a column of subsets, as its response or as a term"),
    ("income ~ nothing + race", {}, ArgumentError, "got no column nothing"),
    ("nothing ~ race", {}, ArgumentError, "got no column nothing"),
    ("income ~ race", {"data": bad("race", 7, SECRET)}, CodeError, "race: "),
    ("income ~ race", {"data": bad("race", 7, 7)}, CodeError, "race: "),
    ("income ~ race", {"data": bad("income", 7, None)}, ArgumentError, "column income must have a value in every row"),
    ("income ~ race + age", {"data": bad("age", 7, np.inf)}, ArgumentError, "column age must be finite in every row"),
    ("income ~ race", {"data": {**columns(), "race": columns()["race"][1:]}}, MismatchError, "59 rows of race for 60"),
    ("income ~ race", {"data": 3}, ArgumentError, "`data` must be a table, a dict of columns"),
    ("income ~ race", {"designs": {"race": sp.covered(RACE, floor=0.1)}}, ArgumentError, "covered design"),
]


@pytest.mark.parametrize(("formula", "asked", "kind", "told"), WRONG)
def test_wrong_input(fitted, formula, asked, kind, told):
    asked = dict(asked)
    data = asked.pop("data", None)
    with pytest.raises(kind, match=told) as caught:
        fitted(formula, data, **asked)
    assert "SECRET" not in str(caught.value)
    assert str(SECRET) not in str(caught.value)


def test_subsets_that_pass_for_a_seen_column_are_refused(fitted):
    held = columns()
    held["where"] = [FAITH.format(code) for code in held["faith"]]
    with pytest.raises(ArgumentError, match="column where must hold a label") as e:
        fitted("income ~ race + where", held)
    assert "some|much" not in str(e.value)
    held["where"] = ["a|b", "plain"] * (N // 2)
    assert "where[plain]" in fitted("income ~ race + where", held)["layout"].names


def test_a_seen_column_may_be_called_like_a_private_one(fitted):
    held = {**columns(), "race ": columns()["sex"], "race[Black]": columns()["shift"], "embrace": columns()["age"]}
    result = fitted("income ~ race + `race ` + embrace", held)
    assert result["layout"].names == ("Intercept", "race[Asian]", "race[Black]", "race[Other]", "race [m]", "embrace")
    with pytest.raises(ArgumentError, match=r"must have different names; got race\[Black\] more than once"):
        fitted("income ~ race + `race[Black]`", held)


@pytest.mark.parametrize(
    ("formula", "rows", "told"),
    [("income ~ race + age + I(2 * age)", N, "leave these columns out"), ("income ~ race", 3, "use fewer terms")],
)
def test_hints_are_of_this_fit(formula, rows, told):
    """No hint proposes a penalty, which fits with private predictors do not have."""
    with pytest.raises(ArgumentError, match=f"Hint: {told}") as caught:
        sp.regress(formula, columns(rows), designs=DESIGNS)
    assert "ridge" not in str(caught.value)


@pytest.mark.parametrize(
    "option", [{"ridge": 1.0}, {"lasso": "cv"}, {"stream": True}], ids=lambda option: next(iter(option))
)
def test_an_option_that_is_not_for_such_fits_has_no_hint_of_another(option, fitted):
    with refused(ArgumentError, next(iter(option))) as caught:
        fitted("income ~ race", **option)
    assert "merge" not in str(caught.value)


def test_a_misspelled_private_column_is_named(fitted, tmp_path):
    similar = "got no column rase among its 12 columns.*did you mean 'race'"
    for data in (columns(), pd.DataFrame(columns())):
        for formula, names in (("income ~ rase", ["race"]), ("income ~ race", ["rase"]), ("rase ~ age", ["race"])):
            with pytest.raises(ArgumentError, match=similar):
                fitted(formula, data, designs=dict.fromkeys(names, RACE))
    pd.DataFrame(columns()).to_parquet(tmp_path / "bare.parquet")
    with pytest.raises(DataFileError, match=similar):
        fitted("income ~ rase", tmp_path / "bare.parquet", designs={"race": RACE})


def test_the_hint_of_the_other_level_can_be_used():
    held = columns(600)
    held["flag"] = [age > 40 for age in held["age"]]
    fit = sp.regress("flag ~ faith", held, designs=DESIGNS, family="linear", baseline={"flag": True})
    assert fit.modeled is False
    assert "baseline={'flag': False} models True instead" in str(fit.summary())


def moved(values):
    return pd.Series(values, index=range(1, N + 1))


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("weights", {"weights": moved(columns()["w"]), "weights_kind": "sampling"}),
        ("clusters", {"clusters": moved(columns()["g"])}),
        ("offset", {"offset": moved(columns()["shift"])}),
        ("sampling", {"sampling": sp.Sampling(clusters=moved(columns()["g"]))}),
    ],
)
def test_rows_of_another_index_are_refused(name, asked):
    """Series whose index is another one would be matched by position."""
    held = pd.DataFrame(columns())
    for formula in ("income ~ race", "race ~ age"):
        with refused(MismatchError, name):
            sp.regress(formula, held, designs=DESIGNS, **asked)
    with refused(MismatchError, name):
        sp.regress(held["income"], held[["age", "race"]], designs={"race": RACE}, **asked)
    with refused(MismatchError, name):
        sp.regress(held["race"], {"age": held["age"]}, design=RACE, **asked)


def test_a_response_of_another_index_is_refused():
    held = pd.DataFrame(columns())
    with refused(MismatchError, "formula"):
        sp.regress(moved(columns()["income"]), held[["age", "race"]], designs={"race": RACE})
    with refused(MismatchError, "formula"):
        sp.regress(moved(columns()["race"]), held[["age"]], design=RACE)


def test_errors_come_before_the_rows_are_read(fitted, tmp_path):
    """A stream, a penalty or a function of a private column is refused whatever the data hold."""
    with refused(ArgumentError, "ridge"):
        fitted("income ~ race", bad("race", 0, SECRET), ridge=2.0)
