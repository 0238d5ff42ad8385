"""Argument checks that several packages share. Each raises a named error or returns clean arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from subsetprivacy._types import AnyArray, ArrayLike, Distribution, FloatArray, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError, CodeError, DistributionError, MismatchError
from subsetprivacy.messages.for_general import (
    ALPHA_OF_A_TEST,
    DIVIDE_BY_THE_SUM,
    GAPS_AS_FULL,
    GAPS_AS_MISSING,
    LEVEL_AS_A_SHARE,
    LEVEL_OF_INTERVALS,
    PROJECT_THE_SHARES,
    SAME_INDEX,
    SHARES_NOT_PERCENT,
)

SUM_TOLERANCE = 1e-6

Word = TypeVar("Word", bound=str)


def read_only(array: AnyArray) -> Any:
    """Return a private, read-only copy of `array`."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy


def shown(value: Any) -> str:
    """Return a number, word or joint label as it is. Anything else may be personal data and is shown by type only."""
    if isinstance(value, tuple) and 0 < len(value) <= 8:
        return f"({', '.join(shown(part) for part in value)})"
    return repr(value) if value is None or isinstance(value, (int, float, str, np.number)) else type(value).__name__


def check_share(share: float, name: str) -> float:
    """Return `share` if it is a number strictly between 0 and 1."""
    if not isinstance(share, (int, float, np.floating)) or not 0 < share < 1:
        raise ArgumentError(f"`{name}` must be between 0 and 1; got {shown(share)}.", LEVEL_AS_A_SHARE)
    return float(share)


def check_level(level: float) -> float:
    """Return `level` if it is a confidence level: at least 1/2."""
    if check_share(level, "level") < 0.5:
        raise ArgumentError(
            f"`level` must be at least 0.5, because it is a confidence level; got {shown(level)}.", ALPHA_OF_A_TEST
        )
    return float(level)


def check_alpha(alpha: float, name: str = "alpha") -> float:
    """Return `alpha` if it is the level of a test: at most 1/2."""
    if check_share(alpha, name) > 0.5:
        raise ArgumentError(
            f"`{name}` must be at most 0.5, because it is the level of a test; got {shown(alpha)}.",
            LEVEL_OF_INTERVALS if name == "alpha" else None,
        )
    return float(alpha)


def check_count(value: Any, name: str, least: int = 0) -> int:
    """Return `value` as an int if it is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ArgumentError(f"`{name}` must be a whole number of at least {least}; got {shown(value)}.")
    return int(value)


def check_number(value: Any, name: str, least: float) -> float:
    """Return `value` if it is a finite number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not least <= value < np.inf:
        raise ArgumentError(f"`{name}` must be a number of at least {least:g}; got {shown(value)}.")
    return float(value)


def check_choice(value: Word, allowed: Sequence[Word], name: str) -> Word:
    """Return `value` if it is one of `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ArgumentError(f"`{name}` must be one of {', '.join(allowed)}; got {shown(value)}.")
    return value


def check_distribution(w: Distribution | ArrayLike, labels: Sequence[Label], name: str = "w") -> FloatArray:
    """Return `w` as a float vector on the simplex, in the order of `labels`.

    Raises
    ------
    DistributionError
        If a label is missing or unknown, the length is wrong, an entry is
        negative or not finite, or the sum is not one.
    """
    if isinstance(w, Mapping) or _is_labeled(w, labels):
        w = _from_mapping(dict(w.items()), labels, name)  # type: ignore[union-attr]
    try:
        vector = np.asarray(w, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DistributionError(f"`{name}` must be numbers, one per category; got {type(w).__name__}.") from None
    if vector.shape != (len(labels),):
        given = f"{len(vector)}" if vector.ndim == 1 else f"shape {vector.shape}"
        raise DistributionError(f"`{name}` must have one entry for each of the {len(labels)} categories; got {given}.")
    if not np.isfinite(vector).all():
        raise DistributionError(
            f"`{name}` must be finite; got "
            f"{counted((~np.isfinite(vector)).sum(), 'entry that is', 'entries that are')} not."
        )
    if vector.min() < -1e-12:
        j = int(vector.argmin())
        raise DistributionError(
            f"`{name}` must be non-negative; got {vector[j]:.4g} for {labels[j]!r}.",
            PROJECT_THE_SHARES if name == "w" else None,
        )
    if abs(vector.sum() - 1) > SUM_TOLERANCE:
        percentages = abs(vector.sum() - 100) < 1
        advice = SHARES_NOT_PERCENT if percentages else DIVIDE_BY_THE_SUM
        raise DistributionError(f"`{name}` must sum to 1; got {vector.sum():.6g}.", advice)
    return np.maximum(vector, 0.0)


def _is_labeled(w: Any, labels: Sequence[Label]) -> bool:
    """Tell whether `w` is a pandas series whose index has names, not only numbers."""
    index = getattr(w, "index", None)
    if not hasattr(w, "items") or index is None or callable(index):
        return False
    return list(index) != list(range(len(labels)))


def _from_mapping(w: Mapping[Label, float], labels: Sequence[Label], name: str) -> list[float]:
    known = set(labels)
    unknown = [label for label in w if label not in known]
    absent = [label for label in labels if label not in w]
    if unknown or absent:
        named = ", ".join(repr(label) for label in (unknown or absent)[:6]) + (
            ", …" if len(unknown or absent) > 6 else ""
        )
        what = f"unknown {named}" if unknown else f"no entry for {named}"
        raise DistributionError(f"`{name}` must give one number per category; got {what}.")
    return [w[label] for label in labels]


def index_of(columns: Mapping[str, Any]) -> Any:
    """Return the index of the first pandas column, or None if no column has one."""
    indexes = (getattr(column, "index", None) for column in columns.values())
    return next((own for own in indexes if hasattr(own, "equals")), None)


def check_same_index(columns: Mapping[str, Any]) -> None:
    """Raise if pandas columns that belong together have different indexes, since rows are matched by position.

    Parameters
    ----------
    columns
        The columns by name. None and objects without an index are skipped.
        So are columns of other lengths, which other checks refuse.

    Raises
    ------
    MismatchError
        If two indexes differ.
    """
    first = ""
    index: Any = None
    for name, column in columns.items():
        own: Any = getattr(column, "index", None)
        if not hasattr(own, "equals"):  # a list has a method of that name
            continue
        if index is None:
            first, index = name, own
        elif len(own) == len(index) and not own.equals(index):
            raise MismatchError(f"`{name}` must have the same index as `{first}`; got another one.", SAME_INDEX)


def check_codes(codes: ArrayLike, name: str = "codes") -> IntArray:
    """Return subset codes as a one-dimensional int64 array."""
    try:
        array = np.asarray(codes)
    except ValueError:  # lists of different lengths
        raise CodeError(f"`{name}` must be integers, one subset code per person; got nested lists.") from None
    if array.ndim != 1:
        raise CodeError(f"`{name}` must be one-dimensional; got shape {array.shape}.")
    if np.ma.is_masked(codes):
        gaps = counted(float(np.sum(np.ma.asarray(codes).mask)), "masked entry", "masked entries")
        raise CodeError(f"`{name}` must have no masked entries; got {gaps}.", GAPS_AS_FULL)
    if array.dtype == np.bool_ or not np.issubdtype(array.dtype, np.integer):
        if array.size == 0:
            return np.empty(0, np.int64)
        raise CodeError(
            f"`{name}` must be integers, one subset code per person; got dtype {array.dtype}.",
            GAPS_AS_MISSING,
        )
    return array.astype(np.int64, copy=False)
