"""People who lean to an answer, and skips that depend on the question, are found; honest people are left alone."""

import numpy as np
import pytest
from asking import HONEST, Manners, ask, options, prefer_last, sensitive
from every_case import every_case
from lopsided import ASKED, GIVEN
from refusals import refused
from scipy import stats

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, NoDataError, NotIdentifiableError
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_tests import COUNT_THE_QUESTIONS

FIVE, EIGHT, NINE = sp.uniform(options(5)), sp.uniform(options(8)), sp.partition(options(9), 3)
WARNER, LOCAL = sp.warner(["a", "b"]), sp.fixed_size(options(3), 2)
U4 = sp.uniform(list("abcd"))


def questions_of(design, n, manners=HONEST, w=None, seed=1, **more):
    return ask(design, np.arange(1, design.p + 1.0) if w is None else w, n, seed, manners, **more)[0]


# Draws of questions -----------------------------------------------------------------------------


@every_case(
    "design", [FIVE, sp.hadamard(options(12)), sp.uniform(options(16)), sp.partition(options(16), 2), sp.hadamard(60)]
)
def test_honest_draws_raise_no_alarm(design):
    check = sp.check_draws(questions_of(design, 800))
    assert check.n == 800
    assert not check.is_alarm
    assert check.test.by == ("pairs of options" if design.p == 16 else "questions")
    assert check.sides.law == "exact"
    assert all(test.alpha == 0.005 for test in check.tests)


@pytest.mark.parametrize("design", [FIVE, sp.uniform(options(16))])
def test_steered_draws_are_found(design):
    check = sp.check_draws(questions_of(design, 20_000, Manners(steers=prefer_last)))
    assert check.is_alarm
    last = set(options(design.p)[-2:])
    assert len(last & set(check.cells[0].groups[0])) != 1  # they are on one side, or neither is in a pair
    assert check.cells[0].asked > 1.2 * check.cells[0].expected


def test_skipped_questions_were_drawn_too():
    gone = Manners(skips=lambda shown, truth: np.where(np.minimum(*shown.T) == 3, 0.9, 0.0))
    asked, counts = ask(U4, np.ones(4), 3000, 1, gone)
    check = sp.check_draws(asked)
    assert not check.is_alarm  # the questions were drawn well …
    assert sp.check_skips(asked).is_alarm  # … and one of them is skipped,
    assert sp.check_draws(counts).is_alarm  # which looks like a bad draw where skips are not known
    expected = stats.chisquare([cell.asked for cell in check.cells])
    assert (check.statistic, check.pvalue) == pytest.approx(tuple(expected))


def test_the_sides_have_an_exact_law():
    check = sp.check_draws(questions_of(FIVE, 60))
    smaller = round(check.sides.statistic * 60)
    assert check.sides.pvalue == pytest.approx(min(1.0, stats.binomtest(smaller, 60).pvalue), rel=1e-9)
    same = sp.check_draws(questions_of(FIVE, 300, Manners(steers=lambda shown, truth, rng: np.sort(shown, axis=1))))
    assert same.sides.pvalue == pytest.approx(2 * 0.5**300)
    assert same.is_alarm


@every_case(("listed", "recorded"), [(False, False), (True, False), (True, True)])
def test_groups_that_were_kept_are_tested(listed, recorded):
    parts = [[("a", "b"), ("c", "d"), ("e", "f")], [("a", "c"), ("b", "e"), ("d", "f")]]
    parts.append([("a", "d"), ("b", "f"), ("c", "e")])
    given = {"partitions": parts, "record": recorded} if listed else {"groups": 3}
    design = sp.partition(list("abcdef"), **given)
    honest, counts = ask(design, np.ones(6), 900, 1, keep=True)
    check = sp.check_draws(honest)
    assert check.test.by == ("questions" if listed else "pairs of options")
    assert not check.is_alarm
    first = Manners(steers=lambda shown, truth, rng: np.where((rng.random(len(shown)) < 0.4)[:, None], shown[0], shown))
    assert sp.check_draws(ask(design, np.ones(6), 900, 1, first, keep=True)[0]).is_alarm
    if recorded:
        assert sp.check_draws(counts).statistic == pytest.approx(check.statistic)


