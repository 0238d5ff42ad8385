"""Findings as JSON: by the schema that follows from the classes, and the same bytes for the same counts."""

import hashlib
import json
import math
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import frozen
from finding_cases import ABCD, CASES, UNIFORM, findings_of, letters, table
from findings_schema import PATH, schema_text
from machines import PLAIN, environment

import subsetprivacy as sp
from subsetprivacy.finding.document import FIGURES, document_text, plain, rounded, schema_of
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import AUTO_INTERVAL

SCHEMA = sp.Findings.schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EVERY_CASE = pytest.mark.parametrize("case", CASES)


def _parts(held, path=()):
    """Yield every object and every number of a document or schema, with where it is."""
    yield path, held
    if isinstance(held, dict):
        for key, value in held.items():
            yield from _parts(value, (*path, key))
    elif isinstance(held, list):
        for k, value in enumerate(held):
            yield from _parts(value, (*path, k))


# The schema -------------------------------------------------------------------------------------


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_published_schema_is_that_of_the_classes():
    assert PATH.read_text(encoding="utf-8") == schema_text(), "run `python tests/support/findings_schema.py`"


@EVERY_CASE
def test_documents_keep_to_the_schema(case):
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(findings_of(case).to_json()))] == []


def test_every_class_of_the_schema_is_filled_by_some_case():
    """Otherwise the schema could say anything about it."""
    seen = set()

    def follow(schema, held):
        if "$ref" in schema and held is not None:
            name = schema["$ref"].rsplit("/", 1)[1]
            seen.add(name)
            follow(SCHEMA["$defs"][name], held)
        for one in schema.get("anyOf", ()):
            if held is not None and one != {"type": "null"}:
                follow(one, held)
        if isinstance(held, dict):
            others = schema.get("additionalProperties")
            for key, value in held.items():
                inner = schema.get("properties", {}).get(key) or (others if isinstance(others, dict) else {})
                follow(inner, value)
        if isinstance(held, list):
            for value in held:
                follow(schema.get("items", {}), value)

    for case in CASES:
        follow(SCHEMA, findings_of(case).to_dict())
    assert set(SCHEMA["$defs"]) - seen == {"GroupFindings", "GroupShares"}  # of a file: see test_groups below


def test_groups_keep_to_the_schema(tmp_path):
    codes = sp.privatize(ABCD * 50, UNIFORM, seed=1).codes
    path = tmp_path / "made.csv"
    sp.write_release(pa.table({"x": codes, "town": ["north", "south"] * 100}), path, {"x": UNIFORM}, keep=["town"])
    made = sp.findings(sp.read_release(path), by="town")
    assert len(made.to_dict()["variables"][0]["groups"]["groups"]) == 2
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(made.to_json()))] == []


def test_nothing_else_may_be_in_a_document():
    for path, held in _parts(SCHEMA):
        if isinstance(held, dict) and "properties" in held and held.get("type") == "object":
            assert held["additionalProperties"] is False, path
            assert sorted(held["properties"]) == held["required"], path
    document = findings_of("a table").to_dict()
    for spoiled in ({**document, "more": 1}, {key: document[key] for key in document if key != "pairs"}):
        assert list(VALIDATOR.iter_errors(spoiled))


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("version",), 1),
        (("format",), "subsetprivacy.results"),
        (("variables", 0, "shares", "estimate", 0), "much"),
        (("variables", 0, "name"), 3),
        (("pairs", 0, "names"), ["x"]),
        (("pairs", 0, "names"), ["x", "y", "z"]),
        (("alarm", "tests"), 1.5),
        (("rows", 0, "joint_known"), None),
    ],
)
def test_the_schema_refuses_what_is_none(path, wrong):
    document = json.loads(findings_of("a table").to_json())
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = wrong
    assert list(VALIDATOR.iter_errors(document))


@frozen
class _Inner:
    """An inner part."""

    x: float


@frozen
class _Outer:
    """A class that holds others, and itself."""

    DOCUMENT = ("many", "by_name", "pair", "double", "again", "label")

    many: tuple[_Inner, ...]
    by_name: dict[str, _Inner]
    pair: tuple[str, int]
    again: "_Outer | None" = None
    label: Any = None
    hidden: str = "never written"

    @property
    def double(self) -> float:
        """A property is written as a field is."""
        return 2 * self.many[0].x


def test_a_schema_follows_from_any_class():
    held = _Outer(
        (_Inner(1.5),), {"a": _Inner(math.inf)}, ("x", 1), _Outer((_Inner(0.0),), {}, ("y", 2)), date(2030, 1, 2)
    )
    document = plain(held)
    assert document["double"] == 3.0
    assert document["by_name"] == {"a": {"x": None}}
    assert document["label"] == "2030-01-02"
    assert "hidden" not in document
    # Not inline: a class that holds itself cannot be written out.
    validator = jsonschema.Draft202012Validator(schema_of(_Outer, "Held", inline=False, version=3))
    validator.validate({"version": 3, **document})
    assert list(validator.iter_errors({"version": 4, **document}))
    whole = schema_of(_Inner, "Inner", inline=True)
    assert "$defs" not in whole
    assert whole["properties"] == {"x": {"type": ["number", "null"]}}


