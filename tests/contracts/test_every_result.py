"""One vocabulary: every result type has the same words. Types are found by introspection, so none can be forgotten."""

import inspect
import json
import pickle
import re
import warnings

import pytest
import result_types
from every_case import every_case
from result_examples import EXAMPLES

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, SubsetPrivacyWarning
from subsetprivacy.messages import Note
from subsetprivacy.results import Result
from subsetprivacy.tables import Table

# Public classes that are no results: what results are made of.
NO_RESULTS = {
    "Alarm",
    "AskedCell",
    "Categories",
    "DataTest",
    "Design",
    "JointCategories",
    "Note",
    "NoteKind",
    "OptionSkips",
    "Question",
    "Sampling",
    "VariableChecks",
}
# A level or an interval method is part of the question that these answer, so they cannot be asked for another.
FIXED_LEVEL = {"Audit", "Contrast", "Findings", "TableAudit", "HonestyCheck", "Measure", "Plan", "Power"}
FIXED_LEVEL |= {"EffectPower", "IndependencePower"}
# Tables of two variables: `summary` prints standard errors in brackets and no interval, and the intervals of the frame
# are those of the standard errors. So only the frame has a level, and there is no method to choose.
NO_INTERVAL_IN_SUMMARY = {"Association", "ConditionalShares", "ConfusionMatrix"}


TYPES = result_types.result_types()
EVERY_RESULT = every_case("name", sorted(TYPES))


@pytest.fixture(scope="module")
def made():
    """Return an example of a type, made once."""
    kept = {}

    def make(name):
        if name not in kept:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SubsetPrivacyWarning)
                kept[name] = EXAMPLES[name]()
        return kept[name]

    return make


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        yield


def test_the_page_lists_them_all():
    assert result_types.PAGE.read_text(encoding="utf-8") == result_types.page(), (
        "run `python tests/support/result_types.py`"
    )


def test_public_classes_are_results_or_known():
    public = {name for name in sp.__all__ if inspect.isclass(getattr(sp, name))}
    assert public - NO_RESULTS <= set(TYPES)
    assert not NO_RESULTS & set(TYPES)


@EVERY_RESULT
def test_is_a_result_with_an_example(name, made):
    assert issubclass(TYPES[name], Result)
    assert type(made(name)) is TYPES[name]
    assert name in sp.__all__, "what users hold is public"


@EVERY_RESULT
def test_notes_are_data(name, made):
    notes = made(name).notes
    assert isinstance(notes, tuple)
    assert all(isinstance(note, Note) for note in notes)
    assert all("Hint:" not in note.text for note in notes)
    assert [Note.from_dict(json.loads(json.dumps(note.to_dict()))) for note in notes] == list(notes)


@EVERY_RESULT
def test_summary_is_a_table(name, made):
    table = made(name).summary()
    assert isinstance(table, Table)
    assert len(table.columns) <= 9
    assert all(len(row) == len(table.columns) for row in table.rows)
    for text in (str(table), table.to_csv(), table.to_latex(), table.to_markdown(), table.to_html()):
        assert text.strip()
    assert "<table" in made(name)._repr_html_()


@EVERY_RESULT
def test_representation_is_one_line_with_rounded_numbers(name, made):
    text = repr(made(name))
    assert text.startswith(f"<{name}"), text
    assert "\n" not in text
    assert not re.search(r"\d\.\d{5,}", text), text


@EVERY_RESULT
def test_to_dict_is_json(name, made):
    facts = made(name).to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)).keys() == facts.keys()
    assert [note["kind"] for note in facts["notes"]] == [note.kind for note in made(name).notes]


@EVERY_RESULT
@every_case("engine", ["pandas", "polars", "pyarrow"])
def test_frames_have_fixed_columns(name, engine, made):
    pytest.importorskip(engine)
    frame = made(name).to_frame(engine=engine)
    columns = list(frame.column_names if engine == "pyarrow" else frame.columns)
    assert columns == list(made(name)._columns())
    assert not [column for column in columns if "%" in column or column.startswith("std")], columns
    if "lower" in columns:
        assert columns.index("upper") == columns.index("lower") + 1
        assert "level" in columns
    if "estimate" in columns:
        assert columns[columns.index("estimate") + 1] == "se"


@EVERY_RESULT
def test_level_and_method_where_there_are_intervals(name, made):
    if "lower" not in made(name)._columns() or name in FIXED_LEVEL:
        return
    asked = (TYPES[name].summary, TYPES[name].to_frame) if name not in NO_INTERVAL_IN_SUMMARY else ()
    for method in asked:
        assert {"level", "method"} <= set(inspect.signature(method).parameters)
    wide, narrow = (made(name).to_frame(level=level, engine="pyarrow") for level in (0.99, 0.5))
    assert wide["level"][0].as_py() == 0.99
    gaps = [
        [high - low for low, high in zip(one["lower"].to_pylist(), one["upper"].to_pylist())] for one in (wide, narrow)
    ]
    assert all(a > b for a, b in zip(*gaps, strict=True) if a == a and b == b)


@EVERY_RESULT
def test_pickles(name, made):
    again = pickle.loads(pickle.dumps(made(name)))
    assert again.to_dict() == made(name).to_dict()
    assert repr(again) == repr(made(name))


@EVERY_RESULT
def test_round_trips_or_says_why_not(name, made):
    facts = json.loads(json.dumps(made(name).to_dict()))
    if TYPES[name].why_not_restored:
        with pytest.raises(ArgumentError):
            TYPES[name].from_dict(facts)
        return
    again = TYPES[name].from_dict(facts)
    assert type(again) is TYPES[name]
    assert json.loads(json.dumps(again.to_dict())) == facts
    assert str(again.summary()) == str(made(name).summary())


@EVERY_RESULT
def test_pictures_are_drawn_where_there_are_some(name, made):
    plt = pytest.importorskip("matplotlib.pyplot")
    if hasattr(TYPES[name], "plot"):
        drawn = made(name).plot()
        assert (getattr(drawn, "figure", None) or drawn).axes
        plt.close("all")
