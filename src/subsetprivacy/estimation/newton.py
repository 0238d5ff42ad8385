r"""Newton's method with an active set for :math:`\max_w \sum_a f_a \ln 1_a^\top w` on the simplex (`obj`).

The likelihood is homogeneous, so a penalty can replace the constraint :math:`\sum w = 1`:
:math:`\phi(w) = \sum_a f_a \ln L_a - \sum_j w_j` has the same maximizer over :math:`w \ge 0`,
and this maximizer sums to one. Each step maximizes the quadratic model
:math:`(2s-1)^\top x - x^\top H x/2` over :math:`x \ge 0` (with :math:`Hw = s`), followed by a
line search. Rows c 1_a + d 1 and Kronecker rows are homogeneous too, so the same code works
for every design.
"""

import numpy as np
from attrs import frozen
from scipy.linalg.lapack import dposv, dpotrs

from subsetprivacy._types import FloatArray
from subsetprivacy.incidence import Incidence

TOLERANCE = 1e-9
MAX_ITERATIONS = 200
_EM_STEPS = 4  # without a start, a few EM steps come close enough for full Newton steps
_FAST = 1e-2  # if a step reduces the gap to this fraction, H has hardly changed and its factor is reused


@frozen
class SimplexMaximum:
    """The end of an iteration: the distribution, its certificate and the history."""

    w: FloatArray
    gap: float
    iterations: int
    converged: bool
    trace: tuple[float, ...]


def newton(
    inc: Incidence,
    f: FloatArray,
    *,
    start: FloatArray | None = None,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITERATIONS,
) -> SimplexMaximum:
    """Maximize the mean log-likelihood of shares f > 0 over the simplex, to a certified gap of `tol`."""
    w = np.full(inc.p, 1 / inc.p) if start is None else start
    # One EM step even from a good start: it takes all weight from a category in no observed subset.
    em_steps = _EM_STEPS if start is None else 1
    L = inc.inner(w)
    gaps: list[float] = []
    factor = None
    while True:
        y = f / L
        s = inc.spread(y)
        # The certificate of w divided by its sum, which is returned.
        total = w.sum()
        gap = float(s[s.argmax()] * total - 1)
        if em_steps and gap > tol:
            em_steps -= 1
            w = w * s
            L = inc.inner(w)
            continue
        gaps.append(gap)
        if gap <= tol or len(gaps) > max_iter:
            break
        x = _step_again(factor, s, w) if factor is not None and gap < _FAST * gaps[-2] else None
        if x is None:
            x, factor = maximize_quadratic(inc.gram(y / L), s + s - 1, w)
        reached = inc.inner(x)
        ratio = reached / L
        # ln(1+t) >= t - t²/2 for t >= 0, so only decreasing entries can fall short of the model.
        if _least(ratio) > 0.7:
            w, L = x, reached
            continue
        t = step_length(f, ratio - 1, s, x - w)
        if t == 0:  # no progress is possible in floating point
            break
        w = w + t * (x - w)
        L = L + t * (reached - L)
    return SimplexMaximum(w / total, max(gap, 0.0), len(gaps) - 1, gap <= tol, tuple(gaps))


def _least(values: FloatArray) -> float:
    return values[values.argmin()]  # .min() takes three times as long, a tenth of the time of a step


def maximize_quadratic(H: FloatArray, c: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Return argmax of c'x - x'Hx/2 over x >= 0, and the Cholesky factor of H if the maximum is unconstrained."""
    factor, z, info = dposv(H, c)
    if info == 0 and _least(z) >= 0:
        return z, factor
    return _active_set(H, c, x), None


def _step_again(factor: FloatArray, s: FloatArray, w: FloatArray) -> FloatArray | None:
    """Return w + H^-1 (s - 1), with the factor of an earlier H, or None if an entry is negative."""
    x = w + dpotrs(factor, s - 1)[0]
    return x if _least(x) >= 0 else None


def _active_set(H: FloatArray, c: FloatArray, x: FloatArray) -> FloatArray:
    """Return argmax of c'x - x'Hx/2 over x >= 0, from a feasible x (Lawson and Hanson 1974)."""
    free, entered = x > 0, x
    for _ in range(3 * len(c) + 10):
        index = free.nonzero()[0]
        z = np.zeros(len(c))
        z[index] = _solve(H.take(index, 0).take(index, 1), c[index], entered[index])
        if _least(z) < 0:
            blocking = (z < 0).nonzero()[0]
            ratios = x[blocking] / (x[blocking] - z[blocking])
            x = np.maximum(x + ratios.min() * (z - x), 0.0)
            x[blocking[ratios.argmin()]] = 0.0
            free = free & (x > 0)
            continue
        x = z
        dual = c - H.dot(x)
        dual[index] = -np.inf
        j = int(dual.argmax())
        if dual[j] <= 1e-12:
            break
        free = free.copy()
        free[j] = True
    return x


def _solve(H: FloatArray, c: FloatArray, here: FloatArray) -> FloatArray:
    """Return the z with Hz = c; if H is flat in some direction, the solution close to `here`.

    In that case H is scaled to a unit diagonal, since counts may span many
    orders of magnitude. The ridge pulls towards `here`, so the maximum
    remains a fixed point.
    """
    _, z, info = dposv(H, c)
    if info == 0:
        return z
    d = 1 / np.sqrt(np.maximum(H.diagonal(), 1e-300))
    S = H * d * d[:, None]
    ridge = 1e-14
    while info and ridge < 1:
        ridge *= 100
        _, z, info = dposv(S + ridge * np.eye(len(c)), c * d + ridge * here / d)
    return z * d


def step_length(f: FloatArray, change: FloatArray, s: FloatArray, d: FloatArray) -> float:
    """Return the longest of 1, 1/2, 1/4, … with enough gain; `change` is the relative change of every L(a).

    Gain and slope are those of the penalty form, in which rounding errors in
    the sum of d cancel. Near the maximum, nothing else is left.
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
