"""Privatise a table of Dask, by its workers, which need this package.

As on Spark, what is drawn is written before anything else happens to it. The
tasks write their files themselves and return what came of them as plain data:
Dask logs an error that a task raises together with the rows it was given. A
task that Dask repeats writes another file, and only the file that is named in
what was returned is used.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen

from subsetprivacy.design import Design
from subsetprivacy.engines import arrow_batches, check_columns
from subsetprivacy.errors import ArgumentError, DataFileError, SubsetPrivacyError
from subsetprivacy.frames.files import FOLDER_SIDECAR, KEY
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.refused import Refused, refuse
from subsetprivacy.frames.stored import Stored
from subsetprivacy.frames.worker import Draw, DrawDummies, error_told, free_names, marked

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 1 << 20


@frozen
class _Came:
    """What came of a part: the file that holds it, or the rows that were refused, or what went wrong."""

    file: str | None = None
    rows: int = 0
    reports: int = 0
    refused: tuple[Refused, ...] = ()
    trouble: str = ""


def privatize_on_dask(frame: Any, kernel: Kernel, output: Any, *, keep_order: bool, overwrite: bool) -> Any:
    """Draw the subsets of a Dask table into a folder of Parquet files, and return the folder as a table.

    Parameters
    ----------
    frame
        A Dask DataFrame, on any scheduler.
    kernel
        What to draw.
    output
        The path or URL of the folder.
    keep_order
        Whether the rows stay in their order; otherwise they are shuffled over the whole table.
    overwrite
        Whether to replace the folder if it is there; only after everything was written.

    Raises
    ------
    CategoryError
        If values are missing or no categories: how many, and the first row. Then nothing is written.
    DataFileError
        If the folder is there already, or Dask cannot read or write.

    Notes
    -----
    The shuffle is the one of `privatize_on_spark`.
    """
    check_columns(frame, kernel.columns)
    kernel.check_order(keep_order)
    return _Run(frame, kernel, str(output).rstrip("/"), keep_order).result(overwrite)


class _Run:
    """One table on its way to one folder."""

    def __init__(self, frame: Any, kernel: Kernel, output: str, keep_order: bool) -> None:
        self.frame, self.kernel, self.output, self.keep_order = frame, kernel, output, keep_order
        self.system, self.path = _located(output)
        parent, slash, name = self.path.rpartition("/")
        self.staging = f"{parent}{slash}_{name}.partial-{uuid4().hex}"
        self.key, added = free_names(kernel)
        self.reports = added if kernel.covered is not None else None

    def result(self, overwrite: bool) -> Any:
        import dask.dataframe as dd

        system, final = self.system, f"{self.staging}/final"
        if system.exists(self.path) and not overwrite:
            raise DataFileError(f"the folder {self.output!r} must be new; it is there. Hint: overwrite=True.")
        _document(self.kernel.designs)  # labels that no document can hold are told before the work
        try:
            designs = self._write(final)
            with system.open(f"{final}/{FOLDER_SIDECAR}", "w", encoding="utf-8") as file:
                file.write(_document(designs) + "\n")
            if system.exists(self.path):
                system.rm(self.path, recursive=True)
            system.mv(final, self.path, recursive=True)
        finally:
            if system.exists(self.staging):
                system.rm(self.staging, recursive=True)
        return dd.read_parquet(self.output)

    def _write(self, final: str) -> dict[str, Design]:
        """Write all files of the release, and return the designs as they were realised."""
        if self.keep_order:
            self._draw(Draw(self.kernel), final, _document(self.kernel.designs))
            return self.kernel.designs
        drawn = f"{self.staging}/drawn"
        came = self._draw(Draw(self.kernel, self.key, self.reports), drawn, None)
        designs, dummies = self._dummies(sum(each.reports for each in came), drawn)
        rows = self._dealt([f"{drawn}/{each.file}" for each in (*came, *dummies) if each.file])
        self._done(_tasks(_write_sorted, rows, self.key, self._made(final), _document(designs)), final)
        return designs

    def _draw(self, task: Draw, folder: str, document: str | None) -> list[_Came]:
        parts = self.frame[self.kernel.columns].to_delayed()
        came = self._done(_tasks(_draw_part, parts, _shared(task), self._made(folder), document), folder)
        if not any(each.rows for each in came):
            raise ArgumentError("the table must have rows; got none.")
        return came

    def _dummies(self, reports: int, folder: str) -> tuple[dict[str, Design], list[_Came]]:
        """Draw a covered design's dummy rows into files of their own."""
        if self.kernel.covered is None:
            return self.kernel.designs, []
        realised = self.kernel.covered.realised(reports)
        total = realised.D * int(realised.dummies or 0)
        blocks = [(at, min(at + _BATCH_ROWS, total)) for at in range(0, total, _BATCH_ROWS)]
        task = _shared(DrawDummies(self.kernel, realised, self.key))
        before = {path.rpartition("/")[2] for path in self.system.ls(folder, detail=False)}
        made = self._done(_tasks(_draw_dummies, blocks, task, self._made(folder)), folder, before)
        return {self.kernel.names[0]: realised}, made

    def _dealt(self, files: list[str]) -> Sequence[Any]:
        """Return the rows of the files, which nothing draws again, dealt to parts by their random words."""
        import dask.dataframe as dd

        names = [*self.kernel.names, *self.kernel.keep, self.key]
        urls = [str(self.system.unstrip_protocol(file)) for file in files]
        rows = dd.from_map(_read, urls, names=names, meta=_read(urls[0], names).iloc[:0])
        return rows.shuffle(on=self.key, npartitions=self.frame.npartitions).to_delayed()

    def _made(self, folder: str) -> str:
        """Make a folder, and return its address for the workers."""
        self.system.makedirs(folder, exist_ok=True)
        return str(self.system.unstrip_protocol(folder))

    def _done(self, tasks: list[Any], folder: str, before: Iterable[str] = ()) -> list[_Came]:
        """Run tasks; raise what they refuse; remove the files of tasks that were done twice."""
        came = _computed(tasks)
        for each in came:
            if each.trouble:
                raise error_told(each.trouble) or DataFileError(f"Dask could not draw or write: {each.trouble}.")
        first, refused = 0, []
        for each in came:
            refused += [one.moved(first) for one in each.refused]
            first += each.rows
        refuse(refused)
        named = {each.file for each in came}.union(before)
        for path in self.system.ls(folder, detail=False):
            if path.rpartition("/")[2] not in named:
                self.system.rm_file(path)
        return came


