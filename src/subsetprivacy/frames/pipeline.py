"""Privatize a table of any size on one machine, in two passes and several processes.

The first pass draws the subsets of each unit of rows into a folder next to the output, counted or dealt to random
buckets (`drawing`). The second pass shuffles and writes one bucket after the other (`shuffling`). Memory contains only
a few units at a time. Values are never written.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.drawing import DrawingJob, DrawnUnit, draw_dummies, draw_unit
from subsetprivacy.frames.duplicate_ids import repeated_ids
from subsetprivacy.frames.file_errors import file_error_from
from subsetprivacy.frames.jobs import RunOptions
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.output import open_output
from subsetprivacy.frames.packing import MOST_BUCKETS, Packing
from subsetprivacy.frames.refused_rows import RefusedRows, refuse
from subsetprivacy.frames.release import Release
from subsetprivacy.frames.shuffling import buckets, hand_over
from subsetprivacy.frames.staging import staged
from subsetprivacy.frames.table_reader import TableReader, Unit
from subsetprivacy.messages.for_files import CONTINUE_BY_THE_SAME_CALL
from subsetprivacy.processes import process_pool

if TYPE_CHECKING:
    import pyarrow as pa

BUCKET_ROWS = 1 << 20  # fits in the processor's cache for sorting
_MANY = 64
Progress = Callable[[int, int | None], None]


def privatize_rows(
    reader: TableReader,
    kernel: Kernel,
    output: Path,
    options: RunOptions,
    facts: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Release:
    """Draw all rows of a table into a file.

    Parameters
    ----------
    reader, kernel, output, options
        The input, what to draw, the output and how; checked already.
    facts
        The identity of the job from `job_facts`, or None.
    progress
        Called with the number of finished rows and the total.

    Raises
    ------
    CategoryError
        If values are missing or no categories. The message gives the count and the first row. Nothing is written.
    DataFileError
        If a file cannot be read or written.
    """
    packing = Packing.of(kernel.designs, kernel.keep)
    dealt = 0 if options.keep_order else _buckets(reader)
    with (
        _described(output),
        staged(output, _stage(facts, packing, dealt)) as stage,
        open_output(output, kernel.designs, form=options.form, overwrite=options.overwrite) as target,
        process_pool(options.jobs - 1) as pool,
    ):
        job = DrawingJob(kernel, packing, stage, dealt, options.seed)
        meter = _Meter(reader, progress)
        drawn = _draw_all(reader, job, pool, options.jobs, meter)
        designs, dummies = kernel.dummies(sum(unit.reports for unit in drawn), job.rng(1, 1))
        if kernel.covered is not None:
            drawn.append(draw_dummies(len(drawn), dummies, job))
        target.begin(designs, _kept(reader, kernel), job=facts)
        for rows in _mixed(drawn, job, pool, options.jobs):
            target.write(packing.unpack(rows))
            meter.written(rows.num_rows)
    return target.release()


@contextmanager
def _described(output: Path) -> Iterator[None]:
    """Convert errors of the output, its folder or its disk, and advise how to continue the run."""
    try:
        yield
    except OSError as error:
        raise file_error_from(output, error) from None
    except BrokenProcessPool:
        raise DataFileError(
            f"a process that was drawing for {str(output)!r} was killed, perhaps for lack of memory.",
            CONTINUE_BY_THE_SAME_CALL,
        ) from None


def _buckets(reader: TableReader) -> int:
    """Return a number of buckets that keeps each small, a power of two; many if the number of rows is not known."""
    wanted = max(_MANY if not reader.is_exact else 1, -(-(reader.rows or 0) // BUCKET_ROWS))
    return min(1 << (wanted - 1).bit_length(), MOST_BUCKETS)


def _stage(facts: dict[str, Any] | None, packing: Packing, dealt: int) -> dict[str, Any] | None:
    """Return the identity of the units that this run draws."""
    return None if facts is None else {**facts, "heaps": dealt, "counted": packing.is_countable}


def _kept(reader: TableReader, kernel: Kernel) -> list["pa.Field"]:
    """Return the fields of kept columns, without metadata."""
    import pyarrow as pa

    types = [reader.schema.field(name).type for name in kernel.keep]
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in types]
    return [pa.field(name, kind) for name, kind in zip(kernel.keep, plain, strict=True)]


def _draw_all(
    reader: TableReader, job: DrawingJob, pool: Executor | None, jobs: int, meter: "_Meter"
) -> list[DrawnUnit]:
    """Draw every unfinished unit; if rows are refused, check the remaining ones and then raise."""
    drawn: list[DrawnUnit] = []
    refused: list[RefusedRows] = []
    for unit in _in_turn(partial(_drawn, job=job), enumerate(reader.units()), pool, jobs):
        drawn.append(unit)
        refused += unit.refused
        meter.drawn(unit.rows)
    if job.kernel.key is not None and not refused:
        repeated = repeated_ids([job.stage.ids(unit.name) for unit in drawn])
        refused += [RefusedRows(str(job.kernel.id), "id repeated", repeated, None)] if repeated else []
    refuse(refused, reader.where, rows=reader.row, number=reader.number)
    return drawn


def _drawn(numbered: tuple[int, Unit], job: DrawingJob) -> DrawnUnit:
    number, unit = numbered
    note = job.stage.done(number)
    return draw_unit(number, unit, job) if note is None else DrawnUnit.of(note)


def _mixed(drawn: list[DrawnUnit], job: DrawingJob, pool: Executor | None, jobs: int) -> Iterator["pa.Table"]:
    """Yield the rows to write, one bucket at a time."""
    import pyarrow as pa

    if pool is None or not job.buckets:  # without a shuffle, only reading is left
        yield from (bucket.rows(job) for bucket in buckets(drawn, job))
        return
    for path in _in_turn(partial(hand_over, job=job), buckets(drawn, job), pool, jobs):
        with pa.memory_map(str(path)) as mapped:
            yield pa.ipc.open_file(mapped).read_all()
        path.unlink()


def _in_turn(task: Callable[[Any], Any], items: Iterable[Any], pool: Executor | None, ahead: int) -> Iterator[Any]:
    """Run a task on every item, a few ahead in other processes; results come in the order of the items.

    Instead of waiting for the others, this process works too as long as items are left.
    """
    if pool is None:
        yield from map(task, items)
        return
    left, waiting = iter(items), deque[Future[Any]]()
    try:
        while True:
            for item in islice(left, max(ahead - sum(not future.done() for future in waiting), 0)):
                waiting.append(pool.submit(task, item))
            if waiting and waiting[0].done():
                yield waiting.popleft().result()
            elif (item := next(left, None)) is not None:
                waiting.append(_done(task(item)))
            elif waiting:
                yield waiting.popleft().result()
            else:
                return
    finally:
        for future in waiting:
            future.cancel()


def _done(result: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(result)
    return future


class _Meter:
    """Reports the progress of a run in rows: drawing and writing count half each."""

    def __init__(self, reader: TableReader, progress: Progress | None) -> None:
        self._progress = progress
        self._rows = reader.rows if reader.is_exact else None
        self._drawn = self._written = 0

    def drawn(self, rows: int) -> None:
        self._drawn += rows
        self._tell()

    def written(self, rows: int) -> None:
        self._rows = self._drawn  # known by now
        self._written += rows
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress((self._drawn + min(self._written, self._drawn)) // 2, self._rows)
