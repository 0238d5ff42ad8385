r"""The precision of an estimate, before there are any data (`thm_normality_mle`).

The limit covariance of :math:`\sqrt n(\hat w - w)` by maximum likelihood is the inverse of
:math:`I(w) = \sum_a \mu_a r_a r_a^\top / r_a^\top w` on the plane of changes that sum to zero. All numbers are per
*person*: full sets count as people without information, and dummy rows do not count.
"""

from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.errors import NotIdentifiableError, TooLargeError
from subsetprivacy.estimation import likelihood
from subsetprivacy.estimation.likelihood import tangent_inverse
from subsetprivacy.incidence import Incidence
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.messages.for_plans import USE_HADAMARD, WEIGH_TELLING_SUBSETS

MAX_EXACT = 1024  # categories: a matrix of this size is inverted in about a second
SIMULATED_PEOPLE = 200_000
# The information of a subset with probability 0 is infinite. This probability is close enough to 0.
_LEAST = 1e-9


@frozen(eq=False)
class Precision:
    """Limit variances of the estimated shares, per person.

    Attributes
    ----------
    variances
        n times the variance of every share.
    estimator
        ``"mle"``, or ``"mom"`` if the variances are upper bounds for maximum likelihood.
    error
        The relative standard error of the largest variance if the information
        was simulated, else 0.
    """

    variances: FloatArray
    estimator: str = "mle"
    error: float = 0.0

    @property
    def largest(self) -> float:
        """The variance of the worst category."""
        return float(self.variances.max())


def precision(design: Design, w: FloatArray) -> Precision:
    """Return the limit variances at w by the best available method.

    Raises
    ------
    TooLargeError
        If the subsets cannot be listed and there are too many categories for a matrix.

    Notes
    -----
    At uniform w there is a closed form if all categories are alike. Otherwise
    the information over the listed support is used. For more than 1024
    categories it is the moment estimator, whose variance is an upper bound for
    maximum likelihood. If the support cannot be listed, it is the information
    of 200,000 simulated people, with its standard error.
    """
    profile = SizeProfile.of(design)
    if profile is not None and np.ptp(w) == 0:
        return Precision(np.full(design.p, profile.variance(1 / design.p)))
    if design.p <= MAX_EXACT:
        if design.enumerable:
            return Precision(limit_covariance(design, w).diagonal().copy())
        return _simulated(design, w)
    return Precision(moment_variances(design, w), "mom")


def contrast_variance(design: Design, w: FloatArray, c: FloatArray) -> float:
    """Return n times the variance of the estimate of c'w, by the same methods as `precision`."""
    if design.p > MAX_EXACT:
        return _moment_variance(design, w, c)
    V = limit_covariance(design, w) if design.enumerable else _simulated_covariance(design, w)[0]
    used = np.flatnonzero(c)
    return float(c[used] @ V[np.ix_(used, used)] @ c[used])


def limit_covariance(design: Design, w: FloatArray) -> FloatArray:
    """Return the limit covariance of maximum likelihood, from the information over the listed support.

    Raises
    ------
    NotIdentifiableError
        If the variance of some share is infinite.
    """
    V = likelihood.limit_covariance(design, w, floor=_LEAST)
    if not np.isfinite(V).all():
        unknown = design.categories.labels[int((~np.isfinite(V.diagonal())).argmax())]
        raise NotIdentifiableError(
            "the design must be informative about every category; no number of people determines the share of "
            f"{unknown!r}.",
            WEIGH_TELLING_SUBSETS,
        )
    return V


def cell_sizes(rows: Incidence, w: FloatArray) -> FloatArray:
    """Return r_a'w, or a tiny number if it is 0."""
    return np.maximum(rows.inner(w), _LEAST)


# Designs that treat all categories alike ------------------------------------------------------


