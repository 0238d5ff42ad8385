"""A model of the private value given covariates and the outcome, for working distributions."""

import warnings
from typing import Any

import numpy as np
from scipy.linalg import qr

from subsetprivacy._types import BoolArray, FloatArray, IntArray
from subsetprivacy._words import people
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Design
from subsetprivacy.errors import MismatchError, SubsetPrivacyWarning
from subsetprivacy.frames.formulas import covariate_matrix
from subsetprivacy.frames.regressing import regress
from subsetprivacy.means.estimating import read_outcome
from subsetprivacy.regression.prediction import shares_with_errors
from subsetprivacy.regression.result import Regression

_SAMPLE = 20_000  # the number of people in the fit
_CLIPPED = 3.0  # standard deviations, so that outliers do not dominate the working distribution


def fitted_shares(
    covariates: Any, y: Any, codes: IntArray, design: Design, used: BoolArray | None = None
) -> FloatArray:
    """Fit the distribution of the private value given covariates and outcome to a subsample, and predict it for all.

    Parameters
    ----------
    covariates
        A table, a dict of columns, or an array of numbers.
    y, codes, design
        The people.
    used
        The people who are used, if cells of others may be missing; None for all.

    Notes
    -----
    The model is a logit in the covariates, the outcome and its square. It need not be correct, because means are
    unbiased in any case. So collinear columns are dropped silently, and a few pseudo-observations keep every
    coefficient finite.
    """
    X = covariate_matrix(covariates, used)[1]
    if len(X) != len(codes):
        raise MismatchError(f"`given` must have a row for each person; got {len(X)} rows for {people(len(codes))}.")
    z = _standardized(read_outcome(y, len(codes), used), used)
    X = np.column_stack([X[:, 1:], z, z**2])
    informative = np.flatnonzero(~design.is_missing(codes) & (True if used is None else used))
    some = informative[:: max(-(-len(informative) // _SAMPLE), 1)]
    X = X[:, _independent(X[some])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        fit = regress(SubsetData.trusted(codes[some].copy(), design), X[some], shrink=True, starts=1)
    assert isinstance(fit, Regression)
    return shares_with_errors(fit.model, fit.fit.theta, None, fit._matrix(X))[0]


def _standardized(y: FloatArray, used: BoolArray | None) -> FloatArray:
    known = y if used is None else y[used]
    spread = float(known.std())
    return np.clip((y - known.mean()) / spread, -_CLIPPED, _CLIPPED) if spread > 0 else np.zeros(len(y))


def _independent(X: FloatArray) -> IntArray:
    """Return columns that are linearly independent of each other and of a constant."""
    centered = X - X.mean(axis=0)
    scale = np.sqrt((centered**2).sum(axis=0))
    usable = np.flatnonzero(scale > 1e-9 * np.maximum(np.abs(X).max(axis=0), 1e-300) * np.sqrt(len(X)))
    _, R, order = qr(centered[:, usable] / scale[usable], mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return np.sort(usable[order[: int((size > 1e-6).sum())]])
