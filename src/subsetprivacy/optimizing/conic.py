"""The same minimum with a general conic solver, as an independent reference for up to eight categories."""

import warnings

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError, MissingDependencyError
from subsetprivacy.messages.for_plans import INSTALL_CONIC_SOLVER
from subsetprivacy.optimizing.criterion import expand, gap, relative_gap
from subsetprivacy.optimizing.feasible import multipliers
from subsetprivacy.optimizing.interior import CertifiedSolution
from subsetprivacy.optimizing.program import Program

MOST = 8


def solve(program: Program, criterion: str, worst: bool, *, tol: float, max_iter: int) -> CertifiedSolution:
    """Minimize the criterion with CVXPY and Clarabel (the extra ``conic``).

    Notes
    -----
    The A-criterion is a matrix fraction, the D-criterion a log-determinant of B'IB. The certificate is computed here,
    with the multipliers of a linear program. It uses only the weights and the shares of the solver.
    """
    try:
        import cvxpy as cp
    except ImportError:
        raise MissingDependencyError("`solver='conic'` needs cvxpy.", INSTALL_CONIC_SOLVER) from None
    d = program.p - 1
    x, top = cp.Variable(len(program.codes), nonneg=True), cp.Variable(len(program.c))
    information = [program.V.T @ cp.diag(cp.multiply(c, x)) @ program.V for c in program.c]
    if criterion == "A":
        tops = [cp.matrix_frac(np.eye(d), (M + M.T) / 2) <= top[k] for k, M in enumerate(information)]
    else:
        tops = [-cp.log_det((M + M.T) / 2) / d <= top[k] for k, M in enumerate(information)]
    s = cp.Variable()
    above = [top <= s] if worst else [cp.sum(top) / len(program.c) <= s]
    limits = [program.A @ x == 1, *([program.G @ x <= program.h] if len(program.h) else [])]
    problem = cp.Problem(cp.Minimize(s), [*tops, *above, *limits])
    options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tol / 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": the certificate bounds the error
        try:
            problem.solve(solver="CLARABEL", accept_unknown=True, max_iter=max_iter, **options)
        except cp.SolverError:
            x.value = None
    if x.value is None:
        raise ArgumentError("`solver` must be 'interior' for this problem; the conic solver failed on it.")
    shares = np.maximum(above[0].dual_value, 0.0) if worst else np.ones(len(program.c))
    return _certified(program, criterion, worst, x.value, shares, int(problem.solver_stats.num_iters))


def _certified(
    program: Program, criterion: str, worst: bool, weights: FloatArray, shares: FloatArray, steps: int
) -> CertifiedSolution:
    x = np.maximum(weights, 0.0)
    shares = shares / shares.sum()
    at = expand(program, criterion, x)
    assert at is not None, "the solver's weights are identifiable"
    y, lam = multipliers(program, shares @ at.slopes)
    absolute = gap(program, at, x, shares, y, lam)
    # The solver leaves a small weight on columns that vanish in the limit.
    slack = np.where(x > 1e-7 * x.max(), 0.0, np.inf)
    return CertifiedSolution(x, slack, shares, y, lam, relative_gap(criterion, at, shares, worst, absolute), steps)
