"""Forbidden sets of options: none of them can be drawn, sent or taken, and what that costs is told."""

import json
from itertools import combinations
from random import Random

import numpy as np
import pytest
from effort import calls

import subsetprivacy as sp
from subsetprivacy.collect.survey.checking import MOST_MANIFEST
from subsetprivacy.collect.survey.definition import MOST_FORBIDDEN
from subsetprivacy.collect.survey.describing import survey_facts
from subsetprivacy.collect.survey.documents import survey_document, survey_from_document
from subsetprivacy.collect.survey.drawing import Stream, draw_around, draw_question
from subsetprivacy.collect.survey.forbidden_sets import _cached_outcome, is_within, without
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.problems import SurveyError
from subsetprivacy.collect.survey.reading import FORMATS, read_survey
from subsetprivacy.collect.survey.revealing_sets import (
    MOST_SETS,
    price,
    price_of,
    price_words,
    revealing_sets,
    set_words,
)
from subsetprivacy.collect.survey.rules import MOST_LISTED, asking
from subsetprivacy.collect.survey.submission import SubmissionError, read_submission
from subsetprivacy.collect.survey.writing import write_survey
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.estimation.likelihood import limit_covariance

FIVE = ["never", "thought of it", "once", "often", "cannot remember"]


def labels(p):
    return tuple(f"o{j}" for j in range(p))


def sent_by(rule):
    """Return every set that a rule can draw, by listing it."""
    full = (1 << rule["p"]) - 1
    if rule["rule"] in ("listed", "given"):
        listed = rule["questions"] if rule["rule"] == "listed" else [rule["subsets"]]
        return {code for codes in listed for code in codes}
    sizes = range(2, rule["p"] - 1) if rule["rule"] == "uniform" else rule.get("sizes") or [rule["size"]]
    return {code for code in range(1, full) if code.bit_count() in set(sizes)}


