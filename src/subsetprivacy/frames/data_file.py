"""The columns of a data file as a stream of Arrow batches, subsets as codes, in constant memory."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._spreadsheets import plain_header
from subsetprivacy.design import Design
from subsetprivacy.design.text import parsed
from subsetprivacy.engines import check_columns, declared_orders, no_such_column
from subsetprivacy.engines.arrow import kind_of
from subsetprivacy.engines.batches import fragment_batches
from subsetprivacy.engines.headers import judge_table
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.csv_reader import CsvFile, Headers, csv_batches, line_of
from subsetprivacy.frames.file_errors import arrow, file_error, reading
from subsetprivacy.frames.files import TABLE_FORMAT, parquet_files
from subsetprivacy.frames.partitions import Partitions, partitions_of

_CODE = "^[0-9]{1,15}$"  # 15 digits: more than any code has, and still an int64
_REMEMBERED = 1 << 17


@frozen
class FileFacts:
    """What is known of Parquet and Arrow files when each has been opened once.

    Attributes
    ----------
    schema
        The columns of the first file, then those that folders name.
    rows
        Of each file.
    keys
        What is stored next to the columns of each file, by key.
    """

    schema: Any
    rows: dict[Path, int]
    keys: dict[Path, dict[bytes, bytes]]


@frozen(slots=False)
class DataFile:
    """A file of columns, nothing of it loaded.

    It is opened once for all that can be known of it without its rows, and once whenever its rows are read.

    Attributes
    ----------
    path, kind
        Where it is, and its format.
    """

    path: Path
    kind: str

    @property
    def where(self) -> str:
        """What it is called in messages."""
        return f"the {'folder' if self.kind == 'folder' else 'file'} {str(self.path)!r}"

    @cached_property
    def headers(self) -> Headers:
        """The header of a CSV file."""
        with CsvFile(self.path) as file:
            return file.headers

    @cached_property
    def facts(self) -> FileFacts:
        """What other files say of themselves."""
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
        """The files, and the columns that their folders name."""
        files = parquet_files(self.path)
        return files, partitions_of(self.path, files)

    def names(self, wanted: Sequence[str] = ()) -> list[str]:
        """Return the names of its columns; which sign separates them is told by those that are wanted.

        Raises
        ------
        DataFileError
            If two are the same, or the file cannot be read.
        """
        if self.kind == "csv":
            found = self.headers.fitting(wanted).names
            names = [name for name in found if name != TABLE_FORMAT]  # it holds the document, and nothing about people
        else:
            names = list(self.facts.schema.names)
        if len(set(names)) < len(names):
            raise file_error(self.path, "must have columns of different names; two have the same")
        return names

    def no_such_column(self, name: str, held: Sequence[str], labels: Collection[str] = ()) -> DataFileError:
        """Return the error that it has no such column, with names that are alike unless they may be values."""
        if self.kind == "csv":
            with CsvFile(self.path) as file:
                return file.no_such_column(name, labels)
        return DataFileError(*no_such_column(name, held, self.where, judge_table(self._dataset(), labels)))

    def is_text(self, column: str) -> bool:
        """Tell whether a column that is there holds text."""
        return self.kind == "csv" or kind_of(self.facts.schema.field(column).type) == "text"

    def orders(self, columns: Sequence[str]) -> list[list[Any] | None]:
        """Return the order that each of some columns declares, None where it declares none, as text does."""
        schema = None if self.kind == "csv" else self.facts.schema
        if schema is None or not any(getattr(schema.field(name).type, "ordered", False) for name in columns):
            return [None] * len(columns)
        with reading(self.path):
            return declared_orders(self._dataset(), columns)

    def rows(self) -> int:
        """Return how many rows there are; of a CSV file by reading it."""
        if self.kind == "csv":
            return sum(batch.num_rows for batch in csv_batches(self.path, self.names()[:1]))
        return sum(self.facts.rows.values())

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Stream some columns as they are; those of a CSV file are text."""
        if self.kind == "csv":
            yield from csv_batches(self.path, list(columns))
            return
        files, named = self._parts
        for file in files:  # one after the other, so that a damaged one is named
            with reading(file), self._opened(file) as fragment:
                schema = _with_folders(fragment.physical_schema, named.schema)
                self._check_columns(file, schema.names, columns)
                for batch in fragment_batches(fragment, schema, list(columns)):
                    batch.validate(full=True)  # lengths that are wrong would lead anywhere in a file that is mapped
                    yield batch

    def _check_columns(self, file: Path, held: list[str], columns: Sequence[str]) -> None:
        if any(held.count(name) != 1 for name in columns):
            check_columns(self._dataset([file]), list(columns), held)

    @contextmanager
    def _opened(self, file: Path) -> Iterator[Any]:
        """Open one of the files, as a fragment of a dataset that reads from one handle."""
        with arrow().OSFile(str(file)) as handle:
            yield self._format().make_fragment(handle, partition_expression=self._parts[1].expression(file))

    def _format(self) -> Any:
        from pyarrow import dataset

        if self.kind == "arrow":
            return dataset.IpcFileFormat()
        # What is buffered in advance is kept to the end of the file: memory would grow with it.
        checked = dataset.ParquetFragmentScanOptions(page_checksum_verification=True, pre_buffer=False)
        return dataset.ParquetFileFormat(default_fragment_scan_options=checked)

    def _dataset(self, files: Sequence[Path] | None = None) -> Any:
        """Return the files as a dataset, which opens them whenever it is asked: for messages, and orders of groups."""
        from pyarrow import dataset

        # Known from all files: the folder of one alone may look like a number where others do not.
        every, named = self._parts
        hive = dataset.HivePartitioning(named.schema) if named.names else None
        with reading(self.path):
            return dataset.dataset([str(file) for file in files or every], format=self._format(), partitioning=hive)

    def place(self, row: int) -> str:
        """Return where a row is, in words: its line in a CSV file, in a folder its file too."""
        if self.kind == "csv":
            return f"line {line_of(self.path, row)}"
        if self.kind == "folder":
            for file, held in self.facts.rows.items():
                if row < held:
                    return f"row {row} of {file.name!r}"
                row -= held
        return f"row {row}"


