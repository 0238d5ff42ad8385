"""Logistic regression from subsets: on labels it is scikit-learn's; on subsets it is near the truth."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from every_case import every_case
from refusals import refused
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import subsetprivacy as sp
from subsetprivacy.errors import (
    ArgumentError,
    CodeError,
    ConvergenceWarning,
    MismatchError,
    NoDataError,
    NotIdentifiableError,
    UnknownDesignError,
)
from subsetprivacy.learning import SubsetLogisticRegression, inputs, subset_scorer

LABELS = ["a", "b", "c", "d"]
DESIGN = sp.uniform(LABELS)
SLOPES = np.array([[1.5, 0, -1, -0.5], [0, 1.5, 0, -1.5], [0.5, -0.5, 0.5, -0.5]])


def people(n, seed=1):
    """Return covariates, values of a logit model, and their subsets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    U = X @ SLOPES + rng.gumbel(size=(n, 4))
    values = np.array(LABELS)[U.argmax(axis=1)]
    return X, values, sp.privatize(values, DESIGN, seed=rng)


def standardized(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0), y


# On labels --------------------------------------------------------------------------------------


@every_case("intercept", [True, False])
@every_case("load", [load_iris, load_wine, load_breast_cancer])
@every_case("C", [0.01, 1.0])
def test_ridge_on_labels_is_scikit_learns(load, C, intercept):
    X, y = standardized(load)
    ours = SubsetLogisticRegression(ridge=1 / C, fit_intercept=intercept, tol=1e-7).fit(X, y)
    solver = LogisticRegression(
        C=C, fit_intercept=intercept, solver="newton-cholesky" if intercept else "newton-cg", tol=1e-12, max_iter=1000
    )
    theirs = solver.fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert ours.score(X, y) == theirs.score(X, y)


def test_the_default_tolerance_predicts_as_scikit_learn_does():
    X, y = standardized(load_digits)  # with constant columns
    ours = SubsetLogisticRegression(ridge=10).fit(X, y)
    theirs = LogisticRegression(C=0.1, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.01)


def test_labels_are_the_subsets_of_a_design_that_hides_nothing():
    X, y = standardized(load_wine)
    from_subsets = SubsetLogisticRegression(sp.nonprivate(range(3)), tol=1e-7).fit(X, 1 << y)
    np.testing.assert_allclose(from_subsets.coef_, SubsetLogisticRegression(tol=1e-7).fit(X, y).coef_, atol=1e-6)


def test_more_classes_than_a_code_has_bits():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 60, 3000)
    X = np.eye(60)[y] + 0.1 * rng.normal(size=(3000, 60))
    assert SubsetLogisticRegression().fit(X, y).score(X, y) == 1.0


# On subsets -------------------------------------------------------------------------------------


def test_coefficients_are_near_the_truth_and_have_sum_zero():
    X, _, data = people(40_000)
    result = SubsetLogisticRegression(DESIGN, ridge=0.1).fit(X, data.codes)
    np.testing.assert_allclose(result.coef_, (SLOPES - SLOPES.mean(axis=1, keepdims=True)).T, atol=0.12)
    np.testing.assert_allclose(result.coef_.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(result.intercept_.sum(), 0, atol=1e-12)
    assert result.classes_.tolist() == LABELS


def test_it_is_the_fit_of_regress():
    X, _, data = people(1500)
    learner = SubsetLogisticRegression(DESIGN, ridge=5.0, tol=1e-7).fit(X, data)
    fit = sp.regress(data, X, ridge=5.0, baseline="a")
    expected = learner.coef_[1:] - learner.coef_[0]
    shown = fit.to_frame()
    slopes = np.asarray(shown["estimate"]).reshape(3, 4)[:, 1:]
    np.testing.assert_allclose(slopes, expected, atol=1e-5)


@pytest.mark.parametrize(
    "design",
    [
        sp.warner(["no", "yes"]),
        sp.fixed_size(["x", "y", "z"], 2),
        sp.partition(list("abcdef"), 3),
        sp.hadamard(range(60)),
        sp.independent(list("abcd"), {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2}),
    ],
    ids=lambda design: design.kind,
)
def test_every_kind_of_design_beats_the_largest_share(design):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 3))
    U = X @ rng.normal(size=(3, design.p)) * 3
    values = np.array(design.categories.labels)[U.argmax(axis=1)]
    data = sp.privatize(values, design, seed=1)
    result = SubsetLogisticRegression(design).fit(X, data)
    assert result.score(X, data.codes) == pytest.approx(np.mean(result.predict(X) == values), abs=0.15)
    assert np.mean(result.predict(X) == values) > 1.3 * np.unique(values, return_counts=True)[1].max() / 4000


