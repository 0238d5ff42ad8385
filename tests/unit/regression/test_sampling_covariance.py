"""Regressions of people who were drawn with weights, strata and clusters."""

import warnings

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from survey_samples import LABELS, small_sample

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, MismatchError, NotPrivateWarning, SubsetPrivacyWarning
from subsetprivacy.messages import NoteKind

SAMPLE = small_sample(3, strata=20, clusters=4, people=(8, 16))
N = len(SAMPLE.values)
TABLE = pd.DataFrame(
    {"x": SAMPLE.number, "w": SAMPLE.weights, "h": SAMPLE.strata, "c": SAMPLE.clusters, "group": SAMPLE.group}
)
NAMED = sp.Sampling("w", strata="h", clusters="c")
DESIGN = sp.uniform(LABELS)


def drawn(**options):
    return sp.Sampling(SAMPLE.weights, strata=SAMPLE.strata, clusters=SAMPLE.clusters, **options)


def quietly(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        return run()


@pytest.fixture(scope="module")
def private():
    return sp.privatize(SAMPLE.values, DESIGN, seed=2)


@pytest.fixture(scope="module")
def fit(private):
    return quietly(lambda: sp.regress(private, {"x": SAMPLE.number}, sampling=drawn(), baseline="d"))


def logit_by_hand(y, X, weights):
    """Return a weighted logit and the scores of its people, by Newton's method."""
    b = np.zeros(X.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-X @ b))
        J = (X.T * (weights * p * (1 - p))) @ X
        b = b + np.linalg.solve(J, X.T @ (weights * (y - p)))
    return b, (y - 1 / (1 + np.exp(-X @ b)))[:, None] * X, J


def test_a_logit_of_values_that_are_seen():
    y = np.where(SAMPLE.values == "a", "yes", "no")
    data = quietly(lambda: sp.privatize(y, sp.nonprivate(["yes", "no"]), seed=1))
    fit = quietly(lambda: sp.regress(data, {"x": SAMPLE.number}, sampling=drawn(), baseline="no"))
    X = np.column_stack([np.ones(N), SAMPLE.number])
    b, scores, J = logit_by_hand((y == "yes").astype(float), X, SAMPLE.weights)
    cov = np.linalg.solve(J, np.linalg.solve(J, drawn().covariance(scores)).T)
    np.testing.assert_allclose(fit.coef[0], b, atol=1e-6)
    np.testing.assert_allclose(fit.cov, cov, rtol=1e-5)


def test_a_formula_names_columns(private, fit):
    table = TABLE.assign(race=private.codes)
    again = quietly(lambda: sp.regress("race ~ x", table, designs={"race": DESIGN}, sampling=NAMED, baseline="d"))
    np.testing.assert_allclose(again.coef, fit.coef, atol=1e-8)
    np.testing.assert_allclose(again.se, fit.se, rtol=1e-6)
    all_others = quietly(lambda: sp.regress("race ~ .", table, designs={"race": DESIGN}, sampling=NAMED, baseline="d"))
    assert set(all_others.columns.terms) == {"Intercept", "x", "group"}


def test_files(tmp_path, private, fit):
    path = tmp_path / "people.parquet"
    TABLE.assign(race=private.codes).to_parquet(path, index=False)
    again = quietly(lambda: sp.regress("race ~ x", str(path), designs={"race": DESIGN}, sampling=NAMED, baseline="d"))
    np.testing.assert_allclose(again.se, fit.se, rtol=1e-6)
    with refused(ArgumentError, "sampling"):
        sp.regress("race ~ x", str(path), designs={"race": DESIGN}, sampling=NAMED, stream=True)


@pytest.mark.parametrize("method", ["ml", "corrected"])
def test_replicates_agree_with_linearization(private, method):
    options = {"baseline": "d", "method": method}
    linear = quietly(lambda: sp.regress(private, {"x": SAMPLE.number}, sampling=drawn(), **options))
    jack = drawn().with_replicates("jackknife")
    again = quietly(lambda: sp.regress(private, {"x": SAMPLE.number}, sampling=jack, **options))
    np.testing.assert_allclose(again.coef, linear.coef, atol=1e-7)
    # 80 clusters: terms of higher order are a few percent where the information is steep.
    np.testing.assert_allclose(again.se, linear.se, rtol=0.15)


def test_people_who_say_nothing_and_parts_keep_their_rows(private):
    codes = private.codes.copy()
    silent = SAMPLE.group == "z"
    codes[silent] = DESIGN.missing_code
    with_gaps = sp.SubsetData(codes, DESIGN)
    one = quietly(lambda: sp.regress(with_gaps, {"x": SAMPLE.number}, sampling=drawn(), baseline="d"))
    two = quietly(lambda: sp.regress(private, {"x": SAMPLE.number}, sampling=drawn().within(~silent), baseline="d"))
    np.testing.assert_allclose(one.coef, two.coef, atol=1e-7)
    np.testing.assert_allclose(one.se, two.se, rtol=1e-6)
    assert one.degrees_of_freedom == 60


