"""The second pass of a long run: the subsets, heap after heap, each evenly shuffled.

A heap for every row, chosen evenly and by itself, and an even shuffle of every
heap together are an even shuffle of all rows, and no more than a few heaps are
ever in memory.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from subsetprivacy._types import IntArray
from subsetprivacy.frames.drawing import Came, Job
from subsetprivacy.frames.piles import read_tally
from subsetprivacy.mechanism.shuffle import dealt_counts, random_seed

if TYPE_CHECKING:
    import pyarrow as pa

COUNTED_ROWS = 1 << 21  # of a heap of rows that were counted: dealing is for every kind of row, so heaps are large
_TOGETHER = 4  # so many heaps are a piece of work for a process: most of the dealing is its own


class Heap(Protocol):
    """Rows to be written next."""

    @property
    def number(self) -> int:
        """Which heap it is."""
        ...

    def rows(self, job: Job) -> Iterator["pa.Table"]:
        """Return the rows in the order in which they are written, in tables that fit in memory."""
        ...


@frozen
class Kept:
    """The rows of a unit, in their order."""

    number: int
    unit: Came

    def rows(self, job: Job) -> Iterator["pa.Table"]:
        """Read them."""
        yield _read(job, [self.unit], slice(None))


@frozen
class Dealt:
    """The rows of all units that were dealt to a heap."""

    number: int
    units: Sequence[Came]

    def rows(self, job: Job) -> Iterator["pa.Table"]:
        """Read them and shuffle them."""
        rows = _read(job, self.units, slice(self.number, None, job.heaps))
        yield job.packing.shuffled(rows, job.source(2, self.number))


@frozen
class Counted:
    """Some heaps of rows of which only the counts were left."""

    number: int
    heaps: int
    counts: IntArray = field(repr=False, eq=False)

    def rows(self, job: Job) -> Iterator["pa.Table"]:
        """Deal the rows to the heaps, lay them out and shuffle them."""
        source = job.source(2, self.number)
        for counts in dealt_counts(self.counts, self.heaps, random_seed(source)):
            yield job.packing.laid_out(counts, source)


def heaps(drawn: Sequence[Came], job: Job) -> Iterator[Heap]:
    """Return all heaps, in the order in which they are written."""
    filled = [came for came in drawn if came.rows]
    if not filled:
        return
    if job.counts:
        yield from _counted(filled, job)
    elif job.heaps:
        yield from (Dealt(number, filled) for number in range(job.heaps))
    else:
        yield from (Kept(number, came) for number, came in enumerate(filled))


def _counted(units: Sequence[Came], job: Job) -> Iterator[Counted]:
    counts = job.packing.no_counts()
    for came in units:
        read_tally(job.stage.unit(came.name), counts)
    total = enough_heaps(int(counts.sum()))
    together = min(total, _TOGETHER)
    for number, part in enumerate(dealt_counts(counts, total // together, random_seed(job.source(3)))):
        yield Counted(number, together, part)


def enough_heaps(rows: int) -> int:
    """Return how many heaps keep each one of counted rows small, a power of two."""
    return 1 << max(-(-rows // COUNTED_ROWS) - 1, 0).bit_length()


def _read(job: Job, units: Sequence[Came], chosen: slice) -> "pa.Table":
    """Read some of the record batches of every unit."""
    import pyarrow as pa

    parts = []
    for came in units:
        with pa.memory_map(str(job.stage.unit(came.name))) as held:
            file = pa.ipc.open_file(held)
            parts += [file.get_batch(j) for j in range(file.num_record_batches)[chosen]]
    return pa.Table.from_batches(parts)


def hand_over(heap: Heap, job: Job) -> Path:
    """Write the shuffled rows of a heap where another process finds them."""
    import pyarrow as pa

    path, writer = job.stage.bucket(heap.number), None
    for rows in heap.rows(job):
        writer = writer or pa.ipc.new_file(str(path), rows.schema)
        writer.write_table(rows.combine_chunks())
    if writer is not None:
        writer.close()
    return path


def taken_over(path: Path) -> Iterator["pa.Table"]:
    """Read what was handed over, and remove it."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as held:
        file = pa.ipc.open_file(held)
        for k in range(file.num_record_batches):
            yield pa.Table.from_batches([file.get_batch(k)])
    path.unlink()
