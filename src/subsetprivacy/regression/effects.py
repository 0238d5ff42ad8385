"""Adjusted shares and marginal effects of covariates, averaged over the fitted people."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError, NotPrivateWarning
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.regression.prediction import MarginalEffects, Prediction, average_shares, errors_of, row_names
from subsetprivacy.tables import label_text

if TYPE_CHECKING:
    from subsetprivacy.regression.result import Regression

_STEP = 1e-4  # step of a numerical derivative, in standard deviations


def _average(
    fit: Regression, variable: str, value: Any, times: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the mean shares and their gradient if a variable had one value for everyone, or a given value for each."""
    rows = fit._require_rows()
    X = fit._matrix(fit.columns.encoder.replace_variable(rows.table, variable, value))
    if rows.answered is not None:
        X, times = X[rows.answered], None if times is None else times[rows.answered]
    return average_shares(fit.model, fit.fit.theta, X, rows.weight, fit._offset(), times=times)


def _require_unchanged(fit: Regression) -> None:
    """Raise if the table has changed since the model was fitted."""
    rows = fit._require_rows()
    X = fit.columns.encoder.matrix(rows.table)
    if not np.array_equal(X if rows.answered is None else X[rows.answered], rows.X):
        raise ArgumentError("the table of covariates must be as it was when the model was fitted; it has changed.")


def _values(fit: Regression, variable: str) -> FloatArray:
    """Return a variable's number for everyone. People without an answer get a fitted person's, to no effect."""
    rows = fit._require_rows()
    column = np.asarray(fit.columns.encoder.frame(rows.table)[variable], np.float64)
    return column if rows.answered is None else np.where(rows.answered, column, column[rows.answered.argmax()])


def _require_variable(fit: Regression, variable: str) -> None:
    known = fit.columns.encoder.variables
    if variable not in known:
        raise ArgumentError(f"`variable` must be a covariate of the model ({', '.join(known)}); got another one.")


def adjusted_shares(fit: Regression, variable: str, values: Sequence[Any] | None) -> Prediction:
    """Return the mean shares with a variable set to each of the given values."""
    _require_variable(fit, variable)
    _require_unchanged(fit)
    if values is None:
        levels = fit.columns.encoder.levels.get(variable)
        chosen: list[Any] = list(levels) if levels is not None else _quartiles(fit, variable)
    else:
        chosen = list(values)
    averages = [_average(fit, variable, value) for value in chosen]
    errors = np.array([errors_of(gradient, fit._usable_cov) for _, gradient in averages])
    names = row_names([f"{value:.4g}" if isinstance(value, float) else value for value in chosen])
    shares = np.array([mean for mean, _ in averages])
    return Prediction(
        variable, names, fit.categories.labels, shares, errors, fit.n, degrees_of_freedom=fit.degrees_of_freedom
    )


def _quartiles(fit: Regression, variable: str) -> list[float]:
    """Return the weighted quartiles of a variable among the fitted people."""
    rows, column = fit._require_rows(), _values(fit, variable)
    fitted = column if rows.answered is None else column[rows.answered]
    if rows.weight is None:
        return sorted(set(np.quantile(fitted, [0.25, 0.5, 0.75], method="inverted_cdf").tolist()))
    order = np.argsort(fitted)
    reached = np.cumsum(rows.weight[order])
    at = np.searchsorted(reached, np.array([0.25, 0.5, 0.75]) * reached[-1] * (1 - 1e-12))
    return sorted(set(fitted[order][at].tolist()))


def marginal_effects(fit: Regression, variables: str | Sequence[str] | None) -> MarginalEffects:
    """Return the mean change of the shares with each variable."""
    _require_unchanged(fit)
    encoder = fit.columns.encoder
    wanted = list(encoder.variables) if variables is None else [variables] if isinstance(variables, str) else variables
    names: list[str] = []
    changes: list[tuple[FloatArray, FloatArray]] = []
    for variable in wanted:
        _require_variable(fit, variable)
        levels = encoder.levels.get(variable)
        if levels is None:
            names.append(f"{variable} (+1)")
            changes.append(_derivative(fit, variable, _values(fit, variable)))
            continue
        first = _average(fit, variable, levels[0])
        for level in levels[1:]:
            there = _average(fit, variable, level)
            names.append(f"{variable}: {label_text(level)} instead of {label_text(levels[0])}")
            changes.append((there[0] - first[0], there[1] - first[1]))
    estimate = np.array([change for change, _ in changes]).reshape(-1, fit.categories.p)
    errors = [errors_of(gradient, fit._usable_cov) for _, gradient in changes]
    return MarginalEffects(
        tuple(names),
        fit.categories.labels,
        estimate,
        np.array(errors).reshape(estimate.shape),
        fit.n,
        degrees_of_freedom=fit.degrees_of_freedom,
    )


def _derivative(fit: Regression, variable: str, column: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean derivative of the shares in a number, and its gradient. Zeros and ones are compared directly."""
    if set(np.unique(column).tolist()) <= {0.0, 1.0}:
        low, high = _average(fit, variable, 0.0), _average(fit, variable, 1.0)
    else:
        # Splines end at the smallest and the largest value, so no one is moved beyond them.
        step, ends = _STEP * (float(column.std()) or 1.0), (column.min(), column.max())
        below, above = (np.clip(column + sign * step, *ends) for sign in (-1, 1))
        low, high = (_average(fit, variable, moved, 1 / (above - below)) for moved in (below, above))
    return high[0] - low[0], high[1] - low[1]


def posterior_shares(fit: Regression) -> FloatArray:
    """Return P(X = j | x, A) for each person, and warn that these are guesses about individuals."""
    rows = fit._require_rows()
    warnings.warn(
        NotPrivateWarning("these are guesses about individuals: keep them out of files and reports."), stacklevel=3
    )
    q = fit.probabilities * rows_of(rows.codes, fit.problem.design).T
    return np.asarray(q / q.sum(axis=1, keepdims=True))
