"""The document that travels with a file: written, found, compared, refused."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import subsetprivacy as sp
from subsetprivacy.design import Covered
from subsetprivacy.errors import DataFileError, DesignDocumentError, MismatchError
from subsetprivacy.frames.metadata import TableMetadata, WeightsColumn, metadata_from_json
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.writing import write_release

RACE = sp.independent(list("abcd"), {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})
OTHER = sp.uniform(list("abcd"))
VALUES = list("aaabbcd")


@pytest.fixture
def release(tmp_path):
    data = sp.privatize(VALUES, RACE, seed=3)
    return write_release(data, tmp_path / "x.parquet", {"race": RACE})


def sidecar(path):
    return Path(f"{path}.design.json")


def test_the_document_comes_back():
    stored = TableMetadata(
        {"race": RACE, "sex": OTHER}, {"race": "codes", "sex": "labels"}, WeightsColumn("count", "frequency")
    )
    assert metadata_from_json(stored.to_json(), "here") == stored


def test_the_document_is_the_one_of_the_page():
    document = json.loads(TableMetadata({"race": RACE}, {"race": "codes"}).to_json())
    assert document == {
        "format": "subset privacy table",
        "version": 1,
        "columns": {"race": {"form": "codes", "design": RACE.document()}},
    }


def test_keys_that_nobody_knows_are_passed_over():
    document = json.loads(TableMetadata({"race": RACE}, {"race": "codes"}).to_json())
    document["made"] = "today"
    document["columns"]["race"]["colour"] = "red"
    assert metadata_from_json(json.dumps(document), "here").designs == {"race": RACE}


def changed(change):
    document = json.loads(TableMetadata({"race": RACE}, {"race": "codes"}, WeightsColumn("n", "frequency")).to_json())
    change(document)
    return json.dumps(document)


BAD = {
    "no JSON": ("{", "it is something else"),
    "a list": ("[]", "it is something else"),
    "deep": ("[" * 100_000, "it is something else"),
    "another format": (changed(lambda d: d.update(format="x")), "it is something else"),
    "a newer version": (changed(lambda d: d.update(version=2)), "must be of version 1.*newer"),
    "no columns": (changed(lambda d: d.update(columns={})), "it names none"),
    "columns as a list": (changed(lambda d: d.update(columns=["race"])), "it names none"),
    "another form": (changed(lambda d: d["columns"]["race"].update(form="bits")), "column 'race', must say its form"),
    "no design": (changed(lambda d: d["columns"]["race"].pop("design")), "must say its form"),
    "an altered design": (
        changed(lambda d: d["columns"]["race"]["design"].update(categories=list("abce"))),
        "here, column 'race', .*altered after it was written",
    ),
    "weights without a kind": (changed(lambda d: d["weights"].pop("kind")), "column of weights and their kind"),
}


@pytest.mark.parametrize("name", BAD)
def test_documents_that_are_none(name):
    text, said = BAD[name]
    with pytest.raises(DesignDocumentError, match=said):
        metadata_from_json(text, "here")


def test_the_key_is_enough(release):
    sidecar(release.path).unlink()
    assert read_release(release.path).designs == {"race": RACE}


def rewritten(path, document=None):
    """Write the file again as an engine does that loses the key, or with another one."""
    table = pq.read_table(path).replace_schema_metadata(None if document is None else {"subset_privacy": document})
    pq.write_table(table, path)


def test_the_document_beside_the_file_is_enough(release):
    rewritten(release.path)
    assert read_release(release.path).designs == {"race": RACE}


def test_an_argument_is_enough(release):
    rewritten(release.path)
    sidecar(release.path).unlink()
    assert read_release(release.path, {"race": RACE}).count("race").n == len(VALUES)
    assert read_release(release.path, RACE).names == ("race",)


def test_nothing_said_names_the_three_ways(release):
    rewritten(release.path)
    sidecar(release.path).unlink()
    with pytest.raises(DataFileError) as caught:
        read_release(release.path)
    assert "x.parquet" in str(caught.value)
    assert all(way in str(caught.value.advice) for way in ("designs=", "x.parquet.design.json"))


def both_fingerprints(error):
    return all(design.fingerprint[:16] in str(error) for design in (RACE, OTHER))


def test_an_argument_that_disagrees_is_refused(release):
    with pytest.raises(MismatchError) as caught:
        read_release(release.path, {"race": OTHER})
    assert both_fingerprints(caught.value)
    rewritten(release.path)
    with pytest.raises(MismatchError) as caught:
        read_release(release.path, {"race": OTHER})
    assert both_fingerprints(caught.value)


def test_a_key_and_a_document_that_disagree_are_refused(release):
    rewritten(release.path, TableMetadata({"race": OTHER}, {"race": "codes"}).to_json())
    with pytest.raises(MismatchError) as caught:
        read_release(release.path)
    assert both_fingerprints(caught.value)
    with pytest.raises(MismatchError):  # an argument does not settle it: one of the files is wrong
        read_release(release.path, {"race": OTHER})


def test_forms_and_weights_that_disagree_are_refused(release):
    sidecar(release.path).write_text(TableMetadata({"race": RACE}, {"race": "labels"}).to_json())
    with pytest.raises(MismatchError):
        read_release(release.path)
    sidecar(release.path).write_text(
        TableMetadata({"race": RACE}, {"race": "codes"}, WeightsColumn("n", "frequency")).to_json()
    )
    rewritten(release.path, TableMetadata({"race": RACE}, {"race": "codes"}, WeightsColumn("m", "frequency")).to_json())
    with pytest.raises(MismatchError):
        read_release(release.path)


def test_an_altered_document_is_refused_wherever_it_stands(release):
    text = sidecar(release.path).read_text()
    sidecar(release.path).write_text(text.replace('"b"', '"B"'))
    with pytest.raises(DesignDocumentError):
        read_release(release.path)


def test_two_designs_in_one_folder_are_refused(tmp_path):
    for name, design in (("one", RACE), ("two", OTHER)):
        (tmp_path / "all").mkdir(exist_ok=True)
        write_release(sp.privatize(VALUES, design, seed=1), tmp_path / "all" / f"{name}.parquet", {"race": design})
    with pytest.raises(MismatchError) as caught:
        read_release(tmp_path / "all")
    assert both_fingerprints(caught.value)


def test_a_folder_with_a_document_and_files_of_others(tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()
    data = sp.privatize(VALUES, RACE, seed=1)
    for part in range(3):
        pq.write_table(pa.table({"race": data.codes}), folder / f"part-{part}.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_subset_privacy.json").write_text(TableMetadata({"race": RACE}, {"race": "codes"}).to_json())
    release = read_release(folder)
    assert release.rows == 3 * len(VALUES)
    assert release.count().counts.tolist() == (3 * data.counts().counts).tolist()


def test_a_covered_release_keeps_its_numbers(tmp_path):
    plan = sp.covered(OTHER, 0.1)
    data = sp.privatize(VALUES, plan, seed=1)
    for name in ("x.csv", "x.parquet", "x.arrow"):
        write_release(data, tmp_path / name)
        for release in (read_release(tmp_path / name), read_release(tmp_path / name, {"value": plan})):
            held = release.designs["value"]
            assert isinstance(held, Covered)
            assert (held.people, held.dummies) == (7, data.design.dummies)
            assert sp.estimate(release.count()).w == pytest.approx(sp.estimate(data).w)
            assert "7 people" in str(release.summary())


def test_columns_that_were_dropped_are_left_out(tmp_path):
    table = pa.table({"race": sp.privatize(VALUES, RACE, seed=1).codes, "sex": [3, 5, 6, 3, 9, 10, 12]})
    write_release(table, tmp_path / "x.parquet", {"race": RACE, "sex": OTHER})
    pq.write_table(pq.read_table(tmp_path / "x.parquet", columns=["sex"]), tmp_path / "y.parquet")
    assert read_release(tmp_path / "y.parquet").names == ("sex",)
    whole = pq.read_table(tmp_path / "x.parquet")
    renamed = whole.rename_columns(["a", "b"]).replace_schema_metadata(whole.schema.metadata)
    pq.write_table(renamed, tmp_path / "z.parquet")
    with pytest.raises(DataFileError):
        read_release(tmp_path / "z.parquet")
