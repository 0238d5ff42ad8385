"""Files that are not right: every problem at once, each at its line, in words that say what to do."""

import copy
import json
from pathlib import Path

import pytest
from attrs import evolve
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.collect.survey.bundled_files import example_text
from subsetprivacy.collect.survey.checking import LANGUAGES, MOST_MANIFEST, study_of
from subsetprivacy.collect.survey.documents import survey_document, survey_from_document
from subsetprivacy.collect.survey.problems import MOST_PROBLEMS
from subsetprivacy.collect.survey.reading import (
    FORMATS,
    MOST_BYTES,
    SurveyError,
    SurveyProblem,
    format_of,
    load_survey,
    read_survey,
)
from subsetprivacy.errors import ArgumentError, DataFileError

# Golden files -------------------------------------------------------------------------------------

TOML = """titel = "Bad"
study = "Bad Study"
mode = "closed"
batch = 5

[[variables]]
id = "income"
question = "What do you earn?"
options = ["low", 2000, 1.5,
  true, 2026-01-01]

[[variables]]
id = "income"
options = ["a", "b", " A"]
guess = [0.5, 0.5]

[[variables]]
id = "three"
question = "?"
options = ["a", "b", "c"]
design = "uniform"
guess = [0.5, 0.5, 0.1]

[[links]]
variables = ["income", "incom"]
[[links]]
variables = ["income"]
"""
TOML_SAYS = """
1: the survey: must have `title`; it is missing.
1: titel: must be a known key; got "titel". Hint: `title`?
2: study: must be a short name (small letters a to z, digits, - and _, a letter first, at most 32); got "Bad Study".
3: mode: must be one of code, open; got "closed".
4: batch: must be a whole number from 10 to 1000000; got the number 5. \
Among fewer people at a time, one answer could be worked out from the others.
9: variable 1 (income), option 2: must be text; got the number 2000. Hint: put it in quotes.
9: variable 1 (income), option 3: must be text; got the number 1.5. Hint: put it in quotes.
10: variable 1 (income), option 4: must be text; got the truth value true. Hint: put it in quotes.
10: variable 1 (income), option 5: must be text; got 2026-01-01, which may be read as a date. Hint: put it in quotes.
12: variable 2 (income): must have `question`; it is missing.
13: variable 2 (income), id: must be unique; number 1 has it too.
14: variable 2 (income), option 3: must differ from the others; number 1, "a", looks the same: \
only capital letters differ.
21: variable 3 (three), design: a uniform design must have at least 4 `options`; got 3. \
Hint: "recommended" fits any number of options.
22: variable 3 (three), guess: must sum to 1; the sum is 1.1.
25: link 1, variable 2: must be the `id` of a question; got "incom". Hint: "income"?
27: link 2, variables: must be at least two; got 1.
27: link 2, variable 1: must be in one link only, once; link 1 has "income" too.
"""

YAML = """title: Bad
practice: yes
language: fr
batch: 012
introduction: &text |
  Fine.
thanks: *text
variables:
  - id: no
    question: Do you?
    options: [yes, NO, 012, 1:30]
  - id: Sport
    question: "Spo\\u202Ert?"
    lable: Sport
    options:
      - never
      - 5
      - ~
      - "bell\\u0007"
    options: [a, b]
  - question: Which?
    id: which
    options: [a, b, c, d, e]
    design:
      kind: partition
      groups: 3
      size: 2
  - id: last
    question: Last?
    options: {a: b}
    guess: [0.5, x]
"""
YAML_SAYS = """
2: practice: must be true or false; got yes, which may be read as a truth value.
3: language: must be one of en, de, ar; got "fr".
4: batch: must be a whole number from 10 to 1000000; got 012, which may be read as a number.
5: introduction: must not have an anchor (&). Hint: leave it out, or put text in quotes.
7: thanks: must not refer to another place by an alias (*). Hint: write it out.
9: variable 1, id: must be text; got no, which may be read as a truth value. Hint: put it in quotes.
11: variable 1, option 1: must be text; got yes, which may be read as a truth value. Hint: put it in quotes.
11: variable 1, option 2: must be text; got NO, which may be read as a truth value. Hint: put it in quotes.
11: variable 1, option 3: must be text; got 012, which may be read as a number. Hint: put it in quotes.
11: variable 1, option 4: must be text; got 1:30, which may be read as a number. Hint: put it in quotes.
12: variable 2 (Sport), id: must be a short name (small letters a to z, digits, - and _, a letter first, at most 32); \
got "Sport".
13: variable 2 (Sport), question: must have no characters that change the reading direction; got U+202E. \
Hint: leave it out; the letters already show right-to-left text as such.
14: variable 2 (Sport), lable: must be a known key; got "lable". Hint: `label`?
17: variable 2 (Sport), option 2: must be text; got the number 5. Hint: put it in quotes.
18: variable 2 (Sport), option 3: must be text; got nothing.
19: variable 2 (Sport), option 4: must have no control characters; got U+0007. Hint: type the text again.
20: variable 2 (Sport), options: must appear once; it appears again.
27: variable 3 (which), design, size: must be a key of the kind partition, which has groups, partitions.
30: variable 4 (last), options: must be a list of answers; got a table.
31: variable 4 (last), share 2: must be a number; got "x".
"""

