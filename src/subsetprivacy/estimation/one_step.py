"""One Newton step from a moment estimate: efficient without iteration (`one_step`)."""

from typing import get_args

import numpy as np

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Information, MomentStart
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import NotIdentifiableError, NotIndependentError, TooLargeError
from subsetprivacy.estimation.fisher import fisher_uncertainty
from subsetprivacy.estimation.likelihood import observed_information, score
from subsetprivacy.estimation.mom import mom
from subsetprivacy.estimation.mom_conditional import mom_conditional
from subsetprivacy.estimation.newton import maximize_quadratic
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.messages.for_estimates import METHOD_MLE, MORE_PEOPLE_OR_MLE

MAX_CATEGORIES = 1024
STARTS: tuple[MomentStart, ...] = get_args(MomentStart)


def one_step(counts: SubsetCounts, *, start: MomentStart = "auto", information: Information = "observed") -> Estimate:
    r"""Estimate w by one Newton step from a moment estimate.

    Parameters
    ----------
    counts
        The counts of the subsets.
    start
        ``"mom"`` as in the paper, ``"mom-conditional"``, or ``"auto"``, which is
        ``"mom-conditional"`` where the design allows it.
    information
        ``"observed"`` or ``"expected"``, for the standard errors.

    Raises
    ------
    NotIdentifiableError
        If the sample has too few distinct subsets for the Hessian to be regular (`unique`).

    Notes
    -----
    :math:`\hat\theta = \theta_0 - (\nabla^2 l)^{-1} \nabla l` (the paper's equation has the wrong sign; `llh`). If
    that leaves the simplex, the step goes to the maximum of the same quadratic
    model *on* the simplex. Clipping and renormalizing instead is not even
    consistent if some categories have no weight: with w = (0, 0, 0.3, 0.7), its
    scaled loss grows with n. Start and result are moved off the boundary by
    1/(2n), so every observed subset keeps a positive probability.
    """
    check_choice(start, STARTS, "start")
    if counts.categories.p > MAX_CATEGORIES:
        raise TooLargeError(
            f"`method` 'one-step' must have at most {MAX_CATEGORIES} categories; got {counts.categories.p}.",
            METHOD_MLE,
        )
    floor = 1 / (2 * counts.n)
    w = lifted(_start(counts, start), floor)
    inc, f = counts.incidence, counts.shares
    s, H = score(inc, f, w), observed_information(inc, f, w)
    if np.linalg.cond(H + H.diagonal().max()) > 1e12:  # no information is needed off the simplex
        raise NotIdentifiableError(
            f"the sample must have enough distinct subsets for a Newton step; its {inc.rows} do not suffice.",
            MORE_PEOPLE_OR_MLE,
        )
    step = _newton_step(w, s, H)
    if step.min() < 0:
        step = _on_simplex(w, s, H)
    error = fisher_uncertainty(information, counts.design)
    return Estimate(lifted(step, floor), counts, "one-step", error, iterations=1)


def _newton_step(w: FloatArray, s: FloatArray, H: FloatArray) -> FloatArray:
    """Return w - (Hessian of l)^-1 (gradient of l), taken in theta."""
    B = np.vstack([np.eye(len(w) - 1), -np.ones(len(w) - 1)])
    return w + B @ np.linalg.solve(B.T @ H @ B, B.T @ s)


def _on_simplex(w: FloatArray, s: FloatArray, H: FloatArray) -> FloatArray:
    """Return the maximum of the quadratic model of l over the simplex.

    The model at x is (2s)'x - x'Hx/2 up to a constant, since Hw = s. A steep
    penalty keeps the sum at one.
    """
    steep = 1e4 * H.diagonal().max()
    x, _ = maximize_quadratic(H + steep, 2 * s + steep, w)
    return x / x.sum()


def _start(counts: SubsetCounts, start: str) -> FloatArray:
    if start == "auto":
        try:
            return mom_conditional(counts).w
        except (NotIndependentError, NotIdentifiableError):
            return mom(counts).w
    return (mom if start == "mom" else mom_conditional)(counts).w
