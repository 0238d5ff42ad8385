"""The draws have exactly the law of their design: every outcome is enumerated, and seeded draws are counted."""

from collections import Counter
from fractions import Fraction
from functools import cache
from hashlib import sha256

import numpy as np
import pytest
from lopsided import ABCDE, ASKED, GIVEN, GIVEN3, GROUPS, SEVEN, TWO_GROUPS, WARNER
from scipy import stats

import subsetprivacy as sp
from subsetprivacy.collect.survey.drawing import Stream, draw_around, draw_bit, draw_question
from subsetprivacy.collect.survey.rules import asking

ASKING = {
    "uniform, p=4": sp.uniform(list("abcd")),
    "uniform, p=5": sp.uniform(ABCDE),
    "independent": ASKED,
    "hadamard, p=7": sp.hadamard(SEVEN),
    "hadamard, p=6": sp.hadamard(range(6), 15),
    "partition, listed": GROUPS,
    "partition, two listed groups": TWO_GROUPS,
    "partition, p=5": sp.partition(ABCDE, 2),
    "partition, p=7": sp.partition(SEVEN, 3),
    "fixed size, half": sp.fixed_size(range(6), 3),
}
LOCAL = {
    "pair": sp.fixed_size(list("xyz"), 2),
    "fixed size, p=6": sp.fixed_size(range(6), 4),
    "conditional": GIVEN,
    "conditional, p=3": GIVEN3,
}
# The stated weights are near 2^36; in tenths they can be enumerated, and that both are in proportion is tested below.
TENTHS = {"independent": [5, 3, 2], "conditional": [2, 4, 3, 1, 2, 2, 1, 1], "conditional, p=3": [3, 3, 3, 4]}


class _OverError(Exception):
    """The draw asked for more than the script holds."""


class Scripted(Stream):
    """A stream that a script of outcomes drives; notes the bounds, and the words go the usual way."""

    def __init__(self, script):
        self.script, self.bounds, self._next = script, [], []

    def word(self):
        return self._next.pop()

    def below(self, bound):
        if len(self.bounds) == len(self.script):
            raise _OverError(bound)
        self._next = [self.script[len(self.bounds)]]
        self.bounds.append(bound)
        return super().below(bound)


def outcomes(draw, most_steps=99):
    """Return the exact law of a draw: every script of outcomes, each as likely at its step.

    With `most_steps` longer ones are cut off: what is left is the law given that the draw ended by then.
    """
    law, open_scripts = Counter(), [([], Fraction(1))]
    while open_scripts:
        script, chance = open_scripts.pop()
        try:
            law[draw(Scripted(script))] += chance
        except _OverError as over:
            (bound,) = over.args
            if len(script) < most_steps:
                open_scripts += [([*script, k], chance / bound) for k in range(bound)]
    whole = sum(law.values())
    return {outcome: chance / whole for outcome, chance in law.items()}


def rule_of(design, name):
    kind, rule = asking(design)
    return kind, {**rule, "weights": TENTHS[name]} if name in TENTHS else rule


@cache
def law_of(name):
    """Return the exact law of the questions of a design."""
    kind, rule = rule_of(ASKING[name], name)
    assert kind in ("yes_no", "groups")
    once = 1 if rule["rule"] == "uniform" else 99  # again where the size is not admissible: the law of the last try
    return outcomes(lambda stream: tuple(draw_question(rule, stream)), once)


@pytest.mark.parametrize("name", ASKING)
def test_a_question_realises_the_design_exactly(name):
    design, law = ASKING[name], law_of(name)
    for j in range(design.p):
        kept = Counter()
        for asked, chance in law.items():
            (answer,) = [code for code in asked if code >> j & 1]  # one answer is true, whatever the value
            kept[answer] += chance
        codes, mu = design.support()
        expected = {int(a): float(m) for a, m in zip(codes, mu) if a >> j & 1}
        assert {code: float(chance) for code, chance in kept.items()} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ASKING)
def test_the_order_of_the_answers_says_nothing(name):
    law = law_of(name)
    for asked, chance in law.items():
        assert law[asked[::-1]] == chance
        assert law[asked[1:] + asked[:1]] == chance


@pytest.mark.parametrize("name", LOCAL)
def test_a_draw_around_a_value_realises_the_design_exactly(name):
    design = LOCAL[name]
    kind, rule = rule_of(design, name)
    assert kind == "local"
    for j in range(design.p):
        law = outcomes(lambda stream, value=j: draw_around(rule, value, stream))
        codes, mu = design.support()
        expected = {int(a): float(m) for a, m in zip(codes, mu) if a >> j & 1}
        assert {code: float(chance) for code, chance in law.items()} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", TENTHS)
def test_stated_weights_are_in_proportion(name):
    design = {**ASKING, **LOCAL}[name]
    _, rule = asking(design)
    assert sum(rule["weights"]) <= 1 << 48
    tenths = np.array(TENTHS[name]) / sum(TENTHS[name])
    assert np.array(rule["weights"]) / sum(rule["weights"]) == pytest.approx(tenths, rel=2**-34)


