"""Coefficients that too few people determine are not given, by the rule of `group_means`."""

import warnings

import numpy as np
import predictor_people as made
import predictor_refusals as simulated
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import SmallCountWarning
from subsetprivacy.messages import NoteKind

LABELS = tuple("abcd")
DESIGN = sp.uniform(list(LABELS))
FAMILIES = ["linear", "logit", "poisson"]
METHODS = ["corrected", "ml"]


def table(family, n=1500, seed=0, shares=(0.4, 0.35, 0.24, 0.01)):
    """Return an outcome and a private x, by default with a category that hardly anyone has."""
    rng = np.random.default_rng(seed)
    x = rng.choice(len(shares), n, p=shares)
    return {"y": made.outcomes(family, 0.5 * x, rng), "x": sp.privatize(np.array(LABELS)[x], DESIGN, seed=seed).codes}


def fit(family, data, method="corrected", **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = sp.regress("y ~ x", data, designs={"x": DESIGN}, family=family, method=method, **more)
    return made, [each.category for each in caught]


# Samples of 150 people with an estimate that no one can use, which no other warning is about.
USELESS = {"linear": (28, 44, 67, 84), "logit": (5, 12, 31, 34), "poisson": (67,)}


@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in USELESS.items() for seed in seeds])
def test_a_useless_estimate_is_refused(family, seed):
    fit, warned = simulated.fitted(4, family, 150, seed, skewed=True)
    assert not warned
    se = np.sqrt(fit.fit.robust.diagonal())
    useless = simulated.useless(fit.fit.theta, se)
    assert useless.any()
    assert np.isnan(fit.estimates[useless]).all()
    assert not simulated.useless(fit.estimates, fit.se).any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_refused_where_people_are_many(family, method):
    for seed in range(5 if method == "corrected" else 2):
        assert not simulated.fitted(4, family, 2000, seed, skewed=False, method=method)[0].rare


def test_a_mean_and_its_coefficient_are_refused_together():
    # Without an intercept the coefficients are means. Near the limit they may differ: their indicators do, and a share
    # has the noise of a sample.
    refused = 0
    for seed in range(12):
        data = table("linear", 400, seed, (0.4, 0.35, 0.17, 0.08))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            means = sp.group_means(data["y"], sp.SubsetData(data["x"], DESIGN))
            coefficients = sp.regress("y ~ 0 + x", data, designs={"x": DESIGN})
        ratio = means.share / means.share_se
        if not coefficients.fit.solved:
            assert (ratio < 1).any()
            continue
        refused_terms = np.isin([f"x[{label}]" for label in LABELS], coefficients.rare)
        assert not refused_terms[ratio > 3].any()
        assert refused_terms[ratio < 1].all()
        refused += int((refused_terms & np.isnan(means.mean)).sum())
    assert refused >= 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_refused_coefficient_has_no_numbers_and_the_others_do(family):
    for seed in range(20):
        result, caught = fit(family, table(family, seed=seed))
        if result.fit.solved and result.rare:
            break
    assert result.rare == ("x[d]",)
    assert SmallCountWarning in caught
    at = np.array(result.labels) == "x[d]"
    for numbers in (result.estimates, result.se, result.pvalues, result.price, result.interval()[:, 0]):
        assert np.array_equal(np.isnan(numbers), at)
    assert np.isnan(result.cov[at]).all()
    assert np.isnan(result.test("x").pvalue).all()
    assert result.to_dict()["rare"] == ["x[d]"]
    new = {"x": ["a", "d"]}
    assert np.array_equal(np.isnan(result.predict(new).estimate[:, 0]), [False, True])
    assert np.array_equal(np.isnan(result.adjusted("x").estimate[:, 0]), [False, False, False, True])
    assert np.array_equal(np.isnan(result.effects("x").se[:, 0]), [False, False, True])


