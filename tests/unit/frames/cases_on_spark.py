"""Privatising tables of Spark, the same for a classic session and for Connect.

Run by `test_on_spark.py`, in a process of its own for each. Spark plans each new kind of query for a while, so the
quick run has what is true of Spark alone, and the slow one all.
"""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from lopsided import ASKED
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, DataFileError, SubsetPrivacyWarning
from subsetprivacy.frames import spark_folder, worker
from subsetprivacy.frames.kernel import Kernel, variables_of
from subsetprivacy.frames.on_spark import privatize_on_spark
from subsetprivacy.frames.overlap import check_no_overlap_with
from subsetprivacy.frames.worker import DrawTask
from subsetprivacy.frames.writing import write_release
from subsetprivacy.messages.for_files import CLEAN_VALUES

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore:published unchanged:subsetprivacy.errors.NotPrivateWarning"),
]
LABELS = ["red", "green", "blue", "black"]
DESIGN = sp.uniform(LABELS)
KEY = b"a key of the tests alone"
SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"


@pytest.fixture
def session(spark_of_the_process):
    return spark_of_the_process


def people(session, n=600, parts=3, *, strange=()):
    drawn = np.random.default_rng(3).choice(LABELS, n, p=[0.5, 0.3, 0.15, 0.05]).tolist()
    for row in strange:
        drawn[row] = "SECRET"
    rows = [(row, f"person {row}", color) for row, color in enumerate(drawn)]
    return drawn, session.createDataFrame(rows, "row long, who string, color string").repartitionByRange(parts, "row")


def columns(table):
    return table.toArrow().to_pydict()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_is_returned_is_read_from_the_files(session, tmp_path):
    n = 4000
    _, table = people(session, n, 4)
    private = sp.privatize_table(table, {"color": DESIGN}, tmp_path / "out", keep="row")
    first, second = columns(private), columns(private)
    assert first == second
    assert sorted(first["row"]) == list(range(n))
    # Shuffled over the whole table. Sixteenths of it before and after: 256 cells of n / 256, 225 degrees of freedom.
    before, after = np.array(first["row"]) * 16 // n, np.arange(n) * 16 // n
    cells = np.bincount(before * 16 + after, minlength=256)
    assert np.sum((cells - n / 256) ** 2) / (n / 256) < 225 + 9 * np.sqrt(2 * 225)
    # The design travels in the folder.
    assert names(tmp_path) == ["out"]
    document = json.loads((tmp_path / "out" / "_subset_privacy.json").read_text())
    assert document["columns"]["color"]["form"] == "codes"
    release = sp.read_release(tmp_path / "out")
    assert release.designs == {"color": DESIGN}
    assert release.count("color").n == n
    # The control: a table that was not written draws anew at every look.
    kernel = Kernel(variables_of({"color": DESIGN}))
    lazy = table.select("color").mapInArrow(lambda batches: DrawTask(kernel).part(batches, 0), "color long")
    assert columns(lazy)["color"] != columns(lazy)["color"]


@pytest.mark.slow
def test_a_key_gives_everybody_the_same_subset_as_in_memory(session, tmp_path):
    """And names that Spark would take apart stay as they are."""
    values, table = people(session, parts=5)
    color, row = "a.b `c`, d", "_added_0"
    odd = table.withColumnRenamed("color", color).withColumnRenamed("row", row)
    private = sp.privatize_table(odd, {color: DESIGN}, tmp_path / "out", key=KEY, id="who", keep=row)
    assert private.columns == [color, row]
    result = columns(private)
    ids = [f"person {row}" for row in range(600)]
    expected = sp.privatize(values, DESIGN, key=KEY, ids=ids, variable=color).codes
    assert dict(zip(result[row], result[color])) == dict(enumerate(expected.tolist()))


