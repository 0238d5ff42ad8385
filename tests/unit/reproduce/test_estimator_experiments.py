"""The experiments about estimators: their pieces against exact answers, and checks that can fail."""

import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from problems import exact_counts, lopsided_conditional, rising
from scipy import stats

import subsetprivacy as sp
from subsetprivacy.errors import MissingDependencyError, NotIdentifiableError, SubsetPrivacyWarning
from subsetprivacy.reproduce import (
    as_printed,
    fig_dist,
    fig_high_1,
    fig_high_2,
    fig_time1,
    fig_time2,
    thm_consistency_mle,
    thm_identi,
    thm_mom_dim,
    thm_normality_mle,
)
from subsetprivacy.reproduce.checks import DIFFERS, ERRATUM, HOLDS, STATED, UNCHECKED
from subsetprivacy.reproduce.experiment import Run
from subsetprivacy.reproduce.limits import moment_limit
from subsetprivacy.reproduce.problems import random_design, random_distribution


def rng(seed=1):
    return np.random.default_rng(seed)


def perform(module, k):
    experiment = module.EXPERIMENT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        return experiment.perform(Run(experiment.label, k=k, quick=True))


def sample(p=6, n=3000, seed=1):
    design, w = random_design(rng(seed), p), random_distribution(rng(seed), p)
    codes = as_printed.people(rng(seed), design, w, n)
    return design, w, codes, as_printed.rows(codes, p), sp.SubsetData(codes, design)


# The estimators as the paper has them ---------------------------------------------------------


def test_people_follow_the_law_of_subsets():
    design, w = lopsided_conditional(), rising(4)
    codes = as_printed.people(rng(), design, w, 200_000)
    law = dict(zip(design.support()[0].tolist(), design.support()[1] * design.support_incidence.inner(w)))
    found = {a: (codes == a).mean() for a in law}
    assert found == pytest.approx(law, abs=0.005)
    assert not (np.diff(codes) >= 0).all(), "people are in random order"


def test_the_papers_moments_and_maxima_are_ours():
    design, _, _, R, data = sample()
    fit = sp.estimate(data)
    assert as_printed.mom(R, design.Q) == pytest.approx(sp.estimate(data, "mom").w, abs=1e-12)
    assert as_printed.em(R)[0] == pytest.approx(fit.w, abs=1e-3)
    assert as_printed.one_step(R, design.Q) == pytest.approx(fit.w, abs=0.01)


def test_em_goes_on_until_it_rests():
    *_, R, _ = sample(p=4)
    w, updates = as_printed.em(R)
    again = w * ((1 / (R @ w)) @ R) / len(R)
    assert np.abs(again - w).max() <= as_printed.EM_CHANGE
    assert as_printed.em(R, max_iter=3)[1] == 3 < updates


def test_the_hessian_of_each_person_adds_up_to_the_matrix_product():
    design, _, _, R, _ = sample(n=200)
    one, two = (as_printed.one_step(R, design.Q, how) for how in (None, as_printed.hessian_by_person))
    assert one == pytest.approx(two, abs=1e-12)


def test_one_step_without_enough_subsets_says_so():
    R = as_printed.rows(np.array([3, 3, 12, 12]), 4)
    with pytest.raises(NotIdentifiableError, match="enough distinct subsets"):
        as_printed.one_step(R, sp.uniform(range(4)).Q)


@pytest.mark.skipif(find_spec("cvxpy") is None, reason="absent: cvxpy (to get it: pip install 'subsetprivacy[conic]')")
def test_cvxpy_over_people_finds_our_maximum():
    *_, R, data = sample(p=4, n=300)
    assert as_printed.cvxpy(R) == pytest.approx(sp.estimate(data).w, abs=1e-3)


def test_without_cvxpy_its_claims_are_not_checked(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingDependencyError, match=r"subsetprivacy\[conic\]"):
        as_printed.cvxpy(np.ones((3, 4)))
    monkeypatch.setattr(fig_time1, "find_spec", lambda name: None)
    verdicts = [check.verdict for check in perform(fig_time1, 2).checks]
    assert verdicts.count(UNCHECKED) == 2


