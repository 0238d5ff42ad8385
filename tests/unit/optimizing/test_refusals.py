"""What cannot be had is refused by name, with the nearest thing that can."""

import re
import sys

import numpy as np
import pytest
from every_case import every_case
from refusals import refused

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


@every_case("metric", ["mi", "size", "prediction"])
@every_case("kind", ["independent", "conditional"])
@every_case("several", [False, True])
def test_budget_below_what_is_possible(kind, metric, several):
    w = [W, W[::-1]] if several else W
    with pytest.raises(ArgumentError, match=rf"`budget` must be .*[\d.]+.* for '{metric}' with {kind}") as caught:
        optimal(LABELS, w, {metric: 0.02}, kind=kind)
    possible = nearest(caught)
    # A little more than what the message says can be had, a little less cannot.
    assert optimal(LABELS, w, {metric: possible + 0.002}, kind=kind).leakage[metric] <= possible + 0.002
    with refused(ArgumentError, "budget"):
        optimal(LABELS, w, {metric: possible - 0.002}, kind=kind)


def test_least_leakage_that_a_design_has_is_possible():
    even = np.full(6, 1 / 6)
    half = optimal(range(6), even, {"mi": 1.0}, smallest=3)  # every question of three and three tells one bit
    assert half.saturated == ("mi",)
    with refused(ArgumentError, "budget"):
        optimal(range(6), even, {"mi": 0.999}, smallest=3)
    # Of all conditional designs, all but one category leaks the least: log2(6/5).
    told = optimal(range(6), even, {"mi": np.log2(6 / 5)}, kind="conditional")
    assert told.design.support()[1] == pytest.approx(fixed_size(range(6), 5).support()[1])
    with pytest.raises(ArgumentError, match=r"must be 0\.26304 or more"):
        optimal(range(6), even, {"mi": 0.263}, kind="conditional")


def test_maximal_leakage_of_questions_is_one_bit():
    with refused(ArgumentError, "budget"):
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
    with refused(ArgumentError, "budget"):
        optimal(LABELS, W, {"maximal": 1.0, "mi": 0.3})
    even = np.full(6, 1 / 6)  # one bit for every question of three and three: no choice, and no blame
    with refused(ArgumentError, "budget"):
        optimal(range(6), even, {"prediction": 2 / 6, "mi": 0.9}, smallest=3)


def test_nothing_can_be_learned_from_nothing():
    with refused(ArgumentError, "budget"):
        optimal(LABELS, W, {"mi": 0.0}, full_set=True)
    with pytest.raises(ArgumentError, match=r"must be above 0\.45 for 'prediction'"):
        optimal(LABELS, W, {"prediction": 0.45}, full_set=True)


@every_case("share", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-12])
@every_case("kind", ["independent", "conditional"])
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


@every_case(
    ("kind", "p", "smallest", "most"),
    [("independent", 5, 3, 2), ("independent", 8, 5, 4), ("conditional", 5, 5, 4), ("conditional", 8, 9, 7)],
)
def test_sets_that_large_cannot_be(kind, p, smallest, most):
    w = np.arange(p, 0, -1) / (p * (p + 1) / 2)
    with pytest.raises(ArgumentError, match=rf"`smallest` must be at most {most} .*got {smallest}.*nearest is {most}"):
        optimal(range(p), w, kind=kind, smallest=smallest)
    assert optimal(range(p), w, kind=kind, smallest=most).design.smallest_set == most


@every_case("smallest", [1, 0, 2.5, True, "2"])
def test_smallest_set_must_hide_something(smallest):
    with refused(ArgumentError, "smallest"):
        optimal(LABELS, W, smallest=smallest)


def test_too_many_or_too_few_categories():
    with pytest.raises(TooLargeError):
        optimal(range(15), np.full(15, 1 / 15))
    with pytest.raises(TooLargeError):
        optimal(range(9), np.full(9, 1 / 9), solver="conic")
    with pytest.raises(InvalidDesignError):
        optimal(range(3), [0.5, 0.3, 0.2])
    with pytest.raises(InvalidDesignError):
        optimal(range(2), [0.5, 0.5], kind="conditional")
    with pytest.raises(CategoryError):
        optimal("abcd", [0.25] * 4)


@every_case(
    ("w", "argument"),
    [
        ([0.5, 0.3, 0.1, 0.1, 0.1], "w"),
        ([0.5, 0.5, 0.2, -0.1, -0.1], "w"),
        ([0.5, 0.5], "w"),
        ([0.5, 0.3, 0.2, 0.0, 0.0], "w"),
        ([W, [0.2] * 4], "w[1]"),
        ([W, [0.5, 0.5, 0, 0, 0]], "w[1]"),
        ({"a": 0.5, "b": 0.5}, "w"),
        ([], "w"),
        (np.empty((0, 5)), "w"),
    ],
)
def test_w_off_the_inside_of_the_simplex(w, argument):
    with refused(DistributionError, argument):
        optimal(LABELS, w)


@every_case(
    ("budget", "argument"),
    [
        (0.4, "budget"),
        ({"bits": 0.4}, "budget"),
        ({"mi": -0.1}, "budget"),
        ({"mi": np.nan}, "budget"),
        ({"mi": "0.4"}, "budget"),
        ({"mi": True}, "budget"),
    ],
)
def test_budget_that_is_none(budget, argument):
    with refused(ArgumentError, argument):
        optimal(LABELS, W, budget)


@every_case(
    ("options", "argument"),
    [
        ({"kind": "uniform"}, "kind"),
        ({"criterion": "E"}, "criterion"),
        ({"over": "best"}, "over"),
        ({"solver": "simplex"}, "solver"),
        ({"tol": 0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"progress": True}, "progress"),
    ],
)
def test_options_out_of_range(options, argument):
    with refused(ArgumentError, argument):
        optimal(LABELS, W, **options)


def test_conic_solver_must_be_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingDependencyError):
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
    with refused(ArgumentError, "budget"):
        frontier(list("abcde"), [0.4, 0.3, 0.15, 0.1, 0.05], leakage="mi", budget={"mi": 0.7})