# Numbers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (0.123456789012, 0.12345679),
        (123456789.87654321, 123456790.0),
        (1.23456789e-12, 1.2345679e-12),
        (-2 / 3, -0.66666667),
        (-0.0, 0.0),
        (1e10, 1e10),
        (math.nan, None),
        (-math.inf, None),
    ],
)
def test_eight_figures(value, wanted):
    assert rounded(value) == wanted
    assert FIGURES == 8
    assert math.copysign(1, rounded(value) or 1.0) == math.copysign(1, wanted or 1.0)


def test_notes_and_arrays_are_plain():
    note = Note(NoteKind.BOUNDARY, "A zero.", AUTO_INTERVAL)
    assert plain({"w": np.array([[0.5, np.nan]]), "n": np.float64(3), "notes": (note,), "is": True}) == {
        "w": [[0.5, None]],
        "n": 3.0,
        "notes": [note.to_dict()],
        "is": True,
    }


@EVERY_CASE
def test_no_number_has_more_figures_than_processors_agree_on(case):
    for path, value in _parts(findings_of(case).to_dict()):
        if isinstance(value, float) and not isinstance(value, bool):
            assert math.isfinite(value), path
            assert value == rounded(value), path


def test_text_is_sorted_and_ends_in_a_line():
    text = document_text({"b": "ä", "a": 1.5})
    assert text == '{\n "a": 1.5,\n "b": "ä"\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        document_text({"a": math.nan})


def test_labels_that_json_does_not_have_are_text():
    design = sp.uniform([date(2030, 1, day) for day in (1, 2, 3, 4)])
    made = sp.findings(sp.simulate(design, [0.1, 0.2, 0.3, 0.4], 300, seed=1))
    document = json.loads(made.to_json())
    assert document["variables"][0]["categories"] == ["2030-01-01", "2030-01-02", "2030-01-03", "2030-01-04"]
    assert document["variables"][0]["design_fingerprint"] == ""
    assert list(VALIDATOR.iter_errors(document)) == []


# The same bytes -----------------------------------------------------------------------------------

SAME = ("uniform", "hadamard", "partition", "zeros", "covered", "questions", "sampling weights", "ten billion people")
SAME += ("a table", "earlier", "join", "product")
# Kernels of the linear algebra for other processors than this one, several threads, and NumPy without its vector loops.
# What is changed in one process is in parts that have nothing to do with each other.
MACHINES = {
    "nehalem": lambda: environment("Nehalem"),  # as old as the other: any x86 can play it
    "prescott, plain loops, threads, hashes": lambda: {
        **environment("Prescott", loops=PLAIN, threads=2),
        "PYTHONHASHSEED": "7",
    },
}
_PROGRAM = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from finding_cases import findings_of
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(sum(__cpu_features__[name] for name in __cpu_dispatch__))
for case in sys.argv[2:]:
    print(hashlib.sha256(findings_of(case).to_json().encode()).hexdigest())
"""


def _digest(case):
    return hashlib.sha256(findings_of(case).to_json().encode()).hexdigest()


@pytest.mark.parametrize("machine", [pytest.param("nehalem", marks=pytest.mark.slow), list(MACHINES)[1]])
def test_same_counts_same_bytes_on_every_machine(machine):
    support = str(Path(__file__).parents[2] / "support")
    words = [sys.executable, "-W", "ignore", "-c", _PROGRAM, support, *SAME]
    path = os.pathsep.join(part for part in sys.path if part)
    there = MACHINES[machine]()
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": path, **there}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loops, *digests = done.stdout.split()
    if "plain loops" in machine:
        assert loops == "0", "the vector loops are still used, and the test is none"
    assert dict(zip(SAME, digests, strict=True)) == {case: _digest(case) for case in SAME}


def test_the_order_of_rows_is_not_in_the_document(tmp_path):
    order = np.random.default_rng(3).permutation(len(table()["x"].codes))
    shuffled = sp.SubsetTable([table()[name].codes[order] for name in "xyz"], table().design)
    assert sp.findings(shuffled, permutations=99).to_json() == findings_of("a table").to_json()
    one, two = ({name: table()[name].codes[at] for name in "xyz"} for at in (np.arange(len(order)), order))
    designs = {name: table()[name].design for name in "xyz"}
    documents = []
    for folder, columns in ((tmp_path / "one", one), (tmp_path / "two", two)):
        folder.mkdir()
        path = folder / "made.parquet"
        sp.write_release(pa.table(columns), path, designs)
        assert pq.read_table(path).num_rows == 400
        documents.append(sp.findings(sp.read_release(path), permutations=99).to_json())
    assert documents[0] == documents[1]


def test_other_counts_draw_other_samples():
    one, two = letters(60), letters(60, seed=2)
    assert sp.findings(one).settings.seal != sp.findings(two).settings.seal
    assert sp.findings(one).settings.seal == sp.findings(letters(60)).settings.seal
    assert sp.findings({"x": one}).settings.seal != sp.findings({"y": one}).settings.seal