@pytest.mark.parametrize("p", [4, 5, 8, 12])
def test_the_closed_form_is_the_packages(p):
    design = sp.uniform(range(p))
    counts = sp.simulate(design, rising(p), 500, seed=p)
    gamma = counts.incidence.spread(counts.shares)
    assert as_printed.mom_closed_form(gamma) == pytest.approx(sp.estimate(counts, "mom-uniform").w, abs=1e-12)
    assert as_printed.ratio(p) == pytest.approx(1 / design.Q[0, 1])


def test_the_ratio_is_two_where_powers_of_two_are_too_large():
    assert as_printed.ratio(60) == pytest.approx(2, abs=1e-14)
    assert as_printed.ratio(1000) == 2


def test_moment_limit_is_the_covariance_of_one_persons_part():
    design, w = lopsided_conditional(), rising(4)
    codes, mu = design.support()
    parts = np.linalg.solve(design.Q, as_printed.rows(codes, 4).T).T
    law = mu * design.support_incidence.inner(w)
    expected = (parts - w).T @ ((parts - w) * law[:, None])
    assert moment_limit(design, w) == pytest.approx(expected, abs=1e-12)


# fig:dist -------------------------------------------------------------------------------------


def test_the_deviations_of_moments_and_maxima_with_four_categories():
    # gamma_1 is 1/2, and w = (3 gamma - 1)/2: the variance is 9/16 of a person's.
    assert fig_dist.limit_deviations(1000)[0] == pytest.approx(np.sqrt(9 / 16 / 1000))


def test_dist_holds_and_its_checks_can_fail():
    outcome = perform(fig_dist, 200)
    assert not outcome.failed
    assert list(outcome.table) == ["MoM", "MLE", "ONE"]
    normal = rng().normal(size=500)
    wrong = {"moved": normal + 0.3, "wide": 1.3 * normal, "skew": rng().exponential(size=500) - 1}
    at = {"moved": 0, "wide": 1, "skew": 2}
    for name, values in wrong.items():
        assert fig_dist.normal_checks(name, values)[at[name]].verdict == DIFFERS


# fig:high_1, fig:high_2 -----------------------------------------------------------------------


def test_people_of_the_paper():
    assert [fig_high_1.people(p) for p in fig_high_1.CATEGORIES] == [31, 116, 277, 530, 889]


def test_falling_means_must_fall():
    errors = np.full(4, 0.01)
    assert fig_high_1.falling(np.array([0.5, 0.4, 0.41, 0.3]), errors)
    assert not fig_high_1.falling(np.array([0.5, 0.4, 0.5, 0.3]), errors)
    assert not fig_high_1.falling(np.full(4, 0.5), errors)


