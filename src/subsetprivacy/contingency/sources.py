"""The joint counts of the variables of a log-linear model."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from subsetprivacy.contingency.generators import read_generators
from subsetprivacy.data import GroupedCounts, JointCounts, SubsetCounts, SubsetData, SubsetTable
from subsetprivacy.design import Design, Product, nonprivate
from subsetprivacy.errors import ArgumentError, MismatchError, TooLargeError
from subsetprivacy.messages.for_analyses import (
    COUNT_COLUMNS_TOGETHER,
    MODEL_WITHOUT,
    NAME_THEM_TOGETHER,
    SMALLER_MODEL,
    WITHOUT_DUMMIES,
)
from subsetprivacy.subsets import MAX_CATEGORIES, is_missing
from subsetprivacy.tabulating import crosstab
from subsetprivacy.variables import JointCategories

MAX_CELLS = 1 << 16

Columns = dict[str, tuple[str, ...]]  # the variables of each column
Count = Callable[[list[str]], SubsetCounts]


def counts_for(data: Any, model: Any, **settings: Any) -> SubsetCounts:
    """Return the joint counts of the variables in a model.

    Parameters
    ----------
    data
        Counts, a table of columns, groups of counts, or a release.
    model
        As in `loglinear`.
    **settings
        For a release: ``weights``, ``weights_kind``, ``missing`` and ``progress``, as in `Release.crosstab`.
    """
    columns, count = _source(data, settings)
    names = [name for inner in columns.values() for name in inner]
    if len(names) < 2:
        raise ArgumentError("`counts` must have two or more variables; got one.", COUNT_COLUMNS_TOGETHER)
    wanted = _columns_of(columns, {name for generator in read_generators(model, names) for name in generator})
    table = count(wanted)
    if table.design.covered is not None:
        raise ArgumentError("`counts` must not contain dummy rows; got a covered design.", WITHOUT_DUMMIES)
    if table.categories.p > MAX_CELLS:
        raise TooLargeError(
            f"a table must have at most {MAX_CELLS:,} cells; got {table.categories.p:,}.", SMALLER_MODEL
        )
    return table


def _columns_of(columns: Columns, named: set[str]) -> list[str]:
    """Return the columns that contain the named variables, or raise if one also contains others."""
    wanted = [column for column, inner in columns.items() if named & set(inner)]
    for column in wanted:
        if not set(columns[column]) <= named:
            raise ArgumentError(
                "`model` must name all variables of a column that contains several; got some of them.",
                NAME_THEM_TOGETHER(names=", ".join(columns[column])),
            )
    if len(named) < 2:
        raise ArgumentError(
            "`model` must name two or more variables; got one, whose shares `estimate` gives.", COUNT_COLUMNS_TOGETHER
        )
    return wanted


def _source(data: Any, settings: Mapping[str, Any]) -> tuple[Columns, Count]:
    """Return the variables of each column, and a function that counts columns jointly."""
    if isinstance(data, SubsetData):
        return _source(data.counts(), settings)
    if isinstance(data, GroupedCounts):
        return _source(with_groups(data), settings)
    if isinstance(data, (SubsetCounts, SubsetTable)):
        return _of_design(data.design), lambda wanted: _crossed(data, wanted)
    if hasattr(data, "crosstab") and hasattr(data, "designs"):  # a release, which belongs to a higher package
        private = {name: _variables(name, design) for name, design in data.designs.items()}
        columns = {**private, **{name: (name,) for name in data.kept if name not in private}}
        return columns, lambda wanted: _of_release(data, wanted, settings)
    raise ArgumentError(
        f"`counts` must be joint counts of several columns of subsets; got {type(data).__name__}.",
        COUNT_COLUMNS_TOGETHER,
    )


def _of_design(design: Design) -> Columns:
    if design.product is None or design.covered is not None:
        return {"": _variables("", design)}
    return {" x ".join(names): names for names in design.product.named()}


def _variables(column: str, design: Design) -> tuple[str, ...]:
    categories = design.categories
    return categories.names if isinstance(categories, JointCategories) else (column,)


def _crossed(counts: SubsetCounts | SubsetTable, wanted: list[str]) -> SubsetCounts:
    if isinstance(counts, SubsetCounts) and len(wanted) == len(_of_design(counts.design)):
        return counts
    if len(wanted) > 1:
        return crosstab(counts, *wanted)
    if isinstance(counts, SubsetTable):
        return counts.counts(*wanted[0].split(" x "))
    assert isinstance(counts, JointCounts)
    return counts.margin(*wanted)


def _of_release(release: Any, wanted: list[str], settings: Mapping[str, Any]) -> SubsetCounts:
    """Count columns of a release. Columns that it keeps unchanged become groups, and then a variable."""
    private = [name for name in wanted if name in release.designs]
    seen = [name for name in wanted if name not in release.designs]
    if not private:
        raise ArgumentError("`model` must name at least one column of subsets; got only columns that are not private.")
    by = {"by": seen[0] if len(seen) == 1 else seen} if seen else {}
    if len(private) > 1:
        counts = release.crosstab(*private, **by, **settings)
    else:
        counts = release.count(private[0], **by, **settings)
    return with_groups(counts, private[0]) if seen else counts


def with_groups(groups: GroupedCounts[Any], name: str = "value") -> JointCounts:
    """Return counts of several groups as joint counts, with the groups as nonprivate variables.

    A missing group is a missing answer to its variable.

    Parameters
    ----------
    groups
        The counts of each group; all of one design.
    name
        The name of the variable, if the counts have none.
    """
    keys_as_given: list[Any] = list(groups)
    apart = len(groups.by) > 1 or all(isinstance(group, tuple) and len(group) == 1 for group in keys_as_given)
    keys = keys_as_given if apart else [(group,) for group in keys_as_given]
    designs = [part.design for part in groups.values()]
    if any(design != designs[0] for design in designs):
        raise MismatchError("`counts` must have the same design in all groups; got several designs.")
    labels = [[label for label in dict.fromkeys(column) if not is_missing(label)] for column in zip(*keys, strict=True)]
    if min(len(each) for each in labels) < 2:
        raise ArgumentError("`counts` must have two or more groups; got one.")
    for by, each in zip(groups.by, labels, strict=True):
        if len(each) > MAX_CATEGORIES:
            raise TooLargeError(
                f"column {by} must have at most {MAX_CATEGORIES} values to be a variable of the model; got "
                f"{len(each)}.",
                MODEL_WITHOUT(name=by),
            )
    inner = designs[0]
    parts: dict[tuple[str, ...], Design] = dict(inner.product.named()) if inner.product is not None else {}
    parts = parts or {_variables(name, inner): inner}
    whole = Product.of({**parts, **{(by,): nonprivate(each) for by, each in zip(groups.by, labels, strict=True)}})
    return _stacked(groups, keys, labels, whole)


def _stacked(groups: GroupedCounts[Any], keys: list[Any], labels: list[list[Any]], whole: Product) -> JointCounts:
    """Return the counts of all groups under one design, with the group as an additional variable."""
    codes, counts, squares = [], [], []
    for key, part in zip(keys, groups.values(), strict=True):
        own = [part.codes] if part.design.product is None else part.design.product.split(part.codes)
        known = [
            (1 << len(each)) - 1 if is_missing(label) else 1 << each.index(label)
            for each, label in zip(labels, key, strict=True)
        ]
        seen = [np.full(len(part.codes), code) for code in known]
        codes.append(whole.join([*own, *seen]))
        counts.append(part.counts)
        squares.append(part.squares)
    joined = np.concatenate(codes)
    order = np.argsort(joined)
    weights = None if squares[0] is None else np.concatenate(squares)[order]
    return JointCounts.trusted(joined[order], np.concatenate(counts)[order], whole, weights)
