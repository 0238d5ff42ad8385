"""Round trips: what is written comes back, in our reader and in everybody's."""

import csv
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.errors import ArgumentError, CodeError, DataFileError, DesignDocumentError, MismatchError
from subsetprivacy.frames.files import sidecar_of
from subsetprivacy.frames.metadata import WeightsColumn
from subsetprivacy.frames.output import open_output
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.writing import write_counts, write_release

LETTERS = sp.uniform(list("abcd"))
LOPSIDED = sp.conditional(list("rstu"), {("r", "s", "u"): 0.4, ("s", "t"): 0.6, ("r", "t", "u"): 0.4, ("r", "u"): 0.2})
JOINED = sp.join({"sex": ["f", "m"], "income": ["low", "high & mighty", ""]})
HADAMARD = sp.hadamard([f"c{k}" for k in range(100)])
PRODUCT = sp.product({"x": LETTERS, "y": LOPSIDED})
COVERED = sp.privatize(list("abcd") * 30, sp.covered(LETTERS, 0.1), seed=2).design
DESIGNS = {
    "uniform": LETTERS,
    "lopsided": LOPSIDED,
    "hadamard": HADAMARD,
    "hadamard of few": sp.hadamard(list("abcdefg")),
    "joined": JOINED,
    "product": PRODUCT,
    "covered": COVERED,
    "warner": sp.warner(["no", "yes"], 0.25),
    "recorded groups": sp.partition(range(5), partitions=[[(0, 1), (2, 3, 4)], [(0, 3), (1, 2, 4)]], record=True),
    "coarse": coarse(["=a", "b\nc", 'd"e']),
}
FORMATS = ["x.csv", "x.csv.gz", "x.parquet", "x.pq", "x.arrow", "x.feather", "x.ipc"]


def drawn(design, n=300):
    codes = np.arange(1, 8) if design.kind == "coarse" else design.support()[0]
    return np.random.default_rng(7).choice(np.append(codes, design.missing_code), n)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", DESIGNS)
def test_codes_of_every_kind_of_design_come_back(tmp_path, kind, name):
    design = DESIGNS[kind]
    data = sp.SubsetData(drawn(design), design)
    written = write_release(data, tmp_path / name, {"=it's": design})
    again = read_release(tmp_path / name)
    assert again.designs == written.designs == {"=it's": design}
    assert again.codes().tolist() == data.codes.tolist()


@pytest.mark.parametrize("kind", DESIGNS)
def test_codes_come_back_as_codes_from_csv(tmp_path, kind):
    design = DESIGNS[kind]
    data = sp.SubsetData(drawn(design), design)
    write_release(data, tmp_path / "x.csv", {"x": design}, form="codes")
    assert pd.read_csv(tmp_path / "x.csv")["x"].tolist() == data.codes.tolist()
    assert read_release(tmp_path / "x.csv").codes().tolist() == data.codes.tolist()


labels = st.lists(st.text(alphabet="ab|\\'\"=+-@,;& \n\r\té😀", max_size=4), min_size=2, max_size=6, unique=True)


@given(labels, st.text(alphabet="=+-@'ab,\"\n ", min_size=1, max_size=4), st.lists(st.integers(1, 3), max_size=9))
@settings(max_examples=50, deadline=None)
def test_nasty_labels_come_back_from_csv(tmp_path_factory, chosen, name, codes):
    path = tmp_path_factory.mktemp("nasty") / "x.csv"
    design = coarse(chosen)
    held = sp.SubsetData(np.array(codes, int), design)
    release = write_release(held, path, {name: design})
    assert release.names == (name,)
    assert release.codes().tolist() == codes


def test_others_read_the_labels_of_our_csv(tmp_path):
    design = sp.uniform(["a,b", 'c"d', "e\nf", "=g"])
    data = sp.SubsetData(drawn(design), design)
    write_release(data, tmp_path / "x.csv", {"@x": design})
    expected = [text if text[0] != "=" else f"'{text}" for text in ("|".join(row) for row in data.labels())]
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["'@x"], *([text] for text in expected)]
    assert pd.read_csv(tmp_path / "x.csv")["'@x"].tolist() == expected
    assert pl.read_csv(tmp_path / "x.csv")["'@x"].to_list() == expected


