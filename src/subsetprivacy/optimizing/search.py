"""`optimal`: find the design that needs the fewest people within a leakage budget."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from subsetprivacy._checks import read_only
from subsetprivacy._choices import Criterion, OptimalKind, Over, Solver
from subsetprivacy._types import Distribution, FloatArray, IntArray, Label
from subsetprivacy.design import Design, conditional, independent, nonprivate, uniform
from subsetprivacy.errors import ArgumentError, ConvergenceWarning
from subsetprivacy.messages.for_plans import A_THOUSANDTH_MORE, MORE_STEPS
from subsetprivacy.optimizing import conic, interior, measure
from subsetprivacy.optimizing.arguments import DesignTask, read_budget, read_design_task
from subsetprivacy.optimizing.budgets import apply_budgets
from subsetprivacy.optimizing.criterion import expand, gap, relative_gap
from subsetprivacy.optimizing.feasible import inside, multipliers
from subsetprivacy.optimizing.interior import CertifiedSolution, meet
from subsetprivacy.optimizing.program import Program, program
from subsetprivacy.optimizing.result import Optimum

TOLERANCE = 1e-8
MAX_ITER = 100
_ACCEPTED = 1e-4  # a certified gap above this is worth a warning
_SHORT = 1e-6  # the largest loss, as a share, that shortening a design may add
_CRAMPED = 1e-3  # with less slack above the least possible leakage the loss is enormous
_RARE = 1e-7  # a weight below this share of the largest is rounding, or a question that is practically never asked
_TIGHT = 1e-9  # a budget with less slack, in units of its largest coefficient, is used up
_MARGIN = 1e-12  # slack of used-up budgets, so that rounding does not exceed them


def optimal(
    categories: Iterable[Label],
    w: Distribution | Sequence[Distribution],
    budget: Mapping[str, float] | None = None,
    *,
    kind: OptimalKind = "independent",
    criterion: Criterion = "A",
    smallest: int = 2,
    over: Over = "average",
    full_set: bool = False,
    solver: Solver = "interior",
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
    progress: Callable[[str], object] | None = None,
) -> Optimum:
    r"""Find the design that needs the fewest people within a leakage budget.

    Parameters
    ----------
    categories
        Four to 14 distinct labels. Conditional designs allow three.
    w
        A guess of the distribution, or a list of guesses, in category order
        or by label. Every category needs a share of at least 1e-6.
    budget
        The largest allowed leakages: any of ``"size"``, ``"mi"`` (mutual
        information, bits), ``"prediction"`` and ``"maximal"`` (bits), as
        `audit` reports them. With several guesses, each budget applies to
        every guess.
    kind
        ``"independent"``: yes/no questions. ``"conditional"``: any subsets,
        for publishers who know the values. It needs fewer people.
    criterion
        ``"A"``: the limit of n times the mean squared error. ``"D"``: the
        geometric mean of the limit variances along the axes of their
        ellipsoid. For both, a ratio of losses is a ratio of sample sizes.
    smallest
        The size of the smallest set that may be reported.
    over
        With several guesses, ``"average"`` (of losses; of their logarithms
        for D) or ``"worst"``.
    full_set
        Allow the full set, so that some people are asked nothing. Then every
        budget above the leakage without data is feasible.
    solver
        ``"interior"``, for up to 14 categories, or ``"conic"``, the reference
        with CVXPY for up to eight.
    tol
        The share of the loss within which the search stops.
    max_iter
        The largest number of Newton steps.
    progress
        A function that is called with a line of text after every step, for
        example ``print``.

    Raises
    ------
    ArgumentError
        If no identifiable design meets the budget or has sets of that size.
        The message says what is possible.
    DistributionError, InvalidDesignError, TooLargeError
        If w is not a distribution inside the simplex, or there are too few or
        too many categories.

    Notes
    -----
    Fisher information and all leakages are linear in :math:`\mu` (`cond_design`), and
    :math:`\operatorname{tr}(B^\top I(w) B)^{-1}` and :math:`-\ln\det B^\top I(w) B` are convex in it
    (`thm_normality_mle`). So the program is convex, and the result includes a proof that no design of its kind saves
    more than the share `gap` of the loss.

    Examples
    --------
    >>> best = optimal(["a", "b", "c", "d", "e"], w=[0.4, 0.3, 0.15, 0.1, 0.05], budget={"mi": 0.8})
    >>> round(best.loss, 3), round(best.uniform_loss, 3), best.saturated
    (2.737, 2.773, ('mi',))
    """
    task = read_design_task(
        categories,
        w,
        kind=kind,
        criterion=criterion,
        smallest=smallest,
        over=over,
        full_set=full_set,
        solver=solver,
        tol=tol,
        max_iter=max_iter,
        progress=progress,
    )
    return search(task, write(task), read_budget(budget))


def write(task: DesignTask) -> Program:
    """Return the program of a task, without budgets."""
    return program(task.categories, task.w, task.kind, task.smallest, task.full_set)


def search(task: DesignTask, columns: Program, budget: dict[str, float]) -> Optimum:
    """Solve one program and make a design from its solution."""
    limited, start = apply_budgets(task, columns, budget)
    solution = _solved(task, limited, start)
    x, proved = _designed(task, limited, solution)
    if proved > _ACCEPTED:
        _refuse_or_warn(task, budget, limited, start, proved)
    design = _design(task, limited, x)
    return Optimum(
        design=design,
        criterion=task.criterion,
        over=task.over,
        w=read_only(task.w),
        budget=budget,
        loss=measure.loss(design, task.w, task.criterion, task.worst),
        gap=proved,
        leakage=measure.leakage(design, task.w),
        uniform_loss=np.nan if columns.p < 4 else _compared(task, uniform),
        direct_loss=_compared(task, nonprivate),
        steps=solution.steps,
        solver=task.solver,
    )


def _compared(task: DesignTask, make: Callable[[Any], Design]) -> float:
    return measure.loss(make(task.categories.labels), task.w, task.criterion, task.worst)


def _solved(task: DesignTask, limited: Program, start: FloatArray) -> CertifiedSolution:
    if task.solver == "conic":
        return conic.solve(limited, task.criterion, task.worst, tol=task.tol, max_iter=task.max_iter)
    return interior.solve(
        limited, task.criterion, task.worst, start, tol=task.tol, max_iter=task.max_iter, progress=task.progress
    )


def _designed(task: DesignTask, limited: Program, solution: CertifiedSolution) -> tuple[FloatArray, float]:
    """Return shortened weights with their certificate, or the original ones if shortening costs too much."""
    x = shorten(limited, solution)
    proved = _proved(task, limited, solution, x)
    if proved > 10 * task.tol and task.solver == "interior":  # the reference solution stays unchanged
        polished = _polished(task, limited, solution, x)
        if polished is not None and polished[1] < proved:
            x, proved = polished
    if proved <= max(10 * solution.gap, _SHORT):
        return x, proved
    x = exact(limited, solution.x)
    return x, _proved(task, limited, solution, x)


def _polished(
    task: DesignTask, limited: Program, solution: CertifiedSolution, x: FloatArray
) -> tuple[FloatArray, float] | None:
    """Minimize again on the columns of the shortened weights, to remove the effect of dropped columns."""
    kept = np.flatnonzero(x)
    few = limited.restricted(kept)
    start = inside(few) if np.linalg.matrix_rank(few.V) == few.p - 1 else None
    if start is None:
        return None
    last = interior.solve(few, task.criterion, task.worst, start, tol=task.tol / 10, max_iter=task.max_iter)
    polished = np.zeros(len(x))
    polished[kept] = shorten(few, last)
    return polished, min(_proved(task, limited, solution, polished), _proved(task, limited, last, polished))


def _proved(task: DesignTask, limited: Program, solution: CertifiedSolution, x: FloatArray) -> float:
    """Return the certified gap of weights, with the multipliers of a nearby solution or else the best ones."""
    at = expand(limited, task.criterion, x)
    if at is None or x.min() < 0:
        return np.inf

    def relative(y: FloatArray, lam: FloatArray) -> float:
        absolute = gap(limited, at, x, solution.shares, y, lam)
        return max(relative_gap(task.criterion, at, solution.shares, task.worst, absolute), 0.0)

    near = relative(solution.y, solution.lam)
    # A linear program gives the best multipliers, which matter if a small budget makes them large.
    return near if near <= 10 * task.tol else min(near, relative(*multipliers(limited, solution.shares @ at.slopes)))


def _design(task: DesignTask, limited: Program, x: FloatArray) -> Design:
    kept = np.flatnonzero(x > 0)
    weights = dict(zip(limited.codes[kept].tolist(), x[kept].tolist(), strict=True))
    make = independent if task.kind == "independent" else conditional
    return make(task.categories.labels, weights).require_identifiable()


def _refuse_or_warn(
    task: DesignTask, budget: dict[str, float], limited: Program, start: FloatArray, proved: float
) -> None:
    """Raise if a budget is so small that rounding dominates, else warn."""
    if len(limited.h) and (limited.h - limited.G @ start).min() < _CRAMPED:
        budgets = ", ".join(f"{metric} {value:g}" for metric, value in budget.items())
        raise ArgumentError(
            f"`budget` must be further above the least that can leak, where the loss is infinite; got {budgets}.",
            A_THOUSANDTH_MORE,
        )
    warnings.warn(
        ConvergenceWarning(
            f"optimal stopped with a certified gap of {proved:.1e}: that share of the loss might still be saved.",
            MORE_STEPS,
        ),
        stacklevel=4,
    )


def shorten(program: Program, solution: CertifiedSolution) -> FloatArray:
    """Return weights as good as those of the solution, on few columns.

    Notes
    -----
    Any weights with the same information matrices, equalities and budgets are equally good. Non-negative least squares
    finds such weights among the columns that do not vanish in the limit, on at most as many columns as there are
    conditions: p(p-1)/2 per w and a few more. If fewer columns remain, it compensates for the dropped ones.
    """
    kept = np.flatnonzero(solution.x > solution.slack)
    x = _few(_numbers(program), solution.x, kept)
    return exact(program, np.where(x > _RARE * x.max(), x, 0.0))


def _numbers(program: Program) -> FloatArray:
    """Return the rows whose products with the weights must be preserved."""
    i, j, _ = program.pairs
    products = np.ascontiguousarray(program.V.T)[i] * program.V.T[j]
    return np.concatenate([*(products * c for c in program.c), program.A, program.G])


def _few(rows: FloatArray, x: FloatArray, kept: IntArray) -> FloatArray:
    """Return weights on few of the columns `kept` that have the same products as x."""
    scaled = rows / (np.linalg.norm(rows * x, axis=1) + 1e-300)[:, None]
    few = np.zeros(len(x))
    try:
        few[kept], _ = nnls(scaled[:, kept], scaled @ x, maxiter=3 * len(kept) + 10 * len(rows))
    except RuntimeError:  # no convergence: the long design is valid too
        few[kept] = x[kept]
    return few


def exact(program: Program, x: FloatArray) -> FloatArray:
    """Return weights that meet the equalities and the used-up budgets to full precision."""
    out, kept = np.zeros(len(x)), np.flatnonzero(x)
    A, G, weights = program.A[:, kept], program.G[:, kept], x[kept]
    for _ in range(3):  # meeting some budgets may use up others
        tight = program.h - G @ weights < _TIGHT
        d = np.concatenate([np.ones(len(A)), program.h[tight] - _MARGIN])
        weights = meet(np.concatenate([A, G[tight]]), d, weights)
    out[kept] = weights
    return out
