"""The figures about tests of independence: their areas, errors, times and claims against independent computations."""

import itertools

import numpy as np
import pytest
from every_case import every_case
from scipy.stats import chi2_contingency

import subsetprivacy as sp
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.statistics import STATISTICS
from subsetprivacy.independence.testing import read_table
from subsetprivacy.reproduce import auc, fig_auc_n, fig_auc_p, fig_auc_rho, fig_ct_time, ours_power
from subsetprivacy.reproduce.checks import DIFFERS, ERRATUM, HOLDS, STATED
from subsetprivacy.reproduce.experiment import Run

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")


def crossing(seed=1, p=4, n=600, rho=0.1):
    return auc.random_crossing(np.random.default_rng(seed), p, n, rho)


# The area -------------------------------------------------------------------------------------


def by_pairs(independent, dependent):
    """The area by its definition: the share of pairs in the right order, ties half."""
    pairs = list(itertools.product(independent, dependent))
    return np.mean([1.0 if d < i else 0.5 if d == i else 0.0 for i, d in pairs])


def test_areas_are_shares_of_pairs_with_ties_half():
    rng = np.random.default_rng(1)
    independent, dependent = rng.integers(0, 8, (9, 3)) / 8, rng.integers(0, 6, (7, 3)) / 8
    areas, covariance = auc.roc_areas(independent, dependent)
    assert areas == pytest.approx([by_pairs(independent[:, k], dependent[:, k]) for k in range(3)])
    assert covariance.shape == (3, 3)
    assert np.linalg.eigvalsh(covariance).min() > -1e-12


def test_the_standard_error_is_that_of_repeated_samples():
    rng = np.random.default_rng(2)
    result = []
    for _ in range(400):
        shared = rng.normal(size=(2, 40))  # two tests that see the same samples
        scores = np.stack([shared + 0.5 * rng.normal(size=(2, 40)) for _ in range(2)], axis=-1)
        areas, covariance = auc.roc_areas(scores[0], scores[1] - 0.8)
        lead = np.array([1, -1])
        result.append([areas[0], areas @ lead, covariance[0, 0] ** 0.5, (lead @ covariance @ lead) ** 0.5])
    area, lead, error, lead_error = np.array(result).T
    assert error.mean() == pytest.approx(area.std(), rel=0.12)
    assert lead_error.mean() == pytest.approx(lead.std(), rel=0.12)
    assert lead_error.mean() < error.mean()  # paired: better known than either area


def test_perfect_and_useless_tests():
    low, high = np.full((5, 5), 0.01), np.full((6, 5), 0.5)
    assert auc.roc_areas(high, low)[0] == pytest.approx(np.ones(5))
    assert auc.roc_areas(low, high)[0] == pytest.approx(np.zeros(5))
    assert auc.roc_areas(high, high)[0] == pytest.approx(np.full(5, 0.5))


# One sample -----------------------------------------------------------------------------------


def test_the_joint_distribution_is_the_papers():
    w, v = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.4, 0.3, 0.2, 0.1])
    assert auc.dependent(w, v, 0.0) == pytest.approx(np.outer(w, v))
    assert auc.dependent(w, v, 0.05) * 1.2 == pytest.approx(np.outer(w, v) + 0.05 * np.eye(4))


@every_case(("method", "df"), [value for value in auc.TESTS.values() if "mom" not in value[0]])
def test_pvalues_are_those_of_the_package(method, df):
    table = crossing(rho=0.2)
    result = sp.independence_test(table.table, method, permutations=0, df=df)
    assert min(auc.limit_pvalue(table, method, df), 1.0) == pytest.approx(result.asymptotic_pvalue, rel=1e-6)


