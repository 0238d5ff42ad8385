"""The best design: against a conic solver, closed forms, brute force and whatever else can be drawn."""

import numpy as np
import pytest
from every_case import every_case
from oracles import shortfall

from subsetprivacy import draw_questions, estimate_many, privatize, simulate_many
from subsetprivacy.design import Conditional, Independent, conditional, fixed_size, independent, uniform
from subsetprivacy.estimation.likelihood import expected_information, tangent_inverse
from subsetprivacy.examples import adult
from subsetprivacy.optimizing import optimal
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.subsets import bits, sizes

LABELS = list("abcde")
W = np.array([0.45, 0.25, 0.15, 0.1, 0.05])
OTHER = np.array([0.1, 0.1, 0.2, 0.2, 0.4])


def squared_error(design, w):
    """The limit of n times the mean squared error, by the estimators' own formulas."""
    return float(np.trace(tangent_inverse(expected_information(design, np.asarray(w)))))


def variances(design, w):
    """The limit variances along the axes of their ellipsoid."""
    return np.linalg.eigvalsh(tangent_inverse(expected_information(design, np.asarray(w))))[1:]


def is_a_design(design, smallest=2):
    codes, mu = design.support()
    assert np.abs(bits(codes, design.p).T @ mu - 1).max() < 1e-12
    assert mu.min() > 0
    assert sizes(codes).min() >= smallest
    assert design.is_identifiable


# Figures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "published", "at_most"), [("independent", 0.793, 0.794), ("conditional", 0.669, 0.67)]
)
def test_adult_race_at_the_leakage_of_the_uniform_design(kind, published, at_most):
    design = uniform(adult.races)
    leaked = metrics.mi_leakage(Setting.of(design, adult.race)).value
    best = optimal(adult.races, w=adult.race, budget={"mi": leaked}, kind=kind)
    assert best.loss <= at_most
    assert best.loss == pytest.approx(published, abs=6e-4)
    assert best.loss == pytest.approx(squared_error(best.design, adult.race), rel=1e-9)
    assert best.uniform_loss == pytest.approx(0.864, abs=5e-4)
    assert best.direct_loss == pytest.approx(0.260, abs=5e-4)
    assert best.leakage["mi"] <= leaked
    assert best.gap <= 1e-6
    is_a_design(best.design)


def test_loss_is_what_estimates_lose():
    best = optimal(LABELS, W, {"mi": 0.8})
    n = 4000
    estimates = estimate_many(simulate_many(best.design, W, n, size=400, seed=8)).w
    losses = n * ((estimates - W) ** 2).sum(axis=1)
    assert losses.mean() == pytest.approx(best.loss, abs=4 * losses.std() / np.sqrt(len(losses)))


# Other ways to the same minimum --------------------------------------------------------------------

PROBLEMS = [
    ({"w": W, "budget": {"mi": 0.75}}, {}),
    ({"w": W, "budget": {"mi": 0.75}}, {"criterion": "D"}),
    ({"w": W, "budget": {"prediction": 0.6, "size": 0.4}}, {"kind": "conditional"}),
    ({"w": W, "budget": {"maximal": 0.8}}, {"kind": "conditional", "criterion": "D"}),
    ({"w": [W, OTHER], "budget": {"size": 0.4}}, {"kind": "conditional", "over": "average"}),
    ({"w": [W, OTHER, W[::-1]], "budget": {"mi": 0.85}}, {"over": "worst"}),
    ({"w": [W, OTHER, W[::-1]], "budget": {"mi": 0.7}}, {"kind": "conditional", "over": "worst", "criterion": "D"}),
    ({"w": W, "budget": {"mi": 0.3}}, {"full_set": True}),
    ({"w": W, "budget": None}, {"kind": "conditional", "smallest": 3}),
]


@every_case(("problem", "options"), PROBLEMS, ids=range(len(PROBLEMS)))
def test_conic_solver_finds_the_same_loss(problem, options):
    own = optimal(LABELS, **problem, **options)
    reference = optimal(LABELS, **problem, **options, solver="conic")
    assert own.loss == pytest.approx(reference.loss, rel=1e-6)
    assert own.gap <= 1e-6
    assert reference.gap <= 1e-4
    for best in (own, reference):
        is_a_design(best.design, options.get("smallest", 2))
        for metric, most in (problem["budget"] or {}).items():
            assert best.leakage[metric] <= most
    assert own.saturated == reference.saturated


