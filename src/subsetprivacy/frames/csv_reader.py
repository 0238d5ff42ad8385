"""`CsvFile`: stream the columns of a CSV file as text, in constant memory, without silent losses."""

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import StringIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Any, BinaryIO
from weakref import finalize

from attrs import frozen

from subsetprivacy._words import counted
from subsetprivacy.engines.headers import SAMPLE, judge_header, no_such_column
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.compression import RereadFile, is_compressed
from subsetprivacy.frames.file_errors import file_error, reading
from subsetprivacy.messages.for_files import SAVE_AS_UTF8
from subsetprivacy.tables import plain_header

BLOCK = 1 << 22
_SEPARATORS = (",", ";", "\t")
_FIRST_BYTES = 1 << 20
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_PATIENCE = 5.0  # seconds to wait for an Arrow thread, which takes milliseconds


@frozen
class Header:
    """The first line of a CSV file that is not blank."""

    separator: str
    names: tuple[str, ...]
    alone: bool  # there are no rows below it
    blank: int  # lines above it


@frozen
class Headers:
    """The header of a CSV file, split by each possible separator."""

    possible: tuple[Header, ...]

    def fitting(self, wanted: Iterable[str]) -> Header:
        """Return the header that has the wanted columns, or else the one with most columns."""
        asked = set(wanted)
        fits = [header for header in self.possible if asked <= set(header.names)] if asked else []
        return fits[0] if fits else max(self.possible, key=lambda header: len(header.names))


