"""What must not change the means, and what must change them in a known way."""

import numpy as np
import pytest
from every_case import every_case
from problems import lopsided

import subsetprivacy as sp
from subsetprivacy.errors import SmallCountWarning

LABELS = list("abcd")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    x = rng.choice(4, size=1500, p=[0.1, 0.2, 0.3, 0.4])
    y = (3.0 * x + rng.gamma(2.0, 2.0, size=1500)).round(2)
    return y, sp.privatize([LABELS[k] for k in x], lopsided(), seed=1)


def same(one, two, order=slice(None), tolerance=1e-9):
    for name in ("number", "share", "share_se", "mean", "se", "variance", "variance_se", "quantile", "quantile_ends"):
        first, second = getattr(one, name), getattr(two, name)[order]
        assert np.allclose(first, second, rtol=tolerance, atol=tolerance, equal_nan=True), name
    assert one.test().statistic[0] == pytest.approx(two.test().statistic[0], rel=1e-6)


def test_order_of_people(people):
    y, data = people
    order = np.random.default_rng(1).permutation(len(y))
    same(sp.group_means(y, data), sp.group_means(y[order], sp.SubsetData(data.codes[order], data.design)))


def test_names_of_categories(people):
    """Categories in another order: codes are other masks, and the means come in the other order."""
    y, data = people
    turn = [2, 0, 3, 1]
    masks = {1 << old: 1 << turn.index(old) for old in range(4)}
    codes = np.array([sum(new for old, new in masks.items() if code & old) for code in data.codes.tolist()])
    subsets = {tuple(LABELS[k] for k in range(4) if code >> k & 1) for code in data.design.support()[0].tolist()}
    weights = dict(zip(data.design.support()[0].tolist(), data.design.support()[1].tolist(), strict=True))
    design = sp.conditional(
        [LABELS[k] for k in turn],
        {subset: weights[sum(1 << LABELS.index(label) for label in subset)] for subset in sorted(subsets)},
    )
    other = sp.group_means(y, sp.SubsetData(codes, design))
    same(sp.group_means(y, data), other, [turn.index(k) for k in range(4)], 1e-8)


def test_shift_and_scale(people):
    y, data = people
    one, two = sp.group_means(y, data), sp.group_means(1e6 - 20 * y, data, quantiles=(0.25, 0.5, 0.75))
    assert np.allclose(two.mean, 1e6 - 20 * one.mean, rtol=1e-11)
    assert np.allclose(two.se, 20 * one.se, rtol=1e-7)
    assert np.allclose(two.variance, 400 * one.variance, rtol=1e-7)
    assert np.allclose(two.interval()[:, ::-1], 1e6 - 20 * one.interval(), rtol=1e-9)
    assert np.allclose(two.share, one.share)
    assert two.test().statistic[0] == pytest.approx(one.test().statistic[0], rel=1e-5)


def test_monotone_change_of_the_outcome_changes_quantiles_alike(people):
    y, data = people
    one, two = sp.group_means(y, data), sp.group_means(np.exp(y / 10), data)
    assert np.allclose(two.quantile, np.exp(one.quantile / 10))
    assert np.allclose(two.quantile_ends, np.exp(one.quantile_ends / 10), equal_nan=True)


def test_frequency_two_is_a_row_twice(people):
    y, data = people
    times = np.random.default_rng(2).integers(0, 4, size=len(y))
    weighted = sp.group_means(y, data, weights=times, weights_kind="frequency")
    repeated = sp.group_means(np.repeat(y, times), sp.SubsetData(np.repeat(data.codes, times), data.design))
    same(weighted, repeated, tolerance=1e-8)
    assert weighted.n == repeated.n == times.sum()


def test_people_without_weight_and_full_sets_change_nothing(people):
    y, data = people
    codes = np.r_[data.codes, np.full(20, data.design.missing_code)]
    longer = sp.group_means(np.r_[y, np.full(20, 99.0)], sp.SubsetData(codes, data.design))
    same(sp.group_means(y, data), longer)
    assert longer.n_missing == 20
    assert [note.kind for note in longer.notes] == ["missing"]


def test_one_cluster_per_person_is_no_cluster(people):
    y, data = people
    alone, grouped = sp.group_means(y, data), sp.group_means(y, data, clusters=np.arange(len(y)))
    assert np.allclose(grouped.cov, alone.cov * 1500 / 1499, rtol=1e-9)
    assert np.allclose(grouped.mean, alone.mean)


def test_any_working_distribution_has_the_same_target(people):
    y, data = people
    result = [sp.group_means(y, data, w=w) for w in (None, [0.25] * 4, [0.1, 0.2, 0.3, 0.4], np.full((1500, 4), 0.25))]
    for one in result[1:]:
        assert (np.abs(one.mean - result[0].mean) < 3 * result[0].se).all()
    assert np.allclose(result[1].mean, result[3].mean, rtol=1e-12)


