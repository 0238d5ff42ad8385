"""Known margins: checked arguments, and the columns of people for them."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import SUM_TOLERANCE, shown
from subsetprivacy._types import BoolArray, FloatArray, Label
from subsetprivacy._words import counted, people
from subsetprivacy.data import SubsetData
from subsetprivacy.errors import ArgumentError, CategoryError, DistributionError, MismatchError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.indicator import indicator
from subsetprivacy.messages.for_data import DESIGNS_OF_SUBSETS, MARGIN_OF_ALL_LABELS, SHARES_OR_TOTALS
from subsetprivacy.sampling import Sampling
from subsetprivacy.subsets import is_missing
from subsetprivacy.tables import label_text

_LEAST_PEOPLE = 2  # numbers with a smaller sum are shares, not totals
_SAME = 1e-6  # the tolerance for the sums of margins, relative to the population


@frozen(eq=False)
class KnownMargin:
    """A known margin.

    Attributes
    ----------
    names
        The columns; several columns are crossed.
    labels
        The labels, or tuples of labels for several columns; empty for a mean.
    totals
        The number or share of people with each label, or the mean.
    """

    names: tuple[str, ...]
    labels: tuple[Label, ...]
    totals: FloatArray

    @property
    def name(self) -> str:
        """The names of the columns."""
        return " x ".join(self.names)

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of a column of numbers."""
        return not self.labels

    def parts(self, label: Label) -> tuple[Label, ...]:
        """Return the label of each column."""
        return label if len(self.names) > 1 and isinstance(label, tuple) else (label,)

    @property
    def sum(self) -> float:
        """The sum over all labels."""
        return float(self.totals.sum())


def read_margins(margins: Any) -> list[KnownMargin]:
    """Return margins, or raise if they are invalid.

    Raises
    ------
    ArgumentError
        If there are none, or one contains anything but finite numbers of at least 0.
    DistributionError
        If shares do not sum to 1.
    """
    if not isinstance(margins, Mapping) or not margins:
        raise ArgumentError(
            "`margins` must be a dict of known margins by column; got "
            f"{'none' if isinstance(margins, Mapping) else type(margins).__name__}.",
            MARGIN_OF_ALL_LABELS,
        )
    return [_margin(name, given) for name, given in margins.items()]


def _margin(name: Any, given: Any) -> KnownMargin:
    names = (name,) if isinstance(name, str) else tuple(name) if isinstance(name, tuple) else ()
    if not names or not all(isinstance(part, str) for part in names):
        raise ArgumentError(f"`margins` must be by names of columns, or tuples of them; got {shown(name)}.")
    if hasattr(given, "items") and not isinstance(given, Mapping):
        given = dict(given.items())  # a series
    if isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
        if len(names) > 1 or not np.isfinite(given):
            raise ArgumentError(f"the mean of {names[0]} must be a finite number of one column; got something else.")
        return KnownMargin(names, (), np.array([float(given)]))
    if not isinstance(given, Mapping) or len(given) < 1:
        raise ArgumentError(
            f"the margin of {' x '.join(names)} must be a dict of shares or totals by label, or the mean of numbers; "
            f"got {type(given).__name__}.",
            MARGIN_OF_ALL_LABELS,
        )
    if len(names) > 1 and not all(isinstance(label, tuple) and len(label) == len(names) for label in given):
        raise ArgumentError(f"labels of the margin of {' x '.join(names)} must be tuples of {len(names)}.")
    try:
        totals = np.array([float(value) for value in given.values()])
    except (TypeError, ValueError):
        totals = np.array([np.nan])
    if not np.isfinite(totals).all() or (totals < 0).any() or not totals.sum() > 0:
        raise ArgumentError(f"the margin of {' x '.join(names)} must be of numbers of at least 0, not all 0.")
    _check_shares(totals, " x ".join(names))
    return KnownMargin(names, tuple(given), totals)


def _check_shares(totals: FloatArray, name: str) -> None:
    """Raise if the numbers look like shares and do not sum to 1."""
    meant = totals.max() <= 1 or totals.sum() < _LEAST_PEOPLE
    if meant and abs(totals.sum() - 1) > SUM_TOLERANCE:
        raise DistributionError(
            f"shares of the margin of {name} must sum to 1; got {totals.sum():.6g}.", SHARES_OR_TOTALS
        )


def in_totals(
    margins: Sequence[KnownMargin], population: float | None, weight: float
) -> tuple[list[KnownMargin], float]:
    """Return margins as totals of people, and the size of the population.

    Parameters
    ----------
    population
        The size of the population; None to use margins of totals, or else the sum of the weights.
    weight
        The sum of the weights.

    Raises
    ------
    MismatchError
        If margins of totals differ in their sums.
    """
    if population is not None and (
        not isinstance(population, (int, float, np.number)) or not 0 < float(population) < np.inf
    ):
        raise ArgumentError(f"`population` must be a positive number of people; got {shown(population)}.")
    size = population
    for margin in margins:
        if margin.is_mean or abs(margin.sum - 1) <= _SAME:
            continue
        if size is not None and abs(margin.sum - size) > _SAME * size:
            raise MismatchError(
                f"margins of totals must have the same sum; got {margin.sum:g} in that of {margin.name}, where "
                f"{size:g} are known."
            )
        size = margin.sum if size is None else size
    size = weight if size is None else float(size)
    made = [
        KnownMargin(known.names, known.labels, known.totals * (size if known.is_mean else size / known.sum))
        for known in margins
    ]
    return made, size


