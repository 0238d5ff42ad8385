"""Covariances: of the likelihood methods, of the moment methods, and under sampling weights."""

import numpy as np
import pytest
from every_case import every_case
from problems import exact_counts, lopsided, lopsided_conditional, quietly, with_full_question
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, NotUniqueWarning, TooLargeError, UnknownDesignError
from subsetprivacy.estimation.likelihood import (
    expected_information,
    observed_information,
    score,
    tangent_inverse,
)
from subsetprivacy.subsets import bits

W5 = np.array([0.1, 0.1, 0.2, 0.2, 0.4])
U5 = sp.uniform(range(5))
METHODS_WITH_WEIGHTS = ("mle", "em", "one-step", "mom", "mom-uniform", "mom-conditional")


# The inverse on the simplex -----------------------------------------------------------------------


@every_case(
    ("design", "w"),
    [
        (U5, W5),
        (lopsided(), [0.1, 0.2, 0.3, 0.4]),
        (lopsided_conditional(), [0.4, 0.3, 0.2, 0.1]),
        (sp.nonprivate(range(3)), [0.2, 0.3, 0.5]),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_tangent_inverse_in_three_forms(design, w):
    w = np.array(w)
    information = expected_information(design, w)
    p = design.p
    B = np.vstack([np.eye(p - 1), -np.ones(p - 1)])  # w = alpha + B theta (`llh`)
    in_theta = B @ np.linalg.inv(B.T @ information @ B) @ B.T
    assert tangent_inverse(information) == pytest.approx(in_theta, rel=1e-9, abs=1e-12)
    # I(w) w = 1 on the simplex, so the constraint takes ww' off the plain inverse.
    assert information @ w == pytest.approx(np.ones(p))
    assert np.linalg.inv(information) - np.outer(w, w) == pytest.approx(in_theta, rel=1e-9, abs=1e-12)


def test_tangent_inverse_of_a_sample_without_privacy_is_multinomial():
    w = np.array([0.2, 0.3, 0.5])
    limit = tangent_inverse(expected_information(sp.nonprivate(range(3)), w))
    assert limit == pytest.approx(np.diag(w) - np.outer(w, w))


def test_lost_directions_are_infinite_and_only_those():
    # a and b, c and d cannot be told apart; e can. An eigenvector of the lost part must not mix with the ones.
    rows = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]], float)
    L = np.array([0.4, 0.4, 0.2])
    covariance = tangent_inverse((rows.T / L) @ rows)
    assert np.isinf(np.diag(covariance)[:4]).all()
    assert covariance[4, 4] == pytest.approx(0.2 * 0.8)
    assert np.isnan(covariance[0, 4])


def test_a_category_that_the_sample_does_determine_keeps_its_error():
    answers = [{"a", "b"}] * 40 + [{"c", "d"}] * 40 + [{"e"}] * 20
    with pytest.warns(NotUniqueWarning, match="Not unique"):
        fit = sp.estimate(sp.count(answers, categories=list("abcde")))
    assert np.isinf(fit.se[:4]).all()
    assert fit.se[4] == pytest.approx(np.sqrt(0.2 * 0.8 / 100))
    with quietly():
        assert fit.interval(method="wald")[0] == pytest.approx([0, 1])
    assert fit.interval()[0, 1] < 0.5  # what a and b have together is known
    assert fit.loss_quantile() == np.inf
    assert fit.contrast({"e": 1}).se == pytest.approx(fit.se[4])
    assert fit.contrast({"a": 1}).se == np.inf
    assert "inf" in str(fit.summary())


# Observed and expected ----------------------------------------------------------------------------


@every_case(
    ("design", "w", "n"),
    [
        (U5, W5, 100),
        (lopsided(), [0.1, 0.2, 0.3, 0.4], 100),
        (lopsided_conditional(), [0.1, 0.2, 0.3, 0.4], 100),
        (with_full_question(), [0.1, 0.2, 0.3, 0.4], 100),
    ],
    ids=["uniform", "independent", "conditional", "full question"],
)
def test_both_informations_are_one_at_expected_counts(design, w, n):
    counts = exact_counts(design, w, n)
    observed = observed_information(counts.incidence, counts.shares, np.array(w))
    # Of an informative answer: full sets are no part of the shares, nor of the expectation.
    assert observed == pytest.approx(expected_information(design, np.array(w)))


