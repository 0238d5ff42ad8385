"""Draw the report given the value, for every kind of design. Only the publisher's side uses this module.

Samplers are registered here by class and are not methods of the designs, because the collector's side uses the designs
and must not be able to draw given a value. A kind without its own sampler is drawn by its questions or from its list.
"""

from functools import singledispatch

import numpy as np

from subsetprivacy._types import AnyArray, IntArray, RandomSource
from subsetprivacy.design import (
    Design,
    EnlargedDesign,
    EvenPartition,
    FixedSize,
    Hadamard,
    ListedPartition,
    Product,
    draws,
)
from subsetprivacy.design.draws import pick, thresholds

_BLOCK = 1 << 16  # rows drawn at a time: the working arrays stay in the processor's cache


def draw_given(x: IntArray, design: Design, source: RandomSource) -> IntArray:
    """Draw the subset reported for each position x."""
    return in_blocks(sampler(design), x, source)


def in_blocks(draw: "ReportSampler", x: IntArray, source: RandomSource) -> IntArray:
    """Draw the subset reported for each position x with an existing sampler."""
    out = np.empty(len(x), np.int64)
    for start in range(0, len(x), _BLOCK):
        rows = slice(start, start + _BLOCK)
        out[rows] = draw(x[rows], source.among(rows))
    return out


class ReportSampler:
    """The base class of samplers: a call with positions and a source returns codes."""

    def __call__(self, x: IntArray, source: RandomSource) -> AnyArray:
        """Draw the code reported for each position x."""
        raise NotImplementedError


class _ByQuestion(ReportSampler):
    """Draw a question without the value, and answer it."""

    def __init__(self, design: Design) -> None:
        self._design = design

    def __call__(self, x: IntArray, source: RandomSource) -> AnyArray:
        q = self._design.draw_questions(len(x), source)
        inside = (q >> x.astype(q.dtype)) & q.dtype.type(1)
        # inside - 1 is 0 for yes and all ones for no, so the exclusive or gives the complement.
        return q ^ ((inside - q.dtype.type(1)) & q.dtype.type(self._design.categories.full))


class _Table(ReportSampler):
    """For each category, the subsets that contain it, drawn with probabilities mu."""

    def __init__(self, design: Design) -> None:
        codes, mu = design.support()
        holds = [np.flatnonzero(design.contains(codes, np.int64(j))) for j in range(design.p)]
        self._laws = [(codes[h], thresholds(mu[h])) for h in holds]

    def __call__(self, x: IntArray, source: RandomSource) -> IntArray:
        words = source.bits(len(x), 64)
        out = np.empty(len(x), np.int64)
        for j in np.unique(x):
            rows = np.flatnonzero(x == j)
            codes, table = self._laws[j]
            out[rows] = codes[pick(table, words[rows])]
        return out


@singledispatch
def sampler(design: Design) -> ReportSampler:
    """Return the sampler of a design. Its tables are built once, in this call."""
    return _ByQuestion(design) if design.is_independent else _Table(design)


class _Companions(ReportSampler):
    """Draw a size, then the other members uniformly among the other categories."""

    def __init__(self, design: FixedSize | EvenPartition) -> None:
        self._p = design.p
        self._sizes = np.array(list(design.by_size))
        self._thresholds = thresholds(np.array(list(design.by_size.values())))

    def __call__(self, x: IntArray, source: RandomSource) -> IntArray:
        if len(self._sizes) == 1:
            return self._draw(x, int(self._sizes[0]), source)
        which = pick(self._thresholds, source.bits(len(x), 64))
        out = np.empty(len(x), np.int64)
        for i, k in enumerate(self._sizes.tolist()):
            rows = np.flatnonzero(which == i)
            out[rows] = self._draw(x[rows], k, source.among(rows))
        return out

    def _draw(self, x: IntArray, k: int, source: RandomSource) -> IntArray:
        return draws.with_member(draws.subsets(len(x), self._p - 1, k - 1, source), x)


@sampler.register
def _(design: FixedSize) -> ReportSampler:
    return _Companions(design)


@sampler.register
def _(design: EvenPartition) -> ReportSampler:
    return _Companions(design)


class _Groups(ReportSampler):
    """Draw a listed partition and report the group that contains the value."""

    def __init__(self, design: ListedPartition) -> None:
        self._design = design

    def __call__(self, x: IntArray, source: RandomSource) -> IntArray:
        groups = self._design.draw_partitions(len(x), source)
        inside = self._design.contains(groups, x[:, None])
        return groups[np.arange(len(x)), inside.argmax(axis=1)]


@sampler.register
def _(design: ListedPartition) -> ReportSampler:
    return _Groups(design)


class _Rows(ReportSampler):
    """Draw a row of the Hadamard matrix. The sign of the value's column in it is the answer."""

    def __init__(self, design: Hadamard) -> None:
        self._design = design
        self._columns = design.columns.astype(np.uint32)

    def __call__(self, x: IntArray, source: RandomSource) -> AnyArray:
        row = self._design.draw_rows(len(x), source)
        side = 1 - (np.bitwise_count(row & self._columns[x]) & 1)
        return self._design.code_of(row, side)


@sampler.register
def _(design: Hadamard) -> ReportSampler:
    return _Rows(design)


class _Factors(ReportSampler):
    """Draw the subset of every variable separately."""

    def __init__(self, design: Product) -> None:
        self._design = design
        self._samplers = [sampler(factor) for factor in design.factors]

    def __call__(self, x: IntArray, source: RandomSource) -> AnyArray:
        at = np.unravel_index(x, [factor.p for factor in self._design.factors])
        return self._design.join([draw(k, source) for draw, k in zip(self._samplers, at, strict=True)])


@sampler.register
def _(design: Product) -> ReportSampler:
    return _Factors(design)


class _Hidden(ReportSampler):
    """Draw the value of the enlarged variable, then its report."""

    def __init__(self, design: EnlargedDesign) -> None:
        self._sampler = sampler(design.inner)
        # Only possible values: a word above the last threshold selects the last entry.
        self._laws = [(np.flatnonzero(column), thresholds(column[column > 0])) for column in design.lift.T]

    def __call__(self, x: IntArray, source: RandomSource) -> AnyArray:
        words = source.bits(len(x), 64)
        y = np.empty(len(x), np.int64)
        for j, (possible, table) in enumerate(self._laws):
            rows = np.flatnonzero(x == j)
            y[rows] = possible[pick(table, words[rows])]
        return self._sampler(y, source)


@sampler.register
def _(design: EnlargedDesign) -> ReportSampler:
    return _Hidden(design)