@every_case(
    ("questions", "words"),
    [
        (questions_of(NINE, 50), "not stored with the answers"),
        (sp.QuestionCounts(WARNER, answers=[0, 1], n=[5, 6]), "secret number never leaves the device"),
        (sp.QuestionCounts(LOCAL, answers=[0, -1], n=[5, 6]), "drawn around the answer"),
    ],
)
def test_draws_that_cannot_be_seen_are_refused(questions, words):
    with pytest.raises(NotIdentifiableError, match=words):
        sp.check_draws(questions)


def test_one_question_has_two_sides():
    one = sp.independent(list("abcd"), {("a", "b"): 1.0})
    check = sp.check_draws(sp.QuestionCounts(one, [3, 12], answers=[0, 0], n=[90, 30]))
    assert (check.test, check.problem.kind) == (None, NoteKind.NOT_TESTED)
    assert check.pvalue == check.sides.pvalue < 1e-7
    assert check.is_alarm
    with pytest.raises(NoDataError):
        sp.check_draws(sp.QuestionCounts(FIVE, [], answers=[]))


def test_subsets_of_many_categories_are_compared_by_pairs():
    design = sp.uniform(options(30))
    counts = sp.simulate(design, np.full(30, 1 / 30), 2000, seed=1)
    check = sp.check_draws(counts)
    assert (check.test.by, check.df, check.law) == ("pairs of options", None, "simulated (499)")
    assert not check.is_alarm
    codes = np.where(np.arange(2000) % 2 == 0, 3 << 20, sp.privatize(["option 1"] * 2000, design, seed=1).codes)
    assert sp.check_draws(sp.SubsetData(codes, design)).is_alarm
    assert NoteKind.TOO_MANY_CELLS in {note.kind for note in check.notes}


def test_a_table_is_counted_first():
    pl = pytest.importorskip("polars")
    counts = sp.simulate(FIVE, np.full(5, 0.2), 2000, seed=1)
    table = pl.DataFrame({"vote": np.repeat(counts.codes, counts.counts)})
    for check in (sp.check_draws, sp.check_honesty):
        assert check(table, "vote", design=FIVE).to_dict() == check(counts).to_dict()
        assert check(table.lazy(), "vote", design=FIVE).to_dict() == check(counts).to_dict()


# Leaning ----------------------------------------------------------------------------------------


def test_leaning_by_hand():
    """Each answer adds its weight, 1 - L(A), with the sign of yes or no."""
    asked = sp.QuestionCounts(U4, [3, 3, 10, 5, 5], answers=[0, 1, 1, 0, -1], n=[2, 1, 3, 1, 4])
    w = np.array([0.4, 0.3, 0.2, 0.1])
    total = square = 0.0
    for (code,), answer, n in zip(asked.shown.tolist(), asked.answers.tolist(), asked.n.tolist()):
        size = sum(w[j] for j in range(4) if code >> j & 1)
        f = {0: 1 - size, 1: -size, -1: 0.0}[answer]
        total, square = total + n * f, square + n * f**2
    check = sp.check_leaning(asked, w)
    assert (check.n, check.share, check.se) == (7, pytest.approx(2 * total / 7), pytest.approx(2 * np.sqrt(square) / 7))
    assert check.test.pvalue == pytest.approx(2 * stats.norm.sf(abs(check.share / check.se)))
    assert sp.check_leaning(asked, {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}).share == check.share


@every_case("design", [FIVE, sp.hadamard(options(12)), sp.uniform(options(48)), sp.hadamard(60)])
def test_people_who_always_say_yes_are_found(design):
    honest = sp.check_leaning(questions_of(design, 3000))
    check = sp.check_leaning(questions_of(design, 3000, Manners(always_yes=0.15)))
    assert not honest.is_alarm
    assert check.is_alarm
    assert check.share == pytest.approx(0.15, abs=4 * check.se)
    assert check.upper - check.lower == pytest.approx(2 * 1.959964 * check.se)


def test_people_who_always_say_no_lean_the_other_way():
    asked = questions_of(FIVE, 3000, w=np.ones(5))
    turned = np.where(np.arange(len(asked.n)) % 5 == 0, 1, asked.answers)
    check = sp.check_leaning(sp.QuestionCounts(FIVE, asked.shown, answers=turned, n=asked.n))
    assert check.share < -3 * check.se


