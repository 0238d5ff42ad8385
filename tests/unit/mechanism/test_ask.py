import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, ASKED5, GIVEN
from refusals import refused
from sources import Cycle, Grid

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError, NotIndependentError


class Word:
    """A source that says the same word for ever."""

    def __init__(self, word):
        self._word = word

    def bits(self, n, width):
        return np.full(n, self._word, f"u{width // 8}")

    def among(self, rows):
        return self


QUESTION = sp.Question(5, ASKED)


def test_a_question_is_about_labels():
    assert QUESTION.members == ("a", "c")
    assert str(QUESTION) == "Is your answer one of these: a, c?"
    assert sp.ask(sp.uniform(ABCD), seed=Word(10)).members == ("b", "d")


@every_case(
    ("answer", "code"),
    [(True, 5), (False, 10), (None, 15), (np.True_, 5), (np.False_, 10), (1, 5), (0, 10), (float("nan"), 15)],
)
def test_an_answer_leaves_the_set_or_its_complement(answer, code):
    assert QUESTION.resolve(answer) == code
    assert type(QUESTION.resolve(answer)) is int


@every_case("answer", ["no", "yes", "", 2, -1, [], {}, "False"])
def test_what_is_no_answer_is_refused(answer):
    # By its truth "no" would be stored as a yes.
    with refused(CodeError, "answer"):
        QUESTION.resolve(answer)


def test_questions_follow_nu():
    questions = sp.draw_questions(ASKED5, 10, seed=Grid())
    assert dict(zip(*map(np.ndarray.tolist, np.unique(questions, return_counts=True)))) == {
        0: 1,
        3: 3,
        10: 2,
        11: 2,
        28: 1,
        31: 1,
    }
    assert questions.dtype == np.int64


@every_case("p", range(4, 9))
def test_uniform_questions_are_exactly_even(p):
    n = 2**p - 2 * p - 2
    questions = sp.draw_questions(sp.uniform(range(p)), n, seed=Cycle(p))
    assert sorted(questions.tolist()) == [a for a in range(1 << p) if 2 <= a.bit_count() <= p - 2]


@every_case("p", [8, 9, 16, 17, 32, 33])
def test_words_of_every_width(p):
    # At 8, 16 and 32 categories the full set fills the word.
    questions = sp.draw_questions(sp.uniform(range(p)), 2000, seed=1)
    assert questions.min() > 0
    assert questions.max() < (1 << p) - 1
    assert np.bitwise_or.reduce(questions) == (1 << p) - 1


def test_no_questions():
    assert sp.draw_questions(ASKED, 0).tolist() == []
    assert sp.draw_questions(sp.uniform(ABCD), 0).tolist() == []


def test_resolve_rows():
    data = sp.resolve([3, 5, 9, 3], [True, False, None, False], ASKED)
    assert data.labels() == [("a", "b"), ("b", "d"), ABCD, ("c", "d")]
    assert data.design is ASKED


def answers():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    plain = [True, False, None]
    return {
        "tuple": tuple(plain),
        "numpy": np.array(plain, object),
        "numpy float": np.array([1, 0, np.nan]),
        "pandas": pd.Series(plain),
        "pandas boolean": pd.Series(plain, dtype="boolean"),
        "polars": pl.Series(plain),
        "arrow": pa.array(plain),
    }


@every_case("kind", ["tuple", "numpy", "numpy float", "pandas", "pandas boolean", "polars", "arrow"])
def test_answers_of_every_kind(kind):
    assert sp.resolve([3, 3, 3], answers()[kind], ASKED).codes.tolist() == [3, 12, 15]


def test_questions_of_every_width():
    # The complement of a small integer need not fit in its type.
    nine = sp.uniform(range(9))
    for dtype in (np.uint8, np.int16, np.uint64):
        assert sp.resolve(np.array([3], dtype), [False], nine).codes.tolist() == [508]


def test_nobody_answers():
    assert len(sp.resolve([], [], ASKED)) == 0


@every_case(
    ("questions", "said", "error", "got"),
    [
        ([3, 5], [True], MismatchError, "1 for 2"),
        ([3.0], [True], CodeError, "dtype float64"),
        ([[3]], [True], CodeError, r"shape \(1, 1\)"),
        ([3, 5], ["yes", True], CodeError, "1 other value, first in row 0"),
        ([3, 5], [True, 7], CodeError, "1 other value, first in row 1"),
        ([3, 5], [True, [1]], CodeError, "1 other value, first in row 1"),
        ([3], [[True]], CodeError, "1 other"),
        ([3], np.array([[True]]), CodeError, "1 other"),
        ([3], None, CodeError, "NoneType"),
        ([3], True, CodeError, "bool"),
        ([3], "y", CodeError, "str"),
        # Whatever the answer: a set that was never asked about may have been chosen.
        ([0], [False], CodeError, "1 question that is not, first in row 0"),
        ([3, 16], [True, None], CodeError, "1 question that is not, first in row 1"),
        ([3, 7], [True, None], CodeError, "1 question that is not, first in row 1"),
        ([15, 1], [True, None], CodeError, "2 questions that are not, first in row 0"),
        ([QUESTION], [True], CodeError, r"Question objects. Hint: \[q.code for q in questions\]"),
    ],
)
def test_what_does_not_fit_is_refused(questions, said, error, got):
    with pytest.raises(error, match=f"; got {got}"):
        sp.resolve(questions, said, ASKED)


@every_case("call", [sp.ask, lambda d: sp.draw_questions(d, 1), lambda d: sp.resolve([3], [True], d)])
def test_what_is_no_design_is_refused(call):
    with refused(ArgumentError, "design"):
        call("uniform")


@every_case("n", [-1, 2.0, True, "3"])
def test_the_number_of_questions_is_checked(n):
    with refused(ArgumentError, "n"):
        sp.draw_questions(ASKED, n)


def test_only_yes_no_designs_can_be_asked():
    for design in (GIVEN, sp.nonprivate(ABCD), sp.fully_private(ABCD)):
        with pytest.raises(NotIndependentError):
            sp.ask(design)


def test_ask_is_random_by_default_and_repeatable_by_seed():
    design = sp.uniform(range(40))
    assert len({sp.ask(design).code for _ in range(5)}) == 5
    assert sp.ask(design, seed=3) == sp.ask(design, seed=3)
    assert sp.ask(design, seed=3) != sp.ask(design, seed=4)
