"""The experiments on the Adult data: their pieces against oracles, and checks that can fail."""

from itertools import combinations

import numpy as np
import pytest
from attrs import evolve
from every_case import every_case
from problems import exact_counts, quietly

from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import independent, uniform
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.limit_quantiles import quadratic_form_quantile
from subsetprivacy.examples import Adult, adult
from subsetprivacy.reproduce import (
    fig_adult_power,
    fig_adult_privacy,
    fig_adult_privacy_leak,
    fig_adult_race_l2_loss,
    fig_race_diff,
    gender_income,
    race_sample,
    tab_cont_full,
    tab_race_pop_dist,
)
from subsetprivacy.reproduce.experiment import Run
from subsetprivacy.subsets import bits

RACE, DESIGN = adult.race, uniform(adult.races)
EVEN = Adult(((1, 1, 1, 1),) * 5)  # another population: all claims about numbers must fail


def outcome(module, k=2, **options):
    experiment = module.EXPERIMENT
    run = Run(experiment.label, k, quick=True, **options)
    with quietly():
        result = experiment.perform(run)
    assert len({len(column) for column in result.table.values()}) == 1
    return result


def verdicts(checks):
    return [check.verdict for check in checks]


def sourced(checks):
    """Whether exactly the paper's claims have its words beside them; a theory's may have its number."""
    return all(bool(c.printed) if c.source == "paper" else not c.printed or c.source == "theory" for c in checks)


def named(checks, words):
    """The verdict of the one check whose claim begins so."""
    (result,) = [check.verdict for check in checks if check.claim.startswith(words)]
    return result


def subsets():
    """Each subset of the uniform design on five categories, with its mu: two or three members, ten questions."""
    return [(set(a), 0.1) for size in (2, 3) for a in combinations(range(5), size)]


# Tables -------------------------------------------------------------------------------------------


def test_race_table():
    result = outcome(tab_race_pop_dist)
    assert set(verdicts(result.checks)) == {"holds", "stated"}
    assert sourced(result.checks)
    assert list(result.table) == ["label", "race", "people", "printed", "obtained"]
    assert verdicts(outcome(tab_race_pop_dist, adult=EVEN).checks).count("differs") == 6


def test_gender_and_income_table():
    from scipy.stats import chi2_contingency

    result = outcome(tab_cont_full)
    assert set(verdicts(result.checks)) == {"holds", "stated"}
    assert sourced(result.checks)
    textbook = chi2_contingency(adult.sex_income, correction=False)
    assert f"chi-squared {textbook.statistic:.1f}, df 1" in result.checks[4].obtained
    # The square of an adjusted residual of a 2 x 2 table is Pearson's statistic.
    assert np.square(result.table["adjusted_residual"]) == pytest.approx(textbook.statistic)
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
    result = outcome(fig_adult_privacy_leak)
    assert set(verdicts(result.checks)) == {"holds", "erratum", "stated"}
    assert sourced(result.checks)
    entropy = -(RACE * np.log2(RACE)).sum()
    expected = [1 - (RACE**2).sum(), entropy, 1, *brute_leakage(), 0, 0, RACE.max()]
    assert result.table["leakage"] == pytest.approx(expected, abs=1e-12)


def test_two_numbers_are_cut_off_in_print():
    # "from 0.25 to 0.15": .2598 and .1559, which are .26 and .16.
    assert 1 - (RACE**2).sum() == pytest.approx(0.2598, abs=5e-5)
    assert brute_leakage()[0] == pytest.approx(0.1559, abs=5e-5)
    assert [round(1 - (RACE**2).sum(), 2), round(brute_leakage()[0], 2)] == [0.26, 0.16]


