"""Where every value is seen, a regression is the regression that statsmodels and scikit-learn compute."""

import warnings

import numpy as np
import pytest
from refusals import refused
from regression_samples import ordered_values, values_of

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError

sm = pytest.importorskip("statsmodels.api")

N, P = 400, 4


def with_ones(X):
    return np.column_stack([np.ones(len(X)), X])


def seen(values, p):
    """Return values as subsets that hold nothing else."""
    return sp.SubsetData(1 << values, sp.nonprivate(range(p)))


@pytest.fixture(scope="module")
def multinomial():
    values, X = values_of(P, N)
    return values, X, sp.regress(seen(values, P), X, baseline=0)


def test_multinomial_logit(multinomial):
    values, X, fit = multinomial
    peer = sm.MNLogit(values, with_ones(X)).fit(disp=0, method="newton", tol=1e-12, maxiter=100)
    assert np.allclose(fit.coef, peer.params.T, atol=1e-6)
    assert np.allclose(fit.se, peer.bse.T, atol=1e-6)
    assert fit.loglik == pytest.approx(peer.llf, abs=1e-6)
    assert fit.null_loglik == pytest.approx(peer.llnull, abs=1e-6)
    assert fit.aic == pytest.approx(peer.aic, abs=1e-6)
    assert fit.bic == pytest.approx(peer.bic, abs=1e-6)
    assert fit.pseudo_r2 == pytest.approx(peer.prsquared, abs=1e-6)
    assert np.allclose(fit.interval().reshape(P - 1, 3, 2), peer.conf_int().reshape(P - 1, 3, 2), atol=1e-6)
    assert fit.n_effective == pytest.approx(N)


def test_marginal_effects_of_numbers():
    values, X = values_of(P, N)
    X[:, 1] += np.random.default_rng(5).normal(0, 0.3, N)  # statsmodels has no effects of levels for several categories
    effects = sp.regress(seen(values, P), X, baseline=0).effects()
    peer = sm.MNLogit(values, with_ones(X)).fit(disp=0, method="newton", tol=1e-12).get_margeff()
    assert np.allclose(effects.estimate, peer.margeff, atol=1e-6)
    assert np.allclose(effects.se, peer.margeff_se, atol=1e-6)


def test_marginal_effects_of_zeros_and_ones():
    values, X = values_of(2, N)
    effects = sp.regress(seen(values, 2), X, baseline=0).effects()
    peer = sm.Logit(values, with_ones(X)).fit(disp=0, tol=1e-12).get_margeff(dummy=True)
    assert np.allclose(effects.estimate[:, 1], peer.margeff, atol=1e-6)
    assert np.allclose(effects.se[:, 1], peer.margeff_se, atol=1e-6)


def test_logit_and_its_sandwich():
    values, X = values_of(2, N)
    fit = sp.regress(seen(values, 2), X, baseline=0)
    peer = sm.Logit(values, with_ones(X)).fit(disp=0, tol=1e-12)
    robust = sm.Logit(values, with_ones(X)).fit(disp=0, tol=1e-12, cov_type="HC0")
    assert np.allclose(fit.coef[0], peer.params, atol=1e-6)
    assert np.allclose(fit.cov, peer.cov_params(), atol=1e-6)
    assert np.allclose(fit.robust, robust.cov_params(), atol=1e-6)
    assert fit.loglik == pytest.approx(peer.llf, abs=1e-6)


def test_clusters():
    values, X = values_of(2, N)
    groups = np.random.default_rng(1).integers(0, 30, N)
    fit = sp.regress(seen(values, 2), X, baseline=0, clusters=groups)
    options = {"groups": groups, "use_correction": False}
    peer = sm.Logit(values, with_ones(X)).fit(disp=0, tol=1e-12, cov_type="cluster", cov_kwds=options)
    assert np.allclose(fit.cov, peer.cov_params() * 30 / 29, atol=1e-6)
    assert fit.is_robust


def test_sampling_weights():
    values, X = values_of(2, N)
    weights = np.random.default_rng(2).uniform(0.5, 3.0, N)
    fit = sp.regress(seen(values, 2), X, baseline=0, weights=weights, weights_kind="sampling")
    family = sm.families.Binomial()
    peer = sm.GLM(values, with_ones(X), family=family, freq_weights=weights).fit(tol=1e-12)
    assert np.allclose(fit.coef[0], peer.params, atol=1e-6)
    scores = with_ones(X) * (weights * (values - peer.fittedvalues))[:, None]
    bread = peer.cov_params()  # the inverse of the weighted information
    assert np.allclose(fit.cov, bread @ scores.T @ scores @ bread, rtol=1e-5)


def test_offset():
    values, X = values_of(2, N)
    offset = np.random.default_rng(2).normal(0, 1, N)
    fit = sp.regress(seen(values, 2), X, baseline=0, offset=offset)
    peer = sm.GLM(values, with_ones(X), family=sm.families.Binomial(), offset=offset).fit(tol=1e-12)
    assert np.allclose(fit.coef[0], peer.params, atol=1e-6)
    assert np.allclose(fit.se[0], peer.bse, atol=1e-6)
    assert np.allclose(fit.probabilities[:, 1], peer.fittedvalues, atol=1e-6)


