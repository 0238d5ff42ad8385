"""Submissions: accepted exactly where the survey's page could have sent them, refused in a word that tells nothing."""

import json
from functools import lru_cache
from hashlib import sha256
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lopsided import ABCDE, ASKED, GIVEN3, GROUPS, SEVEN, TWO_GROUPS

import subsetprivacy as sp
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.drawing import Stream, draw_around, draw_question
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.submission import (
    MOST_BYTES,
    SKIPPED,
    Framing,
    SubmissionError,
    read_submission,
    was_drawn,
)
from subsetprivacy.collect.survey.tallies import row_codes

KEY, SECRET, TICKET = b"k" * 32, b"c" * 32, b"t" * 10
REASONS = {"unreadable", "stale", "ticket", "opening", "answers", "not drawn"}
EVERY_KIND = {
    "uniform": sp.uniform(ABCDE),
    "listed": ASKED,
    "thirds": GROUPS,
    "halves": sp.partition(ABCDE, 2),
    "bit": sp.warner(["no", "yes"]),
    "pair": sp.fixed_size(list("xyz"), 2),
    "given": GIVEN3,
}


def manifest_of(designs, mode="open", links=()):
    variables = tuple(
        VariableDefinition(name, name, "?", tuple(map(str, design.categories)), design)
        for name, design in designs.items()
    )
    return freeze(SurveyDefinition("t", variables, "study", mode=mode, links=links), KEY, nonce="0")


OPEN = manifest_of(EVERY_KIND, links=(("thirds", "uniform"),))
CODE = manifest_of(EVERY_KIND, "code")
SEED = {"open": b"d" * 32, "code": coin.seed(coin.share(KEY, TICKET, coin.commit(SECRET)), SECRET)}


def answer_to(held, value, mode):
    """Return what the page sends for a true value."""
    seed = SEED["open"] if held["kind"] in ("bit", "local") else SEED[mode]
    stream = Stream(seed, "study", held["id"])
    if held["kind"] == "bit":
        return {"answer": value}
    if held["kind"] == "local":
        return {"kept": draw_around(held["draw"], value, stream)}
    asked = draw_question(held["draw"], stream)
    return {"asked": asked, "answer": next(k for k, code in enumerate(asked) if code >> value & 1)}


def honest(manifest):
    mode = manifest.mode
    sent = {
        "fingerprint": manifest.fingerprint,
        "ticket": (TICKET if mode == "code" else b"o" * 32).hex(),
        "answers": {held["id"]: answer_to(held, 1, mode) for held in manifest.variables},
    }
    return {**sent, "opening": SECRET.hex()} if mode == "code" else sent


def read(sent, manifest):
    return read_submission(json.dumps(sent).encode(), manifest)


def refusal(sent, manifest):
    with pytest.raises(SubmissionError, match=r"^(?:unreadable|stale|ticket|opening|answers|not drawn)$") as caught:
        read(sent, manifest)
    assert caught.value.reason == str(caught.value)
    return caught.value.reason


# What is kept -------------------------------------------------------------------------------------


@pytest.mark.parametrize("manifest", [OPEN, CODE], ids=["open", "code"])
def test_an_honest_submission_is_kept(manifest):
    sent = honest(manifest)
    accepted = read(sent, manifest)
    codes = {}
    for group, row in zip(manifest.groups, accepted.rows):
        assert len(row) == 6 * len(group)
        codes |= {manifest.variables[k]["id"]: code for k, code in zip(group, row_codes(row))}
    for name, given_ in sent["answers"].items():
        if name == "bit":
            assert codes[name] == 0b0110  # the numbers differ: (no, 1) or (yes, 0)
        elif "kept" in given_:
            assert codes[name] == given_["kept"]
        else:
            assert codes[name] == given_["asked"][given_["answer"]]
        if name != "bit":
            assert codes[name] >> 1 & 1  # the value of everybody here
    ticket = bytes.fromhex(sent["ticket"])
    assert accepted.mark == sha256(b"subsetprivacy mark v1\0" + manifest.id.encode() + b"\0" + ticket).digest()
    if manifest.mode == "open":
        assert accepted.opened is None
    else:
        assert accepted.opened.commitment == coin.commit(SECRET)
        assert was_drawn(accepted.opened, manifest, KEY)


