"""Standard errors of the likelihood methods (`thm_normality_mle`)."""

from collections.abc import Callable

import numpy as np

from subsetprivacy._checks import check_choice
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.design.require import require_enumerable
from subsetprivacy.estimation.likelihood import expected_information, observed_information, tangent_inverse
from subsetprivacy.estimation.result import Estimate

INFORMATION = ("observed", "expected")


def fisher_covariance(information: str, design: Design) -> Callable[[Estimate], FloatArray]:
    """Return the function that computes the covariance from the named information.

    Raises
    ------
    UnknownDesignError, TooLargeError
        If the expected information is asked for and the support cannot be listed.

    Notes
    -----
    ``"observed"`` needs no design. Where several categories are estimated as
    zero it misses what the subsets tell that could have been reported and
    never were, and is too wide. ``"expected"`` sums over the support, for up
    to 22 categories, and is too narrow in small samples; a fitted probability
    below 1/n counts as 1/n there. Sampling weights turn the observed kind
    into a sandwich.
    """
    if check_choice(information, INFORMATION, "information") == "expected":
        require_enumerable(design, "expected information")
        return _expected
    return _observed


def _observed(fit: Estimate) -> FloatArray:
    if fit.counts.squares is not None:
        return sandwich(fit.counts, fit.w)
    J = observed_information(fit.counts.incidence, fit.counts.shares, fit.w)
    covariance = tangent_inverse(J)
    seen = J.diagonal() > 0
    if not seen.all():
        # A category that no reported subset holds has weight 0 whatever the others do: it must not widen their errors.
        covariance[np.ix_(seen, ~seen)] = covariance[np.ix_(~seen, seen)] = 0.0
        covariance[np.ix_(seen, seen)] = tangent_inverse(J[np.ix_(seen, seen)])
    return covariance / fit.n


def _expected(fit: Estimate) -> FloatArray:
    if fit.counts.squares is not None:
        return sandwich(fit.counts, fit.w)
    return tangent_inverse(expected_information(fit.counts.design, fit.w, floor=1 / fit.n)) / fit.n


def sandwich(counts: SubsetCounts, w: FloatArray) -> FloatArray:
    """Return the covariance under sampling weights: inverse information, squared-weight scores, inverse again."""
    assert counts.squares is not None
    J = tangent_inverse(observed_information(counts.incidence, counts.shares, w))
    # Scores have mean 1 in every coordinate; the constant drops out on the simplex, where J sums to zero.
    V = counts.incidence.gram(counts.squares[counts.informative] / counts.incidence.inner(w) ** 2)
    with np.errstate(invalid="ignore"):
        return J @ V @ J / counts.total**2
