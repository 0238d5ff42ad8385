"""Checks of codes and counts before they become data."""

from typing import Any

import numpy as np

from subsetprivacy._checks import check_codes, read_only
from subsetprivacy._types import AnyArray, ArrayLike, IntArray
from subsetprivacy._words import counted
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import CodeError, MismatchError
from subsetprivacy.messages.for_data import COUNT_REPEATED_CODES, IS_THIS_THE_DESIGN, PASS_SQUARES

_MAX_PEOPLE = 1 << 53


def check_allowed(codes: IntArray, design: Design, rows: str = "row") -> None:
    """Raise if a code is the empty set or a subset that the design cannot produce."""
    largest = (1 << design.code_bits) - 1
    outside = (codes <= 0) | (codes > largest)
    if outside.any():
        first = int(outside.argmax())
        what = "0, the empty set" if codes[first] == 0 else "outside the categories"
        raise CodeError(
            f"`codes` must lie in 1…{largest}; got "
            f"{counted(outside.sum(), 'code that does not', 'codes that do not')}, first in {rows} {first} ({what})."
        )
    foreign = ~design.allows(codes)
    if foreign.any():
        raise CodeError(
            f"`codes` must be subsets that the {design.maker} design can produce; got "
            f"{counted(foreign.sum(), 'code that is not', 'codes that are not')}, first in {rows} "
            f"{int(foreign.argmax())}.",
            IS_THIS_THE_DESIGN,
        )


def as_codes(codes: ArrayLike) -> IntArray:
    """Return a private, read-only copy of subset codes."""
    return read_only(check_codes(codes))


def check_entries(codes: IntArray, design: Design) -> IntArray:
    """Return the order that sorts distinct codes of a design, or raise."""
    require_design(design)
    if len(np.unique(codes)) < len(codes):
        raise CodeError("`codes` must be distinct; got a code twice.", COUNT_REPEATED_CODES)
    check_allowed(codes, design, rows="entry")
    return np.argsort(codes)


def check_amounts(values: Any, shape: tuple[int, ...], name: str, whole: bool) -> AnyArray:
    """Return counts or sums of weights as checked numbers, counts as int64."""
    try:
        amounts = np.asarray(values, dtype=None if whole else np.float64)
        numeric = amounts.dtype.kind in "iuf"
    except (TypeError, ValueError):
        numeric = False
    if not numeric:
        raise CodeError(f"`{name}` must be numbers; got {type(values).__name__}.")
    if amounts.shape != shape:
        raise MismatchError(
            f"`{name}` must have one entry per code; got shape {amounts.shape} for {counted(shape[-1], 'code')}."
        )
    if not np.isfinite(amounts).all() or (amounts < 0).any():
        raise CodeError(f"`{name}` must be finite and not negative; got other numbers.")
    if not whole:
        return amounts
    if (amounts != np.floor(amounts)).any():
        raise CodeError(f"`{name}` must be whole numbers of people; got fractions.", PASS_SQUARES)
    if (amounts > _MAX_PEOPLE).any():
        raise CodeError(
            f"`{name}` must be at most {_MAX_PEOPLE} each, because larger whole numbers are not exact; got more."
        )
    return amounts.astype(np.int64)
