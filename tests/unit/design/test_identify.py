import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from lopsided import ABCD, ABCDE, ASKED, GIVEN, GIVEN3

import subsetprivacy as sp
from subsetprivacy.design import identify
from subsetprivacy.incidence import DenseRows
from subsetprivacy.subsets import bits

TWO_BLOCKS = sp.conditional(ABCD, {("a", "b"): 1.0, ("c", "d"): 1.0})
# Pairs across two sides: only the difference of the sides is seen.
ACROSS = sp.conditional(ABCD, {("a", "c"): 0.5, ("a", "d"): 0.5, ("b", "c"): 0.5, ("b", "d"): 0.5})
# Pairs around a ring: blind if it is even, and not if it is odd.
RING5 = sp.conditional(range(5), {(j, (j + 1) % 5): 0.5 for j in range(5)})
RING6 = sp.conditional(range(6), {(j, (j + 1) % 6): 0.5 for j in range(6)})
# Blind along (2, -1, -1, 1, -1), by construction.
UNEVEN = sp.conditional(
    ABCDE,
    {
        ("a", "b", "c"): 0.2,
        ("a", "b", "e"): 0.3,
        ("a", "c", "e"): 0.5,
        ("b", "d"): 0.5,
        ("c", "d"): 0.3,
        ("d", "e"): 0.2,
    },
)


def up_to_sign(direction):
    first = next(iter(direction.values()))
    return {label: u * (1 if first > 0 else -1) for label, u in direction.items()}


@every_case(
    ("design", "direction"),
    [
        (TWO_BLOCKS, {"a": 1, "b": -1}),
        (ACROSS, {"a": 1, "b": 1, "c": -1, "d": -1}),
        (RING6, {0: 1, 1: -1, 2: 1, 3: -1, 4: 1, 5: -1}),
        (UNEVEN, {"a": 2, "b": -1, "c": -1, "d": 1, "e": -1}),
        # All pairs but those that join d to b and c: then b and c enter alike.
        (sp.independent(ABCD, {("a", "b"): 0.4, ("a", "c"): 0.6}), {"a": 1, "b": -1, "c": -1, "d": 1}),
    ],
)
def test_what_a_design_cannot_see(design, direction):
    assert not design.is_identifiable
    assert up_to_sign(design.null_direction()) == direction
    assert all(type(u) is int for u in design.null_direction().values())


@every_case("design", [ASKED, GIVEN, GIVEN3, RING5, sp.nonprivate(ABCD), sp.uniform(ABCD)])
def test_identifiable_designs(design):
    assert design.is_identifiable
    assert design.null_direction() is None
    assert design.require_identifiable() is design


def test_the_fully_private_design_sees_nothing():
    u = sp.fully_private(ABCD).null_direction()
    assert sum(u.values()) == 0


def test_identifiability_is_exact_for_tiny_weights():
    # In floating point Q is singular to working precision; in integers the rows decide.
    t = 1e-12
    tiny = sp.independent(ABCD, {("a", "b"): 1 - 2 * t, ("a", "c"): t, ("a", "d"): t})
    assert np.linalg.cond(tiny.Q) > 1e11
    assert tiny.is_identifiable
    blind = sp.independent(ABCD, {("a", "b"): 1 - t, ("a", "c"): t})
    assert not blind.is_identifiable


@given(st.integers(3, 8), st.data())
@settings(deadline=None, max_examples=100)
def test_exact_elimination_agrees_with_the_rank(p, data):
    codes = np.array(data.draw(st.lists(st.integers(1, (1 << p) - 1), min_size=1, max_size=10, unique=True)))
    M = bits(codes, p)
    for u in (identify.null_direction(DenseRows(M)), identify._integer_kernel((M.T @ M).astype(int).tolist())):
        assert (u is None) == (np.linalg.matrix_rank(M) == p)
        if u is not None:
            assert u.any()
            assert not (M @ u).any()
            assert np.gcd.reduce(u) == 1


def test_nearly_singular_whole_numbers_are_told_from_singular_ones():
    big = 10**9
    assert identify._integer_kernel([[big, big - 1], [big + 1, big]]) is None  # determinant 1, condition 4·10^18
    assert identify._integer_kernel([[big, big + 1], [big * 2, big * 2 + 2]]).tolist() == [-big - 1, big]


@pytest.mark.parametrize("seed", range(3))
def test_directions_of_48_categories_fit_and_are_exact(seed):
    questions = np.random.default_rng(seed).integers(1 << 20, 1 << 47, 46)
    design = sp.independent(range(48), {int(a): 1 / 46 for a in questions})
    u = design.null_direction()
    for a in design.support()[0].tolist():
        assert sum(u.get(j, 0) for j in range(48) if a >> j & 1) == 0
