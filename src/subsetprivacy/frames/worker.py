"""Tasks of cluster workers: draw a partition, and report refused rows without showing them.

A worker has only this package, NumPy and PyArrow. Its errors travel as text through other programs and into their logs.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from subsetprivacy import errors
from subsetprivacy._types import IntArray
from subsetprivacy.engines.buffers import to_numpy
from subsetprivacy.frames.kernel import DrawnBatch, Kernel
from subsetprivacy.frames.packing import Packing
from subsetprivacy.frames.refused_rows import RefusedRows, refuse
from subsetprivacy.frames.shuffling import COUNTED_ROWS, enough_buckets
from subsetprivacy.mechanism.randomness import SecureSource
from subsetprivacy.mechanism.shuffle import bucket_counts
from subsetprivacy.messages import Hint

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 18  # of a batch for an engine
SHARE_ROWS = 1 << 22  # per task that lays out rows
_MOST_SHARES = 256
_COUNTS = "<u4"  # counts of one kind of row in a share: enough for 10^12 rows
_PART_BITS = 40  # bits for row numbers within a partition, below the partition number
_MARKED = re.compile(r"<subset-privacy (\w+)>(.*?)<advice>([^<]*)</subset-privacy>", re.DOTALL)


@frozen
class DrawTask:
    """A task for workers: draw a partition.

    Attributes
    ----------
    key
        The name of a column to add, by which the written rows are sorted: random 64-bit words, or ascending numbers
        if `in_order`. None adds none.
    reports
        The name of a column to add whose sum is the number of rows with a value, for a covered design. None adds none.
    """

    kernel: Kernel
    key: str | None = None
    reports: str | None = None
    in_order: bool = False

    def part(self, batches: Iterable["pa.RecordBatch"], number: int) -> Iterator["pa.RecordBatch"]:
        """Draw a partition; raise at its end if rows are refused."""
        refused: list[RefusedRows] = []
        yield from self.rows(batches, number, refused)
        if refused:
            raise _refusal(refused, f"part {number} of the table")

    def rows(
        self, batches: Iterable["pa.RecordBatch"], number: int, refused: list[RefusedRows]
    ) -> Iterator["pa.RecordBatch"]:
        """Draw a partition and collect refused rows; after the first one, rows are only checked."""
        rows = 0
        for batch in batches:
            if batch.num_rows:
                drawn = _drawn(self.kernel, batch)
                refused += [each.moved(rows) for each in drawn.refused]
                if not refused:
                    yield self._made(drawn, batch, (number << _PART_BITS) + rows)
                rows += batch.num_rows

    def _made(self, drawn: DrawnBatch, batch: "pa.RecordBatch", first: int) -> "pa.RecordBatch":
        import pyarrow as pa

        columns: dict[str, Any] = {
            name: pa.array(codes.astype(np.int64, copy=False))
            for name, codes in zip(self.kernel.names, drawn.codes, strict=True)
        }
        columns |= {name: batch.column(name) for name in self.kernel.keep}
        if self.key is not None:
            columns[self.key] = pa.array(
                np.arange(first, first + batch.num_rows) if self.in_order else random_words(batch.num_rows)
            )
        if self.reports is not None:
            columns[self.reports] = pa.array(_in_first_row(drawn.reports, batch.num_rows))
        return pa.RecordBatch.from_pydict(columns)


@frozen
class DrawDummiesTask:
    """A task for workers: draw dummy rows of a realized covered design, by their numbers."""

    kernel: Kernel
    design: Any
    key: str | None = None

    @property
    def reports(self) -> None:
        """None, because dummy rows have no values."""

    def part(self, batches: Iterable["pa.RecordBatch"], number: int) -> Iterator["pa.RecordBatch"]:
        """Draw the rows whose numbers are in the first column."""
        import pyarrow as pa

        rng, draw = SecureSource(), self.design.base.draw_any
        for batch in batches:
            if batch.num_rows:
                category = batch.column(0).to_numpy(zero_copy_only=False) // self.design.dummies
                codes = self.design.join(draw(batch.num_rows, rng), category)
                columns = {self.kernel.names[0]: pa.array(codes)}
                if self.key is not None:
                    columns[self.key] = pa.array(random_words(batch.num_rows))
                yield pa.RecordBatch.from_pydict(columns)


COUNTED = ("word", "count")  # the columns of the output of `CountTask`, before the column of reports


@frozen
class CountTask:
    """A task for workers: count the rows drawn by another task, if they are countable.

    Only the counts are written, and they have no order.
    """

    drawing: DrawTask | DrawDummiesTask
    packing: Packing

    @property
    def kernel(self) -> Kernel:
        """The kernel of the drawing task."""
        return self.drawing.kernel

    @property
    def reports(self) -> str | None:
        """As in `DrawTask`."""
        return self.drawing.reports

    def part(self, batches: Iterable["pa.RecordBatch"], number: int) -> Iterator["pa.RecordBatch"]:
        """Draw and count a partition; raise at its end if rows are refused."""
        return self._counted(self.drawing.part(batches, number))

    def rows(
        self, batches: Iterable["pa.RecordBatch"], number: int, refused: list[RefusedRows]
    ) -> Iterator["pa.RecordBatch"]:
        """Draw and count a partition, like `DrawTask.rows`."""
        assert isinstance(self.drawing, DrawTask)
        return self._counted(self.drawing.rows(batches, number, refused))

    def _counted(self, drawn: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield one batch of counts, or none."""
        import pyarrow as pa

        counts, reports = self.packing.no_counts(), 0
        for batch in drawn:
            codes = [to_numpy(batch.column(name)) for name in self.packing.designs]
            self.packing.tally(self.packing.pack(codes, [], []), counts)
            reports += 0 if self.reports is None else int(to_numpy(batch.column(self.reports)).sum())
        words = np.flatnonzero(counts)
        if words.size:
            columns = dict(zip(COUNTED, (words, counts[words]), strict=True))
            if self.reports is not None:
                columns[self.reports] = _in_first_row(reports, words.size)
            yield pa.RecordBatch.from_pydict({name: pa.array(each) for name, each in columns.items()})


