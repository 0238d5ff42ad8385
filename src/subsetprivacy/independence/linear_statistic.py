r"""The permutation distribution of a sum of products of scores, :math:`\sum_i u_i v_{\pi(i)}`.

Its mean and variance over all permutations are known, so it has a z score. If people are permuted only within strata,
the sums of the strata add up, and so do their variances.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from attrs import frozen

from subsetprivacy._choices import Alternative
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.independence.null_distributions import (
    ASYMPTOTIC,
    MAX_EXACT,
    NullDistribution,
    PermutationOptions,
    affordable,
    too_many,
)
from subsetprivacy.independence.tables import LARGEST, all_tables, blocks, drawing_time

_GRID = 1 << 20  # with more cells, people are permuted instead of drawing tables


@frozen(slots=False, eq=False)
class Stratum:
    """People who can be permuted, counted by row and column.

    Attributes
    ----------
    u, v
        The scores of rows and columns.
    at_a, at_b, n
        The row, the column and the number of people of each cell that occurs.
    """

    u: FloatArray
    v: FloatArray
    at_a: IntArray
    at_b: IntArray
    n: FloatArray

    @property
    def total(self) -> float:
        """The number of people."""
        return float(self.n.sum())

    @cached_property
    def rows(self) -> FloatArray:
        """People per row."""
        return np.bincount(self.at_a, self.n, len(self.u)).astype(np.float64)

    @cached_property
    def columns(self) -> FloatArray:
        """People per column."""
        return np.bincount(self.at_b, self.n, len(self.v)).astype(np.float64)

    @cached_property
    def centered(self) -> tuple[FloatArray, FloatArray]:
        """The scores minus their means over people."""
        return self.u - self.rows @ self.u / self.total, self.v - self.columns @ self.v / self.total

    @cached_property
    def statistic(self) -> float:
        """The sum of products of centered scores, whose mean over all permutations is 0."""
        u, v = self.centered
        return float(self.n @ (u[self.at_a] * v[self.at_b]))

    @cached_property
    def squares(self) -> tuple[float, float]:
        """The sums of squares of the centered scores; exactly 0 if they are 0 up to rounding."""
        return tuple(  # type: ignore[return-value]
            0.0 if np.ptp(scores[people > 0]) < 1e-12 * (1 + np.abs(scores).max()) else float(people @ scores**2)
            for scores, people in zip(self.centered, (self.rows, self.columns), strict=True)
        )

    @property
    def variance(self) -> float:
        """The variance of the statistic over all permutations of the people."""
        return self.squares[0] * self.squares[1] / (self.total - 1) if self.total > 1 else 0.0

    @property
    def cells(self) -> int:
        """The number of pairs of rows and columns."""
        return len(self.u) * len(self.v)

    def seconds(self, size: int) -> float:
        """Return the approximate seconds per table, for this number of tables."""
        return drawing_time(self.total, self.cells, size) + 1e-9 * self.cells

    @property
    def _margins(self) -> tuple[IntArray, IntArray]:
        return np.rint(self.rows).astype(np.int64), np.rint(self.columns).astype(np.int64)

    @property
    def _products(self) -> FloatArray:
        return np.outer(*self.centered).ravel()

    def every(self, most: int) -> tuple[FloatArray, FloatArray] | None:
        """Return the statistics of all tables with these margins, and their probabilities; None if there are many."""
        every = all_tables(*self._margins, most) if self.cells <= _GRID else None
        if every is None:
            return None
        tables, probabilities = every
        return tables.reshape(len(tables), -1) @ self._products, probabilities

    def drawn(self, size: int, generator: np.random.Generator) -> Iterator[FloatArray]:
        """Draw statistics of tables with these margins, in batches."""
        rows, columns = self._margins
        if self.cells <= _GRID:
            for block in blocks(rows, columns, size, generator):
                yield block @ self._products
            return
        u, v = self.centered
        firsts, seconds = np.repeat(u, rows), np.repeat(v, columns)
        for _ in range(size):
            yield np.array([firsts @ generator.permutation(seconds)])


def oriented(z: FloatArray, alternative: Alternative) -> FloatArray:
    """Return z scores with the sign for which large values support the alternative."""
    return np.abs(z) if alternative == "two-sided" else z if alternative == "greater" else -z


def linear_null_distribution(
    strata: Sequence[Stratum], alternative: Alternative, settings: PermutationOptions
) -> NullDistribution:
    """Return the oriented z scores of all tables with these margins if there are few, else of random ones."""
    if not settings.permutations:
        return ASYMPTOTIC
    sd = float(np.sqrt(sum(stratum.variance for stratum in strata)))
    if len(strata) == 1 and (every := strata[0].every(MAX_EXACT)) is not None:
        if settings.progress is not None:
            settings.progress(len(every[0]), len(every[0]))
        return NullDistribution("exact", oriented(every[0] / sd, alternative), every[1])
    if any(stratum.total >= LARGEST for stratum in strata):
        return too_many("trend")
    size, notes = affordable(sum(stratum.seconds(settings.permutations) for stratum in strata), settings)
    total = np.zeros(size)
    for number, stratum in enumerate(strata):
        at = 0
        for values in stratum.drawn(size, settings.generator):
            total[at : at + len(values)] += values
            at += len(values)
            if settings.progress is not None:
                settings.progress(number * size + at, len(strata) * size)
    return NullDistribution("permutation" if size else "asymptotic", oriented(total / sd, alternative), None, notes)
