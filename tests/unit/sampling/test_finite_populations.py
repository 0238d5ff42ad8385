"""A finite population: `fpc` takes away the variance of who was asked, and leaves that of the draws of the subsets.

A subset is drawn after the people. Here all samples and all draws are enumerated, with a design whose unbiased
indicators are unique, so that a variance is compared with the exact one.
"""

from itertools import combinations, product

import numpy as np
import pytest
from attrs import evolve
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design.coarse import coarse
from subsetprivacy.errors import ArgumentError, MismatchError, TooLargeError, UnknownDesignError
from subsetprivacy.estimation.indicator import IndicatorTable
from subsetprivacy.predictors.fitting import corrected_objective, mixture_objective
from subsetprivacy.predictors.indicators import Indicators
from subsetprivacy.predictors.influence import Scores, covariance_of
from subsetprivacy.predictors.people import CellPeople
from subsetprivacy.regression.blocks import InMemoryBlocks
from subsetprivacy.regression.corrected import WorkingIndicators
from subsetprivacy.regression.covariance import SamplingCovariance
from subsetprivacy.regression.specification import Support

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
CENSUS = sp.Sampling(fpc=1)
PAIRS = sp.fixed_size(["a", "b", "c"], 2)  # a person reports one of two pairs, each with probability 1/2
PAIRS_WITH = {0: (0b011, 0b101), 1: (0b011, 0b110), 2: (0b101, 0b110)}  # the codes that contain each category
UNIFORM = sp.uniform(["a", "b", "c", "d"])


def all_draws(values):
    """Return the codes of all equally likely draws."""
    return np.array(list(product(*(PAIRS_WITH[value] for value in values))))


def indicators(codes, p=3, size=2):
    """Return the unbiased indicators of fixed sizes, (p, n), in closed form."""
    inside = np.array([(codes >> j) & 1 for j in range(p)])
    apart = (size - 1) / (p - 1)  # the probability of another category in a reported set
    return (inside - apart) / (1 - apart)


def exact(estimates):
    return np.cov(np.array(estimates).T, bias=True)


def test_the_variance_of_a_census_is_that_of_its_draws():
    values = [0, 0, 1, 2, 0, 1]
    fits = [sp.estimate(sp.SubsetData(codes, PAIRS), "mom", sampling=CENSUS) for codes in all_draws(values)]
    np.testing.assert_allclose(np.mean([fit.w for fit in fits], axis=0), [1 / 2, 1 / 3, 1 / 6], atol=1e-12)
    np.testing.assert_allclose(np.mean([fit._cov for fit in fits], axis=0), exact([fit.w for fit in fits]), atol=1e-12)


def test_strata_of_different_fractions():
    """All samples of two of four and of one stratum asked entirely, with all draws."""
    first, second = [0, 1, 2, 2], [0, 0, 1]
    estimates, variances = [], []
    strata, fpc = [0, 0, 1, 1, 1], [0.5, 0.5, 1, 1, 1]
    sampling = sp.Sampling([2, 2, 1, 1, 1], strata=strata, fpc=fpc)
    for chosen in combinations(range(4), 2):
        for codes in all_draws([*(first[k] for k in chosen), *second]):
            fit = sp.estimate(sp.SubsetData(codes, PAIRS), "mom", sampling=sampling)
            estimates.append(fit.w)
            variances.append(fit._cov)
    np.testing.assert_allclose(np.mean(variances, axis=0), exact(estimates), atol=1e-12)


def test_clusters():
    """The draws of people in a cluster are independent, and the fraction is that of their stratum's clusters."""
    population = [[0, 1], [2, 2], [0, 2]]
    estimates, variances = [], []
    sampling = sp.Sampling(clusters=[0, 0, 1, 1], fpc=3)
    for chosen in combinations(population, 2):
        for codes in all_draws(chosen[0] + chosen[1]):
            fit = sp.estimate(sp.SubsetData(codes, PAIRS), "mom", sampling=sampling)
            estimates.append(fit.w)
            variances.append(fit._cov)
    np.testing.assert_allclose(np.mean(variances, axis=0), exact(estimates), atol=1e-12)


def written_out(D, fraction, weight):
    """Return the covariance of the shares of a simple random sample within strata of one fraction each."""
    total = weight.sum()
    out = np.zeros((len(D), len(D)))
    for f in np.unique(fraction):
        rows = fraction == f
        z = D[:, rows] * weight[rows] / total
        out += (1 - f) * rows.sum() * np.cov(z)
        out += f * (z @ z.T - np.diag((D[:, rows] * weight[rows] ** 2).sum(axis=1)) / total**2)
    return out


