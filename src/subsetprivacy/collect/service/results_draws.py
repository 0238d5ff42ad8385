"""Whether the questions that were asked are those that the design draws."""

from math import comb

import numpy as np
from attrs import field, frozen
from scipy.special import bdtr

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.collect.service.results_counts import Put
from subsetprivacy.collect.service.results_tests import ALARM, Test, pair_counts, pairs_test
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design, Sized
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.honesty import check_draws
from subsetprivacy.report.wording import label_text, sentence

MOST_LISTED = 4096  # answers of a design up to which its questions are counted one by one
WORST = 20
REPLICATIONS = 199
_NONE = np.empty(0)


@frozen(eq=False)
class Cell:
    """How often a question was asked, and how often it should have been."""

    name: str
    asked: int
    expected: float


@frozen(eq=False)
class DrawsCheck:
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
    notes: tuple[str, ...] = ()

    @property
    def is_alarm(self) -> bool:
        """Whether the draws do not fit the design."""
        return any(test is not None and test.is_alarm for test in (self.test, self.sides))


_UNKNOWN = {
    "groups": "Which groups were asked is not kept with an answer, so the draws cannot be compared with the design.",
    "bit": "Everybody is asked the same; the secret number stays on the respondent’s device and cannot be checked.",
    "local": "The set is drawn on the respondent’s device around the answer, so the draws cannot be checked alone.",
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
    test, observed, expected, cells, problem, notes = found
    alarm = any(one is not None and one.is_alarm for one in (test, sides))
    return DrawsCheck(put.asked, test, sides, observed, expected, cells, _in_words(alarm), problem, notes)


def is_long(design: Design) -> bool:
    """Tell whether a design has too many questions to count them one by one."""
    if isinstance(design, Sized):
        return sum(comb(design.p, k) for k in design.by_size) > MOST_LISTED
    return len(design.support()[0]) > MOST_LISTED


_Found = tuple[Test | None, FloatArray, FloatArray, tuple[Cell, ...], str, tuple[str, ...]]


def _by_questions(design: Design, asked: IntArray, n: IntArray, seed: int) -> _Found:
    codes, mu = design.support()
    names, first = np.unique(np.minimum(codes, design.complement(codes)), return_index=True)
    observed = np.zeros(len(names))
    observed[np.searchsorted(names, asked)] = n
    expected = n.sum() * mu[first] / mu[first].sum()
    order = np.lexsort((-observed, -expected.round(6)))  # equal laws may differ by rounding
    cells = _worst([label_text(_side(design, int(code))) for code in names], observed, expected)
    try:
        counts = SubsetCounts(asked, n, design)
        fit = check_draws(counts, replications=REPLICATIONS, seed=seed)
    except SubsetPrivacyError as error:
        return None, observed[order], expected[order], cells, sentence(str(error)), ()
    test = Test("questions", fit.statistic, fit.df, fit.pvalue, fit.law)
    return test, observed[order], expected[order], cells, "", tuple(sentence(note) for note in fit.notes)


def _by_pairs(design: Design, asked: IntArray, n: IntArray, seed: int) -> _Found:
    groups = np.column_stack([asked, design.complement(asked)])
    above = np.triu_indices(design.p, 1)
    observed = pair_counts(groups, n, design.p)[above]
    expected = np.full(len(observed), n.sum() * (design.pair_probability or 0.0))
    labels = [str(label) for label in design.categories]
    names = [label_text((labels[i], labels[j])) for i, j in zip(*above, strict=True)]
    note = (
        "There are too many questions to count each: it is counted how often two options stand on the same side, for "
        "every pair of them."
    )
    test = pairs_test(design, groups, n, seed)
    return test, np.sort(observed)[::-1], expected, _worst(names, observed, expected), "", (note,)


def _side(design: Design, code: int) -> str:
    """Return the smaller side of a question as text."""
    other = int(design.complement(code))
    smaller = min(code, other, key=lambda one: (one.bit_count(), one))
    return ", ".join(str(label) for label in design.members(smaller))


def _worst(names: list[str], observed: FloatArray, expected: FloatArray) -> tuple[Cell, ...]:
    distance = np.abs(observed - expected) / np.sqrt(expected)
    order = np.argsort(-distance, kind="stable")[:WORST]
    return tuple(Cell(names[k], int(observed[k]), float(expected[k])) for k in order)


def _sides(put: Put, design: Design) -> Test:
    """Test whether either side of the questions was asked about equally often, exactly."""
    n = put.asked
    smaller = int(put.n[put.shown == put.partitions].sum())
    pvalue = min(1.0, 2 * float(bdtr(min(smaller, n - smaller), n, 0.5)))
    return Test("sides", smaller / n, None, pvalue, "exact")


def _in_words(alarm: bool) -> str:
    if alarm:
        return (
            "The questions do not come as the design says. Somebody chooses them, or draws again. Maximum likelihood "
            "holds if the choice has nothing to do with the answer; moments do not hold."
        )
    return (
        f"The questions come as the design says, as far as can be seen (alarm below p = {ALARM}). People who draw "
        "again for the sake of their answer show here only if they are many."
    )
