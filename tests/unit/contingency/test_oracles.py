"""Log-linear models against statsmodels, R, brute force, and what the package computes in other ways."""

import itertools
import json
import shutil
import subprocess
import warnings

import numpy as np
import pytest
from every_case import every_case
from problems import quietly
from scipy.optimize import minimize

import subsetprivacy as sp

LABELS = {"race": ["W", "B", "O"], "sex": ["f", "m"], "income": ["lo", "hi"]}
BASE = {"race": "W", "sex": "f", "income": "lo"}
MODELS = ["independence", "[race sex][income]", "[race sex][sex income]", "all pairs", "saturated"]


def seen():
    return sp.product({name: sp.nonprivate(labels) for name, labels in LABELS.items()})


def private():
    designs = {"race": sp.fixed_size(LABELS["race"], 2), "sex": sp.nonprivate(LABELS["sex"])}
    return sp.product({**designs, "income": sp.warner(LABELS["income"], 0.8)})


def shares(seed=3):
    return np.random.default_rng(seed).dirichlet(np.full(12, 4.0))


def fitted(counts, model, **options):
    with quietly():
        return sp.loglinear(counts, model, **options)


# Seen values ------------------------------------------------------------------------------------


@every_case("model", MODELS)
def test_seen_values_give_a_poisson_regression(model):
    sm = pytest.importorskip("statsmodels.api")
    counts = sp.simulate(seen(), shares(), 4000, seed=1)
    fit = fitted(counts, model, baseline=BASE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the saturated model it says that the fit is perfect
        X = sm.add_constant(fit.structure.rows.T)
        peer = sm.GLM(counts.table().ravel(), X, sm.families.Poisson()).fit(tol=1e-14)
    assert fit.estimates == pytest.approx(peer.params[1:], abs=1e-6)
    assert fit.se == pytest.approx(peer.bse[1:], abs=1e-6)
    assert fit.cov == pytest.approx(peer.cov_params()[1:, 1:], abs=1e-6)
    assert 4000 * fit.w.ravel() == pytest.approx(peer.fittedvalues, abs=1e-5)
    if model != "saturated":
        test = fit.goodness_of_fit
        assert test.statistic[0] == pytest.approx(peer.deviance, abs=1e-6)
        assert test.df[0] == peer.df_resid


def test_names_of_parameters_are_the_columns_of_a_formula():
    smf = pytest.importorskip("statsmodels.formula.api")
    sm = pytest.importorskip("statsmodels.api")
    pd = pytest.importorskip("pandas")
    counts = sp.simulate(seen(), shares(), 4000, seed=1)
    fit = fitted(counts, "[race sex][sex income]", baseline=BASE)
    table = pd.DataFrame(list(itertools.product(*LABELS.values())), columns=list(LABELS))
    table["n"] = counts.table().ravel()
    formula = "n ~ C(race, Treatment('W')) * C(sex, Treatment('f'))"
    formula += " + C(sex, Treatment('f')) * C(income, Treatment('lo'))"
    peer = smf.glm(formula, table, family=sm.families.Poisson()).fit(tol=1e-14)
    name = "C(race, Treatment('W'))[T.B]:C(sex, Treatment('f'))[T.m]"
    assert fit.estimates[fit.labels.index("race[B]:sex[m]")] == pytest.approx(peer.params[name], abs=1e-6)
    assert fit.aic - fitted(counts, "independence").aic == pytest.approx(
        peer.aic - smf.glm("n ~ race + sex + income", table, family=sm.families.Poisson()).fit(tol=1e-14).aic, abs=1e-5
    )


def test_seen_values_agree_with_loglin_of_r(need):
    need("R", shutil.which("Rscript") is not None, "apt-get install r-base-core, or https://www.r-project.org")
    counts = sp.simulate(seen(), shares(), 4000, seed=1)
    numbers = ",".join(str(int(n)) for n in np.transpose(counts.table()).ravel())  # R counts the first index fastest
    script = (
        f"t <- array(c({numbers}), dim=c(3,2,2)); f <- loglin(t, list(c(1,2),c(1,3),c(2,3)), fit=TRUE, eps=1e-12,"
        " iter=1000, print=FALSE); cat('{\"lrt\":', sprintf('%.12f', f$lrt), ',\"df\":', f$df, ',\"fit\":[',"
        " paste(sprintf('%.10f', f$fit), collapse=','), ']}')"
    )
    said = subprocess.run(["Rscript", "--vanilla", "-e", script], capture_output=True, text=True, check=True).stdout
    peer = json.loads(said)
    fit = fitted(counts, "all pairs")
    assert fit.goodness_of_fit.statistic[0] == pytest.approx(peer["lrt"], abs=1e-6)
    assert fit.goodness_of_fit.df[0] == peer["df"]
    assert 4000 * np.transpose(fit.w).ravel() == pytest.approx(peer["fit"], abs=1e-5)


# Subsets ----------------------------------------------------------------------------------------


@every_case("model", MODELS)
def test_nothing_better_is_found_by_brute_force(model):
    """The likelihood written out row by row, maximized without derivatives of ours, from several starts."""
    counts = sp.simulate(private(), shares(), 1500, seed=2)
    fit = fitted(counts, model)
    rows = counts.incidence.inner(np.eye(12)).T
    Z = fit.structure.rows.T

    def downhill(theta):
        w = np.exp(np.clip(Z @ theta, -300, 300))
        return -counts.n_a @ np.log(rows @ (w / w.sum()))

    rng = np.random.default_rng(0)
    result = [minimize(downhill, rng.normal(size=Z.shape[1]), method="BFGS").fun for _ in range(3)]
    assert fit.loglik >= -min(result) - 1e-6
    assert fit.loglik == pytest.approx(-min(result), abs=1e-3)  # it ended at the maximum, from some start
    assert fit.loglik == pytest.approx(-downhill(fit.fit.theta), abs=1e-8)
    assert fit.gap <= 1e-8


def test_derivatives_are_those_of_differences():
    from subsetprivacy.contingency.likelihood import TableLikelihood

    counts = sp.simulate(private(), shares(), 1500, seed=2)
    fit = fitted(counts, "all pairs")
    likelihood = TableLikelihood(fit.structure, counts.incidence, counts.n_a)
    theta = np.random.default_rng(1).normal(size=fit.structure.size)
    there = likelihood.full(theta)
    h = 1e-5
    for k, e in enumerate(np.eye(len(theta))):
        up, down = (likelihood.full(theta + sign * h * e) for sign in (1, -1))
        assert there.gradient[k] == pytest.approx((up.value - down.value) / (2 * h), rel=1e-6, abs=1e-4)
        assert -there.information[k] == pytest.approx((up.gradient - down.gradient) / (2 * h), rel=1e-5, abs=1e-3)
        assert likelihood.curvature(theta, e) == pytest.approx(there.information[k], rel=1e-8, abs=1e-6)


def test_many_reports_and_few_give_the_same_information():
    """Sums over cells and sums over reports are two ways to the same matrix."""
    from subsetprivacy.contingency.likelihood import TableLikelihood

    both = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("rstu"))})
    counts = sp.simulate(both, np.full(16, 1 / 16), 5000, seed=1)
    fit = fitted(counts, "independence")
    likelihood = TableLikelihood(fit.structure, counts.incidence, counts.n_a)
    A = np.random.default_rng(0).normal(size=(3, 16))
    B = counts.incidence.inner(A)
    assert counts.incidence.rows > 2 * counts.incidence.p
    assert likelihood.squares(A, counts.n_a) == pytest.approx((B * counts.n_a) @ B.T)


