"""What scikit-learn passes to a classifier: covariates, and a label or a subset for each person."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import frozen
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label
from subsetprivacy._words import people
from subsetprivacy.counting.columns import check_weights, read_column
from subsetprivacy.data import SubsetData, check_allowed
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, MismatchError, NoDataError, NotIdentifiableError
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.messages.for_regression import NUMBERS_ONLY
from subsetprivacy.regression.blocks import distinct_codes
from subsetprivacy.regression.problem import require_response
from subsetprivacy.regression.starting import null_information, shares_of_all

_TABLE = 1 << 22  # largest table of the rows of all distinct subsets; beyond it rows are computed when needed
_ENOUGH = 1 << 16  # number of distinct subsets that is enough to estimate shares and information for a start


@frozen(eq=False, repr=False)
class Target:
    """The classes, and each person's label or subset.

    Attributes
    ----------
    classes
        The classes, shape (p,).
    design
        The design of the subsets; None for labels.
    codes
        The code of each person's subset; for labels, the position of the class.
    table, index
        The rows of the distinct subsets, shape (p, k), and the position of each person's row. Without columns if there
        are too many.
    """

    classes: AnyArray
    design: Design | None
    codes: IntArray
    table: FloatArray
    index: IntArray

    @property
    def p(self) -> int:
        """The number of classes."""
        return len(self.classes)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def informative(self) -> BoolArray:
        """Whose subset is informative, that is, not the full set."""
        if self.design is None:
            return np.ones(len(self), np.bool_)
        return ~self.design.is_missing(self.codes)

    def among(self, kept: IntArray | BoolArray) -> "Target":
        """Return the target of some of the people."""
        index = self.index[kept] if self.table.shape[1] else self.index
        return Target(self.classes, self.design, self.codes[kept], self.table, index)

    def rows(self, part: slice | IntArray) -> FloatArray:
        """Return the rows r of some of the people, shape (p, m)."""
        if self.table.shape[1]:
            return np.take(self.table, self.index[part], axis=1)
        assert self.design is not None
        return rows_of(self.codes[part], self.design)

    def start(self, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return the overall shares of the classes, and the information about them per person."""
        if self.design is None:
            counts = np.bincount(self.codes, weight, minlength=self.p)
            shares = counts / counts.sum()
            return shares, np.diag(shares) - np.outer(shares, shares)
        codes, index = distinct_codes(self.codes)
        amounts = np.bincount(index, weight, minlength=len(codes)).astype(np.float64)
        if len(codes) == 1:
            raise NotIdentifiableError(
                "there must be more than one distinct subset to learn from; got one, reported by everyone."
            )
        if len(codes) > _ENOUGH:
            some = np.arange(0, len(codes), len(codes) // _ENOUGH)
            codes, amounts = codes[some], amounts[some]
        w = shares_of_all(codes, amounts, self.design)
        return w, null_information(codes, amounts, self.design, w)


def is_of_subsets(y: Any, design: Design | None, categories: Iterable[Label] | None) -> bool:
    """Tell whether a target consists of subsets rather than labels."""
    return design is not None or categories is not None or isinstance(y, SubsetData)


def read_target(y: Any, design: Design | None, categories: Iterable[Label] | None, n: int) -> Target:
    """Return the target, for n people.

    Raises
    ------
    CodeError, CategoryError
        If subsets do not belong to the design.
    MismatchError
        If their number differs from the number of people.
    NotIdentifiableError, ArgumentError
        If nothing can be learned from the design.
    """
    if is_of_subsets(y, design, categories):
        codes, drawn = read_column(y, design, categories)
        _check_length(len(codes), n)
        require_response(drawn)
        check_allowed(codes, drawn)
        return _of_codes(codes, drawn)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    labels = column_or_1d(y, warn=True)
    _check_length(len(labels), n)
    classes, index = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ArgumentError("`y` must have at least two classes; got one class.")
    return Target(classes, None, index, np.eye(len(classes)), index)


def _check_length(length: int, n: int) -> None:
    if length != n:
        raise MismatchError(f"`y` must have one entry per row of `X`; got {length} for {n} rows.")


def _of_codes(codes: IntArray, design: Design) -> Target:
    distinct, index = distinct_codes(codes)
    classes = class_array(design.categories.labels)
    if len(distinct) * design.p > _TABLE:
        return Target(classes, design, codes, np.empty((design.p, 0)), np.empty(0, np.int64))
    return Target(classes, design, codes, rows_of(distinct, design), index.astype(np.int32))


def class_array(labels: tuple[Label, ...]) -> AnyArray:
    """Return labels as an array that preserves each of them; an array of objects if their types are mixed."""
    alike = len({type(label) for label in labels}) == 1 and isinstance(labels[0], (str, bool, int, float))
    if alike:
        return np.array(labels)
    out = np.empty(len(labels), object)
    out[:] = labels
    return out


def read_weights(sample_weight: Any, n: int) -> FloatArray | None:
    """Return the weight of each person."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    weight = check_weights(np.full(n, weight) if weight.ndim == 0 else weight, n, "sampling")
    if not weight.any():
        raise NoDataError(f"`sample_weight` must not be zero for everyone; got that for {people(n)}.")
    return weight


def learners(target: Target, weight: FloatArray | None) -> BoolArray:
    """Return who is used for learning: people with an informative subset and a weight. Raise if there are none."""
    kept = target.informative if weight is None else target.informative & (weight > 0)
    if not kept.any():
        raise NoDataError(f"`y` must contain at least one informative subset; got none of {people(len(kept))}.")
    return kept


def read_features(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    """Return covariates as an array of floating-point numbers, with scikit-learn's checks.

    Raises
    ------
    ArgumentError
        If a column is not numeric.
    ValueError
        As in scikit-learn: for missing or infinite numbers, sparse matrices, or a different number of columns.
    """
    try:
        return np.asarray(validate_data(estimator, X, reset=reset, dtype=(np.float64, np.float32)))
    except ValueError as error:
        shows_a_cell = "could not convert" in str(error)
        if not shows_a_cell:
            raise
    raise ArgumentError("`X` must be numbers; got something else in some cells.", NUMBERS_ONLY)


def require_target(estimator: Any, y: Any) -> None:
    """Raise with scikit-learn's wording if there is no target."""
    if y is None:
        raise ArgumentError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
