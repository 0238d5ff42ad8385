"""`count` and `crosstab` on tables: what they accept, and what they refuse in which words."""

import sqlite3
from collections import Counter

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, COVERED, RECORDED
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.counting import counts_of_groups
from subsetprivacy.engines import tally_batches
from subsetprivacy.errors import (
    ArgumentError,
    CodeError,
    DataFileError,
    InvalidDesignError,
    TooLargeError,
)

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
V4 = sp.uniform(list("rstu"))
RACE, INCOME = [3, 12, 5, 15, 3, 9, 3, 10], [3, 3, 15, 12, 3, 6, 5, 6]
REGION = ["n", "s", "n", "n", None, "s", "s", "n"]
FRAME = pd.DataFrame({"race": RACE, "income": INCOME, "region": REGION, "times": [2, 0, 1, 3, 1, 1, 4, 1]})


def cells(counts):
    return dict(zip(counts.codes.tolist(), counts.counts.tolist()))


# A table of counts that a database has made -------------------------------------------------------------------------


def test_a_table_of_counts_from_a_database():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (race INTEGER, region TEXT)")
    connection.executemany("INSERT INTO people VALUES (?, ?)", zip(RACE, REGION))
    rows = connection.execute("SELECT race, region, COUNT(*) FROM people GROUP BY race, region").fetchall()
    connection.close()
    table = pd.DataFrame(rows, columns=["race", "region", "n"])
    assert table["race"].duplicated().any()  # a code may stand in several rows
    assert cells(sp.count(table, "race", design=ASKED, weights="n", weights_kind="frequency")) == Counter(RACE)
    parts = sp.count(table, "race", design=ASKED, weights="n", weights_kind="frequency", by="region")
    assert cells(parts["n"]) == {3: 1, 5: 1, 10: 1, 15: 1}
    assert list(parts) == ["n", "s", None]


def test_a_table_of_counts_from_duckdb():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("people", FRAME)
    made = connection.sql("SELECT race, income, SUM(times) AS n FROM people GROUP BY ALL")  # a sum is a HUGEINT
    table = sp.crosstab(
        made, "race", "income", designs={"race": ASKED, "income": V4}, weights="n", weights_kind="frequency"
    )
    people = sp.crosstab(FRAME, "race", "income", designs=[ASKED, V4], weights="times", weights_kind="frequency")
    assert cells(table) == cells(people)
    assert table.counts.sum() == 13


# What columns may hold ----------------------------------------------------------------------------------------------


def test_gaps_that_turned_codes_into_floats():
    frame = pd.DataFrame({"race": [3, None, 12, 3]})
    assert frame["race"].dtype == float
    assert cells(sp.count(frame, "race", design=ASKED, missing="full")) == {3: 2, 12: 1, 15: 1}
    with pytest.raises(CodeError, match="must hold a subset in every row; got none in 1 row, first in row 1"):
        sp.count(frame, "race", design=ASKED)
    with pytest.raises(CodeError, match="got floats, not whole ones in 2 rows, first in row 2"):
        sp.count(pd.DataFrame({"race": [3, None, 3.5, np.inf]}), "race", design=ASKED, missing="full")
    with pytest.raises(CodeError):
        sp.count(pd.DataFrame({"race": [3.0, 5.0]}), "race", design=ASKED, missing="full")


def test_a_column_of_gaps_only():
    for frame in (pd.DataFrame({"x": [None] * 3}), pl.DataFrame({"x": [None] * 3}), pa.table({"x": pa.nulls(3)})):
        counts = sp.count(frame, "x", design=ASKED, missing="full")
        assert (counts.n, counts.n_missing) == (0, 3)
        with pytest.raises(CodeError, match="got none in 3 rows, first in row 0"):
            sp.count(frame, "x", design=ASKED)


def test_python_objects():
    frame = pd.DataFrame({"race": pd.Series([3, None, 12], dtype=object), "text": pd.Series(["a|b", None, "c|d"])})
    assert cells(sp.count(frame, "race", design=ASKED, missing="full")) == {3: 1, 12: 1, 15: 1}
    assert cells(sp.count(frame, "text", design=ASKED, missing="full")) == {3: 1, 12: 1, 15: 1}
    mixed = pd.DataFrame({"race": pd.Series([3, "secret"], dtype=object)})
    with pytest.raises(CodeError) as caught:
        sp.count(mixed, "race", design=ASKED)
    assert "secret" not in repr(caught.value)
    assert caught.value.__context__ is None
    huge = pd.DataFrame({"race": pd.Series([3, 2**70], dtype=object)})
    with pytest.raises(CodeError, match=r"got others in 1 row \(outside the categories\)"):
        sp.count(huge, "race", design=ASKED)


