"""One subset per person."""

from collections.abc import Iterable

from attrs import Attribute, field, frozen

from subsetprivacy._deprecated import warn_deprecated
from subsetprivacy._types import IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.entries import as_codes, check_allowed
from subsetprivacy.data.tally import count_codes
from subsetprivacy.design import Covered, Design, Product, require_design
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
        rows = counted(len(self), *(("row", "rows") if isinstance(self.design, Covered) else ("person", "people")))
        return f"<SubsetData: {rows}, {self.design!r}>"

    @property
    def categories(self) -> Categories:
        """The categories of the variable."""
        return self.design.categories

    def counts(self, *names: str) -> "SubsetCounts":
        """Return the counts of the distinct subsets; of several variables, of the named ones."""
        data = self.select(names) if names else self
        return count_codes(data.codes, data.design)

    def select(self, names: Iterable[str]) -> "SubsetData":
        """Return the subsets of some of several variables, for a product or a covered one.

        Raises
        ------
        ArgumentError
            If the design is of one variable.
        """
        if not isinstance(self.design, (Product, Covered)):
            raise ArgumentError(f"`names` must be given for several variables only; got a {self.design.kind} design.")
        wanted = (names,) if isinstance(names, str) else tuple(names)
        return SubsetData.trusted(self.design.select_codes(self.codes, wanted), self.design.select(wanted))

    def labels(self) -> list[tuple[Label, ...]]:
        """Return each person's subset as labels, in category order."""
        return [self.design.members(code) for code in self.codes.tolist()]

    def subset_shares(self) -> dict[str, float]:
        """Return the share of people who reported each subset, full sets too; subsets are labels joined by a bar."""
        return self.counts().subset_shares()

    def frequencies(self) -> dict[str, float]:
        """Return `subset_shares`, under its former name (deprecated)."""
        warn_deprecated("`frequencies()`", "`subset_shares()`")
        return self.subset_shares()
