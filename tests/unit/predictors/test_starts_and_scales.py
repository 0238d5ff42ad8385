"""Corrected fits do not depend on where the outcome is measured from, on offsets, or on one start."""

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import SmallCountWarning

RNG = np.random.default_rng(0)
N = 400
VALUES = RNG.integers(0, 3, N)
PRIVATE = sp.privatize(VALUES, sp.fixed_size(range(3), 2), seed=1)
OUTCOME = VALUES + RNG.normal(size=N)
EVENTS = RNG.poisson(np.exp(0.3 * VALUES)).astype(float)


@pytest.mark.parametrize("constant", [1e4, 1e8])
def test_the_scale_of_errors_stays_when_a_constant_is_added(constant):
    # A sum of squares from 0 would cancel.
    fits = [sp.regress("y ~ x", {"y": OUTCOME + add, "x": PRIVATE}) for add in (0.0, constant)]
    assert fits[1].fit.scale == pytest.approx(fits[0].fit.scale, rel=1e-5)


def test_a_large_offset_is_no_flight():
    plain, moved = (
        sp.regress("k ~ x", {"k": EVENTS, "x": PRIVATE}, family="poisson", offset=np.full(N, offset))
        for offset in (0.0, 60.0)
    )
    np.testing.assert_allclose(moved.coef[1:], plain.coef[1:], atol=1e-6)
    assert moved.coef[0] == pytest.approx(plain.coef[0] - 60, abs=1e-6)


def test_a_solution_that_the_first_start_does_not_reach_is_found():
    # Where everyone has the same outcome the corrected objective of these people curves upward.
    rng = np.random.default_rng(35)
    p, n = 5, 1500
    x = rng.choice(p, n, p=rng.dirichlet(np.full(p, 3.0)))
    v = rng.normal(size=n) + 0.3 * x
    eta = 0.2 + 0.3 * v + np.linspace(0, 0.8, p)[x]
    rng.normal(size=n), rng.random(n)
    y = rng.poisson(np.exp(eta * 0.5)).astype(float)
    data = {"y": y, "v": v, "x": sp.privatize(x.tolist(), sp.uniform(range(p)), seed=35)}
    with pytest.warns(SmallCountWarning):  # few people determine the effects of two categories
        fit = sp.regress("y ~ v*x", data, family="poisson")
    assert np.isfinite(fit.fit.theta).all()
    assert fit.converged


def test_a_seen_column_far_from_zero_is_named_with_what_to_do():
    seconds = 1.7e9 + 100.0 * RNG.random(N)
    with pytest.raises(sp.errors.ArgumentError, match=r"must vary by more than 1/30000 of its mean; got t\..*subtract"):
        sp.regress("y ~ t + x", {"y": OUTCOME, "t": seconds, "x": PRIVATE})
    fit = sp.regress("y ~ t + x", {"y": OUTCOME, "t": seconds - seconds.mean(), "x": PRIVATE})
    assert np.isfinite(fit.se).all()


def test_clusters_may_be_words_and_numbers():
    mixed = np.array([f"town {k}" if k % 2 else k for k in np.arange(N) % 8], object)
    for response, data in (("y ~ x", {"y": OUTCOME, "x": PRIVATE}), ("x ~ y", {"y": OUTCOME, "x": PRIVATE})):
        fits = [sp.regress(response, data, clusters=clusters) for clusters in (mixed, np.arange(N) % 8)]
        np.testing.assert_allclose(fits[0].se, fits[1].se, rtol=1e-12)