def test_links_are_kept_side_by_side_and_nothing_else():
    accepted = read(honest(OPEN), OPEN)
    assert [len(row) for row in accepted.rows] == [12, 6, 6, 6, 6, 6]


def test_framings():
    sent = honest(OPEN)
    sent["answers"]["uniform"] = {"asked": [3, 28], "answer": 1}
    sent["answers"]["halves"] = {"asked": [28, 3], "answer": 0}
    sent["answers"]["listed"] = {"asked": [10, 5], "answer": None}
    framings = {OPEN.variables[each.variable]["id"]: each for each in read(sent, OPEN).framings}
    assert framings["uniform"] == Framing(0, "3", 0, 1)
    assert framings["halves"] == Framing(3, "3", 1, 0)
    assert framings["listed"] == Framing(1, "5", 1, SKIPPED)
    assert framings["bit"] == Framing(4, "", 0, 1)
    assert framings["pair"] == Framing(5, "", 0, 0)
    asked = sent["answers"]["thirds"]["asked"]
    assert framings["thirds"] == Framing(2, "", 0, sent["answers"]["thirds"]["answer"])
    sent["answers"]["thirds"]["answer"] = None
    skipped = next(each for each in read(sent, OPEN).framings if each.variable == 2)
    assert skipped == Framing(2, ",".join(map(str, sorted(asked))), 0, SKIPPED)


@pytest.mark.parametrize("manifest", [OPEN, CODE], ids=["open", "code"])
def test_a_skip_is_the_full_set(manifest):
    sent = honest(manifest)
    for name, held in sent["answers"].items():
        sent["answers"][name] = {"kept": None} if "kept" in held else {**held, "answer": None}
    accepted = read(sent, manifest)
    full = {"bit": 15, "pair": 7, "given": 7, "listed": 15, "thirds": 127, "uniform": 31, "halves": 31}
    for group, row in zip(manifest.groups, accepted.rows):
        assert list(row_codes(row)) == [full[manifest.variables[k]["id"]] for k in group]
    assert {each.answer for each in accepted.framings} == {SKIPPED}


# What is refused ----------------------------------------------------------------------------------


def changed(manifest, **changes):
    sent = honest(manifest)
    for key, value in changes.items():
        if value is ...:
            del sent[key]
        else:
            sent[key] = value
    return sent


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"fingerprint": "0" * 64}, "stale"),
        ({"fingerprint": None}, "stale"),
        ({"fingerprint": ...}, "unreadable"),
        ({"ticket": ...}, "unreadable"),
        ({"extra": 1}, "unreadable"),
        ({"ticket": "0" * 19}, "ticket"),
        ({"ticket": "0" * 64}, "ticket"),
        ({"ticket": "G" * 20}, "ticket"),
        ({"ticket": "A" * 20}, "ticket"),
        ({"ticket": " " + "0" * 18 + " "}, "ticket"),
        ({"ticket": "٠" * 20}, "ticket"),
        ({"ticket": 0}, "ticket"),
        ({"opening": "0" * 63}, "opening"),
        ({"opening": []}, "opening"),
        ({"answers": {}}, "answers"),
        ({"answers": []}, "answers"),
        ({"answers": None}, "answers"),
    ],
)
def test_a_code_submission_that_is_not_as_the_page_sends_it(changes, reason):
    assert refusal(changed(CODE, **changes), CODE) == reason


def test_an_open_submission_has_no_opening_and_a_longer_ticket():
    assert refusal(changed(OPEN, opening=SECRET.hex()), OPEN) == "unreadable"
    assert refusal(changed(OPEN, ticket="0" * 20), OPEN) == "ticket"


BAD_ANSWERS = {
    "uniform": [
        None,
        {},
        {"answer": 0},
        {"asked": [3, 28]},
        {"asked": [3, 28], "answer": 0, "more": 1},
        {"asked": [3, 28], "answer": 2},
        {"asked": [3, 28], "answer": -1},
        {"asked": [3, 28], "answer": True},
        {"asked": [3, 28], "answer": "0"},
        {"asked": [True, 28], "answer": 0},
        {"asked": ["3", 28], "answer": 0},
        {"asked": [[3], 28], "answer": 0},
        {"asked": {"3": 28}, "answer": 0},
        {"kept": 3},
    ],
    "bit": [None, {}, {"answer": 2}, {"answer": False}, {"answer": 0, "asked": [9, 6]}, {"kept": 9}],
    "pair": [None, {}, {"kept": "3"}, {"kept": True}, {"kept": [3]}, {"kept": 3, "answer": 0}, {"answer": 0}],
}


