"""When a check is an alarm: one small chance for all tests of a survey, and samples enough to tell."""

import re
from itertools import product
from math import ceil, factorial, prod

import numpy as np
import pytest
from released import Manners, drawn, options, survey_of, values
from scipy import stats

import subsetprivacy as sp
from subsetprivacy.collect.service import results_tests
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.service.results_alarms import Alarm, even_share
from subsetprivacy.collect.service.results_honesty import honesty
from subsetprivacy.collect.service.results_honesty_samples import answer_samplers
from subsetprivacy.collect.service.results_resampling import Sampler
from subsetprivacy.collect.service.results_tests import Test, alarm_for, pairs_test, pearson_test, settle, simulated
from subsetprivacy.collect.web.studio_panels import variable_panel
from subsetprivacy.mechanism.simulate import simulate

SOME = Manners(skips=lambda shown, truth, rng: rng.random(len(truth)) < 0.1)
DESIGNS = {
    "a": sp.uniform(options(5)),
    "b": sp.warner(("no", "yes")),
    "c": sp.partition(options(9), 3),
    "d": sp.uniform(options(4)),
}


@pytest.fixture(scope="module")
def found():
    truth = {name: values(np.arange(1, design.p + 1), 400, k) for k, (name, design) in enumerate(DESIGNS.items())}
    return results(drawn(survey_of(DESIGNS, [["a", "b"]]), truth, manners={"a": SOME, "c": SOME}))


def checks(found):
    return [check for one in found.variables for check in (one.draws, one.leaning, one.skips, one.honesty)]


# The level ------------------------------------------------------------------------------------


def test_all_pvalues_of_the_checks_are_counted_and_none_of_the_pairs(found):
    document = results_document(found)
    printed = len(re.findall("'pvalue'", str(document["variables"])))
    assert document["alarms"] == {"chance": 0.01, "tests": printed, "level": pytest.approx(0.01 / printed)}
    assert document["pairs"][0]["test"]["pvalue"] is not None
    # Questions, sides, leaning, skips, answers, chance; places, skips, answers; questions, sides, leaning.
    assert printed == 6 + 3 + 3


def test_the_level_is_said_once_and_stands_with_every_test(found):
    tested = [check for check in checks(found) if check.tests]
    assert len(tested) == 4 + 3 + 2
    assert not any("p =" in check.said for check in tested)
    facts = [text for one in found.variables for check in variable_panel(one).checks for _, text in check.facts]
    assert sum("alarm below 0.00083 (" in text for text in facts) == 12
    assert all(test.level == pytest.approx(0.01 / 12) for check in tested for test in check.tests)
    assert "The data are put to 12 tests. Each is an alarm below p = 0.00083" in found.notes[-1]


def test_a_check_that_raises_an_alarm_says_what_it_does_to_the_estimate():
    gone = Manners(skips=lambda shown, truth, rng: rng.random(len(truth)) < np.where(shown[:, 0] & 1 == 1, 0.5, 0.02))
    always = Manners(always_yes=0.6, at_random=0.4)
    designs = {"a": sp.uniform(options(8)), "b": sp.uniform(options(8)), "c": sp.partition(options(9), 3)}
    truth = {name: values([1] * design.p, 3000, 1) for name, design in designs.items()}
    found = results(drawn(survey_of(designs), truth, manners={"a": gone, "b": always, "c": always}))
    raised = [check for check in checks(found) if check.is_alarm]
    assert len(raised) >= 4
    assert all(re.search("estimate|biases everything|No shares explain", check.said) for check in raised)


def test_the_same_pvalue_is_an_alarm_in_a_small_survey_and_none_in_a_large_one():
    test = Test("sides", 0.4, None, 0.004, "exact")
    assert settle(test, Alarm(2)).is_alarm
    assert not settle(test, Alarm(3)).is_alarm
    assert settle(None, Alarm(3)) is None


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (1, "1 test. Each is an alarm below p = 0.01,"),
        (24, "24 tests. Each is an alarm below p = 0.00042,"),
        (384, "384 tests. Each is an alarm below p = 0.000026,"),
    ],
)
def test_the_level_in_words(tests, words):
    assert words in Alarm(tests).note


