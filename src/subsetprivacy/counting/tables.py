"""Count one or several columns of a table with the table's own engine."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from subsetprivacy._checks import check_choice, shown
from subsetprivacy._choices import Missing, WeightsKind
from subsetprivacy.counting.columns import MISSING, check_covered, check_kind
from subsetprivacy.counting.distinct import Orders, counts_of_groups
from subsetprivacy.counting.ordering import GroupColumn, in_declared_order
from subsetprivacy.data import GroupedCounts, SubsetCounts
from subsetprivacy.design import Design, product
from subsetprivacy.engines import (
    Groups,
    check_columns,
    column_kinds,
    column_names,
    declared_orders,
    is_lazy,
    is_ordered,
    native_column,
    tally,
)
from subsetprivacy.errors import ArgumentError, SubsetPrivacyError
from subsetprivacy.messages.for_data import NAME_GROUP_COLUMNS
from subsetprivacy.subsets import is_missing


def count_columns(
    table: Any,
    designs: Mapping[str, Design],
    *,
    by: Any = None,
    weights: Any = None,
    weights_kind: WeightsKind | None = None,
    missing: Missing | None = None,
) -> SubsetCounts | GroupedCounts[SubsetCounts]:
    """Count columns of a table together, grouped by its engine.

    Parameters
    ----------
    table
        Any table that `is_table` recognizes.
    designs
        The design of each column.
    by, weights
        Names of columns.
    weights_kind, missing
        As in `count`.
    """
    request = CountRequest.of(designs, column_names(table), by, weights, weights_kind, missing)
    check_columns(table, request.columns)
    request.check()
    groups = request.tally(table)
    orders = None if request.by is None else declared_orders(table, request.by)
    try:
        return request.read(groups, orders=orders)
    except SubsetPrivacyError as error:
        refusal = error
    if groups.first is None and is_ordered(table):
        numbered = request.in_order(table)
        if numbered is not None:
            request.read(numbered)
    raise refusal


@frozen
class CountRequest:
    """The columns of subsets, groups and weights to count in a table or file."""

    designs: dict[str, Design]
    by: list[str] | None
    tuples: bool
    weights: str | None
    weights_kind: WeightsKind | None
    missing: Missing

    @classmethod
    def of(
        cls,
        designs: Mapping[str, Design],
        columns: Sequence[str],
        by: Any,
        weights: Any,
        weights_kind: WeightsKind | None,
        missing: Missing | None,
    ) -> "CountRequest":
        """Check the arguments of `count_columns`, given the names of all columns."""
        check_kind(weights, weights_kind)
        return cls(
            designs=dict(designs),
            by=_names_of_groups(columns, by),
            tuples=isinstance(by, (list, tuple)),
            weights=None if weights is None else column_name(weights, "weights"),
            weights_kind=None if weights is None else weights_kind,
            missing="error" if missing is None else check_choice(missing, MISSING, "missing"),
        )

    @property
    def keys(self) -> list[str]:
        """The columns to group by, those of subsets first."""
        return [*self.designs, *(self.by or [])]

    @property
    def columns(self) -> list[str]:
        """All columns to read."""
        return self.keys if self.weights is None else [*self.keys, self.weights]

    @property
    def bits(self) -> list[int | None]:
        """The bits of each key's codes, None for groups."""
        return [*(design.code_bits for design in self.designs.values()), *[None] * len(self.by or [])]

    @property
    def whole(self) -> bool:
        """Whether weights must be whole numbers."""
        return self.weights_kind == "frequency"

    def check(self) -> None:
        """Raise if the request is not valid, before anything is read."""
        check_parts(self.columns)
        for design in self.designs.values():
            check_covered(design, groups=self.by is not None, sampling=self.weights_kind == "sampling")
        if len(self.designs) > 1:
            product(self.designs).require_code()

    def tally(self, table: Any, in_order: bool = False) -> Groups:
        """Let the engine group the table."""
        return tally(table, self.keys, self.weights, bits=self.bits, whole=self.whole, in_order=in_order)

    def in_order(self, table: Any) -> Groups | None:
        """Group again in row order, so that a message can name a row; None if the engine cannot."""
        try:
            return self.tally(table, in_order=True)
        except SubsetPrivacyError:
            return None

    def read(
        self, groups: Groups, place: Callable[[int], str] = "row {}".format, *, orders: Orders | None = None
    ) -> SubsetCounts | GroupedCounts[SubsetCounts]:
        """Return the counts of the groups. An error names the first row that is wrong."""
        counts = counts_of_groups(
            groups,
            self.designs,
            by=None if self.by is None else 0 if self.tuples else 1,
            orders=orders,
            weights=self.weights,
            weights_kind=self.weights_kind,
            missing=self.missing,
            place=place,
        )
        if isinstance(counts, SubsetCounts):
            return counts
        return GroupedCounts(counts, self.by or (), ordered=in_declared_order(orders or ()))


