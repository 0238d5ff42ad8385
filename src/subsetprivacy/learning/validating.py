"""Check the input that scikit-learn passes to an estimator, with messages that never show a cell."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_regression import NUMBERS_ONLY


def read_features(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    """Return covariates as an array of floating-point numbers, with scikit-learn's checks.

    Raises
    ------
    ArgumentError
        If a column is not numeric.
    ValueError
        As in scikit-learn: for missing or infinite numbers, sparse matrices, or a different number of columns.
    """
    try:
        return np.asarray(validate_data(estimator, X, reset=reset, dtype=(np.float64, np.float32)))
    except ValueError as error:
        shows_a_cell = "could not convert" in str(error)
        if not shows_a_cell:
            raise
    raise ArgumentError("`X` must be numbers; got something else in some cells.", NUMBERS_ONLY)


def require_target(estimator: Any, y: Any) -> None:
    """Raise with scikit-learn's wording if there is no target."""
    if y is None:
        raise ArgumentError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