SAMPLE = np.random.default_rng(3)
CODES = sp.privatize(SAMPLE.choice(list("abc"), 300, p=[0.5, 0.3, 0.2]), PAIRS, seed=1).codes
FRACTION = np.repeat([0.1, 0.5, 1.0], 100)


@pytest.mark.parametrize("method", ["mle", "mom"])
def test_shares_by_the_formula(method):
    """The design is saturated, so both estimators are the mean of the same indicators."""
    strata = np.repeat([0, 1, 2], 100)
    sampling = sp.Sampling(1 / FRACTION, strata=strata, fpc=FRACTION)
    fit = sp.estimate(sp.SubsetData(CODES, PAIRS), method, sampling=sampling)
    np.testing.assert_allclose(fit._cov, written_out(indicators(CODES), FRACTION, 1 / FRACTION), rtol=1e-7, atol=1e-12)


def test_replicates_leave_the_same_variance():
    """Replicates of a finite population contain its correction; the draws are added to it."""
    strata = np.repeat([0, 1, 2], 100)
    sampling = sp.Sampling(1 / FRACTION, strata=strata, fpc=FRACTION)
    made = sampling.with_replicates("jackknife")
    given = sp.Sampling(
        1 / FRACTION,
        strata=strata,
        fpc=FRACTION,
        replicates=made.replicate_weights.T,
        replicate_method="jackknife",
        scale=made.scale,
        rscales=made.rscales,
    )
    data = sp.SubsetData(CODES, PAIRS)
    linear = sp.estimate(data, "mom", sampling=sampling)
    for each in (made, given):
        np.testing.assert_allclose(sp.estimate(data, "mom", sampling=each)._cov, linear._cov, rtol=1e-9, atol=1e-14)
    columns = {"x": SAMPLE.normal(size=300)}
    slopes = [sp.regress(data, columns, sampling=each, baseline="a", starts=1) for each in (sampling, made)]
    np.testing.assert_allclose(slopes[1].se, slopes[0].se, rtol=0.2)  # a jackknife of 300 people is not linear


