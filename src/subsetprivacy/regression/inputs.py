"""Read and check weights, clusters and offsets, one for each person."""

from typing import Any

import numpy as np

from subsetprivacy._choices import WeightsKind
from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy._words import counted, people
from subsetprivacy.counting.columns import check_kind, check_weights
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.sampling import Sampling


def read_weights(weights: Any, kind: WeightsKind | None, n: int) -> tuple[FloatArray | None, bool]:
    """Return the weight of each person, and whether weights count people."""
    frequency = check_kind(weights, kind)
    if weights is None:
        return None, True
    return check_weights(weights, n, "frequency" if frequency else "sampling"), frequency


def read_clusters(clusters: Any, n: int) -> Any:
    """Return the label of each person's cluster."""
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise MismatchError(f"`clusters` must be one for each person; got shape {labels.shape} for {people(n)}.")
    gaps = np.array([each is None or each != each for each in labels.tolist()])
    if gaps.any():
        raise ArgumentError(
            f"`clusters` must be known for everyone; got {int(gaps.sum())} missing, first in row {int(gaps.argmax())}."
        )
    if labels.dtype.kind != "O":
        return labels
    known: dict[Any, int] = {}  # mixed text and numbers cannot be sorted
    return np.array([known.setdefault(label, len(known)) for label in labels.tolist()])


def used_rows(weights: Any, sampling: Sampling | None, n: int) -> BoolArray | None:
    """Return which rows have a positive weight, whose cells must be known; None if all do, or weights are invalid."""
    if sampling is not None:
        weights = sampling.of_people(n).weights
    try:
        each = np.ones(0) if weights is None else np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        return None
    used = each > 0
    return None if used.shape != (n,) or used.all() or not used.any() else used


def read_offset(offset: Any, n: int, used: BoolArray | None = None) -> FloatArray | None:
    """Return the offset of each person's linear predictors, shape (n, 1); 0 in rows that are not used."""
    if offset is None:
        return None
    try:
        numbers = np.asarray(offset, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (n,):
        raise MismatchError(f"`offset` must be a number for each person; got shape {numbers.shape} for {people(n)}.")
    numbers = numbers if used is None else np.where(used, numbers, 0.0)
    bad = ~np.isfinite(numbers)
    if bad.any():
        raise ArgumentError(
            f"`offset` must be finite; got {counted(bad.sum(), 'number that is not', 'numbers that are not')}, "
            f"first in row {int(bad.argmax())}."
        )
    return numbers[:, None]
