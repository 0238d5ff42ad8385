"""The experiments about estimators: their pieces against exact answers, and checks that can fail."""

import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from effort import calls
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import exact_shares, lopsided_conditional, rising
from scipy import stats
from scipy.stats import binom

import subsetprivacy as sp
from subsetprivacy.draw import quantiles
from subsetprivacy.errors import MissingDependencyError, NotIdentifiableError, SubsetPrivacyWarning
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.examples import adult
from subsetprivacy.reproduce import (
    as_printed,
    fig_dist,
    fig_high_1,
    fig_high_2,
    fig_time1,
    fig_time2,
    gen_mom,
    one_step,
    thm_consistency_mle,
    thm_identi,
    thm_mom_dim,
    thm_normality_mle,
    timing,
)
from subsetprivacy.reproduce.checks import DIFFERS, ERRATUM, HOLDS, NOT_MEASURED, STATED, UNCHECKED
from subsetprivacy.reproduce.experiment import Run
from subsetprivacy.reproduce.simulations import (
    covariance_check,
    falling,
    law_check,
    mean_and_error,
    moment_limit,
    normal_checks,
    random_design,
    random_distribution,
    whitener,
)
from subsetprivacy.subsets import bits


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
    return design, w, codes, bits(codes, p), sp.SubsetData(codes, design)


# The estimators as the paper has them ---------------------------------------------------------


def test_people_follow_the_law_of_subsets():
    design, w = lopsided_conditional(), rising(4)
    codes = as_printed.people(rng(), design, w, 200_000)
    law = dict(zip(design.support()[0].tolist(), design.support()[1] * design.support_incidence.inner(w)))
    result = {a: (codes == a).mean() for a in law}
    assert result == pytest.approx(law, abs=0.005)
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
    R = bits(np.array([3, 3, 12, 12]), 4)
    with pytest.raises(NotIdentifiableError):
        as_printed.one_step(R, sp.uniform(range(4)).Q)


@pytest.mark.skipif(find_spec("cvxpy") is None, reason='absent: cvxpy (to get it: pip install ".[conic]")')
def test_cvxpy_over_people_finds_our_maximum():
    *_, R, data = sample(p=4, n=300)
    assert as_printed.cvxpy(R) == pytest.approx(sp.estimate(data).w, abs=1e-3)


def test_without_cvxpy_its_claims_are_not_checked(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingDependencyError):
        as_printed.cvxpy(np.ones((3, 4)))
    monkeypatch.setattr(timing, "find_spec", lambda name: None)
    unchecked = [check for check in perform(fig_time1, 2).checks if check.note == timing.HOW]
    assert [check.verdict for check in unchecked] == [UNCHECKED] * 2


@every_case("p", [4, 5, 8, 12])
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
    parts = np.linalg.solve(design.Q, bits(codes, 4).T).T
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
        assert normal_checks(name, values)[at[name]].verdict == DIFFERS


# fig:high_1, fig:high_2 -----------------------------------------------------------------------


def test_people_of_the_paper():
    assert [fig_high_1.people(p) for p in fig_high_1.CATEGORIES] == [31, 116, 277, 530, 889]


def test_falling_means_must_fall():
    errors = np.full(4, 0.01)
    assert falling(np.array([0.5, 0.4, 0.41, 0.3]), errors)
    assert not falling(np.array([0.5, 0.4, 0.5, 0.3]), errors)
    assert not falling(np.full(4, 0.5), errors)


