"""The first pass over a large table: draw the subsets of each unit of rows into a file, for `shuffling`.

If only a few kinds of rows are possible, rows are counted, because counts have no order. Otherwise each row is dealt to
a random bucket.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict, field, frozen

from subsetprivacy._types import AnyArray, IntArray, RandomSource
from subsetprivacy.engines.buffers import from_numpy, to_numpy
from subsetprivacy.frames.duplicate_ids import digests, write_digests
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.packing import Packing
from subsetprivacy.frames.refused_rows import RefusedRows
from subsetprivacy.frames.staging import Stage
from subsetprivacy.frames.table_reader import Unit
from subsetprivacy.mechanism.randomness import random_source, seeded_source

if TYPE_CHECKING:
    import pyarrow as pa


@frozen
class DrawingJob:
    """The settings of a run, for every process.

    Attributes
    ----------
    buckets
        The number of buckets, unless rows are counted; 0 keeps their order.
    seed
        For experiments; None draws securely.
    """

    kernel: Kernel
    packing: Packing
    stage: Stage
    buckets: int
    seed: int | None = field(default=None, repr=False)

    @property
    def counts(self) -> bool:
        """Whether rows are counted instead of dealt."""
        return self.buckets > 0 and self.packing.is_countable

    def unit_file(self, name: str) -> "UnitFile":
        """Return the output file of a unit."""
        path = self.stage.unit(name)
        return TallyFile(path, self.packing) if self.counts else UnitFile(path, self.packing, self.buckets)

    def rng(self, *place: int) -> RandomSource:
        """Return the random source of one piece of work; with a seed, it does not depend on the process."""
        return random_source() if self.seed is None else seeded_source(self.seed, *place)


@frozen
class DrawnUnit:
    """A unit whose rows were drawn or refused."""

    name: str = ""  # of its files
    rows: int = 0
    reports: int = 0
    refused: tuple[RefusedRows, ...] = ()

    @classmethod
    def of(cls, note: dict[str, Any]) -> "DrawnUnit":
        """Restore it from plain data."""
        return cls(note["name"], note["rows"], note["reports"])


def draw_unit(number: int, unit: Unit, job: DrawingJob) -> DrawnUnit:
    """Draw the subsets of a unit into the stage; if rows are refused, return them and write nothing."""
    rng, name = job.rng(0, number), job.stage.name(number)
    refused: list[RefusedRows] = []
    id_digests: list[AnyArray] = []
    rows = reports = 0
    with job.unit_file(name) as unit_file:
        for batch in unit.batches():
            drawn = job.kernel.draw(batch, rng)
            refused += [each.moved(unit.first + rows) for each in drawn.refused]
            if drawn.ids is not None and job.kernel.key is not None:
                id_digests.append(digests(drawn.ids, job.kernel.key))
            if not refused:
                unit_file.add(job.packing.pack(drawn.codes, job.kernel.kept(batch), job.kernel.keep), rng)
            rows, reports = rows + batch.num_rows, reports + drawn.reports
    if refused:
        return DrawnUnit(name, rows, refused=tuple(refused))
    if job.kernel.key is not None:
        write_digests(job.stage.ids(name), id_digests)
    done = DrawnUnit(name, rows, reports)
    job.stage.finish(number, {field: value for field, value in asdict(done).items() if field != "refused"})
    return done


def draw_dummies(number: int, blocks: Iterator[IntArray], job: DrawingJob) -> DrawnUnit:
    """Write the dummy rows of a covered design to a file."""
    rng, name = job.rng(1), job.stage.name(number)
    rows = 0
    with job.unit_file(name) as unit_file:
        for codes in blocks:
            unit_file.add(job.packing.pack([codes], [], []), rng)
            rows += len(codes)
    return DrawnUnit(name, rows)


# The files of units -------------------------------------------------------------------------------


class UnitFile:
    """The file of a unit, with one record batch per bucket for each batch; it is complete or does not exist."""

    def __init__(self, path: Path, packing: Packing, buckets: int) -> None:
        self._path, self._packing, self._buckets = path, packing, buckets
        self._writer: Any = None

    def __enter__(self) -> "UnitFile":
        return self

    def add(self, batch: "pa.RecordBatch", rng: RandomSource) -> None:
        """Deal the rows of a batch to buckets."""
        for part in self._packing.into_buckets(batch, self._buckets or 1, rng):
            self._write(part)

    def _write(self, batch: "pa.RecordBatch") -> None:
        import pyarrow as pa

        if self._writer is None:
            self._writer = pa.ipc.new_file(str(self._unfinished), batch.schema)
        self._writer.write_batch(batch)

    @property
    def _unfinished(self) -> Path:
        return self._path.with_suffix(".tmp")

    def _end(self) -> None:
        """Write the rest."""

    def __exit__(self, error: Any, *_: Any) -> None:
        try:
            if error is None:
                self._end()
        finally:
            if self._writer is not None:
                self._writer.close()
        if error is None and self._writer is not None:
            os.replace(self._unfinished, self._path)


class TallyFile(UnitFile):
    """The file of a unit whose rows are counted: the distinct rows and their counts."""

    def __init__(self, path: Path, packing: Packing) -> None:
        super().__init__(path, packing, 1)
        self._counts = packing.no_counts()

    def add(self, batch: "pa.RecordBatch", rng: RandomSource) -> None:
        """Count the rows of a batch."""
        self._packing.tally(batch, self._counts)

    def _end(self) -> None:
        import pyarrow as pa

        words = np.flatnonzero(self._counts)
        columns = [from_numpy(words), from_numpy(self._counts[words])]
        self._write(pa.RecordBatch.from_arrays(columns, names=["word", "count"]))


def read_tally(path: Path, counts: IntArray) -> None:
    """Add the counts of a `TallyFile`."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as mapped:
        rows = pa.ipc.open_file(mapped).read_all()
        counts[to_numpy(rows.column(0))] += to_numpy(rows.column(1))
