"""Privatise files of any size: the law, the order of the rows, bad rows, and that nothing half-written remains."""

import csv
import errno
import subprocess
import sys
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, DataFileError, NotPrivateWarning
from subsetprivacy.frames import drawing, input_files, pipeline, shuffling, table_reader
from subsetprivacy.frames.privatizing import privatize_table

RACE = sp.uniform(["white", "black", "asian", "other", "native"])
AGE = sp.uniform([1, 2, 3, 4, 5, 6])
JOINED = sp.join({"sex": ["f", "m"], "income": ["low", "high"]})
KEY = bytes(range(32))


@pytest.fixture
def small_units(monkeypatch):
    """Cut small files into many pieces, as large ones are."""
    monkeypatch.setattr(table_reader, "BATCH_ROWS", 256)
    monkeypatch.setattr(input_files, "BATCH_ROWS", 256)
    monkeypatch.setattr(input_files, "UNIT_ROWS", 1024)
    monkeypatch.setattr(pipeline, "BUCKET_ROWS", 512)
    monkeypatch.setattr(shuffling, "COUNTED_ROWS", 512)


def people(n=5000):
    rng = np.random.default_rng(7)
    return {
        "person": [f"p{k}" for k in range(n)],
        "race": rng.choice(list(RACE.categories), n, p=[0.5, 0.2, 0.15, 0.1, 0.05]).tolist(),
        "age": rng.integers(1, 7, n).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "income": rng.choice(["low", "high"], n, p=[0.7, 0.3]).tolist(),
        "town": (np.arange(n) % 97).tolist(),
    }


@pytest.fixture(params=["parquet", "arrow", "csv", "csv.gz", "folder"])
def table(request, tmp_path):
    """Return a file of values in every format that can be read."""
    columns = people()
    held = pa.table(columns)
    path = tmp_path / f"people.{request.param}"
    if request.param == "parquet":
        pq.write_table(held, path, row_group_size=700)
    elif request.param == "folder":
        (path := tmp_path / "people").mkdir()
        for k in range(3):
            pq.write_table(held.slice(k * 2000, 2000), path / f"part-{k}.parquet", row_group_size=300)
    elif request.param == "arrow":
        with pa.ipc.new_file(str(path), held.schema) as writer:
            writer.write_table(held, max_chunksize=333)
    else:
        import gzip

        opened = gzip.open if request.param == "csv.gz" else open
        with opened(path, "wt", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values()))
    return path


# What is done with values does not know their format: text in one file, and numbers in several.
either = pytest.mark.parametrize("table", ["csv.gz", "folder"], indirect=True)


