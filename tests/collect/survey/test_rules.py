"""Which designs a browser can ask by, and how; what is refused, and why."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from effort import peak
from lopsided import BIT, BIT3, COVERED, DESIGNS, GIVEN, GROUPS, NEW, RECORDED, TRIPLE, UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.collect.survey.definition import MOST_OPTIONS
from subsetprivacy.collect.survey.drawing import Stream, draw_question
from subsetprivacy.collect.survey.rules import KINDS, MOST_LISTED, _whole, asking, recommended
from subsetprivacy.design import Mixture, design_from_json
from subsetprivacy.design.small import singles
from subsetprivacy.errors import InvalidDesignError

SEVEN = list("abcdefg")


@pytest.mark.parametrize(
    ("design", "kind", "rule"),
    [
        (sp.uniform(SEVEN), "yes_no", {"rule": "uniform", "p": 7}),
        (sp.partition(SEVEN, 2), "yes_no", {"rule": "groups", "p": 7, "sizes": [4, 3]}),
        (sp.partition(SEVEN, 3), "groups", {"rule": "groups", "p": 7, "sizes": [3, 2, 2]}),
        (sp.fixed_size(SEVEN, 3), "local", {"rule": "companions", "p": 7, "size": 3}),
        (sp.fixed_size(SEVEN[:6], 3), "yes_no", {"rule": "groups", "p": 6, "sizes": [3, 3]}),
        (sp.warner(["no", "yes"], 0.25), "bit", {"rule": "bit", "p": 2, "ones": 1 << 46}),
        (
            sp.independent(list("abcd"), {("a", "b"): 0.5, ("a", "c"): 0.25, ("a", "d"): 0.25}),
            "yes_no",
            {
                "rule": "listed",
                "p": 4,
                "questions": [[3, 12], [5, 10], [9, 6]],
                "weights": [1 << 36, 1 << 35, 1 << 35],
            },
        ),
        (
            sp.conditional(list("abc"), {("a", "b"): 0.5, ("a", "c"): 0.5, ("b", "c"): 0.5}),
            "local",
            {"rule": "given", "p": 3, "subsets": [3, 5, 6], "weights": [1, 1, 1]},
        ),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_rules(design, kind, rule):
    assert asking(design) == (kind, rule)


def test_a_listed_partition_keeps_its_groups():
    kind, rule = asking(GROUPS)
    assert kind == "groups"
    assert rule["questions"] == GROUPS.groups.tolist()
    assert rule["weights"] == [1] * 5


def test_a_hadamard_design_asks_every_row_once():
    design = sp.hadamard(range(48))
    kind, rule = asking(design)
    assert kind == "yes_no"
    assert len(rule["questions"]) == 63
    assert all(one + two == design.missing_code and not one & two for one, two in rule["questions"])
    codes, mu = design.support()
    counted = np.unique(rule["questions"], return_counts=True)
    assert counted[0].tolist() == codes.tolist()
    assert counted[1] / 63 == pytest.approx(mu)


@pytest.mark.parametrize("design", [d for d in {**DESIGNS, **NEW}.values() if d.p <= MOST_OPTIONS], ids=repr)
def test_every_design_is_asked_or_refused_with_a_reason(design):
    reason = ""
    try:
        kind, rule = asking(design)
    except InvalidDesignError as error:
        reason = str(error)
    if reason:
        assert reason.startswith(("a ", "`q` "))
        assert reason.endswith(".")
        return
    assert kind in KINDS
    assert json.loads(json.dumps(rule)) == rule  # plain data
    assert design.is_identifiable
    assert design.smallest_set >= 2


EVERYTHING = sp.independent(list("abcde"), {31: 0.5} | {code: 0.05 for code in range(16) if code.bit_count() in (2, 3)})
REFUSED = {
    "beside a bit": (BIT, "one that a browser can ask by"),
    "beside a bit, p=3": (BIT3, "one that a browser can ask by"),
    "covered": (COVERED, "one that a browser can ask by; got a covered design"),
    "product": (TRIPLE, "one that a browser can ask by; got a product design"),
    "mixture": (Mixture.of([sp.uniform(SEVEN), sp.hadamard(SEVEN)], [1, 1]), "got a mixture design"),
    "large mixture": (Mixture.of([sp.uniform(range(48)), sp.hadamard(range(48))], [1, 1]), "got a mixture design"),
    "unknown": (UNKNOWN, "got a coarse design"),
    "recorded": (RECORDED, "got a partition design"),
    "value itself": (sp.nonprivate(SEVEN), "must leave two of the `options` possible"),
    "one by one": (singles(SEVEN), "must leave two of the `options` possible"),
    "nothing": (sp.fully_private(SEVEN), "must tell different shares apart"),
    "one question": (sp.independent(list("abcd"), {("a", "b"): 1.0}), "must tell different shares apart"),
    "about everything": (EVERYTHING, "the design also asks about all of them"),
    "49 options": (sp.hadamard(49), "`options` must be at most 48 to be asked; got 49"),
    "4095 questions": (
        sp.hadamard(range(20), 4095),
        "must list at most 2048 questions to be asked in a browser; got 4095",
    ),
    "next to asking": (sp.warner(["no", "yes"], 0.01, reveals=True), r"`q` must hide the answer.*got 0\.01.*by 99"),
    "next to asking, too": (sp.warner(["no", "yes"], 0.99, reveals=True), "`q` must hide the answer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    design, reason = REFUSED[name]
    with pytest.raises(InvalidDesignError, match=reason):
        asking(design)


def test_a_bit_that_hides_nothing_does_not_come_in_by_a_document():
    document = sp.warner(["no", "yes"], 0.001, reveals=True).to_json()
    with refused(InvalidDesignError, "q"):
        asking(design_from_json(document))


def test_refusing_a_huge_design_makes_no_table_of_it():
    design = sp.hadamard(range(48), (1 << 18) - 1)  # the table of all of its questions would take 4 MB

    def refuse():
        with pytest.raises(InvalidDesignError):
            asking(design)

    assert peak(refuse) < 1e6


def test_many_weights_still_sum_below_the_words():
    weights = np.append(np.ones(MOST_LISTED - 1), 0.999)
    assert 1 << 46 < sum(_whole(weights)) <= 1 << 47


def test_the_least_weight_is_not_lost():
    assert _whole(np.array([1.0, 1e-300])) == [1 << 36, 1]


@pytest.mark.parametrize("p", range(2, MOST_OPTIONS + 1))
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("mode", ["code", "open"])
def test_the_recommended_design_can_be_asked(p, mode, linked):
    options = tuple(f"option {k}" for k in range(p))
    design = recommended(options, mode=mode, linked=linked)
    assert design.categories.labels == options
    kind, _ = asking(design)
    assert kind == ("bit" if p == 2 else "local" if p == 3 else "yes_no")
    few = p <= (5 if linked or mode == "code" else 8)
    assert design.kind == ("artificial_bit" if p == 2 else "fixed_size" if p == 3 else "uniform" if few else "hadamard")


@pytest.mark.parametrize("p", range(6, 9))
def test_linked_variables_and_those_with_codes_get_fewer_questions(p):
    from subsetprivacy.collect.survey.describing import fingerprint_bits

    options = tuple(f"option {k}" for k in range(p))
    alone = fingerprint_bits(recommended(options, mode="open"))
    assert fingerprint_bits(recommended(options, mode="open", linked=True)) < alone
    assert fingerprint_bits(recommended(options, mode="code")) < alone


def found(design, n, seed):
    """Return how many of n people are the only ones who gave the answers to their question that came."""
    chance = random.Random(seed)
    _, rule = asking(design)
    told = Counter()
    asked = []
    for k in range(n):
        question = frozenset(draw_question(rule, Stream(chance.randbytes(32), "study", "v")))
        value = 1 << k % design.p
        told[next(code for code in question if code & value)] += 1
        asked.append(question)
    return sum(sum(code in told for code in question) == 1 for question in asked)


@pytest.mark.parametrize("p", range(6, 9))
def test_the_recommended_design_for_codes_hides_an_answer_from_who_knows_the_question(p):
    """Two batches of 25: of all questions many have one answer only, of those of the recommended design few."""
    options = tuple(f"option {k}" for k in range(p))
    before, now = sp.uniform(options), recommended(options, mode="code")
    shares = {design.kind: np.mean([found(design, 50, seed) for seed in range(40)]) / 50 for design in (before, now)}
    for design in (before, now):
        assert shares[design.kind] == pytest.approx(chance_to_be_found(design, 50), abs=0.05)
    assert shares["uniform"] > 0.35
    assert shares["hadamard"] < 0.06


def chance_to_be_found(design, n):
    """Return the chance that nobody who is asked the same answers otherwise, options being equally frequent."""
    _, rule = asking(design)
    if rule["rule"] == "uniform":
        sides = [code for code in range(1 << design.p) if 2 <= code.bit_count() <= design.p - 2]
        questions = {frozenset((code, (1 << design.p) - 1 - code)) for code in sides}
    else:
        questions = {frozenset(question) for question in rule["questions"]}
    nu = 1 / len(questions)
    share = [code.bit_count() / design.p for question in questions for code in question]
    return sum(nu * s * (1 - nu * (1 - s)) ** (n - 1) for s in share)


def test_the_half_of_the_options_has_the_law_of_its_question():
    half, groups = sp.fixed_size(range(6), 3), sp.partition(range(6), 2)
    codes, mu = half.support()
    assert groups.support()[0].tolist() == codes.tolist()
    assert groups.support()[1] == pytest.approx(mu)
    assert asking(half) == asking(groups)
    assert asking(GIVEN)[0] == "local"
