"""From weights on all columns to a short design that is exactly one."""

import numpy as np
from scipy.optimize import nnls

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.optimizing.interior import CertifiedSolution, meet
from subsetprivacy.optimizing.program import Program

_RARE = 1e-7  # a weight below this share of the largest is rounding, or a question that nobody will ever be asked
_TIGHT = 1e-9  # a budget with less room than this, in units of its largest coefficient, is used up
_MARGIN = 1e-12  # and is missed by this much, so that no rounding exceeds it


def shorten(program: Program, solution: CertifiedSolution) -> FloatArray:
    """Return weights as good as those of the solution on as few columns as can be.

    Notes
    -----
    Any weights with the same information matrices, equalities and budgets are as good. Non-negative least squares
    finds some on at most as many columns as there are such numbers, p(p-1)/2 per w and a few, among the columns that
    do not vanish in the limit; where these are fewer, it makes up for what the others had.
    """
    kept = np.flatnonzero(solution.x > solution.slack)
    x = _few(_numbers(program), solution.x, kept)
    return exact(program, np.where(x > _RARE * x.max(), x, 0.0))


def _numbers(program: Program) -> FloatArray:
    """Return the rows whose products with the weights are all that matters of them."""
    i, j, _ = program.pairs
    products = np.ascontiguousarray(program.V.T)[i] * program.V.T[j]
    return np.concatenate([*(products * c for c in program.c), program.A, program.G])


def _few(rows: FloatArray, x: FloatArray, kept: IntArray) -> FloatArray:
    """Return weights on few of the columns `kept` that have the same numbers as x."""
    scaled = rows / (np.linalg.norm(rows * x, axis=1) + 1e-300)[:, None]
    few = np.zeros(len(x))
    try:
        few[kept], _ = nnls(scaled[:, kept], scaled @ x, maxiter=3 * len(kept) + 10 * len(rows))
    except RuntimeError:  # no end in sight: the long design is right as well
        few[kept] = x[kept]
    return few


def exact(program: Program, x: FloatArray) -> FloatArray:
    """Return weights that meet the equalities, and the budgets that are used up, to the last digits."""
    out, kept = np.zeros(len(x)), np.flatnonzero(x)
    A, G, weights = program.A[:, kept], program.G[:, kept], x[kept]
    for _ in range(3):  # meeting some may use up others
        tight = program.h - G @ weights < _TIGHT
        d = np.concatenate([np.ones(len(A)), program.h[tight] - _MARGIN])
        weights = meet(np.concatenate([A, G[tight]]), d, weights)
    out[kept] = weights
    return out