def test_collections_of_labels_in_cells():
    sets = [{"a", "b"}, {"c", "d"}, {"a", "b"}]
    lists = [["a", "b"], ["d", "c"], ["b", "a"]]
    regions = ["n", "s", "s"]
    for frame in (
        pd.DataFrame({"said": sets, "other": [3, 5, 6], "region": regions, "n": [1, 2, 4]}),
        pl.DataFrame({"said": lists, "other": [3, 5, 6], "region": regions, "n": [1, 2, 4]}),
        pa.table({"said": lists, "other": [3, 5, 6], "region": regions, "n": [1, 2, 4]}),
    ):
        assert cells(sp.count(frame, "said", design=ASKED)) == {3: 2, 12: 1}
        result = sp.count(frame, "said", design=ASKED, by="region", weights="n", weights_kind="frequency")
        assert {group: cells(part) for group, part in result.items()} == {"n": {3: 1}, "s": {3: 4, 12: 2}}
        missing = "got no column Region among its 4 columns"
        for by, told in (("Region", missing), ("said", "one part: .* got said twice")):
            with pytest.raises(ArgumentError, match=told):
                sp.count(frame, "said", design=ASKED, by=by)
        with pytest.raises(ArgumentError, match="got no column N among its 4 columns"):
            sp.count(frame, "said", design=ASKED, weights="N", weights_kind="frequency")
        several = sp.count(frame, "said", design=ASKED, by=["region", "n"])
        assert set(several) == {("n", 1), ("s", 2), ("s", 4)}
        assert sp.crosstab(frame, "said", "other", designs=[ASKED, V4]).n == 3
    with pytest.raises(CodeError):
        sp.count(pl.DataFrame({"said": lists}).lazy(), "said", design=ASKED)
    with pytest.raises(CodeError, match="`data` must hold a subset for every person; got 1 without one, first in row"):
        sp.count(pd.DataFrame({"said": [{"a", "b"}, None]}), "said", design=ASKED)


def test_designs_whose_codes_are_numbers():
    frame = pd.DataFrame({"group": [3, 4, 5, 11, 1]})
    assert cells(sp.count(frame, "group", design=RECORDED)) == {1: 1, 3: 1, 4: 1, 5: 1, 11: 1}
    with pytest.raises(CodeError):
        sp.count(pd.DataFrame({"group": ["a|b"]}), "group", design=RECORDED)


def test_text_that_is_no_subset_names_the_row():
    for frame in (pd.DataFrame({"x": ["a|b", "a|secret", "a|a"]}), pa.table({"x": ["a|b", "a|secret", "a|a"]})):
        with pytest.raises(CodeError, match=r"labels of the 4 categories.*got others in 2 rows, first in row 1") as t:
            sp.count(frame, "x", design=ASKED)
        assert "secret" not in repr(t.value)


def test_what_is_wrong_with_the_first_wrong_row():
    for frame in (pd.DataFrame({"x": [3, 99, 0]}), pa.table({"x": [3, 99, 0]})):
        with pytest.raises(CodeError, match=r"others in 2 rows, first in row 1 \(outside the categories\)"):
            sp.count(frame, "x", design=ASKED)
    with pytest.raises(CodeError, match=r"others in 2 rows, first in row 1 \(0, the empty set\)"):
        sp.count(pl.DataFrame({"x": [3, 0, -4]}), "x", design=ASKED)


# Groups and weights -------------------------------------------------------------------------------------------------


def test_groups_of_every_type():
    import datetime

    day = datetime.date(2026, 11, 16)
    for values in (
        [2, 1, None],
        [True, False, None],
        ["z", "a", None],
        [2.5, -1.0, None],
        [day, day.replace(day=1), None],
    ):
        frame = pl.DataFrame({"race": [3, 5, 12], "by": values})
        assert list(sp.count(frame, "race", design=ASKED, by="by")) == [values[1], values[0], None]


def test_groups_given_as_values_still_are_rows():
    # As long as a data frame is in memory, a group or weight for each person may come from elsewhere.
    for by in (FRAME["region"], np.array(REGION, object), list(REGION), pl.Series(REGION)):
        result = sp.crosstab(FRAME, "race", "income", designs=[ASKED, V4], by=by)
        assert {group: table.counts.sum() for group, table in result.items()} == {"n": 4, "s": 3, None: 1}
    weights = FRAME["times"].to_numpy()
    assert sp.count(FRAME, "race", design=ASKED, weights=weights, weights_kind="frequency").counts.sum() == 13


