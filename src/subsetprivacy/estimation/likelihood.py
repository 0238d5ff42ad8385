r"""The log-likelihood of subsets, its derivatives and information (`loglikelihood`).

Everything is per person: with shares :math:`f_a = n_a/n` and sizes :math:`L_a = 1_a^\top w`,

- log-likelihood :math:`\sum_a f_a \ln L_a`,
- score :math:`s = \sum_a (f_a/L_a)\,1_a`,
- observed information :math:`\sum_a (f_a/L_a^2)\,1_a 1_a^\top`,
- expected information :math:`\sum_a (\mu_a/L_a)\,1_a 1_a^\top`.

Since :math:`L` is homogeneous in w, :math:`s^\top w = 1`, and for every distribution v concavity gives
:math:`l(v) - l(w) \le s^\top(v-w) \le \max_j s_j - s^\top w`: the *gap*, a bound on what is still to gain.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.design.require import require_enumerable
from subsetprivacy.incidence import MAX_MATRIX, Incidence


def mean_loglik(inc: Incidence, f: FloatArray, w: FloatArray) -> float:
    """Return the mean log-likelihood, or minus infinity if an observed subset has no weight."""
    L = inc.inner(w)
    return float(f @ np.log(L)) if L.min() > 0 else -np.inf


def score(inc: Incidence, f: FloatArray, w: FloatArray) -> FloatArray:
    """Return the gradient of the mean log-likelihood."""
    return inc.spread(f / inc.inner(w))


def certified_gap(inc: Incidence, f: FloatArray, w: FloatArray) -> float:
    """Return max_j s_j - s'w, a bound on the gain per person that is still possible; NaN outside the simplex."""
    if w.min() < 0 or abs(w.sum() - 1) > 1e-8 or inc.inner(w).min() <= 0:
        return np.nan
    s = score(inc, f, w)
    return max(float(s.max() - s @ w), 0.0)


def observed_information(inc: Incidence, f: FloatArray, w: FloatArray) -> FloatArray:
    """Return minus the Hessian of the mean log-likelihood."""
    return inc.gram(f / inc.inner(w) ** 2)


def expected_information(design: Design, w: FloatArray, *, floor: float = 0.0) -> FloatArray:
    """Return the Fisher information of one informative subset, over the whole support.

    Parameters
    ----------
    design, w
        The design and the distribution.
    floor
        A lower bound that replaces smaller probabilities, since the information of a
        possible subset with probability 0 is infinite.

    Raises
    ------
    TooLargeError
        If the support cannot be listed (more than 22 categories).
    """
    codes, mu = require_enumerable(design, "expected information").support()
    mu = np.where(design.is_missing(codes), 0.0, mu / (1 - design.mu_full))
    return design.support_incidence.gram(mu / np.maximum(design.support_incidence.inner(w), floor))


def limit_covariance(design: Design, w: FloatArray, *, floor: float = 0.0) -> FloatArray:
    """Return n times the covariance of maximum likelihood per *person*, in the limit (`thm_normality_mle`).

    Full sets count as people without information. Dummy rows do not count as people.
    """
    per_row = tangent_inverse(expected_information(design, w, floor=floor))
    return design.real_share * per_row / (1 - design.mu_full)


def least_cost(design: Design, S: float | None = None) -> float:
    r"""Return the least cost, at even shares, of any design with this epsilon and this S, by default the design's.

    Notes
    -----
    With :math:`\delta = e^{-\epsilon}`, which is 0 if a report can rule out a value, it is
    :math:`(p-1)/((S-1)(1-\delta S))`. A report with largest probability M and smallest :math:`m \ge \delta M` has
    :math:`(M-P)(P-m) \ge 0` for all values. The sum over the values and reports bounds the trace of the information by
    :math:`p(S-1)(1-\delta S)`. Equality holds if P takes no value between m and M, and all directions are known alike.
    """
    S = design.S if S is None else S
    return (design.p - 1) / ((S - 1) * (1 - S * float(np.exp(-design.epsilon)))) if S > 1 else float("inf")