JSON = """{
  "title": "",
  "title": "Twice",
  "batch": 1e400,
  "study": 2026,
  "variables": [
    {"id": "a", "question": "?", "options": ["x"]},
    {"id": "b", "question": "?\\n?", "options": ["w", "x", "y", "z"],
     "design": {"kind": "independent", "questions": [
       [["w", "x"], 0.5],
       [["w", "q"], 0.25],
       [["x", "w"], "0.25"]]}},
    "c",
    {"id": "d", "question": "?", "options": ["x", "y"],
     "design": {"kind": "warner", "q": 0.01}}
  ],
  "links": {"variables": ["a", "b"]}
}
"""
JSON_SAYS = """
2: title: must not be empty.
3: title: must appear once; it appears again.
4: batch: must be a finite number; got inf.
5: study: must be text; got the number 2026. Hint: put it in quotes.
7: variable 1 (a), options: must be 2 to 48 answers; got 1.
8: variable 2 (b), question: must be on one line; it has several.
11: variable 2 (b), design, questions, number 2, number 1, number 2: must be one of the `options`; got "q".
12: variable 2 (b), design, questions, number 3, number 2: must be a number; got "0.25".
13: variable 3: must be a table with id, question and options; got "c".
15: variable 4 (d), design: `q` must hide the answer: an answer may multiply the odds by 20 at most; got 0.01, which \
multiplies them by 99. Hint: q = 0.25.
17: links: must be a list of tables with `variables`; got a table.
"""


def said(error):
    return [f"{problem.line}: {problem.place}: {problem.text}" for problem in error.problems]


@pytest.mark.parametrize(
    ("form", "text", "says"), [("toml", TOML, TOML_SAYS), ("yaml", YAML, YAML_SAYS), ("json", JSON, JSON_SAYS)]
)
def test_every_problem_at_its_line(form, text, says):
    with pytest.raises(SurveyError) as caught:
        read_survey(text, form)
    assert said(caught.value) == says.strip().splitlines()
    with pytest.raises(SurveyError) as windows:
        read_survey(text.replace("\n", "\r\n").encode(), form)
    assert said(windows.value) == said(caught.value)