def test_both_informations_agree_at_large_n():
    counts = sp.simulate(U5, W5, 2_000_000, seed=1)
    fits = [sp.estimate(counts, information=kind) for kind in ("observed", "expected")]
    assert fits[0].cov == pytest.approx(fits[1].cov, rel=0.01, abs=1e-11)
    assert not np.array_equal(fits[0].cov, fits[1].cov)


def test_the_score_is_the_derivative_and_the_information_the_curvature():
    counts = sp.simulate(U5, W5, 500, seed=2)
    inc, f, h = counts.incidence, counts.shares, 1e-6
    for j in range(5):
        step = h * np.eye(5)[j]
        slope = (f @ np.log(inc.inner(W5 + step)) - f @ np.log(inc.inner(W5 - step))) / (2 * h)
        assert score(inc, f, W5)[j] == pytest.approx(slope, rel=1e-7)
        curve = (score(inc, f, W5 - step) - score(inc, f, W5 + step)) / (2 * h)
        assert observed_information(inc, f, W5)[j] == pytest.approx(curve, rel=1e-6)


@every_case("method", ["mle", "em", "icm", "one-step"])
def test_expected_information_is_refused_without_a_design(method):
    coarse = sp.count([{"a", "b"}, {"b", "c"}, {"a", "c"}] * 5, categories=list("abc"))
    with pytest.raises(UnknownDesignError):
        sp.estimate(coarse, method, information="expected")


@pytest.mark.parametrize("method", ["mle", "one-step"])
def test_expected_information_is_refused_beyond_22_categories(method):
    large = sp.simulate(sp.uniform(range(30)), np.full(30, 1 / 30), 3000, seed=1)
    with pytest.raises(TooLargeError):
        sp.estimate(large, method, information="expected")


def test_expected_information_of_a_subset_without_weight_counts_as_one_person():
    design = sp.uniform(list("abcd"))
    codes = design.support()[0]
    counts = sp.SubsetCounts(codes, np.where(codes == 3, 0, 10), design)  # nobody reported {a, b}
    fit = sp.estimate(counts, information="expected")
    assert fit.w[:2] == pytest.approx([0, 0], abs=1e-12)
    # The information of a subset that has probability 0 and can be reported would be infinite; it has that of 1/n.
    with quietly():
        assert fit.cov == pytest.approx(tangent_inverse(expected_information(design, fit.w, floor=1 / 50)) / 50)
        assert (fit.se > 0).all()
        assert (fit.se[:2] < sp.estimate(counts).se[:2]).all()  # it knows that ab could have been seen, and was not


def test_unknown_information_is_refused():
    with refused(ArgumentError, "information"):
        sp.estimate(sp.simulate(U5, W5, 100, seed=1), information="fisher")


# Against simulation -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mle", "one-step", "mom", "mom-uniform", "mom-conditional"])
def test_standard_errors_are_those_of_replications(method):
    # 1000 replications: the standard error of a standard deviation is 2.2 %, and 9 % is four of them.
    samples = sp.simulate_many(U5, W5, 3000, 1000, seed=7)
    fits = sp.estimate_many(samples, method)
    assert fits.se.mean(axis=0) == pytest.approx(fits.w.std(axis=0), rel=0.09)


def test_covariances_of_moments_are_those_of_replications():
    samples = sp.simulate_many(lopsided(), [0.1, 0.2, 0.3, 0.4], 500, 4000, seed=8)
    fits = sp.estimate_many(samples, "mom")
    empirical = np.cov(fits.w.T)
    mean = np.mean([fit._cov for fit in fits], axis=0)
    assert mean == pytest.approx(empirical, abs=0.08 * np.diag(empirical).max())


# Sampling weights ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    return sp.privatize(rng.choice(5, 2000, p=W5), U5, seed=rng)


@every_case("method", METHODS_WITH_WEIGHTS)
def test_equal_weights_are_no_weights(method, people):
    plain = sp.estimate(people, method)
    weighted = sp.estimate(sp.count(people, weights=np.full(len(people), 2.5), weights_kind="sampling"), method)
    assert weighted.w == pytest.approx(plain.w, abs=1e-9)
    assert weighted.n == pytest.approx(len(people))
    # Moments given the questions square the residuals instead of taking their expectation; a sandwich of the
    # one-step estimator is not at the maximum.
    exact = method not in ("mom-conditional", "one-step")
    assert weighted.se == pytest.approx(plain.se, rel=1e-6 if exact else 0.03)