def test_bonferroni_is_the_least_of_all_two_by_two_tables():
    table = crossing(rho=0.0)
    a, b = (side.members[at] for side, at in zip((table.first, table.second), table.cells[:2], strict=True))
    n = table.cells[2]
    least = min(
        chi2_contingency(
            [[n @ (a[:, x] * b[:, y]), n @ (a[:, x] * (1 - b[:, y]))],
             [n @ ((1 - a[:, x]) * b[:, y]), n @ ((1 - a[:, x]) * (1 - b[:, y]))]],
            correction=False,
        ).pvalue
        for x in range(4)
        for y in range(4)
    )  # fmt: skip
    assert auc.limit_pvalue(table, "bonferroni") == pytest.approx(16 * least)  # not cut off at 1


def test_moments_below_zero_have_a_pvalue_of_one(monkeypatch):
    monkeypatch.setitem(STATISTICS, "lrt-mom", lambda layout, n: np.array([-3.0]))
    assert auc.limit_pvalue(crossing(), "lrt-mom") == 1.0


def test_a_sample_gives_a_pvalue_per_test_without_and_with_dependence():
    first = auc.pvalues(np.random.default_rng(3), 4, 3000, 0.5)
    assert first == auc.pvalues(np.random.default_rng(3), 4, 3000, 0.5)
    assert len(first) == 2 * len(auc.TESTS)
    assert max(first[len(auc.TESTS) :]) < 1e-6 < min(first[: len(auc.TESTS)])


# Claims that can fail --------------------------------------------------------------------------


def areas(lines, error=0.01):
    values = np.array([lines.get(test, lines[""]) for test in auc.TESTS], float).T
    covariances = np.broadcast_to(error**2 * np.eye(len(auc.TESTS)), (len(values), len(auc.TESTS), len(auc.TESTS)))
    return auc.Areas((1.0, 2.0, 3.0), values, covariances)


@every_case(
    ("line", "up", "verdict"),
    [
        ((0.6, 0.7, 0.8), True, HOLDS),
        ((0.6, 0.7, 0.8), False, DIFFERS),
        ((0.8, 0.7, 0.6), False, HOLDS),
        ((0.6, 0.8, 0.7), True, DIFFERS),  # a step down by seven standard errors
        ((0.6, 0.62, 0.63), True, DIFFERS),  # by 2.1 standard errors
    ],
)
def test_a_line_rises_or_falls_beyond_its_errors(line, up, verdict):
    assert auc.goes(areas({"": line}), "Bon", up=up, by="rho").verdict == verdict


def test_the_trend_is_that_of_least_squares():
    rng = np.random.default_rng(1)
    values, errors = rng.normal(size=(5, 4000)), np.array([0.5, 1.0, 2.0, 1.0, 0.3])
    slopes = np.polyfit(np.arange(5), errors[:, None] * values, 1)[0]
    result = [auc.trend(errors * sample, errors) for sample in values.T]
    assert [slope for slope, _ in result] == pytest.approx(slopes)
    assert result[0][1] == pytest.approx(slopes.std(), rel=0.05)


def test_a_short_run_only_refutes():
    flat, wrong = areas({"": (0.62, 0.61, 0.6)}), areas({"": (0.7, 0.65, 0.6)})
    check = auc.goes(flat, "Bon", up=True, by="p", least=-3)
    assert check.verdict == HOLDS
    assert "the short form can refute the claim, not show it" in check.tolerance
    assert auc.goes(wrong, "Bon", up=True, by="p", least=-3).verdict == DIFFERS
    assert auc.goes(flat, "Bon", up=True, by="p", least=0).verdict == DIFFERS


@pytest.mark.parametrize("n", [1000, 2000])
def test_a_line_that_rises_with_p_does_not_fall_in_the_long_form(n):
    rises, falls = areas({"": (0.6, 0.601, 0.602)}), areas({"": (0.7, 0.66, 0.6)})
    verdicts = [check.verdict for check in fig_auc_p._claims(rises, n, quick=False) if "falls with p" in check.claim]
    assert verdicts == [DIFFERS] * 4
    verdicts = [check.verdict for check in fig_auc_p._claims(falls, n, quick=False) if "falls with p" in check.claim]
    assert verdicts == [HOLDS] * 4


