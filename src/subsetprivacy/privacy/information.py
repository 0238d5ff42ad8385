"""Mutual information privacy, in bits (Definition "Mutual information privacy")."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.incidence import Listable
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.privacy.attacker import Setting, entropy_bits

MONTE_CARLO_PEOPLE = 200_000


@frozen
class Bits:
    """A number of bits, with its Monte Carlo standard error if it was simulated (else 0)."""

    value: float
    simulation_error: float = 0.0


def leakage(setting: Setting, *, seed: int = 0) -> Bits:
    r"""Return :math:`I(X;A) = -\sum_a \mu_a L(a) \log_2 L(a)`, the average information of a subset about the value.

    Notes
    -----
    If rows r_a are not only 0 and 1, the negative number :math:`\sum_a \mu_a \sum_j w_j r_{aj}
    \log_2 r_{aj}` is added, for the noise of the secret bit. For an attacker with belief :math:`\pi` this is the
    expected gain :math:`E \log_2 \pi(X \mid A)/\pi(X) = -E \log_2 \pi(A)`. If the support is too large to
    list, the result is a mean over simulated people, with its standard error.
    """
    if setting.design.enumerable:
        _, P, size = setting.subset_distribution
        seen = P > 0
        noise = 0.0 if setting.design.noise is None else float(setting.design.noise @ setting.w)
        return Bits(max(noise - float(P[seen] @ np.log2(size[seen])), 0.0))
    return _simulated(setting, simulate(setting.design, setting.w, MONTE_CARLO_PEOPLE, seed=seed))


def _simulated(setting: Setting, people: SubsetCounts) -> Bits:
    if people.total == 0:
        raise ArgumentError("mutual information must come from informative subsets; got only full sets.")
    gains = -np.log2(people.incidence.inner(setting.belief))
    mean = float(people.shares @ gains)
    variance = float(people.shares @ (gains - mean) ** 2)
    share = people.total / (people.total + people.n_missing)
    return Bits(share * mean, share * float(np.sqrt(variance / people.total)))


def coverage(setting: Setting, leaked: float) -> float:
    r"""Return :math:`H(X \mid A) = -E\log_2 P(X\mid A)`, the remaining uncertainty (the paper omits the sign)."""
    return max(entropy_bits(setting.w, setting.belief) - leaked, 0.0)


def gradient(setting: Setting) -> FloatArray:
    """Return the derivative of the leakage with respect to w."""
    _, mu = setting.design.support()
    size = setting.rows.inner(setting.w)
    seen = size > 0
    slope = np.zeros_like(size)
    slope[seen] = -mu[seen] * (np.log2(size[seen]) + 1 / np.log(2))
    noise = setting.design.noise
    return setting.rows.spread(slope) + (0.0 if noise is None else noise)


def baseline() -> float:
    """Return the leakage without data."""
    return 0.0


def nonprivate(setting: Setting) -> float:
    """Return the leakage if the value itself were reported: the entropy of X."""
    return entropy_bits(setting.w, setting.belief)


def of_subsets(sizes: FloatArray) -> FloatArray:
    """Return the bits -log2 L(a) of each person's subset. Their mean over people is the mutual information."""
    with np.errstate(divide="ignore"):
        return -np.log2(np.minimum(sizes, 1.0)) + 0.0


def of_rows(rows: Listable, belief: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the bits of each report if rows are not only 0 and 1: the divergence of the posterior from the belief."""
    entries = rows.inner(np.eye(rows.p)).T / sizes[:, None]
    information = np.where(entries > 0, entries * np.log2(np.where(entries > 0, entries, 1.0)), 0.0)
    return information @ belief
