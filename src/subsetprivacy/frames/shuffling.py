"""The second pass over a large table: shuffle and write one bucket after the other.

An independent uniform bucket for every row, followed by a uniform shuffle of each bucket, is a uniform shuffle of all
rows. Only a few buckets are in memory at a time.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from subsetprivacy._types import IntArray
from subsetprivacy.frames.drawing import DrawingJob, DrawnUnit, read_tally
from subsetprivacy.mechanism.shuffle import bucket_counts

if TYPE_CHECKING:
    import pyarrow as pa

COUNTED_ROWS = 1 << 20  # of a bucket of counted rows


class Bucket(Protocol):
    """Rows to write next."""

    @property
    def number(self) -> int:
        """The number of the bucket."""
        ...

    def rows(self, job: DrawingJob) -> "pa.Table":
        """Return the rows in output order."""
        ...


@frozen
class OrderedBucket:
    """The rows of a unit, in their order."""

    number: int
    unit: DrawnUnit

    def rows(self, job: DrawingJob) -> "pa.Table":
        """Read them."""
        return _read(job, [self.unit], slice(None))


@frozen
class DealtBucket:
    """The rows of all units in a bucket."""

    number: int
    units: Sequence[DrawnUnit]

    def rows(self, job: DrawingJob) -> "pa.Table":
        """Read them and shuffle them."""
        rows = _read(job, self.units, slice(self.number, None, job.buckets))
        return job.packing.shuffled(rows, job.rng(2, self.number))


@frozen
class CountedBucket:
    """A bucket of counted rows."""

    number: int
    counts: IntArray = field(repr=False, eq=False)

    def rows(self, job: DrawingJob) -> "pa.Table":
        """Lay them out and shuffle them."""
        return job.packing.laid_out(self.counts, job.rng(2, self.number))


def buckets(drawn: Sequence[DrawnUnit], job: DrawingJob) -> Iterator[Bucket]:
    """Return all buckets, in output order."""
    filled = [unit for unit in drawn if unit.rows]
    if not filled:
        return
    if job.counts:
        yield from _counted(filled, job)
    elif job.buckets:
        yield from (DealtBucket(number, filled) for number in range(job.buckets))
    else:
        yield from (OrderedBucket(number, unit) for number, unit in enumerate(filled))


def _counted(units: Sequence[DrawnUnit], job: DrawingJob) -> Iterator[CountedBucket]:
    counts = job.packing.no_counts()
    for unit in units:
        read_tally(job.stage.unit(unit.name), counts)
    dealt = bucket_counts(counts, enough_buckets(counts, COUNTED_ROWS), job.rng(3))
    yield from (CountedBucket(number, part) for number, part in enumerate(dealt))


def enough_buckets(counts: IntArray, rows: int) -> int:
    """Return the number of buckets of about `rows` counted rows, a power of two."""
    return 1 << max(-(-int(counts.sum()) // rows) - 1, 0).bit_length()


def _read(job: DrawingJob, units: Sequence[DrawnUnit], chosen: slice) -> "pa.Table":
    """Read some of the record batches of every unit."""
    import pyarrow as pa

    parts = []
    for unit in units:
        with pa.memory_map(str(job.stage.unit(unit.name))) as mapped:
            file = pa.ipc.open_file(mapped)
            parts += [file.get_batch(j) for j in range(file.num_record_batches)[chosen]]
    return pa.Table.from_batches(parts)


def hand_over(bucket: Bucket, job: DrawingJob) -> Path:
    """Write the shuffled rows of a bucket to a file for another process."""
    import pyarrow as pa

    rows, path = bucket.rows(job), job.stage.bucket(bucket.number)
    with pa.ipc.new_file(str(path), rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    return path
