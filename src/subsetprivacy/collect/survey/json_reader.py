"""Read strict JSON with the line of every part."""

import re
from bisect import bisect_right
from json import JSONDecodeError, JSONDecoder
from typing import Any

from subsetprivacy.collect.survey.line_numbers import (
    MOST_DIGITS,
    REFUSED,
    TOO_LARGE,
    FileNotes,
    LocatedData,
    Path,
    UnreadableError,
    open_quote,
)

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_WORDS = {"true": True, "false": False, "null": None}
_DECODER = JSONDecoder()


def read_json(text: str) -> LocatedData:
    """Read JSON text. A repeated key is a fault, and the first value stays.

    Raises
    ------
    UnreadableError
        If it is not JSON.
    """
    reader = _JsonReader(text)
    at = reader.skip(0)
    reader.lines[()] = reader.line(at)
    data, at = reader.value(at, ())
    at = reader.skip(at)
    if at < len(text):
        raise reader.unreadable(at, "must end after its closing bracket")
    return reader.marked(data)


class _JsonReader(FileNotes):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def line(self, at: int) -> int:
        return bisect_right(self._breaks, at - 1) + 1

    def unreadable(self, at: int, message: str) -> UnreadableError:
        sign = repr(self.text[at]) if at < len(self.text) else "the end of the file"
        return UnreadableError(self.line(at), f"{message}; got {sign}.")

    def skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return at if match is None else match.end()

    def value(self, at: int, path: Path) -> tuple[Any, int]:
        sign = self.text[at : at + 1]
        if sign == '"':
            return self.string(at)
        if sign and sign in "{[":
            self.check_depth(path, self.line(at))
        if sign == "{":
            return self.table(at, path)
        if sign == "[":
            return self.sequence(at, path)
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, at):
                return meaning, at + len(word)
        return self.number(at, path)

    def string(self, at: int) -> tuple[str, int]:
        try:
            return _DECODER.raw_decode(self.text, at)
        except JSONDecodeError as error:
            if error.msg.startswith("Unterminated") or self.text.startswith("\n", error.pos):
                raise open_quote(self.line(at)) from None
            reason = error.msg.removesuffix(" at").removesuffix(" starting")
            raise UnreadableError(self.line(error.pos), f"must be JSON: {reason}.") from None

    def number(self, at: int, path: Path) -> tuple[Any, int]:
        match = _NUMBER.match(self.text, at)
        if match is None:
            raise self.unreadable(at, "must have a value here: text in double quotes, a number, true, false, [ or {")
        if len(match[1]) > MOST_DIGITS:
            self.fault(path, self.line(at), TOO_LARGE)
            return REFUSED, match.end()
        return (float(match[0]) if match[2] else int(match[1])), match.end()

    def sequence(self, at: int, path: Path) -> tuple[list[Any], int]:
        items: list[Any] = []
        at = self.skip(at + 1)
        while self.text[at : at + 1] != "]":
            if items:
                at = self.comma(at, "]")
            inner = (*path, len(items))
            self.lines[inner] = self.line(at)
            item, at = self.value(at, inner)
            items.append(item)
            at = self.skip(at)
        return items, at + 1

    def table(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        entries: dict[str, Any] = {}
        at = self.skip(at + 1)
        first = True
        while self.text[at : at + 1] != "}":
            at = at if first else self.comma(at, "}")
            first = False
            at = self.entry(at, path, entries)
        return entries, at + 1

    def comma(self, at: int, closing: str) -> int:
        if self.text[at : at + 1] != ",":
            raise self.unreadable(at, f"must have a comma or {closing} here")
        return self.skip(at + 1)

    def entry(self, at: int, path: Path, entries: dict[str, Any]) -> int:
        if self.text[at : at + 1] != '"':
            raise self.unreadable(at, "must have a key in double quotes here")
        line = self.line(at)
        key, at = self.string(at)
        at = self.skip(at)
        if self.text[at : at + 1] != ":":
            raise self.unreadable(at, "must have a colon after a key")
        value, at = self.value(self.skip(at + 1), self.key(path, key, line, entries))
        entries.setdefault(key, value)
        return self.skip(at)