def test_the_stated_power_is_that_of_the_normal_test_at_the_level_of_the_alarm():
    check = sp.check_leaning(questions_of(EIGHT, 2000), chance=0.002)
    bar = stats.norm.isf(0.001)

    def power(share):
        """By hand: people who lean spread more than others, and the test takes its error from all of them."""
        second = (1 - share) * check.n * check.se**2 / 4 + share * check.spread_of_leaning
        error, spread = 2 * np.sqrt(second / check.n), 2 * np.sqrt((second - share**2 / 4) / check.n)
        return stats.norm.sf((bar * error - share) / spread) + stats.norm.cdf((-bar * error - share) / spread)

    assert check.power == pytest.approx(power(0.05))
    assert power(check.detectable) == pytest.approx(0.8)


@pytest.mark.parametrize("n", [200, 1000])
def test_the_share_that_is_said_to_be_found_is_found_where_one_option_is_frequent(n):
    """With the variance of honest people alone it was found in 54 of 100 samples of 200, not in 80."""
    w, rng = np.array([0.857, 0.0945, 0.0335, 0.0095, 0.0055]), np.random.default_rng(1)
    alarms, share = 0, None
    for k in range(300):
        asked, truth = sp.draw_questions(FIVE, n, seed=k), rng.choice(5, n, p=w / w.sum())
        answers = np.where(FIVE.contains(asked, truth), 0, 1)
        if share is None:
            share = sp.check_leaning(sp.QuestionCounts(FIVE, asked, answers=answers), w / w.sum()).detectable
        answers[rng.random(n) < share] = 0
        alarms += sp.check_leaning(sp.QuestionCounts(FIVE, asked, answers=answers), w / w.sum()).is_alarm
    assert 0.7 < alarms / 300 < 0.9


def test_a_position_that_is_chosen_too_often_is_found():
    honest = sp.check_leaning(questions_of(NINE, 1500))
    check = sp.check_leaning(questions_of(NINE, 1500, Manners(always_yes=0.15)))
    assert not honest.is_alarm
    assert sum(honest.positions) == 1500
    assert honest.test.pvalue == pytest.approx(stats.chisquare(honest.positions).pvalue)
    assert check.is_alarm
    assert max(check.positions) == check.positions[0]


@pytest.mark.parametrize("design", [WARNER, LOCAL, GIVEN])
def test_where_no_one_can_lean_it_is_said(design):
    check = sp.check_leaning(sp.QuestionCounts(design, answers=[0, -1], n=[50, 6]))
    assert (check.tests, check.share, check.power) == ((), None, None)
    assert check.problem.kind is NoteKind.NOT_TESTED
    with pytest.raises(NotIdentifiableError):
        check.plot()


def test_shares_of_zero_are_no_certainty_unless_they_are_given_as_such():
    sure = sp.QuestionCounts(U4, [3, 12], answers=[0, 1], n=[40, 40])  # everyone is a or b
    check = sp.check_leaning(sure)
    assert check.se > 0
    assert not check.is_alarm
    given = sp.check_leaning(sure, [0.5, 0.5, 0.0, 0.0])
    assert given.tests == ()
    assert "every answer is certain" in given.problem.text
    mixed = sp.check_leaning(sp.QuestionCounts(U4, [3, 5, 10], answers=[0, 0, 1], n=[40, 20, 25]), [0.5, 0.5, 0.0, 0.0])
    assert np.isfinite(mixed.test.pvalue)


# Skips ------------------------------------------------------------------------------------------


@every_case(("design", "by"), [(FIVE, "questions"), (EIGHT, "options"), (sp.uniform(options(48)), "options")])
def test_skips_that_depend_on_question_and_value_are_found(design, by):
    w = np.r_[np.ones(design.p - 1), design.p - 1.0]
    check = sp.check_skips(questions_of(design, 1500, Manners(skips=sensitive), w))
    assert check.is_alarm
    assert check.test.by == by
    rates = {one.option: one.skipped_with / one.asked_with for one in check.options}
    assert max(rates, key=rates.get) == options(design.p)[-1]
    assert all(one.asked_with + one.asked_without == 1500 for one in check.options)


@every_case("design", [FIVE, EIGHT, NINE, sp.uniform(options(48)), sp.hadamard(options(12)), sp.hadamard(60)])
@every_case("n", [60, 1500])
def test_skips_at_random_raise_no_alarm(design, n):
    check = sp.check_skips(questions_of(design, n, Manners(skips=lambda shown, truth: 0.1)))
    assert not check.is_alarm
    assert check.test is not None
    assert check.lower < check.skipped / n < check.upper


