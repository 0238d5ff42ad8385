"""Each number of the README, computed. `test_numbers` holds that none stands there that does not stand here."""

from inspect import signature
from math import log2

import pytest
from pages import README, text

import subsetprivacy as sp
from subsetprivacy.examples import adult


def test_two_draws_of_one_person_intersect():
    # "after two uniform draws a single value is left with probability .67 for four categories, .14 for eight"
    assert round(sp.repeat_risk(sp.uniform(range(4))).probability, 2) == 0.67
    assert round(sp.repeat_risk(sp.uniform(range(8))).probability, 2) == 0.14


def test_a_confident_guess_needs_no_data():
    # "If 85 % of people are in one category, guessing it is right 85 % of the time without any data."
    w = [0.85, 0.05, 0.05, 0.05]
    assert sp.audit(sp.uniform(range(4)), w).to_dict()["prediction_baseline"] == pytest.approx(0.85)
    assert round(adult.race.max(), 2) == 0.85  # an example that the README's picture shows


def test_maximal_leakage_of_a_question_is_one_bit():
    # "maximal leakage: one bit for a yes/no question"; "three yes/no questions give away at most three bits"
    design = sp.uniform(range(5))
    assert sp.audit(design, [0.2] * 5).to_dict()["maximal_leakage"] == pytest.approx(1)
    assert log2(sp.product({"a": design, "b": design, "c": design}).S) == pytest.approx(3)


def test_the_picture_has_intervals_of_the_level_and_the_people_that_it_says():
    # "with 95 % intervals, from 500 subsets"
    made = text(README.parent / "docs" / "pictures" / "make.py")
    assert f"adult.race, {500}, seed=" in made
    assert "level" not in made  # so it is the default
    assert signature(sp.Estimate.plot).parameters["level"].default == 0.95


def test_designs_reach_from_two_categories_to_a_million():
    # "several categories at once: 2 to a million"; "a million (`hadamard`)"
    assert sp.warner(["no", "yes"]).p == 2
    assert sp.hadamard(10**6).p == 10**6