def csv_columns(path: str | Path, wanted: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the column names of a CSV file, with the separator that gives the wanted ones if possible.

    Raises
    ------
    DataFileError
        If there is no header, or it is not text.
    """
    with CsvFile(path) as file:
        return file.headers.fitting(wanted).names


def csv_batches(path: str | Path, columns: Sequence[str] | None = None, *, block: int = BLOCK) -> Iterator[Any]:
    """Stream columns of a CSV file as text; see `CsvFile.batches`."""
    with CsvFile(path) as file:
        yield from file.batches(columns, block=block)


def line_of(path: str | Path, row: int) -> int:
    """Return the line on which a row begins; rows are counted from 0, and the header is line 1."""
    with CsvFile(path) as file:
        return file.line_of(row)


class CsvFile:
    """A CSV file that is opened once; the header is read at once, and rows on request.

    Parameters
    ----------
    path
        A file that ends in ``.csv``, ``.csv.gz`` or ``.csv.zst``, in UTF-8 with a header. Cells are separated by
        commas, or by semicolons or tabs if only they give the wanted columns.

    Attributes
    ----------
    headers
        Its header, split by each separator.

    Raises
    ------
    DataFileError
        If it cannot be read, has no header, or is not text in UTF-8.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with reading(path):
            self._file = RereadFile(path)
        try:
            with reading(path), self._file.from_start() as raw:
                self._first = raw.read(_FIRST_BYTES)
            self.headers = _headers(path, self._first)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "CsvFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def guessed_rows(self) -> int:
        """Estimate the number of rows from the length of the first lines."""
        packed = 4 if is_compressed(self.path) else 1  # compression reduces text to about a quarter
        lines = max(self._first.count(b"\n") - 1, 1)  # without the header
        return int(packed * self._file.status().st_size * lines / max(len(self._first), 1))

    def batches(self, columns: Sequence[str] | None = None, *, block: int = BLOCK) -> Iterator[Any]:
        """Stream columns as text, from the first row on.

        Parameters
        ----------
        columns
            Their names, by default all.
        block
            The number of bytes to read at a time. No row may be longer.

        Yields
        ------
        pyarrow.RecordBatch
            Text columns in the requested order. Only an empty cell, quoted or not, is null. A blank line is skipped,
            but in a file with one column it is an empty cell.

        Raises
        ------
        DataFileError
            If a column is missing or repeated, a row has too many or too few cells, a quote is not closed, the text
            is not UTF-8, or the file cannot be read. Messages give the line, with the header as line 1.
        """
        with reading(self.path):
            header = self.headers.fitting(() if columns is None else columns)
            wanted = list(header.names if columns is None else columns)
            at = self.positions(wanted)
            if header.alone:
                self._check_rows(header, block)  # an open quote in the header swallows everything below it
            else:
                yield from self._batches(header, wanted, at, block)

    def _batches(self, header: Header, wanted: list[str], at: list[int], block: int) -> Iterator[Any]:
        import pyarrow as pa

        rows = 0
        with self._file.from_start() as raw, _lent_to_arrow(watched := _WatchedFile(raw)) as handle:
            try:
                for batch in _reader(handle.pop(), header, at, block):
                    rows += len(batch)
                    yield pa.RecordBatch.from_arrays([batch.column(str(k)) for k in at], names=wanted)
            except (pa.ArrowInvalid, UnicodeError) as error:
                message = str(error).lower()
            else:
                message = ""
        if message:
            self._explain(header, message, block)
        if watched.quotes and (watched.lines != rows + 1 + header.blank or _is_open(watched.tail, header.separator)):
            self._check_rows(header, block)

    def positions(self, columns: Sequence[str], labels: Collection[str] = ()) -> list[int]:
        """Return the positions of some columns in a row.

        Raises
        ------
        DataFileError
            If one is missing or repeated; see `no_such_column`.
        """
        names = self.headers.fitting(columns).names
        for name in columns:
            if name not in names:
                raise self.no_such_column(name, labels)
            if names.count(name) > 1:
                raise file_error(self.path, f"must have one column {name!r}; its header has {names.count(name)}")
        return [names.index(name) for name in columns]

    def no_such_column(self, name: str, labels: Collection[str] = ()) -> DataFileError:
        """Return the error for a missing column, with similar names unless they may be values.

        Parameters
        ----------
        name
            The column.
        labels
            Categories of the values. A header that contains one is a person's values, and is not shown.
        """
        header = self.headers.fitting(())
        verdict = judge_header(header.names, list(zip(*self._first_rows(header), strict=True)), labels)
        return DataFileError(*no_such_column(name, header.names, f"the file {str(self.path)!r}", verdict, csv=True))

    def _first_rows(self, header: Header) -> list[list[str]]:
        """Return some rows below the header that have the right number of cells, to judge the header."""
        text = self._first.decode("utf-8-sig", "replace").lstrip("\r\n")
        rows = csv.reader(StringIO(text, newline=""), delimiter=header.separator)
        first_rows: list[list[str]] = []
        with suppress(csv.Error):
            next(rows, None)
            first_rows.extend(row for row in islice(rows, SAMPLE) if len(row) == len(header.names))
        return first_rows

    # Where something is wrong ---------------------------------------------------------------------

    def line_of(self, row: int) -> int:
        """Return the line on which a row begins; rows are counted from 0, and the header is line 1."""
        with reading(self.path):
            records = self._records(self.headers.fitting(()), BLOCK)
            return next((line for line, _ in islice(records, row + 1, None)), row + 2)

    def _records(self, header: Header, limit: int) -> Iterator[tuple[int, int]]:
        """Yield the line and the number of cells of each row, starting with the header.

        Raises
        ------
        DataFileError
            At a row with broken quotes.
        """
        before = csv.field_size_limit(limit)
        begins = 1
        try:
            with TextIOWrapper(self._file.from_start(), "utf-8-sig", "surrogateescape", newline="") as lines:
                rows = csv.reader(lines, delimiter=header.separator, strict=True)
                for row in rows:
                    if row or (len(header.names) == 1 and begins > header.blank):
                        yield begins, len(row) or 1
                    begins = rows.line_num + 1
        except csv.Error:
            raise file_error(
                self.path, f"must close every quote; the one that opens in line {begins} is not closed correctly"
            ) from None
        finally:
            csv.field_size_limit(before)

    def _check_rows(self, header: Header, limit: int) -> None:
        """Raise if a quote is not closed, or some row has another number of cells than the header."""
        width, wrong, first = len(header.names), 0, 0
        for line, cells in self._records(header, limit):
            if cells != width:
                wrong, first = wrong + 1, first or line
        if wrong:
            raise file_error(
                self.path,
                f"must have {counted(width, 'cell')} in every row, as in its header; "
                f"{counted(wrong, 'row does', 'rows do')} not, first in line {first}",
            )

    def _explain(self, header: Header, message: str, block: int) -> None:
        """Raise the error behind a message of PyArrow, which quotes a row."""
        if "utf" in message:
            with self._file.from_start() as raw:
                for number, line in enumerate(raw, 1):
                    try:
                        line.decode("utf-8")
                    except UnicodeDecodeError:
                        raise file_error(
                            self.path, f"must be text in UTF-8; line {number} is not", SAVE_AS_UTF8
                        ) from None
        self._check_rows(header, block)
        if "straddl" in message:
            raise file_error(self.path, f"must have rows of at most {block} bytes; some row is longer")
        raise file_error(self.path, "must be a CSV file; it is not one, or it was cut off or altered")


def _headers(path: str | Path, first: bytes) -> Headers:
    """Parse the header from the first bytes of a file.

    Raises
    ------
    DataFileError
        If there is none, or it is not text in UTF-8.
    """
    whole = len(first) < _FIRST_BYTES
    if first.startswith(_WIDE_MARKS) or b"\x00" in first[:4096]:
        raise file_error(path, "must be text in UTF-8; it is in UTF-16, or not text", SAVE_AS_UTF8)
    read = first.decode("utf-8-sig", "surrogateescape")
    text = read.lstrip("\r\n")
    if not text:
        raise file_error(path, "must have a header and rows; it is empty")
    blank = len(read[: len(read) - len(text)].splitlines())
    return Headers(tuple(_split(path, text, separator, whole, blank) for separator in _SEPARATORS))


def _split(path: str | Path, text: str, separator: str, whole: bool, blank: int) -> Header:
    rows = csv.reader(StringIO(text, newline=""), delimiter=separator)
    cells, alone = [], False
    with suppress(csv.Error):  # a cell is too long for this reader; below the header it does not matter
        cells = next(rows)
        alone = whole and not any(row or len(cells) == 1 for row in rows)
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        raise file_error(path, "must be text in UTF-8; its header is not", SAVE_AS_UTF8) from None
    return Header(separator, tuple(plain_header(cell) for cell in cells), alone, blank)


def _is_open(line: bytes, separator: str) -> bool:
    """Return whether a quote is open at the end of a line."""
    try:
        return len(list(csv.reader([line.decode("latin-1") + "\n", "another"], delimiter=separator))) < 2
    except csv.Error:  # a cell is too long for this reader
        return True


def _reader(handle: Any, header: Header, at: list[int], block: int) -> Any:
    from pyarrow import csv as arrow_csv
    from pyarrow import string

    names = [str(k) for k in range(len(header.names))]  # not the names in the file, which may repeat
    return arrow_csv.open_csv(
        handle,
        arrow_csv.ReadOptions(
            use_threads=False, block_size=block, column_names=names, skip_rows_after_names=header.blank + 1
        ),
        arrow_csv.ParseOptions(delimiter=header.separator, newlines_in_values=True, ignore_empty_lines=len(names) > 1),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, string()),
            include_columns=[names[k] for k in dict.fromkeys(at)],
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=True,
        ),
    )


