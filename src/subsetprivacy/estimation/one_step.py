"""One Newton step from a moment estimate: efficient without iterating (`one_step`)."""

import numpy as np

from subsetprivacy._checks import check_choice
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import NotIdentifiableError, NotIndependentError
from subsetprivacy.estimation.fisher import fisher_covariance
from subsetprivacy.estimation.likelihood import observed_information, score
from subsetprivacy.estimation.mom import mom, mom_conditional
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.simplex import lifted

STARTS = ("auto", "mom", "mom-conditional")


def one_step(counts: SubsetCounts, *, start: str = "auto", information: str = "observed") -> Estimate:
    r"""Estimate w by one Newton step from a moment estimate.

    Parameters
    ----------
    counts
        The counts of the subsets.
    start
        ``"mom"`` as in the paper, ``"mom-conditional"``, or ``"auto"``: the
        latter where the design allows it.
    information
        ``"observed"`` or ``"expected"``, for the standard errors.

    Raises
    ------
    NotIdentifiableError
        If the sample has too few distinct subsets for the Hessian to be regular (`unique`).

    Notes
    -----
    :math:`\hat\theta = \theta_0 - (\nabla^2 l)^{-1} \nabla l` (the paper's equation has the wrong sign). The
    start is lifted to a small floor and renormalised, and so is the result:
    at p = 8, n = 100 the scaled loss is twice as large without.
    """
    check_choice(start, STARTS, "start")
    floor = 1 / (2 * counts.n)
    w0 = lifted(_start(counts, start), floor)
    inc, f = counts.incidence, counts.shares
    # In theta = w without its last coordinate, w = alpha + B theta (`llh`).
    B = np.vstack([np.eye(len(w0) - 1), -np.ones(len(w0) - 1)])
    information_matrix = B.T @ observed_information(inc, f, w0) @ B
    if np.linalg.cond(information_matrix) > 1e12:
        raise NotIdentifiableError(
            f"the sample must have enough distinct subsets for a Newton step; its {inc.rows} do not suffice. "
            "Hint: collect more people, or use method='mle', which says what remains undetermined."
        )
    w = w0 + B @ np.linalg.solve(information_matrix, B.T @ score(inc, f, w0))
    return Estimate(lifted(w, floor), counts, "one-step", fisher_covariance(information, counts.design), iterations=1)


def _start(counts: SubsetCounts, start: str) -> FloatArray:
    if start == "auto":
        try:
            return mom_conditional(counts).w
        except (NotIndependentError, NotIdentifiableError):
            return mom(counts).w
    return (mom if start == "mom" else mom_conditional)(counts).w
