"""Weights and shares that agree with known margins."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from every_case import every_case
from oracles import most_likely, shortfall
from refusals import refused
from survey_samples import LABELS, small_sample

import subsetprivacy as sp
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    ConvergenceWarning,
    DistributionError,
    MismatchError,
    SubsetPrivacyWarning,
)
from subsetprivacy.messages import NoteKind
from subsetprivacy.raking.weights import calibrate

SAMPLE = small_sample(3, strata=20, clusters=4, people=(8, 16))
N = len(SAMPLE.values)
RNG = np.random.default_rng(9)
SEX = np.array(["f", "m"])[RNG.integers(0, 2, N)]
DESIGN = sp.uniform(LABELS)
PRIVATE = sp.privatize(SAMPLE.values, DESIGN, seed=2)
COLUMNS = {"group": SAMPLE.group, "sex": SEX, "x": SAMPLE.number, "value": PRIVATE}
GROUP = {"x": 0.3, "y": 0.3, "z": 0.4}
SEXES = {"f": 0.55, "m": 0.45}
SHARES = dict(zip(LABELS, [0.15, 0.2, 0.3, 0.35], strict=True))


def drawn():
    return sp.Sampling(SAMPLE.weights, strata=SAMPLE.strata, clusters=SAMPLE.clusters)


def test_one_margin_is_post_stratification():
    raked = sp.rake(COLUMNS, {"group": {"x": 100, "y": 200, "z": 300}}, sampling=drawn())
    for group, total in (("x", 100), ("y", 200), ("z", 300)):
        inside = SAMPLE.group == group
        wanted = SAMPLE.weights[inside] * total / SAMPLE.weights[inside].sum()
        np.testing.assert_allclose(raked.weights[inside], wanted, rtol=1e-9)


def test_raking_is_iterative_proportional_fitting():
    raked = sp.rake(COLUMNS, {"group": GROUP, "sex": SEXES}, sampling=drawn())
    w, total = SAMPLE.weights.copy(), SAMPLE.weights.sum()
    for _ in range(200):
        for column, margin in ((SAMPLE.group, GROUP), (SEX, SEXES)):
            for label, share in margin.items():
                inside = column == label
                w[inside] *= share * total / w[inside].sum()
    np.testing.assert_allclose(raked.weights, w, rtol=1e-8)
    assert raked.converged


@every_case(
    ("method", "bounds"),
    [("raking", None), ("linear", None), ("logit", (0.3, 3)), ("linear", (0.6, 1.6)), ("raking", (0.5, 2))],
)
def test_all_methods_reach_the_margins(method, bounds):
    margins = {"group": GROUP, "sex": SEXES, "x": 0.05}
    raked = sp.rake(COLUMNS, margins, sampling=drawn(), method=method, bounds=bounds)
    assert raked.converged
    np.testing.assert_allclose(raked.after, raked.target, rtol=1e-8, atol=1e-6)
    assert raked.weights @ SAMPLE.number == pytest.approx(0.05 * raked.weights.sum())
    if bounds is not None:
        assert bounds[0] - 1e-9 <= raked.ratios[0] < raked.ratios[1] <= bounds[1] + 1e-9


def test_linear_calibration_is_the_nearest_in_squares():
    X = np.column_stack([np.ones(30), RNG.normal(size=30)])
    d = RNG.uniform(1, 2, 30)
    totals = d @ X * np.array([1.1, 0.9])
    result = calibrate(X, d, totals, "linear", None)
    g = np.linalg.solve((X.T * d) @ X, totals - d @ X)
    np.testing.assert_allclose(result.ratio, 1 + X @ g, rtol=1e-10)


def test_crossed_margins():
    crossed = {key: (1 + 0.1 * k) / 7.5 for k, key in enumerate(product("xyz", "fm"))}
    raked = sp.rake(COLUMNS, {("group", "sex"): crossed}, population=1000)
    for (group, sex), share in crossed.items():
        total = raked.weights[(SAMPLE.group == group) & (sex == SEX)].sum()
        assert total == pytest.approx(1000 * share)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_tables(make):
    table = make({"group": SAMPLE.group, "value": PRIVATE.codes, "w": SAMPLE.weights})
    named = sp.rake(table, {"group": GROUP, "value": SHARES}, designs={"value": DESIGN}, sampling=sp.Sampling("w"))
    other = sp.rake(COLUMNS, {"group": GROUP, "value": SHARES}, sampling=sp.Sampling(SAMPLE.weights))
    np.testing.assert_allclose(named.weights, other.weights, rtol=1e-9)


# The private variable itself --------------------------------------------------------------------


def test_a_private_margin_is_reached_by_indicators():
    raked = sp.rake(PRIVATE, SHARES, sampling=drawn())
    D = sp.indicator(PRIVATE, sp.estimate(PRIVATE, sampling=drawn()).w)
    np.testing.assert_allclose(raked.weights @ D / raked.weights.sum(), list(SHARES.values()), atol=1e-8)
    # The likelihood agrees with indicators at its own shares to the first order.
    fit = sp.estimate(PRIVATE, sampling=raked.sampling)
    np.testing.assert_allclose(fit.w, list(SHARES.values()), atol=0.01)
    plain = sp.estimate(PRIVATE, sampling=drawn())
    assert (fit.se < 0.2 * plain.se).all()
    assert NoteKind.MARGINS in {note.kind for note in raked.notes}


def test_shares_of_a_private_margin_are_said_to_be_no_estimates():
    columns = {"smoking": PRIVATE, "sex": SEX}
    raked = sp.rake(columns, {"smoking": SHARES}, sampling=drawn())
    margins = [note.text for note in raked.notes if note.kind is NoteKind.MARGINS]
    assert "Shares of smoking estimated again from the new weights are not exactly the margin" in margins[0]
    seen = raked.sampling
    means = sp.group_means(SAMPLE.number, PRIVATE, sampling=seen)
    part = sp.estimate(PRIVATE, sampling=seen.within(SEX == "f"))
    for result in (sp.estimate(PRIVATE, sampling=seen), part, means):
        told = [note.text for note in result.notes if note.kind is NoteKind.MARGINS]
        assert len(told) == 1
        assert "known margin of smoking" in told[0]
        assert "intervals are meaningless" in told[0]
    other = part.difference(sp.estimate(PRIVATE, sampling=seen.within(SEX == "m")))
    assert [note.kind for note in other.notes].count(NoteKind.MARGINS) == 1
    free = sp.estimate(PRIVATE, sampling=sp.rake(columns, {"sex": SEXES}, sampling=drawn()).sampling)
    assert NoteKind.MARGINS not in {note.kind for note in free.notes}


def test_people_who_said_nothing_keep_their_row():
    codes = PRIVATE.codes.copy()
    codes[::7] = DESIGN.missing_code
    raked = sp.rake(sp.SubsetData(codes, DESIGN), SHARES, sampling=drawn())
    assert raked.sampling.n == N
    assert raked.converged


def test_what_a_private_margin_buys_elsewhere_is_little():
    # The share of a group that has nothing to do with the value: its error stays as it was.
    raked = sp.rake(PRIVATE, SHARES, sampling=drawn()).sampling
    score = (SAMPLE.group == "x")[:, None] / SAMPLE.weights.sum()
    centered = score - (SAMPLE.weights @ score) / SAMPLE.weights.sum()
    ratio = raked.covariance(centered)[0, 0] / drawn().covariance(centered)[0, 0]
    assert 0.7 < ratio < 1.4


# Errors of calibrated weights -------------------------------------------------------------------


def test_residuals_agree_with_replicates_that_are_raked():
    margins = {"group": GROUP, "sex": SEXES}
    linear = sp.rake(COLUMNS, margins, sampling=drawn())
    jack = sp.rake(COLUMNS, margins, sampling=drawn().with_replicates("jackknife"))
    np.testing.assert_allclose(jack.weights, linear.weights, rtol=1e-12)
    reps = jack.sampling.replicate_weights
    for group, share in GROUP.items():
        np.testing.assert_allclose(reps[:, SAMPLE.group == group].sum(axis=1) / reps.sum(axis=1), share, rtol=1e-6)
    one, two = (sp.estimate(PRIVATE, sampling=raked.sampling) for raked in (linear, jack))
    np.testing.assert_allclose(one.se, two.se, rtol=0.08)


def test_what_is_known_has_no_error():
    raked = sp.rake(COLUMNS, {"group": GROUP, "sex": SEXES}, sampling=drawn()).sampling
    known = (SAMPLE.group[:, None] == np.array(list("xyz"))).astype(float)
    np.testing.assert_allclose(raked.covariance(known), 0, atol=1e-12)


def test_regressions_and_parts_take_raked_weights():
    raked = sp.rake(COLUMNS, {"group": GROUP}, sampling=drawn()).sampling
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        fit = sp.regress(PRIVATE, {"x": SAMPLE.number}, sampling=raked, baseline="d")
        part = sp.estimate(PRIVATE, sampling=raked.within(SEX == "f"))
    assert "Weights are calibrated" in str(fit.summary())
    assert np.isfinite(fit.se).all()
    assert np.isfinite(part.se).all()


# Counts -----------------------------------------------------------------------------------------


BOTH = sp.product({"race": sp.uniform(list("abcd")), "sex": sp.warner(["f", "m"])})
TRUTH = np.array([[0.1, 0.05], [0.1, 0.1], [0.15, 0.15], [0.1, 0.25]])
COUNTS = sp.simulate(BOTH, TRUTH.ravel(), 4000, seed=1)
RACE = dict(zip("abcd", TRUTH.sum(axis=1), strict=True))
SEX_MARGIN = {"f": 0.45, "m": 0.55}


def test_counts_are_fitted_under_the_margins():
    fit = sp.rake(COUNTS, {"race": RACE, "sex": SEX_MARGIN})
    np.testing.assert_allclose(fit.margin("race").w, list(RACE.values()), atol=1e-9)
    np.testing.assert_allclose(fit.margin("sex").w, list(SEX_MARGIN.values()), atol=1e-9)
    inc, f = COUNTS.incidence, COUNTS.shares
    A = np.array([np.kron(np.eye(4)[j], np.ones(2)) for j in range(4)] + [np.tile([1.0, 0.0], 4)])
    b = np.array([*RACE.values(), 0.45])
    assert shortfall(inc.spread(f / inc.inner(fit.w)), fit.w, A, b) < 1e-8
    np.testing.assert_allclose(fit.w, most_likely(inc.inner(np.eye(8)).T, COUNTS.n_a, A, b)[1], atol=1e-5)


def test_the_covariance_is_that_of_the_changes_that_keep_the_margins():
    fit = sp.rake(COUNTS, {"race": RACE})
    N = np.array([np.kron(np.eye(4)[j], [1.0, -1.0]) for j in range(4)]).T
    G = COUNTS.incidence.gram(COUNTS.shares / COUNTS.incidence.inner(fit.w) ** 2)
    wanted = N @ np.linalg.inv(N.T @ G @ N) @ N.T / COUNTS.n
    np.testing.assert_allclose(fit._cov, wanted, rtol=1e-6, atol=1e-12)
    free = sp.estimate(COUNTS)
    assert (fit._se <= free._se + 1e-9).all()
    with pytest.raises(ArgumentError):
        fit.interval(method="profile")


def test_counts_with_values_that_are_seen_are_raked():
    seen = sp.product({"race": sp.nonprivate(list("abcd")), "sex": sp.nonprivate(["f", "m"])})
    table = np.array([[30, 20], [40, 60], [50, 50], [80, 70]])
    fit = sp.rake(sp.JointCounts.of_table(table, seen), {"race": RACE})
    wanted = table / table.sum(axis=1, keepdims=True) * TRUTH.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fit.w.reshape(4, 2), wanted, atol=1e-6)


@pytest.mark.slow
def test_coverage_of_counts_is_that_of_the_model():
    covered = 0
    for seed in range(60):
        fit = sp.rake(sp.simulate(BOTH, TRUTH.ravel(), 2000, seed=seed), {"race": RACE})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)
            ends = fit.margin("sex").interval()
        covered += bool(ends[0, 0] <= 0.45 <= ends[0, 1])
    assert covered >= 51  # of 60, a sixth of a percent below that at a level of 95%


# What it shows, and what it refuses -------------------------------------------------------------


def test_the_summary_has_each_total():
    raked = sp.rake(COLUMNS, {"group": {"x": 100, "y": 200, "z": 300}, "x": 0.1}, sampling=drawn())
    text = str(raked.summary())
    assert "known" in text
    assert "200" in text
    assert f"Weights of {N} people by raking to 4 known totals" in text
    assert raked.to_dict()["target"][0] == 600
    assert raked.ratios == (raked.ratio.min(), raked.ratio.max())
    mean = raked.terms.index(("x", "mean"))
    given = drawn().weights
    for numbers in (raked.to_dict(), raked.to_frame()):
        np.testing.assert_allclose(numbers["target"][mean], 0.1, rtol=1e-12)
        np.testing.assert_allclose(numbers["after"][mean], 0.1, atol=1e-8)
        np.testing.assert_allclose(numbers["before"][mean], given @ SAMPLE.number / given.sum(), rtol=1e-9)
    assert raked.summary().rows[mean][-2:] == ("0.1", "0.1")


def test_margins_that_cannot_be_reached_are_said():
    with pytest.warns(ConvergenceWarning, match="some margin is missed"):
        raked = sp.rake(COLUMNS, {"group": {"x": 0.98, "y": 0.01, "z": 0.01}}, bounds=(0.5, 2), sampling=drawn())
    assert not raked.converged
    with pytest.warns(ConvergenceWarning, match="use wider bounds"):
        sp.rake(COLUMNS, {"sex": {"f": 0.9, "m": 0.1}}, method="logit", bounds=(0.9, 1.1))
    with pytest.warns(ConvergenceWarning, match=r"of the population, a mean by .* after"):
        sp.rake(COLUMNS, {"x": 50.0})
    with pytest.raises(ArgumentError):
        sp.rake(COLUMNS, {"group": {"x": 0.001, "y": 0.499, "z": 0.5}, "x": 1.4}, method="linear")


@every_case(
    ("margins", "error", "argument"),
    [
        ({}, ArgumentError, "margins"),
        ([1], ArgumentError, "margins"),
        ({"group": 3 + 4j}, ArgumentError, None),
        ({"group": {"x": -1, "y": 2}}, ArgumentError, None),
        ({"nobody": {"x": 1}}, ArgumentError, None),
        ({"group": {"x": 0.5, "y": 0.5}}, CategoryError, None),
        ({"group": {"x": 3, "y": 3, "z": 4, "q": 2}}, CategoryError, None),
        ({"group": {"x": 0.33, "y": 0.33, "z": 0.33}}, DistributionError, None),
        ({"sex": {"f": 0.6, "m": 0.3}}, DistributionError, None),
        ({"sex": {"f": 1.1, "m": 0.4}}, DistributionError, None),
        ({"value": {**SHARES, "a": 0.9}}, DistributionError, None),
        ({"group": {"x": 1, "y": 2, "z": 4}, "sex": {"f": 5, "m": 6}}, MismatchError, None),
        ({"value": {"a": 0.5, "b": 0.5}}, CategoryError, None),
        ({("group", "sex"): {"x": 1}}, ArgumentError, None),
        ({3: {"x": 1}}, ArgumentError, "margins"),
    ],
)
def test_bad_margins(margins, error, argument):
    with refused(error, argument):
        sp.rake(COLUMNS, margins)


def test_bad_arguments():
    with refused(ArgumentError, "bounds"):
        sp.rake(COLUMNS, {"group": GROUP}, method="logit")
    with refused(ArgumentError, "bounds"):
        sp.rake(COLUMNS, {"group": GROUP}, bounds=(2, 3))
    with refused(ArgumentError, "population"):
        sp.rake(COLUMNS, {"group": GROUP}, population=-1)
    with refused(MismatchError, "sampling"):
        sp.rake(COLUMNS, {"group": GROUP}, sampling=sp.Sampling([1, 2]))
    with refused(ArgumentError, "sampling"):
        sp.rake(COLUMNS, {"group": GROUP}, sampling=drawn().within(SEX == "f"))
    with pytest.raises(CategoryError, match=rf"got {N} people without, .*designs=dict\(use=design\)"):
        sp.rake({"use": PRIVATE.codes}, {"use": SHARES})
    with pytest.raises(ArgumentError, match="must be a row per person with `sampling`"):
        sp.rake(COUNTS, {"race": RACE}, sampling=drawn())
    with pytest.raises(ArgumentError):
        sp.rake(COUNTS, {"age": {"a": 1}})
    with refused(ArgumentError, "data"):
        sp.rake(PRIVATE.counts(), {"value": SHARES})


def test_no_value_is_told():
    secret = SAMPLE.group.astype(object)
    secret[4] = "secret"
    with pytest.raises(CategoryError, match="got 1 person without, first in row 4") as caught:
        sp.rake({"group": secret}, {"group": GROUP})
    assert "secret" not in str(caught.value)
    weights = SAMPLE.weights.copy()
    weights[3] = 731.25
    raked = sp.rake(COLUMNS, {"sex": SEXES}, sampling=sp.Sampling(weights))
    for text in (repr(raked), str(raked.summary()), str(raked.to_dict())):
        assert "731.25" not in text
