"""Limit variances per person: against the information in other coordinates, closed forms and simulated people."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCDE, ASKED, GIVEN, GIVEN3
from problems import quietly

import subsetprivacy as sp
from subsetprivacy.design import covered, fixed_size, hadamard, partition, warner
from subsetprivacy.errors import TooLargeError
from subsetprivacy.planning import variance
from subsetprivacy.planning.variance import (
    SizeProfile,
    contrast_variance,
    limit_covariance,
    moment_variances,
    precision,
)

# Five questions that tell all distributions apart, and one time in ten a question about nothing.
ASKED5 = sp.independent(
    ABCDE, {("a", "b"): 0.3, ("b", "d"): 0.2, ("a", "c"): 0.2, ("a", "d"): 0.15, ("c", "e"): 0.05, ABCDE: 0.1}
)

DESIGNS = {
    "asked": ASKED,
    "asked, with full sets": ASKED5,
    "given": GIVEN,
    "given, with full sets": GIVEN3,
    "uniform": sp.uniform(range(7)),
    "groups of two sizes": partition(range(8), groups=3),
    "covered": covered(partition(range(7), groups=2), 0.15),
    "warner": warner(["no", "yes"], q=0.2),
    "hadamard": hadamard(range(11)),
}


def lopsided_distribution(p):
    w = np.arange(1, p + 1) ** 1.5
    return w / w.sum()


def in_other_coordinates(design, w):
    """The textbook way: theta is all shares but the last, the law of the report is differentiated directly."""
    p = design.p
    law = design.support()[1][:, None] * design.support_incidence.inner(np.eye(p)).T  # P(a | j)
    slopes = law[:, :-1] - law[:, [-1]]
    inverse = np.linalg.inv((slopes.T / (law @ w)) @ slopes)
    B = np.vstack([np.eye(p - 1), -np.ones(p - 1)])
    return B @ inverse @ B.T


@every_case("name", DESIGNS)
def test_covariance_in_other_coordinates(name):
    design = DESIGNS[name]
    w = lopsided_distribution(design.p)
    expected = in_other_coordinates(design, w) * design.real_share
    np.testing.assert_allclose(limit_covariance(design, w), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(precision(design, w).variances, np.diag(expected), rtol=1e-9)


def test_dummy_rows_are_not_people():
    # Two dummy categories of .15 each: seven of ten rows are people.
    assert DESIGNS["covered"].real_share == pytest.approx(0.7)


@every_case("q", [0.1, 0.25, 0.7])
@every_case("share", [0.03, 0.5])
def test_warner_by_hand(q, share):
    # P("the same"): the first category with bit 0, the second with bit 1.
    same = share * (1 - q) + (1 - share) * q
    expected = same * (1 - same) / (2 * q - 1) ** 2
    assert precision(warner(["a", "b"], q=q), np.array([share, 1 - share])).largest == (pytest.approx(expected))


@every_case(
    "design",
    [
        sp.uniform(range(7)),
        fixed_size(range(7), 3),
        partition(range(8), groups=3),
        covered(partition(range(8), groups=3), 0.1),
    ],
    ids=lambda design: repr(design)[:30],
)
@every_case("x", [0.02, 0.3, 0.8])
def test_by_size_is_the_matrix(design, x):
    w = np.full(design.p, (1 - x) / (design.p - 1))
    w[2] = x
    assert SizeProfile.of(design).variance(x) == pytest.approx(limit_covariance(design, w)[2, 2])


def test_only_designs_whose_categories_are_alike_have_a_profile():
    assert SizeProfile.of(ASKED5) is None
    assert SizeProfile.of(covered(ASKED, 0.1)) is None


def test_even_shares_of_many_categories_need_no_list():
    # Uniform designs reach the bound p-1 at even w, whatever p.
    for p in (23, 48):
        even = np.full(p, 1 / p)
        assert precision(sp.uniform(range(p)), even).largest == pytest.approx((p - 1) * (1 - 1 / p) / p)


@pytest.mark.parametrize("size", [12, 20])
def test_moments_are_the_sandwich(size):
    design = hadamard(range(size))
    w = lopsided_distribution(size)
    law = design.support()[1] * design.support_incidence.inner(w)
    gamma = design.support_incidence.spread(law)
    C = design.support_incidence.gram(law) - np.outer(gamma, gamma)
    inverse = np.linalg.inv(design.Q)
    np.testing.assert_allclose(moment_variances(design, w), np.diag(inverse @ C @ inverse), rtol=1e-9)


def test_moments_need_at_least_as_many_people_as_maximum_likelihood():
    design = hadamard(range(20))
    w = lopsided_distribution(20)
    assert (moment_variances(design, w) >= precision(design, w).variances).all()


def test_thousands_of_categories_by_moments(monkeypatch):
    design = hadamard(range(40))
    w = lopsided_distribution(40)
    c = np.zeros(40)
    c[[3, 30]] = 1, -1
    exact = contrast_variance(design, w, c)
    monkeypatch.setattr(variance, "MAX_EXACT", 30)
    at_w = precision(design, w)
    assert at_w.estimator == "mom"
    np.testing.assert_allclose(at_w.variances, moment_variances(design, w))
    by_moments = contrast_variance(design, w, c)
    assert exact <= by_moments <= 1.5 * exact
    e3 = np.eye(40)[3]
    assert contrast_variance(design, w, e3) == pytest.approx(at_w.variances[3])


def test_without_balance_many_categories_are_refused(monkeypatch):
    monkeypatch.setattr(variance, "MAX_EXACT", 4)
    with pytest.raises(TooLargeError):
        precision(ASKED5, lopsided_distribution(5))


def test_simulated_information_knows_its_error():
    design = sp.uniform(range(8))
    w = lopsided_distribution(8)
    exact = precision(design, w)
    simulated = variance._simulated(design, w)
    assert exact.error == 0
    assert 1e-4 < simulated.error < 1e-2
    assert simulated.largest == pytest.approx(exact.largest, rel=4 * simulated.error)


def test_unlisted_supports_are_simulated():
    p = 25
    w = lopsided_distribution(p)
    at_w = precision(sp.uniform(range(p)), w)
    assert at_w.error > 0
    # The bound of every yes/no design: the sum of V_jj / w_j is at least (p-1)^2.
    assert (at_w.variances / w).sum() > (p - 1) ** 2


def test_contrasts_use_the_covariances():
    w = lopsided_distribution(4)
    c = np.array([1.0, 0, -2, 0])
    V = in_other_coordinates(GIVEN, w)
    assert contrast_variance(GIVEN, w, c) == pytest.approx(c @ V @ c)


def test_a_category_of_probability_zero_does_no_harm():
    w = np.array([0.0, 0.0, 0.4, 0.6])
    near = np.array([1e-7, 1e-7, 0.4, 0.6 - 2e-7])
    np.testing.assert_allclose(precision(ASKED, w).variances, precision(ASKED, near).variances, atol=1e-4)


@pytest.mark.parametrize("design", [ASKED, covered(partition(range(7), groups=3), 0.1)], ids=["asked", "covered"])
def test_the_variance_of_estimates(design):
    # People, not rows: a covered sample of n people is simulated with its dummy rows on top.
    w = lopsided_distribution(design.p)
    n = 2000
    with quietly():
        fits = np.array([sp.estimate(sp.simulate(design, w, n, seed=k)).w for k in range(60)])
    np.testing.assert_allclose(fits.var(axis=0) * n, precision(design, w).variances, rtol=0.45)
