r"""The profile likelihood of a weighted sum of shares, :math:`v = c^\top w`.

At the maximum, the score is :math:`s_j = 1 + b(c_j - v)` for every category with weight, and at most that for the
others, where b is the slope of the profile. So w maximizes
:math:`\sum_a f_a \ln L_a - \sum_j \{1 + b(c_j - v)\} w_j`. Newton's method solves this problem, with the rows divided
by the costs :math:`1 + b(c_j - v)`. A search over b finds the w with a given v. For a given b, which two samples share,
v is a fixed point that takes a few steps to find.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.optimize import brentq

from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy.estimation.likelihood import tangent_inverse
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.profile import Peak, ProfilePoint
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.incidence import DenseRows, Incidence

_FREE = 1e-9  # a share below this has no weight
_STEPS = 60
_FEW_STEPS = 12  # iterations for v before a bracket is searched instead
_CLOSE = 1e-10  # the precision of v, relative to the range of c
_INSIDE = 1 - 1e-12  # relative to the range of slopes with positive costs


class LinearProfile:
    """The profile likelihood of one weighted sum of shares.

    Parameters
    ----------
    peak
        The maximum of the likelihood.
    c
        The weights, not all the same.
    effect
        A divisor of the number of people, in addition to the design effect of the sample.
    """

    def __init__(self, peak: Peak, c: FloatArray, effect: float = 1.0) -> None:
        self._peak, self._c, self._effect = peak, c, effect
        self.least, self.most = float(c.min()), float(c.max())
        self._matrix = peak.inc.inner(np.eye(peak.inc.p)).T if isinstance(peak.inc, DenseRows) else None
        self._unseen = peak.inc.spread(np.ones(peak.inc.rows)) == 0
        self._near = peak.w
        self._slope = 0.0
        self._answers: dict[tuple[str, float], ProfilePoint | None] = {}

    @property
    def top(self) -> float:
        """The sum at the peak."""
        return float(self._c @ self._peak.w)

    @cached_property
    def start(self) -> float:
        """The score statistic at the peak: 0, unless an end of the range cuts the peak off."""
        near = 1e-9 * (self.most - self.least)
        for end in (self.least, self.most):
            if abs(self.top - end) <= near:
                point = self.at(end)
                return 0.0 if point is None else point.score
        return 0.0

    @cached_property
    def error(self) -> float:
        """An approximate standard error of the sum; infinite if unknown."""
        return 1 / float(np.sqrt(max(self._peak.counts.n * self._information(self._peak.w, self._peak.L)[0], 1e-300)))

    # Points ---------------------------------------------------------------------------------------

    def at(self, v: float) -> ProfilePoint | None:
        """Return the point of maximum likelihood with the sum v; None if an observed subset becomes impossible."""
        return self._remembered("v", v, lambda: self._search(v))

    def at_slope(self, b: float) -> ProfilePoint:
        """Return the point where the profile has the slope b per person, or the end of the range if there is none."""
        point = self._remembered("b", b, lambda: self._point(self._fixed_point(b)))
        assert point is not None
        return point

    def _remembered(self, what: str, value: float, find: Callable[[], ProfilePoint | None]) -> ProfilePoint | None:
        key = (what, value)
        if key not in self._answers:
            self._answers[key] = find()
        return self._answers[key]

    def _search(self, v: float) -> ProfilePoint | None:
        """Return the point with the sum v, by a search for its slope."""
        if not self.least < v < self.most:
            return self._end(v)
        lowest, highest = -1 / (self.most - v), -1 / (self.least - v)  # beyond these, some cost is negative
        reach = self.most - self.least

        def excess(b: float) -> float:
            return float(self._c @ self._fit(b, v)) - v

        for end, b in ((self.most, _INSIDE * lowest), (self.least, _INSIDE * highest)):
            unseen = self._unseen & (self._c == end)
            if unseen.any() and excess(b) * (end - v) < 0:
                return self._with_unseen(v, unseen)
        b = min(max(self._slope, _INSIDE * lowest), _INSIDE * highest)
        here = excess(b)
        below, above = _INSIDE * lowest, _INSIDE * highest
        sides = _Sides()
        last: tuple[float, float] | None = None
        for k in range(_STEPS):
            if abs(here) <= _CLOSE * reach:
                break
            sides.add(here, self._near)
            below, above = (b, above) if here > 0 else (below, b)
            step = _secant(last, (b, here), self._curvature)
            last, b = (b, here), step if below < step < above and k < _FEW_STEPS else (below + above) / 2
            here = excess(b)
        else:
            self._near = sides.between(self._near)
        self._slope = b
        return self._point(self._near, v)

    def _with_unseen(self, v: float, unseen: BoolArray) -> ProfilePoint:
        """Return the point with the sum v that gives weight to a category in no observed subset."""
        # Its score is 0, so it has weight only where its cost is 0, and then any weight is equally good.
        w, j = self._near, int(unseen.argmax())
        sum_ = float(self._c @ w)
        share = (v - sum_) / (self._c[j] - sum_)
        w = (1 - share) * w
        w[j] += share
        return self._point(w, v)

    @property
    def _curvature(self) -> float:
        """The decrease of the sum per unit of slope, at the peak."""
        return max(self.error**2 * self._peak.counts.n, 1e-12)

    def _fixed_point(self, b: float) -> FloatArray:
        v = self.top
        for _ in range(_FEW_STEPS):
            if min(1 + b * (self.most - v), 1 + b * (self.least - v)) < 1e-9:
                break
            w = self._fit(b, v)
            moved, v = abs(float(self._c @ w) - v), float(self._c @ w)
            if moved <= _CLOSE * (self.most - self.least):
                return w
        return self._by_bracket(b)

    def _by_bracket(self, b: float) -> FloatArray:
        """Return the shares with the slope b, by a bracket for v; needed if the profile of a small sample is steep."""
        # With costs 1 + b(c - v), the fit has the sum v if its shares sum to one, and this total is monotone in v.
        cheapest = self.least if b > 0 else self.most  # the category whose cost decreases to 0
        limit = cheapest + _INSIDE / b
        limit = min(limit, self.most) if b > 0 else max(limit, self.least)

        def excess(v: float) -> float:
            return float(self._c @ self._fit(b, v)) - v

        if excess(cheapest) * b <= 0:
            return self._near
        if excess(limit) * b >= 0:
            unseen = self._unseen & (self._c == cheapest)
            if unseen.any():  # its cost is 0, so it takes the remaining weight
                left = 1 - 1 / (1 + b * (float(self._c @ self._near) - limit))
                w = (1 - left) * self._near
                w[int(unseen.argmax())] += left
                return w
            return self._near
        sides = _Sides()

        def followed(v: float) -> float:
            here = excess(v)
            sides.add(here, self._near)
            return here

        v = brentq(followed, cheapest, limit, xtol=1e-14 * (self.most - self.least))
        return self._near if abs(excess(float(v))) <= _CLOSE * (self.most - self.least) else sides.between(self._near)

    def _fit(self, b: float, v: float) -> FloatArray:
        """Return the maximum with the costs 1 + b(c - v), divided by its sum."""
        cost = 1 + b * (self._c - v)
        rows: Incidence = Scaled(self._peak.inc, 1 / cost) if self._matrix is None else DenseRows(self._matrix / cost)
        start = self._near * cost
        start = lifted(start / start.sum(), 1e-6 / len(start))  # an EM step never leaves a face
        w = newton(rows, self._peak.f, start=start, tol=self._peak.tol, max_iter=50).w / cost
        self._near = w / w.sum()
        return self._near

    def _end(self, v: float) -> ProfilePoint | None:
        """Return the point with all weight on the categories of the least, or of the greatest, c."""
        inside = (self._c == (self.least if v <= self.least else self.most)).astype(float)
        inc = self._peak.inc
        if inc.inner(inside / inside.sum()).min() <= 0:
            return None
        rows = Scaled(inc, inside)
        return self._point(newton(rows, self._peak.f, start=inside / inside.sum(), tol=self._peak.tol).w)

    def _point(self, w: FloatArray, v: float | None = None) -> ProfilePoint:
        peak = self._peak
        L = peak.inc.inner(w)
        information, direction = self._information(w, L)
        people = peak.effective(peak.inc.inner(direction) / L) / self._effect
        value = float(self._c @ w) if v is None else v
        return ProfilePoint(value, w, peak.drop(w), self._slope_at(w, L), information, people)

    def _slope_at(self, w: FloatArray, L: FloatArray) -> float:
        """Return the derivative of the profile per person; at an end of its range, the one-sided derivative."""
        s = self._peak.inc.spread(self._peak.f / L)
        v = float(self._c @ w)
        spread = w * (self._c - v)
        variance = float(spread @ (self._c - v))
        if variance > 1e-12 * (self.most - self.least) ** 2:
            return float(spread @ s) / variance
        j = self._next_at_end(w, L)
        return float((s[j] - 1) / (self._c[j] - v))

    def _next_at_end(self, w: FloatArray, L: FloatArray) -> int:
        """Return the category that gains weight first when the sum leaves an end of its range."""
        s = self._peak.inc.spread(self._peak.f / L)
        distance = np.abs(self._c - float(self._c @ w))
        away = distance > 1e-9 * (self.most - self.least)
        return int(np.argmax(np.divide(s - 1, distance, out=np.full(len(s), -np.inf), where=away)))

    def _information(self, w: FloatArray, L: FloatArray) -> tuple[float, FloatArray]:
        """Return the information about the sum with all else estimated, and its direction."""
        free = w > _FREE
        if np.ptp(self._c[free]) == 0:  # at an end of the range, weight goes where it helps most
            free[self._next_at_end(w, L)] = True
        at = free.nonzero()[0]
        V = tangent_inverse(self._peak.information(w, L).take(at, 0).take(at, 1))
        c = self._c[at]
        used = c != 0
        along = V[:, used] @ c[used]
        variance = float(c[used] @ along[used])
        direction = np.zeros(len(w))
        if not 0 < variance < np.inf:
            return 0.0, direction
        direction[at] = np.nan_to_num(along / variance)
        return 1 / variance, direction


class _Sides:
    """The last fits on the two sides of a root.

    With few distinct subsets, several distributions are equally likely. At some cost the fit then jumps from one vertex
    of these to another, past the target sum. All points between the two vertices are equally good, and one of them has
    the target sum.
    """

    def __init__(self) -> None:
        self._above: tuple[float, FloatArray] | None = None
        self._below: tuple[float, FloatArray] | None = None

    def add(self, excess: float, w: FloatArray) -> None:
        """Store a fit on its side."""
        if excess > 0:
            self._above = excess, w
        else:
            self._below = excess, w

    def between(self, near: FloatArray) -> FloatArray:
        """Return the shares between the two sides without an excess, or the given shares if a side is missing."""
        if self._above is None or self._below is None:
            return near
        (more, w), (less, v) = self._above, self._below
        return (more * v - less * w) / (more - less)


def _secant(last: tuple[float, float] | None, here: tuple[float, float], curvature: float) -> float:
    """Return the zero of the line through two points, or through one point with the slope at the peak."""
    if last is None or last[1] == here[1]:
        return here[0] + here[1] / curvature
    return here[0] - here[1] * (here[0] - last[0]) / (here[1] - last[1])


class Scaled:
    """Rows whose columns are multiplied by factors."""

    def __init__(self, base: Incidence, factors: FloatArray) -> None:
        self._base, self._factors = base, factors

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._base.rows

    @property
    def p(self) -> int:
        """The length of w."""
        return self._base.p

    def inner(self, w: FloatArray) -> FloatArray:
        """Return the products of the rows with w."""
        return self._base.inner(w * self._factors)

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a times the row."""
        return self._base.spread(r) * self._factors

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a times the outer square of the row."""
        return self._base.gram(y) * self._factors * self._factors[:, None]
