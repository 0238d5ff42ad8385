"""`leakage_given`: what rows with a subset and covariates reveal."""

from collections.abc import Sequence

import numpy as np

from subsetprivacy._checks import SUM_TOLERANCE, check_codes
from subsetprivacy._types import ArrayLike, BoolArray, FloatArray, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.data.validation import check_allowed
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError, DistributionError, MismatchError, NoDataError
from subsetprivacy.messages.for_tests import DIVIDE_EACH_ROW, DUMMIES_HAVE_NO_COVARIATES
from subsetprivacy.privacy.given_result import ATTACKERS, AttackerView, CovariateLeakage
from subsetprivacy.privacy.posteriors import (
    PosteriorNumbers,
    RowNumbers,
    entropies,
    exceeds,
    read_expected,
    read_published,
)


def leakage_given(
    design: Design,
    P: ArrayLike,
    *,
    codes: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    alone: ArrayLike | None = None,
) -> CovariateLeakage:
    r"""Return what rows with covariates reveal, through the subset, the covariates, and both together.

    Parameters
    ----------
    design
        The design with which subsets are drawn.
    P
        The probabilities of the categories for each row, shape (n, p), in category order: the model of the value given
        the covariates, from a fit, a pilot or a publication.
    codes
        The subset of each row, if they are already drawn. Without them all numbers are expectations over the draw.
    weights
        A weight for each row. By default all rows have the same weight.
    alone
        For each row, whether no other row has the same covariates, as computed by `alone_in_covariates`.

    Raises
    ------
    DistributionError
        If a row of `P` is not a distribution.
    MismatchError
        If `P` does not have a column per category, if lengths differ, or if the probabilities of a row rule out its
        subset.
    CodeError
        If a code is not a subset that the design can produce.
    ArgumentError
        If a weight is negative, or if `codes` belong to a covered design, whose dummy rows have no covariates.
    TooLargeError
        If the subsets can neither be listed nor drawn.

    Notes
    -----
    With :math:`L_a(x) = r_a^\top p(x)`, and means over the rows:

    - best guess :math:`\sum_a \mu_a \max_j r_a(j) p_j(x)`, at most S times the mean of :math:`\max_j p_j(x)`;
    - information :math:`H(X) - H(X \mid x, A) = I(X;x) + I(X;A \mid x)`, where :math:`I(X;A \mid x) \le I(X;A)`;
    - size leakage :math:`1 - p(x)^\top Q\, p(x)`, among the people with the same covariates.

    Sums over subsets are exact up to 500 million products. Beyond that, and if the subsets cannot be listed, up to
    200,000 rows are simulated and the result includes the standard error. For an unknown design, only published rows
    can be evaluated, assuming that they are coarsened at random.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> model = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7]]
    >>> leak = leakage_given(uniform(["a", "b", "c", "d"]), model)
    >>> [round(leak.expected[who].best_guess, 3) for who in ("nothing", "subset", "covariates", "both")]
    [0.4, 0.7, 0.7, 0.8]
    """
    if require_design(design).covered is not None and codes is not None:
        raise ArgumentError("`codes` must be left out for a covered design; got some.", DUMMIES_HAVE_NO_COVARIATES)
    base = design.exposed
    if not base.is_known and codes is None:
        base.support()  # refuses, with the reason
    shares = check_probabilities(P, base.categories.labels)
    n = len(shares)
    weight, unique = _check_weights(weights, n), None if alone is None else _check_alone(alone, n)
    w = weight @ shares
    subsets = None if codes is None else _check_row_codes(codes, base, n)
    expected = read_expected(base, shares, weight, w) if base.is_known else None
    published = None if subsets is None else read_published(base, shares, subsets, weight, w)
    # Simulated rows are not the rows of the table.
    by_row = None if expected is None or expected.simulation_error else expected
    return CovariateLeakage(
        design=base.maker,
        categories=base.categories.labels,
        w=w,
        n=n,
        S=base.S if base.is_known else np.nan,
        expected=None if expected is None else _views(expected, shares, weight, w),
        published=None if published is None else _views(published, shares, weight, w),
        simulation_error=0.0 if expected is None else expected.simulation_error,
        alone=None if unique is None else int(unique.sum()),
        alone_above_95=np.nan if unique is None else _above_95(by_row or published, unique),
        row_numbers=_by_row(shares, by_row, published),
    )


def alone_in_covariates(covariates: ArrayLike) -> BoolArray:
    """Tell for each row of covariates whether no other row is identical.

    Parameters
    ----------
    covariates
        Numbers, shape (n, k): the covariates, or their model matrix.

    Examples
    --------
    >>> alone_in_covariates([[1, 0], [1, 0], [2, 0]])
    array([False, False,  True])
    """
    X = np.ascontiguousarray(np.atleast_2d(np.asarray(covariates, np.float64)) + 0.0)  # -0 is 0
    if X.shape[1] == 0:
        return np.full(len(X), len(X) == 1)
    # Rows as byte strings: sorting them takes one pass for any number of columns.
    rows = X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel()
    _, which, times = np.unique(rows, return_inverse=True, return_counts=True)
    return np.asarray(times[which] == 1)


# Averages over rows -----------------------------------------------------------------------------


