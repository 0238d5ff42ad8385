"""What must not change a regression, and what must change it in a known way."""

import numpy as np
import pytest
from attrs import evolve
from every_case import every_case
from regression_samples import DESIGNS, quietly, sample_of
from scipy.special import ndtri

import subsetprivacy as sp
from subsetprivacy.regression import response
from subsetprivacy.regression.constrained import maximize_with

FOUR = sp.uniform(range(4))
N = 600
EVERY_FAMILY = every_case("family", ["logit", "ordinal"])


@pytest.fixture(scope="module", params=["logit", "ordinal"])
def fitted(request):
    data, X = sample_of(FOUR, N, ordered=request.param == "ordinal")
    return data, X, sp.regress(data, X, family=request.param, method="ml")


def same(one, two, atol=1e-6):
    """Tell whether two fits describe the same model."""
    return (
        abs(one.loglik - two.loglik) < atol
        and np.allclose(one.probabilities, two.probabilities, atol=atol)
        and np.allclose(one.test().statistic, two.test().statistic, atol=1e-4)
    )


@every_case("baseline", [0, 1, 2, 3])
def test_the_baseline_does_not_matter(baseline):
    data, X = sample_of(FOUR, N)
    one, two = sp.regress(data, X), sp.regress(data, X, baseline=baseline)
    assert same(one, two)
    assert two.baseline == baseline
    likely, other = (sp.regress(data, X, method="ml", baseline=each) for each in (None, baseline))
    assert np.allclose(likely.test(method="wald").statistic, other.test(method="wald").statistic, rtol=1e-4)
    assert two.specification.statistic[0] == pytest.approx(one.specification.statistic[0], rel=1e-4)
    assert np.allclose(one.predict(X[:5]).se, two.predict(X[:5]).se, atol=1e-6)


def test_relabelling_categories_permutes_predictions():
    """The lopsided design tells positions apart."""
    design = DESIGNS["independent"]()
    data, X = sample_of(design, N)
    order = [2, 0, 3, 1]
    codes = sum(((data.codes >> j) & 1) << order.index(j) for j in range(4))
    listed = {
        tuple(order.index(j) for j in pair): share for pair, share in {(0, 1): 0.5, (0, 2): 0.3, (0, 3): 0.2}.items()
    }
    moved = sp.SubsetData(codes, sp.independent(range(4), listed))
    one, two = quietly(data, X), quietly(moved, X)
    assert one.loglik == pytest.approx(two.loglik, abs=1e-6)
    assert np.allclose(one.probabilities[:, order], two.probabilities, atol=1e-5)


def test_reversing_ordered_categories_turns_the_slopes_round():
    data, X = sample_of(FOUR, N, ordered=True)
    codes = sum(((data.codes >> j) & 1) << (3 - j) for j in range(4))
    one = sp.regress(data, X, family="ordinal")
    two = sp.regress(sp.SubsetData(codes, FOUR), X, family="ordinal")
    assert np.allclose(one.coef, -two.coef, atol=1e-6)
    assert np.allclose(one.cutpoints, -two.cutpoints[::-1], atol=1e-6)
    assert np.allclose(one.se, two.se, atol=1e-6)


@EVERY_FAMILY
def test_a_frequency_weight_of_two_is_the_row_twice(family):
    data, X = sample_of(FOUR, N, ordered=family == "ordinal")
    times = np.random.default_rng(1).integers(0, 3, N)
    weighted = sp.regress(data, X, family=family, weights=times, weights_kind="frequency")
    again = sp.SubsetData(np.repeat(data.codes, times), FOUR)
    repeated = sp.regress(again, np.repeat(X, times, axis=0), family=family)
    assert weighted.n == repeated.n == times.sum()
    assert weighted.loglik == pytest.approx(repeated.loglik, abs=1e-7)
    for name in ("estimates", "cov", "robust"):
        assert np.allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-6)
    assert weighted.fit.method == repeated.fit.method == "corrected"
    assert weighted.specification.statistic[0] == pytest.approx(repeated.specification.statistic[0], rel=1e-5)
    assert np.allclose(weighted.effects().estimate, repeated.effects().estimate, atol=1e-6)
    assert np.allclose(weighted.adjusted("x1").estimate, repeated.adjusted("x1").estimate, atol=1e-6)
    assert weighted.adjusted("x1").rows == repeated.adjusted("x1").rows