@every_case(
    ("metric", "place", "value"),
    [
        ("size", 0, 0.2502),
        ("size", 1, 0.165),
        ("size", 2, 1e-6),
        ("mi", 1, 1.0),
        ("mi", 2, 1e-6),
        ("prediction", 0, 0.99),
        ("prediction", 1, 0.96),
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
    result = outcome(fig_adult_privacy)
    assert verdicts(result.checks).count("differs") == 0
    assert verdicts(result.checks)[-1] == "erratum"
    assert sourced(result.checks)
    assert result.table["subset_is"] == ["of the paper", "ours", "one that fits the paper", "ours"]
    assert result.table["race"] == ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo"]
    assert all(race in subset for race, subset in zip(result.table["race"], result.table["subset"]))
    assert result.table["size_leakage"][0] == pytest.approx(1 - RACE[[1, 2, 4]].sum())
    assert result.table["size_leakage"][2] == pytest.approx(1 - RACE[[1, 4]].sum())
    assert result.table["subset"] == outcome(fig_adult_privacy).table["subset"]
    assert "differs" in verdicts(outcome(fig_adult_privacy, adult=evolve(EVEN, cells=adult.cells[::-1])).checks)


def test_two_subsets_fit_case_14():
    # The text tells that White is in it and 0.11; the design has four subsets with both.
    leaks = [1 - sum(RACE[j] for j in a) for a, _ in subsets() if {1, 4} <= a]
    assert len(leaks) == 4
    assert sorted(leak for leak in leaks if round(leak, 2) == 0.11) == pytest.approx([0.1055, 0.1138], abs=5e-5)
    result = fig_adult_privacy.reading(DESIGN, RACE)
    assert result.verdict == "holds"
    assert result.obtained == "Asian-Pac-Islander|White 0.1138; Asian-Pac-Islander|Other|White 0.1055"
    other = fig_adult_privacy.reading(DESIGN, np.full(5, 0.2))
    assert other.verdict == "differs"
    assert other.obtained.startswith("none of 0.6")


@pytest.mark.parametrize(
    ("order", "wrong"),
    [
        ((4, 3, 2, 1, 0), ("case 12: best", "case 12: share", "case 12: pred", "case 14: size leakage of a")),
        ((0, 4, 2, 3, 1), ("case 12: best", "case 14: size leakage of the", "case 14: best", "case 14: pred")),
    ],
)
def test_the_people_of_another_population_differ(order, wrong):
    other = evolve(EVEN, cells=tuple(adult.cells[i] for i in order), case_races=adult.case_races)
    checks = outcome(fig_adult_privacy, adult=other).checks
    assert {words for words in wrong if named(checks, words) != "differs"} == set()


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


@every_case("p", [4, 5, 7])
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
    result = race_sample.estimates(np.random.default_rng(1), DESIGN, RACE, 10**7)
    for name, w in result.items():
        assert np.abs(w - RACE).max() < 5e-3, name
    only = race_sample.estimates(np.random.default_rng(1), DESIGN, np.array([0, 0, 1.0, 0, 0]), 200)
    assert only["Sample"].tolist() == only["MLE"].round(6).tolist() == [0, 0, 1, 0, 0]


def test_one_sample():
    result = outcome(fig_race_diff)
    assert set(verdicts(result.checks)) == {"holds", "stated"}
    assert sourced(result.checks)
    assert list(result.table) == ["race", "method", "population", "estimate", "difference"]
    assert len(result.table["race"]) == 30


@every_case("name", ["Sample", "EM", "MLE"])
def test_a_sample_beyond_its_law_differs(name):
    law = race_sample.limits(DESIGN, RACE)[name]
    most = quadratic_form_quantile(np.linalg.eigvalsh(law), 0.999)
    assert fig_race_diff.one(name, 0.99 * most, law).verdict == "holds"
    assert fig_race_diff.one(name, 1.01 * most, law).verdict == "differs"
    assert fig_race_diff.one(name, float("nan"), law).verdict == "differs"
    # It has bite: White ten points too low, and Black as many too high, is refused.
    wrong = np.array([0, 0, 0.1, 0, -0.1])
    assert fig_race_diff.one(name, fig_race_diff.N * float(wrong @ wrong), law).verdict == "differs"


@every_case("name", ["ONE", "MoM", "MoM:cond"])
def test_the_others_are_stated(name):
    assert fig_race_diff.one(name, 1.0, race_sample.limits(DESIGN, RACE)[name]).verdict == "stated"


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
    assert verdicts(fig_adult_race_l2_loss.price(right, traces)) == ["erratum", "erratum", "stated"]
    assert verdicts(fig_adult_race_l2_loss.orderings(right, traces)) == ["holds", "erratum", *["holds"] * 3]
    slow = fake_losses(MLE=lambda n: (n / 100) ** 0.3)
    assert verdicts(fig_adult_race_l2_loss.rates(slow))[2] == "differs"
    large = fake_losses(MLE=lambda n: 4 + 0 * n)
    assert verdicts(fig_adult_race_l2_loss.last(large, laws, 400))[2] == "differs"
    assert verdicts(fig_adult_race_l2_loss.orderings(large, traces))[:2] == ["differs"] * 2
    best = fake_losses(MoM=lambda n: 0.05 + 0 * n)
    assert verdicts(fig_adult_race_l2_loss.orderings(best, traces))[1:4] == ["differs"] * 3


def test_the_price_can_fail():
    traces = {name: float(np.trace(law)) for name, law in race_sample.limits(DESIGN, RACE).items()}
    right, cheap = fake_losses(), fake_losses(MLE=lambda n: 0.6 + 0 * n)  # twice the loss: twice the people would do
    assert verdicts(fig_adult_race_l2_loss.price(cheap, traces))[1] == "differs"
    four = {**traces, "MLE": 4 * traces["Sample"]}
    assert verdicts(fig_adult_race_l2_loss.price(right, four))[:2] == ["differs"] * 2
    assert verdicts(fig_adult_race_l2_loss.orderings(right, {**traces, "MoM": traces["MLE"]}))[1] == "differs"


def test_twice_the_people():
    assert [n for n in fig_adult_race_l2_loss.SIZES if 2 * n in fig_adult_race_l2_loss.SIZES] == [100, 500, 1000, 5000]
    mean, error = fig_adult_race_l2_loss.doubled(fake_losses(k=4000))
    laws = race_sample.limits(DESIGN, RACE)
    assert mean == pytest.approx(np.trace(laws["MLE"]) / 2 - np.trace(laws["Sample"]), abs=4 * error)
    assert error < 0.01


def test_without_replacement_the_ratio_of_losses_is_above_four():
    # People drawn without replacement: the sample's loss shrinks, what the subsets add to it remains.
    laws = race_sample.limits(DESIGN, RACE)
    traces = {name: float(np.trace(law)) for name, law in laws.items()}
    shown = fig_adult_race_l2_loss.without_replacement(traces, 32_561)
    assert shown == "3.48 times at n = 2000, 3.75 times at n = 5000, 4.36 times at n = 10000"
    rng, n, k, losses = np.random.default_rng(1), 10_000, 300, []
    codes, mu = DESIGN.support()
    for people in rng.multivariate_hypergeometric(adult.race_counts, n, size=k):
        reports = rng.multinomial(people, mu * bits(codes, 5).T).sum(axis=0)
        result = estimate(SubsetCounts(codes, reports, DESIGN), "mle").w
        losses.append([n * ((people / n - RACE) ** 2).sum(), n * ((result - RACE) ** 2).sum()])
    sample, maximum = np.mean(losses, axis=0)
    errors = np.std(losses, axis=0) / np.sqrt(k)
    kept = (32_561 - n) / 32_560
    assert round((traces["MLE"] - (1 - kept) * traces["Sample"]) / (kept * traces["Sample"]), 1) == 4.4
    assert sample == pytest.approx(kept * traces["Sample"], abs=4 * errors[0])
    assert maximum == pytest.approx(traces["MLE"] - (1 - kept) * traces["Sample"], abs=4 * errors[1])


def test_loss_experiment_runs():
    result = outcome(fig_adult_race_l2_loss, k=3)
    assert sourced(result.checks)
    assert list(result.table) == ["method", "n", "mean", "error", "limit"]
    assert len(result.table["n"]) == 6 * 7
    assert result.table["mean"] == outcome(fig_adult_race_l2_loss, k=3).table["mean"]


# Power --------------------------------------------------------------------------------------------

W = adult.sex_income / adult.sex_income.sum()


def test_people_bits_and_subsets_are_the_same_people():
    values, enlarged, pairs = gender_income.draw(np.random.default_rng(1), W.ravel(), 10**6)
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
    assert gender_income.pearson(table) == pytest.approx(right)
    assert gender_income.pearson(np.array([[3, 4], [0, 0]])) == 1


def test_exact_numbers_of_people():
    people = {name: law.people(0.8, 0.05) for name, law in gender_income.laws(W).items()}
    assert (people["LRT of X"], people["LRT of Y"], people["LRT:MLE"]) == (153, 304, 2734)
    assert (people["PT:X"], people["PT:Y"], people["LRT, fair bits"]) == (169, 336, 1371)
    assert round(people["LRT:MLE"] / people["PT:Y"], 1) == 8.1


def curves(null=0.05, lost=0.025, **scales):
    """Decisions of 1000 samples in proportion to the limit laws; a scale above 1 makes a test need more people."""
    laws, k = gender_income.laws(W), 1000
    like = {"LRT:MoM": "LRT:MLE", "Bon": "Pearson"}

    def share(power):
        return np.arange(k) < np.round(k * np.asarray(power))[..., None]

    def power(name, sizes):
        return laws[like.get(name, name)].power(np.array(sizes) / scales.get(name, 1), 0.05)

    main = np.stack([share(power(name, fig_adult_power.SIZES)) for name in gender_income.NAMES], axis=2)
    seen = np.stack([share(power(name, fig_adult_power.OPEN_SIZES)) for name in ("PT:X", "PT:Y")], axis=2)
    level = np.repeat(share(null)[:, None], len(gender_income.NAMES), axis=1)
    ratio = np.stack([share(0.9), share(0.9 - lost)], axis=1)
    return fig_adult_power.Decisions(*(np.array(part, float) for part in (main, level, seen, ratio))), laws


@every_case("name", ["LRT:MLE", "Pearson", "LRT, fair bits", "PT:X", "PT:Y"])
def test_interpolation_finds_the_exact_number(name):
    result, laws = curves()
    log, error = result.size_at(name)
    assert log == pytest.approx(np.log(laws[name].size(0.8, 0.05)), abs=0.02)
    assert 0.01 < error < 0.04


def test_the_error_of_an_interpolation():
    laws, k, sizes = gender_income.laws(W), 100, fig_adult_power.SIZES
    rng = np.random.default_rng(1)
    power = laws["LRT:MLE"].power(np.array(sizes), 0.05)
    draws = np.array([gender_income.size_at(sizes, rng.binomial(k, power) / k, k, 0.8) for _ in range(500)])
    assert draws[:, 0].std() == pytest.approx(draws[:, 1].mean(), rel=0.25)
    assert np.isnan(gender_income.size_at(sizes, np.full(10, 0.9), 100, 0.8)).all()
    assert np.isnan(gender_income.size_at(sizes, np.full(10, 0.5), 100, 0.8)).all()


def test_checks_of_power_hold_where_the_laws_do():
    right, laws = curves(Bon=3)
    assert verdicts(fig_adult_power.ratios(right, laws)) == ["erratum"] * 2
    assert verdicts(fig_adult_power.information(right, laws)) == ["holds"] * 2
    assert fig_adult_power.level(right).verdict == "holds"
    assert verdicts(fig_adult_power.ends(right)) == ["holds", "stated"]
    assert verdicts(fig_adult_power.better(right, laws)) == ["holds"] * 4
    assert fig_adult_power.degrades(right).verdict == "erratum"
    assert fig_adult_power.degrades(evolve(right, ratio=None)).verdict == "stated"
    assert verdicts(fig_adult_power.limit_checks(right, laws, W)) == ["holds"] * 5


def test_the_number_of_people_can_differ():
    right, laws = curves()
    fast, _ = curves(**{"LRT:MLE": 0.45})  # four times the people of Y, as in print
    assert verdicts(fig_adult_power.ratios(fast, laws)) == ["erratum", "differs"]
    assert verdicts(fig_adult_power.ratios(right, {**laws, "LRT:MLE": laws["Pearson"]}))[0] == "differs"


def test_information_that_is_not_lost_differs():
    right, laws = curves()
    for scales in ({"PT:X": 3}, {"LRT:MLE": 0.1}):
        assert "differs" in verdicts(fig_adult_power.information(curves(**scales)[0], laws))
    swapped = {**laws, "PT:X": laws["PT:Y"], "PT:Y": laws["PT:X"]}
    assert verdicts(fig_adult_power.information(right, swapped))[0] == "differs"


@pytest.mark.parametrize("null", [0.02, 0.08])
def test_a_wrong_level_differs(null):
    assert fig_adult_power.level(curves(null=null)[0]).verdict == "differs"


def test_the_limits_of_a_level_are_exact():
    from scipy.stats import binom

    least, most = map(int, fig_adult_power.level(curves()[0]).tolerance.split(" of ")[0].split(" to "))
    assert 0 < binom.cdf(least - 1, 1000, 0.05) <= 1e-3 / 8 < binom.cdf(least, 1000, 0.05)
    assert 0 < binom.sf(most, 1000, 0.05) <= 1e-3 / 8 < binom.sf(most - 1, 1000, 0.05)


def test_a_test_that_is_behind_differs():
    slow, laws = curves(**{"LRT:MoM": 3, "Bon": 30})
    assert verdicts(fig_adult_power.ends(slow))[0] == "differs"
    assert verdicts(fig_adult_power.better(slow, laws)) == ["holds", "holds", "differs", "holds"]
    assert verdicts(fig_adult_power.better(evolve(slow, ratio=None), laws))[2] == "differs"
    assert "short form" in fig_adult_power.better(evolve(slow, ratio=None), laws)[0].tolerance


@every_case("lost", [-0.02, 0, 0.045, 0.1])
def test_no_loss_by_moments_differs_and_so_does_a_large_one(lost):
    assert fig_adult_power.degrades(curves(lost=lost)[0]).verdict == "differs"


@pytest.mark.slow
def test_moments_lose_a_little_power():
    run = Run("fig:adult_power", 4000, seed=2)
    result = run.replicate(gender_income.ratio_rejections, [(tuple(W.ravel().tolist()), 3200, 99)])[0]
    assert fig_adult_power.degrades(evolve(curves()[0], ratio=result)).verdict == "erratum"
    both, neither = (float((result.sum(axis=1) == n).mean()) for n in (2, 0))
    assert both + neither > 0.9


@every_case(("i", "name"), list(enumerate(["PT:X", "PT:Y", "LRT:MLE", "Pearson", "LRT, fair bits"])))
def test_a_power_beside_its_law_differs(i, name):
    for scale in (0.5, 2):
        checks = fig_adult_power.limit_checks(*curves(**{name: scale}), W)
        assert verdicts(checks) == ["differs" if j == i else "holds" for j in range(5)]


def test_the_allowance_of_a_limit_law():
    right, laws = curves()
    for away, verdict in ((0.04, "holds"), (0.15, "differs")):
        moved = right.open.copy()
        moved[0, : int(1000 * (laws["PT:X"].power(100, 0.05) + away)), 0] = 1
        assert verdicts(fig_adult_power.limit_checks(evolve(right, open=moved), laws, W))[0] == verdict


def test_a_null_of_the_same_margins():
    null = gender_income.independent(W)
    assert null.sum(axis=0) == pytest.approx(W.sum(axis=0))
    assert null.sum(axis=1) == pytest.approx(W.sum(axis=1))
    assert np.linalg.matrix_rank(null, tol=1e-12) == 1


def test_the_rarest_cell():
    rare = gender_income.rarest(W)
    of_pairs = np.kron(gender_income.independent(W), np.full((2, 2), 0.25))
    assert rare["PT:X"] == pytest.approx(gender_income.independent(W).min())
    assert rare["PT:Y"] == pytest.approx(of_pairs.min())
    pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
    assert rare["LRT:MLE"] == pytest.approx(min(of_pairs[np.ix_(a, b)].sum() / 9 for a in pairs for b in pairs))


def test_tasks_of_one_sample():
    w = tuple(W.ravel().tolist())
    for task, options, length in (
        (gender_income.rejections, (19,), 7),
        (gender_income.false_rejections, (19,), 7),
        (gender_income.ratio_rejections, (19,), 2),
        (gender_income.open_rejections, (), 2),
    ):
        result = task(np.random.default_rng(1), w, 20_000, *options)
        assert result == [1.0] * length


@pytest.mark.parametrize("quick", [True, False])
def test_power_experiment_runs(monkeypatch, quick):
    monkeypatch.setattr(fig_adult_power, "SIZES", (50, 1600, 3200))
    for times in ("NULL_TIMES", "OPEN_TIMES", "RATIO_TIMES"):
        monkeypatch.setattr(fig_adult_power, times, 1)
    run = Run("fig:adult_power", 2, quick=quick)
    with quietly():
        result, again = (fig_adult_power.perform(run) for _ in range(2))
    assert list(result.table) == ["population", "test", "n", "power", "replications", "limit_law"]
    assert len(result.table["n"]) == 7 * 3 + 7
    assert np.isnan(result.table["limit_law"][3])  # LRT:MoM has none
    assert result.table["power"] == again.table["power"]
    assert sourced(result.checks)
