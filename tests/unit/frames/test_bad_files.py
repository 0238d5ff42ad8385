"""Files that were cut, altered or are something else: always an error of ours, never a cell in it."""

import shutil
import traceback

import numpy as np
import pyarrow as pa
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, DataFileError, DesignDocumentError
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.writing import write_release

OURS = (DataFileError, CodeError, DesignDocumentError)
DESIGN = sp.uniform(["White", "Black", "Asian", "Other"])
FORMATS = ["x.csv", "x.csv.gz", "x.parquet", "x.arrow"]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    codes = DESIGN.support()[0][np.random.default_rng(1).integers(0, 6, 3000)]
    table = pa.table({"race": codes, "town": ["xyzzy", "plugh"] * 1500})
    for name in FORMATS:
        write_release(table, folder / name, {"race": DESIGN}, keep=["town"])
    return folder


def copied(originals, folder, name, content):
    (folder / name).write_bytes(content)
    shutil.copy(originals / f"{name}.design.json", folder)
    return folder / name


def looked_at(path):
    """Read everything that a user can, and return the error of ours that came, if any."""
    try:
        release = read_release(path)
        release.count("race", by="town")
        _ = release.rows
        release.codes("race")
    except OURS as error:
        return error
    return None


def check_shown(error):
    shown = "".join(traceback.format_exception(error))
    assert not any(cell in shown for cell in ("xyzzy", "plugh", "Asian|Other", "Black|Other"))
    assert "The above exception" not in shown
    assert "During handling" not in shown


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_was_cut_off(originals, tmp_path, name):
    whole = (originals / name).read_bytes()
    places = np.unique(np.linspace(0, len(whole) - 1, 40).astype(int))
    refused = []
    for place in places:
        error = looked_at(copied(originals, tmp_path, name, whole[:place]))
        refused.append(error is not None)
        if error is not None:
            check_shown(error)
    # A CSV file can be cut at the end of a line, which nobody can tell; the others know how long they are.
    assert np.mean(refused) > 0.5 if name == "x.csv" else all(refused)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_in_which_bytes_were_altered(originals, tmp_path, name):
    whole = np.frombuffer((originals / name).read_bytes(), np.uint8)
    rng = np.random.default_rng(4)
    result = 0
    for _ in range(60):
        altered = whole.copy()
        places = rng.integers(0, len(whole), rng.integers(1, 12))
        altered[places] = rng.integers(0, 256, len(places))
        error = looked_at(copied(originals, tmp_path, name, altered.tobytes()))
        if error is not None:
            result += 1
            check_shown(error)
    assert result > 5


SECRET = "sEcReT"
BROKEN = {
    "quotes": f'race,town\nWhite|Black,"{SECRET}\nWhite|Black,x\n',
    "cells": f"race,town\nWhite|Black,{SECRET},{SECRET}\n",
    "labels": f"race,town\n{SECRET}|White,x\n",
    "letters": f"race,town\n{SECRET}\xe9,x\n".encode("latin-1"),
    "weights": f"race,town\nWhite|Black,{SECRET}\n",
    "no header": f"{SECRET},{SECRET}2\nWhite|Black,x\n",
    "a wide file": f"race,town\n{SECRET},x\n".encode("utf-16"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_no_cell_is_shown(tmp_path, name):
    content = BROKEN[name]
    path = tmp_path / "x.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises((*OURS, ArgumentError), match=r"x\.csv") as caught:
        read_release(path, {"race": DESIGN}).count("race", weights="town", weights_kind="sampling")
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert "UnicodeDecodeError" not in shown
    assert "Arrow" not in shown


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.csv.gz", "x.csv.zst"])
@pytest.mark.parametrize(
    "content", [b"", b"\n", b"hello", b"PAR1", b"PAR1PAR1", b"ARROW1\0\0", b"\x1f\x8b", b"\0" * 99]
)
def test_files_that_are_something_else(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataFileError):
        read_release(tmp_path / name, {"race": DESIGN}).count("race")


def test_formats_under_wrong_names(originals, tmp_path):
    for wrong, content in (
        ("a.parquet", "x.arrow"),
        ("a.arrow", "x.parquet"),
        ("a.csv", "x.parquet"),
        ("b.csv", "x.arrow"),
    ):
        shutil.copy(originals / content, tmp_path / wrong)
        with pytest.raises(DataFileError):
            read_release(tmp_path / wrong, {"race": DESIGN}).count("race")


def test_places_that_are_no_files(tmp_path):
    with pytest.raises(DataFileError):
        read_release(tmp_path / "absent.csv")
    with pytest.raises(DataFileError):
        read_release(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataFileError):
        read_release(tmp_path / "folder.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    with pytest.raises(DataFileError):
        read_release(tmp_path / "loop.csv")


def test_a_folder_names_the_file_that_is_damaged(originals, tmp_path):
    whole = (originals / "x.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole)
    (tmp_path / "b.parquet").write_bytes(whole[:200] + bytes(400) + whole[600:])
    release = read_release(tmp_path)
    with pytest.raises(OURS, match=r"b\.parquet"):
        release.count("race")
    (tmp_path / "b.parquet").write_bytes(whole[:200])
    with pytest.raises(DataFileError):
        read_release(tmp_path)


def test_a_file_that_vanishes_while_it_is_read(originals, tmp_path):
    for name in FORMATS:
        path = copied(originals, tmp_path, name, (originals / name).read_bytes())
        release = read_release(path)
        path.unlink()
        with pytest.raises(DataFileError):
            release.count("race")


def test_a_flipped_bit_among_the_subsets_is_noticed(tmp_path):
    design = sp.uniform(list("abcdefgh"))
    path = tmp_path / "private.parquet"
    sp.write_release(sp.privatize(list("abcdefgh") * 500, design, seed=1), path, {"letter": design})
    whole = path.read_bytes()
    for place in range(200, 2000, 100):  # within the one page of codes
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(DataFileError):
            sp.read_release(path).count("letter")