def test_sampling_weights_have_no_scale():
    data, X = sample_of(FOUR, N)
    weights = np.random.default_rng(1).uniform(0.5, 3, N)
    one, two = (sp.regress(data, X, weights=c * weights, weights_kind="sampling") for c in (1.0, 1000.0))
    assert np.allclose(one.coef, two.coef, atol=1e-7)
    assert np.allclose(one.se, two.se, atol=1e-7)


def test_equal_sampling_weights_are_none_with_robust_errors():
    data, X = sample_of(FOUR, N)
    plain = sp.regress(data, X)
    weighted = sp.regress(data, X, weights=np.full(N, 7.0), weights_kind="sampling")
    assert np.allclose(plain.coef, weighted.coef, atol=1e-6)
    assert np.allclose(plain.robust, weighted.cov, atol=1e-6)
    assert weighted.n == pytest.approx(N)


def test_clusters_of_one_are_the_sandwich():
    data, X = sample_of(FOUR, N)
    alone = sp.regress(data, X, clusters=np.arange(N))
    assert np.allclose(alone.cov, sp.regress(data, X).robust * N / (N - 1), atol=1e-6)


def test_everyone_twice_in_a_cluster_doubles_the_variance():
    data, X = sample_of(FOUR, N)
    codes, both = np.tile(data.codes, 2), np.tile(X, (2, 1))
    once = sp.regress(data, X, clusters=np.arange(N))
    twice = sp.regress(sp.SubsetData(codes, FOUR), both, clusters=np.tile(np.arange(N), 2))
    assert np.allclose(once.cov, twice.cov, atol=1e-6)


@EVERY_FAMILY
def test_an_offset_of_a_covariate_moves_its_slope_by_one(family):
    data, X = sample_of(FOUR, N, ordered=family == "ordinal")
    plain, moved = sp.regress(data, X, family=family), sp.regress(data, X, family=family, offset=X[:, 0])
    slope = (slice(None), 1) if family == "logit" else 0
    assert np.allclose(moved.coef[slope], plain.coef[slope] - 1, atol=1e-6)
    assert moved.loglik == pytest.approx(plain.loglik, abs=1e-7)
    assert np.allclose(moved.probabilities, plain.probabilities, atol=1e-6)
    assert np.allclose(moved.se, plain.se, atol=1e-6)


def test_people_who_are_alike_may_be_grouped(monkeypatch):
    rng = np.random.default_rng(1)
    n = 20_000
    X = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 2, n)])
    data = sp.privatize(rng.integers(0, 4, n).tolist(), FOUR, seed=1)
    grouped = sp.regress(data, X)
    assert len(grouped.problem.blocks) <= 3 * 2 * 6
    monkeypatch.setattr(response, "grouped", lambda sample: sample)
    apart = sp.regress(data, X)
    assert len(apart.problem.blocks) == n
    assert grouped.loglik == pytest.approx(apart.loglik, abs=1e-6)
    for name in ("estimates", "cov", "robust"):
        assert np.allclose(getattr(grouped, name), getattr(apart, name), atol=1e-7)
    assert grouped.specification.statistic[0] == pytest.approx(apart.specification.statistic[0], rel=1e-6)
    assert np.allclose(grouped.effects().se, apart.effects().se, atol=1e-8)