@pytest.mark.parametrize(("name", "bad"), [(name, bad) for name, several in BAD_ANSWERS.items() for bad in several])
def test_an_answer_that_is_not_as_the_page_sends_it(name, bad):
    sent = honest(OPEN)
    sent["answers"][name] = bad
    assert refusal(sent, OPEN) == "answers"


@pytest.mark.parametrize("change", ["missing", "more"])
def test_every_variable_is_answered_once(change):
    sent = honest(OPEN)
    if change == "missing":
        del sent["answers"]["bit"]
    else:
        sent["answers"]["other"] = {"answer": 0}
    assert refusal(sent, OPEN) == "answers"


def test_in_code_mode_only_the_question_of_the_coin_flip_is_accepted():
    for name in ("uniform", "listed", "thirds", "halves"):
        sent = honest(CODE)
        asked = sent["answers"][name]["asked"]
        sent["answers"][name]["asked"] = asked[::-1]  # the design asks it; the flip did not
        assert not was_drawn(read(sent, CODE).opened, CODE, KEY)
        sent["answers"][name]["asked"] = asked
        read(sent, CODE)


# Exactly what can be drawn ------------------------------------------------------------------------

SMALL = {
    "uniform, p=4": sp.uniform(list("abcd")),
    "uniform, p=5": sp.uniform(ABCDE),
    "listed": ASKED,
    "two listed groups": TWO_GROUPS,
    "halves": sp.partition(ABCDE, 2),
    "hadamard": sp.hadamard(list("abcd")),
}


def drawable(rule, tries=6_000):
    """Return all questions that a rule draws: those of many draws, which for a few dozen are all."""
    streams = (Stream(k.to_bytes(32, "big"), "", "") for k in range(tries))
    return {tuple(draw_question(rule, stream)) for stream in streams}


@pytest.mark.parametrize("name", SMALL)
def test_of_all_pairs_exactly_the_drawable_are_accepted(name):
    manifest = manifest_of({"v": SMALL[name]})
    sent = honest(manifest)
    accepted = set()
    for asked in product(range(-1, (1 << SMALL[name].p) + 1), repeat=2):
        sent["answers"]["v"] = {"asked": list(asked), "answer": 0}
        try:
            read(sent, manifest)
        except SubmissionError as error:
            if error.reason != "not drawn":
                raise
        else:
            accepted.add(asked)
    assert accepted == drawable(manifest.variables[0]["draw"])


@pytest.mark.parametrize("name", ["pair", "given", "fixed"])
def test_of_all_sets_exactly_the_drawable_are_accepted(name):
    design = {**EVERY_KIND, "fixed": sp.fixed_size(range(6), 4)}[name]
    manifest = manifest_of({"v": design})
    rule = manifest.variables[0]["draw"]
    streams = [Stream(k.to_bytes(32, "big"), "", "") for k in range(500)]
    drawn = {draw_around(rule, value, stream) for stream in streams for value in range(design.p)}
    sent, accepted = honest(manifest), set()
    for kept in range(-1, (1 << design.p) + 2):
        sent["answers"]["v"] = {"kept": kept}
        try:
            read(sent, manifest)
        except SubmissionError as error:
            if error.reason != "not drawn":
                raise
        else:
            accepted.add(kept)
    assert accepted == drawn


LARGE = {
    "uniform": sp.uniform(range(48)),
    "hadamard": sp.hadamard(range(48)),
    "groups": sp.partition(range(48), 5),
    "thirds": GROUPS,
    "even thirds": sp.partition(SEVEN, 3),
}


