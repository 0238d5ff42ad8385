"""The program's numbers are those of the designs it stands for."""

import numpy as np
import pytest
from every_case import every_case

from subsetprivacy.design import conditional, independent
from subsetprivacy.estimation.likelihood import expected_information, tangent_inverse
from subsetprivacy.optimizing.criterion import curvature, expand, gap
from subsetprivacy.optimizing.feasible import inside, least, most, multipliers
from subsetprivacy.optimizing.program import METRICS, as_leakage, program
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.subsets import Categories

LABELS = list("abcde")
W = np.array([[0.45, 0.25, 0.15, 0.1, 0.05], [0.05, 0.05, 0.2, 0.3, 0.4]])


def lopsided_weights(columns, seed):
    """Feasible weights far from even: a random start, moved to the equalities."""
    rng = np.random.default_rng(seed)
    x = rng.random(len(columns.codes)) ** 3 + 0.01
    back = np.linalg.pinv(columns.A)
    for _ in range(300):  # alternate between the equalities and positivity
        x = np.maximum(x + back @ (1 - columns.A @ x), 1e-4)
    assert np.abs(columns.A @ x - 1).max() < 1e-9
    return x


def design_of(columns, x):
    make = independent if columns.kind == "independent" else conditional
    return make(LABELS, dict(zip(columns.codes.tolist(), x)))


@every_case("full_set", [False, True])
@every_case(("kind", "count"), [("independent", 10), ("conditional", 25)])
def test_leakages_and_information_are_the_designs_own(kind, count, full_set):
    columns = program(Categories(LABELS), W, kind, 2, full_set)
    assert len(columns.codes) == count + full_set
    x = lopsided_weights(columns, 4)
    design = design_of(columns, x)
    at = expand(columns, "A", x)
    for k, w in enumerate(W):
        setting = Setting.of(design, w)
        told = {
            "size": metrics.size_leakage(setting),
            "mi": metrics.mi_leakage(setting).value,
            "prediction": metrics.prediction_leakage(setting),
            "maximal": metrics.maximal_leakage(design),
        }
        for metric in METRICS:
            rows = columns.leaks[metric]
            assert as_leakage(metric, rows[min(k, len(rows) - 1)] @ x) == pytest.approx(told[metric], abs=1e-8)
        # The estimators' information is per informative answer; here a person who was asked nothing counts.
        covariance = tangent_inverse(expected_information(design, w)) / (1 - design.mu_full)
        assert at.f[k] == pytest.approx(np.trace(covariance), rel=1e-7)


@pytest.mark.parametrize("kind", ["independent", "conditional"])
def test_smallest_sets_are_on_both_sides(kind):
    columns = program(Categories(range(7)), np.full((1, 7), 1 / 7), kind, 3, False)
    sizes = np.bitwise_count(columns.codes)
    if kind == "independent":
        assert set(sizes.tolist()) == {3}  # and the other answer has four
        assert len(columns.codes) == 35
    else:
        assert set(sizes.tolist()) == {3, 4, 5, 6}


def test_a_question_of_two_equal_sides_is_asked_once():
    columns = program(Categories(range(6)), np.full((1, 6), 1 / 6), "independent", 3, False)
    assert len(columns.codes) == 10
    assert len({min(code, 63 - code) for code in columns.codes.tolist()}) == 10


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_slopes_and_curvature_are_derivatives(criterion):
    columns = program(Categories(LABELS), W, "conditional", 2, False)
    x, rng = lopsided_weights(columns, 5), np.random.default_rng(6)
    direction = rng.normal(size=len(x))
    at, step = expand(columns, criterion, x), 1e-5
    ahead, behind = (expand(columns, criterion, x + sign * step * direction) for sign in (1, -1))
    np.testing.assert_allclose(at.slopes @ direction, (ahead.f - behind.f) / (2 * step), rtol=1e-5)
    shares = np.array([0.3, 0.7])
    rows = curvature(columns, criterion, at, shares)
    assert rows.shape == (2 * 10, len(x))
    difference = shares @ (ahead.slopes - behind.slopes) / (2 * step)
    np.testing.assert_allclose(rows.T @ (rows @ direction), difference, rtol=1e-4, atol=1e-4 * np.abs(difference).max())


def test_no_information_in_some_direction_is_no_number():
    columns = program(Categories(LABELS), W, "independent", 2, False)
    x = np.zeros(len(columns.codes))
    x[:2] = 0.5
    assert expand(columns, "A", x) is None


def test_budgets_are_the_same_after_scaling():
    columns = program(Categories(LABELS), W, "conditional", 2, False)
    limited = columns.limited({"mi": 0.7, "maximal": 1.0})
    assert limited.limits == ("mi", "mi", "maximal")
    assert np.abs(limited.G).max(axis=1) == pytest.approx([1, 1, 1])
    for seed in range(5):
        x = lopsided_weights(columns, seed)
        kept = limited.G @ x <= limited.h
        assert kept.tolist() == [*(columns.leaks["mi"] @ x <= 0.7), (columns.leaks["maximal"][0] @ x <= 2.0)]


def test_a_leakage_that_is_the_same_for_all_designs_is_no_budget():
    columns = program(Categories(LABELS), W, "independent", 2, False)
    assert columns.limited({"maximal": 1.0}).limits == ()
    assert columns.limited({"maximal": 0.9}).limits == ("maximal",)  # but cannot be met
    assert inside(columns.limited({"maximal": 0.9})) is None


@pytest.mark.parametrize("kind", ["independent", "conditional"])
def test_start_is_strictly_inside(kind):
    columns = program(Categories(LABELS), W, kind, 2, False)
    lowest = max(least(columns, "mi").value, 0)
    limited = columns.limited({"mi": lowest + 0.01, "prediction": 0.9})
    x = inside(limited)
    assert x.min() > 0
    assert np.abs(limited.A @ x - 1).max() < 1e-9
    assert (limited.G @ x < limited.h).all()
    assert inside(columns.limited({"mi": lowest - 1e-6})) is None


def test_least_and_most_bracket_random_designs():
    columns = program(Categories(LABELS), W, "conditional", 2, False)
    for metric in METRICS:
        low, high = least(columns, metric).value, most(columns, metric)
        values = [(columns.leaks[metric] @ lopsided_weights(columns, seed)).max() for seed in range(10)]
        assert low < min(values)
        assert max(values) < high
    # Size p/|a| is S: all pairs at most, all sets of p-1 at least.
    assert most(columns, "maximal") == pytest.approx(5 / 2)
    assert least(columns, "maximal").value == pytest.approx(5 / 4)


def test_gap_is_a_bound_whatever_the_multipliers():
    columns = program(Categories(LABELS), W, "conditional", 2, False).limited({"mi": 1.1})
    x, rng = lopsided_weights(columns, 1), np.random.default_rng(2)
    assert (columns.G @ x < columns.h).all()
    at, shares = expand(columns, "A", x), np.array([0.5, 0.5])
    best = gap(columns, at, x, shares, *multipliers(columns, shares @ at.slopes))
    # The first order lower bound at the best vertex, by the linear program itself.
    assert best > 0
    for _ in range(20):
        y, lam = rng.normal(size=5), rng.exponential(size=2)
        assert gap(columns, at, x, shares, y, lam) >= best - 1e-9
