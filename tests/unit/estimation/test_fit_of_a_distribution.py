"""The test of a known distribution."""

import numpy as np
import pytest
from every_case import every_case
from problems import lopsided, mixture, with_full_question
from refusals import refused
from scipy.stats import chi2, kstest, power_divergence

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.errors import ArgumentError, DistributionError, NoDataError
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_estimates import CHI_SQUARE_NULL, UNWEIGHTED

U4 = sp.uniform(list("abcd"))
W = [0.1, 0.2, 0.3, 0.4]


def direct(*counts):
    design = sp.nonprivate([chr(97 + k) for k in range(len(counts))])
    seen = [(1 << k, n) for k, n in enumerate(counts) if n]
    return sp.SubsetCounts([code for code, _ in seen], [n for _, n in seen], design)


@every_case("counts", [(30, 50, 20), (8, 0, 12, 5), (700, 300)])
def test_values_seen_directly_have_the_likelihood_ratio_of_scipy(counts):
    reference = np.arange(1, len(counts) + 1) / np.arange(1, len(counts) + 1).sum()
    result = sp.fit_test(direct(*counts), reference, null="chi-square")
    expected = power_divergence(counts, reference * sum(counts), lambda_="log-likelihood")
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert result.df == len(counts) - 1
    assert result.pvalue == result.chi_square_pvalue == pytest.approx(expected.pvalue, rel=1e-5)
    assert (result.replications, result.pvalue_se) == (0, 0)


@every_case("design", [U4, lopsided(), mixture(), sp.covered(U4, 0.2)], ids=["u", "l", "m", "c"])
def test_the_statistic_is_twice_the_missing_likelihood(design):
    counts = sp.simulate(design, W, 500, seed=1)
    reference = np.array([0.2, 0.2, 0.3, 0.3])
    result = sp.fit_test(counts, dict(zip("abcd", reference, strict=True)), replications=99, seed=1)
    fit = sp.estimate(counts)
    at_reference = counts.n_a @ np.log(counts.incidence.inner(reference))
    assert result.statistic == pytest.approx(2 * (fit.loglik - at_reference), rel=1e-5)
    assert result.estimate == pytest.approx(fit.w, abs=1e-4)
    assert result.pvalue == (1 + (result.statistics >= result.statistic).sum()) / 100
    assert result.pvalue_se == pytest.approx(np.sqrt(result.pvalue * (1 - result.pvalue) / 100))


def test_samples_have_as_many_people(monkeypatch):
    asked = []
    simulate_many = sp.simulate_many
    monkeypatch.setattr(
        "subsetprivacy.estimation.fit_test.simulate_many",
        lambda design, w, n, size, seed: (asked.append(n), simulate_many(design, w, n, size, seed=seed))[1],
    )
    for design in (U4, sp.covered(U4, 0.2), with_full_question()):
        sp.fit_test(sp.simulate(design, W, 300, seed=1), W, replications=19, seed=1)
    assert asked[:2] == [300, 300]  # dummy rows are nobody
    assert asked[2] == pytest.approx(300, abs=25)  # of whom one in ten says nothing


def test_drawn_statistics_have_the_chi_square_law_in_a_large_sample():
    result = sp.fit_test(sp.simulate(U4, W, 5000, seed=1), W, replications=999, seed=2)
    assert kstest(result.statistics, chi2(3).cdf).pvalue > 0.001
    assert result.pvalue == pytest.approx(result.chi_square_pvalue, abs=0.06)


def test_other_distributions_are_rejected():
    counts = sp.simulate(U4, W, 2000, seed=1)
    result = sp.fit_test(counts, [0.25] * 4, replications=199, seed=1)
    assert result.pvalue == 1 / 200
    assert result.chi_square_pvalue < 1e-6


def test_a_reference_with_zeros():
    possible = sp.simulate(U4, [0.5, 0.3, 0.2, 0], 500, seed=1)
    kept = sp.fit_test(possible, [0.5, 0.3, 0.2, 0], replications=199, seed=1)
    assert kept.pvalue > 0.01
    assert [note.kind for note in kept.notes] == [NoteKind.BOUNDARY]
    # The subset cd was reported, which this reference rules out.
    ruled_out = sp.fit_test(sp.simulate(U4, W, 500, seed=1), [0.5, 0.5, 0, 0], replications=99, seed=1)
    assert ruled_out.statistic == np.inf
    assert ruled_out.pvalue == 0.01
    again = sp.FitTest.from_dict(ruled_out.to_dict())
    assert again.statistic == np.inf


def test_many_categories():
    design = sp.hadamard(range(70))
    result = sp.fit_test(
        sp.simulate(design, np.full(70, 1 / 70), 2000, seed=1), np.full(70, 1 / 70), replications=19, seed=1
    )
    assert len(result.statistics) == 19
    assert result.pvalue > 0.05
    # On the boundary, as here, chi-square with all degrees of freedom is far too large.
    assert NoteKind.BOUNDARY in [note.kind for note in result.notes]


def test_progress_is_told():
    seen = []
    sp.fit_test(sp.simulate(U4, W, 100, seed=1), W, replications=30, seed=1, progress=lambda *done: seen.append(done))
    assert seen[-1] == (30, 30)


def test_subsets_of_an_unknown_design():
    counts = sp.SubsetCounts([3, 12, 5, 10, 6, 9], [10, 11, 10, 14, 10, 10], coarse(list("abcd")))
    with refused(ArgumentError, "data") as caught:
        sp.fit_test(counts, [0.25] * 4)
    assert caught.value.advice.advice is CHI_SQUARE_NULL
    assert sp.fit_test(counts, [0.25] * 4, null="chi-square").pvalue > 0.1


def test_sampling_weights_are_refused():
    counts = sp.simulate(U4, W, 300, seed=1)
    weighted = sp.SubsetCounts(counts.codes, 2.0 * counts.counts, U4, squares=4.0 * counts.counts)
    with refused(ArgumentError, "data") as caught:
        sp.fit_test(weighted, W)
    assert caught.value.advice.advice is UNWEIGHTED


def test_arguments_out_of_range():
    counts = sp.simulate(U4, W, 300, seed=1)
    for reference in ([0.1, 0.2], [0.3] * 4, {"a": 1}, "abcd", None, [0.5, 0.7, -0.2, 0]):
        with refused(DistributionError, "reference"):
            sp.fit_test(counts, reference)
    with refused(ArgumentError, "null"):
        sp.fit_test(counts, W, null="exact")
    for replications in (3, 99.5, True):
        with refused(ArgumentError, "replications"):
            sp.fit_test(counts, W, replications=replications)
    with refused(ArgumentError, "data"):
        sp.fit_test([3, 5], W)
    with pytest.raises(NoDataError):
        sp.fit_test(sp.SubsetCounts([], [], U4), W)


def test_output():
    result = sp.fit_test(sp.simulate(U4, W, 300, seed=1), [0.25] * 4, replications=99, seed=1)
    text = str(result.summary())
    assert f"Likelihood ratio {result.statistic:.2f}, df 3" in text
    assert "from 99 samples drawn under the reference" in text
    assert result.to_frame()["share"].to_numpy() == pytest.approx(result.estimate)
    plt = pytest.importorskip("matplotlib.pyplot")
    assert result.plot() is not None
    assert sp.fit_test(sp.simulate(U4, W, 300, seed=1), W, null="chi-square").plot() is not None
    plt.close("all")
