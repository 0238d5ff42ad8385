"""Residuals of a log-linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.contingency.fitting import fit_table, has_matrix
from subsetprivacy.contingency.nested import saturated_shares, whole
from subsetprivacy.contingency.shares import slopes_of
from subsetprivacy.estimation.likelihood import observed_information, tangent_inverse

if TYPE_CHECKING:
    from subsetprivacy.contingency.result import LogLinear

_MOST_CELLS = 1024
_NOTHING = 1e-6  # relative to the variance of a share: rounding, where the model does not restrict it


def residuals_of(fit: LogLinear) -> FloatArray:
    """Return the saturated shares minus the fitted ones, in standard errors of the difference.

    The estimate of the model is efficient, so the variance of the difference is the difference of the variances.
    """
    cells = fit.structure.cells
    out = np.full(fit.structure.shape, np.nan)
    if fit.fit.cov is None or cells > _MOST_CELLS or fit.is_robust or not has_matrix(whole(fit.structure), 0):
        return out
    if fit.margins:
        full = fit_table(fit.counts, whole(fit.structure), fit.margins, near=fit.fit.w)
        w, variance = full.w, _variances(full.w, whole(fit.structure).rows, full.cov)
    else:
        w = saturated_shares(fit.counts)
        information = observed_information(fit.counts.incidence, fit.counts.shares, w)
        variance = np.diag(tangent_inverse(information)) / fit.counts.total
    slopes = slopes_of(fit, np.arange(cells), cells)
    fitted = np.einsum("ks,st,kt->k", slopes, fit.fit.cov, slopes, optimize=True)
    left = variance - fitted
    known = np.isfinite(left) & (left > _NOTHING * variance) & (w > 1e-9)
    z = np.divide(w - fit.fit.w, np.sqrt(np.where(known, left, 1.0)), out=np.full(cells, np.nan), where=known)
    return z.reshape(fit.structure.shape)


def _variances(w: FloatArray, Z: FloatArray, cov: FloatArray | None) -> FloatArray:
    if cov is None:
        return np.full(len(w), np.nan)
    slopes = ((Z - (Z @ w)[:, None]) * w).T
    return np.asarray(np.einsum("ks,st,kt->k", slopes, cov, slopes, optimize=True))
