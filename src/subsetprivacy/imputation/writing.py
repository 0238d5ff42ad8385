"""The only writer of imputed values, to files whose metadata mark them as imputed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy._paths import local_path
from subsetprivacy.engines.imputed import metadata
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.file_errors import file_error
from subsetprivacy.frames.files import format_of, replacing
from subsetprivacy.imputation.completing import completed_sets, read_observed
from subsetprivacy.messages.for_analyses import DISTINCT_NAMES, WRITE_PARQUET

if TYPE_CHECKING:
    from subsetprivacy.imputation.result import Imputations

NUMBERS = ("imputation", "row")


def write_imputations(imputations: Imputations, path: str | Path, table: Any, *, overwrite: bool) -> Path:
    """Write all sets to a Parquet or Arrow file, in sequence, with their document as metadata.

    Raises
    ------
    DataFileError
        If the file type cannot store the mark (CSV), or the file exists or cannot be written. Nothing of it remains.
    ArgumentError
        If the table has columns with the names that the file uses.
    """
    place = local_path(path)
    kind = format_of(place, must_exist=False)
    if kind not in ("parquet", "arrow"):
        raise file_error(
            place, "must be able to say that its values are imputed; CSV files and folders cannot", WRITE_PARQUET
        )
    seen = read_observed(imputations, table, "pyarrow")
    taken = sorted(set(seen.column_names) & set(NUMBERS))
    if taken:
        raise ArgumentError(
            f"`table` must not have the columns {' and '.join(NUMBERS)}; got {', '.join(taken)}.", DISTINCT_NAMES
        )
    with replacing(place, overwrite=overwrite) as draft:
        writer: Any = None
        try:
            for k, frame in enumerate(completed_sets(imputations, seen)):
                rows = _numbered(frame, k)
                if writer is None:
                    rows = rows.replace_schema_metadata(metadata(imputations.document))
                    schema = rows.schema
                    writer = _writer(draft, schema, kind)
                writer.write_table(rows.cast(schema))
        finally:
            if writer is not None:
                writer.close()
    return place


def _numbered(frame: Any, k: int) -> Any:
    """Return the rows of a set, preceded by the number of the set, from 1, and of the row, from 0."""
    import pyarrow as pa

    n = frame.num_rows
    numbers = (np.full(n, k + 1, np.int32), np.arange(n, dtype=np.int64))
    for at, (name, column) in enumerate(zip(NUMBERS, numbers, strict=True)):
        frame = frame.add_column(at, name, pa.array(column))
    return frame


def _writer(path: Path, schema: Any, kind: str) -> Any:
    if kind == "arrow":
        import pyarrow as pa

        return pa.ipc.new_file(str(path), schema)
    from pyarrow import parquet

    return parquet.ParquetWriter(str(path), schema, compression="zstd", write_page_checksum=True)
