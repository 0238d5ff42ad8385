"""The law of every draw, as an exact statement wherever it can be one."""

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from lopsided import ASKED, ASKED5, DESIGNS, GIVEN, GIVEN3
from scipy.stats import chi2_contingency, chisquare
from scipy.stats.contingency import crosstab
from sources import Cycle, Grid

import subsetprivacy as sp
from subsetprivacy.design import Mixture
from subsetprivacy.subsets import sizes

# Drawn by their weights, all in tenths (the mixtures in hundredths): an even grid realizes their laws exactly.
EXACT = {
    "independent": (ASKED, 10),
    "independent, p=5": (ASKED5, 10),
    "conditional": (GIVEN, 10),
    "conditional, p=3": (GIVEN3, 10),
    "nonprivate": (sp.nonprivate(["w", "x", "y", "z"]), 10),
    "fully private": (sp.fully_private(["w", "x", "y", "z"]), 10),
    "mixture, asked": (Mixture.of([ASKED, sp.independent(ASKED.categories, {6: 0.9, 3: 0.1})], [3, 7]), 100),
    "mixture, given": (Mixture.of([ASKED, GIVEN], [0.2, 0.8]), 100),
}
CASES = [(name, j) for name, (design, _) in EXACT.items() for j in range(design.p)]


def probabilities_given(design, j):
    codes, mu = design.support()
    return {design.categories.format(a): m for a, m in zip(codes.tolist(), mu.tolist()) if a >> j & 1}


@pytest.mark.parametrize(
    ("value", "law"), [("a", {"a|b": 0.5, "a|c": 0.3, "a|d": 0.2}), ("b", {"a|b": 0.5, "b|d": 0.3, "b|c": 0.2})]
)
def test_transition_law_is_mu_spelt_out(value, law):
    assert sp.privatize([value] * 10, ASKED, seed=Grid()).subset_shares() == pytest.approx(law)


@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")
@every_case(("name", "j"), CASES)
def test_transition_law_is_mu(name, j):
    design, n = EXACT[name]
    data = sp.privatize([design.categories.labels[j]] * n, design, seed=Grid())
    assert data.subset_shares() == pytest.approx(probabilities_given(design, j), abs=1e-15)


@every_case("p", range(4, 9))
def test_uniform_draws_are_exactly_even(p):
    design = sp.uniform(range(p))
    n = 2**p - 2 * p - 2  # every admissible question once
    for j in range(p):
        counts = sp.privatize([j] * n, design, seed=Cycle(p)).counts()
        assert counts.codes.tolist() == [a for a in design.support()[0].tolist() if a >> j & 1]
        assert set(counts.counts.tolist()) == {2}  # as a question, and as the complement of one


@every_case("name", DESIGNS)
def test_weights_around_each_category_sum_to_one(name):
    codes, mu = DESIGNS[name].support()
    for j in range(DESIGNS[name].p):
        assert abs(mu[(codes >> j & 1).astype(bool)].sum() - 1) < 1e-12


@given(st.integers(4, 9), st.data())
@settings(deadline=None, max_examples=50)
def test_weights_around_each_category_sum_to_one_for_any_questions(p, data):
    allowed = [a for a in range(1 << p) if a.bit_count() not in (1, p - 1)]
    asked = data.draw(st.lists(st.sampled_from(allowed), min_size=1, max_size=12, unique=True))
    raw = np.array(data.draw(st.lists(st.floats(1e-9, 1), min_size=len(asked), max_size=len(asked))))
    design = sp.independent(range(p), dict(zip(asked, raw / raw.sum())))
    codes, mu = Mixture.of([design, sp.uniform(range(p))], data.draw(st.sampled_from([[1, 0], [1, 3]]))).support()
    totals = ((codes[:, None] >> np.arange(p)) & 1).T @ mu
    np.testing.assert_allclose(totals, 1, atol=1e-12)
    np.testing.assert_allclose(np.diag(design.Q), 1, atol=1e-12)


PRIVATE = {name: design for name, design in DESIGNS.items() if design.is_subset_private}


@every_case("name", PRIVATE)
def test_the_value_is_in_the_subset_and_not_alone(name):
    design = PRIVATE[name]
    x = np.random.default_rng(1).integers(design.p, size=5000)
    codes = sp.privatize([design.categories.labels[j] for j in x], design, seed=2).codes
    assert (codes >> x & 1).all()
    assert sizes(codes).min() >= 2
    assert design.allows(codes).all()


@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")
def test_the_nonprivate_design_reports_the_value():
    naked = sp.nonprivate(["x", "y"])
    assert sp.privatize(["y", "x", "y"], naked).labels() == [("y",), ("x",), ("y",)]


@every_case("name", [name for name, design in DESIGNS.items() if design.is_independent])
def test_questions_ignore_the_values(name):
    # The same bits and other people: the set or its complement is reported, so the question must be the same.
    design = DESIGNS[name]
    full = design.categories.full
    one = sp.privatize([design.categories.labels[0]] * 500, design, seed=5).codes
    two = sp.privatize([design.categories.labels[j % design.p] for j in range(500)], design, seed=5).codes
    assert np.minimum(one, full - one).tolist() == np.minimum(two, full - two).tolist()
    assert (one != two).any()


