"""Whether a sample has one maximum: the warning against an independent linear program, and cases by hand."""

import warnings

import numpy as np
import pytest
from every_case import every_case
from scipy.optimize import linprog

import subsetprivacy as sp
from subsetprivacy.design import Coarse
from subsetprivacy.errors import NotUniqueWarning
from subsetprivacy.estimation.newton import newton
from subsetprivacy.incidence import DenseRows
from subsetprivacy.subsets import bits


def is_doubted(counts, method="mle"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sp.estimate(counts, method)
    return NotUniqueWarning in {warning.category for warning in caught}


def several_maxima(counts, rng):
    """Whether the maxima have a width: all have the same sizes L(a), so the ends of a direction are linear programs."""
    rows, p = bits(counts.observed_codes, counts.categories.p).astype(float), counts.categories.p
    w = newton(DenseRows(rows), counts.shares, tol=1e-14).w
    equal, direction = np.vstack([rows, np.ones(p)]), rng.normal(size=p)
    ends = [linprog(sign * direction, A_eq=equal, b_eq=equal @ w, bounds=(0, 1)) for sign in (1, -1)]
    return (ends[1].x - ends[0].x) @ direction > 1e-4


def small_sample(rng):
    """A few people in a few subsets: so few that scores often tie, and categories without weight are common."""
    p = int(rng.integers(3, 9))
    design = sp.uniform(range(p)) if p > 3 else None
    codes = np.arange(1, (1 << p) - 1) if design is None else design.support()[0]
    seen = rng.choice(codes, int(rng.integers(2, min(p + 3, len(codes)))), replace=False)
    people = rng.integers(1, 4, len(seen))
    if design is None or rng.random() < 0.3:
        design = Coarse(sp.Categories(range(p)))
    return sp.SubsetCounts(np.sort(seen), people, design)


def compare(size, seed):
    """Return how many samples have several maxima, how many of them were missed, and how many doubts were false."""
    rng = np.random.default_rng(seed)
    several = missed = false = 0
    for _ in range(size):
        counts = small_sample(rng)
        right, said = several_maxima(counts, rng), is_doubted(counts)
        several, missed, false = several + right, missed + (right and not said), false + (said and not right)
    return several, missed, false


# One maximum each, although the rows do not span the space: the weight that could be traded is zero at the maximum.
UNIQUE = {
    # c and f lie in the same subsets and could trade, but at the only maximum neither has any weight.
    "a tie at zero": sp.SubsetCounts([10, 38, 44], [3, 2, 1], sp.uniform(list("abcdef"))),
    # b lies in no subset that a does not lie in: all its weight goes to a. EM leaves b a trace, and must not be misled.
    "a category below another": sp.count([{"a", "b"}] * 6 + [{"a", "c"}] * 5 + [{"c"}] * 3, categories=list("abc")),
    "two below": sp.count([{"a", "b", "d"}] * 6 + [{"a", "c"}] * 5 + [{"a"}] * 3, categories=list("abcd")),
}


@every_case("name", UNIQUE)
@every_case("method", ["mle", "em", "icm", "conic"])
def test_a_category_at_zero_cannot_give_weight(name, method):
    sp.estimate(UNIQUE[name], method)  # no warning, or this test fails


def test_a_category_at_zero_can_take_weight():
    # All weight may lie on b, as all subsets hold it; but c lies in the same ones, and is as good.
    counts = sp.SubsetCounts([0b0110, 0b0111, 0b1110], [2, 2, 2], Coarse(sp.Categories(list("abcd"))))
    with pytest.warns(NotUniqueWarning, match=r"moving weight from \{[bc]\} to \{[bc]\} changes"):
        sp.estimate(counts)


def test_the_warning_is_right_for_random_small_samples():
    several, missed, false = compare(150, seed=1)
    assert 15 < several < 135
    assert (missed, false) == (0, 0)


@pytest.mark.slow
def test_the_warning_is_right_for_1145_random_small_samples():
    several, missed, false = compare(1145, seed=2)
    assert 150 < several < 995
    assert (missed, false) == (0, 0)


def test_other_iterations_say_the_same():
    rng = np.random.default_rng(3)
    for _ in range(25):
        counts = small_sample(rng)
        assert {is_doubted(counts, method) for method in ("em", "icm", "conic")} == {is_doubted(counts)}
