"""One contract for every engine: the same table gives the same model matrix and the same refusals, whoever holds it.

On Spark it is run by `tests/unit/frames/test_on_spark.py`, in a process of its own.
"""

import json
from functools import cache

import numpy as np
import pytest
from engines import CONSTRUCTORS, LIBRARY, engines_under_test, spark_table
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy import engines
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, TooLargeError
from subsetprivacy.frames import covariates
from subsetprivacy.frames.formulas import covariate_matrix, encode_formula, formula_matrix

AGE = [39, 50, 38, 53, 28, 37, 49, 52, 31, 42, 37, 30]
SEX = ["m", "m", "m", "m", "f", "f", "f", "m", "f", "m", "m", "x"]
YEARS = [13, 13, 9, 7, 13, 14, 5, 9, 14, 13, 10, 13]
HOURS = [40.0, 13.0, 40.5, 40.0, 40.25, 40.0, 16.0, 45.0, 50.0, 40.0, 80.0, 40.0]
ABROAD = [False, False, False, False, True, False, True, False, False, False, True, False]
PEOPLE = {"age": AGE, "sex": SEX, "years": YEARS, "hours": HOURS, "abroad": ABROAD}
ONE = np.ones(12)
age, hours, abroad = np.array(AGE, float), np.array(HOURS), np.array(ABROAD, float)


def indicator(values, level):
    return np.array([float(value == level) for value in values])


@pytest.fixture(params=engines_under_test())
def make(request, tmp_path, spark_of_the_process):
    """Return the constructor of one engine's tables."""
    if request.param == "pyspark":
        return lambda held: spark_table(held, spark_of_the_process)
    pytest.importorskip(LIBRARY.get(request.param, request.param.split()[0]))
    build, _ = CONSTRUCTORS[request.param]
    return lambda held: build(held, tmp_path)


def test_the_matrix_is_the_same(make):
    encoder, X = formula_matrix("age + sex + abroad + C(years) + np.log(hours) + age:sex", make(PEOPLE))
    assert encoder.columns == (
        *("Intercept", "age", "sex[m]", "sex[x]", "abroad"),
        *("C(years)[7]", "C(years)[9]", "C(years)[10]", "C(years)[13]", "C(years)[14]"),
        *("np.log(hours)", "age:sex[m]", "age:sex[x]"),
    )
    expected = np.column_stack(
        (
            *(ONE, age, indicator(SEX, "m"), indicator(SEX, "x"), abroad),
            *(indicator(YEARS, year) for year in (7, 9, 10, 13, 14)),
            *(np.log(hours), age * indicator(SEX, "m"), age * indicator(SEX, "x")),
        )
    )
    assert np.array_equal(X, expected)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert encoder.variables == ("age", "sex", "abroad", "years", "hours")
    assert encoder.levels == {"sex": ("f", "m", "x"), "years": (5, 7, 9, 10, 13, 14)}
    assert np.array_equal(encoder.matrix(make(PEOPLE)), expected)


def test_without_a_formula(make):
    encoder, X = covariate_matrix(make({name: PEOPLE[name] for name in ("sex", "age", "abroad")}))
    assert encoder.columns == ("Intercept", "sex[m]", "sex[x]", "age", "abroad")
    assert encoder.terms == {"Intercept": (0,), "sex": (1, 2), "age": (3,), "abroad": (4,)}
    assert np.array_equal(X, np.column_stack((ONE, indicator(SEX, "m"), indicator(SEX, "x"), age, abroad)))
    assert encoder.formula == "sex + age + abroad"


def test_missing_values_are_told(make):
    table = make({**PEOPLE, "age": [None, *AGE[1:10], None, 3], "sex": [*SEX[:4], None, *SEX[5:]]})
    encoder = encode_formula("age + sex", PEOPLE)
    with pytest.raises(
        ArgumentError, match="column age must have a value in every row; got 2 missing values"
    ) as caught:
        encoder.matrix(table)
    told = str(caught.value)
    assert "column sex must have a value in every row; got 1 missing value" in told
    assert ("first in row 0." in told and "first in row 4." in told) == engines.is_ordered(table)
    with pytest.raises(ArgumentError, match="column age must have a value"):
        formula_matrix("age + sex + age:sex", table)


def test_unknown_levels_are_told(make):
    encoder = encode_formula("age + sex", {**PEOPLE, "sex": ["f", "m"] * 6})
    table = make({**PEOPLE, "sex": [*SEX[:10], "SECRET", "SECRET"]})
    with pytest.raises(
        CategoryError, match="column sex must hold levels that the model was fitted with; got 2 rows"
    ) as e:
        encoder.matrix(table)
    assert ("first in row 10." in str(e.value)) == engines.is_ordered(table)
    assert "SECRET" not in str(e.value)


def test_a_column_that_is_not_there(make):
    with pytest.raises(ArgumentError, match="got no column height among its 5 columns") as caught:
        encode_formula("height", make(PEOPLE))
    assert "'sex'" in str(caught.value)