def check_parts(columns: Sequence[str]) -> None:
    """Raise if a column is used twice."""
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise ArgumentError(f"a column must have one part: subsets, groups or weights; got {twice[0]} twice.")


def column_name(name: Any, what: str = "column") -> str:
    """Return the name of a column, which in pandas may be a number.

    Raises
    ------
    ArgumentError
        If it is something else, such as a column itself. The message does not print it.
    """
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise ArgumentError(f"`{what}` must be the name of a column of the table; got {shown_type(name)}.")
    return str(name)


def shown_type(value: Any) -> str:
    """Return a single value as it is, and the type of anything that may contain personal data."""
    return type(value).__name__ if isinstance(value, tuple) else shown(value)


def used_columns(*given: Any) -> list[str]:
    """Return the names of columns among arguments that may be a name, names, or columns themselves."""
    names = [each for part in given for each in (part if isinstance(part, (list, tuple)) else (part,))]
    return [str(name) for name in names if isinstance(name, (str, int))]


def _names_of_groups(columns: Sequence[str], by: Any) -> list[str] | None:
    if by is None:
        return None
    if not isinstance(by, (list, tuple)):
        return [column_name(by, "by")]
    for position, name in enumerate(by):
        if not isinstance(name, (str, int)) or str(name) not in columns:
            # By position: `by` may be a group for each person.
            raise ArgumentError(f"`by` must name columns of the table; entry {position} does not.", NAME_GROUP_COLUMNS)
    if not by:
        raise ArgumentError("`by` must name at least one column; got an empty list.")
    return [str(name) for name in by]


# Tables that are read row by row ------------------------------------------------------------------------------------


def needs_rows(table: Any, columns: list[str], by: Any, weights: Any) -> bool:
    """Tell whether a table in memory must be read row by row, because its engine cannot group the columns.

    This applies to cells with collections of labels, and to groups or weights
    given as values instead of names.
    """
    if is_lazy(table):
        return False
    check_columns(table, columns)
    if any(_holds_collections(table, name) for name in columns):
        return True
    return _given_as_values(table, by) or not (weights is None or isinstance(weights, (str, int)))


def _holds_collections(table: Any, name: str) -> bool:
    kind = column_kinds(table, [name])[0]
    if kind == "objects":
        first = next((value for value in native_column(table, name) if not is_missing(value)), None)
        return isinstance(first, (list, tuple, set, frozenset, dict)) or hasattr(first, "__array__")
    return kind == "lists"


def _given_as_values(table: Any, by: Any) -> bool:
    if by is None or isinstance(by, (str, int)):
        return False
    if not isinstance(by, (list, tuple)):
        return True
    columns = column_names(table)
    named = all(isinstance(name, (str, int)) and str(name) in columns for name in by)
    return not named and len(by) == len(table)


def rows_of(table: Any, columns: list[str], by: Any, weights: Any) -> tuple[list[Any], Any, Any]:
    """Return columns of a table in memory, with groups and weights, with one entry per person each."""
    groups = None if _given_as_values(table, by) else _names_of_groups(column_names(table), by)
    amounts = column_name(weights, "weights") if isinstance(weights, (str, int)) else None
    named = [*columns, *(groups or []), *([] if amounts is None else [amounts])]
    check_columns(table, named)
    check_parts(named)
    if groups is not None:
        parts = [_listed(native_column(table, name)) for name in groups]
        rows = [tuple(None if is_missing(part) else part for part in row) for row in zip(*parts, strict=True)]
        several = isinstance(by, (list, tuple))
        labels = rows if several else [row[0] for row in rows]
        by = GroupColumn(labels, declared_orders(table, groups), several, tuple(groups))
    if amounts is not None:
        weights = native_column(table, amounts)
    return [native_column(table, name) for name in columns], by, weights


def _listed(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())
