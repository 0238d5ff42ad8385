"""Over all draws of the subsets, corrected equations average to those on the values; derivatives by differences."""

from itertools import product

import numpy as np
import predictor_people as made
import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy.estimation.indicator import IndicatorTable
from subsetprivacy.predictors.atoms import Atoms
from subsetprivacy.predictors.comparison import block_moments
from subsetprivacy.predictors.corrected import CorrectedObjective
from subsetprivacy.predictors.families import Binomial, Multinomial, Normal, Poisson
from subsetprivacy.predictors.indicators import Indicators, working_indicators
from subsetprivacy.predictors.layout import ModelLayout, ModelTerm, arrange
from subsetprivacy.predictors.mixture import MixtureObjective
from subsetprivacy.predictors.outcome import _joined
from subsetprivacy.predictors.people import CellPeople
from subsetprivacy.regression.specification import Support
from subsetprivacy.subsets import Categories

FAMILIES = {"linear": Normal(), "logit": Binomial(), "poisson": Poisson()}


def draws(design, x):
    """Yield all codes that values can get, with their probability."""
    codes, mu = design.support()
    each = [[(c, m) for c, m in zip(codes, mu) if design.contains(np.array([c]), j)[0]] for j in x]
    for chosen in product(*each):
        yield np.array([c for c, _ in chosen]), np.prod([m for _, m in chosen])


@every_case("family", FAMILIES)
def test_the_mean_over_all_draws_is_the_equation_on_the_values(family):
    design, labels = made.LOPSIDED, "abcd"
    rng = np.random.default_rng(1)
    x = np.array([0, 2, 3])
    V = np.column_stack([np.ones(3), rng.standard_normal((3, 2))])
    y = np.array([1.0, 0.0, 1.0]) if family == "logit" else np.array([2.0, 0.0, 3.0])
    arranged = made.layout(labels, interaction=True)
    atoms = Atoms(arranged.Z, arranged.seen, 3)
    theta = 0.3 * rng.standard_normal(atoms.C)
    table = IndicatorTable(design, np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]))
    mean, total = 0.0, 0.0
    for codes, probability in draws(design, x):
        people = CellPeople(V, y, codes, design, arranged)
        objective = CorrectedObjective(people, atoms, FAMILIES[family], Indicators(people, table, np.array([0, 1, 0])))
        mean = mean + probability * objective(theta)[1]
        total += probability
    assert total == pytest.approx(1)
    X = arranged.expand(V, x)
    u = X @ theta
    residual = FAMILIES[family].gradient(u[None, None], y[None])[0, 0]
    assert mean == pytest.approx(X.T @ residual, abs=1e-12)


def test_both_private_averages_to_the_equation_on_the_values():
    design, outcome = sp.fixed_size(list("abc"), 2), sp.warner(["no", "yes"], 0.7)
    x, z = np.array([0, 2]), np.array([1, 0])
    V = np.column_stack([np.ones(2), [0.3, -1.0], [0.0, 1.0]])
    arranged = made.layout()
    atoms = Atoms(np.repeat(arranged.Z, 2, axis=0), arranged.seen, 3)
    theta = np.array([0.2, -0.4, 0.1, 0.5, -0.3])
    codes, mu = outcome.support()
    rows = outcome.incidence(codes).inner(np.eye(2))
    mean = 0.0
    for first, p in draws(design, x):
        for chosen in product(range(len(codes)), repeat=2):
            q = np.prod([mu[a] * rows[z[i], a] for i, a in enumerate(chosen)])
            joint, both = _joined(first, design, codes[list(chosen)], outcome)
            people = CellPeople(V, np.tile([0.0, 1.0], 3), joint, both, arranged, private_outcome=True)
            table = IndicatorTable(both, np.arange(1, 7) / 21)
            objective = CorrectedObjective(people, atoms, Binomial(), Indicators(people, table, None))
            mean = mean + p * q * objective(theta)[1]
    X = arranged.expand(V, x)
    assert mean == pytest.approx(X.T @ (z - 1 / (1 + np.exp(-X @ theta))), abs=1e-12)


def objectives():
    rng = np.random.default_rng(2)
    for family in FAMILIES:
        y, V, codes, design, _ = made.people(family, 60, design=sp.fixed_size(list("abc"), 2))
        arranged = made.layout(interaction=True)
        people = CellPeople(V, y, codes, design, arranged, weight=rng.uniform(0.5, 2, 60), offset=rng.normal(size=60))
        atoms = Atoms(people.cell_Z, arranged.seen, 3)
        yield CorrectedObjective(people, atoms, FAMILIES[family], working_indicators(people, (1,)))
        yield MixtureObjective(people, atoms, FAMILIES[family], np.arange(3))
    outcome = sp.uniform(list("klmn"))
    answers = sp.privatize(rng.choice(list("klmn"), 60), outcome, seed=2).codes
    joint, both = _joined(codes, design, answers, outcome)
    people = CellPeople(V, np.tile(np.arange(4.0), 3), joint, both, made.layout(), private_outcome=True)
    atoms = Atoms(people.cell_Z, made.layout().seen, 3)
    yield CorrectedObjective(people, atoms, Multinomial(3), working_indicators(people, ()))
    yield MixtureObjective(people, atoms, Multinomial(3), np.arange(3))


