"""Ids that are there twice are found among digests that do not fit in memory."""

import numpy as np
import pytest

from subsetprivacy.frames import duplicate_ids
from subsetprivacy.frames.duplicate_ids import digests, repeated_ids, write_digests
from subsetprivacy.mechanism.ids import read_ids

KEY = bytes(range(32))


@pytest.mark.parametrize("part_rows", [1 << 22, 100])
@pytest.mark.parametrize(("extra", "again"), [([], 0), (["p7"], 1), (["p7", "p7", "p900"], 3), (["p-1"], 0)])
def test_rows_whose_id_came_before_are_counted(tmp_path, monkeypatch, part_rows, extra, again):
    monkeypatch.setattr(duplicate_ids, "_PART_ROWS", part_rows)
    ids = [f"p{k}" for k in range(1000)] + extra
    paths = []
    for k, part in enumerate((ids[:300], ids[300:650], ids[650:], [])):
        paths.append(tmp_path / f"{k}.ids")
        write_digests(paths[-1], [digests(read_ids(part), KEY)] if part else [])
    assert repeated_ids(paths) == again


def test_digests_that_agree_in_one_half_only_are_different(tmp_path):
    write_digests(tmp_path / "a.ids", [np.array([[5, 1], [5, 2], [6, 1], [5, 1]], np.uint64)])
    assert repeated_ids([tmp_path / "a.ids"]) == 1


def test_digests_need_the_key():
    ids = read_ids(["a", "b"])
    assert not np.array_equal(digests(ids, KEY), digests(ids, KEY[::-1]))
    assert digests(ids, KEY).shape == (2, 2)
