"""Proportional odds and their test; corrected scores where the model is wrong."""

import numpy as np
import pytest
from every_case import every_case
from regression_coverage import ordered_sample
from regression_samples import quietly, sample_of
from scipy.special import chdtrc

import subsetprivacy as sp

FOUR = sp.uniform(range(4))


def test_proportional_odds_are_not_rejected_and_others_are():
    even, X = ordered_sample(FOUR, 2000, 1)
    uneven, Z = ordered_sample(FOUR, 2000, 1, uneven=1.0)
    kept = sp.regress(even, X, family="ordinal").proportionality
    rejected = sp.regress(uneven, Z, family="ordinal").proportionality
    assert kept.df[0] == rejected.df[0] == 4
    assert kept.pvalue[0] > 0.01
    assert rejected.pvalue[0] < 1e-4
    assert kept.pvalue[0] == pytest.approx(chdtrc(4, kept.statistic[0]))


@every_case("seed", range(10))
def test_proportional_odds_are_tested_where_they_are_far_from_true(seed):
    """Observed information is not positive in a third of such samples: outer squares of scores take its place."""
    data, X = ordered_sample(FOUR, 500, seed, uneven=1.0)
    assert sp.regress(data, X, family="ordinal").proportionality.pvalue[0] < 0.5


def test_the_units_of_covariates_do_not_matter_to_the_test_of_proportionality():
    data, X = ordered_sample(FOUR, 1000, 1)
    one, two = (sp.regress(data, Z, family="ordinal").proportionality for Z in (X, X * [1e6, 1e-3]))
    assert one.statistic[0] == pytest.approx(two.statistic[0], rel=1e-5)


def test_two_categories_have_nothing_to_test():
    data, X = sample_of(sp.warner(range(2)), 500)
    assert np.isnan(quietly(data, X, family="ordinal").proportionality.pvalue[0])


@pytest.mark.slow
def test_corrected_scores_have_the_target_of_the_values_where_the_model_is_wrong():
    """A square is left out: corrected slopes are those of the values on average, the likelihood's are not."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(4000)
    U = np.array([0 * x, x**2 - 1, 0.5 * x, -0.5 * x])
    P = np.exp(U) / np.exp(U).sum(axis=0)
    values = (P.cumsum(axis=0) > rng.random(4000)).argmax(axis=0)
    target = sp.regress(sp.SubsetData(1 << values, sp.nonprivate(range(4))), x, baseline=0).coef
    draws = [sp.privatize(values.tolist(), FOUR, seed=seed) for seed in range(20)]
    corrected = np.array([quietly(data, x, baseline=0, method="corrected").coef for data in draws])
    likelihood = np.array([quietly(data, x, baseline=0, method="ml").coef for data in draws])

    def deviation(found):
        return np.abs(found.mean(axis=0) - target) / (found.std(axis=0, ddof=1) / np.sqrt(len(draws)))

    assert deviation(corrected).max() < 4
    assert deviation(likelihood).max() > 6
    assert quietly(draws[0], x).specification.pvalue[0] < 0.01


def test_the_specification_is_not_rejected_where_the_model_is_right():
    data, X = sample_of(FOUR, 2000, seed=5)
    fit = sp.regress(data, X)
    assert fit.specification.pvalue[0] > 0.01
    assert fit.specification.df[0] <= fit.df
    assert any("Specification test" in note.text for note in fit.notes)
