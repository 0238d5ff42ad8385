"""Whether the questions were drawn as stated."""

from itertools import product
from math import factorial

import numpy as np
import pytest
from lopsided import ASKED, GIVEN
from refusals import refused
from scipy import stats

from subsetprivacy.data import SubsetCounts, SubsetData
from subsetprivacy.design import independent, uniform
from subsetprivacy.errors import ArgumentError, NotIdentifiableError, SmallCountWarning, TooLargeError
from subsetprivacy.honesty import check_draws
from subsetprivacy.honesty.pvalue_method import PValueMethod
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_tests import BOOTSTRAP_FIT, DRAWS_BY_PAIRS


def test_the_statistic_is_pearsons_over_the_questions():
    counts = SubsetCounts([3, 12, 5, 10, 6, 9, 15], [40, 65, 21, 44, 30, 5, 77], ASKED)
    check = check_draws(counts)
    oracle = stats.chisquare([105, 65, 35], 205 * np.array([0.5, 0.3, 0.2]))
    assert (check.statistic, check.pvalue) == pytest.approx(tuple(oracle))
    assert (check.df, check.law, check.least_expected) == (2, "chi-square", pytest.approx(41))


def test_questions_never_asked_count():
    check = check_draws(SubsetCounts([3, 12], [60, 40], ASKED))
    assert check.statistic == pytest.approx(stats.chisquare([100, 0, 0], [50, 30, 20]).statistic)
    assert check.pvalue < 1e-20


def test_a_question_about_everything_is_left_out():
    design = independent(list("abcd"), {("a", "b"): 0.4, ("a", "c"): 0.3, ("a", "d"): 0.1, ("a", "b", "c", "d"): 0.2})
    check = check_draws(SubsetCounts([3, 10, 9, 15], [50, 37, 13, 500], design))
    assert check.statistic == pytest.approx(stats.chisquare([50, 37, 13], [50, 37.5, 12.5]).statistic)


def exact_pvalue(asked, law):
    """The probability of at least as large a statistic, over all outcomes."""
    n = sum(asked)

    def statistic(counts):
        return sum((c - n * q) ** 2 / (n * q) for c, q in zip(counts, law))

    total, bar = 0.0, statistic(asked) - 1e-9
    for counts in product(range(n + 1), repeat=len(law)):
        if sum(counts) == n and statistic(counts) >= bar:
            ways = factorial(n) / np.prod([factorial(c) for c in counts])
            total += ways * np.prod([q**c for c, q in zip(counts, law)])
    return total


def test_few_people_are_compared_with_drawn_samples():
    counts = SubsetCounts([3, 12, 5, 6, 9], [1, 1, 1, 2, 1], ASKED)
    check = check_draws(counts, replications=20_000, seed=1)
    assert check.law == "bootstrap (20000)"
    assert check.pvalue == pytest.approx(exact_pvalue([2, 1, 3], [0.5, 0.3, 0.2]), abs=0.015)
    assert "Small expected counts (the least is 1.2, 100% are below 5)" in check.notes[0].text
    same = check_draws(counts, replications=20_000, seed=1)
    assert same.pvalue == check.pvalue


def test_more_questions_than_people_are_drawn_one_by_one():
    design = uniform(range(12))
    even = np.full(12, 1 / 12)
    pvalues = [
        check_draws(simulate(design, even, 150, seed=seed), replications=99, seed=seed).pvalue for seed in range(60)
    ]
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01
    steered = SubsetData(np.repeat(design.support()[0][:50], 3), design)
    assert check_draws(steered, replications=99, seed=1).pvalue == 0.01


def test_the_law_can_be_chosen():
    few = SubsetCounts([3, 5, 9], [3, 2, 1], ASKED)
    check = check_draws(few, method="chi-square")
    assert check.law == "chi-square"
    assert [(note.kind, note.advice.advice) for note in check.notes] == [(NoteKind.SMALL_COUNTS, BOOTSTRAP_FIT)]
    many = SubsetCounts([3, 5, 9], [300, 200, 100], ASKED)
    check = check_draws(many, method="bootstrap", replications=19, seed=2)
    assert (check.law, check.notes) == ("bootstrap (19)", ())


def test_a_table_too_large_to_resample_is_warned_about():
    # Not all pairs are alike, so that none can stand for the questions.
    codes = uniform(range(18)).support()[0]
    codes = codes[(codes & 1 == 1) & (codes % 7 < 3)]
    design = independent(range(18), dict.fromkeys(codes.tolist(), 1 / len(codes)))
    counts = simulate(design, np.full(18, 1 / 18), 60_000, seed=1)
    with pytest.warns(SmallCountWarning, match="chi-square distribution and unreliable"):
        check = check_draws(counts, replications=10**6)
    assert check.law == "chi-square"


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(NotIdentifiableError):
        check_draws(SubsetCounts([7, 12], [1, 1], GIVEN))
    with pytest.raises(NotIdentifiableError):
        check_draws(SubsetCounts([3, 12], [1, 1], independent(list("abcd"), {("a", "b"): 1.0})))
    with pytest.raises(TooLargeError) as caught:
        check_draws(simulate(uniform(range(30)), np.full(30, 1 / 30), 5, seed=1), method="chi-square")
    assert caught.value.advice.advice is DRAWS_BY_PAIRS
    with refused(ArgumentError, "data"):
        check_draws(SubsetCounts([3, 12], [1.5, 1.0], ASKED, squares=[1.0, 1.0]))
    with refused(ArgumentError, "method"):
        check_draws(SubsetCounts([3, 12], [1, 1], ASKED), method="exact")
    with refused(ArgumentError, "replications"):
        check_draws(SubsetCounts([3, 12], [1, 1], ASKED), replications=10)
    with refused(ArgumentError, "data"):
        check_draws([3, 12])


def test_it_shows_itself():
    check = check_draws(SubsetCounts([3, 12, 5, 6], [60, 40, 50, 50], ASKED))
    assert repr(check) == "<DrawsCheck of 200 people, p-values: questions 0.1245>"
    assert "questions         4.17   2   0.1245    chi-square         0.01     no" in str(check.summary())
    assert check.to_dict()["tests"][0]["df"] == 2


@pytest.mark.parametrize(
    ("expected", "small"),
    [
        ([5, 5, 5, 5, 4.9], False),
        ([5, 5, 5, 4.9, 4.9], True),
        ([50] * 9 + [1.0], False),
        ([50] * 9 + [0.99], True),
    ],
)
def test_counts_are_small_by_cochrans_rule(expected, small):
    resample, notes = PValueMethod.of("auto", 99, 1).choose(np.array(expected), 1e-6)
    assert resample is small
    assert bool(notes) is small
