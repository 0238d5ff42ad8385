import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, GIVEN, GIVEN3
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import InvalidDesignError, NotIndependentError


@every_case(
    ("weights", "argument"),
    [
        ({("a",): 1.0, ("b", "c", "d"): 1.0}, None),
        ({(): 0.5, ("a", "b"): 1.0, ("c", "d"): 1.0}, None),
        ({("a", "b"): -0.5, ("c", "d"): 1.0}, None),
        ({("a", "b"): float("nan"), ("c", "d"): 1.0}, None),
        ({("a", "b"): float("inf"), ("c", "d"): 1.0}, None),
        ({("a", "b"): "0.5", ("c", "d"): 1.0}, None),
        ({("a", "b"): None, ("c", "d"): 1.0}, None),
        ({("a", "b"): np.ones(2), ("c", "d"): 1.0}, None),
        ({("a", "b"): 1.0, ("c", "d"): 0.75}, None),
        ({("a", "b"): 1.0}, None),
        # The category that is furthest off is the one named.
        ({("a", "b"): 1.0, ("b", "c", "d"): 0.6, ("c", "d"): 0.3}, None),
        ({("a", "z"): 1.0, ("c", "d"): 1.0}, "label"),
        ({("a", "a", "b"): 1.0, ("c", "d"): 1.0}, None),
        ({"ab": 1.0, ("c", "d"): 1.0}, None),
        ({True: 1.0, ("c", "d"): 1.0}, None),
        ({("a", "b"): 0.5, ("b", "a"): 0.5, ("c", "d"): 1.0}, "weights"),
        ({("a", "b"): 0.5, 3: 0.5, ("c", "d"): 1.0}, "weights"),
        ({16: 1.0}, None),
        ({-1: 1.0}, None),
        ({("a", "b"): 0.0}, "weights"),
        ({}, "weights"),
        ([0.5, 0.5], "weights"),
    ],
)
def test_weights_that_make_no_design_are_refused(weights, argument):
    with refused(InvalidDesignError, argument):
        sp.conditional(ABCD, weights)


def test_three_categories_are_enough_and_two_are_not():
    assert pytest.approx(1.3) == GIVEN3.S
    assert GIVEN3.is_identifiable
    with pytest.raises(InvalidDesignError):
        sp.conditional(["a", "b"], {("a", "b"): 1.0})


@pytest.mark.parametrize("make", [sp.nonprivate, sp.fully_private])
def test_the_two_extremes_need_two_categories(make):
    assert make(["a", "b"]).p == 2
    with pytest.raises(InvalidDesignError):
        make(["a"])


@every_case("make", [sp.uniform, sp.nonprivate, sp.fully_private])
def test_more_than_48_categories_are_refused(make):
    assert make(range(48)).p == 48
    with pytest.raises(InvalidDesignError):
        make(range(49))
    for weighted in (sp.conditional, sp.independent):
        with pytest.raises(InvalidDesignError):
            weighted(range(49), {(0, 1): 1.0})


def test_what_a_conditional_design_says():
    codes, mu = GIVEN.support()
    assert codes.tolist() == [6, 7, 9, 10, 11, 12, 13, 14]
    assert mu.tolist() == [0.2, 0.4, 0.3, 0.1, 0.2, 0.2, 0.1, 0.1]
    assert pytest.approx(1.6) == GIVEN.S
    assert GIVEN.smallest_set == 2
    assert GIVEN.mu_full == 0
    assert GIVEN3.mu_full == 0.4
    assert GIVEN.mu(np.array([15, 7, 1, 3, 9])).tolist() == [0, 0.4, 0, 0, 0.3]
    assert repr(GIVEN) == "<conditional design on 4 categories: 'a', 'b', 'c', 'd'>"


def test_Q_holds_the_pair_probabilities():
    # By hand from the weights: a and b share a|b|c and a|b|d, and so on.
    expected = [[1, 0.6, 0.5, 0.6], [0.6, 1, 0.7, 0.4], [0.5, 0.7, 1, 0.4], [0.6, 0.4, 0.4, 1]]
    np.testing.assert_allclose(GIVEN.Q, expected, atol=1e-15)


def test_the_full_set_is_always_allowed():
    # It stands for a missing answer, whether or not the design draws it.
    assert GIVEN.allows(np.array([3, 7, 15])).tolist() == [False, True, True]


def test_zero_weights_are_no_part_of_the_design():
    with_zero = sp.conditional(ABCD, {("a", "b"): 1.0, ("c", "d"): 1.0, ("a", "c"): 0.0, ("a",): 0.0})
    assert with_zero.support()[0].tolist() == [3, 12]
    assert with_zero == sp.conditional(ABCD, {12: 1.0, 3: 1})


def test_the_two_extremes():
    naked, silent = sp.nonprivate(ABCD), sp.fully_private(ABCD)
    assert (naked.kind, naked.S, naked.smallest_set, naked.is_subset_private) == ("nonprivate", 4, 1, False)
    assert (silent.kind, silent.S, silent.smallest_set, silent.is_subset_private) == ("fully_private", 1, 4, True)
    assert naked.Q.tolist() == np.eye(4).tolist()
    assert silent.Q.tolist() == np.ones((4, 4)).tolist()
    assert GIVEN.is_subset_private


# Yes/no questions -------------------------------------------------------------------------------


def test_a_symmetric_design_can_be_asked():
    mu = {("a", "b"): 0.3, ("c", "d"): 0.3, ("a", "c"): 0.2, ("b", "d"): 0.2, ABCD: 0.5}
    symmetric = sp.conditional(ABCD, mu)
    asked = symmetric.as_independent()
    assert asked.is_independent
    assert not symmetric.is_independent
    assert asked.nu.sum() == pytest.approx(1)
    assert asked.support()[0].tolist() == symmetric.support()[0].tolist()
    np.testing.assert_allclose(asked.support()[1], symmetric.support()[1], atol=1e-15)
    assert asked.as_independent() is asked


@every_case(
    ("design", "message"),
    [
        (GIVEN, r"the same mu; got 0.2 for b\|c and 0.3 for a\|d"),
        (sp.nonprivate(ABCD), r"the same mu; got 1 for a and 0 for b\|c\|d"),
        (sp.nonprivate(["a", "b"]), "must have at least 4 categories; got 2"),
        (sp.fully_private(["a", "b", "c"]), "must have at least 4 categories; got 3"),
        (GIVEN3, "must have at least 4 categories; got 3"),
    ],
)
def test_why_a_design_cannot_be_asked(design, message):
    with pytest.raises(NotIndependentError, match=message):
        design.as_independent()


def test_a_tiny_weight_without_its_counterpart_is_lopsided_too():
    # An absolute tolerance would let this through, and then draw e|f, which the design never reports.
    t = 1e-12
    mu = {(0, 1, 2): 1 - t, (3, 4, 5): 1 - t, (0, 1): t, (2, 3): t, (4, 5): t}
    with pytest.raises(NotIndependentError):
        sp.conditional(range(6), mu).as_independent()


def test_rounding_is_no_lopsidedness():
    third = 1 / 3
    mu = {("a", "b"): third, ("c", "d"): 1 - 2 * third, ("a", "c"): third, ("b", "d"): third, 9: third, 6: third}
    assert sp.conditional(ABCD, mu).as_independent().is_independent


def test_a_conditional_design_draws_no_questions():
    with pytest.raises(NotIndependentError):
        sp.draw_questions(GIVEN, 3)
