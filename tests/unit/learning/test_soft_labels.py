"""Any classifier on subsets: rounds of soft labels, boosting that grows, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from every_case import every_case
from refusals import refused
from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, NoDataError, UnknownDesignError
from subsetprivacy.learning import SubsetClassifier, SubsetLogisticRegression, em, rounding, subset_scorer

LABELS = ["up", "left", "right"]
DESIGN = sp.fixed_size(LABELS, 2)


def corners(n, seed=1):
    """Return values that no linear rule tells apart."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    values = np.where(X[:, 0] * X[:, 1] > 0, "up", np.where(X[:, 0] > 0, "right", "left"))
    return X, values, sp.privatize(values, DESIGN, seed=rng).codes


def boosting(**changes):
    return HistGradientBoostingClassifier(**{"max_iter": 30, "learning_rate": 0.3, **changes})


def logistic(n, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    U = X @ [[2, 0, -1], [0, 1, 1]] + rng.gumbel(size=(n, 3))
    return X, sp.privatize(np.array(LABELS)[U.argmax(axis=1)], DESIGN, seed=rng).codes


# Rounds -------------------------------------------------------------------------------------------


def test_a_round_never_lowers_the_penalized_likelihood():
    """Expectation maximization with a logistic model: its objective with soft labels bounds that of the subsets."""
    X, codes = logistic(400)
    ridge, reached = 2.0, []
    for rounds in range(1, 12):
        base = LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=1000)
        learner = SubsetClassifier(base, design=DESIGN, max_iter=rounds, tol=0, patience=99, validation_fraction=None)
        learner.fit(X, codes)
        assert learner.n_iter_ == rounds == len(learner.history_)
        reached.append(400 * learner.history_[-1] - ridge / 2 * (learner.estimator_.coef_**2).sum())
    assert np.diff(reached).min() >= -1e-6
    assert reached[-1] > reached[0] + 10


def test_rounds_lead_to_the_fit_by_likelihood():
    X, codes = logistic(400)
    base = LogisticRegression(C=0.5, tol=1e-8, max_iter=1000)
    learner = SubsetClassifier(base, design=DESIGN, max_iter=200, tol=1e-9, validation_fraction=None).fit(X, codes)
    direct = SubsetLogisticRegression(DESIGN, ridge=2.0, tol=1e-6).fit(X, codes)
    np.testing.assert_allclose(learner.predict_proba(X), direct.predict_proba(X), atol=0.002)


def test_people_who_were_set_aside_end_the_training():
    X, _, codes = corners(600)
    tree = DecisionTreeClassifier(min_samples_leaf=2)  # learns its own guesses by heart
    learner = SubsetClassifier(tree, design=DESIGN, max_iter=50, patience=2, random_state=1).fit(X, codes)
    assert len(learner.history_) < 50
    assert learner.n_iter_ == len(learner.history_) - 2
    assert learner.history_[learner.n_iter_ - 1] == learner.history_.max()


def test_the_best_round_is_kept():
    X, _, codes = corners(200)
    settings = {"design": DESIGN, "max_iter": 6, "patience": 6, "random_state": 1}
    learner = SubsetClassifier(boosting(max_iter=30), **settings).fit(X[::-1], codes)  # nothing to learn
    assert learner.n_iter_ < 6 == len(learner.history_)
    assert learner.estimator_.n_iter_ == 5 * learner.n_iter_


def test_weights_count_people():
    X, codes = logistic(300)
    weight = np.random.default_rng(2).integers(0, 3, 300)
    settings = {"design": DESIGN, "max_iter": 4, "validation_fraction": None}
    base = LogisticRegression(tol=1e-10, max_iter=1000)
    weighted = SubsetClassifier(base, **settings).fit(X, codes, sample_weight=weight)
    repeated = SubsetClassifier(base, **settings).fit(np.repeat(X, weight, axis=0), np.repeat(codes, weight))
    np.testing.assert_allclose(weighted.estimator_.coef_, repeated.estimator_.coef_, atol=1e-5)
    np.testing.assert_allclose(weighted.history_, repeated.history_, atol=1e-7)