def test_the_message_tells_all():
    with pytest.raises(SurveyError, match="this one has 17 problems") as caught:
        read_survey(TOML, "toml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 18
    assert lines[1] == "line 1, the survey: must have `title`; it is missing."


# One fault at a time ------------------------------------------------------------------------------

GOOD = {
    "title": "Good",
    "variables": [
        {"id": "a", "question": "A?", "options": ["p", "q", "r", "s", "t"]},
        {"id": "b", "question": "B?", "options": ["no", "yes"]},
        {"id": "c", "question": "C?", "options": ["p", "q", "r", "s"]},
    ],
}


def with_change(path, value):
    document = copy.deepcopy(GOOD)
    place = document
    for step in path[:-1]:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


def problems(document):
    with pytest.raises(SurveyError) as caught:
        survey_from_document(document)
    return caught.value.problems


OPTIONS = ("variables", 0, "options")
DESIGN = ("variables", 0, "design")
PAIRS = [[["p", "q"], 0.5], [["p", "r"], 0.5]]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("title",), ..., "must have `title`"),
        (("title",), "x" * 201, "must have at most 200 characters; got 201"),
        (("title",), " \n ", "must not be empty"),
        (("title",), "\u00ad", "must have a character that can be seen"),
        (("title",), "\u200d", "must have a character that can be seen"),
        (("title",), "a\ud800", "must be text; it contains half of a character"),
        (("title",), "a\uffff", r"must have no control characters; got U\+FFFF"),
        (("title",), "a\u200b", r"must have no control characters; got U\+200B"),
        (("title",), "a" + "\u0301\u0316" * 20, "must have at most 30 marks on one letter; it has more"),
        (("title",), "a\tb", r"must have no control characters; got U\+0009"),
        (("title",), "a\x85b", r"must have no control characters; got U\+0085"),
        (("title",), "a\u2066b", r"change the reading direction; got U\+2066"),
        (("title",), "a\ue000b", r"must have no characters for private use; got U\+E000. Hint: leave it out"),
        (("title",), "a\U0010fffdb", r"must have no characters for private use; got U\+10FFFD"),
        (
            ("title",),
            "a\u0378b",
            r"must have only characters of Unicode \d+\.\d+\.\d+; got U\+0378. Hint: .* newer Python",
        ),
        (("introduction",), "a\ufdd0", r"must have only characters of Unicode .* got U\+FDD0"),
        (("title",), ["x"], "must be text; got a list"),
        (("introduction",), "a\rb", r"must have no control characters; got U\+000D"),
        (("introduction",), "x" * 5001, "at most 5000"),
        (("contact",), None, "must be text; got nothing"),
        (("study",), "-x", "must be a short name"),
        (("study",), "x" * 33, "must be a short name"),
        (("study",), "", "must not be empty"),
        (("language",), "EN", r'must be one of en, de, ar; got "EN". Hint: "en"\?$'),
        (("language",), "fr", 'got "fr".$'),
        (("mode",), "Codes", r'must be one of code, open; got "Codes". Hint: "code"\?$'),
        (("mode",), "closed", 'must be one of code, open; got "closed".$'),
        (("mode",), 1, "must be one of code, open; got the number 1"),
        (("batch",), 9, "must be a whole number from 10 .* got the number 9. Among fewer people at a time, one answer"),
        (("batch",), 25.0, "must be a whole number from 10"),
        (("batch",), True, "got the truth value true"),
        (("batch",), 10**7, "to 1000000; got the number 10000000.$"),
        (("batch",), 1 << 53, r"must be a number below 2\^53"),
        (("practice",), 1, "must be true or false"),
        (("variables",), [], "must be 1 to 64; got 0"),
        (("variables",), ..., "must have `variables`"),
        (("variables",), {"a": 1}, "must be a list of variables; got a table"),
        (("variables", 0), [1], "must be a table with id, question and options; got a list"),
        (("variables", 0, "id"), ..., "must have `id`"),
        (("variables", 0, "id"), "b", "must be unique; number 1 has it too"),
        (("variables", 0, "id"), "é", "must be a short name"),
        (("variables", 0, "question"), "x" * 501, "at most 500"),
        (("variables", 0, "question"), "", "must not be empty"),
        (("variables", 0, "label"), "", "must not be empty"),
        (("variables", 0, "help"), 5, "must be text"),
        (("variables", 0, "colour"), 5, 'must be a known key; got "colour". Hint: the keys are id, label'),
        ((*OPTIONS, 0), "", "must not be empty"),
        ((*OPTIONS, 0), "x" * 201, "at most 200"),
        ((*OPTIONS, 1), "p", "must differ from the others; number 1 is the same"),
        ((*OPTIONS, 1), "ｐ", 'number 1, "p", looks the same: character 1 is FULLWIDTH LATIN SMALL LETTER P here'),
        ((*OPTIONS, 1), "P", 'number 1, "p", looks the same: only capital letters differ'),
        ((*OPTIONS, 1), "p\u00ad", "looks the same: character 2 here is SOFT HYPHEN, which cannot be seen"),
        ((*OPTIONS, 1), "p\ufe0f", "looks the same: character 2 here is VARIATION SELECTOR-16, which cannot be seen"),
        ((*OPTIONS, 1), "p\u2065", r"must have only characters of Unicode .* got U\+2065"),
        ((*OPTIONS, 1), "p\U000e01f0", r"must have only characters of Unicode .* got U\+E01F0"),
        ((*OPTIONS, 1), "p\uf8ff", r"must have no characters for private use; got U\+F8FF"),
        (OPTIONS, [f"o{k}" for k in range(49)], "must be 2 to 48 answers; got 49"),
        (("variables", 0, "guess"), [0.2, 0.2], "must have a share for each of the 5 `options`; got 2"),
        (("variables", 0, "guess"), [0.25, 0.25, 0.25, 0.25, 0], "must be above 0; got 0"),
        (("variables", 0, "guess"), [0.2, 0.2, 0.2, 0.2, 0.2 + 2e-6], r"must sum to 1; the sum is 1\.000002"),
        (("variables", 0, "guess"), [0.2, 0.2, 0.2, 0.2, True], "must be a number; got the truth value true"),
        (("variables", 0, "guess"), 1, "must be a list of shares"),
        (DESIGN, 5, "must be a name or a table; got the number 5"),
        (
            DESIGN,
            "unifrom",
            r'recommended, uniform, hadamard, warner, pair, or a table; got "unifrom". Hint: "uniform"\?$',
        ),
        (DESIGN, "fixed size", r'got "fixed size". Hint: write a table, \{kind = "fixed_size"'),
        (DESIGN, "zzz", 'got "zzz". Hint: "recommended" fits any number of options.$'),
        (DESIGN, "partition", r'Hint: write a table, \{kind = "partition"'),
        (DESIGN, "warner", "a warner design must have two `options`; got 5"),
        (DESIGN, "hadamard", "must have 4 categories, or 6 or more; got 5, where some answer leaves fewer than two"),
        (DESIGN, {}, "must be one of uniform, hadamard.*it is missing"),
        (DESIGN, {"kind": "covered"}, 'got "covered"'),
        (DESIGN, {"kind": "Partitions"}, r'got "Partitions". Hint: "partition"\?$'),
        (DESIGN, {"kind": "partition", "group": 2}, r'which has groups, partitions. Hint: "groups"\?$'),
        (DESIGN, {"kind": "covered", "base": {}}, 'got "covered"'),
        (DESIGN, {"kind": "uniform", "size": 2}, "must be a key of the kind uniform, which has no other keys"),
        (
            DESIGN,
            {"kind": "partition", "groups": 3},
            r"must be 2 for 5 `options`; got 3. Hint: the nearest is 2\.$",
        ),
        (DESIGN, {"kind": "partition", "groups": 2.0}, "must be a whole number; got the number 2"),
        (DESIGN, {"kind": "partition", "partitions": [["p"]]}, "must be a list of options"),
        (DESIGN, {"kind": "partition", "partitions": [1]}, "must be a list of partitions"),
        (DESIGN, {"kind": "partition", "partitions": [[["p"], ["q"]]]}, "a group must have at least two members"),
        (DESIGN, {"kind": "fixed_size"}, "must have `size` for the kind fixed_size"),
        (
            DESIGN,
            {"kind": "fixed_size", "size": 5},
            r"from 2 to 4 for 5 `options`; got 5. Hint: the nearest is 4\.$",
        ),
        (DESIGN, {"kind": "independent", "questions": PAIRS[:1]}, "nu must sum to 1; got 0.5"),
        (DESIGN, {"kind": "independent", "questions": PAIRS}, "must tell different shares apart"),
        (
            DESIGN,
            {"kind": "independent", "questions": [*PAIRS, [["q", "p"], 0]]},
            "must name each set of `options` once",
        ),
        (DESIGN, {"kind": "independent", "questions": [["p", 1]]}, "must be a list of options"),
        (DESIGN, {"kind": "independent", "questions": [1]}, "must be a list of pairs"),
        (
            DESIGN,
            {"kind": "independent", "questions": [[["p"], 1]]},
            "must leave at least two candidates after either answer",
        ),
        (DESIGN, {"kind": "independent", "questions": [[["p", "q"], 1e999]]}, "must be a finite number; got inf"),
        (DESIGN, {"kind": "conditional", "subsets": [[["p", "q"], 1]]}, "mu must sum to 1 over the subsets"),
        (DESIGN, {"format": "other"}, 'must be "subsetprivacy.design"; got "other"'),
        (DESIGN, {"format": "subsetprivacy.design", "kind": "mixture"}, "must be one of uniform, .* to be asked"),
        (DESIGN, sp.uniform(list("pqrst")).document() | {"categories": ["p"]}, "must be the options of the variable"),
        (DESIGN, sp.uniform(list("pqrst")).document() | {"kind": "coarse"}, "must be one of"),
        (DESIGN, sp.uniform(list("pqrst")).document() | {"fingerprint": "0"}, "altered after it was written"),
        (("variables", 2, "design"), {"kind": "hadamard", "questions": 4_194_303}, "`questions` must be at most 2047"),
        (("variables", 2, "design"), {"kind": "hadamard", "questions": 4}, "one less than a power of two"),
        (("variables", 1, "design"), {"kind": "warner", "q": 0.5}, "`q` must not be 1/2"),
        (("variables", 1, "design"), {"kind": "warner", "q": 2}, "`q` must be between 0 and 1"),
        (("variables", 1, "design"), "pair", "a pair design must have at least 3 `options`; got 2"),
        (("links",), [{}], "must have `variables`"),
        (("links",), [1], "must be a table with `variables`; got the number 1"),
        (("links",), [{"variables": "ab"}], "must be a list of ids"),
        (("links",), [{"variables": ["a", "a"]}], 'once; this link has "a" too'),
        (("links",), [{"variables": ["a", 1]}], "must be text"),
        (("links",), [{"variables": ["a", "z"]}], 'must be the `id` of a question; got "z".$'),
        (("links",), [{"variables": ["a", "b"], "name": "x"}], "must be a known key"),
    ],
    ids=lambda value: None if isinstance(value, (dict, list)) else str(value)[:40].encode("ascii", "replace").decode(),
)
def test_one_fault(path, value, message):
    found = problems(with_change(path, value))
    with pytest.raises(SurveyError, match=message):
        raise SurveyError(found[:1])
    assert len(found) == 1 or path == (*OPTIONS, 0) or "unique" in message
    assert found[0].path[: len(path)] == path or message.startswith(("must have `", "must be unique"))
    assert found[0].line is None


