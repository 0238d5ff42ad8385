"""R's package survey (Lumley): the same estimates and standard errors where values are seen."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from survey_samples import LABELS, small_sample

import subsetprivacy as sp

# Everything in one session: to start R takes longer than the work.
SCRIPT = r"""
suppressMessages(library(survey))
folder <- commandArgs(trailingOnly = TRUE)[1]
d <- read.csv(file.path(folder, "people.csv"))
reps <- as.matrix(read.csv(file.path(folder, "replicates.csv")))
d$v <- factor(d$v); d$grp <- factor(d$grp); d$x2 <- d$x^2; d$s <- factor(d$s); d$y <- as.numeric(d$v == "a")
out <- list()
keep <- function(name, est) out[[name]] <<- list(estimate = as.numeric(coef(est)), se = as.numeric(unlist(SE(est))))
options(survey.lonely.psu = "fail")
one <- svydesign(ids = ~c, strata = ~h, weights = ~w, nest = TRUE, data = d)
m <- svymean(~v, one, deff = TRUE)
keep("mean", m); out$mean$deff <- as.numeric(deff(m)); out$mean$df <- degf(one)
m <- svymean(~v, one, deff = "replace"); out$mean$deff_replace <- as.numeric(deff(m))
keep("total", svytotal(~v, one))
keep("weights_only", svymean(~v, svydesign(ids = ~1, weights = ~w, data = d)))
keep("strata_only", svymean(~v, svydesign(ids = ~1, strata = ~h, weights = ~w, data = d)))
keep("fpc", svymean(~v, svydesign(ids = ~c, strata = ~h, weights = ~w, fpc = ~f, nest = TRUE, data = d)))
by <- svyby(~v, ~grp, one, svymean, covmat = TRUE)
keep("by", by)
apart <- svycontrast(by, list(a = c("x:va" = 1, "y:va" = -1), b = c("x:vb" = 1, "y:vb" = -1)))
keep("difference", apart)
glm_one <- svyglm(y ~ x + grp, one, family = quasibinomial())
keep("logit", glm_one)
term <- regTermTest(glm_one, ~grp, df = degf(one) - 1)
out$term <- list(f = as.numeric(term$Ftest), df = c(term$df, term$ddf), degrees = degf(one))
d$gap <- ifelse(d$known == 1, d$x, NA); d$ggap <- ifelse(d$known == 1, as.character(d$grp), NA)
part <- subset(svydesign(ids = ~c, strata = ~h, weights = ~w, nest = TRUE, data = d), known == 1)
keep("gap_mean", svyby(~gap, ~v, part, svymean))
keep("gap_logit", svyglm(y ~ gap + ggap, part, family = quasibinomial()))
keep("gap_centered", svyglm(y ~ scale(gap), part, family = quasibinomial(), control = glm.control(epsilon = 1e-14)))
keep("gap_linear", svyglm(gap ~ v + ggap, part))
options(survey.lonely.psu = "adjust")
keep("lonely", svymean(~v, svydesign(ids = ~c, strata = ~l, weights = ~w, nest = TRUE, data = d)))
options(survey.lonely.psu = "fail")

for (mse in c(TRUE, FALSE)) {
  given <- function(type, ...) svrepdesign(weights = ~w, repweights = reps, data = d, type = type,
                                         combined.weights = TRUE, mse = mse, ...)
  name <- if (mse) "estimate" else "mean"
  keep(paste0("bootstrap_", name), svymean(~v, given("bootstrap")))
  keep(paste0("brr_", name), svymean(~v, given("BRR")))
  keep(paste0("fay_", name), svymean(~v, given("Fay", rho = 0.3)))
  keep(paste0("jackknife_", name), svymean(~v, given("JK1", scale = (ncol(reps) - 1) / ncol(reps),
                                                   rscales = rep(1, ncol(reps)))))
  jkn <- as.svrepdesign(one, type = "JKn", mse = mse)
  keep(paste0("jkn_", name), svymean(~v, jkn))
  keep(paste0("jkn_logit_", name), svyglm(y ~ x, jkn, family = quasibinomial()))
  out[[paste0("jkn_", name)]]$df <- degf(jkn)
}
two <- subset(d, c < 2)
halves <- as.svrepdesign(svydesign(ids = ~c, strata = ~h, weights = ~w, nest = TRUE, data = two), type = "BRR",
                         mse = TRUE, compress = FALSE)
keep("brr_made", svymean(~v, halves))
out$brr_made$weights <- as.numeric(weights(halves, "analysis"))

