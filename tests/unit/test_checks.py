import numpy as np
import pytest

from subsetprivacy._checks import check_choice, check_codes, check_count, check_distribution, check_level, read_only
from subsetprivacy.errors import ArgumentError, CodeError, DistributionError

LABELS = ("a", "b", "c")


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan"), "0.95", None, True])
def test_level_lies_strictly_inside(level):
    with pytest.raises(ArgumentError, match=r"`level` must be between 0 and 1; got .* Hint: 95% is 0.95"):
        check_level(level)


def test_level_becomes_a_float():
    assert type(check_level(np.float32(0.5))) is float


@pytest.mark.parametrize("count", [-1, 1.0, True, "3", None, float("nan")])
def test_count_is_a_whole_number(count):
    with pytest.raises(ArgumentError, match="`n` must be a whole number of at least 0; got"):
        check_count(count, "n")


def test_count_accepts_numpy_integers():
    assert type(check_count(np.int64(3), "n")) is int
    with pytest.raises(ArgumentError, match="at least 2; got 1"):
        check_count(1, "n", least=2)


def test_choice_lists_what_is_allowed():
    assert check_choice("mle", ("mle", "mom"), "method") == "mle"
    with pytest.raises(ArgumentError, match="`method` must be one of mle, mom; got 'ml'"):
        check_choice("ml", ("mle", "mom"), "method")


@pytest.mark.parametrize(
    ("w", "message"),
    [
        ([0.5, 0.5], r"one entry for each of the 3 categories; got 2\."),
        ([[0.5, 0.3, 0.2]], r"got shape \(1, 3\)"),
        ([0.5, 0.5, np.nan], "must be finite; got 1 entry that is not"),
        ([0.5, 0.6, -0.1], "must be non-negative; got -0.1 for 'c'. Hint: a moment estimate can leave the simplex"),
        ([0.5, 0.5, 0.1], "must sum to 1; got 1.1. Hint: divide by the sum"),
        ("abc", "must be numbers, one per category; got str"),
        (["x", "y", "z"], "must be numbers, one per category; got list"),
        ({"a": 0.5, "b": 0.5}, r"one number per category; got no entry for 'c'"),
        ({"a": 0.5, "b": 0.5, "c": 0.0, "z": 0.0}, r"one number per category; got unknown 'z'"),
    ],
)
def test_distribution_is_checked(w, message):
    with pytest.raises(DistributionError, match=message):
        check_distribution(w, LABELS)


def test_distribution_by_label_takes_the_order_of_the_labels():
    assert check_distribution({"c": 0.5, "a": 0.2, "b": 0.3}, LABELS).tolist() == [0.2, 0.3, 0.5]


def test_rounding_dust_below_zero_is_cleared():
    assert check_distribution([0.5, 0.5, -1e-15], LABELS).min() == 0


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([3.0, 5.0], "must be integers, one subset code per person; got dtype float64. Hint: a column with gaps"),
        ([3, np.nan], "got dtype float64"),
        ([3, None], "got dtype object"),
        ([True, False], "got dtype bool"),
        (["3"], "got dtype <U1"),
        ([2**70], "got dtype object"),
        ([[3, 5]], r"must be one-dimensional; got shape \(1, 2\)"),
        (3, r"must be one-dimensional; got shape \(\)"),
        ([[3], [3, 5]], "got nested lists"),
        (
            np.ma.array([3, 5], mask=[False, True]),
            "must have no masked entries; got 1 masked entry. Hint: store a missing answer as the full set",
        ),
    ],
)
def test_codes_are_integers_in_a_row(codes, message):
    with pytest.raises(CodeError, match=message):
        check_codes(codes)


@pytest.mark.parametrize("codes", [[], np.array([]), np.array([], object)])
def test_no_codes_are_integers_too(codes):
    assert check_codes(codes).dtype == np.int64
    assert check_codes(codes).shape == (0,)


def test_frozen_arrays_are_private_copies():
    mine = np.array([1, 2])
    locked = read_only(mine)
    mine[0] = 9
    assert locked.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        locked[0] = 9


def test_a_series_is_read_by_its_labels():
    pd = pytest.importorskip("pandas")
    labels = ("a", "b", "c")
    backwards = pd.Series({"c": 0.5, "b": 0.3, "a": 0.2})
    assert check_distribution(backwards, labels).tolist() == [0.2, 0.3, 0.5]
    assert check_distribution(pd.Series([0.2, 0.3, 0.5]), labels).tolist() == [0.2, 0.3, 0.5]
    with pytest.raises(DistributionError, match="unknown"):
        check_distribution(pd.Series({"x": 0.5, "b": 0.3, "a": 0.2}), labels)