def test_documents_are_plain_data():
    assert problems({**GOOD, "title": b"bytes"})[0].message == ("must be text, a number, a list or a table; got bytes.")
    assert problems({**GOOD, 5: 1})[0].message == "must have keys that are text; one is not."
    assert problems(None)[0].message == "must be a table with a title and variables; got nothing."
    endless = []
    endless.append(endless)
    assert problems({**GOOD, "links": endless})[0].message == "must not be nested deeper than 24 levels; it is."


@pytest.mark.parametrize("key", ["a\nb: c", "\x1b[31m", "x" * 50_000, "\u202eabc", ""])
def test_a_strange_key_does_not_break_the_line(key):
    (found,) = problems({**GOOD, key: 1})
    assert found.path == (key,)
    assert str(found).isprintable()
    assert len(str(found)) < 300


def test_many_problems_are_cut_off():
    found = problems({**GOOD, **{f"key{k}": 1 for k in range(MOST_PROBLEMS + 50)}})
    assert len(found) == MOST_PROBLEMS
    found = problems({**GOOD, "variables": [{"id": "a", "question": "?", "options": [0] * 48}] * 64})
    assert len(found) == MOST_PROBLEMS + 1
    assert found[-1] == SurveyProblem(None, "the survey", f"there are {64 * 49 - 1 - MOST_PROBLEMS} more problems.")