def left_over(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.parametrize(
    ("table", "suffix"),
    [("parquet", "csv"), ("arrow", "parquet"), ("csv", "arrow"), ("csv.gz", "csv"), ("folder", "parquet")],
    indirect=["table"],
)
def test_every_format_is_read_and_written_and_keeps_the_order_if_asked(table, suffix, tmp_path, small_units):
    output = tmp_path / f"private.{suffix}"
    release = privatize_table(table, {"race": RACE, "age": AGE, "si": JOINED}, output, keep_order=True)
    columns = people()
    codes = release.to_frame(engine="pyarrow")
    assert codes.column_names == ["race", "age", "si"]
    for name, design in (("race", RACE), ("age", AGE)):
        held = zip(columns[name], codes.column(name).to_pylist())
        assert all(value in design.members(code) for value, code in held)
    both = zip(zip(columns["sex"], columns["income"]), codes.column("si").to_pylist())
    assert all(pair in JOINED.members(code) for pair, code in both)
    assert left_over(tmp_path) == []


@either
def test_the_estimate_from_a_file_is_right(table, tmp_path, small_units):
    release = privatize_table(table, {"race": RACE}, tmp_path / "private.parquet")
    fit = sp.estimate(release.count("race"))
    truth = np.array([Counter(people()["race"])[label] / 5000 for label in RACE.categories])
    assert fit.n == 5000
    assert np.abs(fit.w - truth).max() < 8 * fit.se.max()  # unseeded, as files are drawn: eight errors never happen


@either
def test_rows_are_shuffled_all_over_the_file(table, tmp_path, small_units):
    with pytest.warns(NotPrivateWarning, match="published unchanged: person"):
        release = privatize_table(table, {"race": RACE}, tmp_path / "private.parquet", keep=["person"])
    order = [int(each[1:]) for each in pq.read_table(release.path).column("person").to_pylist()]
    assert sorted(order) == list(range(5000))
    # An even shuffle: the correlation with the old order is of the size of 1/sqrt(n), whatever unit a row was in.
    assert abs(np.corrcoef(order, np.arange(5000))[0, 1]) < 8 / np.sqrt(5000)
    halves = np.mean([each < 2500 for each in order[:2500]])
    assert halves == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_that_are_counted_are_spread_all_over_the_file(jobs, tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "UNIT_ROWS", 1000)
    monkeypatch.setattr(shuffling, "COUNTED_ROWS", 1000)
    pairs = sp.fixed_size(list(range(14)), 2)
    pq.write_table(pa.table({"x": np.repeat(np.arange(14), 1000)}), tmp_path / "sorted.parquet", row_group_size=500)
    key = {"key": KEY, "id": "person"}
    held = pq.read_table(tmp_path / "sorted.parquet").append_column("person", pa.array(range(14_000)))
    pq.write_table(held, tmp_path / "sorted.parquet", row_group_size=500)
    release = privatize_table(tmp_path / "sorted.parquet", {"x": pairs}, tmp_path / "p.parquet", jobs=jobs, **key)
    codes = pq.read_table(release.path).column("x").to_numpy()
    drawn = sp.privatize(held.column("x").to_numpy(), pairs, key=KEY, ids=list(range(14_000)), variable="x").codes
    assert np.array_equal(np.sort(codes), np.sort(drawn))  # the very subsets, ...
    lowest = np.log2(codes & -codes)  # ... and in no order: the lowest category says nothing about the row's place
    assert abs(np.corrcoef(lowest, np.arange(14_000))[0, 1]) < 8 / np.sqrt(14_000)
    assert abs(np.corrcoef(lowest[1:], lowest[:-1])[0, 1]) < 8 / np.sqrt(14_000)
    in_order = np.log2(drawn & -drawn)
    assert np.corrcoef(in_order, np.arange(14_000))[0, 1] > 0.5  # as it would have


@either
def test_codes_stay_with_what_is_kept(table, tmp_path, small_units):
    with pytest.warns(NotPrivateWarning, match="person, town"):
        release = privatize_table(table, {"race": RACE}, tmp_path / "private.parquet", keep=["person", "town"])
    columns = people()
    for row in pq.read_table(release.path).to_pylist():
        number = int(row["person"][1:])
        assert columns["race"][number] in RACE.members(row["race"])
        assert int(row["town"]) == number % 97


def test_a_seed_gives_the_same_file_whatever_the_number_of_processes(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(people()), path, row_group_size=700)
    made = [
        privatize_table(path, {"race": RACE}, tmp_path / f"private{jobs}.parquet", seed=3, jobs=jobs) for jobs in (1, 2)
    ]
    first, second = (release.to_frame(engine="pyarrow").column("race").to_pylist() for release in made)
    assert first == second
    other = privatize_table(path, {"race": RACE}, tmp_path / "other.parquet", seed=4)
    assert first != other.to_frame(engine="pyarrow").column("race").to_pylist()


def test_a_seed_shares_nothing_with_values_that_were_made_by_it(tmp_path):
    eight = sp.uniform(list(range(8)))
    values = np.random.default_rng(5).integers(0, 8, 100_000, dtype=np.uint8)
    pq.write_table(pa.table({"x": values}), tmp_path / "values.parquet")
    release = privatize_table(
        tmp_path / "values.parquet", {"x": eight}, tmp_path / "private.parquet", seed=5, keep_order=True
    )
    codes = release.to_frame(engine="pyarrow").column("x").to_numpy()
    drawn = codes[values == 3]
    possible, mu = eight.support()
    holds = eight.contains(possible, np.int64(3))
    expected = len(drawn) * mu[holds]
    counts = np.array([(drawn == code).sum() for code in possible[holds]])
    chi2 = ((counts - expected) ** 2 / expected).sum()
    assert chi2 < len(expected) + 6 * np.sqrt(2 * len(expected))


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_what_is_no_seed_is_refused(seed, tmp_path):
    with refused(ArgumentError, "seed"):
        privatize_table(tmp_path / "values.parquet", {"x": RACE}, tmp_path / "private.parquet", seed=seed)


def test_what_is_kept_brings_no_dictionary_and_no_notes_of_its_source(tmp_path):
    towns = pa.DictionaryArray.from_arrays([2, 1, 2, 1], ["gone", "z", "a"])
    field = pa.field("town", towns.type, metadata={"note": "secret note"})
    table = pa.table([pa.array(["white"] * 4), towns], schema=pa.schema([("race", pa.string()), field]))
    with pytest.warns(NotPrivateWarning, match="town"):
        privatize_table(table, {"race": RACE}, tmp_path / "memory.parquet", keep="town")
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=2)
    for suffix in ("parquet", "arrow", "csv"):
        with pytest.warns(NotPrivateWarning, match="town"):
            privatize_table(tmp_path / "people.parquet", {"race": RACE}, tmp_path / f"file.{suffix}", keep="town")
    for path in ("memory.parquet", "file.parquet", "file.arrow", "file.csv"):
        written = (tmp_path / path).read_bytes()
        assert b"gone" not in written
        assert b"secret" not in written


