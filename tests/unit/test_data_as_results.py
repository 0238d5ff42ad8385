"""Data and counts as results: notes, summaries, frames and documents that say what they hold."""

import json
import pickle
from datetime import date

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED as LOPSIDED
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, DesignDocumentError, NoDataError
from subsetprivacy.messages import NoteKind

LABELS = list("abcd")
UNIFORM = sp.uniform(LABELS)
BOTH = sp.product({"x": UNIFORM, "y": LOPSIDED})


def kinds(result):
    return [note.kind for note in result.notes]


def as_json(result):
    return json.loads(json.dumps(result.to_dict(), allow_nan=False))


# Notes ------------------------------------------------------------------------------------------


def test_counts_say_how_many_are_missing_and_what_was_not_reported():
    counts = sp.SubsetCounts([3, 12, 15], [60, 40, 7], UNIFORM)
    assert kinds(counts) == [NoteKind.MISSING, NoteKind.UNOBSERVED]
    assert [note.text for note in counts.notes] == [
        "Missing, and left out of estimates: 7 people.",
        "Not reported: 4 of the 6 subsets that the design has.",
    ]


def test_complete_counts_have_no_notes():
    assert sp.SubsetCounts([3, 5, 6, 9, 10, 12], [1] * 6, UNIFORM).notes == ()


def test_nothing_is_said_of_subsets_where_nothing_was_reported():
    assert kinds(sp.SubsetCounts([15], [3], UNIFORM)) == [NoteKind.MISSING]


def test_weighted_counts_say_so():
    counts = sp.SubsetCounts([3, 15], [2.5, 1.5], UNIFORM, [2.0, 1.0])
    assert kinds(counts) == [NoteKind.WEIGHTED, NoteKind.MISSING, NoteKind.UNOBSERVED]
    assert counts.summary().columns == ("subset", "weight", "share")
    assert list(counts.to_frame().columns) == ["subset", "code", "weight", "share"]


def test_a_design_that_is_not_known_is_noted():
    counts = sp.count([{"a"}, {"b", "c"}], categories=["a", "b", "c"])
    assert kinds(counts) == [NoteKind.UNKNOWN_DESIGN]
    assert counts.notes[0].advice.name == "give_the_design"
    data = sp.SubsetData(counts.codes, counts.design)
    assert kinds(data) == [NoteKind.UNKNOWN_DESIGN]


def test_full_sets_that_are_drawn_are_not_called_missing():
    design = sp.conditional(LABELS, {("a", "b"): 0.5, ("c", "d"): 0.5, tuple(LABELS): 0.5})
    counts = sp.SubsetCounts([3, 12, 15], [5, 5, 6], design)
    assert counts.notes[0].kind is NoteKind.MISSING
    assert counts.notes[0].text == "Full sets, drawn or missing, and left out of estimates: 6 people."
    assert counts.summary().rows[-1][0] == "(full set)"


def test_dummy_rows_are_noted_and_counted_as_rows():
    data = sp.privatize(LABELS * 5, sp.covered(UNIFORM, 0.2), seed=1)
    assert kinds(data) == [NoteKind.DUMMIES]
    assert data.summary().columns[1] == "rows"


# Summaries --------------------------------------------------------------------------------------


def test_the_most_frequent_subsets_come_first_and_missing_ones_last():
    table = sp.SubsetCounts([3, 12, 5, 15], [10, 60, 20, 10], UNIFORM).summary()
    assert table.title == "Reported subsets: n = 90, 3 distinct subsets, 10 missing"
    assert table.rows == (
        ("c|d", "60", "0.6000"),
        ("a|c", "20", "0.2000"),
        ("a|b", "10", "0.1000"),
        ("(missing)", "10", "0.1000"),
    )


def test_a_summary_has_twenty_subsets_at_most():
    counts = sp.simulate(sp.uniform(range(8)), [0.125] * 8, 2000, seed=1)
    table = counts.summary()
    assert len(counts.n_a) > 20
    assert len(table.rows) == 20
    assert table.notes[0].kind is NoteKind.SHORTENED
    assert f"of {len(counts.n_a)} subsets" in table.notes[0].text
    people = [int(row[1]) for row in table.rows]
    assert people == sorted(counts.n_a.astype(int), reverse=True)[:20]


