import numpy as np
import pytest
from lopsided import ABCD, GIVEN, GIVEN3

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError, InvalidDesignError, NotIndependentError


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({("a",): 1.0, ("b", "c", "d"): 1.0}, "must have at least two members; got 'a', which hides nothing"),
        ({(): 0.5, ("a", "b"): 1.0, ("c", "d"): 1.0}, "at least two members; got the empty set, which hides nothing"),
        ({("a", "b"): -0.5, ("c", "d"): 1.0}, r"mu must be finite and not negative; got -0.5 for a\|b"),
        ({("a", "b"): float("nan"), ("c", "d"): 1.0}, r"mu must be finite and not negative; got nan for a\|b"),
        ({("a", "b"): float("inf"), ("c", "d"): 1.0}, r"mu must be finite and not negative; got inf for a\|b"),
        ({("a", "b"): "0.5", ("c", "d"): 1.0}, r"mu must be a number; got str for a\|b"),
        ({("a", "b"): None, ("c", "d"): 1.0}, r"mu must be a number; got NoneType for a\|b"),
        ({("a", "b"): np.ones(2), ("c", "d"): 1.0}, r"mu must be a number; got ndarray for a\|b"),
        ({("a", "b"): 1.0, ("c", "d"): 0.75}, "sum to 1 over the subsets that contain a category; got 0.75 for 'c'"),
        ({("a", "b"): 1.0}, "sum to 1 over the subsets that contain a category; got 0 for 'c'"),
        # The category that is furthest off is the one named.
        ({("a", "b"): 1.0, ("b", "c", "d"): 0.6, ("c", "d"): 0.3}, "got 1.6 for 'b'"),
        ({("a", "z"): 1.0, ("c", "d"): 1.0}, "must be one of the 4 categories 'a', 'b', 'c', 'd'; got 'z'"),
        ({("a", "a", "b"): 1.0, ("c", "d"): 1.0}, "a subset must name each label once; got 'a' twice"),
        ({"ab": 1.0, ("c", "d"): 1.0}, r"a subset must be a collection of labels; got 'ab'. Hint: write \('a', 'b'\)"),
        ({True: 1.0, ("c", "d"): 1.0}, "a subset must be a collection of labels; got True"),
        ({("a", "b"): 0.5, ("b", "a"): 0.5, ("c", "d"): 1.0}, r"must name each subset once; got a\|b twice"),
        ({("a", "b"): 0.5, 3: 0.5, ("c", "d"): 1.0}, r"must name each subset once; got a\|b twice"),
        ({16: 1.0}, "a subset code must lie in 0…15; got 16"),
        ({-1: 1.0}, "a subset code must lie in 0…15; got -1"),
        ({("a", "b"): 0.0}, "must give some subset a positive mu; got none"),
        ({}, "must give some subset a positive mu; got none"),
        ([0.5, 0.5], "`weights` must map subsets to mu; got list. Hint: write"),
    ],
)
def test_weights_that_make_no_design_are_refused(weights, message):
    with pytest.raises(InvalidDesignError, match=message):
        sp.conditional(ABCD, weights)


@pytest.mark.parametrize(("labels", "message"), [("abc", "single string"), ({"a", "b", "c"}, "must have an order")])
def test_labels_are_checked(labels, message):
    with pytest.raises(CategoryError, match=message):
        sp.conditional(labels, {("a", "b"): 1.0})


def test_three_categories_are_enough_and_two_are_not():
    assert pytest.approx(1.3) == GIVEN3.S
    assert GIVEN3.is_identifiable
    with pytest.raises(
        InvalidDesignError, match=r"at least 3 categories; got 2. Hint: with two categories try sp.warner"
    ):
        sp.conditional(["a", "b"], {("a", "b"): 1.0})


@pytest.mark.parametrize("make", [sp.nonprivate, sp.fully_private])
def test_the_two_extremes_need_two_categories(make):
    assert make(["a", "b"]).p == 2
    with pytest.raises(InvalidDesignError, match="at least 2 categories; got 1"):
        make(["a"])


@pytest.mark.parametrize("make", [sp.uniform, sp.nonprivate, sp.fully_private])
def test_more_than_48_categories_are_refused(make):
    assert make(range(48)).p == 48
    with pytest.raises(InvalidDesignError, match=r"at most 48 categories; got 49. Hint: sp.hadamard"):
        make(range(49))


@pytest.mark.parametrize("make", [sp.conditional, sp.independent])
def test_more_than_48_categories_are_refused_with_weights(make):
    with pytest.raises(InvalidDesignError, match="at most 48 categories; got 49"):
        make(range(49), {(0, 1): 1.0})


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


def test_arrays_are_locked():
    for array in (*GIVEN.support(), GIVEN.Q):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


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


@pytest.mark.parametrize(
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
    with pytest.raises(NotIndependentError, match=r"got 1e-12 for 0\|1 and 0 for 2\|3\|4\|5"):
        sp.conditional(range(6), mu).as_independent()


def test_rounding_is_no_lopsidedness():
    third = 1 / 3
    mu = {("a", "b"): third, ("c", "d"): 1 - 2 * third, ("a", "c"): third, ("b", "d"): third, 9: third, 6: third}
    assert sp.conditional(ABCD, mu).as_independent().is_independent


def test_a_conditional_design_draws_no_questions():
    with pytest.raises(NotIndependentError, match=r"got a conditional design. Hint: this design needs the value"):
        sp.draw_questions(GIVEN, 3)
