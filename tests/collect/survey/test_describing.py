"""What is said of a survey before anybody answers: counted by hand, or from the draws themselves."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from lopsided import ABCDE, ASKED, GIVEN, GROUPS, SEVEN, TWO_GROUPS, WARNER

import subsetprivacy as sp
from subsetprivacy.collect.survey.bundled_files import example_text
from subsetprivacy.collect.survey.describing import (
    NoticeKind,
    fingerprint_bits,
    kept_rows,
    number_of_questions,
    survey_facts,
)
from subsetprivacy.collect.survey.documents import survey_from_document
from subsetprivacy.collect.survey.drawing import Stream, draw_question
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.survey.rules import asking
from subsetprivacy.collect.web.studio_promises import promises
from subsetprivacy.design.document import name_of_kind


@pytest.mark.parametrize(
    ("design", "bits"),
    [
        (sp.uniform(range(8)), math.log2(119)),  # 6.9 in the literature on trackable memories
        (sp.hadamard(range(8)), math.log2(7)),
        (sp.uniform(list("abcd")), math.log2(3)),
        (sp.uniform(range(48)), math.log2(2**47 - 49)),
        (sp.warner(["no", "yes"], 0.25), 0.25 * 2 + 0.75 * math.log2(4 / 3)),
        (sp.fixed_size(list("abc"), 2), 1.0),
        (sp.fixed_size(range(6), 3), math.log2(10)),
        (ASKED, 0.5 + 0.3 * math.log2(1 / 0.3) + 0.2 * math.log2(5)),
        (sp.partition(range(9), 3), math.log2(280)),
        (sp.partition(range(7), 2), math.log2(35)),
    ],
    ids=repr,
)
def test_bits_of_a_fingerprint(design, bits):
    assert fingerprint_bits(design) == pytest.approx(bits)


@pytest.mark.parametrize("design", [GIVEN, sp.uniform(ABCDE), ASKED], ids=repr)
def test_bits_are_the_largest_entropy_over_the_values(design):
    """Where a subset tells its question, it is that of the subset given the value."""
    codes, mu = design.support()
    largest = 0.0
    for j in range(design.p):
        row = design.incidence(codes).inner(np.eye(design.p)[j])
        law = [m * r for m, r in zip(mu, row) if r > 0]
        assert sum(law) == pytest.approx(1.0)
        largest = max(largest, sum(chance * math.log2(1 / chance) for chance in law))
    assert fingerprint_bits(design) == pytest.approx(largest)


@pytest.mark.parametrize(
    "design",
    [
        sp.uniform(list("abcd")),
        sp.uniform(ABCDE),
        ASKED,
        GROUPS,
        TWO_GROUPS,
        sp.partition(ABCDE, 2),
        sp.partition(range(6), 3),
        sp.hadamard(SEVEN),
        sp.fixed_size(range(6), 3),
    ],
    ids=repr,
)
def test_the_number_of_questions_is_that_of_many_draws(design):
    _, rule = asking(design)
    drawn = {frozenset(draw_question(rule, Stream(k.to_bytes(32, "big"), "", ""))) for k in range(1500)}
    assert number_of_questions(rule) == len(drawn)


def test_the_number_of_sets_that_are_sent():
    assert number_of_questions(asking(sp.fixed_size(range(7), 3))[1]) == len(list(combinations(range(7), 3)))
    assert number_of_questions(asking(GIVEN)[1]) == 8
    assert number_of_questions(asking(WARNER)[1]) == 1


def test_facts_of_the_example():
    survey = read_survey(example_text("toml"), "toml")
    facts = survey_facts(survey)
    seen = {
        each.id: (each.kind, each.design, each.questions, each.smallest_set, each.options) for each in facts.variables
    }
    assert seen == {
        "smokes": ("bit", "artificial_bit", 1, 2, 2),
        "sport": ("local", "fixed_size", 3, 2, 3),
        "health": ("yes_no", "uniform", 10, 2, 5),
        "income": ("yes_no", "hadamard", 7, 3, 7),
        "commute": ("groups", "partition", 280, 3, 9),
    }
    bits = {each.id: each.bits for each in facts.variables}
    assert facts.groups[0] == (("health", "income"), pytest.approx(math.log2(10) + math.log2(7)))
    assert Counter(len(names) for names, _ in facts.groups) == {2: 1, 1: 3}
    assert facts.bits == pytest.approx(sum(bits.values()))
    assert [notice.kind for notice in facts.notices] == [NoticeKind.ODDS, NoticeKind.ON_DEVICE, NoticeKind.LINKED]
    assert [notice.about for notice in facts.notices] == [("smokes",), ("sport",), ("health", "income")]
    assert [str(notice) for notice in facts.notices] == [
        "smokes: an answer multiplies the odds of a value by at most 3.",
        "sport: the answer is marked on the respondent's device, and 2 of the 3 possible answers are sent. "
        "The pair reveals which one it is not.",
        "health and income: kept together. The questions drawn can turn people with the same values into up to 70 "
        "different rows (6.1 bits). With fewer people than that, most rows are unique.",
    ]


@pytest.mark.parametrize(
    "design",
    [
        sp.uniform(ABCDE),
        ASKED,
        GIVEN,
        GROUPS,
        TWO_GROUPS,
        WARNER,
        sp.partition(range(6), 3),
        sp.partition(range(7), 3),
        sp.partition(range(9), 3),
        sp.partition(ABCDE, 2),
        sp.hadamard(SEVEN),
        sp.fixed_size(list("abc"), 2),
        sp.fixed_size(range(6), 3),
    ],
    ids=repr,
)
def test_what_is_kept_of_people_with_the_same_value_is_enumerated(design):
    """From the law of the stored codes given each value, which the library has apart from the rules of drawing."""
    codes, mu = design.support()
    number, bits = 0, 0.0
    for j in range(design.p):
        law = mu * design.incidence(codes).inner(np.eye(design.p)[j])
        law = law[law > 1e-12]
        assert law.sum() == pytest.approx(1.0)
        number, bits = max(number, len(law)), max(bits, float(-(law * np.log2(law)).sum()))
    held = kept_rows(design)
    assert (held.number, held.bits) == (number, pytest.approx(bits))


def test_rows_of_linked_groups_are_fewer_than_their_questions():
    """Drawn many times for two people with the same answers: so many different rows come, and no more."""
    options = [f"o{k}" for k in range(6)]
    held = {"question": "?", "options": options, "design": {"kind": "partition", "groups": 3}}
    linked = {"title": "T", "variables": [{"id": name, **held} for name in "ab"], "links": [{"variables": ["a", "b"]}]}
    survey = survey_from_document(linked)
    rules = [asking(variable.design)[1] for variable in survey.variables]
    rows = set()
    for k in range(1500):
        drawn = [draw_question(rule, Stream(k.to_bytes(32, "big"), "", name)) for rule, name in zip(rules, "ab")]
        rows.add(tuple(next(group for group in question if group & 1) for question in drawn))
    assert len(rows) == 25  # the partner of the value is one of five; there are 15 x 15 questions
    facts = survey_facts(survey)
    (notice,) = facts.notices
    assert "people with the same values into up to 25 different rows (4.6 bits)" in notice.text
    assert facts.groups == ((("a", "b"), pytest.approx(2 * math.log2(5))),)
    assert facts.bits == pytest.approx(2 * math.log2(15))


def test_one_name_for_a_design_everywhere():
    assert name_of_kind("artificial_bit") == "randomized response"
    assert name_of_kind("fixed_size") == "fixed size"
    survey = read_survey(example_text("toml"), "toml")
    assert {line.design for line in promises(survey).lines} == {
        "randomized response",
        "fixed size",
        "uniform",
        "Hadamard",
        "partition",
    }


def document(**more):
    return {"title": "T", "variables": [{"id": "a", "question": "?", "options": list("pqrst"), **more}]}


def test_a_guess_that_makes_an_answer_certain_is_noticed():
    rare = document(guess=[0.96, 0.01, 0.01, 0.01, 0.01])
    (notice,) = survey_facts(survey_from_document(rare)).notices
    assert notice.kind is NoticeKind.LIKELY
    assert str(notice) == "a: if the guess is right, some answer leaves one value 99% likely. Merge rare ones."
    assert not survey_facts(survey_from_document(document(guess=[0.2] * 5))).notices


def test_other_notices():
    (notice,) = survey_facts(survey_from_document(document(design="pair"))).notices
    assert notice.text.endswith("2 of the 5 possible answers are sent. It never leaves the device alone.")
    (notice,) = survey_facts(survey_from_document({**document(), "mode": "open"})).notices
    assert notice.kind is NoticeKind.OPEN
    assert str(notice).startswith("open mode: anyone who has the link can answer")
    wide = {"title": "T", "variables": [{"id": f"v{k}", "question": "?", "options": list("pqrst")} for k in range(9)]}
    wide["links"] = [{"variables": [f"v{k}" for k in range(9)]}]
    (notice,) = survey_facts(survey_from_document(wide)).notices
    assert "people with the same values into more than a million different rows (29.9 bits)" in notice.text
