"""Several variables, each with its own design."""

import json

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, ASKED5, GIVEN, GIVEN3, NUMBERED, TRIPLE, WARNER
from problems import exact_shares, rising, with_full_question
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Mixture
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    DesignDocumentError,
    InvalidDesignError,
    MismatchError,
    NotIdentifiableError,
    NotIndependentError,
    TooLargeError,
    UnknownDesignError,
)
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting

RSTU = tuple("rstu")
UNIFORM = sp.uniform(RSTU)
BOTH = sp.product({"x": ASKED, "y": UNIFORM})
WIDE = sp.product({name: sp.uniform(range(20)) for name in "abc"})


# Law -------------------------------------------------------------------------------------------------------------


def test_the_first_variable_has_the_highest_bits():
    codes = BOTH.join([np.array([3, 12]), np.array([5, 10])])
    assert codes.tolist() == [3 << 4 | 5, 12 << 4 | 10]
    assert [part.tolist() for part in BOTH.split(codes)] == [[3, 12], [5, 10]]
    assert BOTH.members(3 << 4 | 5) == (("a", "b"), ("r", "t"))
    assert BOTH.format(3 << 4 | 5) == "a|b & r|t"
    assert BOTH.missing_code == 255


@every_case("design", [BOTH, TRIPLE, NUMBERED], ids=["two", "three", "numbers"])
def test_everything_is_a_product(design):
    codes, mu = design.support()
    parts = design.split(codes)
    expected = np.prod([factor.mu(part) for factor, part in zip(design.factors, parts)], axis=0)
    assert mu == pytest.approx(expected)
    assert len(codes) == np.prod([len(factor.support()[0]) for factor in design.factors])
    Q = np.ones((1, 1))
    for factor in design.factors:
        Q = np.kron(Q, factor.Q)
    np.testing.assert_allclose(design.Q, Q, atol=1e-14)
    assert pytest.approx(np.prod([factor.S for factor in design.factors])) == design.S
    # Row by row: the product of the variables' rows at the coordinates of each combination.
    rows = design.incidence(codes).inner(np.eye(design.p)).T
    at = np.unravel_index(np.arange(design.p), [factor.p for factor in design.factors])
    expected = np.ones_like(rows)
    for factor, part, k in zip(design.factors, parts, at):
        expected *= np.vstack([factor.incidence(np.array([a])).inner(np.eye(factor.p))[:, 0] for a in part])[:, k]
    np.testing.assert_allclose(rows, expected, atol=1e-14)
    np.testing.assert_allclose(design.support_incidence.inner(np.eye(design.p)).T, expected, atol=1e-14)


def test_labels_are_combinations_the_last_fastest():
    assert BOTH.categories.labels[:5] == (("a", "r"), ("a", "s"), ("a", "t"), ("a", "u"), ("b", "r"))
    assert repr(BOTH) == "<product design of x (4) x y (4)>"


def test_a_full_set_of_any_variable_is_missing():
    design = sp.product({"x": with_full_question(), "y": GIVEN3})  # both draw full sets
    codes, mu = design.support()
    left = mu * design.support_incidence.inner(np.full(12, 1 / 12))
    silent = design.is_missing(codes)
    assert design.mu_full == pytest.approx(left[silent].sum())
    assert design.mu_full == pytest.approx(1 - 0.9 * 0.6)
    kept = ~silent
    rows = design.incidence(codes[kept]).inner(np.eye(12)).T
    np.testing.assert_allclose(design.informative_Q, (rows.T * mu[kept]) @ rows / (1 - design.mu_full), atol=1e-12)
    for method in ("mle", "mom"):
        assert sp.estimate(exact_shares(design, rising(12)), method).w == pytest.approx(rising(12), abs=1e-5)


# Rows of Warner's variable are not zeros and ones: what is mixed in must be subtracted for the product too.
@every_case(
    ("one", "two", "u"),
    [(ASKED, UNIFORM, [0.1, 0.2, 0.3, 0.4]), (WARNER, ASKED, [0.3, 0.7])],
    ids=["subsets", "a bit in it"],
)
def test_bits_of_independent_variables_add_up_and_guesses_multiply(one, two, u):
    v = np.array([0.4, 0.3, 0.2, 0.1])
    joint = Setting.of(sp.product({"x": one, "y": two}), np.kron(u, v))
    parts = [Setting.of(one, u), Setting.of(two, v)]
    assert metrics.mi_leakage(joint).value == pytest.approx(sum(metrics.mi_leakage(part).value for part in parts))
    assert metrics.prediction_leakage(joint) == pytest.approx(np.prod([*map(metrics.prediction_leakage, parts)]))
    assert BOTH.epsilon == np.inf


