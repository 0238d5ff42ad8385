import enum
import json
from hashlib import sha256

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, DESIGNS, GIVEN, UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Mixture
from subsetprivacy.errors import DesignDocumentError

EVERY = {**DESIGNS, "coarse": UNKNOWN}


def altered(design, **changes):
    return json.dumps({**design.document(), **changes})


def unsigned(design, **changes):
    document = {**design.document(), **changes}
    del document["fingerprint"]
    return json.dumps(document)


@pytest.mark.parametrize("name", EVERY)
def test_round_trip(name, tmp_path):
    design = EVERY[name]
    for again in (sp.design_from_json(design.to_json()), sp.load_design(design.save(tmp_path / "design.json"))):
        assert again == design
        assert hash(again) == hash(design)
        assert again.fingerprint == design.fingerprint
        assert type(again) is type(design)
        assert again.kind == design.kind
        if design.is_known:  # and keeps every bit of its law, which nobody can change
            for mine, theirs in zip(again.support(), design.support(), strict=True):
                np.testing.assert_array_equal(mine, theirs)
                assert not mine.flags.writeable
            assert not again.Q.flags.writeable


def test_questions_are_locked():
    assert not ASKED.nu.flags.writeable
    assert not ASKED.questions.flags.writeable


def test_round_trip_of_any_shares():
    # A second division by a sum of 0.999…9 would change the last bit, and the fingerprint with it.
    rng = np.random.default_rng(1)
    for shares in rng.random((200, 3)):
        mixed = Mixture.of([ASKED, GIVEN, sp.uniform(ABCD)], shares.tolist())
        assert sp.design_from_json(mixed.to_json()) == mixed


@every_case(
    "labels",
    [[1, 2, 3, 4], ["1", "2", "3", "4"], [1.0, 2.0, 3.0, 4.0], [True, 2, 3, 4], [False, "False", 1, "é"]],
    ids=str,
)
def test_labels_keep_their_type(labels):
    again = sp.design_from_json(sp.uniform(labels).to_json())
    assert [(type(label), label) for label in again.categories] == [(type(label), label) for label in labels]


def test_labels_of_different_type_make_different_designs():
    made = [
        sp.uniform(labels) for labels in ([1, 2, 3, 4], ["1", "2", "3", "4"], [1.0, 2.0, 3.0, 4.0], [True, 2, 3, 4])
    ]
    assert len(set(made)) == 4
    assert len({design.fingerprint for design in made}) == 4


def test_the_fingerprint_is_that_of_the_canonical_text():
    # Spelt out: a change of this text would disown every document ever written.
    text = '{"categories":["a","b","c","d"],"format":"subsetprivacy.design","kind":"uniform","version":1}'
    assert sp.uniform(ABCD).fingerprint == sha256(text.encode()).hexdigest()
    text = (
        '{"categories":["a","b","c","d"],"format":"subsetprivacy.design","kind":"independent",'
        '"questions":[[3,"0.5"],[5,"0.3"],[9,"0.2"]],"version":1}'
    )
    assert ASKED.fingerprint == sha256(text.encode()).hexdigest()


def test_any_change_of_content_changes_the_fingerprint():
    nearly = sp.independent(ABCD, {("a", "b"): 0.5, ("a", "c"): 0.3 + 1e-15, ("a", "d"): 0.2 - 1e-15})
    changed = [
        ASKED,
        nearly,
        sp.independent(["a", "b", "d", "c"], {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2}),
        sp.independent(["a", "b", "c", "e"], {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "e"): 0.2}),
        sp.independent(ABCD, {("c", "d"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2}),
        *EVERY.values(),
    ]
    assert len({design.fingerprint for design in changed}) == len(changed) - 1  # ASKED is there twice
    assert len(set(changed)) == len(changed) - 1


def test_the_document_says_what_it_is():
    document = json.loads(ASKED.to_json())
    assert document["format"] == "subsetprivacy.design"
    assert document["version"] == 1
    assert document["categories"] == list(ABCD)
    assert document["questions"] == [[3, "0.5"], [5, "0.3"], [9, "0.2"]]


