"""`QuestionCounts`: which questions were shown, how they were answered, and how often."""

from collections.abc import Mapping
from typing import Any, Self, get_args

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import check_choice, read_only
from subsetprivacy._choices import QuestionKind
from subsetprivacy._types import ArrayLike, BoolArray, IntArray
from subsetprivacy._words import counted, people
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.describing import MAX_ROWS, design_of, facts_of, shortened, texts_of_codes
from subsetprivacy.data.validation import check_amounts
from subsetprivacy.design import Design, require_design
from subsetprivacy.design.secret_bit import EQUAL
from subsetprivacy.errors import CodeError, MismatchError, NotIdentifiableError, UnknownDesignError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_data import COUNT_THE_SUBSETS, IS_THIS_THE_DESIGN
from subsetprivacy.messages.for_designs import GIVE_THE_DESIGN
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table

KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)
YES, NO, SKIPPED = 0, 1, -1
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "yes_no": ("yes", "no"),
    "bit": ("same", "different"),
    "local": ("answered",),
}
UNKNOWN = 0  # a group that was shown but not recorded: the empty set, which is never shown


def question_kind(design: Design) -> QuestionKind:
    """Return the kind of question that a design asks.

    Returns
    -------
    str
        ``"yes_no"``: about a set. ``"groups"``: which of several groups. ``"bit"``: the same question for everyone,
        about a secret bit. ``"local"``: no question; the respondent's device draws a set that contains the answer.
    """
    if design.options is None:
        return "local"
    if not design.is_independent:
        return "groups"
    return "bit" if design.answer_words == ANSWERS["bit"] else "yes_no"


def _given(values: ArrayLike | None) -> Any:
    """Return the values unchanged. They are checked once all arguments are set."""
    return values