@every_case("shrink", [False, True])
@EVERY_FAMILY
def test_scale_and_shift_of_covariates_do_not_matter(family, shrink):
    data, X = sample_of(FOUR, N, ordered=family == "ordinal")
    moved = X * [1000.0, 0.01] + [-50.0, 3.0]
    one, two = (sp.regress(data, Z, family=family, shrink=shrink) for Z in (X, moved))
    assert one.loglik == pytest.approx(two.loglik, abs=1e-6)
    assert np.allclose(one.probabilities, two.probabilities, atol=1e-6)
    first = (slice(None), slice(1, None)) if family == "logit" else slice(None)
    assert np.allclose(one.coef[first], two.coef[first] * [1000.0, 0.01], atol=1e-5)
    assert np.allclose(one.se[first], two.se[first] * [1000.0, 0.01], rtol=1e-4)


@every_case("name", DESIGNS)
@EVERY_FAMILY
def test_no_slopes_is_the_estimate(name, family):
    design = DESIGNS[name]()
    data, _ = sample_of(design, N, seed=3)
    table = {"y": data.codes, "x": np.zeros(N)}
    fit = quietly("y ~ 1", table, designs={"y": design}, family=family, method="ml")
    estimate = sp.estimate(data)
    shares = fit.predict({"x": [0.0]})
    assert np.allclose(shares.estimate[0], estimate.w, atol=1e-5)
    assert np.allclose(shares.se[0], estimate.se, rtol=0.05)  # observed against expected information
    corrected = quietly("y ~ 1", table, designs={"y": design}, family=family).predict({"x": [0.0]})
    assert np.allclose(corrected.estimate[0], estimate.w, atol=1e-5)
    assert np.allclose(corrected.se[0], estimate.se, rtol=0.1)
    assert fit.loglik == pytest.approx(fit.null_loglik, abs=1e-6)


def test_a_saturated_factor_is_an_estimate_for_each_group():
    rng = np.random.default_rng(1)
    group = rng.choice(["a", "b", "c"], 1500)
    data, _ = sample_of(FOUR, 1500, seed=2)
    fit = sp.regress("y ~ group", {"y": data.codes, "group": group}, designs={"y": FOUR})
    shares = fit.predict({"group": ["a", "b", "c"]}).estimate
    for k, name in enumerate("abc"):
        alone = sp.estimate(sp.SubsetData(data.codes[group == name], FOUR))
        assert np.allclose(shares[k], alone.w, atol=1e-5)


@EVERY_FAMILY
def test_full_sets_change_nothing_but_their_number(family):
    data, X = sample_of(FOUR, N, ordered=family == "ordinal")
    plain = sp.regress(data, X, family=family)
    codes = np.concatenate([[15, 15, 15], data.codes])
    more = sp.regress(sp.SubsetData(codes, FOUR), np.vstack([X[:3] * 100, X]), family=family)
    assert more.n_missing == 3
    assert more.n == plain.n == N
    assert np.array_equal(more.estimates, plain.estimates)
    assert np.array_equal(more.cov, plain.cov)
    assert more.probabilities.shape == (N, 4)
    assert np.allclose(more.effects().estimate, plain.effects().estimate, atol=1e-8)
    assert more.adjusted("x1").to_dict() == plain.adjusted("x1").to_dict()
    assert any("is the full set" in note.text for note in more.notes)


def test_the_likelihood_never_falls(monkeypatch):
    data, X = sample_of(FOUR, N)
    seen = []
    fit_sample = response.fit_sample
    monkeypatch.setattr(
        response, "fit_sample", lambda *args, **options: fit_sample(*args, **{**options, "on_step": seen.append})
    )
    fit = sp.regress(data, X, method="ml")
    assert fit.loglik >= fit.null_loglik
    assert seen[-1] >= max(seen) - 1e-6


