"""From a formula and a table to a model matrix, compared with one that is made by hand."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from refusals import refused

from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError, NoDataError
from subsetprivacy.frames import covariates as covariates_module
from subsetprivacy.frames import encoder as encoder_module
from subsetprivacy.frames.covariates import covariates_of, snapshot
from subsetprivacy.frames.formulas import (
    covariate_matrix,
    encode_covariates,
    encode_formula,
    formula_matrix,
    frame_of,
    split_formula,
)

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


def columns(*parts):
    return np.column_stack(parts)


# Terms --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_parts(monkeypatch):
    """Encode five rows at a time, so that a table of twelve has three parts."""
    monkeypatch.setattr(encoder_module.Encoder, "rows_at_once", 5)
    monkeypatch.setattr("subsetprivacy.frames.formulas.MOST_ROWS", 5)


M, F, X_ = (indicator(SEX, level) for level in "mfx")
TERMS = {
    "1": ({"Intercept": ONE}),
    "age - 1": {"age": age},
    "0 + sex": {"sex[f]": F, "sex[m]": M, "sex[x]": X_},
    "sex:age": {"Intercept": ONE, "sex[f]:age": F * age, "sex[m]:age": M * age, "sex[x]:age": X_ * age},
    "I(age**2) + {age**2}": {"Intercept": ONE, "I(age ** 2)": age**2, "age ** 2": age**2},
    "abroad:age": {"Intercept": ONE, "abroad:age": abroad * age},
    "I(abroad + abroad)": {"Intercept": ONE, "I(abroad + abroad)": 2 * abroad},
    "C(abroad)": {"Intercept": ONE, "C(abroad)[True]": abroad},
    "{sex == 'm'}": {"Intercept": ONE, "sex == 'm'": M},
    "C(sex, contr.treatment('m'))": {
        "Intercept": ONE,
        "C(sex, contr.treatment('m'))[f]": F,
        "C(sex, contr.treatment('m'))[x]": X_,
    },
    "C(sex, levels=['x', 'm', 'f'])": {
        "Intercept": ONE,
        "C(sex, levels=['x', 'm', 'f'])[m]": M,
        "C(sex, levels=['x', 'm', 'f'])[f]": F,
    },
    "C(sex, contr.sum)": {
        "Intercept": ONE,
        "C(sex, contr.sum)[S.f]": F - X_,
        "C(sex, contr.sum)[S.m]": M - X_,
    },
    "C(age // 10)": {
        "Intercept": ONE,
        "C(age // 10)[3.0]": indicator(age // 10, 3),
        "C(age // 10)[4.0]": indicator(age // 10, 4),
        "C(age // 10)[5.0]": indicator(age // 10, 5),
    },
    "C(np.where(age > 40, 'old', 'young'))": {
        "Intercept": ONE,
        "C(np.where(age > 40, 'old', 'young'))[young]": (age <= 40).astype(float),
    },
    "poly(age, 2, raw=True)": {"Intercept": ONE, "poly(age, 2, raw=True)[0]": age, "poly(age, 2, raw=True)[1]": age**2},
    "center(age)": {"Intercept": ONE, "center(age)": age - age.mean()},
    "scale(hours)": {"Intercept": ONE, "scale(hours)": (hours - hours.mean()) / hours.std(ddof=1)},
}


@pytest.mark.parametrize("formula", TERMS)
def test_terms(formula, small_parts):
    encoder, X = formula_matrix(formula, PEOPLE)
    assert encoder.columns == tuple(TERMS[formula])
    np.testing.assert_allclose(X, columns(*TERMS[formula].values()), rtol=1e-15)
    again = pickle.loads(pickle.dumps(encoder))
    assert np.array_equal(again.matrix(PEOPLE), X)
    assert sorted(k for at in encoder.terms.values() for k in at) == list(range(X.shape[1]))


def test_a_dot_stands_for_all_other_columns():
    encoder = encode_formula(".", PEOPLE, leave_out=["sex", "years", "abroad"])
    assert encoder.columns == ("Intercept", "age", "hours")
    assert list(encoder.terms) == ["Intercept", "age", "hours"]


def test_names_in_backticks():
    table = {"hours per week": HOURS, "who?": SEX}
    encoder, X = formula_matrix("`hours per week` + np.log(`hours per week`) + C(`who?`)", table)
    assert encoder.variables == ("hours per week", "who?")
    assert encoder.columns == (
        *("Intercept", "hours per week", "np.log(`hours per week`)"),
        *("C(`who?`)[m]", "C(`who?`)[x]"),
    )
    assert np.array_equal(X, columns(ONE, hours, np.log(hours), M, X_))


def test_parts_do_not_change_a_matrix(small_parts, monkeypatch):
    formula = "bs(age, df=4) + poly(hours, 2) + sex*np.log(hours) + C(years) + C(age // 10):hours"
    in_parts = formula_matrix(formula, PEOPLE)[1]
    monkeypatch.undo()
    assert np.array_equal(formula_matrix(formula, PEOPLE)[1], in_parts)


def test_small_integers_do_not_overflow():
    table = pd.DataFrame({"age": np.array([100, 120, 17], np.int8), "flag": [True, True, False]})
    X = formula_matrix("age + I(age**2) + I(flag + flag)", table)[1]
    assert np.array_equal(X[:, 1:], [[100, 1e4, 2], [120, 14400, 2], [17, 289, 0]])


# New rows -----------------------------------------------------------------------------------------------------------


def test_transforms_remember_the_rows_they_were_made_from():
    encoder = encode_formula("center(age) + bs(hours, df=3) + C(age // 10)", PEOPLE)
    whole = encoder.matrix(PEOPLE)
    some = encoder.matrix({name: values[3:5] for name, values in PEOPLE.items()})
    assert np.array_equal(some, whole[3:5])


def test_levels_of_new_rows_may_be_of_another_type():
    encoder = encode_formula("sex + C(years)", pl.DataFrame(PEOPLE))
    new = pd.DataFrame({"sex": pd.Categorical(["x", "f"], ["x", "f", "unused"]), "years": [13.0, 5.0]})
    assert np.array_equal(encoder.matrix(new), [[1, 0, 1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ({"sex": [1, 2]}, "column sex must hold text, as it did when the model was fitted; got numbers"),
        ({"age": ["1", "2"]}, "column age must hold numbers, as it did when the model was fitted; got text"),
        ({"age": [1.0, np.inf]}, "column age must be finite in every row; got 1 infinite value, first in row 1"),
        ({"hours": [0.0, 1.0]}, r"term np.log\(hours\) must be finite in every row; got 1 row in which .* row 0"),
        ({"age": [1.0]}, "columns must have the same length; got 1 in age and 2 in sex"),
    ],
)
def test_new_rows_that_do_not_fit(new, told):
    encoder = encode_formula("age + sex + np.log(hours)", PEOPLE)
    with pytest.raises((ArgumentError, MismatchError), match=told):
        encoder.matrix({"age": [30, 40], "sex": ["f", "m"], "hours": [1.0, 2.0], **new})


@pytest.mark.parametrize("term", ["C(age // 10)", "C(age // 10, contr.sum)", "C(age // 10, levels=[2, 3, 4, 5])"])
def test_levels_of_an_expression_that_are_unknown(term, small_parts):
    encoder = encode_formula(term, PEOPLE)
    new = {"age": [30] * 7 + [71, 72]}
    with pytest.raises(CategoryError, match=r"levels.*got 2 rows .*first in row 7") as e:
        encoder.matrix(new)
    assert str(e.value).startswith(f"term {term} must")


def test_a_spline_beyond_its_bounds_is_refused():
    encoder = encode_formula("sex + bs(age, df=4)", PEOPLE)
    with pytest.raises(ArgumentError, match=r"the term bs\(age, df=4\) must be computable for every row") as caught:
        encoder.matrix({"age": [30, 99], "sex": ["f", "m"]})
    assert "upper_bound" in str(caught.value)
    assert "99" not in str(caught.value)


@pytest.mark.parametrize("term", ["np.log(sex)", "sex:age + I(sex + 1)", "center(sex)", "{sex & abroad}"])
def test_a_term_that_cannot_be_computed_is_named(term):
    with pytest.raises(ArgumentError, match=r"the term .* must be computable for every row; it is not\.") as caught:
        encode_formula(term, PEOPLE)
    assert caught.value.__context__ is None


# Levels -------------------------------------------------------------------------------------------------------------


def duckdb_enum():
    duckdb = pytest.importorskip("duckdb")
    held = duckdb.connect().from_arrow(pa.table({"size": ["mid", "low", "high"]}))
    return held.project("size::ENUM ('low', 'mid', 'high', 'none') AS size")


ORDER = ["low", "mid", "high", "none"]  # neither sorted nor as they appear; the last one does not occur
DECLARED = {
    "pandas": lambda: pd.DataFrame({"size": pd.Categorical(["mid", "low", "high"], ORDER)}),
    "pandas ordered": lambda: pd.DataFrame({"size": pd.Categorical(["mid", "low", "high"], ORDER, ordered=True)}),
    "polars": lambda: pl.DataFrame({"size": pl.Series(["mid", "low", "high"], dtype=pl.Enum(ORDER))}),
    "polars lazy": lambda: pl.LazyFrame({"size": pl.Series(["mid", "low", "high"], dtype=pl.Enum(ORDER))}),
    "pyarrow": lambda: pa.table({"size": pa.DictionaryArray.from_arrays([1, 0, 2], ORDER, ordered=True)}),
    "duckdb": duckdb_enum,
    "dict": lambda: {"size": pd.Categorical(["mid", "low", "high"], ORDER)},
}
NOT_DECLARED = {
    "polars": lambda: pl.DataFrame({"size": pl.Series(["mid", "low", "high"], dtype=pl.Categorical)}),
    "pyarrow": lambda: pa.table({"size": pa.array(["mid", "low", "high"]).dictionary_encode()}),
    "dict": lambda: {"size": ["mid", "low", "high"]},
}


@pytest.mark.parametrize("table", DECLARED)
def test_a_declared_order_is_kept_and_levels_that_do_not_occur_are_left_out(table):
    encoder, X = formula_matrix("size", DECLARED[table]())
    assert encoder.levels == {"size": ("low", "mid", "high")}
    assert np.array_equal(X, [[1, 1, 0], [1, 0, 0], [1, 0, 1]])


@pytest.mark.parametrize("table", NOT_DECLARED)
def test_otherwise_levels_are_sorted(table):
    assert encode_formula("size", NOT_DECLARED[table]()).levels == {"size": ("high", "low", "mid")}


def test_categories_that_are_no_text():
    table = pd.DataFrame({"years": pd.Categorical([2, 1, 10]), "age": pd.cut([1, 5, 9], 2)})
    encoder, X = formula_matrix("years + age", table)
    assert encoder.columns == ("Intercept", "years[2]", "years[10]", f"age[{table.age.cat.categories[1]}]")
    assert np.array_equal(X, [[1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 1]])


@pytest.mark.parametrize("formula", ["sex", "age + sex:age + sex", "C(sex)"])
def test_one_level_is_refused(formula):
    with pytest.raises(ArgumentError, match="must have two or more levels; got one in all rows"):
        encode_formula(formula, {"sex": ["f", "f"], "age": [1, 2]})
    with pytest.raises(ArgumentError, match="the term sex must have two or more levels"):
        encode_covariates({"sex": ["f", "f"]})


def test_a_column_of_many_different_texts_is_no_column_of_levels(monkeypatch):
    monkeypatch.setattr(covariates_module, "MOST_LEVELS", 5)
    names = [f"person {k}" for k in range(12)]
    for call in (encode_formula, lambda _, table: encode_covariates(table)):
        with pytest.raises(ArgumentError, match=r"column who must have at most 5 different labels.*; got 12 labels"):
            call("who", {"who": names})
    with pytest.raises(ArgumentError, match=r"column years must have at most 5 .*; got 6 labels"):
        encode_formula("C(years)", PEOPLE)
    with pytest.raises(ArgumentError, match=r"column C\(age \* 2\) must have at most 5"):
        encode_formula("C(age * 2)", PEOPLE)


# Bad tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "got"),
    [
        (pd.Series(pd.to_datetime(["2024-01-01", "2025-01-01"])), "datetime64"),
        (pa.array([[1], [2]]), "list"),
        (pl.Series([[1], [2]]), "large_list"),
        (np.array([1j, 2j]), "complex128"),
        (["a", 1], "mixed or other objects"),
        (pd.Series(["a", 1], dtype=object), "mixed or other objects"),
        (pl.Series([object(), object()], dtype=pl.Object), "Object"),
        (np.ones((2, 2)), r"an array of shape \(2, 2\)"),
    ],
)
def test_columns_of_other_things_are_refused(column, got):
    with pytest.raises(ArgumentError, match=f"column x must hold numbers, True and False, or text; got {got}"):
        encode_covariates({"x": column})


@pytest.mark.parametrize(
    "column",
    [
        [1, None, 3],
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype=object),
        pa.array([1, None, 3]),
        pl.Series([1, None, 3]),
        np.ma.masked_array([1, 2, 3], [False, True, False]),
        [True, None, False],
        pa.array([True, None, False]),
        pd.Series([True, None, False], dtype="boolean"),
        ["a", None, "b"],
        pd.Series(["a", None, "b"]),
        pd.Categorical(["a", None, "b"]),
        pa.array(["a", None, "b"]),
        pa.DictionaryArray.from_arrays([0, 1, 2], ["a", None, "b"]),
        pl.Series(["a", None, "b"]),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]}-{type(column).__name__}",  # no addresses
)
def test_missing_values_of_every_kind(column):
    with pytest.raises(ArgumentError, match=r"column x .*got 1 missing value, first in row 1"):
        covariate_matrix({"x": column})


def test_a_column_with_no_value_at_all():
    for values in ([None, None], pd.Series([None, None], dtype="str"), pa.nulls(2)):
        with pytest.raises(ArgumentError, match="column x must have a value in every row; got 2 missing values"):
            covariate_matrix({"x": values})


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"age": []}),
        pl.LazyFrame({"age": []}),
        pa.table({"age": pa.array([], "string")}),
        {"age": []},
        np.empty((0, 3)),
    ],
)
def test_a_table_without_rows_is_refused(table):
    with pytest.raises(NoDataError, match="a table of covariates must have rows; got none"):
        covariates_of(table)


def test_names_that_would_occur_twice_are_refused():
    with pytest.raises(ArgumentError, match="must have different names; got Intercept more than once"):
        encode_covariates({"Intercept": [1, 2]})
    with pytest.raises(ArgumentError, match=r"must have different names; got sex\[m\] more than once"):
        encode_formula("sex + `sex[m]`", {"sex": ["f", "m"], "sex[m]": [1, 2]})


def test_columns_with_other_indexes_are_refused():
    with refused(MismatchError, "b"):
        encode_covariates({"a": pd.Series([1, 2]), "b": pd.Series([1, 2], index=[1, 0])})


def test_a_query_is_run_once():
    duckdb = pytest.importorskip("duckdb")
    held = snapshot(duckdb.connect().sql("SELECT random() AS a, 1 AS b FROM range(50)"), ["a"])
    assert held.column_names == ["a"]
    assert np.array_equal(covariate_matrix(held)[1], covariate_matrix(held)[1])


# Arrays -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array(order, small_parts):
    array = np.array(np.random.default_rng(1).normal(size=(12, 3)), order=order)
    encoder, X = covariate_matrix(array)
    assert encoder.columns == ("Intercept", "x1", "x2", "x3")
    assert np.array_equal(X, columns(ONE, array))
    assert np.array_equal(encoder.matrix(array[:2]), X[:2])
    with pytest.raises(ArgumentError, match="got no column x3 among its 2 columns"):
        encoder.matrix(array[:, :2])


def test_a_masked_array_has_missing_values():
    masked = np.ma.masked_array(np.ones((3, 2)), [[False, False], [False, True], [False, True]])
    with pytest.raises(ArgumentError, match=r"column x2 .*got 2 missing values, first in row 1"):
        covariate_matrix(masked)


def test_one_column():
    assert encode_covariates(age).columns == ("Intercept", "x1")
    assert encode_covariates(pd.Series(AGE, name="age")).columns == ("Intercept", "age")
    assert np.array_equal(covariate_matrix(SEX)[1], columns(ONE, M, X_))
    assert np.array_equal(covariate_matrix([[1, 2], [3, 5]])[1], [[1, 1, 2], [1, 3, 5]])


@pytest.mark.parametrize("other", ["text", {1, 2}, np.ones((2, 2, 2)), [[1], [1, 2]], np.array([["a"]]), None])
def test_what_is_no_table_is_refused(other):
    with pytest.raises(ArgumentError):
        encode_covariates(other)


# Frames -------------------------------------------------------------------------------------------------------------


def test_a_frame_has_the_columns_that_are_needed():
    frame = frame_of(pl.DataFrame(PEOPLE), ["sex", "hours"])
    assert list(frame) == ["sex", "hours"]
    assert frame["sex"].tolist() == SEX
    assert frame["sex"].cat.categories.tolist() == ["f", "m", "x"]
    assert frame["hours"].tolist() == HOURS


def test_a_variable_is_replaced():
    encoder = encode_formula("sex*age + C(years)", PEOPLE)
    frame = encoder.replace_variable(PEOPLE, "sex", "m")
    assert list(frame) == ["sex", "age", "years"]
    assert np.array_equal(encoder.matrix(frame), encoder.matrix({**PEOPLE, "sex": ["m"] * 12}))
    assert np.array_equal(
        encoder.matrix(encoder.replace_variable(PEOPLE, "age", 30)), encoder.matrix({**PEOPLE, "age": [30] * 12})
    )
    assert np.array_equal(
        encoder.matrix(encoder.replace_variable(PEOPLE, "age", age + 1)), encoder.matrix({**PEOPLE, "age": age + 1})
    )
    assert np.array_equal(
        encoder.matrix(encoder.replace_variable(PEOPLE, "years", 9)), encoder.matrix({**PEOPLE, "years": [9] * 12})
    )


@pytest.mark.parametrize(
    ("name", "value", "error", "argument"),
    [
        ("height", 3, ArgumentError, "name"),
        ("age", "old", ArgumentError, "value"),
        ("age", np.nan, ArgumentError, "value"),
        ("sex", "z", CategoryError, "value"),
    ],
)
def test_a_variable_is_not_replaced_by_anything(name, value, error, argument):
    with refused(error, argument):
        encode_formula("sex + age", PEOPLE).replace_variable(PEOPLE, name, value)


# The encoder --------------------------------------------------------------------------------------------------------


def test_an_encoder_holds_no_rows():
    table = {name: values * 1000 for name, values in PEOPLE.items()}
    encoder = encode_formula("age*sex + bs(hours, df=4) + C(years) + C(age // 10)", table)
    assert len(pickle.dumps(encoder)) < 12_000
    assert repr(encoder) == "<Encoder: age*sex + bs(hours, df=4) + C(years) + C(age // 10), 18 columns>"


def test_an_encoder_of_plain_columns_needs_no_formulaic(monkeypatch):
    encoder = pickle.dumps(encode_formula("age + sex", PEOPLE))
    monkeypatch.setattr("subsetprivacy.frames.formula_terms.formulaic", None)
    assert pickle.loads(encoder).matrix(PEOPLE).shape == (12, 4)


def test_the_formula_is_what_was_split():
    assert encode_formula(split_formula("race ~ age + sex")[1], PEOPLE).formula == "age + sex"
