"""What a worker of a cluster does for a regression: add up what a kernel makes of the people in its part of a table.

A worker has this package, NumPy, SciPy and PyArrow; pandas and formulaic, too, where a term of the formula is more than
a column.
"""

import io
import pickle
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from subsetprivacy.errors import DataFileError, SubsetPrivacyError
from subsetprivacy.frames.worker import marked

if TYPE_CHECKING:
    import pyarrow as pa

    from subsetprivacy.frames.encoded_stream import EncodedBatch
    from subsetprivacy.frames.encoder import Encoder
    from subsetprivacy.frames.streamed_blocks import BlockMaker
    from subsetprivacy.regression.blocks import Block, Kernel

SUMS = ("number", "sums")  # the columns of what a part returns: its number, and the arrays


@frozen(eq=False)
class RowReader:
    """How batches of a table become model matrix, codes, weights and offset.

    Attributes
    ----------
    encoder
        What makes the matrix.
    maker
        What makes blocks of it.
    names
        The columns of a batch, in order; the first is the response.
    weights, offset
        Which of them are weights and offset, or None.
    """

    encoder: "Encoder"
    maker: "BlockMaker"
    names: tuple[str, ...]
    weights: str | None = None
    offset: str | None = None

    def read(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["EncodedBatch"]:
        """Yield the rows, encoded."""
        from subsetprivacy.frames.covariates import Covariates, covariate_column
        from subsetprivacy.frames.encoded_stream import EncodedBatch
        from subsetprivacy.frames.file_covariates import resized

        full = (batch for batch in batches if batch.num_rows)
        for batch in resized(full, self.encoder.rows_at_once):
            held = dict(zip(self.names, batch.columns, strict=True))
            columns = {name: covariate_column(held[name], name) for name in self.encoder.variables}
            X = self.encoder.encode(Covariates(columns, batch.num_rows, ordered=False))
            codes = codes_of_cells(batch.column(0), self.maker.design)
            yield EncodedBatch(X, codes, _numbers(held, self.weights), _numbers(held, self.offset))

    def blocks(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["Block"]:
        """Yield the people who say something, in blocks."""
        for batch in self.read(batches):
            yield from self.maker.blocks(batch)


@frozen(eq=False)
class SumTask:
    """A task for workers: what a kernel makes of all blocks of a part, added up, or the largest of it.

    Attributes
    ----------
    largest
        Whether the largest is asked for, not the sum.
    """

    reader: RowReader
    kernel: "Kernel"
    largest: bool = False

    def part(self, batches: Iterable["pa.RecordBatch"]) -> tuple[Any, ...]:
        """Return the sums of a part; nothing where it has no people."""
        from subsetprivacy.regression.blocks import largest, summed

        made = (self.kernel(block) for block in self.reader.blocks(batches))
        first = next(made, None)
        if first is None:
            return ()
        return (largest if self.largest else summed)(_with_first(first, made))


@frozen(eq=False)
class SpreadTask:
    """A task for workers: every so manieth person of a part, as the arrays of a block."""

    reader: RowReader
    step: int

    def part(self, batches: Iterable["pa.RecordBatch"]) -> tuple[Any, ...]:
        """Return covariates, rows of subsets, weights and offset; without the last two where there are none."""
        from subsetprivacy.frames.streamed_blocks import joined

        parts, passed = [], 0
        for batch in self.reader.read(batches):
            people = self.reader.maker.people(batch)
            parts.append(self.reader.maker.block(people, slice(-passed % self.step, None, self.step)))
            passed += len(people.codes)
        if not parts:
            return ()
        whole = joined(parts)
        return tuple(each for each in (whole.X, whole.R, whole.weight, whole.offset) if each is not None)


def run_task(pickled: bytes, batches: Iterable["pa.RecordBatch"], number: int) -> Iterator["pa.RecordBatch"]:
    """Run a task on a part of a table, and yield one row: its number, and the arrays that were made.

    Raises
    ------
    SubsetPrivacyError
        What went wrong, marked, without any cell.
    """
    import pyarrow as pa

    try:
        task = pickle.loads(pickled)
        arrays = task.part(batches)
    except ImportError as error:
        missing = f"workers of Spark must have {error.name or 'all packages'} installed for this regression."
        told: Exception = marked(DataFileError(missing))
    except SubsetPrivacyError as error:
        told = marked(type(error)(f"part {number} of the table: {error.message}", error.advice))
    except Exception as error:  # whatever a library says may quote a cell
        told = RuntimeError(f"a worker could not add up its rows ({type(error).__name__}).")
    else:
        if arrays:
            yield pa.RecordBatch.from_pydict({SUMS[0]: [number], SUMS[1]: [packed(arrays)]})
        return
    raise told


def packed(arrays: Iterable[Any]) -> bytes:
    """Return arrays as bytes."""
    held = io.BytesIO()
    np.savez(held, *arrays)
    return held.getvalue()


def unpacked(content: bytes) -> tuple[Any, ...]:
    """Return the arrays that `packed` wrote."""
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        return tuple(held[name] for name in held.files)


def codes_of_cells(cells: Any, design: Any) -> Any:
    """Return the codes of cells that were checked already; a missing one is the full set."""
    import pyarrow as pa

    if pa.types.is_integer(cells.type):
        return cells.cast(pa.int64()).fill_null(design.missing_code).to_numpy(zero_copy_only=False)
    from subsetprivacy.counting.columns import read_column

    return read_column(cells, design, missing="full")[0]


def _numbers(held: dict[str, Any], name: str | None) -> Any:
    if name is None:
        return None
    from subsetprivacy.frames.covariates import arrow_numbers

    return np.asarray(arrow_numbers(held[name]), np.float64)


def _with_first(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
