r"""Cramér's V: the association of two variables as one number between 0 and 1.

:math:`V^2 = \phi^2/(\min(p, q) - 1)` with :math:`\phi^2 = \sum_{ij} (W_{ij} - w_i w_j)^2/(w_i w_j)`, over the rows and
columns that have weight.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, chndtr, ndtri

from subsetprivacy._checks import check_level, shown
from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.margins import Margin
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.measures.measure import Measure
from subsetprivacy.measures.precision import require_matrix, standard_error
from subsetprivacy.measures.shares import ZERO
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import CORRECT_V

_NAN, _INF = float("nan"), float("inf")
_DEGENERATE = Note(
    NoteKind.NO_STANDARD_ERRORS,
    "Near V = 0 the standard error of the delta method is not valid. Use the interval instead.",
)
_UNKNOWN = "V is not corrected for its upward bias, and the lower end of its interval is 0:"
NO_ERRORS = Note(NoteKind.BIASED, f"{_UNKNOWN} some standard errors are infinite.")
_TOO_MANY = Note(NoteKind.BIASED, f"{_UNKNOWN} there are more than {MAX_MATRIX} joint categories.")
_ZERO = 1e-6  # relative to its bias, a smaller V squared is a rounding error
_FAR = 1e6  # so many squared standard errors from 0, V is normal


def cramers_v(pair: Margin, level: float, corrected: bool) -> Measure:
    """Return Cramér's V of a two-way table, with its interval."""
    check_level(level)
    if not isinstance(corrected, (bool, np.bool_)):
        raise ArgumentError(f"`corrected` must be True or False; got {shown(corrected)}.")
    W = _table(pair)
    k = min(W.shape) - 1
    raw = raw_v(pair)
    bias, notes = _bias(pair)  # of V squared
    less = float(np.sqrt(max(raw**2 - bias, 0.0))) if np.isfinite(bias) else _NAN
    of_square = standard_error(pair.fit, phi_gradient(W).ravel()[pair.where]) / k
    errors = [_INF if v == 0 else of_square / (2 * v) for v in (raw, less)]
    # At V = 0 there is no direction of the residuals, and their mean variance replaces that along them.
    at_zero = raw**2 <= _ZERO * bias
    along = float(np.sqrt(bias / ((W.shape[0] - 1) * (W.shape[1] - 1)))) if at_zero else errors[0]
    lower, upper = _interval(raw, less, bias, along, level)
    value, error = (less, errors[1]) if corrected else (raw, errors[0])
    if not lower and not notes:
        notes += (_DEGENERATE,)
    if not corrected and raw - less > 0.1 * raw:
        notes += (_biased(raw - less),)
    return Measure("Cramér's V", value, error, lower, upper, level, "noncentral", 0.0, _NAN, notes)


def _interval(raw: float, less: float, bias: float, error: float, level: float) -> tuple[float, float]:
    r"""Return the values of V under which the estimate is not extreme.

    Notes
    -----
    The residuals :math:`(\hat W_{ij} - \hat w_i \hat w_j)/\sqrt{w_iw_j}` are about normal, and :math:`\hat V^2` is
    their sum of squares over k. In units of its variance along the residuals, :math:`s^2`, it has about the noncentral
    chi-square distribution with noncentrality :math:`V^2/s^2`. The degrees of freedom :math:`b/s^2` give its mean,
    :math:`V^2 + b`, where b is the bias. For values that are observed directly, this is the interval of Smithson
    (2003) for independent variables, with :math:`s^2 = 1/(nk)`, and Wald's far from 0.
    """
    tail = (1 - level) / 2
    if not np.isfinite(bias) or raw**2 > _FAR * error**2:
        half = -float(ndtri(tail)) * error
        return max(less - half, 0.0) if less == less else 0.0, min(raw + half, 1.0)
    if not error:  # no variation at all
        return 0.0, 1.0
    x, df = (raw / error) ** 2, bias / error**2
    # An estimate so small that it is unlikely even for independent variables would have an interval of length 0.
    low, high = _noncentrality(x, df, 1 - tail), _noncentrality(max(x, float(chdtri(df, level))), df, tail)
    return min(low * error, 1.0), min(high * error, 1.0)


