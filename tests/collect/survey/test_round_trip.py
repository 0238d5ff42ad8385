"""What is written is read back as it was, in every format, whatever the texts are."""

import json
import tomllib

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from lopsided import ABCDE, ASKED, GIVEN, GROUPS, SEVEN, TWO_GROUPS
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.collect.survey.bundled_files import example_text
from subsetprivacy.collect.survey.checking import LANGUAGES
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.documents import survey_document, survey_from_document
from subsetprivacy.collect.survey.reading import FORMATS, SurveyError, read_survey
from subsetprivacy.collect.survey.writing import write_survey
from subsetprivacy.errors import ArgumentError

# Words that some reader takes for something else, and signs that mean something to a format.
TRICKY = [
    "yes", "NO", "on", "~", "null", "True", "012", "0x1F", "0o17", "1:30", "1e5", "1_000", ".5", "5.", ".inf",
    "2026-01-01", "=", "<<", "- a", "a: b", "a #b", "#", "&a", "*a", "!a", "|", ">", "%", "@", "`", "'", '"', "''",
    '"""', "'''", "\\", "\\n", "[a]", "{a}", ",", "?", "? a", ":", "a:", "---", "...", "é", "ß", "عربي", "😀",
    "a\u00a0b", "a  b", "\u00adx", "x" * 120, "word " * 30, '"""a', 'a"', "\\\"", "a\\", "/", "</script>",
]  # fmt: skip
letters = st.characters(exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp", "Cn", "Co"))
short = st.sampled_from(TRICKY) | st.text(letters, min_size=1, max_size=20)
name = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
long = st.lists(short | st.just(""), max_size=5).map("\n".join) | st.text(st.sampled_from("a\"\\\n '"), max_size=30)


@st.composite
def spellings(draw, options):
    p = len(options)
    if p == 2:
        q = draw(st.floats(0.06, 0.45) | st.floats(0.55, 0.94))
        return draw(st.sampled_from(["recommended", "warner", {"kind": "warner", "q": q}]))
    several = ["recommended", "pair", {"kind": "fixed_size", "size": draw(st.integers(2, p - 1))}]
    if p > 3:
        several += ["uniform", {"kind": "partition", "groups": draw(st.integers(2, p // 2))}]
        several.append(sp.uniform(options).document())
    if p == 4:
        weights = draw(st.tuples(*[st.integers(1, 9)] * 3))
        pairs = [[[options[0], other], w / sum(weights)] for other, w in zip(options[1:], weights)]
        several.append({"kind": "independent", "questions": pairs})
    return draw(st.sampled_from(several))


@st.composite
def variables(draw, number):
    options = draw(st.lists(short, min_size=2, max_size=7, unique_by=str.casefold))
    held = {"id": f"{draw(name)}{number}", "question": draw(short), "options": options}
    held |= {"design": draw(spellings(options)), "label": draw(short), "help": draw(st.just("") | short)}
    if draw(st.booleans()):
        weights = draw(st.lists(st.integers(1, 10**6), min_size=len(options), max_size=len(options)))
        held["guess"] = [weight / sum(weights) for weight in weights]
    if len(options) >= 5 and draw(st.booleans()):
        held["never_alone"] = [draw(st.permutations(options))[:2]]
    return held


@st.composite
def documents(draw):
    number = draw(st.integers(1, 3))
    held = [draw(variables(k)) for k in range(number)]
    document = {"title": draw(short), "variables": held, "study": draw(name), "practice": draw(st.booleans())}
    document |= {"mode": draw(st.sampled_from(["code", "open"])), "batch": draw(st.integers(10, 10**6))}
    document |= {"language": draw(st.sampled_from(LANGUAGES))}
    document |= {key: draw(long) for key in ("introduction", "thanks", "contact")}
    if number > 1 and draw(st.booleans()):
        document["links"] = [{"variables": [each["id"] for each in held]}]
    return document


@st.composite
def surveys(draw):
    document = draw(documents())
    try:
        return survey_from_document(document)
    except SurveyError:  # two options that look the same, a text of nothing that can be seen
        assume(False)


def check_round_trips(survey):
    for form in FORMATS:
        text = write_survey(survey, form)
        assert read_survey(text, form) == survey
        assert read_survey(text.encode(), form) == survey
    assert survey_from_document(survey_document(survey)) == survey
    assert survey_from_document(json.loads(json.dumps(survey_document(survey)))) == survey


UNHURRIED = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
STEADY = settings(UNHURRIED, derandomize=True)  # the same every time; the many of the slow test are always others


@settings(STEADY, max_examples=30)
@given(surveys())
def test_every_format_gives_the_survey_back(survey):
    check_round_trips(survey)


@pytest.mark.slow
@settings(UNHURRIED, max_examples=500)
@given(surveys())
def test_every_format_gives_many_surveys_back(survey):
    check_round_trips(survey)


@settings(STEADY, max_examples=30)
@given(surveys())
def test_other_readers_read_the_same(survey):
    """What we write has one meaning: the readers of others, which guess, find the same data."""
    held = json.loads(write_survey(survey, "json"))
    assert tomllib.loads(write_survey(survey, "toml")) == held
    assert yaml.safe_load(write_survey(survey, "yaml")) == held


@pytest.mark.parametrize("text", TRICKY)
def test_tricky_texts(text):
    options = (text, "other", "third", "fourth", "fifth")
    variable = VariableDefinition("v", text[:90], text, options, sp.uniform(options), help=text)
    survey = SurveyDefinition(
        text, (variable,), "study", introduction=f"{text}\n{text}", thanks=text, contact=f"{text}\n\n \n{text}"
    )
    survey = survey_from_document(survey_document(survey))  # without blanks around
    for form in FORMATS:
        assert read_survey(write_survey(survey, form), form) == survey


DESIGNS = {
    "independent": ASKED,
    "conditional": GIVEN,
    "partition": GROUPS,
    "two groups": TWO_GROUPS,
    "hadamard": sp.hadamard(SEVEN, 15),
    "warner": sp.warner(["no", "yes"], 0.1 + 0.2),
    "many": sp.hadamard([f"option {k}" for k in range(48)], 127),
}


@pytest.mark.parametrize("which", DESIGNS)
@pytest.mark.parametrize("form", FORMATS)
def test_designs_that_a_program_chose_are_written_whole(which, form):
    design = DESIGNS[which]
    survey = SurveyDefinition("T", (VariableDefinition("v", "v", "?", tuple(design.categories), design),), "s")
    back = read_survey(write_survey(survey, form), form)
    assert back.variables[0].design == design
    assert back.variables[0].written == design.document()
    assert read_survey(write_survey(back, form), form) == back


def test_examples_are_one_survey():
    toml, yaml_, json_ = (read_survey(example_text(form), form) for form in FORMATS)
    assert toml == yaml_ == json_
    assert example_text("json") == write_survey(toml, "json")
    assert {len(variable.options) for variable in toml.variables} >= {2, 3}
    assert toml.links


PRETTY = SurveyDefinition(
    "A title",
    (
        VariableDefinition("a", "A", "A?", ABCDE, sp.uniform(ABCDE), guess=(0.5, 0.2, 0.1, 0.1, 0.1)),
        VariableDefinition("b", "b", "B?", ("no", "1"), sp.warner(["no", "1"], 0.3), {"kind": "warner", "q": 0.3}),
        VariableDefinition(
            "c", "c", "C?", tuple("abcd"), ASKED, {"kind": "independent", "questions": [[["a", "b"], 0.5]] * 3}
        ),
    ),
    "s",
    introduction='One\n\n"Two"',
    links=(("a", "b"),),
)
TOML = '''title = "A title"
study = "s"
language = "en"
mode = "code"
batch = 25
introduction = """
One

\\"Two\\""""
practice = true

[[variables]]
id = "a"
label = "A"
question = "A?"
options = ["a", "b", "c", "d", "e"]
design = "recommended"
guess = [0.5, 0.2, 0.1, 0.1, 0.1]

[[variables]]
id = "b"
question = "B?"
options = ["no", "1"]
design = { kind = "warner", q = 0.3 }

[[variables]]
id = "c"
question = "C?"
options = ["a", "b", "c", "d"]

[variables.design]
kind = "independent"
questions = [[["a", "b"], 0.5], [["a", "b"], 0.5], [["a", "b"], 0.5]]

[[links]]
variables = ["a", "b"]
'''
YAML = """title: A title
study: s
language: en
mode: code
batch: 25
introduction: |-
  One

  "Two"
practice: true
variables:
  - id: a
    label: A
    question: A?
    options:
      - a
      - b
      - c
      - d
      - e
    design: recommended
    guess: [0.5, 0.2, 0.1, 0.1, 0.1]
  - id: b
    question: B?
    options:
      - "no"
      - "1"
    design:
      kind: warner
      q: 0.3
  - id: c
    question: C?
    options:
      - a
      - b
      - c
      - d
    design:
      kind: independent
      questions: [[[a, b], 0.5], [[a, b], 0.5], [[a, b], 0.5]]
links:
  - variables:
      - a
      - b
"""
JSON = r"""{
  "title": "A title",
  "study": "s",
  "language": "en",
  "mode": "code",
  "batch": 25,
  "introduction": "One\n\n\"Two\"",
  "practice": true,
  "variables": [
    {
      "id": "a",
      "label": "A",
      "question": "A?",
      "options": ["a", "b", "c", "d", "e"],
      "design": "recommended",
      "guess": [0.5, 0.2, 0.1, 0.1, 0.1]
    },
    {"id": "b", "question": "B?", "options": ["no", "1"], "design": {"kind": "warner", "q": 0.3}},
    {
      "id": "c",
      "question": "C?",
      "options": ["a", "b", "c", "d"],
      "design": {
        "kind": "independent",
        "questions": [[["a", "b"], 0.5], [["a", "b"], 0.5], [["a", "b"], 0.5]]
      }
    }
  ],
  "links": [{"variables": ["a", "b"]}]
}
"""


@pytest.mark.parametrize(("form", "text"), [("toml", TOML), ("yaml", YAML), ("json", JSON)])
def test_files_are_pleasant_to_read(form, text):
    assert write_survey(PRETTY, form) == text


def test_unknown_formats_are_refused():
    with refused(ArgumentError, "format"):
        write_survey(PRETTY, "xml")