def test_the_epsilon_of_two_bits_is_their_sum():
    made = sp.product({"s": WARNER, "t": sp.warner(["f", "m"], 0.2)})
    assert made.epsilon == pytest.approx(np.log(7 / 3) + np.log(4))


# Parts -----------------------------------------------------------------------------------------------------------


def test_parts_come_under_their_names():
    joined = sp.product({"pair": sp.join({"s": [0, 1], "t": [0, 1]}), "x": ASKED, "w": WARNER})
    assert joined.categories.names == ("s", "t", "x", "w")
    assert list(joined.named()) == [("s", "t"), ("x",), ("w",)]
    assert joined.select(["x"]) is ASKED
    assert joined.select(["t"]) == joined.select(["s", "t"]) == joined.factors[0]
    assert joined.select(["w", "x"]).categories.names == ("x", "w")  # in the order of the product
    assert joined.select(["t", "x"]).categories.names == ("s", "t", "x")
    assert joined.select(["s", "t", "x", "w"]) == joined
    with refused(CategoryError, "name"):
        joined.select(["z"])


def test_identifiability_is_that_of_every_variable():
    blind = sp.conditional(ABCD, {("a", "b"): 1.0, ("c", "d"): 1.0})
    made = sp.product({"x": blind, "y": UNIFORM})
    assert not made.is_identifiable
    with pytest.raises(NotIdentifiableError):
        made.require_identifiable()
    direction = made.null_direction()
    u = np.array([direction.get(label, 0) for label in made.categories.labels], float)
    assert np.abs(made.support_incidence.inner(u)).max() < 1e-9
    assert np.abs(u).max() > 0


def test_a_variable_that_reveals_makes_the_product_no_subset_design():
    made = sp.product({"x": sp.nonprivate(ABCD), "y": UNIFORM})
    assert made.smallest_set == 2
    assert not made.is_subset_private
    assert BOTH.is_subset_private


# Size ------------------------------------------------------------------------------------------------------------


def test_more_than_48_bits_are_no_joint_code():
    assert WIDE.code_bits == 60
    assert not WIDE.enumerable
    x = {name: np.random.default_rng(k).integers(20, size=3000) for k, name in enumerate("abc")}
    table = sp.privatize(x, WIDE, seed=1)
    with pytest.raises(TooLargeError):
        table.counts()
    counts = table.counts("a", "c")
    assert counts.n == 3000
    assert counts.design.categories.names == ("a", "c")
    assert table.counts("b").design == sp.uniform(range(20))
    assert sp.design_from_json(WIDE.to_json()) == WIDE
    assert WIDE.S == 8
    assert WIDE.is_identifiable


def test_a_support_that_is_too_long_is_refused():
    pair = WIDE.select(["a", "b"])
    assert not pair.enumerable
    with pytest.raises(TooLargeError):
        pair.support()
    counts = sp.simulate(pair, np.full(400, 1 / 400), 500, seed=1)
    assert counts.n == 500
    assert len(counts.codes) > 400


# Mixtures --------------------------------------------------------------------------------------------------------


def test_two_waves_of_a_product_add_up():
    other = sp.product({"x": sp.uniform(ABCD), "y": UNIFORM})
    w = rising(16)
    one, two = sp.simulate(BOTH, w, 30_000, seed=1), sp.simulate(other, w, 40_000, seed=2)
    together = one + two
    for method in ("mle", "mom"):
        fit = sp.estimate(together, method)
        assert np.abs((fit.w - w) / fit.se).max() < 4.5


def test_rows_with_one_missing_variable_survive_adding():
    other = sp.product({"x": sp.uniform(ABCD), "y": UNIFORM})
    values = {"x": ["a", "b", None] * 40, "y": ["r", "s", "t"] * 40}
    together = sum(sp.privatize(values, d, missing="full", seed=k).counts() for k, d in enumerate((BOTH, other)))
    assert (together.n, together.n_missing) == (160, 80)
    again = sp.SubsetCounts(together.codes, together.counts, together.design)
    assert (again.n, again.n_missing) == (160, 80)


