"""`partition`: questions that ask which of m groups contains the answer."""

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_count, read_only
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design import draws
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import PAIR_OR_MORE, Keys, whole
from subsetprivacy.design.exchangeable import ExchangeableDesign
from subsetprivacy.design.require import check_size
from subsetprivacy.design.weights import read_subset
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.incidence import Cells, Listable, incidence
from subsetprivacy.messages.for_designs import USE_SMALL
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.subsets import Categories, as_categories, sizes

_KEYS = Keys(
    {
        "groups": whole("The number m of groups.", 2, 24),
        "partitions": {
            "description": "The partitions to ask about, each a row of m codes. By default all of nearly equal sizes.",
            "type": "array",
            "minItems": 1,
            "items": {"type": "array", "minItems": 2, "maxItems": 24, "items": PAIR_OR_MORE},
        },
        "recorded": {"description": "Whether a code includes the partition.", "type": "boolean"},
    },
    ("groups", "recorded"),
    categories=(4, 48),
    conditions={
        "if": {"properties": {"recorded": {"const": True}}, "required": ["recorded"]},
        "then": {"required": ["partitions"]},
    },
)
_DESCRIPTION = (
    "The categories are divided into {m} groups{how}, and the question is: which group holds your answer? That group "
    "is stored."
)


@frozen(slots=False, eq=False, repr=False)
class EvenPartition(ExchangeableDesign):
    """All partitions into m groups of nearly equal size, equally likely. Use `partition` to make one."""

    m: int
    kind: ClassVar[str] = "partition"
    name: ClassVar[str] = "partition"
    keys: ClassVar[Keys] = _KEYS
    formula: ClassVar[Formula] = Formula(
        reports=(
            "without `partitions` in the document: every subset whose size is that of a group, "
            "$\\lvert a\\rvert = \\lfloor p/m\\rfloor$ and, where $m$ does not divide $p$, also "
            "$\\lvert a\\rvert = \\lfloor p/m\\rfloor + 1$"
        ),
        weight=r"\mu_a = \frac{n_k}{\binom{p}{k}} \text{ with } k = |a|",
        symbols=(
            ("m", "the document's `groups`"),
            (
                "n_k",
                "the number of groups of $k$ members: $p \\bmod m$ groups have $\\lfloor p/m\\rfloor + 1$ members, "
                "the other groups have $\\lfloor p/m\\rfloor$",
            ),
        ),
    )

    @classmethod
    def example(cls) -> "EvenPartition":
        """Return six categories in three groups."""
        return partition(list("abcdef"), 3)  # type: ignore[return-value]

    @property
    def description(self) -> str:
        """A question about random groups."""
        size = "equal" if len(self.by_size) == 1 else "nearly equal"
        return _DESCRIPTION.format(m=self.m, how=f" of {size} size at random")

    @property
    def label(self) -> str:
        """The kind and the number of groups."""
        return f"{self.kind}, {self.m} groups"

    @property
    def browser_rule(self) -> dict[str, Any]:
        """Any partition into groups of these sizes."""
        return {"rule": "groups", "sizes": list(self.group_sizes)}

    def draw_any(self, n: int, source: RandomSource) -> IntArray:
        """Draw a partition, then one of its groups."""
        return _any_group(self.draw_partitions(n, source), source)

    @cached_property
    def group_sizes(self) -> tuple[int, ...]:
        """The sizes of the groups, which differ by at most one."""
        return tuple(len(part) for part in np.array_split(np.arange(self.p), self.m))

    @cached_property
    def by_size(self) -> dict[int, float]:
        """The distribution of the size of the group that contains the value."""
        shares: dict[int, float] = {}
        for k in sorted(self.group_sizes):
            shares[k] = shares.get(k, 0.0) + k / self.p
        return shares

    @property
    def is_independent(self) -> bool:
        """Whether there are two groups, which makes the question a yes/no question."""
        return self.m == 2

    @property
    def options(self) -> int:
        """The number of groups."""
        return self.m

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the first group of n questions of two groups."""
        return self.draw_partitions(n, source)[:, 0]

    def draw_partitions(self, n: int, source: RandomSource) -> IntArray:
        """Draw n partitions, each a row of m masks."""
        groups = np.zeros((n, self.m), np.int64)
        left = np.full(n, self.categories.full, np.int64)
        size = self.p
        for g, k in enumerate(self.group_sizes):
            groups[:, g] = draws.within(left, draws.subsets(n, size, k, source), self.p)
            left = left & ~groups[:, g]
            size -= k
        return groups

    def draw_options(self, n: int, source: RandomSource) -> IntArray:
        """Draw n partitions."""
        return self.draw_partitions(n, source)

    def asks(self, options: IntArray) -> BoolArray:
        """Tell which rows of masks are partitions of all categories into groups of these sizes."""
        once = sizes(options).sum(axis=1) == self.p
        whole = np.bitwise_or.reduce(options, axis=1) == self.categories.full
        return np.asarray(super().asks(options) & once & whole)

    def content(self) -> dict[str, Any]:
        """Return the number of groups. The partition is not recorded."""
        return {"groups": self.m, "recorded": False}


@frozen(slots=False, eq=False, repr=False)
class ListedPartition(Design):
    """A list of equally likely partitions. The code gives the group, or the partition and the group.

    If the partition is recorded, the code is m (number + 1) + group, with
    partitions numbered from 0. Code 1 is the full set.
    """

    groups: IntArray
    recorded: bool
    kind: ClassVar[str] = "partition"
    name: ClassVar[str] = "partition, listed"
    keys: ClassVar[Keys] = _KEYS
    formula: ClassVar[Formula] = Formula(
        reports=(
            "with `partitions` in the document: the listed groups. Where `recorded` is true and there are three groups "
            "or more, each group of each partition is a separate report"
        ),
        weight=r"\mu_a = \frac{t_a}{L}",
        codes=(
            "The bit mask of the group. Where `recorded` is true and there are three groups or more: "
            "$m \\cdot (\\text{number of the partition} + 1) + \\text{number of the group}$, both counted from 0, and "
            "code 1 is the full set."
        ),
        missing="the full set, $2^p - 1$, or 1 where codes are numbers",
        width=r"p, \text{ or the number of binary digits of } m(L+1) \text{ where recorded}",
        symbols=(
            ("L", "the number of `partitions`"),
            ("m", "the document's `groups`"),
            ("t_a", "how many listed partitions have the group $a$; 1 for every report where `recorded` is true"),
        ),
    )

    @classmethod
    def example(cls) -> "ListedPartition":
        """Return two partitions of six categories into three groups, recorded."""
        listed = [[("a", "b"), ("c", "d"), ("e", "f")], [("a", "c"), ("b", "e"), ("d", "f")]]
        return partition(list("abcdef"), partitions=listed, record=True)  # type: ignore[return-value]

    @property
    def description(self) -> str:
        """A question about groups from a list."""
        how = ", by a division that is drawn from a list"
        kept = " Which division was asked is stored too." if self.recorded else ""
        return _DESCRIPTION.format(m=self.m, how=how) + kept

    @property
    def list_length(self) -> int:
        """The number of partitions."""
        return len(self.groups)

    def listed_questions(self) -> tuple[IntArray, FloatArray] | None:
        """Return the partitions, all equally likely; None if codes include the partition."""
        return None if self.recorded else (self.groups, np.ones(len(self.groups)))

    def answers_to(self, codes: IntArray) -> IntArray:
        """Return all groups of the partition of each code, if it is recorded."""
        return codes[:, None] // self.m * self.m + np.arange(self.m) if self.recorded else super().answers_to(codes)

    def draw_any(self, n: int, source: RandomSource) -> IntArray:
        """Draw a partition, then one of its groups."""
        return _any_group(self.draw_partitions(n, source), source)

    @property
    def m(self) -> int:
        """The number of groups of each partition."""
        return self.groups.shape[1]

    @cached_property
    def _support(self) -> tuple[IntArray, FloatArray]:
        number, m = self.groups.shape
        if self.recorded:
            return read_only(np.arange(m, m * (number + 1))), read_only(np.full(number * m, 1 / number))
        codes, times = np.unique(self.groups, return_counts=True)
        return read_only(codes), read_only(times / number)

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return every group, or every partition with each of its groups, and its mu."""
        return self._support

    @cached_property
    def S(self) -> float:
        """The number of groups."""
        return float(self.m)

    # Codes ------------------------------------------------------------------------------------

    @property
    def missing_code(self) -> int:
        """The code of the full set."""
        return 1 if self.recorded else self.categories.full

    @property
    def code_bits(self) -> int:
        """All codes are below 2 to this power."""
        return (self.m * (len(self.groups) + 1)).bit_length() if self.recorded else self.p

    @property
    def code_space(self) -> str:
        """Masks, or positions in this list."""
        return f"partition {self._tag}" if self.recorded else "mask"

    def masks(self, codes: Any) -> IntArray:
        """Return the bit mask of each code."""
        if not self.recorded:
            return np.asarray(codes, np.int64)
        known = np.asarray(codes, np.int64)
        flat = self.groups.ravel()
        at = known - self.m
        return np.where(at >= 0, flat[np.clip(at, 0, len(flat) - 1)], self.categories.full)

    def contains(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether its group has the category at position x."""
        return (self.masks(codes) >> x & 1).astype(np.bool_)

    def sizes(self, codes: IntArray) -> IntArray:
        """Return the size of each group."""
        return sizes(self.masks(codes))

    def members(self, code: int) -> tuple[Label, ...]:
        """Return the labels of a group."""
        return self.categories.members(int(self.masks(code)))

    def format(self, code: int) -> str:
        """Return a group as text."""
        return self.categories.format(int(self.masks(code)))

    def incidence(self, codes: IntArray) -> Listable:
        """Return the rows 1_a of the given codes."""
        masks, at = np.unique(self.masks(codes), return_inverse=True)
        rows = incidence(masks, self.p)
        return rows if np.array_equal(masks, codes) else Cells(rows, at)

    # Questions --------------------------------------------------------------------------------

    @property
    def is_independent(self) -> bool:
        """Whether there are two groups with masks as codes."""
        return self.m == 2 and not self.recorded

    @property
    def options(self) -> int:
        """The number of groups."""
        return self.m

    def strata(self, codes: IntArray) -> IntArray | None:
        """Return the number of the partition that each code answers, if it is recorded."""
        return codes // self.m - 1 if self.recorded else super().strata(codes)

    def question_distribution(self) -> tuple[IntArray, FloatArray]:
        """Return every listed partition, with its codes in ascending order, and its probability."""
        if self.recorded:
            return self._support[0].reshape(-1, self.m), np.full(len(self.groups), 1 / len(self.groups))
        listed, at = np.unique(np.sort(self.groups, axis=1), axis=0, return_inverse=True)
        return listed, np.bincount(at.ravel(), minlength=len(listed)) / len(self.groups)

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the first group of n questions of two groups."""
        return self.draw_partitions(n, source)[:, 0]

    def draw_partitions(self, n: int, source: RandomSource) -> IntArray:
        """Draw n partitions, each a row of m codes."""
        number = draws.below(n, len(self.groups), source)
        if self.recorded:
            return (self.m * (number + 1))[:, None] + np.arange(self.m)
        return self.groups[number]

    def draw_options(self, n: int, source: RandomSource) -> IntArray:
        """Draw n partitions."""
        return self.draw_partitions(n, source)

    def asks(self, options: IntArray) -> BoolArray:
        """Tell which rows of codes are listed partitions, in their order. Two groups may be in any order."""
        if self.m == 2:
            return super().asks(options)
        if self.recorded:
            first = super().asks(options) & (options[:, 0] % self.m == 0)
            return np.asarray(first & (np.diff(options, axis=1) == 1).all(axis=1))
        listed = {row.tobytes() for row in np.ascontiguousarray(self.groups)}
        return np.array([row.tobytes() in listed for row in np.ascontiguousarray(options, np.int64)], np.bool_)

    def content(self) -> dict[str, Any]:
        """Return the partitions as rows of codes, and whether the partition of a report is recorded."""
        return {"groups": self.m, "partitions": self.groups.tolist(), "recorded": self.recorded}


def _any_group(groups: IntArray, source: RandomSource) -> IntArray:
    return groups[np.arange(len(groups)), draws.below(len(groups), groups.shape[1], source)]


def partition(
    categories: Iterable[Label],
    groups: int | None = None,
    *,
    partitions: Iterable[Iterable[Any]] | None = None,
    record: bool = False,
) -> EvenPartition | ListedPartition:
    r"""Make a design of questions "Which of these m groups contains your answer?".

    Like yes/no questions, these are answered truthfully, but they need only 1/(m-1) as many people. At an even
    distribution that is (p-1)/(m-1) times as many as asking directly. They also reveal more: `S` is m, and the maximal
    leakage is log2 m bits.

    Parameters
    ----------
    categories
        Four to 48 distinct labels. Their order is kept.
    groups
        The number m of groups, at most p/2, so that every group has at least
        two members. By default 2, or the number of groups in `partitions`.
    partitions
        The partitions to ask about, equally likely: lists of m groups, where a
        group is a tuple of labels or a code. By default a partition into
        groups of nearly equal size is drawn for each person.
    record
        Store the partition together with the group. This requires `partitions`, and a design document with that list.
        By default a code contains only the group, which is all that the likelihood needs. The method
        ``"mom-conditional"`` of `estimate`, and `check_draws`, need this record.

    Raises
    ------
    InvalidDesignError
        If there are too many groups, a group is too small, or the groups are
        not a partition.

    Examples
    --------
    >>> thirds = partition(range(9), groups=3)
    >>> thirds.S, thirds.smallest_set
    (3.0, 3)
    """
    labels = check_size(as_categories(categories), 4, "partition", USE_SMALL)
    if partitions is None:
        if record:
            raise InvalidDesignError(
                "`record` must come with `partitions`, the list that a recorded number points into; got none."
            )
        m = check_count(2 if groups is None else groups, "groups", least=2)
        if m > labels.p // 2:
            raise InvalidDesignError(
                f"`groups` must be at most {labels.p // 2} for {labels.p} categories, so that each has two members; "
                f"got {m}.",
                NEAREST(nearest=labels.p // 2),
            )
        return EvenPartition(labels, m)
    rows = [_read_partition(rows, labels, number) for number, rows in enumerate(partitions)]
    if not rows or any(len(first) != len(second) for first, second in pairwise(rows)):
        raise InvalidDesignError(
            f"`partitions` must be a list of partitions with the same number of groups; got {len(rows)}."
        )
    if groups is not None and groups != len(rows[0]):
        raise InvalidDesignError(
            f"`groups` must be the number of groups in `partitions`, {len(rows[0])}; got {groups}."
        )
    # With two groups either one determines the other, so masks record the partition.
    return ListedPartition(labels, read_only(np.array(rows, np.int64)), bool(record) and len(rows[0]) > 2)


def _read_partition(groups: Iterable[Any], labels: Categories, number: int) -> list[int]:
    codes = [read_subset(group, labels) for group in groups]
    small = [f"only {labels.format(code)!r}" if code else "the empty set" for code in codes if code.bit_count() < 2]
    if small:
        raise InvalidDesignError(f"a group must have at least two members; got {small[0]} in partition {number}.")
    if sum(codes) != labels.full or sum(code.bit_count() for code in codes) != labels.p or len(codes) < 2:
        raise InvalidDesignError(
            f"a partition must have each category in exactly one of two or more groups; partition {number} does not."
        )
    return codes
