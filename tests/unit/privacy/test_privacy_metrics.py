"""Leakage of designs: against enumeration, against finite differences, with an attacker who is wrong."""

from math import comb, log2

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import lopsided, lopsided_conditional, mixture, with_full_question
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Coarse, Mixture
from subsetprivacy.errors import ArgumentError, DistributionError, TooLargeError, UnknownDesignError
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting, entropy_bits

TENTHS = np.array([0.1, 0.2, 0.3, 0.4])
DESIGNS = {
    "uniform": sp.uniform(list("abcd")),
    "lopsided": lopsided(),
    "conditional": lopsided_conditional(),
    "full question": with_full_question(),
    "mixture": mixture(),
    "nonprivate": sp.nonprivate(list("abcd")),
    "fully private": sp.fully_private(list("abcd")),
}


def brute(design, w, belief):
    """All metrics by their definitions, one subset and one value after the other, in plain Python."""
    total = dict.fromkeys(("size", "mi", "prediction", "posterior", "cross_entropy"), 0.0)
    S = 0.0
    for a, mu in zip(*design.support()):
        inside = [j for j in range(design.p) if int(a) >> j & 1]
        mass = sum(belief[j] for j in inside)
        guess = max(inside, key=lambda j: (belief[j], -j))
        S += mu
        if mass > 0:
            total["posterior"] = max(total["posterior"], belief[guess] / mass)
        for j in inside:
            P = mu * w[j]
            if P > 0:
                total["size"] += P * (1 - mass)
                total["mi"] += P * log2((belief[j] / mass) / belief[j])
                total["prediction"] += P * (j == guess)
                total["cross_entropy"] -= P * log2(belief[j] / mass)
    return total | {"maximal": log2(S)}


@every_case("name", DESIGNS)
@every_case(
    ("w", "prior"),
    [
        (TENTHS, None),
        (np.array([0.0, 0.2, 0.3, 0.5]), None),
        (np.array([0.25, 0.25, 0.25, 0.25]), None),
        (TENTHS, np.array([0.4, 0.3, 0.2, 0.1])),
        (np.array([0.0, 0.0, 0.5, 0.5]), np.array([0.1, 0.2, 0.6, 0.1])),
    ],
    ids=["inside", "a zero", "even", "a wrong prior", "zeros and a prior"],
)
def test_every_metric_is_its_definition(name, w, prior):
    design = DESIGNS[name]
    setting = Setting.of(design, w, prior)
    belief = w if prior is None else prior
    expected = brute(design, w, belief)
    assert metrics.size_leakage(setting) == pytest.approx(expected["size"], abs=1e-12)
    assert metrics.size_coverage(setting) == pytest.approx(1 - expected["size"])
    result = metrics.mi_leakage(setting)
    assert result.value == pytest.approx(expected["mi"], abs=1e-12)
    assert result.simulation_error == 0
    assert metrics.mi_coverage(setting, result.value) == pytest.approx(expected["cross_entropy"], abs=1e-12)
    assert metrics.prediction_leakage(setting) == pytest.approx(expected["prediction"])
    assert metrics.prediction_coverage(setting) == pytest.approx(1 - expected["prediction"])
    assert metrics.prediction_baseline(setting) == w[belief.argmax()]
    assert metrics.maximal_leakage(design) == pytest.approx(expected["maximal"], abs=1e-12)
    assert metrics.largest_posterior(setting) == pytest.approx(expected["posterior"])
    assert metrics.size_nonprivate(setting) == pytest.approx(1 - w @ belief)
    assert metrics.mi_nonprivate(setting) == pytest.approx(entropy_bits(w, belief))


