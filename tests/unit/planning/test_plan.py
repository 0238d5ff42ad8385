"""`plan`: people and margins by hand, the recommendation and its limits, named errors, the table and the picture."""

import json
from math import ceil

import numpy as np
import pytest
from attrs import evolve
from every_case import every_case
from lopsided import ABCD, ASKED, ASKED5
from matplotlib.axes import Axes
from refusals import refused
from scipy.stats import norm

import subsetprivacy as sp
from subsetprivacy.design import covered, fixed_size, hadamard, partition, warner
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    DistributionError,
    InvalidDesignError,
    MismatchError,
    NotIdentifiableError,
)
from subsetprivacy.examples import URN, adult
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_plans import MORE_COLUMNS
from subsetprivacy.planning import candidate_designs, plan

Z = norm.ppf(0.975)
SKEWED = np.array([0.6, 0.2, 0.1, 0.04, 0.03, 0.01, 0.01, 0.01])


@pytest.fixture(scope="module")
def nine():
    return plan(9, margin=0.02)


def texts(made, kind):
    return [note.text for note in made.notes if note.kind is kind]


def people_by_name(made):
    return {option.name: option.people for option in made.options}


# Numbers --------------------------------------------------------------------------------------


def test_warner_by_hand():
    # n var = lambda (1 - lambda) / (2q - 1)^2, at most 1/4 over 1/4.
    assert plan(["no", "yes"], margin=0.02).people == ceil((Z / 0.02) ** 2)
    same = 0.1 * 0.75 + 0.9 * 0.25
    by_hand = (Z / 0.02) ** 2 * same * (1 - same) / 0.25
    assert plan(["no", "yes"], margin=0.02, w=[0.1, 0.9]).people == ceil(by_hand)


def test_four_even_categories_by_hand():
    # Three equally likely partitions in pairs: the cost is 3 times 1/4 * 3/4.
    assert plan(ABCD, margin=0.02, w=[0.25] * 4).people == ceil((Z / 0.02) ** 2 * 9 / 16)


def test_margin_defaults_to_two_points():
    assert plan(ABCD).people == plan(ABCD, margin=0.02).people


def test_the_level_is_that_of_each_interval():
    one, two = (plan(ABCD, margin=0.02, level=level).people for level in (0.95, 0.99))
    assert two == pytest.approx(one * (norm.ppf(0.995) / Z) ** 2, abs=1)


def test_people_and_margin_are_each_other_s_inverse():
    wanted = plan(adult.races, margin=0.03, w=adult.race)
    reached = [plan(adult.races, n=n, w=adult.race).margin for n in (wanted.people - 1, wanted.people)]
    assert reached[1] <= 0.03 < reached[0]


def test_adult_race_costs_what_the_notes_say():
    only = plan(adult.races, w=adult.race, designs=[sp.uniform(adult.races)]).best
    assert only.loss == pytest.approx(0.864 / 0.260, rel=0.01)
    assert only.efficiency == pytest.approx(1)


def test_a_given_distribution_never_needs_more_than_the_worst():
    worst = people_by_name(plan(8, margin=0.02))
    for w in (SKEWED, np.full(8, 1 / 8), np.eye(8)[2] * 0.3 + 0.7 / 8):
        given = people_by_name(plan(8, margin=0.02, w=w))
        assert all(given[name] <= 1.001 * worst[name] for name in worst)


@every_case("p", [4, 5, 6, 9, 13])
@every_case("mode", ["ask", "publish"])
def test_balanced_designs_are_efficient(p, mode):
    for option in plan(p, mode=mode).options:
        assert 0.99 <= option.efficiency <= 1 + 1e-9, option.name
        assert option.cost_even >= (p - 1) / (option.design.S - 1) * (1 - 1e-9)


def test_cost_against_asking_directly(nine):
    assert nine.direct == ceil((Z / 0.02) ** 2 / 4)
    thirds = next(option for option in nine.options if option.name == "partition, 3 groups")
    assert thirds.cost == pytest.approx(16 / 9)  # 4/9 over 1/4
    assert thirds.cost_even == pytest.approx(4)  # (p-1)/(m-1)


def test_more_questions_cost_less_loss_where_the_distribution_is_uneven():
    options = {
        o.design.questions: o for o in plan(8, w=SKEWED, designs=[hadamard(range(8), q) for q in (7, 31)]).options
    }
    assert options[31].loss < 0.95 * options[7].loss
    assert options[31].smallest_set < options[7].smallest_set


