r"""A primal-dual interior-point method for all columns together.

The conditions for a minimum, with shares :math:`\pi` over the w's, are

.. math::

    \sum_k \pi_k \nabla f_k(x) + A^\top y + G^\top\lambda = z, \quad Ax = 1, \quad Gx + u = h, \quad
    xz = 0, \quad u\lambda = 0,

and for the worst of several w also :math:`f_k(x) + r_k = s`, :math:`r\pi = 0`, :math:`\sum_k\pi_k = 1`. Newton's method
follows the path on which the products are a decreasing number instead of 0 (Mehrotra's predictor and corrector).
The second derivative has p(p-1)/2 rows per w, so a step is a least-squares problem with one unknown per such row and
per constraint, regardless of the number of columns.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen
from scipy.linalg import solve_triangular

from subsetprivacy._types import FloatArray
from subsetprivacy.optimizing.criterion import Expansion, as_loss, curvature, expand, gap, relative_gap, total
from subsetprivacy.optimizing.program import Program

_PATIENCE = 12  # steps without a better certificate
_TO_THE_EDGE = 0.99
_REFINEMENTS = 3
_FEASIBLE = 1e-12


@frozen(eq=False)
class CertifiedSolution:
    """Weights with their certificate: no design can save more than the share `gap` of the loss."""

    x: FloatArray
    slack: FloatArray
    shares: FloatArray
    y: FloatArray
    lam: FloatArray
    gap: float
    steps: int


class Iterate(NamedTuple):
    """The unknowns, in pairs whose products vanish. r and pi are empty unless the worst w is minimized."""

    x: FloatArray
    z: FloatArray
    u: FloatArray
    lam: FloatArray
    r: FloatArray
    pi: FloatArray
    y: FloatArray
    s: float

    @property
    def primal(self) -> FloatArray:
        """One of each pair."""
        return np.concatenate([self.x, self.u, self.r])

    @property
    def dual(self) -> FloatArray:
        """The other of each pair."""
        return np.concatenate([self.z, self.lam, self.pi])

    def moved(self, step: "Iterate", length: float) -> "Iterate":
        """Return the point after a fraction of the step."""
        pairs: Any = zip(self, step, strict=True)
        return Iterate(*(value + length * change for value, change in pairs))


def solve(
    program: Program,
    criterion: str,
    worst: bool,
    start: FloatArray,
    *,
    tol: float,
    max_iter: int,
    progress: Callable[[str], object] | None = None,
) -> CertifiedSolution:
    """Minimize the criterion from strictly feasible weights.

    Returns
    -------
    CertifiedSolution
        The weights with the smallest certified gap of all steps. The gap is at most `tol`, unless rounding or
        `max_iter` prevents it.
    """
    at = expand(program, criterion, start)
    if at is None:  # the feasible set is too small for double precision
        none = np.zeros(len(program.A)), np.zeros(len(program.h))
        return CertifiedSolution(
            start, np.zeros(len(start)), np.full(len(program.c), 1 / len(program.c)), *none, np.inf, 0
        )
    search = _Search(program, criterion, worst, at)
    point, best, since = search.first(start), None, 0
    with np.errstate(all="ignore"):
        for step in range(max_iter + 1):
            solution = search.certified(point, step)
            better = best is None or solution.gap < 0.9 * best.gap
            since = 0 if better else since + 1
            best = solution if best is None or solution.gap < best.gap else best
            if progress is not None:
                progress(f"step {step}: loss {search.loss:.6g}, at most {best.gap:.1e} of it to be saved")
            if best.gap <= tol or since > _PATIENCE or step == max_iter:
                break
            moved = search.next(point, tol)
            if moved is None:
                break
            point = moved
    assert best is not None
    return best


class _Search:
    """One minimization: the program, and the criterion in units of its first value."""

    def __init__(self, program: Program, criterion: str, worst: bool, first: Expansion) -> None:
        self._program, self._criterion, self._worst = program, criterion, worst
        self._unit = total(first.f, True) if criterion == "A" else 1.0
        self._at = self._scaled(first)

    def _scaled(self, at: Expansion) -> Expansion:
        return Expansion(at.f / self._unit, at.slopes / self._unit, at.spectra)

    def _expand(self, x: FloatArray) -> Expansion | None:
        at = expand(self._program, self._criterion, x)
        return None if at is None else self._scaled(at)

    @property
    def loss(self) -> float:
        """The loss at the last point."""
        return float(as_loss(self._criterion, self._unit * total(self._at.f, self._worst)))

    def _shares(self, point: Iterate) -> FloatArray:
        count = len(self._program.c)
        return point.pi if self._worst else np.full(count, 1 / count)

    def first(self, x: FloatArray) -> Iterate:
        """Return a point on the central path except for the first equation, which later steps satisfy."""
        program, at = self._program, self._at
        product = 1 / len(x)  # the slopes times x sum to minus one, in these units
        z, u = product / x, program.h - program.G @ x
        r: FloatArray = np.empty(0)
        pi, s = r, 0.0
        if self._worst:
            s = float(at.f.max()) + product * len(at.f)
            r = s - at.f
            pi = (1 / r) / (1 / r).sum()
        even = float((z - self._shares(Iterate(x, z, u, u, r, pi, u, s)) @ at.slopes).sum() / program.A.sum())
        return Iterate(x, z, u, product / u, r, pi, np.full(len(program.A), even), s)

    def certified(self, point: Iterate, step: int) -> CertifiedSolution:
        """Return the weights of a point with their certificate."""
        shares = np.maximum(self._shares(point), 0.0)
        shares = shares / shares.sum()
        absolute = gap(self._program, self._at, point.x, shares, point.y, point.lam)
        relative = relative_gap(self._criterion, self._at, shares, self._worst, absolute)
        over = self._program.G @ point.x - self._program.h
        if not np.isfinite(relative) or over.max(initial=0) > _FEASIBLE:  # the bound would be for other budgets
            relative = np.inf
        return CertifiedSolution(point.x, point.z, shares, self._unit * point.y, self._unit * point.lam, relative, step)

    def next(self, point: Iterate, tol: float) -> Iterate | None:
        """Return the point after one step, or None if rounding prevents a step."""
        system = _System(self._program, self._criterion, point, self._at, self._shares(point) / self._unit)
        pairs = len(point.primal)
        product = float(point.primal @ point.dual) / pairs
        bold = system.direction(self._residuals(point, self._at), [-point.primal * point.dual])
        if bold is None:
            return None
        length = min(1.0, _longest(point, bold))
        ahead = point.moved(bold, length)
        share = min(1.0, max((float(ahead.primal @ ahead.dual) / pairs / product) ** 3, 1e-4))
        value = total(self._at.f, self._worst) if self._criterion == "A" else 1.0
        # Products below the tolerance gain nothing and lose digits.
        goal = max(share * product, min(product, 0.1 * tol * value / pairs))
        step = system.direction(
            self._residuals(point, self._at), [goal - point.primal * point.dual, -bold.primal * bold.dual]
        )
        if step is not None and _longest(point, step) < 0.1:  # too large: first move closer to the central path
            goal = max(0.3 * product, goal)
            step = system.direction(self._residuals(point, self._at), [goal - point.primal * point.dual])
        return None if step is None else self._line_search(point, step)

    def _residuals(self, point: Iterate, at: Expansion) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        program = self._program
        slope = self._shares(point) @ at.slopes + point.y @ program.A + point.lam @ program.G - point.z
        tops = at.f + point.r - point.s if self._worst else np.empty(0)
        return slope, program.A @ point.x - 1, program.G @ point.x + point.u - program.h, tops

    def _merit(self, point: Iterate, at: Expansion, x: FloatArray) -> float:
        slope, _, _, tops = self._residuals(point, at)
        return float(np.abs(slope * x).sum() + point.pi @ np.abs(tops) + point.primal @ point.dual)

    def _line_search(self, point: Iterate, step: Iterate) -> Iterate | None:
        """Take the step as far as the residuals decrease, and restore the linear conditions."""
        before = self._merit(point, self._at, point.x)
        length = min(1.0, _TO_THE_EDGE * _longest(point, step))
        for _ in range(12):
            there = point.moved(step, length)
            at = self._expand(there.x)
            if at is not None and self._merit(there, at, point.x) <= before * (1 + 1e-6):
                break
            length /= 2
        x = meet(self._program.A, np.ones(len(self._program.A)), there.x)
        at = self._expand(x)
        if at is None or not x.min() > 0:
            return None
        self._at = at
        u, r = self._program.h - self._program.G @ x, there.s - at.f if self._worst else there.r
        return there._replace(x=x, u=np.where(u > 0.5 * there.u, u, there.u), r=np.where(r > 0.5 * there.r, r, there.r))


def _longest(point: Iterate, step: Iterate) -> float:
    """Return the step length at which a number first becomes 0."""
    values = np.concatenate([point.primal, point.dual])
    changes = np.concatenate([step.primal, step.dual])
    falling = changes < 0
    return float((-values[falling] / changes[falling]).min(initial=np.inf))


def meet(C: FloatArray, d: FloatArray, x: FloatArray) -> FloatArray:
    """Return weights with C x = d to full precision, with the smallest relative change of x."""
    for _ in range(2):
        scaled = C * x
        x = x * (1 + np.linalg.lstsq(scaled @ scaled.T, d - C @ x, rcond=None)[0] @ scaled)
    return x


class _System:
    """Newton's equations at a point, factorized once for several right-hand sides.

    With D = z/x, rows W (curvature, equalities, budgets, slopes of the w's) and E (1, 0, u/lam, r/pi), a step
    solves D dx + W'eta = right and W dx - E eta = left, hence (W D^-1 W' + E) eta = W D^-1 right - left. The matrix
    is factorized by the QR decomposition of its root, because near the solution its condition number exceeds double
    precision.
    """

    def __init__(self, program: Program, criterion: str, point: Iterate, at: Expansion, shares: FloatArray) -> None:
        bent = curvature(program, criterion, at, shares)
        slopes = at.slopes[: len(point.pi)]
        self._point, self._D = point, point.z / point.x
        self._W = np.concatenate([bent, program.A, program.G, slopes])
        ends = [point.u / point.lam, point.r / point.pi]
        self._E = np.concatenate([np.ones(len(bent)), np.zeros(len(program.A)), *ends])
        self._at = np.cumsum([len(bent), len(program.A), len(program.G)])
        root = np.concatenate([(self._W / np.sqrt(self._D)).T, np.diag(np.sqrt(self._E))])
        self._scale = 1 / np.linalg.norm(root, axis=0)
        self._R = np.linalg.qr(root * self._scale, mode="r") if np.isfinite(self._scale).all() else None
        self._top = np.concatenate([np.zeros(self._at[-1]), np.ones(len(slopes))])  # the rows in which s occurs

    def direction(
        self, residuals: tuple[FloatArray, FloatArray, FloatArray, FloatArray], products: list[FloatArray]
    ) -> Iterate | None:
        """Return the step that removes the residuals and adds the sum of `products` to the products."""
        if self._R is None:
            return None
        slope, cover, budget, tops = residuals
        point = self._point
        x_, u_, r_ = np.split(np.sum(products, axis=0), np.cumsum([len(point.x), len(point.u)]))
        left = np.concatenate(
            [np.zeros(self._at[0]), -cover, -budget - u_ / point.lam, -tops - r_ / point.pi],
        )
        dx, eta, ds = self._solve(x_ / point.x - slope, left)
        _, y, lam, pi = np.split(eta, self._at)
        z, u, r = (x_ - point.z * dx) / point.x, (u_ - point.u * lam) / point.lam, (r_ - point.r * pi) / point.pi
        step = Iterate(dx, z, u, lam, r, pi, y, ds)
        return step if all(np.isfinite(part).all() for part in step) else None

    def _solve(self, right: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        dx, eta, ds = right / self._D, np.zeros(len(left)), 0.0
        column = self._inverse(self._top)
        for _ in range(_REFINEMENTS):
            missing = self._W @ dx - self._E * eta - left - ds * self._top
            more = self._inverse(missing)
            if self._top.any():  # the shares must sum to one
                by = (self._top @ (more + eta) - (1 - self._point.pi.sum())) / (self._top @ column)
                more, ds = more - by * column, ds + by
            eta = eta + more
            dx = (right - eta @ self._W) / self._D
        return dx, eta, ds

    def _inverse(self, rhs: FloatArray) -> FloatArray:
        half = solve_triangular(self._R, rhs * self._scale, trans=1, check_finite=False)
        return np.asarray(self._scale * solve_triangular(self._R, half, check_finite=False))
