"""Count questions and answers in the columns of a table, grouped by its engine."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import QuestionKind
from subsetprivacy._types import BoolArray, IntArray
from subsetprivacy.counting.distinct import RowLocator, check_sums, read_codes
from subsetprivacy.counting.tables import check_parts, column_name
from subsetprivacy.data import QuestionCounts
from subsetprivacy.data.questions import ANSWERS, KINDS, SKIPPED, UNKNOWN, are_questions, question_kind
from subsetprivacy.design import Design, require_design
from subsetprivacy.design.text import has_text_form, looks_like_codes
from subsetprivacy.engines import Groups, Key, check_columns, is_ordered, tally
from subsetprivacy.errors import ArgumentError, CodeError, SubsetPrivacyError
from subsetprivacy.messages.for_data import IS_THIS_THE_DESIGN

_YES, _NO, _NONE = 0, 1, -2
_SKIP_WORDS = {"skip": SKIPPED, "skipped": SKIPPED, "no answer": SKIPPED, "": SKIPPED}
_WORDS: dict[str, dict[str, int]] = {
    "yes_no": {"yes": _YES, "y": _YES, "true": _YES, "no": _NO, "n": _NO, "false": _NO},
    "bit": {"same": 0, "different": 1},
    "local": {"answered": 0},
    "groups": {},
}


@frozen
class QuestionColumns:
    """The columns of a table or file with questions and answers.

    Attributes
    ----------
    design, kind
        The design, and the kind of question.
    shown
        The column of the set asked about, or one column per group. Empty if it was not recorded.
    answer, weight
        The column of the answer, and of the number of people that a row stands for.
    """

    design: Design
    kind: QuestionKind
    shown: tuple[str, ...]
    answer: str
    weight: str | None

    @classmethod
    def of(
        cls,
        design: Design,
        shown: str | Sequence[str] | None,
        answer: str,
        weight: str | None,
        kind: QuestionKind | None,
    ) -> "QuestionColumns":
        """Check the arguments of `count_questions`.

        Raises
        ------
        ArgumentError
            If the number of columns does not match the questions of the design.
        """
        asked = question_kind(require_design(design))
        how: QuestionKind = asked if kind is None else check_choice(kind, KINDS, "kind")
        given = () if shown is None else tuple(shown) if isinstance(shown, (list, tuple)) else (shown,)
        names = tuple(column_name(name, "shown") for name in given)
        wanted = {"yes_no": [1], "groups": [0, design.options or 0]}.get(how, [0])
        if len(names) not in wanted:
            many = " or ".join(map(str, wanted))
            raise ArgumentError(f"`shown` must name {many} columns for a question of this design; got {len(names)}.")
        chosen = cls(design, how, names, column_name(answer, "answer"), weight and column_name(weight, "weight"))
        check_parts(chosen.columns)
        return chosen

    @property
    def keys(self) -> list[str]:
        """The columns to group by."""
        return [*self.shown, self.answer]

    @property
    def columns(self) -> list[str]:
        """All columns to read."""
        return self.keys if self.weight is None else [*self.keys, self.weight]

    @property
    def bits(self) -> list[int | None]:
        """The bits of each key's codes, None for answers."""
        return [*[self.design.code_bits] * len(self.shown), None]

    def read(self, groups: Groups, place: Callable[[int], str] = "row {}".format) -> QuestionCounts:
        """Return the counts of the groups. An error names the first row that is wrong."""
        where = RowLocator(groups, place)
        answers = _answers(groups.keys[-1], self.answer, self.kind, self.design, where)
        shown = np.zeros((len(groups), len(self.shown)), np.int64)
        for k, name in enumerate(self.shown):
            shown[:, k] = self._codes(groups.keys[k], name, where)
        self._check(shown, where)
        if groups.sums is not None:
            check_sums(groups, str(self.weight), "frequency", place)
        n = groups.rows if groups.sums is None else np.rint(groups.sums).astype(np.int64)
        made = QuestionCounts(self.design, shown if self.shown else None, answers=answers, n=n, kind=self.kind)
        return made.merged()

    def _codes(self, key: Key, name: str, where: RowLocator) -> IntArray:
        """Return the codes of a column. For groups, a gap is a group that was not recorded."""
        key = _without_text(key, self.design)
        if self.kind != "groups":
            return read_codes(key, name, self.design, "error", where)
        return np.where(key.absent, UNKNOWN, read_codes(key, name, self.design, "full", where))

    def _check(self, shown: IntArray, where: RowLocator) -> None:
        """Raise if a set does not belong to a question of the design."""
        if not self.shown or not len(shown):
            return
        known = (shown != UNKNOWN).any(axis=1)
        rows = np.sort(shown, axis=1) if self.kind == "groups" else np.hstack([shown, self.design.complement(shown)])
        wrong = known & ~are_questions(rows, self.design)
        if wrong.any():
            raise CodeError(
                f"what was shown must be a question of the {self.design.maker} design; got "
                f"others {where.describe(wrong)}.",
                IS_THIS_THE_DESIGN,
            )