def test_subsets_of_an_unknown_design():
    X, values, data = people(4000)
    result = SubsetLogisticRegression(categories=LABELS).fit(X, data.codes)
    np.testing.assert_allclose(result.coef_, SubsetLogisticRegression(DESIGN).fit(X, data.codes).coef_, atol=1e-3)
    assert np.mean(result.predict(X) == values) > 0.55
    with pytest.raises(UnknownDesignError):
        result.score(X, data.codes)


def test_subsets_may_be_written_as_labels():
    X, _, data = people(500)
    texts = ["|".join(members) for members in data.labels()]
    from_texts = SubsetLogisticRegression(DESIGN).fit(X, texts)
    np.testing.assert_array_equal(from_texts.coef_, SubsetLogisticRegression(DESIGN).fit(X, data).coef_)


def test_people_who_said_nothing_change_nothing():
    X, _, data = people(1000)
    more = np.vstack([X, 100 + X])
    codes = np.concatenate([data.codes, np.full(1000, DESIGN.missing_code)])
    np.testing.assert_allclose(
        SubsetLogisticRegression(DESIGN).fit(more, codes).coef_,
        SubsetLogisticRegression(DESIGN).fit(X, data.codes).coef_,
        atol=1e-9,
    )


@pytest.mark.parametrize("target", ["subsets", "labels"])
def test_a_weight_is_a_repeated_row(target):
    X, values, data = people(600)
    y, design = (data.codes, DESIGN) if target == "subsets" else (values, None)
    weight = np.random.default_rng(2).integers(0, 4, 600)
    weighted = SubsetLogisticRegression(design, tol=1e-6).fit(X, y, sample_weight=weight)
    repeated = SubsetLogisticRegression(design, tol=1e-6).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    score = weighted.score(X, y, sample_weight=weight)
    assert score == pytest.approx(weighted.score(np.repeat(X, weight, axis=0), np.repeat(y, weight)), abs=0.02)


def test_the_scale_of_a_column_matters_only_through_the_penalty():
    X, _, data = people(2000)
    scale = np.array([1e-4, 1.0, 1e5])
    plain = SubsetLogisticRegression(DESIGN, ridge=0, tol=1e-6).fit(X, data)
    scaled = SubsetLogisticRegression(DESIGN, ridge=0, tol=1e-6).fit(X * scale + 3 * scale, data)
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, atol=1e-5)


def test_constant_and_repeated_columns_are_no_trouble():
    X, _, data = people(800)
    wide = np.column_stack([X, np.zeros(800), np.full(800, 1e3), X[:, 0]])
    result = SubsetLogisticRegression(DESIGN, tol=1e-6).fit(wide, data)
    np.testing.assert_allclose(result.coef_[:, 3:5], 0, atol=1e-4)
    np.testing.assert_allclose(result.coef_[:, 0], result.coef_[:, 5], atol=1e-4)


def test_more_columns_than_people():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 200))
    data = sp.privatize(rng.choice(LABELS, 60), DESIGN, seed=1)
    result = SubsetLogisticRegression(DESIGN).fit(X, data)
    assert np.isfinite(result.predict_proba(X)).all()


def test_single_precision_is_read_as_it_is():
    X, _, data = people(20_000)
    single = SubsetLogisticRegression(DESIGN).fit(X.astype(np.float32), data)
    np.testing.assert_allclose(single.coef_, SubsetLogisticRegression(DESIGN).fit(X, data).coef_, atol=1e-3)


