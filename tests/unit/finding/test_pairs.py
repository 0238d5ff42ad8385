"""Two columns together: where they depart from independence, how strongly, and that test and strength agree."""

from types import SimpleNamespace

import numpy as np
import pytest
from every_case import every_case
from finding_cases import ABCD, SHARES, UNIFORM, column, findings_of

import subsetprivacy as sp
from subsetprivacy.finding import pairs as module
from subsetprivacy.messages import NoteKind

FOUR = sp.product({"x": UNIFORM, "y": sp.uniform(list("pqrs"))})
MIXED = sp.product({"x": sp.fixed_size(list("abcde"), 3), "y": sp.warner(["no", "yes"], 0.25)})


def square(V, p=4):
    """Return joint shares of two even variables whose Cramér's V is as given."""
    return (1 / p**2 + V * (np.eye(p) - 1 / p) / p).ravel()


def lopsided(V):
    """Return joint shares of five by two categories, no two margins alike, whose Cramér's V is as given."""
    r, c = np.array([0.3, 0.25, 0.2, 0.15, 0.1]), np.array([0.4, 0.6])
    a, b = np.array([1.0, -0.5, -1.0, 0.8, -0.3]), np.array([1.0, -1.0])
    scale = V / np.sqrt((a**2 / r).sum() * (b**2 / c).sum())
    return (np.outer(r, c) + scale * np.outer(a, b)).ravel()


def cramers_v(w, shape):
    W = np.reshape(w, shape)
    even = np.outer(W.sum(axis=1), W.sum(axis=0))
    return np.sqrt(((W - even) ** 2 / even).sum() / (min(shape) - 1))


def pair_of(design, w, n, seed, **options):
    """Return what is found of a sample of two variables."""
    counts = sp.simulate(design, w, n, seed=seed)
    (pair,) = sp.findings(counts, **options).pairs
    return pair


def test_the_examples_are_as_strong_as_said():
    for V in (0.0, 0.2):
        assert cramers_v(square(V), (4, 4)) == pytest.approx(V, abs=1e-12)
        assert cramers_v(lopsided(V), (5, 2)) == pytest.approx(V, abs=1e-12)
        assert min(lopsided(V)) > 0


# Deviations -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("design", "w", "shape"), [(FOUR, square(0.3), (4, 4)), (MIXED, lopsided(0.3), (5, 2))])
def test_errors_of_deviations_are_those_of_the_numeric_delta_method(design, w, shape):
    counts = sp.simulate(design, w, 4000, seed=1)
    (pair,) = sp.findings(counts, tests=False).pairs
    fit = sp.estimate(counts)

    def deviation(flat):
        W = flat.reshape(shape)
        return (W - np.outer(W.sum(axis=1), W.sum(axis=0))).ravel()

    steps = 1e-6 * np.eye(len(fit.w))
    slopes = np.array([(deviation(fit.w + step) - deviation(fit.w - step)) / 2e-6 for step in steps]).T
    variance = np.diag(slopes @ fit.cov @ slopes.T)
    np.testing.assert_allclose(pair.deviation.ravel(), deviation(fit.w), atol=1e-12)
    np.testing.assert_allclose(pair.deviation_se.ravel(), np.sqrt(variance), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("design", "w"), [(FOUR, square(0.3)), (MIXED, lopsided(0.3))])
def test_errors_of_deviations_are_those_of_repeated_samples(design, w):
    made = [pair_of(design, w, 5000, seed, tests=False) for seed in range(250)]
    spread = np.std([pair.deviation for pair in made], axis=0)
    told = np.mean([pair.deviation_se for pair in made], axis=0)
    np.testing.assert_allclose(spread, told, rtol=0.2)  # the spread of 250 has an error of 4.5%
    truth = np.reshape(w, told.shape) - np.outer(*(np.reshape(w, told.shape).sum(axis=side) for side in (1, 0)))
    assert np.abs(np.mean([pair.deviation for pair in made], axis=0) - truth).max() < 4 * told.max() / np.sqrt(250)


