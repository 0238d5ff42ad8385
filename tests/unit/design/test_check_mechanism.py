import numpy as np
from every_case import every_case
from lopsided import ABCD, ASKED, DESIGNS, GIVEN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, InvalidDesignError


def channel(design):
    codes, mu = design.support()
    return np.array([[m * (a >> j & 1) for a, m in zip(codes.tolist(), mu)] for j in range(design.p)]), codes


PRIVATE = {name: design for name, design in DESIGNS.items() if design.is_subset_private}


@every_case("name", PRIVATE)
def test_every_subset_private_design_passes(name):
    design = PRIVATE[name]
    P, codes = channel(design)
    verdict = sp.check_mechanism(P, subsets=codes, categories=design.categories)
    assert verdict
    assert verdict.problems == ()
    assert verdict.design.support()[0].tolist() == codes.tolist()
    np.testing.assert_allclose(verdict.design.support()[1], design.support()[1], atol=1e-15)


def test_columns_may_come_in_any_order_and_as_labels():
    P, codes = channel(GIVEN)
    order = np.random.default_rng(1).permutation(len(codes))
    subsets = [GIVEN.categories.members(a) for a in codes[order]]
    verdict = sp.check_mechanism(P[:, order], subsets, ABCD)
    assert verdict.design == GIVEN


def test_without_subsets_column_k_is_the_subset_k():
    P, codes = channel(ASKED)
    every = np.zeros((4, 16))
    every[:, codes] = P
    verdict = sp.check_mechanism(every)
    assert verdict.ok
    assert verdict.design.categories.labels == (0, 1, 2, 3)


def test_a_mapping_of_laws():
    laws = {
        label: {GIVEN.categories.members(a): m for a, m in zip(*map(np.ndarray.tolist, GIVEN.support())) if a >> j & 1}
        for j, label in enumerate(ABCD)
    }
    assert sp.check_mechanism(laws).design == GIVEN
    # The order of the categories may be given; it is that of the design.
    assert sp.check_mechanism(laws, categories=["d", "c", "b", "a"]).design.categories.labels == ("d", "c", "b", "a")


PAIRS = [("a", "b"), ("b", "c"), ("a", "c"), ("a", "b", "c")]


@every_case(
    ("P", "problem"),
    [
        (
            [[0.5, 0.0, 0.5, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0.4, 0]],
            "not a distribution: the probabilities given c sum to 0.9",
        ),
        (
            [[0.5, 0.0, 0.5, 0], [0.5, 0.6, 0, -0.1], [0, 0.5, 0.5, 0]],
            "not a distribution: some probability is negative or not fi",
        ),
        (
            [[0.5, 0.0, 0.5, 0], [0.5, np.nan, 0, 0], [0, 0.5, 0.5, 0]],
            "not a distribution: some probability is negative or not fi",
        ),
        ([[0.5, 0.5, 0.0, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0]], r"false: a is reported as b|c, which does not con"),
        (
            [[0.8, 0.0, 0.2, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0.2, 0.3]],
            "informative: a|b is reported with probability 0.5 for b but 0.8 for a; they must be equal",
        ),
    ],
)
def test_each_broken_condition_is_named(P, problem):
    verdict = sp.check_mechanism(P, subsets=PAIRS, categories=["a", "b", "c"])
    assert not verdict
    assert verdict.design is None
    assert any(line.startswith(problem) for line in verdict.problems)


def test_revealing_subsets_are_too_small():
    verdict = sp.check_mechanism({"a": {("a",): 1}, "b": {("b", "c"): 1}, "c": {("b", "c"): 1}})
    assert verdict.problems == ("too small: a is reported and hides nothing",)


def test_the_empty_set_is_too_small_and_untrue():
    verdict = sp.check_mechanism([[1.0], [1.0]], subsets=[()])
    assert verdict.problems[0] == "too small: the empty set is reported and hides nothing"
    assert "false: 0 is reported as the empty set, which does not contain it" in verdict.problems


def test_randomized_response_is_no_subset_mechanism():
    # It lies with some probability: that is what the definition excludes.
    verdict = sp.check_mechanism([[0.7, 0.3], [0.3, 0.7]], subsets=[(0,), (1,)])
    assert {line.partition(":")[0] for line in verdict.problems} == {"too small", "false"}


def test_what_is_too_rare_to_be_checked_is_no_part_of_the_design():
    dust = 1e-10
    verdict = sp.check_mechanism([[dust, 1 - dust], [0, 1]], subsets=[(0,), (0, 1)])
    assert verdict.ok
    assert verdict.design.is_subset_private


@every_case(
    ("arguments", "error", "argument"),
    [
        (([1.0, 0.0],), ArgumentError, "P"),
        (([["x", "y"]],), ArgumentError, "P"),
        (([[0.5, 0.5], [1.0]],), ArgumentError, "P"),
        (([[1.0], [1.0]],), ArgumentError, "subsets"),
        (([[1.0], [1.0]], [3], ABCD), ArgumentError, "P"),
        (([[1.0], [1.0]], [1, 3]), ArgumentError, "subsets"),
        (([[0.5, 0.5]] * 2, [3, (0, 1)]), ArgumentError, "subsets"),
        (([[1.0], [1.0]], [99]), InvalidDesignError, None),
        (([[1.0], [1.0]], [-1]), InvalidDesignError, None),
        (([[1.0], [1.0]], [(0, 7)]), InvalidDesignError, "label"),
        (([[1.0], [1.0]], [3], "ab"), CategoryError, "categories"),
        ((np.ones((49, 1)), [range(49)]), InvalidDesignError, None),
        (({"a": {("a", "b"): 1}},), InvalidDesignError, None),
        (({"a": {("a", "b"): 1}}, None, ["a", "b"]), ArgumentError, "P"),
        (({"a": {("a", "b"): 1}, "b": [1.0]},), ArgumentError, "P"),
        (({"a": {("a", "b"): 0.5, ("b", "a"): 0.5}, "b": {("a", "b"): 1}},), ArgumentError, "P"),
        (({"a": {("a", "b"): "x"}, "b": {("a", "b"): 1}},), ArgumentError, "P"),
    ],
)
def test_what_is_no_channel_is_refused(arguments, error, argument):
    with refused(error, argument):
        sp.check_mechanism(*arguments)