def _with_folders(schema: Any, named: Any) -> Any:
    """Return the columns of a file, then those that its folders name."""
    for each in named:
        schema = schema if each.name in schema.names else schema.append(each)
    return schema


@frozen
class ColumnSelection:
    """What is read of a file.

    Attributes
    ----------
    designs, forms
        Of the columns of subsets.
    others
        Columns of groups.
    weights
        The column of weights.
    raw
        Columns that are left as they are; those of a CSV file are text.
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
    """Stream columns of a file: subsets as they are counted, groups, and weights as numbers.

    Parameters
    ----------
    file, wanted
        What is read of which file.
    parse
        Whether labels become codes, 0 where a text is no subset. Otherwise
        they stay text, of which each distinct one is parsed when it was counted.

    Notes
    -----
    Codes in a CSV file become int64, -1 where a text is no whole number. What
    is no text stays as it is, and is for the caller to refuse.
    """
    readers = {
        name: _SubsetReader(design, wanted.forms.get(name, "codes"), parse) for name, design in wanted.designs.items()
    }
    pa = arrow()
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
    """Turns text into codes; remembers what it has read."""

    def __init__(self, design: Design, form: str, parse: bool) -> None:
        self._design = design
        self._labels = form == "labels"
        self._parse = parse
        self._known: dict[str, int] = {}

    def read(self, column: Any) -> Any:
        pa = arrow()
        if kind_of(column.type) != "text":
            return column
        column = column.cast(pa.string())  # some engines write it in other ways
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
    """Return numbers written as text, -1 where a text is none."""
    pa = arrow()
    from pyarrow import compute as pc

    fine = pc.match_substring_regex(column, _CODE)
    return pc.if_else(fine, column, pa.scalar("-1", column.type)).cast(pa.int64())


def all_numbers(column: Any) -> Any:
    """Return text as numbers, with or without spaces around them; None where some text is no number."""
    pa = arrow()
    from pyarrow import compute as pc

    for trimmed in (False, True):
        with suppress(pa.ArrowInvalid):
            return (pc.utf8_trim_whitespace(column) if trimmed else column).cast(pa.float64())
    return None


def number_cells(column: Any) -> Any:
    """Return numbers written as text, NaN where a text is none, which is counted as unfit."""
    numbers = all_numbers(column)
    return arrow().array([_number(text) for text in column.to_pylist()], "float64") if numbers is None else numbers


def _number(text: str | None) -> float:
    try:
        return float("nan" if text is None else text)
    except ValueError:
        return float("nan")


def plain_cells(column: Any) -> Any:
    """Return groups without the apostrophe that keeps a spreadsheet from running them."""
    encoded = column.dictionary_encode()
    pa = arrow()
    names = [plain_header(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(encoded.indices)


def check_present(file: DataFile, names: Sequence[str]) -> None:
    """Raise if a column is not in the file."""
    held = file.names(names)
    for name in names:
        if name not in held:
            raise file.no_such_column(name, held)