def test_high_1_has_every_method_and_an_exact_expectation(monkeypatch):
    monkeypatch.setattr(fig_high_1, "CATEGORIES", (4, 8))
    monkeypatch.setattr(fig_high_1, "FEW", (4, 7, 16))
    outcome = perform(fig_high_1, 20)
    assert not outcome.failed, [check for check in outcome.checks if check.verdict == DIFFERS]
    assert set(fig_high_1.METHODS) < set(outcome.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        result = np.array([fig_high_1.losses(rng(seed), 6) for seed in range(30)])
    moments = list(fig_high_1.METHODS).index("MoM")
    gap, error = mean_and_error(result[:, moments] - result[:, -1])
    assert abs(gap) < 4 * error


def test_few_people_leave_directions_unseen():
    shares = [fig_high_1.deficient(rng(seed), 6) for seed in range(3)]
    assert all(len(share) == len(fig_high_1.FEW) for share in shares)
    right = np.repeat([[1.0, 1, 1, 1, 0], [1, 0, 0, 0, 0]], (10, 30), axis=0)
    assert fig_high_1.few_people(right).verdict == HOLDS
    for wrong in (np.zeros((40, 5)), np.ones((40, 5)), right[:, ::-1]):
        assert fig_high_1.few_people(wrong).verdict == DIFFERS


def test_ten_people_never_see_eleven_directions():
    assert fig_high_1.deficient(rng(), 12)[0] == 1
    assert fig_high_1.FEW[1] == 12 - 1


def test_an_undefined_loss_is_left_out_of_the_mean():
    assert mean_and_error(np.array([1.0, np.nan, 3.0])) == (2.0, pytest.approx(1.0))


def test_high_2_counts_zeros_and_sees_a_law_that_is_normal_after_all():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        result = np.array([fig_high_2.fixed(rng(seed), (0.001, 0.299, 0.3, 0.4)) for seed in range(40)])
    assert 0.2 < result[:, 1].mean() < 0.8
    assert result[:, 4].mean() <= result[:, 1].mean()
    normal = rng().normal(size=500)
    assert fig_high_2.not_normal("", normal).verdict == DIFFERS
    assert fig_high_2.not_normal("", np.maximum(normal, -0.2)).verdict == HOLDS
    assert fig_high_2.zeros("", np.zeros((5, 6))).verdict == DIFFERS


def test_the_histogram_over_random_populations_looks_normal_and_has_zeros():
    """`fig:high_2`: with random populations only the exact zeros show that the maximum is not normal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        result = np.array([fig_high_2.anew(rng(seed), fig_high_2.P) for seed in range(40)])
    assert fig_high_2.blended(result).verdict == ERRATUM
    lumps = result.copy()
    lumps[:, 0] = np.maximum(lumps[:, 0], 0)
    assert fig_high_2.blended(lumps).verdict == DIFFERS, "a shape that is not normal"
    lumps = result.copy()
    lumps[:, 1] = 0
    assert fig_high_2.blended(lumps).verdict == DIFFERS, "no zeros"


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
    rows, law = bits(codes, p), mu * design.support_incidence.inner(w)
    parts = np.array([as_printed.mom_closed_form(row) for row in rows])
    assert thm_mom_dim.deviations(w, n) ** 2 == pytest.approx(law @ (parts - w) ** 2 / n)


@pytest.mark.parametrize("p", [8, 100])
def test_the_simulated_squared_loss_is_the_expected_one(p):
    result = np.array([thm_mom_dim.losses(rng(seed), p, 200) for seed in range(150)])
    gap, error = mean_and_error(result[:, 1] - result[:, 3])
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


def test_another_covariance_or_law_is_noticed():
    w = np.array(thm_normality_mle.INSIDE)
    limit = limit_covariance(sp.uniform(range(5)), w)
    drawn = rng().multivariate_normal(np.zeros(5), limit, size=2000, method="eigh") @ whitener(limit)
    assert drawn.shape == (2000, 4), "the sum of the shares does not vary"
    for factor, verdict in ((1.0, HOLDS), (1.1, DIFFERS)):
        assert covariance_check("", factor * drawn).verdict == verdict
        assert law_check("", factor * (drawn**2).sum(axis=1), stats.chi2(4).cdf).verdict == verdict


def test_with_an_empty_category_the_maximum_is_not_normal():
    """One empty category meets `boundeddensity`, and `thm_normality_mle` fails: half of the estimates are zero."""
    counts = sp.simulate_many(sp.uniform(range(5)), thm_normality_mle.EDGE, n=2000, size=400, seed=5)
    first = sp.estimate_many(counts).w[:, 0]
    zero = (first < 1e-9).mean()
    assert abs(zero - 0.5) < 4 * 0.5 / np.sqrt(400)
    assert stats.binomtest(int((first < 1e-9).sum()), 400, 0.01).pvalue < 1e-9


def test_the_limit_law_of_moments_performs():
    outcome = perform(gen_mom, 100)
    assert not outcome.failed, [check for check in outcome.checks if check.verdict == DIFFERS]
    assert [check.verdict for check in outcome.checks].count(ERRATUM) == 1
    assert list(outcome.table) == ["design", "squared error", "coverage"]
    assert len(outcome.table["design"]) == 400


def test_the_designs_of_moments_are_of_all_kinds():
    every = gen_mom.designs(rng())
    ranks = {name: whitener(moment_limit(d, gen_mom.population(d.p))).shape[1] for name, d in every.items()}
    assert list(ranks.values()) == [3, 5, 5, 5]
    codes, mu = gen_mom.neighbours().support()
    assert not np.allclose(gen_mom.neighbours().mu(31 - codes), mu), "no yes/no question realizes it"
    assert all(design.is_identifiable for design in every.values())


def test_the_expected_estimate_is_what_the_package_makes_of_expected_counts():
    design, w = lopsided_conditional(), np.array([0.1, 0.2, 0.3, 0.4])
    assert gen_mom.expected(design, w) == pytest.approx(w, abs=1e-14)
    assert sp.estimate(exact_shares(design, w), "mom").w == pytest.approx(w, abs=1e-12)


def test_moments_with_another_law_differ():
    design = sp.uniform(range(5))
    limit = moment_limit(design, gen_mom.population(5))
    drawn = rng().multivariate_normal(np.zeros(5), limit, size=2000)
    held = (rng().random(2000) < 0.95).astype(float)
    for factor, miss, verdicts in ((1.0, 0.0, [HOLDS] * 3), (1.1, 0.1, [DIFFERS] * 3)):
        result = np.column_stack([held - miss, factor * drawn])
        checks = gen_mom.limit_checks("", result, whitener(limit))
        assert [check.verdict for check in checks] == verdicts
    assert gen_mom.sums({"": drawn}, {"": design}).verdict == ERRATUM
    assert gen_mom.sums({"": drawn - drawn.mean(axis=1, keepdims=True)}, {"": design}).verdict == DIFFERS


def test_a_biased_estimate_is_noticed(monkeypatch):
    every = {"": sp.uniform(range(5))}
    assert gen_mom.unbiased(every).verdict == HOLDS
    monkeypatch.setattr(gen_mom, "expected", lambda design, w: w + 1e-6)
    assert gen_mom.unbiased(every).verdict == DIFFERS


def test_quantiles_have_a_panel_for_each_sample():
    grid = np.linspace(0, 1, 20)
    figure = quantiles({"one": (grid[::-1], grid), "two": (grid + 1, grid)}, xlabel="law", ylabel="sample")
    assert [ax.get_title() for ax in figure.axes] == ["one", "two"]
    assert figure.axes[0].get_lines()[1].get_ydata() == pytest.approx(grid)


def test_one_step_performs():
    outcome = perform(one_step, 60)
    assert not outcome.failed, [check for check in outcome.checks if check.verdict == DIFFERS]
    assert [check.verdict for check in outcome.checks].count(ERRATUM) == 2
    assert len(outcome.table["n"]) == 2 * len(one_step.SIZES)


def one_step_samples(k=400):
    """What `one_step.losses` returns at every n if both steps were the maximum up to 1/n, and moments as they are."""
    design, w = sp.uniform(range(5)), np.array(one_step.FREQUENT)
    limit, T = limit_covariance(design, w), whitener(limit_covariance(design, w))
    draw = rng()
    error = draw.multivariate_normal(np.zeros(5), limit, size=k, method="eigh")
    rest = draw.multivariate_normal(np.zeros(5), moment_limit(design, w) - limit, size=k, method="eigh")
    loss, form = (error**2).sum(axis=1), ((error @ T) ** 2).sum(axis=1)
    ends = [((error + times * rest) ** 2).sum(axis=1) for times in (1, 2)]
    return w, [np.column_stack([loss] * 3 + ends + [loss / n] * 2 + [form] * 2) for n in one_step.SIZES]


def test_one_step_with_another_law_differs():
    w, result = one_step_samples()
    right = [check.verdict for check in one_step.at_the_end("", w, result)]
    assert right == [HOLDS, HOLDS, HOLDS, STATED] * 2 + [ERRATUM]
    columns = {0: 1, 1: 5, 2: 7, 4: 2, 5: 6, 6: 8, 8: 4}
    for check, column in columns.items():
        wrong = [values.copy() for values in result]
        wrong[-1][:, column] += 1
        assert [i for i, c in enumerate(one_step.at_the_end("", w, wrong)) if c.verdict == DIFFERS] == [check]


def test_a_distance_that_does_not_fall_differs():
    w, result = one_step_samples()
    limit = float(np.trace(limit_covariance(sp.uniform(range(5)), w)))
    assert one_step.together("", limit, result, 5).verdict == HOLDS
    assert one_step.together("", limit, [result[-1]] * 5, 5).verdict == DIFFERS


def test_a_quick_step_is_not_called_slow():
    w = np.asarray(adult.race)
    values = np.zeros((10, len(one_step.NAMES)))
    values[:, 5] = 0.1
    assert one_step.slow("", w, values).verdict == HOLDS
    assert one_step.slow("", w, np.roll(values, 1, axis=1)).verdict == DIFFERS
    assert one_step.slow("", w, 10 * (values + 0.01)).verdict == DIFFERS


def test_the_printed_sign_goes_as_far_the_other_way():
    design, w, n = sp.uniform(range(5)), np.array(one_step.FREQUENT), 2000
    counts = sp.simulate(design, w, n, seed=rng())
    start, end = (
        sp.estimate(counts, method, **options).w for method, options in (("mom", {}), ("one-step", {"start": "mom"}))
    )
    result = dict(zip(one_step.NAMES, one_step.losses(rng(), tuple(w), n)))
    assert result["with the printed sign"] == pytest.approx(n * ((2 * start - end - w) ** 2).sum())
    assert result["ONE, from MoM"] == pytest.approx(n * ((end - w) ** 2).sum())


@pytest.mark.parametrize(
    ("pairs", "identifiable"),
    [(thm_identi.SQUARE, False), ({(0, 1, 2): 1 / 3, (1, 2, 3): 1 / 3, (2, 3, 0): 1 / 3, (3, 0, 1): 1 / 3}, True)],
)
def test_brute_force_knows_two_designs(pairs, identifiable):
    design = sp.conditional(range(4), pairs)
    codes, mu = design.support()
    far = thm_identi.farthest(bits(codes, 4) * mu[:, None])
    assert (far < thm_identi.CLOSE) == identifiable
    assert design.is_identifiable == identifiable


def test_random_conditional_designs_are_of_all_kinds():
    result = np.array([thm_identi.verdicts(rng(seed)) for seed in range(25)])
    assert 0 < result[:, 2].mean() < 1
    assert 0 < result[:, 3].mean() < 1
    assert set(result[:, 0]) <= {4, 5, 6, 7}


def test_a_condition_that_disagrees_differs():
    right = np.array([[5, 8, i % 2, j, j, j, j] for i in range(2) for j in range(2)], float)
    assert DIFFERS not in [check.verdict for check in thm_identi.agreement(right)]
    for row, column, check in ((0, 4, 0), (2, 5, 1), (0, 5, 2), (0, 6, 3)):
        wrong = right.copy()
        wrong[row, column] = 1 - wrong[row, column]
        assert thm_identi.agreement(wrong)[check].verdict == DIFFERS


def test_identifiability_performs():
    outcome = perform(thm_identi, 40)
    assert not outcome.failed
    assert len(outcome.table["brute force"]) == 40


# Times ----------------------------------------------------------------------------------------

# Seconds of the same five samples, of which one fell in a pause.
PAUSE = np.array([1.0, 1.1, 0.9, 4.0, 1.0])
FAST = {
    "EM": 10.0 * PAUSE,
    timing.CVXPY: 100.0 * PAUSE,
    "MoM": 0.1 * PAUSE,
    "ONE": 20.0 * PAUSE,
    timing.PRODUCT: 0.5 * PAUSE,
    timing.OURS: 0.4 * PAUSE,
    timing.OUR_MOMENTS: 0.3 * PAUSE,
}


def but(name, seconds):
    return FAST | {name: seconds * PAUSE}


def test_orders_and_ratios_of_times_can_fail():
    assert {check.verdict for check in timing.order_checks({4: FAST, 8: FAST})} == {HOLDS}
    slow = but("MoM", 50.0) | {"EM": 200.0 * PAUSE}
    for times in ({4: slow}, {4: FAST, 8: slow}):
        assert {check.verdict for check in timing.order_checks(times)} == {DIFFERS}
    assert fig_time1._ratio("EM", "100", FAST).verdict == HOLDS
    assert fig_time1._ratio("EM", "100", slow).verdict == DIFFERS
    assert fig_time2._similar(8, FAST).verdict == HOLDS
    assert fig_time2._similar(8, but("ONE", 0.2)).verdict == DIFFERS


def test_a_maximum_that_is_not_cheap_differs():
    assert timing.recommendation("", FAST).verdict == ERRATUM
    for name, seconds in ((timing.OURS, 1.0), (timing.OUR_MOMENTS, 0.1), ("EM", 0.3), ("MoM", 0.01)):
        assert timing.recommendation("", but(name, seconds)).verdict == DIFFERS


def test_growth_and_the_matrix_product_can_fail():
    def times(power):
        return {p: but("MoM", p**power) | {"EM": p**1.5 * PAUSE} for p in (4, 8, 12)}

    assert [fig_time2.growth(times(power))[0].verdict for power in (0.5, 2.9, 3.1)] == [HOLDS, HOLDS, DIFFERS]
    assert "EM 1.50" in fig_time2.growth(times(1))[1].obtained
    assert fig_time2.product_check({4: FAST, 8: FAST}).verdict == ERRATUM
    for name in ("EM", "ONE"):
        assert fig_time2.product_check({8: FAST, 12: but(name, 0.6)}).verdict == DIFFERS


def test_times_that_vary_too_much_are_not_judged():
    """On a busy machine the same ratio of two methods is now above its bound and now below."""
    torn = np.array([0.001, 1000.0, 1.0, 30.0, 0.3])
    unsteady = {name: times * (torn if name in ("EM", "MoM") else 1) for name, times in FAST.items()}
    checks = [
        timing.order_checks({4: unsteady})[0],
        fig_time1._ratio("EM", "100", unsteady | {"MoM": FAST["MoM"]}),
        timing.recommendation("", unsteady),
        fig_time2._similar(8, unsteady),
        fig_time2.product_check({8: unsteady}),
    ]
    assert {check.verdict for check in checks} == {UNCHECKED}
    assert {check.note for check in checks} == {NOT_MEASURED}
    # One that is wrong for sure is wrong, whatever the others are.
    assert timing.recommendation("", unsteady | {timing.OUR_MOMENTS: 0.01 * PAUSE}).verdict == DIFFERS


@given(st.integers(8, 400), st.integers(0, 2**32))
@settings(max_examples=20)
def test_the_median_of_ratios_is_judged_right_as_often_as_is_said(k, seed):
    """A median just beyond a bound is called within it in less than one run of a hundred."""
    ratios = np.random.default_rng(seed).lognormal(np.log(4), 1.0, (400, k))
    called = [timing.within(part, most=3.9999) for part in ratios]
    assert called.count(True) <= binom.ppf(1 - 1e-9, 400, 0.005)
    assert timing.within(np.full(k, 4.0), most=5) is True
    assert timing.within(np.full(k, 4.0), most=3) is False


def test_one_step_by_a_matrix_product_is_faster_than_by_person_and_than_em():
    """`fig:time2`: that one step is as slow as EM is about an implementation.

    By a product it calls as many functions for twice as many people; by person twice as many, and EM many times.
    """
    design, _, _, R, _ = sample(p=8, n=2000)
    halves = [np.ascontiguousarray(some) for some in (R[:1000], R)]
    Q = design.Q
    product = [calls(as_printed.one_step, R, Q) for R in halves]
    person = [calls(as_printed.one_step, R, Q, as_printed.hessian_by_person) for R in halves]
    em = calls(as_printed.em, R)
    assert product[1] <= product[0]
    assert person[1] > 1.8 * person[0]
    assert person[1] > 2 * product[1]
    assert em > 2 * product[1]


def test_a_pause_of_the_machine_does_not_count():
    assert timing.total(np.array([0.1, 0.1, 5.0]), 100) == pytest.approx(10)


def test_updates_of_em_must_grow():
    errors = np.full(3, 5.0)
    assert fig_time2._more_updates(np.array([100.0, 200.0, 300.0]), errors).verdict == HOLDS
    assert fig_time2._more_updates(np.array([300.0, 200.0, 100.0]), errors).verdict == DIFFERS


def test_times_have_a_row_for_every_method(monkeypatch):
    monkeypatch.setattr(timing, "find_spec", lambda name: None)  # the slowest one need not be waited for
    monkeypatch.setattr(fig_time2, "CATEGORIES", (4, 8))
    one, two = perform(fig_time1, 3), perform(fig_time2, 2)
    expected = [name for name in timing.METHODS if name != timing.CVXPY]
    assert one.table["method"] == expected
    assert set(expected) < set(two.table)
    assert two.table["p"] == [4, 8]