@pytest.mark.slow
def test_conic_solver_finds_the_same_loss_on_many_problems():
    rng = np.random.default_rng(77)
    for k in range(60):
        p = int(rng.integers(4, 9))
        w = np.maximum(rng.dirichlet(np.full(p, 10 ** rng.uniform(-0.5, 1.5), float), size=1 + k % 3), 1e-4)
        options = {"kind": ["independent", "conditional"][k % 2], "criterion": "AD"[k // 2 % 2]}
        options |= {"over": ["average", "worst"][k // 4 % 2], "full_set": True}
        w = w / w.sum(axis=1, keepdims=True)
        metric = ["mi", "size", "prediction", "maximal"][k % 4]
        nothing = w.max() if metric == "prediction" else 0.0
        budget = {metric: nothing + rng.uniform(0.05, 0.3)}
        own, reference = (optimal(range(p), w, budget, **options, solver=name) for name in ("interior", "conic"))
        assert own.loss == pytest.approx(reference.loss, rel=1e-6)
        assert own.gap <= 1e-6
        is_a_design(own.design)


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_three_questions_by_brute_force(criterion):
    labels, w, most = list("abcd"), np.array([0.4, 0.3, 0.2, 0.1]), 0.93
    questions = [("a", "b"), ("a", "c"), ("a", "d")]

    def leaked(nu):
        return metrics.mi_leakage(Setting.of(independent(labels, dict(zip(questions, nu))), w)).value

    def loss(nu):
        design = independent(labels, dict(zip(questions, nu)))
        return squared_error(design, w) if criterion == "A" else float(np.exp(np.log(variances(design, w)).mean()))

    best = optimal(labels, w, {"mi": most}, criterion=criterion)
    assert best.saturated == ("mi",)
    # Leakage is linear: the three corners say which weights use the budget up, a line that is gone along.
    each = [leaked(np.where(np.arange(3) == k, 1 - 2e-9, 1e-9)) for k in range(3)]
    line = [(a, b, 1 - a - b) for a in np.linspace(0.01, 0.99, 700) for b in [_second(a, each, most)] if 0 < b < 1 - a]
    assert leaked(line[7]) == pytest.approx(most, abs=1e-7)
    assert best.loss == pytest.approx(min(loss(nu) for nu in line), rel=1e-4)
    # And nothing below the line is better.
    grid = np.arange(1, 25) / 25
    below = [(a, b, 1 - a - b) for a in grid for b in grid if a + b < 0.999 and leaked((a, b, 1 - a - b)) < most]
    assert len(below) > 5
    assert min(loss(nu) for nu in below) > best.loss


def _second(first, each, most):
    """The weight of the second question where the leakage is used up."""
    return (most - each[2] - first * (each[0] - each[2])) / (each[1] - each[2])


def test_nothing_better_is_left():
    """The loss is convex and what is allowed is linear, so a linear program over the tangent plane bounds the gain."""
    labels, w = list("abcd"), np.array([0.5, 0.25, 0.15, 0.1])
    codes = np.array([c for c in range(1, 15) if c.bit_count() >= 2])
    A, L = bits(codes, 4).T, bits(codes, 4) @ w
    B = np.linalg.qr(np.vstack([np.eye(3), -np.ones(3)]))[0]

    best = optimal(labels, w, {"mi": 0.6}, kind="conditional")
    drawn, weights = best.design.support()
    mu = np.zeros(len(codes))
    mu[np.searchsorted(codes, drawn)] = weights
    inverse = np.linalg.inv(B.T @ ((A * (mu / L)) @ A.T) @ B)
    assert best.loss == pytest.approx(np.trace(inverse), rel=1e-7)
    slope = ((inverse @ B.T @ A) ** 2).sum(axis=0) / L  # minus that of the trace
    leaked = -L * np.log2(L)
    assert leaked @ mu <= 0.6 + 1e-9
    left = shortfall(slope, mu, A, np.ones(4), A_ub=[leaked], b_ub=[0.6])
    assert left < 1e-6 * best.loss


# What must hold whatever the numbers ----------------------------------------------------------------


@every_case("p", [4, 5, 7, 8])
def test_even_distribution_meets_the_bound(p):
    even = np.full(p, 1 / p)
    asked = optimal(range(p), even)
    assert asked.loss == pytest.approx((1 - 1 / p) * (p - 1), rel=1e-7)
    # Whoever holds the values may use S up to 2^budget: cost (p-1)/(S-1), below the pairs' S = p/2.
    told = optimal(range(p), even, {"maximal": 0.7}, kind="conditional")
    assert told.loss == pytest.approx((1 - 1 / p) * (p - 1) / (2**0.7 - 1), rel=1e-7)
    assert told.saturated == ("maximal",)
    pairs = optimal(range(p), even, kind="conditional")
    assert pairs.loss == pytest.approx((1 - 1 / p) * (p - 1) / (p / 2 - 1), rel=1e-7)
    assert squared_error(fixed_size(range(p), 2), even) == pytest.approx(pairs.loss)


@every_case("kind", ["independent", "conditional"])
@every_case("criterion", ["A", "D"])
def test_no_drawn_design_beats_the_certificate(kind, criterion):
    rng = np.random.default_rng(9)
    best = optimal(LABELS, W, {"mi": 0.8}, kind=kind, criterion=criterion)
    less = optimal(LABELS, W, {"mi": 0.7}, kind=kind, criterion=criterion).design
    codes, every = uniform(LABELS).support()[0], np.arange(32)
    tried = 0
    for _ in range(60):
        # Mixtures of the optimum with a random design, and with one that leaks less to make up for it.
        if kind == "independent":
            nu = rng.random(len(codes)) ** 6
            other = independent(LABELS, dict(zip(codes.tolist(), nu / nu.sum())))
        else:
            other = fixed_size(LABELS, int(rng.integers(2, 5)))
        share = 10 ** rng.uniform(-4, -0.6)
        mu = (1 - 3 * share) * best.design.mu(every) + share * other.mu(every) + 2 * share * less.mu(every)
        mixed = conditional(LABELS, {code: mu[code] for code in range(1, 32) if mu[code] > 0})
        if metrics.mi_leakage(Setting.of(mixed, W)).value > 0.8:
            continue
        tried += 1
        values = variances(mixed, W)
        loss = values.sum() if criterion == "A" else np.exp(np.log(values).mean())
        assert loss >= best.loss * (1 - best.gap) * (1 - 1e-12)
    assert tried >= 30


@pytest.mark.parametrize("kind", ["independent", "conditional"])
def test_order_of_categories_does_not_matter(kind):
    order = [3, 0, 4, 1, 2]
    one = optimal(LABELS, W, {"mi": 0.75}, kind=kind)
    two = optimal([LABELS[j] for j in order], W[order], {"mi": 0.75}, kind=kind)
    assert two.loss == pytest.approx(one.loss, rel=1e-7)
    assert two.leakage["prediction"] == pytest.approx(one.leakage["prediction"], abs=1e-4)


def test_w_by_label_and_in_order():
    one = optimal(LABELS, W, {"mi": 0.8})
    two = optimal(LABELS, dict(zip(LABELS[::-1], W[::-1])), {"mi": 0.8})
    assert one.loss == pytest.approx(two.loss, rel=1e-9)
    assert one.design == two.design


def test_more_freedom_costs_less():
    losses = [optimal(LABELS, W, {"mi": most}, kind="conditional").loss for most in (0.4, 0.6, 0.8, 1.0)]
    assert np.all(np.diff(losses) < 0)
    assert optimal(LABELS, W, {"mi": 0.8}, kind="conditional").loss < optimal(LABELS, W, {"mi": 0.8}).loss
    assert optimal(LABELS, W, {"mi": 0.8}).loss < optimal(LABELS, W, {"mi": 0.8, "prediction": 0.6}).loss
    by_size = [optimal(range(7), np.arange(7, 0, -1) / 28, kind="conditional", smallest=k) for k in (2, 3, 4)]
    assert np.all(np.diff([best.loss for best in by_size]) > 0)
    assert [best.design.smallest_set for best in by_size] == [2, 3, 4]


def test_several_distributions():
    both = [W, OTHER]
    average, worst = (optimal(LABELS, both, {"mi": 0.9}, over=over) for over in ("average", "worst"))
    each = [optimal(LABELS, w, {"mi": 0.9}) for w in both]

    def losses(design):
        return np.array([squared_error(design, w) for w in both])

    assert average.loss == pytest.approx(losses(average.design).mean(), rel=1e-8)
    assert worst.loss == pytest.approx(losses(worst.design).max(), rel=1e-8)
    assert losses(average.design).mean() < losses(worst.design).mean()
    assert losses(worst.design).max() < losses(average.design).max()
    assert max(one.loss for one in each) <= worst.loss
    for best in (average, worst):
        for w in both:  # the budget holds at each
            assert metrics.mi_leakage(Setting.of(best.design, w)).value <= 0.9
        at_each = [metrics.mi_leakage(Setting.of(best.design, w)).value for w in both]
        assert best.leakage["mi"] == pytest.approx(max(at_each))


def test_d_criterion_averages_logarithms():
    best = optimal(LABELS, [W, OTHER], {"mi": 0.9}, criterion="D")
    logs = [np.log(variances(best.design, w)).mean() for w in (W, OTHER)]
    assert best.loss == pytest.approx(np.exp(np.mean(logs)), rel=1e-8)
    by_trace = optimal(LABELS, [W, OTHER], {"mi": 0.9}, criterion="A")
    assert sum(logs) < sum(np.log(variances(by_trace.design, w)).mean() for w in (W, OTHER)) - 1e-6


def test_budget_that_is_not_needed_changes_nothing():
    free = optimal(LABELS, W)
    loose = optimal(LABELS, W, {"mi": 2.0, "size": 1.0, "maximal": 1.0})
    assert loose.loss == pytest.approx(free.loss, rel=1e-7)
    assert free.saturated == ()
    assert loose.saturated == ("maximal",)  # one bit is what yes/no questions have


def test_asking_some_people_nothing_reaches_any_budget():
    little = optimal(LABELS, W, {"mi": 0.02}, full_set=True)
    assert little.design.mu_full > 0.9
    assert little.leakage["mi"] == pytest.approx(0.02)
    # Half of that budget is the same questions for half of the people.
    twice = optimal(LABELS, W, {"mi": 0.01}, full_set=True)
    assert twice.loss == pytest.approx(2 * little.loss, rel=1e-6)
    told = optimal(LABELS, W, {"mi": 0.02}, full_set=True, kind="conditional")
    assert told.loss < little.loss
    is_a_design(told.design)


def test_designs_are_short_and_usable():
    asked = optimal(range(8), np.arange(8, 0, -1) / 36, {"mi": 0.8})
    assert isinstance(asked.design, Independent)
    assert asked.questions <= 8 * 7 / 2 + 2
    assert len(draw_questions(asked.design, 50, seed=1)) == 50
    told = optimal(range(8), np.arange(8, 0, -1) / 36, {"mi": 0.8}, kind="conditional")
    assert isinstance(told.design, Conditional)
    assert told.questions <= 8 * 7 / 2 + 8 + 1
    data = privatize([0, 1, 2, 3] * 50, told.design, seed=2)
    assert len(data) == 200
    assert told.design.smallest_set == 2


def test_three_categories():
    best = optimal(list("xyz"), [0.5, 0.3, 0.2], kind="conditional")
    np.testing.assert_allclose(best.design.support()[1], 0.5)  # three pairs: there is no choice
    assert np.isnan(best.uniform_loss)
    assert "uniform" not in str(best.summary())
    some = optimal(list("xyz"), [0.5, 0.3, 0.2], {"mi": 0.3}, kind="conditional", full_set=True)
    assert some.design.mu_full > 0


@pytest.mark.parametrize("kind", ["independent", "conditional"])
def test_ten_categories_in_a_moment(kind):
    w = 1 / np.arange(1, 11)
    best = optimal(range(10), w / w.sum(), {"mi": 0.7}, kind=kind, smallest=3)
    assert best.gap <= 1e-6
    assert best.questions <= 10 * 9 / 2 + 11
    assert best.saturated == ("mi",)
    is_a_design(best.design, 3)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["A", "D"])
@pytest.mark.parametrize("kind", ["independent", "conditional"])
@pytest.mark.parametrize("p", [12, 14])
def test_many_categories(p, kind, criterion):
    rng = np.random.default_rng(p)
    w = rng.random(p)
    best = optimal(range(p), w / w.sum(), {"mi": 0.95}, kind=kind, criterion=criterion)
    assert best.gap <= 1e-6
    assert best.questions <= p * (p - 1) / 2 + p + 1
    assert best.loss < best.uniform_loss
    is_a_design(best.design)


# What is said about it ------------------------------------------------------------------------------


def test_summary_and_repr():
    best = optimal(LABELS, W, {"mi": 0.75, "prediction": 0.99})
    text = str(best.summary())
    assert "Best independent design on 5 categories, A-criterion" in text
    assert f"{best.loss:.4f}" in text
    assert f"{best.uniform_loss:.4f}" in text
    assert "The budget mi <= 0.75 is used up." in text
    assert "The budget prediction <= 0.99 is not used up" in text
    assert f"{best.questions} questions" in text
    assert "uses up mi" in repr(best)
    assert "loss" in best._repr_html_()
    several = optimal(LABELS, [W, OTHER], over="worst", kind="conditional", criterion="D")
    assert "the largest over 2 distributions" in str(several.summary())
    assert "subsets; no conditional design saves more" in str(several.summary())


def test_optimum_is_frozen():
    best = optimal(LABELS, W)
    with pytest.raises(AttributeError):
        best.loss = 0.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        best.w[0, 0] = 1


def test_progress_is_told():
    lines = []
    best = optimal(LABELS, W, {"mi": 0.8}, progress=lines.append)
    assert len(lines) == best.steps + 1
    assert lines[0].startswith("step 0: loss")
    assert "to be saved" in lines[-1]