def test_skips_of_dense_tables_are_tested_as_scipy_does():
    asked = questions_of(U4, 2000, Manners(skips=lambda shown, truth: 0.2), np.ones(4))
    sets = np.unique(asked.sides)
    table = [[asked.n[(asked.sides == a) & (asked.is_skipped == gone)].sum() for a in sets] for gone in (True, False)]
    expected = stats.chi2_contingency(np.array(table), correction=False)
    test = sp.check_skips(asked).test
    assert (test.statistic, test.df, test.pvalue) == pytest.approx((expected.statistic, 5, expected.pvalue))


def test_skips_of_groups_that_depend_on_the_groups_are_found():
    together = Manners(skips=lambda shown, truth: np.where(((shown & 3) == 3).any(axis=1), 0.4, 0.05))
    check = sp.check_skips(questions_of(NINE, 1500, together))
    assert check.is_alarm
    assert check.test.by == "pairs of options"


@pytest.mark.parametrize("design", [WARNER, LOCAL])
def test_skips_of_one_question_are_only_counted(design):
    check = sp.check_skips(sp.QuestionCounts(design, answers=[0, -1], n=[300, 100]))
    assert check.test is None
    assert "no questions to compare" in check.problem.text
    interval = stats.binomtest(100, 400).proportion_ci(method="wilson")
    assert (check.rate, check.lower, check.upper) == pytest.approx((0.25, interval.low, interval.high))


@pytest.mark.parametrize(("answers", "words"), [([0, 1], "No one skipped."), ([-1, -1], "Everyone skipped.")])
def test_where_none_or_all_skip_there_is_nothing_to_compare(answers, words):
    check = sp.check_skips(sp.QuestionCounts(FIVE, [3, 7], answers=answers, n=[10, 12]))
    assert (check.tests, check.problem.text) == ((), words)
    assert check.rate in (0.0, 1.0)
    nothing = sp.check_skips(sp.QuestionCounts(FIVE, [], answers=[]))
    assert (nothing.rate, nothing.lower, nothing.problem.text) == (None, None, "No one was asked.")


def test_groups_of_those_who_skip_may_be_unknown():
    check = sp.check_skips(sp.QuestionCounts(NINE, answers=[0, 1, -1], n=[10, 12, 5]))
    assert check.tests == ()
    assert "not stored for people who skipped" in check.problem.text


# All of them ------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", [sp.check_skips, sp.check_leaning])
def test_subsets_do_not_say_how_questions_were_put(check):
    counts = sp.simulate(FIVE, np.full(5, 0.2), 100, seed=1)
    with refused(ArgumentError, "questions") as caught:
        check(counts)
    assert caught.value.advice.advice is COUNT_THE_QUESTIONS
    asked = sp.QuestionCounts(FIVE, [3], answers=[0])
    for argument, wrong in (("chance", 2), ("replications", 3)):
        with refused(ArgumentError, argument):
            check(asked, **{argument: wrong})


@every_case("check", [sp.check_draws, sp.check_skips, sp.check_leaning])
def test_one_person_is_no_alarm(check):
    result = check(sp.QuestionCounts(FIVE, [3], answers=[0]))
    assert not result.is_alarm
    assert all(0 < test.pvalue <= 1 for test in result.tests)
    assert result.summary()


def test_the_same_questions_give_the_same_pvalues_in_any_order():
    asked = questions_of(EIGHT, 100, Manners(skips=lambda shown, truth: 0.1))
    back = sp.QuestionCounts(EIGHT, asked.shown[::-1], answers=asked.answers[::-1], n=asked.n[::-1])
    for check in (sp.check_draws, sp.check_skips, sp.check_leaning):
        one, two = check(asked), check(back)
        assert [test.law for test in one.tests] == [test.law for test in two.tests]
        assert [test.pvalue for test in one.tests] == pytest.approx([test.pvalue for test in two.tests])
    assert sp.check_skips(asked, seed=1).test.pvalue != sp.check_skips(asked, seed=2).test.pvalue


