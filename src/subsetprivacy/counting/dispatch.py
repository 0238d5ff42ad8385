"""`count`: the entry point, for a column with a subset per person or a column of a table."""

from collections.abc import Iterable, Sequence
from typing import Any, overload

from subsetprivacy._checks import check_same_index
from subsetprivacy._choices import Missing, WeightsKind
from subsetprivacy._types import ArrayLike, Label
from subsetprivacy.counting.columns import (
    check_covered,
    check_kind,
    check_weights,
    chosen_design,
    group_column,
    group_rows,
    read_column,
)
from subsetprivacy.counting.ordering import in_declared_order
from subsetprivacy.counting.tables import column_name, count_columns, needs_rows, rows_of, used_columns
from subsetprivacy.data import GroupedCounts, SubsetCounts, SubsetTable, check_allowed, count_codes
from subsetprivacy.design import Design
from subsetprivacy.engines import is_table, refuse_counts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_data import COUNT_A_COLUMN


@overload
def count(
    data: Any,
    column: str | None = ...,
    *,
    design: Design | None = ...,
    categories: Iterable[Label] | None = ...,
    by: None = ...,
    weights: ArrayLike | str | None = ...,
    weights_kind: WeightsKind | None = ...,
    missing: Missing | None = ...,
) -> SubsetCounts: ...
@overload
def count(
    data: Any,
    column: str | None = ...,
    *,
    design: Design | None = ...,
    categories: Iterable[Label] | None = ...,
    by: Iterable[Label] | str | Sequence[str],
    weights: ArrayLike | str | None = ...,
    weights_kind: WeightsKind | None = ...,
    missing: Missing | None = ...,
) -> GroupedCounts[SubsetCounts]: ...
def count(
    data: Any,
    column: str | None = None,
    *,
    design: Design | None = None,
    categories: Iterable[Label] | None = None,
    by: Iterable[Label] | str | Sequence[str] | None = None,
    weights: ArrayLike | str | None = None,
    weights_kind: WeightsKind | None = None,
    missing: Missing | None = None,
) -> SubsetCounts | GroupedCounts[SubsetCounts]:
    """Count how many people reported each subset.

    Parameters
    ----------
    data
        A column with a subset per person: `SubsetData`, integer codes,
        collections of labels, or texts that join labels by a bar, ``"a|b"``.
        Or a table, which its own engine groups: pandas, Polars (eager or
        lazy), PyArrow (table, record batch, dataset), DuckDB, PySpark
        (classic or Connect), Dask, Ibis.
    column
        The column of a table, with integer codes or with text that joins
        labels by a bar. Spaces around the bar are ignored, unless some labels
        of the design differ only by spaces.
    design
        The design of codes or labels.
    categories
        The labels, for subsets that someone else collected with an unknown
        design. The counts then assume *coarsening at random*: which subset
        was reported, given that it contains the value, does not depend on the
        value. Estimate with the default method, whose standard errors come
        from the observed information.
    by
        A group label per person, or for a table the name of a column or a
        list of names, whose groups are tuples. The result is then a
        `GroupedCounts`, a dict of counts per group, with the name of the
        column. Groups are in ascending
        order, with numbers before words and missing groups last, as None.
        Tests and comparisons leave people without a group out. An ordered
        categorical column (pandas, Dask, Polars' Enum, Arrow's ordered
        dictionary, DuckDB's ENUM) keeps its declared order.
    weights
        A weight per person, or for a table the name of a column. Groups and
        weights are matched with people by position. A pandas series must have
        the same index as the data.
    weights_kind
        Required with weights. ``"sampling"`` means survey weights: sums and
        sums of squares are kept, standard errors are sandwich estimates and
        n is Kish's effective size. ``"frequency"`` means that a row stands
        for that many people, as in a table of counts from SQL. A table of
        counts is refused without weights, and so is a table with an unused
        column of numbers called count, because its rows may not be people.
    missing
        ``"full"`` counts a missing entry as the full set, which is the
        default for a column. ``"error"`` refuses it, which is the default for
        a table.

    Raises
    ------
    CodeError, CategoryError
        If an entry is not a subset of the design. If rows have an order, the
        message names the first such row, never its content.

    Examples
    --------
    >>> answers = [{"a", "b"}, {"c"}, None, {"a", "b", "c"}]
    >>> count(answers, categories=["a", "b", "c"])
    <SubsetCounts: n = 2, 2 distinct subsets, 2 missing, <coarse design on 3 categories: 'a', 'b', 'c'>>

    Count a table, here one with counts from a database:

    >>> import pandas as pd
    >>> table = pd.DataFrame({"vote": [3, 5, 6], "n": [60, 25, 15]})
    >>> count(table, "vote", categories=["a", "b", "c"], weights="n", weights_kind="frequency").n
    100
    """
    if weights is None:
        refuse_counts(data, used_columns(column), used_columns(by))
    if column is not None and is_table(data):
        name = column_name(column)
        if not needs_rows(data, [name], by, weights):
            designs = {name: chosen_design(design, categories)}
            return count_columns(data, designs, by=by, weights=weights, weights_kind=weights_kind, missing=missing)
        (data,), by, weights = rows_of(data, [name], by, weights)
        missing = missing or "error"
    elif column is not None:
        data = _one_variable(data, column)
    frequency = check_kind(weights, weights_kind)
    check_same_index({"data": data, "by": by, "weights": weights})
    codes, chosen = read_column(data, design, categories, missing=missing)
    check_covered(chosen, groups=by is not None, sampling=weights is not None and not frequency)
    amounts = None if weights is None else check_weights(weights, len(codes), str(weights_kind))
    if by is None:
        return count_codes(codes, chosen, amounts, frequency=frequency)
    check_allowed(codes, chosen)  # before grouping, so that row numbers refer to all data
    groups = group_column(by)
    by_group = {
        group: count_codes(codes[rows], chosen, None if amounts is None else amounts[rows], frequency=frequency)
        for group, rows in group_rows(groups, len(codes)).items()
    }
    return GroupedCounts(by_group, groups.names, ordered=in_declared_order(groups.orders))


def _one_variable(data: Any, column: str) -> Any:
    if isinstance(data, SubsetTable):
        return data.select(column)
    raise ArgumentError(
        f"`column` must be left out unless `data` is a table; got {type(data).__name__}.", COUNT_A_COLUMN
    )
