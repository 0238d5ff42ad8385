"""`SubsetTable`: several columns of subsets, with one row per person."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from attrs import frozen

from subsetprivacy._types import IntArray
from subsetprivacy._words import counted, people
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.describing import MAX_ROWS, design_of, facts_of, most_frequent
from subsetprivacy.data.people import SubsetData
from subsetprivacy.data.tally import count_codes
from subsetprivacy.data.validation import as_codes, check_allowed
from subsetprivacy.design import Design, Product, as_product
from subsetprivacy.engines import refuse_counts
from subsetprivacy.errors import CodeError, MismatchError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_designs import PRODUCT_DESIGN
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import is_frame
from subsetprivacy.tables import Table, number


@frozen(slots=False, eq=False, repr=False)
class SubsetTable(Result):
    """Columns of subset codes under a product design, with one row per person.

    Parameters
    ----------
    columns
        Integer codes: a data frame or a dict by variable name, or one column
        for each factor of the design, in order. Joined variables share the
        column "a x b".
    design
        The product design with which the subsets were drawn.

    Examples
    --------
    >>> from subsetprivacy.design import product, uniform
    >>> both = product({"x": uniform(list("abcd")), "y": uniform(list("rstu"))})
    >>> table = SubsetTable([[3, 12, 5], [3, 3, 6]], both)
    >>> table["y"].labels()
    [('r', 's'), ('r', 's'), ('s', 't')]
    >>> table.counts("x", "y").n
    3
    """

    columns: tuple[IntArray, ...]
    design: Product

    def __attrs_post_init__(self) -> None:
        design = self.design
        if as_product(design) is None:
            raise CodeError(f"`design` must be a product design; got {type(design).__name__}.", PRODUCT_DESIGN)
        object.__setattr__(self, "columns", tuple(as_codes(column) for column in _in_order(self.columns, design)))
        if len(self.columns) != len(design.factors):
            raise MismatchError(
                f"`columns` must have {len(design.factors)} entries, one per factor; got {len(self.columns)}."
            )
        if len({len(column) for column in self.columns}) > 1:
            raise MismatchError("`columns` must have the same length; got different lengths.")
        for names, codes, factor in zip(design.named(), self.columns, design.factors, strict=True):
            try:
                check_allowed(codes, factor)
            except CodeError as error:
                raise CodeError(f"{', '.join(names)}: {error.message}", error.advice) from None

    @classmethod
    def trusted(cls, columns: tuple[IntArray, ...], design: Product) -> Self:
        """Wrap columns without checking or copying them."""
        table = cls.__new__(cls)
        for column in columns:
            column.setflags(write=False)
        object.__setattr__(table, "columns", columns)
        object.__setattr__(table, "design", design)
        return table

    def __len__(self) -> int:
        return len(self.columns[0])

    def __repr__(self) -> str:
        return f"<SubsetTable: {people(len(self))}, {self.design!r}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.design.categories.names

    def __getitem__(self, name: str | tuple[str, ...]) -> SubsetData:
        """Return the column of one variable (joined variables share a column), or several variables as one code."""
        return self.select(name)

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: how many rows lack an answer."""
        factors = zip(self.design.factors, self.columns, strict=True)
        gaps = np.logical_or.reduce([factor.is_missing(codes) for factor, codes in factors])
        silent = int(gaps.sum())
        return (Note(NoteKind.MISSING, f"An answer is missing: {counted(silent, 'row')}."),) if silent else ()

    def summary(self) -> Table:
        """Return, for each variable, the numbers of people and of distinct subsets, and the most frequent subset."""
        head = ("variable", "people", "missing", "distinct subsets", "most frequent", "share")
        rows = tuple(_described(self.select(name).counts(), name) for name in self.design.by_name())
        title = f"Reported subsets of {counted(len(rows), 'variable')}, {people(len(self))}"
        short = f"The first {MAX_ROWS} of {len(rows)} variables."
        more = (Note(NoteKind.SHORTENED, short),) if len(rows) > MAX_ROWS else ()
        return Table(title, head, rows[:MAX_ROWS], more + self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the codes of each variable, in the order of the data, and the document of the design, for JSON.

        Raises
        ------
        DesignDocumentError
            If a category is not text, a finite number or a boolean, so that JSON could not restore it.
        """
        columns = dict(zip(self.design.by_name(), self.columns, strict=True))
        return plain({"columns": columns, "design": self.design.document(), "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the table that `to_dict` wrote.

        Raises
        ------
        ArgumentError
            If `facts` is not the output of `to_dict`.
        """
        columns, design = facts_of(cls, facts, ("columns", "design"))
        return cls(columns, design_of(design))  # type: ignore[arg-type]  # refuses other designs

    def _columns(self) -> Mapping[str, Any]:
        """Return the row number and a column of codes for each factor."""
        return {"row": np.arange(len(self)), **dict(zip(self.design.by_name(), self.columns, strict=True))}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self.columns, self.design)  # read-only again

    def select(self, names: Iterable[str]) -> SubsetData:
        """Return the named variables' subsets as one code per person."""
        wanted = {names} if isinstance(names, str) else set(names)
        design = self.design.select(wanted)
        name = next(iter(wanted)) if len(wanted) == 1 else None
        columns = zip(self.design.named(), self.columns, strict=True)
        kept = [codes for variables, codes in columns if set(variables) & wanted]
        codes = kept[0] if len(kept) == 1 else _joined(kept, design)
        return SubsetData.trusted(codes, design, name)

    def counts(self, *names: str) -> SubsetCounts:
        """Return the joint counts of the named variables, by default of all variables."""
        data = self.select(names or self.names)
        return count_codes(data.codes, data.design)


def _described(counts: SubsetCounts, name: str) -> tuple[str, ...]:
    numbers = (name, f"{counts.n:.0f}", f"{counts.n_missing:.0f}", str(len(counts.n_a)))
    if not len(counts.n_a):
        return (*numbers, "-", "-")
    top = most_frequent(counts, 1)[0]
    return (
        *numbers,
        counts.design.format(int(counts.observed_codes[top])),
        number(float(counts.n_a[top] / counts.counts.sum())),
    )


def _in_order(columns: Any, design: Product) -> list[Any]:
    """Return a column for each factor, by name if the columns have names."""
    if not isinstance(columns, Mapping) and not is_frame(columns):
        return list(columns)
    refuse_counts(columns, design.by_name())
    given = list(columns) if isinstance(columns, Mapping) else [str(name) for name in columns.columns]
    absent = [name for name in design.by_name() if name not in given]
    if absent:
        raise MismatchError(f"`columns` must have one for each variable; got none for {', '.join(absent)}.")
    return [columns[name] for name in design.by_name()]


def _joined(columns: list[IntArray], design: Design) -> IntArray:
    assert design.product is not None
    return np.asarray(design.product.join(columns))
