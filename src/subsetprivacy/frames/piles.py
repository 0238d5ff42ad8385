"""What becomes of a unit's subsets on the disk, between the two passes of a long run."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy._types import IntArray, RandomSource
from subsetprivacy.engines.buffers import from_numpy, to_numpy
from subsetprivacy.frames.packing import Packing

if TYPE_CHECKING:
    import pyarrow as pa


class Pile:
    """The file of a unit: for each batch a record batch per heap, or the batch as it is; whole or not there."""

    def __init__(self, path: Path, packing: Packing, heaps: int) -> None:
        self._path, self._packing, self._heaps = path, packing, heaps
        self._writer: Any = None

    def __enter__(self) -> "Pile":
        return self

    def add(self, batch: "pa.RecordBatch", source: RandomSource) -> None:
        """Deal the rows of a batch out."""
        for part in self._packing.dealt(batch, self._heaps or 1, source):
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
        """Write what is left to write."""

    def __exit__(self, error: Any, *_: Any) -> None:
        try:
            if error is None:
                self._end()
        finally:
            if self._writer is not None:
                self._writer.close()
        if error is None and self._writer is not None:
            os.replace(self._unfinished, self._path)


class Tally(Pile):
    """The file of a unit whose rows are counted: which there are, and how many of each."""

    def __init__(self, path: Path, packing: Packing) -> None:
        super().__init__(path, packing, 1)
        self._counts = packing.no_counts()

    def add(self, batch: "pa.RecordBatch", source: RandomSource) -> None:
        """Count the rows of a batch."""
        self._packing.tally(batch, self._counts)

    def _end(self) -> None:
        import pyarrow as pa

        found = np.flatnonzero(self._counts)
        columns = [from_numpy(found), from_numpy(self._counts[found])]
        self._write(pa.RecordBatch.from_arrays(columns, names=["word", "count"]))


def read_tally(path: Path, counts: IntArray) -> None:
    """Add what a `Tally` has counted."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as held:
        rows = pa.ipc.open_file(held).read_all()
        counts[to_numpy(rows.column(0))] += to_numpy(rows.column(1))
