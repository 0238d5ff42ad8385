"""The JSON Schema of design documents accepts every kind and refuses what the reader refuses."""

import copy
import importlib.util
import json
import re
from pathlib import Path

import jsonschema
import pytest
from every_case import every_case
from lopsided import DESIGNS, NEW, RECORDED, UNKNOWN, WARNER

import subsetprivacy as sp
from subsetprivacy.design.document import kinds
from subsetprivacy.design.schema import schema_text
from subsetprivacy.errors import DesignDocumentError

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads(schema_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def _of_the_contracts():
    spec = importlib.util.spec_from_file_location(
        "contracts", ROOT / "tests" / "contracts" / "test_every_design_and_estimator.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {f"contract: {name}": make() for name, make in module.DESIGNS.items()}


EVERY = {**DESIGNS, **NEW, "unknown": UNKNOWN, **_of_the_contracts()}
NOT_JSON = {"contract: nonprivate"}  # its labels are tuples


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@every_case("name", [name for name in EVERY if name not in NOT_JSON])
def test_every_design_has_a_valid_document(name):
    document = json.loads(EVERY[name].to_json())
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    del document["fingerprint"]  # as one written by hand may be
    assert VALIDATOR.is_valid(document)


def test_the_designs_above_are_of_every_kind():
    inside = set()

    def collect(part):
        inside.add(part["kind"])
        for inner in [
            *part.get("factors", []),
            *part.get("components", []),
            *([part["base"]] if "base" in part else []),
        ]:
            collect(inner)

    for name, design in EVERY.items():
        if name not in NOT_JSON:
            collect(design.document())
    assert inside == set(kinds()) == set(SCHEMA["$defs"]["part"]["properties"]["kind"]["enum"])
    for name in NOT_JSON:
        with pytest.raises(DesignDocumentError):
            EVERY[name].to_json()


# Documents that are wrong -----------------------------------------------------------------------

BASES = {
    "uniform": sp.uniform(list("abcd")),
    "independent": DESIGNS["independent"],
    "conditional": DESIGNS["conditional"],
    "fixed_size": NEW["fixed size, p=6"],
    "partition": sp.partition(range(6), 3),
    "recorded": RECORDED,
    "hadamard": NEW["hadamard, p=6"],
    "bit": WARNER,
    "covered": NEW["covered"],
    "product": NEW["product"],
    "mixture": DESIGNS["mixture, asked"],
}
ABSENT = object()

# (what is wrong, which document, where, what stands there instead)
BROKEN = [
    ("another format", "uniform", ["format"], "design"),
    ("a later version", "uniform", ["version"], 2),
    ("a version as text", "uniform", ["version"], "1"),
    ("no kind", "uniform", ["kind"], ABSENT),
    ("an unknown kind", "uniform", ["kind"], "unifrom"),
    ("no categories", "uniform", ["categories"], ABSENT),
    ("categories as one text", "uniform", ["categories"], "abcd"),
    ("too few categories", "uniform", ["categories"], ["a", "b", "c"]),
    ("too many categories", "uniform", ["categories"], list(range(49))),
    ("a category twice", "uniform", ["categories"], ["a", "b", "c", "a"]),
    ("a category that is null", "uniform", ["categories", 0], None),
    ("a category that is a list", "uniform", ["categories", 0], ["a"]),
    ("a wrong fingerprint", "uniform", ["fingerprint"], "0" * 63),
    ("a fingerprint that is a number", "uniform", ["fingerprint"], 7),
    ("no questions", "independent", ["questions"], ABSENT),
    ("questions as an object", "independent", ["questions"], {"3": "1.0"}),
    ("no question at all", "independent", ["questions"], []),
    ("a code that is text", "independent", ["questions", 0, 0], "3"),
    ("a code that is true", "independent", ["questions", 0, 0], True),
    ("a negative code", "independent", ["questions", 0, 0], -3),
    ("a code of 49 bits", "independent", ["questions", 0, 0], 2**48),
    ("a weight that is a word", "independent", ["questions", 0, 1], "half"),
    ("a negative weight", "independent", ["questions", 0, 1], "-0.5"),
    ("an infinite weight", "independent", ["questions", 0, 1], "inf"),
    ("a weight that is null", "independent", ["questions", 0, 1], None),
    ("a weight that is a list", "independent", ["questions", 0, 1], ["0.5"]),
    ("a pair of three", "independent", ["questions", 0], [3, "0.5", "0.5"]),
    ("a pair of one", "independent", ["questions", 0], [3]),
    ("no subsets", "conditional", ["subsets"], ABSENT),
    ("a subset of one member", "conditional", ["subsets", 0, 0], 1),
    ("the empty subset", "conditional", ["subsets", 0, 0], 0),
    ("no size", "fixed_size", ["size"], ABSENT),
    ("a size of one", "fixed_size", ["size"], 1),
    ("a size that is text", "fixed_size", ["size"], "4"),
    ("half a size", "fixed_size", ["size"], 2.5),
    ("one group", "partition", ["groups"], 1),
    ("no word on the record", "partition", ["recorded"], ABSENT),
    ("a record of no list", "partition", ["recorded"], True),
    ("a group of one member", "recorded", ["partitions", 0, 0], 1),
    ("an empty list of partitions", "recorded", ["partitions"], []),
    ("a partition that is no list", "recorded", ["partitions", 0], 7),
    ("a size that is no power of two", "hadamard", ["size"], 15),
    ("a negative column", "hadamard", ["columns", 0], -1),
    ("a column twice", "hadamard", ["columns"], [1, 1, 2, 3, 4, 5]),
    ("a column that is no whole number", "hadamard", ["columns", 0], 0.5),
    ("no columns", "hadamard", ["columns"], ABSENT),
    ("a bit that is always 1", "bit", ["q"], "1.0"),
    ("a bit that is never 1", "bit", ["q"], 0),
    ("another question", "bit", ["asked"], "sometimes"),
    ("three categories beside Warner's bit", "bit", ["categories"], ["a", "b", "c"]),
    ("no base", "covered", ["base"], ABSENT),
    ("a base without a kind", "covered", ["base", "kind"], ABSENT),
    ("a covered base", "covered", ["base"], {"kind": "covered", "floor": "0.1", "base": {"kind": "uniform"}}),
    ("a floor of a half", "covered", ["floor"], "0.5"),
    ("a floor of nothing", "covered", ["floor"], 0),
    ("people without dummies", "covered", ["dummies"], ABSENT),
    ("people in halves", "covered", ["people"], 400.5),
    ("fewer dummies than none", "covered", ["dummies"], -1),
    ("no variables", "product", ["variables"], ABSENT),
    ("a variable without a name", "product", ["variables", 0, "name"], ABSENT),
    ("a variable whose name is empty", "product", ["variables", 0, "name"], ""),
    ("a variable whose name is a number", "product", ["variables", 0, "name"], 1),
    ("no factors", "product", ["factors"], ABSENT),
    ("a factor of no variable", "product", ["factors", 0, "variables"], 0),
    ("a factor of unsaid variables", "product", ["factors", 0, "variables"], ABSENT),
    ("a factor of unknown kind", "product", ["factors", 0, "kind"], "odd"),
    ("no components", "mixture", ["components"], ABSENT),
    ("a component without a share", "mixture", ["components", 0, "share"], ABSENT),
    ("a component with a negative share", "mixture", ["components", 0, "share"], "-1"),
    ("a component without its questions", "mixture", ["components", 0, "questions"], ABSENT),
]


def changed(base, path, value):
    document = copy.deepcopy(BASES[base].document())
    if path != ["fingerprint"]:
        del document["fingerprint"]  # or every change would be refused for the same reason
    *way, last = path
    place = document
    for step in way:
        place = place[step]
    if value is ABSENT:
        del place[last]
    else:
        place[last] = value
    return document


@every_case(("base", "path", "value"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_what_is_wrong_is_refused_by_the_schema_and_by_the_reader(base, path, value):
    document = changed(base, path, value)
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(DesignDocumentError):
        sp.design_from_json(json.dumps(document))


def test_the_documents_above_are_right_before_they_are_broken():
    for design in BASES.values():
        document = design.document()
        del document["fingerprint"]
        assert VALIDATOR.is_valid(document)
        assert sp.design_from_json(json.dumps(document)) == design


# The reader leaves out what it does not know; a misspelt key is what a schema is for.
UNKNOWN_KEYS = [
    ("uniform", ["colour"], 1),
    ("uniform", ["questions"], [[3, "1.0"]]),  # another kind's
    ("uniform", ["share"], "0.5"),
    ("covered", ["base", "colour"], 1),
    ("covered", ["base", "fingerprint"], "0" * 64),
    ("product", ["factors", 0, "share"], "0.5"),
    ("product", ["variables", 0, "label"], "x"),
    ("product", ["categories"], ["a", "b"]),  # beside the variables
    ("mixture", ["components", 0, "variables"], 1),
]


@every_case(("base", "path", "value"), UNKNOWN_KEYS)
def test_unknown_keys_are_refused_by_the_schema(base, path, value):
    assert not VALIDATOR.is_valid(changed(base, path, value))


def test_unknown_keys_break_the_fingerprint():
    for base, path, value in UNKNOWN_KEYS:
        document = {**changed(base, path, value), "fingerprint": BASES[base].fingerprint}
        with pytest.raises(DesignDocumentError):
            sp.design_from_json(json.dumps(document))


def keys_of(schema):
    result = set()
    if isinstance(schema, dict):
        result |= set(schema.get("properties", {}))
        schema = schema.values()
    return (
        result.union(*(keys_of(inner) for inner in schema)) if isinstance(schema, (list, type({}.values()))) else result
    )


def test_the_page_and_the_schema_name_the_same_keys():
    page = (ROOT / "docs" / "reference" / "design-document.md").read_text(encoding="utf-8")
    table = page[page.index("| `format` |") :].split("\n\n")[0]  # the first table; others are of kinds
    rows = [line.split("|")[1] for line in table.splitlines()]
    named = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    own = [classes[0].keys.properties for classes in kinds().values()]  # each kind's section has its table of these
    assert named.union(*(keys_of({"properties": properties}) for properties in own)) == keys_of(SCHEMA)


@every_case("kind", kinds())
def test_every_key_that_an_example_has_is_said(kind):
    for each in kinds()[kind]:
        assert set(each.example().content()) <= set(each.keys.properties)
        assert all("description" in rule for rule in each.keys.properties.values())
