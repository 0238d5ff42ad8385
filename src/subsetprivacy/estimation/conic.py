"""Maximum likelihood by a general conic solver, as an independent reference."""

import numpy as np

from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import MissingDependencyError
from subsetprivacy.estimation.likelihood import certified_gap
from subsetprivacy.estimation.mle import check_stopping, likelihood_estimate
from subsetprivacy.estimation.newton import Solution
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.subsets import bits

TOLERANCE = 1e-12


def conic(
    counts: SubsetCounts, *, tol: float = TOLERANCE, max_iter: int = 200, information: str = "observed"
) -> Estimate:
    """Estimate w by maximum likelihood with CVXPY and Clarabel (the extra ``conic``).

    Parameters
    ----------
    counts
        The counts of the subsets.
    tol
        The solver's own tolerance, for feasibility and the duality gap.
    max_iter
        The most iterations of the solver.
    information
        ``"observed"`` or ``"expected"``, for the standard errors.

    Notes
    -----
    This is what the paper calls MLE (`obj`); it takes the counts, not a row per
    person. It is here to check `mle` against, which is much faster.
    """
    check_stopping(tol, max_iter)
    try:
        import cvxpy as cp
    except ImportError:
        raise MissingDependencyError("`conic` needs cvxpy. Hint: pip install 'subsetprivacy[conic]'.") from None
    rows = bits(counts.observed_codes, counts.categories.p)
    v = cp.Variable(counts.categories.p, nonneg=True)
    problem = cp.Problem(cp.Maximize(counts.shares @ cp.log(rows @ v)), [cp.sum(v) == 1])
    problem.solve(
        solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_iter=max_iter, accept_unknown=True
    )
    w = np.maximum(np.asarray(v.value, np.float64), 0.0)
    w = w / w.sum()
    gap = certified_gap(counts.incidence, counts.shares, w)
    steps = int(problem.solver_stats.num_iters)
    return likelihood_estimate(counts, Solution(w, gap, steps, gap <= 1e-6, ()), "conic", 1e-6, information)
