"""Reduce weights on all columns to a design with few subsets that meets all conditions exactly."""

import numpy as np
from scipy.optimize import nnls

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.optimizing.interior import CertifiedSolution, meet
from subsetprivacy.optimizing.program import Program

_RARE = 1e-7  # a weight below this share of the largest is rounding, or a question that is practically never asked
_TIGHT = 1e-9  # a budget with less slack, in units of its largest coefficient, is used up
_MARGIN = 1e-12  # slack of used-up budgets, so that rounding does not exceed them


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
