"""One subset per person."""

from collections.abc import Mapping
from typing import Any

from attrs import Attribute, field, frozen

from subsetprivacy._types import IntArray, Label
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.entries import as_codes, check_allowed
from subsetprivacy.data.tally import count_codes
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError
from subsetprivacy.subsets import Categories


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

    codes: IntArray = field(converter=as_codes)
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
    hint = "sp.privatize(values, design) makes data, sp.count(subsets, design=design) counts them"
    if isinstance(data, Mapping):
        hint = "one at a time, as in {group: sp.estimate(counts) for group, counts in groups.items()}"
    raise ArgumentError(f"`data` must be SubsetData or SubsetCounts; got {type(data).__name__}. Hint: {hint}.")
