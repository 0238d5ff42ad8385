"""The experiments on the Adult data: their pieces against oracles, and checks that can fail."""

from itertools import combinations

import numpy as np
import pytest
from attrs import evolve
from problems import exact_counts, quietly

from subsetprivacy.design import independent, uniform
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.quadratic_form import quantile
from subsetprivacy.examples import Adult, adult
from subsetprivacy.reproduce import (
    fig_adult_power,
    fig_adult_privacy,
    fig_adult_privacy_leak,
    fig_adult_race_l2_loss,
    fig_race_diff,
    race_sample,
    tab_cont_full,
    tab_race_pop_dist,
)
from subsetprivacy.reproduce.experiment import Run

RACE, DESIGN = adult.race, uniform(adult.races)
EVEN = Adult(((1, 1, 1, 1),) * 5)  # another population: all claims about numbers must fail


def outcome(module, k=2, **options):
    experiment = module.EXPERIMENT
    run = Run(experiment.label, k, quick=True, **options)
    with quietly():
        found = experiment.perform(run)
    assert len({len(column) for column in found.table.values()}) == 1
    return found


def verdicts(checks):
    return [check.verdict for check in checks]


def subsets():
    """Each subset of the uniform design on five categories, with its mu: two or three members, ten questions."""
    return [(set(a), 0.1) for size in (2, 3) for a in combinations(range(5), size)]


# Tables -------------------------------------------------------------------------------------------


def test_race_table():
    found = outcome(tab_race_pop_dist)
    assert set(verdicts(found.checks)) == {"holds", "stated"}
    assert list(found.table) == ["label", "race", "people", "printed", "obtained"]
    assert verdicts(outcome(tab_race_pop_dist, adult=EVEN).checks).count("differs") == 6


def test_gender_and_income_table():
    from scipy.stats import chi2_contingency

    found = outcome(tab_cont_full)
    assert set(verdicts(found.checks)) == {"holds", "stated"}
    textbook = chi2_contingency(adult.sex_income, correction=False)
    assert f"chi-squared {textbook.statistic:.1f}, df 1" in found.checks[4].obtained
    # The square of an adjusted residual of a 2 x 2 table is Pearson's statistic.
    assert np.square(found.table["adjusted_residual"]) == pytest.approx(textbook.statistic)
    assert verdicts(outcome(tab_cont_full, adult=EVEN).checks).count("differs") == 5


def test_logarithm_of_a_pvalue():
    from scipy.stats import chi2

    assert tab_cont_full._log10_pvalue(30.0) == pytest.approx(np.log10(chi2.sf(30.0, 1)))


# Leakage ------------------------------------------------------------------------------------------


def brute_leakage():
    """The leakages of the uniform design from their definitions, subset by subset."""
    size = mi = guess = 0.0
    for a, mu in subsets():
        L = sum(RACE[j] for j in a)
        size += mu * L * (1 - L)
        mi -= mu * L * np.log2(L)
        guess += mu * max(RACE[j] for j in a)
    return size, mi, guess


def test_nine_leakages():
    found = outcome(fig_adult_privacy_leak)
    assert set(verdicts(found.checks)) == {"holds", "erratum"}
    entropy = -(RACE * np.log2(RACE)).sum()
    expected = [1 - (RACE**2).sum(), entropy, 1, *brute_leakage(), 0, 0, RACE.max()]
    assert found.table["leakage"] == pytest.approx(expected, abs=1e-12)


def test_two_numbers_are_cut_off_in_print():
    # "from 0.25 to 0.15": .2598 and .1559, which are .26 and .16.
    assert 1 - (RACE**2).sum() == pytest.approx(0.2598, abs=5e-5)
    assert brute_leakage()[0] == pytest.approx(0.1559, abs=5e-5)
    assert [round(1 - (RACE**2).sum(), 2), round(brute_leakage()[0], 2)] == [0.26, 0.16]


@pytest.mark.parametrize(
    ("metric", "place", "value"),
    [
        ("size", 0, 0.2502),
        ("size", 1, 0.165),
        ("size", 2, 1e-6),
        ("mi", 1, 1.0),
        ("mi", 2, 1e-6),
        ("prediction", 0, 0.99),
        ("prediction", 1, 0.9),
        ("prediction", 1, 0.85),
        ("prediction", 2, 0.86),
    ],
)
def test_a_wrong_leakage_differs(metric, place, value):
    size, mi, guess = brute_leakage()
    right = {"size": [0.2598, size, 0.0], "mi": [0.7987, mi, 0.0], "prediction": [1.0, guess, 0.8543]}
    assert "differs" not in verdicts(fig_adult_privacy_leak.claims(right))
    right[metric][place] = value
    assert "differs" in verdicts(fig_adult_privacy_leak.claims(right))


