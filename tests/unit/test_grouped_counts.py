"""Counts by group keep the names of their columns, and stay a dict."""

import json
import pickle
from datetime import date
from decimal import Decimal

import pandas as pd
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import NoteKind

UNIFORM = sp.uniform(list("abcd"))
TABLE = pd.DataFrame(
    {
        "race": [3, 12, 5, 3, 15, 3],
        "income": [3, 3, 6, 12, 12, 15],
        "sex": ["f", "m", "f", "f", "m", "f"],
        "year": [2024, 2024, 2025, 2024, 2024, 2025],
    }
)


def as_json(groups):
    return json.loads(json.dumps(groups.to_dict(), allow_nan=False))


def test_a_column_gives_its_name_and_its_values():
    groups = sp.count(TABLE, "race", by="sex", design=UNIFORM)
    assert isinstance(groups, sp.GroupedCounts)
    assert isinstance(groups, dict)
    assert groups.by == ("sex",)
    assert list(groups) == ["f", "m"]
    assert groups["f"].n == 4
    assert repr(groups) == f"<GroupedCounts by sex: 2 groups, n = 5, 1 missing, {UNIFORM!r}>"


@pytest.mark.parametrize("by", [["sex", "year"], ("sex", "year")])
def test_several_columns_give_tuples(by):
    groups = sp.count(TABLE, "race", by=by, design=UNIFORM)
    assert groups.by == ("sex", "year")
    assert list(groups) == [("f", 2024), ("f", 2025), ("m", 2024)]


def test_a_list_of_one_column_gives_tuples_of_one():
    groups = sp.count(TABLE, "race", by=["sex"], design=UNIFORM)
    assert groups.by == ("sex",)
    assert list(groups) == [("f",), ("m",)]
    assert groups.to_frame()["sex"].unique().tolist() == ["f", "m"]


def test_groups_that_are_given_as_values_have_the_name_of_their_column():
    codes = TABLE["race"].to_numpy()
    for groups, name in (
        (sp.count(codes, by=TABLE["sex"].tolist(), design=UNIFORM), "group"),
        (sp.count(TABLE, "race", by=TABLE["sex"], design=UNIFORM), "sex"),
    ):
        assert groups.by == (name,)
        assert list(groups) == ["f", "m"]


def test_names_are_kept_where_rows_are_read_one_by_one():
    table = pd.DataFrame({"said": [["a", "b"], ["c", "d"]], "sex": ["f", "m"], "year": [1, 2]})
    assert sp.count(table, "said", by="sex", design=UNIFORM).by == ("sex",)
    assert sp.count(table, "said", by=["sex", "year"], design=UNIFORM).by == ("sex", "year")


def test_cross_tables_by_group_are_grouped_counts():
    groups = sp.crosstab(TABLE, "race", "income", designs=[UNIFORM, UNIFORM], by="sex")
    assert isinstance(groups, sp.GroupedCounts)
    assert groups.by == ("sex",)
    assert all(isinstance(counts, sp.JointCounts) for counts in groups.values())
    assert list(groups.to_frame().columns) == ["sex", "race", "income", "code", "count", "share"]
    assert groups.summary().columns[-1] == "distinct combinations"
    again = sp.GroupedCounts.from_dict(as_json(groups))
    assert all(isinstance(counts, sp.JointCounts) for counts in again.values())


