"""`Kernel`: draw a batch of subsets from a batch of values, in any engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._checks import shown
from subsetprivacy._choices import Missing
from subsetprivacy._types import BoolArray, IntArray, RandomSource
from subsetprivacy.design import Covered, Design, as_product, require_design
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.frames.cleaning import Cleaning, Values, cleaned_columns, usual_marks
from subsetprivacy.frames.refused_rows import RefusedRows
from subsetprivacy.mechanism.ids import IdProblems, Ids, scan_ids
from subsetprivacy.mechanism.keyed import check_key, keyed_source
from subsetprivacy.mechanism.publisher import Publisher
from subsetprivacy.mechanism.randomness import SecureSource
from subsetprivacy.messages.for_files import (
    COVER_THE_PRODUCT,
    KEEP_THE_JOINED_COLUMN,
    MAP_COLUMNS_TO_DESIGNS,
    PASS_THE_PRODUCT,
)
from subsetprivacy.subsets import Categories
from subsetprivacy.variables import JointCategories

if TYPE_CHECKING:
    import pyarrow as pa


@frozen
class PublishedColumn:
    """A column to publish: its name, its design, and the columns with its values."""

    name: str
    design: Design
    read_from: tuple[str, ...]


def variables_of(designs: Any) -> tuple[PublishedColumn, ...]:
    """Return the columns to publish, from ``{name: design}`` or a product design.

    A design for several variables reads the columns with their names.

    Raises
    ------
    ArgumentError
        If the columns are not clear, or a covered design is not the only one, because its dummy rows would link the
        columns.
    """
    several = as_product(designs)
    if several is not None:
        made = [PublishedColumn(" x ".join(names), design, names) for names, design in several.named().items()]
    elif isinstance(designs, Mapping) and designs:
        made = [_published_column(name, design) for name, design in designs.items()]
    else:
        raise ArgumentError(
            f"`designs` must map columns to their designs; got {type(designs).__name__}.", MAP_COLUMNS_TO_DESIGNS
        )
    if len(made) > 1 and any(each.design.covered is not None for each in made):
        raise ArgumentError(
            "a covered design must be the only one, because other columns have no values in its dummy rows.",
            COVER_THE_PRODUCT,
        )
    _check_read_once(made)
    return tuple(made)


def _check_read_once(made: list[PublishedColumn]) -> None:
    """Refuse to draw from one column twice: two subsets of one value intersect."""
    names = [name for each in made for name in each.read_from]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ArgumentError(
            f"every column of values must be drawn from once; got {', '.join(twice)} twice. Two subsets of one value "
            "intersect.",
            KEEP_THE_JOINED_COLUMN,
        )


def _published_column(name: Any, design: Any) -> PublishedColumn:
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"names of columns must be text; got {shown(name)}.")
    if require_design(design).product is not None:
        raise ArgumentError(
            f"`designs` must give column {name!r} one design; got a product, which has a column for each variable.",
            PASS_THE_PRODUCT,
        )
    joint = isinstance(design.categories, JointCategories)
    return PublishedColumn(name, design, design.categories.names if joint else (name,))


@frozen
class DrawnBatch:
    """The result for a batch: a column of codes per variable, or the refused rows."""

    codes: tuple[IntArray, ...] = ()
    reports: int = 0  # rows with a value, for a covered design
    ids: Ids | None = None
    refused: tuple[RefusedRows, ...] = ()


@frozen
class Kernel:
    """Draws the columns of a table in batches; made once and sent to every process.

    Parameters
    ----------
    variables
        The columns to publish.
    missing
        As in `privatize`.
    key, id
        The key and the column of ids, for repeatable draws.
    keep
        Columns that are published unchanged.
    as_text
        Whether values are text, as in a CSV file; labels are then compared as text.
    cleaning
        How to clean values before they are looked up.
    """

    variables: tuple[PublishedColumn, ...]
    missing: Missing = "error"
    key: bytes | None = field(default=None, repr=False)
    id: str | None = None
    keep: tuple[str, ...] = ()
    as_text: bool = False
    cleaning: Cleaning = field(factory=Cleaning)
    _publishers: tuple[Publisher, ...] = field(init=False, repr=False, eq=False)
    _readers: tuple[Categories, ...] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(
            self, "_publishers", tuple(Publisher(each.design, missing=self.missing) for each in self.variables)
        )
        object.__setattr__(self, "_readers", tuple(self._reader(each, self.cleaning) for each in self.variables))
        self._check_marks()
        names = [each.name for each in self.variables]
        twice = sorted({name for name in (*names, *self.keep) if (*names, *self.keep).count(name) > 1})
        if twice:
            raise ArgumentError(f"every column must be written once; got {', '.join(twice)} twice.")
        if (self.key is None) != (self.id is None):
            raise ArgumentError("`key` and `id` must be given together: the draw is a function of both.")
        if self.key is not None:
            check_key(self.key)
        if self.covered is not None and (self.key is not None or self.keep):
            what = "a key: its dummy rows are drawn again each time" if self.key is not None else "kept columns"
            raise ArgumentError(f"a covered design must be published without {what}.")
        self._check_kept()

    def _reader(self, each: PublishedColumn, cleaning: Cleaning) -> Categories:
        """Return the categories as they are written in the table."""
        if not self.as_text and not cleaning.strip:
            return each.design.categories
        return _as_written(each, lambda label: cleaning.label(str(label) if self.as_text else label))

    def _check_marks(self) -> None:
        """Refuse a mark of a missing answer that is a category."""
        for each, reader in zip(self.variables, self._readers, strict=True):
            parts = reader.parts if isinstance(reader, JointCategories) else (reader,)
            if any(self.cleaning.is_mark(label) for part in parts for label in part.labels):
                raise ArgumentError(f"`na` must not name a category; column {each.name!r} has a category it names.")

    def _check_kept(self) -> None:
        """Refuse to publish the values themselves next to their subsets."""
        values = {name for each in self.variables for name in each.read_from} | ({self.id} if self.id else set())
        both = sorted(values & set(self.keep))
        if both:
            raise ArgumentError(f"`keep` must name columns that are neither privatized nor ids; got {', '.join(both)}.")

    def check_order(self, keep_order: bool) -> None:
        """Refuse to keep the order of rows that include dummy rows.

        Raises
        ------
        ArgumentError
            If the design is covered.
        """
        if keep_order and self.covered is not None:
            raise ArgumentError(
                "`keep_order` must be left out for a covered design: its dummy rows would all come last."
            )

    def for_text(self) -> "Kernel":
        """Return the kernel for values that are text."""
        return evolve(self, as_text=True)

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        wanted = [name for each in self.variables for name in each.read_from]
        wanted += [self.id] if self.id is not None else []
        return list(dict.fromkeys([*wanted, *self.keep]))

    @property
    def labels(self) -> frozenset[str]:
        """All categories as text, to recognize a header that is a person's values."""
        labels: set[str] = set()
        for reader in self._readers:
            for part in reader.parts if isinstance(reader, JointCategories) else (reader,):
                labels.update(str(label) for label in part.labels)
        return frozenset(labels)

    def kept(self, batch: Any) -> list[Any]:
        """Return the kept columns of a batch, decoded, because a dictionary would reveal the order of values."""
        return [_decoded(batch.column(name)) for name in self.keep]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of subsets."""
        return tuple(each.name for each in self.variables)

    @property
    def designs(self) -> dict[str, Design]:
        """The design of each column of subsets."""
        return {each.name: each.design for each in self.variables}

    @property
    def covered(self) -> Covered | None:
        """The covered design, if there is one; it is then the only design."""
        return self.variables[0].design.covered

    def draw(self, batch: "pa.RecordBatch | pa.Table", rng: RandomSource | None = None) -> DrawnBatch:
        """Draw the subsets of a batch, or return the refused rows."""
        looked_up = [self._look_up(k, batch) for k in range(len(self.variables))]
        ids = None if self.id is None else scan_ids(batch.column(self.id))
        refused = [each for k, values in enumerate(looked_up) for each in self._refusals(k, values, batch)]
        refused += self._refused_ids(ids)
        if refused:
            return DrawnBatch(refused=tuple(refused))
        valid_ids = ids if isinstance(ids, Ids) else None
        codes = []
        for each, publisher, values in zip(self.variables, self._publishers, looked_up, strict=True):
            codes.append(publisher.draw(values.x, values.absent, self._rng(each, valid_ids, rng)))
        absent = looked_up[0].absent
        return DrawnBatch(tuple(codes), batch.num_rows - (0 if absent is None else int(absent.sum())), valid_ids)

    def dummies(self, reports: int, rng: RandomSource) -> tuple[dict[str, Design], Iterator[IntArray]]:
        """Return the designs as realized, and the dummy rows of a covered design in blocks."""
        if self.covered is None:
            return self.designs, iter(())
        realized, blocks = self._publishers[0].dummies(reports, rng)
        return {self.names[0]: realized}, blocks

    def _look_up(self, k: int, batch: Any) -> Values:
        return self._read(k, batch, self._readers[k], self.cleaning)

    def _read(self, k: int, batch: Any, reader: Categories, cleaning: Cleaning) -> Values:
        read_from = self.variables[k].read_from
        columns = {name: batch.column(name) for name in read_from}
        marked: BoolArray | None = None
        if cleaning:
            columns, marked = cleaned_columns(columns, cleaning)
        try:
            x, absent = reader.positions(columns if isinstance(reader, JointCategories) else columns[read_from[0]])
        except CategoryError as error:  # the type of the column cannot contain labels
            raise CategoryError(f"column {self.variables[k].name!r}: {error.message}", error.advice) from None
        return Values(x, absent, None if marked is None or absent is None else marked & absent)

    def _refusals(self, k: int, values: Values, batch: Any) -> list[RefusedRows]:
        problems = self._publishers[k].problems(*values.to_check())
        if problems is None:
            return []
        name, why = self.variables[k].name, self._reason(k) if problems.unknown == len(values.x) else ""
        tidy, marks = self._would_fit(k, values, batch) if problems.unknown else (0, 0)
        refusals = [
            RefusedRows(name, "unknown", problems.unknown, problems.first_unknown, why, tidy, marks),
            RefusedRows(name, "absent", problems.absent, problems.first_absent),
        ]
        return [each for each in refusals if each.count]

    def _would_fit(self, k: int, values: Values, batch: Any) -> tuple[int, int]:
        """Return how many unknown values are categories after stripping, and how many look missing."""
        unknown = values.unknown()
        columns = [batch.column(name) for name in self.variables[k].read_from]
        marks = np.zeros(len(unknown), np.bool_)
        for column in columns:
            marks |= usual_marks(column)
        stripping = evolve(self.cleaning, strip=True)
        try:
            reader = self._reader(self.variables[k], stripping)
        except CategoryError:  # two categories differ by spaces alone
            return 0, int((unknown & marks).sum())
        tidy = ~self._read(k, batch, reader, stripping).unknown()
        return int((unknown & tidy).sum()), int((unknown & ~tidy & marks).sum())

    def _reason(self, k: int) -> str:
        """Return a possible reason why no value is a category."""
        kinds = sorted({type(label).__name__ for label in self._readers[k].labels[:1000]})
        if self.as_text or kinds == ["str"]:
            return "None of the values is written exactly as in the design."
        return f"None of the values is a category, and the categories are of type {', '.join(kinds)}."

    def _refused_ids(self, ids: Ids | IdProblems | None) -> list[RefusedRows]:
        problems = ids.repeated if isinstance(ids, Ids) else ids
        return (
            []
            if problems is None
            else [RefusedRows(str(self.id), f"id {problems.problem}", problems.count, problems.first)]
        )

    def _rng(self, each: PublishedColumn, ids: Ids | None, rng: RandomSource | None) -> RandomSource:
        if self.key is None:
            return SecureSource() if rng is None else rng
        # Keyed by the columns that are read, not by the output name, which may change.
        return keyed_source(self.key, ids, " x ".join(each.read_from))


def _as_written(each: PublishedColumn, written: Callable[[Any], Any]) -> Categories:
    """Return the categories as they are written in a table."""
    categories = each.design.categories
    if isinstance(categories, JointCategories):
        parts = zip(categories.names, categories.parts, strict=True)
        return JointCategories({name: _distinct(map(written, part), each.name) for name, part in parts})
    return Categories(_distinct(map(written, categories), each.name))


def _distinct(labels: Iterable[Any], column: str) -> list[Any]:
    listed = list(labels)
    if len(set(listed)) < len(listed):
        raise CategoryError(
            f"column {column!r}: categories must look different when they are written as text; got some that do not, "
            "such as the number 1 and the text '1', or two that differ by spaces around them."
        )
    return listed


def _decoded(column: Any) -> Any:
    from pyarrow.types import is_dictionary

    return column.cast(column.type.value_type) if is_dictionary(column.type) else column