def test_rows_that_are_counted_are_all_there_in_no_order(session, tmp_path, monkeypatch):
    """Two columns without any beside them, sorted, laid out by several tasks: the very subsets of the key."""
    monkeypatch.setattr(worker, "SHARE_ROWS", 1000)
    letters = sp.fixed_size(list("abcdefghij"), 2)
    held = np.repeat(np.array(list("abcdefghij")), 300)
    other = np.random.default_rng(4).choice(LABELS, 3000)
    ids = [f"person {k}" for k in range(3000)]
    rows = list(zip(ids, held.tolist(), other.tolist()))
    table = session.createDataFrame(rows, "who string, letter string, color string").repartitionByRange(5, "letter")
    private = sp.privatize_table(table, {"letter": letters, "color": DESIGN}, tmp_path / "out", key=KEY, id="who")
    result = private.toArrow()
    assert result.column_names == ["letter", "color"]
    expected = [
        sp.privatize(held, letters, key=KEY, ids=ids, variable="letter").codes.tolist(),
        sp.privatize(other, DESIGN, key=KEY, ids=ids, variable="color").codes.tolist(),
    ]
    assert sorted(zip(*(column.to_pylist() for column in result.columns))) == sorted(zip(*expected))
    codes = result.column("letter").to_numpy()
    lowest = np.log2(codes & -codes)
    assert abs(np.corrcoef(lowest, np.arange(3000))[0, 1]) < 8 / np.sqrt(3000)
    assert abs(np.corrcoef(lowest[1:], lowest[:-1])[0, 1]) < 8 / np.sqrt(3000)
    assert len(list((tmp_path / "out").glob("part-*.parquet"))) > 1


@pytest.mark.slow
def test_rows_keep_their_order_if_asked(session, tmp_path):
    _, table = people(session, parts=4)
    for overwrite in (False, True):
        sp.privatize_table(table, {"color": DESIGN}, tmp_path / "out", keep="row", keep_order=True, overwrite=overwrite)
        files = pq.read_table(tmp_path / "out")  # in the order of their names
        assert files.column("row").to_pylist() == list(range(600))


@pytest.mark.slow
def test_types_and_missing_values(session, tmp_path):
    # A hundred each: of three subsets that are as likely, one stays away from 25 draws once in eight thousand.
    rows = [(1, True, "a", 7), (3, None, None, 8), (None, False, "b", 9), (3, True, "a", None)] * 100
    table = session.createDataFrame(rows, "number int, flag boolean, letter string, kept long")
    pair = sp.join({"flag": [True, False], "letter": ["a", "b"]})
    designs = {"number": sp.uniform([1, 2, 3, 4]), "both": pair}
    with pytest.raises(CategoryError):
        sp.privatize_table(table, designs, tmp_path / "out")
    private = sp.privatize_table(table, designs, tmp_path / "out", missing="full", keep="kept")
    assert private.columns == ["number", "both", "kept"]
    result = columns(private)
    drawn = {kept: set() for kept in (7, 8, 9, None)}
    for number, both, kept in zip(*(result[name] for name in private.columns)):
        drawn[kept].add((number, both))
    for kept, (number, both) in {7: (1, (True, "a")), 9: (None, (False, "b")), None: (3, (True, "a"))}.items():
        numbers, pairs = map(set, zip(*drawn[kept]))
        assert all(both in pair.members(code) for code in pairs)
        if number is None:
            assert numbers == {designs["number"].missing_code}
        else:
            assert numbers == {code for code in designs["number"].support()[0] if code >> (number - 1) & 1}
    assert {both for _, both in drawn[8]} == {pair.missing_code}


@pytest.mark.slow
def test_covered_design_of_many_kinds_of_rows(session, tmp_path):
    """Too many to be counted: dummy rows are shuffled among the others. Everybody is red, so others are dummies."""
    table = people(session)[1].selectExpr("'red' AS color")
    design = sp.covered(sp.uniform([*LABELS, *(f"color {k}" for k in range(16))]), 0.1)
    private = sp.privatize_table(table, {"color": design}, tmp_path / "out")
    realized = spark_folder.read_document(session, tmp_path / "out").designs["color"]
    assert realized.code_bits > 18
    codes = private.toArrow().column("color").to_numpy()
    assert len(codes) == 600 + realized.D * realized.dummies
    is_dummy = codes & 1 == 0
    place = np.arange(len(codes)) / len(codes)
    assert abs(place[is_dummy].mean() - 0.5) < 8 * np.sqrt(1 / 12 / is_dummy.sum())


