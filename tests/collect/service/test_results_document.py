"""The document of the results: its schema, and the same bytes for the same counters."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import jsonschema
import pytest
from asking import Manners
from attrs import evolve
from every_design import KEPT, kept_survey, truths
from machines import PLAIN, environment
from released import drawn, emptied, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document, results_schema
from subsetprivacy.finding.document import document_text

DESIGNS = {"a": sp.uniform(options(5)), "b": sp.warner(("no", "yes")), "c": sp.partition(options(9), 3)}


@pytest.fixture(scope="module")
def answered():
    return drawn(survey_of(DESIGNS, [["a", "b"]]), truths(DESIGNS, 400), releases=3)


@pytest.fixture(scope="module")
def found(answered):
    return results(answered)


# The schema -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*KEPT, "empty"])
def test_the_document_is_by_its_schema(name):
    """All kinds of questions, few people, and nobody yet."""
    released = emptied(kept_survey("every_kind")) if name == "empty" else kept_survey(name)
    document = json.loads(document_text(results_document(results(released))))
    for schema in (results_schema(), results_schema(inline=True)):
        jsonschema.Draft202012Validator.check_schema(schema)
        problems = jsonschema.Draft202012Validator(schema).iter_errors(document)
        assert [(list(one.absolute_path), one.message) for one in problems] == []


def objects(schema):
    """Yield every schema of an object with named keys, wherever it is."""
    if isinstance(schema, dict):
        if "properties" in schema and isinstance(schema["properties"], dict):
            yield schema
        for one in schema.values():
            yield from objects(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from objects(one)


def test_the_schema_admits_no_key_more_and_none_less():
    whole = list(objects(results_schema()))
    assert len(whole) > 30
    for one in whole:
        assert one["additionalProperties"] is False
        assert one["required"] == sorted(one["properties"])
        assert one["description"] or one is whole[0]


def test_the_document_says_what_it_is(found):
    document = results_document(found)
    named = ("format", "version", "survey", "n", "locked", "seal", "fingerprint_bits", "releases", "variables")
    assert list(document) == [*named, "groups", "findings"]
    assert (document["format"], document["version"], document["survey"]["state"]) == (
        "subsetprivacy.results",
        2,
        "open",
    )
    survey = "id fingerprint title study mode version state opened_day closed_day batch self_selected"
    assert list(document["survey"]) == survey.split()


def test_the_document_is_plain_data_without_nan(found):
    document = results_document(found)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def in_other_order(released, seed):
    """Return the same counters as a database may return them."""
    shuffle = Random(seed)

    def stirred(held):
        items = list(held.items())
        shuffle.shuffle(items)
        return dict(items)

    return evolve(released, rows=tuple(map(stirred, released.rows)), framings=stirred(released.framings))


def test_the_same_counters_in_any_order_give_the_same_bytes(answered, found):
    again = in_other_order(answered, 4)
    assert list(again.framings) != list(answered.framings)
    assert document_text(results_document(results(again))) == document_text(results_document(found))


def test_the_order_does_not_matter_where_samples_are_drawn_either():
    """Some people skip, questions are many, answers few and given by chance: laws are simulated."""
    odd = Manners(at_random=0.6, skips=lambda shown, truth: 0.05 + (shown[:, 0] & 1) / 2)
    designs = {"a": sp.uniform(options(8)), "b": sp.uniform(options(16)), "c": sp.partition(options(9), 3)}
    released = drawn(survey_of(designs, [["a", "c"]]), truths(designs, 200), manners=dict.fromkeys(designs, odd))
    found = results(released)
    numbers = {test.samples for test in found.findings.checks.tests}
    assert 199 in numbers
    assert max(numbers) > 1000
    text = document_text(results_document(found))
    assert all(document_text(results_document(results(in_other_order(released, seed)))) == text for seed in range(3))


_AGAIN = """
import sys
sys.path[:0] = sys.argv[1:]
from released import drawn, options, survey_of, values
import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.finding.document import document_text

designs = {
    "a": sp.uniform(options(5)),
    "b": sp.hadamard(options(12)),
    "c": sp.uniform(options(16)),
    "d": sp.partition(options(9), 3),
    "e": sp.warner(("no", "yes")),
}
truth = {k: values(range(1, d.p + 1), 120, 3) for k, d in designs.items()}
text = document_text(results_document(results(drawn(survey_of(designs, [["a", "b"], ["d", "e"]]), truth))))
"""


@pytest.fixture(scope="module")
def here():
    names: dict = {}
    exec(_AGAIN.replace("sys.path[:0] = sys.argv[1:]", ""), names)
    return names["text"]


@pytest.mark.slow
def test_another_process_on_another_processor_gives_the_same_bytes(here):
    there = {**environment("Prescott", loops=PLAIN), "PYTHONHASHSEED": "78"}  # the farthest from what is new
    support = next(path for path in sys.path if path.endswith("support"))
    text = subprocess.run(
        [sys.executable, "-c", f"{_AGAIN}\nsys.stdout.buffer.write(text.encode())", support],
        env={**there, "PATH": "", "PYTHONPATH": str(Path(sp.__file__).parents[1])},
        capture_output=True,
        check=True,
    ).stdout
    assert text.decode() == here
    assert json.loads(text)["n"] == 120


def test_another_seal_draws_other_tables():
    designs = {"a": sp.uniform(options(5)), "b": sp.uniform(options(5))}
    released = drawn(survey_of(designs, [["a", "b"]]), truths(designs, 100))
    sealed = evolve(released, releases=(evolve(released.releases[0], chain_sha256="0" * 64),))
    one, two = (results(held).findings.pairs[0].test.pvalue for held in (released, sealed))
    assert one != two
    assert one == pytest.approx(two, abs=0.2)


def test_releases_are_listed_with_their_seals():
    released = drawn(
        survey_of({"a": sp.uniform(options(4))}, mode="code"), {"a": values([1] * 4, 130, 1)}, releases=4, locked=7
    )
    document = results_document(results(released))
    assert [line["total"] for line in document["releases"]] == [32, 64, 96, 130]
    assert document["seal"] == released.releases[-1].chain_sha256
    assert document["locked"] == 7
