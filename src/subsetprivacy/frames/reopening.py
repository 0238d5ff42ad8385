"""What was written, read back by the engine that the values came from."""

from pathlib import Path
from typing import Any

from subsetprivacy.engines import engine_of
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.files import format_of


def check_reopening(table: Any, output: Path) -> None:
    """Raise if the engine of a lazy table could not read the output back.

    Raises
    ------
    ArgumentError
        If the output is no Parquet file.
    """
    if output.suffix.lower() not in (".parquet", ".pq"):
        raise ArgumentError(
            f"`output` must be a .parquet file for a lazy table, which is read back from it; got {output.name!r}."
        )


def reopened(table: Any, output: Path) -> Any:
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
