"""The sources of findings: designs and counts, never a person's row."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from attrs import field, frozen

from subsetprivacy._checks import shown
from subsetprivacy.data import JointCounts, QuestionCounts, SubsetCounts, SubsetData, SubsetTable, as_counts
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError
from subsetprivacy.honesty.all_checks import ONE
from subsetprivacy.messages.for_general import FINDINGS_OF
from subsetprivacy.subsets import name_of
from subsetprivacy.tabulating import crosstab


class FindingsSource(Protocol):
    """What findings need from a release: designs and counts.

    A source may also have a `title`, `titles` of columns, `linked` (which columns are kept row by row, by default all),
    `questions` (how the questions of a column were asked) and `seal` (a text that determines all random numbers).
    """

    @property
    def designs(self) -> Mapping[str, Design]:
        """The design of each column."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are published unchanged."""

    def unique_rows(self) -> int | None:
        """Return how many rows are unique in the columns that are kept."""

    def count(self, column: str) -> Any:
        """Return the counts of one column."""

    def crosstab(self, *columns: str) -> Any:
        """Return the joint counts of several columns."""


@frozen(eq=False)
class CountedSource:
    """Counts in memory, of one or several columns. Columns that were counted separately have no rows."""

    counts: Mapping[str, SubsetCounts]
    table: SubsetTable | None = None
    kept: tuple[str, ...] = ()
    title: str = field(default="")

    @property
    def designs(self) -> dict[str, Design]:
        """The design of each column."""
        return {name: counts.design for name, counts in self.counts.items()}

    @property
    def rows(self) -> int:
        """The most rows that any column has."""
        return max(round(float(counts.counts.sum())) for counts in self.counts.values())

    @property
    def linked(self) -> tuple[tuple[str, ...], ...]:
        """The columns that are known row by row: those of a table."""
        return () if self.table is None else (tuple(self.counts),)

    def unique_rows(self) -> int | None:
        """Return 0, because counts have no other columns."""
        return 0

    def count(self, column: str) -> SubsetCounts:
        """Return the counts of one column."""
        return self.counts[column]

    def crosstab(self, *columns: str) -> JointCounts:
        """Return the joint counts of several columns."""
        assert self.table is not None  # otherwise nothing is linked
        return crosstab({name: self.table[name] for name in columns})


@frozen(eq=False)
class SeveralSources:
    """Several releases of the same survey. Each is kept row by row, but two of them cannot be crossed."""

    parts: tuple[FindingsSource, ...]

    @classmethod
    def of(cls, parts: Sequence[FindingsSource]) -> "SeveralSources":
        """Combine several sources.

        Raises
        ------
        ArgumentError
            If two have a column of the same name.
        """
        names = [name for part in parts for name in part.designs]
        if len(set(names)) < len(names):
            raise ArgumentError("`what` must be releases of different columns; got a column twice.")
        return cls(tuple(parts))

    @property
    def designs(self) -> dict[str, Design]:
        """The design of each column."""
        return {name: design for part in self.parts for name, design in part.designs.items()}

    @property
    def rows(self) -> int:
        """The most rows that any of them has."""
        return max(part.rows for part in self.parts)

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of all sources that are published unchanged."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.kept))

    def unique_rows(self) -> int | None:
        """Return how many rows of all sources are unique in the columns that are kept."""
        numbers = [part.unique_rows() for part in self.parts]
        return None if None in numbers else sum(number or 0 for number in numbers)

    @property
    def linked(self) -> tuple[tuple[str, ...], ...]:
        """The columns that are in one file."""
        return tuple(tuple(part.designs) for part in self.parts)

    def count(self, column: str, **options: Any) -> Any:
        """Return the counts of one column."""
        return self._part(column).count(column, **options)

    def crosstab(self, *columns: str) -> Any:
        """Return the joint counts of several columns of one file."""
        return self._part(columns[0]).crosstab(*columns)

    def _part(self, column: str) -> FindingsSource:
        return next(part for part in self.parts if column in part.designs)


@frozen(slots=False, eq=False)
class CachedSource:
    """A source that counts each column and each pair of columns only once."""

    source: FindingsSource
    _counts: dict[tuple[Any, ...], Any] = field(factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "source"), name)

    def unique_rows(self) -> int | None:
        """Return how many rows are unique in the columns that are kept."""
        return self.source.unique_rows()

    def count(self, column: str, **options: Any) -> Any:
        """Return the counts of one column."""
        return self._once((column, *sorted(options.items(), key=repr)), lambda: self.source.count(column, **options))

    def crosstab(self, *columns: str) -> Any:
        """Return the joint counts of several columns."""
        return self._once(("together", columns), lambda: self.source.crosstab(*columns))

    def _once(self, what: tuple[Any, ...], work: Callable[[], Any]) -> Any:
        key = tuple(map(repr, what))
        if key not in self._counts:
            self._counts[key] = work()
        return self._counts[key]


def source_of(what: Any) -> FindingsSource:
    """Return a source of designs and counts, each counted once.

    Raises
    ------
    ArgumentError
        If it is not a release, counts or data.
    """
    return CachedSource(_source_of(what))


def _source_of(what: Any) -> FindingsSource:
    if isinstance(what, JointCounts):
        return CountedSource({" x ".join(what.names): what})
    if isinstance(what, (SubsetCounts, SubsetData)):
        return CountedSource({name_of(what) or ONE: as_counts(what)})
    if isinstance(what, QuestionCounts):
        return CountedSource({ONE: what.counts()})
    if isinstance(what, SubsetTable):
        return CountedSource({name: what[name].counts() for name in what.names}, what)
    if (
        isinstance(what, Mapping)
        and what
        and all(isinstance(part, (SubsetCounts, SubsetData)) for part in what.values())
    ):
        return CountedSource({str(name): as_counts(part) for name, part in what.items()})
    if isinstance(what, (list, tuple)) and what:
        return SeveralSources.of([_source_of(part) for part in what])
    if all(hasattr(what, name) for name in ("designs", "count", "crosstab", "rows")):
        return what
    raise ArgumentError(
        f"`what` must be a release, counts, data, or a mapping of columns to counts; got {type(what).__name__}.",
        FINDINGS_OF,
    )


def counted_people(source: FindingsSource) -> int | None:
    """Return how many people the rows of files of counts represent; None if a row is a person."""
    for part in getattr(source, "parts", (source,)):
        weights = getattr(getattr(part, "stored", None), "weights", None)
        if weights is None or weights.kind != "frequency":
            return None
    return max(int(source.count(name).counts.sum()) for name in source.designs)


def chosen(source: FindingsSource, columns: str | Sequence[str] | None) -> list[str]:
    """Return the names of the chosen columns, by default all.

    Raises
    ------
    ArgumentError
        If a column does not exist or is repeated, or no column is named.
    """
    names = list(source.designs)
    if columns is None:
        return names
    wanted = [columns] if isinstance(columns, str) else list(columns)
    absent = [name for name in wanted if name not in names]
    if absent or not wanted or len(set(wanted)) < len(wanted):
        got = f"no column {shown(absent[0])}" if absent else "one twice" if wanted else "none"
        raise ArgumentError(f"`columns` must be among {', '.join(names)}, each at most once; got {got}.")
    return wanted


def content_seal(counts: Mapping[str, SubsetCounts]) -> str:
    """Return a text that identifies the counts and designs."""
    seal = hashlib.sha256()
    for name, column in counts.items():
        seal.update(
            repr((name, column.design.p, column.design.kind, column.codes.tolist(), column.counts.tolist())).encode()
        )
    return seal.hexdigest()
