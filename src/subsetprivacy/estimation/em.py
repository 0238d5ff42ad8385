r"""The EM algorithm: treat the value as missing (`loglikelihood`)."""

import numpy as np

from subsetprivacy._choices import Information
from subsetprivacy._types import Distribution, FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.estimation.likelihood import mean_loglik
from subsetprivacy.estimation.mle import check_stopping, likelihood_estimate, read_start
from subsetprivacy.estimation.newton import SimplexMaximum
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.incidence import Incidence

TOLERANCE = 1e-9
MAX_ITERATIONS = 100_000
_LONGEST = 1e8  # a longer extrapolation would overflow if two steps are almost equal


def em(
    counts: SubsetCounts,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITERATIONS,
    start: Distribution | None = None,
    accelerate: bool = False,
    information: Information = "observed",
) -> Estimate:
    r"""Estimate w by the EM algorithm, as in the paper.

    Parameters
    ----------
    counts
        The counts of the subsets.
    tol
        The gap to reach, in log-likelihood per person.
    max_iter
        The maximum number of evaluations of the update.
    start
        A distribution to start from; by default the uniform one.
    accelerate
        Extrapolate from pairs of steps (SQUAREM). The likelihood still never decreases.
    information
        ``"observed"`` or ``"expected"``, for the standard errors.

    Notes
    -----
    :math:`w_j \leftarrow w_j \, s_j`, with the score :math:`s = \sum_a (n_a/n) 1_a / (1_a^\top w)`: the mean of
    the conditional probabilities :math:`P(X = j \mid A = a)`. EM converges
    slowly if a weight tends to zero; `mle` does not have this weakness.
    """
    check_stopping(tol, max_iter)
    w = read_start(start, counts)
    run = _squarem if accelerate else _plain
    solution = run(counts.incidence, counts.shares, w, tol, max_iter)
    return likelihood_estimate(counts, solution, "em", tol, information)


def _plain(inc: Incidence, f: FloatArray, w: FloatArray, tol: float, max_iter: int) -> SimplexMaximum:
    gaps: list[float] = []
    while True:
        s = inc.spread(f / inc.inner(w))
        gaps.append(float(s.max() - 1))
        if gaps[-1] <= tol or len(gaps) > max_iter:
            return _finish(w, gaps, len(gaps) - 1, tol)
        w = w * s


def _squarem(inc: Incidence, f: FloatArray, w: FloatArray, tol: float, max_iter: int) -> SimplexMaximum:
    """Extrapolate along two EM steps (Varadhan and Roland 2008), or use the steps if that does not help."""
    gaps: list[float] = []
    updates = 0
    while True:
        s = inc.spread(f / inc.inner(w))
        gaps.append(float(s.max() - 1))
        if gaps[-1] <= tol or updates >= max_iter:
            return _finish(w, gaps, updates, tol)
        once = w * s
        twice = once * inc.spread(f / inc.inner(once))
        r, v = once - w, (twice - once) - (once - w)
        length = float(np.clip(np.linalg.norm(r) / max(float(np.linalg.norm(v)), 1e-300), 1.0, _LONGEST))
        extrapolated = w + 2 * length * r + length**2 * v
        updates += 2
        w = twice
        if extrapolated.min() > 0:
            extrapolated = extrapolated / extrapolated.sum()
            extrapolated = extrapolated * inc.spread(f / inc.inner(extrapolated))
            updates += 1
            if mean_loglik(inc, f, extrapolated) >= mean_loglik(inc, f, twice):
                w = extrapolated


def _finish(w: FloatArray, gaps: list[float], updates: int, tol: float) -> SimplexMaximum:
    return SimplexMaximum(w / w.sum(), max(gaps[-1], 0.0), updates, gaps[-1] <= tol, tuple(gaps))