@every_case("name", [name for name, design in DESIGNS.items() if design.is_independent])
def test_asking_and_resolving_is_privatizing(name):
    design = DESIGNS[name]
    x = np.random.default_rng(3).integers(design.p, size=400)
    questions = sp.draw_questions(design, 400, seed=8)
    answered = sp.resolve(questions, (questions >> x & 1) == 1, design)
    published = sp.privatize([design.categories.labels[j] for j in x], design, seed=8)
    assert answered.codes.tolist() == published.codes.tolist()


@every_case("j", range(5))
def test_asking_and_resolving_has_law_mu(j):
    questions = sp.draw_questions(ASKED5, 10, seed=Grid())
    data = sp.resolve(questions, (questions >> j & 1) == 1, ASKED5)
    assert data.subset_shares() == pytest.approx(probabilities_given(ASKED5, j), abs=1e-15)


@every_case("j", range(4))
def test_the_symmetric_form_has_the_same_law(j):
    asked = sp.conditional(ASKED.categories, dict(zip(*map(np.ndarray.tolist, ASKED.support())))).as_independent()
    data = sp.privatize([ASKED.categories.labels[j]] * 20, asked, seed=Grid())
    assert data.subset_shares() == pytest.approx(probabilities_given(ASKED, j), abs=1e-15)


@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")
@every_case("name", DESIGNS)
def test_seeded_draws_follow_mu(name):
    design = DESIGNS[name]
    codes, mu = design.support()
    n = 100_000
    for j in range(design.p):
        seen = sp.privatize([design.categories.labels[j]] * n, design, seed=j).counts()
        holds = (codes >> j & 1).astype(bool)
        expected = n * mu[holds]
        observed = np.zeros(holds.sum())
        observed[np.searchsorted(codes[holds], seen.codes)] = seen.counts
        assert seen.codes.tolist() == codes[holds].tolist()
        if len(expected) > 1:
            assert chisquare(observed, expected * n / expected.sum()).pvalue > 1e-4


@every_case("name", ["uniform, p=4", "independent", "conditional", "mixture, asked", "mixture, given"])
def test_neighbors_are_drawn_independently(name):
    # Bits used for two people would leave each one's law as it is, and let one betray the other.
    design = DESIGNS[name]
    a, b = design.categories.labels[0], design.categories.labels[1]
    codes = sp.privatize([a, b] * 50_000, design, seed=9).codes
    for one, two in ((codes[::2], codes[1::2]), (codes[1:-1:2], codes[2::2])):
        assert chi2_contingency(crosstab(one, two).count).pvalue > 1e-4


def test_many_people_are_drawn_in_blocks_without_a_seam():
    # More than one block, with every value: each (value, subset) cell keeps its law.
    n = 1_000_000
    x = np.random.default_rng(4).integers(6, size=n)
    design = sp.uniform(range(6))
    codes = sp.privatize(x, design, seed=5).codes
    assert (codes >> x & 1).all()
    support, mu = design.support()
    cells = np.bincount(x * 64 + codes, minlength=6 * 64).reshape(6, 64)
    law = ((support[None, :] >> np.arange(6)[:, None]) & 1) * mu
    inside = law > 0
    expected = (np.bincount(x)[:, None] * law)[inside]
    assert cells.sum() == cells[:, support][inside].sum()
    assert chisquare(cells[:, support][inside], expected, ddof=5).pvalue > 1e-4


def test_48_categories():
    design = sp.uniform(range(48))
    x = np.random.default_rng(6).integers(48, size=20_000)
    codes = sp.privatize(x, design, seed=7).codes
    assert (codes >> x & 1).all()
    assert codes.max() < 1 << 48
    assert 2 <= sizes(codes).min() <= sizes(codes).max() <= 46
    # Any other category is a companion with probability pair_probability: six standard errors.
    pairs = np.array([(codes >> k & 1)[x != k].mean() for k in range(48)])
    assert np.abs(pairs - design.pair_probability).max() < 6 * 0.5 / np.sqrt(19_000)
    counts = sp.SubsetData(codes, design).counts()
    assert counts.n == 20_000


def test_few_questions_on_48_categories():
    top = tuple(range(24, 48))
    design = sp.independent(range(48), {top: 0.75, tuple(range(0, 48, 2)): 0.25})
    data = sp.privatize([47] * 4, design, seed=Grid())
    assert sorted(data.labels()) == sorted([top] * 3 + [tuple(range(1, 48, 2))])


# Secrecy ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [sp.uniform(range(8)), GIVEN], ids=["uniform", "conditional"])
def test_the_default_source_never_repeats_and_a_seed_always_does(design):
    values = [design.categories.labels[0]] * 2000
    one, two = sp.privatize(values, design).codes, sp.privatize(values, design).codes
    assert (one != two).any()  # fails once in more than 10^600 runs
    assert sp.privatize(values, design, seed=1).codes.tolist() == sp.privatize(values, design, seed=1).codes.tolist()
    assert (sp.privatize(values, design, seed=1).codes != sp.privatize(values, design, seed=2).codes).any()


def test_the_default_source_does_not_touch_numpys_generator():
    # Seeding NumPy, as people do at the top of a script, must not make the output repeatable.
    runs = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002  # the legacy state is what is tested
        runs.append(sp.privatize([0] * 2000, sp.uniform(range(8))).codes.tolist())
    assert runs[0] != runs[1]
