"""Estimates of samples that were drawn with weights, strata and clusters."""

import pickle
import warnings

import numpy as np
import pytest
from every_case import every_case
from refusals import refused
from survey_samples import LABELS, small_sample

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, MismatchError, NotPrivateWarning, SubsetPrivacyWarning
from subsetprivacy.messages import NoteKind

SAMPLE = small_sample()
LARGE = small_sample(3, strata=20, clusters=4, people=(8, 16))
UNIFORM = sp.uniform(LABELS)


def drawn(sample, **options):
    return sp.Sampling(sample.weights, strata=sample.strata, clusters=sample.clusters, **options)


def seen(sample):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        return sp.privatize(sample.values, sp.nonprivate(LABELS), seed=1)


def private(sample, seed=1):
    return sp.privatize(sample.values, UNIFORM, seed=seed)


def quietly(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        return run()


def covariance_of_means(sample, inside):
    """Return the covariance of weighted shares among some people, stratum by stratum."""
    total = (sample.weights * inside).sum()
    is_label = sample.values[:, None] == LABELS
    shares = (sample.weights * inside) @ is_label / total
    scores = (sample.weights * inside)[:, None] * (is_label - shares) / total
    cov = np.zeros((4, 4))
    for h in np.unique(sample.strata):
        mine = sample.strata == h
        sums = np.array([scores[mine & (sample.clusters == c)].sum(axis=0) for c in np.unique(sample.clusters[mine])])
        apart = sums - sums.mean(axis=0)
        cov += len(sums) / (len(sums) - 1) * apart.T @ apart
    return shares, cov


@every_case("method", ["mle", "mom", "one-step"])
def test_values_that_are_seen_have_the_errors_of_weighted_shares(method):
    shares, cov = covariance_of_means(SAMPLE, np.ones(len(SAMPLE.values)))
    fit = sp.estimate(seen(SAMPLE), method, sampling=drawn(SAMPLE))
    np.testing.assert_allclose(fit.w, shares, atol=1e-9)
    np.testing.assert_allclose(quietly(lambda: fit.cov), cov, atol=1e-9)


def test_a_part_of_the_people_keeps_all_clusters():
    inside = SAMPLE.group == "x"
    shares, cov = covariance_of_means(SAMPLE, inside)
    fit = sp.estimate(seen(SAMPLE), sampling=drawn(SAMPLE).within(inside))
    np.testing.assert_allclose(fit.w, shares, atol=1e-9)
    np.testing.assert_allclose(quietly(lambda: fit.cov), cov, atol=1e-9)
    assert fit.degrees_of_freedom == 18 - 6


@every_case("method", ["mle", "mom", "mom-conditional", "mom-uniform"])
def test_influence_is_the_derivative_by_a_weight(method):
    data, sampling = private(LARGE), drawn(LARGE)
    fit = sp.estimate(data, method, sampling=sampling)
    influence = fit.survey.each(sp.estimation.survey_sample.influence_of(fit))
    for person in (0, 17, 200):
        step = 1e-3
        moved = LARGE.weights.copy()
        moved[person] += step
        options = {"tol": 1e-12} if method == "mle" else {}
        after = sp.estimate(data, method, sampling=sp.Sampling(moved, strata=LARGE.strata), **options)
        before = sp.estimate(data, method, sampling=sampling, **options)
        np.testing.assert_allclose((after.w - before.w) / step, influence[person], rtol=2e-3, atol=1e-7)


@pytest.mark.parametrize("method", ["mle", "mom-conditional"])
def test_replicates_agree_with_linearization(method):
    # The jackknife differs from linearization by terms of the order of a cluster's share in the variance: with 80
    # clusters and 20 strata the standard errors are within a few percent. Bootstraps of R samples vary by 1/sqrt(2R).
    data, sampling = private(LARGE), drawn(LARGE)
    se = sp.estimate(data, method, sampling=sampling).se
    np.testing.assert_allclose(
        sp.estimate(data, method, sampling=sampling.with_replicates("jackknife")).se, se, rtol=0.05
    )
    boot = sampling.with_replicates("bootstrap", 300, seed=2)
    np.testing.assert_allclose(sp.estimate(data, method, sampling=boot).se, se, rtol=0.05 + 4 / np.sqrt(600))


def test_balanced_replicates_agree_with_linearization():
    sample = small_sample(5, strata=40, clusters=2, people=(8, 16))
    data, sampling = private(sample), drawn(sample)
    se = sp.estimate(data, sampling=sampling).se
    np.testing.assert_allclose(sp.estimate(data, sampling=sampling.with_replicates("brr", rho=0.5)).se, se, rtol=0.05)


def test_equal_weights_of_people_are_an_ordinary_sample():
    data = private(LARGE)
    n = len(data)
    plain, sampled = sp.estimate(data), sp.estimate(data, sampling=sp.Sampling(np.full(n, 2.5)))
    np.testing.assert_allclose(sampled.w, plain.w, atol=1e-7)
    # The sandwich of a right model: equal but for chance, of order 1/sqrt(n).
    np.testing.assert_allclose(sampled.se, plain.se, rtol=4 / np.sqrt(n))
    np.testing.assert_allclose(sampled.design_effects, 1, atol=1e-9)
    np.testing.assert_allclose(sampled.interval(), plain.interval(), atol=0.01)


def test_design_effects_are_ratios_of_variances():
    fit = sp.estimate(seen(LARGE), sampling=drawn(LARGE))
    n = len(LARGE.values)
    np.testing.assert_allclose(fit.design_effects, fit.se**2 / (fit.w * (1 - fit.w) / (n - 1)), rtol=1e-6)
    assert fit.design_effects.max() > 1.2


def test_weights_may_have_any_scale():
    data = private(LARGE)
    one = sp.estimate(data, sampling=drawn(LARGE))
    other = sp.estimate(data, sampling=sp.Sampling(1000 * LARGE.weights, strata=LARGE.strata, clusters=LARGE.clusters))
    np.testing.assert_allclose(one.se, other.se, rtol=1e-6)
    np.testing.assert_allclose(one.interval(), other.interval(), atol=1e-5)


# Intervals ------------------------------------------------------------------------------------


def test_wald_intervals_use_t():
    fit = sp.estimate(private(SAMPLE), sampling=drawn(SAMPLE))
    from scipy.stats import t

    half = t.ppf(0.95, 12) * fit._se
    wanted = np.clip(np.column_stack([fit.w - half, fit.w + half]), 0, 1)
    np.testing.assert_allclose(quietly(lambda: fit.interval(0.9, method="wald")), wanted, rtol=1e-9)
    margin = fit.collapse({"ab": ["a", "b"]})
    wide = quietly(lambda: margin.interval(0.9, method="wald"))
    np.testing.assert_allclose(wide[0, 1] - margin.w[0], t.ppf(0.95, 12) * margin._se[0], rtol=1e-9)


def test_likelihood_intervals_have_the_length_of_the_design():
    fit = sp.estimate(private(LARGE), sampling=drawn(LARGE))
    wald = fit.interval(method="wald")
    for method in ("auto", "profile", "adjusted"):
        np.testing.assert_allclose(fit.interval(method=method), wald, atol=0.25 * fit.se.max())
    plain = sp.estimate(private(LARGE)).interval()
    ratio = np.diff(fit.interval()) / np.diff(plain)
    np.testing.assert_allclose(ratio.ravel(), np.sqrt(fit.design_effects), rtol=0.15)
    assert (fit.interval(simultaneous=True)[:, 0] < fit.interval()[:, 0]).all()


def test_contrasts_use_t_and_the_design():
    fit = sp.estimate(private(LARGE), sampling=drawn(LARGE))
    wald = fit.contrast({"d": 1, "a": -1}, method="wald")
    score = fit.contrast({"d": 1, "a": -1}, method="score")
    c = np.array([-1, 0, 0, 1])
    assert wald.se == pytest.approx(np.sqrt(c @ fit.cov @ c))
    assert score.zscore == pytest.approx(wald.zscore, rel=0.1)
    from scipy.stats import t

    assert wald.pvalue == pytest.approx(2 * t.sf(abs(wald.zscore), fit.degrees_of_freedom))


# Differences ----------------------------------------------------------------------------------


def test_parts_of_a_sample_are_compared_with_their_clusters():
    whole = drawn(SAMPLE)
    data = seen(SAMPLE)
    one, two = (sp.estimate(data, sampling=whole.within(SAMPLE.group == g)) for g in "xy")
    change = one.difference(two)
    scores = np.zeros((len(SAMPLE.values), 4))
    for fit, group, sign in ((one, "x", 1), (two, "y", -1)):
        inside = SAMPLE.group == group
        total = SAMPLE.weights[inside].sum()
        scores[inside] += sign * ((SAMPLE.values[:, None] == LABELS) - fit.w)[inside] / total
    wanted = whole.covariance(scores)
    np.testing.assert_allclose(quietly(lambda: change.cov), wanted, atol=1e-9)
    np.testing.assert_allclose(quietly(lambda: change.se), np.sqrt(np.diag(wanted)), atol=1e-9)
    assert (change.degrees_of_freedom == 12).all()
    independent = np.hypot(one._se, two._se)
    assert np.abs(change._se / independent - 1).max() > 0.02
    bounds = change.interval()
    assert ((bounds[:, 0] < change.estimate) & (change.estimate < bounds[:, 1])).all()


def test_likelihood_intervals_of_parts_have_the_length_of_the_difference():
    whole = drawn(LARGE)
    data = private(LARGE)
    one, two = (sp.estimate(data, sampling=whole.within(LARGE.group == g)) for g in "xy")
    change = one.difference(two)
    score, wald = change.interval(method="score"), change.interval(method="wald")
    np.testing.assert_allclose(np.diff(score), np.diff(wald), rtol=0.1)


def test_the_same_people_asked_twice():
    whole = drawn(LARGE)
    first, second = (sp.estimate(private(LARGE, seed), sampling=whole) for seed in (1, 2))
    change = first.difference(second, same_people=True)
    apart = sp.estimate(private(LARGE, 2), sampling=drawn(LARGE))  # as if of other people
    assert (change._se < first.difference(apart)._se).all()
    with pytest.raises(MismatchError):
        first.difference(apart, same_people=True)


def test_replicates_of_parts():
    whole = drawn(LARGE).with_replicates("jackknife")
    data = private(LARGE)
    one, two = (sp.estimate(data, sampling=whole.within(LARGE.group == g)) for g in "xy")
    linear = [sp.estimate(data, sampling=drawn(LARGE).within(LARGE.group == g)) for g in "xy"]
    shared = linear[0].difference(sp.estimate(data, sampling=linear[0].sampling.whole.within(LARGE.group == "y")))
    np.testing.assert_allclose(one.difference(two)._se, shared._se, rtol=0.08)


def test_independent_samples_have_satterthwaites_degrees_of_freedom():
    one = sp.estimate(private(LARGE), sampling=drawn(LARGE))
    two = sp.estimate(private(SAMPLE), sampling=drawn(SAMPLE))
    change = one.difference(two)
    np.testing.assert_allclose(change._se, np.hypot(one._se, two._se))
    a, b = one._se**2, two._se**2
    np.testing.assert_allclose(change.degrees_of_freedom, (a + b) ** 2 / (a**2 / 60 + b**2 / 12))
    plain = one.difference(sp.estimate(private(SAMPLE)))
    assert (plain.degrees_of_freedom > 60).all()


def test_differences_have_design_effects():
    whole, data = drawn(LARGE), seen(LARGE)
    one, two = (sp.estimate(data, sampling=whole.within(LARGE.group == g)) for g in "xy")
    change = one.difference(two)
    plain = sum(fit.w * (1 - fit.w) / (fit.survey.people - 1) for fit in (one, two))
    np.testing.assert_allclose(change.design_effects, change.se**2 / plain, rtol=1e-6)
    assert "design effect" in str(change.summary())
    np.testing.assert_allclose(change.to_frame()["design_effect"], change.design_effects)
    assert "design_effect" not in sp.estimate(data).difference(sp.estimate(seen(SAMPLE))).to_dict()


def test_several_groups_are_tested_together_with_their_clusters():
    whole, data = drawn(LARGE), seen(LARGE)
    fits = {g: sp.estimate(data, sampling=whole.within(LARGE.group == g)) for g in "xyz"}
    result = sp.compare(fits)
    total = {g: LARGE.weights[LARGE.group == g].sum() for g in "xyz"}
    is_label = (LARGE.values[:, None] == LABELS)[:, :3]  # the last share follows from the others
    scores = [(is_label - fits[g].w[:3]) * (LARGE.group == g)[:, None] / total[g] for g in "xyz"]
    V = whole.covariance(np.concatenate([scores[1] - scores[0], scores[2] - scores[0]], axis=1))
    d = np.concatenate([fits[g].w[:3] - fits["x"].w[:3] for g in "yz"])
    statistic = d @ np.linalg.solve(V, d)
    from scipy.stats import f

    assert result.test.statistic == pytest.approx(statistic * 55 / (60 * 6), rel=1e-6)
    assert (result.test.df, result.test.denominator_df) == (6, 55)
    assert result.test.pvalue == pytest.approx(f.sf(result.test.statistic, 6, 55), rel=1e-6)
    assert f"F {result.test.statistic:.2f}, df 6 and 55, p " in str(result.summary())
    assert result.to_dict()["test"]["denominator_df"] == 55
    two = sp.compare({g: fits[g] for g in "xy"})
    assert two.test.pvalue == pytest.approx(fits["x"].difference(fits["y"]).pvalue, rel=1e-6)


# What it shows --------------------------------------------------------------------------------


def test_the_summary_says_how_people_were_drawn():
    fit = sp.estimate(private(LARGE), sampling=drawn(LARGE))
    text = str(fit.summary())
    assert f"n = {len(LARGE.values)}, 20 strata, 80 clusters" in text
    assert "design effect" in text
    assert "linearization, with quantiles of t with 60 degrees of freedom" in text
    assert NoteKind.SAMPLING in {note.kind for note in fit.notes}
    facts = fit.to_dict()
    assert facts["degrees_of_freedom"] == 60
    assert facts["people"] == len(LARGE.values)
    np.testing.assert_allclose(facts["design_effect"], fit.design_effects)
    np.testing.assert_allclose(fit.to_frame()["design_effect"], fit.design_effects)
    assert "design_effect" not in sp.estimate(private(LARGE)).to_dict()
    assert str(sp.estimate(private(LARGE), sampling=drawn(LARGE).with_replicates("jackknife")).summary()).count(
        "80 jackknife replicates"
    )


def test_nothing_of_a_person_is_shown():
    weights = LARGE.weights.copy()
    weights[5] = 731.25
    fit = sp.estimate(private(LARGE), sampling=sp.Sampling(weights, strata=[f"secret{h}" for h in LARGE.strata]))
    for text in (repr(fit), str(fit.summary()), str(fit.to_dict()), fit._repr_html_()):
        assert "secret" not in text
        assert "731" not in text


def test_can_be_pickled():
    fit = sp.estimate(private(SAMPLE), sampling=drawn(SAMPLE))
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_allclose(again._se, fit._se)


def test_bad_input():
    data = private(SAMPLE)
    with refused(ArgumentError, "data"):
        sp.estimate(data.counts(), sampling=drawn(SAMPLE))
    with refused(ArgumentError, "sampling"):
        sp.estimate(data, sampling=[1, 2])
    with pytest.raises(MismatchError, match="`sampling` must describe the people of `data`; got 3 rows for"):
        sp.estimate(data, sampling=sp.Sampling([1, 2, 3]))
    with pytest.raises(ArgumentError):
        sp.estimate(data, sampling=sp.Sampling("w"))
    covered = sp.covered(UNIFORM, 0.2)
    with refused(ArgumentError, "sampling"):
        sp.estimate(sp.SubsetData(covered.support()[0][:3], covered), sampling=sp.Sampling([1, 1, 1]))


def test_several_variables():
    both = sp.product({"x": sp.uniform(LABELS), "y": sp.nonprivate(["m", "f"])})
    rng = np.random.default_rng(4)
    other = np.array(["m", "f"])[rng.integers(0, 2, len(LARGE.values))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        data = sp.privatize(list(zip(LARGE.values, other, strict=True)), both, seed=1)
    joint = sp.estimate(data, sampling=drawn(LARGE))
    margin = joint.margin("y")
    is_m = (other == "m").astype(float)
    share = LARGE.weights @ is_m / LARGE.weights.sum()
    score = ((is_m - share) / LARGE.weights.sum())[:, None]
    assert margin.w[0] == pytest.approx(share, abs=1e-6)
    assert margin._se[0] == pytest.approx(np.sqrt(drawn(LARGE).covariance(score)[0, 0]), rel=1e-5)


@every_case(("clusters", "level"), [(2, 0.95), (3, 0.99), (5, 0.999), (2, 0.999)])
def test_intervals_with_few_clusters_are_those_of_t(clusters, level):
    # The level of such a quantile of t, taken as a normal one, rounds to 1, and intervals were infinite.
    from scipy.stats import t

    rng = np.random.default_rng(3)
    values = rng.choice(4, 4000, p=[0.4, 0.3, 0.2, 0.1])
    data = sp.privatize(values, sp.uniform(range(4)), seed=3)
    sampling = sp.Sampling(clusters=np.arange(4000) % clusters)
    fit = sp.estimate(data, sampling=sampling)
    reach = t.ppf(0.5 + level / 2, clusters - 1)
    wald = np.clip(np.column_stack([fit.w - reach * fit.se, fit.w + reach * fit.se]), 0, 1)
    np.testing.assert_allclose(fit.interval(level, method="wald"), wald, rtol=1e-9)
    ends = fit.interval(level, method="profile")
    inside = (wald[:, 0] > 0.02) & (wald[:, 1] < 0.98)
    np.testing.assert_allclose(ends[inside], wald[inside], atol=0.05)
    model = sp.regress(data, {"x": rng.normal(size=4000)}, sampling=sampling)
    half = np.diff(model.interval(level), axis=1)[:, 0] / 2
    np.testing.assert_allclose(half, reach * model.se.ravel(), rtol=1e-9)
    assert np.isfinite(model.predict().interval(level)).all()
