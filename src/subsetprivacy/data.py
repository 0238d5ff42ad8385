"""What remains of the people: a subset each (`SubsetData`), then only counts (`SubsetCounts`).

Counts are sufficient for every estimator here. The full set carries no
information, whether it was drawn or stands for a missing answer, so it is
kept apart as `n_missing` and left out of everything else.
"""

from collections.abc import Iterator, Mapping, Sized
from functools import cached_property
from typing import Any

import numpy as np
from attrs import Attribute, field, frozen

from subsetprivacy._checks import check_codes
from subsetprivacy._checks import frozen as read_only
from subsetprivacy._types import AnyArray, ArrayLike, FloatArray, IntArray, Label
from subsetprivacy.design import Design, Mixture, identify, require_design
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError, NoDataError
from subsetprivacy.incidence import MAX_DENSE_BITS, Bytes, Halves, Rows
from subsetprivacy.subsets import Categories

_COUNT_BLOCK = 1 << 18
_MAX_PEOPLE = 1 << 53


def check_allowed(codes: IntArray, design: Design, rows: str = "row") -> None:
    """Raise if a code names the empty set or a subset that the design cannot produce."""
    full = design.categories.full
    outside = (codes <= 0) | (codes > full)
    if outside.any():
        first = int(outside.argmax())
        what = "0, the empty set" if codes[first] == 0 else "outside the categories"
        raise CodeError(
            f"`codes` must lie in 1…{full}; got {int(outside.sum())} that do not, first in {rows} {first} ({what})."
        )
    foreign = ~design.allows(codes)
    if foreign.any():
        raise CodeError(
            f"`codes` must be subsets that the {design.kind} design can produce; got {int(foreign.sum())} that are not,"
            f" first in {rows} {int(foreign.argmax())}. Hint: is this the design the data were collected with?"
        )


def _as_codes(codes: ArrayLike) -> IntArray:
    return read_only(check_codes(codes))


@frozen(slots=False, eq=False, repr=False)
class SubsetData:
    """One subset per person, as codes, with the design that drew them.

    Parameters
    ----------
    codes
        Integer codes; bit j is set when category j is a member.
    design
        The design the subsets were drawn with.

    Raises
    ------
    CodeError
        If a code is no integer, is 0, or is no subset that the design can produce.
    """

    codes: IntArray = field(converter=_as_codes)
    design: Design = field()

    @design.validator
    def _check(self, _: "Attribute[Design]", design: Design) -> None:
        check_allowed(self.codes, require_design(design))

    @classmethod
    def trusted(cls, codes: IntArray, design: Design) -> "SubsetData":
        """Wrap codes that this package has just drawn, without checking or copying them."""
        data = cls.__new__(cls)
        codes.setflags(write=False)
        object.__setattr__(data, "codes", codes)
        object.__setattr__(data, "design", design)
        return data

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<SubsetData: {len(self)} people, {self.design!r}>"

    @property
    def categories(self) -> Categories:
        """The categories of the variable."""
        return self.design.categories

    def counts(self) -> "SubsetCounts":
        """Return the counts of the distinct subsets."""
        return count_codes(self.codes, self.design)

    def labels(self) -> list[tuple[Label, ...]]:
        """Return each person's subset as labels, in category order."""
        return [self.categories.members(code) for code in self.codes.tolist()]

    def frequencies(self) -> dict[str, float]:
        """Return the share of people per subset, subsets as joined labels."""
        return self.counts().frequencies()