def test_people_who_said_nothing_change_nothing():
    X, codes = logistic(300)
    settings = {"design": DESIGN, "max_iter": 3, "validation_fraction": None}
    plain = SubsetClassifier(LogisticRegression(), **settings).fit(X, codes)
    more = SubsetClassifier(LogisticRegression(), **settings)
    more.fit(np.vstack([X, X + 9]), np.concatenate([codes, np.full(300, DESIGN.missing_code)]))
    np.testing.assert_allclose(more.estimator_.coef_, plain.estimator_.coef_, atol=1e-8)


# Boosting -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [boosting(), GradientBoostingClassifier(n_estimators=30, learning_rate=0.3)],
    ids=["histograms", "exact"],
)
def test_boosting_learns_what_no_linear_rule_says(estimator):
    X, _, codes = corners(2000)
    learner = SubsetClassifier(estimator, design=DESIGN, random_state=1).fit(X, codes)
    new, truth, others = corners(3000, seed=2)
    assert np.mean(learner.predict(new) == truth) > 0.95
    assert np.mean(SubsetLogisticRegression(DESIGN).fit(X, codes).predict(new) == truth) < 0.85
    assert learner.score(new, others) == pytest.approx(np.mean(learner.predict(new) == truth), abs=0.05)
    np.testing.assert_allclose(learner.predict_proba(new).sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(learner.predict_log_proba(new)), learner.predict_proba(new))


def test_a_seed_repeats_a_run():
    X, _, codes = corners(200)
    first, again, other = (
        SubsetClassifier(boosting(max_features=0.5), design=DESIGN, max_iter=3, random_state=seed).fit(X, codes)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    assert (first.predict_proba(X) != other.predict_proba(X)).any()


def test_trees_are_added_in_equal_parts():
    assert em._parts(boosting(max_iter=100), "max_iter", 10) == list(range(10, 101, 10))
    assert em._parts(boosting(max_iter=7), "max_iter", 3) == [3, 5, 7]
    assert em._parts(boosting(max_iter=2), "max_iter", 10) == [1, 2]
    assert em._parts(LogisticRegression(), None, 3) == [1, 2, 3]


def test_trees_hold_for_numbers_that_are_not_rounded():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 2))
    X[:100, 1] = np.nan
    near = rounding.rounded(X, None, 255, 3000)
    assert len(np.unique(near[:, 0])) == 255
    np.testing.assert_array_equal(np.isnan(near), np.isnan(X))
    y = (X[:, 0] > 0.3) | np.isnan(X[:, 1])
    model = boosting().fit(near, y, sample_weight=rng.random(3000))
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(near))
    bins = model._bin_mapper.bin_thresholds_[0]
    other = boosting().fit(near, y, sample_weight=rng.random(3000))._bin_mapper.bin_thresholds_[0]
    np.testing.assert_array_equal(bins, other)


@every_case(("categorical", "left"), [(None, []), ([0], [0]), ([True, False], [0]), ("from_dtype", []), (["a"], [0])])
def test_categorical_columns_are_left_alone(categorical, left):
    codes = np.repeat(np.arange(300.0), [2000] + [1] * 299)
    X = pd.DataFrame({"a": codes, "b": codes}) if categorical == ["a"] else np.column_stack([codes, codes])
    made = np.asarray(rounding.rounded(X, categorical, 255, 300_000))
    same = [at for at in range(2) if np.array_equal(made[:, at], codes)]
    assert same == left


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_with_categories_and_gaps(library):
    X, _, codes = corners(500)
    group = np.where(X[:, 0] > 0, "east", "west")
    first = np.where(np.arange(500) < 50, np.nan, X[:, 1])
    frame = pd.DataFrame({"y": first, "group": pd.Categorical(group)}, index=np.arange(500)[::-1])
    if library == "polars":
        frame = pl.DataFrame({"y": first, "group": pl.Series(group, dtype=pl.Categorical)})
    settings = {"design": DESIGN, "max_iter": 2, "random_state": 1}
    learner = SubsetClassifier(boosting(max_iter=4), **settings).fit(frame, codes)
    assert learner.feature_names_in_.tolist() == ["y", "group"]
    array = np.column_stack([first, group == "west"])
    as_array = SubsetClassifier(boosting(max_iter=4, categorical_features=[1]), **settings).fit(array, codes)
    np.testing.assert_allclose(learner.predict_proba(frame), as_array.predict_proba(array))


# In scikit-learn's tools --------------------------------------------------------------------------


