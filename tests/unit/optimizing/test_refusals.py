"""What cannot be had is refused by name, with the nearest thing that can."""

import re
import sys

import numpy as np
import pytest

from subsetprivacy.design import fixed_size
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    ConvergenceWarning,
    DistributionError,
    InvalidDesignError,
    MissingDependencyError,
    TooLargeError,
)
from subsetprivacy.optimizing import frontier, optimal
from subsetprivacy.optimizing.feasible import least
from subsetprivacy.optimizing.program import program
from subsetprivacy.subsets import Categories

LABELS = list("abcde")
W = np.array([0.45, 0.25, 0.15, 0.1, 0.05])


def nearest(error):
    """The number that a message says is possible."""
    return float(re.search(r"must be (?:above )?([\d.]+)", str(error.value)).group(1))


@pytest.mark.parametrize("metric", ["mi", "size", "prediction"])
@pytest.mark.parametrize("kind", ["independent", "conditional"])
@pytest.mark.parametrize("several", [False, True])
def test_budget_below_what_is_possible(kind, metric, several):
    w = [W, W[::-1]] if several else W
    with pytest.raises(ArgumentError, match=rf"`budget` must be .*[\d.]+.* for '{metric}' with {kind}") as caught:
        optimal(LABELS, w, {metric: 0.02}, kind=kind)
    possible = nearest(caught)
    # A little more than what the message says can be had, a little less cannot.
    assert optimal(LABELS, w, {metric: possible + 0.002}, kind=kind).leakage[metric] <= possible + 0.002
    with pytest.raises(ArgumentError, match="`budget` must be"):
        optimal(LABELS, w, {metric: possible - 0.002}, kind=kind)


def test_least_leakage_that_a_design_has_is_possible():
    even = np.full(6, 1 / 6)
    half = optimal(range(6), even, {"mi": 1.0}, smallest=3)  # every question of three and three tells one bit
    assert half.saturated == ("mi",)
    with pytest.raises(ArgumentError, match=r"must be 1 or more for 'mi' with independent designs and sets of 3"):
        optimal(range(6), even, {"mi": 0.999}, smallest=3)
    # Of all conditional designs, all but one category leaks the least: log2(6/5).
    told = optimal(range(6), even, {"mi": np.log2(6 / 5)}, kind="conditional")
    assert told.design.support()[1] == pytest.approx(fixed_size(range(6), 5).support()[1])
    with pytest.raises(ArgumentError, match=r"must be 0\.26304 or more"):
        optimal(range(6), even, {"mi": 0.263}, kind="conditional")


def test_maximal_leakage_of_questions_is_one_bit():
    with pytest.raises(ArgumentError, match=r"must be 1 or more for 'maximal'.*full_set=True"):
        optimal(LABELS, W, {"maximal": 0.9})
    with pytest.raises(ArgumentError, match=r"must be 0\.32193 or more for 'maximal' with conditional"):
        optimal(LABELS, W, {"maximal": 0.2}, kind="conditional")
    assert optimal(LABELS, W, {"maximal": 0.9}, full_set=True).saturated == ("maximal",)


def test_budgets_that_exclude_each_other():
    skewed, small = [0.9, 0.05, 0.03, 0.01, 0.01], {"size": 0.027}
    assert optimal(LABELS, skewed, small, kind="conditional").saturated == ("size",)
    assert optimal(LABELS, skewed, {"maximal": 0.4}, kind="conditional").saturated == ("maximal",)
    with pytest.raises(ArgumentError, match=r"above 0\.48\d+ for 'maximal' .*, given the other budgets") as caught:
        optimal(LABELS, skewed, {**small, "maximal": 0.4}, kind="conditional")
    both = optimal(LABELS, skewed, {**small, "maximal": nearest(caught) + 0.01}, kind="conditional")
    assert both.leakage["size"] <= 0.027


def test_a_budget_that_all_designs_meet_is_not_blamed():
    with pytest.raises(ArgumentError, match=r"for 'mi' .*given the other budgets"):
        optimal(LABELS, W, {"maximal": 1.0, "mi": 0.3})
    even = np.full(6, 1 / 6)  # one bit for every question of three and three: no choice, and no blame
    with pytest.raises(ArgumentError, match=r"must be 1 or more for 'mi'"):
        optimal(range(6), even, {"prediction": 2 / 6, "mi": 0.9}, smallest=3)


def test_nothing_can_be_learned_from_nothing():
    with pytest.raises(ArgumentError, match=r"must be above 0 for 'mi'.*even without data"):
        optimal(LABELS, W, {"mi": 0.0}, full_set=True)
    with pytest.raises(ArgumentError, match=r"must be above 0\.45 for 'prediction'"):
        optimal(LABELS, W, {"prediction": 0.45}, full_set=True)


@pytest.mark.parametrize("share", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-12])
@pytest.mark.parametrize("kind", ["independent", "conditional"])
def test_just_above_the_least_it_is_solved_or_refused(kind, share):
    budget = least(program(Categories(LABELS), W[None], kind, 2, False), "size").value + share
    try:
        best = optimal(LABELS, W, {"size": budget}, kind=kind)
    except ArgumentError as error:
        assert re.search("`budget` must be (above|further above|0)", str(error))  # noqa: PT017
        assert share < 1e-6
    else:
        assert best.leakage["size"] <= budget
        assert best.gap <= 1e-4
        assert best.loss > 0.01 / share


