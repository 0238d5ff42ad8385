"""A run that is repeated: the same job is done once, and another does not take its output for its own."""

import json
import os
from importlib.util import find_spec, module_from_spec

import pandas as pd
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, DataFileError

DESIGN = sp.uniform(["a", "b", "c", "d"])
KEY = bytes(range(32))


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,letter,town\n" + "".join(f"{k},{'abcd'[k % 4]},{k % 3}\n" for k in range(200)))
    return path


def run(people, output, design=DESIGN, **options):
    return sp.privatize_table(people, {"letter": design}, output, **options)


@pytest.mark.parametrize("name", ["private.csv", "private.csv.gz", "private.parquet", "private.arrow"])
def test_the_same_job_is_done_once(people, tmp_path, name):
    output = tmp_path / name
    first = run(people, output, if_exists="same")
    held = output.read_bytes()
    second = run(people, output, if_exists="same", jobs=2)  # how many processes is no matter
    assert output.read_bytes() == held
    assert second.codes("letter").tolist() == first.codes("letter").tolist()
    with pytest.raises(DataFileError):
        run(people, output)


def test_a_folder_a_key_and_a_covered_design(tmp_path, people):
    frame = pd.read_csv(people)
    (tmp_path / "folder" / "town=1").mkdir(parents=True)
    frame.to_parquet(tmp_path / "folder" / "town=1" / "part-0.parquet")
    for number, (design, options) in enumerate([(DESIGN, {"key": KEY, "id": "id"}), (sp.covered(DESIGN, 0.1), {})]):
        output = tmp_path / f"{number}.parquet"
        run(tmp_path / "folder", output, design, **options)
        held = output.read_bytes()
        assert run(tmp_path / "folder", output, design, if_exists="same", **options).rows >= 200
        assert output.read_bytes() == held


@pytest.mark.filterwarnings("ignore:published unchanged:subsetprivacy.errors.NotPrivateWarning")
@pytest.mark.parametrize(
    "change",
    [
        {"design": sp.fixed_size(list("abcd"), 2)},
        {"missing": "full"},
        {"keep": ["town"]},
        {"keep_order": True},
        {"form": "codes"},
        {"seed": 1},
        {"key": KEY, "id": "id"},
        "the table",
        "the output",
        "the document",
        "no document",
    ],
)
def test_another_job_is_refused(people, tmp_path, change):
    output, document = tmp_path / "private.csv", tmp_path / "private.csv.design.json"
    run(people, output)
    options = change if isinstance(change, dict) else {}
    if change == "the table":
        people.write_text(people.read_text())  # the same values, but nobody can tell without looking at them
    elif change == "the output":
        output.write_text(output.read_text() + "a|b\n")
    elif change == "the document":
        held = json.loads(document.read_text())
        document.write_text(json.dumps({key: value for key, value in held.items() if key != "job"}))
    elif change == "no document":
        document.unlink()
    held = output.read_bytes()
    with pytest.raises(DataFileError):
        run(people, output, if_exists="same", **options)
    assert output.read_bytes() == held
    run(people, output, if_exists="overwrite", **options)


def test_the_mark_shows_nothing(people, tmp_path):
    """It is salted, so that two releases of one table do not show that they are of one."""
    first, second = (tmp_path / f"{name}.csv" for name in ("one", "two"))
    marks = []
    for output in (first, second):
        run(people, output)
        document = json.loads((tmp_path / f"{output.name}.design.json").read_text())
        marks.append(document["job"])
        assert set(document["job"]) == {"salt", "digest", "bytes"}
        assert "people" not in json.dumps(document)
        assert document["job"]["bytes"] == output.stat().st_size
    assert marks[0]["digest"] != marks[1]["digest"]
    assert os.fspath(tmp_path) not in first.with_name("one.csv.design.json").read_text()


def test_the_mark_is_not_inside_the_file(people, tmp_path):
    import pyarrow.parquet as pq

    run(people, tmp_path / "private.parquet")
    assert set(json.loads(pq.read_schema(tmp_path / "private.parquet").metadata[b"subset_privacy"])) == {
        "format",
        "version",
        "columns",
    }


def test_a_document_without_its_file_does_not_block(people, tmp_path):
    output, document = tmp_path / "private.csv", tmp_path / "private.csv.design.json"
    for options in ({}, {"if_exists": "same"}):
        run(people, output, **options)
        output.unlink()
        assert run(people, output, **options).rows == 200
        output.unlink()
    DESIGN.save(document)  # by hand, and of a design alone: not ours to replace
    with pytest.raises(DataFileError):
        run(people, output)


def test_what_cannot_be_told_from_another(people, tmp_path):
    frame = pd.read_csv(people)
    import pyarrow.dataset as ds

    for table in (frame, ds.dataset(frame.to_parquet(tmp_path / "p.parquet") or tmp_path / "p.parquet")):
        with refused(ArgumentError, "if_exists"):
            sp.privatize_table(table, {"letter": DESIGN}, tmp_path / "private.parquet", if_exists="same")
    sp.privatize_table(frame, {"letter": DESIGN}, tmp_path / "private.parquet")
    sp.privatize_table(frame, {"letter": DESIGN}, tmp_path / "private.parquet", if_exists="overwrite")


def test_words_that_contradict_each_other(people, tmp_path):
    with refused(ArgumentError, "if_exists"):
        run(people, tmp_path / "private.csv", if_exists="same", overwrite=True)
    with refused(ArgumentError, "if_exists"):
        run(people, tmp_path / "private.csv", if_exists="perhaps")


def test_digests_of_jobs_and_keys_take_many_rounds(monkeypatch):
    """Of the module as users have it: in the one that the other tests use `tests/conftest.py` has set one round."""
    result = find_spec("subsetprivacy.frames.jobs")
    jobs = module_from_spec(result)
    result.loader.exec_module(jobs)
    seen = []
    monkeypatch.setattr(jobs, "pbkdf2_hmac", lambda *given: seen.append(given) or bytes(given[4]))
    jobs.mark({"key": jobs._digest_of_key(KEY)}, 1)
    assert [(name, rounds, size) for name, _, _, rounds, size in seen] == [
        ("sha256", 200_000, size) for size in (16, 32)
    ]
