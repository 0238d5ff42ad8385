"""Designs whose weights depend on the size of a subset alone."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, SEVEN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design.exchangeable import codes_of_size
from subsetprivacy.errors import ArgumentError, InvalidDesignError, NotIndependentError, TooLargeError
from subsetprivacy.estimation.likelihood import expected_information, tangent_inverse

DESIGNS = {
    "pairs of three": sp.fixed_size(["x", "y", "z"], 2),
    "pairs of five": sp.fixed_size(range(5), 2),
    "four of six": sp.fixed_size(range(6), 4),
    "half": sp.fixed_size(ABCD, 2),
    "groups of 3, 2, 2": sp.partition(SEVEN, 3),
    "groups of 3, 2": sp.partition(range(5), 2),
    "uniform": sp.uniform(range(6)),
}


def listed(design):
    """Everything that follows from the support alone, by brute force."""
    codes, mu = design.support()
    rows = np.array([[a >> j & 1 for j in range(design.p)] for a in codes.tolist()], float)
    return rows, mu


@every_case("p", range(1, 9))
def test_codes_of_a_size_are_all_of_them(p):
    for k in range(p + 1):
        expected = sorted(sum(1 << j for j in chosen) for chosen in combinations(range(p), k))
        assert codes_of_size(p, k).tolist() == expected


@every_case("name", DESIGNS)
def test_closed_forms_are_those_of_the_list(name):
    design = DESIGNS[name]
    rows, mu = listed(design)
    assert sum(design.by_size.values()) == pytest.approx(1)
    assert list(design.by_size) == sorted(design.by_size)
    sizes = rows.sum(axis=1)
    for k, share in design.by_size.items():
        assert mu[sizes == k] @ rows[sizes == k, 0] == pytest.approx(share)
        assert (sizes == k).sum() == comb(design.p, k)
    assert pytest.approx(mu.sum()) == design.S
    Q = (rows.T * mu) @ rows
    assert Q[0, 1] == pytest.approx(design.pair_probability)
    np.testing.assert_allclose(design.Q, Q, atol=1e-12)
    assert design.smallest_set == sizes.min()
    assert design.mu_full == 0


@every_case("name", DESIGNS)
def test_what_an_attacker_makes_of_it_is_that_of_the_list(name):
    design = DESIGNS[name]
    rows, mu = listed(design)
    # Lopsided and not in the order of the categories; with a tie, which the first category wins.
    belief = np.random.default_rng(1).permutation(np.arange(1.0, design.p + 1))
    belief[2] = belief[1]
    belief /= belief.sum()
    weights = np.zeros(design.p)
    for row, m in zip(rows, mu):
        weights[np.where(row > 0, belief, -1).argmax()] += m
    np.testing.assert_allclose(design.guess_weights(belief), weights, atol=1e-12)
    sizes = rows @ belief
    assert design.least_size(belief) == pytest.approx(sizes.min())
    assert design.largest_posterior(belief) == pytest.approx(((rows * belief).max(axis=1) / sizes).max())


@every_case("name", DESIGNS)
def test_mu_is_zero_outside(name):
    design = DESIGNS[name]
    codes, mu = design.support()
    every = np.arange(-1, 2 << design.p)
    expected = np.zeros(len(every))
    expected[codes + 1] = mu
    np.testing.assert_array_equal(design.mu(every), expected)


@every_case(
    ("design", "price"),
    [
        *((sp.fixed_size(range(p), k), (p - 1) / (p / k - 1)) for p, k in ((3, 2), (5, 2), (6, 4), (6, 3), (9, 8))),
        *((sp.partition(range(16), m), 15 / (m - 1)) for m in (2, 3, 4)),
        *((sp.partition(range(8), m), 7 / (m - 1)) for m in (3, 4)),
    ],
)
def test_the_price_at_an_even_distribution(design, price):
    # The L2 loss of the maximum likelihood estimate over that of asking directly.
    w = np.full(design.p, 1 / design.p)
    assert price == pytest.approx((design.p - 1) / (design.S - 1))
    assert np.trace(tangent_inverse(expected_information(design, w))) / (1 - w @ w) == pytest.approx(price)


def test_a_large_design_is_never_listed():
    design = sp.fixed_size(range(48), 24)
    assert not design.enumerable
    assert design.S == 2
    assert design.pair_probability == pytest.approx(23 / 47)
    assert design.is_identifiable
    assert design.mu(np.array([(1 << 24) - 1, (1 << 23) - 1])).tolist() == [pytest.approx(1 / comb(47, 23)), 0]
    with pytest.raises(TooLargeError):
        design.support()
    x = np.random.default_rng(1).integers(48, size=20_000)
    data = sp.privatize(x, design, seed=1)
    assert (data.codes >> x & 1).all()
    assert set(np.bitwise_count(data.codes).tolist()) == {24}
    fit = sp.estimate(data.counts(), "mom")
    assert np.abs((fit.w - 1 / 48) / fit.se).max() < 4.5
    assert fit.w.sum() == pytest.approx(1)  # all subsets are of one size


def test_few_of_many_can_be_listed():
    assert len(sp.fixed_size(range(48), 2).support()[0]) == comb(48, 2)


@every_case(("p", "k", "argument"), [(3, 1, "k"), (3, 3, "k"), (6, 9, "k"), (6, 0, "k"), (2, 2, None), (49, 2, None)])
def test_sizes_are_checked(p, k, argument):
    with refused(InvalidDesignError, argument):
        sp.fixed_size(range(p), k)


@every_case("k", [2.0, "2", True, None, -1])
def test_a_size_is_a_whole_number(k):
    with refused(ArgumentError, "k"):
        sp.fixed_size(range(5), k)


def test_only_half_of_the_categories_can_be_asked_about():
    assert sp.fixed_size(ABCD, 2).is_independent
    assert not sp.fixed_size(range(5), 2).is_independent
    with pytest.raises(NotIndependentError):
        sp.ask(sp.fixed_size(range(5), 2))


# Whatever says that it is independent can be asked, covered and mixed with others.


def test_half_of_the_categories_is_a_question():
    design = sp.fixed_size(range(6), 3)
    questions = sp.draw_questions(design, 5000, seed=1)
    assert set(questions.tolist()) == set(design.support()[0].tolist())
    question = sp.ask(design, seed=2)
    assert len(question.members) == 3
    assert set(design.members(question.resolve(False))) == set(range(6)) - set(question.members)


def test_half_of_the_categories_can_be_mixed_with_other_questions():
    both = sp.design.Mixture.of([sp.fixed_size(ABCD, 2), sp.independent(ABCD, {("a", "b"): 1.0})], [1, 1])
    assert len(sp.privatize(list("abcd"), both, seed=1)) == 4
