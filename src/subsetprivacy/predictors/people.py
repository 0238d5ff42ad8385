"""People with observed columns, an outcome and the subset of a private cell, in blocks."""

from collections.abc import Iterator

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.predictors.layout import ModelLayout
from subsetprivacy.regression.blocks import BLOCK, distinct_codes

_ENTRIES = 1 << 22  # largest table with an entry for each distinct subset


@frozen(eq=False, repr=False)
class PeopleBlock:
    """Some people.

    Attributes
    ----------
    V
        Their observed columns, shape (m, d).
    y
        Their outcomes, shape (1, m); for a private outcome, the category of each cell, shape (cells, 1).
    part
        Their positions among all people.
    weight
        How many people each row represents, shape (m,), or None.
    offset
        Added to their predictors, shape (m,), or None.
    """

    V: FloatArray
    y: FloatArray
    part: slice
    weight: FloatArray | None = None
    offset: FloatArray | None = None

    def weighted(self, values: FloatArray) -> FloatArray:
        """Return values, along the last axis, times the weights."""
        return values if self.weight is None else values * self.weight

    @property
    def amount(self) -> float:
        """How many people the block represents."""
        return float(len(self.V) if self.weight is None else self.weight.sum())


class CellPeople:
    """People in memory.

    Parameters
    ----------
    V
        Observed columns, shape (n, d). They are not copied.
    y
        Outcomes, shape (n,); for a private outcome, the category of each cell, shape (cells,).
    codes, design
        The informative subsets of the cells, and the design that drew them. With a private outcome a cell is a
        combination of the private predictors and the outcome, which changes fastest.
    layout
        The columns of the model.
    private_outcome
        Whether the outcome is part of the cell.
    weight, offset
        One for each person, or None.
    """

    def __init__(
        self,
        V: FloatArray,
        y: FloatArray,
        codes: IntArray,
        design: Design,
        layout: ModelLayout,
        *,
        private_outcome: bool = False,
        weight: FloatArray | None = None,
        offset: FloatArray | None = None,
    ) -> None:
        self.V, self.y, self.codes, self.design, self.layout = V, y, codes, design, layout
        self.private_outcome, self.weight, self.offset = private_outcome, weight, offset
        self.distinct, index = distinct_codes(codes)
        self.index = index.astype(np.int32)
        self._rows = rows_of(self.distinct, design) if len(self.distinct) * design.p <= _ENTRIES else None

    def __len__(self) -> int:
        return len(self.V)

    @property
    def n(self) -> float:
        """The number of people, or the sum of their weights."""
        return float(len(self) if self.weight is None else self.weight.sum())

    @property
    def outcomes(self) -> int:
        """The number of categories of a private outcome, otherwise 1."""
        return self.design.p // self.layout.cells

    @property
    def cell_Z(self) -> FloatArray:
        """The numbers of all cells, shape (cells, C). A private outcome repeats each row of Z."""
        return np.repeat(self.layout.Z, self.outcomes, axis=0)

    def rows(self, part: slice) -> FloatArray:
        """Return the rows r_a of some people's subsets, shape (cells, m)."""
        if self._rows is None:
            return rows_of(self.codes[part], self.design)
        return np.take(self._rows, self.index[part], axis=1)

    def block(self, part: slice) -> PeopleBlock:
        """Return some people."""
        y = self.y[:, None] if self.private_outcome else self.y[None, part]
        weight = None if self.weight is None else self.weight[part]
        offset = None if self.offset is None else self.offset[part]
        return PeopleBlock(self.V[part], y, part, weight, offset)

    def blocks(self, size: int = BLOCK) -> Iterator[PeopleBlock]:
        """Yield all people, a block at a time."""
        for start in range(0, len(self), size):
            yield self.block(slice(start, min(start + size, len(self))))

    def some(self, most: int) -> "CellPeople":
        """Return at most `most` people, evenly spaced."""
        step = -(-len(self) // most)
        if step <= 1:
            return self
        part = slice(None, None, step)
        weight, offset = (None if each is None else each[part] for each in (self.weight, self.offset))
        y = self.y if self.private_outcome else self.y[part]
        V = np.ascontiguousarray(self.V[part])
        return CellPeople(
            V,
            y,
            self.codes[part],
            self.design,
            self.layout,
            private_outcome=self.private_outcome,
            weight=weight,
            offset=offset,
        )
