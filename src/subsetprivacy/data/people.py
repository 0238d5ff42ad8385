"""`SubsetData`: one subset per person."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from attrs import Attribute, field, frozen

from subsetprivacy._types import IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.describing import (
    design_of,
    facts_of,
    note_of_missing,
    notes_of_design,
    table_of_subsets,
    texts_of_codes,
)
from subsetprivacy.data.tally import count_codes
from subsetprivacy.data.validation import as_codes, check_allowed
from subsetprivacy.design import Design, require_design
from subsetprivacy.engines import refuse_counts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import Table


def _codes_of_people(codes: Any) -> IntArray:
    refuse_counts(codes)
    return as_codes(codes)


@frozen(slots=False, eq=False, repr=False)
class SubsetData(Result):
    """One subset per person, as codes, with their design.

    Parameters
    ----------
    codes
        Integer codes. Bit j is set if category j is a member.
    design
        The design with which the subsets were drawn.
    name
        The name of the variable; None if it has none. `privatize` takes it from a pandas or Polars series.

    Raises
    ------
    CodeError
        If a code is not an integer, is 0, or is not a subset that the design can produce.
    """

    codes: IntArray = field(converter=_codes_of_people)
    design: Design = field()
    name: str | None = None

    @design.validator
    def _check(self, _: "Attribute[Design]", design: Design) -> None:
        check_allowed(self.codes, require_design(design))

    @classmethod
    def trusted(cls, codes: IntArray, design: Design, name: str | None = None) -> Self:
        """Wrap codes without checking or copying them."""
        data = cls.__new__(cls)
        codes.setflags(write=False)
        object.__setattr__(data, "codes", codes)
        object.__setattr__(data, "design", design)
        object.__setattr__(data, "name", name)
        return data

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        rows = counted(len(self), *(("person", "people") if self.design.covered is None else ("row", "rows")))
        return f"<SubsetData{'' if self.name is None else f' of {self.name}'}: {rows}, {self.design!r}>"

    @property
    def categories(self) -> Categories:
        """The categories of the variable."""
        return self.design.categories

    def counts(self, *names: str) -> "SubsetCounts":
        """Return the counts of the distinct subsets, of the named variables if there are several."""
        data = self.select(names) if names else self
        return count_codes(data.codes, data.design)

    def select(self, names: Iterable[str]) -> "SubsetData":
        """Return the subsets of some variables of a product design, covered or not.

        Raises
        ------
        ArgumentError
            If the design has only one variable.
        """
        several = self.design.product or self.design.covered
        if several is None:
            raise ArgumentError(f"`names` must be given for several variables only; got a {self.design.maker} design.")
        wanted = (names,) if isinstance(names, str) else tuple(names)
        codes, name = several.select_codes(self.codes, wanted), wanted[0] if len(wanted) == 1 else None
        return SubsetData.trusted(codes, several.select(wanted), name)

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: missing people, an unknown design, and dummy rows."""
        silent = int(self.design.is_missing(self.codes).sum())
        return note_of_missing(silent, self.design) + notes_of_design(self.design)

    def summary(self) -> Table:
        """Return the most frequent subsets with their counts and shares, as `counts().summary()` does."""
        counts = self.counts()
        return counts.summary() if self.name is None else table_of_subsets(counts, self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the name, each person's code in the order of the data, and the document of the design, for JSON.

        Raises
        ------
        DesignDocumentError
            If a category is not text, a finite number or a boolean, so that JSON could not restore it.
        """
        return plain({"name": self.name, "codes": self.codes, "design": self.design.document(), "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the data that `to_dict` wrote.

        Raises
        ------
        ArgumentError
            If `facts` is not the output of `to_dict`.
        """
        name, codes, design = facts_of(cls, facts, ("name", "codes", "design"))
        return cls(codes, design_of(design), name)

    def _columns(self) -> Mapping[str, Any]:
        return {"code": self.codes, "subset": texts_of_codes(self.design, self.codes)}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self.codes, self.design, self.name)  # read-only again

    def labels(self) -> list[tuple[Label, ...]]:
        """Return each person's subset as labels, in category order."""
        return [self.design.members(code) for code in self.codes.tolist()]

    def subset_shares(self) -> dict[str, float]:
        """Return the share of people who reported each subset, including full sets. Keys are labels joined by a bar."""
        return self.counts().subset_shares()
