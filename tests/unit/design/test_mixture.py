import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ABCDE, ASKED, BIT, GIVEN, GROUPS, LISTED, RECORDED, SEVEN, UNKNOWN, WARNER

import subsetprivacy as sp
from subsetprivacy.design import Mixture
from subsetprivacy.errors import (
    InvalidDesignError,
    MismatchError,
    NotIndependentError,
    TooLargeError,
    UnknownDesignError,
)

UNIFORM = sp.uniform(ABCD)
MIXED = Mixture.of([ASKED, GIVEN], [1, 3])


def test_everything_is_averaged():
    codes, mu = MIXED.support()
    assert codes.tolist() == sorted(set(ASKED.support()[0].tolist()) | set(GIVEN.support()[0].tolist()))
    np.testing.assert_allclose(mu, 0.25 * ASKED.mu(codes) + 0.75 * GIVEN.mu(codes), atol=1e-15)
    np.testing.assert_allclose(MIXED.Q, 0.25 * ASKED.Q + 0.75 * GIVEN.Q, atol=1e-15)
    assert pytest.approx(mu.sum()) == MIXED.S
    assert dict(zip(MIXED.components, MIXED.shares)) == {ASKED: 0.25, GIVEN: 0.75}
    assert MIXED.smallest_set == 2
    assert Mixture.of([ASKED, sp.nonprivate(ABCD)], [1, 1]).smallest_set == 1


def test_the_same_design_is_no_mixture():
    assert Mixture.of([ASKED, ASKED], [1, 2]) is ASKED
    assert Mixture.of([ASKED], [5]) is ASKED


def test_mixtures_are_flattened_and_merged():
    again = Mixture.of([MIXED, GIVEN, UNIFORM], [4, 1, 5])
    assert dict(zip(again.components, again.shares)) == pytest.approx({ASKED: 0.1, GIVEN: 0.4, UNIFORM: 0.5})
    # Whichever comes first: a + b and b + a are the same.
    assert Mixture.of([UNIFORM, GIVEN, MIXED], [5, 1, 4]) == again
    assert Mixture.of([MIXED, MIXED], [1, 1]) == MIXED


def test_a_design_that_nobody_answered_is_left_out():
    # Otherwise its identifiability would pass for that of the data.
    blind = sp.conditional(ABCD, {("a", "b"): 1.0, ("c", "d"): 1.0})
    assert Mixture.of([UNIFORM, blind], [0, 10]) is blind


def test_blind_designs_can_see_together():
    one = sp.conditional(ABCD, {("a", "b"): 1.0, ("c", "d"): 1.0})
    two = sp.conditional(ABCD, {("a", "c"): 1.0, ("b", "d"): 1.0})
    three = sp.conditional(ABCD, {("a", "d"): 1.0, ("b", "c"): 1.0})
    assert not Mixture.of([one, two], [1, 1]).is_identifiable
    assert Mixture.of([one, two, three], [1, 1, 1]).is_identifiable


def test_with_an_unknown_part_the_whole_is_unknown():
    assert Mixture.of([UNIFORM, UNKNOWN], [9, 1]) == UNKNOWN
    assert Mixture.of([UNIFORM, UNKNOWN], [9, 0]) == UNIFORM


@every_case("shares", [[-1, 2], [float("nan"), 1], [float("inf"), 1], [0, 0]])
def test_shares_are_checked(shares):
    with pytest.raises(InvalidDesignError):
        Mixture.of([ASKED, GIVEN], shares)


def test_categories_must_be_the_same_in_the_same_order():
    for other in (sp.uniform(ABCDE), sp.uniform(["b", "a", "c", "d"])):
        with pytest.raises(MismatchError):
            Mixture.of([ASKED, other], [1, 1])


# Codes of these designs mean something else than those of their partners.
OTHER_CODES = {
    "lists of partitions": (RECORDED, sp.partition(SEVEN, partitions=LISTED[::-1], record=True)),
    "a record and none": (RECORDED, GROUPS),
    "Hadamard matrices": (sp.hadamard(60, 63), sp.hadamard(60, 127)),
    "bits": (WARNER, sp.warner(["no", "yes"], 0.25)),
    "questions about a bit": (WARNER, BIT),
    "widths of products": (
        sp.product({"x": sp.partition(SEVEN, 3), "y": UNIFORM}),
        sp.product({"x": RECORDED, "y": UNIFORM}),
    ),
}


@every_case("name", OTHER_CODES)
def test_counts_whose_codes_mean_something_else_cannot_be_added(name):
    one, two = (sp.simulate(design, np.full(design.p, 1 / design.p), 500, seed=1) for design in OTHER_CODES[name])
    with pytest.raises(MismatchError):
        one + two
    assert (one + one).design == one.design
    assert (one + one).counts.sum() == 1000


def test_a_mixture_of_questions_can_be_asked():
    both = Mixture.of([ASKED, UNIFORM], [1, 1])
    assert both.is_independent
    assert both.as_independent() is both
    assert not MIXED.is_independent
    with pytest.raises(NotIndependentError):
        MIXED.as_independent()
    with pytest.raises(NotIndependentError):
        sp.ask(MIXED)


def test_a_mixture_with_a_large_design_cannot_be_listed():
    large = sp.uniform(range(30))
    other = sp.independent(range(30), {(0, 1): 1.0})
    mixed = Mixture.of([large, other], [1, 1])
    assert not mixed.enumerable
    with pytest.raises(TooLargeError):
        mixed.support()
    assert mixed.is_identifiable
    assert mixed.S == 2
    one = large.mu(np.array([3]))[0]  # all subsets of a uniform design weigh the same
    assert mixed.mu(np.array([3, 5])).tolist() == pytest.approx([0.5 + one / 2, one / 2])


# Coarse: no design is known -----------------------------------------------------------------------


@every_case(
    "question",
    [
        lambda design: design.support(),
        lambda design: design.mu(np.array([3])),
        lambda design: design.Q,
        lambda design: design.S,
        lambda design: design.smallest_set,
        lambda design: design.is_subset_private,
        lambda design: design.is_identifiable,
    ],
)
def test_an_unknown_design_refuses_what_needs_one(question):
    with pytest.raises(UnknownDesignError):
        question(UNKNOWN)


def test_an_unknown_design_allows_every_subset():
    assert UNKNOWN.allows(np.array([-1, 0, 1, 7, 15, 16])).tolist() == [False, False, True, True, True, False]
    assert UNKNOWN.mu_full == 0
    assert not UNKNOWN.enumerable


def test_a_part_that_never_says_anything_leaves_the_moments_to_the_others():
    asked = sp.uniform(list("abcd"))
    pooled = Mixture.of([asked, sp.fully_private(list("abcd"))], [0.5, 0.5])
    assert pooled.informative_Q == pytest.approx(asked.Q)
    counts = sp.simulate(pooled, [0.1, 0.2, 0.3, 0.4], 4000, seed=1)
    alone = sp.SubsetCounts(counts.codes, counts.counts, asked)
    assert sp.estimate(counts, "mom").w == pytest.approx(sp.estimate(alone, "mom").w)
