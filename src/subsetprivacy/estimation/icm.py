"""The iterative convex minorant algorithm, the paper's reference: a projected step with a diagonal Hessian."""

import numpy as np

from subsetprivacy._choices import Information
from subsetprivacy._types import Distribution, FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.estimation.mle import check_stopping, likelihood_estimate, read_start
from subsetprivacy.estimation.newton import SimplexMaximum, step_length
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.simplex import project
from subsetprivacy.incidence import Incidence

TOLERANCE = 1e-9
MAX_ITERATIONS = 100_000


def icm(
    counts: SubsetCounts,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITERATIONS,
    start: Distribution | None = None,
    information: Information = "observed",
) -> Estimate:
    r"""Estimate w by projected Newton steps that keep only the diagonal of the Hessian.

    Parameters
    ----------
    counts
        The counts of the subsets.
    tol
        The gap to reach, in log-likelihood per person.
    max_iter
        The maximum number of iterations.
    start
        A distribution to start from; by default the uniform one.
    information
        ``"observed"`` or ``"expected"``, for the standard errors.

    Notes
    -----
    With :math:`h_j = \sum_{a \ni j} f_a/L_a^2`, the step goes to the distribution nearest to
    :math:`w + s/h` in the metric h, and is halved until the likelihood increases.
    """
    check_stopping(tol, max_iter)
    w = read_start(start, counts)
    solution = _iterate(counts.incidence, counts.shares, w, tol, max_iter)
    return likelihood_estimate(counts, solution, "icm", tol, information)


def _iterate(inc: Incidence, f: FloatArray, w: FloatArray, tol: float, max_iter: int) -> SimplexMaximum:
    gaps: list[float] = []
    L = inc.inner(w)
    while True:
        y = f / L
        s = inc.spread(y)
        gaps.append(float(s.max() - s @ w))
        if gaps[-1] <= tol or len(gaps) > max_iter:
            break
        h = np.maximum(inc.spread(y / L), 1e-12)
        d = project(w + s / h, h) - w
        t = step_length(f, inc.inner(d) / L, s, d)
        if t == 0:
            break
        w = np.maximum(w + t * d, 0.0)
        w = w / w.sum()
        L = inc.inner(w)
    return SimplexMaximum(w, max(gaps[-1], 0.0), len(gaps) - 1, gaps[-1] <= tol, tuple(gaps))