# Single people ------------------------------------------------------------------------------------


def test_four_people():
    found = outcome(fig_adult_privacy)
    assert verdicts(found.checks).count("differs") == 0
    assert verdicts(found.checks)[-1] == "erratum"
    assert found.table["race"] == ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo"]
    assert all(race in subset for race, subset in zip(found.table["race"], found.table["subset"]))
    assert found.table["size_leakage"][0] == pytest.approx(1 - RACE[[1, 2, 4]].sum())
    assert found.table["size_leakage"][2] == pytest.approx(1 - RACE[[1, 4]].sum())
    assert found.table["subset"] == outcome(fig_adult_privacy).table["subset"]
    assert "differs" in verdicts(outcome(fig_adult_privacy, adult=evolve(EVEN, cells=adult.cells[::-1])).checks)


def test_what_people_of_each_category_give_away():
    each = fig_adult_privacy.per_category(DESIGN, RACE)
    for j in range(5):
        holding = [(a, mu, sum(RACE[i] for i in a)) for a, mu in subsets() if j in a]
        assert sum(mu for _, mu, _ in holding) == pytest.approx(1)
        assert each.size[j] == pytest.approx(sum(mu * (1 - L) for _, mu, L in holding))
        told = -sum(mu * np.log2(L) for _, mu, L in holding)
        assert each.bits_kept[j] == pytest.approx(told / -np.log2(RACE[j]))
        right = sum(mu for a, mu, _ in holding if max(a, key=lambda i: RACE[i]) == j)
        assert each.guessed[j] == pytest.approx(right)


@pytest.mark.parametrize("p", [4, 5, 7])
def test_size_leakage_keeps_the_same_share_for_every_category(p):
    # (Qw)_j = w_j + q(1 - w_j), so that of 1 - w_j the share 1 - q is left, rare or not.
    w = np.random.default_rng(p).dirichlet(np.ones(p))
    design = uniform(range(p))
    each = fig_adult_privacy.per_category(design, w)
    assert each.size_kept == pytest.approx(np.full(p, 1 - design.Q[0, 1]))
    assert each.size[w.argmin()] > each.size[w.argmax()]
    race = fig_adult_privacy.per_category(uniform(range(5)), RACE)
    assert race.size_kept == pytest.approx(np.full(5, 0.6))
    assert race.size[[RACE.argmin(), RACE.argmax()]].round(3).tolist() == [0.595, 0.087]


def test_another_design_has_no_such_share():
    lopsided = independent(range(4), {(0, 1): 0.6, (0, 2): 0.3, (0, 3): 0.1})
    each = fig_adult_privacy.per_category(lopsided, np.array([0.1, 0.2, 0.3, 0.4]))
    assert verdicts(fig_adult_privacy.rarity(list("abcd"), np.array([0.1, 0.2, 0.3, 0.4]), each))[2] == "differs"
    flat = evolve(each, guessed=np.full(4, 0.5), bits_kept=np.full(4, 0.5))
    assert verdicts(fig_adult_privacy.rarity(list("abcd"), RACE[:4], flat)) == ["differs"] * 3


# Estimates of race --------------------------------------------------------------------------------


def test_limit_laws_are_those_of_the_estimators():
    counts = exact_counts(DESIGN, RACE, 10 * 32_561)
    laws = race_sample.limits(DESIGN, RACE)
    for name, (method, options) in race_sample.METHODS.items():
        assert counts.n * estimate(counts, method, **options).cov == pytest.approx(laws[name], abs=1e-4), name
    traces = {name: round(float(np.trace(law)), 3) for name, law in laws.items()}
    assert traces == {"Sample": 0.26, "EM": 0.864, "MLE": 0.864, "ONE": 0.864, "MoM": 2.8, "MoM:cond": 1.042}


def test_everybody_reports_a_subset_of_their_own():
    found = race_sample.estimates(np.random.default_rng(1), DESIGN, RACE, 10**7)
    for name, w in found.items():
        assert np.abs(w - RACE).max() < 5e-3, name
    only = race_sample.estimates(np.random.default_rng(1), DESIGN, np.array([0, 0, 1.0, 0, 0]), 200)
    assert only["Sample"].tolist() == only["MLE"].round(6).tolist() == [0, 0, 1, 0, 0]


def test_one_sample():
    found = outcome(fig_race_diff)
    assert set(verdicts(found.checks)) == {"holds", "stated"}
    assert list(found.table) == ["race", "method", "population", "estimate", "difference"]
    assert len(found.table["race"]) == 30


