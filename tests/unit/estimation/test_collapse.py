"""Merged categories."""

import numpy as np
import pytest
from every_case import every_case
from oracles import Sample, best
from problems import lopsided, quietly, rising
from refusals import refused
from scipy.optimize import brentq

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.messages.for_estimates import COLLAPSE_FORM

SIX = sp.partition(list("abcdef"), groups=3)
W = [0.3, 0.25, 0.2, 0.15, 0.08, 0.02]


@pytest.fixture(scope="module")
def fit():
    return sp.estimate(sp.simulate(SIX, W, 500, seed=1))


def test_shares_and_errors_by_hand(fit):
    merged = fit.collapse({"first": ["a", "c"], "last": ["e", "f"]})
    fold = np.array([[1, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]])
    assert list(merged.categories) == ["first", "b", "d", "last"]
    assert merged.w == pytest.approx(fold @ fit.w)
    assert merged.cov == pytest.approx(fold @ fit.cov @ fold.T)
    assert merged.se == pytest.approx(np.sqrt(np.diag(merged.cov)))
    assert merged.n == fit.n
    assert "merged categories" in str(merged.summary())
    assert repr(merged).startswith("<Margin with merged categories: first ")


def test_a_profile_interval_against_certified_maxima(fit):
    merged = fit.collapse({"rare": ["e", "f"]})
    bounds = merged.interval(0.9, method="profile")[-1]
    sample, c = Sample(fit.counts), np.array([0, 0, 0, 0, 1.0, 1.0])
    top, peak = best([sample])

    def excess(v):
        return 2 * (top - best([sample], ([c], v))[0]) - 1.6448536**2

    middle = float(c @ peak[0])
    assert bounds == pytest.approx(
        [brentq(excess, 1e-3, middle, xtol=1e-5), brentq(excess, middle, 0.5, xtol=1e-5)], abs=1e-4
    )


def test_the_interval_of_a_category_alone_is_that_of_the_estimate(fit):
    same = fit.collapse({"x": ["a"]})
    for method in ("adjusted", "profile", "wald"):
        assert same.interval(method=method) == pytest.approx(fit.interval(method=method), abs=1e-5)
    assert same.interval() == pytest.approx(fit.interval(), abs=1e-5)


def test_two_merged_shares_have_one_interval(fit):
    low, high = fit.collapse({"one": ["a", "b", "c"], "two": ["d", "e", "f"]}).interval()
    assert low == pytest.approx(1 - high[::-1], abs=1e-5)


def test_a_collapse_of_a_collapse(fit):
    once = fit.collapse({"ab": ["a", "b"], "ef": ["e", "f"]})
    twice, direct = once.collapse({"abef": ["ab", "ef"]}), fit.collapse({"abef": ["a", "b", "e", "f"]})
    assert list(twice.categories) == list(direct.categories) == ["abef", "c", "d"]
    assert twice.w == pytest.approx(direct.w)
    assert twice.interval() == pytest.approx(direct.interval())
    assert twice.fit is fit


def test_a_margin_can_be_collapsed():
    joint = sp.product({"x": sp.uniform(range(4)), "y": sp.warner(["no", "yes"])})
    fit = sp.estimate(sp.simulate(joint, rising(8), 1000, seed=1))
    merged = fit.margin("x").collapse({"low": [0, 1], "high": [2, 3]})
    assert merged.w == pytest.approx([fit.table()[:2].sum(), fit.table()[2:].sum()])
    by_hand = fit.contrast(np.repeat([1, 1, 0, 0], 2)).se
    assert merged.se[0] == pytest.approx(by_hand)
    pairs = fit.collapse({"zero": [(0, "no"), (0, "yes")]})
    assert pairs.w[0] == pytest.approx(fit.margin("x").w[0])


def test_a_label_may_be_that_of_a_merged_category(fit):
    assert list(fit.collapse({"a": ["a", "b"]}).categories) == ["a", "c", "d", "e", "f"]
    for members in ({"a", "b"}, (label for label in "ab"), ("b", "a")):
        assert fit.collapse({"x": members}).w[0] == pytest.approx(fit.w[0] + fit.w[1])


def test_differences_of_merged_categories_of_other_categories(fit):
    other = sp.estimate(sp.simulate(sp.uniform(["a", "x", "y", "z"]), [0.3, 0.2, 0.2, 0.3], 400, seed=2))
    mine, theirs = fit.collapse({"rest": list("bcdef")}), other.collapse({"rest": ["x", "y", "z"]})
    result = mine.difference(theirs)
    assert result.estimate == pytest.approx([fit.w[0] - other.w[0], other.w[0] - fit.w[0]])
    assert not result.is_paired
    assert result.test.df == 1
    assert result.interval()[0] == pytest.approx(-result.interval()[1][::-1], abs=2e-5)
    assert result.se[0] == pytest.approx(np.hypot(fit.se[0], other.se[0]))


def test_moments_can_be_collapsed():
    moments = sp.estimate(sp.simulate(lopsided(), [0.02, 0.18, 0.3, 0.5], 200, seed=2), "mom")
    merged = moments.collapse({"x": ["b", "c", "d"]})
    assert list(merged.to_frame()["interval"]) == ["wald", "wald"]
    assert merged.interval(0.999)[0, 0] < 0
    with pytest.raises(ArgumentError):
        merged.interval(method="profile")


def test_methods_of_a_margin(fit):
    merged = fit.collapse({"x": ["a", "b"]})
    with refused(ArgumentError, "method"):
        merged.interval(method="bootstrap")
    with refused(ArgumentError, "level"):
        merged.interval(95)
    with quietly():
        wald = merged.interval(method="wald")
    assert wald == pytest.approx(
        np.column_stack([merged.w - 1.959964 * merged.se, merged.w + 1.959964 * merged.se]).clip(0, 1), abs=1e-6
    )


@every_case("groups", [{}, None, ["a"], "ab", {"x": "ab"}, {"x": 5}, {"x": None}])
def test_groups_of_another_form_are_refused(fit, groups):
    with refused(ArgumentError, "groups") as caught:
        fit.collapse(groups)
    assert caught.value.advice.advice is COLLAPSE_FORM


@every_case(
    ("groups", "argument"),
    [
        ({"x": []}, "groups"),
        ({"x": ["a", "a"]}, "groups"),
        ({"x": ["a"], "y": ["b", "a"]}, "groups"),
        ({"c": ["a", "b"]}, "groups"),
        ({"x": ["z"]}, "label"),
        ({"x": [["a"]]}, "label"),
        ({"x": list("abcdef")}, "groups"),
        ({None: ["a", "b"]}, "categories"),
    ],
    ids=str,
)
def test_groups_that_do_not_fit_are_refused(fit, groups, argument):
    with refused(CategoryError, argument):
        fit.collapse(groups)