def test_people_of_a_covered_design_are_real_people():
    made = plan(9, margin=0.02, floor=0.1, w=np.arange(1, 10) / 45)
    bare = people_by_name(plan(9, margin=0.02, w=np.arange(1, 10) / 45))
    assert len(made.options) == len(bare)
    for option in made.options:
        D = option.design.D
        assert option.people > bare[option.name.removesuffix(", floor 0.1")]
        # The floor is reached: each dummy category has a tenth of all rows.
        assert option.dummies / D / (option.people + option.dummies) == pytest.approx(0.1, rel=1e-3)
    assert f"{made.best.dummies:,} dummy rows are added to the people." in texts(made, NoteKind.DUMMIES)


def test_leaks_are_those_of_the_audit():
    made = plan(list(URN), w=list(URN.values()))
    facts = sp.audit(made.recommended, URN).to_dict()
    for name, value in made.best.leaks.items():
        assert value == pytest.approx(facts[name]), name
    assert made.best.maximal_leakage == facts["maximal_leakage"]


def test_unlisted_designs_say_that_they_are_simulated():
    w = np.arange(1, 26) / 325
    made = plan(25, margin=0.05, w=w, designs=[sp.uniform(range(25))])
    (text,) = texts(made, NoteKind.SIMULATED)
    assert text.startswith("uniform: simulated, within 0.")


def test_many_categories_say_which_estimator():
    made = plan(100, margin=0.02)
    assert texts(made, NoteKind.MOMENTS)
    assert made.recommended == hadamard(range(100))


# Designs --------------------------------------------------------------------------------------


def test_no_law_is_shown_twice():
    # For four categories uniform, two groups and pairs are one design.
    assert [option.name for option in plan(4, mode="publish").options] == ["uniform", "fixed_size, 3"]


def test_few_categories_have_their_own_designs():
    two = plan(["no", "yes"])
    assert two.recommended == warner(["no", "yes"])
    assert "two answers can multiply the odds of a value by up to 9" in texts(two, NoteKind.REPEATED)[0]
    three = plan(["a", "b", "c"])
    assert three.recommended == fixed_size(["a", "b", "c"], 2)
    assert "fixed_size, 2: drawn where the value is: by a publisher, or by the respondent." in texts(
        three, NoteKind.ASSUMPTION
    )


def test_a_number_stands_for_that_many_categories():
    assert plan(5).recommended.categories.labels == (0, 1, 2, 3, 4)


def test_askers_see_no_publishers_design():
    assert not any(o.name.startswith("fixed_size") for o in plan(5).options)
    assert any(o.name.startswith("fixed_size") for o in plan(5, mode="publish").options)


def test_own_designs_are_compared():
    rare = sp.independent(ABCD, {("a", "b"): 0.8, ("a", "c"): 0.1, ("a", "d"): 0.1})
    made = plan(ABCD, designs=[rare, ASKED])
    assert made.recommended == ASKED
    assert made.options[0].people > 1.5 * made.people


# The recommendation ---------------------------------------------------------------------------


def test_one_bit_unless_more_is_allowed(nine):
    assert nine.recommended == partition(range(9), groups=2)
    assert plan(9, maximal_leakage=1.6).recommended == partition(range(9), groups=3)
    assert plan(9, maximal_leakage=2).recommended == partition(range(9), groups=4)
    assert plan(9, maximal_leakage=2, smallest=3).recommended == partition(range(9), groups=3)


def test_among_equally_cheap_designs_the_largest_sets():
    # At even w uniform needs a few people less than Hadamard rows, and can report pairs.
    made = plan(9, w=np.full(9, 1 / 9), designs=[sp.uniform(range(9)), hadamard(range(9))])
    uniform, rows = made.options
    assert uniform.people < rows.people < 1.05 * uniform.people
    assert uniform.smallest_set < rows.smallest_set
    assert made.best is rows
    assert made.reason.split(":")[0].endswith("it is within 5% of the fewest people and has the largest sets")


def test_the_next_cheaper_design_and_its_price(nine):
    assert nine.cheaper.name == "partition, 3 groups"
    assert texts(nine, NoteKind.ALTERNATIVE) == [
        "Next cheaper: partition, 3 groups: 4,269 people (44% fewer), up to 1.58 bit, at least 3 values left."
    ]
    free = plan(5, maximal_leakage=5)
    assert free.cheaper is None
    assert not texts(free, NoteKind.ALTERNATIVE)


