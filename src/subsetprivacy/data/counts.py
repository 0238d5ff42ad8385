"""`SubsetCounts`: how many people reported each subset."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import AnyArray, FloatArray, IntArray, Label
from subsetprivacy._words import counted, whole
from subsetprivacy.data.describing import (
    columns_of_subsets,
    design_of,
    facts_of,
    most_frequent,
    note_of_missing,
    note_of_unobserved,
    note_of_weights,
    notes_of_design,
    table_of_subsets,
)
from subsetprivacy.data.validation import as_codes, check_amounts, check_entries
from subsetprivacy.design import Design, Mixture, identify
from subsetprivacy.draw import Axes, AxesOrNone, Heading, subset_shares
from subsetprivacy.errors import MismatchError, NoDataError
from subsetprivacy.incidence import Listable
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_data import COUNT_WITH_WEIGHTS
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import Table


@frozen(slots=False, eq=False, repr=False)
class SubsetCounts(Result):
    """The number of people who reported each subset, which is all that the estimators need.

    Parameters
    ----------
    codes
        Distinct subset codes.
    counts
        The number of people per code, or the sum of sampling weights if `squares` is given.
    design
        The design with which the subsets were drawn.
    squares
        Sums of squared sampling weights per code, for weighted samples.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> colors = uniform(["black", "red", "green", "blue"])
    >>> wave1 = SubsetCounts([3, 12], [60, 40], colors)
    >>> wave2 = SubsetCounts([3, 5], [10, 30], colors)
    >>> (wave1 + wave2).subset_shares()
    {'black|red': 0.5, 'black|green': 0.214..., 'green|blue': 0.285...}
    """

    codes: IntArray = field(converter=as_codes)
    counts: AnyArray = field()
    design: Design = field()
    squares: FloatArray | None = field(default=None)

    def __attrs_post_init__(self) -> None:
        order = check_entries(self.codes, self.design)
        object.__setattr__(self, "codes", read_only(self.codes[order]))
        weighted = self.squares is not None
        for name in ("counts", "squares") if weighted else ("counts",):
            checked = check_amounts(getattr(self, name), (len(order),), name, whole=not weighted)
            object.__setattr__(self, name, read_only(checked[order]))

    @classmethod
    def trusted(cls, codes: IntArray, counts: AnyArray, design: Design, squares: FloatArray | None = None) -> Self:
        """Wrap ascending codes and counts without checking them, and make them read-only."""
        made = cls.__new__(cls)
        for name, value in (("codes", codes), ("counts", counts), ("design", design), ("squares", squares)):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(made, name, value)
        return made

    def __repr__(self) -> str:
        return (
            f"<SubsetCounts: {self.n_text}, {counted(len(self.informative), 'distinct subset')}, "
            f"{self.n_missing:.0f} missing, {self.design!r}>"
        )

    @property
    def categories(self) -> Categories:
        """The categories of the variable."""
        return self.design.categories

    @cached_property
    def _observed(self) -> tuple[IntArray, IntArray, FloatArray, float, FloatArray]:
        """Positions, codes, amounts, total and shares of the informative entries, computed together."""
        at = self.counts.nonzero()[0]
        silent = self.design.is_missing(self.codes.take(at))
        if silent.any():
            at = at[~silent]
        n_a = self.counts.take(at).astype(np.float64)
        total = float(n_a.sum())
        return at, self.codes.take(at), n_a, total, n_a / total if total else n_a

    @property
    def informative(self) -> IntArray:
        """The positions of the informative entries: those with a positive count that are not the full set."""
        return self._observed[0]

    @property
    def observed_codes(self) -> IntArray:
        """The informative codes."""
        return self._observed[1]

    @property
    def n_a(self) -> FloatArray:
        """The number of people, or the weight, per informative code."""
        return self._observed[2]

    @property
    def total(self) -> float:
        """The sum of the informative counts or weights."""
        return self._observed[3]

    @property
    def shares(self) -> FloatArray:
        """The share of each informative code, an array in the order of `observed_codes`."""
        return self._observed[4]

    @property
    def n(self) -> float:
        """The number of people with an informative subset, or Kish's effective size of a weighted sample."""
        if self.squares is None:
            return int(self.total)
        squares = self.squares[self.informative].sum()
        return float(self.total**2 / squares) if squares else 0.0

    @property
    def n_text(self) -> str:
        """The number of people as text, which shows whether the sample is weighted."""
        return self.design.rows_text(self.n) if self.squares is None else f"weighted, effective n = {whole(self.n)}"

    @property
    def n_missing(self) -> float:
        """The number of people (or the weight) with the full set, whether missing or drawn."""
        amount = self.counts[self.design.is_missing(self.codes)].sum()
        return int(amount) if self.squares is None else float(amount)

    @cached_property
    def incidence(self) -> Listable:
        """The rows r_a of the informative codes."""
        return self.design.incidence(self.observed_codes)

    @cached_property
    def _null(self) -> AnyArray | None:
        return identify.null_direction(self.incidence, keep_sum=True)  # as on the simplex

    @property
    def is_unique(self) -> bool:
        """Whether the observed subsets alone make the maximum likelihood estimate unique (`unique`).

        This condition is sufficient but not necessary. On the boundary of the
        simplex the estimate can be unique even if it fails.
        """
        return self._null is None

    def null_direction(self) -> dict[Label, float] | None:
        """Return a change of w, by category, that changes no observed subset's probability; None if `is_unique`."""
        return None if self._null is None else identify.as_named(self._null, self.categories)

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: weights, missing people, subsets that no one reported, and an unknown design."""
        weighted = self.squares is not None
        return (
            *((note_of_weights(),) if weighted else ()),
            *note_of_missing(self.n_missing, self.design, weighted=weighted),
            *note_of_unobserved(self),
            *notes_of_design(self.design),
        )

    def summary(self) -> Table:
        """Return the most frequent subsets with their counts and shares of all people. Missing people are last."""
        return table_of_subsets(self)

    def to_dict(self) -> dict[str, Any]:
        """Return codes, counts and the document of the design, for JSON.

        Raises
        ------
        DesignDocumentError
            If a category is not text, a finite number or a boolean, so that JSON could not restore it.
        """
        return plain(
            {
                "n": self.n,
                "n_missing": self.n_missing,
                "codes": self.codes,
                "counts": self.counts,
                "squares": self.squares,
                "design": self.design.document(),
                "notes": self.notes,
            }
        )

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the counts that `to_dict` wrote.

        Raises
        ------
        ArgumentError
            If `facts` is not the output of `to_dict`.
        """
        codes, counts, squares, design = facts_of(cls, facts, ("codes", "counts", "squares", "design"))
        return cls(codes, counts, design_of(design), squares)

    def _columns(self) -> Mapping[str, Any]:
        return columns_of_subsets(self)

    def plot(self, ax: AxesOrNone = None) -> Axes:
        """Draw the shares of the 20 most frequent subsets among all people.

        Parameters
        ----------
        ax
            Axes to draw on; by default a new figure.
        """
        at = most_frequent(self.require_data())
        # Spaces around the bars let long labels wrap there.
        labels = [self.design.format(int(code)).replace("|", " | ") for code in self.observed_codes[at]]
        which = "each subset" if len(at) == len(self.n_a) else f"the {len(at)} most frequent subsets"
        title = Heading(f"Observed share of {which}, n = {self.n:,.0f}", "Observed share of subsets")
        return subset_shares(labels, self.n_a[at] / self.counts.sum(), title=title, ax=ax)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without cached values. The arrays become read-only again.
        return type(self).trusted, (self.codes, self.counts, self.design, self.squares)

    def require_data(self) -> "SubsetCounts":
        """Return self, or raise if no report is informative.

        Raises
        ------
        NoDataError
            If there are only full sets, or no observations.
        """
        if not self.total > 0:
            seen = f"only full sets ({self.n_missing:g}), which carry no information" if self.n_missing else "none"
            raise NoDataError(f"there must be at least one informative subset; got {seen}.")
        return self

    def subset_shares(self) -> dict[str, float]:
        """Return the share of people who reported each subset, including full sets. Keys are labels joined by a bar."""
        total = self.counts.sum()
        return {
            self.design.format(a): float(c / total)
            for a, c in zip(self.codes.tolist(), self.counts, strict=True)
            if c > 0
        }

    def __add__(self, other: object) -> "SubsetCounts":
        if not isinstance(other, SubsetCounts):
            return NotImplemented
        if self.categories != other.categories:
            raise MismatchError(
                "counts must have the same categories in the same order to be added; got different ones."
            )
        if (self.squares is None) != (other.squares is None):
            raise MismatchError("weighted and unweighted counts cannot be added.", COUNT_WITH_WEIGHTS)
        codes = np.union1d(self.codes, other.codes)
        design = Mixture.of([self.design, other.design], _shares(self, other))
        squares = None if self.squares is None else _add(codes, self, other, "squares")
        return _in_form(SubsetCounts.trusted(codes, _add(codes, self, other, "counts"), design, squares))

    def __radd__(self, other: object) -> "SubsetCounts":
        return self if other == 0 else NotImplemented  # sum([...]) starts at 0


def _in_form(counts: SubsetCounts) -> SubsetCounts:
    """Return counts of several variables as joint counts."""
    from subsetprivacy.data.joint import as_joint  # it imports this module

    return as_joint(counts)


def _shares(first: SubsetCounts, second: SubsetCounts) -> list[float]:
    """Return the shares of the two designs among all people asked, estimated from the informative reports."""
    weights = [part.total / (1 - part.design.mu_full) if part.total else 0.0 for part in (first, second)]
    return weights if sum(weights) else [1.0, 1.0]


def _add(codes: IntArray, first: SubsetCounts, second: SubsetCounts, name: str) -> AnyArray:
    amounts = [getattr(part, name) for part in (first, second)]
    out = np.zeros(len(codes), np.result_type(*amounts))
    for part, values in zip((first, second), amounts, strict=True):
        out[np.searchsorted(codes, part.codes)] += values
    return out