@pytest.mark.parametrize("times", [10**7, 10**9])
def test_checks_of_billions_of_people_do_not_overflow(times):
    # 1000 people, one in five of whom skips; then the same, each of them ten million and a billion times.
    asked = questions_of(FIVE, 1000, Manners(skips=lambda shown, truth: 0.2))
    many = sp.QuestionCounts(FIVE, asked.shown, answers=asked.answers, n=asked.n * times)
    for check in (sp.check_draws, sp.check_skips):
        small, large = check(asked), check(many)
        assert large.test.statistic == pytest.approx(times * small.test.statistic, rel=1e-6)
        assert large.test.pvalue > 0
    small, large = (sp.check_leaning(one, np.full(5, 0.2)) for one in (asked, many))
    assert large.test.statistic == pytest.approx(np.sqrt(times) * small.test.statistic, rel=1e-6)
    sides = sp.check_draws(many).sides
    z = abs(2 * sides.statistic - 1) * np.sqrt(many.asked)
    assert sides.pvalue == pytest.approx(max(2 * stats.norm.sf(z), np.finfo(float).tiny), rel=1e-3)
    assert sp.check_leaning(many).n == many.answered


def test_the_exact_test_of_sides_of_billions_is_that_of_the_normal_law():
    n = 4 * 10**10
    smaller = n // 2 - 2 * 10**5  # two standard errors below the middle
    asked = sp.QuestionCounts(FIVE, [3, 28], answers=[0, 0], n=[smaller, n - smaller])
    assert sp.check_draws(asked).sides.pvalue == pytest.approx(2 * stats.norm.sf(2), rel=1e-4)


def test_a_few_who_skip_among_billions_are_compared_with_samples():
    codes = ASKED.support()[0]
    n = np.full(len(codes), 10**10)
    shown, answers = np.repeat(codes, 2), np.tile([0, -1], len(codes))
    skips = np.array([1, 0, 2, 0, 1, 0])
    even = sp.check_skips(sp.QuestionCounts(ASKED, shown, answers=answers, n=np.column_stack([n, skips]).ravel()))
    assert even.test.law == "simulated (499)"
    assert even.test.pvalue > 0.05
    skips = np.array([25, 0, 0, 0, 0, 0])
    odd = sp.check_skips(sp.QuestionCounts(ASKED, shown, answers=answers, n=np.column_stack([n, skips]).ravel()))
    assert odd.is_alarm


# How they show themselves -----------------------------------------------------------------------


def test_the_summaries_read():
    asked = questions_of(FIVE, 1500, Manners(always_yes=0.3, skips=sensitive))
    leaning, skips = sp.check_leaning(asked), sp.check_skips(asked)
    assert "Share of people who always say yes, minus those who always say no: 0.2" in str(leaning.summary())
    assert "would raise an alarm in 80 of 100 such samples" in str(leaning.summary())
    assert f"{skips.skipped} of 1,500 people skipped: 0.1" in str(skips.summary())
    few = sp.check_leaning(sp.QuestionCounts(FIVE, [3, 5], answers=[0, 1]))
    assert "Too few people" in str(few.summary())
    assert NoteKind.SMALL_COUNTS in {note.kind for note in few.notes}
    groups = sp.check_leaning(questions_of(NINE, 12))
    assert "Positions chosen, from the first: " in str(groups.summary())


def test_the_pictures_show_the_numbers():
    pytest.importorskip("matplotlib")
    asked = questions_of(FIVE, 1500, Manners(steers=prefer_last, always_yes=0.3, skips=sensitive))
    draws = sp.check_draws(asked)
    axes = draws.plot()
    drawn = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    seen = np.concatenate([drawn[name] for name in drawn if name.startswith("observed")])
    assert sorted(seen) == sorted(draws.observed)
    assert "observed, outside the band" in drawn
    assert axes.get_title() == "How often each question was asked, 1,500 questions" or axes.get_title(loc="left")
    skips = sp.check_skips(asked)
    labels = [text.get_text() for text in skips.plot().get_yticklabels()]
    assert labels == options(5)
    leaning = sp.check_leaning(asked)
    (dot,) = [line for line in leaning.plot(title="Leaning").get_lines() if line.get_marker() == "o"]
    assert dot.get_xdata()[0] == pytest.approx(leaning.share)
    assert sp.check_leaning(questions_of(NINE, 300)).plot()
    with pytest.raises(NotIdentifiableError):
        sp.check_skips(questions_of(NINE, 300)).plot()
