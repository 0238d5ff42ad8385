"""`DataFile`: stream the columns of a data file as Arrow batches, in constant memory."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy.design import Design
from subsetprivacy.design.text import parsed
from subsetprivacy.engines import check_columns, declared_orders, no_such_column
from subsetprivacy.engines.arrow import kind_of
from subsetprivacy.engines.batches import fragment_batches
from subsetprivacy.engines.counters import TABLE_FORMAT
from subsetprivacy.engines.headers import judge_table
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.csv_reader import CsvFile, Headers, csv_batches, line_of
from subsetprivacy.frames.file_errors import file_error, reading
from subsetprivacy.frames.files import parquet_files
from subsetprivacy.frames.partitions import Partitions, partitions_of
from subsetprivacy.tables import plain_header

_CODE = "^[0-9]{1,15}$"  # 15 digits: longer than any code, and within int64
_REMEMBERED = 1 << 17


@frozen
class FileFacts:
    """Facts about Parquet and Arrow files, from opening each once.

    Attributes
    ----------
    schema
        The columns of the first file, then partition columns.
    rows
        Of each file.
    keys
        The metadata of each file, by key.
    """

    schema: Any
    rows: dict[Path, int]
    keys: dict[Path, dict[bytes, bytes]]


@frozen(slots=False)
class DataFile:
    """A data file that is not loaded.

    It is opened once for its metadata, and once for each pass over its rows.

    Attributes
    ----------
    path, kind
        The path and the format.
    """

    path: Path
    kind: str

    @property
    def where(self) -> str:
        """Its name in messages."""
        return f"the {'folder' if self.kind == 'folder' else 'file'} {str(self.path)!r}"

    @cached_property
    def headers(self) -> Headers:
        """The header of a CSV file."""
        with CsvFile(self.path) as file:
            return file.headers

    @cached_property
    def facts(self) -> FileFacts:
        """The metadata of Parquet and Arrow files."""
        files, named = self._parts
        schema: Any = None
        rows, keys = {}, {}
        for file in files:
            with reading(file), self._opened(file) as fragment:
                if schema is None:
                    schema = _with_folders(fragment.physical_schema, named.schema)
                rows[file] = fragment.count_rows()
                stored = fragment.physical_schema if self.kind == "arrow" else fragment.metadata
                keys[file] = dict(stored.metadata or {})
        return FileFacts(schema, rows, keys)

    @cached_property
    def _parts(self) -> tuple[list[Path], Partitions]:
        """The files, and their partition columns."""
        files = parquet_files(self.path)
        return files, partitions_of(self.path, files)

    def names(self, wanted: Sequence[str] = ()) -> list[str]:
        """Return the column names; in a CSV file, the wanted ones determine the separator.

        Raises
        ------
        DataFileError
            If two names are equal, or the file cannot be read.
        """
        if self.kind == "csv":
            header = self.headers.fitting(wanted).names
            names = [name for name in header if name != TABLE_FORMAT]  # it contains the design document, not data
        else:
            names = list(self.facts.schema.names)
        if len(set(names)) < len(names):
            raise file_error(self.path, "must have columns of different names; two have the same")
        return names

    def no_such_column(self, name: str, existing: Sequence[str], labels: Collection[str] = ()) -> DataFileError:
        """Return the error for a missing column, with similar names unless they may be values."""
        if self.kind == "csv":
            with CsvFile(self.path) as file:
                return file.no_such_column(name, labels)
        return DataFileError(*no_such_column(name, existing, self.where, judge_table(self._dataset(), labels)))

    def is_text(self, column: str) -> bool:
        """Return whether an existing column contains text."""
        return self.kind == "csv" or kind_of(self.facts.schema.field(column).type) == "text"

    def orders(self, columns: Sequence[str]) -> list[list[Any] | None]:
        """Return the declared order of each column, or None."""
        schema = None if self.kind == "csv" else self.facts.schema
        if schema is None or not any(getattr(schema.field(name).type, "ordered", False) for name in columns):
            return [None] * len(columns)
        with reading(self.path):
            return declared_orders(self._dataset(), columns)

    def rows(self) -> int:
        """Return the number of rows; a CSV file is read for it."""
        if self.kind == "csv":
            return sum(batch.num_rows for batch in csv_batches(self.path, self.names()[:1]))
        return sum(self.facts.rows.values())

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Stream some columns unchanged; those of a CSV file are text."""
        if self.kind == "csv":
            yield from csv_batches(self.path, list(columns))
            return
        files, named = self._parts
        for file in files:  # one by one, so that errors name the damaged file
            with reading(file), self._opened(file) as fragment:
                schema = _with_folders(fragment.physical_schema, named.schema)
                self._check_columns(file, schema.names, columns)
                for batch in fragment_batches(fragment, schema, list(columns)):
                    batch.validate(full=True)  # wrong lengths could read outside of a mapped file
                    yield batch

    def _check_columns(self, file: Path, existing: list[str], columns: Sequence[str]) -> None:
        if any(existing.count(name) != 1 for name in columns):
            check_columns(self._dataset([file]), list(columns), existing)

    @contextmanager
    def _opened(self, file: Path) -> Iterator[Any]:
        """Open one of the files as a dataset fragment with one handle."""
        import pyarrow as pa

        with pa.OSFile(str(file)) as handle:
            yield self._format().make_fragment(handle, partition_expression=self._parts[1].expression(file))

    def _format(self) -> Any:
        from pyarrow import dataset

        if self.kind == "arrow":
            return dataset.IpcFileFormat()
        # Pre-buffered data are kept to the end of the file, so memory would grow.
        checked = dataset.ParquetFragmentScanOptions(page_checksum_verification=True, pre_buffer=False)
        return dataset.ParquetFileFormat(default_fragment_scan_options=checked)

    def _dataset(self, files: Sequence[Path] | None = None) -> Any:
        """Return the files as a dataset, for messages and declared orders."""
        from pyarrow import dataset

        # Inferred from all files: a single folder name may look like a number while others do not.
        every, named = self._parts
        hive = dataset.HivePartitioning(named.schema) if named.names else None
        with reading(self.path):
            return dataset.dataset([str(file) for file in files or every], format=self._format(), partitioning=hive)

    def place(self, row: int) -> str:
        """Describe the position of a row: the line of a CSV file, or the row and file of a folder."""
        if self.kind == "csv":
            return f"line {line_of(self.path, row)}"
        if self.kind == "folder":
            for file, rows in self.facts.rows.items():
                if row < rows:
                    return f"row {row} of {file.name!r}"
                row -= rows
        return f"row {row}"


