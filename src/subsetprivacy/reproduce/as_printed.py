"""The paper's estimators as the paper computes them, with a row per person (`sec_est`, `subsec_est_exp`).

They serve for timing and comparison; the package's own estimators use counts. `R` has a row per person: the indicators
of the members of the reported subset.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Design
from subsetprivacy.errors import MissingDependencyError, NotIdentifiableError
from subsetprivacy.messages.for_general import INSTALL

EM_CHANGE = 1e-6
"""EM stops when no share moves by more. The paper does not say when it stops."""


def people(rng: np.random.Generator, design: Design, w: FloatArray, n: int) -> IntArray:
    """Return the codes of n people in random order."""
    codes, mu = design.support()
    probabilities = mu * design.support_incidence.inner(w)
    return rng.permutation(np.repeat(codes, rng.multinomial(n, probabilities / probabilities.sum())))


def mom(R: FloatArray, Q: FloatArray) -> FloatArray:
    """Solve Qw = gamma (`gen_mom`)."""
    return np.asarray(np.linalg.solve(Q, R.mean(axis=0)))


def mom_closed_form(gamma: FloatArray) -> FloatArray:
    """Return (r gamma - 1)/(r - 1), the paper's closed form for the uniform design (`mom`)."""
    r = ratio(len(gamma))
    return (r * gamma - 1) / (r - 1)


def ratio(p: int) -> float:
    """Return r_p, one over the probability that a second category is in the reported subset (`mom`)."""
    if p > 60:  # p is negligible next to 2^p in floating point
        return 2.0
    return (2 ** (p - 1) - p - 1) / (2 ** (p - 2) - p + 1)


def em(R: FloatArray, max_iter: int = 100_000) -> tuple[FloatArray, int]:
    """Iterate the mean of P(X = j | a), O(np) each, and return it with the number of updates (`loglikelihood`)."""
    n, p = R.shape
    w = np.full(p, 1 / p)
    for updates in range(1, max_iter + 1):
        before, w = w, w * ((1 / (R @ w)) @ R) / n
        if np.abs(w - before).max() <= EM_CHANGE:
            return w, updates
    return w, max_iter


def one_step(
    R: FloatArray, Q: FloatArray, gram: Callable[[FloatArray, FloatArray], FloatArray] | None = None
) -> FloatArray:
    """Return one Newton step from moments, with the sign that goes uphill (`one_step`).

    Start and end are clipped to a small positive minimum and renormalized. Otherwise the step is often undefined.

    Parameters
    ----------
    gram
        How to compute the sum of 1_a 1_a'/L(a)² over people; by default as a matrix product.

    Raises
    ------
    NotIdentifiableError
        If the Hessian is singular (`unique`).
    """
    n, p = R.shape
    w = _clipped(mom(R, Q), n)
    L = R @ w
    B = np.vstack([np.eye(p - 1), -np.ones(p - 1)])
    slope = B.T @ ((1 / L) @ R)
    minus_hessian = B.T @ (gram or _by_product)(R, L) @ B
    try:
        step = np.linalg.solve(minus_hessian, slope)
    except np.linalg.LinAlgError:
        raise NotIdentifiableError("the sample must have enough distinct subsets for a Newton step.") from None
    return _clipped(w + B @ step, n)


def hessian_by_person(R: FloatArray, L: FloatArray) -> FloatArray:
    """Add up 1_a 1_a'/L(a)² person by person, O(np²), as the formula is written."""
    total = np.zeros((R.shape[1], R.shape[1]))
    for row, size in zip(R, L, strict=True):
        total += np.outer(row, row) / size**2
    return total


def _by_product(R: FloatArray, L: FloatArray) -> FloatArray:
    return np.asarray((R / L[:, None] ** 2).T @ R)


def _clipped(w: FloatArray, n: int) -> FloatArray:
    w = np.maximum(w, 1 / (2 * n))
    return w / w.sum()


def cvxpy(R: FloatArray) -> FloatArray:
    """Return the maximum of the likelihood by CVXPY, with a term per person (`obj`).

    Raises
    ------
    MissingDependencyError
        Without CVXPY.
    """
    try:
        import cvxpy as cp
    except ImportError:
        raise MissingDependencyError("`cvxpy` is needed.", INSTALL(extra="conic")) from None
    w = cp.Variable(R.shape[1], nonneg=True)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.log(R @ w))), [cp.sum(w) == 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the paper's own solution would also be "may be inaccurate"
        problem.solve(solver="CLARABEL", accept_unknown=True)
    return np.asarray(w.value, dtype=float)
