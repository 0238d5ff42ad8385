"""The arguments of measures: variables, categories, and the shares to compare."""

from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import shown
from subsetprivacy._types import Label
from subsetprivacy.data import SubsetTable, as_counts
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.margins import Margin, margin_of
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.measures.shares import Share
from subsetprivacy.messages import Advice, Hint
from subsetprivacy.messages.for_analyses import DESIGN_OF_SEVERAL, NAME_TWO_VARIABLES
from subsetprivacy.subsets import Categories
from subsetprivacy.variables import JointCategories


def read_pair(data: Any, names: tuple[str, ...]) -> Margin:
    """Return the joint shares of the two variables, estimated by maximum likelihood if they are not yet estimated."""
    if isinstance(data, Estimate):
        return margin_of(data, _two_names(data.categories, names))
    if isinstance(data, SubsetTable):  # only the two columns, since there may be too many variables to estimate jointly
        counts = data.counts(*_two_names(data.design.categories, names))
    else:
        counts = as_counts(data)
    return margin_of(estimate(counts), _two_names(counts.categories, names))


def _two_names(joint: Categories, names: tuple[str, ...]) -> tuple[str, str]:
    if not isinstance(joint, JointCategories) or len(joint.names) < 2:
        raise ArgumentError("`fit` must have two or more variables; got one.", DESIGN_OF_SEVERAL)
    chosen = names or joint.names
    for name in chosen:  # a column passed instead of its name is neither compared nor printed
        if not isinstance(name, str) or name not in joint.names:
            raise CategoryError(f"`names` must be among the variables {', '.join(joint.names)}; got {shown(name)}.")
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise ArgumentError(
            f"`names` must be two different variables of {', '.join(joint.names)}; got {', '.join(names) or 'none'}.",
            NAME_TWO_VARIABLES(first=joint.names[0], second=joint.names[1]),
        )
    return chosen[0], chosen[1]


def given_first(names: tuple[str, str], given: Any) -> tuple[str, str]:
    """Return the two names, the given one first."""
    first, second = names
    if given is None:
        return first, second
    if not isinstance(given, str) or given not in names:
        raise CategoryError(f"`given` must be one of the variables {first}, {second}; got {shown(given)}.")
    return (first, second) if given == first else (second, first)


@frozen
class PairVariable:
    """One of the two variables, with the argument that refers to it.

    Attributes
    ----------
    argument
        The argument that takes this variable's categories.
    name, categories
        The variable.
    other
        The categories of the other variable.
    advice
        Advice if the label is a category of the other variable.
    """

    argument: str
    name: str
    categories: Categories
    other: Categories
    advice: Hint

    def index(self, label: Any) -> int:
        """Return the position of a label."""
        if (position := _position(self.categories, label)) is not None:
            return position
        raise CategoryError(
            f"`{self.argument}` must be among the {self.categories.p} categories {self.categories.preview()} of "
            f"{self.name}; got {shown(label)}.",
            None if _position(self.other, label) is None else self.advice,
        )

    def read_two_labels(self, labels: Any) -> tuple[Label, Label]:
        """Return two different labels; they may be omitted if there are only two."""
        if labels is None:
            if self.categories.p > 2:
                raise ArgumentError(
                    f"`{self.argument}` must name two of the {self.categories.p} categories "
                    f"{self.categories.preview()} of {self.name}; got none."
                )
            return self.categories.labels[0], self.categories.labels[1]
        if not isinstance(labels, (tuple, list)) or len(labels) != 2:
            got = f"{len(labels)}" if isinstance(labels, (tuple, list)) else type(labels).__name__
            raise ArgumentError(f"`{self.argument}` must be two categories, as in ('a', 'b'); got {got}.")
        if self.index(labels[0]) == self.index(labels[1]):
            raise ArgumentError(f"`{self.argument}` must be two different categories; got {shown(labels[0])} twice.")
        return labels[0], labels[1]


def sides(pair: Margin, arguments: tuple[str, str], advice: Advice) -> tuple[PairVariable, PairVariable]:
    """Return the two variables of a pair, each with the argument that takes its categories.

    Parameters
    ----------
    advice
        Advice for a category of the wrong variable, with the parameters `other`, `first` and `second`.
    """
    (row_name, column_name), (first, second) = pair.names, pair.categories.parts  # type: ignore[attr-defined]
    of_second, of_first = (advice(other=name, first=row_name, second=column_name) for name in (column_name, row_name))
    return PairVariable(arguments[0], row_name, first, second, of_second), PairVariable(
        arguments[1], column_name, second, first, of_first
    )


def _position(categories: Categories, label: Any) -> int | None:
    try:
        return categories.index(label)
    except CategoryError:
        return None


def conditional_shares(pair: Margin, groups: tuple[Label, Label], outcome: Label) -> tuple[Share, Share]:
    """Return the shares of an outcome (a category of the second variable) in two categories of the first."""
    row_categories, column_categories = pair.categories.parts  # type: ignore[attr-defined]
    row, column = np.divmod(pair.where, column_categories.p)
    j = column_categories.index(outcome)
    first, second = (
        Share(np.flatnonzero((row == i) & (column == j)), np.flatnonzero((row == i) & (column != j)))
        for i in (row_categories.index(group) for group in groups)
    )
    return first, second


def odds(pair: Margin, rows: tuple[Label, Label], columns: tuple[Label, Label]) -> tuple[Share, Share]:
    """Return the share of the first of two columns, relative to both columns, in each of two rows."""
    row_categories, column_categories = pair.categories.parts  # type: ignore[attr-defined]
    row, column = np.divmod(pair.where, column_categories.p)
    c, d = (column_categories.index(label) for label in columns)
    first, second = (
        Share(np.flatnonzero((row == i) & (column == c)), np.flatnonzero((row == i) & (column == d)))
        for i in (row_categories.index(label) for label in rows)
    )
    return first, second
