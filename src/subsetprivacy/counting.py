"""`count`: from anything that holds subsets to their counts, in groups and with weights."""

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any, overload

import numpy as np

from subsetprivacy._checks import check_choice, check_codes
from subsetprivacy._types import ArrayLike, FloatArray, IntArray, Label
from subsetprivacy.data import SubsetCounts, SubsetData, SubsetTable, check_allowed, count_codes
from subsetprivacy.design import Covered, Design, coarse, require_design
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, MismatchError
from subsetprivacy.subsets import Categories, is_frame, is_missing

WEIGHT_KINDS = ("frequency", "sampling")


@overload
def count(
    data: Any,
    *,
    design: Design | None = ...,
    categories: Iterable[Label] | None = ...,
    by: None = ...,
    weights: ArrayLike | None = ...,
    weights_kind: str | None = ...,
) -> SubsetCounts: ...
@overload
def count(
    data: Any,
    *,
    design: Design | None = ...,
    categories: Iterable[Label] | None = ...,
    by: Iterable[Label],
    weights: ArrayLike | None = ...,
    weights_kind: str | None = ...,
) -> dict[Label, SubsetCounts]: ...
def count(
    data: Any,
    *,
    design: Design | None = None,
    categories: Iterable[Label] | None = None,
    by: Iterable[Label] | None = None,
    weights: ArrayLike | None = None,
    weights_kind: str | None = None,
) -> SubsetCounts | dict[Label, SubsetCounts]:
    """Count subsets.

    Parameters
    ----------
    data
        `SubsetData`; or integer codes; or one collection of labels per
        person. A missing entry counts as the full set.
    design
        The design of codes or label collections.
    categories
        The labels, for subsets that were collected by others with no known
        design. Then *coarsening at random* is assumed: which subset was
        reported, given that it holds the value, does not depend on the
        value. Estimate with the default method; its standard errors come
        from the observed information.
    by
        A group label per person; then a dict of counts per group is returned,
        groups in the order in which they first appear, missing ones as None.
    weights
        A weight per person.
    weights_kind
        Must be said with weights. ``"sampling"``: survey weights; sums and
        sums of squares are kept, standard errors are of the sandwich kind and
        n is Kish's effective size. ``"frequency"``: a row stands for that
        many people.

    Raises
    ------
    CodeError, CategoryError
        Saying the first row that is wrong, never its content.

    Examples
    --------
    >>> answers = [{"a", "b"}, {"c"}, None, {"a", "b", "c"}]
    >>> count(answers, categories=["a", "b", "c"])
    <SubsetCounts: n = 2, 2 distinct subsets, 2 missing, <coarse design on 3 categories: 'a', 'b', 'c'>>
    """
    if weights is not None and weights_kind is None:
        raise ArgumentError(
            "`weights_kind` must be given with weights: 'sampling' for survey weights, 'frequency' where a row stands "
            "for several people."
        )
    frequency = weights_kind is None or check_choice(weights_kind, WEIGHT_KINDS, "weights_kind") == "frequency"
    codes, chosen = read_column(data, design, categories)
    amounts = None if weights is None else _check_weights(weights, len(codes), str(weights_kind))
    if by is None:
        return count_codes(codes, chosen, amounts, frequency=frequency)
    if isinstance(chosen, Covered):
        raise ArgumentError("`by` must be left out for a covered release: dummy rows belong to no group.")
    check_allowed(codes, chosen)  # now, while a row number is still that of the whole
    return {
        group: count_codes(codes[rows], chosen, None if amounts is None else amounts[rows], frequency=frequency)
        for group, rows in _groups(by, len(codes)).items()
    }


def read_column(data: Any, design: Design | None, categories: Iterable[Label] | None = None) -> tuple[IntArray, Design]:
    """Return the codes of a column, one per person, and their design."""
    if isinstance(data, SubsetData):
        if design is not None and design != data.design:
            raise MismatchError("`design` must be the design of `data`; got another one.")
        return data.codes, data.design
    if isinstance(data, SubsetTable):
        return read_column(data.select(data.names), design, categories)
    if isinstance(data, SubsetCounts):
        raise ArgumentError("`data` must hold a subset per person; got SubsetCounts, which are counted already.")
    if is_frame(data):
        raise CodeError("`data` must be one column; got a data frame. Hint: pass frame['name'].")
    if isinstance(data, (str, bytes, Set, Mapping)) or not isinstance(data, Iterable):
        hint = " Hint: a set of sets would merge people who reported the same." if isinstance(data, Set) else ""
        raise CodeError(f"`data` must be a list with one subset per person; got {type(data).__name__}.{hint}")
    if (design is None) == (categories is None):
        raise ArgumentError("`design` must be given, or `categories` where the design is not known; not both.")
    chosen = require_design(design) if categories is None else coarse(categories)
    return _codes_of(data, chosen), chosen


