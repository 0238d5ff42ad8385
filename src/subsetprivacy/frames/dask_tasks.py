"""Tasks of Dask workers: draw and count partitions, lay out counted rows, and write files.

A task returns plain data instead of raising, because Dask logs the error of a task together with its rows. A task that
Dask repeats writes another file, and only the file named in the returned result is used.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from attrs import frozen

from subsetprivacy.engines import arrow_batches
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.frames.files import KEY
from subsetprivacy.frames.refused_rows import RefusedRows
from subsetprivacy.frames.worker import CountTask, DrawDummiesTask, DrawTask, LayOutTask, encoded_error

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 20


@frozen
class TaskResult:
    """The result for a partition: its file, or the refused rows, or the error."""

    file: str | None = None
    rows: int = 0
    reports: int = 0
    refused: tuple[RefusedRows, ...] = ()
    trouble: str = ""


def located(url: str) -> tuple[Any, str]:
    """Return the file system and the path of an address."""
    system, path = import_module("fsspec.core").url_to_fs(url)
    return system, path


def draw_part(part: Any, number: int, task: DrawTask | CountTask, folder: str, document: str | None) -> TaskResult:
    """Draw a partition into a file; refused rows are returned."""
    refused: list[RefusedRows] = []
    try:
        batches = task.rows(arrow_batches(part, task.kernel.columns, BATCH_ROWS), number, refused)
        file, reports = _write(batches, number, folder, document, task.reports)
    except SubsetPrivacyError as error:
        return TaskResult(trouble=str(encoded_error(error)))
    except Exception as error:  # messages of libraries may quote a cell
        return TaskResult(trouble=type(error).__name__)
    return TaskResult(file, len(part), reports, tuple(refused))


def draw_dummies(numbers: tuple[int, int], number: int, task: DrawDummiesTask | CountTask, folder: str) -> TaskResult:
    """Draw a range of dummy rows into a file."""
    import pyarrow as pa

    batch = pa.RecordBatch.from_arrays([pa.array(np.arange(*numbers))], names=["number"])
    return TaskResult(_write(task.part([batch], number), number, folder)[0], batch.num_rows)


def lay_out(share: str, number: int, task: LayOutTask, folder: str, document: str) -> TaskResult:
    """Write the rows whose counts are in a file."""
    import pyarrow as pa

    system, path = located(share)
    counts = pa.RecordBatch.from_arrays([pa.array([system.cat_file(path)])], names=["counts"])
    return TaskResult(_write(task.part([counts], number), number, folder, document)[0])


def read(url: str, names: list[str]) -> Any:
    """Read a drawn file, with the column types it was written with."""
    import pandas as pd
    import pyarrow.parquet as pq

    system, path = located(url)
    with system.open(path, "rb") as file:
        return pq.read_table(file, columns=names).to_pandas(types_mapper=pd.ArrowDtype)


def write_sorted(part: Any, number: int, key: str, folder: str, document: str) -> TaskResult:
    """Write a shuffled partition, sorted by its random words."""
    names = [name for name in part.columns if name != key]
    return TaskResult(_write(arrow_batches(part.sort_values(key), names, BATCH_ROWS), number, folder, document)[0])


def _write(
    batches: Iterable["pa.RecordBatch"], number: int, folder: str, document: str | None = None, total: str | None = None
) -> tuple[str | None, int]:
    """Write a partition under a unique name; return the name, None if there are no rows, and the total of a column."""
    import pyarrow.parquet as pq

    system, path = located(folder)
    name, writer, sums = f"part-{number:06d}-{uuid4().hex}.parquet", None, 0
    with system.open(f"{path}/{name}", "wb") as file:
        for batch in batches:
            schema = _schema(batch, document) if writer is None else writer.schema
            writer = writer or pq.ParquetWriter(file, schema)
            writer.write_batch(batch.cast(schema))
            sums += int(batch.column(total).to_numpy().sum()) if total is not None else 0
        if writer is not None:
            writer.close()
    if writer is None:
        system.rm_file(f"{path}/{name}")
    return (None if writer is None else name), sums


def _schema(batch: "pa.RecordBatch", document: str | None) -> "pa.Schema":
    """Return the schema of a file; a column without values is text."""
    import pyarrow as pa

    fields = [pa.field(each.name, pa.string()) if pa.types.is_null(each.type) else each for each in batch.schema]
    return pa.schema(fields, None if document is None else {KEY: document})
