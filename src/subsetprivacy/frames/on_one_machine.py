"""Privatize tables on one machine: in memory, or lazily through a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy.design import Design
from subsetprivacy.engines import arrow_batches, check_columns, engine_of
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.files import format_of
from subsetprivacy.frames.jobs import RunOptions
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.output import check_output
from subsetprivacy.frames.overlap import check_no_overlap_with
from subsetprivacy.frames.pipeline import Progress, privatize_rows
from subsetprivacy.frames.refused_rows import refuse
from subsetprivacy.frames.table_reader import table_reader
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.mechanism.shuffle import shuffled
from subsetprivacy.messages.for_files import PRIVATIZE_IN_MEMORY

if TYPE_CHECKING:
    import pyarrow as pa


def check_in_memory(table: Any, kernel: Kernel, output: Path | None, options: RunOptions) -> None:
    """Raise if a table in memory lacks columns, or the output cannot be written.

    Raises
    ------
    ArgumentError
        If columns do not exist, or a covered design has no output.
    DataFileError
        If the output cannot be written.
    """
    if kernel.covered is not None and output is None:
        raise ArgumentError(
            "`output` must say where to write for a covered design: its numbers of people and dummy rows, which every "
            "estimate needs, are stored with the rows.",
            PRIVATIZE_IN_MEMORY,
        )
    check_columns(table, kernel.columns, labels=kernel.labels)
    if output is not None:
        check_output(output, kernel.designs, options.form, overwrite=options.overwrite)


def privatize_in_memory(
    table: Any, kernel: Kernel, output: Path | None, options: RunOptions, progress: Progress | None
) -> Any:
    """Draw the subsets of a table in memory, and write them if an output is given.

    Raises
    ------
    CategoryError
        If values are missing or no categories. The message gives the count and the first row.
    """
    from subsetprivacy.frames.writing import write_release

    drawn, designs = _drawn(table, kernel, options)
    if output is not None:
        write_release(drawn, output, designs, form=options.form, keep=kernel.keep, overwrite=options.overwrite)
    return _native(drawn, engine_of(table), table)


def _drawn(table: Any, kernel: Kernel, options: RunOptions) -> tuple["pa.Table", dict[str, Design]]:
    import pyarrow as pa

    rng = random_source(options.seed)
    rows = _whole(table, kernel.columns)
    drawn = kernel.draw(rows, rng)
    refuse(drawn.refused)
    designs, dummies = kernel.dummies(drawn.reports, rng)
    columns = [pa.array(codes) for codes in drawn.codes]
    if kernel.covered is not None:
        columns = [pa.array(np.concatenate([drawn.codes[0], *dummies]))]
    columns += kernel.kept(rows)
    made = pa.Table.from_arrays(columns, names=[*kernel.names, *kernel.keep])
    return made if options.keep_order else made.take(pa.array(shuffled(made.num_rows, rng))), designs


def _whole(table: Any, columns: list[str]) -> "pa.Table":
    import pyarrow as pa

    batches = list(arrow_batches(table, columns, max(len(table), 1)))
    return pa.Table.from_batches(batches) if batches else pa.table({name: pa.nulls(0) for name in columns})


def _native(drawn: "pa.Table", engine: str, like: Any) -> Any:
    """Return a table of the library of `like`."""
    if engine == "pandas":
        return drawn.to_pandas()
    if engine == "polars":
        import polars as pl

        return pl.from_arrow(drawn)
    import pyarrow as pa

    return drawn.combine_chunks().to_batches()[0] if isinstance(like, pa.RecordBatch) else drawn


def check_lazy(table: Any, kernel: Kernel, output: Path, options: RunOptions) -> None:
    """Raise if a lazy table lacks columns, or the output cannot be written and read back.

    Raises
    ------
    ArgumentError
        If columns do not exist, or the output is no Parquet file or is an input file.
    DataFileError
        If the output cannot be written.
    """
    if output.suffix.lower() not in (".parquet", ".pq"):
        raise ArgumentError(
            f"`output` must be a .parquet file for a lazy table, which is read back from it; got {output.name!r}."
        )
    if engine_of(table) == "pyarrow-dataset":
        check_no_overlap_with(getattr(table, "files", ()), str(output))
    check_columns(table, kernel.columns, labels=kernel.labels)
    check_output(output, kernel.designs, options.form, overwrite=options.overwrite)


def privatize_lazy(table: Any, kernel: Kernel, output: Path, options: RunOptions, progress: Progress | None) -> Any:
    """Draw the subsets of a lazy table into a file, and return the file as a lazy table of the same engine."""
    reader = table_reader(table, kernel.columns)
    privatize_rows(reader, kernel, output, options, progress=progress)
    return _reopened(table, output)


def _reopened(table: Any, output: Path) -> Any:
    """Return the output as a lazy table of the same engine as `table`."""
    engine, path = engine_of(table), str(output)
    if engine == "polars-lazy":
        import polars as pl

        return pl.scan_parquet(path, glob=False)
    if engine == "duckdb":
        quoted = path.replace("'", "''")
        return table.query("values", f"SELECT * FROM read_parquet('{quoted}')")  # on the connection of the table
    if engine == "ibis":
        return table.get_backend().read_parquet(path)
    import pyarrow.dataset as ds

    return ds.dataset(path, format=format_of(output))
