"""Many samples under one design."""

from collections.abc import Iterator, Mapping, Sized
from operator import index
from typing import Any, Self, overload

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import AnyArray, IntArray
from subsetprivacy._words import counted
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.describing import (
    MAX_ROWS,
    design_of,
    facts_of,
    note_of_missing,
    notes_of_design,
    texts_of_codes,
)
from subsetprivacy.data.joint import as_joint
from subsetprivacy.data.validation import as_codes, check_amounts, check_entries
from subsetprivacy.design import Design
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table


@frozen(slots=False, eq=False, repr=False)
class CountsBatch(Result):
    """Many samples under one design, with a row of counts per sample over the same codes."""

    codes: IntArray = field(converter=as_codes)
    counts: AnyArray = field()
    design: Design = field()

    def __attrs_post_init__(self) -> None:
        order = check_entries(self.codes, self.design)
        samples = len(self.counts) if isinstance(self.counts, Sized) else 0
        checked = check_amounts(self.counts, (samples, len(order)), "counts", whole=True)
        object.__setattr__(self, "codes", read_only(self.codes[order]))
        object.__setattr__(self, "counts", read_only(checked[:, order]))

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"<CountsBatch: {counted(len(self), 'sample')}, {counted(len(self.codes), 'subset')}, {self.design!r}>"

    @overload
    def __getitem__(self, k: int) -> SubsetCounts: ...
    @overload
    def __getitem__(self, k: slice) -> "CountsBatch": ...
    def __getitem__(self, k: int | slice) -> "SubsetCounts | CountsBatch":
        if isinstance(k, slice):
            return CountsBatch(self.codes, self.counts[k], self.design)
        return as_joint(SubsetCounts.trusted(self.codes, self.counts[index(k)], self.design))

    def __iter__(self) -> Iterator[SubsetCounts]:
        return (self[k] for k in range(len(self)))

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: how many people are missing in total, and whether the design is unknown."""
        silent = self.counts[:, self.design.is_missing(self.codes)].sum()
        return note_of_missing(silent, self.design) + notes_of_design(self.design)

    def summary(self) -> Table:
        """Return the numbers of people, of missing people and of distinct subsets in each of the first samples."""
        silent = self.design.is_missing(self.codes)
        rows = tuple(
            (
                str(k),
                *(str(int(number)) for number in (row[~silent].sum(), row[silent].sum(), (row[~silent] > 0).sum())),
            )
            for k, row in enumerate(self.counts[:MAX_ROWS])
        )
        more = (f"The first {len(rows)} of {len(self)} samples.",) if len(self) > len(rows) else ()
        notes = (*(Note(NoteKind.SHORTENED, text) for text in more), *self.notes)
        title = f"{counted(len(self), 'sample')} of reported subsets"
        return Table(title, ("sample", "people", "missing", "distinct subsets"), rows, notes)

    def to_dict(self) -> dict[str, Any]:
        """Return codes, a list of counts for each sample and the document of the design, for JSON.

        Raises
        ------
        DesignDocumentError
            If a category is not text, a finite number or a boolean, so that JSON could not restore it.
        """
        design = self.design.document()
        return plain({"codes": self.codes, "counts": self.counts, "design": design, "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the samples that `to_dict` wrote.

        Raises
        ------
        ArgumentError
            If `facts` is not the output of `to_dict`.
        """
        codes, counts, design = facts_of(cls, facts, ("codes", "counts", "design"))
        return cls(codes, np.reshape(counts, (len(counts), len(codes))), design_of(design))

    def _columns(self) -> Mapping[str, Any]:
        sample, at = self.counts.nonzero()
        amounts = self.counts[sample, at]
        return {
            "sample": sample,
            "subset": texts_of_codes(self.design, self.codes[at]),
            "code": self.codes[at],
            "count": amounts,
            "share": amounts / self.counts.sum(axis=1)[sample],
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return CountsBatch, (self.codes, self.counts, self.design)  # read-only again
