"""Samples enough to tell, and no more: the engine that all checks share."""

from itertools import combinations, product
from math import ceil, factorial, prod

import numpy as np
import pytest
from asking import options
from every_case import every_case
from scipy import stats

import subsetprivacy as sp
from subsetprivacy.honesty.alarms import Alarm, DataTest, alarm_for, even_share, settled, simulated
from subsetprivacy.honesty.answer_samples import answer_samplers
from subsetprivacy.honesty.hypergeometric import skips_at_random
from subsetprivacy.honesty.resampling import NullSampler
from subsetprivacy.honesty.stated_distribution import StatedDistribution, pair_counts, pairs_test, pearson_test
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.messages import NoteKind

EXACT = DataTest("sides", 0.5, None, 0.6, "exact")


class Counted:
    """Uniform statistics, and how many were drawn."""

    def __init__(self, statistic, cost=1e-6, seed=1, block=200):
        self.drawn = 0
        self.sampler = NullSampler(statistic, self.draw, cost, seed, block)

    def draw(self, generator, number):
        self.drawn += number
        return generator.random(number)


def test_the_first_samples_are_enough_where_nothing_hangs_on_them():
    source = Counted(0.9)
    test = simulated("x", source.sampler)
    assert source.drawn == 199
    assert test.pvalue == (1 + (np.random.default_rng(1).random(199) >= 0.9).sum()) / 200
    source.drawn = 0
    assert settled(test, Alarm(24)).law == "simulated (199)"
    assert source.drawn == 0


def test_an_extreme_statistic_is_compared_with_as_many_samples_as_the_level_takes():
    test = simulated("x", Counted(2.0).sampler)
    assert test.pvalue == 1 / 200
    final = settled(test, Alarm(24))
    assert final.samples == ceil(4 * 24 / 0.01)
    assert final.pvalue == 1 / 9601
    assert final.law == "simulated (9600)"
    assert final.is_alarm
    assert not final.lacks_samples


def test_it_stops_when_an_alarm_is_out_of_the_question():
    """One in a hundred: some of the first 199 samples may be more extreme, of the first thousands many are."""
    numbers = set()
    for seed in range(40):
        final = settled(simulated("x", Counted(0.99, seed=seed).sampler), Alarm(24))
        numbers.add(final.samples)
        stream = np.random.default_rng(seed).random(final.samples)
        assert final.pvalue == (1 + (stream >= 0.99).sum()) / (1 + final.samples)
        assert not final.is_alarm
    assert numbers == {199, 799}


def test_the_seed_makes_a_difference_and_blocks_do_not():
    one, two, three = (
        settled(simulated("x", Counted(0.9995, **given).sampler), Alarm(24))
        for given in ({"seed": 5}, {"seed": 5, "block": 7}, {"seed": 6})
    )
    assert (one.pvalue, one.samples) == (two.pvalue, two.samples)
    assert one.pvalue != three.pvalue


@pytest.mark.slow
def test_honest_data_raise_an_alarm_as_often_as_the_level_says():
    """The steps do not change the law: four of 2,001 places of the data among their samples are alarms."""
    alarm, rng = Alarm(5), np.random.default_rng(7)
    pvalues = np.array(
        [
            settled(simulated("x", Counted(float(u), seed=k).sampler), alarm).pvalue
            for k, u in enumerate(rng.random(20_000))
        ]
    )
    for x in (alarm.alpha, 0.005, 0.01, 0.02, 0.05, 0.2):
        share = (pvalues < x).mean()
        assert share < x + 4 * np.sqrt(x / 20_000)
        assert share > 0.8 * x - 4 * np.sqrt(x / 20_000)


def test_several_statistics_share_their_samples():
    sampler = NullSampler(np.array([0.9, 2.0]), lambda rng, number: np.tile(rng.random(number), (2, 1)).T, 1e-6, 1)
    pvalues, drawn = sampler.pvalues(most=499)
    stream = np.random.default_rng(1).random(499)
    assert drawn == 499
    assert pvalues.tolist() == [(1 + (stream >= 0.9).sum()) / 500, 1 / 500]


