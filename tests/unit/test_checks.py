import numpy as np
import pytest
from every_case import every_case
from refusals import refused

from subsetprivacy._checks import check_choice, check_codes, check_count, check_distribution, check_level, read_only
from subsetprivacy.errors import ArgumentError, CodeError, DistributionError

LABELS = ("a", "b", "c")


@every_case("level", [0, 1, 95, -0.1, float("nan"), "0.95", None, True])
def test_level_lies_strictly_inside(level):
    with refused(ArgumentError, "level"):
        check_level(level)


def test_level_becomes_a_float():
    assert type(check_level(np.float32(0.5))) is float


@every_case("count", [-1, 1.0, True, "3", None, float("nan")])
def test_count_is_a_whole_number(count):
    with refused(ArgumentError, "n"):
        check_count(count, "n")


def test_count_accepts_numpy_integers():
    assert type(check_count(np.int64(3), "n")) is int
    with refused(ArgumentError, "n"):
        check_count(1, "n", least=2)


def test_choice_lists_what_is_allowed():
    assert check_choice("mle", ("mle", "mom"), "method") == "mle"
    with refused(ArgumentError, "method"):
        check_choice("ml", ("mle", "mom"), "method")


@every_case(
    ("w", "argument"),
    [
        ([0.5, 0.5], "w"),
        ([[0.5, 0.3, 0.2]], "w"),
        ([0.5, 0.5, np.nan], "w"),
        ([0.5, 0.6, -0.1], "w"),
        ([0.5, 0.5, 0.1], "w"),
        ("abc", "w"),
        (["x", "y", "z"], "w"),
        ({"a": 0.5, "b": 0.5}, "w"),
        ({"a": 0.5, "b": 0.5, "c": 0.0, "z": 0.0}, "w"),
    ],
)
def test_distribution_is_checked(w, argument):
    with refused(DistributionError, argument):
        check_distribution(w, LABELS)


def test_distribution_by_label_takes_the_order_of_the_labels():
    assert check_distribution({"c": 0.5, "a": 0.2, "b": 0.3}, LABELS).tolist() == [0.2, 0.3, 0.5]


def test_rounding_dust_below_zero_is_cleared():
    assert check_distribution([0.5, 0.5, -1e-15], LABELS).min() == 0


@every_case(
    ("codes", "argument"),
    [
        ([3.0, 5.0], "codes"),
        ([3, np.nan], "codes"),
        ([3, None], "codes"),
        ([True, False], "codes"),
        (["3"], "codes"),
        ([2**70], "codes"),
        ([[3, 5]], "codes"),
        (3, "codes"),
        ([[3], [3, 5]], "codes"),
        (np.ma.array([3, 5], mask=[False, True]), "codes"),
    ],
)
def test_codes_are_integers_in_a_row(codes, argument):
    with refused(CodeError, argument):
        check_codes(codes)


@every_case("codes", [[], np.array([]), np.array([], object)])
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
    with pytest.raises(DistributionError):
        check_distribution(pd.Series({"x": 0.5, "b": 0.3, "a": 0.2}), labels)