@frozen
class LayOutTask:
    """A task for workers: lay out counted rows in random order."""

    packing: Packing

    def part(self, batches: Iterable["pa.RecordBatch"], number: int) -> Iterator["pa.RecordBatch"]:
        """Lay out the rows whose counts are in the first column, as written by `shares_of_work`."""
        import pyarrow as pa

        rng = SecureSource()
        for batch in batches:
            for content in batch.column(0).to_pylist():
                counts = np.frombuffer(content, _COUNTS).astype(np.int64)
                for bucket in bucket_counts(counts, enough_buckets(counts, COUNTED_ROWS), rng):
                    rows = self.packing.unpack(self.packing.laid_out(bucket, rng))
                    codes = [rows.column(name).cast(pa.int64()) for name in rows.column_names]
                    yield from pa.table(codes, names=rows.column_names).to_batches(max_chunksize=_ROWS)


def shares_of_work(counts: IntArray) -> list[bytes]:
    """Deal counted rows to tasks, and return the counts of each."""
    shares = min(enough_buckets(counts, SHARE_ROWS), _MOST_SHARES)
    return [part.astype(_COUNTS).tobytes() for part in bucket_counts(counts, shares, SecureSource())]


@frozen
class WorkerTasks:
    """The tasks that draw a table: as rows, or as counts.

    Attributes
    ----------
    packing
        The representation of rows.
    counts
        Whether rows are counted: there are few kinds, and their order is not kept.
    key, reports
        The added columns, as in `DrawTask`.
    """

    kernel: Kernel
    packing: Packing
    counts: bool
    key: str | None
    reports: str | None

    @classmethod
    def of(cls, kernel: Kernel, *, keep_order: bool) -> "WorkerTasks":
        """Choose the tasks for a table."""
        packing, (key, reports) = Packing.of(kernel.designs, kernel.keep), free_names(kernel)
        counts = packing.is_countable and not keep_order
        return cls(kernel, packing, counts, None if counts else key, reports if kernel.covered is not None else None)

    def draw(self, *, in_order: bool = False) -> DrawTask | CountTask:
        """Return the task that draws the rows."""
        return self._counted(DrawTask(self.kernel, self.key, self.reports, in_order))

    def draw_dummies(self, design: Any) -> DrawDummiesTask | CountTask:
        """Return the task that draws the dummy rows of a realized covered design."""
        return self._counted(DrawDummiesTask(self.kernel, design, self.key))

    def _counted(self, task: Any) -> Any:
        return CountTask(task, self.packing) if self.counts else task


def free_names(kernel: Kernel) -> tuple[str, str]:
    """Return two unused names for temporary columns, ignoring case."""
    taken = {name.lower() for name in (*kernel.names, *kernel.keep)}
    free = (name for k in range(len(taken) + 2) if (name := f"_added_{k}") not in taken)
    return next(free), next(free)


def _in_first_row(number: int, rows: int) -> IntArray:
    """Return a column with this sum."""
    column = np.zeros(rows, dtype=np.int64)
    column[0] = number
    return column


def random_words(n: int) -> IntArray:
    """Return n words of 64 bits from the cryptographic source, as signed numbers."""
    return SecureSource().bits(n, 64).view(np.int64)


def _drawn(kernel: Kernel, batch: "pa.RecordBatch") -> DrawnBatch:
    try:
        return kernel.draw(batch)
    except errors.SubsetPrivacyError as error:
        failure: Exception = encoded_error(error)
    except Exception as error:  # messages of libraries may quote a cell
        failure = RuntimeError(f"a worker could not draw its rows ({type(error).__name__}).")
    raise failure


def _refusal(refused: list[RefusedRows], where: str) -> Exception:
    try:
        refuse(refused, where)
    except errors.SubsetPrivacyError as error:
        return encoded_error(error)
    raise AssertionError("nothing was refused")


def encoded_error(error: errors.SubsetPrivacyError) -> Exception:
    """Return an error whose text contains kind, message and advice, for `decoded_error` to restore."""
    kind, advice = type(error), error.advice
    # As JSON without <, which would end the mark.
    text = "" if advice is None else json.dumps(advice.to_dict()).replace("<", "\\u003c")
    return kind(f"<subset-privacy {kind.__name__}>{error.message}<advice>{text}</subset-privacy>")


def decoded_error(text: str) -> errors.SubsetPrivacyError | None:
    """Restore the error of a worker from the message of an engine."""
    match = _MARKED.search(text)
    kind = getattr(errors, match[1], None) if match else None
    if match is None or kind is None:
        return None
    error: errors.SubsetPrivacyError = kind(match[2], Hint.from_dict(json.loads(match[3])) if match[3] else None)
    return error
