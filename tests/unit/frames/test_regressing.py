"""The entry point of regressions: every kind of table, and what it says of input that it cannot take."""

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest
from engines import CONSTRUCTORS, engines_under_test, spark_table
from regression_samples import quietly, sample_of

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    CodeError,
    MismatchError,
    NoDataError,
    NotIdentifiableError,
    NotPrivateWarning,
    SubsetPrivacyWarning,
    UnknownDesignError,
)

DESIGN = sp.uniform(["none", "some", "many", "all"])
N = 300
SECRET = 987654.25  # the value of one cell, which no message may repeat


def columns(n=N):
    """Return columns of a table: subsets, numbers, levels, weights, clusters."""
    data, X = sample_of(DESIGN, n)
    rng = np.random.default_rng(2)
    return {
        "y": data.codes.tolist(),
        "x": X[:, 0].tolist(),
        "sex": np.where(X[:, 1] == 1, "f", "m").tolist(),
        "w": rng.integers(1, 4, n).tolist(),
        "g": rng.integers(0, 20, n).tolist(),
    }


@pytest.fixture(scope="module")
def expected():
    return sp.regress("y ~ x + sex", columns(), designs={"y": DESIGN})


@pytest.mark.parametrize("engine", engines_under_test())
def test_every_engine(engine, expected, tmp_path, spark_of_the_process):
    if engine == "pyspark":
        table = spark_table(columns(), spark_of_the_process)
    else:
        table = CONSTRUCTORS[engine][0](columns(), tmp_path)
    fit = sp.regress("y ~ x + sex", table, designs={"y": DESIGN})
    assert np.allclose(fit.coef, expected.coef, atol=1e-8)
    assert fit.labels == expected.labels


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_release_knows_its_designs(suffix, expected, tmp_path):
    table = pa.table({name: columns()[name] for name in ("y", "x", "sex")})
    release = sp.write_release(table, tmp_path / f"people.{suffix}", {"y": DESIGN}, keep=["x", "sex"])
    fit = sp.regress("y ~ x + sex", release)
    assert np.allclose(fit.coef, expected.coef, atol=1e-8)
    assert fit.categories == DESIGN.categories


def test_subsets_and_covariates_without_a_formula(expected):
    held = columns()
    data = sp.SubsetData(np.array(held["y"]), DESIGN)
    X = np.column_stack([held["x"], np.array(held["sex"]) == "m"])
    by_array, by_dict = sp.regress(data, X), sp.regress(data, {"x": held["x"], "sex": held["sex"]})
    by_codes = sp.regress(np.array(held["y"]), X, design=DESIGN)
    for fit in (by_array, by_dict, by_codes):
        assert fit.loglik == pytest.approx(expected.loglik, abs=1e-8)
    assert np.allclose(by_dict.coef, expected.coef, atol=1e-8)
    assert np.allclose(by_array.coef, by_codes.coef)


def test_weights_clusters_and_offset_by_name_and_by_values():
    held = columns()
    for options in ({"weights": "w", "weights_kind": "sampling"}, {"clusters": "g"}, {"offset": "x"}):
        name = next(iter(options))
        by_name = sp.regress("y ~ sex", held, designs={"y": DESIGN}, **options)
        by_value = sp.regress("y ~ sex", held, designs={"y": DESIGN}, **{**options, name: held[options[name]]})
        assert np.array_equal(by_name.cov, by_value.cov)


# Bad input --------------------------------------------------------------------------------------


def changed(**replaced):
    """Return the columns with some cells replaced: a position and a value each."""
    held = columns()
    for name, (at, value) in replaced.items():
        held[name][at] = value
    return held


def fitted(table, formula="y ~ x + sex", designs=None, **options):
    return sp.regress(formula, table, designs={"y": DESIGN} if designs is None else designs, **options)


def extra(**more):
    return {**columns(), **{name: list(values) for name, values in more.items()}}


