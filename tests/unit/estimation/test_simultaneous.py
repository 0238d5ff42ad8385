"""Intervals that hold all together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import quietly
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm

import subsetprivacy as sp
from subsetprivacy.estimation.limit_quantiles import largest_error_quantile
from subsetprivacy.messages import NoteKind

U4 = sp.uniform(list("abcd"))
W = [0.1, 0.2, 0.3, 0.4]


def equicorrelated(p, r):
    return (1 - r) * np.eye(p) + r


@pytest.mark.parametrize("r", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("p", [2, 4, 8, 32])
def test_equal_correlations_against_numerical_integration(p, r):
    # Given a common normal x the errors are independent: an integral over one variable.
    def joint(q):
        x, weight = np.polynomial.hermite_e.hermegauss(200)
        inside = ndtr((q - np.sqrt(r) * x) / np.sqrt(1 - r)) - ndtr((-q - np.sqrt(r) * x) / np.sqrt(1 - r))
        return float(weight @ inside**p) / np.sqrt(2 * np.pi)

    scale = np.diag(np.geomspace(0.1, 50, p))
    expected = brentq(lambda q: joint(q) - 0.95, 1, 4)
    quantile = largest_error_quantile(scale @ equicorrelated(p, r) @ scale, 0.95)
    assert quantile == pytest.approx(expected, abs=0.002 if p <= 8 else 0.005)


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_the_quantile_does_not_depend_on_the_choice_of_eigenvectors(seed):
    # Where eigenvalues are equal, or nearly, each kind of processor chooses others: a change in the last digits turns
    # all of them.
    source = np.random.default_rng(seed)
    noise = source.normal(size=(5, 5)) * 1e-13
    cov = equicorrelated(5, 0.3)
    assert largest_error_quantile(cov + noise + noise.T, 0.95) == pytest.approx(
        largest_error_quantile(cov, 0.95), rel=1e-9
    )


@pytest.mark.parametrize("level", [1e-6, 0.2, 0.9999, 1 - 1e-9])
def test_the_quantile_is_between_that_of_one_error_and_bonferronis(level):
    q = largest_error_quantile(equicorrelated(6, 0.4), level)
    assert norm.ppf(0.5 + level / 2) <= q <= norm.ppf(1 - (1 - level) / 12) + 1e-9


def test_an_estimate_against_independent_draws():
    fit = sp.estimate(sp.simulate(U4, W, 2000, seed=1))
    draws = np.random.default_rng(7).multivariate_normal(np.zeros(4), fit.cov, size=200_000, method="svd")
    largest = np.quantile(np.abs(draws / fit.se).max(axis=1), 0.95)
    together = fit.interval(method="wald", simultaneous=True)
    assert (together[:, 1] - fit.w) / fit.se == pytest.approx(np.full(4, largest), abs=0.015)
    assert fit.to_dict(simultaneous=True)["simultaneous"] == "normal"
    note = next(note for note in fit.summary(simultaneous=True).notes if note.kind == NoteKind.SIMULTANEOUS)
    assert "joint normal distribution" in note.text


def test_two_shares_are_one_error():
    fit = sp.estimate(sp.simulate(sp.warner(["no", "yes"]), [0.4, 0.6], 1000, seed=1))
    assert fit.interval(simultaneous=True) == pytest.approx(fit.interval())
    assert largest_error_quantile(np.array([[1, -1], [-1, 1]]), 0.95) == pytest.approx(norm.ppf(0.975))


def test_one_category_on_request_is_a_single_interval():
    fit = sp.estimate(sp.simulate(U4, W, 2000, seed=1))
    assert fit.interval(categories="b", simultaneous=True) == pytest.approx(fit.interval(categories="b"))
    two = fit.interval(categories=["a", "b"], simultaneous=True)
    assert (two[:, 0] > fit.interval(simultaneous=True)[:2, 0]).all()
    assert (two[:, 0] < fit.interval()[:2, 0]).all()


def test_bonferroni_where_normal_theory_is_doubtful():
    with quietly():
        fit = sp.estimate(sp.simulate(U4, [0.97, 0.01, 0.01, 0.01], 100, seed=3))
        assert fit._caveats
        assert fit.interval(0.9, simultaneous=True) == pytest.approx(fit.interval(1 - 0.1 / 4))
        assert fit.to_dict(simultaneous=True)["simultaneous"] == "bonferroni"
        merged = fit.collapse({"x": ["b", "c"]})
        assert merged.interval(0.9, simultaneous=True) == pytest.approx(merged.interval(1 - 0.1 / 3))
    note = next(note for note in fit.summary(simultaneous=True).notes if note.kind == NoteKind.SIMULTANEOUS)
    assert "Bonferroni" in note.text


def test_never_wider_than_bonferroni_and_never_narrower_than_one():
    fit = sp.estimate(sp.simulate(sp.hadamard(range(16)), np.full(16, 1 / 16), 20_000, seed=1))
    with quietly():
        one, all_, most = (
            np.diff(fit.interval(level, method="wald", simultaneous=together))[:, 0]
            for level, together in ((0.95, False), (0.95, True), (1 - 0.05 / 16, False))
        )
    assert (one < all_).all()
    assert (all_ <= most + 1e-12).all()


def test_margins_and_differences_together():
    one, two = (sp.estimate(sp.simulate(U4, W, 2000, seed=seed)) for seed in (1, 2))
    merged = one.collapse({"x": ["a", "b"], "y": ["c", "d"]})
    assert merged.interval(simultaneous=True) == pytest.approx(merged.interval())
    result = one.difference(two)
    level = 2 * ndtr(largest_error_quantile(one.cov + two.cov, 0.95)) - 1
    assert result.interval(simultaneous=True) == pytest.approx(result.interval(level))
    assert result.interval(method="wald", simultaneous=True) == pytest.approx(result.interval(level, method="wald"))
    frame = result.to_frame(simultaneous=True)
    assert set(frame["level"]) == {0.95}  # of all together


def test_a_category_without_variance_asks_for_nothing():
    cov = np.zeros((3, 3))
    cov[:2, :2] = [[1, -1], [-1, 1]]
    assert largest_error_quantile(cov, 0.95) == pytest.approx(norm.ppf(0.975))
    assert largest_error_quantile(np.zeros((2, 2)), 0.95) == pytest.approx(norm.ppf(0.975))


def test_hundreds_of_intervals_take_bonferronis_level():
    design = sp.hadamard(range(300))
    with quietly():
        fit = sp.estimate(sp.simulate(design, np.full(300, 1 / 300), 5000, seed=1), "mom")
        assert fit.to_dict(simultaneous=True)["simultaneous"] == "bonferroni"
        bounds = fit.interval(simultaneous=True)
        assert (bounds[:, 1] - fit.w) / fit.se == pytest.approx(np.full(300, norm.isf(0.05 / 600)))
    large = sp.join({"a": range(100), "b": range(100)}, design=sp.hadamard)
    margin = sp.estimate(sp.simulate(large, np.full(10_000, 1e-4), 20_000, seed=1), "mom").margin("a")
    assert np.isfinite(margin._intervals_of(0.95, "wald", simultaneous=True).bounds).all()