def test_nothing_to_test_is_no_level_of_its_own():
    designs = {"a": sp.warner(("no", "yes"))}
    nothing = results(drawn(survey_of(designs, mode="code"), {"a": values([1, 1], 50, 1)}))
    assert results_document(nothing)["alarms"] == {"chance": 0.01, "tests": 0, "level": 0.01}
    assert nothing.notes == ()


# Samples --------------------------------------------------------------------------------------


class Counted:
    """Uniform statistics, and how many were drawn."""

    def __init__(self, statistic, cost=1e-6, seed=1, block=200):
        self.drawn = 0
        self.sampler = Sampler(statistic, self.draw, cost, seed, block)

    def draw(self, generator, number):
        self.drawn += number
        return generator.random(number)


def test_the_first_samples_are_enough_where_nothing_hangs_on_them():
    source = Counted(0.9)
    test = simulated("x", source.sampler)
    assert source.drawn == 199
    assert test.pvalue == (1 + (np.random.default_rng(1).random(199) >= 0.9).sum()) / 200
    source.drawn = 0
    assert settle(test, Alarm(24)).law == "simulated (199)"
    assert source.drawn == 0


def test_an_extreme_statistic_is_compared_with_as_many_samples_as_the_level_takes():
    test = simulated("x", Counted(2.0).sampler)
    assert test.pvalue == 1 / 200
    settled = settle(test, Alarm(24))
    assert settled.samples == ceil(4 * 24 / 0.01)
    assert settled.pvalue == 1 / 9601
    assert settled.law == "simulated (9600)"
    assert settled.is_alarm
    assert settled.remark == ""


def test_it_stops_when_an_alarm_is_out_of_the_question():
    """One in a hundred: some of the first 199 samples may be more extreme, of the first thousands many are."""
    numbers = set()
    for seed in range(40):
        test = simulated("x", Counted(0.99, seed=seed).sampler)
        settled = settle(test, Alarm(24))
        numbers.add(settled.samples)
        stream = np.random.default_rng(seed).random(settled.samples)
        assert settled.pvalue == (1 + (stream >= 0.99).sum()) / (1 + settled.samples)
        assert not settled.is_alarm
    assert numbers == {199, 799}


def test_blocks_make_no_difference_and_the_seed_does():
    one, two, three = (
        settle(simulated("x", Counted(0.9995, **held).sampler), Alarm(24))
        for held in ({"seed": 5}, {"seed": 5, "block": 7}, {"seed": 6})
    )
    assert (one.pvalue, one.samples) == (two.pvalue, two.samples)
    assert one.pvalue != three.pvalue


def test_honest_data_raise_an_alarm_as_often_as_the_level_says():
    """The steps do not change the law: four of 2 001 places of the data among their samples are alarms."""
    alarm, rng = Alarm(5), np.random.default_rng(7)
    pvalues = np.array(
        [
            settle(simulated("x", Counted(float(u), seed=k).sampler), alarm).pvalue
            for k, u in enumerate(rng.random(20_000))
        ]
    )
    for x in (alarm.level, 0.005, 0.01, 0.02, 0.05, 0.2):
        share = (pvalues < x).mean()
        assert share < x + 4 * np.sqrt(x / 20_000)
        assert share > 0.8 * x - 4 * np.sqrt(x / 20_000)


def test_where_time_is_short_fewer_samples_that_reach_the_level_are_drawn():
    test = simulated("x", Counted(2.0, cost=4e-4).sampler)  # 2 400 of them take a second, 9 600 take four
    alarm = alarm_for([test, *[Test("sides", 0.5, None, 0.6, "exact")] * 23])
    assert (alarm.tests, alarm.spare) == (24, 1)
    settled = settle(test, alarm)
    assert settled.samples == 2400
    assert settled.is_alarm


def test_where_time_does_not_reach_the_level_it_is_said_and_is_no_alarm():
    test = simulated("x", Counted(2.0, cost=1e-3).sampler)
    settled = settle(test, alarm_for([test, *[Test("sides", 0.5, None, 0.6, "exact")] * 23]))
    assert settled.samples == 1500
    assert settled.pvalue == 1 / 1501
    assert not settled.is_alarm
    assert "None of 1,500 samples" in settled.remark
    assert "more than 2,400" in settled.remark


