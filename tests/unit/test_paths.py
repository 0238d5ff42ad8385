"""Paths of this machine, as they are and as file:// addresses, everywhere that one is taken."""

import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy._paths import is_inside, local_path, scheme_of
from subsetprivacy.cli.main import main
from subsetprivacy.collect.survey.reading import load_survey
from subsetprivacy.errors import ArgumentError, DataFileError
from subsetprivacy.report import write_report
from subsetprivacy.reproduce.adult_file import read_adult

DESIGN = sp.uniform(["a", "b", "c", "d"])
ELSEWHERE = "s3://name:password@bucket/people.csv"


@every_case(
    ("address", "path"),
    [
        ("file:///data/people.csv", "/data/people.csv"),
        ("file:/data/people.csv", "/data/people.csv"),
        ("FILE://localhost/data/people.csv", "/data/people.csv"),
        ("file:///data/my%20people%23%25.csv", "/data/my people#%.csv"),
        ("file:///data/a?b#c.csv", "/data/a?b#c.csv"),
        ("file:///data/%C3%A9t%C3%A9.csv", "/data/été.csv"),
        (Path("file:///data/people.csv"), "/data/people.csv"),  # which has lost two slashes
        ("people.csv", "people.csv"),
        ("./s3:/bucket", "s3:/bucket"),
        ("c:/people.csv", "c:/people.csv"),
        ("a:b.csv", "a:b.csv"),
    ],
)
def test_addresses_of_this_machine(address, path):
    assert local_path(address).as_posix() == path


@every_case("address", [ELSEWHERE, "hdfs://node:8020/x", "https://example.org/x.csv", Path(ELSEWHERE)])
def test_what_is_elsewhere_is_refused_without_repeating_it(address):
    with pytest.raises(DataFileError, match=rf"begins with {scheme_of(address)}://. Hint: copy the file") as caught:
        local_path(address)
    assert "password" not in str(caught.value)


@every_case("address", ["file://server/share/x.csv", "file://people.csv", "file:///"])
def test_an_address_of_another_machine_or_of_nothing(address):
    with pytest.raises(DataFileError):
        local_path(address)


def test_no_path_at_all():
    with refused(ArgumentError, "output"):
        local_path(3, "output")
    with pytest.raises(DataFileError):
        local_path("file:///a%00b")


