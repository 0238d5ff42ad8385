"""People whose outcome is averaged by private category, with their weights and indicators."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._types import BoolArray, FloatArray, IntArray, Label
from subsetprivacy.design import Design
from subsetprivacy.estimation.indicator import IndicatorTable, lookup, rows_of
from subsetprivacy.sampling import Sampling
from subsetprivacy.sampling.sample import Draws

_CHUNK = 1 << 15  # people at a time


@frozen(eq=False, repr=False)
class KnownGroups:
    """The known group of each person.

    Attributes
    ----------
    labels
        The groups, in order; (None,) without known groups.
    number
        The position of each person's group.
    names
        The columns that define the groups; empty without known groups.
    """

    labels: tuple[Label, ...]
    number: IntArray
    names: tuple[str, ...] = ()

    @classmethod
    def none(cls, n: int) -> "KnownGroups":
        """Return one group that contains everyone."""
        return cls((None,), np.zeros(n, np.int64))

    def observed(self, used: BoolArray) -> "KnownGroups":
        """Return the groups that people who are used belong to; all others are put in the first of these."""
        present = np.unique(self.number[used])
        if not len(present) or len(present) == len(self.labels):
            return self
        number = np.searchsorted(present, np.where(used, self.number, present[0]))
        return KnownGroups(tuple(self.labels[k] for k in present), number.astype(np.int64), self.names)

    def among(self, rows: Any) -> "KnownGroups":
        """Return the groups of some people, including empty groups."""
        return KnownGroups(self.labels, self.number[rows], self.names)


@frozen(eq=False, repr=False)
class Weighting:
    """The weights of people, and how they were drawn.

    Attributes
    ----------
    each
        The weight of each person.
    are_frequencies
        Whether a weight is the number of people that a row represents.
    sampling, rows
        How the sample was drawn, and the rows of these people in it; None if people were drawn independently.
    answered
        The share of people with an informative subset, in a sample from a finite population.
    """

    each: FloatArray
    are_frequencies: bool = True
    sampling: Sampling | None = None
    rows: IntArray | None = None
    answered: float = 1.0

    @property
    def squares(self) -> FloatArray:
        """The squared weights for variances; frequencies themselves, because so many people vary independently."""
        return self.each if self.are_frequencies else self.each**2

    @property
    def independent(self) -> bool:
        """Whether people were drawn independently."""
        return self.sampling is None

    @property
    def is_finite(self) -> bool:
        """Whether people were drawn from a finite population."""
        return self.sampling is not None and self.sampling.is_finite

    @property
    def df(self) -> float:
        """The degrees of freedom of variances; infinite if people were drawn independently."""
        return float("inf") if self.sampling is None else float(self.sampling.degrees_of_freedom)

    def covariance(self, scores: FloatArray, draws: Draws) -> FloatArray:
        """Return the covariance of the weighted sum of scores, (n, k), of people not drawn independently.

        Parameters
        ----------
        draws
            The sum of factors of these people times the variances of their scores over the draws of the subsets.
        """
        assert self.sampling is not None
        return self.sampling.covariance(self._of_all_rows(scores), lambda factors: draws(factors[self.rows]))

    def informative(self, silent: BoolArray) -> "Weighting":
        """Return it with the share of people who gave an informative subset, which is random like the subset."""
        factors = None if self.sampling is None else self.sampling.draw_factors()
        if factors is None:
            return self
        return evolve(self, answered=float(factors[~silent].sum() / factors.sum()))

    def simple_random(self, scores: FloatArray) -> FloatArray:
        """Return the covariance for a simple random sample of the same size."""
        assert self.sampling is not None
        covariance = self.sampling.simple_random(self._of_all_rows(scores))
        if not self.are_frequencies:
            return covariance
        drawn = self.sampling.weights  # it counts rows
        return np.asarray(covariance * max(int((drawn > 0).sum()) - 1, 1) / max(drawn.sum() - 1, 1.0))

    def _of_all_rows(self, scores: FloatArray) -> FloatArray:
        """Return scores for all rows, with 0 for people who are not used."""
        assert self.sampling is not None
        assert self.rows is not None
        full = np.zeros((self.sampling.n, scores.shape[1]))
        full[self.rows] = scores
        return full


@frozen(eq=False, repr=False)
class MeansSample:
    """The people with an informative subset.

    Attributes
    ----------
    y
        Their outcome.
    codes, design
        Their subsets.
    groups
        Their known groups.
    weights
        Their weights.
    table, block
        The indicators of the design, and the number of each person's working distribution; None if all have the same.
    """

    y: FloatArray
    codes: IntArray
    design: Design
    groups: KnownGroups
    weights: Weighting
    table: IndicatorTable
    block: IntArray | None

    @property
    def cells(self) -> tuple[int, int]:
        """The numbers of known groups and of categories."""
        return len(self.groups.labels), self.design.p

    def chunks(self) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Yield people of one known group in chunks: the group, their positions, and their indicators, (p, m)."""
        looked_up = lookup(self.codes, self.table, self.block)
        for group, people in enumerate(self._by_group()):
            for start in range(0, len(people), _CHUNK):
                part = people[start : start + _CHUNK]
                yield group, part, self._indicators(part, looked_up)

    def _by_group(self) -> Sequence[IntArray]:
        if len(self.groups.labels) == 1:
            return [np.arange(len(self.y))]
        order = np.argsort(self.groups.number, kind="stable")
        sizes = np.bincount(self.groups.number, minlength=len(self.groups.labels))
        return np.split(order, np.cumsum(sizes)[:-1])

    def _indicators(self, people: IntArray, looked_up: tuple[FloatArray, IntArray] | None) -> FloatArray:
        if looked_up is not None:
            listed, at = looked_up
            return np.take(listed, at[people], axis=1)
        rows = rows_of(self.codes[people], self.design)
        return self.table.of(rows, None if self.block is None else self.block[people])
