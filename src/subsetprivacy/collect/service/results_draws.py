"""Whether the questions that were asked are those that the design draws."""

from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from scipy.special import betainc

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.collect.service.results_alarms import Alarm
from subsetprivacy.collect.service.results_counts import Put
from subsetprivacy.collect.service.results_tests import Checked, Test, pair_counts, pairs_test, pearson_test, settle
from subsetprivacy.design import Design
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.report.wording import set_text

MOST_LISTED = 4096  # answers of a design up to which its questions are counted one by one
WORST = 20
_NONE = np.empty(0)


@frozen(eq=False)
class Cell:
    """How often a question was asked, and how often it should have been."""

    name: str
    asked: int
    expected: float


@frozen(eq=False)
class DrawsCheck(Checked):
    """The audit of the draws.

    Attributes
    ----------
    n
        The questions that were asked, skipped ones too.
    test
        The test against the design; None where the questions are not known, and `problem` says why.
    sides
        Of yes/no questions: whether each of the two sides was asked about as often as the other.
    observed, expected
        How often each question (or pair of options on one side) came, the most expected first.
    cells
        The questions farthest from what the design says.
    said
        What it means, in a sentence.
    """

    n: int
    test: Test | None = None
    sides: Test | None = None
    observed: FloatArray = field(default=_NONE)
    expected: FloatArray = field(default=_NONE)
    cells: tuple[Cell, ...] = ()
    said: str = ""
    problem: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests that are made."""
        return tuple(test for test in (self.test, self.sides) if test is not None)

    def settled(self, alarm: Alarm) -> "DrawsCheck":
        """Return the audit at the level of the survey, in words."""
        if not self.tests:
            return self
        check = evolve(self, test=settle(self.test, alarm), sides=settle(self.sides, alarm))
        return evolve(check, said=_in_words(check), notes=(*self.notes, *_small(check.test)))


_UNKNOWN = {
    "groups": (
        "Which groups somebody was shown is not kept with the answer, so nobody can check here whether the questions "
        "come as the design says."
    ),
    "bit": "Everybody is asked the same. The secret number never leaves the device, so nobody can check it.",
    "local": "The device draws a set around the answer, so nobody can check the draw without the answer.",
}


def audit_draws(kind: str, design: Design, put: Put, seed: int) -> DrawsCheck:
    """Compare the questions that were asked with the design."""
    if kind != "yes_no":
        return DrawsCheck(put.asked, problem=_UNKNOWN[kind])
    if not put.asked:
        return DrawsCheck(0, problem="Nothing is released yet.")
    asked, at = np.unique(put.partitions, return_inverse=True)
    n = np.bincount(at, weights=put.n).astype(np.int64)
    sides = _sides(put, design)
    found = _by_pairs(design, asked, n, seed) if is_long(design) else _by_questions(design, asked, n, seed)
    return DrawsCheck(put.asked, sides=sides, **found)


def is_long(design: Design) -> bool:
    """Tell whether a design has too many questions to count them one by one."""
    return design.report_count is None or design.report_count > MOST_LISTED


def _by_questions(design: Design, asked: IntArray, n: IntArray, seed: int) -> dict[str, Any]:
    codes, mu = design.support()
    names, first = np.unique(np.minimum(codes, design.complement(codes)), return_index=True)
    observed = np.zeros(len(names), np.int64)
    observed[np.searchsorted(names, asked)] = n
    expected = n.sum() * mu[first] / mu[first].sum()
    order = np.lexsort((-observed, -expected.round(6)))  # equal laws may differ by rounding
    return {
        "test": pearson_test("questions", observed, mu[first], seed) if len(names) > 1 else None,
        "observed": observed[order].astype(np.float64),
        "expected": expected[order],
        "cells": _worst([_side(design, int(code)) for code in names], observed, expected),
        "problem": "" if len(names) > 1 else "There is one question only, so there is nothing to compare.",
    }


def _by_pairs(design: Design, asked: IntArray, n: IntArray, seed: int) -> dict[str, Any]:
    groups = np.column_stack([asked, design.complement(asked)])
    above = np.triu_indices(design.p, 1)
    observed = pair_counts(groups, n, design.p)[above]
    expected = np.full(len(observed), n.sum() * (design.pair_probability or 0.0))
    labels = [str(label) for label in design.categories]
    names = [set_text((labels[i], labels[j])) for i, j in zip(*above, strict=True)]
    note = (
        "There are too many questions to count each: it is counted how often two options stand on the same side, for "
        "every pair of them."
    )
    return {
        "test": pairs_test(design, groups, n, seed),
        "observed": np.sort(observed)[::-1],
        "expected": expected,
        "cells": _worst(names, observed, expected),
        "notes": (note,),
    }


def _side(design: Design, code: int) -> str:
    """Return the smaller side of a question as text."""
    other = int(design.complement(code))
    smaller = min(code, other, key=lambda one: (one.bit_count(), one))
    return set_text(design.members(smaller))


def _worst(names: list[str], observed: FloatArray | IntArray, expected: FloatArray) -> tuple[Cell, ...]:
    distance = np.abs(observed - expected) / np.sqrt(expected)
    order = np.argsort(-distance, kind="stable")[:WORST]
    return tuple(Cell(names[k], int(observed[k]), float(expected[k])) for k in order)


def _sides(put: Put, design: Design) -> Test:
    """Test whether either side of the questions was asked about equally often, exactly."""
    n = put.asked
    smaller = int(put.n[put.shown == put.partitions].sum())
    fewer = min(smaller, n - smaller)
    # The binomial tail as an incomplete beta function, which has no largest n.
    pvalue = min(1.0, 2 * float(betainc(n - fewer, fewer + 1, 0.5)))
    return Test("sides", smaller / n, None, pvalue, "exact")


def _small(test: Test | None) -> tuple[Note, ...]:
    if test is None or not test.samples or test.by != "questions":
        return ()
    text = (
        f"Many questions are expected less than five times: the p-value is from {test.samples:,} samples drawn as the "
        "design says."
    )
    return (Note(NoteKind.NULL_LAW, text),)


def _in_words(check: DrawsCheck) -> str:
    if check.is_alarm:
        return (
            "The questions do not come as the design says. Somebody chooses them, or draws again. The shares above "
            "still hold if the choice has nothing to do with the answer; the estimate by moments does not."
        )
    said = (
        "The questions come as the design says, as far as can be seen. People who draw again for the sake of their "
        "answer show here only if they are many."
    )
    return " ".join(filter(None, (said, *(test.remark for test in check.tests))))
