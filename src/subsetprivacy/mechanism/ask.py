"""The collector's side: draw a question without the value, and store the subset that the answer leaves possible.

Code in this module never sees a value. An import contract enforces this.
"""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, overload

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_codes, check_count, check_same_index
from subsetprivacy._types import AnyArray, ArrayLike, IntArray, Label, RandomSource, Seed
from subsetprivacy._words import counted
from subsetprivacy.data import SubsetData, SubsetTable
from subsetprivacy.design import Design, Product, require_design
from subsetprivacy.errors import CodeError, MismatchError, NotIndependentError, NotPrivateWarning
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.messages.for_data import ASK_ONE_AT_A_TIME, ASK_THE_BASE, PASS_QUESTION_CODES, READ_THE_ANSWER
from subsetprivacy.subsets import is_missing


@frozen(init=False)
class Question:
    """One question, drawn without the value: "Is your answer one of these?" or "Which of these groups?".

    Parameters
    ----------
    code
        The code of the set asked about, or the codes of all groups. This is
        an entry or a row of the result of `draw_questions`.
    design
        The design of the question.

    Attributes
    ----------
    options
        The code to store for each answer: yes and no for a yes/no question,
        otherwise one per group.

    Raises
    ------
    CodeError
        If the design does not ask this question.
    """

    design: Design
    options: tuple[int, ...]

    def __init__(self, code: Any, design: Design) -> None:
        # One code of a yes/no question, or one row of the codes of groups.
        options = _options(np.asarray(code)[None], require_design(design))
        self.__attrs_init__(design, tuple(options[0].tolist()))

    @property
    def code(self) -> int:
        """The code of the set asked about, or of the first group."""
        return self.options[0]

    @property
    def members(self) -> tuple[Label, ...]:
        """The labels asked about, or those of the first group."""
        return self.design.members(self.code)

    @property
    def groups(self) -> tuple[tuple[Label, ...], ...]:
        """The labels of each option."""
        return tuple(self.design.members(code) for code in self.options)

    @property
    def is_yes_no(self) -> bool:
        """Whether the answers are yes and no."""
        return self.design.options == 2

    def __str__(self) -> str:
        return self.design.question_text(self.options)

    def resolve(self, answer: bool | int | None) -> int:
        """Return the code to store.

        Parameters
        ----------
        answer
            True or False for yes or no, or for "same" or "different" with a
            secret bit. For several groups, the number of the group, from 0
            (the letter A). None for no answer, which is stored as the full
            set.
        """
        chosen = _read_answer(answer, len(self.options), self.is_yes_no)
        if chosen == _WRONG:
            raise CodeError(
                f"`answer` must be {_choices(self.design.options)}; got {type(answer).__name__}.",
                READ_THE_ANSWER(code=self._words) if self.is_yes_no else None,
            )
        return self.design.missing_code if chosen < 0 else self.options[chosen]

    @property
    def _words(self) -> str:
        """Code that converts the words of an answer."""
        first, second = self.design.answer_words
        return f"{{{first!r}: True, {second!r}: False}}.get(answer)"


_WRONG = -2


def _choices(options: int | None) -> str:
    return "True, False or None" if options == 2 else f"a group from 0 to {(options or 0) - 1}, or None"


@overload
def ask(design: Product, *, seed: Seed | RandomSource | None = ...) -> dict[str, Question]: ...  # type: ignore[overload-overlap]
@overload
def ask(design: Design, *, seed: Seed | RandomSource | None = ...) -> Question: ...
def ask(design: Design, *, seed: Seed | RandomSource | None = None) -> Question | dict[str, Question]:
    """Draw one question for one person.

    Parameters
    ----------
    design
        A design of yes/no questions or of groups. For a product, the result
        is a dict of questions by variable.
    seed
        For experiments only: a number, or a NumPy Generator or SeedSequence.
        The draw can then be repeated and is **not private**. The default is
        cryptographic.

    Notes
    -----
    Ask each person one question per variable, and only once, because two
    answers of the same person intersect. After two uniform draws a single
    value is left with probability 0.67 for p = 4 and 0.14 for p = 8 (see
    `repeat_risk`).

    Examples
    --------
    >>> from subsetprivacy.design import partition, uniform
    >>> question = ask(uniform(["black", "red", "green", "blue"]), seed=3)
    >>> print(question)
    Is your answer one of these: green, blue?
    >>> question.design.categories.members(question.resolve(False))
    ('black', 'red')
    >>> print(ask(partition(range(6), groups=3), seed=1))
    Which of these groups holds your answer? A: 0, 5; B: 1, 3; C: 2, 4
    """
    source = random_source(seed)
    several = require_design(design).product
    if several is not None:
        return {name: ask(factor, seed=source) for name, factor in several.by_name().items()}
    drawn = _draw(design, 1, source)
    return Question(drawn[0] if design.options != 2 else drawn[0][0], design)


def _draw(design: Design, n: int, source: Any) -> IntArray:
    """Return the codes of the options of n questions, one row per question."""
    if design.options is not None and design.reveals_silently:
        warnings.warn(
            NotPrivateWarning(f"a {design.maker} design asks about single values: an answer can reveal one."),
            stacklevel=4,
        )
    if design.covered is not None:
        raise NotIndependentError("a covered design cannot be asked; ask with the design that it covers.", ASK_THE_BASE)
    return design.draw_options(n, source)