@frozen
class SizeProfile:
    r"""A design that treats all categories alike, given by the distribution of the size of the reported subset.

    Cell probabilities are `scale` L(a) + `offset`, which are 1 and 0 unless dummy rows are added.
    """

    p: int
    by_size: tuple[tuple[int, float], ...]
    scale: float = 1.0
    offset: float = 0.0

    @classmethod
    def of(cls, design: Design) -> "SizeProfile | None":
        """Return the profile of a design, or None if its categories are not all alike."""
        by_size = design.exposed.by_size
        if by_size is None:
            return None
        return cls(design.p, tuple(by_size.items()), design.real_share, design.dummy_share)

    def variance(self, x: float) -> float:
        r"""Return the limit variance of the share x of one category if all others have equal shares.

        Notes
        -----
        By symmetry it is :math:`1/d^\top I d` with d = 1 for the category and -1/(p-1) for each of
        the others. A subset of k members has :math:`1_a^\top d` = (p-k)/(p-1) with the
        category and -k/(p-1) without it.
        """
        p, y = self.p, (1 - x) / (self.p - 1)
        total = 0.0
        for k, share in self.by_size:
            inside = self.scale * (x + (k - 1) * y) + self.offset
            outside = self.scale * k * y + self.offset
            total += share * ((p - k) / (p - 1)) ** 2 / inside
            total += (
                share * (p - k) / k * (k / (p - 1)) ** 2 / outside
            )  # there are (p-k)/k times as many subsets without it
        return 1 / (self.scale * total) if total > 0 else float("inf")


# Moment estimator: two products instead of a matrix -------------------------------------------


def moment_variances(design: Design, w: FloatArray) -> FloatArray:
    r"""Return the limit variances of the moment estimator, if all pairs of categories are alike.

    Notes
    -----
    :math:`Q = (1-q)I + q11^\top` gives :math:`z = Q^{-1}1_A` with :math:`z_j = (1_A(j) - \kappa|A|)/(1-q)` and
    :math:`\kappa = q/(1-q+pq)`. The variance is :math:`E z_j^2 - (E z_j)^2`, and :math:`E z = w` up to the known
    share of dummy rows.
    """
    balance = _Balance.of(design)
    probabilities, kappa, size = balance.probabilities(w), balance.kappa, balance.size
    squares = balance.rows.spread(probabilities * (1 - 2 * kappa * size)) + kappa**2 * float(probabilities @ size**2)
    mean = balance.scale * w + balance.dummy_mean
    return (squares / (1 - balance.q) ** 2 - mean**2) / balance.scale


def _moment_variance(design: Design, w: FloatArray, c: FloatArray) -> float:
    balance = _Balance.of(design)
    z = (balance.rows.inner(c) - balance.kappa * c.sum() * balance.size) / (1 - balance.q)
    mean = balance.scale * float(c @ w) + balance.dummy_mean * float(c.sum())
    return (float(balance.probabilities(w) @ z**2) - mean**2) / balance.scale


@frozen(eq=False)
class _Balance:
    """The terms of the moment estimator of a design that treats all pairs of categories alike."""

    rows: Incidence
    mu: FloatArray
    size: FloatArray
    q: float
    kappa: float
    scale: float
    offset: float

    @classmethod
    def of(cls, design: Design) -> "_Balance":
        base = design.exposed
        q = base.pair_probability
        if q is None or not base.enumerable:
            raise TooLargeError(
                f"the precision of a {design.maker} design needs a matrix and must have at most {MAX_EXACT} "
                f"categories; got {design.p}.",
                USE_HADAMARD,
            )
        rows, mu = base.support_incidence, base.support()[1]
        kappa = q / (1 - q + base.p * q)
        return cls(rows, mu, rows.inner(np.ones(base.p)), q, kappa, design.real_share, design.dummy_share)

    def probabilities(self, w: FloatArray) -> FloatArray:
        """Return the probability of each subset among the released rows."""
        return self.mu * (self.scale * self.rows.inner(w) + self.offset)

    @property
    def dummy_mean(self) -> float:
        """The contribution of dummy rows to the mean of z."""
        return self.offset * self.kappa / self.q


# Simulated information ------------------------------------------------------------------------


def _simulated_covariance(design: Design, w: FloatArray, seed: int = 0) -> tuple[FloatArray, Any]:
    """Return the limit covariance from the information of simulated people, and their counts."""
    people = simulate(design, w, SIMULATED_PEOPLE, seed=seed)
    share = people.total / (people.total + people.n_missing)
    information = share * people.incidence.gram(people.shares / people.incidence.inner(w) ** 2)
    return design.real_share * tangent_inverse(information), people


def _simulated(design: Design, w: FloatArray) -> Precision:
    V, people = _simulated_covariance(design, w)
    worst = int(V.diagonal().argmax())
    # dV = -V dI V: the variance depends on the mean of the squared influence (r_a'V_j / L_a)^2.
    influence = (people.incidence.inner(V[worst]) / people.incidence.inner(w)) ** 2
    mean = float(people.shares @ influence)
    spread = float(people.shares @ (influence - mean) ** 2)
    return Precision(V.diagonal().copy(), "mle", float(np.sqrt(spread / people.total)) / mean)
