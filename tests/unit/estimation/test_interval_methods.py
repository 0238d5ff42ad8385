"""Wald, profile and bootstrap intervals; what they cover."""

import warnings

import numpy as np
import pytest
from every_case import every_case
from oracles import Sample, best
from problems import exact_counts, lopsided, quietly
from refusals import refused
from scipy.stats import chi2, norm

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, BoundaryWarning, SmallCountWarning
from subsetprivacy.estimation import intervals
from subsetprivacy.examples import adult

W5 = np.array([0.1, 0.1, 0.2, 0.2, 0.4])
U5 = sp.uniform(range(5))


@pytest.fixture(scope="module")
def fit():
    return sp.estimate(sp.simulate(U5, W5, 2000, seed=3))


@pytest.fixture(scope="module")
def boundary_fit():
    """A category that hardly exists, and is estimated as zero."""
    fit = sp.estimate(sp.simulate(U5, [0.001, 0.199, 0.2, 0.2, 0.4], 200, seed=5))
    assert fit.on_boundary == (0,)
    return fit


@every_case("level", [0.5, 0.9, 0.95, 0.999])
def test_wald_is_estimate_and_error(fit, level):
    half = norm.ppf(0.5 + level / 2) * fit.se
    assert fit.interval(level, method="wald") == pytest.approx(np.column_stack([fit.w - half, fit.w + half]))


def test_wald_is_cut_where_the_method_stays_in_the_simplex(boundary_fit):
    with pytest.warns(BoundaryWarning, match="the estimate for 0 is 0"):
        bounds = boundary_fit.interval(method="wald")
    assert bounds[0, 0] == 0
    assert bounds[0, 1] > 0
    with quietly():
        raw = sp.estimate(boundary_fit.counts, "mom").interval()  # moments have Wald intervals only
    assert raw[0, 0] < 0  # a moment estimate may leave it, and says so


def profile_likelihood(counts, j, v):
    """The highest log-likelihood with w_j = v."""
    return best([Sample(counts)], ([np.eye(counts.categories.p)[j]], v))[0]


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_profile_ends_where_the_likelihood_has_dropped_enough(fit, level):
    bounds = fit.interval(level, method="profile")
    for j in (0, 4):
        for v in bounds[j]:
            drop = fit.loglik - profile_likelihood(fit.counts, j, v)
            assert drop == pytest.approx(chi2.ppf(level, 1) / 2, abs=1e-5)
    assert (bounds[:, 0] < fit.w).all()
    assert (bounds[:, 1] > fit.w).all()


def test_profile_and_wald_agree_in_a_large_sample():
    fit = sp.estimate(sp.simulate(U5, W5, 1_000_000, seed=5))
    # The curvature changes by a part in a thousand over an interval this narrow.
    wald = fit.interval(method="wald")
    assert fit.interval(method="profile") == pytest.approx(wald, abs=0.005 * fit.se.max())
    assert fit.interval(method="adjusted") == pytest.approx(wald, abs=0.005 * fit.se.max())


def test_profile_starts_at_zero_on_the_boundary(boundary_fit):
    bounds = boundary_fit.interval(method="profile")  # no warning: this is what the warnings send you to
    assert bounds[0, 0] == 0
    assert 0.001 < bounds[0, 1] < 0.2
    drop = boundary_fit.loglik - profile_likelihood(boundary_fit.counts, 0, bounds[0, 1])
    assert drop == pytest.approx(chi2.ppf(0.95, 1) / 2, abs=1e-4)


@every_case("n", [10**7, 10**10, 10**13])
def test_profile_of_very_many_people(n):
    # The drop is of the order of 1/n, below the tolerance of the maximum: the ends must still be found.
    fit = sp.estimate(sp.simulate(lopsided(), [0.1, 0.2, 0.3, 0.4], n, seed=1))
    bounds = fit.interval(method="profile")
    assert bounds == pytest.approx(fit.interval(method="wald"), abs=0.02 * fit.se.max())


def test_profile_of_singletons_and_of_a_category_everybody_may_have():
    answers = [{"a"}] * 3 + [{"a", "b"}] * 5 + [{"a", "c"}] * 4
    fit = sp.estimate(sp.count(answers, categories=list("abc")))
    bounds = fit.interval(method="profile")
    assert bounds[0, 1] == 1  # every subset holds a: nothing speaks against a alone
    assert bounds[0, 0] > 0  # and some were a: it cannot be nobody
    assert bounds[1:, 0] == pytest.approx([0, 0])