def test_very_many_distinct_subsets(monkeypatch):
    """Rows are made block by block where a table of all would be too large, and a fit starts from some of them."""
    X, _, data = people(9000)
    as_usual = SubsetLogisticRegression(DESIGN, tol=1e-6).fit(X, data)
    monkeypatch.setattr(inputs, "_TABLE", 10)
    monkeypatch.setattr(inputs, "_ENOUGH", 4)
    np.testing.assert_allclose(SubsetLogisticRegression(DESIGN, tol=1e-6).fit(X, data).coef_, as_usual.coef_, atol=1e-6)


def test_labels_of_several_kinds_come_back():
    design = sp.uniform([1, "one", 2.5, (3, "x")])
    X, _, data = people(500)
    result = SubsetLogisticRegression(design).fit(X, data.codes)
    assert set(result.predict(X)) <= {1, "one", 2.5, (3, "x")}
    assert result.classes_.tolist() == [1, "one", 2.5, (3, "x")]


# In scikit-learn's tools --------------------------------------------------------------------------


def test_it_works_in_a_pipeline_with_names_of_columns():
    X, values, data = people(2000)
    frame = pd.DataFrame(X * [1, 100, 0.01], columns=["age", "income", "hours"])
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), SubsetLogisticRegression(DESIGN))
    model.fit(frame, data)
    assert model[-1].feature_names_in_.tolist() == ["age", "income", "hours"]
    assert np.mean(model.predict(frame) == values) > 0.55
    assert model.score(frame, data.codes) == pytest.approx(np.mean(model.predict(frame) == values), abs=0.06)


def test_a_grid_search_chooses_a_penalty():
    X, _, data = people(1500)
    grid = {"ridge": [1.0, 1e5]}
    scoring = {"ll": subset_scorer("log_likelihood", DESIGN), "hits": subset_scorer("accuracy", DESIGN)}
    search = GridSearchCV(SubsetLogisticRegression(DESIGN), grid, scoring=scoring, refit="ll", cv=3)
    search.fit(X, data.codes)
    assert search.best_params_ == {"ridge": 1.0}
    assert search.cv_results_["mean_test_hits"][0] > search.cv_results_["mean_test_hits"][1]


def test_cross_validation_splits_people_not_codes():
    """Codes are no classes. Where they are rare, stratifying by them fails; the default here does not do it."""
    rng = np.random.default_rng(1)
    design = sp.uniform(range(12))
    X = rng.normal(size=(200, 2))
    codes = sp.privatize(rng.integers(0, 12, 200), design, seed=1).codes
    learner = SubsetLogisticRegression(design)
    assert not is_classifier(learner)
    assert not is_classifier(make_pipeline(StandardScaler(), learner))
    assert is_classifier(SubsetLogisticRegression())
    assert np.isfinite(cross_val_score(learner, X, codes)).all()
    with pytest.raises(ValueError, match="cannot be greater than the number of members in each class"):
        cross_val_score(learner, X, codes, cv=StratifiedKFold(5))


def test_strata_of_frequent_codes_do_no_harm():
    X, _, data = people(1000)
    learner = SubsetLogisticRegression(DESIGN)
    plain = cross_val_score(learner, X, data.codes, cv=KFold(5))
    strata = cross_val_score(learner, X, data.codes, cv=StratifiedKFold(5))
    assert plain.mean() == pytest.approx(strata.mean(), abs=0.05)


def test_guesses_can_be_cross_validated_and_codes_that_were_renumbered_are_refused():
    X, values, data = people(1000)
    learner = SubsetLogisticRegression(DESIGN)
    guesses = cross_val_predict(learner, X, data.codes, cv=3)
    assert np.mean(guesses == values) > 0.5
    with pytest.raises(CodeError):
        cross_val_predict(learner, X, data.codes, cv=3, method="predict_proba")


@every_case(
    "meta",
    [StackingClassifier, VotingClassifier, lambda pairs: BaggingClassifier(pairs[0][1])],
    ids=["stacking", "voting", "bagging"],
)
def test_tools_that_renumber_the_target_are_refused(meta):
    X, _, data = people(300)
    with pytest.raises(ValueError, match=r"should be a classifier|must lie in 1…15; got .* \(0, the empty set\)"):
        meta([("learner", SubsetLogisticRegression(DESIGN))]).fit(X, data.codes)