def test_ties_but_for_rounding_are_as_extreme_and_no_pvalue_is_0():
    same = NullSampler(3.0, lambda rng, number: np.full(number, 3.0 - 1e-12), 1e-6, 1)
    assert same.pvalue(most=19) == (1.0, 19)
    never = NullSampler(3.0, lambda rng, number: np.zeros(number), 1e-6, 1)
    assert never.pvalue(most=19) == (0.05, 19)
    assert DataTest("x", 1e9, 1, 0.0, "chi-square").pvalue > 0


# Time, by what a sample costs on a plain machine ------------------------------------------------


def test_where_time_is_short_fewer_samples_that_reach_the_level_are_drawn():
    test = simulated("x", Counted(2.0, cost=4e-4).sampler)  # 2,400 of them take a second, 9,600 take four
    final = settled(test, alarm_for([test, *[EXACT] * 23]))
    assert final.samples == 2400
    assert final.is_alarm


def test_where_time_does_not_reach_the_level_it_is_said_and_is_no_alarm():
    test = simulated("x", Counted(2.0, cost=1e-3).sampler)
    final = settled(test, alarm_for([test, *[EXACT] * 23]))
    assert final.samples == 1500
    assert final.pvalue == 1 / 1501
    assert not final.is_alarm
    (note,) = final.notes
    assert note.kind is NoteKind.BUDGET
    assert note.text.startswith("None of 1,500 samples is as extreme as the data. An alarm needs more than 2,400,")
    assert settled(test, alarm_for([test, *[EXACT] * 23], budget=10.0)).is_alarm


def test_time_that_is_not_needed_is_left_to_the_others():
    assert even_share([]) == 1.5
    assert even_share([0.1, 0.2]) == 1.5
    assert even_share([4.0, 0.1, 5.0]) == pytest.approx(0.7)
    assert even_share([3.0, 3.0, 3.0]) == pytest.approx(0.5)
    assert even_share([3.0, 3.0], budget=4.0) == pytest.approx(2.0)


def test_the_same_pvalue_is_an_alarm_among_few_tests_and_none_among_many():
    test = DataTest("sides", 0.4, None, 0.004, "exact")
    assert settled(test, Alarm(2)).is_alarm
    assert not settled(test, Alarm(3)).is_alarm
    assert settled(test, Alarm(3, chance=0.05)).is_alarm


def test_the_level_in_words():
    (note,) = Alarm(24).notes
    assert note.text.startswith("24 tests were run. Each raises an alarm if its p-value is below 0.00042.")
    assert Alarm(0).notes == ()
    assert Alarm(0).alpha == 0.01


# The statistics that are drawn ------------------------------------------------------------------


def test_pairs_in_one_group_by_hand():
    groups = np.array([[0b0011, 0b1100], [0b0101, 0b1010]])
    n = np.array([3, 2])
    expected = np.zeros((4, 4))
    for row, amount in zip(groups.tolist(), n.tolist(), strict=True):
        for code in row:
            for i, j in combinations([k for k in range(4) if code >> k & 1], 2):
                expected[i, j] += amount
    assert np.triu(pair_counts(groups, n, 4), 1) == pytest.approx(expected)


def test_pearson_is_that_of_scipy_where_counts_are_large():
    observed, law = np.array([30, 50, 41]), np.array([0.2, 0.4, 0.4])
    test = pearson_test("x", observed, law, 1)
    assert (test.statistic, test.pvalue) == pytest.approx(tuple(stats.chisquare(observed, 121 * law)))
    assert test.df == 2


def test_many_samples_of_small_counts_are_near_the_exact_law():
    observed, law, n = np.array([0, 1, 6]), np.array([0.3, 0.5, 0.2]), 7

    def far(one):
        return ((np.array(one) - n * law) ** 2 / (n * law)).sum()

    exact = sum(
        factorial(n) / prod(map(factorial, one)) * prod(law ** np.array(one))
        for one in product(range(n + 1), repeat=3)
        if sum(one) == n and far(one) >= far(observed) - 1e-9
    )
    assert 0.0001 < exact < 0.001
    pvalue, drawn = pearson_test("x", observed, law, 3).sampler.pvalue(most=80_000)
    assert drawn == 80_000
    assert pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact / 80_000))


