"""A publisher draws batch after batch what `privatize` draws at once."""

import pickle

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, DESIGNS, GIVEN, NEW, TRIPLE, UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Covered, Product
from subsetprivacy.errors import ArgumentError, CategoryError, UnknownDesignError
from subsetprivacy.mechanism import cover, reports
from subsetprivacy.mechanism.publish import Publisher, ValueProblems
from subsetprivacy.mechanism.randomness import SeededSource, random_source

ONE_COLUMN = {name: design for name, design in {**DESIGNS, **NEW}.items() if not isinstance(design, Product)}


def source(seed=1):
    return SeededSource(np.random.default_rng(seed))


def planned(design):
    return design.planned() if isinstance(design, Covered) else design


@every_case("name", ONE_COLUMN)
def test_it_survives_a_journey_to_another_process(name):
    design = planned(ONE_COLUMN[name])
    publisher = Publisher(design, missing="full")
    sent = pickle.loads(pickle.dumps(publisher))
    values = [design.categories.labels[j] for j in (1, 0, 1)] + [None]
    here, there = (p.draw(*p.look_up(values), source()).tolist() for p in (publisher, sent))
    assert here == there
    assert here[3] == design.missing_code
    assert sent.design == design
    assert sent.missing == "full"


def test_its_tables_are_made_once(monkeypatch):
    made = []
    exact = reports.thresholds
    monkeypatch.setattr(reports, "thresholds", lambda weights: made.append(1) or exact(weights))
    publisher = Publisher(GIVEN)
    before = len(made)
    assert before == 4  # one for each category
    for _ in range(3):
        publisher.draw(np.array([0, 3, 1]), None, source())
    assert len(made) == before


def test_privatize_draws_the_same():
    values = ["b", None, "d", "c", None, "b"] * 30
    publisher = Publisher(ASKED, missing="full")
    drawn = publisher.draw(*publisher.look_up(values), random_source(seed=4)).tolist()
    assert drawn == sp.privatize(values, ASKED, missing="full", seed=4).codes.tolist()


@every_case(
    ("values", "missing", "problems"),
    [
        (["a", "b"], "error", None),
        ([], "error", None),
        (["a", None], "full", None),
        (["a", None, None], "error", ValueProblems(0, None, 2, 1, 3)),
        (["a", "q", None, "q"], "error", ValueProblems(2, 1, 1, 2, 4)),
        (["a", "q", None], "full", ValueProblems(1, 1, 0, None, 3)),
    ],
)
def test_what_does_not_fit_is_counted(values, missing, problems):
    publisher = Publisher(ASKED, missing=missing)
    assert publisher.problems(*publisher.look_up(values)) == problems


def test_what_does_not_fit_is_refused():
    publisher = Publisher(ASKED)
    publisher.require_fit(*publisher.look_up(["a", "d"]))
    with pytest.raises(CategoryError, match="got 1 value that is not, first in row 1"):
        publisher.require_fit(*publisher.look_up(["a", "q", None]))
    with pytest.raises(CategoryError, match="got 1 missing, first in row 2"):
        publisher.require_fit(*publisher.look_up(["a", "b", None]))
    with pytest.raises(CategoryError):
        publisher.require_fit(*publisher.look_up([1, 2]))


@every_case(
    ("design", "error", "argument"),
    [
        (TRIPLE, ArgumentError, "design"),
        (UNKNOWN, UnknownDesignError, "design"),
        ("uniform", ArgumentError, "design"),
    ],
)
def test_what_is_no_design_of_a_column_is_refused(design, error, argument):
    with refused(error, argument):
        Publisher(design)


def test_missing_has_two_choices():
    with refused(ArgumentError, "missing"):
        Publisher(ASKED, missing="drop")


# Dummy rows ---------------------------------------------------------------------------------------


def test_batches_and_dummies_make_a_covered_release(monkeypatch):
    # 270 people in three batches, 30 of them missing: 240 reports, and the dummy rows that these need.
    monkeypatch.setattr(cover, "_BLOCK", 50)
    design = sp.covered(ASKED, 0.2)
    publisher = Publisher(design, missing="full")
    bits = source()
    batches = [publisher.draw(*publisher.look_up([*"abcd", "a", "a", "b", "d", None] * 10), bits) for _ in range(3)]
    realized, blocks = publisher.dummies(240, bits)
    blocks = list(blocks)
    assert (realized.people, realized.dummies) == (240, 80)  # .2 of 400 rows, twice
    assert [len(block) for block in blocks] == [50, 30, 50, 30]
    _, dummy = design.split(np.concatenate(blocks))
    assert (dummy >> 0 & 1).tolist() == [1] * 80 + [0] * 80
    codes = np.concatenate(batches)
    assert (codes == design.missing_code).sum() == 30
    people = sp.SubsetData(np.concatenate([codes, *blocks]), realized)
    assert people.counts().n == 400  # and it can be estimated from: rows and design agree
    assert set(np.bitwise_count(design.split(codes[codes != design.missing_code])[1]).tolist()) == {1}


def test_other_designs_have_no_dummies():
    realized, blocks = Publisher(ASKED).dummies(240, source())
    assert realized is ASKED
    assert list(blocks) == []


def test_people_and_dummies_get_dummy_categories_evenly():
    design = sp.covered(sp.uniform(ABCD), 0.1)
    codes = Publisher(design).draw(np.zeros(40_000, np.int64), None, source())
    shares = [(design.split(codes)[1] == 1 << d).mean() for d in range(design.D)]
    assert shares == pytest.approx([1 / design.D] * design.D, abs=0.015)  # six standard errors