@lru_cache(maxsize=4096)
def members(code):
    return frozenset(j for j in range(60) if code // 2**j % 2)


def can_ask(rule, asked):
    """Tell from the words of the rule whether it asks this: with sets of positions, not with codes."""
    groups = [members(code) for code in asked]
    if any(code < 0 or code >= 2**60 for code in asked) or sorted(j for g in groups for j in g) != list(
        range(rule["p"])
    ):
        return False
    if rule["rule"] == "uniform":
        return len(groups) == 2 and min(map(len, groups)) > 1
    if rule["rule"] == "groups":
        return sorted(map(len, groups)) == sorted(rule["sizes"])
    return any(set(groups) == set(map(members, question)) for question in rule["questions"])


def mutated(asked, p, random):
    """Return a question that is nearly one."""
    asked, k = list(asked), random.randrange(len(asked))
    other, bit = random.randrange(len(asked)), 1 << random.randrange(p + 1)
    for change in random.choices(range(8), k=random.randint(1, 2)):
        k = k % max(1, len(asked))
        if change == 0:
            asked[k] ^= bit
        elif change == 1:  # a member changes its group
            asked[k] ^= bit
            asked[other % len(asked)] ^= bit
        elif change == 2:
            asked[k] += random.choice([-1, 1])
        elif change == 3:
            random.shuffle(asked)
        elif change == 4:
            asked.append(asked[k])
        elif change == 5 and len(asked) > 1:
            asked[k - 1] += asked.pop(k)
        elif change == 6:
            asked[k] = random.getrandbits(p)
        elif change == 7:
            asked.append(0)
    return asked


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("tries", [1_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_nothing_outside_the_support_is_accepted(name, tries):
    manifest = manifest_of({"v": LARGE[name]})
    rule, random, sent = manifest.variables[0]["draw"], Random(7), honest(manifest)
    counted = {True: 0, False: 0}
    for k in range(tries):
        asked = draw_question(rule, Stream(k.to_bytes(32, "big"), "", ""))
        asked = mutated(asked, rule["p"], random)
        sent["answers"]["v"] = {"asked": asked, "answer": None}
        try:
            read(sent, manifest)
            accepted = True
        except SubmissionError as error:
            if error.reason != "not drawn":
                raise
            accepted = False
        assert accepted == can_ask(rule, asked)
        counted[accepted] += 1
    assert min(counted.values()) > tries / 50  # both happen


# Junk ---------------------------------------------------------------------------------------------

# The same every time, however busy the machine is.
STEADY = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def survives(body, manifest):
    try:
        read_submission(body, manifest)
    except SubmissionError as error:
        assert error.reason in REASONS  # noqa: PT017
        assert error.args == (error.reason,)  # noqa: PT017


@STEADY
@given(st.binary(max_size=200))
@example(b"")
@example(b"[]")
@example(b"\xff")
@example(b'{"a":1,"a":2}')
@example(b'{"a":NaN}')
@example(b'{"a":1.5}')
@example(b'{"a":' + b"9" * 5000 + b"}")
@example(b'{"a":"\\ud800"}')
@example(b"[" * 16_000)
@example(b'{"a":' * 3_000)
@example(b"\xef\xbb\xbf{}")
@example(b" " * (MOST_BYTES + 1))
@example(b"{" + b" " * MOST_BYTES + b"}")
def test_bytes_that_are_no_submission(body):
    with pytest.raises(SubmissionError, match=r"^unreadable$"):
        read_submission(body, OPEN)


@STEADY
@given(st.sampled_from(["open", "code"]), st.data())
def test_junk_in_a_submission_is_refused_and_nothing_else(mode, data):
    manifest = OPEN if mode == "open" else CODE
    sent = honest(manifest)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(["top", "answers", "inside"]))
        junk = data.draw(JSON)
        if place == "top":
            sent[data.draw(st.sampled_from([*sent, "other"]))] = junk
        elif isinstance(sent["answers"], dict) and sent["answers"]:
            name = data.draw(st.sampled_from(sorted(sent["answers"])))
            if place == "inside" and isinstance(sent["answers"][name], dict):
                sent["answers"][name][data.draw(st.sampled_from(["asked", "answer", "kept"]))] = junk
            else:
                sent["answers"][name] = junk
    survives(json.dumps(sent).encode(), manifest)


@STEADY
@given(st.sampled_from([OPEN, CODE]), st.integers(0, 10**6), st.integers(0, 10**6), st.binary(max_size=4))
def test_cut_and_mended_bodies_are_refused_and_nothing_else(manifest, at, length, junk):
    body = json.dumps(honest(manifest)).encode()
    at %= len(body)
    survives(body[:at] + junk + body[at + length % 9 :], manifest)
