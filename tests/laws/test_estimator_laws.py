"""What must hold for every sample, whatever its numbers."""

import itertools
import warnings

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import (
    exact_counts,
    lopsided,
    lopsided_conditional,
    mixture,
    quietly,
    random_counts,
    random_distribution,
    with_full_question,
)

import subsetprivacy as sp
from subsetprivacy.data import count_codes
from subsetprivacy.design import Coarse, Uniform
from subsetprivacy.errors import ConvergenceWarning, NotIdentifiableError
from subsetprivacy.estimation.dispatch import METHODS
from subsetprivacy.estimation.likelihood import certified_gap, mean_loglik
from subsetprivacy.estimation.mom import mean_indicator
from subsetprivacy.estimation.mom_conditional import asked_Q

TENTHS = np.array([1, 2, 3, 4]) / 10
EXACT = {
    "uniform": (sp.uniform(list("abcd")), TENTHS, 30),
    "uniform 5": (sp.uniform(range(5)), np.array([1, 1, 2, 2, 4]) / 10, 100),
    "uniform 8": (sp.uniform(range(8)), np.arange(1, 9) / 36, 119 * 36),
    "lopsided": (lopsided(), TENTHS, 100),
    "conditional": (lopsided_conditional(), TENTHS, 100),
    "full question": (with_full_question(), TENTHS, 100),
    "mixture": (mixture(), TENTHS, 600),
    "nonprivate": (sp.nonprivate(list("abcd")), TENTHS, 10),
    "a true zero": (sp.uniform(list("abcd")), np.array([0, 2, 3, 5]) / 10, 30),
}
TIGHT = {
    "mle": {"tol": 1e-13},
    "em": {"tol": 1e-13, "accelerate": True},
    "icm": {"tol": 1e-13},
    "conic": {"tol": 1e-12},
}


def suits(method, design):
    """Whether the method is one for this design."""
    if method == "mom-uniform":
        return isinstance(design, Uniform)
    if method == "mom-conditional":
        return design.is_independent
    return True


def cases(names=EXACT, methods=METHODS):
    return [pytest.param(n, m, id=f"{m}-{n}") for n in names for m in methods if suits(m, EXACT[n][0])]


# The truth comes back -----------------------------------------------------------------------------


@every_case(("name", "method"), cases())
def test_exact_expected_counts_return_the_distribution(name, method):
    design, w, n = EXACT[name]
    fit = sp.estimate(exact_counts(design, w, n), method, **TIGHT.get(method, {}))
    # One step lifts a zero to a floor of 1/(2n), and the conic solver stops where its own scale ends.
    slack = 1 / n if method == "one-step" and w.min() == 0 else 1e-6
    assert fit.w == pytest.approx(w, abs=slack)


@every_case("method", ["mom", "mom-uniform", "mom-conditional"])
def test_closed_forms_return_it_to_the_last_digits(method):
    design, w, n = EXACT["uniform 8"]
    assert sp.estimate(exact_counts(design, w, n), method).w == pytest.approx(w, abs=1e-14)


# Symmetries ---------------------------------------------------------------------------------------


def relabeled(counts, order):
    """The same people with the categories in another order, and the design likewise."""
    labels = [counts.categories.labels[j] for j in order]
    position = np.argsort(order)  # where each old category went

    def move(codes):
        return sum((codes >> j & 1) << int(position[j]) for j in range(counts.categories.p))

    if isinstance(counts.design, Uniform):
        design = sp.uniform(labels)
    elif counts.design.is_independent:
        design = sp.independent(labels, dict(zip(move(counts.design.questions).tolist(), counts.design.nu)))
    else:
        codes, mu = counts.design.support()
        design = sp.conditional(labels, dict(zip(move(codes).tolist(), mu)))
    return sp.SubsetCounts(move(counts.codes), counts.counts, design)


@every_case(("name", "method"), cases(["uniform 5", "lopsided", "conditional"]))
def test_relabelling_permutes_the_answer(name, method):
    design, w, _ = EXACT[name]
    counts = sp.simulate(design, w, 700, seed=4)
    order = np.random.default_rng(1).permutation(design.p)
    fit, moved = (sp.estimate(c, method, **TIGHT.get(method, {})) for c in (counts, relabeled(counts, order)))
    assert moved.categories.labels == tuple(counts.categories.labels[j] for j in order)
    assert moved.w == pytest.approx(fit.w[order], abs=1e-6)
    with quietly():
        assert moved.se == pytest.approx(fit.se[order], rel=1e-4)


