"""The checks of the data find what they should in a survey, and stay quiet over honest people.

Their statistics are tested in tests/unit/honesty.
"""

from collections import Counter

import numpy as np
import pytest
from attrs import astuple, evolve
from released import HONEST, Manners, drawn, options, survey_of, values
from scipy import stats

import subsetprivacy as sp
from subsetprivacy.collect.service.counters import question_counts
from subsetprivacy.collect.service.results import results
from subsetprivacy.honesty.leaning import power_for
from subsetprivacy.messages import NoteKind
from subsetprivacy.presenting.checks import panels_of
from subsetprivacy.presenting.words import words_of

FIVE, EIGHT, NINE = sp.uniform(options(5)), sp.uniform(options(8)), sp.partition(options(9), 3)


def look(design, n, manner=HONEST, w=None, seed=1):
    shares = np.arange(1, design.p + 1.0) if w is None else w
    released = drawn(survey_of({"a": design}), {"a": values(shares, n, seed)}, seed=seed, manners={"a": manner})
    return results(released).findings["a"]


def said(variable, place):
    """Return what a page says of a check: of draws, leaning, random answers or skips, in this order."""
    return panels_of(words_of("en"), variable)[place].body


def skipping(rule):
    """Return manners: rule(shown, truth) is the probability to skip."""
    return Manners(skips=lambda shown, truth, rng: rng.random(len(truth)) < rule(shown, truth))


# Draws ----------------------------------------------------------------------------------------


def prefer_last(shown, truth, rng):
    """A third of the people get the question about the last two options."""
    p = int(shown[0].sum()).bit_length()
    fixed = np.array([3 << (p - 2), (1 << p) - 1 - (3 << (p - 2))])
    return np.where((rng.random(len(shown)) < 1 / 3)[:, None], fixed, shown)


@pytest.mark.parametrize(
    "design", [FIVE, sp.hadamard(options(12)), sp.uniform(options(16)), sp.partition(options(16), 2)]
)
def test_honest_draws_raise_no_alarm(design):
    variable = look(design, 800)
    check = variable.checks.draws
    assert check.n == 800
    assert not check.is_alarm
    assert check.test.by == ("pairs of options" if design.p == 16 else "questions")
    assert "were drawn as the design says" in said(variable, 0)


@pytest.mark.parametrize("design", [FIVE, sp.uniform(options(16))])
def test_steered_draws_are_flagged_and_only_moments_suffer(design):
    w = np.arange(1, design.p + 1) / (design.p * (design.p + 1) / 2)
    found = look(design, 20_000, Manners(steers=prefer_last))
    assert found.checks.draws.is_alarm
    assert found.alarms
    assert not found.moments_hold
    assert NoteKind.MOMENTS in [note.kind for note in found.notes]
    assert (np.abs(found.shares.estimate - w) < 4 * found.shares.se).all()
    assert (np.abs(found.moments.estimate - w) > 4 * found.moments.se).any()
    assert "were not drawn as the design says" in said(found, 0)


def test_the_statistic_of_the_draws_counts_skipped_questions_too():
    design = sp.uniform(options(4))
    manner = skipping(lambda shown, truth: np.where(np.minimum(*shown.T) == 3, 0.9, 0.0))
    found = look(design, 3000, manner).checks
    assert not found.draws.is_alarm  # the questions were drawn well …
    assert found.skips.is_alarm  # … and one of them is skipped
    asked = {cell.text: cell.asked for cell in found.draws.cells}
    expected = stats.chisquare(list(asked.values()))
    assert (found.draws.test.statistic, found.draws.test.pvalue) == pytest.approx(tuple(expected))
    assert sum(asked.values()) == 3000


def test_always_the_same_side_is_flagged():
    found = look(FIVE, 300, Manners(steers=lambda shown, truth, rng: np.sort(shown, axis=1))).checks
    assert found.draws.sides.pvalue == pytest.approx(2 * 0.5**300)
    assert found.draws.is_alarm


def test_the_sides_have_an_exact_law():
    found = look(FIVE, 60).checks
    smaller = round(found.draws.sides.statistic * 60)
    assert found.draws.sides.pvalue == pytest.approx(min(1.0, stats.binomtest(smaller, 60).pvalue), rel=1e-9)


@pytest.mark.parametrize(
    ("design", "words"),
    [
        (NINE, "not stored"),
        (sp.warner(("a", "b")), "secret number"),
        (sp.fixed_size(options(3), 2), "drawn around the answer"),
    ],
)
def test_draws_that_cannot_be_seen_say_so(design, words):
    check = look(design, 100).checks.draws
    assert check.test is None
    assert words in check.problem.text
    assert not check.is_alarm