def _noncentrality(x: float, df: float, p: float) -> float:
    """Return the root of the noncentrality with which x has the cumulative probability p, or 0."""

    def excess(root: float) -> float:
        return float(chndtr(x, df, root**2)) - p

    return 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, np.sqrt(x) + 40.0, xtol=1e-9))


def raw_v(pair: Margin) -> float:
    """Return the raw estimate of Cramér's V, without a standard error."""
    W = _table(pair)
    return float(np.sqrt(phi_squared(W) / (min(W.shape) - 1)))


def phi_squared(W: FloatArray) -> float:
    """Return the mean square contingency of a table."""
    return float((_relative(W - _independent(W), W) * (W - _independent(W))).sum())


def phi_gradient(W: FloatArray) -> FloatArray:
    r"""Return the derivative of :math:`\phi^2` with respect to the table.

    Notes
    -----
    With :math:`R = W/(w_i w_j)` it is :math:`2R_{ij} - \sum_l R_{il}^2 w_l - \sum_k R_{kj}^2 w_k` (and a constant that
    is 0 if the table sums to one).
    """
    rows, columns = W.sum(axis=1), W.sum(axis=0)
    R = _relative(W, W)
    return 2 * R - (R**2 @ columns)[:, None] - (rows @ R**2)[None, :] + 2 * (W.sum() - 1)


def bias_of_phi(pair: Margin) -> float:
    r"""Return the mean increase of :math:`\phi^2` due to sampling error.

    Notes
    -----
    :math:`\sum_{ij} \mathrm{Var}(W_{ij} - w_i w_j)/(w_i w_j)`; for values that are observed directly, it is
    (p-1)(q-1)/n (Bergsma 2013).
    """
    return float(_relative(residual_errors(pair) ** 2, _table(pair)).sum())


def residual_errors(pair: Margin) -> FloatArray:
    """Return the standard error of every W_ij - w_i w_j by the delta method; infinite if there is none."""
    require_matrix(pair.fit)
    W = _table(pair)
    rows, columns = W.sum(axis=1), W.sum(axis=0)
    errors = np.empty(W.shape)
    for i, j in np.ndindex(W.shape):
        gradient = np.zeros(W.shape)
        gradient[i, j] = 1.0
        gradient[i, :] -= columns[j]
        gradient[:, j] -= rows[i]
        errors[i, j] = standard_error(pair.fit, gradient.ravel()[pair.where])
    return errors


def _table(pair: Margin) -> FloatArray:
    return pair.w.reshape(pair.categories.shape)  # type: ignore[attr-defined]


def _independent(W: FloatArray) -> FloatArray:
    return np.outer(W.sum(axis=1), W.sum(axis=0))


def _relative(values: FloatArray, W: FloatArray) -> FloatArray:
    """Return values divided by w_i w_j, or 0 where a margin is empty."""
    some = np.outer(W.sum(axis=1) > ZERO, W.sum(axis=0) > ZERO)
    return np.divide(values, _independent(W), out=np.zeros(W.shape), where=some)


def _biased(bias: float) -> Note:
    text = f"V is biased upward, more so with fewer people. Here the bias is about {bias:.2f}."
    return Note(NoteKind.BIASED, text, CORRECT_V)


def _bias(pair: Margin) -> tuple[float, tuple[Note, ...]]:
    """Return the bias of V squared, or NaN and a note on why it is not known."""
    if pair.fit.categories.p > MAX_MATRIX:
        return _NAN, (_TOO_MANY,)
    bias = bias_of_phi(pair) / (min(_table(pair).shape) - 1)
    return (bias, ()) if np.isfinite(bias) else (_NAN, (NO_ERRORS,))
