"""From released counters to the counts that the library's estimators and tests take."""

from collections.abc import Mapping
from hashlib import sha256

import numpy as np
from attrs import frozen

from subsetprivacy._types import IntArray
from subsetprivacy.collect.survey.submission import CODE_BYTES, SKIPPED
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.data import JointCounts, SubsetCounts
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
    held = released.rows[group]
    texts = sorted(held)
    names = tuple(str(released.manifest.variables[k]["id"]) for k in released.manifest.groups[group])
    octets = np.frombuffer(b"".join(texts), np.uint8).reshape(len(texts), len(names), CODE_BYTES)
    codes = (octets.astype(np.int64) << _SHIFTS).sum(axis=2)
    return GroupRows(names, codes, np.array([held[text] for text in texts], np.int64))


def counts_of(rows: GroupRows, name: str, design: Design) -> SubsetCounts:
    """Return how often each subset of a variable was sent; skipped answers are full sets, which are missing."""
    return SubsetCounts(*_summed(rows.column(name), rows.n), design)


def joint_counts(rows: GroupRows, names: tuple[str, str], designs: Mapping[str, Design]) -> JointCounts:
    """Return how often each pair of subsets of two variables was sent.

    Raises
    ------
    TooLargeError
        If the two codes do not fit in one.
    """
    both = product({name: designs[name] for name in names}).require_code()
    joint = both.join([rows.column(name) for name in names])
    return JointCounts(*_summed(joint, rows.n), both)


def _summed(codes: IntArray, n: IntArray) -> tuple[IntArray, IntArray]:
    distinct, at = np.unique(codes, return_inverse=True)
    amounts = np.zeros(len(distinct), np.int64)
    np.add.at(amounts, at, n)
    return distinct, amounts


@frozen(eq=False)
class Put:
    """How the question of one variable was put and answered, apart from everything else.

    Attributes
    ----------
    partitions
        Of yes/no questions the side with the smaller code, else empty.
    shown
        The code of the set that was asked about, of yes/no questions.
    answers
        0 for yes, 1 for no, or the position of the chosen group; -1 for a skip.
    skipped_groups
        Of questions with groups: the groups of each that was skipped.
    n
        How often.
    """

    partitions: IntArray
    shown: IntArray
    answers: IntArray
    skipped_groups: tuple[tuple[int, ...], ...]
    n: IntArray

    @property
    def asked(self) -> int:
        """How many people were asked."""
        return int(self.n.sum())

    @property
    def skipped(self) -> int:
        """How many of them skipped."""
        return int(self.n[self.answers == SKIPPED].sum())


def questions_put(released: Released) -> list[Put]:
    """Return how the question of each variable was put and answered."""
    lines: list[list[tuple[str, int, int, int]]] = [[] for _ in released.manifest.variables]
    for framing, n in released.framings.items():
        lines[framing.variable].append((framing.partition, framing.shown, framing.answer, n))
    held = released.manifest.variables
    return [_put(sorted(some), one["kind"], (1 << one["draw"]["p"]) - 1) for some, one in zip(lines, held, strict=True)]


def _put(lines: list[tuple[str, int, int, int]], kind: str, full: int) -> Put:
    answers = np.array([answer for _, _, answer, _ in lines], np.int64)
    n = np.array([amount for *_, amount in lines], np.int64)
    none = np.empty(0, np.int64)
    if kind == "yes_no":
        sides = np.array([int(partition) for partition, *_ in lines], np.int64)
        larger = np.array([side for _, side, _, _ in lines], np.bool_)
        return Put(sides, np.where(larger, full - sides, sides), answers, (), n)
    skipped = [partition for partition, _, answer, _ in lines if answer == SKIPPED and partition]
    return Put(none, none, answers, tuple(tuple(map(int, text.split(","))) for text in skipped), n)


def seed_of(released: Released, *what: str) -> int:
    """Return the seed of whatever is drawn for this: fixed by the last release's seal, so that nothing ever changes."""
    seal = released.releases[-1].chain_sha256 if released.releases else ""
    return int.from_bytes(sha256("\0".join(("subsetprivacy results v1", seal, *what)).encode()).digest()[:4], "big")