def _views(readings: PosteriorNumbers, P: FloatArray, weight: FloatArray, w: FloatArray) -> dict[str, AttackerView]:
    """Return what each of the four attackers learns, averaged over the rows."""
    by_covariates = max(float(entropies(w) - weight @ entropies(P)), 0.0)
    views = (
        _without_subset(w[None], np.ones(1), 0.0),
        _with_subset(readings.subset, 0.0),
        _without_subset(P, weight, by_covariates),
        _with_subset(readings.both, by_covariates),
    )
    return dict(zip(ATTACKERS, views, strict=True))


def _without_subset(P: FloatArray, weight: FloatArray, information: float) -> AttackerView:
    top = P.max(axis=1)
    return _view(float(weight @ top), information, exceeds(top) @ weight, float(top[weight > 0].max()), 0.0)


def _with_subset(rows: RowNumbers, known: float) -> AttackerView:
    """Return the averages of an attacker who already knows this many bits."""
    v = rows.weight
    best, information, size = (float(v @ x) for x in (rows.best_guess, rows.information, rows.size_leakage))
    return _view(best, known + information, rows.above @ v, float(rows.largest[v > 0].max()), size)


def _view(best_guess: float, information: float, above: FloatArray, largest: float, size: float) -> AttackerView:
    above_90, above_95, above_99 = above.tolist()
    return AttackerView(best_guess, information, above_90, above_95, above_99, largest, size)


def _above_95(readings: PosteriorNumbers | None, lonely: BoolArray) -> float:
    """Return the share of the selected rows in which one value has more than 95%."""
    if readings is None or not readings.both.weight[lonely].sum():
        return np.nan
    weight = readings.both.weight[lonely]
    return float(readings.both.above[1, lonely] @ weight / weight.sum())


def _by_row(
    P: FloatArray, expected: PosteriorNumbers | None, published: PosteriorNumbers | None
) -> dict[str, FloatArray]:
    """Return the numbers of each row under the names of `CovariateLeakage.rows`."""
    columns = {"covariates_best_guess": P.max(axis=1)}
    for name, readings in (("expected", expected), ("published", published)):
        if readings is not None:
            rows = readings.both
            columns |= {f"{name}_best_guess": rows.best_guess, f"{name}_information": rows.information}
            columns[f"{name}_above_95"] = rows.above[1]
            if np.isfinite(rows.size_leakage).any():
                columns[f"{name}_size_leakage"] = rows.size_leakage
    return columns if expected is None else {**columns, "largest_posterior": expected.both.largest}


# Checks -----------------------------------------------------------------------------------------


def check_probabilities(P: ArrayLike, labels: Sequence[Label], name: str = "P") -> FloatArray:
    """Return probabilities as an array in which each row sums to 1.

    Raises
    ------
    MismatchError
        If there is not a column for each category.
    DistributionError
        If a row is not a distribution. The message contains only row numbers and counts.
    NoDataError
        If there are no rows.
    """
    try:
        array = np.asarray(P, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DistributionError(f"`{name}` must be numbers, a row of shares each; got {type(P).__name__}.") from None
    if array.ndim != 2 or array.shape[1] != len(labels):
        raise MismatchError(
            f"`{name}` must have a column for each of the {len(labels)} categories; got shape {array.shape}."
        )
    if not len(array):
        raise NoDataError(f"`{name}` must have at least one row; got none.")
    wrong = (
        ("be finite", ("row that is not", "rows that are not"), ~np.isfinite(array).all(axis=1)),
        ("have no negative share", ("row that has one", "rows that have one"), (array < -1e-12).any(axis=1)),
        ("sum to 1", ("row that does not", "rows that do not"), ~(np.abs(array.sum(axis=1) - 1) <= SUM_TOLERANCE)),
    )
    for condition, words, rows in wrong:
        if rows.any():
            raise DistributionError(
                f"each row of `{name}` must {condition}; got {counted(rows.sum(), *words)}, first in row "
                f"{int(rows.argmax())}.",
                DIVIDE_EACH_ROW if condition == "sum to 1" else None,
            )
    return np.maximum(array, 0.0)


def _check_weights(weights: ArrayLike | None, n: int) -> FloatArray:
    if weights is None:
        return np.full(n, 1 / n)
    try:
        v = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"`weights` must be numbers, one per row; got {type(weights).__name__}.") from None
    if v.shape != (n,):
        raise MismatchError(f"`weights` must have one entry per row of `P`, {n}; got shape {v.shape}.")
    if not np.isfinite(v).all() or (v < 0).any() or not v.sum() > 0:
        raise ArgumentError("`weights` must be finite, not negative and not all 0; got other values.")
    return v / v.sum()


def _check_alone(alone: ArrayLike, n: int) -> BoolArray:
    array = np.asarray(alone)
    if array.dtype != np.bool_:
        raise ArgumentError(f"`alone` must be True or False for each row; got dtype {array.dtype}.")
    if array.shape != (n,):
        raise MismatchError(f"`alone` must have one entry per row of `P`, {n}; got shape {array.shape}.")
    return array


def _check_row_codes(codes: ArrayLike, design: Design, n: int) -> IntArray:
    array = check_codes(codes)
    if len(array) != n:
        raise MismatchError(f"`codes` must have one entry per row of `P`, {n}; got {len(array)}.")
    check_allowed(array, design)
    return array
