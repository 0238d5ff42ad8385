"""Privatize Spark and Dask tables: the common part."""

import os
from typing import Any

from subsetprivacy._paths import scheme_of
from subsetprivacy.engines import check_columns, computing, engine_of
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.jobs import RunOptions
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.pipeline import Progress
from subsetprivacy.frames.refused_rows import RefusedRows, refuse
from subsetprivacy.messages.for_files import WRITE_OUTPUT_AS_TEXT


def check_cluster(table: Any, kernel: Kernel, output: Any, options: RunOptions) -> str:
    """Return the address of the folder to write.

    Raises
    ------
    ArgumentError
        If an option is not available on a cluster, or a column does not exist.
    """
    target = _address(output)
    if options.seed is not None:
        raise ArgumentError(
            f"`seed` must be left out on {engine_of(table)}: the assignment of rows to workers is not known in advance."
        )
    check_columns(table, kernel.columns, labels=kernel.labels)
    return target


def privatize_on_cluster(
    table: Any, kernel: Kernel, output: str, options: RunOptions, progress: Progress | None
) -> Any:
    """Draw the subsets of a Spark or Dask table into a folder, and return it as a table.

    Raises
    ------
    CategoryError
        If an id is repeated, or values are missing or no categories.
    """
    _check_ids(table, kernel)
    if engine_of(table) == "pyspark":
        from subsetprivacy.frames.on_spark import privatize_on_spark

        return privatize_on_spark(
            table,
            kernel,
            output,
            keep_order=options.keep_order,
            overwrite=options.overwrite,
            progress=progress,
        )
    from subsetprivacy.frames.on_dask import privatize_on_dask

    return privatize_on_dask(table, kernel, output, keep_order=options.keep_order, overwrite=options.overwrite)


def _address(output: Any) -> str:
    """Return the path or address of the folder to write, as text."""
    if not isinstance(output, (str, os.PathLike)):
        raise ArgumentError(f"`output` must be a path; got {type(output).__name__}.")
    if not isinstance(output, str) and scheme_of(output) is not None:
        raise ArgumentError(
            "`output` must be text where it is an address: a Path drops one of its slashes.", WRITE_OUTPUT_AS_TEXT
        )
    return os.fspath(output)


def _check_ids(table: Any, kernel: Kernel) -> None:
    """Refuse repeated ids, which the engine counts."""
    if kernel.id is None:
        return
    import narwhals.stable.v2 as nw

    rows = nw.from_native(table).lazy().group_by(kernel.id).agg(nw.len().alias("rows")).filter(nw.col("rows") > 1)
    with computing(table):  # messages of an engine may show a cell
        repeated = rows.select(nw.col("rows").sum(), nw.col("rows").count().alias("ids")).collect()
    if repeated["ids"][0]:
        refuse([RefusedRows(kernel.id, "id repeated", int(repeated["rows"][0]) - int(repeated["ids"][0]), None)])