@pytest.fixture(params=["uniform", "hadamard", "covered"])
def parquet(request, tmp_path):
    data = sp.SubsetData(drawn(DESIGNS[request.param]), DESIGNS[request.param])
    write_release(data, tmp_path / "x.parquet")
    return str(tmp_path / "x.parquet"), data.codes.tolist()


def test_others_read_the_codes_of_our_parquet(parquet):
    path, codes = parquet
    frame = pd.read_parquet(path)
    assert frame["value"].dtype == np.int64
    assert frame["value"].tolist() == codes
    assert pl.read_parquet(path)["value"].to_list() == codes
    assert pl.scan_parquet(path).collect()["value"].to_list() == codes
    assert [row[0] for row in duckdb.read_parquet(path).fetchall()] == codes


# The document inside a CSV file -------------------------------------------------------------------


def write_alone(path, rows=40):
    """Write a CSV file of two columns and their counts with the document inside, and nothing next to it."""
    designs = {"x": LETTERS, "w": DESIGNS["warner"]}
    columns = {name: pa.array(drawn(design, rows), pa.int64()) for name, design in designs.items()}
    table = pa.table({**columns, "n": pa.array(range(1, rows + 1), pa.int64())})
    with open_output(path, designs, inside=True) as output:
        output.begin(designs, [table.schema.field("n")], WeightsColumn("n", "frequency"))
        for start in (0, 10):
            output.write(table.slice(start, 10 if start == 0 else rows))
    sidecar_of(path).unlink()
    return table


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_csv_with_the_document_inside_is_read_alone(tmp_path, name):
    table = write_alone(tmp_path / name)
    release = read_release(tmp_path / name)
    assert release.designs == {"x": LETTERS, "w": DESIGNS["warner"]}
    assert (release.names, release.kept, release.rows) == (("x", "w"), (), 40)
    for column in ("x", "w"):
        assert release.codes(column).tolist() == table.column(column).to_pylist()
    assert release.crosstab().n + release.crosstab().n_missing == sum(range(1, 41))
    assert "Kept" not in str(release.summary())


def test_document_inside_survives_a_spreadsheet(tmp_path):
    """Someone sorts the rows, moves the columns, and saves with semicolons."""
    write_alone(tmp_path / "x.csv")
    before = read_release(tmp_path / "x.csv").count("x")
    frame = pd.read_csv(tmp_path / "x.csv").sort_values("n", ascending=False)
    frame[[frame.columns[-1], "n", "w", "x"]].to_csv(tmp_path / "y.csv", index=False, sep=";")
    after = read_release(tmp_path / "y.csv").count("x")
    assert (after.codes.tolist(), after.counts.tolist()) == (before.codes.tolist(), before.counts.tolist())


def test_long_document_inside_is_read(tmp_path):
    """Longer than the cells that Python's own reader takes: a design may list thousands of questions."""
    labels = [f"{'a long label' * 300} {k}" for k in range(48)]
    designs = {"x": sp.uniform(labels)}
    table = pa.table({"x": pa.array([3, 12], pa.int64())})
    with open_output(tmp_path / "x.csv", designs, inside=True) as output:
        output.begin(designs)
        output.write(table)
    sidecar_of(tmp_path / "x.csv").unlink()
    assert (tmp_path / "x.csv").stat().st_size > csv.field_size_limit()
    assert read_release(tmp_path / "x.csv").codes().tolist() == [3, 12]


def test_archive_is_to_be_unpacked(tmp_path):
    (tmp_path / "survey.zip").write_bytes(b"PK")
    with pytest.raises(DataFileError):
        read_release(tmp_path / "survey.zip")


def test_document_inside_that_was_altered_is_refused(tmp_path):
    write_alone(tmp_path / "x.csv")
    text = (tmp_path / "x.csv").read_text()
    (tmp_path / "y.csv").write_text(text.replace('""a""', '""e""'))
    with pytest.raises(DesignDocumentError):
        read_release(tmp_path / "y.csv")
    (tmp_path / "z.csv").write_text("x,subset privacy table\na|b,nothing\n")
    with pytest.raises(DesignDocumentError):
        read_release(tmp_path / "z.csv")
    with pytest.raises(MismatchError):
        read_release(tmp_path / "x.csv", {"x": sp.fixed_size(list("abcd"), 3)})