@pytest.mark.parametrize(
    ("kind", "p", "smallest", "most"),
    [("independent", 5, 3, 2), ("independent", 8, 5, 4), ("conditional", 5, 5, 4), ("conditional", 8, 9, 7)],
)
def test_sets_that_large_cannot_be(kind, p, smallest, most):
    w = np.arange(p, 0, -1) / (p * (p + 1) / 2)
    with pytest.raises(ArgumentError, match=rf"`smallest` must be at most {most} .*got {smallest}.*nearest is {most}"):
        optimal(range(p), w, kind=kind, smallest=smallest)
    assert optimal(range(p), w, kind=kind, smallest=most).design.smallest_set == most


@pytest.mark.parametrize("smallest", [1, 0, 2.5, True, "2"])
def test_smallest_set_must_hide_something(smallest):
    with pytest.raises(ArgumentError, match="`smallest` must be a whole number of at least 2"):
        optimal(LABELS, W, smallest=smallest)


def test_too_many_or_too_few_categories():
    with pytest.raises(TooLargeError, match=r"at most 14 labels for solver='interior'.*got 15"):
        optimal(range(15), np.full(15, 1 / 15))
    with pytest.raises(
        TooLargeError, match=r"at most 8 labels for solver='conic'.*got 9. Hint: solver='interior' allows up to 14"
    ):
        optimal(range(9), np.full(9, 1 / 9), solver="conic")
    with pytest.raises(InvalidDesignError, match=r"at least 4 categories; got 3.*kind='conditional'"):
        optimal(range(3), [0.5, 0.3, 0.2])
    with pytest.raises(InvalidDesignError, match="at least 3 categories; got 2"):
        optimal(range(2), [0.5, 0.5], kind="conditional")
    with pytest.raises(CategoryError, match="single string"):
        optimal("abcd", [0.25] * 4)


@pytest.mark.parametrize(
    ("w", "message"),
    [
        ([0.5, 0.3, 0.1, 0.1, 0.1], "`w` must sum to 1; got 1.1"),
        ([0.5, 0.5, 0.2, -0.1, -0.1], "`w` must be non-negative"),
        ([0.5, 0.5], "`w` must have one entry for each of the 5"),
        ([0.5, 0.3, 0.2, 0.0, 0.0], r"`w` must be at least 1e-06 in every category.*got 0 for 'd'"),
        ([W, [0.2] * 4], r"`w\[1\]` must have one entry"),
        ([W, [0.5, 0.5, 0, 0, 0]], r"`w\[1\]` must be at least 1e-06"),
        ({"a": 0.5, "b": 0.5}, "no entry for"),
        ([], "one entry for each"),
        (np.empty((0, 5)), "empty list"),
    ],
)
def test_w_off_the_inside_of_the_simplex(w, message):
    with pytest.raises(DistributionError, match=message):
        optimal(LABELS, w)


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (0.4, r"must map leakages.*budget=\{'mi': 0.4\}"),
        ({"bits": 0.4}, "`budget` must be one of size, mi, prediction, maximal; got 'bits'"),
        ({"mi": -0.1}, "not negative; got -0.1 for 'mi'"),
        ({"mi": np.nan}, "must be finite"),
        ({"mi": "0.4"}, "got str for 'mi'"),
        ({"mi": True}, "got bool for 'mi'"),
    ],
)
def test_budget_that_is_none(budget, message):
    with pytest.raises(ArgumentError, match=message):
        optimal(LABELS, W, budget)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "uniform"}, "`kind` must be one of independent, conditional"),
        ({"criterion": "E"}, "`criterion` must be one of A, D"),
        ({"over": "best"}, "`over` must be one of average, worst"),
        ({"solver": "simplex"}, "`solver` must be one of interior, conic"),
        ({"tol": 0}, "`tol` must be between 0 and 1"),
        ({"max_iter": 0}, "`max_iter` must be a whole number of at least 1"),
        ({"progress": True}, "`progress` must be called with a line of text; got bool"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ArgumentError, match=message):
        optimal(LABELS, W, **options)


def test_conic_solver_must_be_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingDependencyError, match=r"subsetprivacy\[conic\]"):
        optimal(LABELS, W, solver="conic")
    assert optimal(LABELS, W).gap < 1e-6  # the other needs nothing


def test_search_that_stops_early_says_so():
    with pytest.warns(ConvergenceWarning, match="stopped with a certified gap of .* raise max_iter"):
        best = optimal(range(7), np.arange(7, 0, -1) / 28, {"mi": 0.9}, kind="conditional", max_iter=2)
    exact = optimal(range(7), np.arange(7, 0, -1) / 28, {"mi": 0.9}, kind="conditional")
    assert best.gap > 1e-4
    assert best.loss * (1 - best.gap) <= exact.loss <= best.loss
    assert best.leakage["mi"] <= 0.9


def test_a_frontier_has_no_budget_of_its_own_leakage():
    with pytest.raises(ArgumentError, match="must limit other leakages than 'mi'"):
        frontier(list("abcde"), [0.4, 0.3, 0.15, 0.1, 0.05], leakage="mi", budget={"mi": 0.7})
