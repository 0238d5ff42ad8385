"""Maximum likelihood with a certificate: the default estimator."""

import numpy as np
from scipy.linalg.lapack import dposv

from subsetprivacy._checks import check_count, check_distribution
from subsetprivacy._choices import Information
from subsetprivacy._types import Distribution, FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design.identify import describe_direction
from subsetprivacy.errors import ArgumentError, warn_of
from subsetprivacy.estimation.ascent import ascend
from subsetprivacy.estimation.fisher import fisher_uncertainty
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.mom import mean_indicator
from subsetprivacy.estimation.mom_conditional import asked_Q
from subsetprivacy.estimation.newton import MAX_ITERATIONS, TOLERANCE, SimplexMaximum, newton
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.estimation.uniqueness import flat_direction
from subsetprivacy.incidence import Incidence
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import MORE_PEOPLE_OR_QUESTIONS, RAISE_MAX_ITER

_START_FLOOR = 1e-3
LARGE = 1024  # with more categories, a matrix is not feasible


def mle(
    counts: SubsetCounts,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITERATIONS,
    start: Distribution | None = None,
    information: Information = "observed",
) -> Estimate:
    r"""Estimate w by maximum likelihood (`obj`), by Newton's method, or by gradient steps for many categories.

    Parameters
    ----------
    counts
        The counts of the subsets.
    tol
        The gap to reach, a bound on the log-likelihood per person still to gain.
    max_iter
        The maximum number of iterations; ten times as many gradient steps with
        more than 64 categories.
    start
        A distribution to start from. By default, moments if the design asks
        yes/no questions, else the uniform distribution.
    information
        ``"observed"`` or ``"expected"``, for the standard errors.

    Notes
    -----
    :math:`\max_w \sum_a n_a \ln 1_a^\top w` on the simplex; :math:`\sqrt n(\hat w - w)` tends to
    :math:`N(0, B I(\theta)^{-1} B^\top)` (`thm_normality_mle`).
    """
    check_stopping(tol, max_iter)
    if counts.categories.p > MANY:
        begin = None if start is None else read_start(start, counts)
        solution = climb(counts.incidence, counts.shares, begin, tol, 10 * max_iter)
        return likelihood_estimate(counts, solution, "mle", tol, information)
    begin, unique = _moment_start(counts) if start is None else (read_start(start, counts), False)
    solution = newton(counts.incidence, counts.shares, start=begin, tol=tol, max_iter=max_iter)
    return likelihood_estimate(counts, solution, "mle", tol, information, unique=unique)


def climb(inc: Incidence, f: FloatArray, start: FloatArray | None, tol: float, max_iter: int) -> SimplexMaximum:
    """Maximize by gradient steps; if these stop early and a Hessian fits in memory, continue with Newton's method."""
    solution = ascend(inc, f, start=start, tol=tol, max_iter=max_iter)
    if solution.converged or inc.p > LARGE:
        return solution
    return newton(inc, f, start=lifted(solution.w, 1e-3 / inc.p), tol=tol, max_iter=max_iter)


def maximize(inc: Incidence, f: FloatArray, tol: float, start: FloatArray | None = None) -> SimplexMaximum:
    """Maximize the mean log-likelihood of shares f > 0, by the method for this number of categories."""
    if inc.p > MANY:
        return climb(inc, f, start, max(tol, 1e-10), 10 * MAX_ITERATIONS)
    return newton(inc, f, start=start, tol=tol)


def _moment_start(counts: SubsetCounts) -> tuple[FloatArray | None, bool]:
    """Return the moments given the questions, with a small floor, and whether the maximum is known to be unique.

    A change of w that keeps its sum and the probabilities of all observed
    subsets also keeps those of their complements, so it is in the kernel of
    Q-hat. If Q-hat is clearly regular, there is no such change.
    """
    if not counts.design.is_independent:
        return None, False
    gamma = mean_indicator(counts)
    factor, w, info = dposv(asked_Q(counts, gamma), gamma)
    if info:
        return None, False
    pivots = factor.diagonal()
    return np.maximum(w, _START_FLOOR), bool(pivots[pivots.argmin()] > 1e-5 * pivots[pivots.argmax()])


def read_start(start: Distribution | None, counts: SubsetCounts) -> FloatArray:
    """Return a start in the interior of the simplex, by default its center."""
    if start is None:
        return np.full(counts.categories.p, 1 / counts.categories.p)
    w = check_distribution(start, counts.categories.labels, "start")
    return 0.999 * w + 0.001 / len(w)  # an iteration never leaves a face


def check_stopping(tol: float, max_iter: int) -> None:
    """Raise unless the tolerance and the iteration limit are valid."""
    if not isinstance(tol, (int, float, np.floating)) or not 0 < tol < 1:
        raise ArgumentError(f"`tol` must be a small positive number; got {tol!r}.")
    check_count(max_iter, "max_iter", least=1)


def likelihood_estimate(
    counts: SubsetCounts,
    solution: SimplexMaximum,
    method: str,
    tol: float,
    information: Information,
    *,
    unique: bool = False,
) -> Estimate:
    """Return the estimate at the end of an iteration; warn if it did not converge or is not unique."""
    remarks: tuple[Note, ...] = ()
    if not counts.design.is_known:
        remarks += (Note(NoteKind.UNKNOWN_DESIGN, f"Unknown design: {counts.design.assumption}."),)
    if not solution.converged:
        text = (
            f"Not converged: {method} stopped after {solution.iterations} iterations with a gap of {solution.gap:.2g} "
            f"per person, above tol = {tol:.2g}."
        )
        remarks += (Note(NoteKind.NOT_CONVERGED, text, RAISE_MAX_ITER),)
        warn_of(remarks[-1], stacklevel=4)
    direction = None
    if counts.categories.p > LARGE:
        remarks += _unchecked(counts)
    elif not unique:
        direction = flat_direction(counts, solution.w)
    if direction is not None:
        finding = describe_direction(direction, counts.categories)
        text = f"Not unique: {finding} in this sample, so other estimates fit as well."
        remarks += (Note(NoteKind.NOT_UNIQUE, text, MORE_PEOPLE_OR_QUESTIONS),)
        warn_of(remarks[-1], stacklevel=4)
    return Estimate(
        solution.w,
        counts,
        method,
        fisher_uncertainty(information, counts.design),
        iterations=solution.iterations,
        converged=solution.converged,
        trace=solution.trace,
        remarks=remarks,
    )


def _unchecked(counts: SubsetCounts) -> tuple[Note, ...]:
    """Return a note that uniqueness was not checked, unless every question of the design was asked."""
    design = counts.design
    asked = design.strata(counts.observed_codes) if design.enumerable else None
    every = None if asked is None else design.strata(design.support()[0])
    if asked is not None and every is not None and len(np.unique(asked)) == len(np.unique(every)):
        return ()
    return (Note(NoteKind.UNIQUENESS_UNCHECKED, "Uniqueness was not checked: too many categories."),)
