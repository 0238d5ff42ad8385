"""A frozen survey: canonical bytes, a fingerprint that its link carries, and everything read back from them."""

import json
from base64 import b32encode
from hashlib import sha256

import pytest

import subsetprivacy as sp
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.manifest import freeze, read_manifest
from subsetprivacy.collect.survey.rules import asking
from subsetprivacy.errors import InvalidDesignError, MismatchError

OPTIONS = ("keine", "größte <b>", "نعم", "😀")
SURVEY = SurveyDefinition(
    title='A "title"',
    variables=(
        VariableDefinition("one", "One", "Eins?", OPTIONS, sp.uniform(OPTIONS), guess=(0.1, 0.2, 0.3, 0.4)),
        VariableDefinition("two", "Two", "Zwei?", ("no", "yes"), sp.warner(["no", "yes"])),
        VariableDefinition("three", "Three", "Drei?", tuple("abc"), sp.fixed_size(list("abc"), 2)),
    ),
    study="s-1",
    links=(("three", "one"),),
    introduction="First.\n\nSecond.",
)
KEY = bytes(range(32))


def test_the_text_is_canonical():
    manifest = freeze(SURVEY, KEY)
    document = json.loads(manifest.text)
    assert manifest.document == document
    assert json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() == manifest.text
    assert "größte <b>".encode() in manifest.text


def test_the_fingerprint_and_the_id_are_of_the_text():
    manifest = freeze(SURVEY, KEY)
    digest = sha256(manifest.text)
    assert manifest.fingerprint == digest.hexdigest()
    assert manifest.id == b32encode(digest.digest())[:26].decode().lower()


def test_everything_is_in_it():
    document = freeze(SURVEY, KEY, nonce="00").document
    assert document == {
        "format": "subsetprivacy.survey",
        "version": 1,
        "nonce": "00",
        "title": 'A "title"',
        "study": "s-1",
        "language": "en",
        "mode": "code",
        "batch": 25,
        "introduction": "First.\n\nSecond.",
        "thanks": "",
        "contact": "",
        "practice": True,
        "key_commitment": coin.commit_key(KEY).hex(),
        "groups": [["three", "one"], ["two"]],
        "variables": document["variables"],
    }
    first = document["variables"][0]
    kind, rule = asking(SURVEY.variables[0].design)
    assert first == {
        "id": "one",
        "label": "One",
        "question": "Eins?",
        "help": "",
        "options": list(OPTIONS),
        "guess": [0.1, 0.2, 0.3, 0.4],
        "kind": kind,
        "draw": rule,
        "design": sp.uniform(OPTIONS).document(),
    }


def test_it_is_read_back():
    made = freeze(SURVEY, KEY)
    manifest = read_manifest(made.text)
    assert (manifest.text, manifest.fingerprint, manifest.id) == (made.text, made.fingerprint, made.id)
    assert (manifest.mode, manifest.batch, manifest.study, manifest.title) == ("code", 25, "s-1", 'A "title"')
    assert manifest.designs == {variable.id: variable.design for variable in SURVEY.variables}
    assert manifest.groups == ((2, 0), (1,))


def test_the_key_is_committed_to_and_not_told():
    manifest = freeze(SURVEY, KEY)
    assert KEY.hex().encode() not in manifest.text
    assert freeze(SURVEY).document["key_commitment"] is None


def test_publications_differ():
    assert freeze(SURVEY, KEY).id != freeze(SURVEY, KEY).id
    assert freeze(SURVEY, KEY, nonce="1").text == freeze(SURVEY, KEY, nonce="1").text


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"1", b"{", b"\xff", b'{"format":"subsetprivacy.survey"}', b"[" * 100_000]
)
def test_what_is_no_manifest_is_refused(text):
    with pytest.raises(MismatchError):
        read_manifest(text)


def test_a_newer_version_is_refused():
    newer = freeze(SURVEY).text.replace(b'"version":1}', b'"version":2}')
    assert newer != freeze(SURVEY).text
    with pytest.raises(MismatchError):
        read_manifest(newer)


def test_a_design_that_cannot_be_asked_is_not_frozen():
    bad = VariableDefinition("one", "One", "?", ("a", "b"), sp.nonprivate(["a", "b"]))
    with pytest.raises(InvalidDesignError):
        freeze(SurveyDefinition("t", (bad,), "s"))
