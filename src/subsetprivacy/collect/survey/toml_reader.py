"""Read TOML with the line of every part. A first pass finds the lines, then the standard library reads the data."""

import re
import tomllib
from contextlib import suppress

from subsetprivacy.collect.survey.line_numbers import (
    MOST_DEPTH,
    LocatedData,
    Path,
    UnreadableError,
    open_quote,
    too_deep,
)
from subsetprivacy.messages.for_surveys import ESCAPE_QUOTES, KEY_ONCE, STRAIGHT_QUOTES

_PLACE = re.compile(r"(.*?) \(at (?:line (\d+), column \d+|end of document)\)", re.DOTALL)
_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
STRINGS = tuple(  # long ones first; without possessive repeats, which early releases of Python 3.11 got wrong
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r'"""[^"\\]*(?:(?:\\.|"{1,2}(?!"))[^"\\]*)*"{3,5}',
        r"'''[^']*(?:'{1,2}(?!')[^']*)*'{3,5}",
        r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"',
        r"'[^'\n]*'",
    )
)
_OTHER = re.compile(r"[^,\]}#\n]+")
_ADVICE = {  # by the beginning of the standard library's message
    "Invalid value": STRAIGHT_QUOTES,
    "Expected newline": ESCAPE_QUOTES,
    "Cannot overwrite": KEY_ONCE,
}


def read_toml(text: str) -> LocatedData:
    """Read TOML text.

    Raises
    ------
    UnreadableError
        If it is not TOML.
    """
    finder = _Finder(text.replace("\r\n", "\n"))
    with suppress(
        _LostError
    ):  # first, because it refuses keys of a thousand parts, which take the standard library minutes
        finder.file()
    try:
        return LocatedData(tomllib.loads(text), finder.lines)
    except ValueError as error:
        raise _unreadable(str(error), finder) from None


def _unreadable(message: str, finder: "_Finder") -> UnreadableError:
    """Return the standard library's error, with advice for common mistakes."""
    if finder.open_quote is not None:
        return open_quote(finder.open_quote)
    match = _PLACE.fullmatch(message)
    if match is None:
        return UnreadableError(None, "must be TOML: a number is too large.")
    lines = finder.text.split("\n")
    line = int(match[2]) if match[2] else len(lines)
    advice = next((advice for start, advice in _ADVICE.items() if match[1].startswith(start)), None)
    if advice is ESCAPE_QUOTES and lines[line - 1].count('"') < 3:
        advice = None
    return UnreadableError(line, f"must be TOML: {match[1]}.", advice)


class _LostError(Exception):
    """The text is not TOML here. The standard library will report it."""


class _Finder:
    """Note the lines of keys and list items, up to the first place that is not TOML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {(): 1}
        self._line, self._counted = 1, 0
        self._lists: dict[Path, int] = {}  # how many tables a list of tables has so far
        self.open_quote: int | None = None  # the line of a text that does not end

    def mark(self, path: Path) -> None:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        if len(path) > MOST_DEPTH:
            raise too_deep(self._line)
        self.lines.setdefault(path, self._line)

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match[0]

    def sees(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def expect(self, sign: str) -> None:
        if not self.sees(sign):
            raise _LostError
        self.at += len(sign)

    def file(self) -> None:
        table: Path = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            table = self.header() if self.sees("[") else self.pair(table)
            self.skip(_BLANK)

    def header(self) -> Path:
        listed = self.sees("[[")
        self.at += 2 if listed else 1
        keys = self.keys()
        path: Path = ()
        for k, key in enumerate(keys):
            path = (*path, key)
            if listed and k == len(keys) - 1:
                self._lists[path] = self._lists.get(path, 0) + 1
            self.mark(path)
            if path in self._lists:
                path = (*path, self._lists[path] - 1)
        self.mark(path)
        self.expect("]]" if listed else "]")
        return path

    def pair(self, table: Path) -> Path:
        path = table
        for key in self.keys():
            path = (*path, key)
            self.mark(path)
        self.expect("=")
        self.skip(_SPACE)
        self.value(path)
        return table

    def keys(self) -> list[str]:
        """Return the parts of a dotted key, which is on one line."""
        parts: list[str] = []
        while len(parts) <= MOST_DEPTH:
            self.skip(_SPACE)
            parts.append(self.skip(_BARE) or _meaning(self.string()))
            self.skip(_SPACE)
            if not self.sees("."):
                break
            self.at += 1
        return parts

    def string(self) -> str:
        return next((quoted for pattern in STRINGS if (quoted := self.skip(pattern))), "")

    def value(self, path: Path) -> None:
        if self.sees("["):
            self.items(path)
        elif self.sees("{"):
            self.inner_table(path)
        elif self.sees('"') or self.sees("'"):
            self.quoted()
        elif not self.skip(_OTHER):
            raise _LostError

    def quoted(self) -> None:
        start, string = self.at, self.string()
        # Three quotes that are never closed look like an empty text with another quote after it.
        if not string or (len(string) == 2 and self.sees(string[0])):
            self.open_quote = self.text.count("\n", 0, start) + 1
            raise _LostError

    def items(self, path: Path) -> None:
        self.at += 1
        number = 0
        self.skip(_BLANK)
        while not self.sees("]"):
            inner = (*path, number)
            self.mark(inner)
            self.value(inner)
            self.comma("]")
            number += 1
        self.at += 1

    def inner_table(self, path: Path) -> None:
        self.at += 1
        self.skip(_BLANK)
        while not self.sees("}"):
            self.pair(path)
            self.comma("}")
        self.at += 1

    def comma(self, closing: str) -> None:
        self.skip(_BLANK)
        if not self.sees(closing):
            self.expect(",")
            self.skip(_BLANK)


def _meaning(quoted: str) -> str:
    """Return the key in quotes."""
    try:
        return next(iter(tomllib.loads(f"{quoted} = 0")))
    except tomllib.TOMLDecodeError:
        raise _LostError from None