def test_questions_that_fill_a_browser_are_refused():
    options = [f"o{k}" for k in range(48)]
    variables = [
        {"id": f"v{k}", "question": "?", "options": options, "design": {"kind": "hadamard", "questions": 1023}}
        for k in range(30)
    ]
    (found,) = problems({"title": "Large", "variables": variables})
    assert found.message.startswith(f"must fit into {MOST_MANIFEST >> 10} kB with all of their questions")
    survey_from_document({"title": "Large", "variables": variables[:20]})


# Files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_bytes_that_are_no_text(form):
    with pytest.raises(SurveyError, match="line 2, the file: must be text in UTF-8; it has other bytes"):
        read_survey(b'title = "a"\n\xff', form)
    with pytest.raises(SurveyError):
        read_survey("\n\ud800", form)


@pytest.mark.parametrize("form", FORMATS)
def test_files_that_are_too_large(form):
    padding = {"toml": "#", "yaml": "#", "json": " "}[form]
    text = example_text(form)
    read_survey(text + padding * (MOST_BYTES - len(text.encode())), form)
    with pytest.raises(SurveyError):
        read_survey(text + padding * (MOST_BYTES - len(text.encode()) + 1), form)


@pytest.mark.parametrize("form", FORMATS)
def test_a_mark_of_the_byte_order_is_skipped(form):
    text = example_text(form)
    assert read_survey(b"\xef\xbb\xbf" + text.encode(), form) == read_survey(text, form)


