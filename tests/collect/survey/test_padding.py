"""Every submission to a survey is as long as every other, whatever is asked, answered and skipped."""

import json

import pytest
from vectors import FEW

import subsetprivacy as sp
from subsetprivacy.collect.service.respondents import Habits, Respondent
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.padding import length_of, padded
from subsetprivacy.collect.survey.submission import MOST_BYTES, read_submission

KEY = bytes(range(32))
MANY = tuple(map(str, range(48)))
DESIGNS = {
    "uniform": sp.uniform(MANY),
    "listed": sp.independent(tuple("abcd"), FEW),
    "hadamard": sp.hadamard(MANY),
    "groups": sp.partition(MANY, 7),
    "halves": sp.partition(tuple("abcdef"), 2),
    "bit": sp.warner(("a", "b")),
    "pair": sp.fixed_size(("a", "b", "c"), 2),
    "many": sp.fixed_size(MANY, 21),
}


def manifest_of(mode, designs=DESIGNS):
    variables = tuple(
        VariableDefinition(name, name, "?", tuple(map(str, design.categories)), design)
        for name, design in designs.items()
    )
    return freeze(SurveyDefinition("Padding", variables, "padding", mode=mode), KEY if mode == "code" else None)


def people(manifest, number):
    """Give people of all values, who skip nothing, something or everything."""
    for k in range(number):
        code = coin.code_text(k.to_bytes(10, "big"), bytes(10)) if manifest.mode == "code" else None
        values = {held["id"]: k % len(held["options"]) for held in manifest.variables}
        one = Respondent(values, code=code, habits=Habits(skips=(0, 0.5, 1)[k % 3]))
        if manifest.mode == "code":
            wish = one.lock(manifest)
            share = coin.share(KEY, bytes.fromhex(wish["ticket"]), bytes.fromhex(wish["commitment"]))
            one.take_share(manifest, {**wish, "share": share.hex()})
        yield one


@pytest.mark.parametrize("mode", ["code", "open"])
def test_all_are_as_long_as_each_other_and_read_as_before(mode):
    manifest = manifest_of(mode)
    bare = set()
    for one in people(manifest, 300):
        document = one.submission(manifest)
        bare.add(len(json.dumps(document, separators=(",", ":"))))
        body = padded(document, manifest)
        assert len(body) == length_of(manifest)
        assert json.loads(body) == document
        read_submission(body, manifest)
    assert len(bare) > 10  # or there would be nothing to hide
    assert max(bare) > length_of(manifest) - 50  # and not much more is added than is needed


@pytest.mark.parametrize("name", DESIGNS)
def test_of_one_question_no_answer_and_no_skip_is_longer_than_the_rest(name):
    """In a survey of one question nothing else makes up for what is too long."""
    manifest = manifest_of("open", {name: DESIGNS[name]})
    lengths = {len(padded(one.submission(manifest), manifest)) for one in people(manifest, 90)}
    assert lengths == {length_of(manifest)}


def test_the_largest_survey_fits():
    names = [f"v{k:02}" + "x" * 29 for k in range(64)]
    assert length_of(manifest_of("code", {name: sp.partition(MANY, 24) for name in names})) <= MOST_BYTES