def test_only_one_line_may_fall_by_less_than_three_standard_errors():
    little = areas({"": (0.97, 0.965, 0.96)})  # by 0.7 standard errors
    held = {
        (check.claim.split()[2], n)
        for n in (1000, 2000)
        for check in fig_auc_p._claims(little, n, quick=False)
        if "falls with p" in check.claim and check.verdict == HOLDS
    }
    assert held == {("LRT:MLE", 2000)}


@pytest.mark.parametrize(("lead", "long"), [(0.018, DIFFERS), (0.03, HOLDS)])
def test_an_ordering_takes_three_standard_errors_in_the_long_form(lead, long):
    ahead = tuple(np.array((0.6, 0.7, 0.8)) + lead)  # an error of .0082 on average
    result = areas({"": (0.6, 0.7, 0.8), "LRT:MLE": ahead, "LRT:MoM": ahead})
    assert {check.verdict for check in auc.orderings(result, quick=False)} == {long}
    assert {check.verdict for check in auc.orderings(result, quick=True)} == {HOLDS}
    behind = areas({"": (0.6, 0.7, 0.8), "Bon": (0.9, 0.9, 0.9), "Pearson": (0.9, 0.9, 0.9)})
    assert {check.verdict for check in auc.orderings(behind, quick=True)} == {DIFFERS}


def test_the_people_with_whom_pearson_does_as_well():
    lines = {"": (0.6, 0.8, 0.9), "LRT:MLE": (0.7, 0.85, 1.0)}
    result = auc.Areas((500.0, 1000.0, 4000.0), areas(lines).values, areas(lines, error=0.0).covariances)
    assert fig_auc_n.people_for(0.85, result, "Pearson") == pytest.approx(2000)  # half way, by the logarithm
    assert fig_auc_n.people_for(0.8, result, "Pearson") == pytest.approx(1000)
    assert fig_auc_n._worth(result).obtained.startswith("about 2000, 2000 to 2000")


@every_case(
    ("ahead", "least", "verdict"),
    [
        ((0.7, 0.8, 0.9), 0, HOLDS),
        ((0.5, 0.6, 0.7), 0, DIFFERS),
        ((0.59, 0.7, 0.79), 0, DIFFERS),  # behind by a little on average
        ((0.59, 0.7, 0.79), -3, HOLDS),
        ((0.5, 0.9, 0.9), 0, DIFFERS),  # far behind in one setting
    ],
)
def test_a_test_outperforms_another(ahead, least, verdict):
    result = areas({"": (0.6, 0.7, 0.8), "LRT:MLE": ahead})
    assert auc.beats(result, "LRT:MLE", "Pearson", least=least).verdict == verdict


def test_similar_means_similar():
    assert auc.similar(areas({"": (0.6, 0.7, 0.8), "LRT:MoM": (0.59, 0.69, 0.79)}), 0.02).verdict == HOLDS
    assert auc.similar(areas({"": (0.6, 0.7, 0.8), "LRT:MoM": (0.5, 0.6, 0.7)}), 0.02).verdict == DIFFERS


def test_errors_of_a_lead_use_the_covariance():
    same = areas({"": (0.6, 0.7, 0.8)})
    joint = auc.Areas(same.at, same.values, np.full_like(same.covariances, 1e-4))  # the same test twice
    assert joint.mean_lead("LRT:MLE", "Pearson") == pytest.approx((0, 0), abs=1e-9)
    assert same.mean_lead("LRT:MLE", "Pearson")[1] == pytest.approx(0.01 * np.sqrt(2 / 3))


@every_case(
    ("moments", "quick", "verdict"),
    [
        ((0.79, 0.75, 0.7), False, ERRATUM),
        ((0.7, 0.75, 0.79), False, DIFFERS),  # behind, and the less so the more categories
        ((0.8, 0.79, 0.79), False, DIFFERS),
        ((0.8, 0.8, 0.8), True, STATED),
    ],
)
def test_moments_fall_behind_in_the_long_form(moments, quick, verdict):
    result = areas({"": (0.8, 0.8, 0.8), "LRT:MoM": moments})
    assert fig_auc_p._behind(result, 1000, quick).verdict == verdict