def test_ordered_logit():
    ordered = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    values, X = ordered_values(P, N)
    fit = sp.regress(seen(values, P), X, family="ordinal")
    model = ordered.OrderedModel(values, X, distr="logit")
    peer = model.fit(method="bfgs", disp=0, gtol=1e-9, maxiter=500)
    cuts = model.transform_threshold_params(peer.params)[1:-1]
    assert np.allclose(fit.coef, peer.params[: X.shape[1]], atol=1e-6)
    assert np.allclose(fit.cutpoints, cuts, atol=1e-6)
    assert np.allclose(fit.se, peer.bse[: X.shape[1]], atol=1e-6)
    assert fit.loglik == pytest.approx(peer.llf, abs=1e-6)


def test_ordered_categories_of_two_are_the_logit():
    values, X = values_of(2, N)
    logit = sp.regress(seen(values, 2), X, baseline=0)
    ordinal = sp.regress(seen(values, 2), X, family="ordinal")
    assert np.allclose(ordinal.coef, logit.coef[0, 1:], atol=1e-7)
    assert np.allclose(ordinal.cutpoints, -logit.coef[0, 0], atol=1e-7)
    assert np.allclose(ordinal.se, logit.se[0, 1:], atol=1e-7)
    assert ordinal.loglik == pytest.approx(logit.loglik, abs=1e-8)


def centered(fit):
    """Return the coefficients of all categories, which add up to 0."""
    B = np.insert(fit.coef, fit.categories.labels.index(fit.baseline), 0.0, axis=0)
    return B - B.mean(axis=0)


@pytest.mark.parametrize("ridge", [0.5, 20.0])
def test_ridge(multinomial, ridge):
    linear = pytest.importorskip("sklearn.linear_model")
    values, X, _ = multinomial
    fit = sp.regress(seen(values, P), X, ridge=ridge)
    peer = linear.LogisticRegression(C=1 / ridge, tol=1e-12, max_iter=10_000).fit(X, values)
    assert np.allclose(centered(fit)[:, 1:], peer.coef_ - peer.coef_.mean(axis=0), atol=1e-6)
    assert np.allclose(fit.probabilities, peer.predict_proba(X), atol=1e-6)
    assert np.isnan(fit.se).all()


def test_ridge_does_not_depend_on_the_baseline(multinomial):
    values, X, _ = multinomial
    one, two = (sp.regress(seen(values, P), X, ridge=5.0, baseline=k) for k in (0, 3))
    assert np.allclose(one.probabilities, two.probabilities, atol=1e-7)


@pytest.mark.parametrize("lasso", [2.0, 20.0])
def test_lasso_meets_its_conditions(multinomial, lasso):
    """Gradients of penalized coefficients are the penalty with the sign where they are not 0, else at most that."""
    values, X, _ = multinomial
    fit = sp.regress(seen(values, P), X, lasso=lasso, baseline=0)
    G = with_ones(X).T @ (np.eye(P)[values] - fit.probabilities)
    assert np.abs(G[0]).max() < 0.05
    assert np.abs(G[1:]).max() <= lasso + 0.05
    B = np.vstack([np.zeros(3), fit.coef])
    median = np.sort(B[:, 1:], axis=0)[1:3]  # any constant between the inner two gives the same penalty
    for k in range(2):
        at = np.abs(B[:, 1 + k] - median[:, k].mean()) > 1e-3 + np.ptp(median[:, k])
        assert np.allclose(np.abs(G[1 + k, at]), lasso, atol=0.05)


def test_lasso_predicts_as_scikit_learn(multinomial):
    linear = pytest.importorskip("sklearn.linear_model")
    values, X, _ = multinomial
    fit = sp.regress(seen(values, P), X, lasso=10.0)
    options = {"solver": "saga", "tol": 1e-8, "max_iter": 20_000, "random_state": 0}
    peer = linear.LogisticRegression(C=0.1, l1_ratio=1.0, penalty="l1", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # versions differ in how the penalty is named
        peer.fit(X, values)
    assert np.allclose(fit.probabilities, peer.predict_proba(X), atol=1e-4)


def test_a_corrected_fit_of_labels_is_the_fit(multinomial):
    values, X, fit = multinomial
    corrected = sp.regress(seen(values, P), X, baseline=0, method="corrected")
    assert np.allclose(corrected.coef, fit.coef, atol=1e-6)
    assert np.allclose(corrected.cov, fit.robust, atol=1e-6)
    with refused(ArgumentError, "method"):
        corrected.interval(method="wald")


def test_labels_have_no_specification_to_test(multinomial):
    _, _, fit = multinomial
    assert np.isnan(fit.specification.pvalue[0])
    assert "every value is known" in fit.specification.notes[0].text