# A file as Arrow reads it: watched, and lent until Arrow has let go of it ------------------------


class _ArrowHandle:
    """The file object that Arrow reads; it is finalized when Arrow releases it."""

    closed = False

    def __init__(self, watched: "_WatchedFile") -> None:
        self.read = watched.read

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


@contextmanager
def _lent_to_arrow(watched: "_WatchedFile") -> Iterator[list[Any]]:
    """Lend a file to Arrow, in a list of one, and continue only after Arrow released it.

    Arrow reads ahead and releases the file in a separate thread. If Python exits before that thread has called back,
    the whole process is aborted.
    """
    import pyarrow as pa

    handle, let_go = _ArrowHandle(watched), Event()
    finalize(handle, let_go.set)
    lent = [pa.PythonFile(handle, mode="r")]
    del handle
    try:
        yield lent
    finally:
        lent.clear()
        let_go.wait(_PATIENCE)


class _WatchedFile:
    """A file that counts lines and quotes as they are read, and keeps its last line.

    A quote that is never closed silently swallows the rows below it. So the rows are checked again if there are fewer
    rows than lines, or if the last line does not close its quote.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._last = b"\n"
        self._ends = 0
        self.quotes: int = 0
        self.tail: bytes = b""

    @property
    def lines(self) -> int:
        """The number of lines read."""
        return self._ends + (self._last != b"\n")

    def read(self, size: int = -1) -> bytes:
        """Read some bytes, and count lines and quotes."""
        data = self._raw.read(size)
        self._ends += data.count(b"\n")
        self.quotes += data.count(b'"')
        filled = data.rstrip(b"\r\n")
        if filled:
            begins = filled.rfind(b"\n") + 1
            goes_on = not begins and self._last not in b"\r\n"
            self.tail = (self.tail if goes_on else b"") + filled[begins:]
        self._last = data[-1:] or self._last
        return data