def test_columns_are_selected_by_a_score_from_subsets():
    X, _, data = people(500)
    wide = np.column_stack([X, np.random.default_rng(2).normal(size=(500, 2))])
    scoring = subset_scorer("log_likelihood", DESIGN)
    chosen = SequentialFeatureSelector(SubsetLogisticRegression(DESIGN), n_features_to_select=2, scoring=scoring, cv=2)
    assert chosen.fit(wide, data.codes).get_support().tolist() == [True, True, False, False, False]


def test_it_is_cloned_and_pickled():
    X, _, data = people(300)
    learner = SubsetLogisticRegression(DESIGN, ridge=2.0).fit(X, data.codes)
    again = clone(learner)
    assert again.design == DESIGN
    assert not hasattr(again, "coef_")
    np.testing.assert_array_equal(again.fit(X, data.codes).coef_, learner.coef_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(learner)).predict_proba(X), learner.predict_proba(X))


# Bad input ----------------------------------------------------------------------------------------


@every_case(
    ("y", "error", "told"),
    [
        ([16, 3, 3, 3], CodeError, r"`codes` must lie in 1…15; got 1 code that does not, first in row 0"),
        ([1, 3, 3, 3], CodeError, r"must be subsets that the uniform design can produce; got 1 .* first in row 0"),
        ([3, 5, 6], MismatchError, r"`y` must have one entry per row of `X`; got 3 for 4 rows"),
        ([15, 15, 15, 15], NoDataError, r"must contain at least one informative subset; got none of 4 people"),
        ([3, 3, 3, 3], NotIdentifiableError, r"more than one distinct subset to learn from"),
        (None, ArgumentError, "requires y to be passed"),
    ],
)
def test_subsets_that_do_not_fit_are_refused(y, error, told):
    with pytest.raises(error, match=told):
        SubsetLogisticRegression(DESIGN).fit(np.arange(8.0).reshape(4, 2), y)


def test_data_of_another_design_are_refused():
    X, _, data = people(50)
    with pytest.raises(MismatchError):
        SubsetLogisticRegression(sp.uniform(list("wxyz"))).fit(X, data)


@every_case(
    ("design", "error", "argument"),
    [
        (sp.fully_private(LABELS), NotIdentifiableError, None),
        (sp.covered(DESIGN, floor=0.1), ArgumentError, "designs"),
        ("uniform", ArgumentError, "design"),
    ],
)
def test_designs_that_do_not_fit_are_refused(design, error, argument):
    with refused(error, argument):
        SubsetLogisticRegression(design).fit(np.arange(8.0).reshape(4, 2), [15, 15, 15, 15])


@every_case(
    ("change", "argument"),
    [
        ({"ridge": -1}, "ridge"),
        ({"tol": np.nan}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"categories": LABELS}, "design"),
    ],
)
def test_parameters_out_of_range_are_refused(change, argument):
    X, _, data = people(20)
    with refused(ArgumentError, argument):
        SubsetLogisticRegression(DESIGN, **change).fit(X, data.codes)


def test_covariates_that_do_not_fit_are_refused():
    X, _, data = people(100)
    learner = SubsetLogisticRegression(DESIGN).fit(X, data)
    with pytest.raises(ValueError, match="X has 2 features, but SubsetLogisticRegression is expecting 3"):
        learner.predict(X[:, :2])
    gaps = X.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        learner.fit(gaps, data)


def test_a_cell_is_never_shown():
    X, _, data = people(3)
    cells = X.astype(object)
    cells[1, 1] = "secret"
    with refused(ArgumentError, "X") as caught:
        SubsetLogisticRegression(DESIGN).fit(cells, data)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@every_case(
    ("weight", "error", "told"),
    [
        (np.zeros(20), NoDataError, "must not be zero for everyone"),
        (-np.ones(20), ArgumentError, "finite and not negative; got 20 weights that are not, first in row 0"),
        (np.ones(19), MismatchError, re.escape("got shape (19,) for 20 people")),
    ],
)
def test_weights_that_do_not_fit_are_refused(weight, error, told):
    X, _, data = people(20)
    with pytest.raises(error, match=told):
        SubsetLogisticRegression(DESIGN).fit(X, data, sample_weight=weight)


def test_too_few_iterations_are_told():
    X, _, data = people(500)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iteration,"):
        SubsetLogisticRegression(DESIGN, max_iter=1).fit(X, data)
