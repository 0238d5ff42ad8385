"""What a command reads is opened once, and the files of a release once for each time that their rows are read."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from opens import calls_of_package, opens_of

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError, DataFileError
from subsetprivacy.frames import input_files

RACE, SEX = sp.uniform(["ash", "birch", "elm", "fir", "oak"]), sp.small(["f", "m"])
ROWS = 3000
KEY = b"0123456789abcdef"
FORMATS = ("people.csv", "people.csv.gz", "people.csv.zst", "people.parquet", "people.arrow", "people")
# A table, a file that is read in pieces and one of several files: what is done with rows does not know more formats.
some = pytest.mark.parametrize("people", ["people.csv", "people.arrow", "people"], indirect=True)
pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")


def values():
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "person": [f"p{k}" for k in range(ROWS)],
            "race": rng.choice(list(RACE.categories), ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "region": rng.choice(["north", "south"], ROWS),
        }
    )


def written(path, table):
    """Write a table in the format of a name; a folder of three files where it has no ending."""
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table)
    elif not path.suffix:
        path.mkdir()
        for k in range(3):
            pq.write_table(table.slice(k * 1000, 1000), path / f"part-{k}.parquet")
    else:
        pa.csv.write_csv(table, path.with_name("plain"))
        content = path.with_name("plain").read_bytes()
        if path.suffix == ".zst":
            with pa.output_stream(str(path), compression="zstd") as file:
                file.write(content)
        else:
            path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def files_of(path):
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def each(path, times):
    return {file.name: times for file in files_of(path)}


@pytest.fixture(params=FORMATS)
def people(request, tmp_path):
    """Files of people, with documents and a key beside them."""
    (tmp_path / "race.json").write_text(RACE.to_json())
    (tmp_path / "sex.json").write_text(SEX.to_json())
    (tmp_path / "secret.key").write_text("ab" * 32)
    return written(tmp_path / request.param, values())


# Privatizing --------------------------------------------------------------------------------------

SETTINGS = {
    "plain": ({}, []),
    "kept": ({"keep": ["region"]}, ["--keep", "region"]),
    "in order": ({"keep_order": True}, ["--keep-order"]),
    "keyed": ({"key": KEY, "id": "person"}, ["--key-file", "secret.key", "--id", "person"]),
    "cleaned": ({"strip": True, "na": "?"}, ["--strip", "--na", "?"]),
    "with a seed": ({"seed": 1}, ["--seed", "1"]),
}


@pytest.mark.parametrize(
    ("people", "settings"), [*zip(FORMATS, SETTINGS), *zip(FORMATS, reversed(SETTINGS))], indirect=["people"]
)
def test_the_library_opens_its_input_once(people, tmp_path, settings):
    designs = {"race": RACE, "sex": SEX}
    with opens_of(*files_of(people)) as found:
        release = sp.privatize_table(people, designs, tmp_path / "private.csv", **SETTINGS[settings][0])
    assert found == each(people, 1)
    assert release.rows == ROWS


@pytest.mark.parametrize(
    ("people", "settings"), [*zip(["people.csv", "people"] * 3, SETTINGS, strict=True)], indirect=["people"]
)
def test_the_command_opens_its_input_once(people, tmp_path, settings, fine, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--column", "race=race.json", "--column", "sex=sex.json", *SETTINGS[settings][1]]
    with opens_of(*files_of(people)) as found:
        fine("privatize", people, *words, "-o", "private.parquet")
    assert found == each(people, 1)
    assert sp.read_release("private.parquet").rows == ROWS


@some
def test_categories_of_several_columns_are_read_off_the_same_open_file(people, tmp_path, fine):
    words = ["--column", "race", "--column", "sex", "--infer-categories"]
    with opens_of(*files_of(people)) as found:
        fine("privatize", people, *words, "-o", tmp_path / "private.csv")
    assert found == each(people, 1)


@some
def test_a_plan_opens_the_input_and_its_run_does_not(people, tmp_path):
    with opens_of(*files_of(people)) as found:
        plan = sp.prepare(people, {"race": RACE}, tmp_path / "private.csv")
    assert found == each(people, 1)
    with opens_of(*files_of(people)) as found:
        plan.run()
    assert found == each(people, 0)


@some
def test_a_second_run_of_the_same_job_opens_its_input_once(people, tmp_path, fine):
    words = ["privatize", people, "--column", f"race={tmp_path / 'race.json'}", "-o", tmp_path / "private.csv"]
    fine(*words)
    with opens_of(*files_of(people)) as found:
        fine(*words, "--if-exists", "same")
    assert found == each(people, 1)


def test_values_that_are_refused_are_named_without_another_look(people, tmp_path):
    """In a CSV file the line is found by reading it again, from the same handle."""
    with (
        opens_of(*files_of(people)) as found,
        pytest.raises(CategoryError),
    ):
        sp.privatize_table(people, {"sex": RACE}, tmp_path / "private.csv")
    assert found == each(people, 1)


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
@pytest.mark.parametrize("text", ['race\nash\n"elm\n', "race\nash\nelm,oak\n", "race\nash\n\xff\n"])
def test_a_bad_csv_file_is_explained_without_another_look(tmp_path, name, text):
    content = text.encode("latin-1")
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with opens_of(tmp_path / name) as found, pytest.raises(DataFileError):
        sp.privatize_table(tmp_path / name, {"race": RACE}, tmp_path / "private.csv")
    assert found == {name: 1}


def test_of_a_large_folder_only_some_files_stay_open(tmp_path, monkeypatch):
    people = written(tmp_path / "people", values())
    monkeypatch.setattr(input_files, "MOST_OPEN", 1)
    with opens_of(*files_of(people)) as found:
        release = sp.privatize_table(people, {"race": RACE}, tmp_path / "private.csv")
    assert found == {"part-0.parquet": 1, "part-1.parquet": 2, "part-2.parquet": 2}
    assert release.rows == ROWS


def test_several_processes_read_a_csv_file_from_one(tmp_path):
    people = written(tmp_path / "people.csv", values())
    with opens_of(people) as found:
        release = sp.privatize_table(people, {"race": RACE}, tmp_path / "private.csv", jobs=2)
    assert found == {"people.csv": 1}
    assert release.rows == ROWS


@some
def test_what_was_written_is_not_read_to_be_returned(people, tmp_path):
    output = tmp_path / "private.csv"
    with opens_of(output) as found:
        release = sp.privatize_table(people, {"race": RACE}, output)
        assert release.rows == ROWS
    assert found == {"private.csv": 0}
    read = sp.read_release(output)
    assert (read, read.designs, read.stored, read.rows) == (release, release.designs, release.stored, ROWS)


# Files of subsets ---------------------------------------------------------------------------------


@pytest.fixture(params=FORMATS)
def release(request, tmp_path):
    """A release of two columns and one that is kept; a folder is what several machines write."""
    path = tmp_path / request.param.replace("people", "private")
    designs = {"race": RACE, "sex": SEX}
    if path.suffix:
        sp.privatize_table(values().to_pandas(), designs, path, keep=["region"])
        return path
    path.mkdir()
    for k in range(3):
        part = values().slice(1000 * k, 1000).to_pandas()
        sp.privatize_table(part, designs, path / f"part-{k}.parquet", keep=["region"])
        (path / f"part-{k}.parquet.design.json").unlink()
    return path


def test_a_release_is_opened_once_to_know_what_it_holds(release):
    with opens_of(*files_of(release)) as found:
        read = sp.read_release(release)
        assert (read.names, read.kept) == (("race", "sex"), ("region",))
    assert found == each(release, 1)


@pytest.mark.parametrize("by", [None, "region"])
def test_counting_opens_a_release_once(release, by):
    read = sp.read_release(release)
    with opens_of(*files_of(release)) as found:
        read.count("race", by=by, progress=lambda done, total: None)
    assert found == each(release, 1)
    with opens_of(*files_of(release)) as found:
        read.crosstab("race", "sex", by=by)
    assert found == each(release, 1)


@pytest.mark.parametrize("release", ["people.csv.gz", "people.arrow", "people"], indirect=True)
@pytest.mark.parametrize(
    ("words", "passes"),
    [
        (["count", "--column", "race"], 1),
        (["count", "--column", "race", "--column", "sex", "--by", "region"], 1),
        (["estimate", "--column", "race"], 1),
        (["estimate", "--column", "race", "--by", "region"], 1),
        (["compare", "--column", "race", "--by", "region"], 1),
        (["report", "--permutations", "9", "-o", "report.html"], 5),
    ],
)
def test_commands_open_a_release_once_and_once_a_pass(words, passes, release, fine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command, *rest = words
    with opens_of(*files_of(release)) as found:
        fine(command, release, *rest)
    assert all(opens <= 1 + passes for opens in found.values()), found


# Calls --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "functions", "files"), [("people.csv", 289, 58), ("people.parquet", 272, 57)])
def test_privatizing_does_not_call_half_of_the_package(name, functions, files, tmp_path, fine):
    """A newcomer who follows one command through the code has so many functions and files to read, and no more."""
    people = written(tmp_path / name, values())
    (tmp_path / "race.json").write_text(RACE.to_json())
    words = ["privatize", people, "--column", f"race={tmp_path / 'race.json'}", "-o", tmp_path / "private.csv"]
    fine(*words)  # what is imported or remembered the first time is not counted
    with calls_of_package() as called:
        fine(*words, "--force")
    assert len(called) <= functions
    assert len({file for file, _ in called}) <= files
