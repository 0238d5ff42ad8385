"""Read unambiguous YAML with the line of every part: no anchors, no tags, no guessing what an unquoted word is."""

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.resolver import Resolver

from subsetprivacy.collect.survey.line_numbers import (
    MOST_DIGITS,
    REFUSED,
    AmbiguousWord,
    FileNotes,
    LocatedData,
    Path,
    UnreadableError,
    open_quote,
)
from subsetprivacy.messages.for_surveys import LEAVE_OUT_OR_QUOTE, QUOTE_KEY, WRITE_OUT

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NUMBER_TO_SOME = re.compile(r"[-+]?[0-9._]+([eE][-+]?[0-9]+)?|0o[0-7]+")
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NOTHING = {"", "~", "null", "Null", "NULL"}
_LIKE = {"bool": "a truth value", "int": "a number", "float": "a number", "timestamp": "a date"}
_MOST_PARTS = 20_000
_IN_QUOTES = "while scanning a quoted scalar"
_RESOLVER = Resolver()


def read_yaml(text: str) -> LocatedData:
    """Read YAML text. Anchors, aliases, tags and repeated keys are faults.

    Raises
    ------
    UnreadableError
        If it is not YAML.
    """
    reader = _YamlReader(text)
    try:
        data = reader.document()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UnreadableError(line, "must have no control characters; it has one.") from None
    except yaml.MarkedYAMLError as error:
        if error.context == _IN_QUOTES and "unexpected" in str(error.problem) and error.context_mark is not None:
            raise open_quote(error.context_mark.line + 1) from None
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        raise UnreadableError(None if mark is None else mark.line + 1, f"must be YAML: {reason}.") from None
    except (ValueError, OverflowError):  # an escape like "\UFFFFFFFF", for a character that does not exist
        raise UnreadableError(None, "must be YAML: an escaped character or a number is out of its range.") from None
    return reader.marked(data)


def plain_scalar(text: str) -> Any:
    """Return the meaning of an unquoted word, or `AmbiguousWord` if YAML readers differ."""
    if text in _NOTHING:
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    number = _NUMBER.fullmatch(text)
    if number is not None and len(text) <= MOST_DIGITS:
        return int(text) if number[2] is None and number[3] is None else float(text)
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    kind = str(tag).rpartition(":")[2]
    if kind == "str" and number is None and not _NUMBER_TO_SOME.fullmatch(text):
        return text
    return AmbiguousWord(text, _LIKE.get(kind, "a number" if kind == "str" else "something else"))


class _YamlReader(FileNotes):
    def __init__(self, text: str) -> None:
        super().__init__()
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._parts = 0

    def next(self) -> Any:
        self._parts += 1
        event = next(self._events)
        if self._parts > _MOST_PARTS:
            raise UnreadableError(event.start_mark.line + 1, f"must have fewer than {_MOST_PARTS} parts; it has more.")
        return event

    def document(self) -> Any:
        self.next()  # the stream begins
        event = self.next()
        if isinstance(event, yaml.StreamEndEvent):
            return None
        first = self.next()
        self.lines[()] = first.start_mark.line + 1
        data = self.node(first, ())
        self.next()  # the document ends
        event = self.next()
        if not isinstance(event, yaml.StreamEndEvent):
            raise UnreadableError(event.start_mark.line + 1, "must be one document; another begins here.")
        return data

    def node(self, event: Any, path: Path) -> Any:
        line = event.start_mark.line + 1
        if isinstance(event, AliasEvent):
            self.fault(path, line, "must not refer to another place by an alias (*).", WRITE_OUT)
            return REFUSED
        if event.anchor is not None:
            self.fault(path, line, "must not have an anchor (&).", LEAVE_OUT_OR_QUOTE)
        if event.tag is not None:
            self.fault(path, line, "must not have a tag (!).", LEAVE_OUT_OR_QUOTE)
            self.skip(event)
            return REFUSED
        if isinstance(event, ScalarEvent):
            return event.value if event.style else plain_scalar(event.value)
        self.check_depth(path, line)
        return self.sequence(path) if isinstance(event, SequenceStartEvent) else self.table(path)

    def skip(self, event: Any) -> None:
        """Skip a list or table that just began."""
        depth = int(not isinstance(event, ScalarEvent))
        while depth:
            event = self.next()
            depth += isinstance(event, (SequenceStartEvent, MappingStartEvent))
            depth -= isinstance(event, (SequenceEndEvent, MappingEndEvent))

    def sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self.next(), SequenceEndEvent):
            inner = (*path, len(items))
            self.lines[inner] = event.start_mark.line + 1
            items.append(self.node(event, inner))
        return items

    def table(self, path: Path) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not isinstance(event := self.next(), MappingEndEvent):
            line = event.start_mark.line + 1
            key = self.node(event, (*path, "key"))
            if isinstance(key, str):
                value = self.node(self.next(), self.key(path, key, line, entries))
                entries.setdefault(key, value)
                continue
            if key is not REFUSED:
                self.fault(path, line, "must have keys that are text.", QUOTE_KEY)
            self.node(self.next(), (*path, "key"))
        return entries
