"""Subsets as text: every subset has its own text, and every text its own subset."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.design.text import (
    codes_of,
    has_text_form,
    looks_like_codes,
    parsed,
    plain_header,
    safe_header,
    text_of,
    texts_of,
)
from subsetprivacy.errors import CodeError

NASTY = ["", "|", "\\", "\\e", "a|b", "a\\", "'", "'=x", "=1+1", "+a", "-", "@", "\t", "\r", "\n", '"', ",", ";", " ",
         ";=", "a; -b", "\t=", "\\s=", ";\\=",
         " a", "a ", "&", " & ", "😀", "é", "1", "1.0", "True", "None", "nan", "e"]  # fmt: skip
labels = st.one_of(st.sampled_from(NASTY), st.text(alphabet="ab|\\'\"=+-@,;& \n\r\té😀e1", max_size=5))
numbers = st.one_of(st.integers(-3, 30), st.floats(allow_nan=False, allow_infinity=False), st.booleans())


def distinct(made):
    return st.lists(made, min_size=2, max_size=7, unique=True)


def every_code(design):
    return np.arange(1, 1 << design.p)


@given(distinct(st.one_of(labels, numbers)))
@settings(max_examples=100, deadline=None)
def test_every_subset_of_nasty_labels_comes_back(chosen):
    design = coarse(chosen)
    codes = every_code(design)
    texts = texts_of(codes, design)
    assert codes_of(texts, design).tolist() == codes.tolist()
    assert len(set(texts)) == len(texts)
    assert all(texts)
    assert not any(text[0] in "=+-@\t\r\n" for text in texts)


@given(distinct(labels), distinct(st.one_of(labels, numbers)))
@settings(max_examples=40, deadline=None)
def test_combinations_of_several_variables_come_back(one, two):
    categories = sp.JointCategories({"x": one[:3], "y": two[:3]})
    design = coarse(categories)
    codes = every_code(design)
    assert codes_of(texts_of(codes, design), design).tolist() == codes.tolist()


def test_a_reader_who_knows_only_bars_gets_the_labels():
    design = sp.uniform(["White", "Black", "Asian-Pac-Islander", "Other"])
    for code in every_code(design).tolist():
        assert tuple(text_of(code, design).split("|")) == design.members(code)


def test_escapes_are_those_of_the_page():
    design = sp.uniform(["a|b", "c\\d", "", "=e"])
    assert texts_of([1, 2, 4, 8, 12], design) == ["a\\|b", "c\\\\d", "\\e", "'=e", "\\e|=e"]


def test_a_formula_behind_a_sign_that_splits_lines_is_none():
    design = sp.uniform(["a;=b", "c\t @d", "e; f", "\uff1dg"])
    assert texts_of([1, 2, 4, 8], design) == ["a\\s=b", "c\\t @d", "e; f", "'\uff1dg"]
    assert codes_of(["a;=b|e; f", "a\\s=b", "\uff1dg"], design).tolist() == [5, 1, 8]  # as people write them, too


def test_parts_of_a_combination_are_joined_by_an_ampersand():
    design = sp.join({"sex": ["f", "m"], "place": ["R & D", "home"]})
    assert text_of(9, design) == "f & R \\& D|m & home"


def test_order_of_labels_does_not_matter_and_none_is_missing():
    design = sp.uniform(list("abcd"))
    assert codes_of(["d|a", "a|d", None], design).tolist() == [9, 9, 15]


def test_numbers_are_matched_by_their_text():
    design = sp.uniform([1, 2.5, True and "True", "x"])
    assert codes_of(["1|2.5", "True|x"], design).tolist() == [3, 12]


def test_labels_that_look_alike_are_quoted():
    design = sp.uniform([1, "1", "a", "b"])
    assert texts_of([1, 2, 3], design) == ["1", "''1'", "1|'1'"]
    assert codes_of(["1", "''1'", "1|'1'"], design).tolist() == [1, 2, 3]


WRONG = ["", "|", "a|", "|a", "a|a", "e", "A", "a|\\", "\\", "a\\|b", "a||b", "3"]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_subset_is_refused_by_its_row(text):
    design = sp.uniform(list("abcd"))
    assert parsed([text], design).tolist() == [0]
    with pytest.raises(CodeError, match="got 2 texts that are not, first in row 1") as caught:
        codes_of(["a|b", text, "b", text], design)
    assert text == "" or repr(text) not in str(caught.value)


def test_a_persons_text_is_never_shown():
    with pytest.raises(CodeError, match="first in row 0") as caught:
        codes_of(["secret"], sp.uniform(list("abcd")))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "design",
    [
        sp.hadamard([f"c{k}" for k in range(100)]),
        sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("abcd"))}),
        sp.covered(sp.uniform(list("abcd")), 0.1),
    ],
)
def test_codes_that_are_no_masks_have_no_text(design):
    assert not has_text_form(design)
    with pytest.raises(CodeError):
        text_of(1, design)
    with pytest.raises(CodeError):
        codes_of(["a"], design)


def test_answers_to_warners_question_are_words():
    design = sp.warner(["no", "yes"])
    texts = ["same (no & 0, yes & 1)", "different (no & 1, yes & 0)"]
    assert [text_of(code, design) for code in (0b1001, 0b0110, 0b1111)] == [*texts, "|".join(texts)]
    assert codes_of([*texts, "same", "different", "9", "15", " same | different", None], design).tolist() == [
        *(9, 6, 9, 6, 9, 15, 15, 15)
    ]
    for wrong in ("the same", "same|same", "same|9", "same (yes & 0, no & 1)", "7", ""):
        with pytest.raises(CodeError, match="first in row 1") as caught:
            codes_of(["same", wrong], design)
        assert f"like {'|'.join(texts)!r}" in str(caught.value)


@given(st.lists(st.text(alphabet="ab|\\'=&,() ", max_size=5), min_size=2, max_size=2, unique=True))
def test_answers_about_nasty_labels_come_back(chosen):
    design = sp.warner(chosen)
    texts = [text_of(code, design) for code in (6, 9, 15)]
    assert len(set(texts)) == 3
    assert codes_of(texts, design).tolist() == [6, 9, 15]
    assert not any(text.startswith(("=", "+", "-", "@")) for text in texts)


@pytest.mark.parametrize(
    ("chosen", "alike"), [([1, 2, 3, 4], True), (["a", "7", "b", "c"], True), ([1.5, "a", "b", "c"], False)]
)
def test_labels_that_look_like_codes_are_noticed(chosen, alike):
    assert looks_like_codes(sp.uniform(chosen)) is alike


@given(st.text(max_size=6))
def test_headers_come_back(name):
    assert plain_header(safe_header(name)) == name
    assert not safe_header(name).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_headers_of_others_stay_as_they_are():
    assert [plain_header(name) for name in ("'quoted'", "race", "", "'")] == ["'quoted'", "race", "", "'"]


def test_the_csv_module_reads_cells_back():
    design = sp.uniform(["a,b", 'c"d', "e\nf", "=g"])
    held = io.StringIO(newline="")
    texts = texts_of(every_code(design), design)
    csv.writer(held).writerows([text] for text in texts)
    held.seek(0)
    assert [row[0] for row in csv.reader(held)] == texts