def _located(url: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path on it."""
    system, path = import_module("fsspec.core").url_to_fs(url)
    return system, path


def _document(designs: dict[str, Design]) -> str:
    return Stored(designs, dict.fromkeys(designs, "codes")).to_json()


def _computed(tasks: list[Any]) -> list[_Came]:
    import dask

    try:
        return list(dask.compute(*tasks))
    except Exception as error:
        kind = type(error).__name__
    # Out here the error has no context that a log could print: Dask's may show rows.
    raise DataFileError(f"Dask must be able to compute the table; it stopped with {kind}.")


def _tasks(work: Any, parts: Iterable[Any], *given: Any) -> list[Any]:
    from dask import delayed

    return [delayed(work, pure=False)(part, number, *given) for number, part in enumerate(parts)]


def _shared(task: Any) -> Any:
    """Return what all tasks need as one node of the graph, which is sent once to each worker."""
    from dask import delayed

    return delayed(task, pure=False, traverse=False)


# What runs on the workers -------------------------------------------------------------------------


def _draw_part(part: Any, number: int, task: Draw, folder: str, document: str | None) -> _Came:
    refused: list[Refused] = []
    try:
        batches = task.rows(arrow_batches(part, task.kernel.columns, _BATCH_ROWS), number, refused)
        file, reports = _write(batches, number, folder, document, task.reports)
    except SubsetPrivacyError as error:
        return _Came(trouble=str(marked(error)))
    except Exception as error:  # whatever a library says may quote a cell
        return _Came(trouble=type(error).__name__)
    return _Came(file, len(part), reports, tuple(refused))


def _draw_dummies(numbers: tuple[int, int], number: int, task: DrawDummies, folder: str) -> _Came:
    import numpy as np
    import pyarrow as pa

    batch = pa.RecordBatch.from_arrays([pa.array(np.arange(*numbers))], names=["number"])
    return _Came(_write(task.part([batch], number), number, folder)[0], batch.num_rows)


def _read(url: str, names: list[str]) -> Any:
    """Read a file that was drawn, its columns of the very types that they were written with."""
    import pandas as pd
    import pyarrow.parquet as pq

    system, path = _located(url)
    with system.open(path, "rb") as file:
        return pq.read_table(file, columns=names).to_pandas(types_mapper=pd.ArrowDtype)


def _write_sorted(part: Any, number: int, key: str, folder: str, document: str) -> _Came:
    names = [name for name in part.columns if name != key]
    return _Came(_write(arrow_batches(part.sort_values(key), names, _BATCH_ROWS), number, folder, document)[0])


def _write(
    batches: Iterable["pa.RecordBatch"], number: int, folder: str, document: str | None = None, total: str | None = None
) -> tuple[str | None, int]:
    """Write a part under a name of its own; return the name, None if there are no rows, and the total of a column."""
    import pyarrow.parquet as pq

    system, path = _located(folder)
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
    """Return the schema of a file; a column without any value, of which nothing is known, is text."""
    import pyarrow as pa

    fields = [pa.field(each.name, pa.string()) if pa.types.is_null(each.type) else each for each in batch.schema]
    return pa.schema(fields, None if document is None else {KEY: document})
