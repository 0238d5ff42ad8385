"""What the results of `evaluate` say, two classifiers compared, and pictures."""

import json

import numpy as np
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError

N = 2000


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(4), size=N)
    values = (rng.random((N, 1)) < proba.cumsum(axis=1)).argmax(axis=1)
    noisy = 0.6 * proba + 0.4 * rng.dirichlet(np.ones(4), size=N)
    design = sp.uniform(["black", "red", "green", "blue"])
    return sp.privatize([design.categories.labels[x] for x in values], design, seed=1), proba, noisy


@pytest.fixture(scope="module")
def evaluation(sample):
    return sp.evaluate(sample[0], proba=sample[1])


@pytest.fixture(scope="module")
def both(sample):
    return sp.evaluate(sample[0], proba=sample[1], compare=sample[2], names=("sharp", "noisy"))


def test_measures_by_name_and_category(evaluation):
    assert evaluation.estimate("accuracy") == evaluation.accuracy
    assert evaluation.estimate("recall", "green") == evaluation.recall[2]
    assert evaluation.se("auc").shape == (4,)
    low, high = evaluation.interval("accuracy", level=0.9)
    assert low < evaluation.accuracy < high
    assert evaluation.interval("recall").shape == (4, 2)
    assert evaluation.interval("recall", "red").shape == (2,)


def test_wrong_names(evaluation):
    with refused(ArgumentError, "measure"):
        evaluation.estimate("kappa")
    with refused(ArgumentError, "category"):
        evaluation.se("accuracy", "red")
    with pytest.raises(CategoryError):
        evaluation.estimate("auc", "pink")
    with refused(ArgumentError, "method"):
        evaluation.summary(method="profile")


def test_frame_has_a_row_per_measure_and_category(evaluation):
    frame = evaluation.to_frame()
    assert list(frame.columns) == ["measure", "category", "estimate", "se", "lower", "upper", "level"]
    assert len(frame) == 5 + 4 * 4
    assert frame["category"].isna().sum() == 5
    assert list(frame.loc[frame["measure"] == "auc", "category"]) == ["black", "red", "green", "blue"]


def test_summary_prints_measures_in_words(evaluation):
    text = str(evaluation.summary(0.9))
    assert "Classifier, evaluated on subsets: n = 2,000" in text
    assert "lower 90%" in text
    assert "subset log loss" in text
    assert "Brier score" in text


def test_logit_intervals_stay_inside(evaluation):
    frame = evaluation.to_frame(0.999, method="logit")
    shares = ~frame["measure"].isin(["brier", "log_loss", "subset_log_loss"])
    assert frame.loc[shares, "lower"].min() > 0
    assert frame.loc[shares, "upper"].max() < 1
    wald = evaluation.to_frame(0.999)
    assert frame.loc[~shares, "lower"].to_numpy() == pytest.approx(wald.loc[~shares, "lower"].to_numpy())


def test_confusion_matrix_adds_up(evaluation):
    matrix = evaluation.confusion
    assert matrix.estimate.sum() == pytest.approx(1)
    assert matrix.estimate.sum(axis=1) == pytest.approx(evaluation.shares)
    assert np.trace(matrix.estimate) == pytest.approx(evaluation.accuracy)
    assert matrix.counts.sum() == pytest.approx(N)
    assert "value \\ guess" in str(matrix.summary())


def test_confusion_matrix_of_many_categories_is_a_list():
    rng = np.random.default_rng(1)
    data = sp.privatize(rng.integers(0, 12, 3000), sp.uniform(range(12)), seed=1)
    result = sp.evaluate(data, guess=rng.integers(0, 12, 3000), metrics="accuracy")
    table = result.confusion.summary()
    assert len(table.rows) == 30
    assert table.notes[0].kind == sp.NoteKind.SHORTENED


def test_calibration_of_true_probabilities_is_the_diagonal(evaluation):
    curve = evaluation.calibration
    z = (curve.estimate - curve.predicted) / curve.se
    assert np.abs(z).max() < 4
    assert np.bincount(curve.category).tolist() == [10] * 4
    assert len(curve.to_frame()) == 40


# Two classifiers ----------------------------------------------------------------------------------


def test_differences_are_first_minus_second(both):
    assert both.differences == pytest.approx(both.one.estimates - both.two.estimates, nan_ok=True)
    assert both.difference("accuracy") == both.differences[0]
    assert both.difference("subset_log_loss") < 0  # the true probabilities lose less
    low, high = both.interval("accuracy")
    assert low < both.difference("accuracy") < high
    assert "sharp minus noisy" in both.notes[0].text


def test_paired_errors_are_smaller_than_those_of_two_samples(both):
    apart = np.hypot(both.one.errors, both.two.errors)
    assert (both.errors < apart).all()


def test_differences_of_a_mean_have_the_error_of_the_paired_values(sample, both):
    data, proba, noisy = sample
    D = sp.indicator(data, 0.9 * (proba + noisy) / 2 + 0.1 / 4, blocks=256)
    i = np.arange(N)
    gap = D[i, proba.argmax(axis=1)] - D[i, noisy.argmax(axis=1)]
    assert both.difference("accuracy") == pytest.approx(gap.mean(), abs=1e-12)
    assert both.se("accuracy") == pytest.approx(gap.std(ddof=1) / np.sqrt(N), abs=1e-12)


def test_the_same_classifier_twice_does_not_differ(sample):
    data, proba, _ = sample
    both = sp.evaluate(data, proba=proba, compare=proba)
    assert both.differences == pytest.approx(0, abs=1e-14)
    assert both.pvalues == pytest.approx(1)


def test_guesses_against_probabilities_compare_what_both_have(sample):
    data, proba, noisy = sample
    both = sp.evaluate(data, proba=proba, compare=noisy.argmax(axis=1))
    assert set(both.measures) == {"accuracy", "balanced_accuracy", "recall", "precision", "f1"}


def test_comparisons_have_one_kind_of_interval(both):
    with refused(ArgumentError, "method"):
        both.to_frame(method="logit")


# To and fro, and pictures -------------------------------------------------------------------------


def test_results_without_a_design_are_read_back(sample):
    data, proba, _ = sample
    coarse = sp.SubsetData(data.codes, sp.design.coarse(data.categories))
    result = sp.evaluate(coarse, proba=proba, metrics="subset_log_loss")
    again = sp.Evaluation.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again.to_dict() == result.to_dict()
    with pytest.raises(ArgumentError):
        result.plot()


@pytest.mark.parametrize("kind", ["measures", "calibration", "confusion"])
def test_pictures(evaluation, kind):
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = evaluation.plot(kind)
    assert axes.get_title()
    plt.close("all")


def test_picture_of_one_category(evaluation):
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = evaluation.calibration.plot("red")
    assert "red" in axes.get_title()
    plt.close("all")


def test_pictures_that_there_are_not(sample):
    result = sp.evaluate(sample[0], guess=sample[1].argmax(axis=1))
    with pytest.raises(ArgumentError):
        result.plot("calibration")
    with refused(ArgumentError, "kind"):
        result.plot("roc")
