"""Input files of values, opened once: checked before drawing, and read from the same handle."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from attrs import frozen

from subsetprivacy.engines.imputed import columns_of_metadata, refuse_imputed
from subsetprivacy.errors import ArgumentError, DataFileError
from subsetprivacy.frames.csv_reader import CsvFile
from subsetprivacy.frames.data_file import DataFile
from subsetprivacy.frames.file_errors import reading
from subsetprivacy.frames.files import format_of, parquet_files
from subsetprivacy.frames.partitions import partitions_of
from subsetprivacy.frames.table_reader import TableReader, Unit, numbered, regrouped

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 20
UNIT_ROWS = 1 << 22  # rows of a Parquet file that a process takes at a time
MOST_OPEN = 128  # files of a folder that stay open; others are reopened to read their rows


class Input(ABC):
    """An open file or folder of values.

    Attributes
    ----------
    path
        Where it is.
    """

    path: Path

    @abstractmethod
    def reader(self, columns: Sequence[str], keep: Iterable[str] = (), labels: Collection[str] = ()) -> TableReader:
        """Return some columns as a `TableReader`.

        Parameters
        ----------
        columns
            The columns to read.
        keep
            Kept columns, which stay unchanged; other text may be dictionary-encoded.
        labels
            Categories of the values. A header that contains one is a person's values, and is not shown.

        Raises
        ------
        DataFileError
            If a column is missing or repeated.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_input(path: Path) -> Input:
    """Open a CSV, Parquet or Arrow file, or a folder of Parquet files.

    Raises
    ------
    DataFileError
        If it does not exist, cannot be read, or has another format.
    """
    kind = format_of(path)
    return _CsvInput(path) if kind == "csv" else _ArrowInput(path) if kind == "arrow" else _ParquetInput(path)


class _CsvInput(Input):
    """A CSV file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._identity = _identity(path, [path])
        self._file = CsvFile(path)

    def reader(self, columns: Sequence[str], keep: Iterable[str] = (), labels: Collection[str] = ()) -> TableReader:
        """Return some columns, as text."""
        import pyarrow as pa

        self._file.positions(columns, labels)  # raises if one does not exist
        return TableReader(
            str(self.path),
            pa.schema([(name, pa.string()) for name in columns]),
            lambda: numbered(regrouped(self._file.batches(columns))),
            self._file.guessed_rows(),
            as_text=True,
            identity=self._identity,
            row="line",
            number=self._file.line_of,
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _ArrowInput(Input):
    """An Arrow file, mapped into memory."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self.path = path
        self._identity = _identity(path, [path])
        with reading(path):
            self._map = pa.memory_map(str(path))
            self._file = pa.ipc.open_file(self._map)

    def reader(self, columns: Sequence[str], keep: Iterable[str] = (), labels: Collection[str] = ()) -> TableReader:
        """Return some columns."""
        import pyarrow as pa

        with reading(self.path):
            _check_columns(columns, self._file.schema.names, self.path, labels)
            refuse_imputed(columns_of_metadata(self._file.schema.metadata), columns, "`table`")
            schema = pa.schema([self._file.schema.field(name) for name in columns])
            rows = sum(self._file.get_batch(k).num_rows for k in range(self._file.num_record_batches))
        units = lambda: numbered(regrouped(self._batches(list(columns))))  # noqa: E731
        return TableReader(str(self.path), schema, units, rows, True, identity=self._identity)

    def _batches(self, columns: list[str]) -> Iterator["pa.RecordBatch"]:
        with reading(self.path):
            for k in range(self._file.num_record_batches):
                batch = self._file.get_batch(k).select(columns)
                batch.validate(full=True)  # lengths in a damaged file may point outside of it
                yield batch

    def close(self) -> None:
        """Close the file."""
        self._map.close()


