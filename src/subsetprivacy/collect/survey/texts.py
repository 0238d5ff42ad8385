"""Check the texts of a survey: no hidden characters, no changed reading direction, no look-alikes."""

import unicodedata
from typing import Any

from subsetprivacy.collect.survey.confusable import looks
from subsetprivacy.collect.survey.line_numbers import REFUSED, AmbiguousWord, Path
from subsetprivacy.collect.survey.problems import ProblemList
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_surveys import (
    NO_PRIVATE_USE,
    NO_TURNING,
    NO_UNKNOWN_LETTER,
    PUT_IN_QUOTES,
    TYPE_AGAIN,
)

# They change the reading direction, so that a person reads something else than was written.
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BREAKING = frozenset("\u2028\u2029\ufeff\u200b")
_MOST_SHOWN = 40
MOST_MARKS = 30  # per letter, the limit of Unicode's stream-safe texts


def normal(text: str) -> str:
    """Return a text in Unicode's composed form, without surrounding spaces.

    A text with too many marks on a letter stays as it is, and `read_text` refuses it. Sorting marks takes quadratic
    time, during which no one else is served.
    """
    text = text.replace("\r\n", "\n").strip(" \n")
    return text if _has_too_many_marks(text) else unicodedata.normalize("NFC", text)


def _has_too_many_marks(text: str) -> bool:
    if text.isascii():
        return False
    number = 0
    for sign in text:
        number = number + 1 if unicodedata.combining(sign) else 0
        if number > MOST_MARKS:
            return True
    return False


def shown(value: Any) -> str:
    """Return a value of a file in a few words."""
    if isinstance(value, str):
        short = value if len(value) <= _MOST_SHOWN else value[: _MOST_SHOWN - 1] + "…"
        return f'"{short}"' if short.isprintable() else "text with signs that cannot be shown"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the number {value:.15g}" if isinstance(value, float) else f"the number {value}"
    if isinstance(value, AmbiguousWord):
        return f"{value.text[:_MOST_SHOWN]}, which may be read as {value.like}"
    return "nothing" if value is None else "a list" if isinstance(value, list) else "a table"


def read_text(
    value: Any, path: Path, problems: ProblemList, *, most: int, long: bool = False, empty: bool = False
) -> str:
    """Return a text in its normal form, or "" with the reason among the problems.

    Parameters
    ----------
    most
        How many characters it may have.
    long
        Whether it may have several lines.
    empty
        Whether it may be empty.
    """
    if not isinstance(value, str):
        if value is not REFUSED:
            quotes = isinstance(value, (bool, int, float, AmbiguousWord))
            problems.add(path, f"must be text; got {shown(value)}.", PUT_IN_QUOTES if quotes else None)
        return ""
    text = normal(value)
    fault = _fault_of(text, most, long)
    if fault is None and not text and not empty:
        fault = "must not be empty.", None
    if fault is not None:
        problems.add(path, *fault)
        return ""
    return text


def _fault_of(text: str, most: int, long: bool) -> tuple[str, Advice | None] | None:
    """Return the error of a text and the advice, or None."""
    if len(text) > most:
        return f"must have at most {most} characters; got {len(text)}.", None
    if _has_too_many_marks(text):
        return f"must have at most {MOST_MARKS} marks on one letter; it has more.", None
    for sign in text:
        if sign == "\n" and not long:
            return "must be on one line; it has several.", None
        fault = None if sign == "\n" else _fault_of_character(sign)
        if fault is not None:
            return f"{fault[0]}; got U+{ord(sign):04X}.", fault[1]
    if text and not looks(text):
        return "must have a character that can be seen; it has none.", None
    return None


def _fault_of_character(sign: str) -> tuple[str, Advice] | None:
    category = unicodedata.category(sign)
    if category == "Cc" or sign in _BREAKING or ord(sign) & 0xFFFE == 0xFFFE:
        return "must have no control characters", TYPE_AGAIN
    if sign in _TURNING:
        return "must have no characters that change the reading direction", NO_TURNING
    if category == "Co":
        return "must have no characters for private use", NO_PRIVATE_USE
    if category == "Cn":
        return f"must have only characters of Unicode {unicodedata.unidata_version}", NO_UNKNOWN_LETTER
    return None