def test_saturated_is_the_estimate():
    counts = sp.simulate(private(), shares(), 3000, seed=4)
    fit, estimate = fitted(counts, "saturated"), sp.estimate(counts)
    assert fit.w.ravel() == pytest.approx(estimate.w, abs=1e-6)
    assert fit.loglik == pytest.approx(estimate.loglik, abs=1e-6)
    assert fit.shares().se == pytest.approx(estimate.se, abs=1e-6)


def test_independence_of_two_is_the_test_of_independence():
    two = sp.product({"x": sp.uniform(list("abcd")), "y": sp.warner(["n", "y"], 0.8)})
    counts = sp.simulate(two, np.random.default_rng(0).dirichlet(np.full(8, 5.0)), 4000, seed=1)
    fit = fitted(counts, "independence")
    peer = sp.independence_test(counts, permutations=0)
    assert fit.goodness_of_fit.statistic[0] == pytest.approx(peer.statistic, abs=1e-5)
    assert fit.goodness_of_fit.df[0] == peer.df
    assert fit.goodness_of_fit.pvalue[0] == pytest.approx(peer.pvalue, abs=1e-6)
    assert fit.w == pytest.approx(
        np.outer(sp.estimate(counts.margin("x")).w, sp.estimate(counts.margin("y")).w), abs=1e-6
    )


def test_a_logit_is_the_model_with_all_terms_among_the_others():
    """Of income, on race and sex, both seen: the coefficients are the interactions with income."""
    designs = {"race": sp.nonprivate(LABELS["race"]), "sex": sp.nonprivate(LABELS["sex"])}
    design = sp.product({**designs, "income": sp.warner(LABELS["income"], 0.8)})
    rng = np.random.default_rng(5)
    cells = rng.choice(12, 3000, p=shares())
    places = np.unravel_index(cells, (3, 2, 2))
    values = {name: np.array(labels)[at] for (name, labels), at in zip(LABELS.items(), places)}
    with quietly():
        codes = {
            name: sp.privatize(list(column), design.by_name()[name], seed=6).codes for name, column in values.items()
        }
    table = sp.SubsetTable(codes, design)
    fit = fitted(table, "[race sex][race income][sex income]", baseline=BASE)
    logit = sp.regress(
        "income ~ C(race, contr.treatment('W')) + C(sex, contr.treatment('f'))",
        {**values, "income": codes["income"]},
        designs={"income": table["income"].design},
        baseline="lo",
        method="ml",
    )
    ours = {"Intercept": "income[hi]", "[B]": "race[B]:income[hi]", "[O]": "race[O]:income[hi]"}
    ours["[m]"] = "sex[m]:income[hi]"
    for name, coefficient, error in zip(logit.columns.names, logit.coef[0], logit.se[0], strict=True):
        k = fit.labels.index(next(own for end, own in ours.items() if name.endswith(end)))
        assert (fit.estimates[k], fit.se[k]) == pytest.approx((coefficient, error), abs=1e-6), name