@pytest.mark.parametrize(("name", "law"), [("MLE", "MLE"), ("ONE", "MoM")])
def test_a_sample_beyond_its_law_differs(name, law):
    laws = race_sample.limits(DESIGN, RACE)
    most = quantile(np.linalg.eigvalsh(laws[law]), 0.999)
    assert fig_race_diff.ordinary(name, 0.99 * most, laws).verdict == "holds"
    assert fig_race_diff.ordinary(name, 1.01 * most, laws).verdict == "differs"
    assert fig_race_diff.ordinary(name, float("nan"), laws).verdict == "differs"


def fake_losses(k=400, **factors):
    """Losses that follow their limit laws; a factor per method may depend on n."""
    rng, laws = np.random.default_rng(3), race_sample.limits(DESIGN, RACE)
    sizes = np.array(fig_adult_race_l2_loss.SIZES)[:, None]
    normal = rng.standard_normal((len(sizes), k, 5))
    columns = []
    for name in race_sample.NAMES:
        values, vectors = np.linalg.eigh(laws[name])
        losses = (normal @ vectors) ** 2 @ np.maximum(values, 0)
        columns.append(losses * factors.get(name, lambda n: np.ones_like(n, float))(sizes))
    return fig_adult_race_l2_loss.Means(np.stack(columns, axis=2))


def test_slopes_are_exact():
    flat = fig_adult_race_l2_loss.Means(np.tile([1.0, 3.0], (7, 3, 3)).reshape(7, 3, 6))
    assert flat.slope("Sample")[0] == pytest.approx(-0.5)
    assert flat.slope("Sample")[1] == 0
    growing = flat.losses * np.array(fig_adult_race_l2_loss.SIZES)[:, None, None] ** 0.4
    assert fig_adult_race_l2_loss.Means(growing).slope("MoM")[0] == pytest.approx(-0.3)


def test_losses_that_follow_their_laws_hold_and_others_do_not():
    laws = race_sample.limits(DESIGN, RACE)
    traces = {name: float(np.trace(law)) for name, law in laws.items()}
    right = fake_losses()
    assert set(verdicts(fig_adult_race_l2_loss.rates(right))) == {"holds"}
    assert set(verdicts(fig_adult_race_l2_loss.last(right, laws, 400))) == {"holds", "stated"}
    assert fig_adult_race_l2_loss.price(right, traces).verdict == "erratum"
    assert set(verdicts(fig_adult_race_l2_loss.orderings(right))) == {"holds"}
    slow = fake_losses(MLE=lambda n: (n / 100) ** 0.3)
    assert verdicts(fig_adult_race_l2_loss.rates(slow))[2] == "differs"
    large = fake_losses(MLE=lambda n: 4 + 0 * n)
    assert verdicts(fig_adult_race_l2_loss.last(large, laws, 400))[2] == "differs"
    assert fig_adult_race_l2_loss.price(large, traces).verdict == "differs"
    assert verdicts(fig_adult_race_l2_loss.orderings(large))[:2] == ["differs"] * 2
    assert fig_adult_race_l2_loss.price(right, {**traces, "MLE": 4 * traces["Sample"]}).verdict == "differs"


def test_loss_experiment_runs():
    found = outcome(fig_adult_race_l2_loss, k=3)
    assert list(found.table) == ["method", "n", "mean", "error", "limit"]
    assert len(found.table["n"]) == 6 * 7
    assert found.table["mean"] == outcome(fig_adult_race_l2_loss, k=3).table["mean"]


# Power --------------------------------------------------------------------------------------------

W = adult.sex_income / adult.sex_income.sum()


def test_people_bits_and_subsets_are_the_same_people():
    values, enlarged, pairs = fig_adult_power.draw(np.random.default_rng(1), W.ravel(), 10**6)
    assert values.sum() == enlarged.sum() == pairs.sum() == 10**6
    assert enlarged.reshape(2, 2, 2, 2).sum(axis=(1, 3)).tolist() == values.tolist()
    members = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]  # of the codes 3, 5, 6, 9, 10, 12
    of_pairs = np.kron(W, np.full((2, 2), 0.25))
    law = [[of_pairs[np.ix_(a, b)].sum() / 9 for b in members] for a in members]
    assert np.abs(pairs / 10**6 - law).max() < 5 * np.sqrt(0.05 / 10**6)
    # Codes 3 and 12 tell the value: somebody who reports one has it.
    certain = pairs[np.ix_([0, 5], [0, 5])]
    assert (certain <= values).all()