@every_case(
    ("limits", "words"),
    [
        ({}, "it needs the fewest people"),
        (
            {"smallest": 4},
            "it alone is within the limits: at most 1 bit (the default: a yes/no question), at least 4 values left",
        ),
        ({"maximal_leakage": 1.6}, "at most 1.6 bit, at least 2 values left"),
    ],
)
def test_the_reason_in_words(limits, words):
    assert words in plan(9, **limits).reason


def test_two_categories_show_what_a_secret_bit_costs():
    made = plan(["no", "yes"], margin=0.02)
    bits = [option.design.q for option in made.options]
    assert bits == [0.1, 0.2, 0.25, 0.3, 0.4]
    # At worst half of the answers are "the same": n var = 1/4 over (2q - 1)^2.
    by_hand = [ceil((Z / 0.02) ** 2 / 4 / (2 * q - 1) ** 2 * (1 - 1e-12)) for q in bits]
    assert [option.people for option in made.options] == by_hand
    leaks = [np.log2(2 * (1 - q)) for q in bits]
    assert [option.maximal_leakage for option in made.options] == pytest.approx(leaks)


def test_two_categories_are_not_given_away_by_default():
    telling, safe = warner(["no", "yes"], q=0.001, reveals=True), warner(["no", "yes"], q=0.25)
    made = plan(["no", "yes"], designs=[telling, safe])
    assert made.recommended == safe
    assert made.options[0].people < 0.3 * made.people
    assert "at most 0.585 bit (the default: Warner's question, q = 1/4)" in made.reason
    asked_for = plan(["no", "yes"], designs=[telling, safe], maximal_leakage=1)
    assert asked_for.recommended == telling
    assert "the default" not in asked_for.reason
    with pytest.raises(ArgumentError, match=r"at least 0\.848 bit .* got 0\.585, the default\. Hint: .* 0\.848"):
        plan(["no", "yes"], designs=[warner(["no", "yes"], q=0.1)])


def test_no_limit_can_be_asked_for():
    assert plan(9, maximal_leakage=np.inf).recommended == plan(9, maximal_leakage=10**400).recommended


# Errors ---------------------------------------------------------------------------------------