@pytest.mark.slow
def test_few_people_and_many_cells_are_drawn_one_by_one_with_the_same_law():
    cells, n = 2000, 40
    law = np.arange(1.0, cells + 1) / (cells * (cells + 1) / 2)
    rng = np.random.default_rng(1)
    stated = StatedDistribution.of(rng.multinomial(n, law), law)
    one_by_one = stated._draw(np.random.default_rng(2), 2000)
    all_at_once = stated._distance(np.random.default_rng(3).multinomial(n, law, 2000))
    assert stats.ks_2samp(one_by_one, all_at_once).pvalue > 0.001


@pytest.mark.slow
def test_pairs_of_drawn_questions_have_the_law_of_pairs_counted_one_by_one():
    """The statistic of samples is that of the data: p-values of samples from the design are even."""
    design, pvalues = sp.partition(options(9), 3), []
    for seed in range(80):
        groups = np.asarray(design.draw_options(60, SeededSource(np.random.default_rng(seed))), np.int64)
        pvalues.append(pairs_test(design, groups, np.ones(60, np.int64), seed).pvalue)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "n", "skewed"),
    [
        (sp.uniform(options(8)), 400, True),
        (sp.uniform(options(5)), 60, True),
        (sp.hadamard(options(12)), 100, False),
        (sp.partition(options(9), 3), 200, False),
    ],
)
def test_samples_of_answers_have_the_law_of_the_bootstrap_that_fits_each(design, n, skewed):
    w = 0.6 ** np.arange(design.p) if skewed else np.ones(design.p)
    for seed in range(2):
        counts = sp.simulate(design, w / w.sum(), n, seed=seed)
        check = sp.check_honesty(counts, method="bootstrap", replications=199, seed=seed)
        answers, chance = answer_samplers(counts, (seed, seed + 100))
        assert answers.statistic == pytest.approx(check.answers.statistic, rel=0.05)
        assert answers.pvalue(most=999)[0] == pytest.approx(check.answers.pvalue, abs=0.13)
        assert (chance is None) == (check.random is None)
        if chance is not None:
            assert chance.statistic == pytest.approx(check.random.test.statistic, abs=0.1)
            assert chance.pvalue(most=999)[0] == pytest.approx(check.random.test.pvalue, abs=0.13)


# People who skip, out of billions ---------------------------------------------------------------


@every_case(
    ("people", "k"),
    [
        ([4_000_000, 3_000_000, 3_000_001], 7),
        ([9_000_000, 1_000_000, 300], 2_000_000),
        ([9_000_000, 1_000_000, 300], 9_999_000),
        ([10_000_000, 12, 40_000_000], 30_000_000),
        ([10_000_000, 12, 40_000_000], 49_999_995),
    ],
)
def test_samples_of_very_many_people_have_the_hypergeometric_law(people, k):
    total, counts = sum(people), np.array(people)
    drawn = skips_at_random(np.random.default_rng(1), counts, k, 4000)
    assert (drawn.sum(axis=1) == k).all()
    assert (drawn >= 0).all()
    assert (drawn <= counts).all()
    share = counts / total
    sd = np.sqrt(k * share * (1 - share) * (total - k) / (total - 1))
    assert drawn.mean(axis=0) == pytest.approx(k * share, abs=5 * sd.max() / np.sqrt(4000))
    assert drawn.std(axis=0) == pytest.approx(sd, rel=0.06, abs=0.01)


def test_a_trillion_people_are_drawn_from_in_an_instant():
    drawn = skips_at_random(np.random.default_rng(1), np.array([10**12, 10**12, 5]), 10**11, 50)
    assert (drawn.sum(axis=1) == 10**11).all()
    assert drawn[:, 2].max() <= 5