@pytest.mark.parametrize(("form", "text"), [("toml", ""), ("yaml", ""), ("json", "{}"), ("yaml", "# nothing\n---\n")])
def test_empty_files(form, text):
    with pytest.raises(SurveyError):
        read_survey(text, form)


def test_loading(tmp_path):
    for name in ("s.toml", "s.YAML", "s.yml", "s.json"):
        path = tmp_path / name
        path.write_text(example_text({"toml": "toml", "json": "json"}.get(name[2:], "yaml")), encoding="utf-8")
        assert load_survey(path) == read_survey(example_text("toml"), "toml")
        assert load_survey(str(path)).title == "Work and health"


def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(DataFileError):
        load_survey(tmp_path / "s.txt")
    with pytest.raises(DataFileError):
        load_survey(tmp_path / "s.toml")
    (tmp_path / "d.json").mkdir()
    with pytest.raises(DataFileError):
        load_survey(tmp_path / "d.json")
    with pytest.raises(DataFileError):
        format_of("survey")
    with refused(ArgumentError, "format"):
        read_survey("", "xml")


def test_a_huge_file_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(1 << 34)  # sixteen gigabytes of nothing
    with pytest.raises(SurveyError):
        load_survey(path)


# What is made of a good one -----------------------------------------------------------------------


def test_defaults():
    survey = survey_from_document(GOOD)
    assert (survey.study, survey.language, survey.mode, survey.batch, survey.practice) == (
        "good",
        "en",
        "code",
        25,
        True,
    )
    assert survey.links == ()
    assert survey.variables[0].label == "a"
    assert [variable.design.kind for variable in survey.variables] == ["uniform", "artificial_bit", "uniform"]
    assert survey_from_document({**GOOD, "mode": "open"}).batch == 100
    assert survey_from_document({**GOOD, "mode": "open", "batch": 10}).batch == 10


def test_texts_are_normalised():
    document = with_change(OPTIONS, ["e\u0301 ", "b", "c", "d\u00ad", "😀\u200d🔥"])
    document |= {"title": " e\u0301", "introduction": "\n a\r\n\r\nb\n"}
    survey = survey_from_document(document)
    assert survey.title == "é"
    assert survey.introduction == "a\n\nb"
    assert survey.variables[0].options == ("é", "b", "c", "d\u00ad", "😀\u200d🔥")
    assert survey.variables[0].design == sp.uniform(survey.variables[0].options)


def test_the_recommended_design_is_that_of_the_mode_and_the_links():
    many = {"id": "d", "question": "D?", "options": list("pqrstuv")}
    document = {**GOOD, "variables": [*GOOD["variables"], many]}
    coded, free = (survey_from_document({**document, "mode": mode}) for mode in ("code", "open"))
    linked = survey_from_document({**document, "mode": "open", "links": [{"variables": ["d", "a"]}]})
    assert free.variable("d").design == sp.uniform(list("pqrstuv"))
    assert coded.variable("d").design == linked.variable("d").design == sp.hadamard(list("pqrstuv"))
    assert linked.groups == (("d", "a"), ("b",), ("c",))
    for survey in (coded, free, linked):
        assert survey_document(survey)["variables"][3]["design"] == "recommended"
        assert survey_from_document(survey_document(survey)) == survey
    other = survey_document(evolve(free, mode="code"))  # by a program: the design it holds is not that of the mode
    assert other["variables"][3]["design"] == sp.uniform(list("pqrstuv")).document()


