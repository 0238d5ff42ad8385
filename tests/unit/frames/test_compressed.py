"""CSV files that are compressed: written, read in a stream, cut off and altered."""

import gzip

import numpy as np
import pyarrow as pa
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames import compression
from subsetprivacy.frames.csv_reader import csv_batches

DESIGN = sp.uniform(["red", "green", "blue", "SECRET"])
ENDINGS = [".csv.gz", ".csv.zst"]


def data(n=5000):
    return sp.privatize(np.random.default_rng(3).choice(DESIGN.categories.labels, n), DESIGN, seed=1)


def unpacked(path):
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    return pa.input_stream(str(path), compression="zstd").read()


@pytest.mark.parametrize("ending", ENDINGS)
def test_they_hold_what_a_plain_file_holds(tmp_path, ending):
    plain = sp.write_release(data(), tmp_path / "a.csv", {"colour": DESIGN})
    packed = sp.write_release(data(), tmp_path / f"a{ending}", {"colour": DESIGN})
    assert unpacked(packed.path) == plain.path.read_bytes()
    assert packed.path.stat().st_size < plain.path.stat().st_size / 2
    assert packed.codes("colour").tolist() == plain.codes("colour").tolist()
    assert sp.read_release(packed.path).designs == plain.designs
    counted = sp.write_counts(plain.count("colour"), tmp_path / f"counts{ending}", name="colour")
    assert counted.count("colour").n == plain.count("colour").n


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_rows_give_the_same_bytes(tmp_path, ending):
    one, two = (sp.write_release(data(), tmp_path / f"{name}{ending}", {"colour": DESIGN}) for name in ("one", "two"))
    assert one.path.read_bytes() == two.path.read_bytes()


def test_the_header_of_gzip_holds_neither_name_nor_time(tmp_path):
    written = sp.write_release(data(), tmp_path / "private.csv.gz", {"colour": DESIGN}).path.read_bytes()
    assert written[3] == 0
    assert written[4:8] == bytes(4)
    assert b"private" not in written[:64]


@pytest.mark.parametrize(("ending", "jobs"), [(ENDINGS[0], 1), (ENDINGS[1], 2)])
def test_values_are_read_and_subsets_written(tmp_path, ending, jobs):
    values = np.random.default_rng(3).choice(DESIGN.categories.labels, 900).tolist()
    path = tmp_path / f"people{ending}"
    with compression.open_to_write(path, path.name) as file:
        file.write(("colour\n" + "\n".join(values) + "\n").encode())
    release = sp.privatize_table(path, {"colour": DESIGN}, tmp_path / f"out{ending}", keep_order=True, jobs=jobs)
    for value, code in zip(values, release.codes("colour"), strict=True):
        assert DESIGN.categories.code([value]) & code
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


@pytest.mark.parametrize("ending", ENDINGS)
def test_one_that_was_cut_off_is_an_error_that_shows_nothing(tmp_path, ending):
    path = sp.write_release(data(), tmp_path / f"a{ending}", {"colour": DESIGN}).path
    whole = path.read_bytes()
    for kept in (0, 1, 5, 30, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:kept])
        with pytest.raises(DataFileError, match=r"must be whole|must have a header and rows") as caught:
            sp.read_release(path, {"colour": DESIGN}).count("colour")
        assert "SECRET" not in str(caught.value)
        output = tmp_path / "out.csv"
        with pytest.raises(DataFileError, match=r"must be whole|must have a header and rows"):
            sp.privatize_table(path, {"colour": DESIGN}, output)
        assert not output.exists()


def test_a_byte_that_was_changed_is_found_by_the_checksum_of_gzip(tmp_path):
    path = sp.write_release(data(), tmp_path / "a.csv.gz", {"colour": DESIGN}).path
    altered = bytearray(path.read_bytes())
    altered[len(altered) // 2] ^= 255
    path.write_bytes(altered)
    with pytest.raises(DataFileError) as caught:
        sp.read_release(path, {"colour": DESIGN}).count("colour")
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("ending", ENDINGS)
def test_several_parts_in_one_file_are_read(tmp_path, ending):
    """As `cat a.gz b.gz` makes them, and bgzip."""
    path = tmp_path / f"people{ending}"
    for text in (b"colour\nred\n", b"blue\ngreen\n"):
        with compression.open_to_write(tmp_path / "part", path.name) as file:
            file.write(text)
        with path.open("ab") as file:
            file.write((tmp_path / "part").read_bytes())
    assert [batch.column(0).to_pylist() for batch in csv_batches(path)] == [["red", "blue", "green"]]


@pytest.mark.parametrize("ending", ENDINGS)
def test_reading_is_a_stream(tmp_path, ending, monkeypatch):
    """The first rows come before the file has been read to its end."""
    path = tmp_path / f"people{ending}"
    with compression.open_to_write(path, path.name) as file:
        file.write(b"colour\n" + b"red\n" * 2_000_000)
    read = []
    from_start = compression.RereadFile.from_start
    monkeypatch.setattr(compression.RereadFile, "from_start", lambda self: _Counting(from_start(self), read))
    batches = csv_batches(path, ["colour"], block=1 << 16)
    next(batches)
    assert sum(read) < 4_000_000  # of 8 MB
    batches.close()


class _Counting:
    """A file that notes how many bytes are read from it."""

    def __init__(self, file, read):
        self._file, self._read = file, read

    def read(self, size=-1):
        data = self._file.read(size)
        self._read.append(len(data))
        return data

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_error_while_writing_leaves_nothing(tmp_path, ending, monkeypatch):
    from subsetprivacy.frames.csv_writer import CsvWriter

    before = CsvWriter.write

    def failing(self, table):
        before(self, table)
        raise KeyboardInterrupt("stopped")

    monkeypatch.setattr(CsvWriter, "write", failing)
    with pytest.raises(KeyboardInterrupt, match="stopped"):
        sp.write_release(data(), tmp_path / f"a{ending}", {"colour": DESIGN})
    assert list(tmp_path.iterdir()) == []
