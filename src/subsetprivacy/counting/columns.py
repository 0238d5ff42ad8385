"""Columns with one subset per person: their codes, weights and groups."""

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any, get_args

import numpy as np

from subsetprivacy._checks import check_choice, check_codes
from subsetprivacy._choices import Missing, WeightsKind
from subsetprivacy._types import ArrayLike, BoolArray, FloatArray, IntArray, Label
from subsetprivacy._words import counted, people
from subsetprivacy.counting.ordering import GroupColumn, rows_of_groups
from subsetprivacy.data import SubsetCounts, SubsetData, SubsetTable
from subsetprivacy.design import Design, coarse, require_design
from subsetprivacy.design.text import codes_of, has_text_form
from subsetprivacy.engines import declared_order, is_table
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, MismatchError
from subsetprivacy.messages.for_data import MISSING_AS_FULL, PASS_A_LIST, PASS_CODES, PASS_ONE_COLUMN, SINGLE_ANSWER
from subsetprivacy.subsets import Categories, is_missing, name_of

WEIGHT_KINDS: tuple[WeightsKind, ...] = get_args(WeightsKind)
FIT = {"frequency": "whole numbers of at least 0", "sampling": "finite and not negative"}
MISSING: tuple[Missing, ...] = get_args(Missing)


def check_kind(weights: Any, weights_kind: WeightsKind | None) -> bool:
    """Return whether counts are frequencies: there are no weights, or they are frequency weights.

    Raises
    ------
    ArgumentError
        If there are weights without `weights_kind`.
    """
    if weights is not None and weights_kind is None:
        raise ArgumentError(
            "`weights_kind` must be given with weights: 'sampling' for survey weights, 'frequency' where a row stands "
            "for several people."
        )
    return weights_kind is None or check_choice(weights_kind, WEIGHT_KINDS, "weights_kind") == "frequency"


def chosen_design(design: Design | None, categories: Iterable[Label] | None) -> Design:
    """Return the given design, or the coarse design of the categories if the design is unknown."""
    if (design is None) == (categories is None):
        got = "neither" if design is None else "both"
        raise ArgumentError(f"`design` must be given, or `categories` where the design is not known; got {got}.")
    return require_design(design) if categories is None else coarse(categories)


def check_covered(design: Design, *, groups: bool, sampling: bool) -> None:
    """Raise if a covered release would be counted by group, or with sampling weights.

    Raises
    ------
    ArgumentError
        If so. Frequency weights are allowed: a table of counts has a row for each subset, including dummy rows.
    """
    if groups and design.covered is not None:
        raise ArgumentError("`by` must be left out for a covered release: dummy rows belong to no group.")
    if sampling and design.covered is not None:
        raise ArgumentError(
            "`weights` must be left out for a covered release, or frequencies: dummy rows have no sampling weight."
        )


def read_column(
    data: Any, design: Design | None, categories: Iterable[Label] | None = None, *, missing: Missing | None = None
) -> tuple[IntArray, Design]:
    """Return the codes of a column, one per person, and their design.

    Parameters
    ----------
    data, design, categories
        As in `count`.
    missing
        "full" (default) counts a missing entry as the full set. "error"
        refuses it.
    """
    if isinstance(data, SubsetData):
        if design is not None and design != data.design:
            raise MismatchError("`design` must be the design of `data`; got another one.")
        return data.codes, data.design
    if isinstance(data, SubsetTable):
        return read_column(data.select(data.names), design, categories, missing=missing)
    if isinstance(data, SubsetCounts):
        raise ArgumentError("`data` must hold a subset per person; got SubsetCounts, which are counted already.")
    if is_table(data):
        raise CodeError("`data` must be one column; got a data frame.", PASS_ONE_COLUMN)
    if isinstance(data, (str, bytes, Set, Mapping)) or not isinstance(data, Iterable):
        raise CodeError(
            f"`data` must be a list with one subset per person; got {type(data).__name__}.",
            PASS_A_LIST if isinstance(data, Set) else None,
        )
    chosen = chosen_design(design, categories)
    return _codes_of(data, chosen, missing), chosen


def read_used(column: Any, name: str, design: Design, missing: Missing, used: BoolArray | None) -> IntArray:
    """Return the codes of a column of a table, in which cells of rows that are not used may be empty.

    Parameters
    ----------
    column, design, missing
        As in `read_column`.
    name
        The column, for errors.
    used
        The rows that are used; None for all.
    """
    try:
        if missing == "error" and used is not None and not isinstance(column, SubsetData):
            cells = column.to_pylist() if hasattr(column, "to_pylist") else column
            gaps = np.fromiter((is_missing(cell) for cell in cells), np.bool_, len(column))
            missing = "error" if len(gaps) != len(used) or (gaps & used).any() else "full"
        return read_column(column, design, missing=missing)[0]
    except CodeError as error:
        raise CodeError(f"{name}: {error.message}", error.advice) from None


