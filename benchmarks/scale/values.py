"""Make the tables that the benchmark of scale runs on."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CATEGORIES = 16
LABELS = [f"category {j:02d}" for j in range(CATEGORIES)]
_BLOCK = 1 << 20


def shares() -> np.ndarray:
    w = 1 / np.arange(1, CATEGORIES + 1)
    return w / w.sum()


def write_values(path: Path, rows: int) -> None:
    """Write a column of labels and a column of their positions, row groups of a million rows."""
    rng = np.random.default_rng(1)
    labels = pa.array(LABELS)
    schema = pa.schema([("x", pa.int64()), ("label", pa.string())])
    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for start in range(0, rows, _BLOCK):
            x = rng.choice(CATEGORIES, min(_BLOCK, rows - start), p=shares())
            writer.write_table(pa.table({"x": x, "label": labels.take(pa.array(x))}, schema=schema))


def write_codes(path: Path, rows: int) -> None:
    """Write a column of codes as other tools do, with PyArrow's defaults."""
    rng = np.random.default_rng(2)
    schema = pa.schema([("x", pa.int64())])
    possible = np.arange(1 << CATEGORIES)
    size = np.bitwise_count(possible)
    possible = possible[(size >= 2) & (size <= CATEGORIES - 2)]
    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for start in range(0, rows, _BLOCK):
            codes = rng.choice(possible, min(_BLOCK, rows - start))
            writer.write_table(pa.table({"x": codes}, schema=schema))


def linked(path: Path, folder: Path, times: int) -> None:
    """Make a folder in which the same file stands several times: a table as many times as long."""
    folder.mkdir()
    for k in range(times):
        (folder / f"part-{k:03d}.parquet").hardlink_to(path)
