"""Probabilities of every category for every person, from arrays and data frames."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from subsetprivacy._checks import SUM_TOLERANCE
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, Label
from subsetprivacy._words import counted
from subsetprivacy.engines import is_table
from subsetprivacy.errors import CategoryError, DistributionError, MismatchError
from subsetprivacy.messages.for_analyses import ADD_A_COLUMN, ORDER_OF_CLASSES
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import label_text


def read_probabilities(
    table: Any, categories: Categories, n: int, name: str, *, classes: Iterable[Label] | None = None
) -> FloatArray:
    """Return the probabilities of each person's categories, shape (n, p), in category order.

    Parameters
    ----------
    table
        An array of shape (n, p), or a data frame with a column per category, in any order.
    categories, n
        The categories and the number of people of the data.
    name
        The argument, for messages.
    classes
        The categories in the order of the columns of an array; by default the order of the data.

    Raises
    ------
    CategoryError
        If a column is not a category.
    MismatchError
        If a category has no column, or there are more or fewer rows than people.
    DistributionError
        If a row is not a distribution; the message gives the number of such rows and the first.
    """
    values, named = _columns_of(table, name)
    if values.ndim != 2:
        raise MismatchError(f"`{name}` must have a row per person and a column per category; got shape {values.shape}.")
    if len(values) != n:
        raise MismatchError(
            f"`{name}` must have one row per person; got {counted(len(values), 'row')} for "
            f"{counted(n, 'person', 'people')}."
        )
    order = named if classes is None else list(classes)
    if order is not None and len(order) != values.shape[1]:
        raise MismatchError(
            f"`classes` must name each column of `{name}`; got {len(order)} for {values.shape[1]} columns."
        )
    if order is None and values.shape[1] != categories.p:
        raise MismatchError(
            f"`{name}` must have a column for each of the {categories.p} categories; got {values.shape[1]}.",
            ORDER_OF_CLASSES,
        )
    if order is not None:
        values = values[:, _positions(order, categories, "classes" if classes is not None else name)]
    return _distributions(values, name)


def has_probabilities(fit: Any) -> bool:
    """Return whether an object is a fitted model with probabilities for its people, such as a `Regression`."""
    return hasattr(fit, "probabilities") and not is_table(fit)


def fitted_probabilities(fit: Any, categories: Categories, informative: BoolArray, name: str) -> FloatArray:
    """Return the fitted probabilities of each person, shape (n, p), in category order.

    Parameters
    ----------
    fit
        An object with `probabilities`, and with `categories` if their order differs. It has a row for each person, or
        only for people with an informative subset: a regression leaves out the others, and people with weight 0.
    categories
        Those of the data.
    informative
        Which people have an informative subset.
    name
        The argument, for messages.

    Returns
    -------
    The probabilities. People whom the fit leaves out get the mean of the others.

    Raises
    ------
    MismatchError, CategoryError, DistributionError
        If the fit is not of these people or categories, or has no probabilities.
    """
    given = np.asarray(fit.probabilities, np.float64)
    own = getattr(fit, "categories", None)
    classes = None if own is None else list(getattr(own, "labels", own))
    kept = getattr(getattr(fit, "fitted_people", None), "answered", None)
    if kept is None:
        kept = np.ones(len(informative), np.bool_) if len(given) == len(informative) else informative
    if len(kept) != len(informative) or len(given) != kept.sum():
        raise MismatchError(
            f"`{name}` must be a fit to the same people; got one of {max(len(kept), len(given))} for "
            f"{counted(len(informative), 'person', 'people')}."
        )
    P = read_probabilities(given, categories, len(given), name, classes=classes)
    if kept.all():
        return P
    out = np.empty((len(informative), categories.p))
    out[kept] = P
    out[~kept] = P.mean(axis=0)
    return out


def _columns_of(table: Any, name: str) -> tuple[AnyArray, list[Label] | None]:
    """Return the numbers of a table, and the names of its columns where it has any."""
    named: list[Label] | None = None
    if is_table(table):
        named = list(getattr(table, "column_names", None) or table.columns)
        columns = [np.asarray(table[column]) for column in named]
        table = np.stack(columns, axis=1) if columns else np.empty((len(table), 0))
        if named == list(range(len(named))):  # the numbers with which pandas names columns
            named = None
    try:
        return np.asarray(table, np.float64), named
    except (TypeError, ValueError):
        raise DistributionError(f"`{name}` must be numbers; got {type(table).__name__} of something else.") from None


def _positions(order: Sequence[Label], categories: Categories, name: str) -> list[int]:
    """Return the position of each category in a list of names, which may be the labels or their text."""
    place = {label: k for k, label in enumerate(order)}
    labels: Sequence[Label] = categories.labels
    if not set(place) & set(labels):  # headers of files and of Polars are always text
        labels = [label_text(label) for label in labels]
    unknown = [label for label in order if label not in set(labels)]
    if unknown or len(place) < len(order):
        what = f"{counted(len(unknown), 'that is none', 'that are none')}" if unknown else "one twice"
        raise CategoryError(f"the columns of `{name}` must be the categories {categories.preview()}; got {what}.")
    absent = [label for label in labels if label not in place]
    if absent:
        raise MismatchError(
            f"`{name}` must have every category; got none for {', '.join(map(repr, absent[:6]))}.", ADD_A_COLUMN
        )
    return [place[label] for label in labels]


def _distributions(values: FloatArray, name: str) -> FloatArray:
    """Return the rows if all are distributions, or raise with the number that are not and the first."""
    with np.errstate(invalid="ignore"):
        wrong = ~((values >= -1e-12).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= SUM_TOLERANCE))
    if wrong.any():
        raise DistributionError(
            f"the rows of `{name}` must be probabilities that sum to 1; got "
            f"{counted(wrong.sum(), 'row that is not', 'rows that are not')}, first row {int(wrong.argmax())}."
        )
    return np.maximum(values, 0.0)