def count_question_columns(table: Any, columns: QuestionColumns) -> QuestionCounts:
    """Count the questions of a table, grouped by its engine."""
    check_columns(table, columns.columns)

    def grouped(in_order: bool) -> Groups:
        bits = columns.bits
        return tally(table, columns.keys, columns.weight, bits=bits, whole=True, in_order=in_order)

    groups = grouped(False)
    try:
        return columns.read(groups)
    except SubsetPrivacyError as error:
        refusal = error
    if groups.first is None and is_ordered(table):
        # Repeat in row order, so that the message can name a row.
        try:
            numbered = grouped(True)
        except SubsetPrivacyError:
            raise refusal from None
        columns.read(numbered)
    raise refusal


def _without_text(key: Key, design: Design) -> Key:
    """Return codes that are text, as in a CSV file, as numbers. Other columns stay unchanged."""
    if key.kind != "text" or (has_text_form(design) and looks_like_codes(design)):
        return key
    texts = [None if gone else str(text).strip() for text, gone in zip(key.values, key.absent, strict=True)]
    if not all(text is None or (text.isascii() and text.isdigit()) for text in texts):
        return key
    return Key.of("integer", [None if text is None else int(text) for text in texts])


def _answers(key: Key, name: str, kind: str, design: Design, where: RowLocator) -> IntArray:
    """Return answers as numbers: 0 for yes, 1 for no, or a position. A gap is a skipped question."""
    if key.kind == "boolean" and kind == "yes_no":
        numbers = np.array([_NONE if gone else _YES if value else _NO for value, gone in _cells(key)], np.int64)
    elif key.kind == "text":
        numbers = np.array([_NONE if gone else _of_word(str(value), kind) for value, gone in _cells(key)], np.int64)
    elif key.kind in {"integer", "float", "nothing"}:
        numbers = np.array([_NONE if gone else _of_number(value) for value, gone in _cells(key)], np.int64)
    else:
        raise CodeError(f"column {name} must hold answers: {_allowed(kind, design)}; got something else.")
    most = (design.options or 1) if kind == "groups" else len(ANSWERS[kind])
    wrong: BoolArray = ((numbers < SKIPPED) | (numbers >= most)) & ~key.absent
    if wrong.any():
        raise CodeError(
            f"column {name} must hold answers: {_allowed(kind, design)}; got others {where.describe(wrong)}."
        )
    return np.where(key.absent, SKIPPED, numbers)


def _cells(key: Key) -> Any:
    return zip(key.values.tolist(), key.absent.tolist(), strict=True)


def _of_number(value: Any) -> int:
    return int(value) if value == value and abs(value) < 1 << 31 and int(value) == value else _NONE


def _of_word(text: str, kind: str) -> int:
    word = text.strip().casefold()
    known = {**_SKIP_WORDS, **_WORDS[kind]}
    if word in known:
        return known[word]
    if kind == "groups" and word.startswith("group ") and word[6:].isdigit():
        return int(word[6:]) - 1
    digits = word.removeprefix("-")
    return int(word) if digits.isascii() and digits.isdigit() and len(digits) < 6 else _NONE


def _allowed(kind: str, design: Design) -> str:
    """Return the allowed answers, in words."""
    if kind == "groups":
        return f"the position of the chosen group, 0 to {(design.options or 1) - 1}, or -1 for a skip"
    words = " or ".join(f"{word} ({number})" for number, word in enumerate(ANSWERS[kind]))
    return f"{words}, or skipped (-1)"
