r"""The profile likelihood of one share.

With :math:`w_j = v` fixed, the others are :math:`(1-v)u` for a distribution u, and the iteration that maximizes
over w also maximizes over u. Profiles are compared with the peak by the stable form

.. math:: l(w') - l(w) = \sum_a f_a \{\ln(1 + \epsilon_a) - \epsilon_a\} + (s-1)^\top(w' - w),
          \qquad \epsilon_a = 1_a^\top(w' - w)/L_a,

where s is the score at the peak. Near the peak both terms are of second order, so differences of :math:`10^{-12}` per
person, which matter with :math:`10^{12}` people, keep their digits.
"""

from functools import cached_property

import numpy as np
from attrs import frozen
from scipy.linalg.lapack import dposv

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.estimation.chord import Chords, NoChordsError
from subsetprivacy.estimation.likelihood import MANY, tangent_inverse
from subsetprivacy.estimation.mle import maximize
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.estimation.survey_sample import SurveySample
from subsetprivacy.incidence import DenseRows, Incidence

_FINEST = 1e-14  # the smallest certified gap that rounding allows
_MAX_LISTED = 1 << 14  # the most subsets of a design over which information is summed for each point
_FREE = 1e-9
_LEAST = 1e-12  # the least probability of a subset
_PRIOR = 0.2  # the number of people by which a cell's mean weight is shrunk towards the overall mean


@frozen(eq=False)
class ProfilePoint:
    """The point of maximum likelihood with one share fixed.

    Attributes
    ----------
    v, w
        The fixed share, and all shares.
    drop
        The loss of log-likelihood per person from the peak.
    slope
        The derivative of the profile, per person.
    information
        The information per person about the share, with the others estimated.
    people
        The number of people; for a weighted sample, divided by the design effect of this share.
    """

    v: float
    w: FloatArray
    drop: float
    slope: float
    information: float
    people: float

    @property
    def root(self) -> float:
        """The square root of the likelihood ratio statistic."""
        return float(np.sqrt(2 * self.people * self.drop))

    @property
    def score(self) -> float:
        """The absolute value of the score statistic."""
        if not self.information > 0:
            return 0.0
        return abs(self.slope) * float(np.sqrt(self.people / self.information))

    @property
    def distance(self) -> float:
        """The distance of the share from the nearer end of [0, 1], in standard errors."""
        return min(self.v, 1 - self.v) * float(np.sqrt(self.people * self.information))


