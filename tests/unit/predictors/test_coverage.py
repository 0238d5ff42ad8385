"""Intervals of regressions on private predictors keep their level. The whole tables: docs/measured-levels.md."""

import numpy as np
import predictor_coverage as simulated
import pytest

pytestmark = pytest.mark.slow
REPLICATIONS = 300  # a coverage of 95% has a standard error of 1.3 points


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("family", ["linear", "logit", "poisson"])
def test_corrected_intervals_hold_the_truth_in_both_models(family, wrong):
    line, unsolved = simulated.measure(4, family, wrong, REPLICATIONS)
    assert unsolved <= 3
    held = np.mean(line.held_corrected, axis=0)
    assert held.min() >= 0.91
    assert 0.93 <= held.mean() <= 0.975
    if not wrong:
        likely = np.mean(line.held_likelihood, axis=0)
        assert likely.min() >= 0.91
        assert 0.93 <= likely.mean() <= 0.975
        assert np.mean(np.array(line.pvalues) < 0.05) <= 0.09  # 6.5%, and twice the standard error


def test_the_working_distribution_lowers_the_variance_by_a_fifth():
    line, _ = simulated.measure(4, "linear", False, REPLICATIONS)
    even, ours = line.ratio(line.even), line.ratio(line.corrected)
    assert ours[2:].mean() <= 0.8 * even[2:].mean()
    assert ours[1] <= 0.8 * even[1]


def test_the_comparison_finds_skewed_errors():
    line, _ = simulated.measure(4, "linear", True, 100)
    assert np.mean(np.array(line.pvalues) < 0.05) > 0.9
