"""`estimate` and `estimate_many`: what they refuse, what they pass on, what they gather."""

import pickle
import warnings

import numpy as np
import pytest
from every_case import every_case
from problems import lopsided, lopsided_conditional, quietly
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.errors import (
    ArgumentError,
    ConvergenceWarning,
    DistributionError,
    NoDataError,
    NotIdentifiableError,
    NotIndependentError,
    NotUniqueWarning,
)
from subsetprivacy.estimation.dispatch import METHODS
from subsetprivacy.messages import NoteKind

W = np.array([0.1, 0.2, 0.3, 0.4])


@pytest.fixture(scope="module")
def counts():
    return sp.simulate(lopsided(), W, 500, seed=1)


def test_data_and_their_counts_give_the_same(counts):
    data = sp.privatize(list("abcdd") * 40, lopsided(), seed=1)
    assert np.array_equal(sp.estimate(data).w, sp.estimate(data.counts()).w)


# What is refused ----------------------------------------------------------------------------------


@every_case("method", METHODS)
def test_a_design_that_cannot_tell_is_refused(method):
    design = sp.conditional(list("abcd"), {("a", "b"): 1.0, ("c", "d"): 1.0})
    counts = sp.SubsetCounts([3, 12], [10, 10], design)
    with pytest.raises(NotIdentifiableError):
        sp.estimate(counts, method)


def test_nothing_published_and_nobody_asked():
    silent = sp.privatize(list("abcd"), sp.fully_private(list("abcd")))
    with pytest.raises(NoDataError):
        sp.estimate(silent)
    with pytest.raises(NoDataError):
        sp.estimate(sp.SubsetData([], lopsided()))
    with pytest.raises(NoDataError):
        sp.estimate(sp.SubsetCounts([3, 12], [0, 0], lopsided()))


def test_one_subset_reported_by_everybody():
    coarse = sp.count([{"a", "b"}] * 9 + [None], categories=list("abc"))
    with pytest.raises(NotIdentifiableError):
        sp.estimate(coarse)
    with quietly():  # under a known design it is a sample like any other
        assert sp.estimate(sp.SubsetCounts([3], [9], lopsided())).w[:2].sum() == pytest.approx(1)


@every_case("method", ["MLE", "", None, 3, ["mle"]])
def test_an_unknown_method_is_answered_with_the_list(counts, method):
    with refused(ArgumentError, "method"):
        sp.estimate(counts, method)
    with refused(ArgumentError, "method"):
        sp.estimate_many([counts], method)


@every_case(("method", "option"), [("mle", {"accelerate": True}), ("mom", {"tol": 1e-6}), ("em", {"x": 1})])
def test_an_unknown_option_is_named(counts, method, option):
    with pytest.raises(ArgumentError, match=f"options of method '{method}' .*'{next(iter(option))}'"):
        sp.estimate(counts, method, **option)


@every_case("data", [[3, 12], {"a": 3}, "3", None, np.array([3, 12]), lopsided()], ids=str)
def test_only_subset_data_and_counts_are_taken(data):
    with refused(ArgumentError, "data"):
        sp.estimate(data)


@every_case("tol", [0, -1e-9, 1, float("nan"), "small", None])
@every_case("method", ["mle", "em", "icm", "conic"])
def test_a_bad_tolerance(counts, method, tol):
    with refused(ArgumentError, "tol"):
        sp.estimate(counts, method, tol=tol)


@every_case("max_iter", [0, -1, 2.5, "many", True])
def test_a_bad_limit(counts, max_iter):
    with refused(ArgumentError, "max_iter"):
        sp.estimate(counts, "em", max_iter=max_iter)


@every_case("method", ["mle", "em", "icm"])
def test_a_bad_start(counts, method):
    with refused(DistributionError, "start"):
        sp.estimate(counts, method, start=[0.5] * 4)
    with refused(DistributionError, "start"):
        sp.estimate(counts, method, start={"a": 1.0})


def test_a_start_of_one_step_is_a_name(counts):
    with refused(ArgumentError, "start"):
        sp.estimate(counts, "one-step", start="em")
    with pytest.raises(NotIndependentError):
        sp.estimate(sp.simulate(lopsided_conditional(), W, 300, seed=1), "one-step", start="mom-conditional")


# Doubt --------------------------------------------------------------------------------------------


@every_case("method", ["mle", "em", "icm", "conic"])
def test_several_maxima_are_named(method):
    # Only ab and cd were seen, under a design that could have asked more: a and b can trade.
    counts = sp.SubsetCounts([3, 12], [6, 4], sp.uniform(list("abcd")))
    with pytest.warns(
        NotUniqueWarning, match=r"moving weight from \{a\} to \{b\} changes no subset's probability"
    ) as w:
        fit = sp.estimate(counts, method)
    assert w[0].filename == __file__
    assert fit.w[:2].sum() == pytest.approx(0.6, abs=1e-6)
    assert NoteKind.NOT_UNIQUE in [note.kind for note in fit.notes]


def test_weights_of_a_direction_are_whole_numbers():
    # Three questions and their answers, all of which 2a + d against b + c + e leaves as they are.
    answers = {"bd": 4, "ace": 6, "cd": 4, "abe": 6, "de": 4, "abc": 6}
    design = sp.uniform(list("abcde"))
    codes = [design.categories.code(tuple(subset)) for subset in answers]
    with pytest.warns(NotUniqueWarning, match=r"\{2·a, d\}"):
        sp.estimate(sp.SubsetCounts(codes, list(answers.values()), design))