@every_case("method", METHODS)
def test_frequency_weight_two_is_the_row_twice(method):
    design = sp.uniform(range(5))
    data = sp.privatize(np.repeat(np.arange(5), [10, 20, 30, 60, 80]), design, seed=2)
    weights = 1 + np.arange(len(data)) % 2
    twice = sp.SubsetData(np.repeat(data.codes, weights), design)
    weighted = sp.estimate(sp.count(data, weights=weights, weights_kind="frequency"), method)
    repeated = sp.estimate(twice, method)
    with quietly():
        assert np.array_equal(weighted.w, repeated.w)
        assert np.array_equal(weighted.se, repeated.se)
    assert weighted.n == repeated.n == weights.sum()


@every_case("method", METHODS)
def test_full_sets_change_nothing(method):
    design = sp.uniform(range(5))
    counts = sp.simulate(design, [0.1, 0.1, 0.2, 0.2, 0.4], 800, seed=3)
    full = sp.SubsetCounts([design.categories.full], [123], design)
    fit, again = sp.estimate(counts, method), sp.estimate(counts + full, method)
    assert again.w == pytest.approx(fit.w, abs=1e-12)
    assert again.n == fit.n == 800
    assert again.n_missing == 123
    with quietly():
        assert again.se == pytest.approx(fit.se, rel=1e-9)


def test_full_sets_that_the_design_draws_are_left_out_of_moments_too():
    # Half of the people learn nothing: the moments of the others must still be those of w.
    weights = {("a", "b"): 0.5, ("c", "d"): 0.5, ("a", "c"): 0.25, ("b", "d"): 0.25}
    weights |= {("a", "d"): 0.15, ("b", "c"): 0.15, ("a", "b", "c", "d"): 0.1}
    counts = exact_counts(sp.conditional(list("abcd"), weights), TENTHS, 200)
    assert counts.n_missing == 20
    assert sp.estimate(counts, "mom").w == pytest.approx(TENTHS, abs=1e-12)


def test_counts_of_two_designs_have_one_likelihood():
    one = sp.simulate(sp.uniform(list("abcd")), TENTHS, 300, seed=5)
    two = sp.simulate(lopsided_conditional(), TENTHS, 400, seed=6)
    merged = one + two
    fit = sp.estimate(merged, tol=1e-13)
    # The likelihood knows no design: the sum over all people, whoever asked them.
    parts = sum(c.total * mean_loglik(c.incidence, c.shares, fit.w) for c in (one, two))
    assert fit.loglik == pytest.approx(parts)
    coarse = sp.SubsetCounts(merged.codes, merged.counts, Coarse(merged.categories))
    assert sp.estimate(coarse, tol=1e-13).w == pytest.approx(fit.w, abs=1e-9)
    for alone in (sp.estimate(one), sp.estimate(two)):
        assert fit.loglik >= sum(c.total * mean_loglik(c.incidence, c.shares, alone.w) for c in (one, two))


def test_counts_of_two_designs_have_the_averaged_moments():
    one = exact_counts(sp.uniform(list("abcd")), TENTHS, 300)
    two = exact_counts(lopsided_conditional(), TENTHS, 400)  # of whom 80 are told nothing
    fit = sp.estimate(one + two, "mom")
    assert fit.w == pytest.approx(TENTHS, abs=1e-12)


# Iterations ---------------------------------------------------------------------------------------


