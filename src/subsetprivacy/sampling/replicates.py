"""Replicate weights, given or made from strata and clusters, and the covariance of estimates."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen
from scipy.linalg import hadamard
from scipy.sparse import csr_array

from subsetprivacy._checks import check_count
from subsetprivacy._choices import ReplicateMethod
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import AnyArray, FloatArray, IntArray, Seed
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_data import BOOTSTRAP_REPLICATES, LONELY
from subsetprivacy.sampling.units import Units

_DISTINCT = 1e-5  # singular values below this fraction of the largest count as 0


@frozen(eq=False, repr=False)
class Replicates:
    """Replicate weights of the same people, as if other units had been drawn.

    Attributes
    ----------
    method
        The method that made them.
    factors
        Factors of the weights, (replicates, units), or the weights, (replicates, people).
    of_person
        The index of each person's unit; None if `factors` are weights of people.
    scale, each
        The covariance is ``scale * sum_r each[r] * (estimate_r - center)(estimate_r - center)'``.
    about_mean
        Whether the center is the mean of the replicates instead of the estimate.
    """

    method: ReplicateMethod
    factors: FloatArray
    of_person: IntArray | None
    scale: float
    each: FloatArray
    about_mean: bool = False

    @property
    def number(self) -> int:
        """The number of replicates."""
        return len(self.factors)

    def weights(self, weights: FloatArray) -> FloatArray:
        """Return the weights of all people in all replicates, (replicates, people)."""
        return self.factors if self.of_person is None else self.factors[:, self.of_person] * weights

    def each_weights(self, weights: FloatArray) -> Iterator[FloatArray]:
        """Yield the weights of all people, replicate by replicate."""
        for factors in self.factors:
            yield factors if self.of_person is None else factors[self.of_person] * weights

    def sums(self, weights: FloatArray, amounts: FloatArray) -> FloatArray:
        """Return sums of weighted amounts, (people, k), in all replicates: (replicates, k)."""
        if self.of_person is None:
            return np.asarray(self.factors @ amounts)
        weighted = amounts * weights[:, None]
        units = [np.bincount(self.of_person, column, minlength=self.factors.shape[1]) for column in weighted.T]
        return np.asarray(self.factors @ np.stack(units, axis=-1))

    def group_sums(self, weights: FloatArray, rows: IntArray, group: IntArray, number: int) -> FloatArray:
        """Return the sums of weights of groups of people in all replicates: (replicates, groups)."""
        if self.of_person is None:
            indicator = csr_array((np.ones(len(rows)), (rows, group)), (self.factors.shape[1], number))
        else:
            indicator = csr_array((weights[rows], (self.of_person[rows], group)), (self.factors.shape[1], number))
        return np.asarray(self.factors @ indicator)

    def covariance(self, estimates: FloatArray, estimate: FloatArray) -> FloatArray:
        """Return the covariance of an estimate, given the estimates of the replicates."""
        center = estimates.mean(axis=0) if self.about_mean else estimate
        apart = (estimates - center) * np.sqrt(self.scale * self.each)[:, None]
        return np.asarray(apart.T @ apart)

    def rank(self) -> int:
        """Return the number of linearly independent replicates."""
        wide = self.factors if self.number <= self.factors.shape[1] else self.factors.T
        values = np.linalg.eigvalsh(wide @ wide.T)
        return int((values > _DISTINCT**2 * values[-1]).sum()) if len(values) else 0


def check_scales(
    method: ReplicateMethod, number: int, scale: float | None, each: Any, rho: float
) -> tuple[float, FloatArray]:
    """Return the factors of the covariance; the defaults of the method if they are not given.

    Raises
    ------
    ArgumentError
        If they are not positive numbers.
    """
    if not isinstance(rho, (int, float)) or not 0 <= rho < 1 or (rho and method != "brr"):
        raise ArgumentError("`rho` must be at least 0 and below 1, and is given for 'brr' only (Fay's method).")
    own = {"bootstrap": 1 / number, "jackknife": (number - 1) / number, "brr": 1 / (number * (1 - rho) ** 2)}[method]
    made = np.ones(number) if each is None else np.asarray(each, np.float64)
    if made.shape != (number,) or not (np.isfinite(made) & (made >= 0)).all():
        raise ArgumentError(f"`rscales` must be {number} numbers, one per replicate; got shape {made.shape}.")
    if scale is None:  # a jackknife with a factor per replicate has no common factor
        own = 1.0 if each is not None and method == "jackknife" else own
    elif not isinstance(scale, (int, float, np.number)) or not 0 < scale < np.inf:
        raise ArgumentError("`scale` must be a positive number.")
    return float(own if scale is None else scale), made


def made_replicates(
    units: Units, method: ReplicateMethod, count: int | None, seed: Seed | None, rho: float
) -> Replicates:
    """Return replicates of a method; see `Sampling.with_replicates`."""
    if len(units.single_unit_strata):
        raise ArgumentError(
            f"each stratum must have at least two first-stage units; got {len(units.single_unit_strata)} of "
            f"{counted(len(units.fraction), 'stratum', 'strata')} with one.",
            LONELY,
        )
    if method == "bootstrap":
        return _bootstrap(units, check_count(500 if count is None else count, "count", 2), seed)
    if count is not None or seed is not None:
        raise ArgumentError(
            f"`count` and `seed` must be left out for a {method}, whose replicates follow from the units."
        )
    return _jackknife(units) if method == "jackknife" else _balanced(units, rho)


def _bootstrap(units: Units, count: int, seed: Seed | None) -> Replicates:
    r"""Return the bootstrap of Rao and Wu (1988).

    From each stratum, :math:`m_h = n_h - 1` units are drawn with replacement. A unit that is drawn :math:`k` times has
    the factor :math:`1 - \lambda + \lambda k n_h/m_h`, :math:`\lambda = \sqrt{m_h(1-f_h)/(n_h-1)}`.
    """
    generator = numpy_generator(seed)
    factors = np.ones((count, units.number))
    for h, size in enumerate(units.sizes.tolist()):
        if size < 2:
            continue  # drawn with certainty, so the same in every sample
        drawn = generator.multinomial(size - 1, np.full(size, 1 / size), count)
        spread = np.sqrt(1 - units.fraction[h])
        factors[:, units.stratum == h] = 1 - spread + spread * drawn * size / (size - 1)
    return Replicates("bootstrap", factors, units.of_person, 1 / count, np.ones(count))


def _jackknife(units: Units) -> Replicates:
    """Return replicates that each leave out one unit; the other units of its stratum get larger weights."""
    left = np.flatnonzero(units.sizes[units.stratum] > 1)
    if len(left) > 20_000:
        raise ArgumentError(
            f"a jackknife must have at most 20,000 units to leave out; got {len(left):,}.", BOOTSTRAP_REPLICATES
        )
    stratum = units.stratum[left]
    size = units.sizes[stratum]
    factors = np.ones((len(left), units.number))
    same = stratum[:, None] == units.stratum[None, :]
    factors[same] = np.broadcast_to((size / (size - 1))[:, None], same.shape)[same]
    factors[np.arange(len(left)), left] = 0
    each = (1 - units.fraction[stratum]) * (size - 1) / size
    return Replicates("jackknife", factors, units.of_person, 1.0, each)


def _balanced(units: Units, rho: float) -> Replicates:
    """Return balanced half samples: of the two units of each stratum, one has the factor 2 - rho, the other rho."""
    sizes = units.sizes[units.fraction < 1]
    if (sizes != 2).any():
        raise ArgumentError(
            "balanced replicates must have two units in each stratum; got another number in "
            f"{counted((sizes != 2).sum(), 'stratum', 'strata')}.",
            BOOTSTRAP_REPLICATES,
        )
    if units.fraction.any():
        raise ArgumentError("`fpc` must be left out for balanced replicates, which cannot use it.")
    signs = hadamard(_power(len(sizes) + 1))[:, 1 : len(sizes) + 1]
    first = np.zeros(units.number, np.bool_)
    first[np.unique(units.stratum, return_index=True)[1]] = True
    chosen = np.where(first, 1, -1) * signs[:, units.stratum]
    scale, each = check_scales("brr", len(signs), None, None, rho)
    return Replicates("brr", 1 + (1 - rho) * chosen.astype(np.float64), units.of_person, scale, each)


def _power(least: int) -> int:
    return 1 << max(int(least - 1).bit_length(), 2)


def given_replicates(
    replicates: AnyArray,
    weights: FloatArray,
    method: ReplicateMethod,
    scales: tuple[float, FloatArray],
    *,
    combined: bool,
    about_mean: bool,
) -> Replicates:
    """Return replicates from given weights per person, (people, replicates)."""
    columns = np.ascontiguousarray(replicates.T)
    return Replicates(method, columns if combined else columns * weights, None, *scales, about_mean)
