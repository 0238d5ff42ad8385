"""Standard errors of the likelihood methods (`thm_normality_mle`)."""

from typing import get_args

import numpy as np
from attrs import frozen
from scipy.sparse.linalg import LinearOperator, cg

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Information
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.design.require import require_enumerable
from subsetprivacy.estimation.likelihood import (
    MANY,
    clearly_regular,
    expected_information,
    observed_information,
    tangent_inverse,
)
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.uncertainty import FromMatrix, known_part
from subsetprivacy.incidence import MAX_MATRIX, Incidence

INFORMATION: tuple[Information, ...] = get_args(Information)
MAX_PRODUCTS = 300  # the maximum number of steps; well-posed problems need a few dozen


def fisher_uncertainty(information: Information, design: Design) -> "FisherUncertainty":
    """Return the uncertainty from the observed or the expected information.

    Raises
    ------
    UnknownDesignError, TooLargeError
        If the expected information is requested and the support cannot be listed.

    Notes
    -----
    ``"observed"`` needs no design. If several categories are estimated as zero,
    it ignores subsets that were possible but never reported, and its standard
    errors are too large. ``"expected"`` sums over the support, for up to 22
    categories, and its standard errors are too small in small samples. It
    treats a fitted probability below 1/n as 1/n. With more than 64 categories,
    it replaces the observed information if the sample has too few distinct
    subsets. With sampling weights, the observed information becomes a sandwich.
    """
    if check_choice(information, INFORMATION, "information") == "expected":
        require_enumerable(design, "expected information")
        return FisherUncertainty(_expected, expected=True)
    return FisherUncertainty(_observed)


@frozen
class FisherUncertainty(FromMatrix):
    """The inverse information; along one direction at a time if there are too many categories for a matrix."""

    expected: bool = False

    def along(self, fit: Estimate, c: FloatArray) -> float:
        """Return c'J^-1 c on the simplex, by the matrix or by conjugate gradients."""
        if fit.categories.p <= MAX_MATRIX:
            return super().along(fit, c)
        return _by_gradients(fit, c, expected=self.expected)


def _by_gradients(fit: Estimate, c: FloatArray, *, expected: bool = False) -> float:
    """Solve J x = c - mean on the sum-zero space by conjugate gradients, without a matrix.

    The variance is not reduced for the fixed number of dummy rows, which is conservative.
    """
    counts, p = fit.counts, fit.categories.p
    if expected:
        inc = counts.design.support_incidence
        curvature = counts.design.support()[1] / np.maximum(inc.inner(fit.w), 1 / fit.n)
    else:
        inc = counts.incidence
        curvature = counts.shares / inc.inner(fit.w) ** 2

    def apply(x: FloatArray) -> FloatArray:
        y = inc.spread(curvature * inc.inner(x - x.mean()))
        return y - y.mean()

    centered = c - c.mean()
    operator = LinearOperator((p, p), matvec=apply, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # a direction without any information at all
        x, failed = cg(operator, centered, rtol=1e-8, maxiter=MAX_PRODUCTS)
    if failed or not np.isfinite(x).all():  # with too few distinct subsets there is no solution
        return float("inf")
    if counts.squares is None:
        return float(centered @ x) / fit.n
    scores = counts.incidence.inner(x - x.mean()) / counts.incidence.inner(fit.w)
    return float(counts.squares[counts.informative] @ scores**2) / counts.total**2


def _observed(fit: Estimate) -> FloatArray:
    if fit.counts.squares is not None:
        return sandwich(fit.counts, fit.w)
    J = observed_information(fit.counts.incidence, fit.counts.shares, fit.w)
    if len(J) > MANY and fit.counts.design.enumerable and not clearly_regular(J):
        return _expected(fit)  # the design has information on subsets that were not reported
    covariance = tangent_inverse(J)
    seen = J.diagonal() > 0
    if not seen.all() and seen.sum() > 1:
        # A category in no reported subset has weight 0 in any case, and must not increase the errors of the others.
        # (If only one other is left, its share is 1, and its error is as approximate as any on the boundary.)
        covariance[np.ix_(seen, ~seen)] = covariance[np.ix_(~seen, seen)] = 0.0
        covariance[np.ix_(seen, seen)] = tangent_inverse(J[np.ix_(seen, seen)])
    return _less_known_part(fit, covariance / fit.n, fit.counts.incidence, fit.counts.shares)


def _expected(fit: Estimate) -> FloatArray:
    if fit.counts.squares is not None:
        return sandwich(fit.counts, fit.w)
    design = fit.counts.design
    covariance = tangent_inverse(expected_information(design, fit.w, floor=1 / fit.n)) / fit.n
    if design.covered is None:
        return covariance
    probabilities = design.support()[1] * design.support_incidence.inner(fit.w)
    return _less_known_part(fit, covariance, design.support_incidence, probabilities)


def _less_known_part(fit: Estimate, covariance: FloatArray, rows: Incidence, f: FloatArray) -> FloatArray:
    """Reduce the covariance because the number of dummy rows is fixed."""
    design = fit.counts.design
    if design.covered is None or not np.isfinite(covariance).all():
        return covariance
    between, apart = known_part(design.covered, rows, f, fit.w, 1 / rows.inner(fit.w))
    known = covariance @ apart
    return covariance - fit.n * between * np.outer(known, known)


def sandwich(counts: SubsetCounts, w: FloatArray) -> FloatArray:
    """Return the sandwich covariance under sampling weights."""
    assert counts.squares is not None
    J = tangent_inverse(observed_information(counts.incidence, counts.shares, w))
    # Scores have mean 1 in every coordinate. The constant vanishes on the simplex, where J sums to zero.
    V = counts.incidence.gram(counts.squares[counts.informative] / counts.incidence.inner(w) ** 2)
    with np.errstate(invalid="ignore"):
        return J @ V @ J / counts.total**2