def test_no_slopes_is_an_estimate(private):
    fit = quietly(
        lambda: sp.regress(
            "race ~ 1", TABLE.assign(race=private.codes), designs={"race": DESIGN}, sampling=NAMED, method="ml"
        )
    )
    shares = sp.estimate(private, sampling=drawn())
    prediction = fit.predict(TABLE.head(1))
    np.testing.assert_allclose(prediction.estimate[0], shares.w, atol=1e-6)
    np.testing.assert_allclose(prediction.se[0], shares.se, rtol=1e-4)
    assert prediction.degrees_of_freedom == 60


def test_intervals_and_tests_use_t(fit):
    from scipy.stats import f, t

    half = t.ppf(0.975, 60) * fit.se.ravel()
    np.testing.assert_allclose(np.diff(fit.interval()).ravel(), 2 * half, rtol=1e-9)
    np.testing.assert_allclose(fit.pvalues, 2 * t.sf(np.abs(fit.estimates) / fit.se.ravel(), 60), rtol=1e-9)
    test = fit.test("x")
    b, V = fit.coef[:, 1], fit.cov[1::2, 1::2]
    assert test.statistic[0] == pytest.approx(b @ np.linalg.solve(V, b) * 58 / (60 * 3))
    assert (test.df[0], test.denominator_df[0]) == (3, 58)
    assert test.pvalue[0] == pytest.approx(f.sf(test.statistic[0], 3, 58))
    assert test.summary().columns == ("test", "F", "df", "denominator df", "p-value")
    assert test.to_dict()["denominator_df"] == test.to_frame()["denominator_df"].tolist() == [58]
    assert f"F {test.statistic[0]:.2f}, df 3 and 58, p " in repr(test)
    assert type(test).from_dict(test.to_dict()).to_dict() == test.to_dict()


def test_chi_square_has_no_denominator(private):
    test = quietly(lambda: sp.regress(private, {"x": SAMPLE.number}, baseline="d")).test("x")
    assert np.isinf(test.denominator_df).all()
    assert test.to_dict()["denominator_df"] == [None]
    assert test.summary().columns == ("test", "chi-square", "df", "p-value")


def test_means_and_clusters_have_f_tests(private):
    from scipy.stats import f

    means = sp.group_means(SAMPLE.number, private, sampling=drawn()).test()
    assert (means.df[0], means.denominator_df[0]) == (3, 58)
    assert means.pvalue[0] == pytest.approx(f.sf(means.statistic[0], 3, 58))
    few = SAMPLE.strata % 3  # three clusters have two degrees of freedom, too few for three coefficients
    test = quietly(lambda: sp.regress(private, {"x": SAMPLE.number}, clusters=few, baseline="d")).test("x")
    assert np.isnan(test.statistic[0])
    assert np.isnan(test.pvalue[0])
    outcome = sp.regress(
        "x ~ race", {"race": private.codes, "x": SAMPLE.number}, designs={"race": DESIGN}, clusters=SAMPLE.strata
    )
    test = quietly(lambda: outcome).test("race")
    assert test.denominator_df[0] == len(set(SAMPLE.strata)) - 1 - 3 + 1
    assert test.pvalue[0] == pytest.approx(f.sf(test.statistic[0], 3, test.denominator_df[0]))


def test_design_effects_are_printed(fit):
    assert (fit.design_effects > 0.5).all()
    text = str(fit.summary())
    assert "design effect" in text
    assert "20 strata, 80 clusters" in text
    assert NoteKind.SAMPLING in {note.kind for note in fit.notes}
    assert fit.to_dict()["degrees_of_freedom"] == 60
    assert "design_effect" in fit.to_frame().columns


def test_equal_weights_are_a_plain_sample(private):
    plain = quietly(lambda: sp.regress(private, {"x": SAMPLE.number}, baseline="d"))
    sampled = quietly(
        lambda: sp.regress(private, {"x": SAMPLE.number}, sampling=sp.Sampling(np.full(N, 3.0)), baseline="d")
    )
    np.testing.assert_allclose(sampled.cov, plain.robust * N / (N - 1), rtol=1e-5)
    np.testing.assert_allclose(sampled.design_effects, 1, atol=1e-4)


def test_bad_input(private):
    with refused(ArgumentError, "weights"):
        sp.regress(private, {"x": SAMPLE.number}, sampling=drawn(), weights=SAMPLE.weights, weights_kind="sampling")
    with pytest.raises(MismatchError, match="`sampling` must describe the people of `data`; got 2 rows for"):
        sp.regress(private, {"x": SAMPLE.number}, sampling=sp.Sampling([1, 2]))
