"""Tasks of cluster workers for a regression: sum a kernel over the people in a partition.

A worker has this package, NumPy, SciPy and PyArrow, and also pandas and formulaic if a term is not a plain column.
"""

import io
import pickle
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from subsetprivacy.errors import DataFileError, SubsetPrivacyError
from subsetprivacy.frames.worker import encoded_error

if TYPE_CHECKING:
    import pyarrow as pa

    from subsetprivacy.frames.encoded_stream import EncodedBatch
    from subsetprivacy.frames.encoder import Encoder
    from subsetprivacy.frames.streamed_blocks import BlockMaker
    from subsetprivacy.regression.blocks import Block, Kernel

SUMS = ("number", "sums")  # the columns of a partition's result: its number and the arrays


@frozen(eq=False)
class RowReader:
    """Reads model matrix, codes, weights and offset from batches of a table.

    Attributes
    ----------
    encoder
        The encoder of the matrix.
    maker
        The maker of blocks.
    names
        The columns of a batch, in order; the first is the response.
    weights, offset
        The columns of weights and offset, or None.
    """

    encoder: "Encoder"
    maker: "BlockMaker"
    names: tuple[str, ...]
    weights: str | None = None
    offset: str | None = None

    def read(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["EncodedBatch"]:
        """Yield encoded rows."""
        from subsetprivacy.frames.covariates import Covariates, covariate_column
        from subsetprivacy.frames.encoded_stream import EncodedBatch
        from subsetprivacy.frames.file_covariates import resized

        full = (batch for batch in batches if batch.num_rows)
        for batch in resized(full, self.encoder.rows_at_once):
            by_name = dict(zip(self.names, batch.columns, strict=True))
            columns = {name: covariate_column(by_name[name], name) for name in self.encoder.variables}
            X = self.encoder.encode(Covariates(columns, batch.num_rows, ordered=False))
            codes = codes_of_cells(batch.column(0), self.maker.design)
            yield EncodedBatch(X, codes, _numbers(by_name, self.weights), _numbers(by_name, self.offset))

    def blocks(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["Block"]:
        """Yield the informative people in blocks."""
        for batch in self.read(batches):
            yield from self.maker.blocks(batch)


@frozen(eq=False)
class SumTask:
    """A task for workers: the sum, or the maximum, of a kernel over all blocks of a partition.

    Attributes
    ----------
    largest
        Whether to take the maximum instead of the sum.
    """

    reader: RowReader
    kernel: "Kernel"
    largest: bool = False

    def part(self, batches: Iterable["pa.RecordBatch"]) -> tuple[Any, ...]:
        """Return the sums of a partition, or nothing if it has no people."""
        from subsetprivacy.regression.blocks import largest, summed

        made = (self.kernel(block) for block in self.reader.blocks(batches))
        first = next(made, None)
        if first is None:
            return ()
        return (largest if self.largest else summed)(_with_first(first, made))


@frozen(eq=False)
class SpreadTask:
    """A task for workers: every `step`-th person of a partition, as the arrays of a block."""

    reader: RowReader
    step: int

    def part(self, batches: Iterable["pa.RecordBatch"]) -> tuple[Any, ...]:
        """Return covariates, rows of subsets, and weights and offset if there are any."""
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
    """Run a task on a partition, and yield one row with its number and the resulting arrays.

    Raises
    ------
    SubsetPrivacyError
        The error, marked for `decoded_error`, without any cell.
    """
    import pyarrow as pa

    try:
        task = pickle.loads(pickled)
        arrays = task.part(batches)
    except ImportError as error:
        missing = f"workers of Spark must have {error.name or 'all packages'} installed for this regression."
        failure: Exception = encoded_error(DataFileError(missing))
    except SubsetPrivacyError as error:
        failure = encoded_error(type(error)(f"part {number} of the table: {error.message}", error.advice))
    except Exception as error:  # messages of libraries may quote a cell
        failure = RuntimeError(f"a worker could not add up its rows ({type(error).__name__}).")
    else:
        if arrays:
            yield pa.RecordBatch.from_pydict({SUMS[0]: [number], SUMS[1]: [packed(arrays)]})
        return
    raise failure


def packed(arrays: Iterable[Any]) -> bytes:
    """Serialize arrays to bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, *arrays)
    return buffer.getvalue()


def unpacked(content: bytes) -> tuple[Any, ...]:
    """Restore the arrays from `packed`."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return tuple(arrays[name] for name in arrays.files)


def codes_of_cells(cells: Any, design: Any) -> Any:
    """Return the codes of checked cells; a missing cell is the full set."""
    import pyarrow as pa

    if pa.types.is_integer(cells.type):
        return cells.cast(pa.int64()).fill_null(design.missing_code).to_numpy(zero_copy_only=False)
    from subsetprivacy.counting.columns import read_column

    return read_column(cells, design, missing="full")[0]


def _numbers(columns: dict[str, Any], name: str | None) -> Any:
    if name is None:
        return None
    from subsetprivacy.frames.covariates import arrow_numbers

    return np.asarray(arrow_numbers(columns[name]), np.float64)


def _with_first(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
