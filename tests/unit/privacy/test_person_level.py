"""What one person's subset reveals."""

import numpy as np
import pytest
from every_case import every_case
from matplotlib.axes import Axes
from problems import lopsided
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, DistributionError, MismatchError
from subsetprivacy.messages import NoteKind
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting

W = np.array([0.1, 0.2, 0.3, 0.4])


@pytest.fixture
def people():
    """ab, cd, bd and a full set."""
    return sp.SubsetData([0b0011, 0b1100, 0b1010, 0b1111], lopsided())


def test_each_number_by_hand(people):
    result = sp.person_leakage(people, W)
    assert len(result) == 4
    assert list(result.candidates) == [2, 2, 2, 4]
    assert result.size_leakage == pytest.approx([0.7, 0.3, 0.4, 0])
    assert result.mi_leakage == pytest.approx(-np.log2([0.3, 0.7, 0.6, 1]))
    assert list(result.guess) == [1, 3, 3, 3]
    assert result.guess_posterior == pytest.approx([2 / 3, 4 / 7, 2 / 3, 0.4])
    assert result.guess_correct is None
    assert repr(result) == "<PersonLeakage of 4 people, largest posterior 0.667>"


def test_values_tell_whether_the_guess_is_right(people):
    result = sp.person_leakage(people, W, values=["a", "d", "d", "d"])
    assert list(result.guess_correct) == [False, True, True, True]
    rows = result.summary().rows
    assert [row[-1] for row in rows] == ["no", "yes", "yes", "yes"]
    assert rows[0][:3] == ("0", "a|b", "0.700")


def test_the_frame_has_a_row_per_person_and_no_values_unless_they_were_given(people):
    columns = ["person", "subset", "candidates", "size_leakage", "mi_leakage", "guess", "guess_posterior"]
    result = sp.person_leakage(people, W)
    frame = result.to_frame()
    assert list(frame.columns) == columns
    assert frame["person"].tolist() == [0, 1, 2, 3]
    assert frame["subset"].tolist() == [people.design.format(int(code)) for code in people.codes]
    assert frame["guess"].tolist() == ["b", "d", "d", "d"]
    assert result.notes == ()
    compared = sp.person_leakage(people, W, values=["a", "d", "d", "d"])
    assert list(compared.to_frame().columns) == [*columns, "guess_correct"]
    assert [note.kind for note in compared.notes] == [NoteKind.REVEALED]


def test_a_missing_value_is_not_guessed(people):
    result = sp.person_leakage(people, W, values=["b", None, float("nan"), "d"])
    assert list(result.guess_correct) == [True, False, False, True]


def test_the_mean_over_people_is_the_design(people):
    design = lopsided()
    codes, mu = design.support()
    share = mu * design.support_incidence.inner(W)
    result = sp.person_leakage(sp.SubsetData(codes, design), W)
    setting = Setting.of(design, W)
    assert share @ result.size_leakage == pytest.approx(metrics.size_leakage(setting))
    assert share @ result.mi_leakage == pytest.approx(metrics.mi_leakage(setting).value)
    assert share @ result.guess_posterior == pytest.approx(metrics.prediction_leakage(setting))


@every_case("p", [5, 20, 40])
def test_many_people_whatever_the_bookkeeping(p):
    # 50,000 people of 5, 20 and 40 categories go through three implementations of the same products.
    w = np.arange(1, p + 1) / (p * (p + 1) / 2)
    rng = np.random.default_rng(1)
    x = rng.choice(p, 50_000, p=w)
    data = sp.privatize(x, sp.uniform(range(p)), seed=rng)
    result = sp.person_leakage(data, w, values=x)
    k = rng.integers(50_000, size=20)
    inside = (data.codes[k, None] >> np.arange(p)) & 1 == 1
    assert result.size_leakage[k] == pytest.approx(1 - (inside * w).sum(axis=1))
    assert list(result.guess[k]) == [max(np.flatnonzero(row)) for row in inside]  # w rises: the last is the likeliest
    # How often the guess is right is what the guesses claim on average; the standard error is below .0023.
    assert result.guess_correct.mean() == pytest.approx(result.guess_posterior.mean(), abs=0.01)


def test_a_subset_without_weight_has_no_posterior():
    result = sp.person_leakage(sp.SubsetData([0b0011, 0b1100], lopsided()), [0, 0, 0.5, 0.5])
    assert result.size_leakage == pytest.approx([1, 0])
    assert result.mi_leakage[0] == np.inf
    assert result.mi_leakage[1] == 0
    assert np.isnan(result.guess_posterior[0])
    assert result.summary().rows[0][-1] == "-"


def test_nobody():
    result = sp.person_leakage(sp.SubsetData([], lopsided()), W)
    assert len(result) == 0
    assert repr(result) == "<PersonLeakage of 0 people>"
    assert result.summary().rows == ()


def test_a_long_table_is_cut():
    data = sp.privatize(list("abcd") * 10, lopsided(), seed=1)
    table = sp.person_leakage(data, W).summary(most=3)
    assert len(table.rows) == 3
    assert [(note.kind, note.text) for note in table.notes] == [(NoteKind.SHORTENED, "The first 3 of 40 people.")]


def test_values_that_do_not_fit(people):
    with refused(MismatchError, "values"):
        sp.person_leakage(people, W, values=["a", "b"])
    with pytest.raises(CategoryError, match="got 2 values that do not, first in row 1"):
        sp.person_leakage(people, W, values=["a", "a", "c", "a"])
    with pytest.raises(CategoryError, match="got 1 value that does not, first in row 2") as caught:
        sp.person_leakage(people, W, values=["a", "a", "secret", "a"])
    assert "secret" not in str(caught.value)  # messages reach logs
    with pytest.raises(CategoryError, match="got 1 value that does not, first in row 0"):
        sp.person_leakage(
            people, W, values=["secret", "d", "d", "d"]
        )  # no category, beside a subset that holds the first


def test_arguments_that_are_none(people):
    with refused(ArgumentError, "data"):
        sp.person_leakage(people.counts(), W)
    with refused(DistributionError, "w"):
        sp.person_leakage(people, [0.1, 0.1, 0.1, 0.1])
    assert sp.person_leakage(people, {"d": 0.4, "c": 0.3, "b": 0.2, "a": 0.1}).size_leakage[0] == pytest.approx(0.7)


def test_the_picture_shows_rows_of_balls(people):
    from matplotlib.patches import Circle

    ax = sp.person_leakage(people, W).plot(most=3, truth=["a", "c", "d"], names=["x", "y", "z"])
    assert isinstance(ax, Axes)
    assert sum(isinstance(patch, Circle) for patch in ax.patches) == 12
    with pytest.raises(CategoryError, match="got 1 value that does not, first in row 0"):
        sp.person_leakage(people, W).plot(truth=["secret", "c", "d", "a"])
