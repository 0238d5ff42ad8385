"""From released counters to the counts that the library takes."""

from collections.abc import Mapping

import numpy as np
from attrs import frozen

from subsetprivacy._types import IntArray
from subsetprivacy.collect.survey.submission import CODE_BYTES
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.data import JointCounts, QuestionCounts, SubsetCounts
from subsetprivacy.design import Design, product

_SHIFTS = 8 * np.arange(CODE_BYTES - 1, -1, -1, dtype=np.int64)


@frozen(eq=False)
class GroupRows:
    """The rows of one group: a line per distinct content, in the order of the content.

    Attributes
    ----------
    names
        The ids of the variables.
    codes
        A column of codes for each.
    n
        How many people sent each row.
    """

    names: tuple[str, ...]
    codes: IntArray
    n: IntArray

    def column(self, name: str) -> IntArray:
        """Return the codes of a variable."""
        return self.codes[:, self.names.index(name)]


def group_rows(released: Released, group: int) -> GroupRows:
    """Return the released rows of a group of the manifest, whatever order they were read in."""
    counters = released.rows[group]
    texts = sorted(counters)
    names = tuple(str(released.manifest.variables[k]["id"]) for k in released.manifest.groups[group])
    octets = np.frombuffer(b"".join(texts), np.uint8).reshape(len(texts), len(names), CODE_BYTES)
    codes = (octets.astype(np.int64) << _SHIFTS).sum(axis=2)
    return GroupRows(names, codes, np.array([counters[text] for text in texts], np.int64))


def counts_of(rows: GroupRows, name: str, design: Design) -> SubsetCounts:
    """Return how often each subset of a variable was sent. Skipped answers are full sets, which count as missing."""
    return SubsetCounts(*_summed(rows.column(name), rows.n), design)


def joint_counts(rows: GroupRows, names: tuple[str, ...], designs: Mapping[str, Design]) -> JointCounts:
    """Return how often each combination of subsets of several variables was sent.

    Raises
    ------
    TooLargeError
        If the codes do not fit in one.
    """
    both = product({name: designs[name] for name in names}).require_code()
    joint = both.join([rows.column(name) for name in names])
    return JointCounts(*_summed(joint, rows.n), both)


def _summed(codes: IntArray, n: IntArray) -> tuple[IntArray, IntArray]:
    distinct, at = np.unique(codes, return_inverse=True)
    amounts = np.zeros(len(distinct), np.int64)
    np.add.at(amounts, at, n)
    return distinct, amounts


def question_counts(released: Released) -> dict[str, QuestionCounts]:
    """Return how the question of each variable was asked and answered."""
    variables = released.manifest.variables
    lines: list[list[tuple[str, int, int, int]]] = [[] for _ in variables]
    for framing, n in released.framings.items():
        lines[framing.variable].append((framing.partition, framing.shown, framing.answer, n))
    return {
        str(variable["id"]): _questions(sorted(some), str(variable["kind"]), released.manifest.designs[variable["id"]])
        for some, variable in zip(lines, variables, strict=True)
    }


def _questions(lines: list[tuple[str, int, int, int]], kind: str, design: Design) -> QuestionCounts:
    answers = np.array([answer for _, _, answer, _ in lines], np.int64)
    n = np.array([amount for *_, amount in lines], np.int64)
    shown = None
    if kind == "yes_no":
        sides = np.array([int(partition) for partition, *_ in lines], np.int64)
        larger = np.array([side for _, side, _, _ in lines], np.bool_)
        shown = np.where(larger, (1 << design.p) - 1 - sides, sides)
    elif kind == "groups":  # the groups that were shown are stored only for skipped questions
        m = design.options or 0
        rows = [tuple(map(int, partition.split(","))) if partition else (0,) * m for partition, *_ in lines]
        shown = np.array(rows, np.int64).reshape(len(rows), m)
    return QuestionCounts(design, shown, answers=answers, n=n, kind=kind)  # type: ignore[arg-type]