class _ParquetInput(Input):
    """A Parquet file, or a folder of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        files = parquet_files(path)
        self._identity = _identity(path, files)
        self._partitions = partitions_of(path, files)
        self._files: list[_ParquetFile] = []
        for number, file in enumerate(files):
            self._files.append(_ParquetFile(file))
            self._files[-1].look(stay_open=number < MOST_OPEN)

    def reader(self, columns: Sequence[str], keep: Iterable[str] = (), labels: Collection[str] = ()) -> TableReader:
        """Return some columns, including partition columns."""
        units: list[Unit] = []
        first, schema = 0, None
        for file in self._files:
            part = self._part(file, columns, set(keep), labels)
            schema = part.schema if schema is None else schema
            if schema.types != part.schema.types:
                raise ArgumentError(
                    f"the files of a folder must have columns of the same types; {file.path.name} has others."
                )
            for groups, rows in _packed(file.sizes):
                units.append(RowGroups(part, groups, first))
                first += rows
        return TableReader(str(self.path), schema, lambda: iter(units), first, True, identity=self._identity)

    def _part(self, file: "_ParquetFile", columns: Sequence[str], keep: set[str], labels: Collection[str]) -> "_Part":
        """Return the columns to read from one file."""
        import pyarrow as pa

        named = [name for name in self._partitions.names if name not in file.schema.names]
        _check_columns(columns, [*file.schema.names, *named], file.path, labels)
        refuse_imputed(columns_of_metadata(file.schema.metadata), columns, "`table`")
        schema = pa.schema(
            [(self._partitions.schema if name in named else file.schema).field(name) for name in columns]
        )
        text = [each.name for each in schema if _is_text(each.type) and each.name not in (*keep, *named)]
        values = self._partitions.values(file.path) if named else {}
        return _Part(file, schema, text, {name: values[name] for name in named if name in columns})

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


class _ParquetFile:
    """A Parquet file that stays open between reads; another process reopens it.

    Attributes
    ----------
    schema, sizes
        Its columns, and the size of each row group; known after `look`.
    """

    schema: "pa.Schema"
    sizes: list[int]

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: Any = None
        self._metadata: Any = None

    def __reduce__(self) -> Any:
        return _ParquetFile, (self.path,)

    def look(self, *, stay_open: bool) -> None:
        """Read its columns and sizes."""
        import pyarrow as pa

        with reading(self.path):
            self._handle = pa.OSFile(str(self.path))
            with self.opened() as file:
                self.schema, metadata = file.schema_arrow, file.metadata
                self.sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
                self._metadata = metadata if stay_open else None
        if not stay_open:
            self.close()

    @contextmanager
    def opened(self, **settings: Any) -> Iterator[Any]:
        """Open it with PyArrow, using the open handle if there is one."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._handle is not None:
            with pq.ParquetFile(self._handle, metadata=self._metadata, **settings) as file:
                yield file
            return
        with pa.OSFile(str(self.path)) as handle, pq.ParquetFile(handle, **settings) as file:
            yield file

    def close(self) -> None:
        """Close it."""
        if self._handle is not None:
            self._handle.close()
        self._handle = self._metadata = None


@frozen
class _Part:
    """The columns to read from a Parquet file.

    Attributes
    ----------
    schema
        The columns to read.
    as_dictionary
        Columns whose text is read dictionary-encoded, as it is stored.
    folders
        Values of partition columns, which are not in the file.
    """

    file: _ParquetFile
    schema: "pa.Schema"
    as_dictionary: list[str]
    folders: dict[str, Any]


@frozen
class RowGroups:
    """Row groups of a Parquet file, which any process can read."""

    part: _Part
    groups: list[int]
    first: int

    def batches(self) -> Iterator["pa.RecordBatch"]:
        """Read the rows."""
        part = self.part
        names = [name for name in part.schema.names if name not in part.folders]
        checked = {"read_dictionary": part.as_dictionary, "page_checksum_verification": True}
        with reading(part.file.path), part.file.opened(**checked) as file:
            for batch in file.iter_batches(BATCH_ROWS, row_groups=self.groups, columns=names, use_threads=False):
                yield self._whole(batch) if part.folders else batch

    def _whole(self, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        """Return a batch with the partition columns added."""
        import pyarrow as pa

        schema, folders = self.part.schema, self.part.folders
        columns = [
            pa.repeat(pa.scalar(folders[each.name], each.type), batch.num_rows)
            if each.name in folders
            else batch.column(each.name)
            for each in schema
        ]
        return pa.RecordBatch.from_arrays(columns, names=schema.names)


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _packed(sizes: list[int]) -> Iterator[tuple[list[int], int]]:
    """Combine consecutive row groups until there are enough rows for a unit."""
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


def _check_columns(wanted: Iterable[str], there: Sequence[str], path: Path, labels: Collection[str]) -> None:
    """Raise if a wanted column is missing or repeated in a file."""
    for name in wanted:
        if name not in there:
            raise DataFile(path, format_of(path)).no_such_column(name, there, labels)
        if there.count(name) > 1:
            raise DataFileError(f"the file {str(path)!r} must have one column {name!r}; got {there.count(name)}.")


def _identity(path: Path, files: Iterable[Path]) -> dict[str, Any]:
    """Return facts that change when the files are modified."""
    with reading(path):
        stats = [(str(file.resolve()), (at := file.stat()).st_size, at.st_mtime_ns, at.st_ctime_ns) for file in files]
    return {"source": str(path.resolve()), "files": [list(each) for each in stats]}
