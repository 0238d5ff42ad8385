"""An adversary's view: wherever imputed values go, they say that they are imputed."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from every_case import every_case
from pyarrow import feather, parquet
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, DataFileError, DesignDocumentError, MismatchError, NotPrivateWarning

RACES = ["Asian", "Black", "Other", "White"]
DESIGN = sp.uniform(RACES)


@pytest.fixture(scope="module")
def imputed():
    values = np.random.default_rng(1).choice(RACES, 200)
    return sp.impute(sp.privatize(values, DESIGN, seed=1), 3, name="race", seed=1)


TABLE = pd.DataFrame({"y": np.arange(200.0)}, index=np.arange(200) + 1000)


def test_the_object_is_marked(imputed):
    assert imputed.imputed
    assert "guesses and not people's values" in repr(imputed)
    assert imputed.notes[0].kind == sp.NoteKind.IMPUTED
    assert "not people's values" in str(imputed.summary())
    assert "guesses about individuals" in imputed._repr_html_()
    assert pickle.loads(pickle.dumps(imputed)).imputed


def test_documents_hold_no_rows(imputed):
    facts = imputed.to_dict()
    assert facts["imputed"] is True
    assert "values" not in facts
    assert len(json.dumps(facts)) < 5000, "no row of 600"


@every_case("engine", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_are_named_and_marked(imputed, engine):
    for frame in (
        imputed.to_frame(engine=engine),
        *imputed.frames(TABLE, engine=engine),
        *imputed.frames(engine=engine),
    ):
        names = list(frame.column_names if engine == "pyarrow" else frame.columns)
        assert names[-1] == "race_imputed"
        assert "race" not in names
        if engine == "pandas":
            assert frame.attrs["subset_privacy"]["imputed"] is True
        if engine == "pyarrow":
            assert b"subset privacy imputations" in frame.schema.metadata[b"subset_privacy"]


def test_frames_keep_the_table(imputed):
    before = TABLE.copy()
    frames = list(imputed.frames(TABLE))
    assert len(frames) == 3
    assert TABLE.equals(before)
    assert not TABLE.attrs
    for k, frame in enumerate(frames):
        assert frame.index.equals(TABLE.index)
        assert frame["y"].equals(TABLE["y"])
        assert frame["race_imputed"].tolist() == imputed.labels(k)["race_imputed"].tolist()
    for table in (pl.DataFrame({"y": TABLE["y"].to_numpy()}), pa.table({"y": TABLE["y"].to_numpy()})):
        frame = next(imputed.frames(table))
        assert type(frame) is type(table)
        assert frame["race_imputed"].to_pylist() if isinstance(frame, pa.Table) else frame["race_imputed"].to_list()
        assert (
            next(imputed.frames(table, engine="pandas"))["race_imputed"].tolist() == frames[0]["race_imputed"].tolist()
        )


def test_a_category_that_no_one_has_is_left_out():
    values = np.random.default_rng(1).choice(RACES[:3], 20)
    P = np.tile([0.4, 0.3, 0.3, 0.0], (20, 1))
    imputed = sp.impute(sp.privatize(values, sp.fixed_size(RACES, 3), seed=1), 2, P, seed=1)
    assert "White" not in next(imputed.frames())["value_imputed"].cat.categories


# Files --------------------------------------------------------------------------------------------


def test_a_parquet_file_tells_anyone_who_opens_it(imputed, tmp_path):
    path = imputed.write(tmp_path / "sets.parquet", TABLE)
    result = json.loads(parquet.read_metadata(path).metadata[b"subset_privacy"])
    assert result["imputed"] is True
    assert "They are guesses, not people's values" in result["statement"]
    frame = pd.read_parquet(path)
    assert list(frame.columns) == ["imputation", "row", "y", "race_imputed"]
    assert frame.attrs["subset_privacy"]["imputed"] is True, "pandas reads it without knowing of this package"
    assert frame["imputation"].tolist() == [k for k in (1, 2, 3) for _ in range(200)]
    assert frame["row"].tolist() == [*range(200)] * 3
    assert frame["race_imputed"].tolist() == imputed.to_frame()["race_imputed"].tolist()
    assert frame["y"].tolist() == TABLE["y"].tolist() * 3


def test_an_arrow_file_tells_it_too(imputed, tmp_path):
    path = imputed.write(tmp_path / "sets.arrow")
    table = feather.read_table(path)
    assert table.column_names == ["imputation", "row", "race_imputed"]
    assert b"guesses" in table.schema.metadata[b"subset_privacy"]


@pytest.mark.parametrize("name", ["sets.parquet", "sets.arrow"])
def test_no_release_is_made_of_it(imputed, tmp_path, name):
    path = imputed.write(tmp_path / name)
    with pytest.raises(DesignDocumentError):
        sp.read_release(path)
    with pytest.raises(DesignDocumentError):
        sp.read_release(path, {"race_imputed": DESIGN})
    with refused(ArgumentError, "table"):
        sp.privatize_table(path, {"race_imputed": DESIGN}, tmp_path / "out.parquet")


@pytest.mark.parametrize("name", ["sets.csv", "sets.csv.gz", "sets.txt"])
def test_files_that_cannot_tell_it_are_not_written(imputed, tmp_path, name):
    with pytest.raises(DataFileError):
        imputed.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_existing_files_stay(imputed, tmp_path):
    path = tmp_path / "sets.parquet"
    path.write_bytes(b"mine")
    with pytest.raises(DataFileError):
        imputed.write(path)
    assert path.read_bytes() == b"mine"
    assert imputed.write(path, overwrite=True) == path
    assert [each.name for each in tmp_path.iterdir()] == ["sets.parquet"]


# Publishing ---------------------------------------------------------------------------------------


def test_imputed_columns_are_not_privatized(imputed, tmp_path):
    frame = next(imputed.frames(TABLE))
    for column in (frame["race_imputed"], frame.query("y > 5")["race_imputed"].astype(str)):
        with refused(ArgumentError, "values"):
            sp.privatize(column, DESIGN)
    for table in (frame, next(imputed.frames(TABLE, engine="pyarrow"))):
        with refused(ArgumentError, "table"):
            sp.privatize_table(table, {"race_imputed": DESIGN})
    both = sp.product({"race_imputed": DESIGN, "other": DESIGN})
    with refused(ArgumentError, "values"):
        sp.privatize(frame.assign(other="Asian"), both)
    with pytest.warns(NotPrivateWarning, match=r"says that they are imputed"):
        sp.privatize(next(imputed.frames(engine="polars"))["race_imputed"], DESIGN)


def test_imputed_columns_are_not_kept_in_a_release(imputed, tmp_path):
    frame = next(imputed.frames(TABLE)).assign(color=3)
    with refused(ArgumentError, "data"):
        sp.write_release(frame, tmp_path / "r.parquet", {"color": DESIGN}, keep=["race_imputed"])
    with refused(ArgumentError, "table"):
        sp.privatize_table(frame.assign(color="Asian"), {"color": DESIGN}, keep=["race_imputed"])
    assert not list(tmp_path.iterdir())


def test_other_columns_of_a_marked_table_are_published(imputed, tmp_path):
    frame = next(imputed.frames(TABLE)).assign(color="Asian")
    assert len(sp.privatize(frame["color"], DESIGN, seed=1)) == 200
    assert len(sp.privatize_table(frame, {"color": DESIGN}, seed=1)) == 200


# Bad tables ---------------------------------------------------------------------------------------


@every_case(
    ("table", "error", "argument"),
    [
        (TABLE.head(3), MismatchError, "table"),
        (TABLE.assign(race_imputed=1), ArgumentError, "table"),
        ("table.csv", ArgumentError, "table"),
        (pl.LazyFrame({"y": [1]}), ArgumentError, "table"),
    ],
)
def test_bad_tables(imputed, table, error, argument):
    with refused(error, argument):
        imputed.frames(table)


def test_bad_numbers(imputed, tmp_path):
    with refused(ArgumentError, "k"):
        imputed.labels(3)
    with pytest.raises(ArgumentError, match=r"must not have the columns imputation and row; got row"):
        imputed.write(tmp_path / "a.parquet", TABLE.rename(columns={"y": "row"}))
