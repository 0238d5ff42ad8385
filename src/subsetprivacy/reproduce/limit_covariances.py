"""Limit covariances of the estimators: of the square root of n times the error as n grows."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design


def moment_limit(design: Design, w: FloatArray) -> FloatArray:
    """Return the limit covariance of moments, Q^-1 C Q^-1 (`gen_mom`)."""
    P = design.support()[1] * design.support_incidence.inner(w)
    gamma = design.support_incidence.spread(P)
    C = design.support_incidence.gram(P) - np.outer(gamma, gamma)
    inverse = np.linalg.inv(design.Q)
    return np.asarray(inverse @ C @ inverse)


def whitener(covariance: FloatArray) -> FloatArray:
    """Return T, shape (p, rank), so that errors with this covariance, times T, are uncorrelated with variance 1.

    Directions without variation are left out. For the maximum this is always the sum. For moments it is the sum if all
    subsets have the same size.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * values.max()
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))