@frozen(slots=False, eq=False, repr=False)
class SubsetCounts:
    """How many people reported each subset: all that the estimators need.

    Parameters
    ----------
    codes
        Distinct subset codes.
    counts
        People per code; sums of sampling weights if `squares` is given.
    design
        The design the subsets were drawn with.
    squares
        Sums of squared sampling weights per code, for weighted samples.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> colours = uniform(["black", "red", "green", "blue"])
    >>> wave1 = SubsetCounts([3, 12], [60, 40], colours)
    >>> wave2 = SubsetCounts([3, 5], [10, 30], colours)
    >>> (wave1 + wave2).frequencies()
    {'black|red': 0.5, 'black|green': 0.214..., 'green|blue': 0.285...}
    """

    codes: IntArray = field(converter=_as_codes)
    counts: AnyArray = field()
    design: Design = field()
    squares: FloatArray | None = field(default=None)

    def __attrs_post_init__(self) -> None:
        order = _check_entries(self.codes, self.design)
        object.__setattr__(self, "codes", read_only(self.codes[order]))
        weighted = self.squares is not None
        for name in ("counts", "squares") if weighted else ("counts",):
            checked = _check_amounts(getattr(self, name), (len(order),), name, whole=not weighted)
            object.__setattr__(self, name, read_only(checked[order]))

    @classmethod
    def trusted(
        cls, codes: IntArray, counts: AnyArray, design: Design, squares: FloatArray | None = None
    ) -> "SubsetCounts":
        """Wrap ascending codes and counts that are known to be right, and lock them."""
        made = cls.__new__(cls)
        for name, value in (("codes", codes), ("counts", counts), ("design", design), ("squares", squares)):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(made, name, value)
        return made

    def __repr__(self) -> str:
        weighted = ", weighted" if self.squares is not None else ""
        return (
            f"<SubsetCounts: n = {self.n:g}{weighted}, {len(self.informative)} distinct subsets, "
            f"{self.n_missing:g} missing, {self.design!r}>"
        )

    @property
    def categories(self) -> Categories:
        """The categories of the variable."""
        return self.design.categories

    @cached_property
    def _observed(self) -> tuple[IntArray, IntArray, FloatArray, float, FloatArray]:
        """Positions, codes, amounts, total and shares of the informative entries, made together."""
        at = np.flatnonzero(self.counts)
        if at.size and self.codes[at[-1]] == self.categories.full:  # codes ascend: the full set comes last
            at = at[:-1]
        n_a = self.counts[at].astype(np.float64)
        total = float(n_a.sum())
        return at, self.codes[at], n_a, total, n_a / total if total else n_a

    @property
    def informative(self) -> IntArray:
        """The positions of the entries that say something: counted, and not the full set."""
        return self._observed[0]

    @property
    def observed_codes(self) -> IntArray:
        """The informative codes."""
        return self._observed[1]

    @property
    def n_a(self) -> FloatArray:
        """People, or weight, per informative code."""
        return self._observed[2]

    @property
    def total(self) -> float:
        """The sum of the informative counts or weights."""
        return self._observed[3]

    @property
    def shares(self) -> FloatArray:
        """The share of each informative code."""
        return self._observed[4]

    @property
    def n(self) -> float:
        """The number of informative people; Kish's effective number for a weighted sample."""
        if self.squares is None:
            return int(self.total)
        squares = self.squares[self.informative].sum()
        return float(self.total**2 / squares) if squares else 0.0

    @property
    def n_missing(self) -> float:
        """People (or weight) with the full set: missing, or drawn and saying nothing."""
        amount = self.counts[self.codes == self.categories.full].sum()
        return int(amount) if self.squares is None else float(amount)

    @cached_property
    def incidence(self) -> "Rows | Halves | Bytes":
        """The rows 1_a of the informative codes."""
        return self.design.incidence(self.observed_codes)

    @cached_property
    def _null(self) -> IntArray | None:
        # With the full set among the rows a direction must keep the sum of w, as moving in the simplex does.
        rows = np.append(self.observed_codes, self.categories.full)
        return identify.null_direction(rows, self.categories.p)

    @property
    def is_unique(self) -> bool:
        """Whether the observed subsets alone make the maximum likelihood estimate unique (`unique`).

        This is sufficient and not necessary: on the boundary of the simplex
        the estimate can be unique although this fails.
        """
        return self._null is None

    def null_direction(self) -> dict[Label, int] | None:
        """Return a change of w, in category names, that no observed subset can see; None if `is_unique`."""
        return None if self._null is None else identify.as_named(self._null, self.categories)

    def require_data(self) -> "SubsetCounts":
        """Return self, or raise if nobody said anything.

        Raises
        ------
        NoDataError
            If there is no observation but full sets.
        """
        if not self.total > 0:
            seen = f"{self.n_missing:g} full sets only, which say nothing" if self.n_missing else "none"
            raise NoDataError(f"there must be at least one informative observation; got {seen}.")
        return self

    def frequencies(self) -> dict[str, float]:
        """Return the share of people per subset, subsets as joined labels."""
        total = self.counts.sum()
        return {
            self.categories.format(a): float(c / total)
            for a, c in zip(self.codes.tolist(), self.counts, strict=True)
            if c > 0
        }

    def __add__(self, other: object) -> "SubsetCounts":
        if not isinstance(other, SubsetCounts):
            return NotImplemented
        if self.categories != other.categories:
            raise MismatchError("counts must have the same categories in the same order to be added.")
        if (self.squares is None) != (other.squares is None):
            raise MismatchError("weighted and unweighted counts cannot be added. Hint: count all rows with weights.")
        codes = np.union1d(self.codes, other.codes)
        design = Mixture.of([self.design, other.design], _shares(self, other))
        squares = None if self.squares is None else _add(codes, self, other, "squares")
        return SubsetCounts.trusted(codes, _add(codes, self, other, "counts"), design, squares)

    def __radd__(self, other: object) -> "SubsetCounts":
        return self if other == 0 else NotImplemented  # sum([...]) starts at 0


def _shares(one: SubsetCounts, two: SubsetCounts) -> list[float]:
    """Return the shares of the two designs among all who were asked, judged by those whose subset says something."""
    weights = [part.total / (1 - part.design.mu_full) if part.total else 0.0 for part in (one, two)]
    return weights if sum(weights) else [1.0, 1.0]


def _add(codes: IntArray, one: SubsetCounts, two: SubsetCounts, name: str) -> AnyArray:
    first, second = getattr(one, name), getattr(two, name)
    out = np.zeros(len(codes), np.result_type(first, second))
    out[np.searchsorted(codes, one.codes)] += first
    out[np.searchsorted(codes, two.codes)] += second
    return out


