"""`Release`: a file of subsets with its designs, counted without loading it."""

import json
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import evolve, field, frozen

from subsetprivacy._checks import shown
from subsetprivacy._choices import Engine, Missing, WeightsKind
from subsetprivacy._types import IntArray
from subsetprivacy.counting.tables import CountRequest, used_columns
from subsetprivacy.data import GroupedCounts, JointCounts, SubsetCounts
from subsetprivacy.design import Design, product
from subsetprivacy.engines.arrow import tally_batches
from subsetprivacy.engines.counters import count_column, unused_count
from subsetprivacy.engines.imputed import marked
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.data_file import ColumnSelection, DataFile, check_present, read_batches
from subsetprivacy.frames.file_errors import naming_file
from subsetprivacy.frames.metadata import TableMetadata
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.results import Result
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame

Progress = Callable[[int, int | None], None]
_LARGE = 1 << 26  # bytes of a CSV file that takes a second to read
MOST_KINDS = 5_000_000  # distinct combinations of kept values in memory
_AT_ONCE = 1 << 20


@frozen(slots=False, repr=False)
class Release(Result):
    """A file of subsets and their designs, made by `read_release` and `write_release`.

    Attributes
    ----------
    file
        The path and format of the file.
    stored
        Designs, forms and weights, by column.
    known_rows
        The number of rows, if they have been counted already.
    has_document
        Whether the file has a document, which says whether its rows are people or counts.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.frames.reading import read_release
    >>> from subsetprivacy.frames.writing import write_release
    >>> from subsetprivacy.mechanism.publish import privatize
    >>> data = privatize(["a", "b", "d"] * 100, uniform(list("abcd")), seed=1)
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_release(data, Path(folder) / "private.csv", {"letter": data.design})
    ...     read_release(Path(folder) / "private.csv").count("letter")
    <SubsetCounts: n = 300, 6 distinct subsets, 0 missing, <uniform design on 4 categories: 'a', 'b', 'c', 'd'>>
    """

    why_not_restored: ClassVar[str] = "keep the file and open it, `sp.read_release(path)`"

    file: DataFile
    stored: TableMetadata = field(eq=False)
    known_rows: int | None = field(default=None, eq=False)
    has_document: bool = field(default=True, eq=False)

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.file.path

    @property
    def designs(self) -> dict[str, Design]:
        """The designs, by column."""
        return dict(self.stored.designs)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of subsets."""
        return tuple(self.stored.designs)

    @property
    def kept(self) -> tuple[str, ...]:
        """The other columns, which were published unchanged and are not protected."""
        weights = () if self.stored.weights is None else (self.stored.weights.column,)
        return tuple(name for name in self.file.names(self.names) if name not in (*self.names, *weights))

    def unique_rows(self) -> int | None:
        """Return how many rows are unique in the kept columns, or None if that is not known."""
        return count_unique_rows(self.file, self.kept) if self.kept else 0

    @cached_property
    def rows(self) -> int:
        """The number of rows; a CSV file is read to count them."""
        return self.file.rows() if self.known_rows is None else self.known_rows

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} ({design.p})" for name, design in self.stored.designs.items())
        return f"<Release {self.path.name!r}: {columns}>"

    # Counting ---------------------------------------------------------------------------------

    @overload
    def count(
        self,
        column: str | None = ...,
        *,
        by: None = ...,
        weights: str | None = ...,
        weights_kind: WeightsKind | None = ...,
        missing: Missing | None = ...,
        progress: Progress | None = ...,
    ) -> SubsetCounts: ...
    @overload
    def count(
        self,
        column: str | None = ...,
        *,
        by: str | Sequence[str],
        weights: str | None = ...,
        weights_kind: WeightsKind | None = ...,
        missing: Missing | None = ...,
        progress: Progress | None = ...,
    ) -> GroupedCounts[SubsetCounts]: ...
    def count(
        self,
        column: str | None = None,
        *,
        by: str | Sequence[str] | None = None,
        weights: str | None = None,
        weights_kind: WeightsKind | None = None,
        missing: Missing | None = None,
        progress: Progress | None = None,
    ) -> SubsetCounts | GroupedCounts[SubsetCounts]:
        """Count the subsets of a column, in constant memory.

        Parameters
        ----------
        column
            The column. Optional if there is only one.
        by
            A column of groups, or several. The result is then a dict with the counts of each group, in the order of
            `sp.count`.
        weights, weights_kind
            A column of weights and their kind, as in `count`. A file of counts includes its own.
        missing
            How to treat an empty cell: ``"error"`` (default) or ``"full"``, a missing answer.
        progress
            Called with the number of finished rows and the total (None if not known).

        Raises
        ------
        CodeError
            If a cell is not a subset of the design. The message gives the column, the first row and the count, never
            the cell.
        DataFileError
            If the file cannot be read.
        """
        name = self._name(column)
        if weights is None:
            self._refuse_counts(used_columns(by))
        return self._counted([name], by, (weights, weights_kind), missing, progress)

    @overload
    def crosstab(
        self,
        *columns: str,
        by: None = ...,
        weights: str | None = ...,
        weights_kind: WeightsKind | None = ...,
        missing: Missing | None = ...,
        progress: Progress | None = ...,
    ) -> JointCounts: ...
    @overload
    def crosstab(
        self,
        *columns: str,
        by: str | Sequence[str],
        weights: str | None = ...,
        weights_kind: WeightsKind | None = ...,
        missing: Missing | None = ...,
        progress: Progress | None = ...,
    ) -> GroupedCounts[JointCounts]: ...
    def crosstab(
        self,
        *columns: str,
        by: str | Sequence[str] | None = None,
        weights: str | None = None,
        weights_kind: WeightsKind | None = None,
        missing: Missing | None = None,
        progress: Progress | None = None,
    ) -> JointCounts | GroupedCounts[JointCounts]:
        """Count how often subsets of two or more columns occur together.

        Parameters
        ----------
        *columns
            The columns. Optional if there are exactly two.
        by, weights, weights_kind, missing, progress
            As in `count`.
        """
        names = [self._name(column) for column in columns or self.names]
        if len(names) > 1:
            if len(set(names)) < len(names) or not (columns or len(names) == 2):
                raise ArgumentError(
                    f"`columns` must name two or more different columns; got {len(names)} of {len(self.names)}."
                )
            product({name: self.stored.designs[name] for name in names}).require_code()  # before reading anything
        elif self.stored.designs[names[0]].product is None:
            raise ArgumentError("`columns` must name two or more different columns; got 1.")
        if weights is None:
            self._refuse_counts(used_columns(by))
        counted: Any = self._counted(names, by, (weights, weights_kind), missing, progress)
        return counted

    def _refuse_counts(self, used: Sequence[str]) -> None:
        """Raise if the file has no document, and an unused column that may count the people of each row.

        Parameters
        ----------
        used
            The columns that are used besides those of subsets.

        Raises
        ------
        ArgumentError
            If so.
        """
        name = count_column(self.names)
        if self.has_document or name in used or name not in self.file.names(self.names):
            return
        if self.file.kind == "csv" or not self.file.is_text(name):
            raise unused_count(name)

    def _counted(self, names: list[str], by: Any, weights: tuple[Any, Any], missing: Any, progress: Any) -> Any:
        """Count columns together, as `count` and `crosstab` do, without `_refuse_counts`."""
        designs = {name: self.stored.designs[name] for name in names}
        asked = CountRequest.of(designs, self.file.names(names), by, *self._weights(*weights), missing)
        check_present(self.file, asked.columns)
        asked.check()
        groups = tally_batches(
            read_batches(self.file, ColumnSelection(designs, self.stored.forms, tuple(asked.by or ()), asked.weights)),
            asked.keys,
            asked.weights,
            None if progress is None else partial(_tell, progress, None if self.file.kind == "csv" else self.rows),
            asked.bits,
            whole=asked.whole,
        )
        as_labels = self.file.kind == "csv" and any(self.stored.forms[name] == "labels" for name in names)
        with naming_file(self.file.where, as_labels=as_labels):
            return asked.read(groups, self.file.place, orders=self.file.orders(asked.by or ()))

    def _weights(self, column: Any, kind: WeightsKind | None) -> tuple[Any, WeightsKind | None]:
        if column is not None:
            return column, kind
        if kind is not None:
            raise ArgumentError("`weights` must be given with `weights_kind`; got the kind alone.")
        stored = self.stored.weights
        return (None, None) if stored is None else (stored.column, stored.kind)

    def _name(self, column: str | None) -> str:
        if column is None and len(self.names) == 1:
            return self.names[0]
        if not isinstance(column, str) or column not in self.stored.designs:
            raise ArgumentError(f"`column` must be one of {', '.join(self.names)}; got {shown(column)}.")
        return column

    # Looking ----------------------------------------------------------------------------------

    def codes(self, column: str | None = None, *, missing: Missing | None = None) -> IntArray:
        """Return all codes of a column in file order, after the checks of `count`. A file of counts has few of them."""
        name = self._name(column)
        self._counted([name], None, (None, None), missing, None)
        design = self.stored.designs[name]
        batches = read_batches(self.file, ColumnSelection({name: design}, self.stored.forms), parse=True)
        # If an empty cell is allowed, it is the full set.
        parts = [batch.column(0).cast("int64").fill_null(design.missing_code).to_numpy() for batch in batches]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    @overload
    def to_frame(self, *, engine: Literal["pandas"] = ..., kept: bool = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["polars"], kept: bool = ...) -> PolarsFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["pyarrow"], kept: bool = ...) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas", kept: bool = True) -> Frame:
        """Load the codes, and by default the kept columns, as a pandas, Polars or PyArrow table.

        A table of counts has their numbers in a further column, and its document if the library keeps one.
        """
        table = frame(self._columns(kept), engine)
        return table if self.stored.weights is None else marked(table, json.loads(self._document_of_codes))

    @property
    def _document_of_codes(self) -> str:
        return evolve(self.stored, forms=dict.fromkeys(self.names, "codes")).to_json()

    def _columns(self, kept: bool = True) -> dict[str, Any]:
        columns: dict[str, Any] = {name: self.codes(name) for name in self.names}
        weights = self.stored.weights
        others = [*(self.kept if kept else ()), *(() if weights is None else (weights.column,))]
        if others:
            import pyarrow as pa

            table = pa.Table.from_batches(list(self.file.batches(others)))
            columns |= {name: table.column(name).to_pylist() for name in others}
        if weights is not None:
            columns[weights.column] = np.asarray(columns[weights.column], np.float64)
            if weights.kind == "frequency":
                columns[weights.column] = columns[weights.column].astype(np.int64)
        return columns

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the file: dummy rows, weights, and columns that are not protected."""
        covered = {name: design for name, design in self.stored.designs.items() if design.covered is not None}
        notes = [
            Note(NoteKind.DUMMIES, f"{name}: {design.rows_text(float('nan'))}.") for name, design in covered.items()
        ]
        if self.stored.weights is not None:
            weights = self.stored.weights
            notes.append(Note(NoteKind.WEIGHTED, f"{weights.kind} weights in column {weights.column}."))
        if self.kept:
            kept = ", ".join(self.kept)
            notes.append(Note(NoteKind.NOT_PROTECTED, f"Kept unchanged and not protected: {kept}."))
        return tuple(notes)

    def summary(self) -> Table:
        """Return a table of the columns and their designs; the rows of a large CSV file are not counted for it."""
        known = self.known_rows is not None or "rows" in self.__dict__
        large = self.file.kind == "csv" and not known and self.path.stat().st_size > _LARGE
        rows = "…" if large else str(self.rows)
        lines = tuple(
            (name, design.maker, str(design.p), rows, design.fingerprint[:16])
            for name, design in self.stored.designs.items()
        )
        title = f"Release {self.path.name}"
        return Table(title, ("column", "kind", "categories", "rows", "fingerprint"), lines, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return a description of the file as plain data, without its rows; a CSV file is read to count them."""
        document = json.loads(self.stored.to_json())
        return {
            "path": str(self.path),
            "rows": self.rows,
            "columns": document["columns"],
            "weights": document.get("weights"),
            "kept": list(self.kept),
            "notes": [note.to_dict() for note in self.notes],
        }


def _tell(progress: Progress, total: int | None, done: int) -> None:
    progress(done, total)


def count_unique_rows(file: DataFile, keep: Sequence[str]) -> int | None:
    """Return how many rows are unique in the kept columns, or None if that is not known.

    There may be too many combinations, or cells that cannot be grouped, such as lists.
    """
    import pyarrow as pa

    try:
        return _counted_alone(file, keep)
    except pa.ArrowNotImplementedError:
        return None


def _counted_alone(file: DataFile, keep: Sequence[str]) -> int | None:
    import pyarrow as pa
    from pyarrow import compute as pc

    merged: Any = None
    waiting: list[Any] = []
    for batch in file.batches(list(keep)):
        columns = [batch.column(name) for name in keep]
        numbered = [*map(str, range(len(columns))), "n"]
        waiting.append(pa.table([*columns, pa.repeat(pa.scalar(1), batch.num_rows)], names=numbered))
        if sum(map(len, waiting)) > max(_AT_ONCE, 0 if merged is None else len(merged)):
            merged, waiting = _merged(merged, waiting), []
            if len(merged) > MOST_KINDS:
                return None
    merged = _merged(merged, waiting)
    return None if len(merged) > MOST_KINDS else int(pc.sum(pc.equal(merged["n"], 1)).as_py() or 0)


def _merged(merged: Any, waiting: list[Any]) -> Any:
    """Return the distinct rows and how often each occurs."""
    import pyarrow as pa

    together = pa.concat_tables(([] if merged is None else [merged]) + waiting)
    names = together.column_names[:-1]
    grouped = together.group_by(names).aggregate([("n", "sum")])
    return grouped.select([*names, "n_sum"]).rename_columns([*names, "n"])
