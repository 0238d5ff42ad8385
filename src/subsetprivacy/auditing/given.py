"""The argument `given` of `audit`: the probabilities of the categories for each row, in one of three forms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray, Label
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError
from subsetprivacy.messages.for_tests import AUDIT_OTHER_ROWS, PROBABILITIES_OF_ROWS
from subsetprivacy.privacy.given import check_probabilities, leakage_given
from subsetprivacy.privacy.given_result import CovariateLeakage
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import label_text


def audit_given(design: Design, given: Any, data: SubsetData | None = None) -> CovariateLeakage:
    """Return what rows with covariates reveal, for the subsets of people if they are given.

    Parameters
    ----------
    design
        The design with which subsets are drawn.
    given
        Probabilities in a form that `audit` accepts.
    data
        The subsets of the same rows. Those of a covered design are ignored, because dummy rows have no covariates.

    Raises
    ------
    MismatchError
        If the number of rows is not the number of people.
    """
    P = probabilities_of(given, design.categories)
    if data is None or design.covered is not None:
        return leakage_given(design, P)
    codes, informative = data.codes, ~design.is_missing(data.codes)
    if hasattr(given, "probabilities") and len(P) == informative.sum():
        codes = codes[informative]  # a fit leaves out the people with full sets
    if len(P) != len(codes):
        raise MismatchError(
            f"`given` must have a row for each of the {len(data)} people; got {len(P)}.", AUDIT_OTHER_ROWS
        )
    return leakage_given(design, P, codes=codes)


def probabilities_of(given: Any, categories: Categories) -> FloatArray:
    """Return probabilities, shape (n, p), in category order.

    Parameters
    ----------
    given
        An array; a data frame with a column for each category; or an object with `probabilities` and `categories`,
        such as a regression.
    categories
        The categories of the design.

    Raises
    ------
    ArgumentError
        If it has none of these forms.
    CategoryError
        If a category has no column.
    DistributionError
        If a row is not a distribution.
    """
    labels = categories.labels
    names = _column_names(given, labels)
    if names is not None:
        columns = [np.asarray(given[name]) for name in _in_order(names, labels)]
        return check_probabilities(np.column_stack(columns), labels, "given")
    if hasattr(given, "probabilities"):
        own = tuple(getattr(given, "categories", labels))
        P = check_probabilities(given.probabilities, own, "given")
        return P[:, [own.index(name) for name in _in_order(own, labels)]]
    if not hasattr(given, "__len__") or isinstance(given, (str, bytes, dict)):
        raise ArgumentError(
            f"`given` must be probabilities for each row; got {type(given).__name__}.", PROBABILITIES_OF_ROWS
        )
    return check_probabilities(given, labels, "given")


def _column_names(given: Any, labels: Sequence[Label]) -> list[Any] | None:
    """Return the column names of a data frame in memory; None for other objects, or if names are only numbers."""
    if not hasattr(given, "__array__"):
        return None
    names = getattr(given, "column_names", None)  # for PyArrow, whose `columns` contains the columns themselves
    names = getattr(given, "columns", None) if names is None else names
    columns = None if names is None else list(names)
    return None if columns == list(range(len(labels))) and set(columns) != set(labels) else columns


def _in_order(names: Sequence[Any], labels: Sequence[Label]) -> list[Any]:
    """Return the column name of each category, which may be the label as text."""
    by_text = {label_text(name): name for name in names}
    ordered = [label if label in names else by_text.get(label_text(label)) for label in labels]
    absent = [label for label, name in zip(labels, ordered, strict=True) if name is None]
    if absent:
        shown = ", ".join(repr(label) for label in absent[:6]) + (", …" if len(absent) > 6 else "")
        raise CategoryError(f"`given` must have a column for each category; got none for {shown}.")
    return ordered
