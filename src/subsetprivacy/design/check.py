"""Test any channel against the definition of subset privacy."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.design.conditional import Conditional
from subsetprivacy.design.require import check_size
from subsetprivacy.design.weights import read_subset
from subsetprivacy.errors import ArgumentError
from subsetprivacy.subsets import Categories, as_categories, sizes

TOLERANCE = 1e-9


@frozen
class MechanismCheck:
    """The verdict of `check_mechanism`.

    Attributes
    ----------
    ok
        Whether the channel meets Definition `subset_privacy`.
    problems
        One sentence for each condition that fails.
    design
        The conditional design that it realizes, or None.
    """

    ok: bool
    problems: tuple[str, ...]
    design: Conditional | None

    def __bool__(self) -> bool:
        return self.ok


def check_mechanism(
    P: Any, subsets: Iterable[Any] | None = None, categories: Iterable[Label] | None = None
) -> MechanismCheck:
    r"""Test the matrix of a mechanism against the definition of subset privacy (`subset_privacy`, `noninfo`).

    Parameters
    ----------
    P
        Either ``{label: {subset: probability}}`` or a matrix whose row j is
        the distribution of the reported subset given category j.
    subsets
        The subset of each column, as labels or codes. By default column k is
        the subset with code k, which needs 2^p columns.
    categories
        The labels of the rows, by default 0 … p-1.

    Returns
    -------
    MechanismCheck
        Truthy if the mechanism is subset-private. Otherwise `problems` lists what is wrong.

    Notes
    -----
    Non-informative means that :math:`P(A=a\mid X=j)` is the same :math:`\mu_a` for all j in a and 0 outside. A
    mechanism has this property if and only if it is a conditional design.

    Examples
    --------
    >>> pairs = {"a": {("a", "b"): 1.0}, "b": {("a", "b"): 0.5, ("b", "c"): 0.5}, "c": {("b", "c"): 1.0}}
    >>> check_mechanism(pairs).problems[0]
    'informative: a|b is reported with probability 0.5 for b but 1 for a; they must be equal'
    """
    labels, codes, matrix = _read_channel(P, subsets, categories)
    problems = [*_check_rows(matrix, labels), *_check_columns(matrix, codes, labels)]
    if problems:
        return MechanismCheck(False, tuple(problems), None)
    mu = matrix.max(axis=0)
    kept = mu > TOLERANCE  # subsets too rare to check are left out of the design
    order = np.argsort(codes[kept])
    design = Conditional(labels, read_only(codes[kept][order]), read_only(mu[kept][order]))
    return MechanismCheck(True, (), design)


def _read_channel(P: Any, subsets: Any, categories: Any) -> tuple[Categories, IntArray, FloatArray]:
    if isinstance(P, Mapping):
        labels = _check_categories(tuple(P) if categories is None else categories)
        if set(P) != set(labels):
            raise ArgumentError(f"`P` must have one distribution for each of the {labels.p} categories, and no other.")
        laws = [_read_distribution(P[label], labels) for label in labels]
        codes = sorted(set().union(*laws))
        return labels, np.array(codes, np.int64), np.array([[law.get(a, 0.0) for a in codes] for law in laws])
    matrix = _numbers(P)
    if matrix.ndim != 2:
        raise ArgumentError(f"`P` must be a matrix with a row per category; got shape {matrix.shape}.")
    p, s = matrix.shape
    labels = _check_categories(tuple(range(p)) if categories is None else categories)
    if labels.p != p:
        raise ArgumentError(f"`P` must have one row for each of the {labels.p} categories; got {p}.")
    if subsets is None and s != 1 << p:
        raise ArgumentError(f"`subsets` must name the {s} columns of `P`; without it {1 << p} columns are expected.")
    codes = list(range(s)) if subsets is None else [read_subset(a, labels) for a in subsets]
    if len(codes) != s or len(set(codes)) != s:
        raise ArgumentError(f"`subsets` must name each of the {s} columns of `P` once; got {len(set(codes))} subsets.")
    return labels, np.array(codes, np.int64), matrix


def _check_categories(categories: Any) -> Categories:
    return check_size(as_categories(categories), 2, "conditional", None)


def _numbers(P: Any) -> FloatArray:
    try:
        return np.asarray(P, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"`P` must be a matrix of numbers, or a mapping; got {type(P).__name__}.") from None


def _read_distribution(law: Any, labels: Categories) -> dict[int, float]:
    if not isinstance(law, Mapping):
        raise ArgumentError(f"`P` must map each category to {{subset: probability}}; got {type(law).__name__}.")
    codes = [read_subset(a, labels) for a in law]
    if len(set(codes)) < len(codes):
        raise ArgumentError("`P` must name each subset once per category; got one twice.")
    return dict(zip(codes, _numbers(list(law.values())).tolist(), strict=True))


def _check_rows(matrix: FloatArray, labels: Categories) -> list[str]:
    problems = []
    if not np.isfinite(matrix).all() or matrix.min() < -TOLERANCE:
        problems.append("not a distribution: some probability is negative or not finite")
    for label, total in zip(labels, matrix.sum(axis=1), strict=True):
        if not abs(total - 1) <= TOLERANCE:
            problems.append(f"not a distribution: the probabilities given {label} sum to {total:.6g}")
    return problems


def _check_columns(matrix: FloatArray, codes: IntArray, labels: Categories) -> list[str]:
    problems = []
    for a, size, column in zip(codes.tolist(), sizes(codes), matrix.T, strict=True):
        if column.max() <= TOLERANCE:
            continue
        name = labels.format(a) or "the empty set"
        inside = np.array([a >> j & 1 for j in range(labels.p)], np.bool_)
        if size < 2:
            problems.append(f"too small: {name} is reported and hides nothing")
        liars = np.flatnonzero(~inside & (column > TOLERANCE))
        problems += [f"false: {labels.labels[j]} is reported as {name}, which does not contain it" for j in liars]
        if inside.any() and np.ptp(column[inside]) > TOLERANCE:
            members = np.flatnonzero(inside)
            low, high = members[column[inside].argmin()], members[column[inside].argmax()]
            problems.append(
                f"informative: {name} is reported with probability {column[low]:.4g} for {labels.labels[low]} but "
                f"{column[high]:.4g} for {labels.labels[high]}; they must be equal"
            )
    return problems
