"""The page on design documents is enough to read one: its reader in plain SQL finds the distribution of every kind."""

import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from lopsided import ABCD, ASKED, DESIGNS, GIVEN3, NEW, UNKNOWN, WARNER

import subsetprivacy as sp
from subsetprivacy.design import Covered, Mixture, document
from subsetprivacy.errors import UnknownDesignError
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.mechanism.reports import draw_given

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (REFERENCE / "design-document.md").read_text(encoding="utf-8")
ALONE, TOGETHER = (REFERENCE / "design-reader.sql").read_text(encoding="utf-8").split("-- PART 3:")
KINDS = set(document.kinds())

# The seven ways to pair off eight: 4 (7 + 1) is a power of two, which takes a bit more than the largest code.
PAIRED = sp.partition(
    range(8),
    partitions=[[(7, k), *(((k + d) % 7, (k - d) % 7) for d in (1, 2, 3))] for k in range(7)],
    record=True,
)
CASES = {
    **DESIGNS,
    **{name: design for name, design in NEW.items() if name != "covered product"},  # large; one like it is below
    "covered product": sp.covered(sp.product({"x": ASKED, "y": sp.uniform(ABCD)}), 0.05).realised(1000),
    "covered, planned": sp.covered(ASKED, 0.125),
    "covered, of nobody": sp.covered(ASKED, 0.125).realised(0),
    "product, widths": sp.product({"x": GIVEN3, "pairs": PAIRED, "w": WARNER}),
    "product, rows": sp.product({"x": GIVEN3, "rows": sp.hadamard(50)}),
    "product of a mixture": sp.product({"x": Mixture.of([ASKED, sp.uniform(ABCD)], [3, 7]), "y": GIVEN3}),
    "mixture of groups": Mixture.of([sp.partition(range(6), 3), sp.fixed_size(range(6), 4)], [1, 2]),
}