def _with_folders(schema: Any, named: Any) -> Any:
    """Return the columns of a file, then its partition columns."""
    for each in named:
        schema = schema if each.name in schema.names else schema.append(each)
    return schema


@frozen
class ColumnSelection:
    """The columns to read from a file.

    Attributes
    ----------
    designs, forms
        The designs and forms of the columns of subsets.
    others
        Columns of groups.
    weights
        The column of weights.
    raw
        Columns to return unchanged; those of a CSV file are text.
    """

    designs: dict[str, Design]
    forms: dict[str, str]
    others: tuple[str, ...] = ()
    weights: str | None = None
    raw: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Each column once."""
        last = () if self.weights is None else (self.weights,)
        return list(dict.fromkeys([*self.designs, *self.others, *last, *self.raw]))


def read_batches(file: DataFile, wanted: ColumnSelection, *, parse: bool = False) -> Iterator[Any]:
    """Stream columns of a file: subsets, groups, and weights as numbers.

    Parameters
    ----------
    file, wanted
        The file and its columns to read.
    parse
        Whether to convert labels to codes, with 0 for text that is not a subset. Otherwise they stay text, and each
        distinct text is parsed after counting.

    Notes
    -----
    Codes in a CSV file become int64, with -1 for text that is not an integer. Other types stay unchanged, and the
    caller refuses them.
    """
    readers = {
        name: _SubsetReader(design, wanted.forms.get(name, "codes"), parse) for name, design in wanted.designs.items()
    }
    import pyarrow as pa

    for batch in file.batches(wanted.columns):
        columns = []
        for name in wanted.columns:
            column = batch.column(name)
            if name in readers:
                column = readers[name].read(column)
            elif file.kind == "csv" and name not in wanted.raw:
                column = number_cells(column) if name == wanted.weights else plain_cells(column)
            columns.append(column)
        yield pa.RecordBatch.from_arrays(columns, names=wanted.columns)


class _SubsetReader:
    """Converts text to codes, with a cache."""

    def __init__(self, design: Design, form: str, parse: bool) -> None:
        self._design = design
        self._labels = form == "labels"
        self._parse = parse
        self._known: dict[str, int] = {}

    def read(self, column: Any) -> Any:
        import pyarrow as pa

        if kind_of(column.type) != "text":
            return column
        column = column.cast(pa.string())  # engines use several text types
        if not self._labels:
            return _whole(column)
        if not self._parse:
            return column
        encoded = column.dictionary_encode()
        codes = pa.array(self._codes(encoded.dictionary.to_pylist()), pa.int64())
        return codes.take(encoded.indices)

    def _codes(self, texts: list[str]) -> Any:
        fresh = [text for text in texts if text not in self._known]
        if len(self._known) > _REMEMBERED:
            self._known, fresh = {}, texts
        self._known.update(zip(fresh, parsed(fresh, self._design).tolist(), strict=True))
        return np.fromiter((self._known[text] for text in texts), np.int64, len(texts))


def _whole(column: Any) -> Any:
    """Convert text to integers, with -1 for other text."""
    import pyarrow as pa
    from pyarrow import compute as pc

    fine = pc.match_substring_regex(column, _CODE)
    return pc.if_else(fine, column, pa.scalar("-1", column.type)).cast(pa.int64())


def all_numbers(column: Any) -> Any:
    """Convert text to numbers, ignoring spaces around them; None if some text is not a number."""
    import pyarrow as pa
    from pyarrow import compute as pc

    for trimmed in (False, True):
        with suppress(pa.ArrowInvalid):
            return (pc.utf8_trim_whitespace(column) if trimmed else column).cast(pa.float64())
    return None


def number_cells(column: Any) -> Any:
    """Convert text to numbers, with NaN for other text, which is counted as unfit."""
    import pyarrow as pa

    numbers = all_numbers(column)
    return pa.array([_number(text) for text in column.to_pylist()], "float64") if numbers is None else numbers


def _number(text: str | None) -> float:
    try:
        return float("nan" if text is None else text)
    except ValueError:
        return float("nan")


def plain_cells(column: Any) -> Any:
    """Return groups without the apostrophe that protects them in spreadsheets."""
    import pyarrow as pa

    encoded = column.dictionary_encode()
    names = [plain_header(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(encoded.indices)


def check_present(file: DataFile, names: Sequence[str]) -> None:
    """Raise if a column is not in the file."""
    existing = file.names(names)
    for name in names:
        if name not in existing:
            raise file.no_such_column(name, existing)
