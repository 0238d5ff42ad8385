"""Columns with few enough values that boosting on histograms has the same bins in every round.

`HistGradientBoostingClassifier` makes its bins from weighted rows in every call of ``fit``. When weights change, trees
that a warm start keeps would be read with other bins. A column with at most `max_bins` values has a bin for each,
whatever the weights, with thresholds halfway between two values. A number that is rounded to the nearest of these
values lies on the same side of all thresholds as before, so the trees hold for numbers that are not rounded, too.
"""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from subsetprivacy._types import AnyArray, FloatArray
from subsetprivacy.engines import is_table

_SUBSAMPLED = 200_000  # rows above which scikit-learn looks at some of them for bins, and may miss rare values


def rounded(X: Any, categorical: Any, max_bins: int, rows: int) -> Any:
    """Return covariates with at most so many values in each column of numbers that is not categorical.

    Parameters
    ----------
    X
        An array, or a data frame, whose columns of other types are left as they are.
    categorical
        The estimator's parameter `categorical_features`: a mask, positions or names.
    max_bins
        The most values in a column.
    rows
        How many rows the estimator will see.
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
    if categorical is None or isinstance(categorical, str):  # "from_dtype": columns that are no numbers
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