def test_people_are_summarized_as_their_counts():
    data = sp.SubsetData([3, 12, 15], UNIFORM)
    assert str(data.summary()) == str(data.counts().summary())


def test_a_table_has_a_row_for_each_variable():
    table = sp.SubsetTable([[3, 12, 3, 15], [3, 15, 15, 12]], BOTH)
    assert table.summary().rows == (("x", "3", "1", "2", "a|b", "0.5000"), ("y", "2", "2", "2", "a|b", "0.2500"))
    assert kinds(table) == [NoteKind.MISSING]
    assert table.notes[0].text == "An answer is missing: 3 rows."


def test_a_variable_that_no_one_answered_has_no_most_frequent_subset():
    assert sp.SubsetTable([[3, 12], [15, 15]], BOTH).summary().rows[1][-2:] == ("-", "-")


def test_samples_have_a_row_each_twenty_at_most():
    batch = sp.CountsBatch([3, 12, 15], [[4, 6, 1], [0, 5, 0]] * 15, UNIFORM)
    table = batch.summary()
    assert table.rows[:2] == (("0", "10", "1", "2"), ("1", "5", "0", "1"))
    assert len(table.rows) == 20
    assert [note.kind for note in table.notes] == [NoteKind.SHORTENED, NoteKind.MISSING]
    assert kinds(batch) == [NoteKind.MISSING]
    assert "15 people" in batch.notes[0].text


# Frames -----------------------------------------------------------------------------------------


def test_frames_of_counts_have_every_subset_and_shares_of_all():
    frame = sp.SubsetCounts([12, 3, 5, 15], [60, 20, 0, 20], UNIFORM).to_frame()
    assert frame.to_dict("list") == {
        "subset": ["a|b", "c|d", "a|b|c|d"],
        "code": [3, 12, 15],
        "count": [20, 60, 20],
        "share": [0.2, 0.6, 0.2],
    }


def test_frames_of_people_keep_their_order():
    frame = sp.SubsetData([12, 3, 15, 3], UNIFORM).to_frame()
    assert frame.to_dict("list") == {"code": [12, 3, 15, 3], "subset": ["c|d", "a|b", "a|b|c|d", "a|b"]}


def test_frames_of_pairs_have_a_column_for_each_variable():
    counts = sp.SubsetTable([[3, 12, 3], [5, 3, 15]], BOTH).counts()
    frame = counts.to_frame()
    assert list(frame.columns) == ["x", "y", "code", "count", "share"]
    assert set(zip(frame["x"], frame["y"])) == {("a|b", "a|c"), ("c|d", "a|b"), ("a|b", "a|b|c|d")}
    assert frame["share"].sum() == pytest.approx(1)


def test_a_variable_keeps_its_name_in_a_frame_whatever_it_is():
    counts = sp.SubsetTable([[3], [3]], sp.product({"count": UNIFORM, "y": UNIFORM})).counts()
    frame = counts.to_frame()
    assert list(frame.columns) == ["count", "y", "code", "count_", "share"]
    assert frame["count"].tolist() == ["a|b"]
    assert frame["count_"].tolist() == [1]


def test_frames_of_samples_have_the_subsets_that_occur_in_each():
    frame = sp.CountsBatch([12, 3], [[1, 3], [5, 0]], UNIFORM).to_frame()
    assert frame.to_dict("list") == {
        "sample": [0, 0, 1],
        "subset": ["a|b", "c|d", "c|d"],
        "code": [3, 12, 12],
        "count": [3, 1, 5],
        "share": [0.75, 0.25, 1.0],
    }


# Documents --------------------------------------------------------------------------------------

DESIGNS = {
    "uniform": UNIFORM,
    "lopsided": LOPSIDED,
    "coarse": sp.count([{"a"}], categories=LABELS).design,
    "hadamard": sp.hadamard(LABELS),
    "mixture": (sp.simulate(UNIFORM, [0.25] * 4, 9, seed=1) + sp.simulate(LOPSIDED, [0.25] * 4, 9, seed=2)).design,
    "covered": sp.privatize(LABELS, sp.covered(UNIFORM, 0.2), seed=1).design,
    "product": BOTH,
}