@every_case(("method", "options"), [("em", {}), ("em", {"accelerate": True}), ("icm", {}), ("mle", {})], ids=str)
@every_case("k", [1, 5, 7, 13, 16, 39])  # of the mixed lot: zeros, rare categories, few people
def test_the_likelihood_never_falls(method, options, k):
    counts = random_counts(k, np.random.default_rng(k))
    start = random_distribution(counts.categories.p, np.random.default_rng(k))
    heights = [mean_loglik(counts.incidence, counts.shares, start)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for steps in range(1, 40):
            fit = sp.estimate(counts, method, max_iter=steps, tol=1e-15, start=start, **options)
            heights.append(fit.loglik / counts.total)
    # A start is drawn a thousandth towards the middle, so the first comparison is between iterates.
    assert np.diff(heights[1:]).min() >= -1e-14
    assert heights[-1] > heights[1]


@given(
    amounts=st.lists(st.integers(0, 40), min_size=20, max_size=20).filter(lambda x: sum(v > 0 for v in x) >= 2),
    weights=st.lists(st.integers(0, 100), min_size=5, max_size=5).filter(lambda x: sum(x) > 0),
)
@settings(max_examples=150, deadline=None)
def test_the_gap_bounds_what_is_still_to_be_gained(amounts, weights):
    design = sp.uniform(range(5))
    counts = sp.SubsetCounts(design.support()[0], amounts, design)
    w = np.array(weights) / sum(weights)
    with quietly():
        best = sp.estimate(counts, tol=1e-12)
    gap = certified_gap(counts.incidence, counts.shares, w)
    if counts.incidence.inner(w).min() > 0:
        s = counts.incidence.spread(counts.shares / counts.incidence.inner(w))
        assert gap == pytest.approx(max(s.max() - s @ w, 0))  # max_j s_j - s'w
    else:
        assert np.isnan(gap)
        return
    gained = best.loglik / counts.total - mean_loglik(counts.incidence, counts.shares, w)
    assert -1e-11 <= gained <= gap + 1e-11


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_default_proves_itself(seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(int(rng.integers(200)), rng)
    with quietly():
        fit = sp.estimate(counts)
    assert fit.converged
    assert fit.trace[-1] <= 1e-9
    assert fit.gap <= 1.1e-9  # computed again, from the distribution that is returned
    assert len(fit.trace) == fit.iterations + 1
    assert fit.w.min() >= 0
    assert fit.w.sum() == pytest.approx(1, abs=1e-12)


@every_case("method", ["mle", "em", "icm"])
def test_a_start_changes_the_way_and_not_the_end(method):
    counts = sp.simulate(sp.uniform(range(6)), np.arange(1, 7) / 21, 2000, seed=8)
    options = TIGHT[method]
    fits = [
        sp.estimate(counts, method, start=start, **options)
        for start in (None, [1, 0, 0, 0, 0, 0], {j: (j + 1) / 21 for j in range(6)})
    ]
    for fit in fits[1:]:
        assert fit.w == pytest.approx(fits[0].w, abs=1e-7)
    assert fits[2].trace[0] < 0.1 * fits[1].trace[0]  # the truth is nearer than a corner: the start is used


# Moments ------------------------------------------------------------------------------------------


@every_case(
    ("name", "method", "n"),
    [
        ("uniform", "mom", 3),
        ("uniform", "mom-uniform", 2),
        ("uniform 5", "mom", 2),
        ("uniform 5", "mom-uniform", 2),
        ("lopsided", "mom", 3),
        ("conditional", "mom", 2),
    ],
)
def test_moments_are_unbiased_over_all_samples(name, method, n):
    design, w, _ = EXACT[name]
    codes, mu = design.support()
    P = mu * design.support_incidence.inner(w)
    mean, mass = np.zeros(design.p), 0.0
    for sample in itertools.product(range(len(codes)), repeat=n):
        people = codes[list(sample)]
        if (people == design.categories.full).all():
            continue  # nobody said anything: there is no estimate, and none is averaged
        estimate = sp.estimate(count_codes(people, design), method).w
        mean += P[list(sample)].prod() * estimate
        mass += P[list(sample)].prod()
    assert mean / mass == pytest.approx(w, abs=1e-12)


def test_conditional_moments_are_unbiased_over_all_answers():
    # Six people, asked ab, ac and ad, with answers of every kind: 64 samples.
    design = lopsided()
    asked = np.array([design.categories.code(tuple(pair)) for pair in ("ab", "ab", "ac", "ac", "ad", "ad")])
    size = np.array([TENTHS[[j for j in range(4) if q >> j & 1]].sum() for q in asked])
    mean = np.zeros(4)
    for answers in itertools.product([True, False], repeat=6):
        codes = np.where(answers, asked, design.categories.full - asked)
        mean += np.where(answers, size, 1 - size).prod() * sp.estimate(count_codes(codes, design), "mom-conditional").w
    assert mean == pytest.approx(TENTHS, abs=1e-12)


@given(st.lists(st.integers(1, 30), min_size=3, max_size=3))
@settings(max_examples=40, deadline=None)
def test_conditional_moments_do_not_need_the_law_of_the_questions(asked):
    # However often each question was asked: expected answers return w, and the matrix does not see the answers.
    design = lopsided()
    ask = [design.categories.code(tuple(pair)) for pair in ("ab", "ac", "ad")]
    yes = {q: m * 10 * round(10 * TENTHS[[j for j in range(4) if q >> j & 1]].sum()) for q, m in zip(ask, asked)}
    people = yes | {15 - q: 100 * m - yes[q] for q, m in zip(ask, asked)}
    counts = sp.SubsetCounts(list(people), list(people.values()), design)
    assert sp.estimate(counts, "mom-conditional").w == pytest.approx(TENTHS, abs=1e-11)
    all_yes = sp.SubsetCounts(ask, [100 * m for m in asked], design)
    seen, other = (asked_Q(c, mean_indicator(c)) for c in (counts, all_yes))
    assert seen == pytest.approx(other)


@given(st.lists(st.integers(1, 50), min_size=6, max_size=6))
@settings(max_examples=80, deadline=None)
def test_at_four_categories_conditional_moments_are_the_maximum(amounts):
    design = sp.uniform(list("abcd"))
    counts = sp.SubsetCounts(design.support()[0], amounts, design)
    moments = sp.estimate(counts, "mom-conditional")
    assert moments.w.sum() == pytest.approx(1)
    if moments.w.min() < 1e-6:
        return
    assert sp.estimate(counts, tol=1e-14).w == pytest.approx(moments.w, abs=1e-7)


@every_case("p", [4, 5, 6, 8])
def test_the_closed_form_is_the_moment_estimate_at_four_only(p):
    w = np.arange(1, p + 1) / (p * (p + 1) / 2)
    counts = sp.simulate(sp.uniform(range(p)), w, 300, seed=p)
    solved, closed = sp.estimate(counts, "mom"), sp.estimate(counts, "mom-uniform")
    distance = np.abs(solved.w - closed.w).max()
    assert distance < 1e-13 if p == 4 else distance > 1e-4
    # Neither sums to one from five on, where the size of a subset varies; the solved one is nearer.
    assert abs(closed.w.sum() - 1) >= abs(solved.w.sum() - 1) - 1e-12


# One step -----------------------------------------------------------------------------------------


def test_one_step_ends_near_the_maximum():
    w = np.arange(1, 7) / 21
    samples = sp.simulate_many(sp.uniform(range(6)), w, 4000, 50, seed=9)
    best = sp.estimate_many(samples).w
    for start in ("mom", "mom-conditional"):
        moments = sp.estimate_many(samples, start).w
        steps = sp.estimate_many(samples, "one-step", start=start).w
        # The distance to the maximum is squared by a step of Newton: here it falls at least tenfold.
        assert np.abs(steps - best).mean() < 0.1 * np.abs(moments - best).mean()
    chosen = sp.estimate_many(samples, "one-step").w
    assert np.array_equal(chosen, steps)  # moments given the questions are the start where there are some


def test_one_step_stays_off_the_boundary():
    counts = sp.simulate(sp.uniform(range(6)), [0, 0, 0.1, 0.2, 0.3, 0.4], 200, seed=1)
    fit = sp.estimate(counts, "one-step")
    # The floor is half a person; renormalizing takes a little of it.
    assert 0.9 / 400 < fit.w.min() < 1 / 400
    assert np.isfinite(fit.loglik)


def test_one_step_refuses_what_newton_cannot_invert():
    design = sp.uniform(range(8))
    counts = sp.SubsetCounts(design.support()[0][:3], [5, 5, 5], design)
    with pytest.raises(NotIdentifiableError):
        sp.estimate(counts, "one-step")


def test_one_step_falls_back_to_plain_moments():
    # Two distinct answers do not identify the questions asked, so `auto` starts from plain moments.
    counts = sp.simulate(lopsided_conditional(), TENTHS, 500, seed=1)
    fit = sp.estimate(counts, "one-step")
    assert np.array_equal(fit.w, sp.estimate(counts, "one-step", start="mom").w)


def test_iterations_stop_where_they_are_told():
    counts = sp.simulate(sp.uniform(range(6)), np.arange(1, 7) / 21, 500, seed=1)
    for method in ("mle", "em", "icm"):
        with pytest.warns(ConvergenceWarning, match=f"{method} stopped after 2 iterations"):
            fit = sp.estimate(counts, method, max_iter=2, tol=1e-14)
        assert fit.iterations == 2
        assert len(fit.trace) == 3
