"""Moment estimators: unbiased closed forms, which may leave the simplex."""

from functools import partial

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.design.base import solve_alike
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.estimation.uncertainty import FromMatrix, Uncertainty, UnknownUncertainty, known_part
from subsetprivacy.incidence import MAX_MATRIX, Affine, Incidence, joint_incidence
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import ANY_DESIGN_OR_DATA
from subsetprivacy.messages.for_general import MORE_PEOPLE

NO_VARIATION = Note(
    NoteKind.UNKNOWN_ERRORS,
    "Unknown errors: the reports do not vary, so the sample says nothing about the precision of this estimate.",
    MORE_PEOPLE,
)


def mom(counts: SubsetCounts) -> Estimate:
    r"""Estimate w by matching the mean of the subset indicators.

    Notes
    -----
    Solves :math:`Q\hat w = \hat\gamma` (`gen_mom`); then
    :math:`\sqrt n(\hat w - w) \to N(0, Q^{-1} C Q^{-1})`. The full set, which has no
    information, is left out on both sides. If all pairs of categories are
    alike, the matrix :math:`Q = (1-q)I + q11^\top` is never built, for any number of categories.
    """
    design = counts.design.require_identifiable()
    gamma = mean_indicator(counts)
    alike = alike_pairs(design)
    if alike is not None:
        return moment_estimate(alike.solve(gamma), counts, "mom", alike, varies=subsets_vary(counts))
    w = design.solve_informative_Q(gamma)
    return moment_estimate(w, counts, "mom", MomentUncertainty(), varies=subsets_vary(counts))


def mom_uniform(counts: SubsetCounts) -> Estimate:
    r"""Estimate w by the closed form for the uniform design.

    Notes
    -----
    :math:`\hat w = (r_p\hat\gamma - 1)/(r_p - 1)` (`mom`), the mean of the rows :math:`(r_p 1_A - 1)/(r_p - 1)`, or of
    their products for several variables. The paper calls it equivalent to `gen_mom`. From p = 5 on it is a different,
    slightly less precise estimator, since the size of A varies.
    """
    rows = _mean_rows(counts)
    uncertainty = FromMatrix(partial(_of_mean, rows))
    w = rows.spread(counts.shares)
    return moment_estimate(w, counts, "mom-uniform", uncertainty, varies=subsets_vary(counts))


def _mean_rows(counts: SubsetCounts) -> Incidence:
    """Return the rows whose mean is the closed form."""
    factors = counts.design.by_factor(counts.observed_codes)
    for factor, _ in factors:
        if factor.closed_form is None:
            raise ArgumentError(
                f"`method` 'mom-uniform' must have data of a uniform design; got the kind {factor.maker}.",
                ANY_DESIGN_OR_DATA,
            )
    parts = [_closed_form(factor, codes) for factor, codes in factors]
    return parts[0][0] if len(parts) == 1 else joint_incidence(parts)


def closed_form_rows(counts: SubsetCounts) -> FloatArray:
    """Return the rows as a matrix, (subsets, p)."""
    return np.asarray(_mean_rows(counts).inner(np.eye(counts.categories.p)).T)


def moment_estimate(
    w: FloatArray, counts: SubsetCounts, method: str, uncertainty: Uncertainty, *, varies: bool
) -> Estimate:
    """Return the moment estimate; its error is unknown if the reports do not vary."""
    if varies:
        return Estimate(w, counts, method, uncertainty, in_simplex=False)
    return Estimate(w, counts, method, UnknownUncertainty(), in_simplex=False, remarks=(NO_VARIATION,))


def subsets_vary(counts: SubsetCounts) -> bool:
    """Return whether people reported more than one subset."""
    return len(counts.observed_codes) > 1


def _closed_form(design: Design, codes: IntArray) -> tuple[Affine, IntArray]:
    """Return the rows (r 1_a - 1)/(r - 1) of the distinct codes, and the row of each code."""
    distinct, at = np.unique(codes, return_inverse=True)
    r = design.closed_form
    assert r is not None
    return Affine(design.incidence(distinct), r / (r - 1), -1 / (r - 1)), at


def _of_mean(rows: Incidence, fit: Estimate) -> FloatArray:
    """Return the covariance of a mean of rows."""
    v = row_weights(fit.counts)
    cross = np.outer(rows.spread(v), fit.w)
    return rows.gram(v) - cross - cross.T + v.sum() * np.outer(fit.w, fit.w)


def mean_indicator(counts: SubsetCounts) -> FloatArray:
    """Return gamma-hat, the share of people whose subset contains each category."""
    return counts.incidence.spread(counts.shares)


def row_weights(counts: SubsetCounts) -> FloatArray:
    """Return the variance of each informative code: f_a / n, or its sum of squared sampling weights."""
    if counts.squares is None:
        return counts.shares / counts.n
    return counts.squares[counts.informative] / counts.total**2