@every_case(
    ("text", "argument"),
    [
        ("", None),
        ("{", None),
        (None, None),
        ({"format": "subsetprivacy.design"}, None),
        (b"\xff\xfe\x00garbage", None),
        ("[" * 100_000, None),
        (sp.uniform(["é", 2, 3, 4]).to_json().replace("é", "\\ud800"), None),
        (unsigned(sp.uniform(["é", 2, 3, 4])).replace("\\u00e9", "\ud800"), None),
        (unsigned(sp.uniform([1, 2, 3, 4])).replace("4", "NaN"), None),
        ("[]", None),
        ('{"format": "other"}', None),
        (altered(ASKED, version=2), None),
        (altered(ASKED, version=None), None),
        (altered(ASKED, categories=["a", "b", "c", "e"]), None),
        (altered(ASKED, questions=[[3, 0.4], [5, 0.4], [9, 0.2]]), None),
        (altered(ASKED, note="looks harmless"), None),
        (altered(ASKED, fingerprint="0" * 64), None),
        (unsigned(ASKED, kind="carousel"), None),
        (unsigned(ASKED, kind="conditional"), None),
        (unsigned(ASKED, questions=5), None),
        (unsigned(ASKED, questions=[[3, 1.0], [3, 1.0]]), None),
        (unsigned(ASKED, questions=[["ab", 1.0]]), None),
        (unsigned(ASKED, questions=[[True, 1.0]]), None),
        (unsigned(ASKED, questions=[[3, "half"]]), None),
        (unsigned(ASKED, questions=[[3, 0.5]]), None),
        (unsigned(ASKED, questions=[[99, 1.0]]), None),
        (unsigned(ASKED, categories="abcd"), "categories"),
        (unsigned(UNKNOWN, categories=list(range(60))), None),
        (unsigned(GIVEN, subsets=[[3, 1.0]]), None),
    ],
)
def test_what_is_no_design_is_refused(text, argument):
    with refused(DesignDocumentError, argument):
        sp.design_from_json(text)


@every_case("shares", [(-1, 2), (0, 0), ("x", 1)])
def test_the_shares_of_a_mixture_are_checked(shares):
    document = json.loads(unsigned(DESIGNS["mixture, asked"]))
    for part, share in zip(document["components"], shares, strict=True):
        part["share"] = share
    with pytest.raises(DesignDocumentError):
        sp.design_from_json(json.dumps(document))


def test_a_document_written_by_hand_needs_no_fingerprint():
    assert sp.design_from_json(unsigned(ASKED)) == ASKED


class Colour(str, enum.Enum):  # noqa: UP042  # what people have in older code
    BLACK, RED, GREEN, BLUE = "black", "red", "green", "blue"


@every_case(
    ("labels", "kind"),
    [([("a", 1), "b", "c", "d"], "tuple"), (list(Colour), "Colour"), ([1.0, 2.0, 3.0, float("inf")], "float")],
)
def test_labels_that_json_cannot_keep_are_refused(labels, kind):
    design = sp.uniform(labels)
    for write in (design.to_json, lambda: design.fingerprint, design.document):
        with pytest.raises(DesignDocumentError, match=f"text, finite numbers or booleans to be written.*got {kind}"):
            write()


def test_loading_needs_a_file(tmp_path):
    with pytest.raises(DesignDocumentError):
        sp.load_design(tmp_path / "nowhere.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(DesignDocumentError):
        sp.load_design(tmp_path / "binary.json")


def test_designs_compare_by_content():
    assert sp.uniform(ABCD) == sp.uniform(list(ABCD))
    assert sp.uniform(ABCD) != "uniform"
    assert sp.uniform(ABCD) != sp.uniform(["b", "a", "c", "d"])
    assert sp.nonprivate(ABCD) != sp.fully_private(ABCD)
    assert len({sp.uniform(ABCD), sp.uniform(ABCD), ASKED}) == 2
