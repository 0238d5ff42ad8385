"""Many categories, several variables, few people, pooled waves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Mixture, hadamard, independent, product, uniform, warner
from subsetprivacy.errors import (
    NotIdentifiableError,
    SmallCountWarning,
    TooLargeError,
)
from subsetprivacy.honesty import check_draws, check_honesty
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.messages import NoteKind

W5 = np.array([0.35, 0.05, 0.2, 0.3, 0.1])


def test_a_hadamard_design_on_a_power_of_two_has_nothing_to_spare():
    counts = simulate(hadamard(16), np.arange(1, 17) / 136, 2000, seed=1)
    with pytest.raises(NotIdentifiableError):
        check_honesty(counts)
    more = check_honesty(simulate(hadamard(16, questions=31), np.arange(1, 17) / 136, 2000, seed=1))
    assert more.answers.df == 31 - 15
    assert more.random is not None


@pytest.mark.parametrize(("p", "n"), [(12, 15 * 7800), (60, 63 * 18_300), (450, 511 * 1_014_750)])
def test_a_truncated_hadamard_design_tells_random_answers(with_random_answers, p, n):
    w = np.arange(1, p + 1) / (p * (p + 1) / 2)
    check = check_honesty(with_random_answers(hadamard(p), w, 0.2, 10 * n))
    questions = check.counts.design.questions
    assert (check.answers.df, check.draws.df) == (questions - (p - 1), questions - 1)
    assert check.random_share == pytest.approx(0.2, abs=1e-7)
    assert_allclose(check.random.w, w, atol=1e-7)
    assert check.random_share_se < 0.05


def test_beyond_the_largest_matrix_only_the_draws_are_tested():
    design = hadamard(5000)
    counts = SubsetCounts(np.arange(2, 16384), np.full(16382, 9), design)
    with pytest.raises(TooLargeError):
        check_honesty(counts)
    assert check_draws(counts).statistic == pytest.approx(0, abs=1e-6)


def test_two_variables_are_one_stratum():
    design = product({"x": uniform(list("abcd")), "y": uniform(["p", "q", "r", "s"])})
    w = np.outer([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]).ravel()
    check = check_honesty(simulate(design, w, 5000, seed=1))
    assert check.answers.df == 36 - 1 - 15
    assert check.answers.pvalue > 0.05
    assert (check.draws, check.random) == (None, None)


def test_a_held_bit_leaves_more_to_spare():
    with pytest.raises(NotIdentifiableError):
        check_honesty(simulate(warner(["no", "yes"]), [0.7, 0.3], 500, seed=1))


# Small counts --------------------------------------------------------------------------------------


def test_small_counts_are_resampled_and_said():
    counts = simulate(uniform(list("abcde")), W5, 60, seed=3)
    check = check_honesty(counts, replications=99, seed=1)
    assert {part.law for part in (check.answers, check.random.test, check.rest)} == {"bootstrap (99)"}
    assert check.notes[0].text.startswith("Answers: Small expected counts (the least is ")
    assert "the p-value is from 99 samples drawn from the fit" in check.notes[0].text
    assert 0.01 <= check.answers.pvalue <= 1
    again = check_honesty(counts, replications=99, seed=1)
    assert again.to_dict() == check.to_dict()


def test_a_bootstrap_of_a_large_table_agrees_with_chi_square(with_random_answers):
    counts = with_random_answers(uniform(list("abcde")), W5, 0.15, 3000, np.random.default_rng(4))
    by_law, drawn = check_honesty(counts), check_honesty(counts, method="bootstrap", replications=499, seed=1)
    for one, two in zip(by_law.parts, drawn.parts):
        assert two.law == "bootstrap (499)"
        assert two.pvalue == pytest.approx(one.pvalue, abs=0.08)


def test_more_questions_than_can_be_listed():
    counts = simulate(uniform(range(25)), np.full(25, 0.04), 300, seed=3)
    with pytest.warns(SmallCountWarning, match="in a large table"):
        check = check_honesty(counts, replications=10_000)
    assert check.draws is None
    assert NoteKind.NOT_TESTED in {note.kind for note in check.notes}
    assert check.answers.df > 250
    assert check.random_share == pytest.approx(0, abs=4 * check.random_share_se)


def test_pooled_waves_are_tested_question_by_question():
    one, two = uniform(list("abcde")), independent(list("abcde"), {("a", "b"): 0.6, ("a", "c", "d"): 0.4})
    counts = simulate(one, W5, 2000, seed=1) + simulate(two, W5, 1000, seed=2)
    assert isinstance(counts.design, Mixture)
    check = check_honesty(counts)
    assert (check.answers.df, check.draws.df) == (6, 9)
    assert check.answers.pvalue > 0.05
    assert NoteKind.NULL_LAW in {note.kind for note in check.notes}
