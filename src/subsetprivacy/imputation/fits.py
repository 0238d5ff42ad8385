"""Read what `pool` accepts: fits of this package and of other libraries, pairs and mappings."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages.for_analyses import NAME_THE_PARAMETERS
from subsetprivacy.tables import label_text

# Attributes of the parameters and of their covariance: statsmodels and linearmodels, lifelines, and this package.
_PARAMETERS = ("params", "params_", "estimates", "w", "coef")
_COVARIANCES = ("cov_params", "variance_matrix_", "cov", "covariance")


@frozen(eq=False)
class ReadFit:
    """Parameters of one completed set.

    Attributes
    ----------
    names
        The names of the parameters, or None.
    estimates
        Their estimates, shape (k,).
    cov
        Their covariance, shape (k, k); NaN off the diagonal if only variances are known.
    df
        The residual degrees of freedom of the complete data; infinite if not known.
    """

    names: tuple[str, ...] | None
    estimates: FloatArray
    cov: FloatArray
    df: float = inf


def read_fit(fit: Any, at: int) -> ReadFit:
    """Return the parameters of a fit.

    Parameters
    ----------
    fit
        A fit of any library with parameters and a covariance; a pair of estimates and variances, or of estimates and
        their covariance matrix; or a mapping from names to pairs of an estimate and its standard error.
    at
        Its number, for messages.
    """
    if isinstance(fit, ReadFit):
        return fit
    if isinstance(fit, Mapping):
        return _of_mapping(fit, at)
    if isinstance(fit, (tuple, list)):
        return _of_pair(fit, at)
    parameters = next((value for name in _PARAMETERS if (value := getattr(fit, name, None)) is not None), None)
    if parameters is None or callable(parameters):
        raise _unreadable(fit, at, "no parameters")
    covariance = _covariance(fit)
    if covariance is None:
        raise _unreadable(fit, at, "no covariance")
    estimates = _flat(parameters)
    cov = _numbers(covariance, at)
    if cov.shape != (len(estimates), len(estimates)):
        raise MismatchError(
            f"fit {at} must have a covariance of all its {len(estimates)} parameters; got shape {cov.shape}."
        )
    return ReadFit(_names(fit, parameters, covariance, len(estimates)), estimates, cov, _residual_df(fit))


def _covariance(fit: Any) -> Any:
    for name in _COVARIANCES:
        value = getattr(fit, name, None)
        if value is not None:
            return value() if callable(value) else value
    errors = getattr(fit, "bse", None)
    if errors is None:
        errors = getattr(fit, "standard_errors_", None)
    return None if errors is None else _diagonal(np.asarray(errors, np.float64).ravel(order="F") ** 2)


def _diagonal(variances: FloatArray) -> FloatArray:
    """Return a covariance matrix with known variances only."""
    out = np.full((len(variances), len(variances)), np.nan)
    np.fill_diagonal(out, variances)
    return out


def _flat(parameters: Any) -> FloatArray:
    """Return parameters as one array. The columns of a table, one per equation, follow each other as in covariances."""
    return np.asarray(parameters, np.float64).ravel(order="F")


def _numbers(values: Any, at: int) -> FloatArray:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"fit {at} must have numbers as parameters and covariance; got something else.") from None


def _names(fit: Any, parameters: Any, covariance: Any, k: int) -> tuple[str, ...] | None:
    """Return the names of the parameters, from our labels, an index, or a model of arrays."""
    candidates = (
        getattr(fit, "labels", None),
        getattr(fit, "names", None),
        getattr(fit, "terms", None),
        getattr(getattr(fit, "categories", None), "labels", None),
        getattr(parameters, "index", None) if np.ndim(parameters) == 1 else None,
        getattr(covariance, "index", None),
        getattr(getattr(fit, "model", None), "exog_names", None),
    )
    for names in candidates:
        if names is not None and not callable(names) and not isinstance(names, str) and len(names) == k:
            return tuple(
                label_text(name) if not isinstance(name, tuple) else ": ".join(map(str, name)) for name in names
            )
    return None


def _residual_df(fit: Any) -> float:
    df = getattr(fit, "df_resid", None)
    known = isinstance(df, (int, float, np.number)) and np.isfinite(df) and df > 0
    return float(df) if known and df is not None else inf


def _of_pair(fit: Sequence[Any], at: int) -> ReadFit:
    if len(fit) != 2:
        raise ArgumentError(
            f"fit {at} must be a pair of estimates and variances; got {len(fit)} entries.", NAME_THE_PARAMETERS
        )
    estimates, spread = (_numbers(each, at) for each in fit)
    index = getattr(fit[0], "index", None)
    names = tuple(map(str, index)) if index is not None and not callable(index) else None
    flat = np.atleast_1d(estimates)
    if flat.ndim != 1:
        raise MismatchError(f"fit {at} must have its estimates in one line; got shape {flat.shape}.")
    if spread.ndim <= 1:
        spread = _diagonal(np.atleast_1d(spread)) if spread.size > 1 else np.atleast_2d(spread)
    if spread.shape != (len(flat), len(flat)):
        raise MismatchError(
            f"fit {at} must have a variance for each of its {len(flat)} estimates, or a covariance matrix; got shape "
            f"{np.shape(fit[1])}."
        )
    return ReadFit(names, flat, spread)


def _of_mapping(fit: Mapping[Any, Any], at: int) -> ReadFit:
    try:
        pairs = np.array([[float(estimate), float(se)] for estimate, se in fit.values()]).reshape(-1, 2)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"fit {at} must map names to pairs of an estimate and its standard error; it does not.", NAME_THE_PARAMETERS
        ) from None
    if len(pairs) == 1:
        return ReadFit(tuple(map(label_text, fit)), pairs[:, 0], pairs[:, 1:] ** 2)
    return ReadFit(tuple(map(label_text, fit)), pairs[:, 0], _diagonal(pairs[:, 1] ** 2))


def _unreadable(fit: Any, at: int, got: str) -> ArgumentError:
    return ArgumentError(
        f"fit {at} must have parameters and their covariance; got {type(fit).__name__} with {got}.", NAME_THE_PARAMETERS
    )
