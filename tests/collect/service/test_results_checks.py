"""The checks of the data find in a survey what they should, and its pages say so.

Their statistics, and that honest people are left alone, are tested in tests/unit/honesty. `test_exporting.py` compares
what is found in a survey with what the library finds in its files.
"""

from collections import Counter

import numpy as np
import pytest
from asking import HONEST, Manners, prefer_last, sensitive
from attrs import astuple, evolve
from every_case import every_case
from released import drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results
from subsetprivacy.messages import NoteKind
from subsetprivacy.presenting.checks import panels_of
from subsetprivacy.presenting.words import words_of

FIVE, EIGHT, NINE = sp.uniform(options(5)), sp.uniform(options(8)), sp.partition(options(9), 3)
DRAWS, LEANING, RANDOM, SKIPS = range(4)  # the places of the checks on a page


def look(design, n, manner=HONEST, w=None, seed=1):
    shares = np.arange(1, design.p + 1.0) if w is None else w
    released = drawn(survey_of({"a": design}), {"a": values(shares, n, seed)}, seed=seed, manners={"a": manner})
    return results(released).findings["a"]


def said(variable, place):
    """Return what a page says of a check."""
    return panels_of(words_of("en"), variable)[place].body


@pytest.mark.parametrize("design", [FIVE, sp.uniform(options(16))])
def test_steered_draws_are_flagged_and_only_moments_suffer(design):
    w = np.arange(1, design.p + 1) / (design.p * (design.p + 1) / 2)
    found = look(design, 20_000, Manners(steers=prefer_last))
    assert found.checks.draws.is_alarm
    assert found.alarms
    assert not found.moments_hold
    assert NoteKind.MOMENTS in [note.kind for note in found.notes]
    assert (np.abs(found.shares.estimate - w) < 4 * found.shares.se).all()
    assert (np.abs(found.moments.estimate - w) > 4 * found.moments.se).any()
    assert "were not drawn as the design says" in said(found, DRAWS)


@pytest.mark.parametrize("design", [FIVE, sp.hadamard(options(12)), sp.uniform(options(48))])
def test_people_who_always_say_yes_are_found(design):
    leaning = look(design, 3000, Manners(always_yes=0.15))
    honest, found = look(design, 3000).checks.leaning, leaning.checks.leaning
    assert not honest.is_alarm
    assert found.is_alarm
    assert found.share == pytest.approx(0.15, abs=4 * found.se)
    assert found.lower < 0.15 < found.upper
    assert "say yes whatever they are asked" in said(leaning, LEANING)


def test_people_who_always_say_no_lean_the_other_way():
    honest = drawn(survey_of({"a": FIVE}), {"a": values([1] * 5, 3000, 1)})
    swapped: Counter = Counter()
    for k, (framing, n) in enumerate(sorted(honest.framings.items(), key=lambda item: astuple(item[0]))):
        swapped[evolve(framing, answer=1) if k % 5 == 0 else framing] += n
    found = results(evolve(honest, framings=swapped)).findings["a"]
    assert found.checks.leaning.share < -3 * found.checks.leaning.se
    assert "say no" in said(found, LEANING)


@pytest.mark.parametrize(
    ("design", "by"), [(FIVE, "questions"), (EIGHT, "options"), (sp.uniform(options(48)), "options")]
)
def test_skips_that_depend_on_question_and_value_are_found(design, by):
    w = np.r_[np.ones(design.p - 1), design.p - 1.0]
    variable = look(design, 1500, Manners(skips=sensitive), w)
    found = variable.checks.skips
    assert found.is_alarm
    assert found.test.by == by
    assert "biases everything" in said(variable, SKIPS)
    rates = {one.option: one.skipped_with / one.asked_with for one in found.options}
    assert max(rates, key=rates.get) == options(design.p)[-1]
    assert all(one.asked_with + one.asked_without == 1500 for one in found.options)


def test_random_clickers_are_found_where_the_design_allows():
    clicking = look(EIGHT, 4000, Manners(at_random=0.25))
    found = clicking.checks.honesty
    assert found.is_alarm
    assert found.share == pytest.approx(0.25, abs=4 * found.se)
    assert "of the answers seem to be given at random" in said(clicking, RANDOM)
    direct = look(EIGHT, 4000).checks.honesty
    assert not direct.is_alarm
    assert direct.lower == 0


@every_case(
    ("design", "n", "manner", "place", "words"),
    [
        (FIVE, 800, HONEST, DRAWS, "were drawn as the design says"),
        (NINE, 1500, Manners(always_yes=0.15), LEANING, "Place 1 is chosen too often"),
        (sp.uniform(options(4)), 500, HONEST, RANDOM, "Random answers cannot be told from honest ones here"),
    ],
)
def test_a_page_says_what_was_found(design, n, manner, place, words):
    assert words in said(look(design, n, manner), place)


def test_groups_that_are_kept_of_those_who_skip_are_compared():
    def together(shown, truth):  # the first two options in one group
        return np.where(((shown & 3) == 3).any(axis=1), 0.4, 0.05)

    found = look(NINE, 1500, Manners(skips=together)).checks.skips
    assert found.is_alarm
    assert found.test.by == "pairs of options"