@every_case("name", DESIGNS)
def test_documents_bring_the_same_counts_back(name):
    design = DESIGNS[name]
    codes = [3, 12] if name == "coarse" else sorted(design.support()[0][:2].tolist())
    counts = sp.SubsetCounts(codes, [7, 2], design)
    again = sp.SubsetCounts.from_dict(as_json(counts))
    assert again.design == design
    assert again.codes.tolist() == codes
    assert again.counts.tolist() == [7, 2]
    assert again.counts.dtype == counts.counts.dtype
    assert again.squares is None


def test_documents_keep_every_digit_of_weights():
    counts = sp.SubsetCounts([3, 12], [0.1 + 0.2, 1 / 3], UNIFORM, [1 / 7, 1e-17])
    again = sp.SubsetCounts.from_dict(as_json(counts))
    assert np.array_equal(again.counts, counts.counts)
    assert np.array_equal(again.squares, counts.squares)
    assert again.n == counts.n


def test_documents_of_no_samples_come_back():
    batch = sp.CountsBatch([3, 12], np.zeros((0, 2), int), UNIFORM)
    assert np.array_equal(sp.CountsBatch.from_dict(as_json(batch)).counts, batch.counts)


def test_labels_that_json_cannot_hold_are_refused_with_what_to_do():
    counts = sp.simulate(sp.uniform([date(2024, 1, day) for day in range(1, 5)]), [0.25] * 4, 9, seed=1)
    with pytest.raises(DesignDocumentError) as caught:
        counts.to_dict()
    assert caught.value.advice.name == "text_labels"
    assert pickle.loads(pickle.dumps(counts)).design == counts.design


@every_case("kind", [sp.SubsetData, sp.SubsetCounts, sp.SubsetTable, sp.CountsBatch, sp.GroupedCounts])
@every_case("facts", [{"codes": [3]}, {}, [3, 12], None])
def test_what_is_no_document_is_refused(kind, facts):
    with refused(ArgumentError, "facts") as caught:
        kind.from_dict(facts)
    assert caught.value.advice.name == "as_to_dict_wrote"


def test_an_altered_design_is_refused():
    facts = as_json(sp.SubsetCounts([3, 12], [1, 2], UNIFORM))
    facts["design"]["categories"][0] = "z"
    with pytest.raises(DesignDocumentError):
        sp.SubsetCounts.from_dict(facts)


@every_case(
    "made",
    [
        sp.SubsetData([3, 12], UNIFORM),
        sp.SubsetTable([[3], [5]], BOTH),
        sp.SubsetCounts([3, 12], [1.5, 2.5], UNIFORM, [1.0, 2.0]),
        sp.SubsetTable([[3], [5]], BOTH).counts(),
        sp.CountsBatch([3, 12], [[1, 2]], UNIFORM),
    ],
)
def test_pickled_data_are_the_same_and_stay_read_only(made):
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made)
    assert again.to_dict() == made.to_dict()
    array = again.columns[0] if isinstance(again, sp.SubsetTable) else again.codes
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


# Pictures ---------------------------------------------------------------------------------------


def test_the_picture_has_a_bar_for_each_subset_with_its_share():
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = sp.SubsetCounts([3, 12, 15], [60, 20, 20], UNIFORM).plot()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.6, 0.2])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a | b", "c | d"]
    assert [text.get_text() for text in ax.texts] == ["60.0%", "20.0%"]
    assert ax.get_title() == "Observed share of each subset, n = 80"
    plt.close("all")


def test_the_picture_has_twenty_bars_at_most_and_takes_axes():
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = plt.subplots()[1]
    ax = sp.simulate(sp.uniform(range(8)), [0.125] * 8, 2000, seed=1).plot(ax=axes)
    assert ax is axes
    assert len(ax.patches) == 20
    assert "20 most frequent subsets" in ax.get_title()
    plt.close("all")


def test_nothing_is_drawn_of_nothing():
    with pytest.raises(NoDataError):
        sp.SubsetCounts([15], [3], UNIFORM).plot()