@frozen(slots=False, eq=False, repr=False)
class QuestionCounts(Result):
    """How often each question was asked and how it was answered. The checks of the data use these counts.

    `SubsetCounts` contains the values that remain possible after an answer. It does not contain which side of a yes/no
    question was asked about, or which question was skipped. This class adds both, and nothing else about people.

    Parameters
    ----------
    design
        The design of the questions.
    shown
        For yes/no questions, the code of the set asked about. For questions with groups, a row with the codes of all
        groups, or zeros if they were not recorded. Omit it (None) if everyone is asked the same question, or the set
        is drawn on the device.
    answers
        For yes/no questions, 0 for yes and 1 for no. For groups, the position of the chosen group, from 0. For a secret
        bit, 0 for "same" and 1 for "different". In all cases, -1 for a skipped question.
    n
        How often each line occurred. By default each line is one person, and equal lines are counted.
    kind
        The kind of question, ``"yes_no"``, ``"groups"``, ``"bit"`` or ``"local"``, by default that of the design.

    Raises
    ------
    CodeError
        If a question or an answer does not belong to the design. The message names the first line, never its content.
    UnknownDesignError
        If the design is not known.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> colors = uniform(["black", "red", "green", "blue"])
    >>> QuestionCounts(colors, shown=[3, 3, 12, 5], answers=[0, 1, 0, -1], n=[30, 20, 25, 5])
    <QuestionCounts: 80 people asked, 5 skipped, 3 sets shown, <uniform design on 4 categories: 'black', 'red', ...>>
    """

    design: Design
    shown: IntArray = field(default=None, converter=_given)
    answers: IntArray = field(kw_only=True, converter=_given)
    n: IntArray = field(default=None, kw_only=True, converter=_given)
    kind: QuestionKind = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if not require_design(self.design).is_known:
            raise UnknownDesignError("`design` must be known to show how questions were asked.", GIVE_THE_DESIGN)
        kind = question_kind(self.design) if self.kind is None else check_choice(self.kind, KINDS, "kind")
        answers = _whole(self.answers, "answers")
        shown = _shown(self.shown, kind, self.design, len(answers))
        _check_answers(answers, kind, self.design)
        _check_shown(shown, kind, self.design)
        n = None if self.n is None else check_amounts(self.n, answers.shape, "n", whole=True)
        shown, answers, n = _counted(shown, answers) if n is None else (shown[n > 0], answers[n > 0], n[n > 0])
        for name, value in (("shown", shown), ("answers", answers), ("n", n)):
            object.__setattr__(self, name, read_only(value))
        object.__setattr__(self, "kind", kind)

    def __repr__(self) -> str:
        sets = "" if not self.shown.shape[1] else f", {counted(len(self._distinct), self._what)} shown"
        return f"<QuestionCounts: {people(self.asked)} asked, {self.skipped} skipped{sets}, {self.design!r}>"

    @property
    def _what(self) -> str:
        return "set" if self.kind == "yes_no" else "question"

    @property
    def _distinct(self) -> IntArray:
        return np.unique(self.shown[self.is_known], axis=0)

    @property
    def asked(self) -> int:
        """The number of people who were asked."""
        return int(self.n.sum())

    @property
    def is_skipped(self) -> BoolArray:
        """Which lines are skipped questions."""
        return self.answers == SKIPPED

    @property
    def skipped(self) -> int:
        """The number of people who skipped the question."""
        return int(self.n[self.is_skipped].sum())

    @property
    def answered(self) -> int:
        """The number of people who answered."""
        return self.asked - self.skipped

    @property
    def is_known(self) -> BoolArray:
        """Which lines record what was shown."""
        return (self.shown != UNKNOWN).any(axis=1) if self.shown.shape[1] else np.zeros(len(self.n), np.bool_)

    @property
    def sides(self) -> IntArray:
        """The code of the set asked about in each line of yes/no questions."""
        return self.shown[:, 0]

    @property
    def questions(self) -> IntArray:
        """The smaller code of the two sides in each line of yes/no questions, which identifies the question."""
        return np.asarray(np.minimum(self.sides, self.design.complement(self.sides)))

    def counts(self) -> SubsetCounts:
        """Return how often each subset was reported. Skipped questions count as full sets, which are missing.

        Raises
        ------
        NotIdentifiableError
            If the subsets do not follow from the questions, because they were drawn on the device or the groups shown
            were not recorded.
        """
        codes = self._reports()
        distinct, at = np.unique(codes, return_inverse=True)
        amounts = np.zeros(len(distinct), np.int64)
        np.add.at(amounts, at, self.n)
        return SubsetCounts(distinct, amounts, self.design)

    @property
    def has_counts(self) -> bool:
        """Whether `counts` can be computed."""
        return self.kind in {"yes_no", "bit"} or (
            self.kind == "groups" and bool((self.is_known | self.is_skipped).all())
        )

    def _reports(self) -> IntArray:
        if not self.has_counts:
            what = (
                ("the groups that were shown were not recorded")
                if self.kind == "groups"
                else ("the sets are drawn around the answers")
            )
            raise NotIdentifiableError(f"the subsets must follow from the questions; {what}.", COUNT_THE_SUBSETS)
        if self.kind == "groups":
            chosen = self.shown[np.arange(len(self.n)), np.maximum(self.answers, 0)]
        else:
            yes = self.sides if self.kind == "yes_no" else np.full(len(self.n), EQUAL)
            chosen = np.where(self.answers == YES, yes, self.design.complement(yes))
        return np.where(self.is_skipped, self.design.missing_code, chosen)

    def merged(self) -> "QuestionCounts":
        """Return the same counts with equal lines added up, sorted by question and answer."""
        shown, answers, n = _counted(self.shown, self.answers, self.n)
        return QuestionCounts(self.design, shown, answers=answers, n=n, kind=self.kind)

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: how many people skipped, and for how many it is unknown what was shown."""
        notes = []
        if self.skipped:
            notes.append(Note(NoteKind.MISSING, f"Skipped the question: {people(self.skipped)}."))
        unknown = int(self.n[~self.is_known].sum()) if self.kind == "groups" else 0
        if unknown:
            notes.append(Note(NoteKind.MISSING, f"The groups that were shown were not recorded for {people(unknown)}."))
        return tuple(notes)

    def _answer_text(self, answer: int) -> str:
        if answer == SKIPPED:
            return "skipped"
        return f"group {answer + 1}" if self.kind == "groups" else ANSWERS[self.kind][answer]

    def _shown_texts(self) -> list[str | None]:
        if not self.shown.shape[1]:
            return [None] * len(self.n)
        columns = [
            texts_of_codes(self.design, np.where(self.is_known, part, self.design.missing_code))
            for part in self.shown.T
        ]
        texts = [" / ".join(parts) for parts in zip(*columns, strict=True)]
        return [text if known else None for text, known in zip(texts, self.is_known.tolist(), strict=True)]

    def summary(self) -> Table:
        """Return the most frequent pairs of question and answer, and how often each occurred."""
        order = np.argsort(-self.n, kind="stable")[:MAX_ROWS]
        shown = self._shown_texts()
        rows = tuple(
            (shown[k] or "-", self._answer_text(int(self.answers[k])), f"{self.n[k]}", f"{self.n[k] / self.asked:.4f}")
            for k in order.tolist()
        )
        title = f"Questions: {people(self.asked)} asked, {self.answered} answered, {self.skipped} skipped"
        notes = shortened(len(order), len(self.n), "answers") + self.notes
        return Table(title, ("shown", "answer", "people", "share"), rows, notes)

    def _columns(self) -> Mapping[str, Any]:
        texts = [self._answer_text(answer) for answer in self.answers.tolist()]
        return {"shown": self._shown_texts(), "answer": texts, "count": self.n}

    def to_dict(self) -> dict[str, Any]:
        """Return the questions, the answers, the counts and the document of the design, for JSON.

        Raises
        ------
        DesignDocumentError
            If a category is not text, a finite number or a boolean, so that JSON could not restore it.
        """
        facts = {name: getattr(self, name) for name in ("kind", "asked", "skipped", "shown", "answers", "n")}
        return plain({**facts, "design": self.design.document(), "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        kind, shown, answers, n, design = facts_of(cls, facts, ("kind", "shown", "answers", "n", "design"))
        return cls(design_of(design), shown or None, answers=answers, n=n, kind=kind)

    def __add__(self, other: object) -> "QuestionCounts":
        if not isinstance(other, QuestionCounts):
            return NotImplemented
        if self.design != other.design or self.kind != other.kind:
            raise MismatchError("questions must be asked in the same way, by the same design, to be added.")
        shown, answers, n = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("shown", "answers", "n")
        )
        return QuestionCounts(self.design, shown, answers=answers, n=n, kind=self.kind).merged()

    def __radd__(self, other: object) -> "QuestionCounts":
        return self if other == 0 else NotImplemented  # sum([...]) starts at 0


# Checks -----------------------------------------------------------------------------------------


def _whole(values: ArrayLike, name: str) -> IntArray:
    """Return a copy as whole numbers, or raise an error that does not show them."""
    try:
        numbers = np.array(values)
    except ValueError:  # rows of different lengths
        numbers = np.empty(0, object)
    if numbers.size == 0 and numbers.dtype.kind == "f":
        numbers = numbers.astype(np.int64)
    if numbers.dtype.kind not in "iu":
        raise CodeError(f"`{name}` must be whole numbers; got {type(values).__name__} of something else.")
    return numbers.astype(np.int64)


def _shown(shown: Any, kind: str, design: Design, lines: int) -> IntArray:
    """Return the question shown in each line as a row of codes."""
    width = {"yes_no": 1, "groups": design.options}.get(kind, 0)
    assert width is not None
    if shown is None:
        if kind == "yes_no":
            raise MismatchError("`shown` must be given for yes/no questions; got none.")
        return np.full((lines, width), UNKNOWN, np.int64)
    codes = _whole(shown, "shown")
    codes = codes.reshape(-1, 1) if codes.ndim == 1 and width == 1 else codes
    codes = codes.reshape(lines, 0) if codes.size == 0 and width == 0 else codes
    if codes.shape != (lines, width):
        raise MismatchError(
            f"`shown` must have {counted(width, 'code')} for each of {counted(lines, 'answer')}; got shape "
            f"{codes.shape}."
        )
    return codes


def _check_answers(answers: IntArray, kind: str, design: Design) -> None:
    if answers.ndim != 1:
        raise MismatchError(f"`answers` must be one for each line; got shape {answers.shape}.")
    most = (design.options or 1) if kind == "groups" else len(ANSWERS[kind])
    wrong = (answers < SKIPPED) | (answers >= most)
    if wrong.any():
        raise CodeError(
            f"`answers` must lie in -1…{most - 1}; got "
            f"{counted(wrong.sum(), 'answer that does not', 'answers that do not')}, first in line "
            f"{int(wrong.argmax())}."
        )


def _check_shown(shown: IntArray, kind: str, design: Design) -> None:
    """Raise if a question does not belong to the design."""
    if kind not in {"yes_no", "groups"} or not len(shown):
        return
    known = (shown != UNKNOWN).any(axis=1) | (kind == "yes_no")
    rows = np.sort(shown, axis=1) if kind == "groups" else np.column_stack([shown, design.complement(shown)])
    wrong = known & ~are_questions(rows, design)
    if wrong.any():
        raise CodeError(
            f"`shown` must be questions that the {design.maker} design asks; got "
            f"{counted(wrong.sum(), 'question that is not', 'questions that are not')}, first in line "
            f"{int(wrong.argmax())}.",
            IS_THIS_THE_DESIGN,
        )


def are_questions(rows: IntArray, design: Design) -> BoolArray:
    """Tell which rows of codes are questions of a design. More than two codes must be in ascending order."""
    inside = (rows >= 0) & (rows < 1 << design.code_bits)
    safe = np.where(inside, rows, design.missing_code)
    distribution = design.question_distribution() if not design.is_independent else None
    if distribution is None:
        asked = design.asks(safe)
    else:
        listed = {row.tobytes() for row in np.ascontiguousarray(distribution[0], np.int64)}
        asked = np.array([row.tobytes() in listed for row in np.ascontiguousarray(safe, np.int64)], np.bool_)
    return np.asarray(asked & inside.all(axis=1))


def _counted(shown: IntArray, answers: IntArray, n: IntArray | None = None) -> tuple[IntArray, IntArray, IntArray]:
    """Count equal lines."""
    lines, at = np.unique(np.column_stack([shown, answers]), axis=0, return_inverse=True)
    amounts = np.zeros(len(lines), np.int64)
    np.add.at(amounts, at.ravel(), np.ones(len(answers), np.int64) if n is None else n)
    return lines[:, :-1], lines[:, -1], amounts
