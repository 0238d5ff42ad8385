"""Where every subset is a single value, the measures are scikit-learn's."""

import numpy as np
import pytest

import subsetprivacy as sp

metrics = pytest.importorskip("sklearn.metrics")
calibration_curve = pytest.importorskip("sklearn.calibration").calibration_curve

P, N = 4, 2000


@pytest.fixture(scope="module")
def labeled():
    """Labels, probabilities with ties among them, and the labels as subsets of one."""
    rng = np.random.default_rng(3)
    proba = np.round(rng.dirichlet(np.ones(P) * 0.7, size=N), 2) + 0.01
    proba /= proba.sum(axis=1, keepdims=True)
    y = (rng.random((N, 1)) < (0.8 * proba + 0.05).cumsum(axis=1)).argmax(axis=1)
    return y, proba, sp.SubsetData(np.int64(1) << y, sp.nonprivate(range(P)))


def test_measures(labeled):
    y, proba, data = labeled
    guess = proba.argmax(axis=1)
    result = sp.evaluate(data, proba=proba)
    every = {"average": None}
    assert result.accuracy == pytest.approx(metrics.accuracy_score(y, guess), abs=1e-12)
    assert result.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, guess), abs=1e-12)
    assert result.log_loss == pytest.approx(metrics.log_loss(y, proba), abs=1e-12)
    assert result.subset_log_loss == pytest.approx(metrics.log_loss(y, proba), abs=1e-12)
    assert result.brier == pytest.approx(((np.eye(P)[y] - proba) ** 2).sum(axis=1).mean(), abs=1e-12)
    assert result.recall == pytest.approx(metrics.recall_score(y, guess, **every), abs=1e-12)
    assert result.precision == pytest.approx(metrics.precision_score(y, guess, **every), abs=1e-12)
    assert result.f1 == pytest.approx(metrics.f1_score(y, guess, **every), abs=1e-12)
    areas = [metrics.roc_auc_score(y == j, proba[:, j]) for j in range(P)]
    assert result.auc == pytest.approx(areas, abs=1e-12)
    assert np.allclose(result.confusion.counts, metrics.confusion_matrix(y, guess), rtol=0, atol=1e-9)
    assert result.shares == pytest.approx(np.bincount(y) / N, abs=1e-12)
    assert result.shares_se == pytest.approx(np.sqrt(result.shares * (1 - result.shares) / (N - 1)), abs=1e-12)


def test_two_categories_as_one_column_of_probabilities():
    rng = np.random.default_rng(1)
    score = rng.random(500)
    y = (rng.random(500) < score).astype(int)
    data = sp.SubsetData(np.int64(1) << y, sp.nonprivate(["no", "yes"]))
    result = sp.evaluate(data, proba=score)
    assert result.auc == pytest.approx([metrics.roc_auc_score(y, score)] * 2, abs=1e-12)
    assert result.brier == pytest.approx(2 * metrics.brier_score_loss(y, score), abs=1e-12)


def test_sampling_weights(labeled):
    y, proba, data = labeled
    weights = np.random.default_rng(4).uniform(0.5, 2, N)
    result = sp.evaluate(data, proba=proba, weights=weights, weights_kind="sampling")
    guess, told = proba.argmax(axis=1), {"sample_weight": weights}
    assert result.accuracy == pytest.approx(metrics.accuracy_score(y, guess, **told), abs=1e-12)
    assert result.log_loss == pytest.approx(metrics.log_loss(y, proba, **told), abs=1e-12)
    assert result.f1 == pytest.approx(metrics.f1_score(y, guess, average=None, **told), abs=1e-12)
    areas = [metrics.roc_auc_score(y == j, proba[:, j], **told) for j in range(P)]
    assert result.auc == pytest.approx(areas, abs=1e-12)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_calibration_curve(labeled, strategy):
    y, proba, data = labeled
    curve = sp.evaluate(data, proba=proba, bins=7, strategy=strategy).calibration
    for j in range(P):
        shares, predicted = calibration_curve(y == j, proba[:, j], n_bins=7, strategy=strategy)
        at = curve.category == j
        assert curve.estimate[at] == pytest.approx(shares, abs=1e-12)
        assert curve.predicted[at] == pytest.approx(predicted, abs=1e-12)
        assert curve.people[at].sum() == N


def test_probabilities_of_zero_count_as_in_scikit_learn(labeled):
    y, proba, data = labeled
    sharp = np.where(proba == proba.max(axis=1, keepdims=True), 1.0, 0.0)
    sharp /= sharp.sum(axis=1, keepdims=True)
    result = sp.evaluate(data, proba=sharp, metrics=["log_loss", "subset_log_loss"])
    assert result.log_loss == pytest.approx(metrics.log_loss(y, sharp), abs=1e-9)
    assert {note.kind for note in result.notes} == {sp.NoteKind.ASSUMPTION, sp.NoteKind.IMPOSSIBLE}


def test_standard_error_of_the_area_is_near_delong(labeled):
    y, proba, data = labeled
    result = sp.evaluate(data, proba=proba, metrics="auc")
    for j in range(P):
        above, below = proba[y == j, j], proba[y != j, j]
        wins = (above[:, None] > below) + 0.5 * (above[:, None] == below)
        delong = np.sqrt(wins.mean(axis=1).var(ddof=1) / len(above) + wins.mean(axis=0).var(ddof=1) / len(below))
        assert result.se("auc", j) == pytest.approx(delong, rel=0.01)
