"""Bias and coverage of each measure over 1000 test sets; the tables are in `docs/measured-levels.md`."""

import evaluation_coverage as study
import numpy as np
import pytest

TEST_SETS = 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", study.SETTINGS)
def test_estimates_are_unbiased_and_intervals_keep_their_level(name):
    one, both = study.performance(study.SETTINGS[name], TEST_SETS)
    for result in (one, both):
        # Two classifiers of two categories that guess alike do not differ in what follows from guesses.
        varies = (result.given == 1) & np.isfinite(result.bias)
        bias, coverage = result.bias[varies], result.coverage[varies]
        assert varies.sum() >= 3
        # One in twenty unbiased estimates is more than two standard errors off, one in two thousand 3.5.
        assert np.abs(bias).max() < 3.5
        assert np.mean(np.abs(bias) < 2) > 0.85
        assert np.abs(result.relative_bias[varies]).max() < 0.12
        assert coverage.min() >= 0.925
        assert coverage.max() <= 0.975
        assert np.mean((coverage >= 0.93) & (coverage <= 0.97)) > 0.95


@pytest.mark.slow
def test_no_measure_is_left_out_where_no_category_is_rare():
    one, _ = study.performance(study.SETTINGS["uniform, p = 5"], 50)
    assert one.given.min() == 1
