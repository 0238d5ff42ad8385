"""The columns of a data file as a stream of Arrow batches, subsets as codes, in constant memory."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._spreadsheets import plain_header
from subsetprivacy.design import Design
from subsetprivacy.design.text import parsed
from subsetprivacy.engines import check_columns, declared_orders, no_such_column
from subsetprivacy.engines.arrow import kind_of
from subsetprivacy.engines.batches import dataset_batches
from subsetprivacy.engines.headers import judge_table
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.csv_stream import csv_batches, csv_columns, line_of, no_csv_column, read_header
from subsetprivacy.frames.files import TABLE_FORMAT, parquet_files
from subsetprivacy.frames.partitions import partitions_of
from subsetprivacy.frames.trouble import arrow, reading, trouble

_CODE = "^[0-9]{1,15}$"  # 15 digits: more than any code has, and still an int64
_REMEMBERED = 1 << 17


@frozen
class DataFile:
    """A file of columns, nothing of it loaded.

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

    def names(self, wanted: Sequence[str] = ()) -> list[str]:
        """Return the names of its columns; which sign separates them is told by those that are wanted.

        Raises
        ------
        DataFileError
            If two are the same, or the file cannot be read.
        """
        with reading(self.path):
            names = list(csv_columns(self.path, wanted) if self.kind == "csv" else self._dataset().schema.names)
        if self.kind == "csv":
            names = [name for name in names if name != TABLE_FORMAT]  # it holds the document, and nothing about people
        if len(set(names)) < len(names):
            raise trouble(self.path, "must have columns of different names; two have the same")
        return names

    def no_such_column(self, name: str, held: Sequence[str], labels: Collection[str] = ()) -> DataFileError:
        """Return the error that it has no such column, with names that are alike unless they may be values."""
        if self.kind == "csv":
            return no_csv_column(self.path, read_header(self.path, ()), name, labels)
        return DataFileError(*no_such_column(name, held, self.where, judge_table(self._dataset(), labels)))

    def is_text(self, column: str) -> bool:
        """Tell whether a column that is there holds text."""
        return self.kind == "csv" or kind_of(self._dataset().schema.field(column).type) == "text"

    def orders(self, columns: Sequence[str]) -> list[list[Any] | None]:
        """Return the order that each of some columns declares, None where it declares none, as text does."""
        if self.kind == "csv":
            return [None] * len(columns)
        with reading(self.path):
            return declared_orders(self._dataset(), columns)

    def rows(self) -> int:
        """Return how many rows there are; of a CSV file by reading it."""
        if self.kind == "csv":
            return sum(batch.num_rows for batch in csv_batches(self.path, self.names()[:1]))
        with reading(self.path):
            return int(self._dataset().count_rows())

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Stream some columns as they are; those of a CSV file are text."""
        if self.kind == "csv":
            yield from csv_batches(self.path, list(columns))
            return
        for file in parquet_files(self.path):  # one after the other, so that a damaged one is named
            with reading(file):
                dataset = self._dataset([file])
                check_columns(dataset, list(columns))
                for batch in dataset_batches(dataset, list(columns)):
                    batch.validate(full=True)  # lengths that are wrong would lead anywhere in a file that is mapped
                    yield batch

    def _dataset(self, files: Sequence[Path] | None = None) -> Any:
        from pyarrow import dataset

        checked = dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
        with reading(self.path):
            every = parquet_files(self.path)
            # Known from all files: the folder of one alone may look like a number where others do not.
            named = partitions_of(self.path, every).schema
            return dataset.dataset(
                [str(file) for file in files or every],
                format="ipc"
                if self.kind == "arrow"
                else dataset.ParquetFileFormat(default_fragment_scan_options=checked),
                partitioning=dataset.HivePartitioning(named) if named.names else None,
            )

    def place(self, row: int) -> str:
        """Return where a row is, in words: its line in a CSV file, in a folder its file too."""
        if self.kind == "csv":
            return f"line {line_of(self.path, row)}"
        if self.kind == "folder":
            for file in parquet_files(self.path):
                held = DataFile(file, "parquet").rows()
                if row < held:
                    return f"row {row} of {file.name!r}"
                row -= held
        return f"row {row}"


@frozen
class Wanted:
    """What is read of a file: columns of subsets with their designs and forms, columns of groups, and weights."""

    designs: dict[str, Design]
    forms: dict[str, str]
    others: tuple[str, ...] = ()
    weights: str | None = None

    @property
    def columns(self) -> list[str]:
        """Each column once."""
        last = () if self.weights is None else (self.weights,)
        return list(dict.fromkeys([*self.designs, *self.others, *last]))


def read_batches(file: DataFile, wanted: Wanted, *, parse: bool = False) -> Iterator[Any]:
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
    readers = {name: _Reader(design, wanted.forms.get(name, "codes"), parse) for name, design in wanted.designs.items()}
    pa = arrow()
    for batch in file.batches(wanted.columns):
        columns = []
        for name in wanted.columns:
            column = batch.column(name)
            if name in readers:
                column = readers[name].read(column)
            elif file.kind == "csv":
                column = _numbers(column) if name == wanted.weights else _plain(column)
            columns.append(column)
        yield pa.RecordBatch.from_arrays(columns, names=wanted.columns)


class _Reader:
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


def _numbers(column: Any) -> Any:
    """Return weights written as text, NaN where a text is none, which is counted as unfit."""
    pa = arrow()
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        pass
    return pa.array([_number(text) for text in column.to_pylist()], pa.float64())


def _number(text: str | None) -> float:
    try:
        return float("nan" if text is None else text)
    except ValueError:
        return float("nan")


def _plain(column: Any) -> Any:
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