def test_profile_of_a_flat_likelihood_is_the_whole_flat_part():
    answers = [{"a", "b"}] * 30 + [{"c"}] * 70
    with quietly():
        fit = sp.estimate(sp.count(answers, categories=list("abc")))
        bounds = fit.interval(method="profile")
    binomial = sp.estimate(sp.count([{"x"}] * 30 + [{"c"}] * 70, categories=["x", "c"])).interval(method="profile")
    assert bounds[0] == pytest.approx([0, binomial[0, 1]], abs=1e-7)
    assert bounds[1] == pytest.approx([0, binomial[0, 1]], abs=1e-7)
    assert bounds[2] == pytest.approx(binomial[1], abs=1e-7)


def test_bootstrap_is_repeatable_and_near_wald(fit):
    one, two = (fit.interval(method="bootstrap", replications=400, seed=11) for _ in range(2))
    assert np.array_equal(one, two)
    other = fit.interval(method="bootstrap", replications=400, seed=12)
    assert not np.array_equal(one, other)
    # Percentiles of 400 draws wander by about a tenth of a standard error each.
    assert one == pytest.approx(fit.interval(method="wald"), abs=0.5 * fit.se.max())


@every_case("method", ["em", "mom", "mom-conditional", "one-step"])
def test_bootstrap_refits_by_the_same_method(method):
    counts = sp.simulate(U5, [0.01, 0.09, 0.3, 0.3, 0.3], 300, seed=6)
    fit = sp.estimate(counts, method)
    bounds = fit.interval(method="bootstrap", replications=60, seed=1)
    assert (bounds[:, 0] <= bounds[:, 1]).all()
    negative = bounds[0, 0] < 0
    assert negative == method.startswith("mom")
    if not fit.in_simplex:
        assert fit.projected().interval(method="bootstrap", replications=60, seed=1)[0, 0] >= 0


def test_bootstrap_says_when_samples_cannot_be_refitted():
    # Three questions, one of them asked once: a third of the samples lack it.
    design = lopsided()
    counts = sp.SubsetCounts([3, 12, 5, 10, 9], [10, 10, 10, 10, 1], design)
    fit = sp.estimate(counts, "mom-conditional")
    with pytest.raises(ArgumentError, match=r"\d+ of 100 were not identifiable"):
        fit.interval(method="bootstrap", replications=100, seed=1)


@every_case("level", [0, 1, 95, -0.5, float("nan"), "0.95", None])
def test_a_level_is_between_zero_and_one(fit, level):
    for call in (fit.interval, fit.summary, fit.to_dict, fit.to_frame, fit.loss_quantile):
        with refused(ArgumentError, "level"):
            call(level)
    with refused(ArgumentError, "level"):
        fit.contrast({0: 1}, level=level)


def test_bad_arguments_of_intervals(fit):
    with pytest.raises(ArgumentError):
        sp.estimate(fit.counts, "mom").interval(method="profile")
    with refused(ArgumentError, "method"):
        fit.interval(method="score")
    with refused(ArgumentError, "replications"):
        fit.interval(method="bootstrap", replications=5)
    with refused(ArgumentError, "seed"):
        fit.interval(method="bootstrap", seed="one")


# Doubt --------------------------------------------------------------------------------------------


def test_boundary_errors_are_positive_and_come_with_a_warning(boundary_fit):
    calls = {
        "se": lambda: boundary_fit.se,
        "cov": lambda: boundary_fit.cov,
        "interval": lambda: boundary_fit.interval(method="wald"),
        "loss_quantile": boundary_fit.loss_quantile,
    }
    for call in calls.values():
        with pytest.warns(BoundaryWarning, match=r"Hint: interval\(method='auto'\)"):
            call()
    with pytest.warns(BoundaryWarning, match="the estimate for 0 is 0"):
        boundary_fit.contrast({0: 1}, method="wald")
    boundary_fit.contrast({0: 1})  # the score test does not need the standard error
    with quietly():
        assert (boundary_fit.se > 0).all()
    assert "On the boundary: the estimate for 0 is 0" in str(boundary_fit.summary())
    assert repr(boundary_fit).startswith("<Estimate by mle")  # looking at it does not warn


def test_a_warning_points_to_the_line_that_asked(boundary_fit):
    with pytest.warns(BoundaryWarning) as caught:
        boundary_fit.se  # noqa: B018
    assert caught[0].filename == __file__


def test_small_counts_are_said():
    counts = exact_counts(sp.uniform(range(4)), [0.0125, 0.0125, 0.4875, 0.4875], 120)
    fit = sp.estimate(counts)
    assert fit.on_boundary == ()
    assert fit.smallest_size == pytest.approx(0.025)
    with pytest.warns(SmallCountWarning, match=r"probability of 0\.025, below 5/n = 0\.042"):
        fit.se  # noqa: B018
    assert "Small counts" in str(fit.summary())
    calm = sp.estimate(sp.simulate(U5, W5, 2000, seed=1))
    assert calm.notes == ()
    calm.se  # noqa: B018  # no warning, or this test fails