# Leaning --------------------------------------------------------------------------------------


def test_leaning_by_hand():
    """Four answers to one question about {1, 2} of four options: the sum of the weights, and its square."""
    design = sp.uniform(options(4))
    released = drawn(survey_of({"a": design}), {"a": np.array([0, 0, 2, 3])}, seed=3)
    put = question_counts(released)["a"]
    w = np.array([0.4, 0.3, 0.2, 0.1])
    total = square = 0.0
    for (code,), answer, n in zip(put.shown.tolist(), put.answers.tolist(), put.n.tolist(), strict=True):
        size = sum(w[j] for j in range(4) if code >> j & 1)
        f = (1 - size) if answer == 0 else -size
        total, square = total + n * f, square + n * f**2
    found = sp.check_leaning(put, w)
    assert found.share == pytest.approx(2 * total / 4)
    assert found.se == pytest.approx(2 * np.sqrt(square) / 4)
    assert found.test.pvalue == pytest.approx(2 * stats.norm.sf(abs(found.share / found.se)))


@pytest.mark.parametrize("design", [FIVE, sp.hadamard(options(12)), sp.uniform(options(48))])
def test_people_who_always_say_yes_are_found(design):
    leaning = look(design, 3000, Manners(always_yes=0.15))
    honest, found = look(design, 3000).checks.leaning, leaning.checks.leaning
    assert not honest.is_alarm
    assert found.is_alarm
    assert found.share == pytest.approx(0.15, abs=4 * found.se)
    assert found.lower < 0.15 < found.upper
    assert "say yes whatever they are asked" in said(leaning, 1)


def test_people_who_always_say_no_lean_the_other_way():
    honest = drawn(survey_of({"a": FIVE}), {"a": values([1] * 5, 3000, 1)})
    swapped: Counter = Counter()
    for k, (framing, n) in enumerate(sorted(honest.framings.items(), key=lambda item: astuple(item[0]))):
        swapped[evolve(framing, answer=1) if k % 5 == 0 else framing] += n
    found = results(evolve(honest, framings=swapped)).findings["a"]
    assert found.checks.leaning.share < -3 * found.checks.leaning.se
    assert "say no" in said(found, 1)


def test_the_stated_power_is_that_of_the_normal_test_at_the_level_of_the_alarm():
    variable = look(EIGHT, 2000)
    found, made = variable.checks.leaning, len(variable.checks.tests)
    bar = stats.norm.isf(0.01 / made / 2)
    assert made == 5  # no one skips
    assert found.alarm_level == pytest.approx(2 * stats.norm.sf(bar))
    assert 0.15 < found.power < 0.4
    assert power_for(found.detectable, found.se, found.spread_of_leaning, 2000, 0.01 / made) == pytest.approx(0.8)


def test_a_place_that_is_chosen_too_often_is_found():
    leaning = look(NINE, 1500, Manners(always_yes=0.15))
    honest, found = look(NINE, 1500).checks.leaning, leaning.checks.leaning
    assert not honest.is_alarm
    assert sum(honest.positions) == 1500
    assert honest.test.pvalue == pytest.approx(stats.chisquare(honest.positions).pvalue)
    assert found.is_alarm
    assert "Place 1 is chosen too often" in said(leaning, 1)


@pytest.mark.parametrize("design", [sp.warner(("a", "b")), sp.fixed_size(options(3), 2)])
def test_where_nobody_can_lean_it_is_said(design):
    found = look(design, 100).checks.leaning
    assert found.test is None
    assert found.problem.kind is NoteKind.NOT_TESTED


# Skips ----------------------------------------------------------------------------------------


def sensitive(shown, truth):
    """People with the last option skip half of the time when it is asked about."""
    p = int(shown[0].sum()).bit_length()
    return np.where((truth == p - 1) & (shown[:, 0] >> (p - 1) & 1 == 1), 0.5, 0.02)


@pytest.mark.parametrize(
    ("design", "by"), [(FIVE, "questions"), (EIGHT, "options"), (sp.uniform(options(48)), "options")]
)
def test_skips_that_depend_on_question_and_value_are_found(design, by):
    w = np.r_[np.ones(design.p - 1), design.p - 1.0]
    variable = look(design, 1500, skipping(sensitive), w)
    found = variable.checks.skips
    assert found.is_alarm
    assert found.test.by == by
    assert "biases everything" in said(variable, 3)
    rates = {one.option: one.skipped_with / one.asked_with for one in found.options}
    assert max(rates, key=rates.get) == options(design.p)[-1]
    assert all(one.asked_with + one.asked_without == 1500 for one in found.options)


