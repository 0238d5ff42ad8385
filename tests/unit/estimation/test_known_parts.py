"""Estimates where something known is held: a bit, dummies, numbers for subsets."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, BIT, BIT3, COVERED, RECORDED, WARNER
from problems import exact_shares, quietly, rising

import subsetprivacy as sp
from subsetprivacy.estimation.likelihood import certified_gap, mean_loglik

W4 = np.array([0.1, 0.2, 0.3, 0.4])
SAMPLES = {
    "warner": lambda: sp.simulate(WARNER, [0.3, 0.7], 3000, seed=1),
    "bit": lambda: sp.simulate(BIT, [0.3, 0.7], 3000, seed=1),
    "bit, p=3": lambda: sp.simulate(BIT3, [0.2, 0.3, 0.5], 3000, seed=1),
    "covered": lambda: sp.simulate(COVERED.planned(), W4, 3000, seed=1),
    "covered groups": lambda: sp.simulate(sp.covered(RECORDED, 0.1), rising(7), 3000, seed=1),
    "dummies": lambda: sp.simulate(sp.small(["no", "yes"], "dummies", reveals=True), [0.3, 0.7], 3000, seed=1),
    "product": lambda: sp.simulate(sp.product({"w": WARNER, "x": ASKED}), rising(8), 9000, seed=1),
}


def loglik(counts, w):
    """The mean log-likelihood by the definition: sum of shares times ln(mu_a r_a'w), without mu."""
    rows = np.vstack(
        [counts.design.incidence(np.array([a])).inner(np.eye(len(w)))[:, 0] for a in counts.observed_codes]
    )
    return counts.n_a @ np.log(rows @ w) / counts.n_a.sum()


@pytest.mark.parametrize("name", SAMPLES)
def test_all_likelihood_methods_find_one_maximum(name):
    counts = SAMPLES[name]()
    best = sp.estimate(counts, tol=1e-12)
    assert loglik(counts, best.w) == pytest.approx(mean_loglik(counts.incidence, counts.shares, best.w), abs=1e-12)
    for method, options in (
        ("em", {"tol": 1e-10, "accelerate": True}),
        ("icm", {"tol": 1e-10}),
        ("conic", {"tol": 1e-11}),
    ):
        assert sp.estimate(counts, method, **options).w == pytest.approx(best.w, abs=2e-5)
    # By brute force along many directions: nothing near it is higher.
    rng = np.random.default_rng(1)
    for _ in range(200):
        other = np.abs(best.w + 0.02 * rng.normal(size=len(best.w)))
        assert loglik(counts, other / other.sum()) <= loglik(counts, best.w) + 1e-12


@every_case("name", SAMPLES)
def test_the_certificate_holds_with_held_weights(name):
    counts = SAMPLES[name]()
    best = sp.estimate(counts, tol=1e-12)
    for seed in range(20):
        w = np.random.default_rng(seed).dirichlet(np.ones(len(best.w)))
        gap = certified_gap(counts.incidence, counts.shares, w)
        gained = loglik(counts, best.w) - loglik(counts, w)
        assert -1e-10 <= gained <= gap + 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SAMPLES if "cover" not in name and name != "dummies"])
def test_standard_errors_are_the_spread_of_estimates(name):
    design = SAMPLES[name]().design
    w = rising(design.p)
    samples = sp.simulate_many(design, w, 4000, 400, seed=2)
    for method in ("mle", "mom"):
        with quietly():
            batch = sp.estimate_many(samples, method)
        spread = batch.w.std(axis=0)
        assert batch.se.mean(axis=0) == pytest.approx(spread, rel=0.2)  # five standard errors of a spread of 400
        assert np.abs(batch.w.mean(axis=0) - w).max() < 5 * spread.max() / 20 + 0.002


def test_sampling_weights_with_a_bit():
    # A weight of 2 for everybody changes nothing, and weights that follow the value move the estimate to their shares.
    x = np.repeat([0, 1], [6000, 14_000])
    data = sp.privatize(np.array(["no", "yes"])[x].tolist(), WARNER, seed=1)
    plain = sp.estimate(data)
    twice = sp.estimate(sp.count(data, weights=np.full(20_000, 2.0), weights_kind="sampling"))
    assert twice.w == pytest.approx(plain.w, abs=1e-9)
    assert twice.se == pytest.approx(plain.se, rel=0.02)
    weighted = sp.estimate(sp.count(data, weights=np.where(x == 0, 3.0, 1.0), weights_kind="sampling"))
    assert np.abs((weighted.w - [18 / 32, 14 / 32]) / weighted.se).max() < 4.5


@every_case("name", SAMPLES)
def test_intervals_of_every_kind(name):
    counts = SAMPLES[name]()
    fit = sp.estimate(counts)
    with quietly():
        wald, profile = fit.interval(method="wald"), fit.interval(method="profile")
        boot = fit.interval(method="bootstrap", replications=99, seed=1)
    assert profile == pytest.approx(wald, abs=0.03)
    assert boot == pytest.approx(wald, abs=0.05)


@every_case("name", ["warner", "bit", "covered", "product"])
def test_one_step_ends_near_the_maximum(name):
    counts = SAMPLES[name]()
    assert sp.estimate(counts, "one-step").w == pytest.approx(sp.estimate(counts).w, abs=2e-3)


def test_what_can_be_asked_of_fits_with_numbers_for_subsets():
    fit = sp.estimate(sp.simulate(RECORDED, rising(7), 2000, seed=1))
    assert fit.smallest_size == pytest.approx(
        min(fit.w @ RECORDED.contains(np.int64(code), np.arange(7)) for code in range(3, 18))
    )
    assert len(fit.to_dict()["estimate"]) == 7


@pytest.mark.parametrize("q", [0.25, 0.1])
def test_expected_information_of_warners_question(q):
    design = sp.warner(["no", "yes"], q)
    counts = exact_shares(design, [0.65, 0.35])
    plain = sp.SubsetCounts(counts.codes, np.rint(1000 * counts.counts).astype(int), design)
    with quietly():
        observed, expected = (sp.estimate(plain, information=kind).se for kind in ("observed", "expected"))
    assert observed == pytest.approx(expected, rel=1e-3)


def test_a_boundary_estimate_under_cover():
    # Nobody is a or b: the estimate ends on the boundary, and the floor keeps every cell possible.
    counts = sp.simulate(COVERED.planned(), [0, 0, 0.5, 0.5], 2000, seed=5)
    fit = sp.estimate(counts)
    assert fit.gap < 1e-8
    assert fit.w.min() >= 0
    assert np.isfinite(fit.loglik)
    assert fit.smallest_size >= counts.design.share - 1e-12
    assert set(fit.on_boundary) <= set(ABCD)