def test_time_that_is_not_needed_is_left_to_the_others():
    assert even_share([]) == 1.5
    assert even_share([0.1, 0.2]) == 1.5
    assert even_share([4.0, 0.1, 5.0]) == pytest.approx(0.7)
    assert even_share([3.0, 3.0, 3.0]) == pytest.approx(0.5)


def test_the_limit_stands_in_the_text_of_the_check(monkeypatch):
    monkeypatch.setattr(results_tests, "_CELL", 1e-3)
    designs = {"a": sp.uniform(options(8))}

    def prefer(shown, truth, rng):
        return np.where((rng.random(len(shown)) < 0.4)[:, None], rng.permuted([[3, 252]] * len(shown), axis=1), shown)

    truth = {"a": values([1] * 8, 300, 1)}
    check = results(drawn(survey_of(designs), truth, manners={"a": Manners(steers=prefer)})).variables[0].draws
    assert check.test.law == "simulated (199)"
    assert not check.is_alarm
    assert "None of 199 samples" in check.said
    monkeypatch.undo()
    check = results(drawn(survey_of(designs), truth, manners={"a": Manners(steers=prefer)})).variables[0].draws
    assert check.test.law == "simulated (2000)"
    assert check.is_alarm
    assert "2,000 samples" in check.notes[0].text


# The statistics that are drawn ------------------------------------------------------------------


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


def test_pairs_of_drawn_questions_have_the_law_of_pairs_counted_one_by_one():
    """The statistic of samples is that of the data: p-values of samples from the design are even."""
    design = sp.partition(options(9), 3)
    pvalues = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        groups = np.asarray(design.draw_options(60, sp.mechanism.randomness.SeededSource(rng)), np.int64)
        pvalues.append(pairs_test(design, groups, np.ones(60, np.int64), seed).pvalue)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001


@pytest.mark.parametrize(
    ("design", "n", "skewed"),
    [
        (sp.uniform(options(8)), 400, True),
        (sp.uniform(options(5)), 60, True),
        (sp.hadamard(options(12)), 100, False),
        (sp.partition(options(9), 3), 200, False),
    ],
)
def test_samples_of_answers_have_the_law_of_the_librarys_bootstrap(design, n, skewed):
    w = 0.6 ** np.arange(design.p) if skewed else np.ones(design.p)
    for seed in range(2):
        counts = simulate(design, w / w.sum(), n, seed=seed)
        check = sp.check_honesty(counts, method="bootstrap", replications=199, seed=seed)
        answers, chance = answer_samplers(counts, (seed, seed + 100))
        assert answers.statistic == pytest.approx(check.answers.statistic, rel=0.05)
        assert answers.pvalue(most=999)[0] == pytest.approx(check.answers.pvalue, abs=0.13)
        assert (chance is None) == (check.random is None)
        if chance is not None:
            assert chance.statistic == pytest.approx(check.random.test.statistic, abs=0.1)
            assert chance.pvalue(most=999)[0] == pytest.approx(check.random.test.pvalue, abs=0.13)


def test_a_rough_law_stays_where_there_is_no_time_and_it_is_said():
    counts = simulate(sp.uniform(options(8)), np.r_[0.6, np.full(7, 0.4 / 7)], 300, seed=3)
    rng = np.random.default_rng(1)
    mixed = sp.SubsetCounts(counts.codes, counts.counts + rng.integers(0, 3, len(counts.codes)), counts.design)
    look = honesty(mixed, 1)
    assert look.test.pvalue < 0.05
    hurried, slow = look.settled(Alarm(24, seconds=0.01)), look.settled(Alarm(24))
    assert (hurried.test.law, hurried.test.pvalue) == ("half chi-square", look.test.pvalue)
    assert "take too long here" in hurried.notes[-1].text
    assert slow.test.law.startswith("simulated")
    assert "drawn from the fit" in slow.notes[-1].text
