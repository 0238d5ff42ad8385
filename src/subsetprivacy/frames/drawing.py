"""The first pass of a long run: draw the subsets of a unit of rows and deal them out to random heaps.

The second pass shuffles each heap. A heap for every row, chosen evenly and by
itself, and an even shuffle of every heap together are an even shuffle of all
rows, and no more than a heap is ever in memory.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, field, frozen

from subsetprivacy._types import AnyArray, IntArray, RandomSource
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.packing import Packing
from subsetprivacy.frames.refused import Refused
from subsetprivacy.frames.repeated import digests, write_digests
from subsetprivacy.frames.sources import Unit
from subsetprivacy.frames.staging import Stage
from subsetprivacy.mechanism.randomness import random_source, seeded_source

if TYPE_CHECKING:
    import pyarrow as pa


@frozen
class Job:
    """What every process of a run has to know.

    Attributes
    ----------
    heaps
        How many heaps the rows are dealt to; 0 keeps their order.
    seed
        For experiments; None draws securely.
    """

    kernel: Kernel
    packing: Packing
    stage: Stage
    heaps: int
    seed: int | None = field(default=None, repr=False)

    def source(self, *place: int) -> RandomSource:
        """Return the random source of one piece of the work; by a seed it does not depend on who does it."""
        return random_source() if self.seed is None else seeded_source(self.seed, *place)


@frozen
class Came:
    """What came of a unit."""

    name: str = ""  # of its files
    rows: int = 0
    batches: int = 0
    reports: int = 0
    refused: tuple[Refused, ...] = ()

    @classmethod
    def of(cls, note: dict[str, Any]) -> "Came":
        """Read it back from plain data."""
        return cls(note["name"], note["rows"], note["batches"], note["reports"])


def draw_unit(number: int, unit: Unit, job: Job) -> Came:
    """Draw a unit's subsets into the stage; if rows are refused, nothing is written and they are returned."""
    source, name = job.source(0, number), job.stage.name(number)
    refused: list[Refused] = []
    found: list[AnyArray] = []
    rows = batches = reports = 0
    with Pile(job.stage.unit(name), job) as pile:
        for batch in unit.batches():
            drawn = job.kernel.draw(batch, source)
            refused += [each.moved(unit.first + rows) for each in drawn.refused]
            if drawn.ids is not None and job.kernel.key is not None:
                found.append(digests(drawn.ids, job.kernel.key))
            if not refused:
                pile.add(job.packing.pack(drawn.codes, job.kernel.kept(batch), job.kernel.keep), source)
            rows, batches, reports = rows + batch.num_rows, batches + 1, reports + drawn.reports
    if refused:
        return Came(name, rows, refused=tuple(refused))
    if job.kernel.key is not None:
        write_digests(job.stage.ids(name), found)
    came = Came(name, rows, batches, reports)
    job.stage.finish(number, {field: value for field, value in asdict(came).items() if field != "refused"})
    return came


def draw_dummies(number: int, blocks: Iterator[IntArray], job: Job) -> Came:
    """Deal a covered design's dummy rows out to the same heaps."""
    source, name = job.source(1), job.stage.name(number)
    rows = batches = 0
    with Pile(job.stage.unit(name), job) as pile:
        for codes in blocks:
            pile.add(job.packing.pack([codes], [], []), source)
            rows, batches = rows + len(codes), batches + 1
    return Came(name, rows, batches)


class Pile:
    """The file of a unit: for each batch a record batch per heap, or the batch as it is."""

    def __init__(self, path: Path, job: Job) -> None:
        self._path, self._job = path, job
        self._writer: Any = None

    def __enter__(self) -> "Pile":
        return self

    def add(self, batch: "pa.RecordBatch", source: RandomSource) -> None:
        """Deal the rows of a batch out."""
        import pyarrow as pa

        if self._writer is None:
            self._writer = pa.ipc.new_file(str(self._unfinished), batch.schema)
        for part in self._job.packing.dealt(batch, self._job.heaps or 1, source):
            self._writer.write_batch(part)

    @property
    def _unfinished(self) -> Path:
        return self._path.with_suffix(".tmp")

    def __exit__(self, error: Any, *_: Any) -> None:
        if self._writer is None:
            return
        self._writer.close()
        if error is None:
            os.replace(self._unfinished, self._path)


def heap(number: int, units: list[Came], job: Job) -> "pa.Table":
    """Return the rows of a heap, evenly shuffled; without heaps, the rows of a unit in their order."""
    import pyarrow as pa

    parts = []
    for came in units if job.heaps else units[number : number + 1]:
        if came.rows == 0:
            continue
        with pa.memory_map(str(job.stage.unit(came.name))) as held:
            file = pa.ipc.open_file(held)
            chosen = range(number, came.batches * job.heaps, job.heaps) if job.heaps else range(came.batches)
            parts += [file.get_batch(j) for j in chosen]
    rows = pa.Table.from_batches(parts)
    return job.packing.shuffled(rows, job.source(2, number)) if job.heaps else rows


def hand_over(number: int, units: list[Came], job: Job) -> Path:
    """Write a shuffled heap where another process finds it."""
    import pyarrow as pa

    rows = heap(number, units, job)
    with pa.ipc.new_file(str(job.stage.bucket(number)), rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    return job.stage.bucket(number)
