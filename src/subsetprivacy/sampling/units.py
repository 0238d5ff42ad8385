"""First-stage units: people in clusters, clusters in strata, and the linearized covariance of totals."""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen
from scipy.sparse import csr_array

from subsetprivacy._types import AnyArray, FloatArray, IntArray
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_data import LONELY


@frozen(slots=False, eq=False, repr=False)
class Units:
    """The units of the first stage: clusters, or people if there are no clusters.

    Attributes
    ----------
    of_person
        The index of each person's unit.
    stratum
        The index of each unit's stratum.
    fraction
        The share of units drawn in each stratum; 0 if they were drawn with replacement.
    """

    of_person: IntArray
    stratum: IntArray
    fraction: FloatArray = field(factory=lambda: np.zeros(1))

    @property
    def number(self) -> int:
        """The number of units."""
        return len(self.stratum)

    @cached_property
    def sizes(self) -> IntArray:
        """The number of units in each stratum."""
        return np.bincount(self.stratum, minlength=len(self.fraction))

    @property
    def degrees_of_freedom(self) -> int:
        """The number of units minus the number of strata."""
        return self.number - len(self.fraction)

    @cached_property
    def single_unit_strata(self) -> IntArray:
        """The strata with one sampled unit of several, whose variance cannot be estimated."""
        return np.flatnonzero((self.sizes == 1) & (self.fraction < 1))

    def totals(self, amounts: FloatArray) -> FloatArray:
        """Return the sums of one or several amounts over the people of each unit."""
        if self.number == len(self.of_person):  # each person is a unit
            made: FloatArray = np.empty(amounts.shape)
            made[self.of_person] = amounts
            return made
        flat = amounts.reshape(len(amounts), -1)
        sums = [np.bincount(self.of_person, column, minlength=self.number) for column in flat.T]
        return np.asarray(np.stack(sums, axis=-1).reshape(self.number, *amounts.shape[1:]), np.float64)

    def covariance_of_sparse(self, totals: Any, *, center_lonely: bool) -> FloatArray:
        """Return `covariance` for a sparse matrix of totals: squares minus squares of means, by stratum."""
        if len(self.single_unit_strata) and center_lonely:
            return self.covariance(totals.toarray(), center_lonely=True)
        self._refuse_lonely()
        factor = (1 - self.fraction) * self.sizes / np.maximum(self.sizes - 1, 1)
        at = (self.stratum, np.arange(self.number))
        sums = (csr_array((np.ones(self.number), at), (len(factor), self.number)) @ totals).toarray()
        squares = totals.T @ (totals * factor[self.stratum][:, None])
        return np.asarray(squares.toarray() - (sums.T * (factor / self.sizes)) @ sums)

    def _refuse_lonely(self) -> None:
        if len(self.single_unit_strata):
            raise ArgumentError(
                f"each stratum must have at least two first-stage units; got {len(self.single_unit_strata)} of "
                f"{counted(len(self.fraction), 'stratum', 'strata')} with one.",
                LONELY,
            )

    def covariance(self, totals: FloatArray, *, center_lonely: bool) -> FloatArray:
        r"""Return the covariance of the sum of the units' totals, (units, k).

        Notes
        -----
        :math:`\sum_h (1-f_h)\frac{n_h}{n_h-1}\sum_c (z_{hc}-\bar z_h)(z_{hc}-\bar z_h)^\top`. A stratum with one
        unit has no such term. It raises an error, or its unit is compared with the mean of all units.
        """
        if not center_lonely:
            self._refuse_lonely()
        sizes = self.sizes
        means = _by_stratum(totals, self.stratum, len(sizes)) / np.maximum(sizes, 1)[:, None]
        means[self.single_unit_strata] = totals.mean(axis=0)
        factor = (1 - self.fraction) * sizes / np.maximum(sizes - 1, 1)
        apart = (totals - means[self.stratum]) * np.sqrt(factor)[self.stratum, None]
        return np.asarray(apart.T @ apart)


def _by_stratum(totals: FloatArray, stratum: IntArray, number: int) -> FloatArray:
    return np.stack([np.bincount(stratum, column, minlength=number) for column in totals.T], axis=-1)


def units_of(n: int, strata: IntArray | None, clusters: IntArray | None, fpc: AnyArray | None) -> Units:
    """Return the units of people, given strata and clusters (indices nested in strata)."""
    unit = np.arange(n) if clusters is None else clusters
    of_people = np.zeros(n, np.int64) if strata is None else strata
    stratum = np.zeros(int(unit.max(initial=-1)) + 1, np.int64)
    stratum[unit] = of_people
    number = int(of_people.max(initial=-1)) + 1
    fraction = np.zeros(number) if fpc is None else _fractions(fpc, of_people, np.bincount(stratum, minlength=number))
    return Units(unit, stratum, fraction)


def _fractions(fpc: AnyArray, strata: IntArray, sizes: IntArray) -> FloatArray:
    """Return the share of units drawn in each stratum, as given or from the number of units."""
    given = np.zeros(len(sizes))
    given[strata] = fpc
    differing = given[strata] != fpc
    if differing.any():
        raise ArgumentError(
            f"`fpc` must be the same for all people of a stratum; got {int(differing.sum())} that differ, first in row "
            f"{int(differing.argmax())}."
        )
    if (given <= 1).all():
        return given
    if (given < sizes).any():
        raise ArgumentError(
            "`fpc` must be the share of units that were drawn, at most 1, or how many units the stratum has, at least "
            f"those drawn; got neither in {counted((given < sizes).sum(), 'stratum', 'strata')}."
        )
    return np.asarray(sizes / given)