def test_the_default_draw_cannot_be_repeated(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(people()), path)
    one, two = (
        privatize_table(path, {"race": RACE}, tmp_path / f"{name}.parquet", keep_order=True).to_frame(engine="pyarrow")
        for name in ("one", "two")
    )
    same = np.mean(np.array(one.column("race")) == np.array(two.column("race")))
    assert same < 0.2


@either
def test_a_key_gives_everybody_the_same_subset_again(table, tmp_path, small_units):
    columns = people()
    release = privatize_table(
        table, {"race": RACE}, tmp_path / "private.parquet", key=KEY, id="person", keep_order=True
    )
    expected = sp.privatize(columns["race"], RACE, key=KEY, ids=columns["person"], variable="race").codes
    assert release.to_frame(engine="pyarrow").column("race").to_pylist() == expected.tolist()


def test_an_id_that_is_there_twice_is_found_wherever_it_is(tmp_path, small_units):
    path = spoiled(tmp_path / "people.parquet", {"person": {2900: "p17", 1500: "p1400", 7: "p6"}})
    with pytest.raises(CategoryError, match=r"column 'person': ids must be distinct; got 1 row .* first in row 7"):
        privatize_table(path, {"race": RACE}, tmp_path / "private.parquet", key=KEY, id="person")
    path = spoiled(tmp_path / "others.parquet", {"person": {2900: "p17", 1500: "p9"}})
    told = "column 'person': ids must be distinct; got 2 rows that repeat an earlier id"
    with pytest.raises(CategoryError, match=told):
        privatize_table(path, {"race": RACE}, tmp_path / "private.parquet", key=KEY, id="person")
    assert not (tmp_path / "private.parquet").exists()


@either
def test_a_covered_design_gets_its_dummy_rows(table, tmp_path, small_units):
    plan = sp.covered(RACE, 0.1)
    release = privatize_table(table, {"race": plan}, tmp_path / "private.parquet")
    realized = release.designs["race"]
    assert realized.people == 5000
    assert release.rows == 5000 + realized.D * realized.dummies
    fit = sp.estimate(release.count("race"))
    truth = np.array([Counter(people()["race"])[label] / 5000 for label in RACE.categories])
    assert np.abs(fit.w - truth).max() < 8 * fit.se.max()
    with pytest.raises(ArgumentError, match="dummy rows would all come last"):
        privatize_table(table, {"race": plan}, tmp_path / "other.parquet", keep_order=True)


def spoiled(path, changes, n=3000):
    """Write a file of values of which some are changed: {column: {row: value}}."""
    columns = people(n)
    for name, rows in changes.items():
        for row, value in rows.items():
            columns[name][row] = value
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values()))
    else:
        pq.write_table(pa.table(columns), path, row_group_size=500)
    return path


@pytest.mark.parametrize(
    ("suffix", "where", "jobs"),
    [("parquet", "row 1234 .counted from 0.", 1), ("csv", "line 1236", 1), ("csv", "line 1236", 2)],
)
def test_unknown_labels_are_counted_over_the_whole_file(suffix, where, jobs, tmp_path, small_units):
    path = spoiled(tmp_path / f"people.{suffix}", {"race": {1234: "secret", 2900: "secret2", 2999: "secret3"}})
    with pytest.raises(CategoryError, match=f"got 3 values that are not, first in {where}") as caught:
        privatize_table(path, {"race": RACE}, tmp_path / "private.parquet", jobs=jobs)
    assert "secret" not in str(caught.value)
    assert f"people.{suffix}" in str(caught.value)
    assert "column 'race'" in str(caught.value)
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name]


