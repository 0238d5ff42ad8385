"""Numbers, labels, notes and errors as readers of a page see them, and every sentence in one place."""

import ast
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy
from subsetprivacy import tables
from subsetprivacy.errors import ArgumentError, SmallCountWarning
from subsetprivacy.finding.captured_warnings import capture_warnings, distinct
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import AUTO_INTERVAL, MORE_PEOPLE_OR_MOM
from subsetprivacy.presenting.words import Words, digits_for, error_text, label_text, words_of

ROOT = Path(subsetprivacy.__file__).parent
PLACES = [*ROOT.glob("report/*.py"), *ROOT.glob("presenting/*.py"), *ROOT.glob("collect/**/*.py")]
EN = words_of("en")


@every_case(
    ("text", "wanted"),
    [
        (EN.percent(0.853), "85.3%"),
        (EN.percent(-0.0001), "0.0%"),
        (EN.percent(np.nan), "–"),
        (EN.number(np.inf), "–"),
        (EN.fine_percent(1.0), "100%"),
        (EN.fine_percent(0.0), "0%"),
        (EN.fine_percent(0.9985), "99.85%"),
        (EN.fine_percent(1 - 1e-9), "above 99.9999%"),
        (EN.level(0.999), "99.9%"),
        (EN.whole(1234567.4), "1,234,567"),
        (EN.whole(1e10), "10,000,000,000"),
        (EN.times(3.2571), "3.26"),
        (EN.times(12345.6), "12,346"),
        (EN.bits(0.0), "0 bits"),
        (EN.small(0.01 / 13), "0.00077"),
        (EN.small(1e-7), "0.0000001"),
        (EN.span(0.4, 0.42, EN.bits), "0.40 to 0.42 bits"),
        (EN.span(0.4, 0.42, str), "0.4 to 0.42"),
        (EN.span(np.nan, 0.42, EN.percent), ""),
        (EN.with_span(0.5, 0.4, 0.6, EN.percent), "50.0% (40.0 to 60.0%)"),
        (EN.with_span(0.5, None, None, EN.percent), "50.0%"),
    ],
)
def test_numbers(text, wanted):
    assert text == wanted


def test_as_many_decimals_as_errors_leave_a_meaning():
    # Two figures of the standard error, in percent.
    assert digits_for(np.array([0.0021, 0.0025])) == 2
    assert digits_for(np.array([0.08])) == 1
    assert digits_for(np.array([0.2, np.nan, 0.0])) == 0
    assert digits_for(np.array([1e-9])) == 5
    assert digits_for(np.array([np.nan])) == 2


def test_one_and_many_have_sentences_of_their_own():
    assert EN.count("report.rows", 1) == "1 row."
    assert EN.count("report.rows", 0) == "0 rows."
    assert EN.count("report.rows", 2500) == "2,500 rows."


def test_marks_are_those_of_the_language():
    marks = {
        "number.decimal": ",",
        "number.thousands": ".",
        "number.percent": "{n} %",
        "number.span": "{low} bis {high}",
    }
    other = Words("xx", "ltr", marks)
    assert other.whole(1234567) == "1.234.567"
    assert other.percent(0.1234, 2) == "12,34 %"
    assert other.span(0.1, 0.25, other.percent) == "10,0 bis 25,0 %"
    assert other.small(0.00077) == "0,00077"


def test_labels_have_the_form_that_tables_have():
    assert label_text(("Female", "low")) == tables.label_text(("Female", "low")) == "Female & low"
    assert len(label_text("x" * 100)) == 60


def test_members_of_a_set_are_a_list_and_no_combination():
    assert EN.listed(["never", "once"]) == "never, once"
    assert EN.listed(["a, b", "c"]) == "a, b; c"
    assert EN.listed(range(20), 3) == "0, 1, 2, … (20 in all)"
    assert all(len(part) <= 60 for part in EN.listed(["x" * 90, "y" * 90]).split(", "))


def test_readers_get_advice_that_is_for_them_and_no_other():
    note = Note(NoteKind.NOT_UNIQUE, "Several fit.", MORE_PEOPLE_OR_MOM)
    assert EN.note(note) == "<span>Several fit. Hint: collect more people.</span>"
    assert EN.note(Note(NoteKind.BOUNDARY, "A zero.", AUTO_INTERVAL)) == "<span>A zero.</span>"
    assert error_text(ArgumentError("it must be so.", AUTO_INTERVAL)) == "it must be so."
    assert (
        error_text(ArgumentError("it must be so.", MORE_PEOPLE_OR_MOM)) == "it must be so. Hint: collect more people."
    )