def cost(design: Design, w: FloatArray) -> float:
    r"""Return how many times as many people maximum likelihood needs as asking directly, for the same squared error.

    For a covered design this counts people, not dummy rows, and it is an upper
    bound, because the number of dummy rows is treated as random. It is NaN if
    there are too many categories or subsets to compute it, if the design is not
    identifiable, or if a category has no weight.

    Notes
    -----
    At even shares a design that treats all categories alike attains `least_cost`, without a list of its subsets. A
    Hadamard design comes so close that the bound stands for the cost where a matrix would be too large: with N - 1
    questions the information in every direction is at least :math:`N/(N-1)`, so the cost is between :math:`p-1` and
    :math:`p(N-1)/N`.
    """
    direct = float(1 - w @ w)
    if w.min() <= 0 or direct <= 0:
        return np.nan
    fits = design.p <= MAX_MATRIX
    alike = design.by_size is not None or not (fits or design.pair_probability is None)
    if alike and np.ptp(w) <= 1e-9 * w[0]:
        return least_cost(design) if design.is_identifiable else np.nan
    if not (fits and design.enumerable and design.is_identifiable):
        return np.nan
    return float(np.trace(limit_covariance(design, w))) / direct


MANY = 64  # with more categories, matrices are slow and samples often lack information in some direction


def clearly_regular(J: FloatArray) -> bool:
    """Return whether a quick test shows that a symmetric matrix is safely invertible."""
    return _safe_factor(J) is not None


def _safe_factor(J: FloatArray) -> FloatArray | None:
    """Return the Cholesky factor of a symmetric matrix if it is safely invertible, else None."""
    factor, info = dpotrf(J)
    pivots = factor.diagonal()
    return factor if not info and pivots.min() > 1e-4 * pivots.max() else None


def _of_regular(J: FloatArray) -> FloatArray | None:
    """Return J^-1 - J^-1 11' J^-1 / 1'J^-1 1 by the Cholesky factor of a clearly regular J."""
    factor = _safe_factor(J)
    if factor is None:
        return None
    upper, _ = dpotri(factor)
    inverse = np.triu(upper) + np.triu(upper, 1).T
    sums = inverse.sum(axis=0)
    return inverse - np.outer(sums, sums) / sums.sum()


def tangent_inverse(information: FloatArray) -> FloatArray:
    """Return B(B'IB)^-1 B', the limit covariance of sqrt(n)(w_hat - w) for information I (`thm_normality_mle`).

    A category in a direction without information gets an infinite variance,
    and its covariances are NaN.
    """
    p = len(information)
    if p > MANY and (quick := _of_regular(information)) is not None:
        return quick
    # B is orthonormal. With the direction 1 included, its eigenvalue 0 would mix with those of lost directions.
    B, _ = np.linalg.qr(np.vstack([np.eye(p - 1), -np.ones(p - 1)]))
    values, inside = np.linalg.eigh(B.T @ information @ B)
    vectors = B @ inside
    # Relative to the whole matrix: without any information on the simplex, the largest of these is a rounding error.
    known = values > max(values[-1], information.diagonal().max()) * p * 1e-13
    V = vectors[:, known] / np.sqrt(values[known])
    covariance = V @ V.T
    lost = (np.abs(vectors[:, ~known]) > 1e-7).any(axis=1)
    covariance[lost, :] = np.nan
    covariance[:, lost] = np.nan
    covariance[lost, lost] = np.inf
    return covariance


def tangent_column(information: FloatArray, j: int) -> FloatArray:
    """Return column j of `tangent_inverse`, by two triangular solves if the information is clearly regular.

    A search needs one share thousands of times and must not compute all eigenvectors each time. For such a small matrix
    they are the largest cost, and many times larger if the linear algebra library starts threads for them.
    """
    factor = _safe_factor(information)
    if factor is None:
        return tangent_inverse(information)[j]
    both = np.ones((len(information), 2))
    both[:, 0] = 0.0
    both[j, 0] = 1.0
    own, ones = dpotrs(factor, both)[0].T
    return own - ones * (ones[j] / ones.sum())