class Peak:
    """The maximum of the likelihood, which all profiles are compared with."""

    def __init__(self, counts: SubsetCounts, start: FloatArray, survey: SurveySample | None = None) -> None:
        self.survey = survey
        self.counts, self.inc, self.f = counts, counts.incidence, counts.shares
        self.tol = float(np.clip(1e-3 / counts.total, _FINEST, 1e-9 if self.inc.p <= MANY else 1e-6))
        self.w = maximize(self.inc, self.f, self.tol, lifted(start, 1e-6 / self.inc.p)).w
        self.L = self.inc.inner(self.w)
        self.s = self.inc.spread(self.f / self.L)

    def drop(self, w: FloatArray) -> float:
        """Return the loss of log-likelihood per person at w."""
        step = w - self.w
        change = self.inc.inner(step) / self.L
        if change.min() <= -1:
            return np.inf
        return max(-float(self.f @ _log1p_minus_x(change)) - float((self.s - 1) @ step), 0.0)

    @cached_property
    def chords(self) -> Chords | None:
        """The chord method for many categories; None if its matrix has no inverse."""
        try:
            return Chords(self.inc, self.f, self.w, self.L)
        except NoChordsError:
            return None

    @cached_property
    def _listed(self) -> tuple[Incidence, FloatArray] | None:
        """The rows and probabilities mu_a of all possible reports, if these can be listed."""
        design = self.counts.design
        if not design.enumerable or len(design.support()[0]) > _MAX_LISTED:
            return None
        codes, mu = design.support()
        return design.support_incidence, np.where(design.is_missing(codes), 0.0, mu / (1 - design.mu_full))

    def information(self, w: FloatArray, L: FloatArray) -> FloatArray:
        """Return the Fisher information at w: expected if the design can be listed, else observed.

        The observed information ignores subsets that were possible but not reported.
        """
        if self._listed is None:
            return self.inc.gram(self.f / L**2)
        rows, mu = self._listed
        return rows.gram(mu / np.maximum(rows.inner(w), _LEAST))

    @cached_property
    def mean_weights(self) -> FloatArray | None:
        """The mean weight per unit of weight of each cell; None without weights.

        The mean of a cell of few people is imprecise, so it is shrunk towards the overall mean.
        """
        squares = self.counts.squares
        if squares is None:
            return None
        squared, n_a = squares[self.counts.informative], self.counts.n_a
        mean = float(squared.sum() / n_a.sum())
        return (squared + _PRIOR * mean**2) / (n_a + _PRIOR * mean)

    def effective(self, influence: FloatArray) -> float:
        """Return the number of people; for a weighted sample, divided by the design effect for this influence."""
        if self.survey is not None:
            return self.counts.total / self.survey.design_effect(self.counts.n_a, influence, self.L)
        if self.mean_weights is None:
            return self.counts.total
        parts = self.f * influence**2
        total = float(parts.sum())
        # The mean weight of the people who contribute to the score.
        effect = self.mean_weights @ parts / total if total > 0 else self.mean_weights @ self.f
        return self.counts.total / float(effect)


def _log1p_minus_x(x: FloatArray) -> FloatArray:
    """Return ln(1 + x) - x, by its series where subtraction would lose digits."""
    with np.errstate(divide="ignore"):
        difference = np.log1p(x) - x
    small = np.abs(x) < 1e-3
    y = x[small]
    difference[small] = -(y**2) * (1 / 2 - y * (1 / 3 - y * (1 / 4 - y * (1 / 5 - y / 6))))
    return difference


class Profile:
    """The profile likelihood of one category's share."""

    def __init__(self, peak: Peak, j: int) -> None:
        self._peak, self._j = peak, j
        self._near: FloatArray | None = None

    @property
    def top(self) -> float:
        """The share at the peak."""
        return float(self._peak.w[self._j])

    @cached_property
    def error(self) -> float:
        """An approximate standard error, to start a search; infinite if unknown."""
        peak = self._peak
        if peak.chords is not None and peak.inc.p > MANY:
            return 1 / np.sqrt(max(peak.counts.n * peak.chords.information(self._j, peak.w)[0], 1e-300))
        return 1 / np.sqrt(max(peak.counts.n * self._information(peak.w, peak.L)[0], 1e-300))

    def at(self, v: float) -> ProfilePoint | None:
        """Return the maximum with the share fixed at v; None if an observed subset becomes impossible."""
        peak = self._peak
        rows = self._rows(v)
        if rows.inner(np.full(rows.p, 1 / rows.p)).min() <= 0:
            return None
        w = self._fit(rows, v)
        L = peak.inc.inner(w)
        s = peak.inc.spread(peak.f / L)
        # All categories with weight have the same score, except the fixed one, and s'w = 1.
        rest = (1 - v * s[self._j]) / (1 - v) if v < 1 else float(np.delete(s, self._j).max())
        information, direction = self._information(w, L)
        people = peak.effective(peak.inc.inner(direction) / L)
        return ProfilePoint(v, w, peak.drop(w), float(s[self._j] - rest), information, people)

    @cached_property
    def _explicit(self) -> tuple[FloatArray, FloatArray] | None:
        """The columns of the other categories and of this one, if the rows are stored as a matrix."""
        if not isinstance(self._peak.inc, DenseRows):
            return None
        columns = self._peak.inc.inner(np.eye(self._peak.inc.p)).T
        return np.delete(columns, self._j, axis=1), columns[:, self._j, None]

    def _rows(self, v: float) -> Incidence:
        """Return the rows for a distribution of the other categories."""
        if self._explicit is None:
            return FixedShareRows(self._peak.inc, self._j, v)
        others, own = self._explicit
        return DenseRows((1 - v) * others + v * own)

    def _whole(self, u: FloatArray, v: float) -> FloatArray:
        """Return all shares from the distribution of the others."""
        return np.insert((1 - v) * u, self._j, v)

    def _fit(self, rows: Incidence, v: float) -> FloatArray:
        peak, chords = self._peak, self._peak.chords if self._peak.inc.p > MANY else None
        if chords is not None:
            w = chords.climb(self._j, v, self._near, peak.tol)
            if w is not None:
                self._near = w
                return w
        start = None if self._near is None else np.delete(self._near, self._j)
        # Off the boundary, since an EM step never leaves a face.
        start = None if start is None or not start.sum() > 0 else lifted(start / start.sum(), 1e-6 / rows.p)
        w = self._whole(newton(rows, peak.f, start=start, tol=peak.tol, max_iter=50).w, v)
        self._near = w
        return w

    def _information(self, w: FloatArray, L: FloatArray) -> tuple[float, FloatArray]:
        """Return the information about the share with the others estimated, and its direction."""
        peak = self._peak
        if peak.inc.p > MANY and peak.chords is not None:
            return peak.chords.information(self._j, w)
        free = w > _FREE
        free[self._j] = True
        if free.sum() < 2:  # all weight is on this category, and any other may gain some
            free[:] = True
        at = free.nonzero()[0]
        H = peak.information(w, L).take(at, 0).take(at, 1)
        direction = np.zeros(len(w))
        information, direction[at] = _efficient(H, int(free[: self._j].sum()))
        return information, direction


