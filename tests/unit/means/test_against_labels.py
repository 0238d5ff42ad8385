"""A design without privacy: group means, variances, quantiles and standard errors are the plain ones."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

import subsetprivacy as sp

LABELS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    x = rng.choice(3, size=600, p=[0.2, 0.3, 0.5])
    y = 40 + 5 * x + rng.gamma(2.0, 3.0, size=600)
    data = sp.SubsetData(np.int64(1) << x, sp.nonprivate(LABELS))
    return x, y, data, rng.choice(["f", "m"], size=600)


@pytest.fixture(scope="module")
def means(people):
    _, y, data, _ = people
    return sp.group_means(y, data, quantiles=(0.1, 0.5, 0.9))


def test_means_and_variances(people, means):
    x, y, _, _ = people
    by = pd.Series(y).groupby(x)
    assert np.allclose(means.mean, by.mean(), rtol=1e-12)
    assert np.allclose(means.variance, by.var(), rtol=1e-12)
    assert np.allclose(means.sd, by.std(), rtol=1e-12)
    assert np.allclose(means.number, by.size(), rtol=1e-12)
    assert np.allclose(means.share, by.size() / 600, rtol=1e-12)
    share = by.size().to_numpy() / 600
    assert np.allclose(means.share_se, np.sqrt(share * (1 - share) / 600), rtol=1e-9)


def test_quantiles(people, means):
    x, y, _, _ = people
    for j in range(3):
        expected = np.quantile(y[x == j], [0.1, 0.5, 0.9], method="inverted_cdf")
        assert np.array_equal(means.quantile[j], expected)
        low, high = means.quantile_interval()[j].T
        assert (low <= expected).all()
        assert (expected <= high).all()


def test_quantile_intervals_are_order_statistics(people, means):
    """The test of F(t) = q rejects where the number below t is more than 1.96 standard deviations from n q."""
    x, y, _, _ = people
    for j in range(3):
        own = np.sort(y[x == j])
        F = np.arange(1, len(own) + 1) / len(own)
        for k, q in enumerate((0.1, 0.5, 0.9)):
            sd = np.sqrt((q * q + (1 - 2 * q) * F) / len(own))
            low = own[np.argmax(F + 1.959964 * sd >= q)]
            high = own[np.argmax(F - 1.959964 * sd >= q)]
            assert means.quantile_interval()[j, k].tolist() == [low, high]


def test_standard_errors_are_whites(people, means):
    x, y, _, _ = people
    ols = sm.OLS(y, np.eye(3)[x]).fit(cov_type="HC0")
    assert np.allclose(means.mean, ols.params, rtol=1e-12)
    assert np.allclose(means.cov, ols.cov_params(), rtol=1e-9, atol=1e-14)
    assert np.allclose(means.interval(method="wald"), ols.conf_int(), rtol=1e-9)
    apart = means.difference("b", "a")
    test = ols.t_test([[-1, 1, 0]])
    assert apart.estimate[0] == pytest.approx(test.effect[0])
    assert apart.se[0] == pytest.approx(test.sd[0, 0])
    assert apart.pvalues[0] == pytest.approx(float(test.pvalue), rel=1e-6)


def test_wald_test_of_equal_means_is_that_of_ols(people, means):
    x, y, _, _ = people
    ols = sm.OLS(y, np.eye(3)[x]).fit(cov_type="HC0")
    test = ols.wald_test([[1, -1, 0], [0, 1, -1]], use_f=False, scalar=True)
    assert means.test(method="wald").statistic[0] == pytest.approx(test.statistic)


def test_clusters_are_those_of_ols(people):
    x, y, data, _ = people
    cluster = np.arange(600) // 12
    ols = sm.OLS(y, np.eye(3)[x]).fit(cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False})
    result = sp.group_means(y, data, clusters=cluster)
    assert np.allclose(result.cov, ols.cov_params() * 50 / 49, rtol=1e-9)
    assert result.df == 49


@pytest.mark.slow
def test_score_test_has_the_null_variance(people, means):
    """Of labels it is the least over m of the sum of squared scores over their variances about m."""
    x, y, _, _ = people
    grid = np.linspace(y.mean() - 3, y.mean() + 3, 20_001)
    parts = [np.array([(y[x == j] - m).sum() ** 2 / ((y[x == j] - m) ** 2).sum() for m in grid]) for j in range(3)]
    test = means.test()
    assert test.statistic[0] == pytest.approx(sum(parts).min(), abs=1e-4)
    assert test.pvalue[0] == pytest.approx(chi2.sf(sum(parts).min(), 2), rel=1e-3)


def test_fiellers_interval_of_labels_is_nearly_students(people, means):
    """All m with (sum of y - m)² at most z² times the sum of (y - m)²."""
    x, y, _, _ = people
    z2 = 1.959963984540054**2
    for j in range(3):
        own = y[x == j]
        half = np.sqrt(z2 * own.var() / (len(own) - z2))
        assert np.allclose(means.interval()[j], [own.mean() - half, own.mean() + half], rtol=1e-9)


def test_known_groups_are_apart(people):
    x, y, data, sex = people
    result = sp.group_means(y, data, by={"sex": sex})
    expected = pd.DataFrame({"x": x, "y": y, "sex": sex}).groupby(["sex", "x"]).y
    assert result.groups == ("f", "m")
    assert np.allclose(result.mean.ravel(), expected.mean(), rtol=1e-12)
    assert np.allclose(result.variance.ravel(), expected.var(), rtol=1e-12)
    ols = sm.OLS(y, np.eye(6)[3 * (sex == "m") + x]).fit(cov_type="HC0")
    assert np.allclose(result.cov, ols.cov_params(), atol=1e-12)
    one = result.difference(("f", "a"), ("m", "c"))
    assert one.estimate[0] == pytest.approx(expected.mean()["f", 0] - expected.mean()["m", 2])
    across = result.differences("groups")
    assert across.first == ("f: a", "f: b", "f: c")
    assert np.allclose(across.estimate, expected.mean()["f"].to_numpy() - expected.mean()["m"].to_numpy())


def test_sampling_weights(people):
    x, y, data, _ = people
    weight = np.random.default_rng(1).uniform(1, 3, size=600)
    result = sp.group_means(y, data, weights=weight, weights_kind="sampling")
    wls = sm.WLS(y, np.eye(3)[x], weights=weight).fit(cov_type="HC0")
    assert np.allclose(result.mean, wls.params, rtol=1e-12)
    assert np.allclose(result.cov, wls.cov_params(), rtol=1e-9, atol=1e-14)


def test_a_sampling_without_strata_is_sampling_weights_but_for_n_less_one(people):
    _, y, data, _ = people
    weight = np.random.default_rng(1).uniform(1, 3, size=600)
    weighted = sp.group_means(y, data, weights=weight, weights_kind="sampling")
    sampled = sp.group_means(y, data, sampling=sp.Sampling(weight))
    assert np.allclose(sampled.mean, weighted.mean, rtol=1e-12)
    assert np.allclose(sampled.cov, weighted.cov * 600 / 599, rtol=1e-9, atol=1e-14)
    assert sampled.df == 599
    assert sampled.design_effect.shape == (3,)
    assert "design effect" in sampled.summary().columns


def test_rates(people):
    x, y, data, _ = people
    result = sp.group_means(y > 54, data)
    rate = pd.Series(y > 54).groupby(x).mean().to_numpy()
    size = np.bincount(x)
    assert result.is_rate
    assert np.allclose(result.mean, rate, rtol=1e-12)
    assert np.allclose(result.se, np.sqrt(rate * (1 - rate) / size), rtol=1e-9)
    assert np.allclose(result.variance, rate * (1 - rate), rtol=1e-12)
    low, high = result.interval(method="logit").T
    odds = np.log(rate / (1 - rate))
    reach = 1.959964 / np.sqrt(size * rate * (1 - rate))
    assert np.allclose(low, 1 / (1 + np.exp(reach - odds)), atol=1e-6)
    assert np.allclose(high, 1 / (1 + np.exp(-reach - odds)), atol=1e-6)


def test_the_normal_model_of_labels_has_moments(people):
    x, y, data, _ = people
    result = sp.group_means(y, data, model="normal")
    by = pd.Series(y).groupby(x)
    assert np.allclose(result.mean, by.mean(), rtol=1e-7)
    assert np.allclose(result.variance, by.var(ddof=0), rtol=1e-6)
    assert np.allclose(result.se, by.std(ddof=0) / np.sqrt(by.size()), rtol=1e-6)
    assert np.allclose(result.robust, result.corrected.cov, rtol=1e-5, atol=1e-12)


def test_effect_sizes(people, means):
    x, y, _, _ = people
    by = pd.Series(y).groupby(x)
    n, m, v = by.size().to_numpy(), by.mean().to_numpy(), by.var().to_numpy()
    pooled = (n[0] * v[0] + n[1] * v[1]) / (n[0] + n[1])
    assert means.difference("a", "b").effect[0] == pytest.approx((m[0] - m[1]) / np.sqrt(pooled))
    plain = (n / 600) @ (m - y.mean()) ** 2 / y.var()
    assert 0.5 * plain < means.eta_squared < plain  # less what the errors of the means add