def test_high_1_has_every_method_and_an_exact_expectation(monkeypatch):
    monkeypatch.setattr(fig_high_1, "CATEGORIES", (4, 8))
    outcome = perform(fig_high_1, 20)
    assert not outcome.failed, [check for check in outcome.checks if check.verdict == DIFFERS]
    assert set(fig_high_1.METHODS) < set(outcome.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        found = np.array([fig_high_1.losses(rng(seed), 6) for seed in range(30)])
    moments = list(fig_high_1.METHODS).index("MoM")
    gap, error = fig_high_1.mean_and_error(found[:, moments] - found[:, -1])
    assert abs(gap) < 4 * error


def test_an_undefined_loss_is_left_out_of_the_mean():
    assert fig_high_1.mean_and_error(np.array([1.0, np.nan, 3.0])) == (2.0, pytest.approx(1.0))


def test_high_2_counts_zeros_and_sees_a_law_that_is_normal_after_all():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        found = np.array([fig_high_2.fixed(rng(seed), (0.001, 0.299, 0.3, 0.4)) for seed in range(40)])
    assert 0.2 < found[:, 1].mean() < 0.8
    assert found[:, 4].mean() <= found[:, 1].mean()
    normal = rng().normal(size=500)
    assert fig_high_2._not_normal("", normal).verdict == DIFFERS
    assert fig_high_2._not_normal("", np.maximum(normal, -0.2)).verdict == HOLDS
    assert fig_high_2._zeros("", np.zeros((5, 5))).verdict == DIFFERS


def test_the_population_of_high_2_is_a_distribution():
    assert fig_high_2.ODD.sum() == pytest.approx(1)
    assert len(fig_high_2.ODD) == 12


# Theorems -------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [4, 6])
def test_random_bits_have_the_uniform_designs_mean(p):
    w, n = rising(p), 40_000
    gamma = thm_mom_dim.mean_indicators(rng(p), w, n)
    assert gamma == pytest.approx(sp.uniform(range(p)).Q @ w, abs=4 * 0.5 / np.sqrt(n))


def test_the_exact_deviation_of_the_closed_form():
    p, n = 6, 50
    design, w = sp.uniform(range(p)), rising(p)
    codes, mu = design.support()
    rows, law = as_printed.rows(codes, p), mu * design.support_incidence.inner(w)
    parts = np.array([as_printed.mom_closed_form(row) for row in rows])
    assert thm_mom_dim.deviations(w, n) ** 2 == pytest.approx(law @ (parts - w) ** 2 / n)


@pytest.mark.parametrize("p", [8, 100])
def test_the_simulated_squared_loss_is_the_expected_one(p):
    found = np.array([thm_mom_dim.losses(rng(seed), p, 200) for seed in range(150)])
    gap, error = fig_high_1.mean_and_error(found[:, 1] - found[:, 3])
    assert abs(gap) < 4 * error


def test_moments_of_many_categories_perform(monkeypatch):
    monkeypatch.setattr(thm_mom_dim, "CATEGORIES", (8, 32, 128))
    outcome = perform(thm_mom_dim, 30)
    assert not outcome.failed, [check for check in outcome.checks if check.verdict == DIFFERS]
    assert {"p", "n", "L1", "L1 predicted", "L2 squared error"} <= set(outcome.table)


def test_a_wrong_rate_differs():
    right = [np.tile([1 / np.log(p), 1 / p, 1 / np.log(p), 1 / p], (20, 1)) for p in thm_mom_dim.CATEGORIES]
    jitter = rng().normal(1, 0.01, size=(len(right), 20, 1))
    n = [thm_mom_dim.people(p, "n = p² (ln p)²") for p in thm_mom_dim.CATEGORIES]
    wrong = [values * [[p**0.1, 1, 1, 1]] * noise for p, values, noise in zip(thm_mom_dim.CATEGORIES, right, jitter)]
    assert {check.verdict for check in thm_mom_dim._predicted("L1", n, wrong, 0, 2)} == {DIFFERS}


def test_the_largest_error_from_n_on():
    assert thm_consistency_mle.largest_from(np.array([[3.0, 1.0, 2.0]])).tolist() == [[3.0, 2.0, 2.0]]


def test_an_estimate_that_does_not_converge_differs():
    sizes = thm_consistency_mle.SIZES
    noise = rng().uniform(0.9, 1.1, size=(20, len(sizes)))
    good, bad = noise / np.sqrt(sizes), noise / np.sqrt(sizes) + 0.01
    assert all(check.verdict in (HOLDS, STATED) for check in thm_consistency_mle._consistent("", good))
    assert {check.verdict for check in thm_consistency_mle._consistent("", bad)} >= {DIFFERS}
    assert thm_consistency_mle._end("", bad, np.full(5, 0.2)).verdict == DIFFERS


def test_growing_samples_perform():
    outcome = perform(thm_consistency_mle, 8)
    assert not outcome.failed
    assert list(outcome.table) == ["population", "path", "n", "error"]
    assert len(outcome.table["n"]) == 2 * 8 * len(thm_consistency_mle.SIZES)


def test_the_limit_law_of_the_maximum_performs():
    outcome = perform(thm_normality_mle, 150)
    assert not outcome.failed, [check for check in outcome.checks if check.verdict == DIFFERS]
    assert [check.verdict for check in outcome.checks].count(ERRATUM) == 2


def test_another_covariance_is_noticed():
    w = np.array(thm_normality_mle.INSIDE)
    limit = sp.estimate(exact_counts(sp.uniform(range(5)), w, 12_000))._cov * 12_000
    drawn = rng().multivariate_normal(np.zeros(5), limit, size=2000, method="eigh")
    for factor, near in ((1.0, True), (1.1, False)):
        distance, bound = thm_normality_mle.covariance_distance(factor * drawn, w)
        assert (distance <= bound) == near


def test_with_an_empty_category_the_maximum_is_not_normal():
    """One empty category meets `boundeddensity`, and `thm_normality_mle` fails: half of the estimates are zero."""
    counts = sp.simulate_many(sp.uniform(range(5)), thm_normality_mle.EDGE, n=2000, size=400, seed=5)
    first = sp.estimate_many(counts).w[:, 0]
    zero = (first < 1e-9).mean()
    assert abs(zero - 0.5) < 4 * 0.5 / np.sqrt(400)
    assert stats.binomtest(int((first < 1e-9).sum()), 400, 0.01).pvalue < 1e-9


@pytest.mark.parametrize(
    ("pairs", "identifiable"),
    [(thm_identi.SQUARE, False), ({(0, 1, 2): 1 / 3, (1, 2, 3): 1 / 3, (2, 3, 0): 1 / 3, (3, 0, 1): 1 / 3}, True)],
)
def test_brute_force_knows_two_designs(pairs, identifiable):
    design = sp.conditional(range(4), pairs)
    codes, mu = design.support()
    far = thm_identi.farthest(as_printed.rows(codes, 4) * mu[:, None])
    assert (far < thm_identi.CLOSE) == identifiable
    assert design.is_identifiable == identifiable


def test_random_conditional_designs_are_of_all_kinds():
    found = np.array([thm_identi.verdicts(rng(seed)) for seed in range(25)])
    assert 0 < found[:, 2].mean() < 1
    assert 0 < found[:, 3].mean() < 1
    assert set(found[:, 0]) <= {4, 5, 6, 7}


def test_a_condition_that_disagrees_differs():
    right = np.array([[5, 8, i % 2, j, j, j, j] for i in range(2) for j in range(2)], float)
    assert DIFFERS not in [check.verdict for check in thm_identi.agreement(right)]
    for column, check in ((4, 0), (5, 1), (6, 2)):
        wrong = right.copy()
        wrong[0, column] = 1 - wrong[0, column]
        assert thm_identi.agreement(wrong)[check].verdict == DIFFERS


def test_identifiability_performs():
    outcome = perform(thm_identi, 20)
    assert not outcome.failed
    assert len(outcome.table["brute force"]) == 20


# Times ----------------------------------------------------------------------------------------

FAST = {"EM": 10.0, fig_time1.CVXPY: 100.0, "MoM": 0.1, "ONE": 20.0, fig_time1.OURS: 0.4, "ours: MoM on counts": 0.3}


def test_orders_and_ratios_of_times_can_fail():
    assert {check.verdict for check in fig_time1.order_checks("", FAST)} == {HOLDS}
    slow = FAST | {"MoM": 50.0, "EM": 200.0}
    assert {check.verdict for check in fig_time1.order_checks("", slow)} == {DIFFERS}
    assert fig_time1._ratio("EM", "100", FAST).verdict == HOLDS
    assert fig_time1._ratio("EM", "100", slow).verdict == DIFFERS
    assert fig_time1.recommendation("", FAST).verdict == ERRATUM
    assert fig_time1.recommendation("", FAST | {fig_time1.OURS: 11.0}).verdict == DIFFERS
    assert fig_time2._similar(8, FAST).verdict == HOLDS
    assert fig_time2._similar(8, FAST | {"ONE": 0.2}).verdict == DIFFERS


def test_a_pause_of_the_machine_does_not_count():
    assert fig_time1.total(np.array([0.1, 0.1, 5.0]), 100) == pytest.approx(10)


def test_updates_of_em_must_grow():
    errors = np.full(3, 5.0)
    assert fig_time2._more_updates(np.array([100.0, 200.0, 300.0]), errors).verdict == HOLDS
    assert fig_time2._more_updates(np.array([300.0, 200.0, 100.0]), errors).verdict == DIFFERS


def test_times_have_a_row_for_every_method(monkeypatch):
    monkeypatch.setattr(fig_time1, "find_spec", lambda name: None)  # the slowest one need not be waited for
    monkeypatch.setattr(fig_time2, "CATEGORIES", (4, 8))
    one, two = perform(fig_time1, 3), perform(fig_time2, 2)
    expected = [name for name in fig_time1.METHODS if name != fig_time1.CVXPY]
    assert one.table["method"] == expected
    assert set(expected) < set(two.table)
    assert two.table["p"] == [4, 8]