margin_g <- data.frame(grp = c("x", "y", "z"), Freq = c(120, 150, 180))
margin_s <- data.frame(s = c("f", "m"), Freq = c(260, 190))
post <- postStratify(one, ~grp, margin_g)
keep("post", svymean(~v, post)); keep("post_total", svytotal(~v, post))
keep("post_by", svyby(~v, ~s, post, svymean))
raked <- rake(one, list(~grp, ~s), list(margin_g, margin_s), control = list(maxit = 200, epsilon = 1e-10))
keep("raked", svymean(~v, raked)); keep("raked_total", svytotal(~v, raked))
out$raked$weights <- as.numeric(weights(raked))
totals <- c("(Intercept)" = 450, grpy = 150, grpz = 180, x = 10)
cal <- calibrate(one, ~grp + x, totals)
keep("calibrated", svymean(~v, cal)); keep("calibrated_total", svytotal(~v, cal))
out$calibrated$weights <- as.numeric(weights(cal))
ratio <- calibrate(one, ~grp + s, c("(Intercept)" = 450, grpy = 150, grpz = 180, sm = 190), calfun = "raking",
                   epsilon = 1e-10, maxit = 200)
keep("calibrated_raking", svymean(~v, ratio))
bounded <- calibrate(one, ~grp + x, totals, calfun = "logit", bounds = c(0.3, 3), epsilon = 1e-10, maxit = 200)
keep("bounded", svymean(~v, bounded))
out$bounded$weights <- as.numeric(weights(bounded))
keep("post_jkn", svymean(~v, postStratify(as.svrepdesign(one, type = "JKn", mse = TRUE), ~grp, margin_g)))

number <- function(x) if (is.null(x)) "null" else paste0("[", paste(format(x, digits = 17), collapse = ","), "]")
parts <- sapply(names(out), function(name) {
  held <- out[[name]]
  fields <- sapply(names(held), function(field) paste0('"', field, '":', number(held[[field]])))
  paste0('"', name, '":{', paste(fields, collapse = ","), "}")
})
cat("{", paste(parts, collapse = ","), "}", sep = "")
"""
pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
CLOSE = {"rtol": 1e-6, "atol": 1e-9}

SAMPLE = small_sample(7, strata=8, clusters=4, people=(5, 12))
RNG = np.random.default_rng(8)
N = len(SAMPLE.values)
SEX = np.array(["f", "m"])[RNG.integers(0, 2, N)]
LONELY = np.where(SAMPLE.strata == 0, SAMPLE.clusters, SAMPLE.strata + 10)
KNOWN = RNG.random(N) < 0.7
REPLICATES = SAMPLE.weights[:, None] * RNG.uniform(0.2, 1.8, (N, 12))


def has_survey():
    if shutil.which("Rscript") is None:
        return False
    probe = subprocess.run(
        ["Rscript", "-e", "library(survey); library(MASS)"], capture_output=True, check=False, timeout=600
    )
    return probe.returncode == 0


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Return what R says, by name; None where there is no R."""
    if not has_survey():
        return None
    folder = tmp_path_factory.mktemp("r")
    pd.DataFrame(
        {
            "v": SAMPLE.values,
            "grp": SAMPLE.group,
            "s": SEX,
            "x": SAMPLE.number,
            "w": SAMPLE.weights,
            "h": SAMPLE.strata,
            "c": SAMPLE.clusters,
            "l": LONELY,
            "f": 20,
            "known": KNOWN.astype(int),
        }
    ).to_csv(folder / "people.csv", index=False, float_format="%.17g")
    pd.DataFrame(REPLICATES).to_csv(folder / "replicates.csv", index=False, float_format="%.17g")
    (folder / "script.R").write_text(SCRIPT, encoding="utf-8")
    run = subprocess.run(
        ["Rscript", str(folder / "script.R"), str(folder)], capture_output=True, text=True, check=True, timeout=600
    )
    return json.loads(run.stdout)


@pytest.fixture
def r(theirs, need):
    need("R with the packages survey and MASS", theirs is not None, how="apt-get install r-cran-survey r-cran-mass")
    return {name: {field: np.array(numbers) for field, numbers in held.items()} for name, held in theirs.items()}


def seen(values=SAMPLE.values, labels=LABELS):
    return sp.privatize(values, sp.nonprivate(list(labels)), seed=1)


def drawn(**options):
    return sp.Sampling(SAMPLE.weights, strata=SAMPLE.strata, clusters=SAMPLE.clusters, **options)


def same(fit, wanted):
    np.testing.assert_allclose(fit.w, wanted["estimate"], **CLOSE)
    np.testing.assert_allclose(fit.se, wanted["se"], **CLOSE)