@overload
def draw_questions(  # type: ignore[overload-overlap]
    design: Product, n: int, *, seed: Seed | RandomSource | None = ...
) -> dict[str, IntArray]: ...
@overload
def draw_questions(design: Design, n: int, *, seed: Seed | RandomSource | None = ...) -> IntArray: ...
def draw_questions(
    design: Design, n: int, *, seed: Seed | RandomSource | None = None
) -> IntArray | dict[str, IntArray]:
    """Draw the questions of n people, as codes.

    Parameters
    ----------
    design, seed
        As in `ask`.
    n
        The number of people.

    Returns
    -------
    array
        The codes of the sets asked about, or a row of codes per question with
        groups. For a product, a dict of these by variable.
        `Question(code, design)` gives the text of a question.
    """
    size = check_count(n, "n")
    source = random_source(seed)
    several = require_design(design).product
    if several is not None:
        return {name: draw_questions(factor, size, seed=source) for name, factor in several.by_name().items()}
    drawn = _draw(design, size, source)
    return drawn[:, 0] if design.options == 2 else drawn


@overload
def resolve(questions: Mapping[str, ArrayLike], answers: Any, design: Product) -> SubsetTable: ...
@overload
def resolve(questions: ArrayLike, answers: Any, design: Design) -> SubsetData: ...
def resolve(questions: Any, answers: Any, design: Design) -> SubsetData | SubsetTable:
    """Return the subsets that the answers leave possible, one row per person.

    Parameters
    ----------
    questions
        The result of `draw_questions`: codes of the sets asked about, or a
        row of codes per question with groups. For a product, a dict by
        variable.
    answers
        True for yes, False for no, or the number of the group, from 0. None
        for no answer, which is stored as the full set. For a product, a dict
        or a data frame by variable.
    design
        The design with which the questions were drawn.

    Returns
    -------
    SubsetData
        For a product, a `SubsetTable`.
    """
    several = require_design(design).product
    if several is not None:
        return _resolve_table(questions, answers, several)
    if isinstance(questions, (list, tuple)) and questions and isinstance(questions[0], Question):
        raise CodeError("`questions` must be codes; got Question objects.", PASS_QUESTION_CODES)
    check_same_index({"questions": questions, "answers": answers})
    options = _options(questions, design)
    chosen_options = _read_answers(answers, options.shape[1], design.options == 2)
    if len(options) != len(chosen_options):
        raise MismatchError(
            f"`answers` must contain one answer per question; got {chosen_options.size} for "
            f"{counted(len(options), 'question')}."
        )
    chosen = options[np.arange(len(chosen_options)), np.maximum(chosen_options, 0)]
    return SubsetData(np.where(chosen_options < 0, design.missing_code, chosen), design)


def _resolve_table(questions: Any, answers: Any, design: Product) -> SubsetTable:
    factors = design.by_name()
    for name in factors:
        for given, what in ((questions, "questions"), (answers, "answers")):
            if isinstance(given, (str, bytes)) or not hasattr(given, "__getitem__") or name not in given:
                raise MismatchError(f"`{what}` must have a column for each variable; got none for {name}.")
    columns = [resolve(questions[name], answers[name], factor).codes for name, factor in factors.items()]
    return SubsetTable(tuple(columns), design)


def _options(questions: ArrayLike, design: Design) -> IntArray:
    """Return the options of each question, or raise if it does not belong to the design."""
    if design.options is None:
        raise NotIndependentError(
            f"the design must consist of questions for answers to be resolved; got a {design.maker} design.",
            ASK_ONE_AT_A_TIME,
        )
    if design.options == 2:
        asked = check_codes(questions, "questions")
        both = np.column_stack([asked, design.complement(asked)])
        _check_asked(both, design)
        return both
    table = np.asarray(questions)
    if table.ndim != 2 or table.shape[1] != design.options:
        raise CodeError(
            f"`questions` must be rows of {design.options} codes, one for each group; got shape {table.shape}."
        )
    rows = check_codes(table.ravel(), "questions").reshape(table.shape)
    _check_asked(rows, design)
    return rows


def _check_asked(asked: IntArray, design: Design) -> None:
    """Raise if a set is not a question of the design, because the sender may have chosen it."""
    foreign = ~design.asks(asked)
    if foreign.any():
        raise CodeError(
            "`questions` must be sets that the design asks about; got "
            f"{counted(foreign.sum(), 'question that is not', 'questions that are not')}, first in row "
            f"{int(foreign.argmax())}."
        )


def _read_answers(answers: Any, options: int, yes_no: bool) -> AnyArray:
    """Return the number of the option that each answer chooses, -1 for no answer."""
    if isinstance(answers, (str, bytes)) or not isinstance(answers, Iterable):
        raise CodeError(f"`answers` must be a list of {_choices(options)}; got {type(answers).__name__}.")
    column = np.asarray(answers) if hasattr(answers, "__array__") else list(answers)
    if isinstance(column, np.ndarray) and column.dtype == np.bool_ and column.ndim == 1 and yes_no:
        return 1 - column.astype(np.int8)
    chosen = [_read_answer(a, options, yes_no) for a in column]
    bad = [row for row, a in enumerate(chosen) if a == _WRONG]
    if bad:
        raise CodeError(
            f"`answers` must be {_choices(options)}; got {counted(len(bad), 'other value')}, first in row {bad[0]}."
        )
    return np.array(chosen, np.int64)


def _read_answer(answer: Any, options: int, yes_no: bool) -> int:
    if is_missing(answer):
        return -1
    number = isinstance(answer, (bool, int, float, np.bool_, np.number))
    if yes_no:  # yes is the first option, and both True and 1 mean yes
        return 1 - int(answer) if number and answer in (0, 1) else _WRONG
    good = number and not isinstance(answer, (bool, np.bool_)) and answer in range(options)
    return int(answer) if good else _WRONG
