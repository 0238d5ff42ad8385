"""Round columns to few values, so that boosting on histograms has the same bins in every round.

`HistGradientBoostingClassifier` computes its bins from weighted rows in every call of ``fit``. When weights change, the
trees kept by a warm start would be read with other bins. A column with at most `max_bins` values has a bin for each
value, for any weights, with thresholds halfway between two values. Rounding a number to the nearest of these values
does not move it across a threshold, so the trees also hold for numbers that are not rounded.
"""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from subsetprivacy._types import AnyArray, FloatArray
from subsetprivacy.engines import is_table

_SUBSAMPLED = 200_000  # with more rows, scikit-learn samples them for bins and may miss rare values


def rounded(X: Any, categorical: Any, max_bins: int, rows: int) -> Any:
    """Return covariates with at most `max_bins` values in each numeric column that is not categorical.

    Parameters
    ----------
    X
        An array or a data frame. Columns of other types are unchanged.
    categorical
        The estimator's parameter `categorical_features`: a mask, positions or names.
    max_bins
        The largest number of values in a column.
    rows
        The number of rows that the estimator will get.
    """
    if is_table(X):
        frame = nw.from_native(X, eager_only=True)
        skipped = _skipped(categorical, list(frame.columns))
        new = [
            nw.new_series(name, _round(frame[name].to_numpy(), max_bins, rows), backend=frame.implementation)
            for at, name in enumerate(frame.columns)
            if at not in skipped and frame[name].dtype.is_numeric()
        ]
        return nw.to_native(frame.with_columns(*new)) if new else X
    values = np.array(X, np.float64)
    skipped = _skipped(categorical, [])
    for at in range(values.shape[1]):
        if at not in skipped:
            values[:, at] = _round(values[:, at], max_bins, rows)
    return values


def _skipped(categorical: Any, names: list[str]) -> set[int]:
    """Return the positions of categorical columns."""
    if categorical is None or isinstance(categorical, str):  # "from_dtype": columns that are not numeric
        return set()
    listed = np.asarray(categorical)
    if listed.dtype.kind == "b":
        return set(np.flatnonzero(listed).tolist())
    return {names.index(each) if isinstance(each, str) else int(each) for each in listed.tolist()}


def _round(column: AnyArray, max_bins: int, rows: int) -> FloatArray:
    """Return a column with each number rounded to the nearest of at most `max_bins` values."""
    column = np.asarray(column, np.float64)
    known = np.sort(column[~np.isnan(column)])
    if not known.size:
        return column
    few = len(np.unique(known)) <= max_bins
    if few and rows <= _SUBSAMPLED:
        return column
    at = ((np.arange(max_bins) + 0.5) * len(known) / max_bins).astype(np.int64)
    values = np.unique(known[at])
    halfway = (values[1:] + values[:-1]) / 2
    out = values[np.searchsorted(halfway, column, side="left")]
    return np.where(np.isnan(column), np.nan, out)
