"""Where values come from: files and tables as units of rows that can be read one by one."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

from subsetprivacy.engines import arrow_batches, check_columns
from subsetprivacy.errors import ArgumentError, DataFileError
from subsetprivacy.frames.compression import is_compressed, open_to_read
from subsetprivacy.frames.csv_stream import csv_batches, csv_columns, line_of
from subsetprivacy.frames.files import format_of, parquet_files
from subsetprivacy.frames.partitions import partitions_of
from subsetprivacy.frames.streams import DataFile
from subsetprivacy.frames.trouble import reading

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 20
UNIT_ROWS = 1 << 22  # of a Parquet file: what a process takes at a time, in batches


class Unit(Protocol):
    """Some consecutive rows that any process can read."""

    @property
    def first(self) -> int:
        """The number of the first row in the whole table."""
        ...

    def batches(self) -> Iterator["pa.RecordBatch"]:
        """Read the rows."""
        ...


@frozen
class RowGroups:
    """Row groups of a Parquet file: a process is told where they are and reads them itself.

    Attributes
    ----------
    schema
        The columns to read.
    folders
        Values of those that the file's folders name: they are not in the file.
    """

    path: Path
    schema: "pa.Schema"
    as_dictionary: list[str]
    groups: list[int]
    first: int
    folders: dict[str, Any]

    def batches(self) -> Iterator["pa.RecordBatch"]:
        """Read the rows; text comes with its distinct values apart, as it is stored."""
        import pyarrow.parquet as pq

        checked = {"read_dictionary": self.as_dictionary, "page_checksum_verification": True}
        names = [name for name in self.schema.names if name not in self.folders]
        with reading(self.path), pq.ParquetFile(self.path, **checked) as file:
            for batch in file.iter_batches(BATCH_ROWS, row_groups=self.groups, columns=names, use_threads=False):
                yield self._whole(batch) if self.folders else batch

    def _whole(self, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        """Return a batch with the columns that the folders name."""
        import pyarrow as pa

        columns = [
            pa.repeat(pa.scalar(self.folders[each.name], each.type), batch.num_rows)
            if each.name in self.folders
            else batch.column(each.name)
            for each in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns, names=self.schema.names)


@frozen
class Held:
    """Rows that were read already, of a stream."""

    batch: "pa.RecordBatch" = field(repr=False)
    first: int

    def batches(self) -> Iterator["pa.RecordBatch"]:
        """Return the rows."""
        yield self.batch


@frozen
class Source:
    """A table of values, read in units.

    Attributes
    ----------
    where
        Its name in messages.
    schema
        The columns that are read.
    units
        Starts reading from the first row.
    rows
        How many there are; an estimate where `is_exact` is False, None where nothing is known.
    identity
        What tells this content from another, so that an interrupted run can go on; None where nothing does.
    row
        What a row is called in messages.
    number
        Its number in messages, from its number counted from 0.
    """

    where: str
    schema: "pa.Schema"
    units: Callable[[], Iterator[Unit]]
    rows: int | None = None
    is_exact: bool = False
    as_text: bool = False
    identity: dict[str, Any] | None = None
    row: str = "row"
    number: Callable[[int], int] = int


def file_source(path: Path, columns: list[str], keep: Iterable[str] = (), labels: Collection[str] = ()) -> Source:
    """Return the named columns of a file.

    Parameters
    ----------
    path
        The file.
    columns
        Those that are read.
    keep
        Columns that stay as they are; text that is looked up may come encoded.
    labels
        Categories of the values. Where a header holds one it holds a person's values, and is not shown.
    """
    kind = format_of(path)
    if kind == "csv":
        return _csv_source(path, columns, labels)
    if kind == "arrow":
        return _arrow_source(path, columns, labels)
    return _parquet_source(path, columns, set(keep), labels)


def table_source(table: Any, columns: list[str], labels: Collection[str] = ()) -> Source:
    """Return the named columns of a table that some engine of this machine holds."""
    import pyarrow as pa

    check_columns(table, columns, labels=labels)
    batches = regrouped(arrow_batches(table, columns, BATCH_ROWS))
    head = next(batches, None)
    if head is None:
        return Source("", pa.schema([(name, pa.null()) for name in columns]), lambda: iter(()), 0, True)
    return Source("", head.schema, partial(_chained, head, batches))


def _check_columns(wanted: Iterable[str], there: list[str], path: Path, labels: Collection[str]) -> None:
    """Raise if a column that is wanted is not in a file, or is there twice."""
    for name in wanted:
        if name not in there:
            raise DataFile(path, format_of(path)).no_such_column(name, there, labels)
        if there.count(name) > 1:
            raise DataFileError(f"the file {str(path)!r} must have one column {name!r}; got {there.count(name)}.")


def regrouped(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Return the same rows in batches of about `BATCH_ROWS`: engines hand them out in handfuls."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= BATCH_ROWS:
            yield from _together(held)
            held, rows = [], 0
    if held:
        yield from _together(held)


def _together(held: list["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    table = pa.Table.from_batches(held).unify_dictionaries().combine_chunks()
    for start in range(0, table.num_rows, BATCH_ROWS):
        yield from table.slice(start, BATCH_ROWS).to_batches()


def _numbered(batches: Iterable["pa.RecordBatch"]) -> Iterator[Unit]:
    first = 0
    for batch in batches:
        yield Held(batch, first)
        first += batch.num_rows


def _chained(head: "pa.RecordBatch", rest: Iterator["pa.RecordBatch"]) -> Iterator[Unit]:
    def both() -> Iterator["pa.RecordBatch"]:
        yield head
        yield from rest

    return _numbered(both())


def _parquet_source(path: Path, columns: list[str], keep: set[str], labels: Collection[str]) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    units: list[Unit] = []
    first, schema = 0, None
    files = parquet_files(path)
    partitions = partitions_of(path, files)
    for file in files:
        with reading(file), pq.ParquetFile(file) as opened:
            there = opened.schema_arrow
            named = [name for name in partitions.names if name not in there.names]
            _check_columns(columns, [*there.names, *named], file, labels)
            held = pa.schema([(partitions.schema if name in named else there).field(name) for name in columns])
            sizes = [opened.metadata.row_group(k).num_rows for k in range(opened.metadata.num_row_groups)]
        schema = schema or held
        if schema.types != held.types:
            raise ArgumentError(f"the files of a folder must have columns of the same types; {file.name} has others.")
        text = [each.name for each in held if _is_text(each.type) and each.name not in keep and each.name not in named]
        folders = {name: value for name, value in partitions.values(file).items() if name in columns and name in named}
        for groups, rows in _packed(sizes):
            units.append(RowGroups(file, held, text, groups, first, folders))
            first += rows
    if schema is None:
        raise ArgumentError(f"{path} must hold Parquet files; got none.")
    return Source(str(path), schema, lambda: iter(units), first, True, identity=_identity(path, files))


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _packed(sizes: list[int]) -> Iterator[tuple[list[int], int]]:
    """Put consecutive row groups together until there are enough rows for a unit."""
    groups: list[int] = []
    rows = 0
    for k, size in enumerate(sizes):
        groups.append(k)
        rows += size
        if rows >= UNIT_ROWS:
            yield groups, rows
            groups, rows = [], 0
    if rows:
        yield groups, rows


def _arrow_source(path: Path, columns: list[str], labels: Collection[str]) -> Source:
    import pyarrow as pa

    with reading(path), pa.memory_map(str(path)) as held, pa.ipc.open_file(held) as opened:
        _check_columns(columns, opened.schema.names, path, labels)
        schema = pa.schema([opened.schema.field(name) for name in columns])
        rows = sum(opened.get_batch(k).num_rows for k in range(opened.num_record_batches))

    def batches() -> Iterator["pa.RecordBatch"]:
        with reading(path), pa.memory_map(str(path)) as held, pa.ipc.open_file(held) as opened:
            for k in range(opened.num_record_batches):
                batch = opened.get_batch(k).select(columns)
                batch.validate(full=True)  # a damaged file may tell lengths that lead outside of it
                yield batch

    return Source(
        str(path), schema, lambda: _numbered(regrouped(batches())), rows, True, identity=_identity(path, [path])
    )


def _csv_source(path: Path, columns: list[str], labels: Collection[str]) -> Source:
    import pyarrow as pa

    _check_columns(columns, list(csv_columns(path, columns)), path, labels)
    schema = pa.schema([(name, pa.string()) for name in columns])
    return Source(
        str(path),
        schema,
        lambda: _numbered(regrouped(csv_batches(path, columns))),
        _guessed_rows(path),
        as_text=True,
        identity=_identity(path, [path]),
        row="line",
        number=partial(line_of, path),
    )


def _guessed_rows(path: Path) -> int:
    """Guess the number of rows by the length of the first lines."""
    with reading(path), open_to_read(path) as file:
        start = file.read(1 << 20)
    packed = 4 if is_compressed(path) else 1  # text is a quarter when it is compressed, or so
    return int(packed * path.stat().st_size * max(start.count(b"\n"), 1) / max(len(start), 1))


def _identity(path: Path, files: Iterable[Path]) -> dict[str, Any]:
    """Return what changes when somebody writes to the files."""
    stats = [(str(file.resolve()), (at := file.stat()).st_size, at.st_mtime_ns, at.st_ctime_ns) for file in files]
    return {"source": str(path.resolve()), "files": [list(each) for each in stats]}
