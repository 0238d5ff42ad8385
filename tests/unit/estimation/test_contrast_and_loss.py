"""Sums of shares, and the law of the squared error."""

import numpy as np
import pytest
from every_case import every_case
from problems import lopsided, quietly
from refusals import refused
from scipy.stats import chi2, norm

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.estimation.limit_quantiles import quadratic_form_cdf, quadratic_form_quantile


@pytest.fixture(scope="module")
def fit():
    return sp.estimate(sp.simulate(lopsided(), [0.1, 0.2, 0.3, 0.4], 3000, seed=1))


def test_a_contrast_by_hand(fit):
    result = fit.contrast({"d": 1, "a": -1}, level=0.9, method="wald")
    value = fit.w[3] - fit.w[0]
    se = np.sqrt(fit.cov[3, 3] + fit.cov[0, 0] - 2 * fit.cov[0, 3])
    assert result.value == pytest.approx(value)
    assert result.se == pytest.approx(se)
    assert (result.lower, result.upper) == pytest.approx((value - 1.6448536 * se, value + 1.6448536 * se))
    assert result.level == 0.9
    assert result.zscore == pytest.approx(value / se)
    assert result.pvalue == pytest.approx(2 * norm.sf(value / se))
    assert str(result).startswith(f"d - a: {value:.4f} (std. error {se:.4f}, 90% interval")
    assert result.method == "wald"


def test_the_default_is_the_score_test(fit):
    default, score = (fit.contrast({"d": 1, "a": -1}, method=method) for method in ("auto", "score"))
    assert default.to_dict() == score.to_dict()
    assert default.method == "score"
    wald = fit.contrast({"d": 1, "a": -1}, method="wald")
    assert (default.value, default.se) == (wald.value, wald.se)
    # Near Wald's in a large sample, and not the same.
    assert (default.lower, default.upper) == pytest.approx((wald.lower, wald.upper), abs=0.05 * wald.se)
    assert default.lower != pytest.approx(wald.lower, abs=0.001 * wald.se)


def test_a_total_and_a_vector(fit):
    total = fit.contrast({"a": 1, "b": 1})
    assert total.to_dict() == fit.contrast([1, 1, 0, 0]).to_dict()
    assert total.value == pytest.approx(fit.w[0] + fit.w[1])


def test_the_sum_of_all_shares_is_known(fit):
    everything = fit.contrast([2, 2, 2, 2])
    assert everything.value == everything.lower == everything.upper == pytest.approx(2)
    assert everything.se == 0
    assert np.isnan(everything.pvalue)
    assert str(everything).endswith("no test)")
    # Not that of a moment estimate, which need not sum to one.
    five = sp.estimate(sp.simulate(sp.uniform(range(5)), [0.1, 0.1, 0.2, 0.2, 0.4], 300, seed=1), "mom")
    assert five.contrast([1, 1, 1, 1, 1]).se > 0


def test_an_interval_stays_in_the_range_of_the_weights():
    counts = sp.simulate(lopsided(), [0.02, 0.18, 0.3, 0.5], 300, seed=2)
    for fit in (sp.estimate(counts), sp.estimate(counts, "mom")):
        with quietly():
            result = fit.contrast({"a": 1}, level=0.999)
        assert result.value - 3 * result.se < 0
        assert (result.lower >= 0) == fit.in_simplex


def test_a_score_survives_the_tail(fit):
    result = fit.contrast({"d": 1, "a": -1})
    assert result.zscore > 10  # beyond 8 standard errors 1 - cdf would be 0
    assert 0 < result.pvalue < 1e-20


@every_case(
    ("weights", "error", "argument"),
    [
        ({"z": 1}, CategoryError, "label"),
        ([1, 2, 3], ArgumentError, "weights"),
        ([1, 2, 3, np.inf], ArgumentError, "weights"),
        ({"a": float("nan")}, ArgumentError, "weights"),
        ([0, 0, 0, 0], ArgumentError, "weights"),
        ({}, ArgumentError, "weights"),
        ({"a": "1"}, ArgumentError, "weights"),
        ({"a": "much"}, ArgumentError, "weights"),
        (["w", "x", "y", "z"], ArgumentError, "weights"),
    ],
    ids=str,
)
def test_contrasts_that_cannot_be(fit, weights, error, argument):
    with refused(error, argument):
        fit.contrast(weights)


