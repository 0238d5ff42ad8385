"""The page on design documents is enough to read one: its reader in plain SQL finds the distribution of every kind."""

import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, DESIGNS, GIVEN3, NEW, UNKNOWN, WARNER
from problems import quietly

import subsetprivacy as sp
from subsetprivacy.design import Mixture, document
from subsetprivacy.errors import NotIdentifiableError, UnknownDesignError
from subsetprivacy.estimation.mom import mean_indicator
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.mechanism.reports import draw_given

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
ALONE, TOGETHER, COUNTED, SOLVED = re.split(
    "-- PART [345]:", (REFERENCE / "design-reader.sql").read_text(encoding="utf-8")
)
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
    "covered product": sp.covered(sp.product({"x": ASKED, "y": sp.uniform(ABCD)}), 0.05).realized(1000),
    "covered, planned": sp.covered(ASKED, 0.125),
    "covered, of nobody": sp.covered(ASKED, 0.125).realized(0),
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


def probabilities(database):
    return {
        (code, j): probability
        for code, j, probability in database.execute("SELECT code, j, probability FROM report WHERE part = '0'")
    }


def probabilities_of(design):
    """Return the probability of each report given each value, as the package has it."""
    codes, mu = design.support()
    rows = mu[:, None] * design.incidence(codes).inner(np.eye(design.p)).T
    return {(int(code), j): rows[k, j] for k, code in enumerate(codes) for j in np.flatnonzero(rows[k]).tolist()}


@every_case("name", CASES)
def test_the_reader_finds_the_distribution(name):
    result, expected = probabilities(read(CASES[name].to_json())), probabilities_of(CASES[name])
    assert result.keys() == expected.keys()
    assert np.allclose([result[key] for key in expected], list(expected.values()), rtol=1e-12, atol=0)
    totals = np.bincount([j for _, j in result], list(result.values()))
    assert totals == pytest.approx(1, abs=1e-12)  # something is reported, whatever the value


def kinds_in(content):
    inner = [content.get("base"), *content.get("factors", ()), *content.get("components", ())]
    return {content["kind"]}.union(*(kinds_in(part) for part in inner if part))


def test_every_kind_is_read():
    """A new kind must be described on the page, and its distribution compared."""
    seen = set().union(*(kinds_in(design.document()) for design in CASES.values()))
    assert seen | {"coarse"} == KINDS


def test_an_unknown_design_has_no_distribution():
    assert probabilities(read(UNKNOWN.to_json())) == {}
    with pytest.raises(UnknownDesignError):
        UNKNOWN.support()


def test_weights_as_plain_numbers_and_keys_that_may_be_left_out():
    """As somebody else would write it by hand."""
    head = '{"format": "subsetprivacy.design", "version": 1, "categories": ["a", "b", "c", "d"], '
    pairs = '"kind": "partition", "groups": 2, "partitions": [[3, 12], [5, 10]], "recorded": true}'
    zero = '"kind": "conditional", "subsets": [[3, "1.0"], [12, "1.0"], [6, 0]]}'
    for text in ('"kind": "independent", "questions": [[3, 0.5], [5, 0.5]]}', '"kind": "nonprivate"}', pairs, zero):
        assert probabilities(read(head + text)) == probabilities_of(sp.design_from_json(head + text))


def drawn(design, values):
    """Return reports of these values, and the design with its numbers of rows where it has dummies."""
    if design.covered is not None:
        labels = list(design.categories)
        data = sp.privatize([labels[j] for j in values], design.planned(), seed=11)
        return data.codes, data.design
    return draw_given(values, design, random_source(11)), design


@every_case("name", sorted(set(CASES) - {"covered, of nobody"}))
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


# Counts and moments ------------------------------------------------------------------------------

MOST = 60  # categories up to which the equations are solved here


def moments(text, codes):
    """Return the database after all parts of the reader: it knows the text of the document and the codes, no more."""
    database = read(text)
    database.execute("CREATE TABLE sample (code INTEGER)")
    database.executemany("INSERT INTO sample VALUES (?)", [(code,) for code in codes.tolist()])
    database.executescript(f"-- {COUNTED}")
    database.execute("CREATE TABLE step (k INTEGER)")
    database.execute("INSERT INTO step VALUES (0)")
    (p,) = database.execute("SELECT p FROM part WHERE part = '0'").fetchone()
    for k in range(p):
        database.execute("UPDATE step SET k = ?", [k])
        database.executescript(f"-- {SOLVED}")
    return database


def column(database, query):
    return np.array([value for (value,) in database.execute(query)])


def silenced(design, codes):
    """Some rows with the code of a missing answer, and of several variables some with one missing answer."""
    out = codes.copy()
    out[::50] = design.missing_code
    if design.product is not None:
        parts = design.product.split(out)
        parts[0][1::50] = design.product.factors[0].missing_code
        out = design.product.join(parts)
    return out


@every_case("name", [name for name, design in CASES.items() if design.p <= MOST and name != "covered, of nobody"])
def test_counts_and_moments_by_sql_are_those_of_the_package(name):
    """What `count` and `estimate(data, "mom")` find, for every kind that can be estimated."""
    p = CASES[name].p
    values = np.random.default_rng(5).choice(p, 900, p=np.arange(1, p + 1) / (p * (p + 1) / 2))
    codes, design = drawn(CASES[name], values)
    if design.covered is None:  # of a release with dummies all rows must be counted
        codes = silenced(design, codes)
    counts = sp.SubsetData(codes, design).counts()
    database = moments(design.to_json(), codes)
    assert dict(database.execute("SELECT code, n FROM counted")) == dict(
        zip(counts.codes.tolist(), counts.counts.tolist(), strict=True)
    )
    if design.mu_full == 1:
        assert column(database, "SELECT n FROM told").size == 0
        return
    assert column(database, "SELECT sum(n) FROM told") == counts.total
    assert column(database, "SELECT value FROM gamma ORDER BY j") == pytest.approx(mean_indicator(counts), abs=1e-9)
    Q = np.zeros((p, p))
    for i, j, value in database.execute("SELECT i, j, value FROM Q"):
        Q[i, j] = value
    assert pytest.approx(design.informative_Q, abs=1e-9) == Q
    if not design.is_identifiable:
        with pytest.raises(NotIdentifiableError):
            sp.estimate(counts, "mom")
        return
    with quietly():
        w = sp.estimate(counts, "mom").w
    assert column(database, "SELECT w FROM estimate ORDER BY j") == pytest.approx(w, abs=1e-9)


def test_the_moments_above_are_of_every_kind():
    """Of an unknown design there are no moments: nothing says how likely a report is."""
    estimated = [design for design in CASES.values() if design.p <= MOST]
    assert set().union(*(kinds_in(design.document()) for design in estimated)) | {"coarse"} == KINDS


def test_counts_of_an_unknown_design():
    codes = np.array([3, 3, 5, 15, 15, 8])
    database = read(UNKNOWN.to_json())
    database.execute("CREATE TABLE sample (code INTEGER)")
    database.executemany("INSERT INTO sample VALUES (?)", [(code,) for code in codes.tolist()])
    database.executescript(f"-- {COUNTED}")
    counts = sp.SubsetData(codes, UNKNOWN).counts()
    assert dict(database.execute("SELECT code, n FROM counted")) == {3: 2, 5: 1, 15: 2, 8: 1}
    assert column(database, "SELECT sum(n) FROM told") == counts.total == 4
    with pytest.raises(UnknownDesignError):
        sp.estimate(counts, "mom")
