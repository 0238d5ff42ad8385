"""Several columns of subsets, one row per person."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, overload

import numpy as np
from attrs import frozen

from subsetprivacy._choices import Engine
from subsetprivacy._types import IntArray
from subsetprivacy._words import people
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.entries import as_codes, check_allowed
from subsetprivacy.data.people import SubsetData
from subsetprivacy.data.tally import count_codes
from subsetprivacy.design import Design, Product
from subsetprivacy.errors import CodeError, MismatchError
from subsetprivacy.messages.for_designs import PRODUCT_DESIGN
from subsetprivacy.subsets import is_frame
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, frame


@frozen(slots=False, eq=False, repr=False)
class SubsetTable:
    """Columns of subset codes under a product design, a row per person.

    Parameters
    ----------
    columns
        Integer codes: a data frame or a dict by the variables' names, or a
        column for each factor of the design, in its order. Joined variables
        share the column "a x b".
    design
        The product design the subsets were drawn with.

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
        if not isinstance(design, Product):
            raise CodeError(f"`design` must be a product design; got {type(design).__name__}.", PRODUCT_DESIGN)
        object.__setattr__(self, "columns", tuple(as_codes(column) for column in _in_order(self.columns, design)))
        if len(self.columns) != len(design.factors):
            raise MismatchError(f"`columns` must be {len(design.factors)}, one a factor; got {len(self.columns)}.")
        if len({len(column) for column in self.columns}) > 1:
            raise MismatchError("`columns` must be of one length; got different ones.")
        for names, codes, factor in zip(design.named(), self.columns, design.factors, strict=True):
            try:
                check_allowed(codes, factor)
            except CodeError as error:
                raise CodeError(f"{', '.join(names)}: {error.message}", error.advice) from None

    @classmethod
    def trusted(cls, columns: tuple[IntArray, ...], design: Product) -> "SubsetTable":
        """Wrap columns that this package has just drawn, without checking or copying them."""
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
        """Return one variable's column, of joined variables the column they share; or several as one code."""
        return self.select(name)

    @overload
    def to_frame(self, *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas") -> Frame:
        """Return a data frame of codes, a column for each factor."""
        return frame(
            {"row": np.arange(len(self)), **dict(zip(self.design.by_name(), self.columns, strict=True))}, engine
        )

    def select(self, names: Iterable[str]) -> SubsetData:
        """Return the named variables' subsets as one code per person."""
        wanted = {names} if isinstance(names, str) else set(names)
        design = self.design.select(wanted)
        kept = [codes for held, codes in zip(self.design.named(), self.columns, strict=True) if set(held) & wanted]
        codes = kept[0] if len(kept) == 1 else _joined(kept, design)
        return SubsetData.trusted(codes, design)

    def counts(self, *names: str) -> SubsetCounts:
        """Return the joint counts of the named variables, by default of all."""
        data = self.select(names or self.names)
        return count_codes(data.codes, data.design)


def _in_order(columns: Any, design: Product) -> list[Any]:
    """Return a column for each factor, by name where there are names."""
    if not isinstance(columns, Mapping) and not is_frame(columns):
        return list(columns)
    held = list(columns) if isinstance(columns, Mapping) else [str(name) for name in columns.columns]
    absent = [name for name in design.by_name() if name not in held]
    if absent:
        raise MismatchError(f"`columns` must have one for each variable; got none for {', '.join(absent)}.")
    return [columns[name] for name in design.by_name()]


def _joined(columns: list[IntArray], design: Design) -> IntArray:
    assert isinstance(design, Product)
    return np.asarray(design.join(columns))
