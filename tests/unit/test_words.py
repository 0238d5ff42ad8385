"""One is singular, everywhere."""

import re
from pathlib import Path

import numpy as np
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy._words import counted, people

U4 = sp.uniform(list("abcd"))
SOURCES = sorted(Path(sp.__file__).parent.rglob("*.py"))
ONE_MANY = re.compile(
    r"\b1 (people|rows|designs|subsets|samples|points|draws|dummy rows|answers|words|codes|groups|combinations|"
    r"that are|others|columns|releases|problems|labels|experiments|iterations|entries|distinct subsets|full sets)\b"
)


@every_case(
    ("amount", "text"), [(0, "0 people"), (1, "1 person"), (1.0, "1 person"), (1.4, "1 person"), (2, "2 people")]
)
def test_people_are_counted(amount, text):
    assert people(amount) == text


def test_the_plural_adds_an_s_unless_it_is_said():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert counted(12345, "row") == "12,345 rows"
    assert counted(np.int64(1), "entry", "entries") == "1 entry"


def one_of_each():
    one = sp.SubsetData([3], U4)
    fit = sp.estimate(sp.simulate(U4, [0.4, 0.3, 0.2, 0.1], 500, seed=1))
    both = sp.SubsetTable(([3], [5]), sp.product({"x": U4, "y": U4}))
    yield from (one, one.counts(), sp.simulate_many(U4, [0.25] * 4, 1, 1, seed=1), both, sp.crosstab(both))
    yield sp.person_leakage(one, [0.25] * 4)
    yield sp.cover(one, 0.2, seed=1)
    yield sp.cover(one, 0.2, seed=1).design
    yield sp.plan(list("abcd"), n=500, designs=[U4])
    yield sp.plan(list("abcd"), n=500, designs=[U4]).summary()
    yield sp.plan(list("abcd"), n=500, designs=[U4]).best
    yield sp.repeat_risk(U4, times=1)
    yield fit.summary()
    yield sp.estimate(fit.counts + sp.SubsetCounts([15], [1], U4)).summary()


def test_nothing_is_called_one_people():
    for thing in one_of_each():
        assert not ONE_MANY.search(str(thing)), str(thing)
    assert repr(sp.SubsetData([3], U4)).startswith("<SubsetData: 1 person, ")
    assert repr(sp.plan(list("abcd"), n=500, designs=[U4])).endswith("of 1 design>")


def test_the_plural_is_decided_in_one_place():
    # A number of people that is a variable, an s that is added, a choice between a word and the same with an s.
    ad_hoc = re.compile(
        r"""['"]s['"] (if|\*)|(['"])([\w ]+)\2 if \S.* == 1 else \2\3s\2|['"]1 \w+['"] if|\{[a-z_.]+\} people\b"""
    )
    result = []
    for path in SOURCES:
        if path.name == "_words.py" or "reproduce" in path.parts:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if ad_hoc.search(line):
                result.append(f"{path.name}:{number}: {line.strip()}")
    assert result == []
