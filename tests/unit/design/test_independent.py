import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, ASKED5
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError, InvalidDesignError, TooLargeError
from subsetprivacy.subsets import sizes


@every_case(
    ("weights", "argument"),
    [
        ({("a",): 1.0}, None),
        ({("b", "c", "d"): 1.0}, None),
        ({("a", "b"): 0.6, ("a", "c"): 0.5}, None),
        ({("a", "b"): 0.6}, None),
        ({("a", "b"): -1.0, ("a", "c"): 2.0}, None),
        ({("a", "b"): float("nan")}, None),
        ({("a", "b"): float("inf")}, None),
        ({("a", "b"): "1"}, None),
        ({("a", "z"): 1.0}, "label"),
        ({("a", "a"): 1.0}, None),
        ({"ab": 1.0}, None),
        ({frozenset("ab"): 0.5, ("b", "a"): 0.5}, "weights"),
        ({16: 1.0}, None),
        ({}, "weights"),
        (["ab"], "weights"),
    ],
)
def test_weights_that_make_no_design_are_refused(weights, argument):
    with refused(InvalidDesignError, argument):
        sp.independent(ABCD, weights)


@every_case("p", [1, 2, 3])
def test_fewer_than_four_categories_are_refused_with_a_hint(p):
    for make in (sp.uniform, lambda labels: sp.independent(labels, {(0,): 1.0})):
        with refused(InvalidDesignError, None) as caught:
            make(range(p))
        assert "sp.small(categories)" in str(caught.value.advice)


@every_case(
    "make",
    [sp.uniform, lambda labels: sp.independent(labels, {(0, 1): 1.0}), lambda labels: sp.conditional(labels, {3: 1.0})],
)
@every_case("labels", ["abcd", {"a", "b", "c", "d"}, ["a", "b", "c", None], ["a", "b", "c", "a"]])
def test_labels_are_checked(make, labels):
    with refused(CategoryError, "categories"):
        make(labels)


def test_mu_is_nu_and_nu_of_the_complement():
    codes, mu = ASKED5.support()
    table = dict(zip(codes.tolist(), mu.tolist()))
    # a|b is asked with .3, its complement with .1; the empty and the full question both end as the full set.
    expected = {3: 0.4, 28: 0.4, 10: 0.2, 21: 0.2, 11: 0.2, 20: 0.2, 31: 0.2}
    assert table == pytest.approx(expected)
    assert codes.tolist() == sorted(expected)
    assert ASKED5.mu_full == pytest.approx(0.2)
    assert pytest.approx(1.8) == ASKED5.S


def test_a_yes_no_question_has_two_answers():
    assert ASKED.S == 2
    assert ASKED.support()[0].tolist() == [3, 5, 6, 9, 10, 12]
    assert ASKED.support()[1].tolist() == [0.5, 0.3, 0.2, 0.2, 0.3, 0.5]


def test_subsets_may_be_codes_tuples_or_frozensets():
    by_code = sp.independent(ABCD, {3: 0.5, 5: 0.3, np.int64(9): 0.2})
    by_set = sp.independent(ABCD, {frozenset("ba"): 0.5, frozenset("ca"): 0.3, frozenset("da"): 0.2})
    assert by_code == by_set == ASKED


def test_the_questions_asked_are_part_of_the_design():
    # The same law of answers, but other questions: not the same design.
    turned = sp.independent(ABCD, {("c", "d"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})
    assert turned.support()[1].tolist() == ASKED.support()[1].tolist()
    assert turned != ASKED


# Uniform ----------------------------------------------------------------------------------------


@every_case("p", range(4, 11))
def test_closed_forms_of_the_uniform_design_equal_enumeration(p):
    design = sp.uniform(range(p))
    every = [a for a in range(1 << p) if 2 <= a.bit_count() <= p - 2]
    codes, mu = design.support()
    assert codes.tolist() == every
    np.testing.assert_allclose(mu, 2 / (2**p - 2 * p - 2), rtol=1e-15)
    M = np.array([[a >> j & 1 for j in range(p)] for a in every])
    np.testing.assert_allclose(design.Q, M.T @ (mu[:, None] * M), atol=1e-12)
    assert mu.sum() == pytest.approx(design.S)
    assert sizes(codes).min() == design.smallest_set
    assert np.linalg.matrix_rank(M) == p
    assert design.is_identifiable


def test_the_uniform_design_is_the_independent_one_with_equal_nu():
    equal = sp.independent(range(5), {a: 1 / 20 for a in range(32) if a.bit_count() in (2, 3)})
    np.testing.assert_allclose(sp.uniform(range(5)).Q, equal.Q, atol=1e-15)
    assert sp.uniform(range(5)) != equal  # equal laws, different documents


def test_mu_of_any_code_needs_no_list():
    design = sp.uniform(range(4))
    mu = design.mu(np.arange(-2, 18))
    assert np.flatnonzero(mu).tolist() == [5, 7, 8, 11, 12, 14]  # codes 3, 5, 6, 9, 10, 12
    assert set(mu.tolist()) == {0.0, 1 / 3}


def test_large_designs_are_never_listed():
    design = sp.uniform(range(48))
    with pytest.raises(TooLargeError):
        design.support()
    assert not design.enumerable
    assert design.Q.shape == (48, 48)
    assert design.S == 2
    assert design.mu_full == 0
    assert design.is_identifiable
    assert design.is_subset_private
    assert design.null_direction() is None
    assert design.allows(np.array([3, 1, design.categories.full, design.categories.full - 1])).tolist() == [
        True,
        False,
        True,
        False,
    ]


def test_the_limit_of_listing_is_22():
    assert sp.uniform(range(22)).enumerable
    assert not sp.uniform(range(23)).enumerable
    with pytest.raises(TooLargeError):
        sp.uniform(range(23)).support()


def test_few_questions_on_many_categories():
    design = sp.independent(range(48), {tuple(range(24)): 0.75, tuple(range(0, 48, 2)): 0.25})
    assert design.support()[1].tolist() == [0.75, 0.25, 0.25, 0.75]
    assert not design.is_identifiable
