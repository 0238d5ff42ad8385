r"""Cramér's V: the association of two variables as one number between 0 and 1.

:math:`V^2 = \phi^2/(\min(p, q) - 1)` with :math:`\phi^2 = \sum_{ij} (W_{ij} - w_i w_j)^2/(w_i w_j)`, over the rows and
columns that have weight.
"""

import numpy as np
from attrs import evolve
from scipy.special import chdtrc, chdtri, ndtri

from subsetprivacy._checks import check_choice, check_level, shown
from subsetprivacy._choices import MeasureMethod
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.likelihood import mean_loglik
from subsetprivacy.estimation.margins import Margin
from subsetprivacy.estimation.newton import newton
from subsetprivacy.incidence import MAX_MATRIX, Mapped
from subsetprivacy.measures.comparing import require_profile
from subsetprivacy.measures.extremes import LikelihoodRegion
from subsetprivacy.measures.measure import METHODS, Measure
from subsetprivacy.measures.precision import require_matrix, standard_error
from subsetprivacy.measures.shares import ZERO
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import CORRECT_V, METHOD_DELTA, TWO_VARIABLES_ALONE

_NAN, _INF = float("nan"), float("inf")
_DEGENERATE = Note(
    NoteKind.NO_STANDARD_ERRORS,
    "Near V = 0 the standard error of the delta method is not valid. Use the interval instead.",
)
_UNKNOWN = "V is not corrected for its upward bias, and the lower end of the delta interval is 0:"
NO_ERRORS = Note(NoteKind.BIASED, f"{_UNKNOWN} some standard errors are infinite.")
_TOO_MANY = Note(NoteKind.BIASED, f"{_UNKNOWN} there are more than {MAX_MATRIX} joint categories.")
_ROUNDS, _GAIN = 100, 1e-12


def cramers_v(pair: Margin, level: float, method: MeasureMethod, corrected: bool) -> Measure:
    """Return Cramér's V of a two-way table, with its interval."""
    check_level(level)
    if not isinstance(corrected, (bool, np.bool_)):
        raise ArgumentError(f"`corrected` must be True or False; got {shown(corrected)}.")
    if check_choice(method, METHODS, "method") == "profile" and corrected:
        raise ArgumentError(
            "`corrected` must be False for a profile interval; got True.",
            METHOD_DELTA,
        )
    measure = _by_delta(pair, level, corrected)
    return measure if method == "delta" else _by_profile(pair, measure)


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


def independence(counts: SubsetCounts, shape: tuple[int, int]) -> tuple[FloatArray, float]:
    """Return the maximum likelihood table of two independent variables, and its log-likelihood per person.

    One margin at a time. The likelihood of a product design splits into two parts, so one round is enough.
    """
    inc, f = counts.incidence, counts.shares
    y, height, gain = np.full(shape[1], 1 / shape[1]), -_INF, _INF
    for _ in range(_ROUNDS):
        x = newton(Mapped(inc, np.kron(np.eye(shape[0]), y[:, None])), f, tol=_GAIN).w
        y = newton(Mapped(inc, np.kron(x[:, None], np.eye(shape[1]))), f, tol=_GAIN).w
        reached = mean_loglik(inc, f, np.kron(x, y))
        gain, height = reached - height, reached
        if gain <= _GAIN:
            break
    return np.outer(x, y), height


def _table(pair: Margin) -> FloatArray:
    return pair.w.reshape(pair.categories.shape)  # type: ignore[attr-defined]


def _independent(W: FloatArray) -> FloatArray:
    return np.outer(W.sum(axis=1), W.sum(axis=0))


def _relative(values: FloatArray, W: FloatArray) -> FloatArray:
    """Return values divided by w_i w_j, or 0 where a margin is empty."""
    some = np.outer(W.sum(axis=1) > ZERO, W.sum(axis=0) > ZERO)
    return np.divide(values, _independent(W), out=np.zeros(W.shape), where=some)


def _by_delta(pair: Margin, level: float, corrected: bool) -> Measure:
    """Return V with an interval that allows for its bias, from below the corrected V to above the raw V."""
    W = _table(pair)
    k = min(W.shape) - 1
    raw, less, notes = raw_v(pair), *_less_bias(pair)
    of_square = standard_error(pair.fit, phi_gradient(W).ravel()[pair.where]) / k
    errors = [_INF if v == 0 else of_square / (2 * v) for v in (raw, less)]
    z = float(ndtri(0.5 + level / 2))
    lower, upper = max(0.0, less - z * errors[1]), min(raw + z * errors[0], 1.0)
    value, error = (less, errors[1]) if corrected else (raw, errors[0])
    if not lower and not notes:
        notes += (_DEGENERATE,)
    if not corrected and raw - less > 0.1 * raw:
        notes += (_biased(raw - less),)
    return Measure("Cramér's V", value, error, lower, upper, level, "delta", 0.0, _NAN, notes)


def _biased(bias: float) -> Note:
    text = f"V is biased upward, more so with fewer people. Here the bias is about {bias:.2f}."
    return Note(NoteKind.BIASED, text, CORRECT_V)


def _less_bias(pair: Margin) -> tuple[float, tuple[Note, ...]]:
    """Return V minus its bias, or NaN and a note on why the bias is not known."""
    if pair.fit.categories.p > MAX_MATRIX:
        return _NAN, (_TOO_MANY,)
    bias = bias_of_phi(pair) / (min(_table(pair).shape) - 1)
    if not np.isfinite(bias):
        return _NAN, (NO_ERRORS,)
    return float(np.sqrt(max(raw_v(pair) ** 2 - bias, 0.0))), ()


def _by_profile(pair: Margin, measure: Measure) -> Measure:
    """Replace the interval by the range of V over all tables that the likelihood ratio test does not reject."""
    require_profile(pair.fit)
    counts, shape = pair.fit.counts, _table(pair).shape
    if pair.fit.categories.p > pair.categories.p:
        raise ArgumentError(
            "a profile interval of V must come from an estimate of exactly two variables; got one of more.",
            TWO_VARIABLES_ALONE,
        )
    best = newton(counts.incidence, counts.shares, tol=_GAIN).w
    excess = 2 * counts.total * (mean_loglik(counts.incidence, counts.shares, best) - independence(counts, shape)[1])
    df = (shape[0] - 1) * (shape[1] - 1)
    lower, upper = _range(counts, best, shape, float(chdtri(1, 1 - measure.level)) / 2)
    if excess <= chdtri(df, 1 - measure.level):  # independence is not rejected
        lower = 0.0
    notes = tuple(note for note in measure.notes if note.kind is not NoteKind.NO_STANDARD_ERRORS)
    pvalue = float(chdtrc(df, max(excess, 0.0)))
    return evolve(measure, lower=lower, upper=upper, method="profile", pvalue=pvalue, notes=notes)


def _range(counts: SubsetCounts, best: FloatArray, shape: tuple[int, int], drop: float) -> tuple[float, float]:
    """Return the smallest and largest V of the tables whose log-likelihood is at most `drop` below the maximum."""
    region, k = LikelihoodRegion(counts, best, drop), min(shape) - 1

    def value(w: FloatArray) -> float:
        return phi_squared(w.reshape(shape))

    def slope(w: FloatArray) -> FloatArray:
        return phi_gradient(w.reshape(shape)).ravel()

    least = region.least(value, slope)
    most = -region.least(lambda w: -value(w), lambda w: -slope(w))
    low, high = np.sqrt(np.clip([least / k, most / k], 0.0, 1.0))
    return float(low), float(high)