@every_case("method", METHODS_WITH_WEIGHTS)
def test_the_scale_of_weights_does_not_matter(method, people):
    weights = np.random.default_rng(2).gamma(2.0, size=len(people))
    fits = [
        sp.estimate(sp.count(people, weights=scale * weights, weights_kind="sampling"), method)
        for scale in (1.0, 1000.0)
    ]
    assert fits[1].w == pytest.approx(fits[0].w, abs=1e-8)
    assert fits[1].cov == pytest.approx(fits[0].cov, rel=1e-5, abs=1e-12)
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert fits[0].n == pytest.approx(kish)
    assert fits[1].n == pytest.approx(kish)
    assert kish < 0.8 * len(people)
    assert fits[0].summary().title.endswith(f"effective n = {kish:,.0f}")


def test_weighted_moments_by_hand(people):
    # Weights that depend on the subset: the covariance is the weighted sum of outer squares about the weighted mean.
    weights = 1.0 + people.codes % 7
    fit = sp.estimate(sp.count(people, weights=weights, weights_kind="sampling"), "mom")
    rows = bits(people.codes, 5)
    share = weights / weights.sum()
    residual = rows - share @ rows
    inverse = np.linalg.inv(U5.Q)
    assert fit.w == pytest.approx(inverse @ (share @ rows))
    assert fit.cov == pytest.approx(inverse @ ((residual.T * share**2) @ residual) @ inverse)


def test_weighted_moments_given_the_questions_by_hand(people):
    weights = 1.0 + people.codes % 7
    fit = sp.estimate(sp.count(people, weights=weights, weights_kind="sampling"), "mom-conditional")
    yes = bits(people.codes, 5)
    no = 1 - yes
    share = weights / weights.sum()
    Q = (yes.T * share) @ yes + (no.T * share) @ no
    assert fit.w == pytest.approx(np.linalg.solve(Q, share @ yes))
    L = yes @ fit.w
    residual = yes - L[:, None] * yes - (1 - L)[:, None] * no  # what was seen, less what the question made expected
    inverse = np.linalg.inv(Q)
    assert fit.cov == pytest.approx(inverse @ ((residual.T * share**2) @ residual) @ inverse)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mle", "mom", "mom-conditional"])
def test_sandwich_errors_are_those_of_replications(method):
    # People with value j have weight 1 or 3 by a coin: the estimate stays centered, its error grows.
    rng = np.random.default_rng(5)
    estimates, errors = [], []
    for _ in range(600):
        data = sp.privatize(rng.choice(5, 800, p=W5), U5, seed=rng)
        fit = sp.estimate(sp.count(data, weights=rng.choice([1.0, 3.0], 800), weights_kind="sampling"), method)
        estimates.append(fit.w)
        errors.append(fit._se)
    assert np.mean(estimates, axis=0) == pytest.approx(W5, abs=0.01)
    # 600 replications: the standard error of a standard deviation is 2.9 %.
    assert np.mean(errors, axis=0) == pytest.approx(np.std(estimates, axis=0), rel=0.15)


def test_a_bootstrap_refuses_sampling_weights(people):
    fit = sp.estimate(sp.count(people, weights=np.ones(len(people)), weights_kind="sampling"))
    with pytest.raises(ArgumentError):
        fit.interval(method="bootstrap")


@pytest.mark.parametrize("method", ["profile", "adjusted"])
def test_weights_that_are_all_the_same_change_no_interval(people, method):
    plain = sp.estimate(sp.count(people)).interval(method=method)
    weighted = sp.estimate(sp.count(people, weights=np.full(len(people), 3.0), weights_kind="sampling"))
    assert weighted.interval(method=method) == pytest.approx(plain, abs=1e-7)


def test_a_label_that_nobody_reported_widens_no_error():
    answers = [{"a"}] * 35 + [{"b"}] * 35 + [{"a", "b"}] * 30
    two = sp.estimate(sp.count(answers, categories=["a", "b"]))
    three = sp.estimate(sp.count(answers, categories=["a", "b", "c"]))
    with quietly():
        assert three.se[:2] == pytest.approx(two.se)
        assert three.se[2] > 0


def test_two_categories_that_nothing_tells_apart_have_no_errors():
    with quietly():
        assert np.isinf(sp.estimate(sp.SubsetCounts([3], [1], sp.uniform(list("abcde")))).se).all()