def test_a_working_distribution_that_follows_the_outcome_lowers_the_variance():
    """At least a fifth below even ones where categories differ by two standard deviations in all."""
    rng = np.random.default_rng(1)
    x = rng.choice(4, size=20_000, p=[0.1, 0.2, 0.3, 0.4])
    y = np.linspace(0, 2, 4)[x] + rng.normal(size=20_000)
    data = sp.privatize(x, sp.uniform(range(4)), seed=1)
    even, own = sp.group_means(y, data, w=[0.25] * 4), sp.group_means(y, data)
    assert np.mean(own.se**2 / even.se**2) < 0.8


def test_means_and_shares_add_up_to_those_of_everyone(people):
    """Indicators sum to 1 over categories, so sums over categories are those of all people."""
    y, data = people
    result = sp.group_means(y, data)
    assert result.sums[1].sum() + result.center * result.sums[0].sum() == pytest.approx(y.sum())
    assert result.share.sum() == pytest.approx(1)


def test_two_private_columns_and_their_margins():
    rng = np.random.default_rng(5)
    n = 8000
    values = {"u": rng.choice(list("abcd"), n), "v": rng.choice(["r", "s"], n)}
    y = 2.0 * (values["u"] == "a") + 1.0 * (values["v"] == "s") + rng.normal(size=n)
    design = sp.product({"u": sp.uniform(list("abcd")), "v": sp.warner(["r", "s"])})
    table = sp.privatize(values, design, seed=1)
    result = sp.group_means(y, table)
    truth = [2.0 * (u == "a") + (v == "s") for u, v in result.categories]
    assert result.variables == ("u", "v")
    assert (np.abs(result.mean - truth) < 4 * result.se).all()
    margin = sp.group_means(y, table, column="v")
    assert margin.categories == ("r", "s")
    assert (np.abs(margin.mean - [0.5, 1.5]) < 4 * margin.se).all()
    apart = result.difference(("a", "s"), ("a", "r"))
    assert abs(apart.estimate[0] - 1) < 4 * apart.se[0]


def test_rare_categories_have_no_mean():
    rng = np.random.default_rng(6)
    x = rng.choice(4, size=400, p=[0.002, 0.3, 0.3, 0.398])
    data = sp.privatize([LABELS[k] for k in x], sp.uniform(LABELS), seed=2)
    with pytest.warns(SmallCountWarning, match="within 2 standard errors of 0: a. Their means"):
        result = sp.group_means(rng.normal(size=400), data)
    assert np.isnan(result.mean).tolist() == [True, False, False, False]
    assert np.isnan(result.interval()[0]).all()
    assert np.isnan(result.quantile[0]).all()
    assert np.isfinite(result.share).all()
    assert np.isnan(result.difference("a", "b").estimate[0])
    assert np.isfinite(result.test().pvalue[0])  # the score test needs no mean
    assert result.test(method="wald").df[0] == 2
    assert result.differences().interval(method="simultaneous").shape == (6, 2)


def test_one_person_of_a_label_is_not_rare():
    codes = np.r_[1, np.full(2000, 2), np.full(2000, 4)]
    result = sp.group_means(np.arange(4001.0), sp.SubsetData(codes, sp.nonprivate(list("abc"))))
    assert result.mean[0] == pytest.approx(0)


def test_a_fitted_regression_is_a_working_distribution(people):
    y, data = people
    fit = sp.regress(data, {"y": y, "square": y**2})
    result = sp.group_means(y, data, given=fit)
    again = sp.group_means(y, data, w=fit.probabilities)
    assert np.allclose(result.mean, again.mean)
    assert (np.abs(result.mean - sp.group_means(y, data).mean) < 2 * result.se).all()


def test_covariates_that_predict_the_category_lower_the_variance():
    rng = np.random.default_rng(7)
    n = 6000
    x = rng.choice(4, size=n)
    seen = x + rng.normal(0, 0.7, size=n)
    y = x + rng.normal(size=n)
    data = sp.privatize([LABELS[k] for k in x], sp.uniform(LABELS), seed=1)
    alone, helped = (
        sp.group_means(y, data),
        sp.group_means(y, data, given={"seen": seen, "copy": seen, "one": seen > 9}),
    )
    assert np.mean(helped.se**2 / alone.se**2) < 0.8
    assert (np.abs(helped.mean - np.arange(4)) < 4 * helped.se).all()


