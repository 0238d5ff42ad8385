"""A large Parquet file is scanned a few row groups at a time, so that a scan cannot run ahead of a busy reader."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import dataset

from subsetprivacy.engines import batches

TABLE = pa.table({"a": np.arange(1000), "b": np.arange(1000) * 0.5, "c": [str(k) for k in range(1000)]})


@pytest.fixture
def fragment(tmp_path):
    pq.write_table(TABLE, tmp_path / "x.parquet", row_group_size=130)
    (result,) = dataset.dataset(str(tmp_path / "x.parquet")).get_fragments()
    return result


@pytest.mark.parametrize(
    ("cells", "parts"),
    [(1 << 23, [1000]), (2 * 400, [390, 390, 220]), (2 * 130, [130] * 7 + [90]), (1, [130] * 7 + [90])],
)
def test_parts_hold_few_cells_or_one_row_group(fragment, monkeypatch, cells, parts):
    monkeypatch.setattr(batches, "_SCANNED", cells)
    scanned = list(batches._scanned_together(fragment, 2))
    assert [sum(group.num_rows for group in part.row_groups) for part in scanned] == parts
    read = pa.Table.from_batches(batches.fragment_batches(fragment, TABLE.schema, ["c", "a"]))
    assert read.equals(TABLE.select(["c", "a"]))


def test_arrow_files_have_no_row_groups(tmp_path):
    with pa.ipc.new_file(str(tmp_path / "x.arrow"), TABLE.schema) as file:
        file.write_table(TABLE, max_chunksize=130)
    (result,) = dataset.dataset(str(tmp_path / "x.arrow"), format="ipc").get_fragments()
    read = pa.Table.from_batches(batches.fragment_batches(result, TABLE.schema, ["b"]))
    assert read.equals(TABLE.select(["b"]))
