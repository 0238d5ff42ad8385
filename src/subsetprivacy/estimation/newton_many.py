r"""Newton's method for a batch of samples with the same rows.

A step is that of `newton`, for a whole batch: maximize the quadratic model of the penalty form over :math:`x \ge 0`,
then do a line search. Block pivoting maximizes the model: it fixes negative entries at zero and releases those that
should grow. This almost always takes two or three solves. The few samples that do not reach their certificate are left
to `newton`.
"""

from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import BoolArray, FloatArray, IntArray
from subsetprivacy.estimation.newton import TOLERANCE, newton
from subsetprivacy.incidence import Cells, Listable

_STEPS = 25
_PIVOTS = 6
_HALVINGS = 30
_RIDGE = 1e-12  # relative to the largest diagonal entry, since a sample may have a flat direction


@frozen
class SimplexMaxima:
    """The ends of the iterations of a batch, a row per sample."""

    w: FloatArray
    gap: FloatArray


def newton_many(
    inc: Listable, f: FloatArray, *, start: FloatArray | None = None, tol: float = TOLERANCE
) -> SimplexMaxima:
    """Maximize the mean log-likelihood of every row of shares over the simplex, to a certified gap of `tol`.

    Parameters
    ----------
    inc
        The rows of the subsets.
    f
        Shares, shape (samples, rows of inc); zeros are allowed.
    start
        A distribution to start all samples from; by default the uniform one.
    tol
        The gap to reach.
    """
    begin = np.full(inc.p, 1 / inc.p) if start is None else start
    w = np.tile(begin, (len(f), 1))
    L = inc.inner(w)
    gap = np.full(len(f), np.inf)
    open_ = np.arange(len(f))
    for _ in range(_STEPS):
        y = _ratio(f[open_], L[open_])
        s = inc.spread(y)
        gap[open_] = s.max(axis=1) * w[open_].sum(axis=1) - 1
        left = gap[open_] > tol
        open_, y, s = open_[left], y[left], s[left]
        if not len(open_):
            break
        here, sizes, shares = w[open_], L[open_], f[open_]
        x = _maximize(inc.gram(_ratio(y, sizes)), s - 1, here)
        change = inc.inner(x - here)
        t = _lengths(shares, _ratio(change, sizes, shares > 0), s - 1, x - here)
        w[open_] = here + t[:, None] * (x - here)
        L[open_] = sizes + t[:, None] * change
    for k in open_:
        w[k], gap[k] = _fit_one(inc, f[k], tol)
    return SimplexMaxima(w / w.sum(axis=1, keepdims=True), np.maximum(gap, 0.0))


def _ratio(top: FloatArray, bottom: FloatArray, where: Any = None) -> FloatArray:
    """Return top / bottom, and 0 where no one reported the subset."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=top > 0 if where is None else where)


def _maximize(H: FloatArray, g: FloatArray, w: FloatArray) -> FloatArray:
    """Return, for each sample, an approximate argmax of g'(x - w) - (x - w)'H(x - w)/2 over x >= 0."""
    p = H.shape[-1]
    diagonal = np.einsum("bii->bi", H)
    ridge = _RIDGE * diagonal.max(axis=1, keepdims=True)
    c = g + np.einsum("bij,bj->bi", H, w)
    fixed: BoolArray = (w <= 0) & (g < 0)
    x = np.zeros_like(w)
    open_: IntArray = np.arange(len(w))
    for _ in range(_PIVOTS):
        at_zero = fixed[open_]
        free = ~at_zero
        A = H[open_] * (free[:, :, None] & free[:, None, :])
        A[:, np.arange(p), np.arange(p)] = np.where(at_zero, 1.0, diagonal[open_] + ridge[open_])
        z = np.linalg.solve(A, np.where(at_zero, 0.0, c[open_] + ridge[open_] * w[open_])[..., None])[..., 0]
        x[open_] = z
        negative = z < 0
        any_negative = negative.any(axis=1, keepdims=True)
        rather = at_zero & ~any_negative & (c[open_] - np.einsum("bij,bj->bi", H[open_], z) > 1e-12)
        fixed[open_] = (at_zero | negative) & ~rather
        open_ = open_[(any_negative | rather.any(axis=1, keepdims=True))[:, 0]]
        if not len(open_):
            break
    return np.maximum(x, 0.0)


def _lengths(f: FloatArray, change: FloatArray, g: FloatArray, d: FloatArray) -> FloatArray:
    """Return for each sample the longest of 1, 1/2, 1/4, … with enough gain; 0 where there is none."""
    t = np.ones(len(f))
    slope, growth, worst = (g * d).sum(axis=1), d.sum(axis=1), change.min(axis=1)
    open_: IntArray = np.arange(len(f))
    for _ in range(_HALVINGS):
        length = t[open_]
        moved = np.maximum(length[:, None] * change[open_], -0.99)
        gain = np.einsum("bc,bc->b", f[open_], np.log1p(moved)) - length * growth[open_]
        enough = (gain >= 1e-4 * length * slope[open_]) & (length * worst[open_] > -0.99)
        open_ = open_[~enough]
        if not len(open_):
            return t
        t[open_] /= 2
    t[open_] = 0.0
    return t


def _fit_one(inc: Listable, f: FloatArray, tol: float) -> tuple[FloatArray, float]:
    """Fit one sample that did not converge in the batch."""
    seen = np.flatnonzero(f)
    solution = newton(Cells(inc, seen), f[seen], tol=tol)
    return solution.w, solution.gap