@every_case(
    ("arguments", "error", "argument"),
    [
        ({"margin": 0.02, "n": 100}, ArgumentError, "margin"),
        ({"margin": 0}, ArgumentError, "margin"),
        ({"margin": 2}, ArgumentError, "margin"),
        ({"margin": "2 %"}, ArgumentError, "margin"),
        ({"level": 95}, ArgumentError, "level"),
        ({"n": 7}, ArgumentError, "n"),
        ({"n": 10.5}, ArgumentError, "n"),
        ({"w": [0.5] * 9}, DistributionError, "w"),
        ({"w": [0.5, 0.5]}, DistributionError, "w"),
        ({"floor": 0}, ArgumentError, "floor"),
        ({"floor": 10}, ArgumentError, "floor"),
        ({"n": 10**400}, ArgumentError, "n"),
        ({"floor": 0.5}, InvalidDesignError, "floor"),
        ({"mode": "guess"}, ArgumentError, "mode"),
        ({"smallest": 5}, ArgumentError, "smallest"),
        ({"maximal_leakage": 0.9}, ArgumentError, "maximal_leakage"),
        ({"maximal_leakage": -1}, ArgumentError, "maximal_leakage"),
        ({"designs": []}, ArgumentError, "designs"),
        ({"designs": [ASKED]}, MismatchError, "designs"),
        ({"designs": 3}, ArgumentError, "designs"),
        ({"designs": np.array(0.3)}, ArgumentError, "designs"),
        ({"designs": ASKED}, ArgumentError, "designs"),
        ({"designs": ["uniform"]}, ArgumentError, "design"),
        ({"designs": [sp.uniform(range(9))], "floor": 0.1}, ArgumentError, "floor"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else "",
)
def test_bad_arguments_are_named(arguments, error, argument):
    with refused(error, argument):
        plan(9, **arguments)


@every_case(("categories", "error"), [(1, ArgumentError), (["only"], ArgumentError), ("abc", CategoryError)])
def test_bad_categories_are_named(categories, error):
    with pytest.raises(error, match=r"categories`? must"):
        plan(categories)


def test_a_blind_design_is_refused():
    with pytest.raises(NotIdentifiableError):
        plan(ASKED5.categories, designs=[ASKED5])


def test_a_design_that_is_all_but_blind_is_refused():
    weights = {("a", "b"): 0.5, ("a", "c"): 0.5 - 1e-18, ("a", "d"): 1e-18}
    with pytest.raises(NotIdentifiableError):
        plan(ABCD, designs=[sp.independent(ABCD, weights)])


@every_case("categories", [30_000_000, range(30_000_000), 10**5000], ids=["number", "labels", "huge"])
def test_too_many_categories_are_refused_before_they_are_listed(categories, monkeypatch):
    monkeypatch.setattr(candidate_designs, "Categories", None)  # cannot be called
    monkeypatch.setattr(candidate_designs, "as_categories", None)
    with pytest.raises(ArgumentError, match=r"must be at most 1,048,576, .*Hint: the nearest is 1048576"):
        plan(categories)


def test_labels_without_a_length_are_counted_too(monkeypatch):
    monkeypatch.setattr(candidate_designs, "MOST", 60)
    with pytest.raises(ArgumentError):
        plan(iter(range(61)))


@every_case(
    ("categories", "message"),
    [
        (-3, "the number of categories must be two or more; got -3. Hint: the nearest is 2"),
        (4.6, "a whole number of them; got 4.6. Hint: the nearest is 5"),
        (np.array(4.6), "a whole number of them; got 4.6. Hint: the nearest is 5"),
        (1e30, "Hint: the nearest is 1048576"),
        (np.nan, r"got nan. Hint: sp.plan\(5\) has the categories 0 to 4"),
        (True, "got True. Hint: sp.plan"),
        (2 + 1j, "whole number of them; got"),
    ],
)
def test_a_number_of_categories_is_a_whole_one(categories, message):
    with pytest.raises(ArgumentError, match=message if "must be" in message else f"`categories` must be .*{message}"):
        plan(categories)
    assert plan(np.int64(4)).recommended.p == 4


def test_dummies_need_four_categories():
    with refused(ArgumentError, "floor"):
        plan(3, floor=0.1)


def test_limits_at_the_edge_are_met():
    least = plan(["a", "b", "c"]).best.maximal_leakage
    assert plan(["a", "b", "c"], maximal_leakage=least).people > 0
    with pytest.raises(ArgumentError, match=r"at least 0\.585 bit .*Hint: the nearest is 0\.585"):
        plan(["a", "b", "c"], maximal_leakage=0.5)


# Output ---------------------------------------------------------------------------------------


def test_numbers_under_stable_names(nine):
    facts = nine.to_dict()
    assert list(facts) == [
        *("recommended", "reason", "people", "by_group", "margin", "relative", "category", "level", "direct"),
        *("options", "notes"),
    ]
    assert list(facts["options"][0]) == [
        *("design", "people", "margin", "dummies", "people_even", "margin_even", "cost", "cost_even", "loss"),
        *("efficiency", "maximal_leakage", "smallest_set"),
        *("size_leakage", "mi_leakage", "prediction_leakage", "prediction_baseline", "largest_posterior"),
        *("category", "by_group", "notes"),
    ]
    json.dumps(facts, allow_nan=False)


def test_what_is_not_finite_is_no_number_in_json_and_a_dash_in_the_table():
    survey = plan(ABCD, w=[0.7, 0.1, 0.1, 0.1])
    free = evolve(survey.best, direct=0.0)
    facts = evolve(survey, options=(free,), best=free)
    assert facts.to_dict()["options"][0]["cost"] is None
    json.dumps(facts.to_dict(), allow_nan=False)
    assert facts.summary().rows[0][2] == "-"
    assert "inf" not in str(facts.summary())


@every_case("w", [[1, 0, 0, 0], [1 - 1e-15, 1e-15, 0, 0]], ids=["one", "all but one"])
@every_case("demand", [{"margin": 0.03}, {"n": 1000}], ids=["margin", "people"])
def test_a_distribution_on_one_category_is_nothing_to_plan_for(w, demand):
    with refused(ArgumentError, "w"):
        plan(ABCD, w=w, **demand)


def test_shares_of_zero_next_to_two_others_can_be_planned_for():
    survey = plan(ABCD, 0.03, w=[0.5, 0.5, 0, 0])
    assert survey.best.cost == pytest.approx(survey.best.variance / 0.25)
    assert "inf" not in str(survey.summary())


def test_the_table_for_people(nine):
    text = str(nine.summary())
    assert text.startswith("Plan for 9 categories: ±2 points at 95%, whatever the distribution")
    assert "* partition, 2 groups" in text
    assert texts(nine, NoteKind.PRICE) == ["Asking directly: 2,401 people."]
    assert "two draws leave 2.58 values on average" in texts(nine, NoteKind.REPEATED)[0]


def test_the_table_for_a_margin():
    made = plan(9, n=2000, w=np.arange(1, 10) / 45)
    text = str(made.summary())
    assert text.startswith("Plan for 9 categories: 2,000 people at 95%, the given distribution")
    assert f"±{made.margin:.4f}" in text
    assert made.summary().columns[1] == "margin"
    assert "has the smallest margin" in made.reason


def test_a_remark_is_said_once_in_the_order_of_the_table():
    drawn = [text for text in texts(plan(["no", "yes"]), NoteKind.ASSUMPTION) if "the bit" in text]
    assert drawn == ["All designs: the respondent draws the bit, which is never shown or sent."]
    own = [hadamard(range(100), questions=511), hadamard(range(100))]
    moments = "All designs: for the moment estimator; maximum likelihood needs no more."
    assert texts(plan(100, designs=own), NoteKind.MOMENTS) == [moments]
    sized = [fixed_size(range(5), k) for k in (3, 2)] + [sp.uniform(range(5))]
    notes = texts(plan(5, designs=sized, maximal_leakage=2), NoteKind.ASSUMPTION)
    assert sum(text.startswith("fixed_size, 3; fixed_size, 2: drawn where the value is") for text in notes) == 1


def test_every_column_of_the_table_is_explained(nine):
    columns = nine.summary().columns
    assert len(columns) == 7
    legend = " ".join(texts(nine, NoteKind.LEGEND))
    for column in ("times direct", "even shares", "max. leak", "smallest set", "best guess"):
        assert column in columns
        assert f"{column}: " in legend
    # What the table leaves out is in the data frame.
    assert {"loss", "efficiency", "mi_leakage", "size_leakage", "largest_posterior"} < set(nine.to_frame().columns)
    assert nine.notes[-1].advice == MORE_COLUMNS()


@every_case("p", [2, 3, 4, 5, 9, 14, 100])
@every_case("asked", [{"margin": 0.001}, {"n": 10**6}])
def test_tables_fit_a_terminal_of_100_characters(p, asked):
    assert max(map(len, str(plan(p, **asked).summary()).splitlines()[1:5])) <= 100


@every_case("p", [2, 3, 4, 5, 9, 14])
def test_notes_are_short(p):
    assert max(len(note.text) for note in plan(p, margin=0.02).notes) <= 110


def test_looks():
    made = plan(ABCD, margin=0.05)
    assert repr(made) == "<Plan: uniform, 865 people for ±0.05, of 1 design>"
    assert repr(made.best) == "<PlanOption uniform: 865 people for ±0.05>"
    assert ("people", "865") in made.best.summary().rows


@pytest.mark.parametrize("asked", [{"margin": 0.02}, {"n": 500, "w": np.arange(1, 10) / 45}])
def test_the_picture_marks_the_recommended_design(asked):
    made = plan(9, **asked)
    axes = made.plot()
    assert isinstance(axes, Axes)
    names = axes.get_yticklabels()
    assert [text.get_text() for text in names] == [option.name for option in made.options]
    assert [text.get_text() for text in names if text.get_weight() == "bold"] == ["partition, 2 groups"]
    lines = {line.get_label(): line.get_xdata() for line in axes.get_lines()}
    wanted = [option.people if "margin" in asked else option.margin for option in made.options]
    assert list(lines["least favorable shares" if "margin" in asked else "given shares"]) == pytest.approx(wanted)
    assert lines["asking directly"][0] == pytest.approx(made.direct)
    remarks = [text.get_text() for text in axes.texts]
    thirds = made.options[[option.name for option in made.options].index("partition, 3 groups")]
    planned = f"{thirds.people:,}" if "margin" in asked else f"±{thirds.margin:.4f}"
    assert f"{planned}; 1.58 bit, sets of 3 or more" in remarks


def test_covered_designs_of_ones_own():
    made = plan(9, designs=[covered(partition(range(9), groups=3), 0.2)], maximal_leakage=2)
    assert made.best.name == "partition, 3 groups, floor 0.2"