# The law of the squared error ---------------------------------------------------------------------


@every_case("m", [1, 2, 7, 47])
@every_case("level", [0.01, 0.5, 0.95, 0.999])
def test_equal_eigenvalues_are_a_chi_square(m, level):
    assert quadratic_form_quantile(np.full(m, 0.3), level) == pytest.approx(0.3 * chi2.ppf(level, m), rel=1e-8)
    assert quadratic_form_cdf(0.3 * m, np.full(m, 0.3)) == pytest.approx(chi2.cdf(m, m))


def test_two_pairs_have_a_closed_form():
    # a chi2_2 + b chi2_2 is a sum of two exponentials: P(> x) = (a e^{-x/2a} - b e^{-x/2b}) / (a - b).
    a, b = 1.0, 0.2
    for x in (0.1, 1.0, 5.0, 20.0):
        tail = (a * np.exp(-x / (2 * a)) - b * np.exp(-x / (2 * b))) / (a - b)
        assert quadratic_form_cdf(x, np.array([a, a, b, b])) == pytest.approx(1 - tail, abs=1e-9)


def test_an_unequal_mixture_against_simulation():
    lam = np.array([2.0, 1.0, 0.3, 0.05, 1e-5])
    draws = (np.random.default_rng(1).standard_normal((400_000, 5)) ** 2) @ lam
    for level in (0.5, 0.9, 0.95, 0.99):
        # The standard error of the share below is at most .0008.
        assert np.mean(draws <= quadratic_form_quantile(lam, level)) == pytest.approx(level, abs=0.004)


def test_many_small_eigenvalues_are_not_forgotten():
    # 200 of them, each negligible, are a tenth of the mean.
    lam = np.append(np.ones(2), np.full(200, 1e-3))
    draws = (np.random.default_rng(2).standard_normal((50_000, 202)) ** 2) @ lam
    assert np.mean(draws <= quadratic_form_quantile(lam, 0.5)) == pytest.approx(0.5, abs=0.01)
    assert np.mean(draws <= quadratic_form_quantile(lam, 0.95)) == pytest.approx(0.95, abs=0.005)


def test_quantile_and_distribution_are_inverse():
    lam = np.array([3.0, 0.7, 0.004])
    for level in (1e-6, 0.1, 0.9, 1 - 1e-9):
        assert quadratic_form_cdf(quadratic_form_quantile(lam, level), lam) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("level", [1 - 1e-12, 1 - 2**-53])
def test_a_level_next_to_one_ends(level):
    lam = np.array([1.0, 0.3, 0.01])
    assert chi2.isf(1 - level, 1) * 0.99 <= quadratic_form_quantile(lam, level) <= chi2.isf(1 - level, 3)


def test_nothing_random_and_nothing_known():
    assert quadratic_form_quantile(np.zeros(3), 0.95) == 0
    assert quadratic_form_cdf(0.0, np.zeros(3)) == 1
    assert quadratic_form_cdf(-1.0, np.ones(2)) == 0
    assert quadratic_form_quantile(np.array([1.0, np.inf]), 0.95) == np.inf


def test_the_loss_stays_below_its_bound_as_often_as_promised():
    w = np.array([0.1, 0.2, 0.3, 0.4])
    fits = sp.estimate_many(sp.simulate_many(lopsided(), w, 3000, 500, seed=4))
    losses = ((fits.w - w) ** 2).sum(axis=1)
    below = np.mean([loss <= fit.loss_quantile(0.9) for loss, fit in zip(losses, fits)])
    assert below == pytest.approx(0.9, abs=0.05)  # the standard error is .013
