"""Over all draws of four people, the estimates average to the value that the true labels have."""

from itertools import product

import numpy as np
import pytest
from every_case import every_case
from problems import lopsided, with_full_question
from scipy.special import ndtri

import subsetprivacy as sp
from subsetprivacy.estimation.indicator import IndicatorTable, rows_of
from subsetprivacy.evaluation.measures import measured
from subsetprivacy.evaluation.ranking import rank
from subsetprivacy.evaluation.sample import ClassifierOutput, EvaluationSample, PersonWeights

DESIGNS = {
    "lopsided": lopsided(),
    "uniform": sp.uniform(range(4)),
    "pairs": sp.fixed_size(["never", "once", "often"], 2),
    "warner": sp.warner(["no", "yes"], 0.3),
    "full sets": with_full_question(),
}
EVERY_DESIGN = every_case("design", DESIGNS.values(), ids=DESIGNS)


class Draws:
    """All draws of four people with their probabilities, and the indicators of each."""

    def __init__(self, design):
        self.design, p = design, design.p
        rng = np.random.default_rng(5)
        self.y = np.array([0, p - 1, 1, p - 1])
        self.proba = rng.dirichlet(np.ones(p), size=4)
        self.proba[2] = self.proba[0]  # a tie
        self.output = ClassifierOutput(self.proba.argmax(axis=1), self.proba)
        codes, mu = design.support()
        kept = ~design.is_missing(codes)
        codes, mu = codes[kept], mu[kept] / (1 - design.mu_full)
        self.rows = rows_of(codes, design)
        self.law = [mu * self.rows[y] for y in self.y]
        table = IndicatorTable(design, 0.9 * self.proba + 0.1 / p)
        self.D = [table.of(self.rows, np.full(len(codes), i)) for i in range(4)]

    def mean(self, statistic):
        """Return the expected value of a statistic of the indicators of all four, shape (p, 4)."""
        total = 0.0
        for draw in product(*(np.flatnonzero(law) for law in self.law)):
            chance = np.prod([law[a] for law, a in zip(self.law, draw, strict=True)])
            total += chance * statistic(np.column_stack([D[:, a] for D, a in zip(self.D, draw, strict=True)]))
        return total

    def measure(self, name):
        """Return the expected value of a measure."""
        weights = PersonWeights(np.ones(4), True)

        def value(D):
            return next(measured(EvaluationSample(weights, D), self.output, np.ones(4), (name,))).value

        return self.mean(value)


@EVERY_DESIGN
def test_means_are_unbiased(design):
    draws = Draws(design)
    at = np.arange(4), draws.y
    truth = {
        "accuracy": np.mean(draws.proba.argmax(axis=1) == draws.y),
        "brier": np.mean(((np.eye(design.p)[draws.y] - draws.proba) ** 2).sum(axis=1)),
        "log_loss": -np.log(draws.proba[at]).mean(),
    }
    for name, value in truth.items():
        assert draws.measure(name) == pytest.approx(value, abs=1e-12)


@EVERY_DESIGN
def test_pairs_of_the_area_under_the_curve_are_unbiased(design):
    draws = Draws(design)
    weights = PersonWeights(np.ones(4), True)
    for j in range(design.p):
        scores, inside = draws.proba[:, j], draws.y == j
        pairs = [(scores[i], scores[k]) for i in range(4) for k in range(4) if inside[i] and not inside[k]]
        wins = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs)
        assert draws.mean(lambda D, j=j, s=scores: rank(s, D[j], weights).wins) == pytest.approx(wins, abs=1e-12)
        assert draws.mean(lambda D, j=j, s=scores: rank(s, D[j], weights).pairs) == pytest.approx(len(pairs), abs=1e-12)


@EVERY_DESIGN
def test_entries_of_the_confusion_matrix_are_unbiased(design):
    draws = Draws(design)
    guess = draws.output.guess

    def cells(D):
        return np.array([D[:, guess == k].sum(axis=1) for k in range(design.p)]).T

    truth = np.zeros((design.p, design.p))
    np.add.at(truth, (draws.y, guess), 1)
    assert np.allclose(draws.mean(cells), truth, atol=1e-12)


# Sorting against all pairs, and derivatives -------------------------------------------------------


@pytest.mark.parametrize("frequency", [True, False])
def test_area_by_sorting_is_the_sum_over_pairs(frequency):
    rng = np.random.default_rng(1)
    n = 40
    scores, D = rng.integers(0, 9, n) / 8, rng.normal(0.4, 1, n)
    each = rng.integers(0, 3, n).astype(float) if frequency else rng.uniform(0.5, 2, n)
    order = np.repeat(np.arange(n), each.astype(int)) if frequency else np.arange(n)
    s, d, v = scores[order], D[order], np.ones(len(order)) if frequency else each
    kappa = (s[:, None] > s) + 0.5 * (s[:, None] == s)
    pairs = (v * d)[:, None] * (v * (1 - d))
    np.fill_diagonal(pairs, 0.0)
    ranked = rank(scores, D, PersonWeights(each, frequency))
    assert ranked.wins == pytest.approx((pairs * kappa).sum(), rel=1e-12)
    assert ranked.pairs == pytest.approx(pairs.sum(), rel=1e-12)


def test_influence_is_the_derivative_with_respect_to_a_weight():
    rng = np.random.default_rng(2)
    n, p = 200, 3
    D = rng.normal(1 / 3, 0.5, size=(p, n))
    D /= D.sum(axis=0)
    D = np.where(np.abs(D) > 3, 1 / 3, D)
    D[2] = 1 - D[0] - D[1]
    proba = rng.dirichlet(np.ones(p), size=n)
    output = ClassifierOutput(proba.argmax(axis=1), proba)
    names = ("accuracy", "balanced_accuracy", "brier", "log_loss", "recall", "precision", "f1")

    def values(each):
        sample = EvaluationSample(PersonWeights(each, True), D)
        object.__setattr__(sample, "rare", ())
        return list(measured(sample, output, np.ones(n), names))

    step, i = 1e-6, 17
    more = np.ones(n)
    more[i] += step
    for before, after in zip(values(np.ones(n)), values(more), strict=True):
        # The correction of order 1/n has a derivative of its own, of order 1/n.
        assert (after.value - before.value) / step * n == pytest.approx(before.influence[i], rel=0.1, abs=0.1)


def test_intervals_of_a_share_are_those_of_the_log_odds():
    data = sp.SubsetData(np.r_[np.full(80, 1), np.full(20, 2)], sp.nonprivate(["a", "b"]))
    result = sp.evaluate(data, guess=["a"] * 100, metrics="accuracy")
    low, high = result.interval("accuracy", method="logit")
    reach = ndtri(0.975) * result.se("accuracy") / (0.8 * 0.2)
    assert np.log(low / (1 - low)) == pytest.approx(np.log(4) - reach)
    assert np.log(high / (1 - high)) == pytest.approx(np.log(4) + reach)
