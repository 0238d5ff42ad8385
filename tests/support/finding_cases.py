"""Data sets of every sort that findings are made of: the tests of numbers, of the document and of pages walk them."""

from collections.abc import Callable
from functools import cache
from typing import Any

import lopsided
import numpy as np
from asking import Manners, ask, options

import subsetprivacy as sp

ABCD = list("abcd")
UNIFORM = sp.uniform(ABCD)
SHARES = (0.1, 0.2, 0.3, 0.4)

# One column by each kind of design. Those with dummies or without any answer are told apart by the tests.
DESIGNS: dict[str, sp.Design] = {
    "uniform": sp.uniform(range(7)),
    "partition": lopsided.GROUPS,
    "recorded partition": lopsided.RECORDED,
    "hadamard": lopsided.NEW["hadamard, p=60"],
    "warner": lopsided.WARNER,
    "bit": lopsided.BIT3,
    "fixed size": lopsided.NEW["fixed size, p=6"],
    "join": lopsided.NEW["joined"],
    "join, revealing": lopsided.NEW["joined, revealing"],
    "covered": lopsided.COVERED,
    "mixture": lopsided.DESIGNS["mixture, given"],
    "conditional": lopsided.GIVEN,
    "product": sp.product({"x": lopsided.ASKED, "y": lopsided.GIVEN3}),
    "nonprivate": lopsided.DESIGNS["nonprivate"],
}


def rising(p: int) -> Any:
    """Return shares no two of which are alike."""
    return np.arange(1, p + 1) / np.arange(1, p + 1).sum()


@cache
def column(kind: str, n: int = 400, seed: int = 1) -> sp.SubsetCounts:
    """Return counts of one column."""
    design = DESIGNS[kind]
    return sp.simulate(design, rising(design.p), n, seed=seed)


def letters(n: int = 500, shares: Any = SHARES, seed: int = 1, labels: Any = ABCD) -> sp.SubsetCounts:
    """Return counts of four letters."""
    return sp.simulate(sp.uniform(labels), shares, n, seed=seed)


@cache
def table(n: int = 400, seed: int = 1) -> sp.SubsetTable:
    """Return three columns row by row; the first two go together."""
    rng = np.random.default_rng(seed)
    x = rng.choice(ABCD, n, p=SHARES)
    y = np.where(rng.random(n) < 0.5, x, rng.choice(ABCD, n))
    z = rng.choice(["no", "yes"], n, p=[0.3, 0.7])
    design = sp.product({"x": UNIFORM, "y": lopsided.GIVEN, "z": sp.warner(["no", "yes"], 0.25)})
    return sp.privatize({"x": x, "y": y, "z": z}, design, seed=seed)


def missing() -> sp.SubsetData:
    """Return letters of people some of whom gave no answer."""
    values = [*np.random.default_rng(1).choice(ABCD, 300, p=SHARES), *[None] * 37]
    return sp.privatize(values, UNIFORM, seed=1, missing="full")


def asked(n: int = 500, manners: Any = None) -> sp.QuestionCounts:
    """Return yes/no questions about five options, some skipped."""
    some = Manners(skips=lambda shown, truth: 0.1) if manners is None else manners
    return ask(sp.uniform(options(5)), rising(5), n, 1, some)[0]


def sampling() -> sp.SubsetCounts:
    """Return letters with sampling weights."""
    data = missing()
    return sp.count(data, weights=np.linspace(0.5, 2, len(data)), weights_kind="sampling")


# What is looked at, and the options of `findings`.
CASES: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    **{kind: lambda kind=kind: (column(kind), {}) for kind in DESIGNS},
    "coarse": lambda: (sp.SubsetCounts([3, 5, 9, 6, 12, 7], [10, 20, 30, 5, 8, 9], lopsided.UNKNOWN), {}),
    "fully private": lambda: (sp.SubsetCounts([15], [40], sp.fully_private(ABCD)), {}),
    "zeros": lambda: (letters(shares=(0.0, 0.2, 0.3, 0.5)), {}),
    "one person": lambda: (sp.SubsetCounts([3], [1], UNIFORM), {}),
    "no people": lambda: (sp.SubsetCounts([], [], UNIFORM), {}),
    "no answers": lambda: (sp.SubsetCounts([15], [7], UNIFORM), {}),
    "ten billion people": lambda: (
        sp.SubsetCounts(letters().codes, letters().counts.astype(np.int64) * 20_000_000, UNIFORM),
        {},
    ),
    "missing": lambda: (missing(), {}),
    "sampling weights": lambda: (sampling(), {}),
    "frequency weights": lambda: (
        sp.count(missing(), weights=np.arange(337) % 3, weights_kind="frequency"),
        {},
    ),
    "a mapping": lambda: ({"x": letters(), "y": column("partition"), "w": sampling()}, {}),
    "questions": lambda: (asked(), {}),
    "questions by name": lambda: ({"x": asked().counts(), "y": letters()}, {"questions": {"x": asked()}}),
    "a table": lambda: (table(), {"permutations": 99}),
    "joint counts": lambda: (table().counts(), {"permutations": 99}),
    "limit laws": lambda: (table(), {"permutations": 0, "budget": 0}),
    "no limit": lambda: (table(), {"permutations": 49, "budget": None}),
    "no pairs": lambda: (table(), {"pairs": False}),
    "one pair": lambda: (table(), {"pairs": [("z", "x")], "permutations": 49}),
    "untested": lambda: (table(), {"tests": False}),
    "columns": lambda: (table(), {"columns": ["z", "x"], "level": 0.8, "permutations": 49}),
    "earlier": lambda: (
        {"x": letters(), "y": letters(seed=3)},
        {"earlier": {"x": letters(300, SHARES[::-1], 2, ABCD[::-1])}},
    ),
    "earlier of others": lambda: ({"x": letters()}, {"earlier": {"x": letters(300, labels=["a", "b", "c", "z"])}}),
    "releases": lambda: ([table(), {"q": letters()}], {"permutations": 49}),
    "eight columns": lambda: (
        sp.SubsetTable(
            [
                sp.privatize(np.random.default_rng(k).choice(ABCD, 80, p=SHARES), UNIFORM, seed=k).codes
                for k in range(8)
            ],
            sp.product({f"v{k}": UNIFORM for k in range(8)}),
        ),
        {"tests": False},
    ),
}


@cache
def findings_of(case: str) -> sp.Findings:
    """Return all findings of a case, worked out once."""
    what, options = CASES[case]()
    return sp.findings(what, **options).compute()
