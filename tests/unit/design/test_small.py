"""Designs for two and three categories, and joined variables."""

from itertools import product as combinations

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import ArtificialBit, Covered, FixedSize, Hadamard, Product, Uniform
from subsetprivacy.design.disclosure import revealing_reports
from subsetprivacy.design.small import singles
from subsetprivacy.errors import ArgumentError, CategoryError, InvalidDesignError

TWO, THREE = ["no", "yes"], ["never", "once", "often"]


# small ---------------------------------------------------------------------------------------------------------------


def test_the_safe_routes_are_the_default():
    assert sp.small(TWO) == sp.small(TWO, "warner") == sp.warner(TWO, 0.25)
    assert sp.small(THREE) == sp.small(THREE, "pair") == sp.fixed_size(THREE, 2)
    assert sp.small(TWO, q=0.1).q == 0.1
    for design in (sp.small(TWO), sp.small(THREE)):
        assert design.is_subset_private
        assert design.is_identifiable


@every_case("labels", [TWO, THREE])
@every_case("route", ["bit", "dummies"])
def test_the_papers_routes_must_be_allowed(labels, route):
    with refused(InvalidDesignError, "reveals") as caught:
        sp.small(labels, route)
    assert f"route='{'warner' if len(labels) == 2 else 'pair'}'" in str(caught.value.advice)
    design = sp.small(labels, route, reveals=True)
    assert design.is_identifiable
    assert isinstance(design, ArtificialBit if route == "bit" else Covered)


def test_options_of_the_routes():
    assert sp.small(TWO, "bit", reveals=True).q == 0.5
    assert sp.small(TWO, "bit", q=0.2, reveals=True).q == 0.2
    assert sp.small(TWO, "dummies", floor=0.3, reveals=True).floor == 0.3


def test_two_values_among_dummies_are_the_appendix():
    # {X, 3} or {X, 4} with even chances; of dummies {d, 1} or {d, 2}.
    design = sp.small(TWO, "dummies", floor=0.25, reveals=True).realized(100)
    codes, mu = design.support()
    assert codes.tolist() == [0b0101, 0b0110, 0b1001, 0b1010]
    assert mu.tolist() == [0.5] * 4
    assert (design.people, design.dummies, design.D) == (100, 50, 2)
    assert design.exposed.smallest_set == 1


def test_three_values_among_dummies():
    design = sp.small(THREE, "dummies", reveals=True)
    base = singles(THREE)
    assert design.base == base
    assert base.support()[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert base.support()[1] == pytest.approx([1 / 3] * 6)
    assert pytest.approx(2) == base.S
    assert base.is_independent


@pytest.mark.parametrize("labels", [["one"], ABCD])
def test_only_two_or_three_are_small(labels):
    with pytest.raises(InvalidDesignError):
        sp.small(labels)


def test_routes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidDesignError):
        sp.small(THREE, "warner")
    with pytest.raises(InvalidDesignError):
        sp.small(TWO, "pair")
    with refused(ArgumentError, "route"):
        sp.small(TWO, "coin")


# join ----------------------------------------------------------------------------------------------------------------

SHAPES = [(2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 2, 2), (4, 3), (2, 5)]


def variables(shape):
    return {f"v{k}": [f"{k}{i}" for i in range(size)] for k, size in enumerate(shape)}


@every_case("shape", SHAPES, ids=str)
def test_joined_variables_are_never_revealed(shape):
    design = sp.join(variables(shape))
    assert design.categories.shape == shape
    assert design.is_identifiable
    # By hand: of every report, and for every variable, two values are left.
    codes = design.support()[0]
    at = np.array(list(combinations(*map(range, shape))))
    held = (codes[:, None] >> np.arange(design.p)) & 1 == 1
    for k in range(len(shape)):
        left = np.array([[held[:, at[:, k] == value].any(axis=1)] for value in range(shape[k])]).sum(axis=0)
        assert left.min() >= 2
    assert not any(rows.any() for rows in revealing_reports(design).values())
    np.testing.assert_allclose(design.support_incidence.spread(design.support()[1]), 1, atol=1e-12)


def test_two_binary_variables_rule_one_combination_out():
    design = sp.join(variables((2, 2)))
    assert isinstance(design, FixedSize)
    assert design.k == 3
    # The only question that leaves both values of both whatever the answer is "are the two equal?".
    assert not design.is_independent


@every_case("shape", [(2, 3), (3, 3), (2, 2, 2)], ids=str)
def test_larger_ones_can_be_asked(shape):
    design = sp.join(variables(shape))
    assert design.is_independent
    assert len(set(design.nu.tolist())) == 1
    # No admissible question is left out.
    at = np.array(list(combinations(*map(range, shape))))

    def hides(code):
        members = [row for j, row in enumerate(at) if code >> j & 1]
        return all(len({row[k] for row in members}) > 1 for k in range(len(shape)))

    full = (1 << design.p) - 1
    questions = {min(a, full - a) for a in range(1, full) if hides(a) and hides(full - a)}
    assert {min(a, full - a) for a in design.questions.tolist()} == questions


