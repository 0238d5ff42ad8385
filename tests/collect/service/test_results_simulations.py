"""The levels and powers of the checks of the data, by simulation."""

import numpy as np
import pytest
from released import HONEST, Manners, drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.counters import counts_of, group_rows, question_counts
from subsetprivacy.collect.service.results import BUDGET, results
from subsetprivacy.honesty.alarms import Alarm
from subsetprivacy.honesty.check import run_honesty_check
from subsetprivacy.honesty.draws import run_draws_check
from subsetprivacy.honesty.leaning import run_leaning_check, shares_for
from subsetprivacy.honesty.resampling import NullSampler
from subsetprivacy.honesty.skips import run_skips_check

pytestmark = pytest.mark.slow
RUNS = 400


def samples(design, n, manner=HONEST, runs=RUNS):
    """Return released surveys of one variable, one after the other, with a seed for each."""
    survey = survey_of({"a": design})
    w = np.arange(1, design.p + 1.0)
    for seed in range(runs):
        yield seed, drawn(survey, {"a": values(w, n, 1000 + seed)}, seed=seed, manners={"a": manner})


def near(share, expected, runs=RUNS):
    """Tell whether a share of runs is what it should be, within four standard errors."""
    return abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / runs)


def leanings(design, n, manner=HONEST, runs=RUNS, tests=1):
    found = []
    for seed, released in samples(design, n, manner, runs):
        shares = shares_for(counts_of(group_rows(released, 0), "a", design))
        look = run_leaning_check(question_counts(released)["a"], shares, seed)
        found.append(look.settled(Alarm(tests)))
    return found


@pytest.mark.parametrize(
    ("design", "n"), [(sp.uniform(options(8)), 2000), (sp.uniform(options(5)), 25), (sp.hadamard(options(12)), 300)]
)
def test_the_level_of_the_leaning_is_right(design, n):
    found = leanings(design, n)
    assert near(np.mean([one.test.pvalue < 0.05 for one in found]), 0.05)
    z = np.array([one.test.statistic for one in found])
    assert z.std() == pytest.approx(1, abs=0.15)
    assert abs(z.mean()) < 0.2


@pytest.mark.parametrize(("tests", "power"), [(1, 0.45), (24, 0.14)])
def test_five_percent_who_always_say_yes_are_found_with_the_stated_power(tests, power):
    found = leanings(sp.uniform(options(8)), 2000, Manners(always_yes=0.05), tests=tests)
    stated = float(np.mean([one.power for one in found]))
    assert stated == pytest.approx(power, abs=0.05)
    assert near(np.mean([one.is_alarm for one in found]), stated)
    assert np.mean([one.share for one in found]) == pytest.approx(0.05, abs=0.005)
    covered = np.mean([one.lower < 0.05 < one.upper for one in found])
    assert near(covered, 0.95)


@pytest.mark.parametrize(
    ("design", "n"),
    [
        (sp.uniform(options(5)), 300),
        (sp.uniform(options(5)), 2000),
        (sp.uniform(options(8)), 2000),
        (sp.uniform(options(48)), 300),
        (sp.partition(options(9), 3), 300),
    ],
)
def test_the_level_of_the_skips_is_right(design, n):
    manner = Manners(skips=lambda shown, truth, rng: rng.random(len(truth)) < np.where(truth == 0, 0.3, 0.1))
    tests = [
        run_skips_check(question_counts(released)["a"], seed).test for seed, released in samples(design, n, manner, 250)
    ]
    assert near(np.mean([test.pvalue <= 0.05 for test in tests]), 0.05, 250)


@pytest.mark.parametrize(
    ("design", "n"),
    [
        (sp.uniform(options(5)), 25),
        (sp.uniform(options(16)), 300),
        (sp.uniform(options(16)), 3000),
        (sp.partition(options(16), 2), 1000),
    ],
)
def test_the_level_of_the_draws_is_right(design, n):
    tests = [
        run_draws_check(counts_of(group_rows(released, 0), "a", design), question_counts(released)["a"], seed).test
        for seed, released in samples(design, n, runs=250)
    ]
    assert near(np.mean([test.pvalue <= 0.05 for test in tests]), 0.05, 250)


