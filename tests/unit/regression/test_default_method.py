"""The default of a private response: what a fit to the values would find, even if the model is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from regression_samples import DESIGNS, quietly, sample_of

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.errors import NotUniqueWarning, SeparationWarning
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.regression import corrected
from subsetprivacy.regression.fitting import _correct

FOUR = sp.uniform(range(4))


def expected_sample(design, P, X):
    """Return every pair of covariates and subset, with the expected number of people: shares P, shape (p, rows)."""
    codes, mu = design.support()
    told = ~design.is_missing(codes)
    codes, mu = codes[told], mu[told]
    R = rows_of(codes, design)
    counts = 1e6 * (mu[:, None] * (R.T @ P))
    return sp.SubsetData(np.repeat(codes, P.shape[1]), design), np.tile(X, (len(codes), 1)), counts.ravel()


def fit_of(data, rows, counts, **options):
    """Return the fit of a sample of weighted rows."""
    return quietly(data, rows, weights=counts, weights_kind="sampling", baseline=0, **options)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(sorted(DESIGNS)), st.integers(0, 10**6))
def test_in_expected_numbers_any_shares_give_the_fit_to_the_values(name, seed):
    """No linear model holds for random shares, yet the corrected fit is that of the values, with w from a wrong fit."""
    design, rng = DESIGNS[name](), np.random.default_rng(seed)
    X = rng.standard_normal((6, 1))
    P = rng.dirichlet(np.full(design.p, 2.0), size=6).T
    fit = fit_of(*expected_sample(design, P, X))
    truth = fit_of(*expected_sample(sp.nonprivate(range(design.p)), P, X))
    assert fit.method == "corrected"
    assert np.allclose(fit.coef, truth.coef, atol=1e-6)


def test_the_likelihood_of_the_same_people_is_not():
    rng = np.random.default_rng(1)
    X, P = rng.standard_normal((6, 1)), rng.dirichlet(np.full(4, 2.0), size=6).T
    data, rows, counts = expected_sample(FOUR, P, X)
    fits = [
        quietly(data, rows, weights=counts.round(), weights_kind="frequency", baseline=0, method=method)
        for method in (None, "ml")
    ]
    assert np.abs(fits[0].coef - fits[1].coef).max() > 0.01
    assert fits[0].specification.pvalue[0] < 1e-6
    assert "does not describe these data" in str(fits[0].summary())


@pytest.fixture(scope="module")
def rare():
    """Return people of whom hardly anyone has category 3: its estimated number is negative at some covariates."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(800)
    values = np.where(rng.random(800) < 0.005, 3, rng.integers(0, 3, 800))
    return sp.privatize(values.tolist(), FOUR, seed=2), {"x": x}


def test_without_a_solution_the_default_is_the_likelihood_and_says_so(rare):
    asked = quietly(*rare, method="corrected", baseline=0)
    assert np.isnan(asked.coef).all()
    with pytest.warns(SeparationWarning), pytest.warns(NotUniqueWarning, match="no solution for 3.*likelihood"):
        fit = sp.regress(*rare, baseline=0)
    likely = quietly(*rare, method="ml", baseline=0)
    assert fit.method == "ml"
    assert np.array_equal(fit.estimates, likely.estimates, equal_nan=True)
    assert any("no solution for 3" in note.text for note in fit.notes)
    assert not any("no solution" in note.text for note in likely.notes)


@pytest.mark.parametrize("options", [{}, {"shrink": True}])
def test_equations_without_a_solution_are_told_with_every_option(rare, options):
    with pytest.warns(NotUniqueWarning, match="no solution"):
        fit = sp.regress(*rare, method="corrected", baseline=0, **options)
    assert np.isnan(fit.coef).all()
    assert any("no solution" in note.text for note in fit.notes)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_no_hint_leads_to_equations_without_a_solution(seed):
    """Where corrected scores have no solution, the summary of the likelihood does not recommend them."""
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(500) < 0.02, 3, rng.integers(0, 3, 500))
    fit = quietly(sp.privatize(values.tolist(), FOUR, seed=seed), rng.standard_normal((500, 1)), baseline=0)
    assert fit.has_no_corrected_solution == (fit.method == "ml")
    if fit.method == "ml":
        assert "method='corrected'" not in str(fit.summary())


def test_a_value_above_0_proves_that_there_is_no_solution(rare):
    """At a solution the value is minus the entropy of the fitted shares."""
    data, X = sample_of(FOUR, 600)
    fit = sp.regress(data, X, method="corrected")
    P = fit.probabilities
    assert fit.fit.likelihood is not None
    objective, best = _correct(fit.problem, fit.fit.likelihood)
    assert best.value == pytest.approx((P * np.log(P)).sum(), rel=1e-9)
    assert best.value < objective.ceiling == 0 < fit.problem.objective().ceiling
    lost = quietly(*rare, method="corrected")
    start = quietly(*rare, method="ml", starts=1).fit.likelihood
    assert _correct(lost.problem, start)[1].value > 0


@pytest.mark.parametrize("options", [{"shrink": True}, {"ridge": 1.0}, {"lasso": 1.0}, {"ridge": "cv"}])
def test_penalties_are_of_the_likelihood(options):
    data, X = sample_of(FOUR, 600)
    assert quietly(data, X, **options).method == "ml"


def test_a_design_that_is_not_known_has_the_likelihood_only():
    data, X = sample_of(FOUR, 600)
    assert sp.regress(sp.SubsetData(data.codes, coarse(range(4))), X).method == "ml"


def test_the_summary_compares_the_methods():
    data, X = sample_of(FOUR, 2000, seed=5)
    fit, likely = (sp.regress(data, X, method=method, baseline=0) for method in (None, "ml"))
    apart = np.abs(fit.coef - likely.coef) / fit.se
    (note,) = (note.text for note in fit.notes if "Maximum likelihood" in note.text)
    assert f"at most {apart.max():.2g} standard errors" in note
    smaller = 100 * (1 - np.median(likely.se / fit.se))
    assert f"{smaller:.0f}% smaller" in note
    assert fit.specification.pvalue[0] == pytest.approx(likely.specification.pvalue[0], rel=1e-6)
    assert np.isnan(fit.aic)
    assert fit.to_dict()["aic"] is None


@pytest.mark.parametrize("name", sorted(DESIGNS))
def test_rounded_and_exact_working_distributions_agree(name, monkeypatch):
    """Both are unbiased; rounding to 64 distributions costs little."""
    data, X = sample_of(DESIGNS[name](), 2000)
    exact = quietly(data, X, method="corrected")
    monkeypatch.setattr(corrected, "_EXACT", 0)
    rounded = quietly(data, X, method="corrected")
    assert np.abs(exact.coef - rounded.coef).max() < 0.2 * exact.se.min()
    assert np.allclose(exact.se, rounded.se, rtol=0.05)
