"""Releases without a file, and a page taken apart."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.examples import adult
from subsetprivacy.report import report_html

VOID = {"meta", "br", "line", "circle"}


class _Rows:
    """A release that counts columns of people; it has no way to give a row away."""

    def __init__(self, data, path="made.parquet"):
        self._data = data
        self.path = Path(path)
        self.designs = {name: column.design for name, column in data.items()}
        self.rows = max(len(column) for column in data.values())
        self.kept, self._alone = (), 0

    def alone(self):
        return self._alone

    def count(self, column):
        return self._data[column].counts()

    def crosstab(self, *columns):
        return sp.crosstab({name: self._data[name] for name in columns})


class _Page(HTMLParser):
    """The page as a list of elements (tag, attributes, open tags around it) and tables by their caption."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.source, self.elements, self.open, self.words = text, [], [], []
        self.tables, self._cell = {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attributes), tuple(self.open)))
        if tag in VOID:
            self.handle_data(" ")  # a line break parts words
            return
        self.open.append(tag)
        if tag == "table":
            self._rows = []
        if tag == "tr":
            self._rows.append([])
        if tag in {"th", "td", "caption"}:
            self._cell = []

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID, f"<{tag}/> is closed at once and may not be"
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()
        if tag == "caption":
            self._caption = self._text()
        elif tag in {"th", "td"}:
            self._rows[-1].append(self._text())
        elif tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)
        if self._cell is not None:
            self._cell.append(data)

    def _text(self):
        text, self._cell = " ".join("".join(self._cell).split()), None
        return text

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def all(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]

    def table(self, start):
        """Return the head and the rows, by their first cell, of the one table whose caption starts so."""
        (found,) = [rows for caption, rows in self.tables.items() if caption.startswith(start)]
        return found[0], {row[0]: row[1:] for row in found[1:]}


def _numbers(text):
    """Return the numbers in a cell."""
    return [float(part.replace(",", "")) for part in re.findall(r"-?\d[\d,]*(?:\.\d+)?", text)]


def _people(labels, weights, n, seed):
    """Return n values, lopsided."""
    return np.random.default_rng(seed).choice(np.array(labels), n, p=weights)


@pytest.fixture(scope="session")
def census():
    """Race by uniform questions, sex and income joined: the Adult rows."""
    rows = adult.rows()
    joined = sp.join({"sex": ["Female", "Male"], "income": ["low", "high"]})
    return _Rows(
        {
            "race": sp.privatize(rows["race"], sp.uniform(adult.races), seed=1),
            "sex_income": sp.privatize({"sex": rows["sex"], "income": rows["income"]}, joined, seed=2),
        },
        "adult.parquet",
    )


@pytest.fixture(scope="session")
def census_page(census):
    return _Page(report_html(census, seed=1, permutations=199))


@pytest.fixture(scope="session")
def parsed():
    """Return what takes a page apart."""
    return _Page


@pytest.fixture(scope="session")
def release_of():
    """Return what makes a release of columns in memory."""
    return _Rows


@pytest.fixture(scope="session")
def numbers_in():
    return _numbers


@pytest.fixture(scope="session")
def people():
    return _people