def test_counts_need_no_rows():
    data = sp.SubsetData(CODES, PAIRS)
    rows, counted = (sp.estimate(each, sampling=CENSUS) for each in (data, data.counts()))
    np.testing.assert_allclose(counted._cov, rows._cov, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(counted.interval(), rows.interval(), atol=1e-9)
    np.testing.assert_allclose(counted.design_effects, rows.design_effects)
    assert counted.degrees_of_freedom == rows.degrees_of_freedom == 299
    many = sp.SubsetCounts.trusted(data.counts().codes, data.counts().counts * 10**12, PAIRS)
    np.testing.assert_allclose(sp.estimate(many, sampling=CENSUS)._se, counted._se / 1e6, rtol=1e-5)
    part, number = (sp.estimate(data.counts(), sampling=sp.Sampling(fpc=fpc)) for fpc in (0.25, 1200))
    np.testing.assert_allclose(part._cov, number._cov, rtol=1e-12)
    np.testing.assert_allclose(part._cov, written_out(indicators(CODES), np.full(300, 0.25), np.ones(300)), rtol=1e-7)
    groups = sp.estimate_many({"one": data.counts(), "two": data.counts()}, sampling=CENSUS)
    np.testing.assert_allclose(dict(groups.items())["two"]._cov, counted._cov)


def test_a_census_of_labels_has_no_error():
    values = SAMPLE.choice(list("abcd"), 200)
    data = sp.privatize(values, sp.nonprivate(list("abcd")), seed=1)
    shares = np.array([(values == label).mean() for label in "abcd"])
    for given in (data, data.counts()):
        fit = sp.estimate(given, sampling=CENSUS)
        assert np.abs(fit._se).max() < 1e-8
        np.testing.assert_allclose(fit.interval(), np.stack([shares, shares], axis=1), atol=1e-6)
    means = sp.group_means(SAMPLE.normal(size=200), data, sampling=CENSUS)
    assert np.abs(means.se).max() < 1e-7


@every_case("method", ["corrected", "ml"])
def test_a_census_of_labels_has_no_error_in_regressions(method):
    """Neither coefficients nor means over the people, whether a private or an observed variable is set."""
    n = 300
    v, x = SAMPLE.integers(0, 3, n), SAMPLE.normal(size=n)
    labels = sp.nonprivate(["a", "b", "c"])
    table = {"v": 1 << v, "x": x, "y": v + x + SAMPLE.normal(size=n)}
    options = {"designs": {"v": labels}, "method": method, "sampling": CENSUS, "starts": 1}
    outcome = sp.regress("y ~ v + x", table, **options)
    response = sp.regress("v ~ x", table, **options)
    sizes = [outcome.se, outcome.adjusted("v").se, outcome.adjusted("x").se, outcome.effects().se, response.se]
    infinite = sp.regress("y ~ v + x", table, **options | {"sampling": sp.Sampling(np.ones(n))})
    assert infinite.adjusted("x").se.min() > 0.01
    for each in sizes:
        assert np.abs(each).max() < 1e-6


def test_missing_answers_are_part_of_the_draw():
    """Someone without an informative subset is in the population, so a census with missing answers is a sample."""
    values = SAMPLE.choice(list("abcd"), 4000)
    data = sp.privatize(values, sp.nonprivate(list("abcd")), seed=1)
    silent = np.arange(4000) % 4 == 0
    half = sp.SubsetData(np.where(silent, 0b1111, data.codes), data.design)
    fit = sp.estimate(half, sampling=CENSUS)
    drawn = sp.estimate(sp.SubsetData(data.codes[~silent], data.design), sampling=sp.Sampling(fpc=0.75))
    np.testing.assert_allclose(fit._se, drawn._se, rtol=0.01)
    y = np.where(values == "a", 1.0, 0.0) + SAMPLE.normal(size=4000)
    one = sp.group_means(y, half, sampling=CENSUS)
    other = sp.group_means(
        y[~silent], drawn_data := sp.SubsetData(data.codes[~silent], data.design), sampling=sp.Sampling(fpc=0.75)
    )
    np.testing.assert_allclose(one.se, other.se, rtol=0.01)
    x = {"x": SAMPLE.normal(size=4000)}
    slopes = sp.regress(half, x, sampling=CENSUS, baseline="a", starts=1)
    known = sp.regress(drawn_data, {"x": x["x"][~silent]}, sampling=sp.Sampling(fpc=0.75), baseline="a", starts=1)
    np.testing.assert_allclose(slopes.se, known.se, rtol=0.01)


def test_parts_of_one_census_share_the_draws_of_their_people():
    data, part = sp.SubsetData(CODES, PAIRS), np.arange(300) < 120
    whole, some = (sp.estimate(data, "mom", sampling=CENSUS.within(part | each)) for each in (True, False))
    D = indicators(CODES)
    factor = part / 120 - 1 / 300
    wanted = (D * factor**2) @ D.T - np.diag((D * factor**2).sum(axis=1))
    change = some.difference(whole)
    np.testing.assert_allclose(change._cov, wanted, atol=1e-12)
    rest = sp.estimate(data, "mom", sampling=CENSUS.within(~part))
    np.testing.assert_allclose(some.difference(rest)._cov, some._cov + rest._cov, atol=1e-14)


# Means and regressions: the variance of scores at given parameters, over all draws -------------------------


def test_sums_behind_means():
    values, y = [0, 0, 1, 2, 1], np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    made = [sp.group_means(y, sp.SubsetData(codes, PAIRS), sampling=CENSUS) for codes in all_draws(values)]
    sums = [np.ravel(each.sums) for each in made]
    np.testing.assert_allclose(np.mean([each.sums_cov for each in made], axis=0), exact(sums), atol=1e-9)


def four_people():
    return [0, 2, 1, 0], np.array([[1.0, 0.4], [1.0, -1.2], [1.0, 2.0], [1.0, 0.1]])


@every_case("family, method", list(product(["logit", "ordinal"], ["ml", "corrected", "rounded"])))
def test_scores_of_a_private_response(family, method):
    values, X = four_people()
    codes = all_draws(values)
    fitted = sp.regress(
        sp.SubsetData(CODES, PAIRS),
        {"x": SAMPLE.normal(size=300)},
        family=family,
        starts=1,
        **({} if family == "ordinal" else {"baseline": "a"}),
    )
    theta = np.linspace(-0.5, 0.7, len(fitted.estimates)) if family == "logit" else np.array([-0.4, 0.8, 0.5])
    objective = fitted.problem.objective()
    if method != "ml":
        how = (Support.of(PAIRS), None) if method == "corrected" else (None, IndicatorTable(PAIRS, [0.5, 0.3, 0.2]))
        objective = evolve(objective, indicators=WorkingIndicators(objective.model, theta, *how))
    drawn = SamplingCovariance(CENSUS.of_people(4), np.ones(4, bool), 1.0)
    columns = X if family == "logit" else X[:, 1:]
    scores, estimated = [], []
    factors = np.array([1.0, 0.5, 2.0, 1.0])
    for each in codes:
        here = evolve(objective, blocks=InMemoryBlocks(np.ascontiguousarray(columns), each, PAIRS))
        scores.append((np.sqrt(factors)[:, None] * drawn.scores(here, theta)).sum(axis=0))
        estimated.append(drawn.of_draws(here, theta, factors))
    np.testing.assert_allclose(np.mean(estimated, axis=0), exact(scores), atol=1e-10)


@every_case("family, method", list(product(["linear", "logit", "poisson"], ["ml", "corrected"])))
def test_scores_of_a_private_predictor(family, method):
    values, X = four_people()
    n = 300
    outcome = SAMPLE.integers(0, 2, n).astype(float)
    fitted = sp.regress(
        "y ~ v + x",
        {"v": CODES, "x": SAMPLE.normal(size=n), "y": outcome},
        designs={"v": PAIRS},
        family=family,
        method="ml",
        sampling=CENSUS,
        starts=1,
    )
    problem, theta = fitted.problem, None
    y = np.array([1.0, 0.0, 1.0, 0.0])
    scores, estimated = [], []
    for each in all_draws(values):
        people = CellPeople(X, y, each, PAIRS, problem.layout, weight=np.ones(4))
        here = evolve(problem, people=people, sampling=CENSUS.of_people(4), method=method)
        if method == "corrected":
            table = Indicators(people, IndicatorTable(PAIRS, [0.5, 0.3, 0.2]), None)
            here.__dict__["indicators"] = table
            objective = corrected_objective(here)
        else:
            objective = evolve(mixture_objective(problem), people=people)
        theta = np.linspace(-0.5, 0.7, objective.size) if theta is None else theta
        each_score = Scores(objective, theta)
        scores.append(sum(each_score(block).sum(axis=0) for block in people.blocks()))
        estimated.append(covariance_of(here, each_score, objective.size))
    np.testing.assert_allclose(np.mean(estimated, axis=0), exact(scores), atol=1e-9)


# What is refused ---------------------------------------------------------------------------------------------


def test_the_design_must_be_known():
    unknown = sp.SubsetData([0b011, 0b110, 0b101] * 40, coarse(["a", "b", "c"]))
    for given in (unknown, unknown.counts()):
        with refused(UnknownDesignError, "fpc"):
            sp.estimate(given, sampling=CENSUS)
    with refused(UnknownDesignError, "fpc"):
        sp.regress(unknown, {"x": SAMPLE.normal(size=120)}, sampling=CENSUS)
    assert sp.estimate(unknown, sampling=sp.Sampling(fpc=0)).n == 120  # nothing is taken away


def test_too_many_subsets_for_a_likelihood():
    wide = sp.uniform(range(18))
    data = sp.privatize(SAMPLE.integers(0, 18, 3000), wide, seed=1)
    with refused(TooLargeError, "fpc"):
        sp.regress(data, {"x": SAMPLE.normal(size=3000)}, sampling=CENSUS, method="ml")
    assert (sp.estimate(data, sampling=CENSUS)._se > 0).all()


def test_a_margin_of_the_private_value_has_no_draws():
    data = sp.SubsetData(CODES, PAIRS)
    raked = sp.rake(data, {"a": 0.5, "b": 0.3, "c": 0.2}, sampling=CENSUS.of_people(300))
    with refused(ArgumentError, "fpc"):
        sp.estimate(data, sampling=raked.sampling)


@every_case("fpc", [-1, np.nan, np.inf, "x", None, [0.5, 2.0]])
def test_a_single_number(fpc):
    if isinstance(fpc, str):
        assert sp.Sampling(fpc=fpc).columns == ("x",)
    elif isinstance(fpc, list):
        with refused(ArgumentError, "fpc"):
            sp.Sampling(fpc=fpc).units  # noqa: B018
    else:
        with refused(ArgumentError, "weights" if fpc is None else "fpc"):
            sp.Sampling(fpc=fpc)


def test_a_single_number_is_of_any_number_of_people():
    assert not CENSUS.has_rows
    assert CENSUS.of_people(7).n == 7
    assert CENSUS.of_people(7) is CENSUS.of_people(7)
    assert CENSUS.within(np.array([True, False])).whole is CENSUS.within(np.array([False, True])).whole
    with refused(ArgumentError, None):
        CENSUS.n  # noqa: B018
    with refused(MismatchError, "sampling"):
        CENSUS.of_people(7).of_people(8)
    with refused(ArgumentError, "fpc"):
        sp.estimate(sp.SubsetData(CODES, PAIRS).counts(), sampling=sp.Sampling(fpc=200))
    with refused(ArgumentError, "data"):
        sp.estimate(sp.count(CODES, design=PAIRS, weights=np.ones(300), weights_kind="sampling"), sampling=CENSUS)
    assert "everyone in the population" in repr(CENSUS)
    assert "everyone in the population" in sp.estimate(sp.SubsetData(CODES, PAIRS), sampling=CENSUS).summary().title