@every_case("p", range(4, 11))
def test_closed_forms_of_the_uniform_design_are_its_enumeration(p):
    rng = np.random.default_rng(p)
    for w in (
        rng.dirichlet(np.ones(p)),
        np.full(p, 1 / p),
        np.eye(p)[1],
        np.repeat([0.0, 2 / p], [p - p // 2, p // 2]),
    ):
        w = w / w.sum()
        closed = Setting.of(sp.uniform(range(p)), w)
        codes, mu = closed.design.support()
        listed = Setting.of(sp.conditional(range(p), dict(zip(codes.tolist(), mu))), w)
        assert metrics.guess_weights(closed) == pytest.approx(metrics.guess_weights(listed))
        assert metrics.prediction_leakage(closed) == pytest.approx(metrics.prediction_leakage(listed))
        assert metrics.largest_posterior(closed) == pytest.approx(metrics.largest_posterior(listed))
        assert np.allclose(closed.design.Q, listed.design.Q, atol=1e-12)
        assert np.isclose(closed.design.S, listed.design.S, atol=1e-12)
        assert metrics.size_leakage(closed) == pytest.approx(metrics.size_leakage(listed))


def test_ties_are_broken_by_order_and_cost_nothing():
    setting = Setting.of(sp.uniform(range(5)), np.full(5, 0.2))
    weights = metrics.guess_weights(setting)
    assert weights[0] > weights[1] > weights[2] > weights[3] > weights[4] == 0
    assert weights.sum() == pytest.approx(setting.design.S)
    assert list(setting.design.best_guess(np.array([0b11000, 0b00110, 0b10001]), np.full(5, 0.2))) == [3, 1, 0]


# Too many subsets to list -------------------------------------------------------------------------


def mi_by_counting(p, heavy):
    """Mutual information of the uniform design when one category has the weight `heavy` and the others share the rest.

    L(a) then depends only on whether the heavy one is in and on how many others are.
    """
    mu = 1 / (2 ** (p - 1) - p - 1)
    bits = 0.0
    for inside in (0, 1):
        for others in range(p):
            if 2 <= inside + others <= p - 2:
                L = heavy * inside + (1 - heavy) * others / (p - 1)
                bits -= comb(p - 1, others) * mu * L * log2(L)
    return bits


@every_case("heavy", [1 / 5, 0.5, 0.9])
def test_counting_is_the_enumeration_where_there_is_one(heavy):
    w = [heavy, *[(1 - heavy) / 4] * 4]
    assert metrics.mi_leakage(Setting.of(sp.uniform(range(5)), w)).value == pytest.approx(mi_by_counting(5, heavy))


@every_case("heavy", [1 / 30, 0.5, 0.9])
def test_simulated_information_is_within_its_error(heavy):
    w = [heavy, *[(1 - heavy) / 29] * 29]
    result = metrics.mi_leakage(Setting.of(sp.uniform(range(30)), w))
    assert 0 < result.simulation_error < 0.005
    assert abs(result.value - mi_by_counting(30, heavy)) < 4 * result.simulation_error
    again = metrics.mi_leakage(Setting.of(sp.uniform(range(30)), w))
    assert again == result  # the same question has the same answer
    assert metrics.mi_leakage(Setting.of(sp.uniform(range(30)), w), seed=1) != result


def test_worst_cases_of_thirty_categories():
    w = np.arange(1, 31) / 465
    setting = Setting.of(sp.uniform(range(30)), w)
    assert metrics.largest_posterior(setting) == pytest.approx(30 / 31)
    # The largest member is the r-th largest of all in 2^(30-r) - 1 sets, but for those too large to be asked about.
    sets = np.array([2.0 ** (30 - r) - 1 for r in range(1, 31)])
    sets[:2] -= [30, 1]
    assert metrics.prediction_leakage(setting) == pytest.approx(sets @ w[::-1] / (2**29 - 31))


def test_a_mixture_too_large_to_list_is_the_average_of_its_parts():
    w = np.arange(1, 25) / 300
    parts = [sp.uniform(range(24)), sp.independent(range(24), {tuple(range(12)): 0.5, tuple(range(0, 24, 2)): 0.5})]
    mixed = Setting.of(Mixture.of(parts, [0.8, 0.2]), w)
    alone = [Setting.of(part, w) for part in parts]
    assert metrics.prediction_leakage(mixed) == pytest.approx(
        0.8 * metrics.prediction_leakage(alone[0]) + 0.2 * metrics.prediction_leakage(alone[1])
    )
    assert metrics.largest_posterior(mixed) == pytest.approx(max(map(metrics.largest_posterior, alone)))
    exact = 0.8 * metrics.mi_leakage(alone[0]).value + 0.2 * metrics.mi_leakage(alone[1]).value
    result = metrics.mi_leakage(mixed)
    error = np.hypot(result.simulation_error, 0.8 * metrics.mi_leakage(alone[0]).simulation_error)
    assert abs(result.value - exact) < 4 * error


def test_information_of_nothing_but_full_sets_is_refused():
    silent = sp.SubsetCounts([15], [5], DESIGNS["full question"])
    with pytest.raises(ArgumentError):
        metrics._simulated_mi(Setting.of(DESIGNS["full question"], TENTHS), silent)


def test_support_of_too_many_is_refused():
    with pytest.raises(TooLargeError):
        Setting.of(sp.uniform(range(30)), np.full(30, 1 / 30)).subset_distribution  # noqa: B018


# Derivatives --------------------------------------------------------------------------------------


@every_case("name", ["uniform", "lopsided", "conditional", "full question", "mixture"])
def test_gradients_are_derivatives(name):
    design, h = DESIGNS[name], 1e-6
    w = np.array([0.15, 0.2, 0.3, 0.35])
    gradients = {
        metrics.size_leakage: metrics.size_gradient,
        metrics.prediction_leakage: metrics.guess_weights,
        lambda s: metrics.mi_leakage(s).value: metrics.mi_gradient,
    }
    for metric, gradient in gradients.items():
        slope = gradient(Setting.of(design, w))
        for i, j in [(0, 1), (1, 2), (3, 0), (2, 3)]:  # along the simplex, where w can move
            step = np.zeros(4)
            step[i], step[j] = h, -h
            change = metric(Setting.of(design, w + step)) - metric(Setting.of(design, w - step))
            assert change / (2 * h) == pytest.approx(slope[i] - slope[j], abs=1e-7)


def test_the_gradient_is_finite_at_a_zero():
    setting = Setting.of(DESIGNS["nonprivate"], [0, 0.2, 0.3, 0.5])
    assert np.isfinite(metrics.mi_gradient(setting)).all()


# Laws ---------------------------------------------------------------------------------------------


@st.composite
def settings_of_designs(draw):
    design = DESIGNS[draw(st.sampled_from(sorted(DESIGNS)))]
    w = np.array(draw(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any)), float)
    return Setting.of(design, w / w.sum())


@given(settings_of_designs())
@settings(max_examples=200, deadline=None)
def test_inequalities_between_metrics(setting):
    leaked, bits = metrics.size_leakage(setting), metrics.mi_leakage(setting).value
    assert -1e-12 <= leaked <= metrics.size_nonprivate(setting) + 1e-12
    assert 0 <= bits <= min(entropy_bits(setting.w), metrics.maximal_leakage(setting.design)) + 1e-12
    guessed = metrics.prediction_leakage(setting)
    assert metrics.prediction_baseline(setting) - 1e-12 <= guessed <= 1 + 1e-12
    # Maximal leakage bounds every guess, whatever is guessed.
    assert guessed <= setting.design.S * metrics.prediction_baseline(setting) + 1e-12
    assert guessed <= metrics.largest_posterior(setting) + 1e-12
    assert metrics.mi_coverage(setting, bits) + bits == pytest.approx(entropy_bits(setting.w), abs=1e-9)


@given(st.lists(st.integers(1, 50), min_size=4, max_size=4), st.lists(st.integers(1, 50), min_size=4, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_wrong_belief_never_guesses_better(truth, belief):
    w, pi = np.array(truth) / sum(truth), np.array(belief) / sum(belief)
    design = DESIGNS["lopsided"]
    knows, errs = Setting.of(design, w), Setting.of(design, w, pi)
    assert metrics.prediction_leakage(errs) <= metrics.prediction_leakage(knows) + 1e-12


@given(st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_leakage_is_linear_in_the_design(share):
    one, two = DESIGNS["uniform"], DESIGNS["lopsided"]
    mixed = Mixture.of([one, two], [share, 1 - share])
    for metric in (metrics.size_leakage, metrics.prediction_leakage, lambda s: metrics.mi_leakage(s).value):
        parts = share * metric(Setting.of(one, TENTHS)) + (1 - share) * metric(Setting.of(two, TENTHS))
        assert metric(Setting.of(mixed, TENTHS)) == pytest.approx(parts)


# What is refused ----------------------------------------------------------------------------------


def test_settings_that_cannot_be():
    with refused(ArgumentError, "design"):
        Setting.of([1, 2], TENTHS)
    with pytest.raises(UnknownDesignError):
        Setting.of(Coarse(sp.Categories(list("abcd"))), TENTHS)
    with refused(DistributionError, "w"):
        Setting.of(DESIGNS["uniform"], [0.1, 0.1, 0.2, 0.2])
    with refused(DistributionError, "prior"):
        Setting.of(DESIGNS["uniform"], TENTHS, [0.5, 0.5])
    with refused(DistributionError, "prior"):
        Setting.of(DESIGNS["uniform"], TENTHS, [0.5, 0, 0.25, 0.25])