def test_a_large_table_is_not_brought_from_a_cluster(make, monkeypatch):
    monkeypatch.setattr(covariates, "MOST_FROM_SPARK", 11)
    table = make(PEOPLE)
    if engines.engine_of(table) != "pyspark":
        assert encode_formula("age", table).columns == ("Intercept", "age")
        return
    with pytest.raises(TooLargeError, match="must have at most 11 rows to be loaded on this machine; got more"):
        encode_formula("age", table)


# Private terms ----------------------------------------------------------------------------------------------------

RACE = sp.uniform(["Asian", "Black", "Other", "White"])
FAITH = sp.warner(["no", "yes"])


@cache
def _drawn():
    n, rng = 1200, np.random.default_rng(12)
    race, age = rng.choice(4, n, p=[0.2, 0.2, 0.2, 0.4]), rng.integers(18, 80, n)
    return {
        "income": (age / 20 + race + rng.normal(size=n)).round(4).tolist(),
        "employed": rng.choice(["no", "yes"], n).tolist(),
        "age": age.tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "race": sp.privatize(np.array(RACE.categories.labels)[race], RACE, seed=1).codes.tolist(),
        "faith": sp.privatize(rng.choice(["no", "yes"], n), FAITH, seed=2).codes.tolist(),
        "w": rng.integers(1, 4, n).tolist(),
    }


def private_people():
    """Return columns with private terms and responses, seen and private."""
    return dict(_drawn())


def fitted(table, formula="income ~ age * race + sex", **asked):
    return sp.regress(formula, table, designs={"race": RACE, "faith": FAITH}, baseline={"race": "White"}, **asked)


@cache
def fitted_here(**asked):
    """Return the fit to columns in memory, which all engines are compared with."""
    return fitted(private_people(), **asked)


def test_private_terms_are_fitted_alike(make):
    weighted = {"weights": "w", "weights_kind": "frequency"}
    expected, result = fitted_here(**weighted), fitted(make(private_people()), **weighted)
    assert result.labels == expected.labels
    assert np.allclose(result.coef, expected.coef, atol=1e-8)
    assert np.allclose(result.cov, expected.cov, rtol=1e-6)
    rows = {"age": [30, 40], "sex": ["f", "m"], "race": ["Black", "White"]}
    assert np.allclose(result.predict(make(rows)).estimate.sum(), expected.predict(rows).estimate.sum())
    assert np.allclose(result.adjusted("race").estimate, expected.adjusted("race").estimate)


def test_cells_of_private_terms_are_not_told(make):
    held = private_people()
    held["race"] = [987654, *held["race"][1:]]
    held["income"] = [*held["income"][:-1], None]
    with pytest.raises(CodeError) as caught:
        fitted(make(held))
    assert "987654" not in str(caught.value)
    with pytest.raises(ArgumentError, match="column income must have a value in every row; got 1 missing value"):
        fitted(make({**held, "race": private_people()["race"]}))
    fit = fitted_here()
    rows = make({"age": [30, 40], "sex": ["f", "m"], "race": ["White", "SECRET"]})
    with pytest.raises(CategoryError, match="column race must hold a category of its design in every row; got 1") as e:
        fit.predict(rows)
    assert "SECRET" not in str(e.value)


def test_merged_categories_are_one(make):
    fit = fitted(make(private_people()), "income ~ race + sex", merge={"race": {"rest": ["Asian", "Other"]}})
    assert fit.layout.names == ("Intercept", "race[rest]", "race[Black]", "sex[m]")
    means = fit.adjusted("race")
    assert means.rows == ("rest", "Black", "White")
    assert np.allclose(means.estimate[0], fit.adjusted("race", ["Asian"]).estimate)
    assert fit.effects("race").rows == ("race: rest instead of White", "race: Black instead of White")
    assert np.allclose(fit.effects("race").estimate[:, 0], fit.coef[1:3])
    rows = {"sex": ["f"] * 3, "race": ["rest", "Asian", "Other"]}
    assert np.ptp(fit.predict(rows).estimate) == 0
    assert "race: rest is Asian or Other." in str(fit.summary())


METHODS = ["corrected", "ml"]
RESPONSES = [("income", "linear"), ("employed", "logit"), ("age", "poisson"), ("faith", "logit")]


@every_case("method", METHODS)
@every_case(("response", "family"), RESPONSES)
def test_every_family_and_method(response, family, method):
    fit = fitted(private_people(), f"{response} ~ sex + race", family=family, method=method, starts=1)
    assert (fit.family, fit.method) == (family, method)
    assert fit.layout.names == ("Intercept", "sex[m]", "race[Asian]", "race[Black]", "race[Other]")
    assert np.isfinite(fit.se).all()
    told = " ".join([repr(fit), str(fit.summary()), json.dumps(fit.to_dict(), default=str)])
    assert all(f"race[{label}]" in told for label in ("Asian", "Black", "Other"))
    assert fit.adjusted("race").rows == RACE.categories.labels