PQRST = list("pqrst")
ABC = list("pqrs")
HALVES = [[["p", "q"], ["r", "s"]], [["p", "r"], ["q", "s"]], [["p", "s"], ["q", "r"]]]
QUESTIONS = [[["p", "q"], 0.5], [["p", "r"], 0.3], [["p", "s"], 0.2]]
SUBSETS = [[["p", "q", "r"], 1 / 3], [["p", "q", "s"], 1 / 3], [["p", "r", "s"], 1 / 3], [["q", "r", "s"], 1 / 3]]


@pytest.mark.parametrize(
    ("variable", "written", "design"),
    [
        (0, "recommended", sp.uniform(PQRST)),
        (0, "uniform", sp.uniform(PQRST)),
        (0, {"kind": "uniform"}, sp.uniform(PQRST)),
        (2, "hadamard", sp.hadamard(ABC)),
        (2, {"kind": "hadamard"}, sp.hadamard(ABC)),
        (1, "warner", sp.warner(["no", "yes"])),
        (1, {"kind": "warner"}, sp.warner(["no", "yes"])),
        (1, {"kind": "warner", "q": 0.7}, sp.warner(["no", "yes"], 0.7)),
        (0, "pair", sp.fixed_size(PQRST, 2)),
        (0, {"kind": "fixed_size", "size": 3}, sp.fixed_size(PQRST, 3)),
        (2, {"kind": "partition"}, sp.partition(ABC, 2)),
        (2, {"kind": "partition", "groups": 2}, sp.partition(ABC, 2)),
        (2, {"kind": "partition", "partitions": HALVES}, sp.partition(ABC, partitions=HALVES)),
        (2, {"kind": "independent", "questions": QUESTIONS}, sp.independent(ABC, {tuple(a): w for a, w in QUESTIONS})),
        (2, {"kind": "conditional", "subsets": SUBSETS}, sp.conditional(ABC, {tuple(a): w for a, w in SUBSETS})),
        (0, sp.fixed_size(PQRST, 4).document(), sp.fixed_size(PQRST, 4)),
        (2, sp.hadamard(ABC).document(), sp.hadamard(ABC)),
        (1, sp.warner(["no", "yes"], 0.1).document(), sp.warner(["no", "yes"], 0.1)),
    ],
    ids=str,
)
def test_every_spelling_of_a_design(variable, written, design):
    survey = survey_from_document(with_change(("variables", variable, "design"), written))
    assert survey.variables[variable].design == design
    assert survey.variables[variable].written == written
    assert json.loads(json.dumps(survey_document(survey)))["variables"][variable]["design"] == written


def test_a_document_without_a_fingerprint_gets_one():
    design = sp.uniform(PQRST)
    bare = {key: value for key, value in design.document().items() if key != "fingerprint"}
    survey = survey_from_document(with_change(DESIGN, bare))
    assert survey.variables[0].written == design.document()


@pytest.mark.parametrize(
    ("title", "study"),
    [
        ("Work and health", "work-and-health"),
        ("Größe & Co.", "grosse-co"),
        ("2026: again!", "study-2026-again"),
        ("x" * 100, "x" * 32),
        ("a" * 31 + " b", "a" * 31),
        ("عادات", "study-36d2c70b"),
        ("!", "study-bb7208bc"),
    ],
)
def test_the_name_of_a_study_is_made_from_the_title(title, study):
    assert study_of(title) == study
    assert survey_from_document({**GOOD, "title": title}).study == study


def test_every_language_is_known():
    pages = Path(sp.__file__).parent / "collect" / "web" / "languages"
    assert {path.stem for path in pages.glob("*.json")} == set(LANGUAGES)
    assert LANGUAGES[0] == "en"
    for language in LANGUAGES:
        assert survey_from_document({**GOOD, "language": language}).language == language
