"""Questions with more than two answers, and yes/no questions of designs whose codes are numbers."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import COVERED, GIVEN, GROUPS, LISTED, RECORDED, SEVEN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError, NotIndependentError

EVEN = sp.partition(range(6), 3)


def test_a_question_lists_the_groups():
    question = sp.ask(EVEN, seed=1)
    assert len(question.options) == len(question.groups) == 3
    assert sorted(label for group in question.groups for label in group) == list(range(6))
    assert question.members == question.groups[0]
    assert not question.is_yes_no
    text = str(question)
    assert text.startswith("Which of these groups holds your answer? A: ")
    for letter, group in zip("ABC", question.groups):
        assert f"{letter}: {', '.join(map(str, group))}" in text


@every_case("design", [EVEN, GROUPS, RECORDED], ids=["even", "listed", "recorded"])
def test_an_answer_is_the_number_of_a_group(design):
    question = sp.ask(design, seed=2)
    for k in range(3):
        for answer in (k, np.int64(k), float(k)):
            code = question.resolve(answer)
            assert type(code) is int
            assert design.members(code) == question.groups[k]
    for nothing in (None, float("nan")):
        assert question.resolve(nothing) == design.missing_code


@every_case("answer", [True, False, np.True_, 3, -1, 0.5, "0", "yes", [], (0,)])
def test_what_is_no_group_is_refused(answer):
    # True would be group 1, and -1 the last: neither is what was meant.
    with refused(CodeError, "answer") as caught:
        sp.ask(EVEN, seed=1).resolve(answer)
    assert "answer == 'yes'" not in str(caught.value)  # the hint is about groups


def test_rows_of_answers():
    questions = sp.draw_questions(EVEN, 4, seed=1)
    assert questions.shape == (4, 3)
    data = sp.resolve(questions, [0, 2, None, 1], EVEN)
    assert data.codes.tolist() == [questions[0, 0], questions[1, 2], 63, questions[3, 1]]
    assert data.design is EVEN
    same = sp.resolve(questions.tolist(), np.array([0, 2, np.nan, 1]), EVEN)
    assert same.codes.tolist() == data.codes.tolist()


def test_recorded_questions_are_numbers():
    questions = sp.draw_questions(RECORDED, 50, seed=1)
    number = questions[:, 0] // 3 - 1
    assert set(number.tolist()) == set(range(5))
    assert (questions == 3 * (number[:, None] + 1) + np.arange(3)).all()
    for row, k in zip(questions[:5], number[:5]):
        assert [RECORDED.members(int(code)) for code in row] == LISTED[k]


@every_case(
    ("questions", "said", "error", "got"),
    [
        ([[3, 12, 48]], [0, 1], MismatchError, "2 for 1"),
        ([3, 12, 48], [0], CodeError, r"shape \(3,\)"),
        ([[3, 12]], [0], CodeError, r"shape \(1, 2\)"),
        ([[3, 12, 48]], [3], CodeError, "1 other value, first in row 0"),
        ([[3, 12, 48]], [True], CodeError, "1 other"),
        ([[3, 12, 48]], ["0"], CodeError, "1 other value, first in row 0"),
        ([[3, 12, 48]], 0, CodeError, "int"),
        ([[3, 12, 48], [7, 8, 48]], [0, 0], CodeError, "1 question that is not, first in row 1"),
        ([[3, 12, 20]], [0], CodeError, "1 question that is not"),
        ([[3.0, 12.0, 48.0]], [0], CodeError, "dtype float64"),
        # Whoever sends a question back may have chosen it: groups that overlap are no question of the design.
        ([[0b000011, 0b000011, 0b110000]], [0], CodeError, "1 question that is not, first in row 0"),
    ],
)
def test_what_does_not_fit_is_refused(questions, said, error, got):
    with pytest.raises(error, match=f"; got {got}"):
        sp.resolve(questions, said, EVEN)


@every_case("question", [[3, 3, 3], [3, 7, 5]], ids=["one group three times", "groups of two partitions"])
def test_recorded_groups_that_were_not_asked_together_are_no_question(question):
    design = sp.partition(range(6), partitions=[[(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 4), (3, 5)]], record=True)
    with pytest.raises(CodeError, match="1 question that is not, first in row 0"):
        sp.resolve([question], [0], design)


@pytest.mark.parametrize("design", [GIVEN, COVERED], ids=["conditional", "covered"])
def test_designs_that_cannot_be_asked_have_nothing_to_resolve(design):
    with pytest.raises(NotIndependentError):
        sp.resolve([3], [True], design)


# Yes/no questions of numbers ---------------------------------------------------------------------------------------


def test_rows_of_a_matrix_are_questions():
    design = sp.hadamard(60)
    questions = sp.draw_questions(design, 2000, seed=1)
    assert (questions & 1 == 1).all()  # the set asked about is the side "yes"
    assert set((questions >> 1).tolist()) == set(range(1, 64))
    x = np.arange(2000) % 60
    data = sp.resolve(questions, design.contains(questions, x), design)
    assert design.contains(data.codes, x).all()
    question = sp.ask(design, seed=1)
    assert set(question.groups[0]) | set(question.groups[1]) == set(range(60))
    assert not set(question.groups[0]) & set(question.groups[1])
    assert question.resolve(None) == 1
    with pytest.raises(CodeError):
        sp.resolve([1], [True], design)


def test_two_groups_are_asked_by_yes_and_no():
    design = sp.partition(range(5), 2)
    questions = sp.draw_questions(design, 100, seed=1)
    assert questions.shape == (100,)
    data = sp.resolve(questions, [True, False, None, *[True] * 97], design)
    assert data.codes[:3].tolist() == [questions[0], 31 - questions[1], 31]


def test_every_listed_partition_is_asked():
    drawn = sp.draw_questions(GROUPS, 400, seed=3)
    seen = {tuple(GROUPS.members(int(code)) for code in row) for row in drawn}
    assert seen == {tuple(groups) for groups in LISTED}
    assert len(SEVEN) == 7


def test_a_row_of_codes_becomes_a_question():
    asked = sp.draw_questions(EVEN, 5, seed=1)
    question = sp.Question(asked[2], EVEN)
    assert question.options == tuple(asked[2])
    for wrong in (int(asked[0][0]), asked[0][[0, 0, 2]], asked[0][:2]):
        with refused(CodeError, "questions"):
            sp.Question(wrong, EVEN)
    with pytest.raises(CodeError):
        sp.Question(7, sp.uniform(list("abcd")))


def test_a_question_is_one_code_of_a_design():
    with refused(ArgumentError, "design"):
        sp.Question(3, "uniform")
    with refused(CodeError, "questions"):
        sp.Question([3, 12], sp.uniform(list("abcd")))