@pytest.mark.skipif(sys.platform == "win32", reason="absent: links without rights")
def test_inside_through_links(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    assert is_inside(folder / "new" / "x.parquet", folder)
    assert is_inside(tmp_path / "link" / "x.parquet", folder)
    assert is_inside(folder / "x.parquet", tmp_path / "link")
    assert not is_inside(folder, folder)
    assert not is_inside(tmp_path / "people2" / "x.parquet", folder)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "my people"
    place.mkdir()
    (place / "people.csv").write_text("letter\n" + "a\nb\nc\n" * 100)
    return place


def address(path):
    return path.as_uri()


def test_python_takes_addresses(folder):
    assert address(folder).endswith("my%20people")
    DESIGN.save(address(folder / "design.json"))
    design = sp.load_design(address(folder / "design.json"))
    assert design == DESIGN
    output = address(folder / "private.parquet")
    release = sp.privatize_table(address(folder / "people.csv"), {"letter": design}, output)
    assert release.path == folder / "private.parquet"
    assert sp.read_release(output).rows == 300
    sp.write_release(sp.privatize(list("abc") * 9, DESIGN), address(folder / "other.csv"))
    sp.write_counts(release.count("letter"), address(folder / "counts.csv"))
    write_report(release, address(folder / "report.html"))
    assert {"other.csv", "counts.csv", "report.html"} <= {path.name for path in folder.iterdir()}


def test_the_command_line_takes_addresses(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def fine(*words):
        result = CliRunner().invoke(main, [os.fspath(word) for word in words])
        assert result.exit_code == 0, result.output
        return result

    fine("design", "uniform", "a", "b", "c", "d", "-o", address(folder / "design.json"))
    given = f"letter={address(folder / 'design.json')}"
    fine("privatize", address(folder / "people.csv"), "--column", given, "-o", address(folder / "private.csv"))
    assert "300" in fine("estimate", address(folder / "private.csv")).stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my people"]


@every_case(
    "call",
    [
        sp.read_release,
        sp.load_design,
        DESIGN.save,
        read_adult,
        load_survey,
        lambda path: sp.privatize_table(path, {"letter": DESIGN}, "private.csv"),
        lambda path: sp.privatize_table(__file__, {"letter": DESIGN}, path),
        lambda path: sp.write_release(sp.privatize(list("abc"), DESIGN), path),
        lambda path: sp.write_counts(sp.privatize(list("abc"), DESIGN).counts(), path),
    ],
)
def test_python_refuses_what_is_elsewhere(call):
    with pytest.raises(DataFileError):
        call("s3://bucket/people.toml")


@pytest.mark.parametrize("words", [("estimate", ELSEWHERE), ("design", "uniform", "a", "b", "c", "d", "-o", ELSEWHERE)])
def test_the_command_line_refuses_what_is_elsewhere(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "must be a path on this machine, or a file:// address" in result.stderr
    assert "password" not in result.output
    assert list(tmp_path.iterdir()) == []


# An output in the folder that is read -------------------------------------------------------------


@pytest.fixture
def parts(tmp_path):
    """Return a folder of Parquet files."""
    (place := tmp_path / "people").mkdir()
    for k in range(2):
        pq.write_table(pa.table({"letter": list("abc") * 50}), place / f"part-{k}.parquet")
    return place


@pytest.mark.parametrize("name", ["private.parquet", "new/private.parquet", "_private.csv"])
def test_an_output_in_the_folder_that_is_read_is_refused(parts, name):
    (parts / "new").mkdir()
    with refused(ArgumentError, "output"):
        sp.privatize_table(parts, {"letter": DESIGN}, parts / name)
    assert sum(path.is_file() for path in parts.rglob("*")) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="absent: links without rights")
def test_an_output_in_the_folder_that_is_read_by_a_link(parts, tmp_path):
    (tmp_path / "link").symlink_to(parts)
    for table, output in ((tmp_path / "link", parts), (parts, tmp_path / "link")):
        with refused(ArgumentError, "output"):
            sp.privatize_table(table, {"letter": DESIGN}, output / "private.parquet")


def test_an_output_that_is_the_file_that_is_read(parts, tmp_path):
    with refused(ArgumentError, "output"):
        sp.privatize_table(parts / "part-0.parquet", {"letter": DESIGN}, parts / "part-0.parquet", overwrite=True)
    beside = sp.privatize_table(parts / "part-0.parquet", {"letter": DESIGN}, tmp_path / "private.parquet")
    assert beside.rows == 150


def test_an_output_among_the_files_of_a_dataset(parts, tmp_path):
    import pyarrow.dataset as ds

    with refused(ArgumentError, "output"):
        sp.privatize_table(ds.dataset(parts), {"letter": DESIGN}, parts / "private.parquet")
    one = parts / "part-0.parquet"
    (alone := tmp_path / "alone.parquet").write_bytes(one.read_bytes())
    assert sp.privatize_table(ds.dataset(alone), {"letter": DESIGN}, tmp_path / "private.parquet").count_rows() == 150


def test_the_command_line_refuses_an_output_in_the_folder_that_is_read(parts, tmp_path):
    DESIGN.save(tmp_path / "design.json")
    words = [os.fspath(parts), "--column", f"letter={tmp_path / 'design.json'}"]
    result = CliRunner().invoke(main, ["privatize", *words, "-o", os.fspath(parts / "private.parquet")])
    assert result.exit_code == 2
    assert "--output must be outside the folder TABLE" in result.stderr


def test_a_result_in_the_folder_of_the_release_is_refused(parts, tmp_path):
    sp.write_release(sp.privatize(list("abc") * 9, DESIGN), (tmp_path / "private.parquet"), {"letter": DESIGN})
    (release := tmp_path / "release").mkdir()
    (tmp_path / "private.parquet").rename(release / "part-0.parquet")
    result = CliRunner().invoke(main, ["count", os.fspath(release), "-o", os.fspath(release / "counts.parquet")])
    assert result.exit_code == 2
    assert "--output must be outside the folder TABLE" in result.stderr