def test_ten_percent_who_answer_by_chance_are_estimated_right():
    design = sp.uniform(options(8))
    found = [
        run_honesty_check(counts_of(group_rows(released, 0), "a", design), seed)
        for seed, released in samples(design, 2000, Manners(at_random=0.1), 200)
    ]
    shares, errors = (np.array([getattr(one, name) for one in found]) for name in ("share", "se"))
    assert shares.mean() == pytest.approx(0.1, abs=4 * errors.mean() / np.sqrt(200))
    assert shares.std() == pytest.approx(errors.mean(), rel=0.2)
    assert np.mean(np.abs(shares - 0.1) < 2 * errors) > 0.9


def test_answers_by_chance_are_found_with_the_stated_power():
    """People of whom as many answer by chance as should be found in 80 of 100 surveys with 24 tests."""
    design, alarm = sp.uniform(options(8)), Alarm(24)
    released = next(samples(design, 2000))[1]
    least = run_honesty_check(counts_of(group_rows(released, 0), "a", design), 1).settled(alarm).detectable
    assert 0.2 < least < 0.4
    found = [
        run_honesty_check(counts_of(group_rows(released, 0), "a", design), seed).settled(alarm)
        for seed, released in samples(design, 2000, Manners(at_random=least), 200)
    ]
    assert np.mean([one.random_test.is_alarm for one in found]) == pytest.approx(0.8, abs=0.13)


SIX = {
    "a": sp.uniform(options(8)),
    "b": sp.uniform(options(6)),
    "c": sp.hadamard(options(12)),
    "d": sp.partition(options(9), 3),
    "e": sp.uniform(options(5)),
    "f": sp.uniform(options(12)),
}


@pytest.mark.parametrize("n", [60, 400])
def test_honest_people_raise_any_alarm_in_one_survey_of_a_hundred(n):
    survey, skips_some = survey_of(SIX), Manners(skips=lambda shown, truth, rng: rng.random(len(truth)) < 0.05)
    runs, alarms, drawn_on = 300, 0, 0
    for seed in range(runs):
        truth = {name: values(np.arange(1, held.p + 1), n, 10 * seed + k) for k, (name, held) in enumerate(SIX.items())}
        found = results(drawn(survey, truth, seed=seed, manners=dict.fromkeys(SIX, skips_some))).findings
        assert 27 <= found.alarm.tests <= 33
        alarms += found.alarms > 0
        drawn_on += any(test.samples > 199 for test in found.checks.tests)
    assert alarms <= 6  # 2 % of them
    assert drawn_on > 10  # the simulated laws have been put to the test


def test_a_survey_with_everything_wrong_draws_no_more_samples_than_there_is_time_for(monkeypatch):
    """By what a sample costs on a plain machine, which is known beforehand and so the same on every one."""
    drawn_for, usual = [], NullSampler.pvalue

    def noted(self, *given, **also):
        pvalue, number = usual(self, *given, **also)
        drawn_for.append(number * self.cost)
        return pvalue, number

    monkeypatch.setattr(NullSampler, "pvalue", noted)

    def gone(shown, truth, rng):
        return rng.random(len(truth)) < np.where(shown[:, 0] & 1 == 1, 0.2, 0.02)

    designs = {**SIX, "g": sp.uniform(options(16)), "h": sp.uniform(options(48)), "i": sp.partition(options(48), 4)}
    truth = {name: values([1] * design.p, 1500, k) for k, (name, design) in enumerate(designs.items())}
    wrong = Manners(at_random=0.5, always_yes=0.2, skips=gone)
    released = drawn(survey_of(designs), truth, manners=dict.fromkeys(designs, wrong))
    found = results(released).findings
    assert 0.1 < sum(drawn_for) < found.settings.check_seconds < BUDGET
    assert sum(test.is_alarm for test in found.checks.tests) > 9