@frozen(eq=False, repr=False)
class CalibrationProblem:
    """The columns that people are calibrated to."""

    X: FloatArray
    totals: FloatArray
    terms: tuple[tuple[str, str], ...]  # the margin and the label of each column
    private: tuple[str, ...]
    means: BoolArray  # which columns have a known mean

    def shown(self, sums: FloatArray) -> FloatArray:
        """Return sums of columns, or means for columns with a known mean; the first column counts people."""
        return np.where(self.means, sums / sums[0], sums)


def columns_of_people(
    columns: Mapping[str, Any], margins: Sequence[KnownMargin], size: float, sampling: Sampling
) -> CalibrationProblem:
    """Return each person's indicators of the labels of all margins; unbiased indicators for private columns.

    Raises
    ------
    CategoryError
        If a person's label is missing from a margin, or no one has a label with a positive total.
    """
    parts: list[FloatArray] = [np.ones((sampling.n, 1))]
    totals, terms, private, means = [size], [("people", "all")], [], [False]
    for margin in margins:
        made = {name: _indicators(columns[name], name, margin, sampling) for name in margin.names}
        private += [name for name in margin.names if isinstance(columns[name], SubsetData)]
        part = _numbers(columns[margin.names[0]], margin.name, sampling.n) if margin.is_mean else _crossed(made, margin)
        _check_labels_occur(part, margin, sampling)
        parts.append(part)
        totals += margin.totals.tolist()
        terms += [(margin.name, label_text(label)) for label in margin.labels] or [(margin.name, "mean")]
        means += [margin.is_mean] * part.shape[1]
    X = np.concatenate(parts, axis=1)
    return CalibrationProblem(X, np.array(totals), tuple(terms), tuple(dict.fromkeys(private)), np.array(means))


_Found = tuple[FloatArray, dict[Label, int]]


def _indicators(column: Any, name: str, margin: KnownMargin, sampling: Sampling) -> _Found:
    """Return a column of zeros and ones for each label of a variable in the margin."""
    if margin.is_mean:
        return np.empty((0, 0)), {}
    at = margin.names.index(name)
    labels = list(dict.fromkeys(margin.parts(label)[at] for label in margin.labels))
    position = {label: k for k, label in enumerate(labels)}
    if isinstance(column, SubsetData):
        return _of_subsets(column, name, labels, sampling), position
    values = _listed(column, name, sampling.n)
    positions = np.fromiter(
        (position.get(value, -1) if isinstance(value, Hashable) else -1 for value in values), np.int64
    )
    if (positions < 0).any():
        missing = sum(is_missing(value) for value in values)
        what = f"{missing} of them missing, " if missing else ""
        raise CategoryError(
            f"the margin of {margin.name} must have the label of everyone; got {people(int((positions < 0).sum()))} "
            f"without, {what}first in row {int((positions < 0).argmax())}.",
            DESIGNS_OF_SUBSETS(name=name) if (positions < 0).all() else MARGIN_OF_ALL_LABELS,
        )
    return (positions[:, None] == np.arange(len(labels))).astype(np.float64), position


def _of_subsets(data: SubsetData, name: str, labels: Sequence[Label], sampling: Sampling) -> FloatArray:
    """Return the unbiased indicators of a private column; the overall shares for people without information."""
    if set(labels) != set(data.categories.labels):
        raise CategoryError(
            f"the margin of {name} must have all categories of its design, and no others; got "
            f"{counted(len(labels), 'label')} for {data.categories.p}."
        )
    w = np.maximum(estimate(data, sampling=sampling).w, 0.0)
    D = indicator(data, w / w.sum())
    D = np.where(np.isnan(D), w / w.sum(), D)
    return D[:, [data.categories.index(label) for label in labels]]


def _crossed(made: Mapping[str, _Found], margin: KnownMargin) -> FloatArray:
    """Return a column for each label of a margin; for several variables, the products of their columns."""
    columns = []
    for label in margin.labels:
        parts = zip(margin.names, margin.parts(label), strict=True)
        columns.append(np.prod([made[name][0][:, made[name][1][part]] for name, part in parts], axis=0))
    return np.stack(columns, axis=1)


def _check_labels_occur(part: FloatArray, margin: KnownMargin, sampling: Sampling) -> None:
    empty = ~((part != 0) & (sampling.weights > 0)[:, None]).any(axis=0)
    each = zip(margin.labels, empty, margin.totals, strict=False)
    lacking = [label_text(label) for label, gone, total in each if gone and total]
    if lacking:
        raise CategoryError(
            f"someone in the sample must have each label of the margin of {margin.name}; got no one with "
            f"{', '.join(lacking[:6])}."
        )


def _listed(column: Any, name: str, n: int) -> list[Any]:
    to_list = next((way for way in ("to_pylist", "to_list", "tolist") if hasattr(column, way)), None)
    values = list(column) if to_list is None else getattr(column, to_list)()
    if len(values) != n:
        raise MismatchError(f"column {name} must have a row per person; got {len(values)} for {people(n)}.")
    return values


def _numbers(column: Any, name: str, n: int) -> FloatArray:
    try:
        numbers = np.asarray(column, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (n,) or not np.isfinite(numbers).all():
        bad = "" if numbers.shape != (n,) else f" and finite; got {int((~np.isfinite(numbers)).sum())} that are not"
        raise ArgumentError(f"column {name} must be a number per person{bad}.")
    return numbers[:, None]