@pytest.mark.parametrize("design", [FIVE, EIGHT, NINE, sp.uniform(options(48)), sp.hadamard(options(12))])
@pytest.mark.parametrize("n", [60, 1500])
def test_skips_at_random_raise_no_alarm(design, n):
    found = look(design, n, skipping(lambda shown, truth: 0.1)).checks.skips
    assert not found.is_alarm
    assert found.test is not None
    assert found.lower < found.skipped / n < found.upper


def test_skips_of_dense_tables_are_tested_as_scipy_does():
    released = drawn(
        survey_of({"a": sp.uniform(options(4))}),
        {"a": values([1] * 4, 2000, 1)},
        manners={"a": skipping(lambda shown, truth: 0.2)},
    )
    put = question_counts(released)["a"]
    sets = np.unique(put.sides)
    table = [[put.n[(put.sides == a) & ((put.answers == -1) == gone)].sum() for a in sets] for gone in (True, False)]
    expected = stats.chi2_contingency(np.array(table), correction=False)
    found = results(released).findings["a"].checks.skips.test
    assert (found.statistic, found.df, found.pvalue) == pytest.approx((expected.statistic, 5, expected.pvalue))


def test_skips_of_groups_that_depend_on_the_groups_are_found():
    def together(shown, truth):  # the first two options in one group
        return np.where(((shown & 3) == 3).any(axis=1), 0.4, 0.05)

    found = look(NINE, 1500, skipping(together)).checks.skips
    assert found.is_alarm
    assert found.test.by == "pairs of options"


@pytest.mark.parametrize("design", [sp.warner(("a", "b")), sp.fixed_size(options(3), 2)])
def test_skips_of_one_question_are_only_counted(design):
    found = look(design, 400, skipping(lambda shown, truth: 0.25)).checks.skips
    assert found.test is None
    assert found.rate == pytest.approx(0.25, abs=0.1)
    assert "no questions to compare" in found.problem.text
    interval = stats.binomtest(found.skipped, 400).proportion_ci(method="wilson")
    assert (found.lower, found.upper) == pytest.approx((interval.low, interval.high))


# Random answers -------------------------------------------------------------------------------


def test_random_clickers_are_found_where_the_design_allows():
    clicking = look(EIGHT, 4000, Manners(at_random=0.25))
    found = clicking.checks.honesty
    assert found.is_alarm
    assert found.share == pytest.approx(0.25, abs=4 * found.se)
    assert "of the answers seem to be given at random" in said(clicking, 2)
    direct = look(EIGHT, 4000).checks.honesty
    assert not direct.is_alarm
    assert direct.lower == 0


def test_random_answers_that_cannot_be_told_say_why_in_the_librarys_words():
    variable = look(sp.uniform(options(4)), 500)
    four = variable.checks.honesty
    assert "Random answers cannot be told from honest ones here" in said(variable, 2)
    assert "degree of freedom" not in said(variable, 2)
    assert four.tests == ()
    assert four.problem.kind is NoteKind.NOT_IDENTIFIABLE
    assert four.problem.text.startswith(
        "To be checked, the answers must have more independent proportions than free shares; got"
    )
    thirds = look(NINE, 500).checks.honesty
    assert thirds.answers_test is not None
    assert thirds.share is None
    assert {note.kind for note in thirds.notes} >= {NoteKind.RANDOM_ANSWERS, NoteKind.TESTED_TOGETHER}


def test_an_alarm_over_small_counts_is_made_sure_of():
    found = look(EIGHT, 600, Manners(at_random=0.7)).checks.honesty
    assert found.is_alarm
    assert found.random_test.law == "simulated (2000)"  # four times as many as a level of .01 for five tests takes
    assert [note.kind for note in found.notes] == [NoteKind.NULL_LAW]
    assert found.notes[-1].text.startswith("Many answers are expected fewer than five times")
    assert "2,000" in found.notes[-1].text


def test_the_share_that_would_be_found_is_that_of_the_one_sided_test_at_the_level_of_the_alarm():
    variable = look(EIGHT, 4000)
    bar, found = stats.norm.isf(0.01 / len(variable.checks.tests)), variable.checks.honesty
    assert found.detectable == pytest.approx((bar + stats.norm.ppf(0.8)) * found.se)