def test_a_release_gives_grouped_counts(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "said.csv"
    table = TABLE[["race", "sex"]]
    sp.write_release(table, path, designs={"race": UNIFORM}, keep=["sex"])
    groups = sp.read_release(path).count("race", by="sex")
    assert isinstance(groups, sp.GroupedCounts)
    assert groups.by == ("sex",)
    assert groups["m"].n_missing == 1


# What they say ----------------------------------------------------------------------------------


def test_a_summary_has_a_row_for_each_group():
    table = sp.count(TABLE, "race", by=["sex", "year"], design=UNIFORM).summary()
    assert table.columns == ("sex", "year", "people", "missing", "distinct subsets")
    assert table.rows == (("f", "2024", "2", "0", "1"), ("f", "2025", "2", "0", "2"), ("m", "2024", "1", "1", "1"))
    assert [note.kind for note in table.notes] == [NoteKind.MISSING]


def test_a_summary_has_twenty_groups_at_most():
    groups = sp.count([3] * 50, by=list(range(50)), design=UNIFORM)
    assert len(groups.summary().rows) == 20
    assert groups.summary().notes[0].kind is NoteKind.SHORTENED


def test_many_columns_of_groups_share_a_column_of_the_summary():
    by = tuple("hijklmn")
    groups = sp.GroupedCounts({tuple(range(7)): sp.SubsetCounts([3], [1], UNIFORM)}, by)
    assert groups.summary().columns[0] == "h & i & j & k & l & m & n"
    assert groups.summary().rows[0][0] == "0 & 1 & 2 & 3 & 4 & 5 & 6"


def test_groups_that_say_nothing_and_missing_groups_are_told():
    groups = sp.count([3, 15, 15], by=["f", "m", None], design=UNIFORM)
    assert [note.kind for note in groups.notes] == [NoteKind.MISSING, NoteKind.NO_ESTIMATE]
    assert "in 2 groups" in groups.notes[1].text
    assert groups.summary().rows[-1][0] == "(missing)"


def test_weights_and_designs_that_are_not_known_are_told_once():
    options = {"weights": [1.0, 2.0, 3.0], "weights_kind": "sampling"}
    groups = sp.count([3, 5, 6], by=["f", "m", "m"], categories=["a", "b", "c"], **options)
    assert [note.kind for note in groups.notes] == [NoteKind.WEIGHTED, NoteKind.UNKNOWN_DESIGN]
    assert groups.summary().columns[1] == "effective n"
    assert "weight" in groups.to_frame().columns


@every_case("engine", ["pandas", "polars", "pyarrow"])
def test_frames_have_the_columns_of_groups_then_the_subsets(engine):
    pytest.importorskip(engine)
    frame = sp.count(TABLE, "race", by=["sex", "year"], design=UNIFORM).to_frame(engine=engine)
    rows = frame.to_pandas().to_dict("list") if engine != "pandas" else frame.to_dict("list")
    assert rows == {
        "sex": ["f", "f", "f", "m", "m"],
        "year": [2024, 2025, 2025, 2024, 2024],
        "subset": ["a|b", "a|b", "a|c", "c|d", "a|b|c|d"],
        "code": [3, 3, 5, 12, 15],
        "count": [2, 1, 1, 1, 1],
        "share": [1.0, 0.5, 0.5, 0.5, 0.5],
    }


@every_case("engine", ["pandas", "polars", "pyarrow"])
@every_case(
    ("by", "column"),
    [
        (["f", 1, None], ["1", "f", None]),
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([("f", 1), ("m", 2), ("f", 2)], ["f & 1", "f & 2", "m & 2"]),
        ([date(2024, 1, 1), date(2025, 1, 1), None], [date(2024, 1, 1), date(2025, 1, 1), None]),
    ],
)
def test_frames_hold_groups_of_any_type(engine, by, column):
    pytest.importorskip(engine)
    frame = sp.count([3, 5, 12], by=by, design=UNIFORM).to_frame(engine=engine)
    listed = frame["group"].to_pylist() if engine == "pyarrow" else frame["group"].to_list()
    assert [None if value != value else value for value in listed] == column


def test_a_column_of_groups_keeps_its_name_in_a_frame():
    table = TABLE.rename(columns={"sex": "code"})
    frame = sp.count(table, "race", by="code", design=UNIFORM).to_frame()
    assert list(frame.columns) == ["code", "subset", "code_", "count", "share"]
    assert frame["code"].unique().tolist() == ["f", "m"]


def test_no_groups_make_an_empty_frame():
    groups = sp.count([], by=[], design=UNIFORM)
    assert list(groups.to_frame().columns) == ["group", "subset", "code", "count", "share"]
    assert groups.summary().rows == ()
    assert sp.GroupedCounts.from_dict(as_json(groups)) == {}


# What they are kept as --------------------------------------------------------------------------


@every_case(
    "group",
    [
        "f",
        3,
        2.5,
        True,
        None,
        ("f", 2024),
        ("f", (1, None)),
        date(2024, 2, 29),
        Decimal("0.10"),
        pd.Timestamp("2024-02-29 12:30"),
    ],
)
def test_documents_bring_every_name_back(group):
    groups = sp.GroupedCounts({group: sp.SubsetCounts([3, 12], [1, 2], UNIFORM)})
    again = sp.GroupedCounts.from_dict(as_json(groups))
    assert list(again) == [group]
    assert again.by == ("group",)
    assert again[group].counts.tolist() == [1, 2]
    assert again[group].design == UNIFORM


def test_documents_write_a_design_once():
    other = sp.fixed_size(list("abcd"), 2)
    counts = {"f": sp.SubsetCounts([3], [1], UNIFORM), "m": sp.SubsetCounts([5], [2], UNIFORM)}
    groups = sp.GroupedCounts({**counts, "x": sp.SubsetCounts([3], [3], other)}, ["sex"])
    facts = as_json(groups)
    assert [part["design"] for part in facts["groups"]] == [0, 0, 1]
    assert len(facts["designs"]) == 2
    assert sp.GroupedCounts.from_dict(facts)["x"].design == other
    facts["groups"][0]["design"] = 5
    with refused(ArgumentError, "facts"):
        sp.GroupedCounts.from_dict(facts)


@every_case("group", [frozenset("ab"), float("inf"), pd.Interval(0, 1)])
def test_names_that_json_cannot_hold_are_refused_without_showing_them(group):
    groups = sp.GroupedCounts({group: sp.SubsetCounts([3], [1], UNIFORM)})
    with pytest.raises(ArgumentError) as caught:
        groups.to_dict()
    assert caught.value.advice.name == "keep_groups_plain"
    assert str(group) not in str(caught.value)
    assert list(pickle.loads(pickle.dumps(groups))) == [group]


def test_copies_and_pickles_keep_names():
    groups = sp.count(TABLE, "race", by=["sex", "year"], design=UNIFORM)
    for again in (groups.copy(), pickle.loads(pickle.dumps(groups))):
        assert type(again) is sp.GroupedCounts
        assert again.by == ("sex", "year")
        assert again.to_dict() == groups.to_dict()


@every_case(
    ("groups", "by", "argument"),
    [
        ({"f": 3}, ("sex",), "groups"),
        ({}, "sex", "by"),
        ({}, (), "by"),
        ({}, (1,), "by"),
        ({"f": sp.SubsetCounts([3], [1], UNIFORM)}, ("sex", "year"), "groups"),
    ],
)
def test_what_makes_no_groups_is_refused(groups, by, argument):
    with refused(ArgumentError, argument):
        sp.GroupedCounts(groups, by)


def test_groups_are_estimated_together_and_one_at_a_time():
    groups = sp.count(sp.privatize(list("abcd") * 500, UNIFORM, seed=1), by=["f", "m"] * 1000)
    assert len(sp.estimate_many(groups)) == 2
    with refused(ArgumentError, "data") as caught:
        sp.estimate(groups)
    assert caught.value.advice.name == "one_group_at_a_time"


def test_a_declared_order_is_kept():
    column = pd.Categorical(TABLE["sex"], ["m", "f"], ordered=True)
    groups = sp.count(TABLE.assign(sex=column), "race", by="sex", design=UNIFORM)
    for kept in (
        groups,
        groups.copy(),
        pickle.loads(pickle.dumps(groups)),
        sp.GroupedCounts.from_dict(as_json(groups)),
    ):
        assert (list(kept), kept.ordered) == (["m", "f"], True)
    assert not sp.count(TABLE, "race", by="sex", design=UNIFORM).copy().ordered
