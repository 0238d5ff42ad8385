"""People in blocks: the only way in which a fit reads its data.

A fit asks only for sums over people (`Blocks.total`). The same code therefore serves arrays in memory, files larger
than memory, and the workers of a cluster.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, Protocol, TypeAlias

import numpy as np
from attrs import frozen

from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.indicator import rows_of

BLOCK = 8192  # people at a time, so that their arrays stay in the cache
_TABLE = 1 << 22  # the largest table of rows, in entries; beyond it rows are computed when needed

Sums: TypeAlias = tuple[AnyArray, ...]
Kernel: TypeAlias = Callable[["Block"], Sums]


@frozen(eq=False, repr=False)
class Block:
    """Some people.

    Attributes
    ----------
    X : array, shape (m, d)
        Their covariates.
    R : array, shape (p, m)
        The rows r_a of their subsets: which categories are possible.
    weight : array, shape (m,), or None
        How many people each row represents.
    offset : array, shape (1, m), or None
        Added to the linear predictors of all categories except the baseline, or to x'beta of ordered categories.
    """

    X: FloatArray
    R: FloatArray
    weight: FloatArray | None = None
    offset: FloatArray | None = None

    def weighted(self, values: FloatArray) -> FloatArray:
        """Return values, along the last axis, times the weights."""
        return values if self.weight is None else values * self.weight

    @property
    def amount(self) -> float:
        """How many people the block represents."""
        return float(self.X.shape[0] if self.weight is None else self.weight.sum())


class Blocks(Protocol):
    """People whose sums can be computed, wherever the data are."""

    @property
    def d(self) -> int:
        """The number of covariates, including the intercept."""
        ...

    @property
    def design(self) -> Design:
        """The design that drew the subsets."""
        ...

    def total(self, kernel: Kernel) -> Sums:
        """Return the sums of a kernel's results over all blocks."""
        ...

    def most(self, kernel: Kernel) -> Sums:
        """Return the elementwise maximum of a kernel's results over all blocks."""
        ...

    def some(self, n: int) -> Block:
        """Return about `n` people, evenly spaced."""
        ...


def summed(parts: Iterator[Sums]) -> Sums:
    """Add up a kernel's results for each block."""
    total: list[Any] = []
    for part in parts:
        if not total:
            total = [np.array(value, np.float64) for value in part]
        else:
            for whole, value in zip(total, part, strict=True):
                whole += value
    return tuple(total)


def largest(parts: Iterator[Sums]) -> Sums:
    """Return the elementwise maximum of a kernel's results for each block."""
    return tuple(reduce(lambda u, v: [np.maximum(a, b) for a, b in zip(u, v, strict=True)], parts, next(parts)))


def distinct_codes(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct codes in ascending order, and the position of each person's code among them."""
    if not len(codes) or codes.max() >= _TABLE or codes.min() < 0:
        distinct, index = np.unique(codes, return_inverse=True)
        return distinct, index
    present = np.bincount(codes) > 0  # counting is faster than sorting
    return np.flatnonzero(present).astype(codes.dtype), (np.cumsum(present) - 1)[codes]


class InMemoryBlocks:
    """People in memory.

    Parameters
    ----------
    X : array, shape (n, d)
        Covariates. They are not copied.
    codes : array, shape (n,)
        Codes of informative subsets.
    design
        The design that drew them.
    weight, offset
        As in `Block`, for all people.
    """

    def __init__(
        self,
        X: FloatArray,
        codes: IntArray,
        design: Design,
        weight: FloatArray | None = None,
        offset: FloatArray | None = None,
    ) -> None:
        self.X, self.codes, self.weight, self.offset = X, codes, weight, offset
        self._design = design
        self.everyone: InMemoryBlocks | None = None  # the people before identical ones were grouped
        self._distinct, index = distinct_codes(codes)
        self._table = rows_of(self._distinct, design) if len(self._distinct) * design.p <= _TABLE else None
        # Small integers are read faster.
        self._index = index.astype(np.int32) if self._table is not None else index

    @property
    def d(self) -> int:
        """The number of covariates."""
        return self.X.shape[1]

    @property
    def design(self) -> Design:
        """The design."""
        return self._design

    def __len__(self) -> int:
        return len(self.X)

    def amounts(self) -> tuple[IntArray, FloatArray]:
        """Return the distinct codes, and how many people reported each."""
        reported = np.bincount(self._index, self.weight, minlength=len(self._distinct))
        return self._distinct, reported.astype(np.float64)

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """Yield all people, a block at a time."""
        for start in range(0, len(self.X), size):
            part = slice(start, start + size)
            yield self.block(part)

    def block(self, part: slice) -> Block:
        """Return some people as a block."""
        R = (
            rows_of(self.codes[part], self._design)
            if self._table is None
            else np.take(self._table, self._index[part], axis=1)
        )
        weight = None if self.weight is None else self.weight[part]
        offset = None if self.offset is None else np.ascontiguousarray(self.offset[part].T)
        return Block(self.X[part], R, weight, offset)

    def rows(self, kept: BoolArray) -> "InMemoryBlocks":
        """Return some of the people."""
        weight = None if self.weight is None else self.weight[kept]
        offset = None if self.offset is None else self.offset[kept]
        return InMemoryBlocks(self.X[kept], self.codes[kept], self._design, weight, offset)

    def some(self, n: int) -> Block:
        """Return about `n` people, evenly spaced."""
        everyone = self if self.everyone is None else self.everyone
        return everyone.block(slice(None, None, max(len(everyone.X) // n, 1)))

    def total(self, kernel: Kernel) -> Sums:
        """Return the sums over all people."""
        return summed(kernel(block) for block in self.blocks())

    def most(self, kernel: Kernel) -> Sums:
        """Return the largest over all blocks."""
        return largest(kernel(block) for block in self.blocks())


def grouped(sample: InMemoryBlocks) -> InMemoryBlocks:
    """Return the sample with one weighted row for identical people, if that at least halves the rows.

    People are identical if their covariates and subsets are equal. A random projection of the covariates finds the
    groups, and each group is then compared with the covariates, so that rounding cannot merge different people.
    """
    n = len(sample)
    if n < 2 * BLOCK or sample.offset is not None:
        return sample
    at = np.random.default_rng(0).standard_normal(sample.d + 1)
    probe = np.linspace(0, n - 1, 4096).astype(np.int64)
    if len(np.unique(sample.X[probe] @ at[1:] + at[0] * sample._index[probe])) > 0.9 * len(probe):
        return sample
    keys = sample.X @ at[1:] + at[0] * sample._index
    if 2 * np.count_nonzero(np.diff(np.sort(keys))) > n:  # sorting alone is fast
        return sample
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    representative = first[inverse]
    for start in range(0, n, BLOCK):
        part = slice(start, start + BLOCK)
        same = representative[part]
        if not np.array_equal(sample.X[part], sample.X[same]) or not np.array_equal(
            sample.codes[part], sample.codes[same]
        ):
            return sample
    weight = np.bincount(inverse, sample.weight, minlength=len(first)).astype(np.float64)
    joined = InMemoryBlocks(sample.X[first], sample.codes[first], sample.design, weight)
    joined.everyone = sample
    return joined
