"""What `evaluate` takes and refuses."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from every_case import every_case
from problems import lopsided
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Coarse
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    DistributionError,
    MismatchError,
    NoDataError,
    NotIdentifiableError,
    SmallCountWarning,
    UnknownDesignError,
)

LABELS = ["d", "b", "a", "c"]  # not sorted: scikit-learn's classes would be
N = 600


@pytest.fixture(scope="module")
def proba():
    return np.random.default_rng(1).dirichlet(np.ones(4), size=N)


@pytest.fixture(scope="module")
def data(proba):
    values = (np.random.default_rng(2).random((N, 1)) < proba.cumsum(axis=1)).argmax(axis=1)
    return sp.privatize([LABELS[x] for x in values], sp.uniform(LABELS), seed=1)


@pytest.fixture(scope="module")
def expected(data, proba):
    return sp.evaluate(data, proba=proba).estimates


# What it takes ------------------------------------------------------------------------------------


def test_columns_in_the_order_of_classes(data, proba, expected):
    order = np.argsort(LABELS)
    classes = np.array(LABELS)[order]
    assert sp.evaluate(data, proba=proba[:, order], classes=classes).estimates == pytest.approx(expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_data_frames_name_their_columns(data, proba, expected, make):
    named = {label: proba[:, LABELS.index(label)] for label in sorted(LABELS)}
    assert sp.evaluate(data, proba=make(named)).estimates == pytest.approx(expected)


def test_text_names_columns_of_categories_that_are_numbers(proba):
    data = sp.privatize(np.arange(N) % 4, sp.uniform(range(4)), seed=1)
    frame = pl.DataFrame({str(j): proba[:, j] for j in (3, 1, 0, 2)})
    assert sp.evaluate(data, proba=frame).brier == pytest.approx(sp.evaluate(data, proba=proba).brier)


def test_columns_that_pandas_numbers_are_in_category_order(data, proba, expected):
    assert sp.evaluate(data, proba=pd.DataFrame(proba)).estimates == pytest.approx(expected)


def test_guesses_are_labels_or_positions(data, proba):
    at = proba.argmax(axis=1)
    named = np.array(LABELS)[at]
    w = [0.25] * 4
    by_position = sp.evaluate(data, guess=at, w=w)
    assert sp.evaluate(data, guess=named, w=w).accuracy == by_position.accuracy
    assert sp.evaluate(data, guess=pd.Series(named, dtype="category"), w=w).accuracy == by_position.accuracy
    assert sp.evaluate(data, proba=proba, w=w).accuracy == by_position.accuracy
    assert by_position.calibration is None
    assert set(by_position.measures) == {"accuracy", "balanced_accuracy", "recall", "precision", "f1"}


def test_given_guesses_replace_the_likeliest_category(data, proba):
    result = sp.evaluate(data, proba=proba, guess=["a"] * N, metrics=["accuracy", "brier"])
    assert result.accuracy == pytest.approx(result.shares[LABELS.index("a")])
    assert result.brier == pytest.approx(sp.evaluate(data, proba=proba).brier)


def test_codes_with_a_design(data, proba, expected):
    assert sp.evaluate(data.codes, design=data.design, proba=proba).estimates == pytest.approx(expected)


def test_chosen_measures_come_in_a_fixed_order(data, proba):
    result = sp.evaluate(data, proba=proba, metrics=["auc", "accuracy"])
    assert result.measures == ("accuracy", *["auc"] * 4)
    assert result.positions == (None, 0, 1, 2, 3)


def test_missing_answers_are_counted_and_left_out(data, proba):
    codes = data.codes.copy()
    codes[:100] = data.design.missing_code
    result = sp.evaluate(codes, design=data.design, proba=proba, w=[0.25] * 4)
    assert (result.n, result.n_missing) == (500, 100)
    assert "100 people" in result.notes[0].text
    rest = sp.evaluate(data.codes[100:], design=data.design, proba=proba[100:], w=[0.25] * 4)
    assert result.estimates == pytest.approx(rest.estimates)
    assert result.errors == pytest.approx(rest.errors)


def test_frequencies_are_rows_repeated(data, proba):
    times = np.random.default_rng(3).integers(0, 4, N)
    again = np.repeat(np.arange(N), times)
    w = [0.25] * 4
    one = sp.evaluate(data, proba=proba, weights=times, weights_kind="frequency", w=w)
    two = sp.evaluate(data.codes[again], design=data.design, proba=proba[again], w=w)
    assert one.estimates == pytest.approx(two.estimates, abs=1e-12)
    assert one.errors == pytest.approx(two.errors, abs=1e-12)
    assert one.confusion.se == pytest.approx(two.confusion.se, abs=1e-12)
    assert one.n == two.n == times.sum()


def test_relabelling_categories_permutes_the_measures(data, proba):
    order = [2, 0, 3, 1]
    design = sp.uniform([LABELS[j] for j in order])
    codes = sum(((data.codes >> j) & 1) << k for k, j in enumerate(order))
    one = sp.evaluate(data, proba=proba, w=[0.25] * 4)
    two = sp.evaluate(codes, design=design, proba=proba[:, order], w=[0.25] * 4)
    assert two.accuracy == pytest.approx(one.accuracy, abs=1e-12)
    assert two.auc == pytest.approx(one.auc[order], abs=1e-12)
    assert two.confusion.estimate == pytest.approx(one.confusion.estimate[np.ix_(order, order)], abs=1e-12)


def test_subset_log_loss_needs_no_design(data, proba):
    coarse = sp.SubsetData(data.codes, Coarse(data.categories))
    result = sp.evaluate(coarse, proba=proba, metrics="subset_log_loss")
    assert result.subset_log_loss == pytest.approx(sp.evaluate(data, proba=proba).subset_log_loss)
    assert result.confusion is None
    assert result.shares.size == 0


# Rare categories ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_rare():
    rng = np.random.default_rng(1)
    values = rng.choice(4, size=1000, p=[0.5, 0.3, 0.19, 0.01])
    proba = 0.6 * np.eye(4)[values] + 0.4 * rng.dirichlet(np.ones(4), size=1000)
    return sp.privatize(values, sp.uniform(range(4)), seed=1), proba


def test_rare_categories_are_not_measured_and_named(with_rare):
    data, proba = with_rare
    with pytest.warns(SmallCountWarning, match=r"Too rare in this sample.*: 3\. Not given"):
        result = sp.evaluate(data, proba=proba)
    assert np.isnan([result.balanced_accuracy, result.recall[3], result.f1[3], result.auc[3]]).all()
    assert np.isnan(result.se("recall", 3))
    assert np.isfinite([result.accuracy, *result.recall[:3], *result.precision[:3], *result.auc[:3]]).all()
    assert sp.NoteKind.SMALL_COUNTS in {note.kind for note in result.notes}


def test_measures_without_rare_categories_do_not_warn(with_rare):
    data, proba = with_rare
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sp.evaluate(data, proba=proba, metrics=["accuracy", "subset_log_loss", "brier"])


def test_categories_that_are_hardly_guessed_have_no_precision(data):
    guess = ["a"] * (N - 5) + ["b"] * 5
    result = sp.evaluate(data, guess=guess, metrics=["precision"])
    assert np.isfinite(result.precision[LABELS.index("a")])
    assert np.isnan(result.precision[LABELS.index("b")])
    assert result.notes[0].kind == sp.NoteKind.NO_ESTIMATE
    assert "d, b, c" in result.notes[0].text


def test_a_category_of_everyone_has_no_area(proba):
    data = sp.SubsetData(np.full(N, 1), sp.nonprivate(LABELS))
    with pytest.warns(SmallCountWarning):
        result = sp.evaluate(data, proba=proba)
    assert np.isnan(result.auc).all()
    assert result.recall[0] == pytest.approx(np.mean(proba.argmax(axis=1) == 0))


def test_few_people():
    data = sp.SubsetData(np.array([1, 2, 1, 2]), sp.nonprivate(["x", "y"]))
    with pytest.warns(SmallCountWarning, match="Only 4 people"):
        sp.evaluate(data, guess=["x", "y", "y", "y"], metrics="accuracy")


# What it refuses ----------------------------------------------------------------------------------


@every_case(
    ("change", "error", "argument"),
    [
        (lambda p: np.where(np.arange(N)[:, None] == 41, 0.3, p), DistributionError, "proba"),
        (lambda p: np.where(np.arange(N)[:, None] > 597, np.nan, p), DistributionError, "proba"),
        (lambda p: p * [2, 1, 0, 0] - 0.01, DistributionError, "proba"),
        (lambda p: p[1:], MismatchError, "proba"),
        (lambda p: p[:, 1:], MismatchError, "proba"),
        (lambda p: p[:, 0], MismatchError, "proba"),
        (lambda p: pd.DataFrame(p, columns=list("abcx")), CategoryError, "proba"),
        (
            lambda p: pd.DataFrame(p[:, :3] / p[:, :3].sum(1, keepdims=True), columns=list("abc")),
            MismatchError,
            "proba",
        ),
        (lambda p: [["x"] * 4] * N, DistributionError, "proba"),
    ],
)
def test_wrong_probabilities(data, proba, change, error, argument):
    with refused(error, argument):
        sp.evaluate(data, proba=change(proba))


def test_wrong_probabilities_of_the_second_classifier(data, proba):
    with pytest.raises(DistributionError, match="rows of `compare` must be probabilities"):
        sp.evaluate(data, proba=proba, compare=2 * proba)
    with pytest.raises(MismatchError, match="`compare` must have one row per person"):
        sp.evaluate(data, proba=proba, compare=proba[1:])


@every_case(
    ("guess", "error", "argument"),
    [
        (["a"] * (N - 1), MismatchError, "guess"),
        (["a"] * (N - 1) + ["secret"], CategoryError, "guess"),
        (["a"] * (N - 1) + [None], CategoryError, "guess"),
        (np.full(N, 4), CategoryError, "guess"),
    ],
)
def test_wrong_guesses(data, guess, error, argument):
    with refused(error, argument) as caught:
        sp.evaluate(data, guess=guess)
    assert "secret" not in str(caught.value)


@every_case(
    ("arguments", "argument"),
    [
        ({"proba": None}, "proba"),
        ({"metrics": "accurracy"}, "metrics"),
        ({"metrics": []}, "metrics"),
        ({"metrics": 3}, "metrics"),
        ({"proba": None, "guess": ["a"] * N, "metrics": "auc"}, "metrics"),
        ({"bins": 0}, "bins"),
        ({"strategy": "even"}, "strategy"),
        ({"weights": np.ones(N)}, "weights_kind"),
        ({"weights_kind": "sampling"}, "weights"),
        ({"weights": np.full(N, -1.0), "weights_kind": "sampling"}, "weights"),
        ({"weights": np.full(N, 0.5), "weights_kind": "frequency"}, "weights"),
        ({"names": ("one", "one"), "compare": ["a"] * N}, "names"),
    ],
)
def test_wrong_arguments(data, proba, arguments, argument):
    with refused(ArgumentError, argument):
        sp.evaluate(data, **{"proba": proba, **arguments})


def test_wrong_lengths(data, proba):
    with pytest.raises(MismatchError):
        sp.evaluate(data, proba=proba, weights=np.ones(3), weights_kind="sampling")
    with refused(MismatchError, "classes"):
        sp.evaluate(data, proba=proba, classes=["a", "b"])
    with pytest.raises(CategoryError):
        sp.evaluate(data, proba=proba, classes=["a", "b", "c", "c"])


def test_columns_with_other_indexes(data, proba):
    frame = pd.DataFrame(proba, columns=LABELS)
    guess = pd.Series(["a"] * N, index=range(1, N + 1))
    with pytest.raises(MismatchError):
        sp.evaluate(data, proba=frame, guess=guess)


def test_designs_without_indicators(data, proba):
    coarse = sp.SubsetData(data.codes, Coarse(data.categories))
    with pytest.raises(UnknownDesignError):
        sp.evaluate(coarse, proba=proba)
    covered = sp.privatize(list("abcd") * 20, sp.covered(lopsided(), 0.15), seed=1)
    with pytest.raises(ArgumentError, match="dummy rows have no value"):
        sp.evaluate(covered, proba=np.full((len(covered), 4), 0.25), metrics="subset_log_loss")
    blind = sp.SubsetData(np.full(N, 15), sp.fully_private(LABELS))
    with pytest.raises(NotIdentifiableError):
        sp.evaluate(blind, proba=proba)


def test_nobody_said_anything(data, proba):
    codes = np.full(N, data.design.missing_code)
    with pytest.raises(NoDataError):
        sp.evaluate(codes, design=data.design, proba=proba, w=[0.25] * 4)