def test_missing_values_are_refused_or_become_the_full_set(tmp_path, small_units):
    path = spoiled(tmp_path / "people.csv", {"race": {5: "", 700: ""}})
    with pytest.raises(CategoryError, match=r"got 2 missing, first in line 7. Hint: missing='full'"):
        privatize_table(path, {"race": RACE}, tmp_path / "private.csv")
    release = privatize_table(path, {"race": RACE}, tmp_path / "private.csv", missing="full")
    assert release.count("race").n_missing == 2


def test_lines_are_counted_as_an_editor_does(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('name,race\n"two\nlines",white\n\nBob,black\nCid,secret\n')
    with pytest.raises(CategoryError, match="got 1 value that is not, first in line 6"):
        privatize_table(path, {"race": RACE}, tmp_path / "private.parquet")


def test_a_file_with_semicolons_is_read(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("name;race\nAnn;white\nBob;black\n")
    assert privatize_table(path, {"race": RACE}, tmp_path / "private.parquet").rows == 2


@either
def test_an_output_that_exists_is_not_replaced_unless_asked(table, tmp_path):
    output = tmp_path / "private.parquet"
    output.write_text("precious")
    with pytest.raises(DataFileError):
        privatize_table(table, {"race": RACE}, output)
    assert output.read_text() == "precious"
    assert privatize_table(table, {"race": RACE}, output, overwrite=True).rows == 5000
    assert left_over(tmp_path) == []


def test_a_file_is_not_written_over_itself(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(people(10)), path)
    with refused(ArgumentError, "output"):
        privatize_table(path, {"race": RACE}, path, overwrite=True)


def test_a_truncated_file_leaves_nothing(tmp_path, small_units):
    path = spoiled(tmp_path / "people.parquet", {})
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataFileError):
        privatize_table(path, {"race": RACE}, tmp_path / "private.parquet")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["people.parquet"]


@pytest.mark.parametrize("when", ["units", "output"])
def test_a_full_disk_leaves_nothing(when, tmp_path, small_units, monkeypatch):
    path = spoiled(tmp_path / "people.parquet", {})

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    holder, method = (drawing.UnitFile, "_write") if when == "units" else (pq.ParquetWriter, "write_table")
    monkeypatch.setattr(holder, method, full)
    with pytest.raises(DataFileError):
        privatize_table(path, {"race": RACE}, tmp_path / "private.parquet")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["people.parquet"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_disk_that_is_full_leaves_nothing(tmp_path):
    """A real limit on the size of files, met in another process: at the first file, at a unit, at the ids."""
    path = spoiled(tmp_path / "people.parquet", {})
    ran = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True)
    assert ran.stderr == ""
    made = ["private.parquet", "private.parquet.design.json"]
    for line, (limit, is_keyed) in zip(
        ran.stdout.splitlines(), product((100, 3000, 30_000), (False, True)), strict=True
    ):
        whole = limit == 30_000 and not is_keyed
        error, _, names = line.partition("|")
        assert ("must fit on its disk" in error) != whole, (limit, is_keyed, line)
        assert names.split() == ["people.parquet", *(made if whole else [])], (limit, is_keyed)


LIMITED = f"""
import resource, signal, sys
from itertools import product
from pathlib import Path
import pyarrow.parquet
import subsetprivacy as sp
import subsetprivacy.frames.pipeline
from subsetprivacy.frames.privatizing import privatize_table

path = Path(sys.argv[1])
output = path.with_name("private.parquet")
design = sp.uniform({list(RACE.categories)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit, is_keyed in product((100, 3000, 30_000), (False, True)):
    options = dict(key=bytes(32), id="person") if is_keyed else dict()
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    told = ""
    try:
        privatize_table(path, dict(race=design), output, **options)
    except sp.errors.DataFileError as error:
        told = str(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(told, "|", *sorted(each.name for each in path.parent.iterdir()))
    output.unlink(missing_ok=True)
    output.with_name("private.parquet.design.json").unlink(missing_ok=True)
"""


@either
def test_progress_ends_with_all_rows(table, tmp_path, small_units):
    seen = []
    privatize_table(table, {"race": RACE}, tmp_path / "private.parquet", progress=lambda *each: seen.append(each))
    done = [rows for rows, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == (5000, 5000)
    assert len(seen) > 10


def test_a_file_without_rows_gives_a_release_without_rows(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("race,age\n")
    release = privatize_table(path, {"race": RACE}, tmp_path / "private.parquet")
    assert release.rows == 0
    assert release.count("race").n == 0