def test_shares(r):
    fit = sp.estimate(seen(), sampling=drawn())
    same(fit, r["mean"])
    assert fit.degrees_of_freedom == r["mean"]["df"]
    np.testing.assert_allclose(fit.design_effects, r["mean"]["deff_replace"], **CLOSE)
    same(sp.estimate(seen(), sampling=sp.Sampling(SAMPLE.weights)), r["weights_only"])
    same(sp.estimate(seen(), sampling=sp.Sampling(SAMPLE.weights, strata=SAMPLE.strata)), r["strata_only"])
    same(sp.estimate(seen(), sampling=drawn(fpc=20)), r["fpc"])
    lonely = sp.Sampling(SAMPLE.weights, strata=LONELY, clusters=SAMPLE.clusters, lonely="center")
    same(sp.estimate(seen(), sampling=lonely), r["lonely"])


def test_totals(r):
    indicators = (SAMPLE.values[:, None] == LABELS).astype(float)
    np.testing.assert_allclose(SAMPLE.weights @ indicators, r["total"]["estimate"], **CLOSE)
    np.testing.assert_allclose(np.sqrt(np.diag(drawn().covariance(indicators))), r["total"]["se"], **CLOSE)


def test_parts_and_their_differences(r):
    whole = drawn()
    fits = [sp.estimate(seen(), sampling=whole.within(SAMPLE.group == group)) for group in "xyz"]
    wanted = r["by"]["estimate"].reshape(4, 3).T
    np.testing.assert_allclose([fit.w for fit in fits], wanted, **CLOSE)
    np.testing.assert_allclose([fit.se for fit in fits], r["by"]["se"].reshape(4, 3).T, **CLOSE)
    change = fits[0].difference(fits[1])
    np.testing.assert_allclose(change.estimate[:2], r["difference"]["estimate"], **CLOSE)
    np.testing.assert_allclose(change.se[:2], r["difference"]["se"], **CLOSE)


def yes_or_no():
    return seen(np.where(SAMPLE.values == "a", "yes", "no"), ["no", "yes"])


def test_logit(r):
    fit = sp.regress(yes_or_no(), {"x": SAMPLE.number, "g": SAMPLE.group}, sampling=drawn(), baseline="no")
    np.testing.assert_allclose(fit.coef[0], r["logit"]["estimate"], rtol=1e-6, atol=1e-7)
    # svyglm has a factor of n/(n-1) less than svymean for people, none for clusters: the same formula.
    np.testing.assert_allclose(fit.se[0], r["logit"]["se"], rtol=1e-6)


def gaps(**columns):
    """Return a table with cells that are missing where `KNOWN` is false."""
    made = pd.DataFrame({"x": np.where(KNOWN, SAMPLE.number, np.nan), "g": np.where(KNOWN, SAMPLE.group, None)})
    return made.assign(**columns)


def coefficients_are(fit, wanted, **close):
    np.testing.assert_allclose(np.ravel(fit.estimates), wanted["estimate"], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.cov)), wanted["se"], **{"rtol": 1e-6, **close})


def test_outcomes_missing_outside_of_a_subset(r):
    means = sp.group_means(gaps()["x"], seen(), sampling=drawn().within(KNOWN))
    np.testing.assert_allclose(means.mean, r["gap_mean"]["estimate"], **CLOSE)
    np.testing.assert_allclose(means.se, r["gap_mean"]["se"], **CLOSE)


def test_covariates_missing_outside_of_a_subset(r):
    within = drawn().within(KNOWN)
    response = yes_or_no()
    fit = sp.regress(response, gaps(), sampling=within, baseline="no")
    coefficients_are(fit, r["gap_logit"])
    table = gaps(y=np.where(KNOWN, response.codes.astype(float), np.nan))
    formula = {"designs": {"y": response.design}, "sampling": within, "baseline": "no"}
    coefficients_are(sp.regress("y ~ x + g", table, **formula), r["gap_logit"])
    coefficients_are(sp.regress("y ~ scale(x)", table, **formula), r["gap_centered"])


def test_predictors_missing_outside_of_a_subset(r):
    codes = seen().codes
    table = gaps(v=np.where(KNOWN, codes.astype(float), np.nan))
    options = {"designs": {"v": seen().design}, "sampling": drawn().within(KNOWN), "baseline": {"v": "a"}}
    fit = sp.regress("x ~ v + g", table, **options)
    order = [list(fit.layout.names).index(name) for name in GAP_TERMS]
    np.testing.assert_allclose(fit.estimates[order], r["gap_linear"]["estimate"], **CLOSE)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.cov))[order], r["gap_linear"]["se"], **CLOSE)


GAP_TERMS = ("Intercept", "v[b]", "v[c]", "v[d]", "g[y]", "g[z]")


def test_term(r):
    """`regTermTest` divides Wald's statistic by its degrees of freedom only, which rejects too often with few units."""
    fit = sp.regress(yes_or_no(), {"x": SAMPLE.number, "g": SAMPLE.group}, sampling=drawn(), baseline="no")
    test, degrees = fit.test("g"), r["term"]["degrees"][0]
    assert [test.df[0], test.denominator_df[0]] == r["term"]["df"].tolist() == [2, degrees - 1]
    np.testing.assert_allclose(test.statistic * degrees / (degrees - 1), r["term"]["f"], rtol=1e-6)