@every_case(
    ("options", "message"),
    [
        ({"by": ["region", "secret"]}, "`by` must name columns of the table; entry 1 does not"),
        ({"by": []}, "`by` must name at least one column; got an empty list"),
        ({"by": "regoin"}, r"the table; got no column regoin among its 4 columns\. Hint: did you mean 'region'"),
        ({"by": "Region"}, r"got no column Region among its 4 columns\. Hint: did you mean 'region'"),
        ({"by": "race"}, "must have one part: subsets, groups or weights; got race twice"),
        ({"by": ["region", "region"]}, "must have one part: subsets, groups or weights; got region twice"),
        ({"weights": "times"}, "`weights_kind` must be given with weights"),
        ({"weights": "times", "weights_kind": "survey"}, "`weights_kind` must be one of frequency, sampling"),
        ({"weights": "region", "weights_kind": "sampling"}, "weights must be numbers; got column region of type"),
        ({"missing": "drop"}, "`missing` must be one of error, full; got 'drop'"),
        ({"by": True}, "`by` must be the name of a column of the table; got True"),
    ],
)
def test_names_that_do_not_fit(options, message):
    for table in (FRAME, pa.Table.from_pandas(FRAME)):
        with pytest.raises(ArgumentError, match=message) as caught:
            sp.count(table, "race", design=ASKED, **options)
        assert "secret" not in str(caught.value)


def test_groups_of_lists_are_no_groups():
    for table in (
        pl.DataFrame({"race": [3], "l": [[1]]}).lazy(),
        pa.table({"race": [3], "l": [[1]]}),
        pd.DataFrame({"race": [3], "l": [[1]]}),
        pd.DataFrame({"race": [3, 5], "l": [None, {"a": "secret"}]}),
    ):
        with pytest.raises(ArgumentError):
            sp.count(table, "race", design=ASKED, by="l")


def test_values_where_a_lazy_table_needs_names():
    lazy = pl.from_pandas(FRAME).lazy()
    with refused(ArgumentError, "by"):
        sp.count(lazy, "race", design=ASKED, by=FRAME["region"])
    with refused(ArgumentError, "weights"):
        sp.count(lazy, "race", design=ASKED, weights=np.ones(8), weights_kind="sampling")
    with refused(ArgumentError, "column"):
        sp.count(FRAME, FRAME["race"], design=ASKED)


def test_more_people_than_are_exact():
    frame = pd.DataFrame({"race": [3, 3], "n": [2**53, 2**53]})
    with pytest.raises(ArgumentError):
        sp.count(frame, "race", design=ASKED, weights="n", weights_kind="frequency")


def test_a_group_whose_weights_are_zero():
    frame = pd.DataFrame({"race": [3, 5], "n": [0, 2], "region": ["n", "s"]})
    result = sp.count(frame, "race", design=ASKED, by="region", weights="n", weights_kind="frequency")
    assert (cells(result["n"]), cells(result["s"])) == ({}, {5: 2})


# What is asked for --------------------------------------------------------------------------------------------------


def test_a_table_without_a_column():
    for table in (FRAME, pl.from_pandas(FRAME), pl.from_pandas(FRAME).lazy(), pa.Table.from_pandas(FRAME)):
        with pytest.raises(CodeError) as caught:
            sp.count(table, design=ASKED)
        assert "income" not in str(caught.value)


def test_a_column_of_something_that_has_none():
    for data in (RACE, np.array(RACE), FRAME["race"], sp.SubsetData(RACE, ASKED)):
        with refused(ArgumentError, "column"):
            sp.count(data, "race", design=ASKED)


def test_a_column_of_a_subset_table():
    held = sp.SubsetTable([RACE, INCOME], sp.product({"race": ASKED, "income": V4}))
    assert cells(sp.count(held, "income")) == Counter(INCOME)


def test_either_a_design_or_categories():
    with refused(ArgumentError, "design"):
        sp.count(FRAME, "race")
    with refused(ArgumentError, "design"):
        sp.count(FRAME, "race", design=ASKED, categories=ABCD)
    with pytest.raises(ArgumentError, match="must come with its design; got none for income"):
        sp.crosstab(pl.from_pandas(FRAME).lazy(), "race", "income", designs={"race": ASKED})
    with refused(ArgumentError, "design"):
        sp.crosstab(FRAME, "race", "income", designs=[ASKED, "uniform"])


def test_missing_entries_of_a_plain_column():
    for column in ([3, None, 5], np.array([3.0, np.nan, 5.0]), pd.Series([3, None, 5], dtype="Int64")):
        assert sp.count(column, design=sp.uniform(ABCD)).n_missing == 1
        assert sp.count(column, design=sp.uniform(ABCD), missing="full").n_missing == 1
        with pytest.raises(CodeError, match="got 1 without one, first in row 1"):
            sp.count(column, design=sp.uniform(ABCD), missing="error")
    assert sp.count(iter([3, 5]), design=sp.uniform(ABCD), missing="error").n == 2
    with pytest.raises(CodeError, match="got 1 without one, first in row 2"):
        sp.crosstab([3, 5, None], [3, 5, 6], designs=[sp.uniform(ABCD), V4], missing="error")


