"""`as_counts`: convert the data given to an estimator to counts."""

from collections.abc import Mapping
from typing import Any

from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.people import SubsetData
from subsetprivacy.data.table import SubsetTable
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_data import COUNT_THE_RELEASE, MAKE_DATA, ONE_GROUP_AT_A_TIME, USE_ITS_COUNTS


def as_counts(data: Any, name: str = "data", besides: str = "") -> SubsetCounts:
    """Return the counts of the data given to an estimator.

    Parameters
    ----------
    data
        The data.
    name
        The argument, for the message.
    besides
        What else the caller accepts, for the message: "a design, ".

    Raises
    ------
    ArgumentError
        If `data` is neither data nor counts.
    """
    if isinstance(data, SubsetCounts):
        return data
    if isinstance(data, (SubsetData, SubsetTable)):
        return data.counts()
    advice = MAKE_DATA
    if isinstance(data, Mapping):
        advice = ONE_GROUP_AT_A_TIME
    if isinstance(getattr(data, "counts", None), SubsetCounts):  # an estimate
        advice = USE_ITS_COUNTS
    if hasattr(data, "crosstab"):  # a release
        advice = COUNT_THE_RELEASE
    raise ArgumentError(f"`{name}` must be {besides}SubsetData or SubsetCounts; got {type(data).__name__}.", advice)