# What is written ----------------------------------------------------------------------------------


def test_subsets_of_one_variable_are_called_value(tmp_path):
    data = sp.privatize(list("abcd"), LETTERS, seed=1)
    assert write_release(data, tmp_path / "x.parquet").names == ("value",)
    with pytest.raises(MismatchError):
        write_release(data, tmp_path / "y.parquet", {"x": LOPSIDED})
    with refused(ArgumentError, "designs"):
        write_release(data, tmp_path / "y.parquet", {"x": LETTERS, "y": LETTERS})
    assert not (tmp_path / "y.parquet").exists()


def test_several_variables_have_a_column_each(tmp_path):
    both = sp.product({"x": LETTERS, "sex": JOINED})
    table = sp.privatize(
        {"x": list("abcd") * 5, "sex": ["f", "m"] * 10, "income": ["low", ""] * 10}, both, seed=1
    )  # fmt: skip
    release = write_release(table, tmp_path / "x.csv")
    assert release.designs == {"x": LETTERS, "sex x income": JOINED}
    assert release.codes("sex x income").tolist() == table["sex"].codes.tolist()
    assert sorted(release.crosstab().counts) == sorted(table.counts().counts)
    as_one = write_release(table.select(["x", "sex"]), tmp_path / "y.csv")
    assert as_one.designs == release.designs
    assert as_one.codes("x").tolist() == release.codes("x").tolist()
    with pytest.raises(MismatchError):
        write_release(table, tmp_path / "z.csv", {"x": LETTERS})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_codes(tmp_path, make):
    table = make({"x": [3, 5, 6], "y": [11, 6, 9], "name": ["Ann", "Bob", "Cid"]})
    release = write_release(table, tmp_path / "x.csv", {"x": LETTERS, "y": LOPSIDED})
    assert (tmp_path / "x.csv").read_text() == "x,y\na|b,r|s|u\na|c,s|t\nb|c,r|u\n"
    assert release.rows == 3
    kept = write_release(table, tmp_path / "y.csv", {"x": LETTERS}, keep=["name"], form="codes")
    assert (tmp_path / "y.csv").read_text() == "x,name\n3,Ann\n5,Bob\n6,Cid\n"
    assert kept.names == ("x",)


def test_tables_that_cannot_be_written(tmp_path):
    path = tmp_path / "x.parquet"
    with pytest.raises(CodeError, match=r"column x must hold codes.*2 rows.*first in row 1"):
        write_release(pd.DataFrame({"x": [3, 0, 5, 0]}), path, {"x": LETTERS})
    with pytest.raises(CodeError, match=r"a subset in every row; .*1 row.*first in row 1"):
        write_release(pd.DataFrame({"x": [3, None]}), path, {"x": LETTERS})
    with pytest.raises(CodeError, match=r"a subset in every row; .*1 row.*first in row 1"):
        write_release(pl.DataFrame({"x": [3, None]}), path, {"x": LETTERS})
    with pytest.raises(CodeError):
        write_release(pd.DataFrame({"x": [3.0]}), path, {"x": LETTERS})
    with pytest.raises(CodeError):
        write_release(pd.DataFrame({"x": ["a|b"]}), path, {"x": LETTERS})
    with refused(ArgumentError, "designs"):
        write_release(pd.DataFrame({"x": [3]}), path)
    with pytest.raises(ArgumentError, match="no column y"):
        write_release(pd.DataFrame({"x": [3]}), path, {"y": LETTERS})
    with refused(ArgumentError, "data"):
        write_release(pl.LazyFrame({"x": [3]}), path, {"x": LETTERS})
    with refused(ArgumentError, "keep"):
        write_release(sp.privatize(list("abcd"), LETTERS, seed=1), path, keep=["x"])
    with pytest.raises(ArgumentError):
        write_release(pd.DataFrame({"x": [3]}), path, {"x": LETTERS}, keep=["x"])
    assert list(tmp_path.iterdir()) == []