BAD = {
    "a code outside the design": (lambda: fitted(changed(y=(7, 1))), CodeError, r"^y: .*row 7"),
    "a code that is too large": (lambda: fitted(changed(y=(7, 987654))), CodeError, r"^y: .*row 7"),
    "an empty response": (lambda: fitted(changed(y=(7, None))), CodeError, r"^y: .*row 7"),
    "a missing number": (lambda: fitted(changed(x=(4, None))), ArgumentError, r"x.*1 .*row 4"),
    "a number that is none": (lambda: fitted(changed(x=(4, float("nan")))), ArgumentError, r"x.*1 .*row 4"),
    "an infinite number": (lambda: fitted(changed(x=(4, float("inf")))), ArgumentError, r"x.*1 .*row 4"),
    "a missing level": (lambda: fitted(changed(sex=(4, None))), ArgumentError, r"sex.*1 .*row 4"),
    "a constant column": (lambda: fitted(extra(c=[SECRET] * N), "y ~ x + c"), ArgumentError, "everyone in c"),
    "a constant column next to cut points": (
        lambda: fitted(extra(c=[SECRET] * N), "y ~ x + c", family="ordinal"),
        ArgumentError,
        "everyone in c",
    ),
    "all levels next to cut points": (
        lambda: fitted(columns(), "y ~ 0 + sex", family="ordinal"),
        ArgumentError,
        "before it: sex",
    ),
    "a penalty to be chosen for nothing": (
        lambda: fitted(columns(), "y ~ 1", ridge="cv"),
        ArgumentError,
        "coefficients",
    ),
    "a combination of columns": (
        lambda: fitted(extra(c=2 * np.array(columns()["x"])), "y ~ x + c"),
        ArgumentError,
        "before it: c",
    ),
    "a column far from 0": (
        lambda: fitted(extra(c=1e9 + np.array(columns()["x"])), "y ~ c"),
        ArgumentError,
        "millionth.*got c",
    ),
    "a column of huge numbers": (
        lambda: fitted(extra(c=1e200 * np.array(columns()["x"])), "y ~ c"),
        ArgumentError,
        "squared.*got c",
    ),
    "a private name in a transform": (lambda: fitted(columns(), "log(y) ~ x"), ArgumentError, "y"),
    "a private name on the right": (lambda: fitted(columns(), "y ~ x + y"), ArgumentError, "y"),
    "a private name inside a term": (lambda: fitted(columns(), "y ~ x + C(y)"), ArgumentError, "y"),
    "a private offset": (lambda: fitted(columns(), offset="y"), ArgumentError, "got y as"),
    "a private weight": (lambda: fitted(columns(), weights="y", weights_kind="frequency"), ArgumentError, "got y as"),
    "a coarse design, corrected": (
        lambda: fitted(columns(), designs={"y": coarse(DESIGN.categories)}, method="corrected"),
        UnknownDesignError,
        "design",
    ),
    "a covered design": (
        lambda: fitted(columns(), designs={"y": sp.covered(DESIGN, floor=0.1)}),
        ArgumentError,
        "covered design",
    ),
    "weights without a kind": (lambda: fitted(columns(), weights="w"), ArgumentError, "weights_kind"),
    "negative weights": (
        lambda: fitted(changed(w=(3, -SECRET)), weights="w", weights_kind="sampling"),
        ArgumentError,
        "weights",
    ),
    "full sets only": (lambda: fitted({**columns(), "y": [15] * N}), NoDataError, "one informative subset"),
    "one subset only": (lambda: fitted({**columns(), "y": [3] * N}), NotIdentifiableError, "distinct subset"),
    "an unknown baseline": (lambda: fitted(columns(), baseline="few"), CategoryError, "none, some, many, all"),
    "a baseline of ordered categories": (
        lambda: fitted(columns(), baseline="some", family="ordinal"),
        ArgumentError,
        "ordered categories",
    ),
    "an unknown column": (lambda: fitted(columns(), "y ~ age"), ArgumentError, "age"),
    "a response without a design": (
        lambda: fitted(columns(), "x ~ sex"),
        ArgumentError,
        "column of subsets.*got none of y",
    ),
    "no designs": (lambda: sp.regress("y ~ x", columns()), ArgumentError, "`designs` must give the designs"),
    "designs that are none": (lambda: fitted(columns(), designs=[DESIGN]), ArgumentError, "must be a dict of designs"),
    "no table": (lambda: fitted(3), ArgumentError, "`data` must be a table"),
    "codes alone": (lambda: sp.regress(np.array([3, 5]), np.ones((2, 1))), ArgumentError, "got codes alone"),
    "fewer rows of covariates": (
        lambda: sp.regress(sp.SubsetData(np.array(columns()["y"]), DESIGN), np.ones((5, 1))),
        MismatchError,
        "got 5 rows for 300 people",
    ),
    "more parameters than people": (
        lambda: sp.regress(sp.SubsetData(np.array(columns()["y"])[:5], DESIGN), np.arange(10.0).reshape(5, 2) ** 2),
        ArgumentError,
        "5 people for 9 parameters",
    ),
    "an unknown family": (lambda: fitted(columns(), family="probit"), ArgumentError, "family"),
    "an unknown method": (lambda: fitted(columns(), method="map"), ArgumentError, "method"),
    "two penalties": (lambda: fitted(columns(), ridge=1.0, lasso=1.0), ArgumentError, "`ridge`, `lasso`"),
    "a negative penalty": (lambda: fitted(columns(), ridge=-1.0), ArgumentError, "`ridge` must be a number"),
    "a penalty of a corrected fit": (lambda: fitted(columns(), ridge=1.0, method="corrected"), ArgumentError, "'ml'"),
    "no starts": (lambda: fitted(columns(), starts=0), ArgumentError, "starts"),
    "one cluster": (lambda: fitted(columns(), clusters=[1] * N), ArgumentError, "at least two clusters; got one"),
    "a missing cluster": (lambda: fitted(columns(), clusters=[None, *range(N - 1)]), ArgumentError, "1 missing.*row 0"),
    "clusters of others": (lambda: fitted(columns(), clusters=[1, 2]), MismatchError, "one for each person"),
    "an infinite offset": (
        lambda: fitted(columns(), offset=[np.inf, *np.zeros(N - 1)]),
        ArgumentError,
        "1 number.*row 0",
    ),
    "an offset of words": (lambda: fitted(columns(), offset="sex"), (ArgumentError, MismatchError), "offset"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_has_its_error(case):
    call, kind, match = BAD[case]
    with pytest.raises(kind, match=match) as caught:
        call()
    assert "987654" not in str(caught.value)


def test_a_design_that_cannot_be_estimated_from():
    design = sp.independent(["none", "some", "many", "all"], {("none", "some"): 1.0})
    table = {"y": [3, 12] * 50, "x": np.arange(100.0)}
    with pytest.raises(NotIdentifiableError):
        sp.regress("y ~ x", table, designs={"y": design})


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda fit: fit.test("age"), r"`terms` must be terms of the model \(x, sex\)"),
        (lambda fit: fit.test(method="score"), "method"),
        (lambda fit: fit.adjusted("age"), r"`variable` must be a covariate of the model \(x, sex\)"),
        (lambda fit: fit.effects("age"), r"`variable` must be a covariate"),
        (lambda fit: fit.interval(1.5), "level"),
        (lambda fit: fit.interval(method="bootstrap"), "method"),
        (lambda fit: fit.predict({"x": [1.0]}), "sex"),
        (lambda fit: fit.predict({"x": [1.0], "sex": ["other"]}), "sex"),
        (lambda fit: fit.predict(kind="labels"), "kind"),
        (lambda fit: fit.proportionality, "family='ordinal'"),
        (lambda fit: (likely := fitted(columns(), method="ml")).compare(likely), "some of the terms of this model"),
        (
            lambda fit: fitted(columns(), method="ml").compare(fitted(columns(), "y ~ x", shrink=True)),
            "the same response to the same people",
        ),
        (
            lambda fit: fitted(columns(), method="ml").compare(
                fitted({**columns(), "y": columns()["y"][::-1]}, "y ~ x", method="ml")
            ),
            "to the same people",
        ),
        (lambda fit: fit.test()["age"], r"the name of a test \(x, sex\)"),
    ],
)
def test_bad_questions_to_a_fit(expected, ask, match):
    with pytest.raises((ArgumentError, MismatchError, CategoryError), match=match):
        ask(expected)


