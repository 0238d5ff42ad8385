"""Columns for means: the outcome as numbers, and known groups in order."""

from typing import Any

import numpy as np

from subsetprivacy._types import AnyArray, FloatArray, IntArray, Label
from subsetprivacy._words import people
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.frames.covariates import CovariateColumn, LabelColumn, covariate_column, number_levels
from subsetprivacy.means.sample import KnownGroups
from subsetprivacy.messages.for_analyses import OUTCOME_AS_NUMBERS


def outcome_numbers(column: CovariateColumn, rows: int, name: str) -> FloatArray:
    """Return a column of numbers, NaN where a cell is empty.

    Raises
    ------
    ArgumentError
        If it contains text.
    """
    if isinstance(column, LabelColumn):
        raise ArgumentError(f"the outcome must be a column of numbers; {name} holds text.", OUTCOME_AS_NUMBERS)
    return np.asarray(column.part(0, rows), np.float64)


def plain_labels(column: Any) -> AnyArray:
    """Return the numbers of people's labels, in order; None marks a missing one."""
    number, labels = _levels(covariate_column(column, "clusters"), len(column))
    out = number.astype(object)
    if labels and labels[-1] is None:
        out[number == len(labels) - 1] = None
    return out


def known_groups(columns: dict[str, Any], n: int) -> KnownGroups | None:
    """Return the known group of each person, and the observed groups in order, missing ones last.

    Parameters
    ----------
    columns
        Columns of labels by name; several columns form groups by their combinations.
    n
        The number of people.
    """
    if not columns:
        return None
    number = np.zeros(n, np.int64)
    labels: list[tuple[Any, ...]] = [()]
    for name, column in columns.items():
        if len(column) != n:
            raise MismatchError(f"`by` must give one group per person; got {len(column)} for {people(n)}.")
        at, levels = _levels(covariate_column(column, name), n)
        number = number * len(levels) + at
        labels = [(*before, level) for before in labels for level in levels]
        present, number = np.unique(number, return_inverse=True)
        labels = [labels[k] for k in present]
    names: list[Label] = [label[0] if len(columns) == 1 else label for label in labels]
    return KnownGroups(tuple(names), np.asarray(number, np.int64), tuple(columns))


def _levels(column: CovariateColumn, n: int) -> tuple[IntArray, list[Any]]:
    """Return the position of each person's level, and the levels in order, with None last if some are missing."""
    if isinstance(column, LabelColumn):
        levels = column.levels()
        place = {level: k for k, level in enumerate(levels)}
        at = np.array([place.get(label, 0) for label in column.labels] or [0], np.int64)[column.codes]
        gaps = column.codes < 0
    else:
        numbers = np.asarray(column.part(0, n), np.float64)
        gaps = np.isnan(numbers)
        distinct, at = np.unique(numbers[~gaps], return_inverse=True)
        levels = list(number_levels(set(distinct.tolist()), "by", column.boolean))
        spread = np.zeros(n, np.int64)
        spread[~gaps] = at
        at = spread
    if gaps.any():
        at = np.where(gaps, len(levels), at)
        levels = [*levels, None]
    return np.asarray(at, np.int64), levels
