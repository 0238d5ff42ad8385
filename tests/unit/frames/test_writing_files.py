"""A file gets its name when it is whole, and nothing remains of one that failed."""

import errno
import json
import os
import resource
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pytest

from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.file_errors import reading
from subsetprivacy.frames.files import format_of, parquet_files, parquet_writer, replacing, sidecar_of


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.csv", "csv"), ("A.CSV", "csv"), ("a.csv.gz", "csv"), ("a.csv.zst", "csv"),
     ("a.b.parquet", "parquet"), ("a.pq", "parquet"), ("a.arrow", "arrow"), ("a.feather", "arrow"), ("a.ipc", "arrow")],
)  # fmt: skip
def test_formats_are_told_by_the_name(tmp_path, name, form):
    (tmp_path / name).touch()
    assert format_of(tmp_path / name) == form
    assert format_of(f"elsewhere/{name}", must_exist=False) == form


def test_formats_that_are_none(tmp_path):
    assert format_of(tmp_path) == "folder"
    (tmp_path / "a.xlsx").touch()
    with pytest.raises(DataFileError):
        format_of(tmp_path / "a.xlsx")
    with pytest.raises(DataFileError):
        format_of(tmp_path / "absent")
    with pytest.raises(DataFileError):
        format_of(tmp_path / "absent.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataFileError):
        format_of(tmp_path / "pipe.csv")


def test_parts_of_a_folder(tmp_path):
    for name in ("b.parquet", "a.parquet", "_c.parquet", ".d.parquet", "e.txt", "sub/f.pq", "_sub/g.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [str(file.relative_to(tmp_path)) for file in parquet_files(tmp_path)] == [
        "a.parquet", "b.parquet", "sub/f.pq",
    ]  # fmt: skip
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataFileError):
        parquet_files(tmp_path / "empty")


def test_documents_stand_beside_a_file_and_inside_a_folder(tmp_path):
    assert sidecar_of(tmp_path / "private.csv") == tmp_path / "private.csv.design.json"
    assert sidecar_of(tmp_path) == tmp_path / "_subset_privacy.json"


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "x.csv"
    with replacing(path, sidecar=lambda: "{}") as draft:
        assert draft.parent == tmp_path
        assert draft.name.startswith(".")
        draft.write_text("a\n1\n")
        assert not path.exists()
    assert path.read_text() == "a\n1\n"
    assert {file.name for file in tmp_path.iterdir()} == {"x.csv", "x.csv.design.json"}


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt("no"), OSError(errno.EIO, "no")])
def test_nothing_remains_of_a_file_that_failed(tmp_path, error):
    path = tmp_path / "x.csv"
    path.write_text("before")

    def write():
        with replacing(path, overwrite=True) as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(type(error), match="no"):
        write()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("x.csv", "before")]


def test_an_existing_file_is_refused_before_work_begins(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("before")
    began = []
    with pytest.raises(DataFileError), replacing(path):
        began.append(1)
    assert not began
    with replacing(path, overwrite=True) as draft:
        draft.write_text("after")
    assert path.read_text() == "after"


def test_an_old_document_is_never_left_beside_a_new_file(tmp_path):
    path, beside = tmp_path / "x.csv", tmp_path / "x.csv.design.json"
    beside.write_text("of another file")
    with pytest.raises(DataFileError), replacing(path, sidecar=lambda: ""):
        pass

    def broken():
        raise RuntimeError("no document")

    with pytest.raises(RuntimeError, match="no document"), replacing(path, overwrite=True, sidecar=broken):
        pass
    assert not path.exists()
    with replacing(path, overwrite=True, sidecar=lambda: "of this"):
        pass
    assert beside.read_text() == "of this"


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(DataFileError), replacing(tmp_path / "absent" / "x.csv"):
        pass
    with pytest.raises(DataFileError), replacing(tmp_path):
        pass
    with pytest.raises(DataFileError), replacing(tmp_path / ("x" * 300)):
        pass


def test_a_folder_without_permission(as_nobody):
    with pytest.raises(DataFileError), replacing(as_nobody / "x.csv"):
        pass


@pytest.fixture
def as_nobody():
    """Return a folder in which this process, while the test runs, may read and not write."""
    folder = Path(mkdtemp())
    folder.chmod(0o555)
    was_root = os.geteuid() == 0
    try:
        if was_root:
            os.seteuid(65534)
        yield folder
    finally:
        if was_root:
            os.seteuid(0)
        folder.rmdir()


def test_a_file_that_grows_beyond_the_limit(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    rows = pa.table({"a": pa.array(range(200_000), pa.int64())})
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, before[1]))
        with (
            pytest.raises(DataFileError),
            replacing(tmp_path / "x.arrow") as draft,
            pa.ipc.new_file(str(draft), rows.schema) as writer,
        ):
            writer.write_table(rows)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "no space left"), (errno.EDQUOT, "quota"), (errno.EROFS, "read-only")],
)
def test_a_full_disk(tmp_path, number, said):
    with pytest.raises(DataFileError, match=said) as caught, replacing(tmp_path / "x.csv"):
        raise OSError(number, "whatever a library says about a cell")
    assert "cell" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_trouble_of_another_file_is_not_ours(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), replacing(tmp_path / "x.csv"):
        (tmp_path / "elsewhere.csv").read_text()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (pa.ArrowInvalid("Parquet magic bytes not found in footer: secret"), "must be a Parquet file"),
        (pa.ArrowInvalid("Not an Arrow file: secret"), "must be an Arrow file"),
        (OSError("Unexpected end of stream: secret"), "it was cut off"),
        (pa.ArrowInvalid("could not convert secret"), "cut off or altered"),
        (UnicodeDecodeError("utf-8", b"secret", 0, 1, "secret"), "cut off or altered"),
        (EOFError("secret"), "it was cut off"),
        (PermissionError(errno.EACCES, "secret"), "no permission"),
        (pa.ArrowMemoryError("malloc of size secret"), "must fit in memory"),
    ],
)
def test_what_libraries_say_is_not_passed_on(error, said):
    with pytest.raises(DataFileError, match=said) as caught, reading("x.parquet"):
        raise error
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert "'x.parquet'" in str(caught.value)


def test_codes_are_packed_and_the_document_is_in_the_schema(tmp_path):
    kept = [pa.field("town", pa.string())]
    with parquet_writer(tmp_path / "x.parquet", ["a", "b"], json.dumps({"x": 1}), kept) as writer:
        writer.write_table(pa.table({"a": [1, 2], "b": [3, 4], "town": ["x", "x"]}, schema=writer.schema))
    file = pa.parquet.ParquetFile(tmp_path / "x.parquet")
    group = file.metadata.row_group(0)
    assert ["DELTA_BINARY_PACKED" in group.column(k).encodings for k in range(3)] == [True, True, False]
    assert "UNCOMPRESSED" not in {group.column(k).compression for k in range(3)}
    assert json.loads(file.schema_arrow.metadata[b"subset_privacy"]) == {"x": 1}