def test_what_needs_a_likelihood_says_so():
    corrected = quietly("y ~ x", columns(), designs={"y": DESIGN}, method="corrected")
    weighted = fitted(columns(), weights="w", weights_kind="sampling", method="ml")
    penalized = fitted(columns(), ridge=1.0)
    for fit, match in ((corrected, "method='corrected'"), (weighted, "sampling weights"), (penalized, "penalized")):
        with pytest.raises(ArgumentError, match=match):
            fit.interval(method="profile")
        with pytest.raises(ArgumentError, match=match):
            fit.test("x", method="lr")


# Privacy ----------------------------------------------------------------------------------------


def test_nothing_of_a_person_is_told():
    """One person has covariates that no one else has: neither they nor their row appear in what a fit prints."""
    held = changed(x=(11, 9.87654321))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SubsetPrivacyWarning)
        fit = fitted(held)
    texts = [
        json.dumps(fit.to_dict()),
        str(fit.summary()),
        repr(fit),
        fit._repr_html_(),
        *(note.text for note in fit.notes),
        *(str(one.message) for one in told),
    ]
    for text in texts:
        assert "9.8765" not in text
    size = {len(value) for value in fit.to_dict().values() if isinstance(value, list)}
    assert N not in size


def test_the_posterior_warns(expected):
    with pytest.warns(NotPrivateWarning, match="guesses about individuals"):
        assert expected.posterior().shape == (N, 4)


def test_a_table_that_was_changed_is_not_read_again():
    """Effects need the covariates as they were; the fit itself keeps a copy."""
    held = columns()
    X = np.column_stack([held["x"], np.array(held["sex"]) == "m"]).astype(float)
    fit = sp.regress(sp.SubsetData(np.array(held["y"]), DESIGN), X)
    shares = fit.predict().estimate
    X[:, 0] = 0.0
    assert np.array_equal(fit.predict().estimate, shares)
    for ask in (fit.effects, lambda: fit.adjusted("x2")):
        with pytest.raises(ArgumentError):
            ask()


def test_numbers_of_a_fit_cannot_be_changed(expected):
    for array in (expected.coef, expected.estimates, expected.fit.theta, expected.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
