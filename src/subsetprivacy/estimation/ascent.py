r"""Projected gradient steps for :math:`\max_w \sum_a f_a \ln 1_a^\top w` on the simplex (`obj`), without a matrix.

Where yes/no questions split the weight evenly, as Hadamard rows do, minus the Hessian :math:`\sum_a f_a/L_a^2\, 1_a
1_a^\top` is close to the identity along the simplex. A projected gradient step of length one is therefore close to a
Newton step. From the uniform distribution, the first step lands close to the projected moment estimate, and a few more
reach the maximum. EM moves by :math:`w_j(s_j - 1)` instead of :math:`s_j - 1`, so its steps are about p times too
short.

Each step needs one call of `inner`, one of `spread`, and a few vectors.
"""

from collections.abc import Callable

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.estimation.newton import SimplexMaximum, step_length
from subsetprivacy.estimation.simplex import project
from subsetprivacy.incidence import Incidence

MAX_STEPS = 5000
_LONGEST = 1e6  # the longest step; where the likelihood is flat along the last step, no finite length is right
_NO_WEIGHT = 1e-12  # far above the rounding errors of a transform


def ascend(
    inc: Incidence,
    f: FloatArray,
    *,
    start: FloatArray | None = None,
    tol: float = 1e-6,
    max_iter: int = MAX_STEPS,
    progress: Callable[[int, float], None] | None = None,
) -> SimplexMaximum:
    r"""Maximize the mean log-likelihood of shares f > 0 over the simplex, to a certified gap of `tol`.

    Parameters
    ----------
    inc, f
        The rows of the observed subsets and the share of each.
    start
        A distribution, which may have zeros; by default the uniform one.
    tol
        The gap to reach, a bound on the log-likelihood per person still to gain.
    max_iter
        The maximum number of steps.
    progress
        Called with the number of steps done and the gap, before each step and at the end.

    Notes
    -----
    A step goes from w towards :math:`\Pi(w + \lambda s)`, the point of the simplex nearest to a gradient step, as far
    as the likelihood increases enough, so the likelihood never decreases. With :math:`\Delta` for the changes by the
    last step, the next step has :math:`\lambda = \Delta w^\top \Delta w / (-\Delta w^\top \Delta s)` (Barzilai and
    Borwein 1988). If the observed subsets have very different weights, hundreds of steps may be needed.
    """
    w, L = _begin(inc, start)
    s = inc.spread(f / L)
    length = 1.0
    gaps: list[float] = []
    while True:
        gap = float(s.max() - s @ w)
        gaps.append(gap)
        if progress is not None:
            progress(len(gaps) - 1, gap)
        if gap <= tol or len(gaps) > max_iter:
            break
        x = project(w + length * (s - s.max()))  # subtracting a constant only improves rounding
        step = x - w
        change = inc.inner(step)  # not as a difference of two L, since all digits are needed near the maximum
        t = step_length(f, change / L, s, step)
        if t == 0:  # no progress is possible in floating point
            break
        if t < 1:
            step, change = t * step, t * change
        w, L = x if t == 1 else w + step, L + change
        before, s = s, inc.spread(f / L)
        length = _next_length(step, before - s)
    return SimplexMaximum(w, max(gap, 0.0), len(gaps) - 1, gap <= tol, tuple(gaps))


def _begin(inc: Incidence, start: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return a distribution that gives every observed subset weight, and these weights."""
    uniform = np.full(inc.p, 1 / inc.p)
    w = uniform if start is None else start / start.sum()
    L = inc.inner(w)
    if L.min() > _NO_WEIGHT:
        return w, L
    w = (w + uniform) / 2
    return w, inc.inner(w)


def _next_length(step: FloatArray, change: FloatArray) -> float:
    """Return the best length in hindsight for the last step; `change` is the decrease of the score."""
    curvature = float(step @ change)
    square = float(step @ step)
    return square / curvature if curvature * _LONGEST > square else _LONGEST