def read(text):
    """Return a database in which the reader has read a document; it knows nothing but the text."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE document (body TEXT)")
    database.execute("INSERT INTO document VALUES (?)", [text])
    database.executescript(ALONE)
    database.execute("CREATE TABLE level (depth INTEGER)")
    database.execute("INSERT INTO level VALUES (0)")
    (deepest,) = database.execute("SELECT max(depth) FROM part").fetchone()
    for depth in range(deepest, -1, -1):
        database.execute("UPDATE level SET depth = ?", [depth])
        database.executescript(f"-- {TOGETHER}")
    return database


def law(database):
    return {
        (code, j): probability
        for code, j, probability in database.execute("SELECT code, j, probability FROM report WHERE part = '0'")
    }


def law_of(design):
    """Return the probability of each report given each value, as the package has it."""
    codes, mu = design.support()
    rows = mu[:, None] * design.incidence(codes).inner(np.eye(design.p)).T
    return {(int(code), j): rows[k, j] for k, code in enumerate(codes) for j in np.flatnonzero(rows[k]).tolist()}


@pytest.mark.parametrize("name", CASES)
def test_the_reader_finds_the_distribution(name):
    found, expected = law(read(CASES[name].to_json())), law_of(CASES[name])
    assert found.keys() == expected.keys()
    assert np.allclose([found[key] for key in expected], list(expected.values()), rtol=1e-12, atol=0)
    totals = np.bincount([j for _, j in found], list(found.values()))
    assert totals == pytest.approx(1, abs=1e-12)  # something is reported, whatever the value


def kinds_in(content):
    inner = [content.get("base"), *content.get("factors", ()), *content.get("components", ())]
    return {content["kind"]}.union(*(kinds_in(part) for part in inner if part))


def test_every_kind_is_read():
    """A new kind must be described on the page, and its distribution compared."""
    seen = set().union(*(kinds_in(design.document()) for design in CASES.values()))
    assert seen | {"coarse"} == KINDS


def test_every_kind_is_on_the_page():
    section = PAGE[PAGE.index("## The distribution of a report") : PAGE.index("## The fingerprint")]
    assert {kind for kind in KINDS if not re.search(rf"^(\| |- )`{kind}`", section, re.MULTILINE)} == set()
    keys = PAGE[PAGE.index("## Keys") : PAGE.index("## Codes")]
    assert {kind for kind in KINDS if f"`{kind}`" not in keys} == set()


def test_an_unknown_design_has_no_distribution():
    assert law(read(UNKNOWN.to_json())) == {}
    with pytest.raises(UnknownDesignError, match="must be known"):
        UNKNOWN.support()


def test_weights_as_plain_numbers_and_keys_that_may_be_left_out():
    """As somebody else would write it by hand."""
    head = '{"format": "subsetprivacy.design", "version": 1, "categories": ["a", "b", "c", "d"], '
    for text in ('"kind": "independent", "questions": [[3, 0.5], [5, 0.5]]}', '"kind": "nonprivate"}'):
        assert law(read(head + text)) == law_of(sp.design_from_json(head + text))


def drawn(design, values):
    """Return reports of these values, and the design with its numbers of rows where it has dummies."""
    if isinstance(design, Covered):
        labels = list(design.categories)
        data = sp.privatize([labels[j] for j in values], design.planned(), seed=11)
        return data.codes, data.design
    return draw_given(values, design, random_source(11)), design


@pytest.mark.parametrize("name", sorted(set(CASES) - {"covered, of nobody"}))
def test_a_sample_has_the_counts_that_the_reader_expects(name):
    """What is drawn follows the page: counts by SQL, their means by the probabilities of the reader, within chance."""
    p = CASES[name].p
    values = np.random.default_rng(5).choice(p, 3000, p=np.arange(1, p + 1) / (p * (p + 1) / 2))
    codes, design = drawn(CASES[name], values)
    database = read(design.to_json())
    database.executescript("CREATE TABLE sample (code); CREATE TABLE value (j)")
    database.executemany("INSERT INTO sample VALUES (?)", [(code,) for code in codes.tolist()])
    database.executemany("INSERT INTO value VALUES (?)", [(j,) for j in values.tolist()])
    rows = database.execute(
        """
        SELECT coalesce(times, 0), expected
        FROM (
            SELECT code, sum(people * probability) / (SELECT count(*) FROM value) AS expected
            FROM report JOIN (SELECT j, count(*) AS people FROM value GROUP BY j) USING (j)
            WHERE part = '0' GROUP BY code
        ) LEFT JOIN (SELECT code, count(*) AS times FROM sample GROUP BY code) USING (code)
        """
    )
    times, share = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    assert times.sum() == len(codes)  # no report occurs that the reader does not know
    expected = len(codes) * share
    cells = np.count_nonzero(expected)
    assert ((times - expected) ** 2 / expected).sum() < cells + 5 * np.sqrt(2 * cells)


@pytest.mark.parametrize("design", [sp.uniform(range(5)), sp.fixed_size(range(5), 3), sp.hadamard(range(6)), ASKED])
def test_moments_by_sql_are_those_of_the_package(design):
    """The shares of reports that hold each category, and the probabilities of pairs: all that `mom` needs."""
    values = np.random.default_rng(5).integers(0, design.p, 500)
    data = sp.privatize([list(design.categories)[j] for j in values], design, seed=3)
    database = read(design.to_json())
    database.execute("CREATE TABLE sample (code)")
    database.executemany("INSERT INTO sample VALUES (?)", [(code,) for code in data.codes.tolist()])
    held = "SELECT j, count(*) FROM sample JOIN report USING (code) WHERE part = '0' GROUP BY j"
    gamma = np.array([many for _, many in sorted(database.execute(held))]) / 500
    pairs = """
        SELECT one.j, two.j, sum(one.probability) FROM report AS one JOIN report AS two USING (part, code)
        WHERE part = '0' GROUP BY one.j, two.j
    """
    Q = np.zeros((design.p, design.p))
    for i, j, probability in database.execute(pairs):
        Q[i, j] = probability
    assert pytest.approx(design.Q, abs=1e-12) == Q
    assert np.linalg.solve(Q, gamma) == pytest.approx(sp.estimate(data, "mom").w, abs=1e-9)
