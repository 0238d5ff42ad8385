"""The levels and powers of the checks, by simulation; `tests/support/check_levels.py` takes more samples."""

import numpy as np
import pytest
from asking import Manners, options
from check_levels import (
    DRAWS,
    HONESTY,
    LEANING,
    SIX,
    SKIPS,
    alarms,
    any_alarm,
    draws_tests,
    honesty_tests,
    leaning_tests,
    rates,
    redrawing,
    skipping,
    skips_tests,
)

import subsetprivacy as sp
from subsetprivacy.honesty.alarms import SECONDS, Alarm
from subsetprivacy.honesty.resampling import NullSampler

pytestmark = pytest.mark.slow
RUNS = 400
EIGHT, FIVE = sp.uniform(options(8)), sp.uniform(options(5))


def near(share, expected, runs=RUNS):
    """Tell whether a share of runs is what it should be, within four standard errors."""
    return abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / runs)


@pytest.mark.parametrize("case", DRAWS)
def test_the_level_of_the_draws(case):
    checks = draws_tests(*DRAWS[case], RUNS)
    assert near(rates([check.test for check in checks])[0], 0.05)
    assert rates([check.sides for check in checks])[0] < 0.05 + 4 * np.sqrt(0.05 / RUNS)  # exact, so rather below


@pytest.mark.parametrize("case", LEANING)
def test_the_level_of_leaning(case):
    checks = leaning_tests(*LEANING[case], RUNS)
    assert near(rates([check.test for check in checks])[0], 0.05)
    if checks[0].share is not None:
        z = np.array([check.test.statistic for check in checks])
        assert z.std() == pytest.approx(1, abs=0.15)
        assert abs(z.mean()) < 0.2


@pytest.mark.parametrize("case", SKIPS)
def test_the_level_of_skips_that_depend_on_the_value_alone(case):
    assert near(rates([check.test for check in skips_tests(*SKIPS[case], RUNS)])[0], 0.05)


@pytest.mark.parametrize("case", HONESTY)
def test_the_level_of_honesty(case):
    checks = honesty_tests(*HONESTY[case], RUNS)
    assert near(rates([check.answers_test for check in checks])[0], 0.05)
    assert near(rates([check.random_test for check in checks])[0], 0.05)


@pytest.mark.parametrize("n", [60, 400])
def test_honest_people_raise_any_alarm_in_one_survey_of_a_hundred(n):
    share, tests = any_alarm(n, 300, Manners(skips=lambda shown, truth: 0.05))
    assert 27 <= tests <= 33
    assert share <= 0.02


@pytest.mark.parametrize(("tests", "power"), [(1, 0.45), (24, 0.14)])
def test_five_percent_who_always_say_yes_are_found_with_the_stated_power(tests, power):
    checks = leaning_tests(EIGHT, 2000, RUNS, Manners(always_yes=0.05))
    settled = [check.settled(Alarm(tests)) for check in checks]
    stated = float(np.mean([check.power for check in settled]))
    assert stated == pytest.approx(power, abs=0.05)
    assert near(alarms(checks, tests), stated)
    assert np.mean([check.share for check in checks]) == pytest.approx(0.05, abs=0.005)
    assert near(np.mean([check.lower < 0.05 < check.upper for check in checks]), 0.95)


def test_ten_percent_who_answer_by_chance_are_estimated_right():
    checks = honesty_tests(EIGHT, 2000, 200, Manners(at_random=0.1))
    shares, errors = (np.array([getattr(check, name) for check in checks]) for name in ("share", "se"))
    assert shares.mean() == pytest.approx(0.1, abs=4 * errors.mean() / np.sqrt(200))
    assert shares.std() == pytest.approx(errors.mean(), rel=0.2)
    assert np.mean(np.abs(shares - 0.1) < 2 * errors) > 0.9


def test_answers_by_chance_are_found_with_the_stated_power():
    """People of whom as many answer by chance as should be found in 80 of 100 samples with 24 tests."""
    alarm = Alarm(24)
    least = honesty_tests(EIGHT, 2000, 1)[0].settled(alarm).detectable
    assert 0.2 < least < 0.4
    checks = honesty_tests(EIGHT, 2000, 200, Manners(at_random=least))
    assert alarms(checks, 24, lambda check: check.random_test) == pytest.approx(0.8, abs=0.13)


def test_people_who_draw_again_are_found_if_they_are_many():
    few, all_of_them = (alarms(draws_tests(FIVE, 2000, 100, redrawing(share)), 24) for share in (0.1, 1.0))
    assert few < 0.1
    assert all_of_them > 0.4


def test_skips_that_depend_on_question_and_value_are_found():
    w = np.r_[np.ones(4), 4.0]
    weak, strong = (alarms(skips_tests(FIVE, 1500, 100, skipping(rate), w), 24) for rate in (0.05, 0.5))
    assert weak < strong
    assert strong > 0.95


def test_a_survey_with_everything_wrong_draws_no_more_samples_than_there_is_time_for(monkeypatch):
    """By what a sample costs on a plain machine, which is known beforehand and so the same on every one."""
    from asking import ask

    drawn_for, usual = [], NullSampler.pvalues

    def noted(self, *given, **also):
        pvalues, number = usual(self, *given, **also)
        drawn_for.append(number * self.cost)
        return pvalues, number

    monkeypatch.setattr(NullSampler, "pvalues", noted)
    gone = Manners(at_random=0.5, always_yes=0.2, skips=lambda shown, truth: np.where(shown[:, 0] & 1 == 1, 0.2, 0.02))
    designs = {**SIX, "g": sp.uniform(options(16)), "h": sp.uniform(options(48)), "i": sp.partition(options(48), 4)}
    made = {name: ask(design, np.ones(design.p), 1500, k, gone) for k, (name, design) in enumerate(designs.items())}
    checks = sp.check_all({name: one[1] for name, one in made.items()}, {name: one[0] for name, one in made.items()})
    assert 0.1 < sum(drawn_for) < SECONDS
    assert len(checks.alarms) > 9
