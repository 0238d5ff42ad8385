"""Feasible budgets, and feasible weights to start from, by small linear programs."""

from typing import Any

import numpy as np
from attrs import frozen
from scipy.optimize import linprog

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.optimizing.program import Program

_EQUAL = 1e-9  # a budget this close to the least possible is treated as equal to it
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@frozen(eq=False)
class Extreme:
    """The least value of a leakage, as a number linear in the weights, and the columns that can attain it.

    `face` is None if other budgets or several w's limit it too.
    """

    value: float
    face: IntArray | None


def inside(program: Program) -> FloatArray | None:
    """Return strictly positive weights strictly within the budgets, or None if there are none.

    Notes
    -----
    The weights with the most slack in the tightest budget are a vertex. They are mixed with weights on all columns,
    as far as half of that slack allows.
    """
    middle = _middle(program)
    if middle is None or not len(program.h):
        return middle
    rows, columns = program.G.shape
    best = _lp(
        np.append(np.zeros(columns), -1.0),
        A_ub=np.column_stack([program.G, np.ones(rows)]),
        b_ub=program.h,
        A_eq=np.column_stack([program.A, np.zeros(len(program.A))]),
        bounds=[(0, None)] * columns + [(None, None)],
    )
    vertex = np.maximum(best.x[:-1], 0.0)
    room, there = program.h - program.G @ vertex, program.h - program.G @ middle
    if room.min() <= _EQUAL:
        return None
    short = there < room / 2
    share = float((room[short] / 2 / (room[short] - there[short])).min(initial=1.0))
    return (1 - share) * vertex + share * middle


def _middle(program: Program) -> FloatArray | None:
    """Return positive weights that meet the equalities: equal weights, or those with the largest minimum."""
    totals = program.A.sum(axis=1)
    if np.ptp(totals) <= 1e-9 * totals[0]:
        return np.full(len(program.codes), 1 / totals[0])
    # With x = rest + t, maximize t.
    best = _lp(np.append(np.zeros(len(program.codes)), -1.0), A_eq=np.column_stack([program.A, totals]))
    if best.status != 0 or best.x[-1] <= _EQUAL / len(program.codes):
        return None
    return np.maximum(best.x[:-1], 0.0) + best.x[-1]


def least(program: Program, metric: str) -> Extreme:
    """Return the least leakage by one metric, at the worst w, within the budgets of the program."""
    rows = program.leaks[metric]
    columns = len(program.codes)
    if len(rows) == 1:
        best = _lp(rows[0], A_ub=program.G, b_ub=program.h, A_eq=program.A)
        limited = np.abs(best.ineqlin.marginals).max(initial=0) > _EQUAL
        face = None if limited else np.flatnonzero(best.lower.marginals <= _EQUAL)
        return Extreme(float(best.fun), face)
    best = _lp(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.block([[rows, -np.ones((len(rows), 1))], [program.G, np.zeros((len(program.G), 1))]]),
        b_ub=np.concatenate([np.zeros(len(rows)), program.h]),
        A_eq=np.column_stack([program.A, np.zeros(len(program.A))]),
    )
    return Extreme(float(best.fun), None)


def most(program: Program, metric: str) -> float:
    """Return the largest leakage by one metric, as a number linear in the weights, at the worst w."""
    return max(-float(_lp(-row, A_ub=program.G, b_ub=program.h, A_eq=program.A).fun) for row in program.leaks[metric])


def multipliers(program: Program, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return y and lam for `criterion.gap`: the multipliers of the linear program that minimizes the slope."""
    unit = float(np.abs(slope).max())
    best = _lp(slope / unit, A_ub=program.G, b_ub=program.h, A_eq=program.A)
    return -unit * best.eqlin.marginals, unit * np.maximum(-best.ineqlin.marginals, 0.0)


def _lp(cost: FloatArray, *, A_eq: FloatArray, **options: Any) -> Any:
    if "A_ub" in options and not len(options["A_ub"]):
        options |= {"A_ub": None, "b_ub": None}
    solution = linprog(cost, A_eq=A_eq, b_eq=np.ones(len(A_eq)), method="highs", options=_OPTIONS, **options)
    return solution
