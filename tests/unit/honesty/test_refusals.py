"""What cannot be checked, why, and what would help."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN, UNKNOWN
from refusals import refused

from subsetprivacy.data import SubsetCounts, SubsetData, SubsetTable
from subsetprivacy.design import fixed_size, independent, product, uniform, warner
from subsetprivacy.errors import (
    ArgumentError,
    NoDataError,
    NotIdentifiableError,
    TooLargeError,
    UnknownDesignError,
)
from subsetprivacy.honesty import check_draws, check_honesty
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_tests import ASK_DIFFERENT_SIZES, FIVE_CATEGORIES, MORE_DIFFERENT_QUESTIONS

W5 = np.array([0.35, 0.05, 0.2, 0.3, 0.1])
W6 = np.array([0.3, 0.05, 0.2, 0.25, 0.1, 0.1])


def test_four_categories_have_nothing_to_spare():
    counts = simulate(uniform(list("abcd")), [0.1, 0.2, 0.3, 0.4], 500, seed=1)
    with pytest.raises(NotIdentifiableError) as caught:
        check_honesty(counts)
    assert caught.value.advice.advice is FIVE_CATEGORIES


def test_too_few_questions_have_nothing_to_spare():
    five = {("a", "b"): 0.3, ("a", "c"): 0.3, ("a", "d"): 0.2, ("a", "e"): 0.2}
    with pytest.raises(NotIdentifiableError):
        check_honesty(simulate(independent(list("abcde"), five), W5, 500, seed=1))
    with pytest.raises(NotIdentifiableError):
        check_honesty(SubsetCounts([0b00011, 0b00101], [5, 6], uniform(range(5))))
    # Three subsets of three categories, drawn around the value: two independent proportions, two free shares.
    with pytest.raises(NotIdentifiableError) as caught:
        check_honesty(SubsetCounts([0b011, 0b110], [5, 6], fixed_size(list("xyz"), 2)))
    assert caught.value.advice.advice is MORE_DIFFERENT_QUESTIONS


def test_one_degree_of_freedom_is_enough():
    five = {("a", "b"): 0.3, ("a", "c"): 0.3, ("a", "d"): 0.2, ("a", "e"): 0.1, ("b", "c"): 0.1}
    check = check_honesty(simulate(independent(list("abcde"), five), W5, 5000, seed=1))
    assert check.answers.df == 1
    assert check.random is not None  # takes the last one
    assert check.rest is None
    assert [part.name for part in check.parts] == ["answers", "draws", "random"]


def test_questions_of_half_the_categories_cannot_tell_random_answers():
    halves = fixed_size(list("abcdef"), 3)
    check = check_honesty(simulate(halves, W6, 3000, seed=1))
    assert check.answers.df == 10 - 5
    assert check.draws.df == 9
    assert np.isnan([check.random_share, check.random_share_se, *check.random_share_interval]).all()
    assert (check.notes[0].kind, check.notes[0].advice.advice) == (NoteKind.RANDOM_ANSWERS, ASK_DIFFERENT_SIZES)
    assert check.notes[0].text.startswith("Random answers cannot be identified: each question splits")


def test_random_answers_can_hide_behind_uneven_weights():
    questions = [("a", "b"), ("a", "c"), ("a", "d"), ("a", "b", "e"), ("a", "c", "e"), ("a", "d", "e")]
    design = independent(list("abcde"), dict.fromkeys(questions, 1 / 6))
    # Every question holds two of a … d: 1/4 on each of these and 0 on e answers all of them as chance does.
    check = check_honesty(simulate(design, W5, 3000, seed=1))
    assert check.random is None
    assert "they look like a change of the weights" in check.notes[0].text


def test_a_publishers_design_has_no_questions():
    check = check_honesty(simulate(GIVEN, [0.1, 0.2, 0.3, 0.4], 1000, seed=1))
    assert (check.draws, check.random, check.rest) == (None, None, None)
    assert [note.kind for note in check.notes] == [NoteKind.RANDOM_ANSWERS, NoteKind.TESTED_TOGETHER]


def test_what_is_no_sample_of_a_design_is_refused():
    with pytest.raises(UnknownDesignError):
        check_honesty(SubsetCounts([3, 12], [1, 2], UNKNOWN))
    with pytest.raises(NoDataError):
        check_honesty(SubsetData([15, 15], ASKED))
    with refused(ArgumentError, "data"):
        check_honesty(SubsetCounts([3, 12], [1.5, 1.0], uniform(range(5)), squares=[1.0, 1.0]))
    with refused(ArgumentError, "level"):
        check_honesty(SubsetCounts([3, 12], [1, 2], uniform(range(5))), level=95)
    with refused(ArgumentError, "replications"):
        check_honesty(SubsetCounts([3, 12], [1, 2], uniform(range(5))), replications=10**9)


# Several variables ---------------------------------------------------------------------------------

ONE_BY_ONE = r"Hint: one variable at a time: check_honesty\(table\['race'\]\)"


def table_of(design, people=3):
    """A table of the first subset of every variable."""
    return SubsetTable([[int(factor.support()[0][0])] * people for factor in design.factors], design)


def test_a_table_is_checked_as_a_whole_and_says_how_to_see_more():
    design = product({"race": uniform(list("abcd")), "age": uniform(list("rstu"))})
    counts = simulate(design, np.full(16, 1 / 16), 5000, seed=1)
    first, _ = check_honesty(counts).notes
    assert str(first).endswith("Hint: one variable at a time: check_honesty(table['race']).")
    with pytest.raises(NotIdentifiableError):
        check_draws(counts)


@every_case(
    ("variables", "error"),
    [
        ({"race": warner(["a", "b"]), "smokes": warner(["no", "yes"])}, NotIdentifiableError),
        ({name: uniform(range(12)) for name in ("race", "b", "c")}, TooLargeError),
        ({name: uniform(range(12)) for name in ("race", "b", "c", "d", "e")}, TooLargeError),
        ({name: uniform(range(17)) for name in ("race", "b")}, TooLargeError),
    ],
    ids=["nothing to spare", "too many answers", "no common code", "too many pairs of answers"],
)
def test_several_variables_that_cannot_be_checked_together(variables, error):
    with pytest.raises(error, match=ONE_BY_ONE):
        check_honesty(table_of(product(variables)))


def test_more_combinations_than_equations():
    design = product({name: uniform(range(9)) for name in ("race", "b", "c", "d")})
    counts = SubsetCounts([int(design.join([np.array(3)] * 4))], [5], design)
    with pytest.raises(TooLargeError, match=rf"must have at most 4096; got 6561\. {ONE_BY_ONE}"):
        check_honesty(counts)