def test_a_caveat_without_a_translation_is_marked_as_english():
    other = Words("xx", "rtl", {"note.boundary": "Ein Anteil ist 0."})
    assert other.note(Note(NoteKind.BOUNDARY, "A zero.")) == "<span>Ein Anteil ist 0.</span>"
    assert other.note(Note(NoteKind.BUDGET, "Too <long>.")) == '<span lang="en" dir="ltr">Too &lt;long&gt;.</span>'


def test_a_warning_that_says_what_a_note_says_is_not_said_again():
    note = Note(NoteKind.TOO_FEW_PEOPLE, "Few people.")
    with capture_warnings() as captured:
        warnings.warn(SmallCountWarning("Few people.", AUTO_INTERVAL), stacklevel=1)
        warnings.warn(SmallCountWarning("Small counts."), stacklevel=1)
    assert [one.kind for one in captured.notes] == [NoteKind.SMALL_COUNTS] * 2
    assert distinct([note, *captured.notes]) == (note, Note(NoteKind.SMALL_COUNTS, "Small counts."))


def test_warnings_of_others_pass():
    with pytest.warns(UserWarning, match="of another library") as caught, capture_warnings() as captured:
        warnings.warn("of another library", UserWarning, stacklevel=1)
    assert captured.notes == []
    assert [one.filename for one in caught] == [__file__]


def test_a_language_that_is_none_is_named():
    with refused(ArgumentError, "language"):
        words_of("tlh")


# Every sentence has a key, and every key a sentence -------------------------------------------------


def _keys_in_code():
    """Return the texts in the views that look like keys, and the beginnings of those that are put together."""
    whole, started = set(), set()
    for path in [*ROOT.glob("presenting/*.py"), *ROOT.glob("report/*.py"), *ROOT.glob("collect/web/studio_*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                whole.add(node.value)
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                started.add(node.values[0].value)
    for path in ROOT.glob("collect/web/templates/**/*.html"):
        whole |= set(re.findall(r"words(?:\.count)?\(['\"]([\w.]+)['\"]", path.read_text(encoding="utf-8")))
    return whole, {text for text in started if re.fullmatch(r"[a-z]+\.[a-z_.]*", text)}


def _base(key):
    return re.sub(r"\.(one|many)$", "", key)


def test_no_sentence_is_left_that_no_page_says():
    whole, started = _keys_in_code()
    unused = [key for key in EN.texts if _base(key) not in whole and not _base(key).startswith(tuple(started))]
    # Of a check, code adds what it says, and why it says nothing, to the key of its name.
    stems = {key: re.sub(r"(\.none)?\.[\w -]+$", "", _base(key)) for key in unused}
    assert [key for key, stem in stems.items() if stem not in whole] == []


def test_every_sentence_that_a_page_says_exists():
    whole, _ = _keys_in_code()
    heads = {key.partition(".")[0] for key in EN.texts}
    named = {text for text in whole if re.fullmatch(r"[a-z]+\.[a-z_.\-]+", text) and text.partition(".")[0] in heads}
    other = {text for text in named if text.endswith((".css", ".json", ".html", ".", "_"))}  # files, and beginnings
    bases = {_base(key) for key in EN.texts}
    assert named - other - bases == set()


def test_about_does_not_precede_a_number_with_decimals():
    for key, text in EN.texts.items():
        for place in re.findall(r"\b(?:about|around|roughly) \{(\w+)\}", text):
            # A confidence level is not a number that was measured; whole numbers of rows may be about.
            assert place in {"level", "expected", "variable"}, key


# Nothing of this is in the code ---------------------------------------------------------------------


def _sentences(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docs:
            yield node.value


@every_case("path", PLACES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_advice_is_data_and_percentages_have_one_form(path):
    for text in _sentences(path):
        assert "Hint:" not in text, "advice belongs into messages/for_surveys.py"
        assert not re.search(r"\d[ \N{NO-BREAK SPACE}]%", text), text
