"""Plain data with the line of every part, for every file format."""

import math
import re
from collections.abc import Mapping
from datetime import date, time
from typing import Any, Final

from attrs import field, frozen

from subsetprivacy.messages import Advice, Hint
from subsetprivacy.messages.advice import as_hint
from subsetprivacy.messages.for_surveys import CLOSE_QUOTES
from subsetprivacy.messages.rendering import for_python, with_hint

Path = tuple[str | int, ...]
MOST_DEPTH = 24  # a survey needs 7
LARGEST = 1 << 53
MOST_DIGITS = 400
TOO_LARGE = "must be a number below 2^53; got a larger one."
_HALF = re.compile("[\ud800-\udfff]")  # a surrogate, which a UTF-8 file cannot contain


@frozen
class AmbiguousWord:
    """A word that some readers take as text and others as something else, like an unquoted ``no``."""

    text: str
    like: str


@frozen
class Fault:
    """An error of the file itself: where, and what to do about it."""

    path: Path
    line: int | None
    message: str
    advice: Hint | None = field(default=None, converter=as_hint)


class _Refused:
    def __repr__(self) -> str:
        return "REFUSED"


REFUSED: Final = _Refused()  # replaces a value whose fault is already noted


@frozen
class LocatedData:
    """The content of a file.

    Attributes
    ----------
    data
        Plain data: dicts, lists, text, numbers, truth values, None. `AmbiguousWord` and `REFUSED` replace other values.
    lines
        The line of each path of keys and positions. For a value, the line of its key.
    faults
        The errors of the file itself.
    """

    data: Any
    lines: Mapping[Path, int]
    faults: tuple[Fault, ...] = ()

    def line(self, path: Path) -> int | None:
        """Return the line of a path, or of the nearest part around it that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


class UnreadableError(Exception):
    """A file that is not in its format. Caught by `read_survey`.

    Attributes
    ----------
    line
        Where, if known.
    message, advice
        What is wrong, and what to do about it.
    """

    def __init__(self, line: int | None, message: str, advice: Advice | Hint | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.advice = as_hint(advice)

    def __str__(self) -> str:
        return with_hint(self.message, for_python(self.advice))


def too_deep(line: int | None) -> UnreadableError:
    """Return the error of a file that is nested too deeply."""
    return UnreadableError(line, f"must not be nested deeper than {MOST_DEPTH} levels; it is.")


def open_quote(line: int) -> UnreadableError:
    """Return the error of a file with a text that does not end."""
    return UnreadableError(line, "must close every quote; one that opens here does not end.", CLOSE_QUOTES)


class FileNotes:
    """What a reader has noted about a file: the lines of its parts, and its faults."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {(): 1}
        self.faults: list[Fault] = []

    def fault(self, path: Path, line: int | None, message: str, advice: Advice | None = None) -> None:
        """Note a fault."""
        self.faults.append(Fault(path, line, message, advice))

    def key(self, path: Path, key: str, line: int, entries: Mapping[str, Any]) -> Path:
        """Note a key of a table with these entries, and return the path of its value."""
        inner = (*path, key)
        if key not in entries:
            self.lines[inner] = line
            return inner
        self.fault(inner, line, "must appear once; it appears again.")
        return (*inner, "again")  # never used: it is read only to check its syntax

    def check_depth(self, path: Path, line: int) -> None:
        """Raise if a list or table is nested too deeply."""
        if len(path) >= MOST_DEPTH:
            raise too_deep(line)

    def marked(self, data: Any) -> LocatedData:
        """Return the content of the file."""
        return LocatedData(data, self.lines, tuple(self.faults))


def plain(marked: LocatedData) -> LocatedData:
    """Return the same data with only finite, exact numbers, dates as ambiguous words, and nothing but plain data.

    Raises
    ------
    UnreadableError
        If it is nested too deeply.
    """
    faults = list(marked.faults)

    def walk(value: Any, path: Path) -> Any:
        if len(path) > MOST_DEPTH:
            raise too_deep(marked.line(path))
        if isinstance(value, dict):
            return {key: walk(inner, (*path, key)) for key, inner in value.items() if is_key(key, path)}
        if isinstance(value, (list, tuple)):
            return [walk(inner, (*path, k)) for k, inner in enumerate(value)]
        message = _problem_with(value)
        if message is not None:
            faults.append(Fault(path, marked.line(path), message))
            return REFUSED
        return AmbiguousWord(str(value), "a date") if isinstance(value, (date, time)) else value

    def is_key(key: Any, path: Path) -> bool:
        good = isinstance(key, str) and not _HALF.search(key)
        if not good:
            faults.append(Fault(path, marked.line(path), "must have keys that are text; one is not."))
        return good

    return LocatedData(walk(marked.data, ()), marked.lines, tuple(faults))


def _problem_with(value: Any) -> str | None:
    if isinstance(value, str):
        return "must be text; it contains half of a character." if _HALF.search(value) else None
    if value is None or value is REFUSED or isinstance(value, (bool, AmbiguousWord, date, time)):
        return None
    if isinstance(value, int):
        return None if abs(value) < LARGEST else TOO_LARGE
    if isinstance(value, float):
        return None if math.isfinite(value) else f"must be a finite number; got {value}."
    return f"must be text, a number, a list or a table; got {type(value).__name__}."
