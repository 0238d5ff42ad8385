"""Columns of a model with private predictors: those that formulaic makes of the labels, taken apart."""

import pickle

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.frames.covariates import covariates_of
from subsetprivacy.frames.formula_terms import read_terms
from subsetprivacy.frames.formulas import TableOfCovariates, encode_formula
from subsetprivacy.frames.predictor_encoder import PrivatePredictor, encode_predictor_columns, encode_predictors

RACE = PrivatePredictor("race", ("Asian", "Black", "White"), "White")
FAITH = PrivatePredictor("my faith", ("yes", "no"), "no")
RATING = PrivatePredictor("rating", (1, 2, 3), 2)
N = 40


def people():
    rng = np.random.default_rng(3)
    return {
        "age": rng.integers(18, 80, N),
        "sex": rng.choice(["f", "m", "x"], N).tolist(),
        "embrace": rng.normal(size=N),
        "race": rng.choice(RACE.labels, N).tolist(),
        "my faith": rng.choice(FAITH.labels, N).tolist(),
        "rating": rng.choice(RATING.labels, N).tolist(),
    }


def encoder_of(right, *private):
    terms = read_terms(right)
    names = [each.name for each in private]
    seen = [name for name in terms.variables if name not in names]
    held = people()
    source = covariates_of({name: held[name] for name in seen or ["age"]})
    return encode_predictors(terms, TableOfCovariates(source), private)


def model_matrix(encoder, table):
    """Return the columns of the model at the labels of a table."""
    cells = np.zeros(N, np.int64)
    for each in encoder.private:
        cells = cells * len(each.labels) + [each.labels.index(label) for label in encoder.labels(table, each.name)]
    return encoder.Z[cells] * encoder.matrix(table)[:, encoder.seen]


FORMULAS = [
    "race",
    "0 + race",
    "age + race",
    "age * race",
    "age:race",
    "0 + age:race",
    "race:C(sex)",
    "sex:race",
    "race*sex + embrace",
    "embrace:race + race",
    "race:C(sex, contr.sum)",
    "C(sex, contr.sum)*race",
    "bs(age, df=4):race",
    "np.log(age) + poly(age, 2):race + sex:embrace",
    "2:race + age",
    "race + `my faith`",
    "race:`my faith`",
    "race*`my faith`*age",
    "0 + race:`my faith`:sex",
    "`my faith` + race:sex:age",
]


@pytest.mark.parametrize("right", FORMULAS)
def test_columns_are_those_of_the_labels(right):
    private = [each for each in (RACE, FAITH) if each.name in right]
    encoder = encoder_of(right, *private)
    held = people()
    frame = pd.DataFrame(held)
    for each in private:
        frame[each.name] = pd.Categorical(held[each.name], each.levels)
    expected = encode_formula(right, frame)
    assert encoder.columns == expected.columns
    assert encoder.terms == expected.terms
    assert np.array_equal(model_matrix(encoder, held), expected.matrix(frame))
    assert encoder.seen_columns[0] == "Intercept"
    assert (encoder.matrix(held)[:, 0] == 1).all()
    assert np.array_equal(model_matrix(pickle.loads(pickle.dumps(encoder)), held), expected.matrix(frame))


@pytest.mark.parametrize("right", ["race", "0 + race", "age*race", "race:sex", "race*`my faith`"])
@pytest.mark.parametrize("baseline", ["White", "others"])
def test_merged_categories_share_their_columns(right, baseline):
    race = PrivatePredictor("race", RACE.labels, baseline, {"Asian": "others", "Black": "others"})
    private = [each for each in (race, FAITH) if each.name in right]
    encoder = encoder_of(right, *private)
    held = people()
    frame = pd.DataFrame(held)
    merged = ["White" if label == "White" else "others" for label in held["race"]]
    frame["race"] = pd.Categorical(merged, race.levels)
    frame["my faith"] = pd.Categorical(held["my faith"], FAITH.levels)
    expected = encode_formula(right, frame)
    assert encoder.columns == expected.columns
    assert np.array_equal(model_matrix(encoder, held), expected.matrix(frame))
    assert np.array_equal(model_matrix(encoder, {**held, "race": merged}), expected.matrix(frame))


def test_seen_columns_are_shared():
    encoder = encoder_of("age * race * sex", RACE)
    assert encoder.seen_columns == ("Intercept", "age", "sex[m]", "sex[x]", "age:sex[m]", "age:sex[x]")
    assert encoder.variables == ("age", "sex")
    assert encoder.levels == {"sex": ("f", "m", "x")}
    assert encoder.Z.shape == (3, 18)
    assert repr(encoder) == "<PredictorEncoder: age * race * sex, 18 columns>"


def test_without_a_formula_all_columns_are_terms():
    held = people()
    encoder = encode_predictor_columns(covariates_of({"sex": held["sex"], "age": held["age"]}), [RACE, FAITH])
    expected = encoder_of("sex + age + race + `my faith`", RACE, FAITH)
    assert encoder.columns == expected.columns
    assert np.array_equal(model_matrix(encoder, held), model_matrix(expected, held))


def test_labels_of_numbers_are_found_again():
    encoder = encoder_of("rating", RATING)
    for column in (people()["rating"], np.array(people()["rating"], float), [str(x) for x in people()["rating"]]):
        assert encoder.labels({"rating": column}, "rating") == people()["rating"]
    frame = pd.DataFrame({"rating": pd.array([1, None, 3], "Int64")})
    with pytest.raises(ArgumentError, match="column rating must have a value in every row; got 1 missing value, first"):
        encoder.labels(frame, "rating")


@pytest.mark.parametrize("cell", ["SECRET", "Asian|Black", "white"])
def test_other_labels_are_told_without_the_cell(cell):
    encoder = encoder_of("age + race", RACE)
    held = {"age": [30, 40], "race": ["White", cell]}
    with pytest.raises(CategoryError, match="column race must hold a category of its design in every row; got 1") as e:
        encoder.labels(held, "race")
    assert "first in row 1" in str(e.value)
    assert "its categories are Asian, Black, White" in str(e.value)
    assert cell not in str(e.value)


def test_seen_columns_that_are_wrong_are_told():
    encoder = encoder_of("age + race:sex", RACE)
    with pytest.raises(ArgumentError, match="column age must have a value in every row; got 1 missing value"):
        encoder.matrix({"age": [np.nan, 3], "sex": ["f", "m"]})
    with pytest.raises(CategoryError, match=r"column sex must hold levels.*got 1 row") as e:
        encoder.matrix({"age": [1, 3], "sex": ["f", "SECRET"]})
    assert "SECRET" not in str(e.value)
    with pytest.raises(ArgumentError, match="got no column sex"):
        encoder.matrix({"age": [1, 3]})


def test_a_seen_column_can_be_replaced():
    encoder = encoder_of("age*race + sex", RACE)
    moved = encoder.replace_variable(people(), "sex", "m")
    V = encoder.matrix(moved)
    assert (V[:, encoder.seen_columns.index("sex[m]")] == 1).all()
    with refused(ArgumentError, "name"):
        encoder.replace_variable(people(), "race", "White")


def test_columns_of_the_same_name_are_refused():
    strange = PrivatePredictor("race", ("a", "a:race[a]", "b"), "b")
    other = PrivatePredictor("rac", ("e[a]", "x"), "x")
    assert encoder_of("race + rac", strange, other).columns[-1] == "rac[e[a]]"
    twice = PrivatePredictor("race", ("1", 1, "b"), "b")
    with pytest.raises(ArgumentError, match=r"must have different names; got race\[1\] more than once"):
        encoder_of("race", twice)