def test_forms_that_cannot_be(tmp_path):
    data = sp.privatize([f"c{k}" for k in range(100)], HADAMARD, seed=1)
    with pytest.raises(CodeError):
        write_release(data, tmp_path / "x.csv", form="labels")
    with refused(ArgumentError, "form"):
        write_release(data, tmp_path / "x.parquet", form="labels")
    with pytest.raises(DataFileError):
        write_release(data, tmp_path / "x.txt")
    odd = sp.privatize([(1,), (2,), (3,), (4,)], sp.uniform([(1,), (2,), (3,), (4,)]), seed=1)
    with pytest.raises(DesignDocumentError):
        write_release(odd, tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_with_its_document(tmp_path):
    path = tmp_path / "x.csv"
    write_release(sp.privatize(list("abcd"), LETTERS, seed=1), path)
    later = sp.privatize(list("rstu"), LOPSIDED, seed=1)
    with pytest.raises(DataFileError):
        write_release(later, path)
    assert read_release(path).designs == {"value": LETTERS}
    assert write_release(later, path, overwrite=True).designs == {"value": LOPSIDED}


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_kept_columns_of_every_type(tmp_path, name):
    kept = {
        "text": ["=1+1", None, 'say "hi", twice', " x\ny"],
        "number": [-1.5, None, 2.0, 1e300],
        "day": pd.to_datetime(["2026-01-02", None, "2026-01-03", "2026-01-04"]),
        "flag": [True, False, None, True],
    }
    table = pa.Table.from_pandas(pd.DataFrame({"x": [3, 5, 6, 9], **kept}))
    table = table.append_column("dict", table["text"].dictionary_encode())
    release = write_release(table, tmp_path / name, {"x": LETTERS}, keep=[*kept, "dict"])
    assert set(release.count("x", by="text")) == set(kept["text"])
    if name == "x.csv":
        frame = pd.read_csv(tmp_path / name)
        assert frame["text"].tolist()[0] == "'=1+1"
        assert frame["text"].tolist()[2:] == frame["dict"].tolist()[2:] == kept["text"][2:]
        assert frame["number"].dropna().tolist() == [-1.5, 2.0, 1e300]


def test_a_column_without_text_cannot_be_kept_in_csv(tmp_path):
    table = pa.table({"x": [3], "list": [[1, 2]]})
    with pytest.raises(ArgumentError, match="column 'list' must be numbers or text"):
        write_release(table, tmp_path / "x.csv", {"x": LETTERS}, keep=["list"])
    assert list(tmp_path.iterdir()) == []


# Counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.arrow"])
@pytest.mark.parametrize("kind", DESIGNS)
def test_counts_come_back(tmp_path, kind, name):
    design = DESIGNS[kind]
    counts = sp.SubsetData(drawn(design), design).counts()
    release = write_counts(counts, tmp_path / name, name="v")
    again = read_release(tmp_path / name)
    columns = again.crosstab() if kind == "product" else again.count("v")
    assert columns.codes.tolist() == counts.codes.tolist()
    assert columns.counts.tolist() == counts.counts.tolist()
    assert release.rows == len(counts.codes)
    assert "frequency weights in column count" in str(release.summary())


def test_the_document_of_counts_names_its_numbers(tmp_path):
    write_counts(sp.SubsetCounts([3, 12], [60, 40], LETTERS), tmp_path / "x.csv", name="letter")
    assert (tmp_path / "x.csv").read_text() == "letter,count\na|b,60\nc|d,40\n"
    document = json.loads((tmp_path / "x.csv.design.json").read_text())
    assert document["weights"] == {"column": "count", "kind": "frequency"}
    plain = read_release(tmp_path / "x.csv").count("letter", weights="count", weights_kind="frequency")
    assert plain.n == 100


def test_counts_that_cannot_be_written(tmp_path):
    weighted = sp.SubsetCounts([3], [1.5], LETTERS, squares=[1.1])
    with refused(ArgumentError, "counts"):
        write_counts(weighted, tmp_path / "x.csv")
    with refused(ArgumentError, "counts"):
        write_counts(sp.privatize(list("abcd"), LETTERS, seed=1), tmp_path / "x.csv")


def test_a_variable_may_be_called_count(tmp_path):
    counts = sp.SubsetCounts([3, 5], [4, 2], LETTERS)
    release = write_counts(counts, tmp_path / "x.csv", name="count")
    assert release.file.names() == ["count", "count_"]
    assert sp.read_release(tmp_path / "x.csv").count("count").counts.tolist() == [4, 2]