def test_covered_design(session, tmp_path):
    _, table = people(session, 4000)
    design = sp.covered(DESIGN, 0.1)
    told = []
    private = privatize_on_spark(
        table,
        Kernel(variables_of({"color": design})),
        tmp_path / "out",
        keep_order=False,
        overwrite=False,
        progress=lambda *rows: told.append(rows),
    )
    realized = spark_folder.read_document(session, tmp_path / "out").designs["color"]
    assert (realized.people, realized.dummies) == (4000, design.dummies_for(4000))
    assert private.columns == ["color"]
    counts = sp.count(private, "color", design=realized)
    assert counts.n == 4000 + realized.D * realized.dummies
    assert told == [(counts.n, counts.n)]
    error = 0.013  # the standard error of each share
    assert np.abs(sp.estimate(counts).w - [0.5, 0.3, 0.15, 0.05]).max() < 8 * error
    with refused(ArgumentError, "keep_order"):
        privatize_on_spark(
            table, Kernel(variables_of({"color": design})), tmp_path / "no", keep_order=True, overwrite=False
        )


@pytest.mark.parametrize("keep_order", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_failure_leaves_nothing_and_shows_nothing(session, tmp_path, keep_order):
    _, table = people(session, strange=(199, 590, 599))
    before = session.conf.get(SETTING)
    with pytest.raises(CategoryError) as it:
        sp.privatize_table(table, {"color": DESIGN}, tmp_path / "out", keep_order=keep_order)
    assert "SECRET" not in str(it.value)
    assert it.value.__context__ is None
    assert names(tmp_path) == []
    assert session.conf.get(SETTING) == before


def test_errors_of_spark_are_not_passed_on(session, tmp_path):
    _, table = people(session, strange=(5,))
    wrong = table.selectExpr("CAST(color AS int) AS color")
    with pytest.raises(DataFileError) as caught:
        sp.privatize_table(wrong, {"color": DESIGN}, tmp_path / "out")
    assert caught.value.__context__ is None
    assert names(tmp_path) == []


@pytest.mark.slow
def test_what_is_there_stays_until_there_is_something_better(session, tmp_path):
    output = tmp_path / "out"
    _, table = people(session)
    kept = columns(sp.privatize_table(table, {"color": DESIGN}, output))
    with pytest.raises(DataFileError):
        sp.privatize_table(table, {"color": DESIGN}, output)
    with pytest.raises(CategoryError):
        sp.privatize_table(people(session, strange=(5,))[1], {"color": DESIGN}, output, overwrite=True)
    assert columns(session.read.parquet(str(output))) == kept
    with refused(ArgumentError, "output"):
        sp.privatize_table(session.read.parquet(str(output)), {"color": sp.uniform(range(16))}, output, overwrite=True)
    again = sp.privatize_table(people(session, 50)[1], {"color": DESIGN}, output, overwrite=True)
    assert again.count() == 50
    assert names(tmp_path) == ["out"]


@pytest.mark.slow
def test_an_output_in_the_folder_that_is_read_is_refused(session, tmp_path):
    people(session, 50)[1].write.parquet(str(tmp_path / "my people"))
    people(session, 50)[1].write.partitionBy("color").parquet(str(tmp_path / "by"))
    (tmp_path / "link").symlink_to(tmp_path / "my people")
    inside = [tmp_path / "my people" / "private", f"file://{tmp_path}/my people/private", tmp_path / "link" / "private"]
    for output in inside:
        with refused(ArgumentError, "output"):
            sp.privatize_table(session.read.parquet(str(tmp_path / "my people")), {"color": DESIGN}, output)
    hive = session.read.parquet(str(tmp_path / "by"))
    with refused(ArgumentError, "output"):
        sp.privatize_table(hive, {"color": DESIGN}, tmp_path / "by" / "color=private")
    with refused(ArgumentError, "output"):
        sp.privatize_table(hive, {"color": DESIGN}, tmp_path, overwrite=True)
    assert names(tmp_path) == ["by", "link", "my people"]
    # Partition columns are columns like others, and a file alone may have its output beside it.
    assert sp.privatize_table(hive, {"color": DESIGN}, tmp_path / "private").count() == 50
    (tmp_path / "people.csv").write_text("color\n" + "red\nblue\n" * 20)
    alone = session.read.csv(str(tmp_path / "people.csv"), header=True)
    check_no_overlap_with(alone.inputFiles(), str(tmp_path / "two"))


def test_an_address_as_a_path_has_lost_a_slash(session):
    _, table = people(session, 50)
    with refused(ArgumentError, "output"):
        sp.privatize_table(table, {"color": DESIGN}, Path("s3://bucket/out"))


@pytest.mark.slow
def test_folder_on_a_disk_that_only_spark_sees(session, tmp_path, monkeypatch):
    monkeypatch.setattr(spark_folder, "local_path", lambda path: None)
    monkeypatch.setattr("subsetprivacy.frames.on_spark.local_path", lambda path: None)
    _, table = people(session, 50)
    address = f"file://{tmp_path}/out's one"
    private = sp.privatize_table(table, {"color": DESIGN}, address)
    assert private.count() == 50
    assert names(tmp_path) == ["out's one"]  # the folder of unsorted rows was removed by Spark
    assert not (tmp_path / "out's one" / "_subset_privacy.json").exists()
    assert spark_folder.read_document(session, address).designs == {"color": DESIGN}
    with pytest.raises(CategoryError):
        sp.privatize_table(people(session, strange=(5,))[1], {"color": DESIGN}, (tmp_path / "no").as_uri())
    assert names(tmp_path) == ["out's one"]
    with pytest.raises(DataFileError):
        spark_folder.read_document(session, tmp_path.as_uri())


@pytest.mark.slow
def test_catalogue_that_makes_no_databases(session, tmp_path, monkeypatch):
    monkeypatch.setattr(spark_folder, "local_path", lambda path: None)
    people(session, 50)[1].write.parquet((tmp_path / "left").as_uri())

    class Strict:
        read, range = session.read, session.range

        def sql(self, text):
            raise PermissionError("no databases here")

    with pytest.warns(SubsetPrivacyWarning, match="could only be emptied"):
        spark_folder.remove(Strict(), (tmp_path / "left").as_uri())
    assert session.read.parquet((tmp_path / "left").as_uri()).count() == 0


@pytest.mark.parametrize("output", ["", "/", "s3://", "a/*/b", "a/part[1]"])
def test_outputs_that_are_no_folder(session, output):
    _, table = people(session, 10)
    with refused(ArgumentError, "output"):
        privatize_on_spark(table, Kernel(variables_of({"color": DESIGN})), output, keep_order=False, overwrite=False)


def test_column_that_is_not_there(session, tmp_path):
    _, table = people(session, 10)
    with pytest.raises(ArgumentError, match="hue"):
        sp.privatize_table(table, {"hue": ASKED}, tmp_path / "out")


@pytest.mark.slow
def test_the_guide_runs(session, tmp_path, capsys):
    guide = (Path(__file__).parents[3] / "docs/how-to/spark.md").read_text()
    code = "\n".join(re.findall(r"^```\{code-block\} python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL))
    for folder in ("private", "again"):
        code = code.replace(f'"{folder}"', repr(str(tmp_path / folder)))
    exec(compile(code, "docs/how-to/spark.md", "exec"), {"spark": session})
    said = capsys.readouterr().out
    assert said.endswith("True\nTrue\n")
    assert "1,000" in said


@pytest.mark.slow
def test_spaces_are_stripped_and_marks_are_missing(session, tmp_path):
    table = session.createDataFrame([(value,) for value in [" red", "blue ", "?"] * 20], "color string")
    with pytest.raises(CategoryError) as caught:
        sp.privatize_table(table, {"color": DESIGN}, tmp_path / "no")
    assert "blue" not in str(caught.value)
    assert caught.value.advice == CLEAN_VALUES()
    made = columns(sp.privatize_table(table, {"color": DESIGN}, tmp_path / "out", strip=True, na="?"))["color"]
    assert sum(code == DESIGN.missing_code for code in made) >= 20


@pytest.mark.slow
def test_our_codes_are_read(session, tmp_path):
    """With Spark's vectorised reader and without."""
    design = sp.hadamard([f"c{k}" for k in range(100)])
    codes = np.random.default_rng(3).choice(design.support()[0], 5000)
    release = write_release(sp.SubsetData(codes, design), tmp_path / "x.parquet", {"x": design})
    setting = "spark.sql.parquet.enableVectorizedReader"
    try:
        for vectorised in ("true", "false"):
            session.conf.set(setting, vectorised)
            table = session.read.parquet(str(release.path))
            assert table.dtypes == [("x", "bigint")]
            assert [row[0] for row in table.collect()] == codes.tolist()
    finally:
        session.conf.unset(setting)