def test_deviations_leave_the_margins_alone():
    pair = pair_of(FOUR, square(0.3), 3000, 1, tests=False)
    np.testing.assert_allclose(pair.deviation.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(pair.deviation.sum(axis=1), 0, atol=1e-12)


def test_very_many_cells_have_no_errors(monkeypatch):
    monkeypatch.setattr(module, "MOST_DEVIATIONS", 10)
    pair = pair_of(FOUR, square(0.3), 3000, 1, tests=False)
    assert pair.deviation is not None
    assert pair.deviation_se is None


# Strength ---------------------------------------------------------------------------------------


def holds_zero(strength):
    """Tell whether 0 is in the interval; its end is left out where the test rejects."""
    return strength.lower == 0 and not strength.above_zero


@every_case(("design", "at"), [(FOUR, square), (MIXED, lopsided)], ids=["four", "mixed"])
@every_case("V", [0.0, 0.1, 0.2, 0.4])
def test_the_interval_holds_zero_exactly_when_the_test_does_not_reject(design, at, V):
    for seed in range(25):
        pair = pair_of(design, at(V), 800, seed, permutations=0)
        assert holds_zero(pair.strength) == (not pair.test.rejects)
        assert 0 <= pair.strength.lower <= pair.strength.upper <= 1
        if pair.strength.value is not None:
            assert pair.strength.lower <= pair.strength.value <= pair.strength.upper


@pytest.mark.parametrize(("pvalue", "level", "lower", "above"), [(0.2, 0.95, 0.0, False), (0.001, 0.95, None, None)])
def test_the_test_decides_about_zero(pvalue, level, lower, above):
    fit = sp.estimate(sp.simulate(FOUR, square(0.3), 3000, seed=1))
    free = module._strength(fit, None, level)
    held = module._strength(fit, SimpleNamespace(pvalue=pvalue), level)
    assert (held.value, held.se, held.raw, held.upper) == (free.value, free.se, free.raw, free.upper)
    assert held.lower == (free.lower if lower is None else lower)
    assert held.above_zero == ((free.lower == 0) if above is None else above)


def test_a_rejection_without_a_lower_end_says_above_zero():
    seen = [pair_of(FOUR, square(0.12), 1500, seed, permutations=0) for seed in range(60)]
    doubtful = [pair for pair in seen if pair.strength.above_zero]
    assert doubtful  # else the example is none
    for pair in doubtful:
        assert pair.test.rejects
        assert pair.strength.lower == 0


def test_of_no_strength_there_is_no_value():
    hidden = [pair_of(FOUR, square(0.0), 300, seed, permutations=0).strength.value is None for seed in range(40)]
    assert sum(hidden) >= 28  # 75 to 100 of 100, as the docstring says
    assert all(pair_of(FOUR, square(0.6), 3000, seed, permutations=0).strength.value for seed in range(5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "at", "n"), [(FOUR, square, 2000), (MIXED, lopsided, 2000)], ids=["uniform", "fixed size and warner"]
)
@pytest.mark.parametrize("V", [0.0, 0.2])
def test_the_aligned_interval_holds_the_truth_as_often_as_it_says(design, at, n, V):
    runs, inside = 1000, 0
    for seed in range(runs):
        strength = pair_of(design, at(V), n, seed, permutations=199).strength
        inside += holds_zero(strength) if V == 0 else strength.lower <= V <= strength.upper
    print(f"V = {V}, n = {n}: held in {inside} of {runs}")
    assert inside >= 0.93 * runs


# What cannot be done ----------------------------------------------------------------------------


def test_what_cannot_be_crossed_is_a_note():
    design = sp.covered(UNIFORM, 0.1)
    values = np.random.default_rng(1).choice(ABCD, 300, p=SHARES)
    covered = sp.privatize(values, design, seed=1)
    plain = sp.privatize(np.resize(values, len(covered)), UNIFORM, seed=2)
    release = SimpleNamespace(
        designs={"x": covered.design, "y": UNIFORM},
        rows=len(covered),
        kept=(),
        unique_rows=lambda: 0,
        count=lambda name: (covered if name == "x" else plain).counts(),
        crosstab=lambda *names: sp.crosstab({"x": covered, "y": plain}),
    )
    made = sp.findings(release)
    (pair,) = made.pairs
    assert pair.problem.kind is NoteKind.NOT_TESTED
    assert "Dummy rows must cover" in pair.problem.text
    assert pair.test is pair.strength is pair.shares is None
    (row,) = made.rows
    assert row.together is None
    assert row.problem.kind is NoteKind.NOT_IDENTIFIABLE


def test_columns_with_too_many_categories_are_not_crossed():
    wide = sp.hadamard(100)
    columns = [sp.privatize(np.random.default_rng(k).choice(100, 200), wide, seed=k).codes for k in (1, 2)]
    made = sp.findings(sp.SubsetTable(columns, sp.product({"x": wide, "y": wide})))
    (pair,) = made.pairs
    assert "too many combinations" in pair.problem.text
    assert made.rows[0].combinations == 10_000
    assert not made.rows[0].joint_known


def test_few_people_in_a_large_table_are_said_to_be_few():
    assert NoteKind.SMALL_COUNTS in {note.kind for note in findings_of("a table").pairs[0].notes}


def test_likelihoods_that_take_long_give_way_to_moments(monkeypatch):
    monkeypatch.setattr(module, "HEAVY", 10)
    counts = column("product")
    (pair,) = sp.findings(counts).pairs
    assert pair.method == "mom"
    assert pair.test.method == "bonferroni"
    np.testing.assert_allclose(pair.shares.ravel(), sp.estimate(counts, "mom").projected().w)
    assert pair.test.pvalue == pytest.approx(sp.independence_test(counts, "bonferroni", permutations=0).pvalue)
