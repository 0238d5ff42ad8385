"""Streamed people in blocks: a fit's sums are added up in batches."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.frames.encoded_stream import EncodedBatch, EncodedStream
from subsetprivacy.regression.blocks import BLOCK, Block, Kernel, Sums, largest, summed

Progress: TypeAlias = Callable[[int, int | None], None]


@frozen(eq=False, repr=False)
class BlockMaker:
    """Makes blocks of people from batches, without full sets and rows of weight 0.

    Attributes
    ----------
    design
        The design of the response.
    left_out
        The position of a matrix column to leave out: the intercept, for ordered categories. None keeps all.
    scale
        The factor of weights, so that sampling weights sum to the number of rows.
    """

    design: Design
    left_out: int | None = None
    scale: float = 1.0

    def people(self, batch: EncodedBatch) -> EncodedBatch:
        """Return the informative rows, with the columns and weights of the fit."""
        informative = ~self.design.is_missing(batch.codes)
        if batch.weights is not None:
            informative &= batch.weights > 0
        X = batch.X if self.left_out is None else np.delete(batch.X, self.left_out, axis=1)
        rows = slice(None) if informative.all() else informative
        weights = None if batch.weights is None else batch.weights[rows] * self.scale
        return EncodedBatch(X[rows], batch.codes[rows], weights, None if batch.offset is None else batch.offset[rows])

    def blocks(self, batch: EncodedBatch) -> Iterator[Block]:
        """Yield the informative rows in blocks."""
        people = self.people(batch)
        for start in range(0, len(people.codes), BLOCK):
            yield self.block(people, slice(start, start + BLOCK))

    def block(self, people: EncodedBatch, part: slice) -> Block:
        """Return some of the rows as a block."""
        weight = None if people.weights is None else people.weights[part]
        offset = None if people.offset is None else people.offset[part][None, :]
        return Block(people.X[part], rows_of(people.codes[part], self.design), weight, offset)


@frozen(eq=False, repr=False)
class Tally:
    """The counts of the responses, before a fit.

    Attributes
    ----------
    codes, amounts
        The distinct codes of informative subsets, and their weights in the fit.
    rows
        The number of informative rows.
    missing
        The number, or weight, of uninformative rows.
    scale
        The factor of weights.
    """

    codes: IntArray
    amounts: FloatArray
    rows: int
    missing: float
    scale: float = 1.0

    @classmethod
    def of(cls, counts: Any, rows: int, *, sampling: bool) -> "Tally":
        """Make it from the counts of the response and the number of informative rows."""
        scale = rows / counts.total if sampling and counts.total else 1.0
        return cls(counts.observed_codes, counts.n_a * scale, rows, float(counts.n_missing), scale)


class StreamedBlocks:
    """The people of streamed files; every sum reads the files once.

    Parameters
    ----------
    stream
        The rows.
    left_out
        As in `BlockMaker`.
    progress
        Called with the number of rows read so far by all sums, and None.

    Attributes
    ----------
    tally
        The counts of the responses.
    """

    def __init__(self, stream: EncodedStream, *, left_out: int | None = None, progress: Progress | None = None) -> None:
        self.stream, self._left_out, self._progress = stream, left_out, progress
        self._rows_read = 0
        rows = int(stream.counts.total) if stream.weights_kind is None else stream.informative_rows()
        self.tally = Tally.of(stream.counts, rows, sampling=stream.weights_kind == "sampling")
        self._maker = BlockMaker(stream.design, left_out, self.tally.scale)

    @property
    def d(self) -> int:
        """The number of covariates."""
        return len(self.stream.encoder.columns) - (self._left_out is not None)

    @property
    def design(self) -> Design:
        """The design."""
        return self.stream.design

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_progress": None}  # a callback is not pickled

    def _batches(self) -> Iterator[EncodedBatch]:
        for batch in self.stream:
            yield batch
            self._rows_read += len(batch.codes)
            if self._progress is not None:
                self._progress(self._rows_read, None)

    def blocks(self) -> Iterator[Block]:
        """Read the files, and yield people in blocks."""
        for batch in self._batches():
            yield from self._maker.blocks(batch)

    def total(self, kernel: Kernel) -> Sums:
        """Return the sums over all people."""
        return summed(kernel(block) for block in self.blocks())

    def most(self, kernel: Kernel) -> Sums:
        """Return the largest over all blocks."""
        return largest(kernel(block) for block in self.blocks())

    def some(self, n: int) -> Block:
        """Return about `n` people, evenly spread."""
        step = max(self.tally.rows // n, 1)
        parts, passed = [], 0
        for batch in self._batches():
            people = self._maker.people(batch)
            parts.append(self._maker.block(people, slice(-passed % step, None, step)))
            passed += len(people.codes)
        return joined(parts)


def joined(parts: list[Block]) -> Block:
    """Concatenate blocks."""

    def along(axis: int, arrays: list[Any]) -> Any:
        return None if arrays[0] is None else np.concatenate(arrays, axis=axis)

    return Block(
        along(0, [part.X for part in parts]),
        along(1, [part.R for part in parts]),
        along(0, [part.weight for part in parts]),
        along(1, [part.offset for part in parts]),
    )
