"""Counting from files: the same numbers as from memory, and errors that say where."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.data import JointCounts
from subsetprivacy.errors import ArgumentError, CodeError, DataFileError
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.writing import write_release
from subsetprivacy.messages import NoteKind

RACE = sp.independent(["a", "b|c", "=d", "é,f"], {("a", "b|c"): 0.5, ("a", "=d"): 0.3, ("a", "é,f"): 0.2})
INCOME = sp.conditional(list("rstu"), {("r", "s", "u"): 0.4, ("s", "t"): 0.6, ("r", "t", "u"): 0.4, ("r", "u"): 0.2})
FORMATS = ["x.csv", "x.csv.gz", "x.csv.zst", "x.parquet", "x.arrow"]
N = 500


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "race": RACE.support()[0][rng.choice(6, N, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])],
            "income": INCOME.support()[0][rng.integers(0, 4, N)],
            "town": rng.choice(["x", "=y", "z,z"], N, p=[0.6, 0.3, 0.1]),
            "weight": rng.choice([0.5, 1.0, 2.25], N),
            "people": rng.choice([0, 1, 4], N),
        }
    )


@pytest.fixture(scope="module", params=FORMATS)
def release(request, people, tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / request.param
    return write_release(people, path, {"race": RACE, "income": INCOME}, keep=["town", "weight", "people"])


def as_dict(counts):
    return dict(zip(counts.codes.tolist(), counts.counts.tolist()))


def test_a_column_is_counted(release, people):
    assert as_dict(release.count("race")) == Counter(people["race"].tolist())
    assert release.count("income").design == INCOME
    assert release.rows == N


def test_groups_are_counted(release, people):
    counted = release.count("race", by="town")
    assert list(counted) == ["=y", "x", "z,z"]
    for town, part in people.groupby("town"):
        assert as_dict(counted[town]) == Counter(part["race"].tolist())
    several = release.count("race", by=["town", "income"])
    assert all(isinstance(group, tuple) for group in several)
    assert sum(part.n for part in several.values()) == N


def test_weights_are_summed(release, people):
    sampling = release.count("race", weights="weight", weights_kind="sampling")
    sums = people.groupby("race")["weight"].agg(["sum", lambda w: (w**2).sum()])
    assert sampling.counts == pytest.approx(sums.iloc[:, 0].to_numpy())
    assert sampling.squares == pytest.approx(sums.iloc[:, 1].to_numpy())
    frequency = release.count("race", weights="people", weights_kind="frequency")
    assert as_dict(frequency) == people.groupby("race")["people"].sum().to_dict()
    with pytest.raises(ArgumentError, match=r"the file .*: frequency weights .*; column weight has .*, first in"):
        release.count("race", weights="weight", weights_kind="frequency")


def test_pairs_are_counted(release, people):
    table = release.crosstab("race", "income")
    assert isinstance(table, JointCounts)
    direct = sp.crosstab(people["race"], people["income"], names=["race", "income"], designs=[RACE, INCOME])
    assert as_dict(table) == as_dict(direct)
    assert as_dict(release.crosstab()) == as_dict(direct)
    grouped = release.crosstab("income", "race", by="town")
    assert {town: part.n for town, part in grouped.items()} == people["town"].value_counts().to_dict()
    assert grouped["x"].names == ("income", "race")


def test_estimates_are_those_of_the_data_in_memory(release, people):
    direct = sp.estimate(sp.SubsetData(people["race"].to_numpy(), RACE))
    assert sp.estimate(release.count("race")).w == pytest.approx(direct.w)


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow"])
def test_codes_can_be_loaded(release, people, engine):
    frame = release.to_frame(engine=engine)
    columns = {name: np.asarray(frame[name]).tolist() for name in ("race", "income")}
    assert columns == {name: people[name].tolist() for name in columns}


def test_progress_is_told(release):
    told = []
    release.count("race", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (N, None if release.file.kind == "csv" else N)


def test_a_release_shows_itself(release):
    assert repr(release) == f"<Release {release.path.name!r}: race (4), income (4)>"
    assert RACE.fingerprint[:16] in str(release.summary())
    assert "<td" in release._repr_html_()
    assert release.names == ("race", "income")


def test_names_that_are_none(release):
    with refused(ArgumentError, "column"):
        release.count("incom")
    with refused(ArgumentError, "column"):
        release.count()
    with refused(ArgumentError, "columns"):
        release.crosstab("race", "race")
    with pytest.raises(DataFileError):
        release.count("race", by="Town")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": []}, "`by` must name at least one column; got an empty list"),
        ({"by": "race"}, "must have one part: subsets, groups or weights; got race twice"),
        ({"by": ["town", "town"]}, "must have one part: subsets, groups or weights; got town twice"),
        ({"weights": "race", "weights_kind": "sampling"}, "must have one part: .* got race twice"),
        ({"by": "weight", "weights": "weight", "weights_kind": "sampling"}, "must have one part: .* got weight twice"),
        ({"by": ["town", 3.5]}, "`by` must name columns of the table; entry 1 does not"),
        ({"by": ["town", "secret"]}, "`by` must name columns of the table; entry 1 does not"),
        ({"by": 3.5}, "`by` must be the name of a column of the table; got 3.5"),
        ({"weights": "weight"}, "`weights_kind` must be given with weights"),
        ({"weights_kind": "sampling"}, "`weights` must be given with `weights_kind`"),
        ({"weights": "weight", "weights_kind": "survey"}, "`weights_kind` must be one of frequency, sampling"),
        ({"missing": "drop"}, "`missing` must be one of error, full; got 'drop'"),
    ],
)
def test_what_is_asked_of_a_file_is_what_may_be_asked_of_a_table(release, people, options, message):
    for ask in (release.count, release.crosstab):
        with pytest.raises(ArgumentError, match=message) as caught:
            ask(*(("race",) if ask == release.count else ("race", "income")), **options)
        assert "secret" not in str(caught.value)
    if "weights_kind" not in options or "weights" in options:
        with pytest.raises(ArgumentError, match=message):
            sp.count(pl.from_pandas(people).lazy(), "race", design=RACE, **options)


def test_a_group_of_one_name_in_a_list_is_a_tuple(release, people):
    assert {group: part.n for group, part in release.count("race", by=["town"]).items()} == {
        (town,): n for town, n in people["town"].value_counts().items()
    }
    assert as_dict(release.count("race", missing=None)) == as_dict(release.count("race"))


def test_hashes_are_groups(tmp_path):
    hashes = [2**62 + 1, 2**62 + 2, -(2**62) - 7, -1]
    table = pa.table({"x": [3, 5, 3, 6], "h": hashes, "u": pa.array([2**63, 2**64 - 1, 7, 2**63], pa.uint64())})
    for name in ("x.parquet", "x.arrow"):
        release = write_release(table, tmp_path / name, {"x": LETTERS}, keep=["h", "u"])
        assert {group: as_dict(part) for group, part in release.count("x", by="h").items()} == {
            hashes[2]: {3: 1},
            -1: {6: 1},
            hashes[0]: {3: 1},
            hashes[1]: {5: 1},
        }
        assert {group: part.n for group, part in release.count("x", by="u").items()} == {7: 1, 2**63: 2, 2**64 - 1: 1}


def test_decimals_beyond_every_code(tmp_path):
    written(tmp_path / "x.parquet", [3, 2**64 + 3], pa.decimal128(38, 0))
    with pytest.raises(CodeError, match=r"codes in 1…15;.* 1 row.*first in row 1 \(outside"):
        read_release(tmp_path / "x.parquet", {"x": LETTERS}).count("x")


def test_a_release_stays_where_it_is(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    written(tmp_path / "real.csv", ["a|b"], "labels")
    (tmp_path / "x.csv").symlink_to(tmp_path / "real.csv")
    monkeypatch.chdir(tmp_path)
    release = read_release("x.csv", {"x": LETTERS})
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert as_dict(release.count("x")) == {3: 1}
    assert release.path == tmp_path / "x.csv"  # by the name it was given, whose document is beside it


def test_sampling_weights_of_a_covered_release(tmp_path):
    data = sp.privatize(list("abcd") * 5, sp.covered(LETTERS, 0.1), seed=1)
    table = pa.table({"x": data.codes, "w": [1.0] * len(data)})
    release = write_release(table, tmp_path / "x.parquet", {"x": data.design}, keep=["w"])
    with pytest.raises(ArgumentError, match="dummy rows have no sampling weight"):
        release.count("x", weights="w", weights_kind="sampling")
    assert as_dict(release.count("x", weights="w", weights_kind="frequency")) == as_dict(release.count("x"))


# Files that are wrong -----------------------------------------------------------------------------

LETTERS = sp.uniform(list("abcd"))


def written(path, cells, kind):
    """Write a column as an outsider does, without a document."""
    if isinstance(kind, str):
        path.write_text("x,y\n" + "".join(f"{cell},0\n" for cell in cells))
    else:
        pq.write_table(pa.table({"x": pa.array(cells, kind)}), path)
    return path


WRONG = {
    "text that is no subset": ("labels", ["a|b", "a|q", "b|c", "q"], r"joined by a bar;.* 2 rows.*first in line 3"),
    "an empty cell": ("labels", ["a|b", "b|c", ""], r"a subset in every row;.* 1 row.*first in line 4"),
    "codes read as labels": ("labels", ["3", "5"], r"2 rows.*first in line 2.*form='codes' reads codes"),
    "a single value": ("labels", ["a|b", "a"], r"the uniform design can produce;.* 1 row.*first in line 3"),
    "0 in a CSV file": ("codes", [3, 5, 0, 0], r"2 rows.*first in line 4 \(0, the empty set\)"),
    "a code outside": ("codes", [3, 16], r"codes in 1…15;.* 1 row.*first in line 3 \(outside"),
    "a negative code": ("codes", [3, -3], r"codes in 1…15;.* 1 row.*first in line 3 \(outside"),
    "a float in a CSV file": ("codes", [3, "5.0"], r"codes in 1…15;.* 1 row.*first in line 3"),
    "a huge number": ("codes", [3, "9" * 40], r"codes in 1…15;.* 1 row.*first in line 3"),
    "labels read as codes": ("codes", ["a|b", "c|d"], r"codes in 1…15;.* 2 rows.*first in line 2"),
    "0": (pa.int64(), [3, 5, 0], r"1 row.*first in row 2 \(0, the empty set\)"),
    "null": (pa.int64(), [3, None, 5, None], r"a subset in every row;.* 2 rows.*first in row 1"),
    "outside": (pa.int64(), [3, 1 << 50], r"codes in 1…15;.* 1 row.*first in row 1"),
    "foreign": (pa.int64(), [3, 5, 7, 7], r"the uniform design can produce;.* 2 rows.*first in row 2"),
    "floats": (pa.float64(), [3.0, 5.0], r"must hold integers; got floats"),
    "bytes": (pa.binary(), [b"a", b"b"], r"must hold subset codes.*got something else"),
    "booleans": (pa.bool_(), [True, True], r"got booleans"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_by_its_row(tmp_path, name):
    kind, cells, said = WRONG[name]
    text = isinstance(kind, str)
    path = written(tmp_path / ("x.csv" if text else "x.parquet"), cells, kind)
    release = read_release(path, {"x": LETTERS}, form=kind if text else None)
    for count in (release.count, release.codes):
        with pytest.raises(CodeError, match=f"the file '.*{path.name}': column x .*{said}"):
            count("x")


def test_rows_of_a_folder_are_named_by_their_file(tmp_path):
    for k, cells in enumerate(([3, 5], [6, 3, 0])):
        written(tmp_path / f"part-{k}.parquet", cells, pa.int64())
    with pytest.raises(CodeError, match=r"the folder .*first in row 2 of 'part-1\.parquet'"):
        read_release(tmp_path, {"x": LETTERS}).count("x")


def test_missing_answers_may_be_empty_cells(tmp_path):
    labels = read_release(written(tmp_path / "x.csv", ["a|b", ""], "labels"), {"x": LETTERS})
    codes = read_release(written(tmp_path / "x.parquet", [3, None, None], pa.int64()), {"x": LETTERS})
    nothing = read_release(written(tmp_path / "y.parquet", [None, None], pa.null()), {"x": LETTERS})
    assert [release.count("x", missing="full").n_missing for release in (labels, codes, nothing)] == [1, 2, 2]
    with refused(ArgumentError, "missing"):
        codes.count("x", missing="drop")


def test_small_integers_and_empty_files_are_read(tmp_path):
    small = read_release(written(tmp_path / "x.parquet", [3, 5, 3], pa.uint8()), {"x": LETTERS})
    assert as_dict(small.count()) == {3: 2, 5: 1}
    empty = read_release(written(tmp_path / "y.parquet", [], pa.int64()), {"x": LETTERS})
    assert (empty.count().n, empty.rows, empty.codes().tolist()) == (0, 0, [])
    header = read_release(written(tmp_path / "z.csv", [], "codes"), {"x": LETTERS})
    assert (header.count().n, header.rows) == (0, 0)
    many = sp.uniform([f"c{k}" for k in range(48)])  # with more subsets than fit in memory
    assert read_release(written(tmp_path / "many.csv", [], "codes"), {"x": many}).count().n == 0


def test_forms_are_never_guessed(tmp_path):
    numbers = sp.uniform([1, 2, 3, 4])
    path = written(tmp_path / "x.csv", ["1|2", "3|4"], "labels")
    with refused(ArgumentError, "form"):
        read_release(path, {"x": numbers})
    assert as_dict(read_release(path, {"x": numbers}, form="labels").count()) == {3: 1, 12: 1}
    many = sp.hadamard([f"c{k}" for k in range(100)])
    coded = written(tmp_path / "y.csv", [2, 3, 3], "codes")
    assert as_dict(read_release(coded, {"x": many}).count()) == {2: 1, 3: 2}
    with pytest.raises(CodeError):
        read_release(coded, {"x": many}, form="labels")
    with refused(ArgumentError, "form"):
        read_release(path, {"x": numbers}, form="bits")


def test_a_covered_release_has_no_groups(tmp_path):
    data = sp.privatize(list("abcd") * 5, sp.covered(LETTERS, 0.1), seed=1)
    table = pa.table({"x": data.codes, "town": ["t"] * len(data)})
    release = write_release(table, tmp_path / "x.parquet", {"x": data.design}, keep=["town"])
    with pytest.raises(ArgumentError, match="dummy rows belong to no group"):
        release.count("x", by="town")


def test_one_column_of_several_variables(tmp_path):
    both = sp.product({"x": LETTERS, "y": INCOME})
    data = sp.privatize({"x": list("abcd") * 9, "y": list("rstu") * 9}, both, seed=4).select(["x", "y"])
    release = write_release(data, tmp_path / "x.parquet", {"both": both})
    assert as_dict(release.crosstab("both")) == as_dict(data.counts())


def test_groups_without_a_value_are_none(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x,town\na|b,\na|b,u\nc|d,\n")
    counted = read_release(path, {"x": LETTERS}).count("x", by="town")
    assert {group: as_dict(part) for group, part in counted.items()} == {None: {3: 1, 12: 1}, "u": {3: 1}}


def test_the_separator_is_told_by_the_columns_of_the_release(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x,b;c;d\na|b,1;2;3\n")
    assert as_dict(read_release(path, {"x": LETTERS}).count("x")) == {3: 1}
    path.write_text("y;x\n1,5;a|b\n")
    assert as_dict(read_release(path, {"x": LETTERS}).count("x", by="y")["1,5"]) == {3: 1}


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_labels_in_other_formats(tmp_path, kind):
    table = pa.table({"x": pa.array(["a|b", "c|d", "b|a"], kind)})
    with pa.ipc.new_file(str(tmp_path / "x.arrow"), table.schema) as writer:
        writer.write_table(table)
    release = read_release(tmp_path / "x.arrow", {"x": LETTERS})
    assert as_dict(release.count("x")) == {3: 2, 12: 1}
    assert release.codes("x").tolist() == [3, 12, 3]


def test_a_large_csv_file_is_not_read_to_be_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("subsetprivacy.frames.release._LARGE", 0)
    release = read_release(written(tmp_path / "x.csv", ["a|b"], "labels"), {"x": LETTERS})
    assert "…" in str(release.summary())
    assert release.rows == 1
    assert "…" not in str(release.summary())


def test_columns_that_are_kept_are_told(tmp_path):
    design = sp.uniform(list("abcd"))
    path = tmp_path / "private.csv"
    table = pa.table({"letter": [3, 5, 6, 9], "year": [2001, 2001, 2002, 2001], "town": ["x", "x", "y", "z"]})
    release = write_release(table, path, {"letter": design}, keep=["year", "town"])
    assert release.kept == ("year", "town")
    assert release.unique_rows() == 2
    assert "Kept unchanged and not protected: year, town." in str(release.summary())
    assert [note.kind for note in release.notes] == [NoteKind.NOT_PROTECTED]
    assert release.to_dict()["columns"]["letter"] == {"form": "labels", "design": design.document()}
    assert list(release.to_frame().columns) == ["letter", "year", "town"]
    assert release.to_frame(engine="pyarrow").column("town").to_pylist() == ["x", "x", "y", "z"]
    assert list(release.to_frame(kept=False).columns) == ["letter"]


def test_a_release_that_keeps_nothing_has_nobody_alone(tmp_path):
    design = sp.uniform(list("abcd"))
    release = write_release(sp.privatize(list("abcd"), design), tmp_path / "private.parquet", {"letter": design})
    assert (release.kept, release.unique_rows()) == ((), 0)