def _codes_of(column: Any, design: Design, missing: Missing | None) -> IntArray:
    rows = _plain_rows(column)
    if missing is not None and check_choice(missing, MISSING, "missing") == "error":
        rows = rows if isinstance(rows, np.ndarray) else list(rows)
        _refuse_gaps(rows)
    numbers = isinstance(rows, np.ndarray) and rows.dtype.kind not in "OUST"
    if not numbers:
        rows = list(rows)
        first = next((row for row in rows if not is_missing(row)), None)
        numbers = isinstance(first, (int, float, np.number))
        if numbers:  # codes with gaps, as in a nullable column: a missing answer is the full set
            rows = [design.missing_code if is_missing(row) else row for row in rows]
    if numbers:
        return check_codes(_whole_numbers(rows, design))
    are_texts = all(isinstance(row, str) or is_missing(row) for row in rows)
    if are_texts and has_text_form(design):
        return codes_of([row if isinstance(row, str) else None for row in rows], design)
    if design.code_space != "mask":
        raise CodeError(
            f"subsets of a {design.kind} design must be given as its codes; got something else.", PASS_CODES
        )
    return _of_labels(rows, design)


def _of_labels(rows: list[Any], design: Design) -> IntArray:
    """Return the codes of subsets given as collections of labels, or as text that joins labels by a bar."""
    texts = [row if isinstance(row, str) else None for row in rows]
    if any(text is not None for text in texts):
        codes = codes_of(texts, design)
        others = [number for number, text in enumerate(texts) if text is None]
    else:
        codes, others = np.empty(len(rows), np.int64), list(range(len(rows)))
    for number in others:
        codes[number] = _row_code(rows[number], number, design.categories)
    return codes


def _whole_numbers(rows: Any, design: Design) -> Any:
    """Return float codes, which gaps in a file cause, as integers with gaps as full sets. Others stay unchanged."""
    if np.ma.isMaskedArray(rows):
        return rows  # `check_codes` refuses masked entries
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


def _refuse_gaps(rows: Any) -> None:
    listed = rows.dtype.kind not in "iufb" if isinstance(rows, np.ndarray) else True
    gaps = np.array([is_missing(row) for row in rows], np.bool_) if listed else np.isnan(rows)
    if gaps.any():
        raise CodeError(
            f"`data` must hold a subset for every person; got {int(gaps.sum())} without one, first in row "
            f"{int(gaps.argmax())}.",
            MISSING_AS_FULL,
        )


def _plain_rows(column: Any) -> Any:
    """Return an array if that preserves the codes, else a list, because nulls would turn integers into floats."""
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
    if isinstance(row, bytes) or not isinstance(row, Iterable):
        raise CodeError(
            "a subset must be a collection of labels, or text that joins them by a bar; got "
            f"{type(row).__name__} in row {number}.",
            SINGLE_ANSWER,
        )
    labels = list(row)
    try:
        code = categories.code(labels)
    except CategoryError:
        code = None
    if code is None:  # raised outside of the handler: the inner error names a label that a person reported
        problem = _problem_with_labels(labels, categories)
        raise CategoryError(f"a subset must hold distinct labels of the categories; got {problem} in row {number}.")
    if code == 0:
        raise CodeError(f"a subset must not be empty; row {number} is.")
    return code


def _problem_with_labels(row: Iterable[Any], categories: Categories) -> str:
    """Return what is wrong with a collection of labels, without revealing its content."""
    known = set(categories.labels)
    if any(not isinstance(label, Hashable) or label not in known for label in row):
        return "a label that is not a category"
    return "a label twice"


def check_weights(weights: ArrayLike, length: int, kind: str) -> FloatArray:
    """Return a weight per person as numbers that are valid for the kind of weight."""
    try:
        amounts = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        amounts = None
    if amounts is None:  # raised outside of the handler: the inner message shows an entry
        raise ArgumentError(
            f"`weights` must be numbers, one per person; got {type(weights).__name__} of something else."
        )
    if amounts.shape != (length,):
        raise MismatchError(f"`weights` must be one per person; got shape {amounts.shape} for {people(length)}.")
    bad = ~np.isfinite(amounts) | (amounts < 0)
    if kind == "frequency":
        bad |= amounts != np.floor(amounts)
    if bad.any():
        raise ArgumentError(
            f"{kind} weights must be {FIT[kind]}; got "
            f"{counted(bad.sum(), 'weight that is not', 'weights that are not')}, first in row {int(bad.argmax())}."
        )
    return amounts


def group_rows(by: Any, length: int) -> dict[Label, IntArray]:
    """Return the rows of each group, with the groups in the order of `ordering`."""
    groups = group_column(by)
    if len(groups.labels) != length:
        raise MismatchError(f"`by` must give one group per person; got {len(groups.labels)} for {people(length)}.")
    for row, group in enumerate(groups.labels):
        if not isinstance(group, Hashable):
            raise ArgumentError(f"`by` must hold hashable groups; got {type(group).__name__} in row {row}.")
    return rows_of_groups(groups.labels, groups.orders, groups.tuples)


def group_column(by: Any) -> GroupColumn:
    """Return the group of each person, from any type of column."""
    if isinstance(by, GroupColumn):
        return by
    if isinstance(by, (str, bytes, Set, Mapping)) or not isinstance(by, Iterable) or is_table(by):
        raise ArgumentError(f"`by` must be a list or column with one group per person; got {type(by).__name__}.")
    to_list = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(by, name)), None)
    labels = list(by) if to_list is None else getattr(by, to_list)()
    # No two NaN are equal: otherwise every missing group would be a separate group.
    known = [None if is_missing(label) else label for label in labels]
    return GroupColumn(known, [declared_order(by)], False, (name_of(by) or "group",))
