"""Numbers, labels, notes and errors as readers of a page see them."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import subsetprivacy
from subsetprivacy import tables
from subsetprivacy.errors import ArgumentError, SmallCountWarning
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import AUTO_INTERVAL, MORE_PEOPLE_OR_MOM
from subsetprivacy.report.gathering import listening
from subsetprivacy.report.wording import (
    bits,
    error_text,
    fine_share,
    label_text,
    note_text,
    set_text,
    share,
    span,
    unlike,
)

ROOT = Path(subsetprivacy.__file__).parent
PLACES = [*ROOT.glob("report/*.py"), *ROOT.glob("collect/**/*.py")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (share(0.853), "85.3%"),
        (share(-0.0001), "0.0%"),
        (share(np.nan), "–"),
        (fine_share(1.0), "100%"),
        (fine_share(0.9985), "99.85%"),
        (fine_share(1e-9), "below 0.0001%"),
        (span(0.081, 0.093, share), "8.1 to 9.3%"),
        (span(0.4, 0.42, bits), "0.40 to 0.42\N{NO-BREAK SPACE}bit"),
        (span(0.4, 0.42, str, "and"), "0.4 and 0.42"),
        (span(np.nan, 0.42, share), ""),
    ],
)
def test_numbers(text, wanted):
    assert text == wanted


def test_labels_have_the_form_that_tables_have():
    assert label_text(("Female", "low")) == tables.label_text(("Female", "low")) == "Female & low"
    assert len(label_text("x" * 100)) == 60


def test_members_of_a_set_are_a_list_and_no_combination():
    assert set_text(["never", "once"]) == "never, once"
    assert len(set_text(["x" * 50, "y" * 50])) == 60


def test_readers_get_advice_that_is_for_them_and_no_other():
    assert note_text(Note(NoteKind.NOT_UNIQUE, "Several fit.", MORE_PEOPLE_OR_MOM)) == (
        "Several fit. Hint: collect more people."
    )
    assert note_text(Note(NoteKind.BOUNDARY, "A zero.", AUTO_INTERVAL)) == "A zero."
    assert error_text(ArgumentError("it must be so.", AUTO_INTERVAL)) == "it must be so."
    assert (
        error_text(ArgumentError("it must be so.", MORE_PEOPLE_OR_MOM)) == "it must be so. Hint: collect more people."
    )


def test_a_warning_that_says_what_a_note_says_is_not_said_again():
    import warnings

    note = Note(NoteKind.TOO_FEW_PEOPLE, "Few people.")
    with listening() as heard:
        warnings.warn(SmallCountWarning("Few people.", AUTO_INTERVAL), stacklevel=1)
        warnings.warn(SmallCountWarning("Small counts."), stacklevel=1)
    assert [one.kind for one in heard.notes] == [NoteKind.SMALL_COUNTS] * 2
    assert unlike([note, *heard.notes]) == (note, Note(NoteKind.SMALL_COUNTS, "Small counts."))


def _sentences(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docs:
            yield node.value


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_advice_is_data_and_percentages_have_one_form(path):
    for text in _sentences(path):
        assert "Hint:" not in text, "advice belongs into messages/for_surveys.py"
        assert not re.search(r"\d[ \N{NO-BREAK SPACE}]%", text), text