@pytest.mark.parametrize("center", ["estimate", "mean"])
def test_replicates(r, center):
    for name, method, more in (
        ("bootstrap", "bootstrap", {"scale": 1 / 11}),  # theirs divides by one less than there are
        ("brr", "brr", {}),
        ("fay", "brr", {"rho": 0.3}),
        ("jackknife", "jackknife", {}),
    ):
        given = sp.Sampling(SAMPLE.weights, replicates=REPLICATES, replicate_method=method, center=center, **more)
        same(sp.estimate(seen(), sampling=given), r[f"{name}_{center}"])


def test_replicates_that_are_made(r):
    made = drawn().with_replicates("jackknife")
    same(sp.estimate(seen(), sampling=made), r["jkn_estimate"])
    assert made.degrees_of_freedom == r["jkn_estimate"]["df"]
    fit = sp.regress(yes_or_no(), {"x": SAMPLE.number}, sampling=made, baseline="no")
    np.testing.assert_allclose(fit.se[0], r["jkn_logit_estimate"]["se"], rtol=1e-6)
    two = SAMPLE.clusters < 2
    weights = (
        r["brr_made"]["weights"].reshape(-1, int(two.sum())).T
    )  # theirs: which half sample comes first is arbitrary
    halves = sp.Sampling(SAMPLE.weights[two], replicates=weights, replicate_method="brr")
    same(sp.estimate(seen(SAMPLE.values[two]), sampling=halves), r["brr_made"])


# Known margins --------------------------------------------------------------------------------

GROUP, SEXES = {"x": 120, "y": 150, "z": 180}, {"f": 260, "m": 190}
PEOPLE = {"g": SAMPLE.group, "s": SEX, "x": SAMPLE.number}
WITH_MEAN = {"g": GROUP, "x": 10 / 450}


def test_post_stratification(r):
    raked = sp.rake(PEOPLE, {"g": GROUP}, sampling=drawn())
    same(sp.estimate(seen(), sampling=raked.sampling), r["post"])
    indicators = (SAMPLE.values[:, None] == LABELS).astype(float)
    np.testing.assert_allclose(raked.weights @ indicators, r["post_total"]["estimate"], **CLOSE)
    np.testing.assert_allclose(np.sqrt(np.diag(raked.sampling.covariance(indicators))), r["post_total"]["se"], **CLOSE)
    fits = [sp.estimate(seen(), sampling=raked.sampling.within(sex == SEX)) for sex in "fm"]
    np.testing.assert_allclose([fit.w for fit in fits], r["post_by"]["estimate"].reshape(4, 2).T, **CLOSE)
    np.testing.assert_allclose([fit.se for fit in fits], r["post_by"]["se"].reshape(4, 2).T, **CLOSE)
    jackknife = sp.rake(PEOPLE, {"g": GROUP}, sampling=drawn().with_replicates("jackknife"))
    same(sp.estimate(seen(), sampling=jackknife.sampling), r["post_jkn"])


def test_raking(r):
    raked = sp.rake(PEOPLE, {"g": GROUP, "s": SEXES}, sampling=drawn())
    np.testing.assert_allclose(raked.weights, r["raked"]["weights"], rtol=1e-6)
    fit = sp.estimate(seen(), sampling=raked.sampling)
    np.testing.assert_allclose(fit.w, r["raked"]["estimate"], **CLOSE)
    # `calibrate(calfun = "raking")` has the residuals of a regression with the weights of the sample, as we do. `rake`
    # takes means without weights, which is another approximation: a few percent apart.
    same(fit, r["calibrated_raking"])
    np.testing.assert_allclose(fit.se, r["raked"]["se"], rtol=0.1)


def test_calibration(r):
    linear = sp.rake(PEOPLE, WITH_MEAN, sampling=drawn(), method="linear")
    np.testing.assert_allclose(linear.weights, r["calibrated"]["weights"], rtol=1e-6)
    same(sp.estimate(seen(), sampling=linear.sampling), r["calibrated"])
    indicators = (SAMPLE.values[:, None] == LABELS).astype(float)
    np.testing.assert_allclose(
        np.sqrt(np.diag(linear.sampling.covariance(indicators))), r["calibrated_total"]["se"], **CLOSE
    )
    bounded = sp.rake(PEOPLE, WITH_MEAN, sampling=drawn(), method="logit", bounds=(0.3, 3))
    np.testing.assert_allclose(bounded.weights, r["bounded"]["weights"], rtol=1e-6)
    same(sp.estimate(seen(), sampling=bounded.sampling), r["bounded"])
