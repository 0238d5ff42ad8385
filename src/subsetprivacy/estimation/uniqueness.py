r"""Whether the likelihood of a sample has one maximum (`unique`).

All maxima give the observed subsets the same sizes L(a). So w is unique if and only if no nonzero change d has
:math:`r_a^\top d = 0` for every observed subset, :math:`\sum_j d_j = 0`, and :math:`d_j \ge 0` where :math:`w_j = 0`.
These conditions also determine which categories must stay at zero because their score is below one, without a cutoff.
"""

import numpy as np

from subsetprivacy._types import AnyArray, BoolArray, FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design.identify import null_direction
from subsetprivacy.estimation.likelihood import MANY, clearly_regular, score
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.incidence import DenseRows

_ZERO = 1e-6  # tolerance for weights, and for scores below one
_FINE = 1e-14  # the gap at which a zero weight can be told from one that is still decreasing


def flat_direction(counts: SubsetCounts, w: FloatArray) -> AnyArray | None:
    """Return a direction to other maxima, or None if w is unique.

    If the rows span the space, or if the columns of all categories with a score of one are independent, w is unique.
    Otherwise, categories with weight can exchange it if their columns are dependent. If these are independent, a linear
    program determines whether other categories can gain weight.
    """
    p, inc = counts.categories.p, counts.incidence
    if len(counts.observed_codes) >= p and clearly_regular(inc.gram(np.ones(len(counts.n_a)))):
        return None
    w = _refined(counts, w)
    tied = score(inc, counts.shares, w) > 1 - _ZERO
    positive = (w > _ZERO) & tied
    columns = inc.inner(np.eye(p)).T
    if null_direction(DenseRows(columns[:, tied])) is None:
        return None
    direction = null_direction(DenseRows(columns[:, positive]))
    if direction is None:
        return _gain_from_zero(columns, tied, positive)
    out = np.zeros(p, direction.dtype)
    out[positive] = direction
    return out


def _refined(counts: SubsetCounts, w: FloatArray) -> FloatArray:
    """Return the maximum to full precision, so that zero weights are exactly zero.

    Iterations that stop early, especially EM, leave small weights. Newton's method ends on the face.
    """
    p = counts.categories.p
    if p > MANY:
        return w
    return newton(counts.incidence, counts.shares, start=lifted(w, 1e-3 / p), tol=_FINE).w


def _gain_from_zero(columns: FloatArray, tied: BoolArray, positive: BoolArray) -> AnyArray | None:
    """Return a change that gives weight to zero categories and changes no row, or None.

    The changes form a cone. With every gain at most one, the largest sum of gains is 0, or at least 1.
    """
    from scipy.optimize import linprog

    # Since d sums to zero, rows may be shifted and scaled: rows with dummies or a secret bit become 0/1.
    moved = columns - columns.min(axis=1, keepdims=True)
    rows = np.unique(moved[:, tied] / np.maximum(moved.max(axis=1, keepdims=True), _ZERO), axis=0)
    equal = np.vstack([rows, np.ones(rows.shape[1])])
    if len(equal) > len(equal.T):
        equal = np.asarray(np.linalg.qr(equal, mode="r"))
    zero = ~positive[tied]
    bounds = [(0, 1) if at_zero else (None, None) for at_zero in zero]
    solution = linprog(-zero.astype(np.float64), A_eq=equal, b_eq=np.zeros(len(equal)), bounds=bounds, method="highs")
    if solution.x is None or solution.x[zero].sum() < 0.5:
        return None
    out = np.zeros(len(tied))
    out[tied] = solution.x
    return _whole(out)


def _whole(direction: FloatArray) -> AnyArray:
    """Return a direction in whole numbers if the smallest entry divides all others, else unchanged."""
    seen = np.abs(direction) > _ZERO
    scaled = np.where(seen, direction / np.abs(direction[seen]).min(), 0.0)
    near = np.rint(scaled)
    return near.astype(np.int64) if np.allclose(scaled, near, atol=1e-6) else scaled