def test_two_waves_that_draw_full_sets_have_the_averaged_moments():
    one = sp.product({"x": ASKED5, "y": GIVEN3})
    two = sp.product({"x": sp.uniform(list("abcde")), "y": GIVEN3})
    mixed = Mixture.of([one, two], [1, 1])
    w = rising(15)
    assert sp.estimate(exact_shares(mixed, w), "mom").w == pytest.approx(w, abs=1e-9)


# Refusals ----------------------------------------------------------------------------------------------------------


@every_case(
    ("designs", "error", "argument"),
    [
        ({"x": ASKED}, InvalidDesignError, "designs"),
        ([ASKED, UNIFORM], InvalidDesignError, "designs"),
        ({"x": ASKED, "y": "uniform"}, ArgumentError, "design"),
        ({"x": ASKED, 3: UNIFORM}, CategoryError, None),
        ({"x": ASKED, "": UNIFORM}, CategoryError, None),
        ({"x": ASKED, "y": BOTH}, InvalidDesignError, "designs"),
        ({"x": ASKED, "y": sp.covered(UNIFORM, 0.1)}, InvalidDesignError, None),
        ({"x": ASKED, "y": sp.design.coarse(ABCD)}, UnknownDesignError, None),
        ({"s": ASKED, "pair": sp.join({"s": [0, 1], "t": [0, 1]})}, InvalidDesignError, "designs"),
    ],
)
def test_what_is_no_product(designs, error, argument):
    with refused(error, argument):
        sp.product(designs)


def test_a_survey_is_asked_and_resolved_as_a_whole():
    survey = sp.product({"x": sp.uniform(list("abcd")), "g": sp.partition(range(6), 3)})
    questions = sp.ask(survey, seed=1)
    assert list(questions) == ["x", "g"]
    assert str(questions["g"]).startswith("Which of these groups")
    asked = sp.draw_questions(survey, 3000, seed=2)
    assert asked["g"].shape == (3000, 3)
    rng = np.random.default_rng(3)
    x, g = rng.choice(4, 3000, p=[0.1, 0.2, 0.3, 0.4]), rng.integers(0, 6, 3000)
    answers = {
        "x": [bool(q >> v & 1) for q, v in zip(asked["x"], x)],
        "g": [next(k for k, code in enumerate(row) if code >> v & 1) for row, v in zip(asked["g"], g)],
    }
    answers["x"][0] = None
    table = sp.resolve(asked, answers, survey)
    assert table.counts("x").n_missing == 1
    fit = sp.estimate(table["x"])
    assert np.abs((fit.w - [0.1, 0.2, 0.3, 0.4]) / fit.se).max() < 4
    with refused(MismatchError, "answers"):
        sp.resolve(asked, {"x": answers["x"]}, survey)
    with pytest.raises(NotIndependentError):
        sp.ask(sp.product({"x": GIVEN, "y": UNIFORM}))


@every_case(
    "changes",
    [
        {"factors": []},
        {"factors": [{"variables": 1, "kind": "uniform"}]},
        {"factors": [{"variables": 2, "kind": "uniform"}]},
        {"factors": [{"variables": 1, "kind": "uniform"}] * 3},
        {"factors": [{"kind": "uniform"}] * 2},
        {"variables": []},
        {"variables": [{"name": "x"}, {"name": "y"}]},
        {"variables": None, "categories": ["a", "b", "c", "d"]},
    ],
)
def test_documents_without_fingerprint_are_checked(changes):
    document = sp.product({"x": sp.uniform(ABCD), "y": UNIFORM}).document()
    document.pop("fingerprint")
    document |= changes
    if document["variables"] is None:
        document.pop("variables")
    with pytest.raises(DesignDocumentError):
        sp.design_from_json(json.dumps(document))


def test_a_product_document_uses_all_of_its_variables():
    # A factor that takes more than there are, or too few, is no description of these variables.
    three = sp.product({"x": sp.uniform(ABCD), "y": UNIFORM, "z": sp.uniform(range(4))}).document()
    three.pop("fingerprint")
    three["factors"] = three["factors"][:2]
    with pytest.raises(DesignDocumentError):
        sp.design_from_json(json.dumps(three))