def test_coarse_estimates_say_what_they_assume():
    fit = sp.estimate(sp.count([{"a", "b"}, {"b", "c"}, {"a", "c"}], categories=list("abc")))
    assert "coarsening at random is assumed" in str(fit.summary())


# Large and odd samples ----------------------------------------------------------------------------


@every_case("n", [30, 60, 1000, 20_000])
def test_forty_eight_categories(n):
    rng = np.random.default_rng(1)
    w = rng.random(48) ** 3
    counts = sp.simulate(sp.uniform(range(48)), w / w.sum(), n, seed=1)
    assert len(counts.observed_codes) == n  # every person has a subset of her own
    with quietly():
        fit = sp.estimate(counts)
        assert fit.gap <= 1.1e-9
        assert (fit.se > 0).all()
    if n == 20_000:
        assert np.abs(fit.w - w / w.sum()).max() < 0.1


def test_singletons_are_counted_like_any_subset():
    answers = [{"a"}] * 30 + [{"b"}] * 20 + [{"a", "b"}] * 25 + [{"c"}] * 25
    fit = sp.estimate(sp.count(answers, categories=list("abc")), tol=1e-13)
    # c is told apart in every row; a and b share their ambiguous rows as their plain ones: 3 to 2.
    assert fit.w == pytest.approx([0.45, 0.30, 0.25])


def test_very_unequal_weights_converge():
    rng = np.random.default_rng(3)
    data = sp.privatize(rng.choice(list("abcd"), 300), sp.uniform(list("abcd")), seed=rng)
    for decades in (2, 6, 100):
        weights = np.where(data.codes == data.codes[0], 10.0**-decades, 1.0)
        fit = sp.estimate(sp.count(data, weights=weights, weights_kind="sampling"))
        assert fit.gap <= 1.1e-9


def test_acceleration_survives_two_steps_that_are_alike():
    # At a fixed point the second difference is exactly zero; the extrapolation must not overflow.
    counts = sp.simulate(sp.uniform(range(5)), [0.1, 0.1, 0.2, 0.2, 0.4], 300, seed=1)
    with quietly():
        fit = sp.estimate(counts, "em", accelerate=True, tol=1e-300, max_iter=3000)
    assert fit.gap < 1e-14


# Many samples -------------------------------------------------------------------------------------


def test_a_batch_is_its_estimates(counts):
    samples = sp.simulate_many(lopsided(), W, 400, 5, seed=2)
    batch = sp.estimate_many(samples, "mom")
    assert len(batch) == 5
    assert repr(batch) == "<EstimateBatch: 5 estimates by mom>"
    assert batch.categories == counts.categories
    one = sp.estimate(samples[3], "mom")
    assert np.array_equal(batch[3].w, one.w)
    assert np.array_equal(batch.w[3], one.w)
    assert batch.se[3] == pytest.approx(one._se)
    assert batch.loglik.shape == batch.gap.shape == batch.converged.shape == (5,)
    assert [fit.n for fit in batch] == [400] * 5


def test_a_batch_takes_groups_and_options(counts):
    groups = sp.count(sp.privatize(list("abcd") * 50, lopsided(), seed=1), by=["x", "y"] * 100)
    batch = sp.estimate_many(groups.values(), "em", tol=1e-6)
    assert len(batch) == 2
    assert (batch.gap <= 1e-6).all()


def test_warnings_of_many_samples_are_gathered():
    samples = sp.simulate_many(sp.uniform(range(6)), np.arange(1, 7) / 21, 50, 4, seed=1)
    with pytest.warns(ConvergenceWarning, match="4 of 4 samples did not converge, first sample 0") as caught:
        sp.estimate_many(samples, "em", max_iter=2)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_samples_without_a_unique_estimate_are_counted(counts):
    flat = sp.SubsetCounts([3, 12], [6, 4], lopsided())
    with pytest.warns(NotUniqueWarning, match="2 of 3 samples have no unique estimate, first sample 1") as caught:
        batch = sp.estimate_many([counts, flat, flat])
    assert len(caught) == 1
    assert len(batch) == 3


def test_a_failing_sample_is_named(counts):
    empty = sp.SubsetCounts([3], [0], lopsided())
    with pytest.raises(NoDataError):
        sp.estimate_many([counts, counts, empty])
    with pytest.raises(ArgumentError, match=r"sample 0: .*must be SubsetData or SubsetCounts"):
        sp.estimate_many([[1, 2, 3]])


def test_no_samples():
    with refused(ArgumentError, "batch"):
        sp.estimate_many([])


@every_case("method", ["mle", "em", "mom", "mom-conditional", "mom-uniform", "one-step"])
def test_estimates_travel(method):
    # To another process, or into a cache.
    fit = sp.estimate(sp.simulate(sp.uniform(range(5)), np.full(5, 0.2), 500, seed=1), method)
    for original in (fit, fit.projected()):
        again = pickle.loads(pickle.dumps(original))
        assert again.w.tolist() == original.w.tolist()
        assert again._cov == pytest.approx(original._cov)


def test_counts_of_many_magnitudes_still_converge():
    # Rank-deficient, with shares from 1 to 1e-8: a plain ridge stalls here.
    rng = np.random.default_rng(8)
    for _ in range(200):
        p = int(rng.integers(3, 8))
        sets = rng.choice(np.arange(1, 2**p - 1), int(rng.integers(2, p + 2)), replace=False)
        amounts = np.maximum(10 ** rng.uniform(0, 8, len(sets)), 1).astype(int)
        rows = sp.SubsetCounts(sets, amounts, coarse(range(p)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotUniqueWarning)
            assert sp.estimate(rows).gap <= 1e-9