def test_no_solve_per_person(people, monkeypatch):
    y, data = people
    inverted = []
    invert = np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda a: inverted.append(int(np.prod(a.shape[:-2]))) or invert(a))
    sp.group_means(y, data, blocks=8, w=np.random.default_rng(1).dirichlet(np.ones(4), size=len(y)))
    assert 0 < sum(inverted) <= 8


# The normal model -------------------------------------------------------------------------------------------------


def test_the_normal_model_is_more_precise_and_agrees_where_it_is_right():
    rng = np.random.default_rng(8)
    x = rng.choice(4, size=4000, p=[0.1, 0.2, 0.3, 0.4])
    y = 2.0 * x + rng.normal(size=4000)
    data = sp.privatize([LABELS[k] for k in x], sp.uniform(LABELS), seed=1)
    result = sp.group_means(y, data, model="normal")
    assert (np.abs(result.mean - 2 * np.arange(4)) < 4 * result.se).all()
    assert (result.se < 0.8 * result.corrected.se).all()
    assert result.comparison.pvalue[0] > 0.001
    assert np.allclose(np.sqrt(result.robust.diagonal()), result.se, rtol=0.15)
    assert {note.kind for note in result.notes} & {"assumption", "specification"}


def test_the_normal_model_is_found_out_where_it_is_wrong():
    rng = np.random.default_rng(9)
    x = rng.choice(4, size=6000)
    y = np.exp(0.5 * x + rng.normal(size=6000))
    data = sp.privatize([LABELS[k] for k in x], sp.uniform(LABELS), seed=1)
    result = sp.group_means(y, data, model="normal")
    assert result.comparison.pvalue[0] < 0.001
    assert "specification" in [note.kind for note in result.notes]


def test_the_normal_model_has_the_derivatives_that_it_says():
    from subsetprivacy.means import mixture

    rng = np.random.default_rng(1)
    codes = sp.privatize(rng.choice(4, 300), sp.uniform(range(4)), seed=1).codes
    people = mixture._GroupPeople(
        rng.normal(size=300), codes, sp.uniform(range(4)), rng.integers(1, 3, 300).astype(float)
    )
    theta = mixture._MixtureParameters(
        np.array([0.15, 0.2, 0.3, 0.35]), np.array([-1, -0.3, 0.2, 1.0]), np.array([0.8, 0.5, 1.2, 0.7])
    )
    used, step = np.arange(4), 1e-5 * np.eye(11)
    gradient, information, _ = mixture._derivatives(people, theta, used)
    slope = [
        (mixture._loglik(people, theta.moved(e), used) - mixture._loglik(people, theta.moved(-e), used)) / 2e-5
        for e in step
    ]
    curve = [
        (mixture._derivatives(people, theta.moved(e), used)[0] - mixture._derivatives(people, theta.moved(-e), used)[0])
        / 2e-5
        for e in step
    ]
    assert np.allclose(gradient, slope, atol=1e-5)
    assert np.allclose(information, -np.array(curve), atol=1e-4)


@every_case("clusters", [4, 10])
@every_case("kind", [None, "sampling"])
def test_clusters_are_a_sampling_of_clusters(people, clusters, kind):
    y, data = people
    cluster = np.arange(len(y)) % clusters
    weights = None if kind is None else 1 + np.arange(len(y)) % 3
    result = sp.group_means(y, data, clusters=cluster, weights=weights, weights_kind=kind)
    drawn = sp.group_means(y, data, sampling=sp.Sampling(weights, clusters=cluster))
    same(result, drawn)
    assert np.isfinite(result.interval()).all()
    assert np.allclose(result.interval(), drawn.interval(), rtol=1e-12)
    assert np.allclose(result.variance, drawn.variance, rtol=1e-12)
    assert result.df == clusters - 1
    for method in ("score", "wald"):
        one, two = result.test(method=method), drawn.test(method=method)
        assert one.statistic[0] == pytest.approx(two.statistic[0], rel=1e-9)
        assert one.pvalue[0] == pytest.approx(two.pvalue[0], rel=1e-9)


def test_frequencies_in_clusters_are_rows_written_out(people):
    y, data = people
    times, cluster = 1 + np.arange(len(y)) % 3, np.arange(len(y)) // 50
    short = sp.group_means(y, data, w=[0.25] * 4, weights=times, weights_kind="frequency", clusters=cluster)
    written = sp.SubsetData(np.repeat(data.codes, times), data.design)
    long = sp.group_means(np.repeat(y, times), written, w=[0.25] * 4, clusters=np.repeat(cluster, times))
    same(short, long)
    assert short.n == long.n == times.sum()
    assert np.allclose(short.interval(), long.interval(), rtol=1e-9)
    assert np.allclose(short.design_effect, long.design_effect, rtol=1e-9)
    assert short.test().statistic[0] == pytest.approx(long.test().statistic[0], rel=1e-6)