def _codes_of(column: Any, design: Design) -> IntArray:
    rows = _plain_rows(column)
    numbers = isinstance(rows, np.ndarray) and rows.dtype != object
    if not numbers:
        rows = list(rows)
        first = next((row for row in rows if not is_missing(row)), None)
        numbers = isinstance(first, (int, float, np.number))
        if numbers:  # codes with gaps, as a nullable column has them: a missing answer is the full set
            rows = [design.missing_code if is_missing(row) else row for row in rows]
    if numbers:
        return check_codes(_whole_numbers(rows, design))
    if design.code_space != "mask":
        raise CodeError(
            f"subsets of a {design.kind} design must be given as its codes; got something else. "
            "Hint: this design numbers its subsets."
        )
    categories = design.categories
    return np.fromiter((_row_code(row, number, categories) for number, row in enumerate(rows)), np.int64, len(rows))


def _whole_numbers(rows: Any, design: Design) -> Any:
    """Return codes that a file with gaps turned into floats as integers, gaps as full sets; others as they are."""
    if np.ma.isMaskedArray(rows):
        return rows  # refused if anything is masked
    if not isinstance(rows, np.ndarray) and not any(isinstance(row, float) for row in rows):
        return rows
    floats = np.asarray(rows)
    if floats.dtype.kind != "f":
        return rows
    gaps = np.isnan(floats)
    fine = gaps | (np.abs(floats) < 2.0**53) & (floats == np.floor(floats))
    if not fine.all():
        first = int(fine.argmin())
        raise CodeError(f"`codes` must be integers; got dtype {floats.dtype} with others, first in row {first}.")
    return np.where(gaps, design.missing_code, np.where(gaps, 0, floats).astype(np.int64))


def _plain_rows(column: Any) -> Any:
    """Return an array where a column's numbers survive it, else a list: nulls would turn codes into floats."""
    for to_list in ("to_pylist", "to_list"):  # Arrow; pandas and Polars
        if hasattr(column, to_list):
            kind = str(getattr(column, "type", getattr(column, "dtype", ""))).lower()
            nulls = getattr(column, "null_count", None)
            gaps = column.isna().any() if nulls is None else nulls() if callable(nulls) else nulls
            return getattr(column, to_list)() if (gaps and "int" in kind) or "list" in kind else np.asarray(column)
    return column


def _row_code(row: Any, number: int, categories: Categories) -> int:
    if is_missing(row):
        return categories.full
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise CodeError(
            f"a subset must be a collection of labels; got {type(row).__name__} in row {number}. "
            "Hint: a single answer is {'a'}."
        )
    try:
        code = categories.code(row)
    except CategoryError:
        code = None
    if code is None:  # raised out here: the inner error names a label that a person reported
        raise CategoryError(f"a subset must hold distinct labels of the categories; row {number} does not.")
    if code == 0:
        raise CodeError(f"a subset must not be empty; row {number} is.")
    return code


def _check_weights(weights: ArrayLike, length: int, kind: str) -> FloatArray:
    try:
        amounts = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        amounts = None
    if amounts is None:  # raised out here: the inner message shows an entry
        raise ArgumentError("`weights` must be numbers, one per person.")
    if amounts.shape != (length,):
        raise MismatchError(f"`weights` must be one per person; got shape {amounts.shape} for {length} people.")
    bad = ~np.isfinite(amounts) | (amounts < 0)
    if kind == "frequency":
        bad |= amounts != np.floor(amounts)
    if bad.any():
        needed = "whole numbers of at least 0" if kind == "frequency" else "finite and not negative"
        raise ArgumentError(
            f"{kind} weights must be {needed}; got {int(bad.sum())} that are not, first in row {int(bad.argmax())}."
        )
    return amounts


def _groups(by: Any, length: int) -> dict[Label, IntArray]:
    if isinstance(by, (str, bytes, Set, Mapping)) or not isinstance(by, Iterable) or is_frame(by):
        raise ArgumentError(f"`by` must be a list or column with one group per person; got {type(by).__name__}.")
    to_list = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(by, name)), None)
    labels = list(by) if to_list is None else getattr(by, to_list)()
    if len(labels) != length:
        raise MismatchError(f"`by` must give one group per person; got {len(labels)} for {length} people.")
    rows: dict[Label, list[int]] = {}
    for row, label in enumerate(labels):
        # No two NaN are equal: without this every missing group would be one of its own.
        group = None if is_missing(label) else label
        if not isinstance(group, Hashable):
            raise ArgumentError(f"`by` must hold hashable groups; got {type(group).__name__} in row {row}.")
        rows.setdefault(group, []).append(row)
    return {label: np.array(members, np.int64) for label, members in rows.items()}