def test_two_binary_variables_as_in_the_paper():
    design = sp.join(variables((2, 2)), reveals=True)
    assert isinstance(design, Uniform)  # which reveals each in a third, as the tests of disclosure say


def test_by_twos_with_one_left_over():
    five = sp.join(variables((2, 2, 3, 2, 2)), together=2)
    assert isinstance(five, Product)
    assert [type(factor) for factor in five.factors][::2] == [FixedSize, ArtificialBit]
    assert five.categories.names == ("v0", "v1", "v2", "v3", "v4")
    assert list(five.named()) == [("v0", "v1"), ("v2", "v3"), ("v4",)]
    assert five.factors[2] == sp.warner(["40", "41"])
    assert five.is_identifiable
    left = sp.join(variables((2, 2, 3)), together=2)
    assert left.factors[1] == sp.fixed_size(["20", "21", "22"], 2)
    large = sp.join(variables((2, 2, 6)), together=2)
    assert large.factors[1] == sp.uniform([f"2{i}" for i in range(6)])
    paper = sp.join(variables((2, 2, 2)), together=2, reveals=True)
    assert isinstance(paper.factors[0], Uniform)
    assert paper.factors[1] == sp.small(["20", "21"], "bit", reveals=True)


def test_three_at_a_time():
    design = sp.join(variables((2, 2, 2, 2, 2, 2)), together=3)
    assert list(design.named()) == [("v0", "v1", "v2"), ("v3", "v4", "v5")]
    assert sp.join(variables((2, 2)), together=2) == sp.join(variables((2, 2)))
    assert sp.join(variables((2, 2)), together=5) == sp.join(variables((2, 2)))


def test_a_single_variable_keeps_its_small_design():
    assert sp.join({"sex": ["f", "m"]}) == sp.warner(["f", "m"])
    assert sp.join({"view": THREE}) == sp.fixed_size(THREE, 2)
    assert sp.join({"sex": ["f", "m"]}, reveals=True) == sp.small(["f", "m"], "bit", reveals=True)
    assert sp.join({"x": ABCD}) == sp.uniform(ABCD)


def test_other_designs_of_the_combinations():
    with refused(InvalidDesignError, "reveals"):
        sp.join(variables((2, 2)), design=sp.uniform)
    assert sp.join(variables((2, 2)), design=sp.uniform, reveals=True) == sp.join(variables((2, 2)), reveals=True)
    wide = sp.join(variables((8, 9)), design=sp.hadamard)
    assert isinstance(wide, Hadamard)
    assert wide.p == 72
    assert wide.categories.names == ("v0", "v1")


@every_case("shape", [(8, 8), (2,) * 5, (5, 5), (3, 3, 3)])
def test_many_combinations_are_asked_by_hadamard_questions(shape):
    design = sp.join(variables(shape))
    assert design.kind == "hadamard"
    assert not any(rows.any() for rows in revealing_reports(design).values())
    assert sp.join(variables(shape), reveals=True).p == np.prod(shape)


def test_what_cannot_be_joined():
    with pytest.raises(InvalidDesignError):
        sp.join({"s": ["f"], "t": list("abcd")})
    with refused(ArgumentError, "design"):
        sp.join({"s": [0, 1], "t": [0, 1]}, design=lambda joint: 3)
    with pytest.raises(InvalidDesignError):
        sp.join({"s": [0, 1], "t": [0, 1]}, design=lambda joint: sp.uniform(list("abcd")))


def test_arguments_belong_to_their_route():
    with refused(InvalidDesignError, "q"):
        sp.small(list("abc"), q=0.9)
    with refused(InvalidDesignError, "floor"):
        sp.small(["n", "y"], floor=0.1)


def test_a_bit_that_gives_the_answer_away_needs_a_word():
    with pytest.raises(InvalidDesignError):
        sp.small(["n", "y"], q=0.01)
    with pytest.raises(InvalidDesignError):
        sp.warner(["n", "y"], q=0.99)
    assert sp.warner(["n", "y"], q=0.0477).epsilon < np.log(20.0)
    assert sp.design_from_json(sp.warner(["n", "y"], q=0.01, reveals=True).to_json()).q == 0.01


@every_case("together", [1, 0, 2.0, True, "2"])
def test_how_many_together_is_checked(together):
    with refused(ArgumentError, "together"):
        sp.join(variables((2, 2)), together=together)


@every_case("wrong", [{}, [("sex", ["f", "m"])], {"sex": "fm"}, {1: ["f", "m"]}, {"sex": []}])
def test_variables_are_checked(wrong):
    with pytest.raises(CategoryError):
        sp.join(wrong)