def _spread_by(scale: FloatArray, fit: Estimate) -> FloatArray:
    """Return scale C scale', with the empirical covariance C of the mean of the indicators."""
    counts, v = fit.counts, row_weights(fit.counts)
    gamma = mean_indicator(counts)
    cross = np.outer(counts.incidence.spread(v), gamma)
    C = counts.incidence.gram(v) - cross - cross.T + v.sum() * np.outer(gamma, gamma)
    between, apart = _known_part(fit)
    return scale @ (C - between * np.outer(apart, apart)) @ scale.T


def _known_part(fit: Estimate) -> tuple[float, FloatArray]:
    """Return a factor and a difference of mean rows, for the variance reduction by a fixed number of dummies."""
    counts = fit.counts
    if counts.design.covered is None:
        return 0.0, np.zeros(fit.categories.p)
    ones = np.ones(len(counts.shares))
    w = lifted(fit.w, 0.0)  # moments can leave the simplex, but every row needs a positive probability
    between, apart = known_part(counts.design.covered, counts.incidence, counts.shares, w, ones)
    return between / counts.n, apart


class MomentUncertainty(FromMatrix):
    """The error of moments under any Q, without a matrix along a single direction."""

    def __init__(self) -> None:
        super().__init__(_by_inverse)

    def along(self, fit: Estimate, c: FloatArray) -> float:
        """Return the variance of the weighted sum c'w."""
        if fit.categories.p <= MAX_MATRIX:
            return super().along(fit, c)
        return _along(fit, c, fit.counts.design.solve_informative_Q(c))


def _along(fit: Estimate, c: FloatArray, solved: FloatArray) -> float:
    """Return the variance of c'w from Q^-1 c, by one product with the rows."""
    each = fit.counts.incidence.inner(solved)
    between, apart = _known_part(fit)
    return float(row_weights(fit.counts) @ (each - c @ fit.w) ** 2) - between * float(solved @ apart) ** 2


def _by_inverse(fit: Estimate) -> FloatArray:
    return _spread_by(np.linalg.inv(fit.counts.design.informative_Q), fit)


def alike_pairs(design: Design) -> "ExchangeableMoments | None":
    """Return the closed form if all pairs of categories are alike, also with dummies; else None."""
    base = design.exposed
    if base.pair_probability is None or base.mu_full > 0:
        return None
    return ExchangeableMoments(
        base.pair_probability, base.p, design.real_share, design.dummy_share, design.dummy_categories
    )


@frozen
class ExchangeableMoments:
    r"""Moments under :math:`Q = aI + b11^\top`, in closed form for any number of categories.

    Rows are :math:`r = c\,1_a + \alpha 1` (c = 1 and :math:`\alpha = 0` without dummies), so :math:`a = c^2(1-q)` and
    :math:`b = c^2q + 2c\alpha + \alpha^2D`. A person's part of the estimate is
    :math:`z = Q^{-1}r = (r - \kappa\,1^\top r\,1)/a` with :math:`\kappa = b/(a+pb)`; the variance of a share is
    that of its z_j, and two products give all variances.
    """

    q: float
    p: int
    scale: float = 1.0
    offset: float = 0.0
    dummies: int = 0

    @property
    def _a(self) -> float:
        return self.scale**2 * (1 - self.q)

    @property
    def _b(self) -> float:
        c, alpha = self.scale, self.offset
        return c**2 * self.q + 2 * c * alpha + alpha**2 * self.dummies

    @property
    def _kappa(self) -> float:
        return self._b / (self._a + self.p * self._b)

    def solve(self, v: FloatArray) -> FloatArray:
        """Return Q^-1 v."""
        return solve_alike(self._a, self._b, v)

    def matrix(self, fit: Estimate) -> FloatArray:
        """Return the covariance matrix, up to a few thousand categories."""
        return FromMatrix(self._covariance).matrix(fit)

    def _covariance(self, fit: Estimate) -> FloatArray:
        return _spread_by((np.eye(self.p) - self._kappa) / self._a, fit)

    def variances(self, fit: Estimate) -> FloatArray:
        """Return the variance of each share."""
        inc, v = fit.counts.incidence, row_weights(fit.counts)
        totals = inc.inner(np.ones(self.p))
        once, weighed = inc.spread(v), inc.spread(v * totals)
        # An entry r is alpha or c + alpha, so its square is linear in r.
        own = (self.scale + 2 * self.offset) * once - self.offset * (self.scale + self.offset) * v.sum()
        squares = (own - 2 * self._kappa * weighed + self._kappa**2 * (v @ totals**2)) / self._a**2
        means = (once - self._kappa * (v @ totals)) / self._a
        spread = squares - 2 * fit.w * means + fit.w**2 * v.sum()
        between, apart = _known_part(fit)
        return np.maximum(spread - between * self.solve(apart) ** 2, 0.0)

    def along(self, fit: Estimate, c: FloatArray) -> float:
        """Return the variance of the weighted sum c'w."""
        return _along(fit, c, self.solve(c))
