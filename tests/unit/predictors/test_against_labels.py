"""With a design that hides nothing the fits are those of statsmodels on the values, standard errors included."""

import numpy as np
import predictor_people as made
import pytest
import statsmodels.api as sm
from every_case import every_case
from numpy.testing import assert_allclose

import subsetprivacy as sp
from subsetprivacy.predictors.outcome import fit_outcome

CLOSE = {"rtol": 1e-6, "atol": 1e-8}


def peer(family, y, X, **more):
    model = {"linear": sm.OLS, "logit": sm.Logit, "poisson": sm.Poisson}[family](y, X)
    return model.fit(**more) if family == "linear" else model.fit(disp=0, **more)


def both(family, interaction=False):
    y, V, codes, design, x = made.people(family)
    arranged = made.layout(interaction=interaction)
    return y, V, codes, design, arranged, arranged.expand(V, x)


@every_case("interaction", [False, True])
@every_case("family", ["linear", "logit", "poisson"])
def test_corrected_scores_are_the_fit_to_the_values_with_hc0(family, interaction):
    y, V, codes, design, arranged, X = both(family, interaction)
    fit = fit_outcome("y", y, V, codes, design, arranged, family=family)
    theirs = peer(family, y, X, cov_type="HC0")
    assert_allclose(fit.coef, theirs.params, **CLOSE)
    assert_allclose(fit.se, theirs.bse, **CLOSE)


@every_case("family", ["linear", "logit", "poisson"])
def test_the_likelihood_is_theirs_and_that_of_the_values(family):
    y, V, codes, design, arranged, X = both(family)
    fit = fit_outcome("y", y, V, codes, design, arranged, family=family, method="ml", starts=1)
    theirs = peer(family, y, X)
    assert_allclose(fit.coef, theirs.params, **CLOSE)
    # statsmodels divides the squared residuals by n - k, a maximum of the likelihood by n.
    factor = np.sqrt(len(X) / theirs.df_resid) if family == "linear" else 1.0
    assert_allclose(fit.se * factor, theirs.bse, **CLOSE)
    assert_allclose(np.sqrt(fit.robust.diagonal()), peer(family, y, X, cov_type="HC0").bse, **CLOSE)
    x = np.argmax(np.eye(3)[np.log2(codes).astype(int)], axis=1)
    cells = sm.MNLogit(x, V).fit(disp=0)
    assert fit.loglik == pytest.approx(theirs.llf + cells.llf, abs=1e-6)


def test_clusters_are_those_of_statsmodels():
    y, V, codes, design, arranged, X = both("linear")
    groups = np.arange(len(y)) % 40
    fit = fit_outcome("y", y, V, codes, design, arranged, clusters=groups)
    more = {"groups": groups, "use_correction": False}
    theirs = peer("linear", y, X, cov_type="cluster", cov_kwds=more)
    assert_allclose(fit.se, theirs.bse * np.sqrt(40 / 39), **CLOSE)


def test_a_sampling_of_people_drawn_alike_is_the_sandwich():
    y, V, codes, design, arranged, _ = both("logit")
    weights = np.random.default_rng(3).uniform(0.5, 2, len(y))
    drawn = fit_outcome("y", y, V, codes, design, arranged, family="logit", sampling=sp.Sampling(weights))
    plain = fit_outcome("y", y, V, codes, design, arranged, family="logit", weights=weights, weights_kind="sampling")
    n = len(y)
    assert_allclose(drawn.coef, plain.coef, **CLOSE)
    assert_allclose(drawn.cov, plain.cov * n / (n - 1), rtol=1e-6)
    assert drawn.degrees_of_freedom == n - 1
    assert (drawn.interval()[:, 1] > plain.interval()[:, 1]).all()  # t, and n - 1


def test_an_offset_is_that_of_statsmodels():
    y, V, codes, design, arranged, X = both("poisson")
    shift = np.random.default_rng(4).normal(size=len(y))
    fit = fit_outcome("y", y, V, codes, design, arranged, family="poisson", offset=shift)
    theirs = sm.Poisson(y, X, offset=shift).fit(disp=0, cov_type="HC0")
    assert_allclose(fit.coef, theirs.params, **CLOSE)
    assert_allclose(fit.se, theirs.bse, **CLOSE)


def test_a_private_outcome_that_hides_nothing_is_the_multinomial_logit():
    rng = np.random.default_rng(5)
    _, V, codes, design, x = made.people("linear")
    outcome = sp.nonprivate(["k", "l", "m"])
    values = (x + rng.integers(0, 3, len(x))) % 3
    answers = np.left_shift(1, values)
    arranged = made.layout()
    theirs = sm.MNLogit(values, arranged.expand(V, x)).fit(disp=0)
    for method in ("corrected", "ml"):
        fit = fit_outcome(
            "z",
            answers,
            V,
            codes,
            design,
            arranged,
            family="logit",
            method=method,
            starts=1,
            response_design=outcome,
            baseline="k",
        )
        assert_allclose(fit.coef, theirs.params.T, rtol=1e-5, atol=1e-7)
    assert_allclose(fit.se, theirs.bse.T, rtol=1e-5)
