"""A page taken apart, and releases without a file, for tests of findings, of words and of pages."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

import subsetprivacy as sp

VOID = {"meta", "br", "line", "circle", "rect"}


class Rows:
    """A release that counts columns of people; it has no way to give a row away."""

    def __init__(self, data: Any, path: str = "made.parquet") -> None:
        self._data = data
        self.path = Path(path)
        self.designs = {name: column.design for name, column in data.items()}
        self.rows = max(len(column) for column in data.values())
        self.kept: tuple[str, ...] = ()
        self._alone = 0

    def unique_rows(self) -> int:
        return self._alone

    def count(self, column: str) -> Any:
        return self._data[column].counts()

    def crosstab(self, *columns: str) -> Any:
        return sp.crosstab({name: self._data[name] for name in columns})


class Page(HTMLParser):
    """The page as a list of elements (tag, attributes, open tags around it), tables by their caption, facts by name."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source, self.elements, self.open, self.words = text, [], [], []
        self.tables: dict[str, Any] = {}
        self.facts: list[tuple[str, str]] = []
        self._cell: Any = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attributes), tuple(self.open)))
        if tag in VOID:
            self.handle_data(" ")  # a line break parts words
            return
        self.open.append(tag)
        if tag == "table":
            self._rows: list[list[str]] = []
        if tag == "tr":
            self._rows.append([])
        if tag in {"th", "td", "caption", "dt", "dd"}:
            self._cell = []

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        assert tag in VOID, f"<{tag}/> is closed at once and may not be"
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()
        if tag == "caption":
            self._caption = self._text()
        elif tag in {"th", "td"}:
            self._rows[-1].append(self._text())
        elif tag == "dt":
            self._name = self._text()
        elif tag == "dd":
            self.facts.append((self._name, self._text()))
        elif tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)
        if self._cell is not None:
            self._cell.append(data)

    def _text(self) -> str:
        text, self._cell = " ".join("".join(self._cell).split()), None
        return text

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes, _ in self.elements if name == tag]

    def table(self, start: str) -> tuple[list[str], dict[str, list[str]]]:
        """Return the head and the rows, by their first cell, of the one table whose caption starts so."""
        (found,) = [rows for caption, rows in self.tables.items() if caption.startswith(start)]
        return found[0], {row[0]: row[1:] for row in found[1:]}

    def fact(self, name: str, after: int = 0) -> str:
        """Return the value of the one fact, or of the first fact after a place, whose name starts so."""
        return [value for key, value in self.facts if key.startswith(name)][after]

    def between(self, start: str, end: str) -> str:
        """Return the text from one word to another."""
        return self.text.partition(start)[2].partition(end)[0]


def numbers_in(text: str) -> list[float]:
    """Return the numbers in a text."""
    return [float(part.replace(",", "")) for part in re.findall(r"-?\d[\d,]*(?:\.\d+)?", text)]


def people(labels: Any, weights: Any, n: int, seed: int) -> Any:
    """Return n values, lopsided."""
    return np.random.default_rng(seed).choice(np.array(labels), n, p=weights)