@every_case("at", range(8))
def test_derivatives_are_those_by_differences(at):
    objective = list(objectives())[at]
    theta = 0.2 * np.random.default_rng(at).standard_normal(objective.size)
    value, gradient, J = objective.full(theta)
    again = objective(theta)
    assert again[0] == pytest.approx(value)
    assert again[1] == pytest.approx(gradient)
    steps = 1e-5 * np.eye(len(theta))
    slope = np.array([(objective(theta + s)[0] - objective(theta - s)[0]) / 2e-5 for s in steps])
    bend = np.array([(objective(theta + s)[1] - objective(theta - s)[1]) / 2e-5 for s in steps])
    assert gradient == pytest.approx(slope, rel=1e-5, abs=1e-5)
    assert pytest.approx(-bend, rel=1e-4, abs=1e-3) == J
    weighted = sum(
        (objective.scores(theta, b) * (1 if b.weight is None else b.weight[:, None])).sum(axis=0)
        for b in objective.people.blocks(16)
    )
    assert weighted == pytest.approx(gradient)


def test_the_likelihood_is_the_sum_over_the_cells():
    y, V, codes, design, _ = made.people("linear", 5, design=sp.fixed_size(list("abc"), 2))
    arranged = made.layout()
    people = CellPeople(V, y, codes, design, arranged)
    objective = MixtureObjective(people, Atoms(arranged.Z, arranged.seen, 3), Normal(), np.arange(3))
    theta = 0.3 * np.random.default_rng(3).standard_normal(objective.size)
    b, sigma, B = objective.split(theta)
    total = 0.0
    for i in range(5):
        logits = np.r_[0.0, B @ V[i]]
        pi = np.exp(logits) / np.exp(logits).sum()
        u = (arranged.Z * V[i, arranged.seen]) @ b[0]
        f = np.exp(-0.5 * ((y[i] - u) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
        total += np.log(sum(pi[j] * f[j] for j in range(3) if design.contains(codes[i : i + 1], j)[0]))
    assert objective(theta)[0] == pytest.approx(total)


def test_a_layout_names_and_expands_several_private_predictors():
    private = {"x": Categories(list("ab")), "z": Categories(list("klm"))}
    arranged = arrange(
        ["Intercept", "v"],
        0,
        private,
        {"x": "b", "z": "k"},
        [ModelTerm("Intercept", (0,)), ModelTerm("x", (0,), ("x",)), ModelTerm("v:x:z", (1,), ("x", "z"), ("z",))],
    )
    assert arranged.names == ("Intercept", "x[a]", "v:x[a]:z[k]", "v:x[a]:z[l]", "v:x[a]:z[m]")
    cells = arranged.positions({"x": ["a", "b", "a"], "z": ["m", "l", "k"]})
    assert cells.tolist() == [2, 4, 0]
    V = np.array([[1.0, 5.0], [1.0, 6.0], [1.0, 7.0]])
    assert arranged.expand(V, cells).tolist() == [[1, 1, 0, 0, 5], [1, 0, 0, 0, 0], [1, 1, 7, 0, 0]]
    assert arranged.coordinate("z").tolist() == [0, 1, 2, 0, 1, 2]
    assert isinstance(arranged, ModelLayout)


@every_case("family", FAMILIES)
def test_moments_of_the_comparison_are_those_over_all_subsets(family):
    design, labels = made.LOPSIDED, "abcd"
    V, y = np.array([[1.0, 0.4, 1.0]]), np.array([1.0])
    arranged = made.layout(labels)
    codes, mu = design.support()
    said = ~design.is_missing(codes)
    theta, moments = None, []
    for code, weight in zip(codes[said], mu[said] / (1 - design.mu_full)):
        people = CellPeople(V, y, np.array([code]), design, arranged)
        atoms = Atoms(people.cell_Z, arranged.seen, 3)
        objective = MixtureObjective(people, atoms, FAMILIES[family], np.arange(3))
        if theta is None:
            theta = 0.4 * np.random.default_rng(4).standard_normal(objective.size)
        block = people.block(slice(0, 1))
        w = objective.before(theta, block).posterior[:, 0]
        probability = weight * float(people.rows(slice(0, 1))[:, 0] @ w)
        total = block_moments(objective, theta, Support.of(design), block, squared=False)
        moments.append((probability, total.score, objective.scores(theta, block)[0]))
    assert sum(p for p, _, _ in moments) == pytest.approx(1)
    assert sum(p * np.outer(s, s) for p, s, _ in moments) == pytest.approx(total.corrected, abs=1e-10)
    assert sum(p * np.outer(s, t) for p, s, t in moments) == pytest.approx(total.across, abs=1e-10)
    assert sum(p * np.outer(t, t) for p, _, t in moments) == pytest.approx(total.likelihood, abs=1e-10)