def test_profile_ends_drop_by_half_a_chi_square(fitted):
    _, _, fit = fitted
    ends = fit.interval(0.9, method="profile")
    objective = fit.problem.objective()
    at = len(fit.estimates) - 1
    for end in ends[at]:
        there = maximize_with(objective, fit.fit.theta, np.array([at]), np.array([end]))
        assert 2 * (fit.loglik - there.value) == pytest.approx(ndtri(0.95) ** 2, rel=1e-4)
    wald = fit.interval(0.9)
    slopes = slice(3, None) if fit.family == "ordinal" else slice(None)
    assert np.allclose(ends[slopes], wald[slopes], rtol=0.5, atol=0.5)
    assert not np.allclose(ends[slopes], wald[slopes], atol=1e-6)


def test_likelihood_ratio_is_the_difference_of_two_fits(fitted):
    data, X, fit = fitted
    smaller = sp.regress(data, {"x1": X[:, 0]}, family=fit.family, method="ml")
    test = fit.test("x2", method="lr")
    assert test.statistic[0] == pytest.approx(2 * (fit.loglik - smaller.loglik), abs=1e-5)
    assert fit.compare(smaller).statistic[0] == pytest.approx(test.statistic[0], abs=1e-5)
    assert fit.compare(smaller).df[0] == test.df[0] == (3 if fit.family == "logit" else 1)


def test_wald_tests_are_quadratic_forms(fitted):
    _, _, fit = fitted
    last = [k for k, (_, term) in enumerate(fit.labels) if term == "x2"]
    for method, cov in (("wald", fit.cov), ("robust", fit.robust)):
        b = fit.estimates[last]
        expected = b @ np.linalg.solve(cov[np.ix_(last, last)], b)
        assert fit.test("x2", method=method).statistic[0] == pytest.approx(expected)


def test_effects_and_predictions_by_numerical_differentiation(fitted):
    """The delta method: gradients in the parameters by differences."""
    _, X, fit = fitted
    at = X[:2]

    def changed(theta):
        other = evolve(fit, fit=evolve(fit.fit, theta=theta))
        return np.concatenate([other.predict(at).estimate.ravel(), other.effects().estimate.ravel()])

    theta, step = fit.fit.theta, 1e-5
    moves = step * np.eye(len(theta))
    gradient = np.array([(changed(theta + move) - changed(theta - move)) / (2 * step) for move in moves]).T
    errors = np.sqrt(np.einsum("ij,jk,ik->i", gradient, fit.cov, gradient))
    assert np.allclose(np.concatenate([fit.predict(at).se.ravel(), fit.effects().se.ravel()]), errors, rtol=1e-4)


def test_effects_are_mean_derivatives_and_add_up_to_zero(fitted):
    _, X, fit = fitted
    step = 1e-4
    move = np.array([step, 0.0])
    up, down = (fit.predict(X + sign * move).estimate for sign in (1, -1))
    effects = fit.effects()
    assert np.allclose(effects.estimate[0], (up - down).mean(axis=0) / (2 * step), atol=1e-6)
    assert np.abs(effects.estimate.sum(axis=1)).max() < 1e-10
    one, zero = (fit.predict(np.column_stack([X[:, 0], np.full(N, value)])).estimate for value in (1.0, 0.0))
    assert np.allclose(effects.estimate[1], (one - zero).mean(axis=0), atol=1e-10)


def test_posterior_and_categories(fitted):
    data, _, fit = fitted
    with pytest.warns(sp.errors.NotPrivateWarning, match="guesses about individuals"):
        posterior = fit.posterior()
    members = (data.codes[:, None] >> np.arange(4)) & 1
    assert np.allclose(posterior.sum(axis=1), 1)
    assert (posterior[members == 0] == 0).all()
    assert fit.predict(kind="category") == fit.probabilities.argmax(axis=1).tolist()


def test_the_same_data_give_the_same_fit():
    data, X = sample_of(FOUR, 120)
    one, two = quietly(data, X, method="ml"), quietly(data, X, method="ml")
    assert np.array_equal(one.fit.theta, two.fit.theta)
    assert one.fit.starts > 1
