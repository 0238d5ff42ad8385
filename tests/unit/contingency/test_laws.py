"""What holds of every log-linear model: labels, orders and codings do not matter, and known margins are kept."""

from itertools import pairwise

import numpy as np
import pytest
from every_case import every_case
from oracles import most_likely
from problems import quietly

import subsetprivacy as sp
from subsetprivacy.messages import NoteKind

DESIGNS = {"a": sp.uniform(list("wxyz")), "b": sp.warner(["n", "y"], 0.8), "c": sp.nonprivate(["s", "t"])}
THREE = sp.product(DESIGNS)
SHARES = np.random.default_rng(7).dirichlet(np.full(16, 6.0))
COUNTS = sp.simulate(THREE, SHARES, 6000, seed=1)
MODEL = "[a b][b c]"


def fitted(counts, model=MODEL, **options):
    with quietly():
        return sp.loglinear(counts, model, **options)


FIT = fitted(COUNTS)


def test_exact_counts_give_the_shares_back():
    """With the expected number of people for every report, a model that holds the truth finds it."""
    truth = fitted(COUNTS, MODEL).w.ravel()
    codes, mu = THREE.support()
    expected = mu * THREE.support_incidence.inner(truth)
    kept = ~THREE.is_missing(codes)
    counts = sp.SubsetCounts.trusted(codes[kept], 1e7 * expected[kept], THREE)
    order = np.argsort(counts.codes)
    counts = sp.SubsetCounts.trusted(counts.codes[order], counts.counts[order], THREE)
    for model in (MODEL, "all pairs", "saturated"):
        assert fitted(counts, model).w.ravel() == pytest.approx(truth, abs=1e-6), model


@pytest.mark.parametrize("baseline", [{"a": "w"}, {"a": "z", "b": "n", "c": "s"}])
def test_the_baseline_changes_the_parameters_and_nothing_else(baseline):
    other = fitted(COUNTS, baseline=baseline)
    assert other.baseline.items() >= baseline.items()
    assert other.w == pytest.approx(FIT.w, abs=1e-8)
    assert other.loglik == pytest.approx(FIT.loglik, abs=1e-8)
    assert other.shares("a", "c").se == pytest.approx(FIT.shares("a", "c").se, abs=1e-8)
    assert other.test().statistic == pytest.approx(FIT.test().statistic, abs=1e-6)


def test_the_order_of_the_variables_does_not_matter():
    turned = fitted(sp.crosstab(COUNTS, "c", "b", "a"))
    assert np.transpose(turned.w) == pytest.approx(FIT.w, abs=1e-8)
    assert turned.goodness_of_fit.statistic == pytest.approx(FIT.goodness_of_fit.statistic, abs=1e-5)


def test_people_twice_halve_the_variances():
    twice = fitted(COUNTS + COUNTS)
    assert twice.estimates == pytest.approx(FIT.estimates, abs=1e-6)
    assert 2 * twice.cov == pytest.approx(FIT.cov, rel=1e-4, abs=1e-7)


def test_larger_models_fit_no_worse_and_nested_tests_add_up():
    chain = [fitted(COUNTS, model) for model in ("independence", "[a b][c]", MODEL, "all pairs", "saturated")]
    logliks = [one.loglik for one in chain]
    assert logliks == sorted(logliks)
    steps = [large.compare(small) for small, large in pairwise(chain)]
    whole = chain[-1].compare(chain[0])
    assert sum(step.statistic[0] for step in steps) == pytest.approx(whole.statistic[0], abs=1e-6)
    assert sum(step.df[0] for step in steps) == whole.df[0] == 15 - 5
    assert chain[0].goodness_of_fit.statistic[0] == pytest.approx(whole.statistic[0], abs=1e-5)


def test_margins_of_generators_are_those_of_the_estimate_where_values_are_seen():
    seen = sp.product({name: sp.nonprivate(list(design.categories)) for name, design in DESIGNS.items()})
    counts = sp.simulate(seen, SHARES, 3000, seed=2)
    fit = fitted(counts)
    table = counts.table() / 3000
    assert fit.shares("a", "b").estimate == pytest.approx(table.sum(axis=2).ravel(), abs=1e-8)
    assert fit.n_effective == pytest.approx(3000)


def test_a_test_of_a_generator_is_the_comparison_with_the_model_without_it():
    test = FIT.test()
    assert test.names == ("a:b", "b:c")
    assert test.statistic[0] == pytest.approx(FIT.compare(fitted(COUNTS, "[a][b c]")).statistic[0], abs=1e-6)
    assert list(test.df) == [3, 1]
    whole = fitted(COUNTS, "saturated").test("a:b")
    assert whole.df[0] == 3 + 3, "the term goes with all that contain it"


def test_wald_and_likelihood_ratio_agree_on_many_people():
    counts = sp.simulate(THREE, FIT.w.ravel(), 200_000, seed=3)
    fit = fitted(counts, "all pairs")
    ratio, wald = (fit.test("a:c", method=method) for method in ("lr", "wald"))
    assert wald.statistic == pytest.approx(ratio.statistic, rel=0.05, abs=0.1)
    assert list(wald.df) == list(ratio.df)