def lead_of_maxima(p, samples, n=500, rho=0.08):
    """The area of LRT:MLE less that of LRT:MoM in the same samples, and the variance of the difference."""
    result = []
    for seed in range(samples):
        rng = np.random.default_rng([p, seed])
        pair = [auc.random_crossing(rng, p, n, strength) for strength in (0.0, rho)]
        result.append([auc.limit_pvalue(sample, method) for sample in pair for method in ("lrt", "lrt-mom")])
    values, covariance = auc.roc_areas(*np.split(np.array(result), 2, axis=1))
    lead = np.array([1, -1])
    return values @ lead, lead @ covariance @ lead


@pytest.mark.slow
def test_moments_fall_behind_the_more_so_the_more_categories_there_are():
    (four, error_four), (eight, error_eight) = (lead_of_maxima(p, 300) for p in (4, 8))
    assert eight > 3 * np.sqrt(error_eight)
    assert eight - four > 3 * np.sqrt(error_four + error_eight)


@pytest.mark.slow
@pytest.mark.parametrize("case", [ours_power.RANDOM, ours_power.EVEN])
def test_maxima_find_no_less_than_moments_at_the_permutation_pvalue(case):
    result = []
    for seed in range(300):
        rng = np.random.default_rng([1, seed])
        W, one, two = ours_power.problem(rng, case)
        table = sp.simulate(sp.product({"x": one, "y": two}), W.ravel(), ours_power.N, seed=rng)
        tests = [sp.independence_test(table, m, permutations=99, seed=seed) for m in ("lrt", "lrt-mom")]
        result.append([test.pvalue <= 0.05 for test in tests])
    maxima, moments = np.array(result, float).T
    assert 0.75 < maxima.mean() < 0.97
    lead = maxima - moments
    assert lead.mean() >= -3 * lead.std() / np.sqrt(len(lead))


@pytest.mark.slow
@pytest.mark.parametrize("p", [4, 8])
def test_maxima_take_less_than_twenty_times_the_time_of_moments(p):
    columns = [fig_ct_time.draw_columns(np.random.default_rng(seed), p, 2000) for seed in range(5)]

    def best(method):
        return sum(
            min(fig_ct_time._clock(lambda c: fig_ct_time.our_pvalue(c, method), one) for _ in range(5))
            for one in columns
        )

    assert best("lrt") < 20 * best("lrt-mom")


# Whole experiments -----------------------------------------------------------------------------


@pytest.mark.parametrize("module", [fig_auc_rho, fig_auc_n])
def test_areas_against_a_parameter(module):
    label = module.EXPERIMENT.label
    outcome = module.EXPERIMENT.perform(Run(label, k=4, quick=True))
    assert len(outcome.table["auc"]) == len(outcome.table["test"])
    assert set(outcome.table["test"]) == set(auc.TESTS)
    assert set(outcome.table) >= {"at", "test", "auc", "error", "varies"}
    assert sum("rises" in check.claim for check in outcome.checks) == 4
    assert sum("outperforms" in check.claim for check in outcome.checks) == 4
    assert outcome.table == module.EXPERIMENT.perform(Run(label, k=4, quick=True)).table
    for check in outcome.checks:
        assert check.source == ("ours" if check.verdict == STATED else "paper")
        assert check.printed.startswith("“") == (check.source == "paper")


def test_strengths_in_the_wrong_order_are_found(monkeypatch):
    monkeypatch.setattr(fig_auc_rho, "STRENGTHS", (0.3, 0.01))
    outcome = fig_auc_rho.perform(Run("fig:auc-rho", k=40, quick=True))
    assert sum(check.verdict == DIFFERS for check in outcome.checks if "rises" in check.claim) == 4


