"""Privatize a Dask table on its workers, which need this package.

As on Spark, drawn rows are written before anything else, by the tasks themselves (`dask_tasks`).
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from subsetprivacy.design import Design
from subsetprivacy.engines import check_columns
from subsetprivacy.errors import ArgumentError, DataFileError
from subsetprivacy.frames.dask_tasks import (
    BATCH_ROWS,
    TaskResult,
    draw_dummies,
    draw_part,
    lay_out,
    located,
    read,
    write_sorted,
)
from subsetprivacy.frames.files import FOLDER_SIDECAR
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.metadata import codes_document
from subsetprivacy.frames.overlap import check_no_overlap_with
from subsetprivacy.frames.refused_rows import refuse
from subsetprivacy.frames.worker import (
    COUNTED,
    CountTask,
    DrawTask,
    LayOutTask,
    WorkerTasks,
    decoded_error,
    shares_of_work,
)
from subsetprivacy.messages.for_files import REPLACE_OUTPUT


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
        Whether to keep the order of the rows; otherwise the whole table is shuffled.
    overwrite
        Whether to replace an existing folder, after everything was written.

    Raises
    ------
    CategoryError
        If values are missing or no categories. The message gives the count and the first row. Nothing is written.
    DataFileError
        If the folder exists, or Dask cannot read or write.

    Notes
    -----
    The shuffle is the one of `privatize_on_spark`.
    """
    check_columns(frame, kernel.columns, labels=kernel.labels)
    check_no_overlap_with((), str(output), folders=_read_by(frame))
    kernel.check_order(keep_order)
    return _DaskRun(frame, kernel, str(output).rstrip("/"), keep_order).result(overwrite)


def _read_by(frame: Any) -> list[str]:
    """Return the Parquet folders and files that a table reads, as given."""
    paths: list[str] = []
    for each in frame.expr.walk():
        if "path" in getattr(type(each), "_parameters", ()):
            given = each.path
            paths += map(os.fspath, given if isinstance(given, (list, tuple)) else [given])
    return paths