# Weights ----------------------------------------------------------------------------------------


def test_equal_weights_give_the_sandwich_and_no_likelihood_ratio():
    weighted = sp.SubsetCounts(COUNTS.codes, 2.0 * COUNTS.counts, THREE, squares=4.0 * COUNTS.counts)
    fit = fitted(weighted)
    assert fit.is_robust
    assert fit.n == pytest.approx(COUNTS.n)
    assert fit.estimates == pytest.approx(FIT.estimates, abs=1e-6)
    assert fit.se == pytest.approx(FIT.se, rel=0.1)
    assert fit.test().method == "robust"
    assert NoteKind.INTERVAL_METHOD in {note.kind for note in fit.notes}
    for ask in (lambda: fit.test(method="lr"), lambda: fit.compare(fit)):
        with pytest.raises(sp.errors.ArgumentError, match="got sampling weights"):
            ask()


def test_the_sandwich_is_that_of_the_scores():
    """Written out: a score for each report, its square times the squares of the weights."""
    rng = np.random.default_rng(0)
    squares = COUNTS.counts * rng.uniform(1, 3, len(COUNTS.counts))
    weighted = sp.SubsetCounts(COUNTS.codes, 1.0 * COUNTS.counts, THREE, squares=squares)
    fit, plain = fitted(weighted), FIT
    w, rows = fit.fit.w, weighted.incidence.inner(np.eye(16)).T
    q = rows * w / (rows @ w)[:, None]
    scores = (q - w) @ fit.structure.rows.T
    meat = (scores * squares[weighted.informative][:, None]).T @ scores
    assert fit.cov == pytest.approx(plain.cov @ meat @ plain.cov, rel=1e-6, abs=1e-9)


# Known margins ----------------------------------------------------------------------------------


def margin(*axes):
    return SHARES.reshape(4, 2, 2).sum(axis=tuple(k for k in range(3) if k not in axes)).ravel()


KNOWN = {"a": dict(zip("wxyz", margin(0)))}


@every_case("model", [MODEL, "all pairs", "saturated"])
@every_case("known", [KNOWN, {**KNOWN, ("b", "c"): margin(1, 2)}, {("c", "b"): margin(1, 2).reshape(2, 2).T.ravel()}])
def test_known_margins_are_kept_and_have_no_error(known, model):
    fit, free = fitted(COUNTS, model, known=known), fitted(COUNTS, model)
    for names in known:
        axes = ["abc".index(name) for name in (names if isinstance(names, tuple) else (names,))]
        result = fit.shares(*("abc"[k] for k in sorted(axes)))
        assert result.estimate == pytest.approx(margin(*axes), abs=1e-9)
        assert result.se == pytest.approx(0, abs=1e-9)
    assert fit.gap <= 1e-8
    assert fit.loglik < free.loglik
    assert fit.df == free.df - sum(len(margin(*("abc".index(n) for n in names))) - 1 for names in known)
    assert fit.shares().se.mean() < free.shares().se.mean()
    assert free.compare(fit).df[0] == free.df - fit.df


def test_known_margins_against_a_certified_maximum():
    """The best table with these margins: in the saturated model the constraints are linear."""
    known = {**KNOWN, "b": margin(1)}
    rows = COUNTS.incidence.inner(np.eye(16)).T
    at = np.unravel_index(np.arange(16), (4, 2, 2))
    A = np.vstack([at[0] == k for k in range(4)] + [at[1] == k for k in range(2)]).astype(float)
    b = np.concatenate([margin(0), margin(1)])
    top, w = most_likely(rows, COUNTS.n_a, A[:-1], b[:-1])
    fit = fitted(COUNTS, "saturated", known=known)
    assert fit.loglik == pytest.approx(top, abs=1e-4)
    assert fit.w.ravel() == pytest.approx(w, abs=1e-4)


def test_covariance_with_known_margins_is_that_of_the_null_space():
    """N(N'GN)^-1 N'/n for linear constraints, with G the information of all shares."""
    fit = fitted(COUNTS, "saturated", known=KNOWN)
    w, inc = fit.fit.w, COUNTS.incidence
    G = inc.gram(COUNTS.n_a / inc.inner(w) ** 2)
    A = np.vstack([np.arange(16) // 4 == k for k in range(4)]).astype(float)
    N = np.linalg.svd(A)[2][4:].T
    cov = N @ np.linalg.inv(N.T @ G @ N) @ N.T
    # The curvature of the fit has the multipliers of the constraints in it, which vanish as people become many.
    assert fit.shares().se == pytest.approx(np.sqrt(np.diag(cov)), rel=1e-6)


def test_raked_counts_are_the_saturated_model_with_known_margins():
    """Two ways to the same maximum: linear constraints on the shares, and free parameters of a log-linear model."""
    known = {**KNOWN, "b": dict(zip("ny", margin(1)))}
    raked, fit = sp.rake(COUNTS, known), fitted(COUNTS, "saturated", known=known)
    assert fit.w.ravel() == pytest.approx(raked.w, abs=1e-7)
    assert fit.shares().se == pytest.approx(raked.se, rel=1e-6)
    assert fit.loglik == pytest.approx(raked.loglik, abs=1e-7)