def test_pearson_of_values():
    from scipy.stats import chi2_contingency

    table = np.array([[5, 0, 9], [2, 0, 8], [0, 0, 0]])
    right = chi2_contingency(table[:2][:, [0, 2]], correction=False).pvalue
    assert fig_adult_power.pearson(table) == pytest.approx(right)
    assert fig_adult_power.pearson(np.array([[3, 4], [0, 0]])) == 1


def test_exact_numbers_of_people():
    people = {name: law.people(0.8, 0.05) for name, law in fig_adult_power.laws(W).items()}
    assert (people["LRT of X"], people["LRT of Y"], people["LRT:MLE"]) == (153, 304, 2734)
    assert (people["PT:X"], people["PT:Y"], people["LRT, bits held"]) == (169, 336, 1371)
    assert round(people["LRT:MLE"] / people["PT:Y"], 1) == 8.1


def curves(**scales):
    """Decisions of 1000 samples in proportion to the limit laws; a scale above 1 makes a test need more people."""
    laws, k = fig_adult_power.laws(W), 1000
    like = {"LRT:MoM": "LRT:MLE", "Bon": "Pearson"}
    found = np.zeros((len(fig_adult_power.SIZES), k, len(fig_adult_power.NAMES)))
    for i, name in enumerate(fig_adult_power.NAMES):
        power = laws[like.get(name, name)].power(np.array(fig_adult_power.SIZES) / scales.get(name, 1), 0.05)
        found[:, :, i] = np.arange(k) < np.round(k * power)[:, None]
    return found, laws


@pytest.mark.parametrize("name", ["LRT:MLE", "Pearson", "LRT, bits held", "PT:X", "PT:Y"])
def test_interpolation_finds_the_exact_number(name):
    found, laws = curves()
    power = found[:, :, fig_adult_power.NAMES.index(name)].mean(axis=1)
    log, error = fig_adult_power.size_at(power, 1000)
    assert log == pytest.approx(np.log(laws[name].size(0.8, 0.05)), abs=0.02)
    assert 0.01 < error < 0.04


def test_the_error_of_an_interpolation():
    laws, k = fig_adult_power.laws(W), 100
    rng = np.random.default_rng(1)
    power = laws["LRT:MLE"].power(np.array(fig_adult_power.SIZES), 0.05)
    draws = np.array([fig_adult_power.size_at(rng.binomial(k, power) / k, k) for _ in range(500)])
    assert draws[:, 0].std() == pytest.approx(draws[:, 1].mean(), rel=0.25)
    assert np.isnan(fig_adult_power.size_at(np.full(10, 0.9), 100)).all()
    assert np.isnan(fig_adult_power.size_at(np.full(10, 0.5), 100)).all()


def test_checks_of_power_can_fail():
    right, laws = curves()
    assert verdicts(fig_adult_power.sizes(right, laws))[:2] == ["erratum"] * 2
    assert set(verdicts(fig_adult_power.limit_checks(right, laws, W))) == {"holds"}
    assert set(verdicts(fig_adult_power.comparisons(right))) == {"holds", "stated"}
    fast, _ = curves(**{"LRT:MLE": 0.45})  # four times the people of Y, as in print
    assert verdicts(fig_adult_power.sizes(fast, laws))[1] == "differs"
    assert verdicts(fig_adult_power.sizes(right, {**laws, "LRT:MLE": laws["Pearson"]}))[0] == "differs"
    assert verdicts(fig_adult_power.limit_checks(fast, laws, W)).count("differs") == 1
    slow, _ = curves(**{"LRT:MoM": 3, "Bon": 30})
    assert verdicts(fig_adult_power.comparisons(slow))[0] == "differs"
    assert verdicts(fig_adult_power.comparisons(slow))[3] == "differs"


def test_five_people_in_every_cell():
    least = fig_adult_power.least_people(W)
    of_pairs = np.kron(W, np.full((2, 2), 0.25))
    independent = np.outer(of_pairs.sum(axis=1), of_pairs.sum(axis=0))
    assert least["PT:Y"] * independent.min() == pytest.approx(5)
    pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
    rarest = min(independent[np.ix_(a, b)].sum() / 9 for a in pairs for b in pairs)
    assert least["LRT:MLE"] * rarest == pytest.approx(5)


def test_power_experiment_runs(monkeypatch):
    monkeypatch.setattr(fig_adult_power, "SIZES", (50, 1600, 3200))
    found = outcome(fig_adult_power, k=2)
    assert list(found.table) == ["test", "n", "power", "replications", "limit_law"]
    assert len(found.table["n"]) == 7 * 3
    assert np.isnan(found.table["limit_law"][3])  # LRT:MoM has none
    assert found.table["power"] == outcome(fig_adult_power, k=2).table["power"]