def _check_entries(codes: IntArray, design: Design) -> IntArray:
    """Return the order that sorts distinct codes of a design, or raise."""
    require_design(design)
    if len(np.unique(codes)) < len(codes):
        raise CodeError("`codes` must be distinct. Hint: sp.count(codes, design=...) counts repeated ones.")
    check_allowed(codes, design, rows="entry")
    return np.argsort(codes)


def _check_amounts(values: Any, shape: tuple[int, ...], name: str, whole: bool) -> AnyArray:
    try:
        amounts = np.asarray(values, dtype=None if whole else np.float64)
        numeric = amounts.dtype.kind in "iuf"
    except (TypeError, ValueError):
        numeric = False
    if not numeric:
        raise CodeError(f"`{name}` must be numbers; got {type(values).__name__}.")
    if amounts.shape != shape:
        raise MismatchError(f"`{name}` must have one entry per code; got shape {amounts.shape} for {shape[-1]} codes.")
    if not np.isfinite(amounts).all() or (amounts < 0).any():
        raise CodeError(f"`{name}` must be finite and not negative.")
    if not whole:
        return amounts
    if (amounts != np.floor(amounts)).any():
        raise CodeError(f"`{name}` must be whole numbers of people. Hint: for sampling weights pass `squares` too.")
    if (amounts > _MAX_PEOPLE).any():
        raise CodeError(f"`{name}` must be at most {_MAX_PEOPLE} each, the last whole number that is exact everywhere.")
    return amounts.astype(np.int64)


@frozen(slots=False, eq=False, repr=False)
class CountsBatch:
    """Many samples under one design: a row of counts each, over the same codes."""

    codes: IntArray = field(converter=_as_codes)
    counts: AnyArray = field()
    design: Design = field()

    def __attrs_post_init__(self) -> None:
        order = _check_entries(self.codes, self.design)
        samples = len(self.counts) if isinstance(self.counts, Sized) else 0
        checked = _check_amounts(self.counts, (samples, len(order)), "counts", whole=True)
        object.__setattr__(self, "codes", read_only(self.codes[order]))
        object.__setattr__(self, "counts", read_only(checked[:, order]))

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"<CountsBatch: {len(self)} samples, {len(self.codes)} subsets, {self.design!r}>"

    def __getitem__(self, k: int) -> SubsetCounts:
        return SubsetCounts.trusted(self.codes, self.counts[k], self.design)

    def __iter__(self) -> Iterator[SubsetCounts]:
        return (self[k] for k in range(len(self)))


def count_codes(
    codes: IntArray, design: Design, weights: FloatArray | None = None, *, frequency: bool = True
) -> SubsetCounts:
    """Count codes; with weights, sum them (and their squares if they are sampling weights)."""
    p = design.p
    dense = p <= MAX_DENSE_BITS and 1 << p <= max(8 * len(codes), 1 << 10)
    if weights is None:
        cells, tally = _tally(codes, design) if dense else np.unique(codes, return_counts=True)
        _check_counted(cells, codes, design)
        return SubsetCounts.trusted(cells, tally, design)
    check_allowed(codes, design)
    cells, inverse = (np.arange(1 << p), codes) if dense else np.unique(codes, return_inverse=True)
    sums = np.bincount(inverse, weights, minlength=len(cells))
    kept = np.flatnonzero(sums)
    if frequency:
        return SubsetCounts.trusted(cells[kept], np.rint(sums[kept]).astype(np.int64), design)
    squares = np.bincount(inverse, weights**2, minlength=len(cells)).astype(np.float64)
    return SubsetCounts.trusted(cells[kept], sums[kept], design, squares[kept])


def _tally(codes: IntArray, design: Design) -> tuple[IntArray, IntArray]:
    """Return the distinct codes and their counts, by way of 2^p cells, a block at a time while it is in the cache."""
    cells = 1 << design.p
    block = max(_COUNT_BLOCK, 4 * cells)
    tally = np.zeros(cells, np.int64)
    for start in range(0, len(codes), block):
        try:
            tally += np.bincount(codes[start : start + block], minlength=cells)
        except (ValueError, MemoryError):  # negative, or beyond the last cell: a check beforehand costs a fifth more
            check_allowed(codes, design)
            raise
    distinct = np.flatnonzero(tally)
    return distinct, tally[distinct]


def _check_counted(distinct: IntArray, codes: IntArray, design: Design) -> None:
    """Check the few distinct codes, and all of them only where an error has to name the row."""
    try:
        check_allowed(distinct, design)
        return
    except CodeError:
        pass
    check_allowed(codes, design)


def as_counts(data: Any) -> SubsetCounts:
    """Return the counts of whatever an estimator was given.

    Raises
    ------
    ArgumentError
        If it is neither `SubsetData` nor `SubsetCounts`.
    """
    if isinstance(data, SubsetCounts):
        return data
    if isinstance(data, SubsetData):
        return data.counts()
    kind = "a mapping" if isinstance(data, Mapping) else type(data).__name__
    raise ArgumentError(
        f"`data` must be SubsetData or SubsetCounts; got {kind}. "
        "Hint: sp.privatize(values, design) makes data, sp.count(subsets, design=design) counts them."
    )