class _DaskRun:
    """A run that writes one table to one folder."""

    def __init__(self, frame: Any, kernel: Kernel, output: str, keep_order: bool) -> None:
        self.frame, self.kernel, self.output, self.keep_order = frame, kernel, output, keep_order
        self.system, self.path = located(output)
        parent, slash, name = self.path.rpartition("/")
        self.staging = f"{parent}{slash}_{name}.partial-{uuid4().hex}"
        self.tasks = WorkerTasks.of(kernel, keep_order=keep_order)

    def result(self, overwrite: bool) -> Any:
        import dask.dataframe as dd

        system, final = self.system, f"{self.staging}/final"
        if system.exists(self.path) and not overwrite:
            raise DataFileError(f"the folder {self.output!r} must be new; it exists.", REPLACE_OUTPUT)
        codes_document(self.kernel.designs)  # raises early if labels cannot be written as JSON
        try:
            designs = self._write(final)
            with system.open(f"{final}/{FOLDER_SIDECAR}", "w", encoding="utf-8") as file:
                file.write(codes_document(designs) + "\n")
            if system.exists(self.path):
                system.rm(self.path, recursive=True)
            system.mv(final, self.path, recursive=True)
        finally:
            if system.exists(self.staging):
                system.rm(self.staging, recursive=True)
        return dd.read_parquet(self.output)

    def _write(self, final: str) -> dict[str, Design]:
        """Write all files of the release, and return the realized designs."""
        if self.keep_order:
            self._draw(DrawTask(self.kernel), final, codes_document(self.kernel.designs))
            return self.kernel.designs
        drawn = f"{self.staging}/drawn"
        results = self._draw(self.tasks.draw(), drawn, None)
        designs, dummies = self._dummies(sum(each.reports for each in results), drawn)
        files = [f"{drawn}/{each.file}" for each in (*results, *dummies) if each.file]
        document = codes_document(designs)
        if self.tasks.counts:
            self._lay_out(files, final, document)
        else:
            self._done(_tasks(write_sorted, self._dealt(files), self.tasks.key, self._made(final), document), final)
        return designs

    def _lay_out(self, files: list[str], folder: str, document: str) -> None:
        """Write the counted rows in random order."""
        counts = self.tasks.packing.no_counts()
        for file in files:
            table = read(str(self.system.unstrip_protocol(file)), list(COUNTED))
            counts[table[COUNTED[0]].to_numpy(np.int64)] += table[COUNTED[1]].to_numpy(np.int64)
        work = f"{self.staging}/work"
        self._made(work)
        shares = []
        for number, share in enumerate(shares_of_work(counts)):
            self.system.pipe_file(f"{work}/{number}", share)
            shares.append(str(self.system.unstrip_protocol(f"{work}/{number}")))
        self._done(
            _tasks(lay_out, shares, _shared(LayOutTask(self.tasks.packing)), self._made(folder), document), folder
        )

    def _draw(self, task: DrawTask | CountTask, folder: str, document: str | None) -> list[TaskResult]:
        parts = self.frame[self.kernel.columns].to_delayed()
        results = self._done(_tasks(draw_part, parts, _shared(task), self._made(folder), document), folder)
        if not any(each.rows for each in results):
            raise ArgumentError("the table must have rows; got none.")
        return results

    def _dummies(self, reports: int, folder: str) -> tuple[dict[str, Design], list[TaskResult]]:
        """Draw the dummy rows of a covered design into separate files."""
        if self.kernel.covered is None:
            return self.kernel.designs, []
        realized = self.kernel.covered.realized(reports)
        total = realized.D * int(realized.dummies or 0)
        blocks = [(at, min(at + BATCH_ROWS, total)) for at in range(0, total, BATCH_ROWS)]
        task = _shared(self.tasks.draw_dummies(realized))
        before = {path.rpartition("/")[2] for path in self.system.ls(folder, detail=False)}
        made = self._done(_tasks(draw_dummies, blocks, task, self._made(folder)), folder, before)
        return {self.kernel.names[0]: realized}, made

    def _dealt(self, files: list[str]) -> Sequence[Any]:
        """Return the written rows, which are not drawn again, partitioned by their random words."""
        import dask.dataframe as dd

        assert self.tasks.key is not None  # as rows are not counted
        names = [*self.kernel.names, *self.kernel.keep, self.tasks.key]
        urls = [str(self.system.unstrip_protocol(file)) for file in files]
        rows = dd.from_map(read, urls, names=names, meta=read(urls[0], names).iloc[:0])
        return rows.shuffle(on=self.tasks.key, npartitions=self.frame.npartitions).to_delayed()

    def _made(self, folder: str) -> str:
        """Make a folder, and return its address for the workers."""
        self.system.makedirs(folder, exist_ok=True)
        return str(self.system.unstrip_protocol(folder))

    def _done(self, tasks: list[Any], folder: str, before: Iterable[str] = ()) -> list[TaskResult]:
        """Run tasks, raise for refused rows, and remove files of repeated tasks."""
        results = _computed(tasks)
        for each in results:
            if each.trouble:
                raise decoded_error(each.trouble) or DataFileError(f"Dask could not draw or write: {each.trouble}.")
        first, refused = 0, []
        for each in results:
            refused += [rows.moved(first) for rows in each.refused]
            first += each.rows
        refuse(refused)
        named = {each.file for each in results}.union(before)
        for path in self.system.ls(folder, detail=False):
            if path.rpartition("/")[2] not in named:
                self.system.rm_file(path)
        return results


def _computed(tasks: list[Any]) -> list[TaskResult]:
    import dask

    try:
        return list(dask.compute(*tasks))
    except Exception as error:
        kind = type(error).__name__
    # Raised outside the handler, so that no log prints Dask's error, which may show rows.
    raise DataFileError(f"Dask must be able to compute the table; it stopped with {kind}.")


def _tasks(work: Any, parts: Iterable[Any], *given: Any) -> list[Any]:
    from dask import delayed

    return [delayed(work, pure=False)(part, number, *given) for number, part in enumerate(parts)]


def _shared(task: Any) -> Any:
    """Return shared data as one node of the graph, which is sent once to each worker."""
    from dask import delayed

    return delayed(task, pure=False, traverse=False)
