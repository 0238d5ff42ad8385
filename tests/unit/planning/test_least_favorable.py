"""The least favorable distribution: closed forms, random search, and a certificate that holds."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCDE, GIVEN
from problems import random_design

import subsetprivacy as sp
from subsetprivacy.design import covered, fixed_size, hadamard, partition, warner
from subsetprivacy.errors import TooLargeError
from subsetprivacy.planning import least_favorable as searching
from subsetprivacy.planning.least_favorable import TOLERANCE, least_favorable
from subsetprivacy.planning.variance import limit_covariance

# Five questions that tell all distributions apart, and one time in ten a question about nothing.
ASKED5 = sp.independent(
    ABCDE, {("a", "b"): 0.3, ("b", "d"): 0.2, ("a", "c"): 0.2, ("a", "d"): 0.15, ("c", "e"): 0.05, ABCDE: 0.1}
)

LOPSIDED = {
    "asked": ASKED5,
    "given": GIVEN,
    "few questions likely": random_design(6, np.random.default_rng(3), power=8),
    "hadamard, columns left out": hadamard(range(11)),
    "covered": covered(hadamard(range(6)), 0.1),
    "warner": warner(["no", "yes"], q=0.2),
}


@every_case(("p", "k"), [(3, 2), (9, 3), (8, 4), (7, 6)])
def test_sets_of_one_size_by_hand(p, k):
    # T is 1 on sets with the category, and -q/(1-q) on the others: V = x + (1-x) q/(1-q) - x^2.
    q = (k - 1) / (p - 1)
    odds = q / (1 - q)
    x = min(max((1 - odds) / 2, 0), 1)
    result = least_favorable(fixed_size(range(p), k))
    assert result.variance == pytest.approx(x + (1 - x) * odds - x**2, abs=1e-6)
    assert result.w[0] == pytest.approx(x, abs=1e-3)
    assert result.bound == result.variance


def test_groups_of_one_size_are_sets_of_one_size():
    assert least_favorable(partition(range(9), groups=3)).variance == pytest.approx(4 / 9)


def search_at_random(design, rng, tries=1000):
    """The largest variance of any share over random distributions, flat and spiky ones."""
    best = 0.0
    for k in range(tries):
        w = rng.dirichlet(np.full(design.p, (0.5, 2.0, 8.0)[k % 3]))
        best = max(best, limit_covariance(design, w).diagonal().max())
    return best


@pytest.mark.parametrize("design", [sp.uniform(range(5)), partition(range(7), groups=3)], ids=lambda d: d.kind)
def test_alike_categories_against_random_search(design):
    result = least_favorable(design)
    seen = search_at_random(design, np.random.default_rng(1), tries=500)
    assert 0.97 * result.variance < seen <= result.variance
    assert limit_covariance(design, result.w).diagonal().max() == pytest.approx(result.variance)


@every_case("name", LOPSIDED)
def test_lopsided_designs_against_random_search(name):
    design = LOPSIDED[name]
    result = least_favorable(design)
    seen = search_at_random(design, np.random.default_rng(2), tries=400)
    assert 0.9 * result.variance < seen <= result.bound
    assert result.variance <= result.bound <= (1 + TOLERANCE) * result.variance
    assert result.w.sum() == pytest.approx(1)
    assert limit_covariance(design, result.w)[result.category, result.category] == pytest.approx(result.variance)


def test_a_certificate_bounds_every_distribution():
    # From a poor estimator the bound is loose and still a bound.
    influence = searching._Influence(ASKED5)
    rng = np.random.default_rng(4)
    w = np.array([0.4, 0.1, 0.1, 0.2, 0.2])
    for j in range(5):
        bound = influence.bound(w, j)
        others = [limit_covariance(ASKED5, rng.dirichlet(np.ones(5)))[j, j] for _ in range(100)]
        assert max(others) <= bound


@pytest.mark.parametrize("p", [64, 33])
def test_moments_bound_what_the_search_finds(p, monkeypatch):
    design = hadamard(range(p))
    searched = least_favorable(design)
    monkeypatch.setattr(searching, "MAX_SEARCH", 10)
    by_moments = least_favorable(design)
    assert (searched.estimator, by_moments.estimator) == ("mle", "mom")
    assert searched.variance <= by_moments.variance * (1 + 1e-9)
    assert by_moments.variance <= 1.02 * searched.variance
    if p == 64:  # all subsets have one size: moments are as good as maximum likelihood
        assert by_moments.variance == pytest.approx(searched.variance)


def test_the_moment_bound_is_the_largest_moment_variance():
    from subsetprivacy.planning.variance import moment_variances

    design = hadamard(range(100))
    result = least_favorable(design)
    rng = np.random.default_rng(5)
    spiky = [rng.dirichlet(np.full(100, a)) for a in (0.02, 0.1, 1.0, 10.0) for _ in range(50)]
    assert max(moment_variances(design, w).max() for w in spiky) <= result.variance
    assert moment_variances(design, result.w)[0] == pytest.approx(result.variance)


def test_large_designs_without_balance_are_refused(monkeypatch):
    monkeypatch.setattr(searching, "MAX_SEARCH", 4)
    monkeypatch.setattr(searching, "MAX_FAMILY", 4)
    with pytest.raises(TooLargeError):
        least_favorable(ASKED5)


def test_one_share_against_the_others_says_what_it_may_miss(monkeypatch):
    design = LOPSIDED["few questions likely"]
    searched = least_favorable(design)
    monkeypatch.setattr(searching, "MAX_SEARCH", 4)
    along = least_favorable(design)
    assert 0.9 * searched.variance < along.variance <= searched.variance
    assert along.bound >= searched.variance


def test_forty_categories_climb_together_in_a_few_steps(monkeypatch):
    # Two Hadamard designs are searched, forty categories each, every one nearly as bad as the worst.
    decomposed, steps = [], []
    eigh, values = np.linalg.eigh, searching._Influence.values
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (decomposed.append(len(matrix)), eigh(matrix))[1])
    monkeypatch.setattr(
        searching._Influence, "values", lambda self, W, j: (steps.append(len(W)), values(self, W, j))[1]
    )
    survey = sp.plan(40, margin=0.02)
    assert sum("hadamard" in option.name for option in survey.options) == 2
    assert len(decomposed) <= len(survey.options)
    assert len(steps) <= 2 * searching._STEPS
    assert sum(steps) < 2 * 6 * 40


@every_case("name", LOPSIDED)
def test_climbing_one_by_one_ends_at_the_same_variance(name, monkeypatch):
    together = least_favorable(LOPSIDED[name])
    monkeypatch.setattr(searching, "_STEPS", 1)
    alone = least_favorable(LOPSIDED[name])
    assert alone.variance == pytest.approx(together.variance, rel=TOLERANCE)
    assert alone.variance <= alone.bound <= (1 + TOLERANCE) * alone.variance


@every_case("design", LOPSIDED.values(), ids=LOPSIDED)
def test_the_variance_of_one_share_is_that_of_the_whole_matrix(design):
    influence, p = searching._Influence(design), design.p
    spiky = np.where(np.arange(p) == 0, 1 - 1e-6, 1e-6 / (p - 1))  # so near a corner that the matrix is hardly regular
    for w in (np.random.default_rng(8).dirichlet(np.ones(p)), spiky):
        V = limit_covariance(design, w).diagonal()
        variances, _ = influence.values(np.tile(w, (p, 1)), range(p))
        assert variances == pytest.approx(V, rel=1e-6)
