"""Permutations of people between groups: the exact distribution of the likelihood ratio under one design.

If the distribution is the same in all groups, so is that of the reported subsets, and people can be permuted between
groups. The table of groups by subsets is then distributed as a random table with these margins, for any number of
people. The pooled fit depends only on the margins and is computed once.
"""

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.mle import maximize
from subsetprivacy.estimation.newton_many import newton_many
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.independence.null_distributions import MAX_EXACT, NullDistribution, PermutationOptions, affordable
from subsetprivacy.independence.tables import LARGEST, all_tables, blocks, drawing_time

_SPEED = 1e9  # operations per second on a typical machine
_LIFT = 1e-4  # how far the start is moved towards the uniform distribution, since the pooled fit may lie on a face


def are_exchangeable(samples: Sequence[SubsetCounts]) -> bool:
    """Return whether people can be permuted between groups: one design, no weights, and not too many people."""
    design = samples[0].design
    people = sum(counts.total for counts in samples)
    return all(counts.design == design and counts.squares is None for counts in samples) and people < LARGEST


@frozen(slots=False, eq=False)
class GroupTable:
    """The number of people by group and reported subset.

    Attributes
    ----------
    design
        The design of all groups.
    codes
        The subsets that occur in any group.
    observed
        People, shape (groups, subsets).
    pooled
        The pooled estimate of all groups.
    """

    design: Design
    codes: IntArray
    observed: IntArray
    pooled: FloatArray

    @classmethod
    def of(cls, samples: Sequence[SubsetCounts], pooled: FloatArray) -> "GroupTable":
        """Tabulate samples under one design."""
        codes = np.unique(np.concatenate([counts.observed_codes for counts in samples]))
        observed = np.zeros((len(samples), len(codes)), np.int64)
        for row, counts in zip(observed, samples, strict=True):
            row[np.searchsorted(codes, counts.observed_codes)] = counts.n_a
        return cls(samples[0].design, codes, observed, pooled)

    def statistics(self, tables: FloatArray) -> FloatArray:
        """Return, for each table, twice the gain in log-likelihood of separate fits over the pooled fit.

        Parameters
        ----------
        tables
            People, shape (tables, groups times subsets), with the margins of this one.
        """
        groups = len(self.observed)
        n = tables.reshape(-1, len(self.codes))
        # The statistic is accurate to 1e-6, as far as floating point allows.
        tol = float(np.clip(5e-7 / self.observed.sum(), 1e-12, 1e-9))
        start = lifted(self.pooled, _LIFT / len(self.pooled))
        if len(self.pooled) <= MANY:
            inc = self.design.incidence(self.codes)
            L = inc.inner(newton_many(inc, n / n.sum(axis=1, keepdims=True), start=start, tol=tol).w)
        else:
            L = np.ones_like(n)
            for sizes, people in zip(L, n, strict=True):
                seen = people > 0
                inc = self.design.incidence(self.codes[seen])
                sizes[seen] = inc.inner(maximize(inc, people[seen] / people.sum(), tol, start).w)
        together = self.design.incidence(self.codes).inner(self.pooled)
        gains = (n * np.log(np.divide(L, together, out=np.ones_like(L), where=n > 0))).sum(axis=1)
        return np.maximum(2 * gains.reshape(-1, groups).sum(axis=1), 0.0)

    def null_distribution(self, settings: PermutationOptions) -> NullDistribution:
        """Return the statistics of all tables with these margins if there are few, else of random ones."""
        rows, columns = self.observed.sum(axis=1), self.observed.sum(axis=0)
        each = self._seconds()
        most = MAX_EXACT if settings.budget is None else min(MAX_EXACT, int(settings.budget / each))
        if (every := all_tables(rows, columns, most)) is not None:
            tables, probabilities = every
            law = self._of(tables.reshape(len(tables), -1).astype(np.float64))
            if settings.progress is not None:
                settings.progress(len(tables), len(tables))
            return NullDistribution("exact", law, probabilities)
        drawing = drawing_time(int(rows.sum()), self.observed.size, settings.permutations)
        size, notes = affordable(drawing + each, settings)
        statistics: list[FloatArray] = []
        done = 0
        for block in blocks(rows, columns, size, settings.generator):
            statistics.append(self.statistics(block))
            done += len(block)
            if settings.progress is not None:
                settings.progress(done, size)
        kind = "permutation" if size else "asymptotic"
        return NullDistribution(kind, np.concatenate([np.empty(0), *statistics]), None, notes)

    def _of(self, tables: FloatArray) -> FloatArray:
        return np.concatenate([self.statistics(tables[start : start + 256]) for start in range(0, len(tables), 256)])

    def _seconds(self) -> float:
        """Return the approximate seconds for the fits of one table on a typical machine; the same on every machine."""
        groups, cells, p = len(self.observed), len(self.codes), len(self.pooled)
        if p > MANY:
            return groups * (4e-3 + 20 * cells * p / _SPEED)
        return groups * 8 * (cells * p**2 + 2 * p**3) / _SPEED
