"""The collector's side: draw a question without the value, and store what the answer leaves possible.

Nothing here ever sees a value. The import law keeps it so.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_codes, check_count
from subsetprivacy._types import AnyArray, ArrayLike, IntArray, Label
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import CodeError, MismatchError
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.subsets import is_missing


@frozen
class Question:
    """One yes/no question, "is your answer one of these?", drawn without the value.

    Attributes
    ----------
    code
        The set asked about.
    design
        The design it was drawn from.
    """

    code: int
    design: Design

    @property
    def members(self) -> tuple[Label, ...]:
        """The labels asked about."""
        return self.design.categories.members(self.code)

    def __str__(self) -> str:
        return "Is your answer one of these: " + ", ".join(str(label) for label in self.members) + "?"

    def resolve(self, answer: bool | None) -> int:
        """Return the code to store: the set for yes, its complement for no, the full set for no answer."""
        said = _read_answer(answer)
        if said == 2:
            raise CodeError(
                f"`answer` must be True, False or None; got {type(answer).__name__}. Hint: answer == 'yes'."
            )
        full = self.design.categories.full
        return {1: self.code, 0: full - self.code, -1: full}[said]


def ask(design: Design, *, seed: int | None = None, rng: Any = None) -> Question:
    """Draw one question for one person.

    Parameters
    ----------
    design
        A design of yes/no questions.
    seed, rng
        For experiments only: the draw is then repeatable and not private.

    Notes
    -----
    One person gets one question per variable, once: two answers of the same
    person intersect. After two uniform draws a single value is left with
    probability .67 for p = 4 and .14 for p = 8.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> question = ask(uniform(["black", "red", "green", "blue"]), seed=3)
    >>> print(question)
    Is your answer one of these: green, blue?
    >>> question.design.categories.members(question.resolve(False))
    ('black', 'red')
    """
    return Question(int(draw_questions(design, 1, seed=seed, rng=rng)[0]), design)


def draw_questions(design: Design, n: int, *, seed: int | None = None, rng: Any = None) -> IntArray:
    """Draw the questions of n people, as codes."""
    size = check_count(n, "n")
    return require_design(design).draw_questions(size, random_source(seed, rng)).astype(np.int64)


def resolve(questions: ArrayLike, answers: Any, design: Design) -> SubsetData:
    """Return what the answers leave possible: one row per person.

    Parameters
    ----------
    questions
        Codes of the sets asked about.
    answers
        True for yes, False for no; None where there was no answer, which is
        stored as the full set.
    """
    if isinstance(questions, (list, tuple)) and questions and isinstance(questions[0], Question):
        raise CodeError("`questions` must be codes; got Question objects. Hint: [q.code for q in questions].")
    asked = check_codes(questions, "questions")
    said = _read_answers(answers)
    if asked.shape != said.shape:
        raise MismatchError(f"`answers` must be one per question; got {said.size} for {asked.size}.")
    _check_asked(asked, require_design(design))
    full = design.categories.full
    codes = np.where(said == 1, asked, full - asked)
    return SubsetData(np.where(said < 0, full, codes), design)


def _check_asked(asked: IntArray, design: Design) -> None:
    """Raise if a set is no question of the design: whoever sends it back may have chosen it."""
    # A question and its complement are both answers; the empty set is one only with the full set.
    foreign = ~((design.mu(asked) > 0) | ((asked == 0) & (design.mu_full > 0)))
    if foreign.any():
        raise CodeError(
            f"`questions` must be sets that the design asks about; got {int(foreign.sum())} that are not, "
            f"first in row {int(foreign.argmax())}."
        )


def _read_answers(answers: Any) -> AnyArray:
    """Return 1 for yes, 0 for no, -1 for no answer."""
    if isinstance(answers, (str, bytes)) or not isinstance(answers, Iterable):
        raise CodeError(f"`answers` must be a list of True, False or None; got {type(answers).__name__}.")
    column = np.asarray(answers) if hasattr(answers, "__array__") else list(answers)
    if isinstance(column, np.ndarray) and column.dtype == np.bool_ and column.ndim == 1:
        return column.astype(np.int8)
    said = [_read_answer(a) for a in column]
    bad = [row for row, a in enumerate(said) if a == 2]
    if bad:
        raise CodeError(f"`answers` must be True, False or None; got {len(bad)} others, first in row {bad[0]}.")
    return np.array(said, np.int8)


def _read_answer(answer: Any) -> int:
    if is_missing(answer):
        return -1
    number = isinstance(answer, (bool, int, float, np.bool_, np.number))
    return int(answer) if number and answer in (0, 1) else 2
