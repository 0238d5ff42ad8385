"""From names and labels to variables, and to the shares that are compared."""

from typing import Any

import numpy as np

from subsetprivacy._types import Label
from subsetprivacy.data import SubsetTable, as_counts
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.margins import Margin, margin_of
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.measures.shares import Share
from subsetprivacy.subsets import Categories
from subsetprivacy.variables import JointCategories


def read_pair(data: Any, names: tuple[str, ...]) -> Margin:
    """Return the joint shares of the two variables, estimated by maximum likelihood where that was not done yet."""
    if isinstance(data, Estimate):
        return margin_of(data, _two_names(data.categories, names))
    if isinstance(data, SubsetTable):  # the two columns alone: there may be more variables than can be estimated
        counts = data.counts(*_two_names(data.design.categories, names))
    else:
        counts = as_counts(data)
    two = _two_names(counts.categories, names)
    return margin_of(estimate(counts), two)


def _two_names(joint: Categories, names: tuple[str, ...]) -> tuple[str, str]:
    if not isinstance(joint, JointCategories) or len(joint.names) < 2:
        raise ArgumentError(
            "`fit` must be of two or more variables; got one. Hint: sp.product({'a': ..., 'b': ...}) is their design."
        )
    chosen = names or joint.names
    for name in chosen:
        if name not in joint.names:
            raise CategoryError(f"`names` must be among the variables {', '.join(joint.names)}; got {name!r}.")
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise ArgumentError(
            f"`names` must be two different variables of {', '.join(joint.names)}; got {', '.join(names) or 'none'}. "
            f"Hint: association(fit, {joint.names[0]!r}, {joint.names[1]!r})."
        )
    return chosen[0], chosen[1]


def choose_two(labels: Any, categories: Categories, name: str) -> tuple[Label, Label]:
    """Return two different labels; where there are no others, they need not be named."""
    if labels is None:
        if categories.p > 2:
            raise ArgumentError(
                f"`{name}` must name two of the {categories.p} categories {categories.preview()}; got none."
            )
        return categories.labels[0], categories.labels[1]
    if isinstance(labels, str) or not isinstance(labels, (tuple, list)) or len(labels) != 2:
        got = f"{len(labels)}" if isinstance(labels, (tuple, list)) else type(labels).__name__
        raise ArgumentError(f"`{name}` must be two categories, as in ('a', 'b'); got {got}.")
    if categories.index(labels[0]) == categories.index(labels[1]):
        raise ArgumentError(f"`{name}` must be two different categories; got {labels[0]!r} twice.")
    return labels[0], labels[1]


def conditional_shares(pair: Margin, groups: tuple[Label, Label], outcome: Label) -> tuple[Share, Share]:
    """Return the share of an outcome (a category of the second variable) in two categories of the first."""
    one, two = pair.categories.parts  # type: ignore[attr-defined]
    row, column = np.divmod(pair.where, two.p)
    j = two.index(outcome)
    first, second = (
        Share(np.flatnonzero((row == i) & (column == j)), np.flatnonzero((row == i) & (column != j)))
        for i in (one.index(group) for group in groups)
    )
    return first, second


def odds(pair: Margin, rows: tuple[Label, Label], columns: tuple[Label, Label]) -> tuple[Share, Share]:
    """Return the share of the first of two columns, within these two, in each of two rows."""
    one, two = pair.categories.parts  # type: ignore[attr-defined]
    row, column = np.divmod(pair.where, two.p)
    c, d = (two.index(label) for label in columns)
    first, second = (
        Share(np.flatnonzero((row == i) & (column == c)), np.flatnonzero((row == i) & (column == d)))
        for i in (one.index(label) for label in rows)
    )
    return first, second