def _efficient(H: FloatArray, j: int) -> tuple[float, FloatArray]:
    """Return 1/V_jj and V_j/V_jj with V the inverse of H on the plane of changes that sum to zero."""
    right = np.ones((len(H), 2))
    right[:, 0] = 0.0
    right[j, 0] = 1.0
    _, solved, info = dposv(H, right)
    if info == 0:
        column = solved[:, 0] - solved[:, 1] * solved[:, 0].sum() / solved[:, 1].sum()
        if column[j] > 0:
            return 1 / float(column[j]), column / column[j]
    V = tangent_inverse(H)
    if not 0 < V[j, j] < np.inf:
        return 0.0, np.zeros(len(H))
    return 1 / float(V[j, j]), np.nan_to_num(V[j] / V[j, j])


class FixedShareRows:
    """Rows for w = (1-v)u, with v for one category; homogeneous in u, as Newton's method requires."""

    def __init__(self, base: Incidence, j: int, v: float) -> None:
        self._base, self._j, self._v = base, j, v
        self._others = np.delete(np.arange(base.p), j)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._base.rows

    @property
    def p(self) -> int:
        """The length of u."""
        return len(self._others)

    def _whole(self, u: FloatArray) -> FloatArray:
        """Return w."""
        w = np.empty((*u.shape[:-1], self._base.p))
        w[..., self._others] = (1 - self._v) * u
        w[..., self._j] = self._v * u.sum(axis=-1)
        return w

    def inner(self, w: FloatArray) -> FloatArray:
        """Return 1_a'w for the whole w."""
        return self._base.inner(self._whole(w))

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a times the row."""
        g = self._base.spread(r)
        return (1 - self._v) * g[..., self._others] + self._v * g[..., self._j, None]

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a times the outer square of the row."""
        G, v, o = self._base.gram(y), self._v, self._others
        cross = v * (1 - v) * G[..., o, self._j]
        inside = (1 - v) ** 2 * G[..., o[:, None], o]
        return inside + cross[..., :, None] + cross[..., None, :] + v**2 * G[..., self._j, self._j, None, None]
