"""Privatize lazy tables on one machine: draw once into a file, and read it back with the same engine."""

from pathlib import Path
from typing import Any

from subsetprivacy.engines import check_columns, engine_of
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.files import format_of
from subsetprivacy.frames.jobs import RunOptions
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.output import check_output
from subsetprivacy.frames.overlap import check_no_overlap_with
from subsetprivacy.frames.pipeline import Progress, privatize_source
from subsetprivacy.frames.table_source import table_source


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
    source = table_source(table, kernel.columns)
    privatize_source(source, kernel, output, options, progress=progress)
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