def kinds(p):
    yield sp.uniform(labels(p))
    if p != 5:
        yield sp.hadamard(labels(p))
    for m in range(2, p // 2 + 1):
        yield sp.partition(labels(p), m)
    for size in range(2, p - 1):
        yield sp.fixed_size(labels(p), size)


def some_forbidden(p, random):
    """Return sets to forbid: each pair of neighbors, all of them, three in a row, and some by lot."""
    yield from ((3 << j,) for j in range(p - 1))
    yield tuple(3 << j for j in range(p - 1))
    yield (7,)
    for _ in range(6):
        pairs = list(combinations(range(p), 2))
        yield tuple(sorted(1 << i | 1 << j for i, j in random.sample(pairs, random.randint(1, 3))))


@pytest.mark.parametrize("p", [5, 6, 8])
def test_no_forbidden_set_can_be_sent_by_any_design(p):
    made = refused = 0
    for design in kinds(p):
        for forbidden in some_forbidden(p, Random(p)):
            if not 1 < max(code.bit_count() for code in forbidden) <= p - 2:
                continue
            try:
                after = without(design, forbidden)
            except InvalidDesignError:
                refused += 1
                continue
            kind, rule = asking(after)
            assert kind == asking(design)[0]
            sent = sent_by(rule)
            assert not [code for code in sent if any(code & ~held == 0 for held in forbidden)]
            assert sent == set(after.support()[0].tolist())
            assert after.is_identifiable
            assert after.is_subset_private
            made += 1
    assert made > 3 * refused


def test_draws_keep_to_it():
    """Nothing that is forbidden is ever drawn, whatever the seed; what is not forbidden is."""
    forbidden = (0b00110,)
    _, asked = asking(without(sp.uniform(labels(5)), forbidden))
    _, around = asking(without(sp.fixed_size(labels(5), 2), forbidden))
    drawn, kept = set(), set()
    for number in range(500):
        stream = Stream(number.to_bytes(32, "big"), "study", "v")
        drawn.update(draw_question(asked, stream))
        kept.add(draw_around(around, number % 5, stream))
    assert drawn == sent_by(asked)
    assert kept == sent_by(around)
    assert not (drawn | kept) & {0b00110, 0b11001 & 0b00110}
    assert 0b11001 not in drawn  # the other side of the question


@pytest.mark.parametrize("p", [6, 10, 16, 48])
def test_a_hadamard_design_gives_another_order_for_nothing(p):
    design = sp.hadamard(labels(p))
    pairs = tuple(3 << j for j in range(p - 1))
    after = without(design, pairs)
    assert after.kind == "hadamard"
    assert after.size == design.size
    even = np.full(p, 1 / p)
    assert limit_covariance(after, even).diagonal() == pytest.approx(limit_covariance(design, even).diagonal())
    assert not is_within(after.support()[0], pairs).any()


def test_what_cannot_be_sent_anyway_changes_nothing():
    for design in (sp.hadamard(labels(8)), sp.partition(labels(9), 3), sp.fixed_size(labels(6), 3)):
        assert without(design, (3,)) == design


@pytest.mark.parametrize(
    ("design", "forbidden", "tag"),
    [
        (sp.uniform(labels(5)), (3,), "8fc30f42f6d8"),
        (sp.hadamard(labels(6)), (3, 6, 12, 24, 48), "dd12b4a8f501"),
        (sp.partition(labels(9), 4), (3,), "0b50c9073417"),
        (sp.fixed_size(labels(5), 2), (3, 6), "157eff26e22f"),
        (sp.uniform(labels(20)), (3,), "77de54e20ce7"),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_the_same_sets_give_the_same_design_for_ever(design, forbidden, tag):
    """The next survey of a study must ask the same: a change here keeps it from being published."""
    assert without(design, forbidden).fingerprint[:12] == tag


@pytest.mark.parametrize(
    ("p", "size", "most"),
    [(7, 2, 4), (6, 2, 3), (16, 4, 12), (13, 6, 11), (23, 3, 16)],
    ids=["no weights", "only with zeros", "no weights of many", "six of 13", "three of 23"],
)
def test_what_cannot_be_had_is_refused_with_little_effort(p, size, most):
    """Fitting weights that do not exist takes two thousand rounds of every set around every option."""
    design, forbidden = sp.fixed_size(labels(p), size), ((1 << most) - 1,)

    def refuse():
        with pytest.raises(InvalidDesignError):
            without(design, forbidden)

    _cached_outcome.cache_clear()
    assert calls(refuse) < 50_000
    assert calls(refuse) < 1000  # it is known by now
    assert _cached_outcome.cache_info().misses == 1


@pytest.mark.parametrize("p", [12, 13, 48])
@pytest.mark.parametrize("kind", ["uniform", "groups", "pairs of groups"])
def test_many_options_stay_within_what_a_browser_loads(p, kind):
    design = {"uniform": "uniform", "groups": {"kind": "partition", "groups": 3}}.get(
        kind, {"kind": "partition", "groups": p // 2}
    )
    forbidden = [["o0", "o1"], ["o1", "o2"], [f"o{j}" for j in range(p // 3)]]
    document = {"title": "T", "variables": [question(labels(p), forbidden, design=design)]}
    survey = survey_from_document(document)
    manifest = freeze(survey)
    rule = manifest.variables[0]["draw"]
    assert len(manifest.text) < MOST_MANIFEST / 4
    assert len(rule["questions"]) <= MOST_LISTED
    codes = np.array([code for codes in rule["questions"] for code in codes])
    assert not is_within(codes, (3, 6, (1 << p // 3) - 1)).any()
    assert 1 <= price(survey.variables[0]).ratio < 2


# The file -----------------------------------------------------------------------------------------


def question(options, never_alone, **others):
    return {"id": "v", "question": "Have you?", "options": list(options), "never_alone": never_alone, **others}


def read(options, never_alone, **others):
    return survey_from_document({"title": "T", "variables": [question(options, never_alone, **others)]})


def said(options, never_alone, **others):
    with pytest.raises(SurveyError) as caught:
        read(options, never_alone, **others)
    return [f"{problem.place}: {problem.text}" for problem in caught.value.problems]


@pytest.mark.parametrize("form", FORMATS)
def test_round_trip(form):
    survey = read(FIVE, [["once", "thought of it"], ["often", "once"]])
    assert survey.variables[0].never_alone == (("thought of it", "once"), ("once", "often"))
    assert survey.variables[0].written == "recommended"
    assert survey.variables[0].original == sp.uniform(FIVE)
    text = write_survey(survey, form)
    assert read_survey(text, form) == survey
    assert survey_from_document(survey_document(survey)) == survey
    assert freeze(read_survey(text, form), nonce="n").text == freeze(survey, nonce="n").text


def test_nothing_forbidden_is_as_if_it_were_not_there():
    plain = survey_from_document({"title": "T", "variables": [{"id": "v", "question": "Have you?", "options": FIVE}]})
    assert read(FIVE, []) == plain
    assert "never_alone" not in survey_document(plain)["variables"][0]
    assert plain.variables[0].original is None
    assert price(plain.variables[0]) is None


@pytest.mark.parametrize(
    ("options", "never_alone", "message"),
    [
        (FIVE, "never", 'v), never_alone: must be a list of sets of options like ["a", "b"]; got "never".'),
        (FIVE, ["never"], 'v), forbidden set 1: must be a list of options; got "never".'),
        (
            FIVE,
            [["never", "onse"]],
            'set 1, number 2: must be one of the `options`; got "onse". Hint: "once"?',
        ),
        (FIVE, [["never"]], "forbidden set 1: must be two of the `options` or more; got 1."),
        (FIVE, [["never", "never"]], "forbidden set 1: must name each of the `options` once; it names one twice."),
        (FIVE, [FIVE[:4]], "forbidden set 1: must leave out at least two of the `options`; it has 4 of 5."),
        (FIVE, [FIVE[:2], FIVE[1::-1]], "forbidden set 2: must be forbidden once; set 1 is the same."),
        (FIVE, [FIVE[:2]] * (MOST_FORBIDDEN + 1), "never_alone: must be at most 100 sets; got 101."),
        (["no", "yes"], [["no", "yes"]], "never_alone: must be left out with two `options`; no answer rules one"),
        (FIVE[:3], [FIVE[:2]], "with 3 `options` every pair is needed. Hint: make it five options or more."),
        (
            FIVE[:4],
            [FIVE[:2]],
            "never_alone: must leave enough questions to estimate the shares; with 4 `options` all three questions are "
            "needed. Hint: make it five options or more, or have people mark answers on the device, "
            'design = {kind = "fixed_size", size = 3}.',
        ),
    ],
)
def test_problems_are_said_at_their_place(options, never_alone, message):
    assert [line for line in said(options, never_alone) if message in line]


def test_problems_have_lines():
    head = 'title = "T"\n[[variables]]\nid = "v"\nquestion = "?"\n'
    text = head + 'options = ["a", "b", "c", "d"]\nnever_alone = [["a", "b"]]\n'
    with pytest.raises(SurveyError, match=r"line 6, variable 1 \(v\), never_alone: must leave enough questions"):
        read_survey(text, "toml")


def test_what_the_hint_says_can_be_done():
    survey = read(FIVE[:4], [FIVE[:2]], design={"kind": "fixed_size", "size": 3})
    assert price(survey.variables[0]).ratio == 1  # no set of three lies within two
    assert read(FIVE, [FIVE[:2]]).variables[0].design.is_identifiable


def test_designs_that_the_file_lists_lose_their_questions():
    pairs = [[[FIVE[i], FIVE[j]], 0.1] for i, j in combinations(range(5), 2)]
    survey = read(FIVE, [FIVE[:2]], design={"kind": "independent", "questions": pairs})
    design = survey.variables[0].design
    assert design.nu == pytest.approx(1 / 9)
    assert len(design.questions) == 9
    groups = [[list(FIVE[:2]), list(FIVE[2:])], *([pair, [o for o in FIVE if o not in pair]] for pair, _ in pairs[1:])]
    survey = read(FIVE, [FIVE[:2]], design={"kind": "partition", "partitions": groups})
    assert len(survey.variables[0].design.groups) == 9
    document = sp.fixed_size(FIVE, 2).document()
    assert read(FIVE, [FIVE[:2]], design=document).variables[0].design.kind == "conditional"


# The server ---------------------------------------------------------------------------------------


def test_a_forbidden_set_is_refused_by_the_server():
    document = {
        "title": "T",
        "mode": "open",
        "variables": [
            question(FIVE, [["thought of it", "once"]]),
            question(FIVE, [["thought of it", "once"]], design="pair") | {"id": "local"},
        ],
    }
    manifest = freeze(survey_from_document(document))

    def submit(asked, kept):
        answers = {"v": {"asked": asked, "answer": 0}, "local": {"kept": kept}}
        body = {"fingerprint": manifest.fingerprint, "ticket": "0" * 64, "answers": answers}
        return read_submission(json.dumps(body).encode(), manifest)

    assert submit([0b00011, 0b11100], 0b00011).rows
    for asked, kept in (([0b00110, 0b11001], 3), ([0b11001, 0b00110], 3), ([0b00011, 0b11100], 0b00110)):
        with pytest.raises(SubmissionError, match="not drawn"):
            submit(asked, kept)


# Prices and pairs ---------------------------------------------------------------------------------


def test_the_price_is_the_ratio_of_variances():
    even = read(FIVE, [["thought of it", "once"]]).variables[0]
    paid = price(even)
    before, after = (limit_covariance(d, np.full(5, 0.2)).diagonal() for d in (even.original, even.design))
    assert paid.ratio == pytest.approx(after.max() / before.max())
    assert paid.ratio == pytest.approx(1.125)
    assert paid.average_ratio == pytest.approx(after.sum() / before.sum())
    assert (paid.people_before, paid.people) == (984, 1107)
    assert price_words(paid) == "13% more people: 1,107 instead of 984 for a margin of 5 points, at even shares"
    guess = [0.5, 0.2, 0.1, 0.1, 0.1]
    guessed = price(read(FIVE, [["thought of it", "once"]], guess=guess).variables[0])
    before, after = (limit_covariance(d, np.array(guess)).diagonal() for d in (even.original, even.design))
    assert guessed.ratio == pytest.approx(after.max() / before.max())
    assert guessed.at_guess
    assert price_words(guessed).endswith("if the guess is right")
    free = price(read(labels(8), [["o0", "o1"]]).variables[0])
    assert free.ratio == 1
    assert price_words(free) == "no more people: 1,177 for a margin of 5 points, at even shares"


def test_the_price_is_what_a_simulation_finds():
    """At the number of people that is told, the margin is the one that is told."""
    paid = price(variable := read(FIVE, [["thought of it", "once"]]).variables[0])
    for design, people in ((variable.original, paid.people_before), (variable.design, paid.people)):
        fits = [sp.estimate(sp.simulate(design, [0.2] * 5, people, seed=seed)).w for seed in range(300)]
        assert 1.96 * np.std(fits, axis=0).max() == pytest.approx(0.05, rel=0.12)


def test_forbidding_one_more_is_priced_before_it_is_done():
    variable = read(FIVE, []).variables[0]
    assert price_of(variable, ("thought of it", "once")).ratio == pytest.approx(1.125)
    both = read(FIVE, [["thought of it", "once"]]).variables[0]
    more = price_of(both, ("once", "often"))
    together = price(read(FIVE, [["thought of it", "once"], ["once", "often"]]).variables[0])
    assert more.people == together.people
    assert more.people_before == price(both).people_before  # one baseline for all prices
    four = read(FIVE[:4], []).variables[0]
    assert price_of(four, ("thought of it", "once")) is None


def test_the_smallest_sets_are_named_neighbours_first():
    held = revealing_sets(read(FIVE[:4], []).variables[0])
    assert (held.size, held.number) == (2, 6)
    assert [one.options for one in held.sets[:3]] == [(FIVE[0], FIVE[1]), (FIVE[1], FIVE[2]), (FIVE[2], FIVE[3])]
    assert [one.chance for one in held.sets] == pytest.approx([1 / 3] * 6)
    held = revealing_sets(read(FIVE, [["thought of it", "once"]]).variables[0])
    assert held.number == 9
    assert ("thought of it", "once") not in [one.options for one in held.sets]
    assert revealing_sets(read(["no", "yes"], []).variables[0]) is None


@pytest.mark.parametrize(
    ("p", "design"),
    [
        (48, "uniform"),
        (48, {"kind": "partition", "groups": 2}),
        (48, {"kind": "fixed_size", "size": 20}),
        (9, "hadamard"),
    ],
)
def test_very_many_sets_are_counted_and_the_closest_named(p, design):
    variable = read(labels(p), [], design=design).variables[0]
    held = revealing_sets(variable)
    assert held.size == variable.design.smallest_set
    assert len(held.sets) == min(held.number, MOST_SETS)
    places = [[variable.options.index(option) for option in one.options] for one in held.sets]
    spread = [place[-1] - place[0] for place in places]
    assert spread == sorted(spread)
    if p == 48:
        assert places[0] == list(range(held.size))
        assert held.number > MOST_SETS


def test_larger_sets_of_neighbours_are_named_too():
    """Three answers in a row can admit as much as two; forbidding them forbids all within."""
    variable = read(FIVE, [["thought of it", "once"]]).variables[0]
    runs = {one.options: one.chance for one in revealing_sets(variable).runs}
    assert runs == pytest.approx({tuple(FIVE[j : j + 3]): 1 / 9 for j in range(3)})
    assert revealing_sets(read(FIVE[:4], []).variables[0]).runs == ()
    held = revealing_sets(read(FIVE, [FIVE[1:4]]).variables[0])
    assert tuple(FIVE[1:4]) not in [one.options for one in held.runs]
    assert not [one for one in held.sets if set(one.options) <= set(FIVE[1:4])]
    many = revealing_sets(read(labels(48), [], design="uniform").variables[0])
    assert len(many.runs) == MOST_SETS


def test_the_chance_is_that_of_a_person_with_one_of_the_answers():
    for design in ("uniform", "pair", {"kind": "partition", "groups": 2}):
        variable = read(FIVE, [], design=design).variables[0]
        held = revealing_sets(variable)
        for one in held.sets:
            code = variable.design.categories.code(one.options)
            assert one.chance == pytest.approx(float(variable.design.mu(np.array([code]))[0]))


def test_facts_hold_sets_and_price():
    survey = survey_from_document(
        {"title": "T", "variables": [question(FIVE, [["thought of it", "once"]]), question(FIVE, []) | {"id": "w"}]}
    )
    first, second = survey_facts(survey).variables
    assert first.never_alone == (("thought of it", "once"),)
    assert first.price == price(survey.variables[0])
    assert first.questions == 9
    assert second.price is None
    assert second.never_alone == ()
    assert set_words(second.revealing.sets[0].options) == "“never” or “thought of it”"
