r"""The chord method: many constrained maxima near the peak, with one inverse for all steps.

Every point of a profile maximizes the same likelihood a few standard errors from the peak, where the Hessian H has
hardly changed. So a step maximizes :math:`s^\top\delta - \delta^\top H\delta/2` with the H of the peak,
over changes that sum to zero, keep the fixed share, and leave no other share negative. With
:math:`V = H^{-1} - H^{-1}11^\top H^{-1}/1^\top H^{-1}1` the solution is :math:`V(s + E\mu)`, where E selects the fixed
categories and :math:`\mu` solves a linear system of that size. A step costs two products with the rows and one with V
instead of a new factorization.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.estimation.newton import step_length
from subsetprivacy.incidence import Incidence

_STEPS = 40
_PIVOTS = 12
_KEPT = 16  # factors


class NoChordsError(Exception):
    """The Hessian at the peak has no safe inverse."""


class Chords:
    """Steps towards constrained maxima, with the Hessian at the peak."""

    def __init__(self, inc: Incidence, f: FloatArray, w: FloatArray, L: FloatArray) -> None:
        self._inc, self._f, self._peak = inc, f, w
        H = inc.gram(f / L**2)
        factor, info = dpotrf(H)
        pivots = factor.diagonal()
        if info or pivots.min() < 1e-5 * pivots.max():
            raise NoChordsError
        upper, _ = dpotri(factor)
        inverse = np.triu(upper) + np.triu(upper, 1).T
        sums = inverse.sum(axis=0)
        self._V = inverse - np.outer(sums, sums) / sums.sum()

        self._factors: dict[bytes, FloatArray] = {}

    def information(self, j: int, w: FloatArray) -> tuple[float, FloatArray]:
        """Return the information about share j with the others estimated and zeros fixed, and its direction."""
        at = w <= 0
        at[j] = False
        column = self._with_fixed(self._V[:, j], at.nonzero()[0], 0.0)[0]
        return (1 / float(column[j]), column / column[j]) if column[j] > 0 else (0.0, np.zeros(len(w)))

    def climb(self, j: int, v: float, near: FloatArray | None, tol: float) -> FloatArray | None:
        """Return the maximum with share j fixed at v; None if these steps do not reach it."""
        near = self._peak if near is None else near
        # The maximum of a quadratic likelihood.
        w = _with_share(np.maximum(near + (v - near[j]) * self.information(j, near)[1], 0.0), j, v)
        L = self._inc.inner(w)
        if v >= 1 or L.min() <= 0:
            return None
        for _ in range(_STEPS):
            s = self._inc.spread(self._f / L)
            rest = (1 - v * s[j]) / (1 - v)
            excess = s - rest
            excess[j] = -np.inf
            if excess.max() * (1 - v) <= tol:
                return w
            step = self._step(j, w, s, rest)
            change = self._inc.inner(step)
            t = 1.0 if (change / L).min() > -0.3 else step_length(self._f, change / L, s, step)
            if t == 0:
                return None
            w = _with_share(np.maximum(w + t * step, 0.0), j, v)
            L = self._inc.inner(w)
        return None

    def _step(self, j: int, w: FloatArray, s: FloatArray, rest: float) -> FloatArray:
        """Return the change that maximizes the quadratic model, by fixing and releasing categories at zero."""
        free_step, own = self._V @ s, self._V[:, j]
        fixed = (w <= 0) & (s <= rest)
        for _ in range(_PIVOTS):
            fixed[j] = False
            at = fixed.nonzero()[0]
            step, force = self._with_fixed(free_step, at, -w[at])
            along, pull = self._with_fixed(own, at, 0.0)
            back = step[j] / along[j]
            step, force = step - back * along, force - back * pull
            negative = w + step < -1e-15
            negative[at] = negative[j] = False
            if negative.any():
                fixed |= negative
                continue
            wanting = at[force < 0]  # a category at zero that would rather be negative
            if not len(wanting):
                break
            fixed[wanting] = False
        return step

    def _with_fixed(self, step: FloatArray, at: IntArray, wanted: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return the step with these entries fixed at the given values, and their multipliers."""
        if not len(at):
            return step, np.zeros(0)
        force, _ = dpotrs(self._factor(at), wanted - step[at])
        whole = np.zeros(len(step))
        whole[at] = force
        return step + self._V @ whole, force

    def _factor(self, at: IntArray) -> FloatArray:
        """Return the Cholesky factor of the part of V. It is cached, since most profiles have the same zeros."""
        key = at.tobytes()
        if key not in self._factors:
            if len(self._factors) >= _KEPT:
                self._factors.pop(next(iter(self._factors)))
            factor, info = dpotrf(self._V[np.ix_(at, at)])
            if info:  # all categories but one are at zero, so nothing can change
                factor, _ = dpotrf(self._V[np.ix_(at, at)] + np.eye(len(at)) * self._V.diagonal().max() * 1e-10)
            self._factors[key] = factor
        return self._factors[key]


def _with_share(w: FloatArray, j: int, v: float) -> FloatArray:
    """Return the distribution with share j set to v and the others rescaled."""
    w[j] = 0.0
    w *= (1 - v) / max(w.sum(), 1e-300)
    w[j] = v
    return w
