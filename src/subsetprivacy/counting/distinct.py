"""Convert the distinct rows of a table to counts, and refuse values that are not subsets of the design."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._choices import Missing, WeightsKind
from subsetprivacy._types import AnyArray, BoolArray, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.counting.columns import FIT
from subsetprivacy.counting.ordering import rows_of_groups
from subsetprivacy.data import SubsetCounts, as_joint
from subsetprivacy.design import Design, product
from subsetprivacy.engines import Groups, Key
from subsetprivacy.errors import ArgumentError, CodeError
from subsetprivacy.messages.for_data import (
    CAST_TO_INTEGERS,
    CODES_OR_TEXT,
    IS_THIS_THE_DESIGN,
    MISSING_AS_FULL,
    PRIVATIZE_FIRST,
)

Orders = Sequence[Sequence[Any] | None]
_MAX_PEOPLE = 1 << 53  # the last whole number that is exact everywhere
_COINCIDENCE = 20  # rows that two draws may have in common by chance


def counts_of_groups(
    groups: Groups,
    columns: Mapping[str, Design],
    *,
    by: int | None = None,
    orders: Orders | None = None,
    weights: str | None = None,
    weights_kind: WeightsKind | None = None,
    missing: Missing = "error",
    place: Callable[[int], str] = "row {}".format,
) -> SubsetCounts | dict[Label, SubsetCounts]:
    """Return the counts of rows that an engine has grouped.

    Parameters
    ----------
    groups
        The distinct rows: first the columns of subsets, then the grouping columns.
    columns
        The design of each column of subsets. Several columns give the counts
        of their combinations, under the product of their designs.
    by
        1: groups are the values of the single grouping column. 0: groups are
        tuples of the values of all grouping columns. None: no groups.
    orders
        The declared order of each grouping column, None if it has none.
    weights, weights_kind
        The name of the column that was summed, and the kind of weight.
    missing
        ``"error"`` refuses a row without a subset, ``"full"`` counts it as
        the full set.
    place
        The word for a row in messages: a text file has lines.

    Raises
    ------
    CodeError
        If a column contains anything other than subsets of its design.
    ArgumentError
        If weights are not valid.
    """
    where = RowLocator(groups, place)
    parts = [
        read_codes(key, name, design, missing, where)
        for key, (name, design) in zip(groups.keys, columns.items(), strict=False)
    ]
    if groups.sums is not None:
        check_sums(groups, str(weights), str(weights_kind), place)
    design = next(iter(columns.values()))
    codes = parts[0]
    if len(columns) > 1:
        _check_drawn_apart(parts, list(columns.values()), groups)
        both = product(columns)
        codes, design = np.asarray(both.join(parts)), both
    frequency = weights_kind != "sampling"
    if by is None:
        return _counts(codes, design, groups, np.arange(len(groups)), frequency)
    return {
        label: _counts(codes[rows], design, groups, rows, frequency)
        for label, rows in _rows_of_groups(groups.keys[len(columns) :], by == 1, orders).items()
    }


@frozen(eq=False)
class RowLocator:
    """Describes which rows are wrong, for messages."""

    groups: Groups
    place: Callable[[int], str]

    def describe(self, wrong: BoolArray) -> str:
        """Return how many rows are wrong and which is the first, in words."""
        number = int(self.groups.rows[wrong].sum())
        first = "" if self.groups.first is None else f", first in {self.place(self.first(wrong))}"
        return f"in {counted(number, 'row')}{first}"

    def first(self, wrong: BoolArray) -> int:
        """Return the number of the first row that is wrong, if rows have an order."""
        assert self.groups.first is not None
        return int(self.groups.first[wrong].min())

    def first_of(self, wrong: BoolArray) -> int:
        """Return the position of the group whose row is first if rows have an order, else of any group."""
        at = np.flatnonzero(wrong)
        return int(at[0] if self.groups.first is None else at[self.groups.first[at].argmin()])


def read_codes(key: Key, name: str, design: Design, missing: Missing, where: RowLocator) -> IntArray:
    """Return the codes of a column of subsets, or refuse it."""
    if key.kind in {"boolean", "lists", "other", "objects"}:
        got = {"boolean": "booleans", "lists": "lists"}.get(key.kind, "something else")
        raise CodeError(f"column {name} must hold subset codes, or subsets as text; got {got}.", CODES_OR_TEXT)
    if key.absent.any() and missing == "error":
        raise CodeError(
            f"column {name} must hold a subset in every row; got none {where.describe(key.absent)}.", MISSING_AS_FULL
        )
    if key.kind == "text":
        return _of_text(key, name, design, where)
    codes = np.full(len(key.absent), design.missing_code, np.int64)
    if key.kind != "nothing":
        codes = np.where(key.absent, codes, _of_floats(key, name, where) if key.kind == "float" else key.codes())
    _check_allowed(codes, name, design, where)
    return codes


def _of_text(key: Key, name: str, design: Design, where: RowLocator) -> IntArray:
    from subsetprivacy.design.text import advice_for_texts, parsed, problem_with

    texts = [None if gone else value for value, gone in zip(key.values, key.absent, strict=True)]
    codes = parsed(texts, design)
    wrong = codes == 0
    if wrong.any():
        raise CodeError(
            f"column {name} must hold subsets as text, labels of the {design.p} categories joined by a bar; got "
            f"others {where.describe(wrong)}: {problem_with(texts[where.first_of(wrong)], design)}.",
            advice_for_texts(design),
        )
    are_values = {text for text in texts if text is not None} <= set(map(str, design.categories))
    _check_allowed(codes, name, design, where, are_values=are_values)
    return codes


def _of_floats(key: Key, name: str, where: RowLocator) -> AnyArray:
    """Return whole numbers that gaps turned into floats. Other floats are not codes."""
    values = np.where(key.absent, 0.0, key.values).astype(np.float64)
    if not key.absent.any():
        raise CodeError(f"column {name} must hold integers; got floats.", CAST_TO_INTEGERS)
    broken = ~np.isfinite(values) | (np.abs(values) >= 2.0**53)
    broken |= np.floor(np.where(broken, 0.0, values)) != np.where(broken, 0.0, values)
    if broken.any():
        raise CodeError(f"column {name} must hold integers; got floats, not whole ones {where.describe(broken)}.")
    return values.astype(np.int64)


def _check_allowed(codes: IntArray, name: str, design: Design, where: RowLocator, *, are_values: bool = False) -> None:
    largest = (1 << design.code_bits) - 1
    outside = (codes <= 0) | (codes > largest)
    if outside.any():
        what = "0, the empty set" if codes[where.first_of(outside)] == 0 else "outside the categories"
        raise CodeError(f"column {name} must hold codes in 1…{largest}; got others {where.describe(outside)} ({what}).")
    foreign = ~design.allows(codes)
    if foreign.any():
        raise CodeError(
            f"column {name} must hold subsets that the {design.kind} design can produce; got others "
            f"{where.describe(foreign)}.",
            PRIVATIZE_FIRST if are_values else IS_THIS_THE_DESIGN,
        )


def check_sums(groups: Groups, name: str, kind: str, place: Callable[[int], str]) -> None:
    """Raise if weights are not valid, or their sum is too large."""
    if groups.unfit:
        first = "" if groups.first_unfit is None else f", first in {place(groups.first_unfit)}"
        raise ArgumentError(
            f"{kind} weights must be {FIT[kind]}; column {name} has "
            f"{counted(groups.unfit, 'weight that is not', 'weights that are not')}{first}."
        )
    assert groups.sums is not None
    if kind == "frequency" and (groups.sums > _MAX_PEOPLE).any():
        raise ArgumentError(f"frequency weights must add up to at most {_MAX_PEOPLE} in each group; got more.")


def _check_drawn_apart(parts: list[IntArray], designs: list[Design], groups: Groups) -> None:
    if groups.rows.sum() <= _COINCIDENCE:
        return
    for k, (codes, design) in enumerate(zip(parts, designs, strict=True)):
        if any(design == designs[j] and np.array_equal(codes, parts[j]) for j in range(k)):
            raise ArgumentError("columns must be drawn separately for each variable; got the same one twice.")


def _rows_of_groups(keys: tuple[Key, ...], single: bool, orders: Orders | None) -> dict[Label, IntArray]:
    """Return the entries of each group, with the groups in order."""
    if any(key.kind == "lists" for key in keys):
        raise ArgumentError("`by` must name columns of single values; got one of lists.")
    columns = [key.labels() for key in keys]
    labels: list[Any] = columns[0] if single else list(zip(*columns, strict=True))
    return rows_of_groups(labels, orders or [None] * len(keys), tuples=not single)


def _counts(codes: IntArray, design: Design, groups: Groups, at: IntArray, frequency: bool) -> SubsetCounts:
    """Add up entries with the same code: gaps are full sets, and a table of counts may repeat a code."""
    cells, inverse = np.unique(codes, return_inverse=True)
    if groups.sums is None or groups.squares is None:
        rows = np.zeros(len(cells), np.int64)
        np.add.at(rows, inverse, groups.rows[at])
        return as_joint(SubsetCounts.trusted(cells, rows, design))
    sums = np.bincount(inverse, groups.sums[at], minlength=len(cells))
    kept = np.flatnonzero(sums)
    if frequency:
        return as_joint(SubsetCounts.trusted(cells[kept], np.rint(sums[kept]).astype(np.int64), design))
    squares = np.bincount(inverse, groups.squares[at], minlength=len(cells)).astype(np.float64)
    return as_joint(SubsetCounts.trusted(cells[kept], sums[kept], design, squares[kept]))