def test_areas_against_the_number_of_categories(monkeypatch):
    monkeypatch.setattr(fig_auc_p, "CATEGORIES", (4, 5))
    outcome = fig_auc_p.perform(Run("fig:auc-p", k=4, quick=True))
    assert outcome.table["n"] == [1000] * 10 + [2000] * 10  # in the paper's list, and in its caption
    both = [{check.claim for check in outcome.checks if f"n = {n}" in check.claim} for n in fig_auc_p.PEOPLE]
    assert {claim.replace("1000", "2000") for claim in both[0]} == both[1]
    assert len(both[0]) * 2 == len(outcome.checks)
    assert set(outcome.table["at"]) == {4, 5}
    assert len(outcome.figure.axes) == 2


# Times ----------------------------------------------------------------------------------------


def test_columns_are_the_subsets_of_the_people():
    columns = fig_ct_time.draw_columns(np.random.default_rng(1), 5, 300)
    table = cross(read_table(sp.count(columns.codes, design=columns.design)))
    assert columns.first.shape == columns.second.shape == (300, 5)
    for rows, side in ((columns.first, table.first), (columns.second, table.second)):
        assert rows.sum(axis=0) == pytest.approx(side.n_a @ side.members)
    assert set(np.unique(columns.first)) == {0.0, 1.0}


@pytest.mark.parametrize("p", [4, 5])
def test_em_finds_the_likelihood_ratio_that_newton_finds(p):
    columns = fig_ct_time.draw_columns(np.random.default_rng(p), p, 500, rho=0.1)
    table = cross(read_table(sp.count(columns.codes, design=columns.design)))
    ours = float(STATISTICS["lrt"](table.layout, table.counts[None, :])[0])
    people, pairs = fig_ct_time.em_by_people(columns), fig_ct_time.em_by_pairs(columns)
    assert people == pytest.approx(pairs, abs=1e-6)
    assert people == pytest.approx(ours, abs=0.1)  # EM stops early, in the joint fit more than in the margins
    assert fig_ct_time.our_pvalue(columns, "lrt") == pytest.approx(auc.limit_pvalue(table, "lrt"))


def times(people, moments, newton):
    size = len(fig_ct_time.CATEGORIES)
    lines = {fig_ct_time.BY_PEOPLE: people, fig_ct_time.BY_PAIRS: 1.0, "LRT:MoM": moments, "LRT:MLE, ours": newton}
    return {name: [np.full(5, value)] * size for name, value in lines.items()}


@every_case(
    ("given", "verdicts"),
    [
        ((10.0, 0.2, 0.5), [HOLDS, STATED, ERRATUM, STATED]),
        ((1.5, 0.2, 0.5), [DIFFERS, STATED, ERRATUM, STATED]),  # EM 7.5 times the time of moments
        ((10.0, 0.2, 6.0), [HOLDS, STATED, DIFFERS, STATED]),  # 1.7 times that of maxima on counts
        ((30.0, 0.2, 7.0), [HOLDS, STATED, DIFFERS, STATED]),  # maxima 35 times that of moments
    ],
)
def test_times_are_compared(given, verdicts):
    assert [check.verdict for check in fig_ct_time.claims(times(*given))] == verdicts


def test_every_test_is_timed(monkeypatch):
    monkeypatch.setattr(fig_ct_time, "CATEGORIES", (4, 5))
    monkeypatch.setattr(fig_ct_time, "N", 100)
    outcome = fig_ct_time.perform(Run("fig:ct-time", k=2, quick=True))
    names = {fig_ct_time.BY_PEOPLE, fig_ct_time.BY_PAIRS, *fig_ct_time.METHODS}
    assert set(outcome.table["test"]) == names
    assert len(outcome.table["seconds"]) == 2 * len(names)
    assert min(outcome.table["seconds"]) > 0
    assert len(outcome.figure.axes) == 1
