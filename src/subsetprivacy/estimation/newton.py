r"""Newton's method with an active set for :math:`\max_w \sum_a f_a \ln 1_a^\top w` on the simplex (`obj`).

The likelihood is homogeneous, so the constraint :math:`\sum w = 1` can be traded
for a penalty: :math:`\phi(w) = \sum_a f_a \ln L_a - \sum_j w_j` has the same maximiser over
:math:`w \ge 0`, and the maximiser sums to one by itself. Each step maximises the
quadratic model :math:`(2s-1)^\top x - x^\top H x/2` over :math:`x \ge 0` (with :math:`Hw = s`), then
searches along the way there. Rows c 1_a + d 1 and Kronecker rows are
homogeneous too, so the same code serves every design.
"""

import numpy as np
from attrs import frozen
from scipy.linalg.lapack import dposv

from subsetprivacy._types import FloatArray
from subsetprivacy.incidence import Incidence

TOLERANCE = 1e-9
MAX_ITERATIONS = 200
_EM_STEPS = 4  # from nowhere, a few steps of EM bring the start near enough for full Newton steps
_least = np.minimum.reduce  # an array's .min() costs a microsecond more, a tenth of a step
_most = np.maximum.reduce


@frozen
class Solution:
    """Where an iteration ended: the distribution, its certificate and how it went.

    `regular` says that the rows are known to span the space, so that the
    maximiser is unique; False means only that this is not known.
    """

    w: FloatArray
    gap: float
    iterations: int
    converged: bool
    trace: tuple[float, ...]
    regular: bool = False


def newton(
    inc: Incidence,
    f: FloatArray,
    *,
    start: FloatArray | None = None,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITERATIONS,
) -> Solution:
    """Maximise the mean log-likelihood of shares f > 0 over the simplex, to a certified gap of `tol`."""
    # Even from a good start one step: it takes all weight from a category that no observed subset holds.
    w = _warm_up(inc, f, np.full(inc.p, 1 / inc.p), _EM_STEPS) if start is None else _warm_up(inc, f, start, 1)
    L = inc.inner(w)
    gaps: list[float] = []
    factor, info = None, 0
    while True:
        y = f / L
        s = inc.spread(y)
        # The certificate of w divided by its sum, which is what is returned.
        total = w.sum()
        gaps.append(float(_most(s) * total - 1))
        if gaps[-1] <= tol or len(gaps) > max_iter:
            break
        x, factor = _maximise_quadratic(inc.gram(y / L), s + s - 1, w)
        reached = inc.inner(x)
        ratio = reached / L
        # ln(1+t) >= t - t²/2 for t >= 0: only what shrinks can fall short of the model.
        if _least(ratio) > 0.7:
            w, L = x, reached
            continue
        t = step_length(f, ratio - 1, s, x - w)
        if t == 0:  # no progress is possible in floating point
            break
        w = w + t * (x - w)
        L = L + t * (reached - L)
    if factor is None:  # arrived at once, or H has no factor
        factor, _, info = dposv(inc.gram(y / L), s)
    regular = not info and _is_regular(factor)
    return Solution(w / w.sum(), max(gaps[-1], 0.0), len(gaps) - 1, gaps[-1] <= tol, tuple(gaps), regular)


def _warm_up(inc: Incidence, f: FloatArray, w: FloatArray, steps: int) -> FloatArray:
    for _ in range(steps):
        w = w * inc.spread(f / inc.inner(w))
    return w


def _is_regular(factor: FloatArray) -> bool:
    """Tell whether a Cholesky factor is that of a matrix well away from the singular ones."""
    pivots = factor.diagonal()
    return bool(_least(pivots) > 1e-5 * _most(pivots))


def _maximise_quadratic(H: FloatArray, c: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Return argmax of c'x - x'Hx/2 over x >= 0, and a Cholesky factor of H if it has one."""
    factor, z, info = dposv(H, c)
    if info == 0 and _least(z) >= 0:
        return z, factor
    return _active_set(H, c, x), None if info else factor


def _active_set(H: FloatArray, c: FloatArray, x: FloatArray) -> FloatArray:
    """Return argmax of c'x - x'Hx/2 over x >= 0, from a feasible x (Lawson and Hanson 1974)."""
    free = x > 0
    for _ in range(3 * len(c) + 10):
        index = np.flatnonzero(free)
        z = np.zeros(len(c))
        z[index] = _solve(H[np.ix_(index, index)], c[index])
        if _least(z) < 0:
            blocking = np.flatnonzero(z < 0)
            ratios = x[blocking] / (x[blocking] - z[blocking])
            x = np.maximum(x + ratios.min() * (z - x), 0.0)
            x[blocking[ratios.argmin()]] = 0.0
            free = free & (x > 0)
            continue
        x = z
        dual = np.where(free, -np.inf, c - H @ x)
        j = int(dual.argmax())
        if dual[j] <= 1e-12:
            break
        free = free.copy()
        free[j] = True
    return x


def _solve(H: FloatArray, c: FloatArray) -> FloatArray:
    _, z, info = dposv(H, c)
    ridge = 1e-14
    while info and ridge < 1:  # flat in some direction: the smallest ridge that makes the step well defined
        ridge *= 100
        _, z, info = dposv(H + (ridge * H.trace() + 1e-300) * np.eye(len(c)), c)
    return z


def step_length(f: FloatArray, change: FloatArray, s: FloatArray, d: FloatArray) -> float:
    """Return the longest of 1, 1/2, 1/4, … with enough gain; `change` is the relative change of every L(a).

    Gain and slope are those of the penalty form, in which a rounding error
    in the sum of d cancels: near the maximum it is all that is left.
    """
    slope, growth = float((s - 1) @ d), float(d.sum())
    worst = float(_least(change))
    t = 1.0
    while t > 1e-12:
        if t * worst > -0.99:
            gain = float(f @ np.log1p(t * change)) - t * growth
            if gain >= 1e-4 * t * slope:
                return t
        t /= 2
    return 0.0
