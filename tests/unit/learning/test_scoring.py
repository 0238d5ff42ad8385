"""Scores from subsets: those of `evaluate`, in the form that scikit-learn calls."""

import pickle
import sys
from importlib import import_module

import numpy as np
import pytest
from refusals import refused
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, log_loss, recall_score, roc_auc_score
from sklearn.model_selection import cross_val_score

import subsetprivacy as sp
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    CodeError,
    MissingDependencyError,
    SmallCountWarning,
    UnknownDesignError,
)
from subsetprivacy.learning import SubsetLogisticRegression, subset_rows, subset_scorer

LABELS = ["c", "a", "b"]  # not in the order that scikit-learn sorts them
DESIGN = sp.fixed_size(LABELS, 2)


@pytest.fixture(scope="module")
def sample():
    """Covariates, values and subsets of many people, and a classifier that was trained on labels of others."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 2))
    U = X @ [[2, 0, -1], [0, 1, 1]] + rng.gumbel(size=(20_000, 3))
    values = np.array(LABELS)[U.argmax(axis=1)]
    model = LogisticRegression().fit(X[:2000], values[:2000])
    return X[2000:], values[2000:], sp.privatize(values[2000:], DESIGN, seed=1).codes, model


TRUTHS = {
    "accuracy": lambda y, model, X: accuracy_score(y, model.predict(X)),
    "log_loss": lambda y, model, X: -log_loss(y, model.predict_proba(X)),
    "brier": lambda y, model, X: -np.mean(((model.predict_proba(X) - (y[:, None] == model.classes_)) ** 2).sum(axis=1)),
    "balanced_accuracy": lambda y, model, X: recall_score(y, model.predict(X), average="macro"),
    "recall": lambda y, model, X: recall_score(y, model.predict(X), average="macro"),
    "auc": lambda y, model, X: roc_auc_score(y, model.predict_proba(X), multi_class="ovr"),
}


@pytest.mark.slow
@pytest.mark.parametrize("metric", TRUTHS)
def test_a_score_is_near_that_of_the_labels(metric, sample):
    X, values, codes, model = sample
    assert subset_scorer(metric, DESIGN)(model, X, codes) == pytest.approx(TRUTHS[metric](values, model, X), abs=0.03)


def test_a_score_of_one_category(sample):
    X, values, codes, model = sample
    truth = roc_auc_score(values == "a", model.predict_proba(X)[:, model.classes_.tolist().index("a")])
    assert subset_scorer("auc", DESIGN, category="a")(model, X, codes) == pytest.approx(truth, abs=0.03)


def test_the_log_likelihood_is_that_of_the_subsets(sample):
    X, _, codes, model = sample
    P = model.predict_proba(X)[:, [model.classes_.tolist().index(label) for label in LABELS]]
    expected = np.log((P * subset_rows(codes, design=DESIGN)).sum(axis=1))
    assert subset_scorer(design=DESIGN)(model, X, codes) == pytest.approx(expected.mean())
    assert subset_scorer(categories=LABELS)(model, X, codes) == pytest.approx(expected.mean())
    weight = np.arange(len(X))
    weighted = subset_scorer("log_likelihood", DESIGN)(model, X, codes, sample_weight=weight)
    assert weighted == pytest.approx(np.average(expected, weights=weight))


def test_a_classifier_without_probabilities_or_without_some_category(sample):
    X, values, codes, _ = sample
    ridge = RidgeClassifier().fit(X, values)
    result = subset_scorer("accuracy", DESIGN)(ridge, X, codes)
    assert result == pytest.approx(accuracy_score(values, ridge.predict(X)), abs=0.03)
    two = LogisticRegression().fit(X[values != "a"], values[values != "a"])
    result = subset_scorer("accuracy", DESIGN)(two, X, codes)
    assert result == pytest.approx(accuracy_score(values, two.predict(X)), abs=0.03)


def test_guesses_are_the_classifiers_own(sample):
    X, values, codes, _ = sample
    stubborn = DummyClassifier(strategy="constant", constant="b").fit(X, values)
    result = subset_scorer("accuracy", DESIGN)(stubborn, X, codes)
    assert result == pytest.approx(np.mean(values == "b"), abs=0.03)


def test_few_people_of_a_fold_are_no_warning(sample):
    X, _, codes, _ = sample
    learner = SubsetLogisticRegression(DESIGN)
    scores = cross_val_score(learner, X[:100], codes[:100], scoring=subset_scorer("accuracy", DESIGN))
    assert np.isfinite(scores).all()


def test_a_rare_category_makes_a_mean_over_categories_unknown(sample):
    X, values, codes, model = sample
    others = values != "c"
    with pytest.warns(SmallCountWarning, match="Too rare"):
        assert np.isnan(subset_scorer("auc", DESIGN)(model, X[others], codes[others]))


def test_a_scorer_is_pickled_and_shown():
    scorer = pickle.loads(pickle.dumps(subset_scorer("auc", DESIGN, category="a")))
    assert repr(scorer) == "<SubsetScorer: auc of 'a', <fixed_size design on 3 categories: 'c', 'a', 'b'>>"


def test_what_does_not_fit_is_refused(sample):
    X, _, codes, model = sample
    with refused(ArgumentError, "metric"):
        subset_scorer("r2", DESIGN)
    with refused(ArgumentError, "design"):
        subset_scorer("accuracy")
    with refused(ArgumentError, "category"):
        subset_scorer("accuracy", DESIGN, category="a")
    with pytest.raises(CategoryError):
        subset_scorer("auc", DESIGN, category="z")
    with pytest.raises(UnknownDesignError):
        subset_scorer("accuracy", categories=LABELS)(model, X, codes)
    with pytest.raises(CodeError):
        subset_scorer("accuracy", DESIGN)(model, X, np.ones(len(X), np.int64))


# Without scikit-learn -----------------------------------------------------------------------------


def test_the_extra_is_named_where_scikit_learn_is_absent(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("subsetprivacy.learning")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingDependencyError, match=r"scikit-learn.*pip install"):
        import_module("subsetprivacy.learning")


# Rows ---------------------------------------------------------------------------------------------


def test_rows_of_a_design_that_mixes_in_a_bit():
    rows = subset_rows(sp.privatize(["no", "yes"] * 50, sp.warner(["no", "yes"], q=0.25), seed=1))
    assert {tuple(row) for row in rows.tolist()} == {(0.25, 0.75), (0.75, 0.25)}


def test_rows_need_codes_of_the_design():
    with pytest.raises(CodeError):
        subset_rows([9], design=DESIGN)
