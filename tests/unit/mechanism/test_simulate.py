import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, DESIGNS, NEW, UNKNOWN
from refusals import refused
from scipy.stats import chisquare

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, DistributionError, UnknownDesignError
from subsetprivacy.mechanism.simulate import subset_probabilities

W = np.array([0.1, 0.2, 0.3, 0.4])


def weights(p):
    return np.arange(1, p + 1) / (p * (p + 1) / 2)


def test_the_law_of_subsets_spelt_out():
    codes, law = subset_probabilities(ASKED, W)
    assert codes.tolist() == [3, 5, 6, 9, 10, 12]
    np.testing.assert_allclose(law, [0.5 * 0.3, 0.3 * 0.4, 0.2 * 0.5, 0.2 * 0.5, 0.3 * 0.6, 0.5 * 0.7], atol=1e-15)


@every_case("name", DESIGNS)
def test_the_law_of_subsets_is_one_and_has_mean_Qw(name):
    design = DESIGNS[name]
    w = weights(design.p)
    codes, law = subset_probabilities(design, w)
    assert law.sum() == pytest.approx(1)
    np.testing.assert_allclose(((codes[:, None] >> np.arange(design.p)) & 1).T @ law, design.Q @ w, atol=1e-12)


EVERY = DESIGNS | {name: NEW[name] for name in ("partition, recorded", "bit", "hadamard, p=7", "fixed size, p=6")}


@every_case("name", EVERY)
def test_simulated_counts_follow_the_law(name):
    design = EVERY[name]
    w = weights(design.p)
    counts = sp.simulate(design, w, 200_000, seed=1)
    codes, law = subset_probabilities(design, w)
    assert counts.counts.sum() == 200_000
    assert counts.codes.tolist() == codes.tolist()
    if len(codes) > 1:
        assert chisquare(counts.counts, 200_000 * law).pvalue > 1e-4


def test_distributions_may_be_given_by_label():
    by_label = dict(zip(reversed(ABCD), reversed(W.tolist())))
    assert (
        sp.simulate(ASKED, by_label, 100, seed=1).counts.tolist() == sp.simulate(ASKED, W, 100, seed=1).counts.tolist()
    )


def test_impossible_subsets_are_never_drawn():
    counts = sp.simulate(ASKED, [1, 0, 0, 0], 1000, seed=1)
    assert counts.subset_shares().keys() == {"a|b", "a|c", "a|d"}


@pytest.mark.parametrize("design", [ASKED, sp.uniform(range(30))], ids=["listed", "not listed"])
def test_nobody(design):
    counts = sp.simulate(design, weights(design.p), 0, seed=1)
    assert counts.n == 0
    assert counts.subset_shares() == {}


def test_seeds_repeat_and_the_default_does_not():
    draw = [sp.simulate(ASKED, W, 10_000, seed=seed).counts.tolist() for seed in (1, 1, 2, None, None)]
    assert draw[0] == draw[1]
    assert len({tuple(counts) for counts in draw}) == 4
    generator = np.random.default_rng(1)
    assert sp.simulate(ASKED, W, 10_000, seed=generator).counts.tolist() == draw[0]
    assert sp.simulate(ASKED, W, 10_000, seed=generator).counts.tolist() != draw[0]


def test_designs_that_cannot_be_listed_are_drawn_person_by_person():
    design = sp.uniform(range(30))
    w = np.full(30, 0.2 / 29)
    w[7] = 0.8  # far from even, or an even draw would pass
    counts = sp.simulate(design, w, 20_000, seed=1)
    gamma = ((counts.codes[:, None] >> np.arange(30)) & 1).T @ counts.counts / 20_000
    assert np.abs(gamma - design.Q @ w).max() < 6 * 0.5 / np.sqrt(20_000)
    assert sp.simulate(design, w, 20_000, seed=1).codes.tolist() == counts.codes.tolist()


def test_many_samples():
    batch = sp.simulate_many(ASKED, W, n=500, size=400, seed=1)
    assert len(batch) == 400
    assert batch.counts.shape == (400, 6)
    assert (batch.counts.sum(axis=1) == 500).all()
    assert chisquare(batch.counts.sum(axis=0), 400 * 500 * subset_probabilities(ASKED, W)[1]).pvalue > 1e-4
    assert len({tuple(row) for row in batch.counts.tolist()}) > 390  # samples, not copies
    assert batch[3].counts.tolist() == batch.counts[3].tolist()
    assert [sample.n for sample in batch] == [500] * 400
    again = sp.simulate_many(ASKED, W, n=500, size=400, seed=1)
    assert again.counts.tolist() == batch.counts.tolist()


def test_many_samples_of_nobody():
    assert sp.simulate_many(ASKED, W, n=0, size=2, seed=1).counts.tolist() == [[0] * 6] * 2


@every_case(
    ("call", "error", "argument"),
    [
        (lambda: sp.simulate(ASKED, W, -1), ArgumentError, "n"),
        (lambda: sp.simulate(ASKED, W, 10.0), ArgumentError, "n"),
        (lambda: sp.simulate(ASKED, W[:3], 10), DistributionError, "w"),
        (lambda: sp.simulate(ASKED, [0.5, 0.5, 0.5, -0.5], 10), DistributionError, "w"),
        (lambda: sp.simulate(ASKED, W / 2, 10), DistributionError, "w"),
        (lambda: sp.simulate(ASKED, W, 10, seed="x"), ArgumentError, "seed"),
        (lambda: sp.simulate("uniform", W, 10), ArgumentError, "design"),
        (lambda: sp.simulate(UNKNOWN, W, 10), UnknownDesignError, None),
        (lambda: sp.simulate_many("uniform", W, 10, 2), ArgumentError, "design"),
        (lambda: sp.simulate_many(ASKED, W, 10, 0), ArgumentError, "size"),
        (lambda: sp.simulate_many(ASKED, W, -1, 2), ArgumentError, "n"),
    ],
)
def test_arguments_are_checked(call, error, argument):
    with refused(error, argument):
        call()


def test_many_samples_of_a_design_too_large_to_list():
    batch = sp.simulate_many(sp.uniform(range(30)), np.full(30, 1 / 30), n=100, size=3, seed=1)
    assert batch.counts.sum(axis=1).tolist() == [100] * 3
    assert (batch.counts.max(axis=0) > 0).all()