@pytest.mark.parametrize("q", [0.3, 0.25, 0.95, 0.05])
def test_the_secret_number(q):
    _, rule = asking(sp.warner(["no", "yes"], q))
    assert abs(Fraction(rule["ones"], 1 << 48) - Fraction(q)) <= Fraction(1, 1 << 49)

    class Fixed(Stream):
        def __init__(self, word):
            self.held = word

        def word(self):
            return self.held

    drawn = [draw_bit(rule, Fixed(word)) for word in (0, rule["ones"] - 1, rule["ones"], (1 << 48) - 1)]
    assert drawn == [1, 1, 0, 0]


# The stream ---------------------------------------------------------------------------------------


class Words(Stream):
    def __init__(self, words):
        self.left = list(words)

    def word(self):
        return self.left.pop(0)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 48, (1 << 32) + 1, (1 << 47) - 1, (1 << 47) + 1, (1 << 48) - 1, 1 << 48])
def test_words_beyond_the_last_whole_multiple_are_refused(bound):
    limit = (1 << 48) // bound * bound
    stream = Words([limit - 1, *([limit, (1 << 48) - 1] if limit < 1 << 48 else []), 0, bound - 1])
    assert [stream.below(bound) for _ in range(3)] == [bound - 1, 0, bound - 1]
    assert not stream.left


@pytest.mark.parametrize("bound", [0, -1, (1 << 48) + 1])
def test_bounds_that_no_word_can_keep(bound):
    with pytest.raises(ValueError, match=r"a bound must lie in 1 … 2\^48"):
        Words([0]).below(bound)


def test_weights_are_cut_at_their_sums():
    weights = [5, 1, 1 << 36, 2]
    cuts = np.cumsum(weights)
    for k, weight in enumerate(weights):
        assert Words([int(cuts[k]) - weight]).weighted(weights) == k
        assert Words([int(cuts[k]) - 1]).weighted(weights) == k
    assert Words([sum(weights)]).weighted(weights) == 0  # once around


def test_every_order_is_as_likely():
    law = outcomes(lambda stream: tuple(stream.shuffle([1, 2, 3, 4])))
    assert len(law) == 24
    assert set(law.values()) == {Fraction(1, 24)}


def test_a_shuffle_leaves_its_items_alone():
    items = [1, 2, 3]
    Stream(bytes(32), "s", "v").shuffle(items)
    assert items == [1, 2, 3]


def test_streams_differ_by_seed_study_and_variable():
    others = [
        (bytes(32), "s", "v"),
        (b"\1" + bytes(31), "s", "v"),
        (bytes(32), "t", "v"),
        (bytes(32), "s", "w"),
        (bytes(32), "sv", ""),
    ]
    firsts = [Stream(*each).word() for each in others]
    assert len(set(firsts)) == len(firsts)
    assert Stream(*others[0]).word() == firsts[0]


# Seeded draws -------------------------------------------------------------------------------------


def seeded(number):
    for k in range(number):
        yield Stream(sha256(f"draws {k}".encode()).digest(), "study", "variable")


def check_counts(design, number):
    kind, rule = asking(design)
    codes, mu = design.support()
    for j in range(0, design.p, 3):
        kept = Counter()
        for stream in seeded(number):
            if kind == "local":
                kept[draw_around(rule, j, stream)] += 1
            else:
                kept[next(code for code in draw_question(rule, stream) if code >> j & 1)] += 1
        holding = [(int(a), m) for a, m in zip(codes, mu) if a >> j & 1]
        assert set(kept) <= {a for a, _ in holding}
        counted = stats.chisquare([kept[a] for a, _ in holding], [m * number for _, m in holding])
        assert counted.pvalue > 1e-4


@pytest.mark.parametrize("name", [*ASKING, *LOCAL])
def test_counts_of_seeded_draws(name):
    check_counts({**ASKING, **LOCAL}[name], 2_500)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ASKING, *LOCAL])
def test_counts_of_many_seeded_draws(name):
    check_counts({**ASKING, **LOCAL}[name], 100_000)


@pytest.mark.parametrize("number", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_counts_of_secret_numbers(number):
    _, rule = asking(WARNER)
    ones = sum(draw_bit(rule, stream) for stream in seeded(number))
    assert stats.binomtest(ones, number, WARNER.q).pvalue > 1e-4


def test_a_draw_of_48_options_takes_one_word(monkeypatch):
    _, rule = asking(sp.uniform(range(48)))
    words = []
    draw = Stream.word
    monkeypatch.setattr(Stream, "word", lambda self: words.append(1) or draw(self))
    for stream in seeded(1000):
        draw_question(rule, stream)
    assert len(words) == 1000  # a word is refused once in a million million draws
