"""The JSON Schema of survey files accepts what the reader accepts, and names what it checks."""

import json
from random import Random

import jsonschema
import pytest

import subsetprivacy as sp
from subsetprivacy.collect.survey import checking, definition, design_syntax, variable_checks
from subsetprivacy.collect.survey.bundled_files import example_text, schema_text
from subsetprivacy.collect.survey.documents import survey_document, survey_from_document
from subsetprivacy.collect.survey.entries import NAME
from subsetprivacy.collect.survey.reading import FORMATS, SurveyError, read_survey
from subsetprivacy.collect.survey.rules import MOST_LISTED
from subsetprivacy.collect.survey.writing import write_survey

SCHEMA = json.loads(schema_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
VARIABLE = SCHEMA["$defs"]["variable"]["properties"]


def errors(document):
    return [error.message for error in VALIDATOR.iter_errors(document)]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_it_knows_the_keys_and_the_limits():
    assert tuple(SCHEMA["properties"]) == checking.SURVEY_KEYS
    assert tuple(VARIABLE) == variable_checks.VARIABLE_KEYS
    assert {key: SCHEMA["properties"][key]["maxLength"] for key in checking.LENGTHS} == checking.LENGTHS
    lengths = {key: VARIABLE[key]["maxLength"] for key in ("label", "question", "help")}
    assert {**lengths, "option": SCHEMA["$defs"]["options"]["items"]["maxLength"]} == variable_checks.LENGTHS
    assert SCHEMA["properties"]["language"]["enum"] == list(checking.LANGUAGES)
    assert SCHEMA["properties"]["mode"]["enum"] == list(definition.MODES)
    batch = SCHEMA["properties"]["batch"]
    assert (batch["minimum"], batch["maximum"]) == (definition.LEAST_BATCH, checking.MOST_BATCH)
    assert SCHEMA["properties"]["variables"]["maxItems"] == definition.MOST_VARIABLES
    assert SCHEMA["$defs"]["options"]["maxItems"] == definition.MOST_OPTIONS
    assert SCHEMA["$defs"]["name"]["pattern"] == f"^{NAME.pattern}$"


def test_it_knows_the_designs():
    assert SCHEMA["$defs"]["design"]["oneOf"][0]["enum"] == list(design_syntax.NAMES)
    tables = SCHEMA["$defs"]["table"]["oneOf"]
    kinds = {}
    for table in tables:
        stated = table["properties"]["kind"]
        for kind in stated.get("enum", [stated.get("const")]):
            kinds[kind] = (set(table["properties"]) - {"kind"}, set(table.get("required", ())))
    assert kinds == {name: (set(kind.readers), set(kind.needed)) for name, kind in design_syntax.KINDS.items()}
    hadamard = next(table for table in tables if table["properties"]["kind"].get("const") == "hadamard")
    assert hadamard["properties"]["questions"]["maximum"] == MOST_LISTED - 1


@pytest.mark.parametrize("form", FORMATS)
def test_good_files_are_valid(form):
    survey = read_survey(example_text(form), form)
    assert errors(survey_document(survey)) == []
    assert errors(json.loads(write_survey(survey, "json"))) == []


OPTIONS = list("pqrs")
HALVES = [[["p", "q"], ["r", "s"]], [["p", "r"], ["q", "s"]], [["p", "s"], ["q", "r"]]]
PAIRS = [[["p", "q"], 0.5], [["p", "r"], 0.25], [["p", "s"], 0.25]]
SPELLINGS = [
    "recommended",
    "uniform",
    "hadamard",
    "pair",
    {"kind": "uniform"},
    {"kind": "pair"},
    {"kind": "hadamard", "questions": 3},
    {"kind": "partition", "groups": 2},
    {"kind": "partition", "partitions": HALVES},
    {"kind": "fixed_size", "size": 3},
    {"kind": "independent", "questions": PAIRS},
    {"kind": "conditional", "subsets": [[[*OPTIONS[:k], *OPTIONS[k + 1 :]], 1 / 3] for k in range(4)]},
    sp.uniform(OPTIONS).document(),
    sp.hadamard(OPTIONS).document(),
    sp.partition(OPTIONS, partitions=HALVES).document(),
]


@pytest.mark.parametrize("design", SPELLINGS, ids=str)
def test_every_spelling_is_valid(design):
    document = {"title": "T", "variables": [{"id": "v", "question": "?", "options": OPTIONS, "design": design}]}
    assert errors(document) == []
    survey_from_document(document)


def test_what_the_schema_refuses_the_reader_refuses():
    """Random changes of structure: the reader is never more lenient than the schema."""
    random = Random(11)
    base = json.loads(example_text("json"))
    changes = [
        None,
        0,
        -1,
        5,
        1.5,
        True,
        "",
        "x",
        "A B",
        "a\nb",
        "x" * 6000,
        [],
        {},
        ["a"],
        [1, 2],
        {"kind": "uniform"},
    ]
    refused = 0
    for _ in range(150):
        document = json.loads(json.dumps(base))
        holders = [document, *document["variables"], *document["links"], document["variables"][4]["design"]]
        holder = random.choice(holders)
        key = random.choice([*holder, "other"])
        if random.random() < 0.2 and key in holder:
            del holder[key]
        else:
            holder[key] = random.choice(changes)
        if errors(document):
            refused += 1
            with pytest.raises(SurveyError):
                survey_from_document(document)
    assert refused > 50