def test_it_works_in_a_pipeline_and_a_grid_search():
    X, _, codes = corners(600)
    model = make_pipeline(StandardScaler(), SubsetClassifier(boosting(max_iter=10), design=DESIGN, random_state=1))
    grid = {"subsetclassifier__estimator__max_depth": [1, 4]}
    search = GridSearchCV(model, grid, scoring=subset_scorer("log_likelihood", DESIGN), cv=KFold(2)).fit(X, codes)
    assert search.best_params_ == {"subsetclassifier__estimator__max_depth": 4}
    assert not is_classifier(search)


def test_it_is_cloned_and_pickled():
    X, _, codes = corners(300)
    learner = SubsetClassifier(boosting(max_iter=5), design=DESIGN, random_state=1)
    assert not hasattr(learner, "n_features_in_")
    learner.fit(X, codes)
    assert learner.n_features_in_ == 2
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(learner)).predict(X), learner.predict(X))
    np.testing.assert_array_equal(clone(learner).fit(X, codes).predict(X), learner.predict(X))


def test_labels_are_fitted_once():
    X, values, _ = corners(500)
    learner = SubsetClassifier(boosting(random_state=1)).fit(X, values)
    plain = boosting(random_state=1).fit(X, values)
    np.testing.assert_array_equal(learner.predict_proba(X), plain.predict_proba(X))
    assert learner.score(X, values) == plain.score(X, values)
    assert is_classifier(learner)


def test_subset_data_bring_their_design():
    X, codes = logistic(200)
    data = sp.SubsetData(codes, DESIGN)
    learner = SubsetClassifier(LogisticRegression(), max_iter=2, random_state=1).fit(X, data)
    assert learner.classes_.tolist() == LABELS
    assert learner.score(X, data) == pytest.approx(learner.score(X, data, sample_weight=np.ones(200)))


def test_a_category_that_no_subset_allows_has_probability_zero():
    X, codes = logistic(200)
    learner = SubsetClassifier(LogisticRegression(), categories=[*LABELS, "never"], max_iter=2).fit(X, codes)
    assert learner.predict_proba(X).shape == (200, 4)
    assert (learner.predict_proba(X)[:, 3] == 0).all()
    with pytest.raises(UnknownDesignError):
        learner.score(X, codes)


def test_labels_of_several_kinds_come_back():
    X, codes = logistic(200)
    learner = SubsetClassifier(LogisticRegression(), design=sp.fixed_size([1, "one", (2, 3)], 2), max_iter=2)
    assert set(learner.fit(X, codes).predict(X)) <= {1, "one", (2, 3)}


# Bad input ----------------------------------------------------------------------------------------


@every_case(
    ("estimator", "argument"),
    [
        (RidgeClassifier(), "estimator"),
        (LinearDiscriminantAnalysis(), "estimator"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "estimator"),
        (boosting(early_stopping=True), "estimator"),
        (GradientBoostingClassifier(n_iter_no_change=3), "estimator"),
    ],
)
def test_estimators_that_do_not_fit_are_refused(estimator, argument):
    X, codes = logistic(50)
    with refused(ArgumentError, argument):
        SubsetClassifier(estimator, design=DESIGN).fit(X, codes)


@every_case(
    ("change", "argument"),
    [
        ({"max_iter": 0}, "max_iter"),
        ({"patience": 0}, "patience"),
        ({"tol": -1}, "tol"),
        ({"validation_fraction": 1}, "validation_fraction"),
    ],
)
def test_parameters_out_of_range_are_refused(change, argument):
    X, codes = logistic(50)
    with refused(ArgumentError, argument):
        SubsetClassifier(LogisticRegression(), design=DESIGN, **change).fit(X, codes)


def test_subsets_that_do_not_fit_are_refused():
    X, codes = logistic(50)
    learner = SubsetClassifier(LogisticRegression(), design=DESIGN)
    with pytest.raises(CodeError):
        learner.fit(X, np.where(np.arange(50) == 7, 1, codes))
    with pytest.raises(NoDataError):
        learner.fit(X, np.full(50, DESIGN.missing_code))
    with pytest.raises(ValueError, match="has 1 features, but LogisticRegression is expecting 2"):
        learner.fit(X, codes).predict(X[:, :1])
