"""The measures of privacy at the level of a design: what a subset reveals, and what it leaves unknown."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.design.disclosure import revealing_reports
from subsetprivacy.errors import ArgumentError
from subsetprivacy.incidence import Listable
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.privacy.attacker import Setting, entropy_bits

MONTE_CARLO_PEOPLE = 200_000


# Size privacy: how much of the population could have sent the same subset (Definition "Size privacy") -----------------


def size_coverage(setting: Setting) -> float:
    r"""Return :math:`\tau = E\,L(A) = w^\top Q w`, the average size of the reported subset."""
    return setting.design.pair_form(setting.w, setting.belief)


def size_leakage(setting: Setting) -> float:
    r"""Return :math:`1 - \tau`, the share of the population ruled out on average."""
    return 1 - size_coverage(setting)


def size_gradient(setting: Setting) -> FloatArray:
    """Return the derivative of the leakage with respect to w."""
    return -2 * setting.design.apply_Q(setting.w)


def size_baseline() -> float:
    """Return the leakage without data, 0, since no one is ruled out."""
    return 0.0


def size_nonprivate(setting: Setting) -> float:
    """Return the leakage if the value itself were reported."""
    return 1 - setting.design.alike(setting.w, setting.belief)


def size_leakage_of_subsets(sizes: FloatArray) -> FloatArray:
    """Return each person's leakage 1 - L(a)."""
    return np.maximum(1 - sizes, 0.0)


# Mutual information privacy, in bits (Definition "Mutual information privacy") ----------------------------------------


@frozen
class Bits:
    """A number of bits, with its Monte Carlo standard error if it was simulated (else 0)."""

    value: float
    simulation_error: float = 0.0


def mi_leakage(setting: Setting, *, seed: int = 0) -> Bits:
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
    return _simulated_mi(setting, simulate(setting.design, setting.w, MONTE_CARLO_PEOPLE, seed=seed))


def _simulated_mi(setting: Setting, people: SubsetCounts) -> Bits:
    if people.total == 0:
        raise ArgumentError("mutual information must come from informative subsets; got only full sets.")
    gains = -np.log2(people.incidence.inner(setting.belief))
    mean = float(people.shares @ gains)
    variance = float(people.shares @ (gains - mean) ** 2)
    share = people.total / (people.total + people.n_missing)
    return Bits(share * mean, share * float(np.sqrt(variance / people.total)))


def mi_coverage(setting: Setting, leaked: float) -> float:
    r"""Return :math:`H(X \mid A) = -E\log_2 P(X\mid A)`, the remaining uncertainty (the paper omits the sign)."""
    return max(entropy_bits(setting.w, setting.belief) - leaked, 0.0)


def mi_gradient(setting: Setting) -> FloatArray:
    """Return the derivative of the leakage with respect to w."""
    _, mu = setting.design.support()
    size = setting.rows.inner(setting.w)
    seen = size > 0
    slope = np.zeros_like(size)
    slope[seen] = -mu[seen] * (np.log2(size[seen]) + 1 / np.log(2))
    noise = setting.design.noise
    return setting.rows.spread(slope) + (0.0 if noise is None else noise)


def mi_baseline() -> float:
    """Return the leakage without data."""
    return 0.0


def mi_nonprivate(setting: Setting) -> float:
    """Return the leakage if the value itself were reported: the entropy of X."""
    return entropy_bits(setting.w, setting.belief)


def bits_of_subsets(sizes: FloatArray) -> FloatArray:
    """Return the bits -log2 L(a) of each person's subset. Their mean over people is the mutual information."""
    with np.errstate(divide="ignore"):
        return -np.log2(np.minimum(sizes, 1.0)) + 0.0


def bits_of_rows(rows: Listable, belief: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the bits of each report if rows are not only 0 and 1: the divergence of the posterior from the belief."""
    entries = rows.inner(np.eye(rows.p)).T / sizes[:, None]
    bits = np.where(entries > 0, entries * np.log2(np.where(entries > 0, entries, 1.0)), 0.0)
    return bits @ belief


# Prediction privacy: how often the best guess is right (Definition "Prediction privacy") ------------------------------


def prediction_leakage(setting: Setting) -> float:
    r"""Return :math:`\sum_a \mu_a \max_{j\in a} w_j`, the chance that the best guess from the subset is right."""
    return float(guess_weights(setting) @ setting.w)


def prediction_coverage(setting: Setting) -> float:
    """Return the chance that the best guess is wrong."""
    return 1 - prediction_leakage(setting)


def guess_weights(setting: Setting) -> FloatArray:
    """Return, for each category, the total mu of the subsets in which it is the attacker's guess.

    The guess is the member with the largest belief, the first one in a tie.
    The leakage is linear in these weights, which are also its derivative with
    respect to w.
    """
    return setting.guess_weights


def prediction_baseline(setting: Setting) -> float:
    """Return the chance of guessing right without data."""
    return float(setting.w[setting.belief.argmax()])


def prediction_nonprivate() -> float:
    """Return the leakage if the value itself were reported."""
    return 1.0


# Worst cases: maximal leakage, the largest posterior, and values that are revealed exactly (`subsec_p23`) -------------


def maximal_leakage(design: Design) -> float:
    r"""Return :math:`\log_2 \sum_a \max_j P(a\mid j) = \log_2 S` bits.

    For any distribution and any function of the value, the chance of a right
    guess is multiplied by at most S, on average over the subsets that occur. A
    single subset can reveal more: see `largest_posterior`.
    """
    return float(np.log2(design.S)) + 0.0


def largest_posterior(setting: Setting) -> float:
    """Return the largest probability that any reportable subset leaves to one value."""
    return setting.design.largest_posterior(setting.belief)


def revealed_shares(setting: Setting) -> dict[str, float]:
    """Return for each variable the share of rows that reveal it. A single variable is named "the value"."""
    _, P, _ = setting.subset_distribution
    return {name: float(P[rows].sum()) for name, rows in revealing_reports(setting.design).items()}