def test_a_rare_baseline_leaves_adjusted_means_of_the_others():
    result, _ = fit("linear", table("linear", seed=1), baseline={"x": "d"})
    assert set(result.rare) == {"Intercept", "x[a]", "x[b]", "x[c]"}
    usual, _ = fit("linear", table("linear", seed=1), baseline={"x": "a"})
    here = dict(zip(result.adjusted("x").rows, result.adjusted("x").estimate[:, 0], strict=True))
    there = dict(zip(usual.adjusted("x").rows, usual.adjusted("x").estimate[:, 0], strict=True))
    assert here == pytest.approx(there, nan_ok=True)
    assert np.isnan(here["d"])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")
def test_values_are_never_refused(family):
    y, V, codes, design, x = made.people(family, 400, labels="abcd")
    codes = np.where(np.arange(400) < 3, 8, np.where(x == 3, 4, codes))  # three people are d
    y[:3], V[0, 1] = (0, 1, 1), 40.0  # and one column has an outlier
    result = made.fit(family, made=(y, V, codes, design, x), labels="abcd")
    assert result.rare == ()
    assert np.isfinite(result.estimates).all()
    np.testing.assert_allclose(made.fit(family, made=(y, V, codes, design, x), labels="abcd", method="ml").price, 1)


def test_the_methods_are_not_called_alike_where_one_has_no_estimate():
    untested = 0
    for seed in range(6):
        result, _ = simulated.fitted(6, "poisson", 150, seed, skewed=True)
        test = result.specification
        if not np.isnan(test.pvalue[0]):
            assert test.df[0] > 0
            continue
        untested += 1
        (note,) = test.notes
        assert note.kind == NoteKind.NOT_TESTED
        assert "hardly differ" not in note.text
        assert not result.fit.solved or result.rare or "likelihood" in note.text
    assert untested >= 3


def test_an_objective_without_bound_is_no_solution():
    # The corrected Poisson objective of these people grows without limit, and so did its second derivatives.
    result, _ = simulated.fitted(3, "poisson", 150, 97, skewed=True)
    assert not result.fit.solved
    assert np.isnan(result.estimates).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_prices_are_those_of_the_rows(family):
    result, _ = fit(family, table(family, shares=(0.3, 0.3, 0.2, 0.2)))
    rows = result.to_frame()["price"]
    assert (rows > 1).all()
    assert result.n_effective == pytest.approx(result.n * (1 / rows).mean())


def test_clusters_do_not_change_the_price():
    data = table("linear", shares=(0.3, 0.3, 0.2, 0.2))
    plain, _ = fit("linear", data)
    clustered, _ = fit("linear", {**data, "c": np.arange(1500) // 5}, clusters="c")
    np.testing.assert_allclose(clustered.price, plain.price)
    assert not np.allclose(clustered.se, plain.se)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_given_is_usable_and_covers(family):
    for n, usable in ((150, 5.0), (600, 1.0)):
        for skewed in (False, True):
            line = simulated.measure(family, n, skewed=skewed, replications=150, sizes=(3, 4))
            assert np.mean(line.silent_after) == 0
            assert np.mean(line.useless_after) <= 0.02
            assert 100 * np.mean(line.refused_usable) <= usable * (2 if skewed else 1)
            assert np.mean(line.held) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")
def test_prices_are_those_of_simulated_fits(method):
    estimates, prices = {"subsets": [], "values": []}, []
    for seed in range(300):
        y, V, codes, design, x = made.people("linear", 2000, labels="abcd", design=DESIGN, seed=seed)
        result = made.fit("linear", made=(y, V, codes, design), labels="abcd", method=method)
        estimates["subsets"].append(result.estimates)
        prices.append(result.price)
        values = sp.nonprivate(list(LABELS)), np.left_shift(1, x)
        estimates["values"].append(made.fit("linear", made=(y, V, values[1], values[0]), labels="abcd").estimates)
    measured = np.var(estimates["subsets"], axis=0) / np.var(estimates["values"], axis=0)
    np.testing.assert_allclose(np.mean(prices, axis=0), measured, rtol=0.3)
