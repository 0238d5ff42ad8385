"""From whatever an estimator was given to counts."""

from collections.abc import Mapping
from typing import Any

from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.people import SubsetData
from subsetprivacy.data.table import SubsetTable
from subsetprivacy.errors import ArgumentError


def as_counts(data: Any) -> SubsetCounts:
    """Return the counts of whatever an estimator was given.

    Raises
    ------
    ArgumentError
        If it is neither data nor counts.
    """
    if isinstance(data, SubsetCounts):
        return data
    if isinstance(data, (SubsetData, SubsetTable)):
        return data.counts()
    hint = "sp.privatize(values, design) makes data, sp.count(subsets, design=design) counts them"
    if isinstance(data, Mapping):
        hint = "one at a time, as in {group: sp.estimate(counts) for group, counts in groups.items()}"
    if hasattr(data, "crosstab"):  # a release
        hint = "release.count('column') counts one column, release.crosstab('one', 'other') several"
    raise ArgumentError(f"`data` must be SubsetData or SubsetCounts; got {type(data).__name__}. Hint: {hint}.")
