"""Folders whose names are columns: `privatize_table` reads them as `count` does."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import DataFileError, NotPrivateWarning
from subsetprivacy.frames import input_files
from subsetprivacy.frames.partitions import partitions_of

SEX = sp.small(["F", "M"])
TOWN = sp.uniform(["New York", "Rye", "Ulm", "Bor"])
ROWS = [("F", 1, "New%20York"), ("M", 1, "Rye"), ("F", 2, "Ulm"), ("M", 12, "Bor")]


@pytest.fixture
def people(tmp_path):
    """Return a folder of 4 x 100 people: age in the files, the rest in the names of their folders."""
    for k, (sex, wave, town) in enumerate(ROWS):
        place = tmp_path / "run=3" / "people" / f"sex={sex}" / f"wave={wave}" / f"town={town}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"age": np.arange(100) + 100 * k}), place / "part-0.parquet", row_group_size=30)
    return tmp_path / "run=3" / "people"


def test_values_in_the_names_of_folders(people, tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "UNIT_ROWS", 50)
    designs = {"sex": SEX, "town": TOWN}
    with pytest.warns(NotPrivateWarning, match="published unchanged: wave, age"):
        release = sp.privatize_table(
            people, designs, tmp_path / "private.parquet", keep=["wave", "age"], keep_order=True
        )
    result = release.to_frame()
    assert result["age"].tolist() == sorted(result["age"].tolist(), key=lambda age: ROWS[age // 100][:2])
    assert len(result) == 400
    for code, town, age, wave in result[["sex", "town", "age", "wave"]].itertuples(index=False):
        sex, number, name = ROWS[age // 100]
        assert sex in {member for member, _ in SEX.members(code)}
        assert name.replace("%20", " ") in TOWN.members(town)
        assert wave == number


def test_another_process_reads_the_same(people):
    unit = next(input_files.open_input(people).reader(["town", "age", "sex"]).units())
    sent = pickle.loads(pickle.dumps(unit))
    assert [batch.to_pydict() for batch in sent.batches()] == [batch.to_pydict() for batch in unit.batches()]
    assert next(sent.batches()).schema.names == ["town", "age", "sex"]


def test_counting_sees_the_same_columns(people):
    design = sp.uniform(list("abcd"))
    codes = sp.privatize(list("abcd") * 25, design, seed=1).codes
    for file in people.rglob("*.parquet"):
        pq.write_table(pa.table({"letter": codes}), file)
    counts = sp.read_release(people, {"letter": design}).count("letter", by=["sex", "wave", "town"])
    assert sorted(counts) == sorted((sex, wave, town.replace("%20", " ")) for sex, wave, town in ROWS)
    assert {each.n + each.n_missing for each in counts.values()} == {100}


def test_a_folder_that_looks_like_a_number_among_others(tmp_path):
    design = sp.uniform(list("abcd"))
    for name in ("1", "b", "__HIVE_DEFAULT_PARTITION__"):
        (place := tmp_path / "release" / f"group={name}").mkdir(parents=True)
        pq.write_table(pa.table({"letter": sp.privatize(list("abcd"), design, seed=1).codes}), place / "x.parquet")
    assert set(sp.read_release(tmp_path / "release", {"letter": design}).count("letter", by="group")) == {
        "1",
        "b",
        None,
    }
    with pytest.raises(sp.errors.CategoryError):
        sp.privatize_table(tmp_path / "release", {"group": sp.small(["1", "b"])}, tmp_path / "private.csv")
    release = sp.privatize_table(
        tmp_path / "release", {"group": sp.small(["1", "b"])}, tmp_path / "private.csv", missing="full"
    )
    assert release.rows == 12


def test_a_column_of_the_file_counts_more_than_its_folder(tmp_path):
    (place := tmp_path / "people" / "sex=F").mkdir(parents=True)
    pq.write_table(pa.table({"sex": ["M"] * 10}), place / "part-0.parquet")
    with pytest.warns(NotPrivateWarning, match="reports single values"):
        release = sp.privatize_table(tmp_path / "people", {"sex": sp.nonprivate(["F", "M"])}, tmp_path / "out.csv")
    assert release.codes("sex").tolist() == [2] * 10


def test_names_that_are_no_columns(people):
    schema = partitions_of(people, sorted(people.rglob("*.parquet"))).schema
    assert schema.names == ["sex", "wave", "town"]  # not that of the folder above
    assert [str(kind) for kind in schema.types] == ["string", "int64", "string"]
    file = next(people.rglob("*.parquet"))
    assert partitions_of(file, [file]).names == []


def test_an_unknown_column_is_still_unknown(people, tmp_path):
    with pytest.raises(DataFileError):
        sp.privatize_table(people, {"race": TOWN}, tmp_path / "private.parquet")
