"""Maximum likelihood by a general conic solver, as an independent reference."""

import warnings
from typing import Any

import numpy as np

from subsetprivacy._choices import Information
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import MissingDependencyError, TooLargeError
from subsetprivacy.estimation.likelihood import certified_gap
from subsetprivacy.estimation.mle import check_stopping, likelihood_estimate
from subsetprivacy.estimation.newton import SimplexMaximum
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.messages.for_estimates import METHOD_MLE
from subsetprivacy.messages.for_general import INSTALL

TOLERANCE = 1e-12
MAX_CATEGORIES = 512
_DOUBTFUL = 1e-8  # try again if the certified gap is larger
_ACCEPTED = 1e-6  # and warn if it is larger than this


def conic(
    counts: SubsetCounts, *, tol: float = TOLERANCE, max_iter: int = 200, information: Information = "observed"
) -> Estimate:
    """Estimate w by maximum likelihood with CVXPY and Clarabel (the extra ``conic``).

    Parameters
    ----------
    counts
        The counts of the subsets.
    tol
        The tolerance of the solver, for feasibility and the duality gap.
    max_iter
        The maximum number of iterations of the solver.
    information
        ``"observed"`` or ``"expected"``, for the standard errors.

    Notes
    -----
    The paper calls this MLE (`obj`). It uses the counts, not a row per
    person. It serves as a check of `mle`, which is much faster.
    """
    check_stopping(tol, max_iter)
    try:
        import cvxpy as cp
    except ImportError:
        raise MissingDependencyError("`conic` needs cvxpy.", INSTALL(extra="conic")) from None
    p = counts.incidence.p
    if p > MAX_CATEGORIES:
        raise TooLargeError(f"`method` 'conic' must have at most {MAX_CATEGORIES} categories; got {p}.", METHOD_MLE)
    rows = counts.incidence.inner(np.eye(p)).T
    v = cp.Variable(p, nonneg=True)
    loglik = counts.shares @ cp.log(rows @ v)
    solution = _solve(cp.Problem(cp.Maximize(loglik), [cp.sum(v) == 1]), v, counts, tol, max_iter)
    if not solution.gap <= _DOUBTFUL:
        # The solver got stuck, as happens once in twenty. The penalty form of `newton`, whose maximum has the sum p,
        # takes another path. The certificate tells which of the two results is closer to the maximum.
        second_solution = _solve(cp.Problem(cp.Maximize(p * loglik - cp.sum(v))), v, counts, tol, max_iter)
        solution = second_solution if second_solution.gap < solution.gap else solution
    return likelihood_estimate(counts, solution, "conic", _ACCEPTED, information)


def _solve(problem: Any, v: Any, counts: SubsetCounts, tol: float, max_iter: int) -> SimplexMaximum:
    options = {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol, "max_iter": max_iter}
    with warnings.catch_warnings():
        # "Solution may be inaccurate": the certificate bounds the error.
        warnings.simplefilter("ignore", UserWarning)
        problem.solve(solver="CLARABEL", accept_unknown=True, **options)
    w = np.maximum(np.asarray(v.value, np.float64), 0.0)
    w = w / w.sum()
    gap = certified_gap(counts.incidence, counts.shares, w)
    return SimplexMaximum(w, gap, int(problem.solver_stats.num_iters), gap <= _ACCEPTED, ())