def test_the_smallest_size_is_that_of_what_can_be_reported():
    w = np.array([0.4, 0.3, 0.2, 0.1])
    counts = sp.simulate(lopsided(), w, 10**6, seed=1)
    fit = sp.estimate(counts)
    codes = lopsided().support()[0]
    assert fit.smallest_size == pytest.approx(min(sum(fit.w[j] for j in range(4) if a >> j & 1) for a in codes))
    uniform = sp.estimate(sp.simulate(sp.uniform(range(30)), np.full(30, 1 / 30), 20_000, seed=1))
    assert uniform.smallest_size == pytest.approx(np.sort(uniform.w)[:2].sum())
    seen = sp.count([{"a", "b"}, {"b", "c"}, {"a", "c"}] * 20, categories=list("abc"))
    assert sp.estimate(seen).smallest_size == pytest.approx(2 / 3)


# Coverage -----------------------------------------------------------------------------------------


def coverage(bounds, w):
    bounds = np.array(bounds)
    return ((bounds[..., 0] <= w) & (w <= bounds[..., 1])).mean(axis=0)


def test_wald_covers_in_a_regular_case():
    samples = sp.simulate_many(U5, W5, 2000, 400, seed=13)
    with quietly():
        covered = coverage([fit.interval(method="wald") for fit in sp.estimate_many(samples)], W5)
    # 400 replications: the standard error of a coverage of .95 is .011.
    assert covered == pytest.approx(np.full(5, 0.95), abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("information", ["observed", "expected"])
def test_wald_covers_on_adult_race(information):
    # n = 10,000, 3000 replications: the standard error is .004; the demand is 93 to 97 %.
    samples = sp.simulate_many(sp.uniform(adult.races), adult.race, 10_000, 3000, seed=14)
    with quietly():
        fits = sp.estimate_many(samples, information=information)
        covered = coverage([fit.interval(method="wald") for fit in fits], adult.race)
    assert covered.min() >= 0.93
    assert covered.max() <= 0.97


@pytest.mark.slow
def test_profile_covers_rare_races_in_small_samples():
    # n = 500 has four people of Other, and half of the estimates are zero; 600 replications, standard error .009.
    samples = sp.simulate_many(sp.uniform(adult.races), adult.race, 500, 600, seed=15)
    with quietly():
        fits = sp.estimate_many(samples)
        profile = coverage([fit.interval(method="profile") for fit in fits], adult.race)
        wald = coverage([fit.interval(method="wald") for fit in fits], adult.race)
    assert profile.min() >= 0.91
    assert profile.max() <= 0.995  # a true value near zero is covered too often, as it must be
    assert np.abs(profile - 0.95).max() < np.abs(wald - 0.95).max()


@pytest.mark.parametrize(("p", "n"), [(12, 8000), (13, 5000), (24, 3000)])
def test_profiles_hold_for_every_kind_of_rows(p, n):
    # Many distinct subsets: the rows are halves of a grid, or bytes, and no longer a matrix.
    fit = sp.estimate(sp.simulate(sp.uniform(range(p)), np.full(p, 1 / p), n, seed=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wald = fit.interval(method="wald")
    profile = fit.interval(method="profile")
    assert profile == pytest.approx(wald, abs=0.35 * (wald[:, 1] - wald[:, 0]).mean())


def test_summaries_and_frames_take_other_intervals():
    fit = sp.estimate(sp.simulate(sp.uniform(range(5)), np.full(5, 0.2), 500, seed=1))
    profile = fit.interval(method="profile")
    assert fit.to_frame(method="profile")["lower"].to_numpy() == pytest.approx(profile[:, 0])
    assert fit.to_dict(method="profile")["upper"] == pytest.approx(profile[:, 1])
    assert "Intervals by method 'profile': profile likelihood." in str(fit.summary(method="profile"))


def test_intervals_are_searched_once_and_cannot_be_spoiled(monkeypatch):
    fit = sp.estimate(sp.simulate(U5, W5, 300, seed=9))
    searches = []
    search = intervals.profile
    monkeypatch.setattr(intervals, "profile", lambda *args, **options: searches.append(1) or search(*args, **options))
    first = fit.interval()
    first[:] = 0
    for output in (fit.interval, fit.summary, fit.to_dict, fit.to_frame):
        output()
    assert len(searches) == 1
    assert fit.interval().min() > 0
    fit.interval(0.9)
    fit.interval(categories=2)
    assert len(searches) == 3
    drawn = [fit.interval(method="bootstrap", replications=20, seed=seed) for seed in (1, 2)]
    assert (drawn[0] != drawn[1]).any()