def test_covered_releases_have_no_groups():
    frame = pd.DataFrame({"x": COVERED.support()[0], "region": "n"})
    with refused(ArgumentError, "by"):
        sp.count(frame, "x", design=COVERED, by="region")
    with pytest.raises(InvalidDesignError, match="dummy rows must cover all variables together"):
        sp.crosstab(pd.DataFrame({"x": [3], "y": [3]}), "x", "y", designs=[COVERED, V4])
    assert sp.count(frame, "x", design=COVERED).counts.sum() == len(frame)


def test_covered_releases_have_no_sampling_weights():
    frame = pd.DataFrame({"x": COVERED.support()[0]}).assign(w=1.0)
    told = "`weights` must be left out for a covered release, or frequencies: dummy rows have no sampling weight"
    for data, column, weights in (
        (frame, "x", "w"),
        (pl.from_pandas(frame).lazy(), "x", "w"),
        (frame, "x", frame["w"]),
        (frame["x"], None, frame["w"]),
    ):
        with pytest.raises(ArgumentError, match=told):
            sp.count(data, column, design=COVERED, weights=weights, weights_kind="sampling")
        counts = sp.count(data, column, design=COVERED, weights=weights, weights_kind="frequency")
        assert counts.counts.sum() == len(frame)


# Several columns ----------------------------------------------------------------------------------------------------


def test_too_many_bits_are_refused_before_anything_is_read():
    def run(_):
        raise AssertionError("the table was read")

    lazy = pl.DataFrame({"x": [3], "y": [3]}).lazy().map_batches(run, schema={"x": pl.Int64, "y": pl.Int64})
    many = [sp.uniform(range(30)), sp.uniform(range(31))]
    with pytest.raises(TooLargeError):
        sp.crosstab(lazy, "x", "y", designs=many)


def test_the_same_column_twice():
    frame = pd.DataFrame({"x": RACE * 3, "y": RACE * 3})
    with pytest.raises(ArgumentError):
        sp.crosstab(frame, "x", "y", designs=[ASKED, ASKED])
    with refused(ArgumentError, "names"):
        sp.crosstab(frame, "x", "x", designs=[ASKED, ASKED])
    assert sp.crosstab(frame.head(8), "x", "y", designs=[ASKED, ASKED]).counts.sum() == 8


def test_joined_variables():
    pair = sp.join({"sex": ["f", "m"], "view": ["no", "so", "yes"]})
    codes = sp.privatize(list(pair.categories) * 4, pair, seed=3).codes
    frame = pl.DataFrame({"pair": codes, "income": (INCOME * 3)[: len(codes)]}).lazy()
    table = sp.crosstab(frame, "pair", "income", designs={"pair": pair, "income": V4})
    assert table.names == ("sex x view", "income")
    assert table.counts.sum() == 24


def test_errors_of_several_columns_name_the_column_and_the_row():
    frame = pd.DataFrame({"race": RACE, "income": [*INCOME[:6], 7, 0]})
    for table in (frame, pa.Table.from_pandas(frame), pl.from_pandas(frame)):
        with pytest.raises(CodeError, match=r"column income .*in 1 row, first in row 7 \(0, "):
            sp.crosstab(table, "race", "income", designs=[ASKED, V4])
    with pytest.raises(ArgumentError, match="must be in the table; got no column incmoe among its"):
        sp.crosstab(frame, "race", "incmoe", designs=[ASKED, V4])


def test_rows_are_numbered_through_files_and_row_groups(tmp_path):
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    codes = np.random.default_rng(2).choice([3, 5, 6, 9, 10, 12], 30_000)
    codes[[23_456, 23_457, 29_999]] = 7
    for number, part in enumerate(np.split(codes, 3)):
        pq.write_table(pa.table({"x": part}), tmp_path / f"part-{number}.parquet", row_group_size=700)
    with pytest.raises(CodeError, match=r"can produce; got others in 3 rows, first in row 23456\."):
        sp.count(ds.dataset(tmp_path), "x", design=V4)


# Engines that fail --------------------------------------------------------------------------------------------------


def test_an_engine_that_fails_does_not_show_a_cell():
    lazy = pl.DataFrame({"race": ["secret"]}).lazy().with_columns(pl.col("race").str.to_date("%Y"))
    with pytest.raises(DataFileError) as caught:
        sp.count(lazy, "race", design=ASKED)
    assert caught.value.__context__ is None


def test_a_stream_is_told_by_its_lines():
    batch = pa.record_batch({"race": [3, 12, 0], "n": [1, 2, 3]})
    groups = tally_batches([batch], ["race"], "n", bits=[4], whole=True)
    with pytest.raises(CodeError, match=r"got others in 1 row, first in line 4 \(0, the empty set\)"):
        counts_of_groups(
            groups, {"race": ASKED}, weights="n", weights_kind="frequency", place=lambda row: f"line {row + 2}"
        )
